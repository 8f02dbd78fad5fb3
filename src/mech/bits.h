/*
 * mech, inside: independent uniform bits, as bytes, words and small integers. All samplers draw by these functions
 * alone; a test has others in their place, which go through all that could be drawn (dev/ctest/walk.h).
 */
#ifndef DPSOSP_MECH_BITS_H
#define DPSOSP_MECH_BITS_H

#include "base/base.h"

/* A buffer of random bytes, from a source or from a stream whose key comes from the source; bytes before `used` are
 * spent. After a failure, status is set, draws are zero, and every loop over draws
 * ends. */
struct mech_bits {
  const struct base_entropy *source;
  struct base_stream stream; /* if the source can be expanded */
  int keyed;
  size_t used;     /* bytes of the buffer that are spent */
  size_t patience; /* number of buffers that may be filled until the next mech_bits_allow() */
  int status;
  unsigned char byte[BASE_STREAM_BYTES];
};

void mech_bits_open(struct mech_bits *b, const struct base_entropy *source);
/* Wipes the buffer and the key, and returns the status. */
int mech_bits_close(struct mech_bits *b);
/* The next draw may use this many buffers. A working source exceeds the callers'
 * limits with probability below 2^-300, so a source that exceeds them is broken (for
 * example stuck), and the status becomes BASE_ERR_ENTROPY. */
void mech_bits_allow(struct mech_bits *b, size_t buffers);
#define MECH_PATIENCE 64 /* for one variate, which uses about 50 bytes */

/* Fills the buffer; with zeros where the status is not BASE_OK. */
void mech_bits_refill(struct mech_bits *b);

/* Zero after a failure. */
static inline uint32_t mech_byte(struct mech_bits *b) {
  if (b->used == sizeof b->byte) mech_bits_refill(b);
  return b->byte[b->used++];
}

static inline uint32_t mech_word_at(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A rest of the buffer that is shorter than a word is skipped. */
static inline uint32_t mech_word(struct mech_bits *b) {
  if (b->used + 4 > sizeof b->byte) mech_bits_refill(b);
  const unsigned char *p = b->byte + b->used;
  b->used += 4;
  return mech_word_at(p);
}

/* Uniform on 0, ..., n - 1; n > 0. */
uint32_t mech_below_any(struct mech_bits *b, uint32_t n);
static inline uint32_t mech_below(struct mech_bits *b, uint32_t n) {
  if ((n & (n - 1)) == 0 && n <= 256) return mech_byte(b) & (n - 1); /* n divides 256: no rejection */
  return mech_below_any(b, n);
}

#endif
