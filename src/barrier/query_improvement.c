/*
 * How much the mean loss decreases from one released point to another, where each record's decrease is clipped to
 * [-step_0, step_1]: a mean of numbers in this interval, whatever rows, responses, points and coordinates are
 * (proofs: sensitivity-improvement). A record that is long in its coordinates is like any other here: the loss is that
 * of its predictor, without the slopes and weights of long rows.
 *
 * Where slopes have no bound, as for squared error, the loss is half of the squared residual clipped to `clip`: the
 * rounding of a predictor then changes it by a bounded multiple.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

/* A NaN is clipped, too. */
static double clipped(double x, double least, double most) { return x > -least ? (x < most ? x : most) : -least; }

static int has_slopes(const struct model *m) { return isfinite(loss_bounds_of(m->loss)->lipschitz); }

/* Of a tile's records with these predictors, without their weights. */
static void losses(const struct task *task, const struct data_block *b, const double *t, double *value) {
  const struct model *m = task->model;
  if (has_slopes(m)) {
    model_values(m, b, t, value);
    return;
  }
  double clip = task->ask->clip;
  model_residuals(m, b, t, value);
  for (size_t i = 0; i < b->rows; i++) {
    double r = clipped(value[i], clip, clip);
    value[i] = r * r / 2;
  }
}

static void add(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  const struct ask *a = task->ask;
  size_t most = tile_gradient(b);
  double *t = work[T], *along = work[U], *here = work[V], *there = work[WEIGHT];
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, a->at, t);
    m->kind->predict(m, &tile, a->along, along);
    losses(task, &tile, t, here);
    la_axpy(m->outputs * tile.rows, 1, along, t);
    losses(task, &tile, t, there);
    for (size_t i = 0; i < tile.rows; i++) {
      double decrease = clipped(here[i] - there[i], a->step[0], a->step[1]);
      *sum += data_share(&tile, i) * data_weight(&tile, i) * decrease;
    }
  }
}

static int is_end(double x) { return x >= 1e-50 && x <= 1e50; }

static int check(const struct scope *s, const struct ask *a) {
  if (a->k < 2 || !a->at || !a->along || !is_end(a->step[0]) || !is_end(a->step[1])) return BASE_ERR_ARGUMENT;
  return has_slopes(&s->oracle->model) ? BASE_OK : check_clip(s, a);
}

/* A change of a predictor by its rounding changes either loss by at most `steep` times that; losses are rounded in
 * proportion to their size. */
static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = loss_bounds_of(m->loss);
  double least = a->step[0], most = a->step[1], norm = la_norm(m->dim, a->at), length = la_norm(m->dim, a->along);
  double change = scope_replaces(s) ? least + most : fmax(least, most);
  double steep = has_slopes(m) ? b->lipschitz : a->clip;
  double size = has_slopes(m) ? b->at_zero + steep * (norm + length + m->offset) : a->clip * a->clip;
  (void)i;
  return bounds_sensitivity(s, change, bounds_rounding(s, steep, 2 * norm + length, 2 * size + least + most));
}

const struct query query_improvement = {.name = "improvement",
                                        .sum = {SUM_VECTOR, scope_width_one, add, NULL, "improvement"},
                                        .mechanism = &mechanism_gaussian,
                                        .keep = KEEP_NOT,
                                        .multi_output = 1,
                                        .part = PART_NONE,
                                        .in_coordinates = COORDINATES_WEIGHTED,
                                        .check = check,
                                        .sensitivity = sensitivity};
