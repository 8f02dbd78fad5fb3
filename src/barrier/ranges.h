/* ranges: noisy histograms of columns, from which their ranges are read. */
#ifndef DPSOSP_BARRIER_RANGES_H
#define DPSOSP_BARRIER_RANGES_H

#include "barrier/barrier.h"
#include "data/data.h"

struct ranges_column {
  const double *values; /* n of them; not looked at where a feed gives them */
  const double *breaks; /* public: cells + 1, increasing */
  size_t cells;
};

/* counts: the cells of the first column, then of the second, and so on, each
 * with noise of standard deviation *sd. On an error counts is all zero. */
int ranges_release(struct ledger *ledger, const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                   size_t n, size_t m, const struct ranges_column *columns, double rho, double *counts, double *sd);
/* The same of values that come in chunks, whose columns are these (and which have no responses). */
int ranges_release_stream(struct ledger *ledger, const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                          size_t n, size_t m, const struct ranges_column *columns, const struct data_feed *feed,
                          double rho, double *counts, double *sd);

#endif
