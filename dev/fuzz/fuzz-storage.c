/*
 * Rows in other forms than a dense matrix, from any slots and codes: what is
 * not sound is refused before it is followed, and what is sound gives the
 * records, the null ones among them, and the sums of the dense matrix that it
 * stands for.
 */
#include "fuzz.h"

#include "shorthand.h"

enum { ROWS = 6, COLUMNS = 4, ENTRIES = 12, STEPS = 2 };

/* Just as long as they say they are. */
struct slots {
  int *start, *row;
  double *value;
  struct data_compressed x;
};

static void sparse(struct fuzz *f, size_t n, int intercept, double radius, const double *y);
static void codes(struct fuzz *f, size_t n, int intercept, double radius, const double *y);
static void single(struct fuzz *f, size_t n, int intercept, double radius, const double *y);
static void compare(struct fuzz *f, int status, struct data *data, const double *x, size_t n, size_t p);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  size_t n = 1 + fuzz_below(&f, ROWS);
  int intercept = (int)fuzz_below(&f, 2);
  double radius = fuzz_below(&f, 4) ? 1 + fuzz_share(&f) : fuzz_double(&f), y[ROWS];
  static const double responses[] = {-1, 1, NAN};
  for (size_t i = 0; i < n; i++) y[i] = responses[fuzz_below(&f, 3)];
  switch (fuzz_below(&f, 3)) {
  case 0:
    codes(&f, n, intercept, radius, y);
    break;
  case 1:
    single(&f, n, intercept, radius, y);
    break;
  default:
    sparse(&f, n, intercept, radius, y);
  }
  fuzz_end();
  return 0;
}

/* Near what is sound, or any. */
static int index_below(struct fuzz *f, uint32_t n) {
  return fuzz_below(f, 16) ? (int)fuzz_below(f, n) : (int)(uint32_t)fuzz_word(f, 4);
}

static void read_slots(struct fuzz *f, size_t n, size_t p, struct slots *s) {
  size_t entries = fuzz_below(f, ENTRIES + 1);
  int odd = fuzz_below(f, 8) == 0;
  s->x.starts = odd ? fuzz_below(f, COLUMNS + 2) : p + 1;
  s->x.rows = entries;
  s->x.values = odd ? fuzz_below(f, ENTRIES + 1) : entries;
  s->x.start = s->start = calloc(s->x.starts, sizeof *s->start);
  s->x.row = s->row = calloc(s->x.rows, sizeof *s->row);
  s->x.value = s->value = calloc(s->x.values, sizeof *s->value);
  /* Columns end at any rising places, the last with the entries; then some of it is made wrong. */
  for (size_t j = 1; j < s->x.starts; j++) {
    s->start[j] = s->start[j - 1] + (int)fuzz_below(f, 1 + (uint32_t)n);
    if (j + 1 == s->x.starts && !odd) s->start[j] = (int)entries;
    if (fuzz_below(f, 32) == 0) s->start[j] = index_below(f, ENTRIES + 1);
  }
  for (size_t k = 0; k < s->x.rows; k++) s->row[k] = index_below(f, (uint32_t)n);
  for (size_t j = 0; j + 1 < s->x.starts && fuzz_below(f, 8); j++) { /* sorted, as most of them should be */
    for (int k = s->start[j], row = 0; k < s->start[j + 1] && k >= 0 && (size_t)k < entries; k++) s->row[k] = row++;
  }
  fuzz_doubles(f, s->x.values, s->value);
}

static void sparse(struct fuzz *f, size_t n, int intercept, double radius, const double *y) {
  struct slots s;
  struct data *data;
  size_t p = fuzz_below(f, COLUMNS + 1);
  double x[ROWS * COLUMNS] = {0};
  read_slots(f, n, p, &s);
  enum data_fault fault = data_check_compressed(&s.x, n, p);
  int status = data_create_sparse(&s.x, n, p, intercept, radius, y, &data);
  if (fault != DATA_SOUND) REQUIRE(status == BASE_ERR_ARGUMENT && data == NULL);
  for (size_t j = 0; fault == DATA_SOUND && j < p; j++) {
    for (int k = s.start[j]; k < s.start[j + 1]; k++) x[(size_t)s.row[k] + j * n] = s.value[k];
  }
  free(s.start);
  free(s.row);
  free(s.value);
  if (fault == DATA_SOUND) compare(f, status, data, x, n, p);
  data_free(data);
}

