/*
 * Rows and their clipping. The result for a record depends on this record
 * and public constants alone, so it costs no privacy.
 */
#include "base/simd.h"
#include "data/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Squares of numbers near a smaller radius would underflow: rows far outside it would seem to have norm zero. */
#define LEAST_RADIUS 1e-140

static size_t rows_of(const struct data *data, const struct batch *batch);
static struct data_block block_of(const struct data *data, size_t first, size_t rows);
static void gather(const struct batch *batch, const size_t *row, double *buffer, struct data_block *block);
static const double *gather_one(const double *from, const size_t *row, size_t rows, double *to);
static double shrinkage(const struct data *data);
static double max_clip(const struct data *data);
static void block_clips(void *context, size_t index, int worker);
static void finish_weights(struct data *data, size_t first, size_t rows);
static void keep_shares(struct data *data, double *share, size_t persons, size_t most);
static void block_lengths(void *context, size_t index, int worker);
static void measure(struct data *data, size_t index);
static void tilt(const struct data_block *b, double *length);
static void squares(const struct data_block *b, const double *weight, const double *linear, double rest, double slack,
                    double *sum);

int data_open(const struct rows_kind *kind, size_t n, size_t p, int intercept, double radius, const double *y,
              struct data **out) {
  *out = NULL;
  if (n == 0 || !(radius >= LEAST_RADIUS) || !isfinite(radius)) return BASE_ERR_ARGUMENT;
  struct data *data = base_alloc(1, sizeof *data);
  if (!data) return BASE_ERR_MEMORY;
  data->kind = kind;
  data->n = n;
  data->p = p;
  data->intercept = intercept != 0;
  data->radius = radius;
  data->clip = base_alloc(n, sizeof(double));
  data->y = base_alloc(n, sizeof(double));
  data->broken = base_alloc(data_blocks(data, NULL), 1);
  if (!data->clip || !data->y || !data->broken) {
    data_free(data);
    return BASE_ERR_MEMORY;
  }
  memcpy(data->y, y, n * sizeof(double));
  *out = data;
  return BASE_OK;
}

void data_free(struct data *data) {
  if (!data) return;
  data->kind->free(data->own);
  base_free(data->clip);
  base_free(data->y);
  base_free(data->weight);
  base_free(data->offset);
  base_free(data->share);
  base_free(data->by_person);
  base_free(data->length);
  base_free(data->broken);
  base_free(data);
}

size_t data_rows(const struct data *data) { return data->n; }

size_t data_persons(const struct data *data) { return data->share ? data->persons : data->n; }

size_t data_blocks(const struct data *data, const struct batch *batch) {
  if (batch && batch->first) return batch->blocks;
  return (rows_of(data, batch) + DATA_BLOCK - 1) / DATA_BLOCK;
}

size_t data_max_blocks(const struct data *data) {
  return ((data->share ? data->max_rows : data->n) + DATA_BLOCK - 1) / DATA_BLOCK;
}

size_t data_block_rows(const struct data *data, const struct batch *batch) {
  size_t rows = rows_of(data, batch);
  return rows < DATA_BLOCK ? rows : DATA_BLOCK;
}

/* Number of columns: those of the storage, clip, y, weight, offset, length and share. */
size_t data_buffer(const struct data *data) { return data->kind->width(data) + 6; }

struct data_block data_block_at(const struct data *data, const struct batch *batch, size_t index, double *buffer) {
  int listed = batch && batch->first;
  size_t first = listed ? batch->first[index] : index * DATA_BLOCK;
  size_t left = (listed ? batch->first[index + 1] : rows_of(data, batch)) - first;
  struct data_block block = block_of(data, first, left < DATA_BLOCK ? left : DATA_BLOCK);
  if (batch && batch->person) block.person = batch->person + first;
  if (batch) gather(batch, batch->row + first, buffer, &block);
  if (data->kind->block) data->kind->block(&block, batch || data->broken[index], buffer);
  return block;
}

