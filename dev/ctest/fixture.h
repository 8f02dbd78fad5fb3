/* A small problem with data, ledger and oracle, for tests of the rooms from data on. */
#ifndef DPSOSP_FIXTURE_H
#define DPSOSP_FIXTURE_H

#include <math.h>
#include <string.h>

#include "barrier/private.h"
#include "ctest.h"
#include "shorthand.h"

/* The ways to keep rows; tests that set fixture_storage run the same on each. */
enum fixture_storage { FIXTURE_DENSE, FIXTURE_SINGLE, FIXTURE_CODES, FIXTURE_SPARSE, FIXTURE_STORAGES };
static enum fixture_storage fixture_storage;

/* What data read by reference. */
struct fixture_arrays {
  float *single;
  int *codes;
};

struct fixture {
  double *x, *y;
  struct fixture_arrays arrays;
  struct data *data;
  struct ledger *ledger;
  struct oracle *oracle;
};

/* The signs of a fair coin. */
static inline double fixture_sign(void) { return ctest_uniform() < 0.5 ? -1 : 1; }

/* How far the gradients of two records can be apart at a point of this norm, or one from zero: logistic loss, by a
 * search over the cosines of the rows with the point (proofs: sensitivity-gradient). */
static inline double fixture_logistic_change(double norm, int replaced) {
  double most = replaced ? 1 : 1 / (1 + exp(-norm));
  for (int k = 0; replaced && k <= 1 << 20; k++) {
    double a = ldexp(k, -20);
    most = fmax(most, 2 / (1 + exp(-norm * a)) * sqrt(1 - a * a));
  }
  return most;
}

/* How far minimisers of neighbours may be apart, with a curvature of at least this much: in the ball that has them all
 * (proofs: minimisers). */
static inline double fixture_minimiser_change(double least, double n, int replaced) {
  return fixture_logistic_change(sqrt(2 * log(2) / least), replaced) / (n * least);
}

/* How far the decreases of two records by a step of this length can be apart. */
static inline double fixture_logistic_decrease(double norm, double length, int replaced) {
  double rise = log1p(exp(norm + length)) - log1p(exp(norm));
  return replaced ? rise + log1p(exp(norm)) - log1p(exp(norm - length)) : rise;
}

static inline void fixture_free(struct fixture_arrays *arrays) {
  base_free(arrays->single);
  base_free(arrays->codes);
}

static inline int fixture_single(double *x, size_t n, size_t p, int intercept, double radius, const double *y,
                                 struct fixture_arrays *arrays, struct data **out) {
  const struct data_columns columns = {.dense = p};
  arrays->single = base_alloc(n * p, sizeof(float));
  if (!arrays->single) return BASE_ERR_MEMORY;
  for (size_t i = 0; i < n * p; i++) x[i] = arrays->single[i] = (float)x[i];
  return data_create_single(arrays->single, &columns, n, intercept, radius, y, out);
}

/* Half of the columns belong to up to two factors; x becomes their indicators. */
static inline int fixture_codes(double *x, size_t n, size_t p, int intercept, double radius, const double *y,
                                struct fixture_arrays *arrays, struct data **out) {
  size_t rest = p / 2, dense = p - rest;
  int indicators[2] = {(int)(rest > 2 ? rest / 2 : rest), (int)(rest - rest / 2)}, *code;
  struct data_columns columns = {.x = x, .dense = dense, .factors = rest > 2 ? 2 : rest > 0, .indicators = indicators};
  columns.codes = code = arrays->codes = base_alloc(n * columns.factors, sizeof(int));
  if (!code) return BASE_ERR_MEMORY;
  x += n * dense;
  for (size_t f = 0; f < columns.factors; f++) {
    for (size_t i = 0; i < n; i++) {
      int count = indicators[f], missing = !isfinite(x[i]);
      code[i] = missing ? (i % 2 ? -1 - (int)i : count + 1 + (int)i) : (int)fmod(fabs(x[i]) * 7, count + 1.0);
      for (int j = 0; j < count; j++) x[i + (size_t)j * n] = missing ? NAN : code[i] == j + 1;
    }
    x += n * (size_t)indicators[f];
    code += n;
  }
  return data_create_columns(&columns, n, intercept, radius, y, out);
}

static inline int fixture_sparse(const double *x, size_t n, size_t p, int intercept, double radius, const double *y,
                                 struct data **out) {
  int *start = base_alloc(p + 1, sizeof *start), *row = base_alloc(n * p, sizeof *row), entries = 0;
  double *value = base_alloc(n * p, sizeof *value);
  for (size_t j = 0; j < p; j++) {
    for (size_t i = 0; i < n; i++) {
      if (x[i + j * n] == 0) continue;
      row[entries] = (int)i;
      value[entries++] = x[i + j * n];
    }
    start[j + 1] = entries;
  }
  struct data_compressed compressed = {start, row, value, p + 1, (size_t)entries, (size_t)entries};
  int status = data_create_sparse(&compressed, n, p, intercept, radius, y, out);
  base_free(start);
  base_free(row);
  base_free(value);
  return status;
}

