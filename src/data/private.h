#ifndef DPSOSP_DATA_PRIVATE_H
#define DPSOSP_DATA_PRIVATE_H

#include "data/data.h"

/* Rows a block: small enough that a block's vectors stay in the first-level
 * cache, large enough that BLAS calls cost little. */
#define DATA_BLOCK 1024

struct data {
  size_t n;
  size_t p;      /* columns but the intercept */
  int intercept; /* 1: a column of ones stands before them */
  double radius;
  double *scale;         /* n: clips the row and divides it by the radius; 0 for a null record */
  double *y;             /* n; 0 for a null record */
  unsigned char *broken; /* a block with a null record, whose values may be NaN: its columns must be copied */
  struct stream *stream; /* rows that come in chunks: the arrays above and below are NULL; or NULL */

  struct data_columns columns; /* unless sparse */
  size_t *first;               /* factors: the column of the first indicator of each */

  /* Compressed rows: the entries of row i are start[i], ..., start[i + 1] - 1. A null record has none. */
  int sparse;
  size_t *start;
  int *column;
  double *value;
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
  size_t *row;                   /* ascending */
  double size;                   /* public: what the sums are divided by, whatever count is */
  const struct records *records; /* where they are gathered from, or NULL: from the columns */
};

/* ---- records.c: a copy by rows, for batches ---- */

/* NULL where the columns are not in double precision, where the copy would be large, or without memory. */
struct records *data_records(const struct data *data);
void data_records_free(struct records *records);
/* To x, count x dense, and to scale and y. */
void data_records_gather(const struct records *records, const size_t *row, size_t count, double *x, double *scale,
                         double *y);

/* ---- data.c: blocks of rows ---- */

/* One block of rows, read where it lies or, when it is broken or a batch's, from the
 * caller's buffer of data_buffer() columns as long as the block. */
struct data_block {
  const struct data *data;
  size_t rows;
  const double *scale;
  const double *y;
  const double *x;     /* rows x dense */
  const float *single; /* or this one, of which data_tile() makes doubles */
  size_t ld;           /* of either */
  const int *codes;    /* rows x factors */
  size_t codes_ld;
  const size_t *row; /* for sparse rows: which ones they are, */
  size_t start;      /* or without a list, the first of them */
  int tile;          /* a part of a block: the next one is fetched while this one is summed */
};
/* batch: NULL stands for all rows. */
size_t data_blocks(const struct data *data, const struct batch *batch);
size_t data_block_rows(const struct data *data, const struct batch *batch); /* of the longest block */
size_t data_buffer(const struct data *data);
struct data_block data_block_at(const struct data *data, const struct batch *batch, size_t index, double *buffer);
/* At most so many rows of the block from start on, in the form that the products below take. buffer is the block's. */
struct data_block data_tile(const struct data_block *block, size_t start, size_t most, double *buffer);

/* ---- rows.c: products of a tile; x_i is a row before clipping, without the intercept ---- */

/* t <- X w */
void data_matvec(const struct data_block *b, const double *w, double *t);
/* g <- g + X'v */
void data_matvec_t_add(const struct data_block *b, const double *v, double *g);
/* Fetches a part of the dense columns' rows behind a tile, while others compute. */
void data_fetch_behind(const struct data_block *b, size_t part, size_t parts);
/* lower triangle of C (leading dimension ldc) <- C + X' diag(u v) X, as la_crossprod_add(); scratch: 4 doubles a row */
void data_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                        size_t ldc);
/* sum_i <- sum_i + |x_i|^2, of a tile or a block as it lies; not finite where a value is missing */
void data_squares_add(const struct data_block *b, double *sum);

/* The most additions that a term of a sum takes part in, where a group has at most so many blocks and there are so
 * many groups. */
double data_additions(const struct data *data, double blocks, double groups);

/* ---- the parts of these that are not dense ---- */

void data_single_widen(const struct data_block *b, double *to);
void data_single_squares_add(const struct data_block *b, double *sum);

void data_codes_matvec_add(const struct data_block *b, const double *w, double *t);
void data_codes_matvec_t_add(const struct data_block *b, const double *v, double *g);
void data_codes_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                              size_t ldc);
void data_codes_squares_add(const struct data_block *b, double *sum);

void data_sparse_matvec(const struct data_block *b, const double *w, double *t);
void data_sparse_matvec_t_add(const struct data_block *b, const double *v, double *g);
void data_sparse_crossprod_add(const struct data_block *b, const double *u, const double *v, double *c, size_t ldc);
void data_sparse_squares_add(const struct data_block *b, double *sum);

/* ---- data.c: what the constructors share ---- */

int data_open(size_t n, size_t p, int intercept, double radius, const double *y, struct data **out);
/* From squared norms of rows, intercept included, to scales; of the rows of one block. */
void data_finish_scales(struct data *data, size_t index);

#endif
