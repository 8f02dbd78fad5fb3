/*
 * Data larger than memory: rows come in chunks, from the start again for every
 * pass, and are held a window of blocks at a time.
 *
 * Windows are cut by the number of rows alone, not by the chunks: block k of a
 * stream holds the records that it would hold in memory. So the same numbers are added in the same order, and neither
 * an answer nor its sensitivity depends on how the rows came. A record enters a pass once, clipped as in memory. The
 * pass fails unless exactly n rows come: then nothing is answered.
 */
#include "engine/private.h"

#include <string.h>

/* A window has 64 blocks, for eight threads (memory.c deals them out eight at a time), but at most so many numbers, or
 * one block. */
#define WINDOW_BLOCKS 64
#define WINDOW_NUMBERS ((size_t)1 << 22)

struct stream {
  struct data_feed feed;
  struct data all;     /* what is known without the rows' numbers */
  struct data *window; /* the rows held, as data of their own */
  size_t dense, factors;
  double *x; /* theirs */
  int *codes;
  size_t room; /* rows that fit */
  struct data_chunk chunk;
  size_t taken; /* rows of the chunk that are in a window already */
  int passes;   /* that began and have not ended */
};

static int add_windows(struct stream *s, struct pass *pass);
static int load(struct stream *s, size_t n, size_t first);
static void end_pass(struct stream *s);
static int open_window(struct stream *s, const struct data_columns *columns, int intercept, double radius);
static size_t window_rows(size_t n, size_t columns);
static int open_pass(struct stream *s);
static int fill_window(struct stream *s, size_t rows);
static void take(struct stream *s, size_t at, size_t rows);
static int next_chunk(struct stream *s);

/* Rows cannot be asked for by their numbers. */
static int can(const struct sum *sum, const struct task *task) { return sum->form != SUM_COUNTS && !task->of; }

static int sum_stream(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  struct pass pass;
  int status = pass_open(&pass, e->rows, sum, task, answer);
  if (status == BASE_OK) status = add_windows(e->own, &pass);
  return pass_close(&pass, status);
}

static void free_stream(struct engine *e) {
  struct stream *s = e->own;
  if (!s) return;
  data_free(s->window);
  base_free(s->x);
  base_free(s->codes);
  base_free(s);
  *e = (struct engine){0};
}

/* The window measures its rows whenever it has new ones, as many as fit. */
static int move_stream(const struct engine *e, const struct coordinates *coordinates) {
  struct stream *s = e->own;
  s->window->n = s->room;
  int status = data_move(s->window, coordinates);
  if (status == BASE_OK) s->all.coordinates = coordinates;
  return status;
}

static const struct engine_kind stream = {.can = can, .sum = sum_stream, .move = move_stream, .free = free_stream};

int engine_stream(const struct data_feed *feed, const struct data_columns *columns, size_t n, int intercept,
                  double radius, struct engine *out) {
  struct stream *s = base_alloc(1, sizeof *s);
  *out = (struct engine){&stream, NULL, s};
  if (!s) return BASE_ERR_MEMORY;
  s->feed = *feed;
  s->dense = columns->dense;
  s->factors = columns->factors;
  s->room = window_rows(n, columns->dense + columns->factors);
  int status = open_window(s, columns, intercept, radius);
  if (status != BASE_OK) {
    free_stream(out);
    return status;
  }
  s->all = *s->window;
  s->all.n = n;
  s->all.clip = s->all.y = NULL;
  s->all.broken = NULL;
  out->rows = &s->all;
  return BASE_OK;
}

static int open_window(struct stream *s, const struct data_columns *columns, int intercept, double radius) {
  double *y = base_alloc(s->room, sizeof(double));
  s->x = base_alloc(s->room * columns->dense, sizeof(double));
  s->codes = base_alloc(s->room * columns->factors, sizeof(int));
  struct data_columns own = *columns;
  own.x = s->x;
  own.codes = s->codes;
  int status = y && s->x && s->codes ? BASE_OK : BASE_ERR_MEMORY;
  if (status == BASE_OK) status = data_create_columns(&own, s->room, intercept, radius, y, &s->window);
  base_free(y);
  return status;
}

static int add_windows(struct stream *s, struct pass *pass) {
  size_t n = s->all.n, blocks = data_blocks(&s->all, NULL);
  int status = BASE_OK;
  for (size_t first = 0; status == BASE_OK && first < blocks; first += data_blocks(s->window, NULL)) {
    status = load(s, n, first);
    if (status == BASE_OK) status = pass_add(pass, s->window, first);
  }
  end_pass(s);
  return status;
}

/* The window's rows become those from this block on; a pass begins with the first. */
static int load(struct stream *s, size_t n, size_t first) {
  size_t left = n - first * DATA_BLOCK, rows = left < s->room ? left : s->room;
  int status = first == 0 ? open_pass(s) : BASE_OK;
  if (status == BASE_OK) status = fill_window(s, rows);
  if (status == BASE_OK && rows == left) {
    status = next_chunk(s);
    if (status == BASE_OK && s->chunk.rows > 0) status = BASE_ERR_ROWS;
  }
  if (status == BASE_OK) data_clip(s->window);
  return status;
}

static void end_pass(struct stream *s) {
  if (s->passes == 0 || --s->passes > 0) return;
  s->feed.close(s->feed.context);
  memset(&s->chunk, 0, sizeof s->chunk);
}

static size_t window_rows(size_t n, size_t columns) {
  size_t blocks = WINDOW_NUMBERS / DATA_BLOCK / (columns + 1);
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
  for (size_t j = 0; j < s->dense; j++) {
    memcpy(s->x + j * w->n + at, s->chunk.x + j * s->chunk.rows + s->taken, rows * sizeof(double));
  }
  for (size_t f = 0; f < s->factors; f++) {
    memcpy(s->codes + f * w->n + at, s->chunk.codes + f * s->chunk.rows + s->taken, rows * sizeof(int));
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
