/*
 * Prefix sums through a public factorisation: with x the leaves and A = B C the lower triangle of ones, noise is added
 * to y = C x, and the results are B y. One leaf is in one column of C, to whose norm the noise is proportional.
 *
 *   square root   B = C, the Toeplitz matrix with c_k = binomial(2 k, k) / 4^k on its k-th diagonal, as sum_k c_k z^k =
 *                 (1 - z)^(-1/2), whose square has ones
 *   tree          y_t is the sum of the leaves in (t - lowbit t, t], counted from one: the nodes of a binary tree that
 *                 are left children, and the roots; a result adds the nodes of t's binary digits. A leaf is in at most
 *                 floor(log2 leaves) + 1 of them
 *   independent   y = x
 */
#include "barrier/private.h"

#include <math.h>

static double binomial(size_t k) {
  double c = 1;
  for (size_t i = 1; i <= k; i++) c *= (2 * (double)i - 1) / (2 * (double)i);
  return c;
}

/* Number of leaves in the node that ends with this step. */
static size_t node(size_t step) {
  size_t t = step + 1;
  return t & (~t + 1);
}

double factor_encode(enum factor factor, size_t step, size_t leaf) {
  if (leaf > step) return 0;
  switch (factor) {
  case FACTOR_SQUARE_ROOT:
    return binomial(step - leaf);
  case FACTOR_TREE:
    return step - leaf < node(step);
  default:
    return step == leaf;
  }
}

/* For a tree: is the sum's node one of those that make up t? */
double factor_decode(enum factor factor, size_t step, size_t sum) {
  if (sum > step) return 0;
  switch (factor) {
  case FACTOR_SQUARE_ROOT:
    return binomial(step - sum);
  case FACTOR_TREE:
    return ((step + 1) & ~(node(sum) - 1)) == sum + 1;
  default:
    return 1;
  }
}

/* The norm of the first coefficients of the square root: of C's first column, and of a row of B. */
static double root_norm(size_t coefficients) {
  double square = 0, c = 1;
  for (size_t k = 0; k < coefficients; k++) {
    square += c * c;
    c *= (2 * (double)k + 1) / (2 * (double)k + 2);
  }
  return sqrt(square);
}

/* The first column is the longest one: the others of a Toeplitz matrix are its upper part, the first leaf of a tree is
 * in floor(log2 leaves) + 1 nodes, and without a factor all columns have one entry. */
double factor_column(enum factor factor, size_t leaves) {
  double square = 0;
  if (factor == FACTOR_SQUARE_ROOT) return root_norm(leaves) * (1 + 0x1p-40);
  for (size_t k = 0; k < leaves; k++) square += factor_encode(factor, k, 0) * factor_encode(factor, k, 0);
  return sqrt(square) * (1 + 0x1p-40);
}

double factor_row(enum factor factor, size_t step) {
  double square = 0;
  if (factor == FACTOR_SQUARE_ROOT) return root_norm(step + 1);
  for (size_t k = 0; k <= step; k++) square += factor_decode(factor, step, k) * factor_decode(factor, step, k);
  return sqrt(square);
}
