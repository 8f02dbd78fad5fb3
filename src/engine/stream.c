/*
 * Data larger than memory: rows come in chunks, from the start again for every
 * pass, and a window of some blocks is held in memory.
 *
 * Windows depend on the number of rows alone, not on the chunks: block k of a
 * stream holds the records that it would hold in memory. So the same numbers are added in the same order, and neither
 * a sum nor its sensitivity depends on the chunks. A record enters a pass once, clipped as in memory. The
 * pass fails unless exactly n rows come; then nothing is released.
 *
 * Where the rows are to be kept, the window holds all of them, its numbers in memory or in a mapped file. The first
 * pass that comes to its end without an error fills it, and later passes are those over rows in memory: over one set of
 * rows, with the same bits. A pass that fails, or a reading, leaves nothing to be used. Rows that are kept have
 * numbers, their places in the pass, so sums over batches are those in memory: whatever the numbers, a uniform subset
 * of them is a uniform set of records.
 *
 * Where rows belong to persons, n is the number of rows, which is private, and a row's share depends on how many of its
 * person's rows are not null. So the first pass only counts them (or keeps all rows), and each later pass gives the
 * rows of a window their shares (proofs: persons).
 *
 * A reading continues over several sums. Each sum is over the next rows, as many as it states, as if these were all
 * rows; the rest of a chunk or of a window is left for the next sum. No row enters two sums. Rows after the last sum
 * are neither read nor counted; a sum that includes the n-th row fails unless it is the last row of the feed. After a
 * failed sum a reading gives no other.
 */
#include "engine/private.h"

#include <string.h>

/* A window has 64 blocks, for eight threads (memory.c deals them out eight at a time), but at most WINDOW_NUMBERS
 * numbers unless one block has more. */
#define WINDOW_BLOCKS 64
#define WINDOW_NUMBERS ((size_t)1 << 22)

struct stream {
  struct data_feed feed;
  struct data all;     /* everything that is known without the rows' numbers */
  struct data *window; /* the rows in memory, as data of their own */
  size_t dense, factors;
  double *x; /* the window's numbers, and the codes behind them */
  int *codes;
  size_t bytes; /* of both */
  int mapped;   /* are they in a file? */
  size_t room;  /* number of rows that fit */
  struct data_chunk chunk;
  size_t taken; /* number of rows of the chunk that are in a window already */
  size_t left;  /* number of rows that the pass or the reading has not reached; none after a failure */
  int open;     /* is the feed open? */
  int busy;     /* is a sum being computed? */
  int reading;  /* has a reading begun and not ended? */
  int keep;     /* are the rows to be kept? */
  int kept;     /* does the window hold all rows? */

  int *person;        /* of the window's rows, */
  struct tally tally; /* and of all persons their numbers of rows; no persons: rows belong to none */
  int tallied;        /* have these been counted? */
};

static int refuses(const struct stream *s, const struct batch *of);
static int add_windows(struct stream *s, struct pass *pass);
static int check_end(struct stream *s);
static int open_feed(struct stream *s);
static void close_feed(struct stream *s);
static int open_window(struct stream *s, const char *folder, const struct data_columns *columns, int intercept,
                       double radius);
static int open_numbers(struct stream *s, const char *folder);
static void free_numbers(struct stream *s);
static size_t window_rows(size_t n, size_t columns);
static int next_window(struct stream *s, size_t left);
static int fill_window(struct stream *s, size_t rows);
static void share_out(struct stream *s);
static void take(struct stream *s, size_t at, size_t rows);
static int next_chunk(struct stream *s);

/* Rows have no numbers here, unless they are kept. */
static int can(const struct engine *e, const struct sum *sum, const struct task *task) {
  const struct stream *s = e->own;
  return sum->form != SUM_COUNTS && (s->keep || !task->of || task->of->next);
}

/* The window has room for one row even if there is none. */
static int sum_kept(struct stream *s, const struct sum *sum, const struct task *task, double *answer) {
  s->window->n = s->all.n;
  const struct engine rows = engine_memory(s->window);
  return rows.kind->sum(&rows, sum, task, answer);
}

/* A pass without a sum, where the first one is over a batch, or rows belong to persons. */
static int read_rows(struct stream *s, int (*add)(struct stream *s)) {
  s->busy = 1;
  s->window->n = 0;
  int status = open_feed(s);
  for (size_t at = 0; status == BASE_OK && at < s->all.n; at += s->window->n) {
    status = next_window(s, s->all.n - at);
    if (status == BASE_OK && add) status = add(s);
  }
  if (status == BASE_OK) status = check_end(s);
  close_feed(s);
  s->busy = 0;
  return status;
}

