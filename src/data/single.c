/*
 * Dense columns in single precision. Tiles are widened to doubles, which is
 * exact, and all arithmetic is done on these: the results are, to the last
 * bit, those of the rounded numbers stored in double precision. Rounding is applied to
 * each record by itself and before it is clipped, so it costs no privacy.
 */
#include "base/simd.h"
#include "data/private.h"

static void block(struct data_block *b, int copy, double *buffer);
static void tile(struct data_block *tile, double *buffer);
static void squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum);
static void widen(size_t n, const float *from, double *restrict to);
static void outside_add(const struct data_block *b, const double *low, const double *high, double *count);
static void add_outside(size_t n, const float *x, double low, double high, double *restrict count);

static const struct rows_kind single = {
    .free = base_free,
    .width = columns_width,
    .block = block,
    .tile = tile,
    .matvec = dense_matvec,
    .matvec_t_add = dense_matvec_t_add,
    .multiply = dense_multiply,
    .multiply_t_add = dense_multiply_t_add,
    .crossprod_add = dense_crossprod_add,
    .squares_add = squares_add,
    .outside_add = outside_add,
    .moments_add = dense_moments_add,
    .fetch_behind = dense_fetch_behind,
    .additions = columns_additions,
};

int data_create_single(const float *x, const struct data_columns *columns, size_t n, int intercept, double radius,
                       const double *y, struct data **out) {
  return columns_create(&single, x, columns, n, intercept, radius, y, out);
}

/* A block that is not copied has no doubles; only its tiles have. */
static void block(struct data_block *b, int copy, double *buffer) {
  const struct columns *columns = b->data->own;
  const float *x = columns->x;
  for (size_t j = 0; copy && j < columns->dense; j++) {
    for (size_t i = 0; i < b->rows; i++) {
      double value = (double)x[data_row(b, i) + j * b->data->n];
      buffer[i + j * b->rows] = b->clip[i] > 0 ? value : 0;
    }
  }
  b->x = copy ? buffer : NULL;
  b->ld = b->rows;
  codes_block(b, copy, buffer);
}

static void tile(struct data_block *tile, double *buffer) {
  const struct columns *columns = tile->data->own;
  const float *x = columns->x;
  for (size_t j = 0; j < columns->dense; j++) {
    widen(tile->rows, x + tile->start + j * tile->data->n, buffer + j * tile->rows);
  }
}

static void squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum) {
  const struct columns *columns = b->data->own;
  const float *x = columns->x;
  if (b->x) {
    dense_squares_add(b, weight, linear, sum);
    return;
  }
  double wide[DATA_BLOCK];
  for (size_t j = 0; j < columns->dense; j++) {
    widen(b->rows, x + b->start + j * b->data->n, wide);
    dense_column_squares(b->rows, wide, weight ? weight[j] : 1, weight ? linear[j] : 0, sum);
  }
  codes_squares_add(b, weight, linear, sum);
}

static void outside_add(const struct data_block *b, const double *low, const double *high, double *count) {
  const struct columns *columns = b->data->own;
  const float *x = columns->x;
  for (size_t j = 0; j < columns->dense; j++) {
    add_outside(b->rows, x + b->start + j * b->data->n, low[j], high[j], count);
  }
  codes_outside_add(b, high, count);
}

SIMD_CLONES static void add_outside(size_t n, const float *x, double low, double high, double *restrict count) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) count[i] += x[i] < low || x[i] > high ? 1 : 0;
}

SIMD_CLONES static void widen(size_t n, const float *from, double *restrict to) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) to[i] = (double)from[i];
}
