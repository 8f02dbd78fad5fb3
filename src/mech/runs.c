/*
 * Random numbers of runs, and of their candidates. Only integers are used, so that the distributions are exact.
 */
#include "mech/private.h"

static uint32_t poisson_one(struct mech_bits *b);

/* A sum of Poisson variates with mean one. */
int mech_poisson(const struct base_entropy *e, uint32_t mean, size_t *count) {
  struct mech_bits b;
  mech_bits_open(&b, e);
  *count = 0;
  for (uint32_t i = 0; i < mean && b.status == BASE_OK; i++) *count += poisson_one(&b);
  return mech_bits_close(&b);
}

/* Trials up to the first success, which has probability 1 / mean. */
int mech_geometric(const struct base_entropy *e, uint32_t mean, size_t *count) {
  if (mean == 0) return BASE_ERR_ARGUMENT;
  struct mech_bits b;
  mech_bits_open(&b, e);
  *count = 0;
  do {
    mech_bits_allow(&b, MECH_PATIENCE);
    ++*count;
  } while (mech_below(&b, mean) != 0 && b.status == BASE_OK);
  return mech_bits_close(&b);
}

int mech_uniform(const struct base_entropy *e, uint32_t n, size_t *index) {
  if (n == 0) return BASE_ERR_ARGUMENT;
  struct mech_bits b;
  mech_bits_open(&b, e);
  mech_bits_allow(&b, MECH_PATIENCE);
  *index = mech_below(&b, n);
  return mech_bits_close(&b);
}

/* P(n) is proportional to 1 / n!: the number n of heads before the first tail, with probability 2^-(n + 1), is accepted
 * with probability 2^(n - 1) / n!, which is 1/2 for n = 0 and the product of 2 / j, j = 3, ..., n, for n > 0. */
static uint32_t poisson_one(struct mech_bits *b) {
  for (;;) {
    mech_bits_allow(b, MECH_PATIENCE);
    uint32_t n = 0;
    while (mech_below(b, 2) == 0 && b->status == BASE_OK) n++;
    int kept = n > 0 || mech_below(b, 2) == 0;
    for (uint32_t j = 3; j <= n && kept; j++) kept = mech_below(b, j) < 2;
    if (kept || b->status != BASE_OK) return n;
  }
}
