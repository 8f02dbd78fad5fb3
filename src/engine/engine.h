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

/* What a thread needs: a copy of a broken block or a batch's, vectors as long as a block, for each output, and what a
 * model asks for. */
enum work { BUFFER, T, U, V, WEIGHT, LEFT, TAPE, WORKS };

enum sum_form {
  SUM_VECTOR,
  SUM_GRADIENT, /* whose last numbers are one a coefficient, and go with these to other coordinates */
  SUM_MATRIX,   /* square, symmetric, of the coefficients of one output: the lower triangle is added up */
  SUM_BOTH,     /* one number a coefficient, a gradient, and behind it such a matrix */
  SUM_COUNTS    /* of raw values: column by column, no models */
};

struct sum {
  enum sum_form form;
  size_t (*width)(const struct task *task); /* numbers */
  /* sum <- sum + the block's part; work is the thread's own */
  void (*add)(const struct task *task, const struct data_block *b, double *const *work, double *sum);
  /* SUM_COUNTS: the same for n values of a column; NULL for the other forms */
  void (*count)(const struct task *task, size_t column, size_t n, const double *values, double *sum);
  /* The word by which somebody else is asked for it (remote.c); NULL: nobody is. */
  const char *word;
};

static inline int sum_has_matrix(enum sum_form form) { return form == SUM_MATRIX || form == SUM_BOTH; }

struct engine;

struct engine_kind {
  /* Does it give such sums? Public. */
  int (*can)(const struct sum *sum, const struct task *task);
  /* answer: width numbers, not divided by anything. */
  int (*sum)(const struct engine *e, const struct sum *sum, const struct task *task, double *answer);
  /* Rows have these coordinates, which are kept by reference, from now on; once. NULL: there are no models. */
  int (*move)(const struct engine *e, const struct coordinates *coordinates);
  /* Records have these weights and offsets from now on, see data_weigh(); of rows in chunks the arrays are looked at no
   * further than whether they are NULL. NULL: they cannot. */
  int (*weigh)(const struct engine *e, const double *weight, const double *offset, double most);
  /* Where rows are read on: a reading begins at the first row, or ends. Between the two, sums are about batches that
   * have next set, each of which takes the records behind those of the one before; no row is read twice. Both NULL:
   * batches have row numbers. */
  int (*begin)(const struct engine *e);
  void (*end)(const struct engine *e);
  void (*free)(struct engine *e); /* what it made; may be NULL */
};

struct engine {
  const struct engine_kind *kind;
  const struct data *rows; /* what models see; where they come in chunks, none of their numbers; or NULL */
  void *own;
  size_t shards; /* whose sums are added up; 0: the rows are in one place */
};

/* All are kept by reference. */
struct engine engine_memory(struct data *rows);
/* Of n rows that are read anew in every pass: as data_create_columns(), of columns the arrays but indicators are not
 * looked at. A pass in which more or fewer rows come fails with BASE_ERR_ROWS. No batches. */
int engine_stream(const struct data_feed *feed, const struct data_columns *columns, size_t n, int intercept,
                  double radius, struct engine *out);
/* Candidates of a search that are asked for in one statement. */
#define REMOTE_STEPS 100
/* Some sums of all rows as they are, those of these words (NULL ends them), are taken where the rows are; others by
 * chunks, which the engine owns from now on. sum() answers how many rows there were, and the sum, to which each record
 * adds what its sensitivity allows.
 *
 * Rows in shards do not come in chunks: all sums that have a word are asked for, others are refused, and of the chunks
 * only what is known without the rows' numbers is looked at. Each shard's sum is taken as by engine_memory(). */
struct remote {
  const char *const *words; /* NULL of shards */
  int (*sum)(void *context, const char *word, const struct task *task, size_t width, double *rows, double *answer);
  void *context;
  size_t shards; /* 0: a database */
};
int engine_remote(const struct remote *remote, const struct engine *chunks, struct engine *out);
/* A sum over n rows, or no answer. */
int remote_sum(const struct remote *remote, const char *word, const struct task *task, size_t width, size_t n,
               double *answer);
/* Counts only, of columns of raw values: arrays with n of them, or chunks of a feed, as many in each pass, or counts
 * from elsewhere, asked for as "counts". */
struct raw {
  size_t n, columns;
  const double *const *values;  /* or NULL: */
  const struct data_feed *feed; /* or NULL: */
  const struct remote *remote;
};
struct engine engine_raw(const struct raw *raw);
void engine_free(struct engine *e);

/* The most additions that a term of a sum of so many numbers takes part in. */
double engine_additions(const struct engine *e, enum sum_form form, size_t width);
/* The same of a vector where rows are added up in tiles of any size. */
double engine_additions_any(const struct engine *e);

/* ---- tiles.c: rows of a block that are taken together, so that they stay in the first-level cache ---- */

#define MATRIX_TILE 256
size_t tile_search(const struct data_block *b);
size_t tile_gradient(const struct data_block *b);
size_t tile_value(const struct data_block *b);

#endif
