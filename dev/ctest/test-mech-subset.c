/* Random subsets: every one as often as it should be, in order, and refusals. */
#include "ctest.h"
#include "statistics.h"

#include <float.h>
#include <string.h>

#include "mech/mech.h"

static void fixed(size_t n, size_t m);
static void poisson(size_t n, double rate);
static void large(void);
static void poisson_count(size_t n, double rate);
static void refused(void);
static void broken(void);
static int ascends(size_t n, size_t count, const size_t *row);
static size_t as_bits(size_t count, const size_t *row);
static int fill_stuck(void *buffer, size_t bytes);

static const struct base_entropy stuck = {.fill = fill_stuck};
static int stuck_at;

void test_mech_subset(void) {
  fixed(5, 2);
  fixed(7, 3);
  fixed(7, 6);
  fixed(4, 4);
  fixed(3, 0);
  poisson(5, 0.1);
  poisson(5, 0.5);
  poisson(4, 0.9);
  poisson_count(1000, 0.002);
  poisson_count(400, 0.3);
  large();
  refused();
  broken();
}

static void fixed(size_t n, size_t m) {
  double count[128] = {0}, probability[128] = {0}, subsets = 0;
  size_t row[8];
  int right = 1;
  for (size_t s = 0; s < (size_t)1 << n; s++) subsets += probability[s] = (size_t)__builtin_popcountll(s) == m;
  for (size_t s = 0; s < (size_t)1 << n; s++) probability[s] /= subsets;
  for (int i = ctest_size(100000, 3000); i > 0; i--) {
    right = right && mech_subset_fixed(&ctest_entropy, n, m, row) == BASE_OK && ascends(n, m, row);
    if (right) count[as_bits(m, row)]++;
  }
  CHECK(right);
  for (size_t s = 0; s < (size_t)1 << n; s++) CHECK(probability[s] > 0 || count[s] == 0);
  CHECK(chi_square_test((size_t)1 << n, count, probability) > STATISTICS_LEVEL);
}

static void poisson(size_t n, double rate) {
  double count[32] = {0}, probability[32];
  int right = 1;
  for (size_t s = 0; s < (size_t)1 << n; s++) {
    int taken = __builtin_popcountll(s);
    probability[s] = pow(rate, taken) * pow(1 - rate, (double)n - taken);
  }
  for (int i = ctest_size(100000, 3000); i > 0; i--) {
    size_t *row, taken;
    right = right && mech_subset_poisson(&ctest_entropy, n, rate, &row, &taken) == BASE_OK && ascends(n, taken, row);
    if (right) count[as_bits(taken, row)]++;
    if (right) memset(row, 0, taken * sizeof *row);
    base_free(row);
  }
  CHECK(right);
  CHECK(chi_square_test((size_t)1 << n, count, probability) > STATISTICS_LEVEL);
}

/* Sizes are binomial. */
static void poisson_count(size_t n, double rate) {
  double count[401] = {0}, probability[401], log_p = (double)n * log1p(-rate);
  for (size_t k = 0; k < 401; k++) {
    probability[k] = k > n ? 0 : exp(log_p);
    log_p += log((double)(n - k) / (double)(k + 1) * rate / (1 - rate));
  }
  for (int i = ctest_size(20000, 500); i > 0; i--) {
    size_t *row, taken;
    CHECK(mech_subset_poisson(&ctest_entropy, n, rate, &row, &taken) == BASE_OK);
    count[taken < 401 ? taken : 400]++;
    base_free(row);
  }
  CHECK(chi_square_test(401, count, probability) > STATISTICS_LEVEL);
}

