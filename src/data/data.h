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
void data_free(struct data *data);
size_t data_rows(const struct data *data);
size_t data_dim(const struct data *data);

#endif
