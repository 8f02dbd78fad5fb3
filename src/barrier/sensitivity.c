/*
 * Sensitivities (privacy.md A and B), for rows of norm at most one, with the
 * rounding errors of sums.c added.
 *
 * Replace-one / zero-out, n records (for a batch, its public size instead), |l'| <= L, l'' in [-a, b]:
 *   value        range of l over |t| <= |w|, / n  |  at most L |w| + s, / n, where the null record's loss is l(0, 0)
 *                and |l(y, 0) - l(0, 0)| <= s            (A1)
 *   gradient     2 L / n              |  L / n           (A2)
 *   Hessian      max(a + b, sqrt(2) max(a, b)) / n  |  max(a, b) / n,
 *                in the Frobenius norm                   (B2)
 *   model        gradient + Hessian times v: (2 L + h |v|) / n, h = a + b  |  (L + max(a, b) |v|) / n
 *                (J3): |l' z - l'_2 z_2| <= 2 L, and z z' s - z_2 z_2' s_2 has eigenvalues in [-a - b, a + b]
 *   decrease     2 L |step d| / n     |  L |step d| / n  (A3)
 *   majorant     sqrt(2) b / n        |  b / n,  its weights in [0, b]  (B2)
 *   trace        b / n, as each record adds a number in [0, b] / n  (A7)
 *   direction    see sensitivity_newton()                (A8, A9)
 *
 * Rounding. What is released is noise on the computed sum, which differs from
 * the exact one by at most E for every data set: its sensitivity is at most
 * the exact one plus 2 E. With u = 2^-53, m blocks of B rows, p columns, and
 * sums in any order within a tile; fused multiplications leave roundings out:
 *   - the predictor t of a record has error at most (p + 3) u |w|, as
 *     |fl(z'w) - z'w| <= gamma_(p+2) |z|'|w| and |z| <= 1;
 *   - loss_eval is good to 12 u relative to the largest value of its result.
 *     exp_minus() has a relative error below 3 u (loss/exp.h). The worst case
 *     is the sigmoid's second derivative f = e q^3 (1 - e), q = 1 / (1 + e):
 *     two roundings in each q, four in the products, one in 1 - e, and 3 u in
 *     e, whose derivative is e q^4 (1 - 4 e + e^2): on [0, 1]
 *     11 |f| + 3 e q^4 |1 - 4 e + e^2| stays below 12 max |f|;
 *   - loss_sum of at most B terms is good to (B + 12) u times the sum of their
 *     bounds, each at least log 2 for the logistic loss: a factor 1 + e of its
 *     product and the multiplication by it have relative errors of
 *     3/2 u + u + u, which the logarithm makes absolute, its own error is 2 u,
 *     and the linear parts and the sum of the few logarithms take the rest;
 *     For the Huber losses see their files: a term is good to 12 u times its
 *     bound, and n - 1 additions are n - 1 roundings of at most the sum;
 *   - weights, products and the division by n add less than 8 u;
 *   - a term takes part in at most one addition a row of its tile, one a tile
 *     of its group, and one a group. Dealt out k at a time, k the least of 8
 *     and m / G rounded up, one of G groups has at most
 *     M = k ceil(ceil(m / k) / G) <= m / G + 12 blocks, and one when m <= G.
 *     With sums.c's tiles of 64 to 512 rows and G = 64 that is
 *     512 + 16 (m / 64 + 9) + 64 or, when m < 64, 512 + 16 + m; for the Hessian,
 *     tiles of 256 rows and G >= min(m, 2), 256 + 4 (m / G + 12) + 64. None
 *     exceeds a = B + 2 m;
 *   - with sparse rows and factors a row's term is added to its group's sum at
 *     once: one addition a row of the group and one a group, at most
 *     a = B M + G, for a vector with G = min(m, 64);
 *   - so many u times the sum of absolute values, whose norm is at most n times
 *     the bound of one term, because each row has norm at most one.
 * A batch has at most n rows and m blocks, but is divided by its public size b: n / b times as much.
 * Where l'' jumps, rounding of a predictor may change a weight l'' by all of its
 * range, in any number of records at once, as a null record may change how its
 * whole block is read: no bound, and what has such weights is refused. Sums of
 * l and l' need l' Lipschitz only, and a majorant its own constant.
 * So E = (n / b) u [ lip (p + 3) |w| + (a + 32) size ] with lip the Lipschitz
 * constant of the summed function of t and size its bound. Second-order terms
 * are covered by the factor 2. Underflow does not count: what is rounded to a
 * multiple of 2^-1074 is later multiplied by less than 2^512.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

static double weight_lipschitz(const struct oracle *o, enum oracle_curvature curvature);
static double rounding(const struct oracle *o, double lip, double w_norm, double size);
static double matrix_rounding(const struct oracle *o, double lip, double w_norm, double size);
static double rounding_in(const struct oracle *o, size_t groups, double lip, double w_norm, double size);
static double most_rows(const struct oracle *o);
static double additions(const struct data *data, size_t groups);
static double dmax(double x, double y) { return x > y ? x : y; }
static double dmin(double x, double y) { return x < y ? x : y; }
static int replaces(const struct oracle *o) { return o->neighbours == ORACLE_REPLACE_ONE; }

double sensitivity_value(const struct oracle *o, const double *w) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  double norm = la_norm(data_dim(o->data), w);
  double range = loss_range(o->loss, norm);
  double change = replaces(o) ? range : dmin(range, b->lipschitz * norm + b->zero_spread);
  double error = rounding(o, b->lipschitz, norm, b->at_zero + b->lipschitz * norm);
  return change / oracle_divisor(o) + 2 * error;
}

double sensitivity_gradient(const struct oracle *o, const double *w) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  double norm = la_norm(data_dim(o->data), w);
  double change = (replaces(o) ? 2 : 1) * b->lipschitz;
  return change / oracle_divisor(o) + 2 * sensitivity_gradient_error(o, norm);
}

double sensitivity_gradient_error(const struct oracle *o, double norm) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  return rounding(o, dmax(b->curv_lower, b->curv_upper), norm, b->lipschitz);
}

double sensitivity_hessian(const struct oracle *o, const double *w) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  if (!isfinite(b->third)) return INFINITY;
  double norm = la_norm(data_dim(o->data), w);
  double largest = dmax(b->curv_lower, b->curv_upper);
  double change = replaces(o) ? dmax(b->curv_lower + b->curv_upper, sqrt(2) * largest) : largest;
  double error = matrix_rounding(o, b->third, norm, largest);
  return change / oracle_divisor(o) + 2 * error;
}

double sensitivity_model_gradient(const struct oracle *o, const double *w, const double *direction) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  if (!isfinite(b->third)) return INFINITY;
  size_t dim = data_dim(o->data);
  double norm = la_norm(dim, w), length = la_norm(dim, direction), largest = dmax(b->curv_lower, b->curv_upper);
  double spread = replaces(o) ? b->curv_lower + b->curv_upper : largest;
  double change = (replaces(o) ? 2 : 1) * b->lipschitz + spread * length;
  double error = rounding(o, largest + b->third * length, norm, b->lipschitz + largest * length);
  error += rounding(o, largest, length, largest * length);
  return change / oracle_divisor(o) + 2 * error;
}

double sensitivity_majorant(const struct oracle *o, const double *w) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  double change = (replaces(o) ? sqrt(2) : 1) * b->curv_upper;
  double norm = la_norm(data_dim(o->data), w);
  return change / oracle_divisor(o) + 2 * matrix_rounding(o, loss_majorant_lipschitz(o->loss), norm, b->curv_upper);
}

/* The squared norm of a row adds (p + 4) u to its term. */
double sensitivity_trace(const struct oracle *o, const double *w, enum oracle_curvature curvature) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  double lip = weight_lipschitz(o, curvature);
  if (!isfinite(lip)) return INFINITY;
  double error = rounding(o, lip, la_norm(data_dim(o->data), w), b->curv_upper) +
                 (double)(o->data->p + 4) * DBL_EPSILON * b->curv_upper * most_rows(o);
  return b->curv_upper / oracle_divisor(o) + 2 * error;
}