static int keep_rows(struct stream *s) {
  int status = read_rows(s, NULL);
  s->kept = status == BASE_OK;
  return status;
}

static int tally_window(struct stream *s) { return tally_add(&s->tally, s->window->n, s->person, s->window->clip); }

/* The rows of the window get their shares when it is filled; those that are kept get theirs here. */
static int tally_rows(struct stream *s) {
  struct tally *t = &s->tally;
  memset(t->rows, 0, t->persons * sizeof *t->rows);
  memset(t->used, 0, t->persons * sizeof *t->used);
  int status = read_rows(s, tally_window);
  if (status == BASE_OK && s->keep) {
    share_out(s);
    status = data_group(s->window, s->person);
  }
  s->tallied = status == BASE_OK;
  s->kept = s->keep && s->tallied;
  return status;
}

static void share_out(struct stream *s) {
  tally_shares(&s->tally, s->window->n, s->person, s->window->clip, s->window->share);
}

static int sum_batch(struct stream *s, const struct sum *sum, const struct task *task, double *answer) {
  int status = !s->keep || s->busy || s->reading ? BASE_ERR_SOURCE : s->kept ? BASE_OK : keep_rows(s);
  if (status == BASE_OK) return sum_kept(s, sum, task, answer);
  memset(answer, 0, sum->width(task) * sizeof(double));
  return status;
}

/* A sum over all rows, over a batch, or over the next rows, which are all rows for the pass. Only where rows belong to
 * persons may there be none. */
static int sum_stream(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  struct stream *s = e->own;
  if (s->all.n == 0 && !s->tally.persons) return BASE_ERR_SOURCE;
  if (task->of && !task->of->next) return sum_batch(s, sum, task, answer);
  if (refuses(s, task->of)) return BASE_ERR_SOURCE;
  int tallied = !s->tally.persons || s->tallied ? BASE_OK : tally_rows(s);
  if (tallied != BASE_OK) {
    memset(answer, 0, sum->width(task) * sizeof(double));
    return tallied;
  }
  if (s->kept) return sum_kept(s, sum, task, answer);
  struct data rows = s->all;
  if (task->of) rows.n = task->of->count;
  const struct task all = {task->model, task->ask, NULL};
  struct pass pass;
  s->busy = 1;
  int status = pass_open(&pass, &rows, sum, &all, answer);
  if (status == BASE_OK && !s->reading) status = open_feed(s);
  if (status == BASE_OK) status = add_windows(s, &pass);
  if (status == BASE_OK && s->left == 0) status = check_end(s);
  s->kept = s->keep && !s->reading && status == BASE_OK;
  if (status != BASE_OK || s->left == 0) close_feed(s);
  s->busy = 0;
  return pass_close(&pass, status);
}

static int begin_reading(const struct engine *e) {
  struct stream *s = e->own;
  if (s->busy || s->reading) return BASE_ERR_SOURCE;
  int status = open_feed(s);
  s->kept = 0;
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
  tally_close(&s->tally);
  base_free(s->person);
  free_numbers(s);
  base_free(s);
  *e = (struct engine){0};
}

/* The window computes lengths whenever it has new rows. */
static int move_stream(const struct engine *e, const struct coordinates *coordinates) {
  struct stream *s = e->own;
  s->window->n = s->room;
  int status = data_move(s->window, coordinates);
  if (status == BASE_OK) s->all.coordinates = coordinates;
  return status;
}

/* Weights and offsets come with the rows, in chunks. */
static int set_stream_weights(const struct engine *e, const double *weight, const double *offset, double most) {
  struct stream *s = e->own;
  s->window->n = s->room;
  return data_expect_weights(s->window, weight != NULL, offset != NULL, most);
}

/* The persons come with the rows. The shares' array belongs to the window. */
static int set_stream_persons(const struct engine *e, const int *person, size_t persons, size_t most) {
  struct stream *s = e->own;
  if (person || s->person) return BASE_ERR_ARGUMENT;
  s->window->n = s->room;
  int status = tally_open(&s->tally, persons, most);
  if (status == BASE_OK) status = data_expect_persons(s->window, persons, most);
  if (status == BASE_OK) s->person = base_alloc(s->room, sizeof(int));
  if (!s->person) {
    tally_close(&s->tally);
    return status == BASE_OK ? BASE_ERR_MEMORY : status;
  }
  s->all.share = s->window->share;
  s->all.persons = persons;
  s->all.max_rows = persons * most;
  return BASE_OK;
}

