/*
 * Sums that are computed where the rows are: in a database, which is asked for one sum at a time. There a record's
 * contribution is rounded to integers, so that sums are exact in any order, and never exceeds what the sensitivities
 * allow (proofs: push-down). A sum over a number of rows other than n is rejected.
 *
 * In other coordinates the database knows the coordinates: it gets points and returns sums in them (proofs:
 * push-down-coordinates).
 *
 * All other sums (readings, sums without a word or with too many numbers) are computed from the same rows in chunks.
 *
 * A batch goes as the numbers of its rows, whatever numbers the rows have there; a sum over another number of rows is
 * rejected (proofs: remote-batches).
 *
 * Rows may also be in shards. A worker computes the sum over each shard as memory.c does, and the shards' sums are
 * added in order (proofs: shards); then there are no chunks. Or each worker asks a database of its own, which knows the
 * coordinates. A database with several records of a person is such a shard, as its rows are not fetched either.
 */
#include "engine/engine.h"

#include <math.h>
#include <string.h>

struct away {
  struct remote remote;
  struct engine chunks;
  int reading;
};

static int is_batch(const struct task *task);
static int sum_remote(const struct engine *e, const struct sum *sum, const struct task *task, double *answer);
static int asked(const struct away *a, const struct sum *sum, const struct task *task);
static int all_finite(size_t n, const double *x);

/* Rows in chunks have no numbers. */
static int can(const struct engine *e, const struct sum *sum, const struct task *task) {
  return sum->form != SUM_COUNTS && (!is_batch(task) || asked(e->own, sum, task));
}

static int sum_away(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  struct away *a = e->own;
  if (asked(a, sum, task)) return sum_remote(e, sum, task, answer);
  if (is_batch(task)) return BASE_ERR_ARGUMENT;
  return a->chunks.kind->sum(&a->chunks, sum, task, answer);
}

static int is_batch(const struct task *task) { return task->of && !task->of->next; }

static int sum_remote(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  const struct away *a = e->own;
  size_t rows = task->of ? task->of->count : data_rows(e->rows);
  return remote_sum(&a->remote, sum->word, task, sum->width(task), rows, answer);
}

int remote_sum(const struct remote *remote, const char *word, const struct task *task, size_t width, size_t n,
               double *answer) {
  double rows = 0;
  memset(answer, 0, width * sizeof(double));
  int status = remote->sum(remote->context, word, task, width, &rows, answer);
  if (status == BASE_OK && rows != (double)n) status = BASE_ERR_ROWS;
  if (status == BASE_OK && !all_finite(width, answer)) status = BASE_ERR_SOURCE;
  if (status != BASE_OK) memset(answer, 0, width * sizeof(double));
  return status;
}

/* During a reading no other sum is possible. A database has no damped rows of several outputs. */
static int asked(const struct away *a, const struct sum *sum, const struct task *task) {
  const struct coordinates *c = a->chunks.rows->coordinates;
  if (!sum->word || a->reading || (task->of && task->of->next)) return 0;
  if (task->ask && task->ask->k > REMOTE_STEPS) return 0;
  if (c && c->spec.damped && c->spec.outputs > 1) return 0;
  const char *const *word = c ? a->remote.moved : a->remote.words;
  if (task->of) word = a->remote.sampled;
  while (*word && strcmp(*word, sum->word) != 0) word++;
  return *word != NULL;
}

static int inside_away(const struct engine *e, const struct sum *sum, const struct task *task) {
  return e->rows->coordinates && asked(e->own, sum, task);
}

static int all_finite(size_t n, const double *x) {
  size_t i = 0;
  while (i < n && isfinite(x[i])) i++;
  return i == n;
}

static int move_away(const struct engine *e, const struct coordinates *coordinates) {
  struct away *a = e->own;
  return a->chunks.kind->move(&a->chunks, coordinates);
}

/* The database or the workers have the weights; the chunks need them, too. */
static int set_remote_weights(const struct engine *e, const double *weight, const double *offset, double most) {
  struct away *a = e->own;
  return a->chunks.kind->set_weights(&a->chunks, weight, offset, most);
}

/* The workers or the database have the persons; here only their number is used. */
static int set_remote_persons(const struct engine *e, const int *person, size_t persons, size_t most) {
  struct away *a = e->own;
  return a->chunks.kind->set_persons(&a->chunks, person, persons, most);
}

static int begin_reading(const struct engine *e) {
  struct away *a = e->own;
  int status = a->chunks.kind->begin(&a->chunks);
  if (status == BASE_OK) a->reading = 1;
  return status;
}

static void end_reading(const struct engine *e) {
  struct away *a = e->own;
  a->chunks.kind->end(&a->chunks);
  a->reading = 0;
}

static void free_away(struct engine *e) {
  struct away *a = e->own;
  if (!a) return;
  engine_free(&a->chunks);
  base_free(a);
  *e = (struct engine){0};
}

static const struct engine_kind away = {
    .can = can, .sum = sum_away, .inside = inside_away, .move = move_away, .set_weights = set_remote_weights,
    .begin = begin_reading, .end = end_reading, .free = free_away};

/* Rows of shards are not read in one order. */
static int can_shards(const struct engine *e, const struct sum *sum, const struct task *task) {
  (void)e;
  return sum->word && (!task->of || is_batch(task));
}

static int sum_shards(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  return can_shards(e, sum, task) ? sum_remote(e, sum, task, answer) : BASE_ERR_ARGUMENT;
}

static const struct engine_kind shards = {.can = can_shards,
                                          .sum = sum_shards,
                                          .move = move_away,
                                          .set_weights = set_remote_weights,
                                          .set_persons = set_remote_persons,
                                          .free = free_away};

/* A database cuts each of a person's rows by less than one unit, of 2^20 for a bound. Before that, it rounds what
 * multiplies rows by half a unit at most (proofs: population-certificate). */
double engine_missing(const struct engine *e) {
  if (!e->kind->inside || !e->rows->share) return 0;
  return (double)(e->rows->max_rows / e->rows->persons + 1) / DATA_SHARE_UNITS;
}

static int inside_nodes(const struct engine *e, const struct sum *sum, const struct task *task) {
  return e->rows->coordinates && can_shards(e, sum, task);
}

static const struct engine_kind nodes = {.can = can_shards,
                                         .sum = sum_shards,
                                         .inside = inside_nodes,
                                         .move = move_away,
                                         .set_weights = set_remote_weights,
                                         .set_persons = set_remote_persons,
                                         .free = free_away};

int engine_remote(const struct remote *remote, const struct engine *chunks, struct engine *out) {
  struct away *a = base_alloc(1, sizeof *a);
  if (!a) return BASE_ERR_MEMORY;
  *a = (struct away){.remote = *remote, .chunks = *chunks};
  *out = (struct engine){.kind = remote->shards == 0 ? &away : remote->moved && *remote->moved ? &nodes : &shards,
                         .rows = chunks->rows,
                         .own = a,
                         .shards = remote->shards};
  return BASE_OK;
}
