/*
 * A deterministic source of bytes: SplitMix64 (Steele, Lea & Flood 2014, "Fast
 * splittable pseudorandom number generators", OOPSLA, figure 17), which gives
 * its bytes lowest first so that big-endian machines see the same stream.
 */
#include "ctest.h"

#include <math.h>

static uint64_t next_word(void);
static int fill_seeded(void *buffer, size_t bytes);
static int fill_broken(void *buffer, size_t bytes);

static uint64_t state = 1;

const struct base_entropy ctest_entropy = {fill_seeded};
const struct base_entropy ctest_entropy_broken = {fill_broken};

void ctest_seed(uint64_t seed) { state = seed; }

/* The top 52 bits, at the centre of their interval: never 0 or 1. */
double ctest_uniform(void) { return ldexp((double)(next_word() >> 12) + 0.5, -52); }

/* Box & Muller (1958). */
double ctest_normal(void) {
  double r = sqrt(-2 * log(ctest_uniform()));
  return r * cos(6.283185307179586 * ctest_uniform());
}

static uint64_t next_word(void) {
  uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static int fill_seeded(void *buffer, size_t bytes) {
  unsigned char *p = buffer;
  for (size_t i = 0; i < bytes;) {
    uint64_t word = next_word();
    for (int k = 0; k < 8 && i < bytes; k++, i++) p[i] = (unsigned char)(word >> (8 * k));
  }
  return BASE_OK;
}

static int fill_broken(void *buffer, size_t bytes) {
  (void)buffer;
  (void)bytes;
  return BASE_ERR_ENTROPY;
}
