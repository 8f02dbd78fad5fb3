/*
 * The mean of a minimiser given a noisy gradient, in the quadratic model of a loss with the Hessian H: the minimiser
 * lies at a from the start, and
 *
 *   v = H a + noise, independent N(0, s^2) in each coordinate,    a_j ~ N(0, t^2 p_j) independent.
 *
 * t is unknown: it has one of several values, each twice the one before, with probabilities in proportion to
 * 1 / (1 + (t / usual)^4): where noise hides the size of a, equal ones would take the noise for a large a. With
 * R = diag(p)^1/2, the eigenvalues e_k and eigenvectors V of B'B, B = H R, and q = V'B'v, the mean for one t and the
 * logarithm of its likelihood, less that of t = 0, are
 *
 *   R V (t^2 q_k / (s^2 + t^2 e_k))_k,    sum_k (t^2 q_k^2 / (s^2 (s^2 + t^2 e_k)) - log(1 + t^2 e_k / s^2)) / 2.
 *
 * The result is the mean of these means, with the probabilities times the likelihoods as weights. Groups of coordinates
 * first have their p multiplied by factors (smoothness.c).
 *
 * Where the noise has the covariance N, with Q = H N^-1 H, x = H N^-1 v, and D = diag(prior variances)^1/2 of one t,
 * the mean is D A^-1 D x with A = I + D Q D, and the logarithm of the likelihood, less that of a = 0, is (x'D A^-1 D x
 * - log det A) / 2.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define EVIDENT 1.5 /* standard deviations of noise that a second moment must exceed */

static void shrink_diagonal(size_t dim, size_t skip, const double *spread, double sd, double *h);
static double product(size_t dim, const double *h, size_t i, size_t j);
static double square(double x);
static double log_weight(const struct posterior *p, const double *e, const double *q, double t2);
static double likely(const struct posterior *p, const double *e, const double *q);
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

void posterior_moments(size_t dim, const double *few, const double *h, double *moment) {
  for (size_t j = 0; j < dim; j++) moment[j] = few && few[j] != 0 ? h[j + j * dim] : INFINITY;
}

void posterior_limit(size_t dim, const double *moment, double sd, double *h) {
  for (size_t j = 0; j < dim; j++) {
    double factor = sqrt(fmin(1, fmax(moment[j], sd / 2) / fmax(h[j + j * dim], sd / 2)));
    for (size_t i = 0; i < dim; i++) {
      h[i + j * dim] *= factor;
      h[j + i * dim] *= factor;
    }
  }
}

double posterior_seen(double moment, double sd) {
  return moment > EVIDENT * sd ? 1 - square(EVIDENT * sd / moment) : 0;
}

static double follows(double value, double prior, double noise) {
  return value > 0 && prior > 0 ? value * prior / (value * value * prior + noise) : 0;
}

void posterior_follows(size_t dim, const double *value, const double *estimate, const double *noise, double wanted,
                       double *prior) {
  double size = -30;
  for (double step = 30; step > 0.01; step /= 2) {
    double sum = 0;
    for (size_t k = 0; k < dim; k++) {
      sum += fmax(value[k], 0) * square(follows(value[k], exp2(size + step) * prior[k], noise[k]) * estimate[k]);
    }
    if (sum < wanted) size += step;
  }
  for (size_t k = 0; k < dim; k++) prior[k] = follows(value[k], exp2(size) * prior[k], noise[k]);
}

/* Of the prior probability of t, less that of a small t, with the other sign. */
static double log_unlikely(double t2, double usual) { return t2 > 0 ? log1p(square(t2 / square(usual))) : 0; }

