/*
 * engine: who adds up. A query says what a block of rows adds to its sum; the engine passes over the rows and gives the
 * sum, exact but for a rounding error that barrier/bounds.c bounds. Sums have no noise: they must not leave the
 * barrier.
 */
#ifndef DPSOSP_ENGINE_H
#define DPSOSP_ENGINE_H

#include "data/private.h"
#include "engine/ask.h"
#include "model/model.h"

struct task {
  const struct model *model;
  const struct ask *ask;
  const struct batch *of; /* NULL: all rows */
};

/* What a thread needs: a copy of a broken block or a batch's, and vectors as long as a block. */
enum work { BUFFER, T, U, V, WEIGHT, LEFT, WORKS };

enum sum_form { SUM_VECTOR, SUM_MATRIX /* square and symmetric: the lower triangle is added up */ };

struct sum {
  enum sum_form form;
  size_t (*width)(const struct task *task); /* numbers */
  /* sum <- sum + the block's part; work is the thread's own */
  void (*add)(const struct task *task, const struct data_block *b, double *const *work, double *sum);
};

/* answer: width numbers, not divided by anything. */
int engine_sum(const struct data *rows, const struct sum *sum, const struct task *task, double *answer);
/* The most additions that a term of a sum of so many numbers takes part in. */
double engine_additions(const struct data *rows, enum sum_form form, size_t width);

/* ---- tiles.c: rows of a block that are taken together, so that they stay in the first-level cache ---- */

#define MATRIX_TILE 256
size_t tile_search(const struct data_block *b);
size_t tile_gradient(const struct data_block *b);
size_t tile_value(const struct data_block *b);

#endif