/* Ranges beyond a byte and beyond 2^31, and more rows than were foreseen. */
static void large(void) {
  size_t n = 200000, m = 20000, *row = base_alloc(m, sizeof *row), taken;
  double cell[10] = {0}, even[10];
  for (int i = 0; i < 10; i++) even[i] = 0.1;
  CHECK(mech_subset_fixed(&ctest_entropy, n, m, row) == BASE_OK && ascends(n, m, row));
  for (size_t k = 0; k < m; k++) cell[row[k] * 10 / n]++;
  CHECK(chi_square_test(10, cell, even) > STATISTICS_LEVEL);
  base_free(row);
  n = (size_t)3 << 30;
  CHECK(mech_subset_poisson(&ctest_entropy, n, 1e-6, &row, &taken) == BASE_OK && ascends(n, taken, row));
  CHECK_NEAR((double)taken, (double)n * 1e-6, 5 * sqrt((double)n * 1e-6));
  memset(cell, 0, sizeof cell);
  for (size_t k = 0; k < taken; k++) cell[row[k] * 10 / n]++;
  CHECK(chi_square_test(10, cell, even) > STATISTICS_LEVEL);
  base_free(row);
  int grown = 0;
  for (int i = ctest_size(200, 20); i > 0; i--) {
    CHECK(mech_subset_poisson(&ctest_entropy, 40, 1 - 0x1p-50, &row, &taken) == BASE_OK);
    grown += taken == 40 && ascends(40, taken, row);
    base_free(row);
  }
  CHECK(grown == ctest_size(200, 20));
}

static void refused(void) {
  static const double rates[] = {0, 1, -1, 2, NAN, INFINITY, 1e-10, DBL_MIN};
  size_t row[4] = {0}, *rows = row, count = 7;
  CHECK(mech_subset_fixed(&ctest_entropy, 3, 4, row) == BASE_ERR_ARGUMENT);
#if SIZE_MAX > UINT32_MAX
  CHECK(mech_subset_fixed(&ctest_entropy, (size_t)1 << 32, 4, row) == BASE_ERR_ARGUMENT);
  CHECK(mech_subset_poisson(&ctest_entropy, (size_t)1 << 32, 0.1, &rows, &count) == BASE_ERR_ARGUMENT && !rows);
#endif
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    CHECK(mech_subset_poisson(&ctest_entropy, 10, rates[i], &rows, &count) == BASE_ERR_ARGUMENT);
    CHECK(!rows && count == 0);
  }
}

/* A source that fails or is stuck, and no memory: an error, nothing left behind, and no marks in freed memory. */
static void broken(void) {
  size_t row[40], *rows, count;
  long live = ctest_live_allocations();
  CHECK(mech_subset_fixed(&ctest_entropy_broken, 100, 40, row) == BASE_ERR_ENTROPY && row[0] == 0 && row[39] == 0);
  CHECK(mech_subset_poisson(&ctest_entropy_broken, 100, 0.4, &rows, &count) == BASE_ERR_ENTROPY);
  CHECK(!rows && count == 0);
  ctest_fail_allocation(1);
  CHECK(mech_subset_fixed(&ctest_entropy, 100, 40, row) == BASE_ERR_MEMORY);
  ctest_fail_allocation(1);
  CHECK(mech_subset_poisson(&ctest_entropy, 100, 0.4, &rows, &count) == BASE_ERR_MEMORY && !rows && count == 0);
  ctest_fail_allocation(0);
  for (stuck_at = 0; stuck_at < 256; stuck_at++) {
    int status = mech_subset_poisson(&stuck, 100, 0.4, &rows, &count);
    CHECK(status == BASE_OK ? ascends(100, count, rows) : status == BASE_ERR_ENTROPY && !rows);
    base_free(rows);
    status = mech_subset_fixed(&stuck, 100, 40, row);
    CHECK(status == BASE_OK ? ascends(100, 40, row) : status == BASE_ERR_ENTROPY);
  }
  ctest_unwiped();
  CHECK(mech_subset_fixed(&ctest_entropy, 100, 40, row) == BASE_OK);
  CHECK(ctest_unwiped() == 0);
  CHECK(ctest_live_allocations() == live);
}

static int ascends(size_t n, size_t count, const size_t *row) {
  for (size_t k = 0; k < count; k++)
    if (row[k] >= n || (k > 0 && row[k] <= row[k - 1])) return 0;
  return 1;
}

static size_t as_bits(size_t count, const size_t *row) {
  size_t bits = 0;
  for (size_t k = 0; k < count; k++) bits |= (size_t)1 << row[k];
  return bits;
}

static int fill_stuck(void *buffer, size_t bytes) {
  memset(buffer, stuck_at, bytes);
  return BASE_OK;
}
