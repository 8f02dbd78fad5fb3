/* Factors on the prior variances of groups: likelihoods by determinants, and what they are for. */
#include "ctest.h"

#include "la/la.h"
#include "method/private.h"

#include <math.h>
#include <string.h>

enum { DIM = 7 };

static const double group[DIM] = {0, 1, 1, 0, 2, 2, 2}, none[DIM] = {0}, third[DIM] = {0, 0, 3, 3, 0, 0, 0};

static void by_determinants(void);
static void without_groups(void);
static void smooth_where_there_is_nothing(void);
static void both_posteriors(void);

void test_method_smoothness(void) {
  by_determinants();
  without_groups();
  smooth_where_there_is_nothing();
  both_posteriors();
}

static void random_product(double *product) {
  double root[DIM * DIM];
  memset(product, 0, DIM * DIM * sizeof(double));
  for (int i = 0; i < DIM * DIM; i++) root[i] = ctest_normal();
  la_multiply_t_add(DIM, DIM, DIM, root, DIM, root, product, DIM);
}

/* (x'D A^-1 D x - log det A) / 2 for A = I + D Q D, D = diag(variance)^1/2. */
static double log_likelihood(const double *product, const double *x, const double *variance) {
  double m[DIM * DIM], a[DIM], right[DIM], sum = 0;
  for (int j = 0; j < DIM; j++) {
    for (int i = 0; i < DIM; i++) m[i + j * DIM] = sqrt(variance[i] * variance[j]) * product[i + j * DIM] + (i == j);
    a[j] = right[j] = sqrt(variance[j]) * x[j];
  }
  CHECK(la_solve_definite(DIM, m, a) == BASE_OK);
  for (int j = 0; j < DIM; j++) sum += a[j] * right[j] / 2 - log(m[j + j * DIM]);
  return sum;
}

/* The geometric mean for one group, by which its variances are multiplied. */
static double expected_factor(const double *product, const double *x, int k, double *variance) {
  double weight[7], total = 0, sum = 0, scaled[DIM];
  for (int i = 0; i < 7; i++) {
    for (int j = 0; j < DIM; j++) scaled[j] = variance[j] * (group[j] == k ? pow(4, i - 4) : 1);
    weight[i] = exp(log_likelihood(product, x, scaled));
    total += weight[i];
  }
  for (int i = 0; i < 7; i++) sum += weight[i] / total * (i - 4);
  for (int j = 0; j < DIM; j++) variance[j] *= group[j] == k ? pow(4, sum) : 1;
  return pow(4, sum);
}

static void by_determinants(void) {
  for (int run = 0; run < 20; run++) {
    double product[DIM * DIM], x[DIM], variance[DIM], factor[DIM];
    ctest_seed((uint64_t)run);
    random_product(product);
    for (int j = 0; j < DIM; j++) {
      x[j] = 3 * ctest_normal();
      variance[j] = exp(ctest_normal());
    }
    CHECK(posterior_factors(DIM, product, x, group, variance, factor) == BASE_OK);
    double first = expected_factor(product, x, 1, variance), second = expected_factor(product, x, 2, variance);
    for (int j = 0; j < DIM; j++) {
      CHECK_NEAR(factor[j], group[j] == 0 ? 1 : group[j] == 1 ? first : second, 1e-9 * factor[j]);
    }
  }
}

/* Also where a group has no coordinate, and where one of its coordinates has no variance. */
static void without_groups(void) {
  double product[DIM * DIM], x[DIM], variance[DIM], factor[DIM];
  ctest_seed(2);
  random_product(product);
  for (int j = 0; j < DIM; j++) {
    x[j] = ctest_normal();
    variance[j] = j != 2;
  }
  CHECK(posterior_factors(DIM, product, x, none, variance, factor) == BASE_OK);
  for (int j = 0; j < DIM; j++) CHECK(factor[j] == 1);
  CHECK(posterior_factors(DIM, product, x, third, variance, factor) == BASE_OK);
  for (int j = 0; j < DIM; j++) CHECK(factor[j] == 1);
  for (int which = 1; which <= 2; which++) {
    ctest_fail_allocation(which);
    CHECK(posterior_factors(DIM, product, x, group, variance, factor) == BASE_ERR_MEMORY);
    ctest_fail_allocation(0);
  }
}

