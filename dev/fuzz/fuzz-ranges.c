/* Noisy histograms of any columns. With little noise the counts are those of the values inside the breaks. */
#include "fuzz.h"

#include "shorthand.h"

enum { ROWS = 5, COLUMNS = 3, CELLS = 4 };

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Breaks are public and increasing; the values are not under anybody's control. */
static int read_column(struct fuzz *f, size_t n, double *values, double *breaks, struct ranges_column *column) {
  column->values = values;
  column->breaks = breaks;
  column->cells = 1 + fuzz_below(f, CELLS);
  fuzz_doubles(f, n, values);
  for (size_t i = 0; i <= column->cells; i++) {
    breaks[i] = fuzz_double(f);
    if (!isfinite(breaks[i])) return 0;
  }
  qsort(breaks, column->cells + 1, sizeof *breaks, compare);
  return 1;
}

static double inside(size_t n, const struct ranges_column *c) {
  double count = 0;
  for (size_t i = 0; i < n; i++) count += c->values[i] >= c->breaks[0] && c->values[i] <= c->breaks[c->cells];
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  double values[COLUMNS][ROWS], breaks[COLUMNS][CELLS + 1], counts[COLUMNS * CELLS], sd = 0;
  struct ranges_column columns[COLUMNS];
  struct ledger *ledger;
  size_t n = fuzz_below(&f, ROWS + 1), m = fuzz_below(&f, COLUMNS + 1), cells = 0;
  enum oracle_neighbours relation = fuzz_below(&f, 2) ? ORACLE_ZERO_OUT : ORACLE_REPLACE_ONE;
  double rho = fuzz_below(&f, 2) ? 1e15 : fuzz_double(&f);
  for (size_t j = 0; j < m; j++) {
    if (!read_column(&f, n, values[j], breaks[j], &columns[j])) return 0;
    cells += columns[j].cells;
  }
  if (ledger_create(1e16, 0, LEDGER_OPEN, &ledger) != BASE_OK) return 0;
  int status = ranges_release(ledger, &ctest_entropy, relation, n, m, columns, rho, counts, &sd);
  if (status != BASE_OK) REQUIRE(fuzz_all_zero(cells, counts));
  REQUIRE(ledger_length(ledger) == (status == BASE_OK));
  for (size_t j = 0, at = 0; j < m && status == BASE_OK; at += columns[j++].cells) {
    double total = 0;
    for (size_t i = 0; i < columns[j].cells; i++) total += counts[at + i];
    if (rho == 1e15) REQUIRE(fabs(total - inside(n, &columns[j])) < 1e-3);
  }
  ledger_free(ledger);
  fuzz_end();
  return 0;
}
