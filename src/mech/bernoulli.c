/* Trials of probability exp(-g), exact. */
#include "mech/private.h"

/*
 * Canonne, Kamath & Steinke 2020 ("The discrete Gaussian for differential
 * privacy", algorithm 1): with g = a / 2^32 and trials j = 1, 2, ... that
 * succeed with probability g / j, the first failure is at j > m with
 * probability g^m / m!, so it is at an odd j with probability
 * 1 - g + g^2 / 2 - ... = exp(-g).
 */
int mech_bernoulli_exp(struct mech_bits *b, uint64_t a) {
  uint32_t j = 1;
  while (mech_word(b) < a && mech_below(b, j) == 0 && b->status == BASE_OK) j++;
  return j % 2;
}

/* Indexed by the four bits that mech_bernoulli_exp_half() reads; the first one is the lowest. */
const struct mech_outcome mech_outcomes[16] = {{2, 0},  {1, 4}, {0, 9}, {1, 4}, {0, 10}, {1, 4}, {0, 9}, {1, 4},
                                               {1, 14}, {1, 4}, {0, 9}, {1, 4}, {0, 10}, {1, 4}, {0, 9}, {1, 4}};
