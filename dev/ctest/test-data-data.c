/* Rows: norms after clipping in extended precision, null records, blocks, degenerate sizes. */
#include "ctest.h"
#include "data/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void norms(size_t p, int intercept, double radius);
static void null_records(size_t n);
static void blocks(void);
static void batches(void);
static void records_refused(void);
static void no_columns(void);
static void arguments(void);
static void responses_are_copied(void);
static void fill_rows(size_t n, size_t p, int intercept, double radius, double *x);
static long double row_norm(const struct data *d, const double *x, size_t i);

void test_data_data(void) {
  static const double radius[] = {1, 0.3, 1e-3, 7, 1e100, 1e-100};
  for (size_t k = 0; k < sizeof radius / sizeof *radius; k++) {
    norms(1, 0, radius[k]);
    norms(3, 1, radius[k]);
    norms(40, 0, radius[k]);
    norms(40, 1, radius[k]);
  }
  norms(3000, 1, 1);
  null_records(1);
  null_records(DATA_BLOCK - 1);
  null_records(DATA_BLOCK);
  null_records(2 * DATA_BLOCK + 7);
  blocks();
  batches();
  records_refused();
  no_columns();
  arguments();
  responses_are_copied();
}

/* At most one, and not smaller than rounding asks for: a clipped row has norm one, another one |row| / radius. */
static void norms(size_t p, int intercept, double radius) {
  enum { ROWS = 260 };
  double *x = base_alloc(ROWS * p, sizeof *x), y[ROWS];
  struct data *d;
  for (int i = 0; i < ROWS; i++) y[i] = 1;
  fill_rows(ROWS, p, intercept, radius, x);
  CHECK(data_create(x, ROWS, p, intercept, radius, y, &d) == BASE_OK);
  long double largest = 0, worst = 0;
  int null = 0;
  for (size_t i = 0; i < ROWS; i++) {
    long double square = intercept, exact;
    for (size_t j = 0; j < p; j++) square += (long double)x[i + j * ROWS] * x[i + j * ROWS];
    exact = sqrtl(square) > radius ? 1 : sqrtl(square) / radius;
    null += d->clip[i] == 0;
    if (d->clip[i] == 0) continue;
    largest = fmaxl(largest, row_norm(d, x, i));
    if (exact > 0) worst = fmaxl(worst, fabsl(row_norm(d, x, i) / exact - 1));
  }
  CHECK(largest <= 1);
  CHECK(worst <= (long double)(2 * p + 20) * DBL_EPSILON);
  CHECK(null == 0);
  data_free(d);
  base_free(x);
}

/* Ordinary, huge, tiny, and at the radius within an ulp, so that a missing margin shows. */
static void fill_rows(size_t n, size_t p, int intercept, double radius, double *x) {
  for (size_t i = 0; i < n; i++) {
    double norm = 0, target = radius;
    for (size_t j = 0; j < p; j++) {
      x[i + j * n] = ctest_normal();
      norm = hypot(norm, x[i + j * n]);
    }
    if (i % 4 == 0) target = radius * exp(3 * ctest_normal());
    if (i % 4 == 1) target = 1e150;
    if (i % 4 == 2) target = 1e-200;
    if (i % 4 == 3 && intercept && radius > 1) target = sqrt(radius - 1) * sqrt(radius + 1);
    for (size_t j = 0; j < p; j++) x[i + j * n] *= target / norm;
  }
}

static long double row_norm(const struct data *d, const double *x, size_t i) {
  long double scale = d->clip[i], square = d->intercept ? scale * scale : 0;
  for (size_t j = 0; j < d->p; j++) {
    long double z = scale * x[i + j * d->n];
    square += z * z;
  }
  return sqrtl(square);
}

