/* A small problem with data, ledger and oracle, for tests of the rooms from data on. */
#ifndef DPSOSP_FIXTURE_H
#define DPSOSP_FIXTURE_H

#include <math.h>
#include <string.h>

#include "barrier/private.h"
#include "ctest.h"

struct fixture {
  double *x, *y;
  struct data *data;
  struct ledger *ledger;
  struct oracle *oracle;
};

/* The signs of a fair coin. */
static inline double fixture_sign(void) { return ctest_uniform() < 0.5 ? -1 : 1; }

/* Takes over x and y, which come from base_alloc(). */
static inline void fixture_open_rows(struct fixture *f, const char *loss, double *x, double *y, size_t n, size_t p,
                                     int intercept, enum oracle_neighbours neighbours, double capacity) {
  memset(f, 0, sizeof *f);
  f->x = x;
  f->y = y;
  int status = data_create(x, n, p, intercept, 1, y, &f->data);
  if (status == BASE_OK) status = ledger_create(capacity, capacity, LEDGER_OPEN, &f->ledger);
  if (status == BASE_OK) {
    status = oracle_create(f->data, loss_find(loss), f->ledger, &ctest_entropy, neighbours, &f->oracle);
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
  base_free(f->x);
  base_free(f->y);
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