struct data_block data_block_as_it_lies(const struct data *data, size_t index) {
  size_t first = index * DATA_BLOCK, left = data->n - first;
  struct data_block block = block_of(data, first, left < DATA_BLOCK ? left : DATA_BLOCK);
  if (data->kind->block) data->kind->block(&block, 0, NULL);
  return block;
}

struct data_block data_tile(const struct data_block *block, size_t start, size_t most, double *buffer) {
  struct data_block tile = *block;
  tile.rows = block->rows - start < most ? block->rows - start : most;
  tile.clip += start;
  tile.y += start;
  if (tile.weight) tile.weight += start;
  if (tile.offset) tile.offset += start;
  if (tile.length) tile.length += start;
  if (tile.share) tile.share += start;
  if (tile.person) tile.person += start;
  if (tile.codes) tile.codes += start;
  if (tile.x) tile.x += start;
  if (tile.row) tile.row += start;
  tile.start += start;
  tile.tile = tile.rows < block->rows;
  if (tile.tile) {
    simd_fetch((uintptr_t)(tile.clip + tile.rows), tile.rows);
    simd_fetch((uintptr_t)(tile.y + tile.rows), tile.rows);
  }
  if (!data_needs_tiles(block)) return tile;
  tile.x = buffer; /* unused so far, as the block was not copied */
  tile.ld = tile.rows;
  tile.tile = 0; /* nothing to fetch lies behind it in the buffer */
  block->data->kind->tile(&tile, buffer);
  return tile;
}

int data_needs_tiles(const struct data_block *block) { return block->data->kind->tile && !block->x; }

static size_t rows_of(const struct data *data, const struct batch *batch) { return batch ? batch->count : data->n; }

/* The block without its columns. */
static struct data_block block_of(const struct data *data, size_t first, size_t rows) {
  return (struct data_block){.data = data,
                             .rows = rows,
                             .clip = data->clip + first,
                             .y = data->y + first,
                             .weight = data->weight ? data->weight + first : NULL,
                             .offset = data->offset ? data->offset + first : NULL,
                             .length = data->length ? data->length + first : NULL,
                             .share = data->share ? data->share + first : NULL,
                             .start = first};
}

/* NULL for NULL. */
static const double *gather_one(const double *from, const size_t *row, size_t rows, double *to) {
  if (!from) return NULL;
  for (size_t i = 0; i < rows; i++) to[i] = from[row[i]];
  return to;
}

/* All numbers of the rows and, if there is a copy by rows, the columns. */
static void gather(const struct batch *batch, const size_t *row, double *buffer, struct data_block *block) {
  const struct data *data = block->data;
  double *clip = buffer + data->kind->width(data) * block->rows, *y = clip + block->rows;
  block->clip = clip;
  block->y = y;
  block->row = row;
  block->weight = gather_one(data->weight, row, block->rows, y + block->rows);
  block->offset = gather_one(data->offset, row, block->rows, y + 2 * block->rows);
  block->length = gather_one(data->length, row, block->rows, y + 3 * block->rows);
  block->share = gather_one(data->share, row, block->rows, y + 4 * block->rows);
  if (batch->records) {
    records_gather(batch->records, row, block->rows, buffer, clip, y);
    block->x = buffer;
    block->ld = block->rows;
    return;
  }
  for (size_t i = 0; i < block->rows; i++) {
    clip[i] = data->clip[row[i]];
    y[i] = data->y[row[i]];
  }
}

/* ---- functions of the storage ---- */

void data_matvec(const struct data_block *b, const double *w, double *t) { b->data->kind->matvec(b, w, t); }

void data_matvec_t_add(const struct data_block *b, const double *v, double *g) { b->data->kind->matvec_t_add(b, v, g); }

void data_multiply(const struct data_block *b, size_t k, const double *w, size_t ldw, double *t) {
  const struct rows_kind *kind = b->data->kind;
  if (kind->multiply) kind->multiply(b, k, w, ldw, t);
  for (size_t c = 0; c < k && !kind->multiply; c++) kind->matvec(b, w + c * ldw, t + c * b->rows);
}

