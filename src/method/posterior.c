/*
 * The mean of a minimiser given a noisy gradient, in the quadratic model of a loss with the Hessian H: the minimiser
 * lies at a from the start, and
 *
 *   v = H a + noise, independent N(0, s^2) in each coordinate,    a_j ~ N(0, t^2 p_j) independent.
 *
 * t is unknown: it has one of several values with equal probabilities, of which each is twice the one before. With
 * R = diag(p)^1/2, the eigenvalues e_k and eigenvectors V of B'B, B = H R, and q = V'B'v, the mean for one t and the
 * logarithm of its likelihood, less that of t = 0, are
 *
 *   R V (t^2 q_k / (s^2 + t^2 e_k))_k,    sum_k (t^2 q_k^2 / (s^2 (s^2 + t^2 e_k)) - log(1 + t^2 e_k / s^2)) / 2.
 *
 * The result is the mean of these means, with the likelihoods as weights.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

static void shrink_diagonal(size_t dim, size_t skip, const double *spread, double sd, double *h);
static double product(size_t dim, const double *h, size_t i, size_t j);
static double square(double x);
static double likelihood(const struct posterior *p, const double *e, const double *q, double t2);
static void shrink(const struct posterior *p, const double *e, double *q, double *factor);

void posterior_matrix(size_t dim, size_t skip, const double *spread, double sd, double *h) {
  shrink_diagonal(dim, skip, spread, sd, h);
  double variance = sd * sd / 2, squares = 0, products = 0;
  for (size_t j = 0; j < dim; j++) {
    for (size_t i = 0; i < j; i++) {
      squares += square(h[i + j * dim]) - variance;
      products += product(dim, h, i, j);
    }
  }
  double correlation = squares > 0 && products > 0 ? squares / products : 0; /* squared */
  for (size_t j = 0; j < dim; j++) {
    for (size_t i = 0; i < j; i++) {
      double signal = correlation * product(dim, h, i, j);
      h[j + i * dim] = h[i + j * dim] *= signal > 0 ? signal / (signal + variance) : 0;
    }
  }
}

/* added: what the positive part of the noise adds to each entry; it is left in the columns with the largest spread. */
static void shrink_diagonal(size_t dim, size_t skip, const double *spread, double sd, double *h) {
  double columns = (double)(dim - skip), trace = 0, squares = 0, most = 0, excess = 0;
  for (size_t j = skip; j < dim; j++) trace += h[j + j * dim];
  for (size_t j = skip; j < dim; j++) {
    squares += square(spread[j - skip]);
    most = fmax(most, square(spread[j - skip]));
  }
  double known = fmin(trace, 1), added = (trace - known) / columns;
  for (size_t j = skip; j < dim; j++) {
    h[j + j * dim] -= added + known * square(spread[j - skip]) / squares;
    excess += square(h[j + j * dim]) / columns;
  }
  double factor = excess > sd * sd ? 1 - sd * sd / excess : 0, mean = known / squares + added / most;
  for (size_t j = skip; j < dim; j++) {
    h[j + j * dim] = mean * square(spread[j - skip]) + factor * h[j + j * dim];
  }
}

/* Of two entries of the diagonal, as far as they are positive. */
static double product(size_t dim, const double *h, size_t i, size_t j) {
  return fmax(h[i + i * dim], 0) * fmax(h[j + j * dim], 0);
}

static double square(double x) { return x * x; }

int posterior_mean(const struct posterior *p, const double *v, double *a) {
  size_t dim = p->dim;
  double *memory = base_alloc(dim * (2 * dim + 3), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  double *b = memory, *vectors = b + dim * dim, *e = vectors + dim * dim, *q = e + dim, *factor = q + dim;
  for (size_t i = 0; i < dim * dim; i++) b[i] = p->hessian[i] * sqrt(p->variance[i / dim]);
  memset(vectors, 0, dim * dim * sizeof(double));
  la_multiply_t_add(dim, dim, dim, b, dim, b, vectors, dim);
  memset(a, 0, dim * sizeof(double));
  la_matvec_t_add(dim, dim, b, dim, v, a);
  int status = la_eigen_all(dim, vectors, e);
  if (status == BASE_OK) {
    for (size_t k = 0; k < dim; k++) e[k] = fmax(e[k], 0);
    for (size_t k = 0; k < dim; k++) q[k] = la_dot(dim, vectors + k * dim, a);
    shrink(p, e, q, factor);
    la_matvec(dim, dim, vectors, dim, q, a);
    for (size_t j = 0; j < dim; j++) a[j] *= sqrt(p->variance[j]);
  }
  base_free(memory);
  return status;
}

int posterior_mean_scalar(const struct posterior *p, double h, const double *v, double *a) {
  double *e = base_alloc(2 * p->dim, sizeof(double));
  if (!e) return BASE_ERR_MEMORY;
  for (size_t k = 0; k < p->dim; k++) {
    e[k] = h * h;
    a[k] = h * v[k];
  }
  shrink(p, e, a, e + p->dim);
  base_free(e);
  return BASE_OK;
}

/* Multiplies q by the weighted mean of t^2 / (s^2 + t^2 e); factor is scratch. */
static void shrink(const struct posterior *p, const double *e, double *q, double *factor) {
  double most = -INFINITY, total = 0, first = p->least * p->least;
  for (int i = 0; i < p->levels; i++) most = fmax(most, likelihood(p, e, q, ldexp(first, 2 * i)));
  memset(factor, 0, p->dim * sizeof(double));
  for (int i = 0; i < p->levels; i++) {
    double t2 = ldexp(first, 2 * i), weight = exp(likelihood(p, e, q, t2) - most);
    total += weight;
    for (size_t k = 0; k < p->dim; k++) factor[k] += weight * t2 / (p->sd * p->sd + t2 * e[k]);
  }
  for (size_t k = 0; k < p->dim; k++) q[k] *= factor[k] / total;
}

static double likelihood(const struct posterior *p, const double *e, const double *q, double t2) {
  double sum = 0, s2 = p->sd * p->sd;
  for (size_t k = 0; k < p->dim; k++) sum += t2 * q[k] / s2 * (q[k] / (s2 + t2 * e[k])) - log1p(t2 * e[k] / s2);
  return sum / 2;
}
