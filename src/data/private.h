#ifndef DPSOSP_DATA_PRIVATE_H
#define DPSOSP_DATA_PRIVATE_H

#include "data/data.h"

/* Rows a block: small enough that a block's vectors stay in the first-level
 * cache, large enough that BLAS calls cost little. */
#define DATA_BLOCK 1024

struct data {
  const double *x; /* n x p, column-major, not owned */
  size_t n;
  size_t p;      /* columns of x */
  int intercept; /* 1: a column of ones stands before them */
  double radius;
  double *scale;         /* n: clips the row and divides it by the radius; 0 for a null record */
  double *y;             /* n; 0 for a null record */
  unsigned char *broken; /* a block with a null record, whose values may be NaN: it must be copied */
  struct stream *stream; /* rows that come in chunks, and then x, scale, y and broken are NULL; or NULL */
};

/* Scales, null records and broken blocks of the rows that are there now. */
void data_clip(struct data *data);

/* ---- stream.c ---- */

/* The rows from this block on that can be in memory at once, as data of their own: all, unless they come in chunks.
 * A pass asks for the blocks in order, the first one being 0, and ends with data_unload(), also after an error. */
int data_load(const struct data *data, size_t first, const struct data **part);
void data_unload(const struct data *data);
void stream_free(struct stream *stream);

/* Rows that a pass reads instead of all of them. */
struct batch {
  size_t count;
  size_t *row; /* ascending */
  double size; /* public: what the sums are divided by, whatever count is */
};

/* One block of rows, read where it lies or, when it is broken or a batch's, from the
 * caller's buffer of p + 2 columns as long as the block. */
struct data_block {
  const struct data *data;
  size_t rows;
  const double *scale;
  const double *y;
  const double *x; /* rows x p */
  size_t ld;
};
/* batch: NULL stands for all rows. */
size_t data_blocks(const struct data *data, const struct batch *batch);
size_t data_block_rows(const struct data *data, const struct batch *batch); /* of the longest block */
struct data_block data_block_at(const struct data *data, const struct batch *batch, size_t index, double *buffer);
/* At most so many rows of the block from start on. */
struct data_block data_tile(const struct data_block *block, size_t start, size_t most);

/* ---- rows.c: x_i is a row before clipping, without the intercept ---- */

/* t <- X w */
void data_matvec(const struct data_block *b, const double *w, double *t);
/* g <- g + X'v */
void data_matvec_t_add(const struct data_block *b, const double *v, double *g);
/* lower triangle of C (leading dimension ldc) <- C + X' diag(u v) X; scratch: 4 doubles a row. As la_crossprod_add(). */
void data_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                        size_t ldc);
/* sum_i <- sum_i + |x_i|^2 */
void data_squares_add(const struct data_block *b, double *sum);

#endif
