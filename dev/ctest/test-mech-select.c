/* Sparse vector against numerical integration, exponential mechanism against the softmax, and their refusals. */
#include "ctest.h"
#include "statistics.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "mech/mech.h"

enum { MOST = 300 };

static void sparse_vector(size_t k, const double *q, double sensitivity, double eps);
static void sparse_vector_ends(void);
static double first_probability(size_t k, const double *q, double threshold_scale, size_t i);
static double laplace_cdf(double z);
static void exponential(size_t k, const double *u, double temperature);
static void exponential_wide(void);
static void exponential_ends(void);
static int fill_counted(void *buffer, size_t bytes);
static int fill_stuck(void *buffer, size_t bytes);

static const struct base_entropy counted = {.fill = fill_counted};
static int fills;
static const struct base_entropy constant = {.fill = fill_stuck};
static int stuck_at;

void test_mech_select(void) {
  const double even[3] = {0, 0, 0}, rising[3] = {-3, -1, 2}, falling[3] = {5, 0, -5};
  sparse_vector(3, even, 1, 1);
  sparse_vector(3, rising, 1, 1);
  sparse_vector(3, rising, 0.1, 0.7);
  sparse_vector(3, falling, 2, 0.5);
  sparse_vector(1, rising + 2, 1, 8);
  sparse_vector_ends();

  const double u[5] = {0, -1, -2.5, 0, -30}, shifted[3] = {1e6, 1e6 + 1, 1e6 - 1}, one[1] = {-7};
  exponential(5, u, 0.7);
  exponential(5, u, 3);
  exponential(5, u, 40);
  exponential(3, shifted, 1);
  exponential(1, one, 1e-9);
  double many[MOST];
  for (int i = 0; i < MOST; i++) many[i] = sin(i);
  exponential(MOST, many, 0.5);
  exponential_wide();
  exponential_ends();
}

static void sparse_vector(size_t k, const double *q, double sensitivity, double eps) {
  double count[4] = {0}, probability[4], total = 0;
  int ok = 1;
  for (int i = ctest_size(200000, 5000); i > 0; i--) {
    size_t index = MOST;
    ok = ok && mech_sparse_vector(&ctest_entropy, k, q, sensitivity, eps, &index) == BASE_OK && index <= k;
    if (ok) count[index]++;
  }
  for (size_t i = 0; i <= k; i++) total += probability[i] = first_probability(k, q, 2 * sensitivity / eps, i);
  CHECK(ok);
  CHECK_NEAR(total, 1, 1e-6);
  CHECK(chi_square_test(k + 1, count, probability) > STATISTICS_LEVEL);
}

/* P(q_j + Q_j < T for j < i, q_i + Q_i >= T) with T ~ Laplace(b) and Q ~ Laplace(2 b): midpoint rule over T; i = k:
 * none passes. */
static double first_probability(size_t k, const double *q, double b, size_t i) {
  const int points = 400000;
  const double step = 80 * b / points;
  double sum = 0;
  for (int p = 0; p < points; p++) {
    const double t = -40 * b + (p + 0.5) * step;
    double product = exp(-fabs(t) / b) / (2 * b) * step;
    for (size_t j = 0; j < i; j++) product *= laplace_cdf((t - q[j]) / (2 * b));
    if (i < k) product *= 1 - laplace_cdf((t - q[i]) / (2 * b));
    sum += product;
  }
  return sum;
}

static double laplace_cdf(double z) { return z < 0 ? exp(z) / 2 : 1 - exp(-z) / 2; }

