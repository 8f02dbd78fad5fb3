/*
 * ChaCha20 (D. J. Bernstein 2008; RFC 8439) expands a key to bytes that cannot be distinguished from random ones
 * without the key. The generators of Linux and the BSDs do the same with their keys; here a key serves one call of a
 * sampler. The counter has 64 bits, as in Bernstein's paper.
 *
 * Several blocks are computed at once, one in each lane.
 */
#include "base/base.h"
#include "base/simd.h"

#include <string.h>

enum { WORDS = 16, LANES = BASE_STREAM_BYTES / (4 * WORDS), DOUBLE_ROUNDS = 10 };

static uint32_t word_at(const unsigned char *byte) {
  return (uint32_t)byte[3] << 24 | (uint32_t)byte[2] << 16 | (uint32_t)byte[1] << 8 | byte[0];
}

void base_stream_open(struct base_stream *s, const unsigned char *key) {
  static const uint32_t constant[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  memset(s, 0, sizeof *s);
  memcpy(s->state, constant, sizeof constant);
  for (int i = 0; i < 8; i++) s->state[4 + i] = word_at(key + 4 * i);
}

/* x <- x + y, z <- (z ^ x) rotated */
SIMD_INLINE void mix(uint32_t *restrict x, const uint32_t *restrict y, uint32_t *restrict z, int left) {
  SIMD_LOOP
  for (int i = 0; i < LANES; i++) {
    x[i] += y[i];
    z[i] = (z[i] ^ x[i]) << left | (z[i] ^ x[i]) >> (32 - left);
  }
}

SIMD_INLINE void quarter_round(uint32_t x[][LANES], int a, int b, int c, int d) {
  mix(x[a], x[b], x[d], 16);
  mix(x[c], x[d], x[b], 12);
  mix(x[a], x[b], x[d], 8);
  mix(x[c], x[d], x[b], 7);
}

/* One word of all blocks. */
SIMD_INLINE void spread(uint32_t *restrict x, uint32_t v) {
  SIMD_LOOP
  for (int i = 0; i < LANES; i++) x[i] = v;
}

SIMD_INLINE void plus(uint32_t *restrict x, uint32_t v) {
  SIMD_LOOP
  for (int i = 0; i < LANES; i++) x[i] += v;
}

SIMD_INLINE void plus_each(uint32_t *restrict x, const uint32_t *restrict v) {
  SIMD_LOOP
  for (int i = 0; i < LANES; i++) x[i] += v[i];
}

/* x: word by word, of the blocks whose words 12 and 13 are count. */
SIMD_CLONES static void blocks(const uint32_t *state, uint32_t count[][LANES], uint32_t x[][LANES]) {
  for (int k = 0; k < WORDS; k++) spread(x[k], state[k]);
  memcpy(x[12], count, 2 * sizeof *count);
  for (int i = 0; i < DOUBLE_ROUNDS; i++) {
    quarter_round(x, 0, 4, 8, 12);
    quarter_round(x, 1, 5, 9, 13);
    quarter_round(x, 2, 6, 10, 14);
    quarter_round(x, 3, 7, 11, 15);
    quarter_round(x, 0, 5, 10, 15);
    quarter_round(x, 1, 6, 11, 12);
    quarter_round(x, 2, 7, 8, 13);
    quarter_round(x, 3, 4, 9, 14);
  }
  for (int k = 0; k < WORDS; k++) {
    if (k != 12 && k != 13) plus(x[k], state[k]);
  }
  plus_each(x[12], count[0]);
  plus_each(x[13], count[1]);
}

void base_stream_next(struct base_stream *s, unsigned char *byte) {
  uint32_t count[2][LANES];
  uint64_t next = (uint64_t)s->state[13] << 32 | s->state[12];
  for (int i = 0; i < LANES; i++, next++) {
    count[0][i] = (uint32_t)next;
    count[1][i] = (uint32_t)(next >> 32);
  }
  blocks(s->state, count, s->work);
  s->state[12] = (uint32_t)next;
  s->state[13] = (uint32_t)(next >> 32);
  for (int i = 0; i < LANES; i++) {
    for (int k = 0; k < WORDS; k++, byte += 4) {
      const uint32_t v = s->work[k][i];
      for (int j = 0; j < 4; j++) byte[j] = (unsigned char)(v >> (8 * j));
    }
  }
}