void data_multiply_t_add(const struct data_block *b, size_t k, const double *v, double *g, size_t ldg) {
  const struct rows_kind *kind = b->data->kind;
  if (kind->multiply_t_add) kind->multiply_t_add(b, k, v, g, ldg);
  for (size_t c = 0; c < k && !kind->multiply_t_add; c++) kind->matvec_t_add(b, v + c * b->rows, g + c * ldg);
}

void data_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                        size_t ldc) {
  b->data->kind->crossprod_add(b, u, v, scratch, c, ldc);
}

void data_squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum) {
  b->data->kind->squares_add(b, weight, linear, sum);
}

void data_outside_add(const struct data_block *b, const double *low, const double *high, double *count) {
  b->data->kind->outside_add(b, low, high, count);
}

void data_moments_add(const struct data_block *b, const double *weight, const double *most, double *g) {
  b->data->kind->moments_add(b, weight, most, g);
}

void data_fetch_behind(const struct data_block *b, size_t part, size_t parts) {
  if (b->tile && b->data->kind->fetch_behind) b->data->kind->fetch_behind(b, part, parts);
}

double data_additions(const struct data *data, double blocks, double groups) {
  return data->kind->additions(data, blocks, groups);
}

/* ---- clipping ---- */

void data_clip(struct data *data) {
  memset(data->broken, 0, data_blocks(data, NULL));
  base_parallel(data_blocks(data, NULL), base_threads(), block_clips, data);
}

/*
 * clip = 1 / max(radius, |row|), a little less so that |clip * row| <= 1
 * holds in exact arithmetic: the squared norm has a relative error of at most
 * (p + 1) u, the root and the quotient u each, hence the factor
 * 1 - (p + 8) u. A row whose squared norm is not finite is a null record.
 * Responses are clipped to [-1, 1], over which the bounds of a loss hold.
 */
void data_finish_clips(struct data *data, size_t index) {
  size_t first = index * DATA_BLOCK, left = data->n - first, rows = left < DATA_BLOCK ? left : DATA_BLOCK;
  double *clip = data->clip + first, *y = data->y + first;
  double most = max_clip(data), shrink = shrinkage(data);
  for (size_t i = 0; i < rows; i++) {
    int valid = isfinite(clip[i]) && isfinite(y[i]);
    double norm = sqrt(clip[i]);
    clip[i] = !valid ? 0 : norm > data->radius ? shrink / norm : most;
    y[i] = !valid ? 0 : fmax(-1, fmin(y[i], 1));
    if (!(clip[i] > 0)) data->broken[index] = 1;
  }
}

static double shrinkage(const struct data *data) { return 1 - (double)(data->p + 8) * DBL_EPSILON; }

/* That of a row that is not longer than the radius. */
static double max_clip(const struct data *data) { return shrinkage(data) / data->radius; }

static void block_clips(void *context, size_t index, int worker) {
  struct data *data = context;
  (void)worker;
  size_t first = index * DATA_BLOCK;
  struct data_block block = data_block_as_it_lies(data, index);
  for (size_t i = 0; i < block.rows; i++) data->clip[first + i] = data->intercept;
  data_squares_add(&block, NULL, NULL, data->clip + first);
  data_finish_clips(data, index);
  finish_weights(data, first, block.rows);
  if (data->coordinates) measure(data, index);
}

/* ---- weights and offsets ---- */

int data_set_weights(struct data *data, const double *weight, const double *offset, double most) {
  int status = data_expect_weights(data, weight != NULL, offset != NULL, most);
  if (status != BASE_OK) return status;
  if (weight) memcpy(data->weight, weight, data->n * sizeof(double));
  if (offset) memcpy(data->offset, offset, data->n * sizeof(double));
  finish_weights(data, 0, data->n);
  return BASE_OK;
}

int data_expect_weights(struct data *data, int weight, int offset, double most) {
  if (data->weight || data->offset) return BASE_ERR_ARGUMENT;
  if (weight) data->weight = base_alloc(data->n, sizeof(double));
  if (offset) data->offset = base_alloc(data->n, sizeof(double));
  data->most = most;
  return (weight && !data->weight) || (offset && !data->offset) ? BASE_ERR_MEMORY : BASE_OK;
}

