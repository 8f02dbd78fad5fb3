/*
 * The trust-region subproblem: the global minimum of q(s) = g's + s'Hs / 2 over
 * |s| <= r, for H of any signature (A. R. Conn, N. I. M. Gould, Ph. L. Toint,
 * Trust-Region Methods, SIAM 2000, ch. 7). s is a global minimum exactly when
 * for some dual variable lambda >= 0
 *
 *   (H + lambda I) s = -g,  H + lambda I is positive semidefinite,
 *   lambda = 0 or |s| = r.
 *
 * In an eigenbasis of H, with eigenvalues theta_1 <= theta_2 <= ... and
 * coordinates c of g, s_i(mu) = -c_i / (theta_i - theta_1 + mu) with
 * mu = lambda + theta_1. Where no interior minimum exists mu solves the secular
 * equation |s(mu)| = r. Its reciprocal 1 / |s| is concave and nearly linear, so
 * that Newton's method on 1 / |s| - 1 / r rises monotonically from any mu below
 * the root (their section 7.3.3). The unknown is mu, not lambda: in nearly hard
 * cases, where c_1 almost vanishes, mu is far below the rounding error of lambda.
 * The hard case: c vanishes wherever theta_i = theta_1 <= 0, and |s(0)| < r. Then
 * lambda = -theta_1, and s(0) is completed along the first eigenvector.
 *
 * The cubic model g's + s'Hs / 2 + (M / 6) |s|^3 has the same condition with lambda = M |s| / 2 (Nesterov & Polyak
 * 2006, section 5): the root of |s(mu)| = 2 (mu - theta_1) / M, whose left side falls and right side rises.
 *
 * Large d: the generalised Lanczos method (N. I. M. Gould, S. Lucidi, M. Roma,
 * Ph. L. Toint, SIAM J. Optim. 9, 1999), on the Krylov space of g. That space
 * does not contain the first eigenvector v in the hard case, and almost misses it in nearly
 * hard cases. Therefore v is computed first and split off: on the span
 * of v and the Krylov space of the rest of g, H is theta_1 and a
 * tridiagonal matrix, and the small problem there is solved. Orthogonally to v the matrix
 * H + lambda I is positive definite for every lambda >= -theta_1, so a small
 * residual there proves the global minimum.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la/private.h"

/* Largest residual of Lanczos, relative to that of s = 0 and of |s| = r. */
#define TOLERANCE 1e-13
#define MOST_STEPS 200 /* of a safeguarded Newton method that needs about ten */

/* The small problem, in an eigenbasis. */
struct secular {
  size_t n;
  const double *theta, *c;
  double lowest; /* the smallest theta */
  double radius;
};

static int solve_dense(size_t d, const double *h, const double *g, double radius, double third, double *step,
                       double *dual, double *eigen_min);
static double solve_secular(const struct secular *p, double *s);
static double solve_cubic(struct secular *p, double third, double *s);
static void fill(const struct secular *p, double mu, double *s);
static double newton(const struct secular *p);
static double length(const struct secular *p, double mu, double *newton_step);
static void complete(const struct secular *p, double *s);
static int solve_across(struct krylov *k, double theta, double along, double norm, double radius, double *step,
                        double *step_along, double *dual);
static int solve_small(const struct krylov *k, double theta, double along, double norm, double radius, double *y,
                       double *step_along, double *dual);

int la_trust_region(size_t d, const double *h, const double *g, double radius, double *step, double *dual,
                    double *eigen_min) {
  if (d == 0 || !(radius > 0) || !isfinite(radius)) return BASE_ERR_ARGUMENT;
  if (!la_all_finite(d * d, h) || !la_all_finite(d, g)) return BASE_ERR_NUMERIC;
  if (d <= LA_DENSE_LIMIT) return solve_dense(d, h, g, radius, 0, step, dual, eigen_min);
  const struct linop op = {d, la_dense_apply, h};
  return la_trust_region_lanczos(&op, g, radius, step, dual, eigen_min);
}

