#include <math.h>

#include "ctest.h"
#include "mech/mech.h"

enum { MOST = 40 };

static void check_poisson(void);
static void check_geometric(void);
static void check_uniform(void);
static void check_failures(void);

void test_mech_runs(void) {
  check_poisson();
  check_geometric();
  check_uniform();
  check_failures();
}

/* Counts against probabilities, pooled beyond MOST: a false alarm has probability below 1e-6 a cell. */
static void check_law(const double *count, const double *probability, size_t cells, double draws) {
  for (size_t i = 0; i < cells; i++) {
    double p = probability[i], sd = sqrt(draws * p * (1 - p));
    if (draws * p > 20) CHECK_NEAR(count[i], draws * p, 5.2 * sd);
  }
}

static void check_poisson(void) {
  const size_t draws = (size_t)ctest_size(400000, 20000);
  for (uint32_t mean = 1; mean <= 7; mean += 6) {
    double count[MOST] = {0}, probability[MOST], p = exp(-(double)mean);
    for (size_t i = 0; i < MOST; i++) {
      probability[i] = p;
      p *= mean / (double)(i + 1);
    }
    for (size_t i = 0; i < draws; i++) {
      size_t k;
      CHECK(mech_poisson(&ctest_entropy, mean, &k) == BASE_OK);
      if (k < MOST) count[k]++;
    }
    check_law(count, probability, MOST, (double)draws);
  }
}

static void check_geometric(void) {
  const size_t draws = (size_t)ctest_size(400000, 20000);
  double count[MOST] = {0}, probability[MOST] = {0}, p = 1.0 / 7;
  for (size_t i = 1; i < MOST; i++) {
    probability[i] = p;
    p *= 6.0 / 7;
  }
  for (size_t i = 0; i < draws; i++) {
    size_t k;
    CHECK(mech_geometric(&ctest_entropy, 7, &k) == BASE_OK);
    if (k < MOST) count[k]++;
  }
  check_law(count, probability, MOST, (double)draws);
  size_t one;
  CHECK(mech_geometric(&ctest_entropy, 1, &one) == BASE_OK && one == 1);
}

static void check_uniform(void) {
  const size_t draws = (size_t)ctest_size(100000, 10000);
  double count[3] = {0};
  const double probability[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  for (size_t i = 0; i < draws; i++) {
    size_t k;
    CHECK(mech_uniform(&ctest_entropy, 3, &k) == BASE_OK && k < 3);
    count[k]++;
  }
  check_law(count, probability, 3, (double)draws);
}

static void check_failures(void) {
  size_t k;
  CHECK(mech_poisson(&ctest_entropy_broken, 3, &k) == BASE_ERR_ENTROPY);
  CHECK(mech_geometric(&ctest_entropy_broken, 3, &k) == BASE_ERR_ENTROPY);
  CHECK(mech_uniform(&ctest_entropy_broken, 3, &k) == BASE_ERR_ENTROPY);
  CHECK(mech_geometric(&ctest_entropy, 0, &k) == BASE_ERR_ARGUMENT);
  CHECK(mech_uniform(&ctest_entropy, 0, &k) == BASE_ERR_ARGUMENT);
}
