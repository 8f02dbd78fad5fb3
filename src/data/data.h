/*
 * data: the rows, by block. Each record has a factor that clips it to the
 * public radius and divides by it, so every row that leaves this room has norm
 * at most one. A row with a missing value, in its columns or its response,
 * becomes a null record (all zero).
 *
 * Columns are stored in one of these ways, with the same results:
 *   - dense, in double or single precision, read in place (no copy);
 *   - dense columns followed by factors, as integer codes;
 *   - sparse, as compressed rows, which are copied;
 *   - not stored: dense columns and factors come in chunks, again for every pass.
 */
#ifndef DPSOSP_DATA_H
#define DPSOSP_DATA_H

#include "base/base.h"

struct data;

/* Dense columns and the indicators of factors after them. Kept by reference: the arrays must outlive the object. */
struct data_columns {
  const double *x; /* n x dense, column-major */
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
/* What is wrong with them as an n x p matrix; does not depend on values. */
enum data_fault data_check_compressed(const struct data_compressed *x, size_t n, size_t p);

/* y: n responses, clipped to [-1, 1]; copied. intercept: a column of ones is put before the others. */
int data_create(const double *x, size_t n, size_t p, int intercept, double radius, const double *y, struct data **out);
int data_create_columns(const struct data_columns *columns, size_t n, int intercept, double radius, const double *y,
                        struct data **out);
/* The same with dense columns in single precision: columns->x is ignored. */
int data_create_single(const float *x, const struct data_columns *columns, size_t n, int intercept, double radius,
                       const double *y, struct data **out);
int data_create_sparse(const struct data_compressed *x, size_t n, size_t p, int intercept, double radius,
                       const double *y, struct data **out);

/* Rows in chunks. A chunk is not used after the next call of next() or close(). */
struct data_chunk {
  size_t rows;      /* 0: there are no more */
  const double *x;  /* rows x dense, column-major */
  const int *codes; /* rows x factors */
  const double *y;  /* rows of them */
  const double *weight, *offset; /* the same, where records have them */
  const int *person;             /* rows numbers, from one on, where they belong to persons */
};
struct data_feed {
  int (*open)(void *context); /* a pass begins, from the first row on */
  int (*next)(void *context, struct data_chunk *chunk);
  void (*close)(void *context); /* the pass is over or given up; called once for each open(), whatever it returned */
  void *context;
};

/*
 * Other coordinates of clipped rows r = (r_0, r_1, ...), r_0 that of the intercept:
 *
 *   z_0 = constant radius r_0,   z_j = scale_j (r_j - centre_j radius r_0),
 *
 * where radius r_0 is one except for clipped rows. All of it is public or was released. Rows that are longer than
 * cap in z are clipped to it; weighted rows keep their length, and the model bounds what each of them adds.
 */
struct coordinates_spec {
  size_t p;
  int intercept; /* without one there are no centres and no z_0 */
  int weighted;
  int damped; /* of weighted rows: slopes are clipped, and longer rows weigh less in Hessians (proofs: damped-rows) */
  double radius, constant, cap;
  double bound;                 /* on a weighted row's gradient */
  const double *scale, *centre; /* p each */
  const double *prior;          /* p: standard deviations that coefficients are expected to have, relative to others */
  const double *spread;         /* p: standard deviations that columns are expected to have, relative to others */
  /* The loss of a weighted row with y > 0 has the weight 1 + tilt, that with y < 0 the weight 1 - tilt. Where tilt is
   * not zero, no length is below `shortest`, and end_j (p of them) is a number that r_j is not expected to be on the
   * other side of, as seen from its centre, or NaN (proofs: tilt). */
  double tilt, shortest;
  const double *end;
  size_t outputs; /* of the model; 0: one */
};
struct coordinates;
/* The arrays are copied. */
int coordinates_create(const struct coordinates_spec *spec, struct coordinates **out);
void coordinates_free(struct coordinates *coordinates);

void data_free(struct data *data);
size_t data_rows(const struct data *data); /* private where rows belong to persons */
/* The public number of those whose data are protected: of persons or, where each record is one, of records. */
size_t data_persons(const struct data *data);

#define DATA_SHARE_UNITS ((size_t)1 << 20)
/* Says to which of the persons 1, ..., persons each of n rows belongs, of whom none has more than `most` (up to 2^20)
 * rows. A person's m rows with clip > 0 have the share 1 / m each, rounded down to a multiple of 2^-20, so that sums of
 * shares are exact and a person's are at most one; other rows have none (proofs: persons). clip may be NULL: all count.
 */
int data_shares(size_t n, const int *person, size_t persons, size_t most, const double *clip, double *share);
/* The share of each of m records of a person. */
double data_share_of(size_t m);

#endif