/*
 * A^-1 g with A >= m I, m known; a record changes A by a semidefinite matrix of
 * norm at most c = b / n. With both relations A^-1 changes by at most
 *   add   c / (m (m + c)): each of the two inverses lies between (A0 + c I)^-1
 *         and A0^-1, A0 the matrix without the record  (A8)
 *   clip  k |H - H'|_F <= sqrt(2) k c, zero-out k c: 1 / h, h of la/clip.c, is Lipschitz in the
 *         Frobenius norm with the constant k that it has in t, at most CLIPPED / lambda0^2 everywhere, and
 *         1 / e^2 on t >= e  (A9)
 * in the spectral norm. The penalty is added before either, and only raises m.
 *
 * Rounding. The matrix is summed with error E (as the Hessian's), and its entries are rounded by at most 9 u N each, N
 * a bound on its Frobenius norm: the curvature's is at most its trace. Cholesky then solves, exactly, a system whose
 * matrix is off by at most 4 d (3 d + 1) u N (Higham 2002, theorem 10.4 and (10.7)); la/clip.c has errors of (14 d^2 +
 * 120 d) u N and, for d > 1, 1000 u N. With eta = E + SOLVER d (d + 1) u N, much larger than both need, the direction
 * is off by at most eta / (m (m - eta)) |g| <= 2 eta / m^2 |g| when eta <= m / 4, which also keeps Cholesky from
 * breaking down.
 */
