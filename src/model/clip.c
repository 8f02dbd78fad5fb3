/*
 * From squared norms of records' gradients to the factors that clip them.
 *
 * |factor g| <= clip, g the gradient as it is computed: squares are sums of at most dim terms, none negative, and of
 * products of two such sums, so that their relative error is below 2 (dim + 8) u; root and quotient round once each,
 * and so does the product of the factor with a slope, or with a number of the gradient. All of them together are less
 * than what the factor is made smaller by (proofs: sensitivity-network).
 */
#include "model/private.h"

#include <float.h>
#include <math.h>

void clip_factors(size_t rows, size_t dim, double clip, const double *square, double *factor) {
  double most = clip * (1 - 4 * ((double)dim + 16) * (DBL_EPSILON / 2));
  for (size_t i = 0; i < rows; i++) factor[i] *= most / fmax(clip, sqrt(square[i]));
}
