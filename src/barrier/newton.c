/*
 * Second-order releases besides the Hessian: the curvature matrix of a
 * quadratic upper bound, a trace, and the direction of Newton's method with
 * double noise (Ganesh et al. 2023, algorithm 3 and section 5.2, with the
 * sensitivities of privacy.md A7-A10 and J1).
 *
 * The direction is A^-1 g~ for a gradient g~ that was released: given g~ it is
 * a function of the data through A alone, so its sensitivity may be in
 * proportion to |g~| (privacy.md A10), and in an adaptive composition the two
 * are private together (D2). On a step's batch likewise (J2, F; batch.c), with
 * the gradient of the same batch.
 */
#include "barrier/private.h"
#include "la/la.h"
#include "mech/mech.h"

#include <math.h>
#include <string.h>

static int pay(struct oracle *o, const struct oracle *view, const char *what, double sensitivity, double rho,
               size_t coordinates, double *sd);
static int release_trace(struct oracle *o, const struct oracle *view, const double *w, enum oracle_curvature curvature,
                         double rho, double *trace, double *sd);
static int release_direction(struct oracle *o, const struct oracle *view, const double *w, const double *gradient,
                             const struct oracle_newton *how, double rho, double *direction, double *sd);
static int may_be_negative(const struct oracle *o, enum oracle_curvature curvature);
static int check_how(const struct oracle *o, const struct oracle_newton *how);
static int exact_direction(const struct oracle *o, const double *w, const double *gradient,
                           const struct oracle_newton *how, double *matrix, double *direction);

int oracle_majorant(struct oracle *o, const double *w, double rho, double *matrix, double *sd) {
  size_t dim = data_dim(o->data);
  if (dim > ORACLE_MOST_DIM) return BASE_ERR_ARGUMENT;
  int status = check_point(o, w);
  if (status == BASE_OK) status = charge_gaussian(o, "majorant", sensitivity_majorant(o, w), rho, dim * dim, sd);
  if (status == BASE_OK) status = sums_majorant(o, w, matrix);
  if (status == BASE_OK) status = mech_symmetric(o->entropy, dim, *sd, matrix);
  if (status != BASE_OK) memset(matrix, 0, dim * dim * sizeof(double));
  return status;
}

int oracle_trace(struct oracle *o, const double *w, enum oracle_curvature curvature, double rho, double *trace,
                 double *sd) {
  return release_trace(o, o, w, curvature, rho, trace, sd);
}

int oracle_step_trace(struct oracle *o, const double *w, enum oracle_curvature curvature, double rho, double *trace,
                      double *sd) {
  const struct oracle view = step_view(o);
  return release_trace(o, &view, w, curvature, rho, trace, sd);
}

int oracle_newton_direction(struct oracle *o, const double *w, const double *gradient, const struct oracle_newton *how,
                            double rho, double *direction, double *sd) {
  return release_direction(o, o, w, gradient, how, rho, direction, sd);
}

int oracle_step_direction(struct oracle *o, const double *w, const double *gradient, const struct oracle_newton *how,
                          double rho, double *direction, double *sd) {
  const struct oracle view = step_view(o);
  return release_direction(o, &view, w, gradient, how, rho, direction, sd);
}

/* An answer about a batch was paid for when its step was opened. */
static int pay(struct oracle *o, const struct oracle *view, const char *what, double sensitivity, double rho,
               size_t coordinates, double *sd) {
  if (view->batch) return step_gaussian(o, sensitivity, rho, coordinates, sd);
  return charge_gaussian(o, what, sensitivity, rho, coordinates, sd);
}

/* view: the oracle o, of all rows or of its open step's. */
static int release_trace(struct oracle *o, const struct oracle *view, const double *w, enum oracle_curvature curvature,
                         double rho, double *trace, double *sd) {
  *trace = 0;
  if (may_be_negative(o, curvature)) return BASE_ERR_ARGUMENT;
  double exact = 0;
  int status = check_point(o, w);
  if (status == BASE_OK) status = pay(o, view, "trace", sensitivity_trace(view, w, curvature), rho, 1, sd);
  if (status == BASE_OK) status = sums_trace(view, w, curvature, &exact);
  if (status == BASE_OK) status = mech_gaussian(o->entropy, 1, *sd, &exact);
  if (status == BASE_OK) *trace = exact;
  return status;
}

static int release_direction(struct oracle *o, const struct oracle *view, const double *w, const double *gradient,
                             const struct oracle_newton *how, double rho, double *direction, double *sd) {
  size_t dim = data_dim(o->data);
  memset(direction, 0, dim * sizeof(double));
  int status = check_how(o, how);
  if (status == BASE_OK) status = check_point(o, w);
  if (status == BASE_OK) status = check_point(o, gradient);
  if (status != BASE_OK) return status;
  double *matrix = base_alloc(dim * dim, sizeof(double));
  if (!matrix) return BASE_ERR_MEMORY;
  double sensitivity = sensitivity_newton(view, w, how, la_norm(dim, gradient));
  status = pay(o, view, "direction", sensitivity, rho, dim, sd);
  if (status == BASE_OK) status = exact_direction(view, w, gradient, how, matrix, direction);
  if (status == BASE_OK) status = mech_gaussian(o->entropy, dim, *sd, direction);
  if (status != BASE_OK) memset(direction, 0, dim * sizeof(double));
  memset(matrix, 0, dim * dim * sizeof(double));
  base_free(matrix);
  return status;
}

static int may_be_negative(const struct oracle *o, enum oracle_curvature curvature) {
  return curvature == ORACLE_HESSIAN && loss_bounds_of(o->loss)->curv_lower > 0;
}

static int check_how(const struct oracle *o, const struct oracle_newton *how) {
  if (may_be_negative(o, how->curvature) || !(how->lambda0 >= 0)) return BASE_ERR_ARGUMENT;
  if (data_dim(o->data) > ORACLE_MOST_DIM) return BASE_ERR_ARGUMENT;
  for (size_t j = 0; j < data_dim(o->data); j++) {
    if (!(how->penalty[j] >= 0)) return BASE_ERR_ARGUMENT;
  }
  return BASE_OK;
}

/* Its time must not depend on the matrix, which has no noise. So eigenvalues are clipped by la_solve_clipped(), and
 * entries are rounded to some multiple of the unit roundoff: what is far below it would be computed with more slowly.
 */
static int exact_direction(const struct oracle *o, const double *w, const double *gradient,
                           const struct oracle_newton *how, double *matrix, double *direction) {
  size_t dim = data_dim(o->data);
  int status = how->curvature == ORACLE_HESSIAN ? sums_hessian(o, w, matrix) : sums_majorant(o, w, matrix);
  if (status != BASE_OK) return status;
  int add = how->modify == ORACLE_ADD;
  for (size_t j = 0; j < dim; j++) matrix[j + j * dim] += how->penalty[j] + (add ? how->lambda0 : 0);
  double large = 8 * sensitivity_newton_size(o, how);
  for (size_t i = 0; i < dim * dim; i++) matrix[i] = (matrix[i] + large) - large;
  memcpy(direction, gradient, dim * sizeof(double));
  return add ? la_solve_definite(dim, matrix, direction) : la_solve_clipped(dim, matrix, how->lambda0, direction);
}