/* One numeric column and up to two factors. */
static void codes(struct fuzz *f, size_t n, int intercept, double radius, const double *y) {
  struct data *data;
  size_t p = 1, factors = fuzz_below(f, 3);
  int code[2 * ROWS], indicators[2];
  double x[ROWS * COLUMNS];
  fuzz_doubles(f, n, x);
  for (size_t k = 0; k < factors; k++) {
    indicators[k] = 1 + (int)fuzz_below(f, 2);
    if (indicators[k] + (int)p > COLUMNS) return;
    for (size_t i = 0; i < n; i++) {
      int c = code[i + k * n] = index_below(f, 4);
      for (int j = 0; j < indicators[k]; j++) {
        x[i + (p + (size_t)j) * n] = c < 0 || c > indicators[k] ? NAN : c == j + 1;
      }
    }
    p += (size_t)indicators[k];
  }
  const struct data_columns columns = {.x = x, .dense = 1, .codes = code, .factors = factors, .indicators = indicators};
  int status = data_create_columns(&columns, n, intercept, radius, y, &data);
  compare(f, status, data, x, n, p);
  data_free(data);
}

static void single(struct fuzz *f, size_t n, int intercept, double radius, const double *y) {
  struct data *data;
  size_t p = fuzz_below(f, COLUMNS + 1);
  float rounded[ROWS * COLUMNS];
  double x[ROWS * COLUMNS];
  for (size_t i = 0; i < n * p; i++) {
    double value = fuzz_double(f);
    rounded[i] = fabs(value) > 3e38 ? (float)copysign(INFINITY, value) : (float)value;
    x[i] = (double)rounded[i];
  }
  const struct data_columns columns = {.dense = p};
  int status = data_create_single(rounded, &columns, n, intercept, radius, y, &data);
  compare(f, status, data, x, n, p);
  data_free(data);
}

/* With the dense matrix x: the same records and, within the rounding error that is allowed for, the same sums. */
static void compare(struct fuzz *f, int status, struct data *data, const double *x, size_t n, size_t p) {
  struct data *dense;
  double w[COLUMNS + 1], a[STEPS * (COLUMNS + 1) * (COLUMNS + 1)], b[STEPS * (COLUMNS + 1) * (COLUMNS + 1)];
  static const double steps[STEPS] = {0.5, 2}, y[ROWS] = {1, -1, 1, -1, 1, -1};
  ctest_fail_allocation(0);
  if (status != BASE_OK) return;
  REQUIRE(data_create(x, n, p, data->intercept, data->radius, y, &dense) == BASE_OK);
  memcpy(dense->y, data->y, n * sizeof *y);
  for (size_t i = 0; i < n; i++) {
    double finite = dense->clip[i];
    if (data->y[i] == 0) dense->clip[i] = 0; /* its response was missing */
    REQUIRE(data->y[i] == 0 || finite > 0);
    REQUIRE(fabs(data->clip[i] - dense->clip[i]) <= 1e-14 * dense->clip[i]);
    if (!(dense->clip[i] > 0)) dense->broken[0] = 1;
  }
  size_t dim = data_dim(data);
  for (size_t j = 0; j < dim; j++) w[j] = (double)(int16_t)fuzz_word(f, 2) / 4096;
  const struct loss *loss = loss_find("sigmoid");
  struct oracle one = {.engine = engine_memory(data), .model = model_linear(data, loss)},
                two = {.engine = engine_memory(dense), .model = model_linear(dense, loss)};
  one.all.oracle = &one;
  two.all.oracle = &two;
  REQUIRE(sums_value(oracle_all(&one), w, a) == BASE_OK && sums_value(oracle_all(&two), w, b) == BASE_OK);
  REQUIRE(fabs(a[0] - b[0]) <= 1e-12);
  REQUIRE(sums_gradient(oracle_all(&one), w, a) == BASE_OK && sums_gradient(oracle_all(&two), w, b) == BASE_OK);
  for (size_t j = 0; j < dim; j++) REQUIRE(fabs(a[j] - b[j]) <= 1e-12);
  REQUIRE(sums_hessian(oracle_all(&one), w, a) == BASE_OK && sums_hessian(oracle_all(&two), w, b) == BASE_OK);
  for (size_t j = 0; j < dim * dim; j++) REQUIRE(fabs(a[j] - b[j]) <= 1e-12);
  REQUIRE(sums_decreases(oracle_all(&one), w, w, STEPS, steps, a) == BASE_OK);
  REQUIRE(sums_decreases(oracle_all(&two), w, w, STEPS, steps, b) == BASE_OK);
  for (size_t j = 0; j < STEPS; j++) REQUIRE(fabs(a[j] - b[j]) <= 1e-12);
  data_free(dense);
}
