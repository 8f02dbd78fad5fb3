/* Functions of dense matrices that need no BLAS. */
#include <math.h>

#include "la/private.h"

/* In squares, so that a cache line that is read down a column is used fully before it is evicted. */
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
