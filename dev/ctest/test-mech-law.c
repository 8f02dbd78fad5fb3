/* Gaussian and Laplace noise against their laws, at several scales and offsets: shape, moments, tails. */
#include "ctest.h"
#include "laplace.h"
#include "statistics.h"

#include <math.h>
#include <string.h>

#include "mech/mech.h"

static void gaussian(size_t n, double sd, double offset);
static void gaussian_each(size_t n);
static void laplace(size_t n, double scale, double offset);
static void moments(size_t n, const double *z, double second, double fourth, double eighth);
static void tail(size_t n, const double *z, double beyond, double probability);
static void independent(size_t n, const double *z, double second);
static double laplace_cdf(double z);

/* Offsets are in units of the scale. */
void test_mech_law(void) {
  static const double scales[] = {1, 3.7e-5, 1.9999999, 1e-300, 1e298};
  static const double offsets[] = {0, 0.3, -12345.678, 1e9};
  const size_t n = (size_t)ctest_size(200000, 3000), few = (size_t)ctest_size(40000, 1000);
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 4; j++) {
      const size_t size = i == 0 || j == 0 ? n : few;
      gaussian(size, scales[i], offsets[j]);
      laplace(i == 0 ? n : few, scales[i], offsets[j]);
    }
  gaussian_each(n);
}

static void gaussian(size_t n, double sd, double offset) {
  double *z = base_alloc(n, sizeof *z);
  const double x = offset * sd;
  for (size_t i = 0; i < n; i++) z[i] = x;
  CHECK(mech_gaussian(&ctest_entropy, n, sd, z) == BASE_OK);
  for (size_t i = 0; i < n; i++) z[i] = (z[i] - x) / sd;
  moments(n, z, 1, 3, 105);
  independent(n, z, 1);
  tail(n, z, 2, 2 * base_pnorm(-2));
  tail(n, z, 3, 2 * base_pnorm(-3));
  tail(n, z, 4, 2 * base_pnorm(-4));
  CHECK(ks_test(n, z, base_pnorm) > STATISTICS_LEVEL);
  base_free(z);
}

/* Every place has its own scale and its own value. */
static void gaussian_each(size_t n) {
  double *z = base_alloc(n, sizeof *z), *sd = base_alloc(n, sizeof *sd);
  for (size_t i = 0; i < n; i++) {
    sd[i] = exp(10 * ctest_normal());
    z[i] = (double)(i % 7) * sd[i];
  }
  CHECK(mech_gaussian_each(&ctest_entropy, n, sd, z) == BASE_OK);
  for (size_t i = 0; i < n; i++) z[i] = z[i] / sd[i] - (double)(i % 7);
  moments(n, z, 1, 3, 105);
  CHECK(ks_test(n, z, base_pnorm) > STATISTICS_LEVEL);
  base_free(sd);
  base_free(z);
}

static void laplace(size_t n, double scale, double offset) {
  double *z = base_alloc(n, sizeof *z);
  const double x = offset * scale;
  int status = BASE_OK;
  for (size_t i = 0; i < n; i++) {
    z[i] = x;
    status |= laplace_noise(&ctest_entropy, scale, &z[i]);
    z[i] = (z[i] - x) / scale;
  }
  CHECK(status == BASE_OK);
  moments(n, z, 2, 24, 40320);
  independent(n, z, 2);
  tail(n, z, 1, exp(-1));
  tail(n, z, 4, exp(-4));
  tail(n, z, 8, exp(-8));
  CHECK(ks_test(n, z, laplace_cdf) > STATISTICS_LEVEL);
  base_free(z);
}

/* Mean, mean square and mean fourth power, whose variances follow from the moments given. */
static void moments(size_t n, const double *z, double second, double fourth, double eighth) {
  double m1 = 0, m2 = 0, m4 = 0;
  for (size_t i = 0; i < n; i++) {
    const double square = z[i] * z[i];
    m1 += z[i];
    m2 += square;
    m4 += square * square;
  }
  const double size = (double)n;
  CHECK_NEAR(m1 / size, 0, 5 * sqrt(second / size));
  CHECK_NEAR(m2 / size, second, 5 * sqrt((fourth - second * second) / size));
  CHECK_NEAR(m4 / size, fourth, 5 * sqrt((eighth - fourth * fourth) / size));
}

/* Both tails by number. */
static void tail(size_t n, const double *z, double beyond, double probability) {
  double above = 0, below = 0;
  for (size_t i = 0; i < n; i++) {
    above += z[i] > beyond;
    below += z[i] < -beyond;
  }
  const double expected = (double)n * probability / 2;
  CHECK_NEAR(above, expected, 5 * sqrt(expected) + 4);
  CHECK_NEAR(below, expected, 5 * sqrt(expected) + 4);
}

/* Successive draws, and their squares, are not correlated. */
static void independent(size_t n, const double *z, double second) {
  double lag = 0, lag_square = 0, spread = 0;
  for (size_t i = 1; i < n; i++) {
    const double a = z[i] * z[i] - second, b = z[i - 1] * z[i - 1] - second;
    lag += z[i] * z[i - 1];
    lag_square += a * b;
    spread += a * a * b * b;
  }
  CHECK_NEAR(lag / (second * sqrt((double)n)), 0, 5);
  CHECK_NEAR(lag_square / sqrt(spread), 0, 5);
}

static double laplace_cdf(double z) { return z < 0 ? exp(z) / 2 : 1 - exp(-z) / 2; }
