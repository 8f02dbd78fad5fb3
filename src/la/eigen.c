/* The smallest eigenpair of a dense symmetric matrix, and what needs no BLAS. */
#include <math.h>
#include <string.h>

#include "la/private.h"

/* Residual asked of Lanczos, relative to the norm: it bounds the eigenvalue's error. */
#define LANCZOS_TOLERANCE 1e-12
/* Of LAPACK's vectors, which have some d u, relative to the largest entry. */
#define RESIDUAL 1e-11

static double residual(size_t d, const double *h, double value, const double *vector, double *scratch);

int la_eigen_min(size_t d, const double *h, double *value, double *vector) {
  if (d <= LA_DENSE_LIMIT) return la_eigen_min_lapack(d, h, value, vector);
  if (!la_all_finite(d * d, h)) return BASE_ERR_NUMERIC;
  const struct linop op = {d, la_dense_apply, h};
  return la_eigen_min_lanczos(&op, LANCZOS_TOLERANCE, value, vector);
}

int la_eigen_min_lapack(size_t d, const double *h, double *value, double *vector) {
  if (!la_all_finite(d * d, h)) return BASE_ERR_NUMERIC; /* LAPACK may not return */
  double *copy = base_alloc(d * d, sizeof *copy);
  if (!copy) return BASE_ERR_MEMORY;
  memcpy(copy, h, d * d * sizeof *copy);
  int status = la_dense_min(d, copy, value, vector);
  /* On a badly scaled matrix inverse iteration may overflow or end elsewhere, and LAPACK reports no error. */
  if (status == BASE_OK && !(residual(d, h, *value, vector, copy) <= RESIDUAL * (double)d)) status = BASE_ERR_NUMERIC;
  base_free(copy);
  return status;
}

/* |h vector - value vector| relative to the largest entry of h, with a vector of scratch memory; 0 for h = 0. */
static double residual(size_t d, const double *h, double value, const double *vector, double *scratch) {
  double scale = 0;
  for (size_t i = 0; i < d * d; i++) scale = fmax(scale, fabs(h[i]));
  la_matvec(d, d, h, d, vector, scratch);
  la_axpy(d, -value, vector, scratch);
  return scale > 0 ? la_norm(d, scratch) / scale : la_norm(d, scratch);
}

/* In squares, so that the lines of memory that are read down a column are used before they are forgotten. */
void la_symmetrise(size_t n, double *c) {
  enum { SQUARE = 32 };
  for (size_t first = 0; first < n; first += SQUARE) {
    for (size_t left = 0; left <= first; left += SQUARE) {
      for (size_t j = first; j < n && j < first + SQUARE; j++) {
        for (size_t i = left; i < j && i < left + SQUARE; i++) c[i + j * n] = c[j + i * n];
      }
    }
  }
}

int la_all_finite(size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

void la_dense_apply(const struct linop *self, const double *x, double *y) {
  la_matvec(self->dim, self->dim, self->context, self->dim, x, y);
}
