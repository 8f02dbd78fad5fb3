/* Private ranges: columns and public breaks in, noisy counts out. */
#include "ffi.h"
#include "glue.h"
#include "barrier/barrier.h"
#include "engine/engine.h"
#include "r_source.h"

#include <R_ext/Memory.h>

/* breaks: a list of doubles. Sets how many cells all have together. */
static struct histogram *arg_histograms(SEXP breaks, R_xlen_t *cells) {
  if (TYPEOF(breaks) != VECSXP || XLENGTH(breaks) == 0) Rf_error("internal: a list of breaks was expected");
  R_xlen_t m = XLENGTH(breaks);
  struct histogram *out = (struct histogram *)R_alloc((size_t)m, sizeof *out);
  *cells = 0;
  for (R_xlen_t j = 0; j < m; j++) {
    SEXP these = VECTOR_ELT(breaks, j);
    if (XLENGTH(these) < 2) Rf_error("internal: two breaks were expected");
    out[j] = (struct histogram){arg_doubles(these, -1), (size_t)XLENGTH(these) - 1};
    *cells += XLENGTH(these) - 1;
  }
  return out;
}

static SEXP release_counts(const struct raw *raw, SEXP breaks, SEXP budget, SEXP rho, SEXP neighbours,
                           SEXP reproducible) {
  static const char *const names[] = {"counts", "sd"};
  R_xlen_t cells;
  const struct ask ask = {.k = raw->columns, .histogram = arg_histograms(breaks, &cells)};
  const struct engine engine = engine_raw(raw);
  double cost = arg_double(rho), sd;
  struct ledger *ledger = arg_ledger(budget);
  const struct base_entropy *entropy = arg_entropy(reproducible);
  enum oracle_neighbours relation = arg_neighbours(neighbours);
  SEXP out = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, cells));
  const struct answer to = {.value = REAL(VECTOR_ELT(out, 0)), .sd = &sd};
  glue_answer_begin(reproducible, R_NilValue);
  struct oracle *oracle;
  int status = oracle_create(&engine, NULL, ledger, entropy, relation, &oracle);
  if (status == BASE_OK) status = release(oracle_all(oracle), &query_counts, &ask, cost, to);
  oracle_free(oracle);
  glue_answer_end(reproducible, status);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(sd));
  UNPROTECT(1);
  return out;
}

/* columns, breaks: lists of doubles, all columns of the same length. */
SEXP ffi_ranges_release(SEXP budget, SEXP columns, SEXP breaks, SEXP rho, SEXP neighbours, SEXP reproducible) {
  if (TYPEOF(columns) != VECSXP || XLENGTH(columns) != XLENGTH(breaks) || XLENGTH(columns) == 0) {
    Rf_error("internal: lists of columns and of breaks were expected");
  }
  R_xlen_t m = XLENGTH(columns), n = XLENGTH(VECTOR_ELT(columns, 0));
  const double **values = (const double **)R_alloc((size_t)m, sizeof *values);
  for (R_xlen_t j = 0; j < m; j++) values[j] = arg_doubles(VECTOR_ELT(columns, j), n);
  const struct raw raw = {.n = (size_t)n, .columns = (size_t)m, .values = values};
  return release_counts(&raw, breaks, budget, rho, neighbours, reproducible);
}

/* feed: a function of R/stream.R, which yields n rows of as many columns as there are breaks. */
SEXP ffi_ranges_release_stream(SEXP budget, SEXP feed, SEXP n, SEXP breaks, SEXP rho, SEXP neighbours,
                               SEXP reproducible) {
  struct r_source source;
  size_t m = (size_t)XLENGTH(breaks);
  PROTECT(source_init(&source, feed, m, 0, 0));
  const struct raw raw = {.n = (size_t)arg_int(n), .columns = m, .feed = &source.feed};
  SEXP out = release_counts(&raw, breaks, budget, rho, neighbours, reproducible);
  UNPROTECT(1);
  return out;
}