static void sparse_vector_ends(void) {
  double q[1000], low[5] = {-1e9, -1e300, -DBL_MAX, -1e9, 1e9};
  size_t index = 7;
  for (int i = 0; i < 1000; i++) q[i] = 1e9;
  /* after the first pass nothing is drawn */
  fills = 0;
  CHECK(mech_sparse_vector(&counted, 1000, q, 1, 1, &index) == BASE_OK && index == 0);
  CHECK(fills <= 2);
  CHECK(mech_sparse_vector(&ctest_entropy, 5, low, 1, 1, &index) == BASE_OK && index == 4);
  CHECK(mech_sparse_vector(&ctest_entropy, 4, low, 1, 1, &index) == BASE_OK && index == 4);
  low[2] = DBL_MAX; /* far beyond the integers that hold the noise */
  CHECK(mech_sparse_vector(&ctest_entropy, 5, low, 1e-200, 1, &index) == BASE_OK && index == 2);
  CHECK(mech_sparse_vector(&ctest_entropy, 0, low, 1, 1, &index) == BASE_OK && index == 0);

  const double bad[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    index = 7;
    CHECK(mech_sparse_vector(&ctest_entropy, 5, low, bad[i], 1, &index) == BASE_ERR_ARGUMENT && index == 5);
    CHECK(mech_sparse_vector(&ctest_entropy, 5, low, 1, bad[i], &index) == BASE_ERR_ARGUMENT && index == 5);
    if (isfinite(bad[i])) continue;
    low[1] = bad[i];
    CHECK(mech_sparse_vector(&ctest_entropy, 5, low, 1, 1, &index) == BASE_ERR_ARGUMENT && index == 5);
    low[1] = 0;
  }
  CHECK(mech_sparse_vector(&ctest_entropy_broken, 1000, q, 1, 1, &index) == BASE_ERR_ENTROPY && index == 1000);
}

static void exponential(size_t k, const double *u, double temperature) {
  double count[MOST] = {0}, probability[MOST], total = 0;
  int ok = 1;
  for (int i = ctest_size(200000, 5000); i > 0; i--) {
    size_t index = MOST;
    ok = ok && mech_exponential(&ctest_entropy, k, u, temperature, &index) == BASE_OK && index < k;
    if (ok) count[index]++;
  }
  for (size_t i = 0; i < k; i++) total += probability[i] = exp((u[i] - u[0]) / temperature);
  for (size_t i = 0; i < k; i++) probability[i] /= total;
  CHECK(ok);
  CHECK(chi_square_test(k, count, probability) > STATISTICS_LEVEL);
}

/* Gaps beyond all numbers: the largest wins, equal ones share. */
static void exponential_wide(void) {
  const double u[4] = {-DBL_MAX, DBL_MAX, DBL_MAX, 0};
  double count[4] = {0};
  for (int i = 0; i < 2000; i++) {
    size_t index = MOST;
    if (mech_exponential(&ctest_entropy, 4, u, 1e-300, &index) == BASE_OK && index < 4) count[index]++;
  }
  CHECK(count[0] == 0 && count[3] == 0);
  CHECK(count[1] + count[2] == 2000);
  CHECK_NEAR(count[1], 1000, 5 * sqrt(500));
}

static void exponential_ends(void) {
  const double u[3] = {0, 1, 2}, bad[] = {NAN, INFINITY, -INFINITY, 0, -1};
  size_t index = 7;
  for (int i = 0; i < 5; i++) {
    CHECK(mech_exponential(&ctest_entropy, 3, u, bad[i], &index) == BASE_ERR_ARGUMENT && index == 3);
    const double v[3] = {0, 1, bad[i]};
    if (!isfinite(bad[i])) CHECK(mech_exponential(&ctest_entropy, 3, v, 1, &index) == BASE_ERR_ARGUMENT && index == 3);
  }
  CHECK(mech_exponential(&ctest_entropy, 0, u, 1, &index) == BASE_ERR_ARGUMENT && index == 0);
  CHECK(mech_exponential(&ctest_entropy_broken, 3, u, 1, &index) == BASE_ERR_ENTROPY && index == 3);
  /* one byte for ever: every search ends */
  for (stuck_at = 0; stuck_at < 256; stuck_at++) {
    const int status = mech_exponential(&constant, 3, u, 0.01, &index);
    CHECK(status == BASE_OK ? index < 3 : status == BASE_ERR_ENTROPY && index == 3);
  }
}

static int fill_counted(void *buffer, size_t bytes) {
  fills++;
  return ctest_entropy.fill(buffer, bytes);
}

static int fill_stuck(void *buffer, size_t bytes) {
  memset(buffer, stuck_at, bytes);
  return BASE_OK;
}
