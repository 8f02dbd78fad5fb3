/*
 * data: the rows, by block. Each record has a factor that clips it to the
 * public radius and divides by it, so every row that leaves this room has norm
 * at most one. A row with a missing value, in its columns or its response,
 * becomes a null record (all zero).
 *
 * Columns are kept in one of these ways, without changing what is answered:
 *   - dense, in double or single precision, read where they lie (no copy);
 *   - dense ones followed by factors, as integer codes;
 *   - sparse, as compressed rows, which are copied.
 */
#ifndef DPSOSP_DATA_H
#define DPSOSP_DATA_H

#include "base/base.h"

struct data;

/* Dense columns and the indicators of factors after them. Kept by reference: the arrays must outlive the object. */
struct data_columns {
  const double *x;     /* n x dense, column-major; NULL when single is given */
  const float *single; /* the same in single precision */
  size_t dense;
  const int *codes; /* n x factors: k says that the k-th indicator is one, 0 that none is; anything else is missing */
  size_t factors;
  const int *indicators; /* of each factor, copied */
};

/* Compressed columns, copied: the entries of column j are start[j], ..., start[j + 1] - 1, their rows rise. */
struct data_compressed {
  const int *start, *row;
  const double *value;
  size_t starts, rows, values; /* lengths of the three */
};

enum data_fault { DATA_SOUND, DATA_LENGTHS, DATA_STARTS, DATA_RANGE, DATA_ORDER };
/* What is wrong with them as an n x p matrix: does not depend on values. */
enum data_fault data_check_compressed(const struct data_compressed *x, size_t n, size_t p);

/* y: n responses, copied. intercept: a column of ones is put before the others. */
int data_create(const double *x, size_t n, size_t p, int intercept, double radius, const double *y,
                struct data **out);
int data_create_columns(const struct data_columns *columns, size_t n, int intercept, double radius, const double *y,
                        struct data **out);
int data_create_sparse(const struct data_compressed *x, size_t n, size_t p, int intercept, double radius,
                       const double *y, struct data **out);
void data_free(struct data *data);
size_t data_rows(const struct data *data);
size_t data_dim(const struct data *data);

#endif
