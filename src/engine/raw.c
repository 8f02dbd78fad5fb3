/* Counts of raw values, which are not mapped to rows yet, from arrays, from chunks or from shards. */
#include "engine/engine.h"

#include <string.h>

static int count_chunk(const struct raw *raw, const struct sum *sum, const struct task *task,
                       const struct data_chunk *chunk, double *answer);
static int share_out(const struct raw *raw, const struct data_chunk *chunk, double *share);

static int can(const struct engine *e, const struct sum *sum, const struct task *task) {
  (void)e;
  return sum->form == SUM_COUNTS && !task->of;
}

static int count_arrays(const struct raw *raw, const struct sum *sum, const struct task *task, double *answer) {
  for (size_t j = 0; j < raw->columns; j++) {
    if (base_stop_requested()) return BASE_ERR_STOPPED;
    sum->count(task, j, raw->n, raw->values[j], raw->share, answer);
  }
  return BASE_OK;
}

/* Each of exactly n records once, or no answer. */
static int count_chunks(const struct raw *raw, const struct sum *sum, const struct task *task, double *answer) {
  size_t left = raw->n;
  for (;;) {
    struct data_chunk chunk = {0};
    int status = base_stop_requested() ? BASE_ERR_STOPPED : raw->feed->next(raw->feed->context, &chunk);
    if (status != BASE_OK) return status;
    if (chunk.rows == 0) return left == 0 ? BASE_OK : BASE_ERR_ROWS;
    if (chunk.rows > left) return BASE_ERR_ROWS;
    left -= chunk.rows;
    status = count_chunk(raw, sum, task, &chunk, answer);
    if (status != BASE_OK) return status;
  }
}

static int count_chunk(const struct raw *raw, const struct sum *sum, const struct task *task,
                       const struct data_chunk *chunk, double *answer) {
  double *share = raw->used ? base_alloc(chunk->rows, sizeof *share) : NULL;
  int status = raw->used ? share_out(raw, chunk, share) : BASE_OK;
  for (size_t j = 0; status == BASE_OK && j < raw->columns; j++) {
    sum->count(task, j, chunk->rows, chunk->x + j * chunk->rows, share, answer);
  }
  base_free(share);
  return status;
}

static int share_out(const struct raw *raw, const struct data_chunk *chunk, double *share) {
  if (!share) return BASE_ERR_MEMORY;
  for (size_t i = 0; i < chunk->rows; i++) {
    int who = chunk->person[i];
    if (who < 1 || (size_t)who > raw->persons || raw->used[who - 1] < 1) return BASE_ERR_SOURCE;
    share[i] = data_share_of((size_t)raw->used[who - 1]);
  }
  return BASE_OK;
}

static int count(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  const struct raw *raw = e->own;
  memset(answer, 0, sum->width(task) * sizeof(double));
  if (raw->values) return count_arrays(raw, sum, task, answer);
  if (raw->remote) return remote_sum(raw->remote, "counts", task, sum->width(task), raw->n, answer);
  int status = raw->feed->open(raw->feed->context);
  if (status == BASE_OK) status = count_chunks(raw, sum, task, answer);
  raw->feed->close(raw->feed->context);
  return status;
}

static const struct engine_kind counting = {.can = can, .sum = count};

struct engine engine_raw(const struct raw *raw) {
  return (struct engine){.kind = &counting, .own = (void *)raw};
}
