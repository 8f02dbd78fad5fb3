/*
 * Histograms of k columns of raw values (proofs: private-ranges).
 *
 * In every column a record adds either nothing (its value is missing, infinite or outside the breaks) or one to a
 * single cell: its contribution is zero or a unit vector e_i. So in one column the counts of two data sets differ by
 *   replace-one   one of 0, +-e_i, e_i - e_j, of norm at most sqrt(2);
 *   zero-out      0 or e_i, of norm at most 1: a null record is in no cell.
 * The columns are disjoint sets of coordinates, so squared norms add up: sqrt(2 k) and sqrt(k). Both are attained, by
 * two records that differ in every column. Which cell a value is in depends on this value and on public breaks alone,
 * and counts below 2^53 are exact in doubles, so there is no rounding error to add. A person with several records adds
 * a convex combination of such contributions, with shares that are multiples of 2^-20 (proofs: persons).
 */
#include "barrier/private.h"

#include <math.h>

static size_t cells_before(const struct ask *a, size_t column) {
  size_t cells = 0;
  for (size_t j = 0; j < column; j++) cells += a->histogram[j].cells;
  return cells;
}

static size_t width(const struct task *task) { return cells_before(task->ask, task->ask->k); }

/* Returns the number of cells if the value is in none. */
static size_t find_cell(const struct histogram *h, double value) {
  size_t low = 0, high = h->cells;
  if (!isfinite(value) || value < h->breaks[low] || value > h->breaks[high]) return h->cells;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (value < h->breaks[middle]) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
}

static void count(const struct task *task, size_t column, size_t n, const double *values, const double *share,
                  double *sum) {
  const struct histogram *h = &task->ask->histogram[column];
  double *counts = sum + cells_before(task->ask, column);
  for (size_t i = 0; i < n; i++) {
    size_t cell = find_cell(h, values[i]);
    if (cell < h->cells) counts[cell] += share ? share[i] : 1;
  }
}

static int check(const struct scope *s, const struct ask *a) {
  (void)s;
  return cells_before(a, a->k) > 0 ? BASE_OK : BASE_ERR_ARGUMENT;
}

static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  (void)i;
  return sqrt(bounds_terms(s) * (double)a->k);
}

/* The same query under two names. */
#define COUNTS(what)                                                                                                   \
  {                                                                                                                    \
    .name = what, .sum = {SUM_COUNTS, width, NULL, count, NULL}, .mechanism = &mechanism_gaussian, .keep = KEEP_NOT,   \
    .part = PART_NONE, .check = check, .sensitivity = sensitivity                                                      \
  }

const struct query query_counts = COUNTS("ranges");
const struct query query_table = COUNTS("table");
