/* Smallest eigenpairs of any symmetric matrix, dense and by Lanczos. */
#include "fuzz.h"

#include "la/la.h"

enum { MOST = 6 };

static void apply(const struct linop *self, const double *x, double *y) {
  la_matvec(self->dim, self->dim, self->context, self->dim, x, y);
}

static double largest(size_t n, const double *x) {
  double m = 0;
  for (size_t i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
  return m;
}

/* No two entries, but for zeros, are many orders of magnitude apart. */
static int even(size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0 && fabs(x[i]) < 1e-30 * largest(n, x)) return 0;
  return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  size_t d = 1 + fuzz_below(&f, MOST);
  double h[MOST * MOST], vector[MOST], other[MOST], residual[MOST], value = NAN, second = NAN;
  fuzz_doubles(&f, d * d, h);
  la_symmetrise(d, h);
  struct linop op = {d, apply, h};
  double scale = largest(d * d, h);
  int status = la_eigen_min(d, h, &value, vector);
  if (!fuzz_all_finite(d * d, h)) REQUIRE(status == BASE_ERR_NUMERIC || status == BASE_ERR_MEMORY);
  if (fuzz_all_finite(d * d, h) && scale < 1e100 && (scale > 1e-100 || scale == 0)) {
    int lanczos = la_eigen_min_lanczos(&op, 1e-10, &second, other);
    /* LAPACK may give up on a badly scaled matrix */
    REQUIRE(status == BASE_OK || status == BASE_ERR_MEMORY || (status == BASE_ERR_NUMERIC && !even(d * d, h)));
    REQUIRE(lanczos == BASE_OK || lanczos == BASE_ERR_MEMORY);
    if (status == BASE_OK) {
      la_matvec(d, d, h, d, vector, residual);
      la_axpy(d, -value, vector, residual);
      REQUIRE(fabs(la_norm(d, vector) - 1) < 1e-10);
      REQUIRE(la_norm(d, residual) <= 1e-10 * (double)d * scale);
      for (size_t i = 0; i < d; i++) REQUIRE(value <= h[i + d * i] + 1e-10 * (double)d * scale);
    }
    if (status == BASE_OK && lanczos == BASE_OK) REQUIRE(fabs(value - second) <= 1e-7 * (double)d * scale);
  }
  fuzz_end();
  return 0;
}
