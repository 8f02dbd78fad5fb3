/*
 * Rows and their clipping. Whatever is done to a record depends on this record
 * and public constants alone, so it costs no privacy.
 */
#include "data/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Squares of numbers near a smaller radius would underflow: rows far outside it would pass for rows of norm zero. */
#define LEAST_RADIUS 1e-140

static size_t rows_of(const struct data *data, const struct batch *batch);
static struct data_block block_where_it_lies(const struct data *data, size_t first, size_t rows);
static void copy_rows(const struct data *data, size_t first, const size_t *row, double *buffer,
                      struct data_block *block);
static void block_scales(void *context, size_t index, int worker);

int data_create(const double *x, size_t n, size_t p, int intercept, double radius, const double *y, struct data **out) {
  *out = NULL;
  if (n == 0 || !(radius >= LEAST_RADIUS) || !isfinite(radius)) return BASE_ERR_ARGUMENT;
  struct data *data = base_alloc(1, sizeof *data);
  if (!data) return BASE_ERR_MEMORY;
  data->x = x;
  data->n = n;
  data->p = p;
  data->intercept = intercept != 0;
  data->radius = radius;
  data->scale = base_alloc(n, sizeof(double));
  data->y = base_alloc(n, sizeof(double));
  data->broken = base_alloc(data_blocks(data, NULL), 1);
  if (!data->scale || !data->y || !data->broken) {
    data_free(data);
    return BASE_ERR_MEMORY;
  }
  memcpy(data->y, y, n * sizeof(double));
  data_clip(data);
  *out = data;
  return BASE_OK;
}

void data_clip(struct data *data) {
  memset(data->broken, 0, data_blocks(data, NULL));
  base_parallel(data_blocks(data, NULL), base_threads(), block_scales, data);
}

void data_free(struct data *data) {
  if (!data) return;
  stream_free(data->stream);
  base_free(data->scale);
  base_free(data->y);
  base_free(data->broken);
  base_free(data);
}

int data_is_stream(const struct data *data) { return data->stream != NULL; }

size_t data_rows(const struct data *data) { return data->n; }

size_t data_dim(const struct data *data) { return data->p + (size_t)data->intercept; }

size_t data_blocks(const struct data *data, const struct batch *batch) {
  return (rows_of(data, batch) + DATA_BLOCK - 1) / DATA_BLOCK;
}

size_t data_block_rows(const struct data *data, const struct batch *batch) {
  size_t rows = rows_of(data, batch);
  return rows < DATA_BLOCK ? rows : DATA_BLOCK;
}

struct data_block data_block_at(const struct data *data, const struct batch *batch, size_t index, double *buffer) {
  size_t first = index * DATA_BLOCK, left = rows_of(data, batch) - first;
  struct data_block block = block_where_it_lies(data, first, left < DATA_BLOCK ? left : DATA_BLOCK);
  if (batch || data->broken[index]) copy_rows(data, first, batch ? batch->row + first : NULL, buffer, &block);
  return block;
}

struct data_block data_tile(const struct data_block *block, size_t start, size_t most) {
  struct data_block tile = *block;
  tile.rows = block->rows - start < most ? block->rows - start : most;
  tile.scale += start;
  tile.y += start;
  tile.x += start;
  return tile;
}

static size_t rows_of(const struct data *data, const struct batch *batch) { return batch ? batch->count : data->n; }

static struct data_block block_where_it_lies(const struct data *data, size_t first, size_t rows) {
  struct data_block block = {.data = data,
                             .rows = rows,
                             .scale = data->scale + first,
                             .y = data->y + first,
                             .x = data->x + first,
                             .ld = data->n};
  return block;
}

/* Those of the list or, without one, from first on. The values of a null record may be NaN: zeros stand for them. */
static void copy_rows(const struct data *data, size_t first, const size_t *row, double *buffer,
                      struct data_block *block) {
  size_t rows = block->rows;
  double *scale = buffer + rows * data->p, *y = scale + rows;
  for (size_t i = 0; i < rows; i++) {
    size_t from = row ? row[i] : first + i;
    scale[i] = data->scale[from];
    y[i] = data->y[from];
  }
  for (size_t j = 0; j < data->p; j++) {
    const double *from = data->x + j * data->n + (row ? 0 : first);
    double *to = buffer + j * rows;
    for (size_t i = 0; i < rows; i++) to[i] = scale[i] > 0 ? from[row ? row[i] : i] : 0;
  }
  block->scale = scale;
  block->y = y;
  block->x = buffer;
  block->ld = rows;
}

/*
 * scale = 1 / max(radius, |row|), a little less so that |scale * row| <= 1
 * holds in exact arithmetic: the squared norm has a relative error of at most
 * (p + 1) u, the root and the quotient u each, hence the factor
 * 1 - (p + 8) u. A row whose squared norm is not finite is a null record.
 */
static void block_scales(void *context, size_t index, int worker) {
  struct data *data = context;
  (void)worker;
  size_t first = index * DATA_BLOCK, left = data->n - first;
  struct data_block block = block_where_it_lies(data, first, left < DATA_BLOCK ? left : DATA_BLOCK);
  double *scale = data->scale + first, *y = data->y + first;
  for (size_t i = 0; i < block.rows; i++) scale[i] = data->intercept;
  data_squares_add(&block, scale);
  double shrink = 1 - (double)(data->p + 8) * DBL_EPSILON;
  for (size_t i = 0; i < block.rows; i++) {
    int valid = isfinite(scale[i]) && isfinite(y[i]);
    double norm = sqrt(scale[i]);
    scale[i] = valid ? shrink / (norm > data->radius ? norm : data->radius) : 0;
    if (!valid) y[i] = 0;
    if (!(scale[i] > 0)) data->broken[index] = 1;
  }
}
