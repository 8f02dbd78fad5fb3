/* The objective: what the oracle answers about the loss, plus the penalty. */
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
  f->batch = NULL;
}

int objective_step_open(const struct objective *f, const double *w, double rho, double curvature_share) {
  return f->batch ? oracle_step_open(f->oracle, f->batch, w, rho, curvature_share) : BASE_OK;
}

void objective_step_close(const struct objective *f) {
  if (f->batch) oracle_step_close(f->oracle);
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

/* Of the d numbers of a gradient whose records' gradients are at most L long. */
static double sampling_sd_gradient(const struct objective *f) {
  return f->steepest / sqrt(f->batch->size * (double)f->dim);
}

/* Of the d (d + 1) / 2 of a Hessian whose records' Hessians have Frobenius norms of at most the largest curvature. */
static double sampling_sd_hessian(const struct objective *f) {
  double dim = (double)f->dim;
  return oracle_smoothness(f->oracle) / sqrt(f->batch->size * dim * (dim + 1) / 2);
}

int objective_step_gradient(const struct objective *f, const double *w, double rho, double *g, double *sd) {
  int status = f->batch ? oracle_step_gradient(f->oracle, w, g, sd) : oracle_gradient(f->oracle, w, rho, g, sd);
  if (status != BASE_OK) return status;
  penalty_add_gradient(f->penalty, f->dim, w, g);
  if (f->batch) *sd = hypot(*sd, sampling_sd_gradient(f));
  return BASE_OK;
}

int objective_step_hessian(const struct objective *f, const double *w, double rho, double *h, double *sd) {
  int status = f->batch ? oracle_step_hessian(f->oracle, w, h, sd) : oracle_hessian(f->oracle, w, rho, h, sd);
  if (status != BASE_OK) return status;
  penalty_add_hessian(f->penalty, f->dim, w, h);
  if (f->batch) *sd = hypot(*sd, sampling_sd_hessian(f));
  return BASE_OK;
}

int objective_step_trace(const struct objective *f, const double *w, enum oracle_curvature curvature, double rho,
                         double *trace, double *sd) {
  return f->batch ? oracle_step_trace(f->oracle, w, curvature, rho, trace, sd)
                  : oracle_trace(f->oracle, w, curvature, rho, trace, sd);
}

int objective_step_direction(const struct objective *f, const double *w, const double *g,
                             const struct oracle_newton *how, double rho, double *direction, double *sd) {
  return f->batch ? oracle_step_direction(f->oracle, w, g, how, oracle_step_left(f->oracle), direction, sd)
                  : oracle_newton_direction(f->oracle, w, g, how, rho, direction, sd);
}

double objective_rows(const struct objective *f) { return f->batch ? f->batch->size : (double)oracle_rows(f->oracle); }

double objective_sd_gradient(const struct objective *f, const double *w, double rho, double share) {
  if (!f->batch) return oracle_sd_gradient(f->oracle, w, share * rho);
  return hypot(oracle_sd_step_gradient(f->oracle, f->batch, w, rho) / sqrt(share), sampling_sd_gradient(f));
}

double objective_sd_hessian(const struct objective *f, const double *w, double rho) {
  if (!f->batch) return oracle_sd_hessian(f->oracle, w, rho);
  return hypot(oracle_sd_step_hessian(f->oracle, f->batch, w, rho), sampling_sd_hessian(f));
}

const char *objective_gradient_name(const struct objective *f) { return f->batch ? "batch gradient" : "gradient"; }
const char *objective_hessian_name(const struct objective *f) { return f->batch ? "batch hessian" : "hessian"; }
const char *objective_trace_name(const struct objective *f) { return f->batch ? "batch trace" : "trace"; }
const char *objective_direction_name(const struct objective *f) { return f->batch ? "batch direction" : "direction"; }

double objective_penalty_decrease(const struct objective *f, const double *w, const double *direction, double step,
                                  double *scratch) {
  memcpy(scratch, w, f->dim * sizeof(double));
  la_axpy(f->dim, step, direction, scratch);
  return penalty_value(f->penalty, f->dim, w) - penalty_value(f->penalty, f->dim, scratch);
}