static void finish_weights(struct data *data, size_t first, size_t rows) {
  double *weight = data->weight, *offset = data->offset, most = data->most;
  for (size_t i = first; i < first + rows; i++) {
    int null = !(data->clip[i] > 0);
    if (weight) weight[i] = null ? 1 : fmax(0, fmin(weight[i], 1));
    if (offset) offset[i] = null || isnan(offset[i]) ? 0 : fmax(-most, fmin(offset[i], most));
  }
}

/* ---- persons ---- */

double data_share_of(size_t m) { return (double)(DATA_SHARE_UNITS / m) / (double)DATA_SHARE_UNITS; }

int tally_open(struct tally *t, size_t persons, size_t most) {
  *t = (struct tally){0};
  if (persons == 0 || most == 0 || most > DATA_SHARE_UNITS || persons > SIZE_MAX / most) return BASE_ERR_ARGUMENT;
  t->persons = persons;
  t->most = most;
  t->rows = base_alloc(persons, sizeof *t->rows);
  t->used = base_alloc(persons, sizeof *t->used);
  return t->rows && t->used ? BASE_OK : BASE_ERR_MEMORY;
}

void tally_close(struct tally *t) {
  base_free(t->rows);
  base_free(t->used);
  *t = (struct tally){0};
}

int tally_add(struct tally *t, size_t n, const int *person, const double *clip) {
  for (size_t i = 0; i < n; i++) {
    if (person[i] < 1 || (size_t)person[i] > t->persons) return BASE_ERR_ARGUMENT;
    size_t who = (size_t)person[i] - 1;
    if (++t->rows[who] > t->most) return BASE_ERR_ARGUMENT;
    t->used[who] += !clip || clip[i] > 0;
  }
  return BASE_OK;
}

void tally_shares(const struct tally *t, size_t n, const int *person, const double *clip, double *share) {
  for (size_t i = 0; i < n; i++) {
    size_t m = t->used[person[i] - 1];
    share[i] = m > 0 && (!clip || clip[i] > 0) ? data_share_of(m) : 0;
  }
}

int data_shares(size_t n, const int *person, size_t persons, size_t most, const double *clip, double *share) {
  struct tally tally;
  int status = tally_open(&tally, persons, most);
  if (status == BASE_OK) status = tally_add(&tally, n, person, clip);
  if (status == BASE_OK) tally_shares(&tally, n, person, clip, share);
  tally_close(&tally);
  return status;
}

int data_set_persons(struct data *data, const int *person, size_t persons, size_t most) {
  if (data->share) return BASE_ERR_ARGUMENT;
  double *share = base_alloc(data->n, sizeof *share);
  int status = share ? data_shares(data->n, person, persons, most, data->clip, share) : BASE_ERR_MEMORY;
  if (status == BASE_OK)
    keep_shares(data, share, persons, most);
  else
    base_free(share);
  return status == BASE_OK ? data_group(data, person) : status;
}

int data_expect_persons(struct data *data, size_t persons, size_t most) {
  if (data->share) return BASE_ERR_ARGUMENT;
  keep_shares(data, base_alloc(data->n, sizeof(double)), persons, most);
  return data->share ? BASE_OK : BASE_ERR_MEMORY;
}

static void keep_shares(struct data *data, double *share, size_t persons, size_t most) {
  data->share = share;
  data->persons = persons;
  data->max_rows = persons * most;
}

/* A person's rows stay in their order. next: zeros, one more than persons. */
static void sort_rows(size_t n, const int *person, size_t persons, size_t *next, size_t *row, int *sorted) {
  for (size_t i = 0; i < n; i++) next[person[i]]++;
  for (size_t k = 1; k <= persons; k++) next[k] += next[k - 1];
  for (size_t i = n; i-- > 0;) {
    size_t to = --next[person[i]];
    row[to] = i;
    sorted[to] = person[i];
  }
}

