/*
 * A copy of the dense columns by rows, for batches. In the columns a record's numbers lie n
 * apart, and each causes a miss of the caches and of the page
 * table; here only the first one does.
 */
#include "base/simd.h"
#include "data/private.h"

#include <string.h>

/* The largest copy: 1 GiB. */
#define MOST_NUMBERS ((size_t)1 << 27)
/* Records that are read together, because so many numbers of a column fill a cache line. */
#define TOGETHER 8

struct records {
  size_t n, width;
  double at[]; /* for each record: clip, response, and dense columns, which are zero in a null record */
};

struct copying {
  const struct data *from;
  const double *x;
  struct records *to;
};

static size_t size_of(size_t n, size_t width);
static void copy_block(void *context, size_t index, int worker);
static void fetch(const struct records *records, const size_t *row, size_t count);

struct records *records_create(const struct data *data, const double *x, size_t dense) {
  size_t width = dense + 2;
  if (!data->clip || data->n > MOST_NUMBERS / width) return NULL; /* there are no numbers to copy, or too many */
  struct records *records = base_alloc(1, size_of(data->n, width));
  if (!records) return NULL;
  records->n = data->n;
  records->width = width;
  struct copying copying = {data, x, records};
  base_parallel((data->n + DATA_BLOCK - 1) / DATA_BLOCK, base_threads(), copy_block, &copying);
  return records;
}

void data_records_free(struct records *records) {
  if (records) memset(records, 0, size_of(records->n, records->width));
  base_free(records);
}

static size_t size_of(size_t n, size_t width) { return sizeof(struct records) + n * width * sizeof(double); }

static void copy_block(void *context, size_t index, int worker) {
  const struct copying *copying = context;
  const struct data *data = copying->from;
  size_t width = copying->to->width, first = index * DATA_BLOCK;
  size_t end = data->n - first < DATA_BLOCK ? data->n : first + DATA_BLOCK;
  double *at = copying->to->at;
  (void)worker;
  for (size_t start = first; start < end; start += TOGETHER) {
    size_t stop = end - start < TOGETHER ? end : start + TOGETHER;
    for (size_t i = start; i < stop; i++) {
      at[i * width] = data->clip[i];
      at[i * width + 1] = data->y[i];
    }
    for (size_t j = 0; j < width - 2; j++) {
      const double *column = copying->x + j * data->n;
      for (size_t i = start; i < stop; i++) at[i * width + 2 + j] = data->clip[i] > 0 ? column[i] : 0;
    }
  }
}

void records_gather(const struct records *records, const size_t *row, size_t count, double *x, double *clip,
                    double *y) {
  size_t width = records->width;
  const double *record[TOGETHER];
  fetch(records, row, count);
  for (size_t start = 0; start < count; start += TOGETHER) {
    size_t rows = count - start < TOGETHER ? count - start : TOGETHER;
    fetch(records, row + start + rows, count - start - rows);
    for (size_t k = 0; k < rows; k++) {
      record[k] = records->at + row[start + k] * width;
      clip[start + k] = record[k][0];
      y[start + k] = record[k][1];
    }
    for (size_t j = 2; j < width; j++) {
      for (size_t k = 0; k < rows; k++) x[(j - 2) * count + start + k] = record[k][j];
    }
  }
}

/* Prefetches the first of these records, as many as are read together. */
static void fetch(const struct records *records, const size_t *row, size_t count) {
  for (size_t k = 0; k < count && k < TOGETHER; k++) {
    simd_fetch((uintptr_t)(records->at + row[k] * records->width), records->width);
  }
}
