/* The objective: releases of the loss, plus the exact penalty. */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

const char *const batch_schemes[] = {"wor", "poisson", NULL};

void objective_init(struct objective *f, struct oracle *oracle, const struct penalty *penalty) {
  f->oracle = oracle;
  f->penalty = penalty;
  f->dim = oracle_dim(oracle);
  f->smooth = oracle_smoothness(oracle) + penalty_curv_upper(penalty);
  f->third = oracle_third(oracle) + penalty_third(penalty);
  f->steepest = oracle_lipschitz(oracle);
  f->lower = oracle_curv_lower(oracle) + penalty_curv_lower(penalty);
  f->missing = oracle_missing(oracle) * oracle_smoothness(oracle);
  f->batch = NULL;
  f->clip = 0;
}

/* The rows of the releases. */
static struct scope *scope_of(const struct objective *f) {
  return f->batch ? oracle_step(f->oracle) : oracle_all(f->oracle);
}

/* rho of a query: on a batch what the open step has left for it. */
static double cost_of(const struct objective *f, const struct query *q, double rho) {
  return f->batch ? step_left(f->oracle, q) : rho;
}

int objective_step_open(const struct objective *f, const double *w, double rho, double curvature_share) {
  if (!f->batch) return BASE_OK;
  const struct schedule how = {*f->batch, {[PART_SLOPE] = 1 - curvature_share, [PART_CURVATURE] = curvature_share}};
  return step_open(f->oracle, &how, &(struct ask){.at = w, .clip = f->clip}, rho);
}

int objective_step_open_search(const struct objective *f, const double *w, double rho, double search_share) {
  if (!f->batch) return BASE_OK;
  const struct schedule how = {*f->batch, {[PART_SLOPE] = 1 - search_share, [PART_DECREASE] = search_share}};
  return step_open(f->oracle, &how, &(struct ask){.at = w, .clip = f->clip}, rho);
}

void objective_step_close(const struct objective *f) {
  if (f->batch) step_close(f->oracle);
}

int objective_gradient(const struct objective *f, const double *w, double rho, double *g, double *sd) {
  int status = objective_step_open(f, w, rho, 0);
  if (status == BASE_OK) status = objective_step_gradient(f, w, rho, g, sd);
  objective_step_close(f);
  return status;
}

int objective_hessian(const struct objective *f, const double *w, double rho, double *h, double *sd) {
  int status = objective_step_open(f, w, rho, 1);
  if (status == BASE_OK) status = objective_step_hessian(f, w, rho, h, sd);
  objective_step_close(f);
  return status;
}

/* Sampling error of the d numbers of a gradient, where records' gradients have norms of at most L. */
static double sampling_sd_gradient(const struct objective *f) {
  double longest = f->clip > 0 ? fmin(f->clip, f->steepest) : f->steepest;
  return longest / sqrt(f->batch->size * (double)f->dim);
}

/* The same for the d (d + 1) / 2 numbers of a Hessian, where records' Hessians have Frobenius norms of at most the
 * largest curvature. */
static double sampling_sd_hessian(const struct objective *f) {
  double dim = (double)f->dim;
  return oracle_smoothness(f->oracle) / sqrt(f->batch->size * dim * (dim + 1) / 2);
}

int objective_step_gradient(const struct objective *f, const double *w, double rho, double *g, double *sd) {
  const struct query *q = f->clip > 0 ? &query_clipped_gradient : &query_gradient;
  const struct ask ask = {.at = w, .clip = f->clip};
  int status = release(scope_of(f), q, &ask, cost_of(f, q, rho), (struct answer){g, sd, NULL});
  if (status != BASE_OK) return status;
  penalty_add_gradient(f->penalty, f->dim, w, g);
  if (f->batch) *sd = hypot(*sd, sampling_sd_gradient(f));
  return BASE_OK;
}

int objective_step_hessian(const struct objective *f, const double *w, double rho, double *h, double *sd) {
  const struct query *q = &query_hessian;
  int status = release(scope_of(f), q, &(struct ask){.at = w}, cost_of(f, q, rho), (struct answer){h, sd, NULL});
  if (status != BASE_OK) return status;
  penalty_add_hessian(f->penalty, f->dim, w, h);
  if (f->batch) *sd = hypot(*sd, sampling_sd_hessian(f));
  return BASE_OK;
}

