/*
 * mech, inside: random bits, exact samplers and the lattice. All decisions use
 * integers: no floating-point number depends on a draw until a lattice
 * point is final and is written as a double.
 */
#ifndef DPSOSP_MECH_PRIVATE_H
#define DPSOSP_MECH_PRIVATE_H

#include "mech/bits.h"
#include "mech/mech.h"

/* Points of the lattice need them; GCC and Clang have them on all platforms of 64 bits. */
#ifndef __SIZEOF_INT128__
#error "dpsosp needs integers of 128 bits: compile it with GCC or Clang for a platform of 64 bits"
#endif
__extension__ typedef __int128 int128;

/* ---- bernoulli.c ---- */

/* True with probability exp(-a / 2^32), a <= 2^32. */
int mech_bernoulli_exp(struct mech_bits *b, uint64_t a);

/* value is 2 where these bits do not decide; bytes is the number of bytes used. */
struct mech_outcome {
  unsigned char value, bytes;
};
extern const struct mech_outcome mech_outcomes[16];

/*
 * The same as mech_bernoulli_exp(b, 2^31), from the same bytes. Its trials j = 1, 2, 3 compare words with 2^31, which
 * depends on their first bit, and use a byte after the first and the second trial; the byte after the second decides by
 * its last bit. A table replaces the branches, because a processor predicts a branch on a random bit wrongly half the
 * time.
 */
static inline int mech_bernoulli_exp_half(struct mech_bits *b) {
  if (b->used + 14 <= sizeof b->byte) {
    const unsigned char *p = b->byte + b->used;
    const struct mech_outcome found = mech_outcomes[p[0] >> 7 | (p[5] >> 7) << 1 | (p[9] & 1) << 2 | (p[10] >> 7) << 3];
    b->used += found.bytes;
    if (found.value < 2) return found.value;
  }
  return mech_bernoulli_exp(b, UINT64_C(1) << 31);
}

/* ---- uniform.c: uniform numbers on (0, 1) whose digits are drawn when needed ---- */

/* Base 2^32. Two numbers that agree in all places (probability 2^-512) mean a broken source. */
#define MECH_DIGITS 16
struct mech_uniform {
  uint32_t digit[MECH_DIGITS];
  int known;
};

uint32_t mech_uniform_draw(struct mech_bits *b, struct mech_uniform *u, int place);
static inline uint32_t mech_uniform_digit(struct mech_bits *b, struct mech_uniform *u, int place) {
  return place < u->known ? u->digit[place] : mech_uniform_draw(b, u, place);
}
int mech_uniform_tie(struct mech_bits *b, struct mech_uniform *u, struct mech_uniform *v);

static inline int mech_uniform_less(struct mech_bits *b, struct mech_uniform *u, struct mech_uniform *v) {
  if (!u->known) u->digit[u->known++] = mech_word(b);
  if (!v->known) v->digit[v->known++] = mech_word(b);
  return u->digit[0] != v->digit[0] ? u->digit[0] < v->digit[0] : mech_uniform_tie(b, u, v);
}

/* ---- variate.c: standard normal and Laplace variates ---- */

/* k + x or its negative; only those digits of x are known that were needed. */
struct mech_variate {
  int negative;
  uint32_t k;
  struct mech_uniform x;
};

typedef void mech_sampler(struct mech_bits *b, struct mech_variate *v);
mech_sampler mech_draw_normal;
mech_sampler mech_draw_laplace;

/* ---- lattice.c ---- */

/* Noise of scale S lattice spacings of 2^exponent. */
struct mech_grid {
  int exponent;
  uint64_t scale; /* at most 2^32 */
};

/* The grid for a scale: 2^30 <= S <= 2^31 and S 2^exponent in [scale, (1 + 2^-30) scale). BASE_ERR_ARGUMENT when scale
 * is not positive and finite or its spacing is below the smallest double. */
int mech_grid_choose(double scale, struct mech_grid *grid);

/* A lattice point: index 2^shift spacings from zero. When shift > 0, |index| > 2^121. */
struct mech_point {
  int128 index;
  int shift;
};

/* The lattice point nearest to x + S 2^exponent times a variate. x is finite. */
struct mech_point mech_point_draw(struct mech_bits *b, mech_sampler *draw, const struct mech_grid *grid, double x);
/* The double nearest to the point. */
double mech_point_value(const struct mech_grid *grid, struct mech_point point);

/* x[i] <- the noisy value, i < n; on an error x is zeroed. */
int mech_perturb(struct mech_bits *b, mech_sampler *draw, double scale, size_t n, double *x);

#endif
