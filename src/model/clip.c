/*
 * From squared norms of records' gradients to the factors that clip them.
 *
 * |factor g| <= clip, for the gradient g as it is computed: squares are sums of at most dim nonnegative terms, and of
 * products of two such sums, so their relative error is below 2 (dim + 8) u; the root and the quotient have one
 * rounding each, and so have the products of the factor with the record's weight and with a slope or a number of the
 * gradient. The factor is reduced by more than all of these together (proofs: sensitivity-network).
 */
#include "model/private.h"

#include <float.h>
#include <math.h>

void clip_factors(size_t rows, size_t dim, double clip, const double *square, double *factor) {
  double most = clip * (1 - 4 * ((double)dim + 16) * (DBL_EPSILON / 2));
  for (size_t i = 0; i < rows; i++) factor[i] *= most / fmax(clip, sqrt(square[i]));
}