int objective_step_trace(const struct objective *f, const double *w, enum curvature curvature, double rho,
                         double *trace, double *sd) {
  const struct ask ask = {.at = w, .curvature = curvature};
  return release(scope_of(f), &query_trace, &ask, rho, (struct answer){trace, sd, NULL});
}

int objective_step_direction(const struct objective *f, const struct ask *ask, double rho, double *direction,
                             double *sd) {
  const struct query *q = &query_direction;
  return release(scope_of(f), q, ask, cost_of(f, q, rho), (struct answer){direction, sd, NULL});
}

int objective_step_decreases(const struct objective *f, const struct ask *ask, double rho, double *decrease,
                             double *sd) {
  const struct query *q = &query_decreases;
  return release(scope_of(f), q, ask, cost_of(f, q, rho), (struct answer){decrease, sd, NULL});
}

int objective_first_step(const struct objective *f, const struct ask *ask, double rho, size_t *index) {
  const struct answer to = {.index = index};
  if (!f->batch) return release(oracle_all(f->oracle), &query_first_step, ask, rho, to);
  const struct schedule how = {*f->batch, {[PART_CHOICE] = 1}};
  int status = step_open(f->oracle, &how, ask, rho);
  if (status == BASE_OK) status = release(scope_of(f), &query_batch_step, ask, cost_of(f, &query_batch_step, rho), to);
  step_close(f->oracle);
  return status;
}

double objective_scale_first(const struct objective *f, const struct ask *ask, double rho) {
  if (!f->batch) return release_sd(oracle_all(f->oracle), &query_first_step, ask, rho);
  return step_sd(f->oracle, f->batch, &query_batch_step, ask, rho);
}

double objective_step_left(const struct objective *f) { return step_left(f->oracle, &query_direction); }

double objective_rows(const struct objective *f) { return f->batch ? f->batch->size : (double)oracle_rows(f->oracle); }

double objective_sd_all(const struct objective *f, const struct query *q, const double *w, double rho) {
  return release_sd(oracle_all(f->oracle), q, &(struct ask){.at = w}, rho);
}

double objective_alpha_last(struct oracle *oracle, const struct penalty *penalty, double rho, double confidence,
                            const double *w) {
  struct objective f;
  objective_init(&f, oracle, penalty);
  double sd = objective_sd_all(&f, &query_gradient, w, rho);
  return 2 * confidence_norm(sqrt((double)f.dim) * sd, sd, f.dim, 1 - confidence);
}

double objective_eigen_error(const struct objective *f, double sd, double beta) {
  return confidence_eigen(sd, f->dim, beta) + f->missing;
}

double objective_sd_gradient(const struct objective *f, const double *w, double rho, double share) {
  if (!f->batch) return objective_sd_all(f, &query_gradient, w, share * rho);
  return hypot(step_sd(f->oracle, f->batch, &query_gradient, &(struct ask){.at = w}, rho) / sqrt(share),
               sampling_sd_gradient(f));
}

double objective_sd_hessian(const struct objective *f, const double *w, double rho) {
  if (!f->batch) return objective_sd_all(f, &query_hessian, w, rho);
  return hypot(step_sd(f->oracle, f->batch, &query_hessian, &(struct ask){.at = w}, rho), sampling_sd_hessian(f));
}

const char *objective_gradient_name(const struct objective *f) {
  if (f->batch) return "batch gradient";
  return f->clip > 0 ? "clipped gradient" : "gradient";
}
const char *objective_hessian_name(const struct objective *f) { return f->batch ? "batch hessian" : "hessian"; }
const char *objective_trace_name(const struct objective *f) { return f->batch ? "batch trace" : "trace"; }
const char *objective_search_name(const struct objective *f) { return f->batch ? "batch line search" : "line search"; }
const char *objective_direction_name(const struct objective *f) { return f->batch ? "batch direction" : "direction"; }

double objective_penalty_decrease(const struct objective *f, const double *w, const double *direction, double step,
                                  double *scratch) {
  memcpy(scratch, w, f->dim * sizeof(double));
  la_axpy(f->dim, step, direction, scratch);
  return penalty_value(f->penalty, f->dim, w) - penalty_value(f->penalty, f->dim, scratch);
}
