/*
 * Data larger than memory: rows come in chunks, from the start again for every
 * pass, and are held a window of blocks at a time.
 *
 * Windows are cut by the number of rows alone, not by the chunks: block k of a
 * stream holds the records that it would hold in memory. So sums.c adds the
 * same numbers in the same order, and neither an answer nor its sensitivity
 * depends on how the rows came. A record enters a pass once, clipped as in
 * memory. The pass fails unless exactly n rows come: then nothing is answered.
 */
#include "data/private.h"

#include <string.h>

/* A window has 64 blocks, one for each group of sums.c, but at most so many numbers, or one block. */
#define WINDOW_BLOCKS 64
#define WINDOW_NUMBERS ((size_t)1 << 22)

struct stream {
  struct data_feed feed;
  struct data *window; /* the rows held, as data of their own */
  double *x;           /* theirs */
  size_t room;         /* rows that fit */
  struct data_chunk chunk;
  size_t taken; /* rows of the chunk that are in a window already */
  int passes;   /* that began and have not ended */
};

static size_t window_rows(size_t n, size_t p);
static int open_pass(struct stream *s);
static int fill_window(struct stream *s, size_t rows);
static void take(struct stream *s, size_t at, size_t rows);
static int next_chunk(struct stream *s);

int data_create_stream(const struct data_feed *feed, size_t n, size_t p, int intercept, double radius,
                       struct data **out) {
  *out = NULL;
  size_t room = window_rows(n, p);
  struct data *data = base_alloc(1, sizeof *data);
  struct stream *s = base_alloc(1, sizeof *s);
  double *x = base_alloc(room, (p > 0 ? p : 1) * sizeof(double)), *y = base_alloc(room, sizeof(double));
  int status = data && s && x && y ? BASE_OK : BASE_ERR_MEMORY;
  if (status == BASE_OK) status = data_create(x, room, p, intercept, radius, y, &s->window);
  base_free(y);
  if (status != BASE_OK) {
    base_free(x);
    base_free(s);
    base_free(data);
    return status;
  }
  s->feed = *feed;
  s->x = x;
  s->room = room;
  data->n = n;
  data->p = p;
  data->intercept = intercept != 0;
  data->radius = radius;
  data->stream = s;
  *out = data;
  return BASE_OK;
}

void stream_free(struct stream *s) {
  if (!s) return;
  data_free(s->window);
  base_free(s->x);
  base_free(s);
}

int data_load(const struct data *data, size_t first, const struct data **part) {
  struct stream *s = data->stream;
  *part = data;
  if (!s) return BASE_OK;
  *part = s->window;
  size_t left = data->n - first * DATA_BLOCK, rows = left < s->room ? left : s->room;
  int status = first == 0 ? open_pass(s) : BASE_OK;
  if (status == BASE_OK) status = fill_window(s, rows);
  if (status == BASE_OK && rows == left) {
    status = next_chunk(s);
    if (status == BASE_OK && s->chunk.rows > 0) status = BASE_ERR_ROWS;
  }
  if (status == BASE_OK) data_clip(s->window);
  return status;
}

void data_unload(const struct data *data) {
  struct stream *s = data->stream;
  if (!s || s->passes == 0 || --s->passes > 0) return;
  s->feed.close(s->feed.context);
  memset(&s->chunk, 0, sizeof s->chunk);
}

static size_t window_rows(size_t n, size_t p) {
  size_t blocks = WINDOW_NUMBERS / DATA_BLOCK / (p + 1);
  blocks = blocks < 1 ? 1 : blocks > WINDOW_BLOCKS ? WINDOW_BLOCKS : blocks;
  return n < blocks * DATA_BLOCK ? n : blocks * DATA_BLOCK;
}

/* One pass at a time: a feed that asks about its own data gets no answer, and its own pass goes on. */
static int open_pass(struct stream *s) {
  if (s->passes++ > 0) return BASE_ERR_SOURCE;
  s->taken = 0;
  return s->feed.open(s->feed.context);
}

static int fill_window(struct stream *s, size_t rows) {
  s->window->n = rows;
  for (size_t at = 0; at < rows;) {
    if (s->taken == s->chunk.rows) {
      int status = next_chunk(s);
      if (status == BASE_OK && s->chunk.rows == 0) status = BASE_ERR_ROWS;
      if (status != BASE_OK) return status;
    }
    size_t some = s->chunk.rows - s->taken;
    if (some > rows - at) some = rows - at;
    take(s, at, some);
    at += some;
  }
  return BASE_OK;
}

/* The chunk's next rows become those of the window from at on. */
static void take(struct stream *s, size_t at, size_t rows) {
  struct data *w = s->window;
  for (size_t j = 0; j < w->p; j++) {
    memcpy(s->x + j * w->n + at, s->chunk.x + j * s->chunk.rows + s->taken, rows * sizeof(double));
  }
  memcpy(w->y + at, s->chunk.y + s->taken, rows * sizeof(double));
  s->taken += rows;
}

/* What is left of a chunk counts as rows beyond the last. */
static int next_chunk(struct stream *s) {
  if (s->taken < s->chunk.rows) return BASE_OK;
  s->taken = 0;
  s->chunk.rows = 0;
  return s->feed.next(s->feed.context, &s->chunk);
}