/* The lists lie behind the batch, in one piece of memory. */
int data_group(struct data *data, const int *person) {
  size_t n = data->n, persons = data->persons;
  if (data->max_rows / persons > DATA_BLOCK) return BASE_OK;
  size_t numbers = n + persons + 1, *next = base_alloc(persons + 1, sizeof *next);
  struct batch *batch = base_alloc(1, sizeof *batch + numbers * sizeof(size_t) + n * sizeof(int));
  base_free(data->by_person);
  data->by_person = NULL;
  if (batch && next) {
    size_t *row = (size_t *)(void *)(batch + 1), *first = row + n;
    int *sorted = (int *)(void *)(row + numbers);
    *batch = (struct batch){.count = n, .row = row, .size = (double)persons, .person = sorted, .first = first};
    sort_rows(n, person, persons, next, row, sorted);
    for (size_t at = 0, end; at < n; at = end) {
      for (end = at + 1; end < n && sorted[end] == sorted[at];) end++;
      if (at == 0 || end - first[batch->blocks - 1] > DATA_BLOCK) first[batch->blocks++] = at;
    }
    first[batch->blocks] = n;
    data->by_person = batch;
  } else {
    base_free(batch);
  }
  base_free(next);
  return data->by_person ? BASE_OK : BASE_ERR_MEMORY;
}

/* ---- lengths in other coordinates: coordinates.c ---- */

int data_move(struct data *data, const struct coordinates *coordinates) {
  const struct coordinates_spec *s = &coordinates->spec;
  int again = data->length && s->weighted; /* clips are not computed a second time, lengths may be */
  if (data->coordinates && !again) return BASE_ERR_ARGUMENT;
  if (s->p != data->p || s->intercept != data->intercept || s->radius != data->radius) return BASE_ERR_ARGUMENT;
  if (s->weighted && !again) {
    data->length = base_alloc(data->n, sizeof(double));
    if (!data->length) return BASE_ERR_MEMORY;
  }
  data->coordinates = coordinates;
  return base_parallel(data_blocks(data, NULL), base_threads(), block_lengths, data);
}

static void block_lengths(void *context, size_t index, int worker) {
  (void)worker;
  measure(context, index);
}

/* Lengths of the rows of a block that are in memory; without weights, clips in the new coordinates. */
static void measure(struct data *data, size_t index) {
  const struct coordinates *c = data->coordinates;
  const struct data_block b = data_block_as_it_lies(data, index);
  double length[DATA_BLOCK];
  squares(&b, c->square, c->cross, c->rest, c->slack, length);
  for (size_t i = 0; i < b.rows; i++) length[i] = sqrt(length[i]) * (1 + 8 * DBL_EPSILON);
  if (c->spec.tilt != 0) tilt(&b, length);
  for (size_t i = 0; i < b.rows; i++) {
    if (c->spec.weighted) data->length[b.start + i] = length[i];
    if (!c->spec.weighted && length[i] > 1) data->clip[b.start + i] /= length[i];
  }
}

/* The lengths of rows whose classes have different weights, from those without. A row is regular if it is not clipped
 * and no entry is beyond its end. */
static void tilt(const struct data_block *b, double *length) {
  const struct coordinates *c = b->data->coordinates;
  double free[DATA_BLOCK], excess[DATA_BLOCK], outside[DATA_BLOCK] = {0}, unclipped = max_clip(b->data);
  squares(b, c->free_square, c->free_cross, c->free_rest, c->slack, free);
  squares(b, c->end_square, c->end_cross, c->end_rest, c->slack, excess);
  data_outside_add(b, c->low, c->high, outside);
  for (size_t i = 0; i < b->rows; i++) {
    int regular = b->clip[i] == unclipped && outside[i] == 0;
    length[i] = coordinates_tilted(&c->spec, length[i], free[i], excess[i], regular);
  }
}

/* What the sum is at most, zero if it is negative. */
static void squares(const struct data_block *b, const double *weight, const double *linear, double rest, double slack,
                    double *sum) {
  for (size_t i = 0; i < b->rows; i++) sum[i] = rest;
  data_squares_add(b, weight, linear, sum);
  for (size_t i = 0; i < b->rows; i++) {
    double clip = b->clip[i], q = clip > 0 ? clip * (clip * sum[i]) : 0;
    sum[i] = fmax(q, 0) + slack;
  }
}
