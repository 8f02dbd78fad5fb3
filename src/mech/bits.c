/* Random bits, small uniform integers and Bernoulli(exp(-g)) trials, all exact. See private.h. */
#include <string.h>

#include "mech/private.h"

/* Number of bytes requested from a source that cannot be expanded; they fill the end of a buffer. */
enum { FILL = 256 };

static void open_stream(struct mech_bits *b);
static void wipe(void *memory, size_t bytes);

void mech_bits_open(struct mech_bits *b, const struct base_entropy *source) {
  b->source = source;
  b->keyed = 0;
  b->used = sizeof b->byte;
  b->patience = MECH_PATIENCE;
  b->status = BASE_OK;
}

int mech_bits_close(struct mech_bits *b) {
  wipe(b->byte, sizeof b->byte);
  if (b->keyed) wipe(&b->stream, sizeof b->stream);
  b->keyed = 0;
  b->used = sizeof b->byte;
  return b->status;
}

static void wipe(void *memory, size_t bytes) {
  volatile unsigned char *p = memory; /* volatile: the compiler must not drop the writes */
  for (size_t i = 0; i < bytes; i++) p[i] = 0;
}

void mech_bits_allow(struct mech_bits *b, size_t buffers) { b->patience = buffers; }

/* Rejection: values beyond the largest multiple of n are drawn again. */
uint32_t mech_below_any(struct mech_bits *b, uint32_t n) {
  const uint64_t range = n <= 256 ? 256 : UINT64_C(1) << 32;
  const uint64_t fair = range - range % n;
  uint32_t v;
  do v = n <= 256 ? mech_byte(b) : mech_word(b);
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

/* Indexed by the four bits that mech_bernoulli_exp_half() reads; the first one is the lowest. */
const struct mech_outcome mech_outcomes[16] = {{2, 0},  {1, 4}, {0, 9}, {1, 4}, {0, 10}, {1, 4}, {0, 9}, {1, 4},
                                               {1, 14}, {1, 4}, {0, 9}, {1, 4}, {0, 10}, {1, 4}, {0, 9}, {1, 4}};

static void open_stream(struct mech_bits *b) {
  unsigned char key[BASE_KEY_BYTES];
  b->status = b->source->fill(key, sizeof key);
  if (b->status == BASE_OK) base_stream_open(&b->stream, key);
  b->keyed = b->status == BASE_OK;
  wipe(key, sizeof key);
}

void mech_bits_refill(struct mech_bits *b) {
  if (b->status == BASE_OK && b->patience == 0) b->status = BASE_ERR_ENTROPY;
  if (b->status == BASE_OK && b->source->expand && !b->keyed) open_stream(b);
  b->used = 0;
  if (b->status == BASE_OK) {
    b->patience--;
    if (b->keyed) {
      base_stream_next(&b->stream, b->byte);
    } else {
      b->used = sizeof b->byte - FILL;
      b->status = b->source->fill(b->byte + b->used, FILL);
    }
  }
  if (b->status != BASE_OK) memset(b->byte, 0, sizeof b->byte);
}
