/* Random bits, small uniform integers and Bernoulli(exp(-g)) trials, all exact. See private.h. */
#include "mech/private.h"

static void refill(struct mech_bits *b);
static uint32_t take(struct mech_bits *b, size_t bytes);

void mech_bits_open(struct mech_bits *b, const struct base_entropy *source) {
  b->source = source;
  b->used = sizeof b->byte;
  b->patience = MECH_PATIENCE;
  b->status = BASE_OK;
}

int mech_bits_close(struct mech_bits *b) {
  volatile unsigned char *p = b->byte; /* volatile: the compiler must not drop the writes */
  for (size_t i = 0; i < sizeof b->byte; i++) p[i] = 0;
  b->used = sizeof b->byte;
  return b->status;
}

void mech_bits_allow(struct mech_bits *b, size_t buffers) { b->patience = buffers; }

uint32_t mech_word(struct mech_bits *b) { return take(b, 4); }

/* The values left after the largest multiple of n are drawn again. */
uint32_t mech_below(struct mech_bits *b, uint32_t n) {
  const uint64_t range = n <= 256 ? 256 : UINT64_C(1) << 32;
  const uint64_t fair = range - range % n;
  uint32_t v;
  do v = take(b, n <= 256 ? 1 : 4);
  while (v >= fair && b->status == BASE_OK);
  return v % n;
}

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

static void refill(struct mech_bits *b) {
  if (b->status == BASE_OK && b->patience == 0) b->status = BASE_ERR_ENTROPY;
  if (b->status == BASE_OK) b->status = b->source->fill(b->byte, sizeof b->byte);
  if (b->status != BASE_OK) return;
  b->patience--;
  b->used = 0;
}

static uint32_t take(struct mech_bits *b, size_t bytes) {
  if (b->used + bytes > sizeof b->byte) refill(b);
  if (b->status != BASE_OK) return 0;
  uint32_t v = 0;
  for (size_t i = 0; i < bytes; i++) v = v << 8 | b->byte[b->used++];
  return v;
}
