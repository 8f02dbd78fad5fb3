/*
 * Data larger than memory: rows come in chunks, from the start again for every
 * pass, and are held a window of blocks at a time.
 *
 * Windows are cut by the number of rows alone, not by the chunks: block k of a
 * stream holds the records that it would hold in memory. So the same numbers are added in the same order, and neither
 * an answer nor its sensitivity depends on how the rows came. A record enters a pass once, clipped as in memory. The
 * pass fails unless exactly n rows come: then nothing is answered.
 *
 * Or a reading goes on over several sums: each is of the next rows, as many as it says, as if these were all, and what
 * is left of a chunk or a window's rows is left to the next sum. No row enters two of them. Rows that it does not come
 * to are not looked at, nor counted; one that comes to the n-th row fails unless it is the last. After a sum that
 * failed it gives no other.
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
  size_t left;  /* rows that the pass or the reading has not come to; none once it failed */
  int open;     /* is the feed? */
  int busy;     /* is a sum being taken? */
  int reading;  /* has one begun that has not ended? */
};

static int refuses(const struct stream *s, const struct batch *of);
static int add_windows(struct stream *s, struct pass *pass);
static int check_end(struct stream *s);
static int open_feed(struct stream *s);
static void close_feed(struct stream *s);
static int open_window(struct stream *s, const struct data_columns *columns, int intercept, double radius);
static size_t window_rows(size_t n, size_t columns);
static int fill_window(struct stream *s, size_t rows);
static void take(struct stream *s, size_t at, size_t rows);
static int next_chunk(struct stream *s);

/* Rows cannot be asked for by their numbers. */
static int can(const struct sum *sum, const struct task *task) {
  return sum->form != SUM_COUNTS && (!task->of || task->of->next);
}

/* Of all rows or of the next ones, which are all that the pass is told of. */
static int sum_stream(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  struct stream *s = e->own;
  if (refuses(s, task->of)) return BASE_ERR_SOURCE;
  struct data rows = s->all;
  if (task->of) rows.n = task->of->count;
  const struct task all = {task->model, task->ask, NULL};
  struct pass pass;
  s->busy = 1;
  int status = pass_open(&pass, &rows, sum, &all, answer);
  if (status == BASE_OK && !s->reading) status = open_feed(s);
  if (status == BASE_OK) status = add_windows(s, &pass);
  if (status == BASE_OK && s->left == 0) status = check_end(s);
  if (status != BASE_OK || s->left == 0) close_feed(s);
  s->busy = 0;
  return pass_close(&pass, status);
}

static int begin_reading(const struct engine *e) {
  struct stream *s = e->own;
  if (s->busy || s->reading) return BASE_ERR_SOURCE;
  int status = open_feed(s);
  s->reading = status == BASE_OK;
  if (!s->reading) close_feed(s);
  return status;
}

static void end_reading(const struct engine *e) {
  struct stream *s = e->own;
  if (s->busy) return;
  close_feed(s);
  s->reading = 0;
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

/* They come with the rows, in chunks. */
static int weigh_stream(const struct engine *e, const double *weight, const double *offset, double most) {
  struct stream *s = e->own;
  s->window->n = s->room;
  return data_weigh_later(s->window, weight != NULL, offset != NULL, most);
}

static const struct engine_kind stream = {.can = can,
                                          .sum = sum_stream,
                                          .move = move_stream,
                                          .weigh = weigh_stream,
                                          .begin = begin_reading,
                                          .end = end_reading,
                                          .free = free_stream};

int engine_stream(const struct data_feed *feed, const struct data_columns *columns, size_t n, int intercept,
                  double radius, struct engine *out) {
  struct stream *s = base_alloc(1, sizeof *s);
  *out = (struct engine){.kind = &stream, .own = s};
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

/* A feed that asks about its own data gets no answer, nor does a pass while a reading is open; what was begun goes
 * on. */
static int refuses(const struct stream *s, const struct batch *of) {
  return s->busy || (of ? !s->reading || of->count > s->left : s->reading);
}

static int add_windows(struct stream *s, struct pass *pass) {
  size_t n = pass->rows->n;
  int status = BASE_OK;
  for (size_t at = 0; status == BASE_OK && at < n; at += s->window->n) {
    status = fill_window(s, n - at < s->room ? n - at : s->room);
    if (status != BASE_OK) break;
    data_clip(s->window);
    status = pass_add(pass, s->window, at / DATA_BLOCK);
  }
  s->left -= n;
  return status;
}

/* After the last row. */
static int check_end(struct stream *s) {
  int status = next_chunk(s);
  return status == BASE_OK && s->chunk.rows > 0 ? BASE_ERR_ROWS : status;
}

static int open_feed(struct stream *s) {
  s->open = 1;
  s->taken = 0;
  s->left = s->all.n;
  return s->feed.open(s->feed.context);
}

static void close_feed(struct stream *s) {
  if (s->open) s->feed.close(s->feed.context);
  s->open = 0;
  s->left = 0;
  memset(&s->chunk, 0, sizeof s->chunk);
}

static size_t window_rows(size_t n, size_t columns) {
  size_t blocks = WINDOW_NUMBERS / DATA_BLOCK / (columns + 1);
  blocks = blocks < 1 ? 1 : blocks > WINDOW_BLOCKS ? WINDOW_BLOCKS : blocks;
  return n < blocks * DATA_BLOCK ? n : blocks * DATA_BLOCK;
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
  if (w->weight) memcpy(w->weight + at, s->chunk.weight + s->taken, rows * sizeof(double));
  if (w->offset) memcpy(w->offset + at, s->chunk.offset + s->taken, rows * sizeof(double));
  s->taken += rows;
}

/* What is left of a chunk counts as rows beyond the last. */
static int next_chunk(struct stream *s) {
  if (s->taken < s->chunk.rows) return BASE_OK;
  s->taken = 0;
  s->chunk.rows = 0;
  return s->feed.next(s->feed.context, &s->chunk);
}
