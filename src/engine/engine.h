/*
 * engine: computes sums over the rows. A query defines what a block of rows adds to its sum; the engine passes over the
 * rows and returns the sum, exact up to a rounding error that barrier/bounds.c bounds. Sums have no noise: they must
 * not leave the barrier.
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

/* The memory of a thread: a copy of a block that is broken or belongs to a batch, vectors as long as a block for each
 * output, a number for each coefficient, and what the model needs. */
enum work { BUFFER, T, U, V, WEIGHT, LEFT, PERSON, TAPE, WORKS };

enum sum_form {
  SUM_VECTOR,
  SUM_GRADIENT, /* its last numbers are one for each coefficient; together they are mapped to other coordinates */
  SUM_MATRIX,   /* square, symmetric, for the coefficients of one output, or of all: the lower triangle is summed */
  SUM_PRODUCTS, /* such a matrix; rows in memory come person by person, where they have persons (data_group()) */
  SUM_BOTH,     /* a gradient, one number for each coefficient, followed by such a matrix */
  SUM_COUNTS    /* counts of raw values, column by column, without a model */
};

struct sum {
  enum sum_form form;
  size_t (*width)(const struct task *task); /* numbers */
  /* sum <- sum + the block's part; work is the thread's own */
  void (*add)(const struct task *task, const struct data_block *b, double *const *work, double *sum);
  /* SUM_COUNTS: the same for n values of a column, with their shares of a person or NULL; NULL for the other forms */
  void (*count)(const struct task *task, size_t column, size_t n, const double *values, const double *share,
                double *sum);
  /* The word that names the sum to a database or worker (remote.c); NULL: these do not compute it. */
  const char *word;
};

static inline int sum_has_matrix(enum sum_form form) {
  return form == SUM_MATRIX || form == SUM_PRODUCTS || form == SUM_BOTH;
}

/* The number of rows of the matrix of such a sum. */
static inline size_t sum_side(enum sum_form form, size_t width, const struct model *m) {
  return form != SUM_BOTH && width > m->side * m->side ? m->dim : m->side;
}

struct engine;

struct engine_kind {
  /* Can the engine compute this sum? Public. */
  int (*can)(const struct engine *e, const struct sum *sum, const struct task *task);
  /* answer: width numbers, not divided by n. NULL: there are no rows, and the barrier refuses every release. */
  int (*sum)(const struct engine *e, const struct sum *sum, const struct task *task, double *answer);
  /* Does sum() take points of the coordinates that the rows were given, and return this sum in them? NULL: never;
   * points and sums are then in the rows' own coordinates. */
  int (*inside)(const struct engine *e, const struct sum *sum, const struct task *task);
  /* Gives the rows these coordinates, which are kept by reference; may be called as data_move(). NULL: there is no
   * model. */
  int (*move)(const struct engine *e, const struct coordinates *coordinates);
  /* Gives the records these weights and offsets, see data_set_weights(); for rows in chunks only whether arrays are
   * NULL is used. NULL: not possible. */
  int (*set_weights)(const struct engine *e, const double *weight, const double *offset, double most);
  /* Says to which person each row belongs, see data_set_persons(); for rows in chunks person is NULL, as it comes with
   * them, and at most once. NULL: not possible. */
  int (*set_persons)(const struct engine *e, const int *person, size_t persons, size_t most);
  /* For rows that are read once: begins a reading at the first row, or ends it. In between, sums are over batches with
   * next set, each of which uses the records after those of the batch before; no row is read twice. Both NULL:
   * batches have row numbers. */
  int (*begin)(const struct engine *e);
  void (*end)(const struct engine *e);
  void (*free)(struct engine *e); /* frees what the engine allocated; may be NULL */
};

struct engine {
  const struct engine_kind *kind;
  const struct data *rows; /* what models use; has no numbers where rows come in chunks; or NULL */
  void *own;
  size_t shards; /* number of shards whose sums are added; 0: all rows are in one place */
};

/* All arguments are kept by reference. */
struct engine engine_memory(struct data *rows);
/* An engine for n rows that are read again in every pass or, with keep, kept from the first pass on: in memory or, with
 * a folder, in a file there (base_map()). Arguments like data_create_columns(), but of the columns' arrays only
 * indicators is used. A pass with more or fewer rows fails with BASE_ERR_ROWS. No batches but of rows that are kept. */
int engine_stream(const struct data_feed *feed, const struct data_columns *columns, size_t n, int intercept,
                  double radius, int keep, const char *folder, struct engine *out);
/* For the bounds of n rows that there are not yet. Arguments as for engine_stream(). */
int engine_planned(const struct data_columns *columns, size_t n, int intercept, double radius, struct engine *out);
/* Number of candidates of a search in one statement. */
#define REMOTE_STEPS 100
/* Some sums over all rows, those with these words (NULL ends the list), are computed where the rows are; others from
 * chunks, by an engine that this one owns. sum() returns the number of rows and the sum, to which each record
 * adds at most what its sensitivity allows. In other coordinates the words are those of `moved`; points and sums are
 * then in these coordinates. Sums over batches, of rows by their numbers, are those of `sampled`, and no others.
 *
 * Rows in shards do not come in chunks: all sums with a word are computed by the workers, also over batches, others
 * are refused, and the chunks' engine only tells what is known without the rows' numbers. Each shard's sum is computed
 * as by engine_memory() or, with any word in moved, by a database that knows the coordinates. */
struct remote {
  const char *const *words, *const *moved, *const *sampled; /* shards need none */
  int (*sum)(void *context, const char *word, const struct task *task, size_t width, double *rows, double *answer);
  void *context;
  size_t shards; /* 0: a database */
};
int engine_remote(const struct remote *remote, const struct engine *chunks, struct engine *out);
/* Returns a sum over n rows, or an error. */
int remote_sum(const struct remote *remote, const char *word, const struct task *task, size_t width, size_t n,
               double *answer);
/* Counts of columns of raw values: arrays of n values, chunks of a feed with as many values in each pass, or counts
 * from elsewhere, requested as "counts". */
struct raw {
  size_t n, columns;
  const double *const *values;  /* or NULL: */
  const double *share;          /* of the n records in values, multiples of 2^-20; NULL: each record is a person */
  const struct data_feed *feed; /* or NULL: */
  const int *used;              /* with a feed the number of rows of each of the persons; NULL: each record is one */
  size_t persons;
  const struct remote *remote;
};
struct engine engine_raw(const struct raw *raw);
void engine_free(struct engine *e);

/* The largest number of additions that a term of a sum of this form and width takes part in. */
double engine_additions(const struct engine *e, enum sum_form form, size_t width);
/* The same for a vector, with tiles of any size. */
double engine_additions_any(const struct engine *e);
/* The part of a record's bound that may be missing from a matrix, as a database cuts what a person's rows add to it. */
double engine_missing(const struct engine *e);

/* ---- tiles.c: rows of a block that are processed together, so that they stay in the first-level cache ---- */

#define MATRIX_TILE 256
size_t tile_search(const struct data_block *b);
size_t tile_gradient(const struct data_block *b);
size_t tile_value(const struct data_block *b);

#endif
