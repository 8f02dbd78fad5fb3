/*
 * SHA-256 (FIPS 180-4), for the chain of a budget's store (R/privacy-store.R). It hashes public text only. The
 * constants are those of the standard: the first 32 bits of the fractional parts of cube roots of the first 64 primes,
 * and of square roots of the first eight.
 */
#include "base/base.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, STATE = BASE_SHA256_BYTES / 4, LENGTH_AT = BLOCK - 8 };

static const uint32_t constant[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int right) { return x >> right | x << (32 - right); }

/* The 64 words of a block. */
static void schedule(const unsigned char *block, uint32_t *w) {
  for (int t = 0; t < 16; t++) {
    const unsigned char *b = block + 4 * t;
    w[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (int t = 16; t < ROUNDS; t++) {
    uint32_t x = w[t - 15], y = w[t - 2];
    uint32_t s0 = turned(x, 7) ^ turned(x, 18) ^ x >> 3, s1 = turned(y, 17) ^ turned(y, 19) ^ y >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
}

static void compress(uint32_t *state, const unsigned char *block) {
  uint32_t w[ROUNDS], v[STATE];
  schedule(block, w);
  memcpy(v, state, sizeof v);
  for (int t = 0; t < ROUNDS; t++) {
    uint32_t a = v[0], e = v[4];
    uint32_t s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25), choice = (e & v[5]) ^ (~e & v[6]);
    uint32_t s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22), majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
    uint32_t first = v[7] + s1 + choice + constant[t] + w[t];
    memmove(v + 1, v, (STATE - 1) * sizeof *v);
    v[4] += first;
    v[0] = first + s0 + majority;
  }
  for (int i = 0; i < STATE; i++) state[i] += v[i];
}

/* The bytes after the last whole block, a one, zeros and the length in bits: one block or two. */
static void finish(uint32_t *state, const unsigned char *rest, size_t left, uint64_t bytes) {
  unsigned char block[2 * BLOCK] = {0};
  size_t size = left < LENGTH_AT ? BLOCK : 2 * BLOCK;
  if (left > 0) memcpy(block, rest, left);
  block[left] = 0x80;
  for (int i = 0; i < 8; i++) block[size - 1 - (size_t)i] = (unsigned char)(bytes * 8 >> 8 * i);
  for (size_t at = 0; at < size; at += BLOCK) compress(state, block + at);
}

void base_sha256(const void *data, size_t bytes, unsigned char *digest) {
  uint32_t state[STATE] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const unsigned char *at = data;
  size_t left = bytes;
  for (; left >= BLOCK; at += BLOCK, left -= BLOCK) compress(state, at);
  finish(state, at, left, bytes);
  for (int i = 0; i < 4 * STATE; i++) digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
