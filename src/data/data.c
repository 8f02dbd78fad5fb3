/*
 * Rows and their clipping. Whatever is done to a record depends on this record
 * and public constants alone, so it costs no privacy.
 */
#include "base/simd.h"
#include "data/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Squares of numbers near a smaller radius would underflow: rows far outside it would pass for rows of norm zero. */
#define LEAST_RADIUS 1e-140

static int set_columns(struct data *data, const struct data_columns *columns);
static size_t rows_of(const struct data *data, const struct batch *batch);
static struct data_block block_where_it_lies(const struct data *data, size_t first, size_t rows);
static void gather_records(const struct data *data, const struct batch *batch, const size_t *row, double *buffer,
                           struct data_block *block);
static void copy_columns(const struct data *data, size_t first, const size_t *row, double *buffer,
                         struct data_block *block);
static void copy_codes(const struct data *data, size_t first, const size_t *row, double *buffer,
                       struct data_block *block);
static void block_scales(void *context, size_t index, int worker);

int data_create(const double *x, size_t n, size_t p, int intercept, double radius, const double *y, struct data **out) {
  const struct data_columns columns = {.x = x, .dense = p};
  return data_create_columns(&columns, n, intercept, radius, y, out);
}

int data_create_columns(const struct data_columns *columns, size_t n, int intercept, double radius, const double *y,
                        struct data **out) {
  *out = NULL;
  struct data *data;
  size_t p = columns->dense;
  for (size_t f = 0; f < columns->factors; f++) {
    if (columns->indicators[f] < 1) return BASE_ERR_ARGUMENT;
    p += (size_t)columns->indicators[f];
  }
  int status = data_open(n, p, intercept, radius, y, &data);
  if (status == BASE_OK) status = set_columns(data, columns);
  if (status != BASE_OK) {
    data_free(data);
    return status;
  }
  data_clip(data);
  *out = data;
  return BASE_OK;
}

static int set_columns(struct data *data, const struct data_columns *columns) {
  data->columns = *columns;
  data->first = base_alloc(columns->factors, sizeof *data->first);
  if (!data->first) return BASE_ERR_MEMORY;
  for (size_t f = 0, next = columns->dense; f < columns->factors; f++) {
    data->first[f] = next;
    next += (size_t)columns->indicators[f];
  }
  data->columns.indicators = NULL; /* may be gone after the constructor */
  return BASE_OK;
}

