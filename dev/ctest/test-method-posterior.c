/* The mean of a minimiser given a noisy gradient: formulas in one dimension, and what only the mean of the posterior
 * distribution satisfies. */
#include "ctest.h"

#include "la/la.h"
#include "method/private.h"

#include <math.h>
#include <string.h>

enum { DIM = 5 };

static const double ones[DIM] = {1, 1, 1, 1, 1};

static void one_dimension(double usual);
static void mean_of_the_posterior(void);
static void without_matrices(void);
static void matrix_of_noise(void);
static void matrix_without_noise(void);
static void matrix_of_rare_columns(void);
static void matrix_of_short_columns(void);
static void columns_without_records(void);

void test_method_posterior(void) {
  one_dimension(INFINITY);
  one_dimension(0.6);
  mean_of_the_posterior();
  without_matrices();
  matrix_of_noise();
  matrix_without_noise();
  matrix_of_rare_columns();
  matrix_of_short_columns();
  columns_without_records();
}

/* Moments are limited where columns may have no records, and only there; the matrix stays positive semidefinite. */
static void columns_without_records(void) {
  double few[3] = {0, 1, 1}, released[9] = {1, 0, 0, 0, -0.01, 0, 0, 0, 0.3}, moment[3];
  double h[9] = {1, 0.1, 0.2, 0.1, 0.2, 0.05, 0.2, 0.05, 0.2};
  posterior_moments(3, NULL, released, moment);
  for (int j = 0; j < 3; j++) CHECK(moment[j] == INFINITY && posterior_seen(moment[j], 0.02) == 1);
  posterior_moments(3, few, released, moment);
  CHECK(moment[0] == INFINITY && moment[1] == -0.01 && moment[2] == 0.3);
  CHECK(posterior_seen(-0.01, 0.02) == 0 && posterior_seen(0.03, 0.02) == 0);
  CHECK_NEAR(posterior_seen(0.06, 0.02), 0.75, 1e-12);
  posterior_limit(3, moment, 0.02, h);
  CHECK(h[0] == 1 && h[8] == 0.2 && h[2] == 0.2 && h[6] == 0.2);
  CHECK_NEAR(h[4], 0.01, 1e-12);
  CHECK_NEAR(h[1], 0.1 * sqrt(0.05), 1e-12);
  CHECK_NEAR(h[5], 0.05 * sqrt(0.05), 1e-12);
  CHECK(h[3] == h[1] && h[7] == h[5]);
}

/* With t = 0.5 and 1 the estimate is normal with the variances s^2 + h^2 t^2 p. */
static void one_dimension(double usual) {
  double h = 1.7, variance = 0.6, s = 0.4, a;
  for (double v = -3; v <= 3; v += 0.5) {
    double weight[2], mean[2];
    for (int i = 0; i < 2; i++) {
      double t2 = i ? 1 : 0.25, total = s * s + h * h * t2 * variance;
      weight[i] = exp(-v * v / total / 2) / sqrt(total) / (1 + pow((i ? 1 : 0.5) / usual, 4));
      mean[i] = h * t2 * variance * v / total;
      const struct posterior one = {1, &h, &variance, s, i ? 1 : 0.5, 1, usual, NULL};
      CHECK(posterior_mean(&one, &v, &a) == BASE_OK);
      CHECK_NEAR(a, mean[i], 1e-12);
    }
    const struct posterior both = {1, &h, &variance, s, 0.5, 2, usual, NULL};
    CHECK(posterior_mean(&both, &v, &a) == BASE_OK);
    CHECK_NEAR(a, (weight[0] * mean[0] + weight[1] * mean[1]) / (weight[0] + weight[1]), 1e-12);
  }
}

/* For a random minimiser, (a - mean)' f has mean zero for every function f of the estimate: here the mean itself and
 * the estimate. Another factor of the mean, or another weight of the values of t, would be seen. */
static void mean_of_the_posterior(void) {
  double root[DIM * DIM], hessian[DIM * DIM] = {0}, variance[DIM], sums[2] = {0}, squares[2] = {0};
  ctest_seed(3);
  for (int i = 0; i < DIM * DIM; i++) root[i] = ctest_normal() / DIM;
  la_multiply_t_add(DIM, DIM, DIM, root, DIM, root, hessian, DIM);
  for (int j = 0; j < DIM; j++) variance[j] = exp(ctest_normal());
  const struct posterior p = {DIM, hessian, variance, 0.1, 0.2, 4, INFINITY, NULL};
  int runs = ctest_size(20000, 500);
  for (int i = 0; i < runs; i++) {
    double t = ldexp(p.least, (int)(4 * ctest_uniform())), a[DIM], v[DIM], mean[DIM], product[2] = {0};
    for (int j = 0; j < DIM; j++) a[j] = t * sqrt(variance[j]) * ctest_normal();
    la_matvec(DIM, DIM, hessian, DIM, a, v);
    for (int j = 0; j < DIM; j++) v[j] += p.sd * ctest_normal();
    CHECK(posterior_mean(&p, v, mean) == BASE_OK);
    for (int j = 0; j < DIM; j++) {
      product[0] += (a[j] - mean[j]) * mean[j];
      product[1] += (a[j] - mean[j]) * v[j];
    }
    for (int k = 0; k < 2; k++) {
      sums[k] += product[k];
      squares[k] += product[k] * product[k];
    }
  }
  for (int k = 0; k < 2; k++) CHECK(fabs(sums[k]) < 4 * sqrt(squares[k]));
}

