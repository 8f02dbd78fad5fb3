/*
 * Line searches: decreases f(w) - f(w + step_i d) for k steps, with noise; or the choice of one step by the sparse
 * vector technique or the exponential mechanism.
 *
 * Sensitivity of one decrease: at most 2 L |step d| / n, zero-out L |step d| / n, and less near w = 0 (proofs:
 * sensitivity-decrease). For a network
 * no L is known: each record's decrease is clipped to C |step d| instead, with the norm C to which its gradients are
 * clipped (proofs: sensitivity-network-decrease). The queries of the sparse vector are q_i = (decrease_i + offset_i) /
 * step_i, which is >= 0 when the condition holds and has the same sensitivity for every step, or for q_i itself with
 * the sensitivity of the largest step. The exponential mechanism's scores are decrease_i + offset_i: the range of two
 * neighbours' differences is that of a decrease from the point of the shortest step to that of the longest one (proofs:
 * sensitivity-spread).
 */
#include "barrier/private.h"
#include "base/simd.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

static size_t width(const struct task *task) { return task->ask->k; }

static void move(size_t n, const double *t, double step, const double *u, double *restrict to);
static double max_decrease(const struct model *m, const struct ask *a, size_t i);

/* A NaN is clipped, too. */
static double clipped(double x, double limit) { return x > -limit ? (x < limit ? x : limit) : -limit; }

static void add_clipped(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  const struct ask *ask = task->ask;
  double *here = work[T], *there = work[U];
  m->kind->losses(m, b, ask->at, ask->along, 0, work[TAPE], here);
  for (size_t c = 0; c < ask->k; c++) {
    double limit = max_decrease(m, ask, c);
    m->kind->losses(m, b, ask->at, ask->along, ask->step[c], work[TAPE], there);
    for (size_t i = 0; i < b->rows; i++) {
      sum[c] += data_share(b, i) * data_weight(b, i) * clipped(here[i] - there[i], limit);
    }
  }
}

/* Candidates need more computing than reading, so a part of the next tile is prefetched with each. */
static void add(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  const struct ask *ask = task->ask;
  double *t = work[T], *along = work[U], *candidate = work[V];
  size_t most = tile_search(b);
  if (m->network) {
    add_clipped(task, b, work, sum);
    return;
  }
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, ask->at, t);
    m->kind->predict(m, &tile, ask->along, along);
    double here = model_sum(m, &tile, t);
    for (size_t c = 0; c < ask->k; c++) {
      data_fetch_behind(&tile, c, ask->k);
      move(tile.rows, t, ask->step[c], along, candidate);
      sum[c] += here - model_sum(m, &tile, candidate);
    }
  }
}

SIMD_CLONES static void move(size_t n, const double *t, double step, const double *u, double *restrict to) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) to[i] = t[i] + step * u[i];
}

static int check_steps(const struct ask *a) {
  for (size_t i = 0; i < a->k; i++) {
    if (!(a->step[i] >= 0) || !(a->step[i] <= 1e50)) return BASE_ERR_ARGUMENT;
  }
  return a->k > 0 ? BASE_OK : BASE_ERR_ARGUMENT;
}

static int check(const struct scope *s, const struct ask *a) {
  for (size_t i = 0; i < a->k; i++) {
    if (a->step[i] == 0) return BASE_ERR_ARGUMENT;
  }
  int status = s->oracle->model.network ? check_clip(s, a) : BASE_OK;
  return status == BASE_OK ? check_steps(a) : status;
}

/* ---- noisy decreases ---- */

/* Of a network: one record's i-th decrease lies in [-c, c]. */
static double max_decrease(const struct model *m, const struct ask *a, size_t i) {
  return a->clip * fabs(a->step[i]) * la_norm(m->dim, a->along);
}

/* One record's decrease by a step of this length, from a point at this distance from `at`, lies in [-rise, fall]; that
 * of the null record is zero. A database clips it to [-c, c], c the largest of both, wherever the predictor is. */
static double decrease_change(const struct scope *s, const struct ask *a, double from, double length) {
  const struct model *m = &s->oracle->model;
  double reach = bounds_reach(s, a->at) + from;
  double fall = model_fall(m, reach, length), rise = model_rise(m, reach, length);
  double range = model_range(m, bounds_norm(s, a->at) + from + length);
  fall = fmin(fall, range);
  rise = fmin(rise, range);
  return scope_replaces(s) ? fall + rise : fmax(fall, rise);
}

