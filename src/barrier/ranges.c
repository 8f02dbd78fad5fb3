/*
 * Noisy histograms of m columns in one Gaussian release, as ranges are not to
 * be read off the data (proofs: private-ranges).
 *
 * Sensitivity. In every column a record adds either nothing (its value is
 * missing, infinite or outside the breaks) or one to one cell: a vector that
 * is zero or a unit vector e_i. So in one column the counts of two data sets
 * differ by
 *   replace-one   one of 0, +-e_i, e_i - e_j, of norm at most sqrt(2);
 *   zero-out      0 or e_i, of norm at most 1: a null record is in no cell.
 * The m columns are disjoint sets of coordinates, so squared norms add up:
 * sqrt(2 m) and sqrt(m). Both are attained, by two records that differ in
 * every column. Which cell a value is in depends on this value and on public
 * breaks alone, and counts below 2^53 are exact in doubles, so there is no
 * rounding error to add.
 */
#include "barrier/ranges.h"
#include "barrier/private.h"
#include "mech/mech.h"

#include <math.h>
#include <string.h>

static int release_counts(struct ledger *ledger, const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                          size_t n, size_t m, const struct ranges_column *columns, const struct data_feed *feed,
                          double rho, double *counts, double *sd);
static size_t count_cells(size_t m, const struct ranges_column *columns);
static int count_rows(size_t n, size_t m, const struct ranges_column *columns, double *counts);
static int count_stream(const struct data_feed *feed, size_t n, size_t m, const struct ranges_column *columns,
                        double *counts);
static int count_chunks(const struct data_feed *feed, size_t n, size_t m, const struct ranges_column *columns,
                        double *counts);
static void count_values(size_t n, const double *values, const struct ranges_column *column, double *counts);
static size_t find_cell(const struct ranges_column *column, double value);

int ranges_release(struct ledger *ledger, const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                   size_t n, size_t m, const struct ranges_column *columns, double rho, double *counts, double *sd) {
  return release_counts(ledger, entropy, neighbours, n, m, columns, NULL, rho, counts, sd);
}

int ranges_release_stream(struct ledger *ledger, const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                          size_t n, size_t m, const struct ranges_column *columns, const struct data_feed *feed,
                          double rho, double *counts, double *sd) {
  return release_counts(ledger, entropy, neighbours, n, m, columns, feed, rho, counts, sd);
}

static int release_counts(struct ledger *ledger, const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                          size_t n, size_t m, const struct ranges_column *columns, const struct data_feed *feed,
                          double rho, double *counts, double *sd) {
  size_t cells = count_cells(m, columns);
  memset(counts, 0, cells * sizeof *counts);
  double sensitivity = sqrt((neighbours == ORACLE_REPLACE_ONE ? 2.0 : 1.0) * (double)m);
  int status = cells == 0 ? BASE_ERR_ARGUMENT : gaussian_scale(sensitivity, rho, cells, sd);
  if (status != BASE_OK) return status;
  struct ledger_entry entry = {"ranges", "gaussian", rho, sensitivity, *sd};
  status = ledger_charge(ledger, neighbours, 1, &entry);
  if (status == BASE_OK) {
    status = feed ? count_stream(feed, n, m, columns, counts) : count_rows(n, m, columns, counts);
  }
  if (status == BASE_OK) status = mech_gaussian(entropy, cells, *sd, counts);
  if (status != BASE_OK) memset(counts, 0, cells * sizeof *counts);
  return status;
}

static size_t count_cells(size_t m, const struct ranges_column *columns) {
  size_t cells = 0;
  for (size_t j = 0; j < m; j++) cells += columns[j].cells;
  return cells;
}

static int count_rows(size_t n, size_t m, const struct ranges_column *columns, double *counts) {
  for (size_t j = 0; j < m; j++) {
    if (base_stop_requested()) return BASE_ERR_STOPPED;
    count_values(n, columns[j].values, &columns[j], counts);
    counts += columns[j].cells;
  }
  return BASE_OK;
}

/* Each of exactly n records once, or no answer. */
static int count_stream(const struct data_feed *feed, size_t n, size_t m, const struct ranges_column *columns,
                        double *counts) {
  int status = feed->open(feed->context);
  if (status == BASE_OK) status = count_chunks(feed, n, m, columns, counts);
  feed->close(feed->context);
  return status;
}

static int count_chunks(const struct data_feed *feed, size_t n, size_t m, const struct ranges_column *columns,
                        double *counts) {
  size_t left = n;
  for (;;) {
    struct data_chunk chunk = {0};
    int status = base_stop_requested() ? BASE_ERR_STOPPED : feed->next(feed->context, &chunk);
    if (status != BASE_OK) return status;
    if (chunk.rows == 0) return left == 0 ? BASE_OK : BASE_ERR_ROWS;
    if (chunk.rows > left) return BASE_ERR_ROWS;
    left -= chunk.rows;
    double *to = counts;
    for (size_t j = 0; j < m; j++) {
      count_values(chunk.rows, chunk.x + j * chunk.rows, &columns[j], to);
      to += columns[j].cells;
    }
  }
}

static void count_values(size_t n, const double *values, const struct ranges_column *column, double *counts) {
  for (size_t i = 0; i < n; i++) {
    size_t cell = find_cell(column, values[i]);
    if (cell < column->cells) counts[cell]++;
  }
}

/* The cell [breaks[i], breaks[i + 1]), the last one closed; cells when there is none. */
static size_t find_cell(const struct ranges_column *column, double value) {
  const double *breaks = column->breaks;
  size_t low = 0, high = column->cells;
  if (!isfinite(value) || value < breaks[low] || value > breaks[high]) return column->cells;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (value < breaks[middle]) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
}
