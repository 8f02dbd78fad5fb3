/* Rows that are not dense doubles: norms after clipping, null records, what is refused, allocations that fail. */
#include "fixture.h"

#include <float.h>
#include <limits.h>

static void norms(size_t p, int intercept, double radius);
static void null_codes(void);
static void null_sparse_rows(void);
static void faults(void);
static void indicators(void);
static void allocations(void);

void test_data_storage(void) {
  for (fixture_storage = FIXTURE_SINGLE; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    norms(3, 0, 1);
    norms(3, 1, 1.4);
    norms(40, 1, 0.3);
    norms(40, 0, 1e-3);
    norms(200, 1, 1e5);
    allocations();
  }
  null_codes();
  null_sparse_rows();
  faults();
  indicators();
}

/* Of the rows as they are stored: at most one in exact arithmetic, and not smaller than rounding asks for. */
static void norms(size_t p, int intercept, double radius) {
  enum { ROWS = 1200 };
  double *x = base_alloc(ROWS * p, sizeof *x), y[ROWS];
  struct fixture_arrays arrays;
  struct data *d;
  for (size_t i = 0; i < ROWS; i++) {
    y[i] = 1;
    for (size_t j = 0; j < p; j++) x[i + j * ROWS] = radius * ctest_normal() * (i % 2 ? 1 : 2 / sqrt((double)p));
  }
  CHECK(fixture_data(x, ROWS, p, intercept, radius, y, &arrays, &d) == BASE_OK);
  CHECK(data_dim(d) == p + (size_t)intercept);
  long double largest = 0, worst = 0;
  for (size_t i = 0; i < ROWS; i++) {
    long double square = intercept;
    for (size_t j = 0; j < p; j++) square += (long double)x[i + j * ROWS] * x[i + j * ROWS];
    long double norm = d->clip[i] * sqrtl(square), exact = fminl(1, sqrtl(square) / radius);
    largest = fmaxl(largest, norm);
    if (exact > 0) worst = fmaxl(worst, fabsl(norm / exact - 1));
  }
  CHECK(largest <= 1);
  CHECK(worst <= (long double)(2 * p + 20) * DBL_EPSILON);
  data_free(d);
  fixture_free(&arrays);
  base_free(x);
}

