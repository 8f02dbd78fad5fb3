/*
 * The direction of Newton's method with double noise (Ganesh et al. 2023, algorithm 3 and section 5.2, with other
 * sensitivities; proofs: sensitivity-direction).
 *
 * The direction is A^-1 g~ for a released gradient g~. Given g~ it is
 * a function of the data through A alone, so its sensitivity may be
 * proportional to |g~|, and as an adaptive composition the two are private
 * together (proofs: gdp-filter). The same holds on a step's batch (schedule.c), with
 * the gradient of the same batch.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double size(const struct scope *s, const struct modified *how);

static void add(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add(task, task->ask->curvature, b, work, sum);
}

static int check(const struct scope *s, const struct ask *a) {
  const struct modified *how = a->matrix;
  if (curvature_may_be_negative(s, a->curvature) || !(how->lambda0 >= 0)) return BASE_ERR_ARGUMENT;
  for (size_t j = 0; j < s->oracle->model.dim; j++) {
    if (!(how->penalty[j] >= 0)) return BASE_ERR_ARGUMENT;
  }
  return matrix_check(s, a);
}

/*
 * A^-1 g with A >= m I, m known; a record changes A by a semidefinite matrix of
 * norm at most c = b / n. Under both relations A^-1 changes by at most
 *   add   c / (m (m + c)): each of the two inverses lies between (A0 + c I)^-1
 *         and A0^-1, A0 the matrix without the record
 *   clip  k |H - H'|_F <= sqrt(2) k c, zero-out k c: 1 / h, h of la/clip.c, is Lipschitz in the
 *         Frobenius norm with the constant k that it has in t, at most CLIPPED / lambda0^2 everywhere, and
 *         1 / e^2 on t >= e
 * in the spectral norm (proofs: sensitivity-direction). The penalty is added before either, and only raises m.
 *
 * Rounding. The matrix is summed with error E (as the Hessian's), and its entries are rounded by at most 9 u N each, N
 * a bound on its Frobenius norm: that of the curvature is at most its trace. Cholesky then solves exactly a system
 * whose matrix is within 4 d (3 d + 1) u N (Higham 2002, theorem 10.4 and (10.7)); la/clip.c has errors of (14 d^2 +
 * 120 d) u N and, for d > 1, 1000 u N. With eta = E + SOLVER d (d + 1) u N, much larger than both need, the error of
 * the direction is at most eta / (m (m - eta)) |g| <= 2 eta / m^2 |g| when eta <= m / 4, which also keeps Cholesky from
 * breaking down; otherwise the release is refused.
 */
#define SOLVER 256
#define CLIPPED 0.47

static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  const struct modified *how = a->matrix;
  double upper = model_bounds(&s->oracle->model)->curv_upper, lip = curvature_lipschitz(s, a->curvature);
  (void)i;
  if (!isfinite(lip)) return INFINITY;
  size_t dim = s->oracle->model.dim;
  double least = how->penalty[0];
  for (size_t j = 1; j < dim; j++) least = fmin(least, how->penalty[j]);
  int plus = how->modify == MODIFY_ADD;
  double m = plus ? how->lambda0 + least : fmax(how->lambda0, least);
  double c = upper / scope_divisor(s);
  double slope = fmin(CLIPPED / (how->lambda0 * how->lambda0), 1 / (least * least));
  double change = plus ? c / (m * (m + c)) : sqrt(bounds_terms(s)) * c * slope;
  double d = (double)dim, solver = SOLVER * d * (d + 1) * DBL_EPSILON / 2 * size(s, how);
  double eta = bounds_matrix_rounding(s, lip, la_norm(dim, a->at), upper) + solver;
  if (!(eta <= m / 4)) return INFINITY;
  return la_norm(dim, a->along) * (change + 2 * (2 * eta / (m * m)));
}

/* Bound on the Frobenius norm of the matrix, and on the level to which eigenvalues are raised. */
static double size(const struct scope *s, const struct modified *how) {
  const struct model *m = &s->oracle->model;
  double curvature = model_bounds(m)->curv_upper * bounds_max_rows(s);
  return curvature + la_norm(m->dim, how->penalty) + sqrt((double)m->dim) * how->lambda0;
}

/* The time must not depend on the un-noised matrix. So eigenvalues are clipped by la_solve_clipped(), and
 * entries are rounded to a multiple of the unit roundoff, because processors are slower for numbers far below it. */
static int finish(const struct scope *s, const struct ask *a, double *matrix, double *direction) {
  const struct modified *how = a->matrix;
  size_t dim = s->oracle->model.dim;
  int plus = how->modify == MODIFY_ADD;
  for (size_t j = 0; j < dim; j++) matrix[j + j * dim] += how->penalty[j] + (plus ? how->lambda0 : 0);
  double large = 8 * size(s, how);
  for (size_t i = 0; i < dim * dim; i++) matrix[i] = (matrix[i] + large) - large;
  memcpy(direction, a->along, dim * sizeof(double));
  return plus ? la_solve_definite(dim, matrix, direction) : la_solve_clipped(dim, matrix, how->lambda0, direction);
}

const struct query query_direction = {.name = "direction",
                                      .sum = {SUM_MATRIX, matrix_width, add, NULL, "curvature"},
                                      .mechanism = &mechanism_gaussian,
                                      .keep = KEEP_NOT,
                                      .part = PART_CURVATURE,
                                      .check = check,
                                      .answers = scope_width_dim,
                                      .sensitivity = sensitivity,
                                      .finish = finish};
