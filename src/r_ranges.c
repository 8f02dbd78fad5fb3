/* Private ranges: columns and public breaks in, noisy counts out. */
#include "ffi.h"
#include "glue.h"
#include "barrier/ranges.h"
#include "r_source.h"

#include <R_ext/Memory.h>

static struct ranges_column arg_column(const double *values, SEXP breaks) {
  if (XLENGTH(breaks) < 2) Rf_error("internal: two breaks were expected");
  struct ranges_column column = {values, arg_doubles(breaks, -1), (size_t)XLENGTH(breaks) - 1};
  return column;
}

static struct ranges_column *arg_columns(SEXP columns, SEXP breaks, R_xlen_t n) {
  R_xlen_t m = XLENGTH(columns);
  struct ranges_column *out = (struct ranges_column *)R_alloc((size_t)m, sizeof *out);
  for (R_xlen_t j = 0; j < m; j++) {
    out[j] = arg_column(arg_doubles(VECTOR_ELT(columns, j), n), VECTOR_ELT(breaks, j));
  }
  return out;
}

/* columns, breaks: lists of doubles, all columns of the same length. */
SEXP ffi_ranges_release(SEXP budget, SEXP columns, SEXP breaks, SEXP rho, SEXP neighbours, SEXP reproducible) {
  static const char *const names[] = {"counts", "sd"};
  if (TYPEOF(columns) != VECSXP || TYPEOF(breaks) != VECSXP || XLENGTH(columns) != XLENGTH(breaks) ||
      XLENGTH(columns) == 0) {
    Rf_error("internal: lists of columns and of breaks were expected");
  }
  R_xlen_t m = XLENGTH(columns), n = XLENGTH(VECTOR_ELT(columns, 0)), cells = 0;
  struct ranges_column *column = arg_columns(columns, breaks, n);
  for (R_xlen_t j = 0; j < m; j++) cells += (R_xlen_t)column[j].cells;
  struct ledger *ledger = arg_ledger(budget);
  const struct base_entropy *entropy = arg_entropy(reproducible);
  enum oracle_neighbours relation = arg_neighbours(neighbours);
  double cost = arg_double(rho), sd;
  SEXP out = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, cells));
  glue_answer_begin(reproducible, R_NilValue);
  int status =
      ranges_release(ledger, entropy, relation, (size_t)n, (size_t)m, column, cost, REAL(VECTOR_ELT(out, 0)), &sd);
  glue_answer_end(reproducible, status);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(sd));
  UNPROTECT(1);
  return out;
}

/* feed: a function of R/stream.R, which yields n rows of as many columns as there are breaks. */
SEXP ffi_ranges_release_stream(SEXP budget, SEXP feed, SEXP n, SEXP breaks, SEXP rho, SEXP neighbours,
                               SEXP reproducible) {
  static const char *const names[] = {"counts", "sd"};
  if (TYPEOF(breaks) != VECSXP || XLENGTH(breaks) == 0) Rf_error("internal: a list of breaks was expected");
  R_xlen_t m = XLENGTH(breaks), cells = 0;
  struct ranges_column *column = (struct ranges_column *)R_alloc((size_t)m, sizeof *column);
  for (R_xlen_t j = 0; j < m; j++) {
    column[j] = arg_column(NULL, VECTOR_ELT(breaks, j));
    cells += (R_xlen_t)column[j].cells;
  }
  struct r_source source;
  PROTECT(source_init(&source, feed, (size_t)m, 0, 0));
  struct ledger *ledger = arg_ledger(budget);
  const struct base_entropy *entropy = arg_entropy(reproducible);
  enum oracle_neighbours relation = arg_neighbours(neighbours);
  double cost = arg_double(rho), sd;
  size_t rows = (size_t)arg_int(n);
  SEXP out = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, cells));
  glue_answer_begin(reproducible, R_NilValue);
  int status = ranges_release_stream(ledger, entropy, relation, rows, (size_t)m, column, &source.feed, cost,
                                     REAL(VECTOR_ELT(out, 0)), &sd);
  glue_answer_end(reproducible, status);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(sd));
  UNPROTECT(2);
  return out;
}