/* x, which comes from base_alloc(), is read by reference, and first becomes what the storage makes of it. */
static inline int fixture_data(double *x, size_t n, size_t p, int intercept, double radius, const double *y,
                               struct fixture_arrays *arrays, struct data **out) {
  memset(arrays, 0, sizeof *arrays);
  switch (fixture_storage) {
  case FIXTURE_SINGLE:
    return fixture_single(x, n, p, intercept, radius, y, arrays, out);
  case FIXTURE_CODES:
    return fixture_codes(x, n, p, intercept, radius, y, arrays, out);
  case FIXTURE_SPARSE:
    return fixture_sparse(x, n, p, intercept, radius, y, out);
  default:
    return data_create(x, n, p, intercept, radius, y, out);
  }
}

/* Takes over x and y, which come from base_alloc(). */
static inline void fixture_open_rows(struct fixture *f, const char *loss, double *x, double *y, size_t n, size_t p,
                                     int intercept, enum oracle_neighbours neighbours, double capacity) {
  memset(f, 0, sizeof *f);
  f->x = x;
  f->y = y;
  /* Sparse rows have two zeros in three, other than by their place. */
  if (fixture_storage == FIXTURE_SPARSE) {
    for (size_t i = 0; i < n * p; i++) x[i] = fmod(fabs(x[i]) * 1e4, 3) > 1 ? 0 : x[i];
  }
  int status = fixture_data(x, n, p, intercept, 1, y, &f->arrays, &f->data);
  if (status == BASE_OK) status = ledger_create(capacity, capacity, LEDGER_OPEN, &f->ledger);
  if (status == BASE_OK) {
    status = open_oracle(f->data, loss_find(loss), f->ledger, &ctest_entropy, neighbours, &f->oracle);
  }
  CHECK(status == BASE_OK);
}

/* Normal rows of norm about 0.7 and labels that lean to the first column's sign. */
static inline void fixture_open(struct fixture *f, const char *loss, size_t n, size_t p, int intercept,
                                enum oracle_neighbours neighbours, double capacity) {
  double *x = base_alloc(n * p, sizeof *x), *y = base_alloc(n, sizeof *y);
  for (size_t i = 0; i < n * p; i++) x[i] = 0.7 * ctest_normal() / sqrt((double)p);
  for (size_t i = 0; i < n; i++) y[i] = (p > 0 ? x[i] : 0) + 0.5 * ctest_normal() > 0 ? 1 : -1;
  fixture_open_rows(f, loss, x, y, n, p, intercept, neighbours, capacity);
}

static inline void fixture_close(struct fixture *f) {
  oracle_free(f->oracle);
  ledger_free(f->ledger);
  data_free(f->data);
  fixture_free(&f->arrays);
  base_free(f->x);
  base_free(f->y);
}

/* Coordinates of rows, with arrays for their specification. */
struct fixture_coordinates {
  double scale[64], centre[64], end[64], prior[64], spread[64];
  struct coordinates_spec spec;
  struct coordinates *made;
};

/* Scales from about 1/4 to 4 times this one, centres below 1/2. */
static inline int fixture_coordinates(const struct data *d, double scale, int weighted, double cap, double bound,
                                      struct fixture_coordinates *c) {
  for (size_t j = 0; j < d->p; j++) {
    c->scale[j] = scale * exp(3 * ctest_uniform() - 1.5);
    c->prior[j] = 0.5 + 0.25 * (double)(j % 5);
    c->spread[j] = 1;
    c->centre[j] = d->intercept ? ctest_uniform() - 0.5 : 0;
  }
  c->spec = (struct coordinates_spec){.p = d->p,
                                      .intercept = d->intercept,
                                      .weighted = weighted,
                                      .radius = d->radius,
                                      .constant = 0.6,
                                      .cap = cap,
                                      .bound = bound,
                                      .scale = c->scale,
                                      .prior = c->prior,
                                      .spread = c->spread,
                                      .centre = c->centre};
  return coordinates_create(&c->spec, &c->made);
}

/* No end, or one at zero or beyond it as seen from the centre. */
static inline double fixture_end(double centre, int intercept) {
  double away = ctest_uniform() < 0.5 || !intercept ? 0 : ctest_uniform();
  return ctest_uniform() < 0.3 ? NAN : centre > 0 ? -away : away;
}

/* The same coordinates with a tilt. */
static inline int fixture_tilt(const struct data *d, double tilt, double shortest, struct fixture_coordinates *c) {
  coordinates_free(c->made);
  for (size_t j = 0; j < d->p; j++) c->end[j] = fixture_end(c->centre[j], d->intercept);
  c->spec.tilt = tilt;
  c->spec.shortest = shortest;
  c->spec.end = c->end;
  return coordinates_create(&c->spec, &c->made);
}

/* The i-th row in these coordinates, by their definition, for the clip that it has; its norm. */
static inline long double fixture_moved(const struct data *d, const double *x, const struct coordinates_spec *s,
                                        size_t i, long double *z) {
  long double clip = d->clip[i], one = s->radius * clip, square = 0;
  size_t skip = (size_t)d->intercept, dim = data_dim(d);
  if (skip) z[0] = s->constant * one;
  for (size_t j = 0; j < d->p; j++) {
    long double r = clip > 0 ? clip * x[i + j * d->n] : 0;
    z[skip + j] = s->scale[j] * (r - s->centre[j] * one);
  }
  for (size_t j = 0; j < dim; j++) square += z[j] * z[j];
  return sqrtl(square);
}

static inline int fixture_all_zero(size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) return 0;
  return 1;
}

static inline int fixture_all_finite(size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

#endif
