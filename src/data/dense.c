/* Dense columns in double precision, read in place, and the codes of factors after them (codes.c). */
#include "base/simd.h"
#include "data/private.h"
#include "la/la.h"

static void block(struct data_block *b, int copy, double *buffer);
static void copy_columns(struct data_block *b, double *buffer);
static void outside_add(const struct data_block *b, const double *low, const double *high, double *count);
static void add_outside(size_t n, const double *x, double low, double high, double *restrict count);

static const struct rows_kind dense = {
    .free = base_free,
    .width = columns_width,
    .block = block,
    .matvec = dense_matvec,
    .matvec_t_add = dense_matvec_t_add,
    .multiply = dense_multiply,
    .multiply_t_add = dense_multiply_t_add,
    .crossprod_add = dense_crossprod_add,
    .squares_add = dense_squares_add,
    .outside_add = outside_add,
    .moments_add = dense_moments_add,
    .fetch_behind = dense_fetch_behind,
    .additions = columns_additions,
};

int data_create(const double *x, size_t n, size_t p, int intercept, double radius, const double *y, struct data **out) {
  const struct data_columns columns = {.x = x, .dense = p};
  return data_create_columns(&columns, n, intercept, radius, y, out);
}

int data_create_columns(const struct data_columns *columns, size_t n, int intercept, double radius, const double *y,
                        struct data **out) {
  return columns_create(&dense, columns->x, columns, n, intercept, radius, y, out);
}

struct records *data_records(const struct data *data) {
  if (data->kind != &dense) return NULL;
  const struct columns *columns = data->own;
  return records_create(data, columns->x, columns->dense);
}

/* ---- functions that single.c shares ---- */

int columns_create(const struct rows_kind *kind, const void *x, const struct data_columns *columns, size_t n,
                   int intercept, double radius, const double *y, struct data **out) {
  *out = NULL;
  struct data *data;
  size_t p = columns->dense;
  for (size_t f = 0; f < columns->factors; f++) {
    if (columns->indicators[f] < 1) return BASE_ERR_ARGUMENT;
    p += (size_t)columns->indicators[f];
  }
  int status = data_open(kind, n, p, intercept, radius, y, &data);
  if (status != BASE_OK) return status;
  struct columns *own = data->own = base_alloc(1, sizeof *own + (columns->factors + 1) * sizeof own->first[0]);
  if (!own) {
    data_free(data);
    return BASE_ERR_MEMORY;
  }
  own->x = x;
  own->dense = columns->dense;
  own->codes = columns->codes;
  own->factors = columns->factors;
  own->first[0] = columns->dense;
  for (size_t f = 0; f < columns->factors; f++) own->first[f + 1] = own->first[f] + (size_t)columns->indicators[f];
  data_clip(data);
  *out = data;
  return BASE_OK;
}

/* Codes are half as wide. */
size_t columns_width(const struct data *data) {
  const struct columns *columns = data->own;
  return columns->dense + columns->factors;
}

/* A term of dense columns takes part in one addition for each row of its tile, one for each tile of its group and one
 * for each group, fewer than this in total (engine/memory.c). A term of factors is added directly to its group's sum.
 * */
double columns_additions(const struct data *data, double blocks, double groups) {
  const struct columns *columns = data->own;
  return columns->factors > 0 ? DATA_BLOCK * blocks + groups : DATA_BLOCK + 2 * (double)data_max_blocks(data);
}

/* ---- a block ---- */

static void block(struct data_block *b, int copy, double *buffer) {
  const struct columns *columns = b->data->own;
  if (!copy) {
    b->x = columns->dense > 0 ? (const double *)columns->x + b->start : NULL;
    b->ld = b->data->n;
  } else if (!b->x) { /* not gathered from records */
    copy_columns(b, buffer);
  }
  codes_block(b, copy, buffer);
}

/* The values of a null record may be NaN. */
static void copy_columns(struct data_block *b, double *buffer) {
  const struct columns *columns = b->data->own;
  const double *x = columns->x;
  for (size_t j = 0; j < columns->dense; j++) {
    for (size_t i = 0; i < b->rows; i++) {
      double value = x[data_row(b, i) + j * b->data->n];
      buffer[i + j * b->rows] = b->clip[i] > 0 ? value : 0;
    }
  }
  b->x = buffer;
  b->ld = b->rows;
}