static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = model_bounds(m);
  double clip = max_decrease(m, a, i);
  if (m->network) return bounds_sensitivity(s, bounds_terms(s) * clip, bounds_sum_rounding(s, clip));
  double norm = bounds_norm(s, a->at), length = fabs(a->step[i]) * bounds_norm(s, a->along);
  double error = bounds_rounding(s, b->lipschitz, 2 * norm + length, b->at_zero + b->lipschitz * (norm + length));
  return bounds_sensitivity(s, decrease_change(s, a, 0, length), error);
}

const struct query query_decreases = {.name = "line search",
                                      .sum = {SUM_VECTOR, width, add, NULL, "decreases"},
                                      .mechanism = &mechanism_each,
                                      .keep = KEEP_NOT,
                                      .networks = 1,
                                      .part = PART_DECREASE,
                                      .check = check,
                                      .sensitivity = sensitivity};

/* ---- a step ---- */

/* A decrease is at most n times its sensitivity. Adding the offset, and dividing by the step, each have one rounding,
 * in both data sets. */
static double rounding_of_score(const struct scope *s, double sensitivity, double offset) {
  return 4 * DBL_EPSILON * ((double)data_persons(s->oracle->engine.rows) * sensitivity + fabs(offset));
}

static double divided_by(const struct ask *a, size_t i) { return a->scale_free ? a->step[i] : 1; }

/* Scores overwrite the decreases: only an index is released. */
static int finish(const struct scope *s, const struct ask *a, double *decrease, double *score) {
  (void)s;
  (void)score;
  for (size_t i = 0; i < a->k; i++) decrease[i] = (decrease[i] + a->offset[i]) / divided_by(a, i);
  return BASE_OK;
}

/* The largest sensitivity of the queries. */
static double sensitivity_first(const struct scope *s, const struct ask *a, size_t i) {
  double most = 0;
  (void)i;
  for (size_t j = 0; j < a->k; j++) {
    double one = sensitivity(s, a, j);
    most = fmax(most, (one + rounding_of_score(s, one, a->offset[j])) / divided_by(a, j));
  }
  return most;
}

const struct query query_first_step = {.name = "line search",
                                       .sum = {SUM_VECTOR, width, add, NULL, "decreases"},
                                       .mechanism = &mechanism_first,
                                       .keep = KEEP_NOT,
                                       .networks = 1,
                                       .part = PART_NONE,
                                       .check = check,
                                       .sensitivity = sensitivity_first,
                                       .finish = finish};

/* Only on a batch is the remaining budget an eps: on all rows, and on fresh ones, it would count as rho. */
static int check_batch(const struct scope *s, const struct ask *a) {
  return s->of && !s->exact ? check(s, a) : BASE_ERR_ARGUMENT;
}

const struct query query_batch_step = {.name = "line search",
                                       .sum = {SUM_VECTOR, width, add, NULL, "decreases"},
                                       .mechanism = &mechanism_first_pure,
                                       .keep = KEEP_NOT,
                                       .networks = 1,
                                       .part = PART_CHOICE,
                                       .check = check_batch,
                                       .sensitivity = sensitivity_first,
                                       .finish = finish};

/* Scores are not divided by their steps, and one step may be zero. */
static int check_best(const struct scope *s, const struct ask *a) {
  (void)s;
  return a->scale_free ? BASE_ERR_ARGUMENT : check_steps(a);
}

/* The range of the scores' differences. */
static double sensitivity_best(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = model_bounds(m);
  double least = a->step[0], top = a->step[0], more = 0;
  (void)i;
  for (size_t j = 0; j < a->k; j++) {
    least = fmin(least, a->step[j]);
    top = fmax(top, a->step[j]);
    more = fmax(more, rounding_of_score(s, sensitivity(s, a, j), a->offset[j]));
  }
  double norm = bounds_norm(s, a->at), length = bounds_norm(s, a->along), reach = norm + top * length;
  double change = decrease_change(s, a, least * length, (top - least) * length);
  double error = bounds_rounding(s, b->lipschitz, norm + reach, b->at_zero + b->lipschitz * reach);
  return bounds_sensitivity(s, change, 2 * error) + 2 * more;
}

/* Not computed by a database: differences of its rounded decreases may be too large (proofs: push-down). */
const struct query query_best_step = {.name = "line search",
                                      .sum = {SUM_VECTOR, width, add, NULL, "exact decreases"},
                                      .mechanism = &mechanism_best,
                                      .keep = KEEP_NOT,
                                      .part = PART_NONE,
                                      .check = check_best,
                                      .sensitivity = sensitivity_best,
                                      .finish = finish};
