/*
 * What the scripts here measure and R cannot call: the exact sums of the
 * barrier on a matrix (NON-PRIVATE: built for the benchmarks alone, never part
 * of the package), reading the matrix, BLAS on it, and the clocks.
 */
#define R_NO_REMAP
#include <R_ext/BLAS.h>
#include <Rinternals.h>
#include <time.h>

#include "../ctest/shorthand.h"
#include "base/simd.h"
#ifndef FCONE
#define FCONE
#endif

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What R calls; all else is hidden, as in the package. */
#pragma GCC visibility push(default)

/* Wall clock, and processor time of all threads. */
SEXP bench_clock(void) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 2));
  REAL(out)[0] = seconds(CLOCK_MONOTONIC);
  REAL(out)[1] = seconds(CLOCK_PROCESS_CPUTIME_ID);
  UNPROTECT(1);
  return out;
}

SEXP bench_threads(SEXP limit) {
  base_limit_threads(Rf_asInteger(limit));
  return Rf_ScalarInteger(base_threads());
}

/* ---- reading: four sums at once, so that no addition waits for another ---- */

SIMD_CLONES static double read_part(size_t n, const double *x) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  size_t q = n / 4;
  const double *x1 = x + q, *x2 = x1 + q, *x3 = x2 + q;
  SIMD_SUM(s0, s1, s2, s3)
  for (size_t i = 0; i < q; i++) {
    s0 += x[i];
    s1 += x1[i];
    s2 += x2[i];
    s3 += x3[i];
  }
  return s0 + s1 + s2 + s3;
}

struct reading {
  const double *x;
  size_t n;
  double sums[64];
};

static void read_64th(void *context, size_t part, int worker) {
  struct reading *r = context;
  (void)worker;
  r->sums[part] = read_part(r->n / 64, r->x + part * (r->n / 64));
}

SEXP bench_read(SEXP x) {
  struct reading r = {REAL(x), (size_t)XLENGTH(x), {0}};
  base_parallel(64, base_threads(), read_64th, &r);
  return Rf_ScalarReal(r.sums[0]);
}

/* ---- the sums ---- */

static void finalize(SEXP x) {
  struct oracle *o = R_ExternalPtrAddr(x);
  if (o) data_free((struct data *)o->engine.rows);
  oracle_free(o);
  R_ClearExternalPtr(x);
}

static SEXP open_data(int status, struct data *data, SEXP x, SEXP loss);

SEXP bench_open(SEXP x, SEXP y, SEXP loss) {
  struct data *data;
  int status = data_create(REAL(x), (size_t)Rf_nrows(x), (size_t)Rf_ncols(x), 0, 1, REAL(y), &data);
  return open_data(status, data, x, loss);
}

/* The slots of a dgCMatrix. */
SEXP bench_open_sparse(SEXP start, SEXP row, SEXP value, SEXP dim, SEXP y, SEXP loss) {
  struct data *data;
  struct data_compressed x = {INTEGER(start),         INTEGER(row),         REAL(value),
                              (size_t)XLENGTH(start), (size_t)XLENGTH(row), (size_t)XLENGTH(value)};
  int status = data_create_sparse(&x, (size_t)INTEGER(dim)[0], (size_t)INTEGER(dim)[1], 0, 1, REAL(y), &data);
  return open_data(status, data, R_NilValue, loss);
}

static SEXP open_data(int status, struct data *data, SEXP x, SEXP loss) {
  struct oracle *o;
  if (status != BASE_OK ||
      open_oracle(data, loss_find(CHAR(STRING_ELT(loss, 0))), NULL, NULL, ORACLE_REPLACE_ONE, &o) != BASE_OK) {
    Rf_error("no memory");
  }
  SEXP out = PROTECT(R_MakeExternalPtr(o, R_NilValue, x));
  R_RegisterCFinalizerEx(out, finalize, TRUE);
  UNPROTECT(1);
  return out;
}

SEXP bench_value(SEXP oracle, SEXP w) {
  double value;
  sums_value(oracle_all(R_ExternalPtrAddr(oracle)), REAL(w), &value);
  return Rf_ScalarReal(value);
}

SEXP bench_value_gradient(SEXP oracle, SEXP w) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, XLENGTH(w) + 1));
  sums_value_gradient(oracle_all(R_ExternalPtrAddr(oracle)), REAL(w), REAL(out));
  UNPROTECT(1);
  return out;
}

SEXP bench_trace(SEXP oracle, SEXP w) {
  double trace;
  sums_trace(oracle_all(R_ExternalPtrAddr(oracle)), REAL(w), CURVATURE_HESSIAN, &trace);
  return Rf_ScalarReal(trace);
}

SEXP bench_hessian(SEXP oracle, SEXP w) {
  int dim = (int)XLENGTH(w);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, dim, dim));
  sums_hessian(oracle_all(R_ExternalPtrAddr(oracle)), REAL(w), REAL(out));
  UNPROTECT(1);
  return out;
}

SEXP bench_decreases(SEXP oracle, SEXP w, SEXP direction, SEXP steps) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, XLENGTH(steps)));
  sums_decreases(oracle_all(R_ExternalPtrAddr(oracle)), REAL(w), REAL(direction), (size_t)XLENGTH(steps), REAL(steps),
                 REAL(out));
  UNPROTECT(1);
  return out;
}

/* ---- BLAS: the lower triangle of x'x ---- */

SEXP bench_dsyrk(SEXP x) {
  int n = Rf_ncols(x), k = Rf_nrows(x);
  double one = 1, zero = 0;
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, n, n));
  F77_CALL(dsyrk)("L", "T", &n, &k, &one, REAL(x), &k, &zero, REAL(out), &n FCONE FCONE);
  UNPROTECT(1);
  return out;
}