static const struct engine_kind stream = {.can = can,
                                          .sum = sum_stream,
                                          .move = move_stream,
                                          .set_weights = set_stream_weights,
                                          .set_persons = set_stream_persons,
                                          .begin = begin_reading,
                                          .end = end_reading,
                                          .free = free_stream};

int engine_stream(const struct data_feed *feed, const struct data_columns *columns, size_t n, int intercept,
                  double radius, int keep, const char *folder, struct engine *out) {
  struct stream *s = base_alloc(1, sizeof *s);
  *out = (struct engine){.kind = &stream, .own = s};
  if (!s) return BASE_ERR_MEMORY;
  s->feed = *feed;
  s->dense = columns->dense;
  s->factors = columns->factors;
  s->keep = keep;
  s->room = keep && n > 0 ? n : window_rows(n, columns->dense + columns->factors);
  int status = open_window(s, keep ? folder : NULL, columns, intercept, radius);
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

static int open_window(struct stream *s, const char *folder, const struct data_columns *columns, int intercept,
                       double radius) {
  double *y = base_alloc(s->room, sizeof(double));
  int status = y ? open_numbers(s, folder) : BASE_ERR_MEMORY;
  struct data_columns own = *columns;
  own.x = s->x;
  own.codes = s->codes;
  if (status == BASE_OK) status = data_create_columns(&own, s->room, intercept, radius, y, &s->window);
  base_free(y);
  return status;
}

static int open_numbers(struct stream *s, const char *folder) {
  double row = (double)s->dense * sizeof(double) + (double)s->factors * sizeof(int);
  if (row * (double)s->room > (double)(SIZE_MAX / 2)) return BASE_ERR_MEMORY;
  s->bytes = s->room * (s->dense * sizeof(double) + s->factors * sizeof(int));
  s->mapped = folder != NULL;
  void *numbers = s->mapped ? NULL : base_alloc(s->bytes, 1);
  int status = s->mapped ? base_map(folder, s->bytes, &numbers) : BASE_OK;
  if (!numbers) return status == BASE_OK ? BASE_ERR_MEMORY : status;
  s->x = numbers;
  s->codes = (int *)(void *)(s->x + s->room * s->dense);
  return BASE_OK;
}

static void free_numbers(struct stream *s) {
  if (s->mapped) {
    base_unmap(s->x, s->bytes);
  } else {
    base_free(s->x);
  }
}

/* Refuses a query about these data from within their own feed, and a pass during a reading; the pass or reading that
 * is open continues. */
static int refuses(const struct stream *s, const struct batch *of) {
  return s->busy || (of ? !s->reading || of->count > s->left : s->reading);
}

static int add_windows(struct stream *s, struct pass *pass) {
  size_t n = pass->rows->n;
  int status = BASE_OK;
  for (size_t at = 0; status == BASE_OK && at < n; at += s->window->n) {
    status = next_window(s, n - at);
    if (status != BASE_OK) break;
    if (s->tally.persons) share_out(s);
    status = pass_add(pass, s->window, at / DATA_BLOCK);
  }
  s->left -= n;
  return status;
}

/* Called after the last row. */
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
  return n == 0 ? 1 : n < blocks * DATA_BLOCK ? n : blocks * DATA_BLOCK;
}

/* The next rows of `left`, clipped. */
static int next_window(struct stream *s, size_t left) {
  int status = fill_window(s, left < s->room ? left : s->room);
  if (status == BASE_OK) data_clip(s->window);
  return status;
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

/* Copies the chunk's next rows to the window from row `at` on. */
static void take(struct stream *s, size_t at, size_t rows) {
  struct data *w = s->window;
  for (size_t j = 0; j < s->dense; j++) {
    memcpy(s->x + j * w->n + at, s->chunk.x + j * s->chunk.rows + s->taken, rows * sizeof(double));
  }
  for (size_t f = 0; f < s->factors; f++) {
    memcpy(s->codes + f * w->n + at, s->chunk.codes + f * s->chunk.rows + s->taken, rows * sizeof(int));
  }
  memcpy(w->y + at, s->chunk.y + s->taken, rows * sizeof(double));
  if (s->person) memcpy(s->person + at, s->chunk.person + s->taken, rows * sizeof(int));
  if (w->weight) memcpy(w->weight + at, s->chunk.weight + s->taken, rows * sizeof(double));
  if (w->offset) memcpy(w->offset + at, s->chunk.offset + s->taken, rows * sizeof(double));
  s->taken += rows;
}

/* Rows that are left in a chunk count as rows beyond the last. */
static int next_chunk(struct stream *s) {
  if (s->taken < s->chunk.rows) return BASE_OK;
  s->taken = 0;
  s->chunk.rows = 0;
  return s->feed.next(s->feed.context, &s->chunk);
}