int la_cubic(size_t d, const double *h, const double *g, double third, double *step, double *dual, double *eigen_min) {
  if (d == 0 || !(third > 0) || !isfinite(third)) return BASE_ERR_ARGUMENT;
  if (!la_all_finite(d * d, h) || !la_all_finite(d, g)) return BASE_ERR_NUMERIC;
  return solve_dense(d, h, g, INFINITY, third, step, dual, eigen_min);
}

int la_trust_region_lanczos(const struct linop *op, const double *g, double radius, double *step, double *dual,
                            double *eigen_min) {
  const size_t d = op->dim;
  if (d == 0 || !(radius > 0) || !isfinite(radius)) return BASE_ERR_ARGUMENT;
  double *v = base_alloc(d, sizeof *v);
  if (!v) return BASE_ERR_MEMORY;
  double theta = 0, step_along = 0;
  int status = la_eigen_min_lanczos(op, TOLERANCE, &theta, v);
  if (status == BASE_OK) {
    struct krylov k;
    status = krylov_create(&k, op, v);
    if (status == BASE_OK) {
      const double along = la_dot(d, v, g);
      memcpy(k.next, g, d * sizeof *g);
      la_axpy(d, -along, v, k.next);
      la_axpy(d, -la_dot(d, v, k.next), v, k.next); /* again, because of cancellation */
      status = solve_across(&k, theta, along, la_norm(d, k.next), radius, step, &step_along, dual);
    }
    krylov_free(&k);
  }
  if (status == BASE_OK) {
    la_axpy(d, step_along, v, step);
    *eigen_min = theta;
  }
  base_free(v);
  return status;
}

/* third: of the cubic model, or zero for the trust region. */
static int solve_dense(size_t d, const double *h, const double *g, double radius, double third, double *step,
                       double *dual, double *eigen_min) {
  double *memory = base_alloc(2 * d * d + 3 * d, sizeof *memory);
  if (!memory) return BASE_ERR_MEMORY;
  double *copy = memory, *q = memory + d * d, *theta = q + d * d, *c = theta + d, *s = c + d;
  memcpy(copy, h, d * d * sizeof *copy);
  const int status = la_dense_all(d, copy, theta, q);
  if (status == BASE_OK) {
    la_matvec_t_add(d, d, q, d, g, c);
    struct secular p = {d, theta, c, theta[0], radius};
    *dual = third > 0 ? solve_cubic(&p, third, s) : solve_secular(&p, s);
    la_matvec(d, d, q, d, s, step);
    *eigen_min = theta[0];
  }
  base_free(memory);
  return status;
}

/* Returns lambda. */
static double solve_secular(const struct secular *p, double *s) {
  double mu = fmax(p->lowest, 0); /* lambda = 0, or the first one for which H + lambda I is semidefinite */
  const int inside = length(p, mu, NULL) <= p->radius;
  if (!inside) mu = newton(p);
  fill(p, mu, s);
  if (inside && p->lowest < 0) complete(p, s);
  return fmax(mu - p->lowest, 0);
}

static void fill(const struct secular *p, double mu, double *s) {
  for (size_t i = 0; i < p->n; i++) s[i] = p->c[i] == 0 ? 0 : -p->c[i] / (p->theta[i] - p->lowest + mu);
}

/* By bisection: each s_i and so |s| is at most |c| / mu, hence mu (mu - theta_1) <= M |c| / 2 at the root. */
static double solve_cubic(struct secular *p, double third, double *s) {
  double low = fmax(p->lowest, 0), pull = third * la_norm(p->n, p->c) / 2;
  double high = fmax(p->lowest / 2 + sqrt(p->lowest * p->lowest / 4 + pull), low) * (1 + 4 * DBL_EPSILON);
  p->radius = 2 * (low - p->lowest) / third;
  const int hard = p->lowest < 0 && length(p, 0, NULL) <= p->radius;
  for (int i = 0; i < 2 * MOST_STEPS && !hard; i++) {
    double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    if (length(p, middle, NULL) > 2 * (middle - p->lowest) / third) {
      low = middle;
    } else {
      high = middle;
    }
  }
  fill(p, hard ? 0 : high, s);
  if (hard) complete(p, s);
  return hard ? -p->lowest : fmax(high - p->lowest, 0);
}

