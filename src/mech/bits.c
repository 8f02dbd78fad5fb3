/* Random bits and small uniform integers, exact. See bits.h. */
#include <string.h>

#include "mech/bits.h"

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
