/* Counts of raw values, which are not mapped to rows yet, from arrays, from chunks or from shards. */
#include "engine/engine.h"

#include <string.h>

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
    for (size_t j = 0; j < raw->columns; j++) sum->count(task, j, chunk.rows, chunk.x + j * chunk.rows, NULL, answer);
  }
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