#define SOLVER 256
#define CLIPPED 0.47

double sensitivity_newton(const struct oracle *o, const double *w, const struct oracle_newton *how,
                          double gradient_norm) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  double lip = weight_lipschitz(o, how->curvature);
  if (!isfinite(lip)) return INFINITY;
  size_t dim = data_dim(o->data);
  double least = how->penalty[0];
  for (size_t j = 1; j < dim; j++) least = dmin(least, how->penalty[j]);
  int add = how->modify == ORACLE_ADD;
  double m = add ? how->lambda0 + least : dmax(how->lambda0, least);
  double c = b->curv_upper / oracle_divisor(o);
  double slope = dmin(CLIPPED / (how->lambda0 * how->lambda0), 1 / (least * least));
  double change = add ? c / (m * (m + c)) : (replaces(o) ? sqrt(2) : 1) * c * slope;
  double d = (double)dim, solver = SOLVER * d * (d + 1) * DBL_EPSILON / 2 * sensitivity_newton_size(o, how);
  double eta = matrix_rounding(o, lip, la_norm(dim, w), b->curv_upper) + solver;
  if (!(eta <= m / 4)) return INFINITY;
  return gradient_norm * (change + 2 * (2 * eta / (m * m)));
}

double sensitivity_newton_size(const struct oracle *o, const struct oracle_newton *how) {
  double curvature = loss_bounds_of(o->loss)->curv_upper * most_rows(o), root = sqrt((double)data_dim(o->data));
  return curvature + la_norm(data_dim(o->data), how->penalty) + root * how->lambda0;
}

double sensitivity_decrease(const struct oracle *o, const double *w, const double *direction, double step) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  size_t dim = data_dim(o->data);
  double norm = la_norm(dim, w), length = fabs(step) * la_norm(dim, direction);
  /* One record's decrease lies in [-c, c]; the null record's is zero. */
  double c = dmin(b->lipschitz * length, loss_range(o->loss, norm + length));
  double error = rounding(o, b->lipschitz, 2 * norm + length, b->at_zero + b->lipschitz * (norm + length));
  return (replaces(o) ? 2 : 1) * c / oracle_divisor(o) + 2 * error;
}

double sensitivity_spread(const struct oracle *o, const double *w, const double *direction, double max_step,
                          double spread) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  size_t dim = data_dim(o->data);
  double norm = la_norm(dim, w), length = la_norm(dim, direction);
  double change = (replaces(o) ? 2 : 1) * b->lipschitz * spread * length;
  double reach = norm + max_step * length;
  double error = rounding(o, b->lipschitz, norm + reach, b->at_zero + b->lipschitz * reach);
  return change / oracle_divisor(o) + 4 * error;
}

/* Of the weights of a matrix as functions of the predictor. */
static double weight_lipschitz(const struct oracle *o, enum oracle_curvature curvature) {
  return curvature == ORACLE_HESSIAN ? loss_bounds_of(o->loss)->third : loss_majorant_lipschitz(o->loss);
}

static double rounding(const struct oracle *o, double lip, double w_norm, double size) {
  return rounding_in(o, SUMS_GROUPS, lip, w_norm, size);
}

static double matrix_rounding(const struct oracle *o, double lip, double w_norm, double size) {
  return rounding_in(o, sums_matrix_groups(data_dim(o->data)), lip, w_norm, size);
}

static double rounding_in(const struct oracle *o, size_t groups, double lip, double w_norm, double size) {
  double columns = (double)o->data->p, added = additions(o->data, groups);
  return 2 * (DBL_EPSILON / 2) * (lip * (columns + 3) * w_norm + (added + 32) * size) * most_rows(o);
}

/* Over the divisor. */
static double most_rows(const struct oracle *o) { return (double)o->data->n / oracle_divisor(o); }

static double additions(const struct data *data, size_t groups) {
  double blocks = (double)data_blocks(data, NULL), dealt = (double)sums_neighbours(data_blocks(data, NULL), groups);
  double longest = dealt * ceil(ceil(blocks / dealt) / (double)groups);
  return data_additions(data, longest, dmin(blocks, (double)groups));
}