/* A missing or infinite number, or one whose square overflows, makes its record null and no other. */
static void null_records(size_t n) {
  enum { P = 3 };
  double *x = base_alloc(n * P, sizeof *x), *y = base_alloc(n, sizeof *y);
  double *buffer = base_alloc(DATA_BLOCK * (P + 2), sizeof *buffer);
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e200};
  struct data *d;
  for (size_t i = 0; i < n * P; i++) x[i] = ctest_normal();
  for (size_t i = 0; i < n; i++) y[i] = i % 2 ? 1 : -1;
  /* one in the first block and one in the last, and a response */
  x[0] = bad[n % 4];
  x[(n - 1) + 2 * n] = NAN;
  y[n / 2] = n % 2 ? NAN : -INFINITY;
  CHECK(data_create(x, n, P, 1, 1, y, &d) == BASE_OK);
  int right = 1;
  for (size_t i = 0; i < n; i++) {
    int null = i == 0 || i == n - 1 || i == n / 2;
    right = right && (d->clip[i] == 0) == null && d->y[i] == (null ? 0 : y[i]);
  }
  CHECK(right);
  for (size_t k = 0; k < data_blocks(d, NULL); k++) {
    struct data_block b = data_block_at(d, NULL, k, buffer);
    int finite = 1, same = 1;
    for (size_t i = 0; i < b.rows; i++) {
      for (size_t j = 0; j < P; j++) {
        double z = b.x[i + j * b.ld], from = x[k * DATA_BLOCK + i + j * n];
        finite = finite && isfinite(z);
        same = same && (b.clip[i] > 0 ? z == from : z == 0);
      }
    }
    CHECK(finite);
    CHECK(same);
    int broken = 0;
    for (size_t i = 0; i < b.rows; i++) broken = broken || b.clip[i] == 0;
    CHECK((b.x == buffer) == broken); /* copied only when it must be */
  }
  data_free(d);
  base_free(buffer);
  base_free(y);
  base_free(x);
}

/* All rows once, in order. */
static void blocks(void) {
  static const size_t sizes[] = {1, 2, DATA_BLOCK - 1, DATA_BLOCK, DATA_BLOCK + 1, 5 * DATA_BLOCK, 5 * DATA_BLOCK + 3};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    size_t n = sizes[k], seen = 0;
    double *x = base_alloc(2 * n, sizeof *x), *y = base_alloc(n, sizeof *y);
    struct data *d;
    int right = 1;
    for (size_t i = 0; i < n; i++) {
      x[i] = (double)i;
      x[n + i] = -(double)i;
      y[i] = i % 2 ? 1 : -1;
    }
    CHECK(data_create(x, n, 2, 0, 1, y, &d) == BASE_OK);
    CHECK(data_rows(d) == n && d->p + (size_t)d->intercept == 2);
    for (size_t b = 0; b < data_blocks(d, NULL); b++) {
      struct data_block block = data_block_at(d, NULL, b, NULL); /* no block is broken */
      for (size_t i = 0; i < block.rows; i++, seen++) {
        right = right && block.x[i] == (double)seen && block.x[i + block.ld] == -(double)seen;
        right = right && block.clip[i] == d->clip[seen] && block.y[i] == y[seen];
      }
    }
    CHECK(right);
    CHECK(seen == n);
    data_free(d);
    base_free(y);
    base_free(x);
  }
}

