/*
 * Exact normal and Laplace variates by comparisons of uniform numbers and
 * uniform integers (J. von Neumann 1951, "Various techniques used in
 * connection with random digits"; C. F. F. Karney 2016, "Sampling exactly from
 * the normal distribution", ACM TOMS 42(1), algorithms N and B).
 */
#include "mech/private.h"

static uint32_t half_normal_integer(struct mech_bits *b);
static int accept_fraction(struct mech_bits *b, uint32_t k, struct mech_uniform *x);
static int descend(struct mech_bits *b, const uint32_t *k, struct mech_uniform *x);
static int thin(struct mech_bits *b, uint32_t k, struct mech_uniform *x);

/*
 * Algorithm N: k + x has density proportional to exp(-(k + x)^2 / 2), since
 * (k + x)^2 / 2 = k^2 / 2 + x (2k + x) / 2. About two rounds are needed.
 */
void mech_draw_normal(struct mech_bits *b, struct mech_variate *v) {
  do {
    v->k = half_normal_integer(b);
    v->x.known = 0;
  } while (!accept_fraction(b, v->k, &v->x) && b->status == BASE_OK);
  v->negative = (int)mech_below(b, 2);
}

/*
 * Von Neumann: a uniform x is accepted with probability exp(-x); each
 * rejection, which has probability exp(-1), adds one to k. Then k + x is
 * standard exponential.
 */
void mech_draw_laplace(struct mech_bits *b, struct mech_variate *v) {
  v->k = 0;
  v->x.known = 0;
  while (!descend(b, NULL, &v->x) && b->status == BASE_OK) {
    v->k++;
    v->x.known = 0;
  }
  v->negative = (int)mech_below(b, 2);
}

/*
 * k >= 0 with probability proportional to exp(-k^2 / 2) (steps N1 and N2): k
 * successes of probability exp(-1/2) before a failure, then k (k - 1) further
 * successes, or the procedure starts again.
 */
static uint32_t half_normal_integer(struct mech_bits *b) {
  for (;;) {
    uint32_t k = 0;
    while (mech_bernoulli_exp_half(b) && b->status == BASE_OK) k++;
    uint64_t left = k > 0 ? (uint64_t)k * (k - 1) : 0;
    while (left > 0 && mech_bernoulli_exp_half(b) && b->status == BASE_OK) left--;
    if (left == 0 || b->status != BASE_OK) return k;
  }
}

/* True with probability exp(-x (2k + x) / 2): k + 1 successes of algorithm B. */
static int accept_fraction(struct mech_bits *b, uint32_t k, struct mech_uniform *x) {
  for (uint32_t i = 0; i <= k; i++)
    if (!descend(b, &k, x) || b->status != BASE_OK) return 0;
  return 1;
}

/*
 * True with probability exp(-x p), where p = (2k + x) / (2k + 2), or p = 1
 * when k is NULL. A run x > z1 > z2 > ... of uniform numbers, each of which is
 * kept with probability p, has length at least n with probability
 * (x p)^n / n!, so an even length has probability 1 - x p + (x p)^2 / 2 - ...
 */
static int descend(struct mech_bits *b, const uint32_t *k, struct mech_uniform *x) {
  struct mech_uniform run[2], *bound = x;
  for (int even = 1;; even = !even) {
    struct mech_uniform *next = &run[even];
    next->known = 0;
    if (!mech_uniform_less(b, next, bound) || (k && !thin(b, *k, x))) return even;
    bound = next;
  }
}

/* True with probability (2k + x) / (2k + 2). */
static int thin(struct mech_bits *b, uint32_t k, struct mech_uniform *x) {
  const uint32_t c = mech_below(b, 2 * k + 2);
  if (c != 2 * k) return c < 2 * k;
  struct mech_uniform r = {.known = 0};
  return mech_uniform_less(b, &r, x);
}
