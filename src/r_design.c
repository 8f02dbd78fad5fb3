/*
 * Columns of the design matrix, written in place: with R
 * vectors, the temporaries of a large data frame would need as much memory as the
 * matrix itself. The R layer has just allocated x and shares it with nobody.
 */
#include "ffi.h"
#include "glue.h"

#include <math.h>

static R_xlen_t column_at(SEXP x, SEXP j, R_xlen_t n) {
  if (!Rf_isMatrix(x) || Rf_nrows(x) != n || arg_int(j) < 1 || arg_int(j) > Rf_ncols(x)) {
    Rf_error("internal: a column of a matrix was expected");
  }
  return n * (arg_int(j) - 1);
}

static double *column_of(SEXP x, SEXP j, R_xlen_t n) {
  if (TYPEOF(x) != REALSXP) Rf_error("internal: a matrix of doubles was expected");
  return REAL(x) + column_at(x, j, n);
}

/* x in single precision: a matrix of integers of the same bits. */
SEXP ffi_single_create(SEXP x) {
  if (!Rf_isMatrix(x)) Rf_error("internal: a matrix was expected");
  R_xlen_t size = XLENGTH(x);
  const double *from = arg_doubles(x, size);
  SEXP out = PROTECT(Rf_allocMatrix(INTSXP, Rf_nrows(x), Rf_ncols(x)));
  float *to = (float *)INTEGER(out);
  for (R_xlen_t i = 0; i < size; i++) to[i] = (float)from[i];
  UNPROTECT(1);
  return out;
}

/* x is a matrix of doubles, or of single-precision numbers as ffi_single_create() makes it: x[, j] <- (value clipped to
 * [lower, upper] - centre) / half; 0 for half = 0; NA where value is not finite. */
SEXP ffi_design_numeric(SEXP x, SEXP j, SEXP value, SEXP range, SEXP centre, SEXP half) {
  R_xlen_t n = XLENGTH(value);
  double *to = TYPEOF(x) == INTSXP ? NULL : column_of(x, j, n);
  float *single = to ? NULL : (float *)INTEGER(x) + column_at(x, j, n);
  const double *from = TYPEOF(value) == REALSXP ? REAL(value) : NULL, *ends = arg_doubles(range, 2);
  if (!from && TYPEOF(value) != INTSXP && TYPEOF(value) != LGLSXP) Rf_error("internal: numbers were expected");
  const int *whole = from ? NULL : (TYPEOF(value) == INTSXP ? INTEGER(value) : LOGICAL(value));
  double c = arg_double(centre), h = arg_double(half);
  for (R_xlen_t i = 0; i < n; i++) {
    double v = from ? from[i] : (whole[i] == NA_INTEGER ? NA_REAL : whole[i]);
    if (v < ends[0]) v = isfinite(v) ? ends[0] : NA_REAL;
    if (v > ends[1]) v = isfinite(v) ? ends[1] : NA_REAL;
    v = isnan(v) ? NA_REAL : (h > 0 ? (v - c) / h : 0);
    if (to) {
      to[i] = v;
    } else {
      single[i] = (float)v;
    }
  }
  return R_NilValue;
}

/* x[, j] <- 1 where codes equals code, 0 elsewhere, NA where codes is NA. */
SEXP ffi_design_indicator(SEXP x, SEXP j, SEXP codes, SEXP code) {
  R_xlen_t n = XLENGTH(codes);
  double *to = column_of(x, j, n);
  if (TYPEOF(codes) != INTSXP) Rf_error("internal: codes were expected");
  const int *from = INTEGER(codes), wanted = arg_int(code);
  for (R_xlen_t i = 0; i < n; i++) to[i] = from[i] == NA_INTEGER ? NA_REAL : (from[i] == wanted);
  return R_NilValue;
}
