/*
 * The only file that names BLAS or LAPACK. Their integers have 32 bits:
 * long vectors are split, and the dimensions of a matrix must fit an int,
 * as those of R's matrices do.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif

#include "la/private.h"

static int dense_pairs(size_t d, double *h, const char *range, int count, double *values, double *vectors);
static int tridiagonal_pairs(size_t m, const double *diagonal, const double *off, const char *range, int count,
                             double *values, double *vectors);
static int part(size_t n);

static const int one = 1;

double la_dot(size_t n, const double *x, const double *y) {
  double sum = 0;
  for (int k; n > 0; n -= (size_t)k, x += k, y += k) {
    k = part(n);
    sum += F77_CALL(ddot)(&k, x, &one, y, &one);
  }
  return sum;
}

double la_norm(size_t n, const double *x) {
  double norm = 0;
  for (int k; n > 0; n -= (size_t)k, x += k) {
    k = part(n);
    norm = hypot(norm, F77_CALL(dnrm2)(&k, x, &one));
  }
  return norm;
}

void la_axpy(size_t n, double a, const double *x, double *y) {
  for (int k; n > 0; n -= (size_t)k, x += k, y += k) {
    k = part(n);
    F77_CALL(daxpy)(&k, &a, x, &one, y, &one);
  }
}

void la_scale(size_t n, double a, double *x) {
  for (int k; n > 0; n -= (size_t)k, x += k) {
    k = part(n);
    F77_CALL(dscal)(&k, &a, x, &one);
  }
}

int la_solve_definite(size_t d, double *a, double *x) {
  if (d == 0 || d > INT_MAX) return BASE_ERR_ARGUMENT;
  const int n = (int)d;
  int info = 0;
  F77_CALL(dposv)("L", &n, &one, a, &n, x, &n, &info FCONE);
  return info == 0 ? BASE_OK : BASE_ERR_NUMERIC;
}

/* dsyev, not a faster driver: it uses products of orthogonal transformations, whose rounding errors are understood. */
int la_eigen_all(size_t d, double *a, double *values) {
  if (d == 0 || d > INT_MAX) return BASE_ERR_ARGUMENT;
  if (!la_all_finite(d * d, a)) return BASE_ERR_NUMERIC; /* LAPACK might not return */
  const int n = (int)d, query = -1;
  int info = 0;
  double size = 0;
  F77_CALL(dsyev)("V", "L", &n, a, &n, values, &size, &query, &info FCONE FCONE);
  if (info != 0 || !(size >= 1 && size <= INT_MAX)) return BASE_ERR_NUMERIC;
  const int lwork = (int)size;
  double *work = base_alloc((size_t)lwork, sizeof *work);
  if (!work) return BASE_ERR_MEMORY;
  F77_CALL(dsyev)("V", "L", &n, a, &n, values, work, &lwork, &info FCONE FCONE);
  memset(work, 0, (size_t)lwork * sizeof *work); /* a may be un-noised, so no copy may stay in memory */
  base_free(work);
  return info == 0 ? BASE_OK : BASE_ERR_NUMERIC;
}

int la_dense_min(size_t d, double *h, double *value, double *vector) {
  double *values = base_alloc(d, sizeof *values); /* dsyevr uses all d places */
  if (!values) return BASE_ERR_MEMORY;
  const int status = dense_pairs(d, h, "I", 1, values, vector);
  if (status == BASE_OK) *value = values[0];
  base_free(values);
  return status;
}

int la_dense_all(size_t d, double *h, double *values, double *vectors) {
  return dense_pairs(d, h, "A", (int)d, values, vectors);
}

int la_tridiagonal_min(size_t m, const double *diagonal, const double *off, double *value, double *vector) {
  double *values = base_alloc(m, sizeof *values);
  if (!values) return BASE_ERR_MEMORY;
  const int status = tridiagonal_pairs(m, diagonal, off, "I", 1, values, vector);
  if (status == BASE_OK) *value = values[0];
  base_free(values);
  return status;
}

int la_tridiagonal_all(size_t m, const double *diagonal, const double *off, double *values, double *vectors) {
  return tridiagonal_pairs(m, diagonal, off, "A", (int)m, values, vectors);
}

/* The smallest eigenpairs ("I", one of them) or all ("A"). dsyevr first reduces to tridiagonal form; for one eigenpair
 * it then uses bisection and inverse iteration. */
static int dense_pairs(size_t d, double *h, const char *range, int count, double *values, double *vectors) {
  if (d == 0 || d > INT_MAX) return BASE_ERR_ARGUMENT;
  const int n = (int)d, query = -1;
  const double unused = 0, abstol = 0;
  int found = 0, iwork_size = 0, info = 0;
  double work_size = 0;
  int *support = base_alloc(2 * d, sizeof *support);
  if (!support) return BASE_ERR_MEMORY;
  F77_CALL(dsyevr)
  ("V", range, "L", &n, h, &n, &unused, &unused, &one, &one, &abstol, &found, values, vectors, &n, support, &work_size,
   &query, &iwork_size, &query, &info FCONE FCONE FCONE);
  int status = info != 0 || !(work_size >= 1 && work_size <= INT_MAX) || iwork_size < 1 ? BASE_ERR_NUMERIC : BASE_OK;

  const int lwork = (int)work_size;
  double *work = status == BASE_OK ? base_alloc((size_t)lwork, sizeof *work) : NULL;
  int *iwork = status == BASE_OK ? base_alloc((size_t)iwork_size, sizeof *iwork) : NULL;
  if (status == BASE_OK && (!work || !iwork)) status = BASE_ERR_MEMORY;
  if (status == BASE_OK) {
    F77_CALL(dsyevr)
    ("V", range, "L", &n, h, &n, &unused, &unused, &one, &one, &abstol, &found, values, vectors, &n, support, work,
     &lwork, iwork, &iwork_size, &info FCONE FCONE FCONE);
    if (info != 0 || found != count || !la_all_finite(d * (size_t)count, vectors)) status = BASE_ERR_NUMERIC;
  }
  base_free(iwork);
  base_free(work);
  base_free(support);
  return status;
}

static int tridiagonal_pairs(size_t m, const double *diagonal, const double *off, const char *range, int count,
                             double *values, double *vectors) {
  if (m == 0 || m > INT_MAX / 20) return BASE_ERR_ARGUMENT;
  int n = (int)m, first = 1, found = 0, lwork = 20 * n, liwork = 10 * n, info = 0;
  double unused = 0, abstol = 0;
  double *copy = base_alloc(2 * m, sizeof *copy); /* diagonal, off-diagonal */
  double *work = base_alloc((size_t)lwork, sizeof *work);
  int *iwork = base_alloc((size_t)liwork + 2 * m, sizeof *iwork);
  int status = copy && work && iwork ? BASE_OK : BASE_ERR_MEMORY;
  if (status == BASE_OK) {
    memcpy(copy, diagonal, m * sizeof *copy);
    memcpy(copy + m, off, (m - 1) * sizeof *copy);
    F77_CALL(dstevr)
    ("V", range, &n, copy, copy + m, &unused, &unused, &first, &first, &abstol, &found, values, vectors, &n,
     iwork + liwork, work, &lwork, iwork, &liwork, &info FCONE FCONE);
    if (info != 0 || found != count || !la_all_finite(m * (size_t)count, vectors)) status = BASE_ERR_NUMERIC;
  }
  base_free(iwork);
  base_free(work);
  base_free(copy);
  return status;
}

static int part(size_t n) { return n > INT_MAX ? INT_MAX : (int)n; }