int data_open(size_t n, size_t p, int intercept, double radius, const double *y, struct data **out) {
  *out = NULL;
  if (n == 0 || !(radius >= LEAST_RADIUS) || !isfinite(radius)) return BASE_ERR_ARGUMENT;
  struct data *data = base_alloc(1, sizeof *data);
  if (!data) return BASE_ERR_MEMORY;
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
  base_free(data->first);
  base_free(data->start);
  base_free(data->column);
  base_free(data->value);
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

/* Dense: in its tile, then one a tile of its group and one a group (barrier/sensitivity.c, which bounds them all). */
double data_additions(const struct data *data, double blocks, double groups) {
  if (data->sparse || data->columns.factors > 0) return DATA_BLOCK * blocks + groups;
  return DATA_BLOCK + 2 * (double)data_blocks(data, NULL);
}

/* Columns: those of x, of codes (which are half as wide), scale and y. */
size_t data_buffer(const struct data *data) {
  return (data->sparse ? 0 : data->columns.dense + data->columns.factors) + 2;
}

struct data_block data_block_at(const struct data *data, const struct batch *batch, size_t index, double *buffer) {
  size_t first = index * DATA_BLOCK, left = rows_of(data, batch) - first;
  const size_t *row = batch ? batch->row + first : NULL;
  struct data_block block = block_where_it_lies(data, first, left < DATA_BLOCK ? left : DATA_BLOCK);
  if (row) gather_records(data, batch, row, buffer, &block);
  if (!data->sparse && (row || data->broken[index])) {
    if (!row || !batch->records) copy_columns(data, first, row, buffer, &block);
    copy_codes(data, first, row, buffer, &block);
  }
  return block;
}

struct data_block data_tile(const struct data_block *block, size_t start, size_t most, double *buffer) {
  struct data_block tile = *block;
  tile.rows = block->rows - start < most ? block->rows - start : most;
  tile.scale += start;
  tile.y += start;
  if (tile.codes) tile.codes += start;
  if (tile.x) tile.x += start;
  if (tile.row) tile.row += start;
  tile.start += start;
  tile.tile = tile.rows < block->rows;
  if (tile.tile) {
    simd_fetch((uintptr_t)(tile.scale + tile.rows), tile.rows);
    simd_fetch((uintptr_t)(tile.y + tile.rows), tile.rows);
  }
  if (!tile.single) return tile;
  tile.single += start; /* of a block that was not copied: its buffer is free */
  data_single_widen(&tile, buffer);
  tile.x = buffer;
  tile.ld = tile.rows;
  tile.single = NULL;
  tile.tile = 0; /* what lies behind it in the buffer is nothing */
  return tile;
}

static size_t rows_of(const struct data *data, const struct batch *batch) { return batch ? batch->count : data->n; }

static struct data_block block_where_it_lies(const struct data *data, size_t first, size_t rows) {
  const struct data_columns *columns = &data->columns;
  struct data_block block = {.data = data,
                             .rows = rows,
                             .scale = data->scale + first,
                             .y = data->y + first,
                             .x = columns->x ? columns->x + first : NULL,
                             .single = columns->single ? columns->single + first : NULL,
                             .codes = columns->codes ? columns->codes + first : NULL,
                             .ld = data->n,
                             .codes_ld = data->n,
                             .start = first};
  return block;
}

/* Scales and responses and, from records by row, columns as well. */
static void gather_records(const struct data *data, const struct batch *batch, const size_t *row, double *buffer,
                           struct data_block *block) {
  double *scale = buffer + (data_buffer(data) - 2) * block->rows, *y = scale + block->rows;
  block->scale = scale;
  block->y = y;
  block->row = row;
  if (batch->records) {
    data_records_gather(batch->records, row, block->rows, buffer, scale, y);
    block->x = buffer;
    block->ld = block->rows;
    return;
  }
  for (size_t i = 0; i < block->rows; i++) {
    scale[i] = data->scale[row[i]];
    y[i] = data->y[row[i]];
  }
}

/* Those of the list or, without one, from first on. The values of a null record may be NaN: zeros stand for them. */
static void copy_columns(const struct data *data, size_t first, const size_t *row, double *buffer,
                         struct data_block *block) {
  const struct data_columns *columns = &data->columns;
  size_t rows = block->rows;
  for (size_t j = 0; j < columns->dense; j++) {
    for (size_t i = 0; i < rows; i++) {
      size_t from = (row ? row[i] : first + i) + j * data->n;
      double value = columns->single ? (double)columns->single[from] : columns->x[from];
      buffer[i + j * rows] = block->scale[i] > 0 ? value : 0;
    }
  }
  block->x = buffer;
  block->single = NULL;
  block->ld = rows;
}

/* Behind the columns. */
static void copy_codes(const struct data *data, size_t first, const size_t *row, double *buffer,
                       struct data_block *block) {
  const struct data_columns *columns = &data->columns;
  size_t rows = block->rows;
  int *codes = (int *)(buffer + rows * columns->dense);
  for (size_t f = 0; f < columns->factors; f++) {
    for (size_t i = 0; i < rows; i++) {
      size_t from = (row ? row[i] : first + i) + f * data->n;
      codes[i + f * rows] = block->scale[i] > 0 ? columns->codes[from] : 0;
    }
  }
  block->codes = codes;
  block->codes_ld = rows;
}

/*
 * scale = 1 / max(radius, |row|), a little less so that |scale * row| <= 1
 * holds in exact arithmetic: the squared norm has a relative error of at most
 * (p + 1) u, the root and the quotient u each, hence the factor
 * 1 - (p + 8) u. A row whose squared norm is not finite is a null record.
 * Responses are clipped to [-1, 1], over which the bounds of a loss hold.
 */
void data_finish_scales(struct data *data, size_t index) {
  size_t first = index * DATA_BLOCK, left = data->n - first, rows = left < DATA_BLOCK ? left : DATA_BLOCK;
  double *scale = data->scale + first, *y = data->y + first;
  double shrink = 1 - (double)(data->p + 8) * DBL_EPSILON;
  for (size_t i = 0; i < rows; i++) {
    int valid = isfinite(scale[i]) && isfinite(y[i]);
    double norm = sqrt(scale[i]);
    scale[i] = valid ? shrink / (norm > data->radius ? norm : data->radius) : 0;
    y[i] = !valid ? 0 : fmax(-1, fmin(y[i], 1));
    if (!(scale[i] > 0)) data->broken[index] = 1;
  }
}

static void block_scales(void *context, size_t index, int worker) {
  struct data *data = context;
  (void)worker;
  size_t first = index * DATA_BLOCK, left = data->n - first;
  struct data_block block = block_where_it_lies(data, first, left < DATA_BLOCK ? left : DATA_BLOCK);
  for (size_t i = 0; i < block.rows; i++) data->scale[first + i] = data->intercept;
  data_squares_add(&block, data->scale + first);
  data_finish_scales(data, index);
}
