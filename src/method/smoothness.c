/*
 * How smooth is each curve? A group of coordinates, the columns of a smooth without its straight line, has one factor
 * on its prior variances, found from the releases that the posterior mean (posterior.c) is computed from:
 *
 *   a_j ~ N(0, f_g v_j) for j in group g,    x = H N^-1 v,    Q = H N^-1 H,
 *
 * with v_j the variances of the most likely t. f_g has the geometric mean of 2^-8, 2^-6, ..., 2^4 under their
 * likelihoods, for one group after the other, given the factors of those before it.
 *
 * With C = (Q + diag(1 / v))^-1 and the mean a = C x, let S = R^-1 C_gg R^-1 and b = R^-1 a_g, R = diag(v_j)^1/2 in the
 * group. S has eigenvectors u_k with eigenvalues e_k in [0, 1]. With c = 1 / f - 1, the logarithm of the likelihood of
 * f, less that of f = 1, is
 *
 *   -sum_k (c (u_k'b)^2 / (1 + c e_k) + log(1 + c e_k) + log f) / 2,
 *
 * and with y_k = C_.g R^-1 u_k, C becomes C - sum_k c y_k y_k' / (1 + c e_k), and a is C x again.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define FACTORS 7
#define FIRST (-4) /* the smallest factor of a standard deviation is 2^FIRST */

struct groups {
  size_t dim, size;  /* size: of the group */
  const double *variance;
  double *covariance, *mean; /* C, a */
  double *part, *along;      /* y_k, dim x size; u_k, size x size */
  double *value, *b;         /* e_k, u_k'b */
  size_t *at;                /* the coordinates of the group */
};

/* C, by eigenvalues of I + R Q R, which are at least one, and the mean. */
static int find_mean(const struct groups *g, const double *product, const double *weighted) {
  size_t dim = g->dim;
  double *vectors = g->part, *root = g->b;
  for (size_t j = 0; j < dim; j++) root[j] = sqrt(g->variance[j]);
  for (size_t j = 0; j < dim; j++) {
    for (size_t i = 0; i < dim; i++) vectors[i + j * dim] = root[i] * root[j] * product[i + j * dim] + (i == j);
  }
  int status = la_eigen_released(dim, vectors, g->value);
  if (status != BASE_OK) return status;
  memset(g->covariance, 0, dim * dim * sizeof(double));
  for (size_t k = 0; k < dim; k++) {
    double *vector = vectors + k * dim;
    for (size_t j = 0; j < dim; j++) vector[j] *= root[j] / sqrt(fmax(g->value[k], 1));
    for (size_t j = 0; j < dim; j++) la_axpy(dim, vector[j], vector, g->covariance + j * dim);
  }
  la_matvec(dim, dim, g->covariance, dim, weighted, g->mean);
  return BASE_OK;
}

/* Leaves e_k, u_k'b and y_k. */
static int decompose(const struct groups *g) {
  size_t dim = g->dim, size = g->size;
  const size_t *at = g->at;
  for (size_t k = 0; k < size; k++) {
    for (size_t i = 0; i < size; i++) {
      g->along[i + k * size] = g->covariance[at[i] + at[k] * dim] / sqrt(g->variance[at[i]] * g->variance[at[k]]);
    }
  }
  int status = la_eigen_released(size, g->along, g->value);
  if (status != BASE_OK) return status;
  memset(g->part, 0, dim * size * sizeof(double));
  for (size_t k = 0; k < size; k++) {
    g->value[k] = fmin(fmax(g->value[k], 0), 1);
    g->b[k] = 0;
    for (size_t i = 0; i < size; i++) {
      double u = g->along[i + k * size] / sqrt(g->variance[at[i]]);
      g->b[k] += u * g->mean[at[i]];
      la_axpy(dim, u, g->covariance + at[i] * dim, g->part + k * dim);
    }
  }
  return BASE_OK;
}

static double log_likelihood(const struct groups *g, double f) {
  double sum = 0, c = 1 / f - 1;
  for (size_t k = 0; k < g->size; k++) {
    double more = 1 + c * g->value[k];
    sum -= c * g->b[k] * g->b[k] / more + log(more) + log(f);
  }
  return sum / 2;
}

static double mean_factor(const struct groups *g) {
  double most = -INFINITY, total = 0, sum = 0;
  for (int i = 0; i < FACTORS; i++) most = fmax(most, log_likelihood(g, ldexp(1, 2 * (FIRST + i))));
  for (int i = 0; i < FACTORS; i++) {
    double weight = exp(log_likelihood(g, ldexp(1, 2 * (FIRST + i))) - most);
    total += weight;
    sum += weight * 2 * (FIRST + i);
  }
  return exp2(sum / total);
}

static void update(const struct groups *g, double f) {
  double c = 1 / f - 1;
  for (size_t k = 0; k < g->size; k++) {
    const double *y = g->part + k * g->dim;
    double less = c / (1 + c * g->value[k]);
    for (size_t j = 0; j < g->dim; j++) la_axpy(g->dim, -less * y[j], y, g->covariance + j * g->dim);
    la_axpy(g->dim, -less * g->b[k], y, g->mean);
  }
}

/* The coordinates of group number k; none where one has no variance. */
static size_t members(size_t dim, const double *group, const double *variance, double k, size_t *at) {
  size_t size = 0;
  for (size_t j = 0; j < dim; j++) {
    if (group[j] != k) continue;
    if (!(variance[j] > 0)) return 0;
    at[size++] = j;
  }
  return size;
}

int posterior_factors(size_t dim, const double *product, const double *weighted, const double *group,
                      const double *variance, double *factor) {
  double *memory = base_alloc(dim * (3 * dim + 3), sizeof(double)), most = 0;
  size_t *at = base_alloc(dim, sizeof *at);
  struct groups g = {.dim = dim, .variance = variance, .covariance = memory, .at = at};
  int status = memory && at ? BASE_OK : BASE_ERR_MEMORY;
  if (status == BASE_OK) {
    g.part = memory + dim * dim;
    g.along = memory + 2 * dim * dim;
    g.mean = memory + 3 * dim * dim;
    g.value = g.mean + dim;
    g.b = g.value + dim;
    status = find_mean(&g, product, weighted);
  }
  for (size_t j = 0; j < dim; j++) {
    factor[j] = 1;
    most = fmax(most, group[j]);
  }
  for (double k = 1; status == BASE_OK && k <= most; k++) {
    g.size = members(dim, group, variance, k, at);
    if (g.size == 0) continue;
    status = decompose(&g);
    if (status != BASE_OK) break;
    double f = mean_factor(&g);
    update(&g, f);
    for (size_t i = 0; i < g.size; i++) factor[at[i]] = f;
  }
  base_free(at);
  base_free(memory);
  return status;
}