void dense_matvec(const struct data_block *b, const double *w, double *t) {
  const struct columns *columns = b->data->own;
  (b->tile ? la_matvec_tile : la_matvec)(b->rows, columns->dense, b->x, b->ld, w, t);
  codes_matvec_add(b, w, t);
}

void dense_matvec_t_add(const struct data_block *b, const double *v, double *g) {
  const struct columns *columns = b->data->own;
  la_matvec_t_add(b->rows, columns->dense, b->x, b->ld, v, g);
  codes_matvec_t_add(b, v, g);
}

void dense_multiply(const struct data_block *b, size_t k, const double *w, size_t ldw, double *t) {
  const struct columns *columns = b->data->own;
  la_multiply(b->rows, columns->dense, k, b->x, b->ld, w, ldw, t);
  for (size_t c = 0; c < k; c++) codes_matvec_add(b, w + c * ldw, t + c * b->rows);
}

void dense_multiply_t_add(const struct data_block *b, size_t k, const double *v, double *g, size_t ldg) {
  const struct columns *columns = b->data->own;
  la_multiply_t_add(b->rows, columns->dense, k, b->x, b->ld, v, g, ldg);
  for (size_t c = 0; c < k; c++) codes_matvec_t_add(b, v + c * b->rows, g + c * ldg);
}

void dense_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                         size_t ldc) {
  const struct columns *columns = b->data->own;
  la_crossprod_add(b->rows, columns->dense, b->x, b->ld, u, v, scratch, c, ldc);
  codes_crossprod_add(b, u, v, scratch, c, ldc);
}

void dense_squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum) {
  const struct columns *columns = b->data->own;
  for (size_t j = 0; j < columns->dense; j++) {
    dense_column_squares(b->rows, b->x + j * b->ld, weight ? weight[j] : 1, weight ? linear[j] : 0, sum);
  }
  codes_squares_add(b, weight, linear, sum);
}

static void outside_add(const struct data_block *b, const double *low, const double *high, double *count) {
  const struct columns *columns = b->data->own;
  for (size_t j = 0; j < columns->dense; j++) add_outside(b->rows, b->x + j * b->ld, low[j], high[j], count);
  codes_outside_add(b, high, count);
}

SIMD_CLONES static void add_outside(size_t n, const double *x, double low, double high, double *restrict count) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) count[i] += x[i] < low || x[i] > high ? 1 : 0;
}

/* All rows go through the same operations, the last ones in a register of their own: a compiler could fuse products in
 * the vectorised part of a loop and not in its rest, and where a row stands may depend on others (proofs: own-row). */
SIMD_CLONES void dense_column_squares(size_t n, const double *x, double weight, double linear, double *restrict sum) {
  double last[SIMD_LANES] = {0}, last_sum[SIMD_LANES] = {0};
  for (size_t i = 0; i < n; i += SIMD_LANES) {
    size_t rest = n - i < SIMD_LANES ? n - i : 0;
    const double *from = rest > 0 ? last : x + i;
    double *to = rest > 0 ? last_sum : sum + i;
    for (size_t r = 0; r < rest; r++) last[r] = x[i + r], last_sum[r] = sum[i + r];
    const simd_vector v = SIMD_AT(from);
    SIMD_AT(to) += (weight * v - linear) * v;
    for (size_t r = 0; r < rest; r++) sum[i + r] = last_sum[r];
  }
}

void dense_moments_add(const struct data_block *b, const double *weight, const double *most, double *g) {
  const struct columns *columns = b->data->own;
  for (size_t j = 0; j < columns->dense; j++) {
    const double *x = b->x + j * b->ld;
    double sum = 0;
    if (!(most[j] > 0)) continue;
    for (size_t i = 0; i < b->rows; i++) sum += (weight ? weight[i] : 1) * data_moment(b->clip[i] * x[i], most[j]);
    g[j] += sum;
  }
  codes_moments_add(b, weight, most, g);
}

void dense_fetch_behind(const struct data_block *b, size_t part, size_t parts) {
  const struct columns *columns = b->data->own;
  for (size_t j = part * columns->dense / parts; j < (part + 1) * columns->dense / parts; j++) {
    simd_fetch((uintptr_t)(b->x + j * b->ld) + b->rows * sizeof(double), b->rows);
  }
}