/* The rows of the list and no others, null records among them, from the columns and from a copy by rows. */
static void batches(void) {
  enum { N = 5 * DATA_BLOCK, P = 2 };
  static const size_t counts[] = {0, 1, DATA_BLOCK, DATA_BLOCK + 1, N};
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y);
  double *buffer = base_alloc(DATA_BLOCK * (P + 2), sizeof *buffer);
  size_t *row = base_alloc(N, sizeof *row);
  struct data *d;
  for (size_t i = 0; i < N; i++) {
    x[i] = i % 1000 == 0 ? NAN : ctest_normal();
    x[N + i] = ctest_normal();
    y[i] = i % 2 ? 1 : -1;
  }
  CHECK(data_create(x, N, P, 1, 1, y, &d) == BASE_OK);
  struct records *records = data_records(d);
  CHECK(records != NULL);
  for (size_t k = 0; k < 2 * sizeof counts / sizeof *counts; k++) {
    size_t count = counts[k / 2], seen = 0;
    int right = 1;
    for (size_t i = 0; i < count; i++) row[i] = i * (N - 1) / (count > 1 ? count - 1 : 1);
    const struct batch batch = {.count = count, .row = row, .size = 17, .records = k % 2 ? records : NULL};
    CHECK(data_blocks(d, &batch) == (count + DATA_BLOCK - 1) / DATA_BLOCK);
    CHECK(data_block_rows(d, &batch) == (count < DATA_BLOCK ? count : DATA_BLOCK));
    for (size_t b = 0; b < data_blocks(d, &batch); b++) {
      struct data_block block = data_block_at(d, &batch, b, buffer);
      for (size_t i = 0; i < block.rows; i++, seen++) {
        size_t from = row[seen];
        int null = from % 1000 == 0;
        for (size_t j = 0; j < P; j++) right = right && block.x[i + j * block.ld] == (null ? 0 : x[from + j * N]);
        right = right && block.clip[i] == d->clip[from] && block.y[i] == (null ? 0 : y[from]);
      }
    }
    CHECK(right);
    CHECK(seen == count);
  }
  ctest_unwiped();
  data_records_free(records);
  CHECK(ctest_unwiped() == 0);
  data_free(d);
  base_free(row);
  base_free(buffer);
  base_free(y);
  base_free(x);
}

/* No copy by rows where it would be large, is no use, or has no memory. */
static void records_refused(void) {
  const double x = 1, y = 1;
  const float single = 1;
  const struct data_columns column = {.dense = 1};
  struct data *d;
  CHECK(data_create(&x, 1, 1, 0, 1, &y, &d) == BASE_OK);
  ctest_fail_allocation(1);
  CHECK(data_records(d) == NULL);
  ctest_fail_allocation(0);
  d->n = ((size_t)1 << 27) / 3 + 1;
  CHECK(data_records(d) == NULL);
  d->n = 1;
  data_free(d);
  CHECK(data_create_single(&single, &column, 1, 0, 1, &y, &d) == BASE_OK);
  CHECK(data_records(d) == NULL);
  data_free(d);
}

static void no_columns(void) {
  const double y[3] = {1, -1, NAN};
  struct data *d;
  CHECK(data_create(NULL, 3, 0, 1, 2, y, &d) == BASE_OK);
  CHECK(d->p + (size_t)d->intercept == 1);
  CHECK_NEAR(d->clip[0], 0.5, 16 * DBL_EPSILON);
  CHECK(d->clip[0] <= 0.5 && d->clip[2] == 0);
  data_free(d);
  CHECK(data_create(NULL, 3, 0, 1, 0.25, y, &d) == BASE_OK);
  CHECK_NEAR(d->clip[1], 1, 16 * DBL_EPSILON);
  data_free(d);
}

static void arguments(void) {
  const double x = 1, y = 1;
  static const double radius[] = {0, -1, NAN, INFINITY, 1e-300, 4e-324};
  struct data *d;
  CHECK(data_create(&x, 0, 1, 0, 1, &y, &d) == BASE_ERR_ARGUMENT && d == NULL);
  for (size_t k = 0; k < sizeof radius / sizeof *radius; k++) {
    CHECK(data_create(&x, 1, 1, 0, radius[k], &y, &d) == BASE_ERR_ARGUMENT && d == NULL);
    data_free(d);
  }
}

static void responses_are_copied(void) {
  const double x = 0.5;
  double y = -1;
  struct data *d;
  CHECK(data_create(&x, 1, 1, 0, 1, &y, &d) == BASE_OK);
  y = NAN;
  CHECK(d->y[0] == -1);
  data_free(d);
}