/* H = h I and p_j = 1: both functions give the same. */
static void without_matrices(void) {
  double h = 1.3, hessian[DIM * DIM] = {0}, variance[DIM], v[DIM], full[DIM], scalar[DIM];
  ctest_seed(4);
  for (int j = 0; j < DIM; j++) {
    hessian[j + j * DIM] = h;
    variance[j] = 1;
    v[j] = ctest_normal();
  }
  const struct posterior p = {DIM, hessian, variance, 0.7, 0.2, 4, 1, NULL},
                         without = {DIM, NULL, NULL, 0.7, 0.2, 4, 1, NULL};
  CHECK(posterior_mean(&p, v, full) == BASE_OK && posterior_mean_scalar(&without, h, v, scalar) == BASE_OK);
  for (int j = 0; j < DIM; j++) CHECK_NEAR(scalar[j], full[j], 1e-12);
}

static void symmetric_noise(double sd, double *h) {
  for (int j = 0; j < DIM; j++) {
    h[j + j * DIM] += sd * ctest_normal();
    for (int i = 0; i < j; i++) h[i + j * DIM] = h[j + i * DIM] += sd / sqrt(2) * ctest_normal();
  }
}

/* Without the intercept, a multiple of the unit matrix and noise: the error is much smaller than the noise. */
static void matrix_of_noise(void) {
  double before = 0, after = 0, sd = 0.03;
  int runs = ctest_size(200, 50);
  ctest_seed(5);
  for (int run = 0; run < runs; run++) {
    double h[DIM * DIM] = {0}, first;
    for (int j = 0; j < DIM; j++) h[j + j * DIM] = 0.2;
    symmetric_noise(sd, h);
    first = h[0];
    for (int i = 0; i < DIM * DIM; i++) before += pow(h[i] - 0.2 * (i % (DIM + 1) == 0), 2);
    posterior_matrix(DIM, 1, ones, sd, h);
    CHECK(h[0] == first);
    for (int j = 0; j < DIM; j++) {
      for (int i = 0; i < j; i++) CHECK(h[i + j * DIM] == h[j + i * DIM]);
    }
    for (int i = 0; i < DIM * DIM; i++) after += pow(h[i] - 0.2 * (i % (DIM + 1) == 0), 2);
  }
  CHECK(after < 0.45 * before);
}

/* The mean square of the deviations on the diagonal is .01; without the noise nothing is shrunk. */
static void matrix_without_noise(void) {
  double h[9] = {0.3, 0.2, 0.2, 0.2, 0.3, 0.2, 0.2, 0.2, 0.5}, same[9], one = 4;
  memcpy(same, h, sizeof h);
  posterior_matrix(3, 1, ones, 0, same);
  for (int i = 0; i < 9; i++) CHECK_NEAR(same[i], h[i], 1e-15);
  posterior_matrix(3, 1, ones, sqrt(0.005), h);
  CHECK_NEAR(h[0], 0.3, 0);
  CHECK_NEAR(h[4], 0.35, 1e-14);
  CHECK_NEAR(h[8], 0.45, 1e-14);
  double products[] = {0.3 * 0.35, 0.3 * 0.45, 0.35 * 0.45};
  double correlation = 3 * (0.04 - 0.0025) / (products[0] + products[1] + products[2]);
  double at[] = {h[3], h[6], h[7]};
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(at[k], 0.2 * correlation * products[k] / (correlation * products[k] + 0.0025), 1e-14);
  }
  posterior_matrix(1, 0, ones, 1, &one);
  CHECK_NEAR(one, 4, 1e-15);
}

/* Two columns vary and are correlated, the others hardly vary: their entries are noise, the correlation is kept. */
static void matrix_of_rare_columns(void) {
  double sd = 0.001, rare = 0, kept = 0;
  int runs = ctest_size(200, 50);
  ctest_seed(6);
  for (int run = 0; run < runs; run++) {
    double h[DIM * DIM] = {0};
    for (int j = 0; j < DIM; j++) h[j + j * DIM] = j < 3 ? 0.1 : 0.001;
    h[1 + 2 * DIM] = h[2 + DIM] = 0.05;
    symmetric_noise(sd, h);
    posterior_matrix(DIM, 1, ones, sd, h);
    kept += h[1 + 2 * DIM] / runs;
    rare += pow(h[3 + 4 * DIM] / sd, 2) / runs;
  }
  CHECK(fabs(kept - 0.05) < 0.001);
  CHECK(rare < 0.05);
}

/* Noise that is added to all columns remains in those with the largest spread. A matrix without noise stays, whatever
 * is expected of it. */
static void matrix_of_short_columns(void) {
  const double spread[] = {2, 1, 0.1, 0.1}, squares = 4 + 1 + 0.02, largest = 4;
  const double away[] = {0.2, -0.2, 0.2, -0.2};
  double noise[DIM * DIM] = {9}, some[DIM * DIM] = {9}, exact[DIM * DIM] = {9};
  for (int j = 1; j < DIM; j++) {
    noise[j + j * DIM] = 4;
    some[j + j * DIM] = 0.75 + spread[j - 1] * spread[j - 1] / squares + away[j - 1]; /* 0.75 are added */
    exact[j + j * DIM] = 0.05 * j;
  }
  posterior_matrix(DIM, 1, spread, 1, noise);
  posterior_matrix(DIM, 1, spread, sqrt(0.02), some); /* half of the differences are real */
  posterior_matrix(DIM, 1, spread, 0, exact);
  CHECK(noise[0] == 9 && some[0] == 9 && exact[0] == 9);
  for (int j = 1; j < DIM; j++) {
    double square = spread[j - 1] * spread[j - 1];
    CHECK_NEAR(noise[j + j * DIM], (1 / squares + 15. / 4 / largest) * square, 1e-14);
    CHECK_NEAR(some[j + j * DIM], (1 / squares + 0.75 / largest) * square + away[j - 1] / 2, 1e-14);
    CHECK_NEAR(exact[j + j * DIM], 0.05 * j, 1e-15);
  }
}