/* V, e and q for these variances. b: scratch, dim x dim. */
static int decompose(const struct posterior *p, const double *variance, const double *v, double *b, double *vectors,
                     double *e, double *q) {
  size_t dim = p->dim;
  for (size_t i = 0; i < dim * dim; i++) b[i] = p->hessian[i] * sqrt(variance[i / dim]);
  memset(vectors, 0, dim * dim * sizeof(double));
  memset(e, 0, dim * sizeof(double));
  la_multiply_t_add(dim, dim, dim, b, dim, b, vectors, dim);
  la_matvec_t_add(dim, dim, b, dim, v, e);
  memcpy(q, e, dim * sizeof(double));
  int status = la_eigen_released(dim, vectors, e);
  if (status != BASE_OK) return status;
  memcpy(b, q, dim * sizeof(double));
  for (size_t k = 0; k < dim; k++) {
    e[k] = fmax(e[k], 0);
    q[k] = la_dot(dim, vectors + k * dim, b);
  }
  return BASE_OK;
}

/* Multiplies the variances by the factors of the groups. product, weighted and factor are scratch. */
static int find_factors(const struct posterior *p, const double *v, double t2, double *variance, double *product,
                        double *weighted, double *factor) {
  size_t dim = p->dim;
  memset(product, 0, dim * dim * sizeof(double));
  memset(weighted, 0, dim * sizeof(double));
  la_multiply_t_add(dim, dim, dim, p->hessian, dim, p->hessian, product, dim);
  la_matvec_t_add(dim, dim, p->hessian, dim, v, weighted);
  la_scale(dim * dim, 1 / (p->sd * p->sd), product);
  la_scale(dim, 1 / (p->sd * p->sd), weighted);
  la_scale(dim, t2, variance);
  int status = posterior_factors(dim, product, weighted, p->group, variance, factor);
  for (size_t j = 0; j < dim; j++) variance[j] *= factor[j] / t2;
  return status;
}

