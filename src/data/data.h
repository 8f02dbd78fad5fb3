/*
 * data: the rows, by block. The design matrix is read where it lies (no copy);
 * each record has a factor that clips it to the public radius and divides by
 * it, so every row that leaves this room has norm at most one.
 */
#ifndef DPSOSP_DATA_H
#define DPSOSP_DATA_H

#include "base/base.h"

struct data;

/* x: n x p, column-major, kept by reference: it must outlive the object.
 * y: n responses, copied. A row with a missing value in x or y becomes a null
 * record (all zero). intercept: a column of ones is put before the others. */
int data_create(const double *x, size_t n, size_t p, int intercept, double radius, const double *y,
                struct data **out);

/* Rows in chunks. Nothing of a chunk is used after the next call of next() or close(). */
struct data_chunk {
  size_t rows;     /* 0: there are no more */
  const double *x; /* rows x p, column-major */
  const double *y; /* rows of them */
};
struct data_feed {
  int (*open)(void *context); /* a pass begins, from the first row on */
  int (*next)(void *context, struct data_chunk *chunk);
  void (*close)(void *context); /* the pass is over, or given up; called once for each open(), whatever that answered */
  void *context;
};
/* As data_create(), of n rows that are read anew in every pass. A pass in which more or fewer come fails with
 * BASE_ERR_ROWS. Rows cannot be asked for by their numbers. */
int data_create_stream(const struct data_feed *feed, size_t n, size_t p, int intercept, double radius,
                       struct data **out);
int data_is_stream(const struct data *data);

void data_free(struct data *data);
size_t data_rows(const struct data *data);
size_t data_dim(const struct data *data);

#endif
