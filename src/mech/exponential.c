/*
 * Exponential mechanism (F. McSherry, K. Talwar 2007, "Mechanism design via
 * differential privacy") by rejection: a candidate drawn uniformly is taken
 * with probability exp(-g), g = (max u - u_i) / temperature, exactly.
 *
 * g is clamped at 2^19, where the two roundings of the quotient are below
 * 2^-33, and rounded to a multiple of 2^-32, an error of at most 2^-33. So g has
 * an error of at most 2^-32, and the range of two neighbours' scores, in units of
 * the temperature, grows by at most 4 * 2^-32 = 2^-30, which the caller
 * allows for. Clamping is max(u_i, max u - 2^19 temperature), which does not
 * enlarge the range.
 *
 * The candidate with the largest score is always accepted, so a round ends the
 * search with probability at least 1 / k, and the expected number of rounds is at
 * most k. It depends on the scores: the running time is a side channel,
 * outside the guarantee.
 */
#include <math.h>

#include "mech/private.h"

#define LARGEST_GAP 0x1p19

static int largest(size_t k, const double *u, double *out);
static int accept(struct mech_bits *b, double gap);

int mech_exponential(const struct base_entropy *e, size_t k, const double *u, double temperature, size_t *index) {
  *index = k;
  double top;
  if (k == 0 || k > UINT32_MAX || !(temperature > 0) || !isfinite(temperature)) return BASE_ERR_ARGUMENT;
  const int status = largest(k, u, &top);
  if (status != BASE_OK) return status;
  struct mech_bits b;
  mech_bits_open(&b, e);
  mech_bits_allow(&b, MECH_PATIENCE * (k + 1)); /* a round uses about 10 bytes: enough for more than 1000 k rounds */
  size_t i;
  do i = mech_below(&b, (uint32_t)k);
  while (!accept(&b, (top - u[i]) / temperature) && b.status == BASE_OK);
  if (b.status == BASE_OK) *index = i;
  return mech_bits_close(&b);
}

static int largest(size_t k, const double *u, double *out) {
  *out = u[0];
  for (size_t i = 0; i < k; i++) {
    if (!isfinite(u[i])) return BASE_ERR_ARGUMENT;
    if (u[i] > *out) *out = u[i];
  }
  return BASE_OK;
}

/* True with probability exp(-gap): one trial with exp(-1) for each whole unit, and one for the fraction. */
static int accept(struct mech_bits *b, double gap) {
  const uint64_t one = UINT64_C(1) << 32;
  uint64_t left = (uint64_t)rint(ldexp(gap < LARGEST_GAP ? gap : LARGEST_GAP, 32));
  for (; left > one; left -= one)
    if (!mech_bernoulli_exp(b, one)) return 0;
  return mech_bernoulli_exp(b, left);
}