/* The root of |s(mu)| = radius, from a lower bound: each |s_i(mu)| is at most |s(mu)|, which is at most |c| / mu. */
static double newton(const struct secular *p) {
  double low = fmax(p->lowest, 0), high = la_norm(p->n, p->c) / p->radius;
  for (size_t i = 0; i < p->n; i++) low = fmax(low, fabs(p->c[i]) / p->radius - (p->theta[i] - p->lowest));
  double mu = low;
  for (int i = 0; i < MOST_STEPS; i++) {
    double move;
    const double excess = length(p, mu, &move) / p->radius - 1;
    if (fabs(excess) <= 2 * DBL_EPSILON || high - low <= DBL_EPSILON * high) break;
    if (excess > 0) {
      low = mu;
    } else {
      high = mu;
    }
    mu += move;
    if (!(mu > low && mu < high)) mu = low > 0 && low < high / 4 ? sqrt(low) * sqrt(high) : low + (high - low) / 2;
  }
  return mu;
}

/* |s(mu)|, and the step of Newton's method on the reciprocal. */
static double length(const struct secular *p, double mu, double *newton_step) {
  double squares = 0, slope = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (p->c[i] == 0) continue;
    const double below = p->theta[i] - p->lowest + mu, s = p->c[i] / below;
    squares += s * s;
    slope += s * s / below;
  }
  const double norm = sqrt(squares);
  if (newton_step) *newton_step = squares / slope * (norm / p->radius - 1);
  return norm;
}

/* The hard case: move to the boundary along an eigenvector of the smallest eigenvalue. */
static void complete(const struct secular *p, double *s) {
  size_t first = 0;
  while (p->theta[first] != p->lowest) first++;
  const double norm = la_norm(p->n, s);
  s[first] = sqrt(fmax((p->radius - norm) * (p->radius + norm), 0));
}

/* The minimum over the span of v and a Krylov space that grows until the part orthogonal to v solves its equations. */
static int solve_across(struct krylov *k, double theta, double along, double norm, double radius, double *step,
                        double *step_along, double *dual) {
  const size_t d = k->op->dim;
  double *y = base_alloc(d, sizeof *y);
  int status = y ? BASE_OK : BASE_ERR_MEMORY, converged = 0;
  if (status == BASE_OK && !(norm > 0)) { /* g is a multiple of v */
    status = solve_small(k, theta, along, 0, radius, y, step_along, dual);
    converged = 1;
  }
  while (status == BASE_OK && !converged) {
    status = krylov_extend(k);
    if (status != BASE_OK) break;
    const size_t m = k->columns;
    const int last = krylov_complete(k) || krylov_invariant(k);
    if (!last && m % KRYLOV_CHECK != 0) continue;
    status = solve_small(k, theta, along, norm, radius, y, step_along, dual);
    converged = last || k->off[m - 1] * fabs(y[m - 1]) <= TOLERANCE * (norm + k->norm * radius);
  }
  if (status == BASE_OK) krylov_combine(k, y, step);
  base_free(y);
  return status;
}

static int solve_small(const struct krylov *k, double theta, double along, double norm, double radius, double *y,
                       double *step_along, double *dual) {
  const size_t m = k->columns;
  double *memory = base_alloc(m * m + 3 * (m + 1), sizeof *memory);
  if (!memory) return BASE_ERR_MEMORY;
  double *q = memory, *values = q + m * m, *c = values + m + 1, *s = c + m + 1;
  values[0] = theta;
  c[0] = along;
  const int status = m > 0 ? la_tridiagonal_all(m, k->diagonal, k->off, values + 1, q) : BASE_OK;
  if (status == BASE_OK) {
    double lowest = theta;
    for (size_t i = 1; i <= m; i++) {
      c[i] = norm * q[(i - 1) * m]; /* the rest of g is norm times the first column of the basis */
      lowest = fmin(lowest, values[i]);
    }
    const struct secular p = {m + 1, values, c, lowest, radius};
    *dual = solve_secular(&p, s);
    *step_along = s[0];
    if (m > 0) la_matvec(m, m, q, m, s + 1, y);
  }
  base_free(memory);
  return status;
}