static double squared_error(const struct posterior *p, const double *v, const double *a) {
  double mean[DIM], sum = 0;
  CHECK(posterior_mean(p, v, mean) == BASE_OK);
  for (int j = 0; j < DIM; j++) sum += pow(a[j] - mean[j], 2);
  return sum;
}

/* Where the second group has no effect, its factor takes a quarter off the error; where all coordinates have the same
 * size, the factors of two and of three coordinates add a sixth. */
static void smooth_where_there_is_nothing(void) {
  double hessian[DIM * DIM], variance[DIM], errors[2][2] = {{0}};
  int runs = ctest_size(2000, 100);
  ctest_seed(3);
  for (int j = 0; j < DIM; j++) variance[j] = 1;
  for (int run = 0; run < 2 * runs; run++) {
    int flat = run % 2;
    double a[DIM], v[DIM];
    memset(hessian, 0, sizeof hessian);
    for (int j = 0; j < DIM; j++) hessian[j + j * DIM] = 1;
    for (int j = 0; j < DIM; j++) a[j] = (flat && group[j] == 2 ? 0 : 1) * ctest_normal();
    for (int j = 0; j < DIM; j++) v[j] = a[j] + 0.4 * ctest_normal();
    const struct posterior p = {DIM, hessian, variance, 0.4, 1, 1, INFINITY, NULL};
    struct posterior grouped = p;
    grouped.group = group;
    errors[flat][0] += squared_error(&p, v, a);
    errors[flat][1] += squared_error(&grouped, v, a);
  }
  CHECK(errors[1][1] < 0.8 * errors[1][0]);
  CHECK(errors[0][1] < 1.25 * errors[0][0]);
}

/* With noise of covariance s^2 I, and t large beyond doubt, both posterior means are the same. */
static void both_posteriors(void) {
  double hessian[DIM * DIM], product[DIM * DIM] = {0}, weighted[DIM] = {0}, scratch[DIM * DIM], variance[DIM];
  double v[DIM], one[DIM], other[DIM], without[DIM], first, s = 0.05;
  ctest_seed(4);
  random_product(hessian);
  for (int j = 0; j < DIM; j++) variance[j] = exp(ctest_normal() / 2);
  for (int j = 0; j < DIM; j++) v[j] = 20 * ctest_normal();
  la_multiply_t_add(DIM, DIM, DIM, hessian, DIM, hessian, product, DIM);
  la_matvec_t_add(DIM, DIM, hessian, DIM, v, weighted);
  la_scale(DIM * DIM, 1 / (s * s), product);
  la_scale(DIM, 1 / (s * s), weighted);
  const struct posterior p = {DIM, hessian, variance, s, 1, 4, 2, group};
  struct posterior_known known = {.dim = DIM, .product = product, .weighted = weighted, .variance = variance,
                                  .scratch = scratch, .least = 1, .levels = 4, .usual = 2, .through_zero = 1,
                                  .group = group};
  CHECK(posterior_mean(&p, v, one) == BASE_OK && posterior_known_mean(&known, other, &first) == BASE_OK);
  known.group = NULL;
  CHECK(posterior_known_mean(&known, without, &first) == BASE_OK);
  double away = 0;
  for (int j = 0; j < DIM; j++) {
    CHECK_NEAR(one[j], other[j], 1e-8 * la_norm(DIM, one));
    away += fabs(without[j] - other[j]);
  }
  CHECK(away > 1e-5 * la_norm(DIM, one));
}
