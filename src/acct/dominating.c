/* Chooses the pair that dominates a composition of leaves: a closed form, randomised response, or the hull of a
 * profile. */
#include "acct/private.h"

#include <math.h>
#include <string.h>

static void randomised_response(double eps, struct acct_pair *pair);

int acct_pair_create(const struct acct_leaf *leaf, size_t leaves, enum acct_bound bound, struct acct_pair *pair) {
  memset(pair, 0, sizeof *pair);
  double mu2 = 0.0;
  size_t gaussians = 0;
  for (size_t i = 0; i < leaves; i++) {
    if (leaf[i].kind != ACCT_GAUSSIAN) continue;
    mu2 += leaf[i].times * leaf[i].a * leaf[i].a;
    gaussians++;
  }
  int single = leaves == 1 && leaf->times == 1.0, optimistic = bound == ACCT_OPTIMISTIC;
  if (gaussians == leaves || (optimistic && gaussians > 0)) {
    pair->kind = PAIR_GAUSSIAN; /* optimistic: the other releases are ignored */
    pair->a = sqrt(mu2);
    return BASE_OK;
  }
  if ((single || optimistic) && leaf->kind == ACCT_LAPLACE) {
    pair->kind = PAIR_LAPLACE;
    pair->a = leaf->a;
    return BASE_OK;
  }
  if (single && leaf->kind == ACCT_EXPONENTIAL && !optimistic) {
    pair->kind = PAIR_EXPONENTIAL;
    pair->a = leaf->a;
    return BASE_OK;
  }
  if (optimistic || (single && leaf->kind == ACCT_PURE)) {
    if (acct_pair_alloc(1, pair)) return BASE_ERR_MEMORY;
    /* Randomised response with a / 2 attains the range a; for sparse vector no lower bound is claimed. */
    double eps = leaf->kind == ACCT_PURE ? leaf->a : leaf->kind == ACCT_EXPONENTIAL ? 0.5 * leaf->a : 0.0;
    randomised_response(eps, pair);
    return BASE_OK;
  }
  return acct_hull_create(leaf, leaves, pair);
}

static void randomised_response(double eps, struct acct_pair *pair) {
  pair->loss[0] = eps;
  pair->p[0] = eps > 0.0 ? 1.0 / (1.0 + exp(-eps)) : 0.0;
  pair->q[0] = eps > 0.0 ? 1.0 / (1.0 + exp(eps)) : 0.0;
}