int posterior_mean(const struct posterior *p, const double *v, double *a) {
  size_t dim = p->dim;
  double *memory = base_alloc(dim * (2 * dim + 4), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  double *b = memory, *vectors = b + dim * dim, *e = vectors + dim * dim, *q = e + dim, *factor = q + dim,
         *variance = factor + dim;
  memcpy(variance, p->variance, dim * sizeof(double));
  int status = decompose(p, variance, v, b, vectors, e, q);
  if (status == BASE_OK && p->group) {
    status = find_factors(p, v, likely(p, e, q), variance, b, q, factor);
    if (status == BASE_OK) status = decompose(p, variance, v, b, vectors, e, q);
  }
  if (status == BASE_OK) {
    shrink(p, e, q, factor);
    la_matvec(dim, dim, vectors, dim, q, a);
    for (size_t j = 0; j < dim; j++) a[j] *= sqrt(variance[j]);
  }
  base_free(memory);
  return status;
}

static double level(const struct posterior_known *p, int i) { return i < 0 ? 0 : ldexp(p->least, i); }

/* The standard deviations for one t. */
static void roots(const struct posterior_known *p, const double *variance, double t, double *root) {
  for (size_t j = 0; j < p->dim; j++) root[j] = (j == 0 && !p->through_zero ? 1 : t) * sqrt(variance[j]);
}

/* The mean for these standard deviations. Leaves the lower Cholesky factor of A in p->scratch. */
static int known_level(const struct posterior_known *p, const double *root, double *a, double *log_likelihood) {
  size_t dim = p->dim;
  double *m = p->scratch, determinant = 0;
  for (size_t j = 0; j < dim; j++) {
    for (size_t i = 0; i < dim; i++) m[i + j * dim] = root[i] * root[j] * p->product[i + j * dim] + (i == j);
    a[j] = root[j] * p->weighted[j];
  }
  int status = la_solve_definite(dim, m, a);
  for (size_t j = 0; j < dim; j++) {
    determinant += log(m[j + j * dim]);
    a[j] *= root[j];
  }
  *log_likelihood = la_dot(dim, a, p->weighted) / 2 - determinant;
  return status;
}

/* Multiplies the variances by the factors of the groups, for the most likely t; root and a are scratch. */
static int find_known_factors(const struct posterior_known *p, double *variance, double *root, double *a) {
  double most = -INFINITY, best = 0;
  int status = BASE_OK;
  for (int i = -1; status == BASE_OK && i < p->levels; i++) {
    double t = level(p, i), likelihood = 0;
    roots(p, variance, t, root);
    status = known_level(p, root, a, &likelihood);
    likelihood -= log_unlikely(t * t, p->usual);
    if (likelihood > most) best = t;
    most = fmax(most, likelihood);
  }
  if (status != BASE_OK || best == 0) return status;
  roots(p, variance, best, root);
  for (size_t j = 0; j < p->dim; j++) root[j] *= root[j];
  status = posterior_factors(p->dim, p->product, p->weighted, p->group, root, a);
  for (size_t j = 0; j < p->dim; j++) variance[j] *= a[j];
  return status;
}

/* The first entry of (L L')^-1, |x|^2 for L x = (1, 0, 0, ...). */
static double first_entry(size_t dim, const double *l, double *x) {
  for (size_t i = 0; i < dim; i++) x[i] = i == 0;
  for (size_t j = 0; j < dim; j++) {
    x[j] /= l[j + j * dim];
    la_axpy(dim - 1 - j, -x[j], l + j + 1 + j * dim, x + j + 1);
  }
  return la_dot(dim, x, x);
}

/* A level is added to the sums so far, which are scaled when a larger likelihood is found. */
int posterior_known_mean(const struct posterior_known *p, double *a, double *first) {
  double *one = base_alloc(3 * p->dim, sizeof(double)), most = -INFINITY, total = 0;
  if (!one) return BASE_ERR_MEMORY;
  double *root = one + p->dim, *variance = root + p->dim;
  memcpy(variance, p->variance, p->dim * sizeof(double));
  int status = p->group ? find_known_factors(p, variance, root, one) : BASE_OK;
  memset(a, 0, p->dim * sizeof(double));
  *first = 0;
  for (int i = -1; status == BASE_OK && i < p->levels; i++) {
    double likelihood = 0, t = level(p, i);
    roots(p, variance, t, root);
    status = known_level(p, root, one, &likelihood);
    likelihood -= log_unlikely(t * t, p->usual);
    double fade = likelihood > most ? exp(most - likelihood) : 1,
           weight = likelihood > most ? 1 : exp(likelihood - most);
    most = fmax(most, likelihood);
    total = fade * total + weight;
    la_scale(p->dim, fade, a);
    la_axpy(p->dim, weight, one, a);
    *first = fade * *first + weight * variance[0] * first_entry(p->dim, p->scratch, root);
  }
  la_scale(p->dim, 1 / total, a);
  *first /= total;
  base_free(one);
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

/* The most likely t^2. */
static double likely(const struct posterior *p, const double *e, const double *q) {
  double most = -INFINITY, best = 0;
  for (int i = 0; i < p->levels; i++) {
    double t2 = ldexp(p->least * p->least, 2 * i), weight = log_weight(p, e, q, t2);
    if (weight > most) best = t2;
    most = fmax(most, weight);
  }
  return best;
}

/* Multiplies q by the weighted mean of t^2 / (s^2 + t^2 e); factor is scratch. */
static void shrink(const struct posterior *p, const double *e, double *q, double *factor) {
  double most = -INFINITY, total = 0, first = p->least * p->least;
  for (int i = 0; i < p->levels; i++) most = fmax(most, log_weight(p, e, q, ldexp(first, 2 * i)));
  memset(factor, 0, p->dim * sizeof(double));
  for (int i = 0; i < p->levels; i++) {
    double t2 = ldexp(first, 2 * i), weight = exp(log_weight(p, e, q, t2) - most);
    total += weight;
    for (size_t k = 0; k < p->dim; k++) factor[k] += weight * t2 / (p->sd * p->sd + t2 * e[k]);
  }
  for (size_t k = 0; k < p->dim; k++) q[k] *= factor[k] / total;
}

static double log_weight(const struct posterior *p, const double *e, const double *q, double t2) {
  double sum = 0, s2 = p->sd * p->sd;
  for (size_t k = 0; k < p->dim; k++) sum += t2 * q[k] / s2 * (q[k] / (s2 + t2 * e[k])) - log1p(t2 * e[k] / s2);
  return sum / 2 - log_unlikely(t2, p->usual);
}
