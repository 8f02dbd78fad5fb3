/* The smallest eigenpair of a dense symmetric matrix. */
#include <math.h>
#include <string.h>

#include "la/private.h"

/* Largest residual of Lanczos, relative to the norm: it bounds the eigenvalue's error. */
#define LANCZOS_TOLERANCE 1e-12
/* Largest residual of LAPACK's vectors, which is about d u, relative to the largest entry. */
#define RESIDUAL 1e-11

#define SMALL 128 /* for la_eigen_released() */

static double residual(size_t d, const double *h, double value, const double *vector, double *scratch);

int la_eigen_min(size_t d, const double *h, double *value, double *vector) {
  if (d <= LA_DENSE_LIMIT) return la_eigen_min_lapack(d, h, value, vector);
  if (!la_all_finite(d * d, h)) return BASE_ERR_NUMERIC;
  const struct linop op = {d, la_dense_apply, h};
  return la_eigen_min_lanczos(&op, LANCZOS_TOLERANCE, value, vector);
}

int la_eigen_min_lapack(size_t d, const double *h, double *value, double *vector) {
  if (!la_all_finite(d * d, h)) return BASE_ERR_NUMERIC; /* LAPACK might not return */
  double *copy = base_alloc(d * d, sizeof *copy);
  if (!copy) return BASE_ERR_MEMORY;
  memcpy(copy, h, d * d * sizeof *copy);
  int status = la_dense_min(d, copy, value, vector);
  /* On a badly scaled matrix inverse iteration may overflow or fail to converge without an error from LAPACK. */
  if (status == BASE_OK && !(residual(d, h, *value, vector, copy) <= RESIDUAL * (double)d)) status = BASE_ERR_NUMERIC;
  base_free(copy);
  return status;
}

/* Relatively robust representations, as in R's eigen(). Where they fail, and where d is so small that nothing is
 * gained, QR steps. */
int la_eigen_released(size_t d, double *a, double *values) {
  if (d <= SMALL || !la_all_finite(d * d, a)) return la_eigen_all(d, a, values);
  double *copy = base_alloc(2 * d * d, sizeof *copy);
  if (!copy) return BASE_ERR_MEMORY;
  double *vectors = copy + d * d;
  memcpy(copy, a, d * d * sizeof *copy);
  int status = la_dense_all(d, copy, values, vectors);
  if (status == BASE_OK) memcpy(a, vectors, d * d * sizeof *a);
  base_free(copy);
  return status == BASE_ERR_NUMERIC ? la_eigen_all(d, a, values) : status;
}

/* |h vector - value vector| relative to the largest entry of h; 0 for h = 0. The last argument is scratch memory. */
#define SMALL 128 /* for la_eigen_released() */

static double residual(size_t d, const double *h, double value, const double *vector, double *scratch) {
  double scale = 0;
  for (size_t i = 0; i < d * d; i++) scale = fmax(scale, fabs(h[i]));
  la_matvec(d, d, h, d, vector, scratch);
  la_axpy(d, -value, vector, scratch);
  return scale > 0 ? la_norm(d, scratch) / scale : la_norm(d, scratch);
}