static void null_codes(void) {
  enum { N = 9, LEVELS = 3 };
  const int code[N] = {0, 1, 2, 3, 4, -1, INT_MIN, INT_MAX, 3}, levels = LEVELS;
  const double x[N] = {0}, y[N] = {1, 1, 1, 1, 1, 1, 1, 1, NAN}, v[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const struct data_columns columns = {.x = x, .dense = 1, .codes = code, .factors = 1, .indicators = &levels};
  double w[1 + LEVELS] = {0, 1, 2, 4}, t[N], g[1 + LEVELS] = {0}, buffer[N * 4];
  struct data *d;
  CHECK(data_create_columns(&columns, N, 0, 1, y, &d) == BASE_OK);
  CHECK(data_dim(d) == 1 + LEVELS);
  for (int i = 0; i < N; i++) CHECK((d->clip[i] > 0) == (i < 4) && d->y[i] == (i < 4));
  struct data_block b = data_block_at(d, NULL, 0, buffer);
  data_matvec(&b, w, t);
  data_matvec_t_add(&b, v, g);
  for (int i = 0; i < N; i++) CHECK(t[i] == (i < 4 ? (double)((1 << i) / 2) : 0));
  for (int j = 0; j <= LEVELS; j++) CHECK(g[j] == (j > 0));
  data_free(d);
}

/* NaN and infinite numbers make their record null and no other, and leave nothing of it behind. */
static void null_sparse_rows(void) {
  enum { N = 5, P = 2 };
  const int start[P + 1] = {0, 4, 7}, row[] = {0, 1, 2, 4, 0, 1, 3};
  const double value[] = {1, NAN, -INFINITY, 1e200, 2, 3, 4}, y[N] = {1, 1, 1, NAN, -1}, w[P] = {1, 10};
  const struct data_compressed x = {start, row, value, 3, 7, 7};
  struct data *d;
  CHECK(data_create_sparse(&x, N, P, 0, 100, y, &d) == BASE_OK);
  for (int i = 0; i < N; i++) CHECK((d->clip[i] > 0) == (i == 0));
  double t[N], buffer[2 * N];
  struct data_block b = data_block_at(d, NULL, 0, buffer);
  data_matvec(&b, w, t);
  CHECK(t[0] == 21 && fixture_all_zero(N - 1, t + 1));
  data_free(d);
}

static void refused(const struct data_compressed *x, size_t n, size_t p, enum data_fault fault) {
  const double y[4] = {1, 1, 1, 1};
  struct data *d;
  CHECK(data_check_compressed(x, n, p) == fault);
  CHECK((data_create_sparse(x, n, p, 1, 1, y, &d) == BASE_OK) == (fault == DATA_SOUND));
  CHECK((d != NULL) == (fault == DATA_SOUND));
  data_free(d);
}

static void faults(void) {
  const int start[] = {0, 2, 3}, row[] = {0, 2, 1};
  const double value[] = {1, 2, 3};
  const struct data_compressed good = {start, row, value, 3, 3, 3};
  struct data_compressed x = good;
  refused(&x, 3, 2, DATA_SOUND);
  refused(&x, 4, 2, DATA_SOUND);
  refused(&x, 3, 1, DATA_LENGTHS);
  refused(&x, 3, 3, DATA_LENGTHS);
  refused(&x, 2, 2, DATA_RANGE);
  x.values = 2;
  refused(&x, 3, 2, DATA_LENGTHS);
  x = good, x.rows = x.values = 2;
  refused(&x, 3, 2, DATA_STARTS);
  x.rows = x.values = 4;
  refused(&x, 3, 2, DATA_STARTS);
  static const int starts[][3] = {{1, 2, 3}, {0, 4, 3}, {0, -1, 3}, {0, 2, -3}, {0, INT_MAX, 3}, {INT_MIN, 0, 3}};
  for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
    x = good, x.start = starts[k];
    refused(&x, 3, 2, DATA_STARTS);
  }
  static const int rows[][3] = {{-1, 2, 1}, {0, 3, 1}, {0, 2, INT_MAX}, {INT_MIN, 2, 1}, {2, 0, 1}, {2, 2, 1}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    x = good, x.row = rows[k];
    refused(&x, 3, 2, k < 4 ? DATA_RANGE : DATA_ORDER);
  }
  const int none[] = {0, 0, 0};
  x = (struct data_compressed){none, NULL, NULL, 3, 0, 0};
  refused(&x, 3, 2, DATA_SOUND);
  x.starts = 1;
  refused(&x, 3, 0, DATA_SOUND);
}

static void indicators(void) {
  const int code[2] = {0, 0}, levels = 0;
  const double y[2] = {1, 1};
  const struct data_columns columns = {.codes = code, .factors = 1, .indicators = &levels};
  struct data *d;
  CHECK(data_create_columns(&columns, 2, 1, 1, y, &d) == BASE_ERR_ARGUMENT && d == NULL);
}

static void allocations(void) {
  enum { N = 20, P = 6 };
  double x[N * P], y[N];
  for (int i = 0; i < N * P; i++) x[i] = ctest_normal();
  for (int i = 0; i < N; i++) y[i] = 1;
  struct fixture_arrays arrays;
  long before = ctest_live_allocations();
  struct data *d;
  int which = 0, status;
  do {
    ctest_fail_allocation(fixture_storage == FIXTURE_SPARSE ? 4 + which : 2 + which); /* after the fixture's own */
    which++;
    status = fixture_data(x, N, P, 1, 1, y, &arrays, &d);
    ctest_fail_allocation(0);
    CHECK(status == BASE_OK || (status == BASE_ERR_MEMORY && d == NULL));
    data_free(d);
    fixture_free(&arrays);
  } while (status != BASE_OK);
  CHECK(which == (fixture_storage == FIXTURE_SPARSE ? 9 : 6));
  CHECK(ctest_live_allocations() == before);
}
