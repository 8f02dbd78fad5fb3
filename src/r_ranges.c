/* Private ranges: columns and public breaks in, noisy counts out. */
#include "ffi.h"
#include "glue.h"
#include "barrier/ranges.h"

#include <R_ext/Memory.h>

static struct ranges_column *arg_columns(SEXP columns, SEXP breaks, R_xlen_t n) {
  R_xlen_t m = XLENGTH(columns);
  struct ranges_column *out = (struct ranges_column *)R_alloc((size_t)m, sizeof *out);
  for (R_xlen_t j = 0; j < m; j++) {
    SEXP b = VECTOR_ELT(breaks, j);
    if (XLENGTH(b) < 2) Rf_error("internal: two breaks were expected");
    out[j].values = arg_doubles(VECTOR_ELT(columns, j), n);
    out[j].breaks = arg_doubles(b, -1);
    out[j].cells = (size_t)XLENGTH(b) - 1;
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
  enum oracle_neighbours relation = (enum oracle_neighbours)arg_int(neighbours);
  double cost = arg_double(rho), sd;
  SEXP out = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, cells));
  glue_random_begin(reproducible);
  glue_host_begin(R_NilValue);
  int status =
      ranges_release(ledger, entropy, relation, (size_t)n, (size_t)m, column, cost, REAL(VECTOR_ELT(out, 0)), &sd);
  glue_host_end();
  glue_random_end(reproducible);
  glue_check(status);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(sd));
  UNPROTECT(1);
  return out;
}
