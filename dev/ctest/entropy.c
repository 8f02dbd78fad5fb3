/*
 * Sources of bytes: a deterministic one, a broken one, and what the linker puts
 * before the operating system's (--wrap).
 *
 * The deterministic one: SplitMix64 (Steele, Lea & Flood 2014, "Fast
 * splittable pseudorandom number generators", OOPSLA, figure 17), which gives
 * its bytes lowest first so that big-endian machines see the same stream.
 */
#include "ctest.h"

#include <errno.h>
#include <math.h>
#include <sys/types.h>

static uint64_t next_word(void);
static int fill_seeded(void *buffer, size_t bytes);
static int fill_broken(void *buffer, size_t bytes);
static ssize_t refuse(int reason);

ssize_t __real_getrandom(void *buffer, size_t bytes, unsigned flags);
ssize_t __wrap_getrandom(void *buffer, size_t bytes, unsigned flags);

static enum ctest_system system_mode;
static size_t system_calls, system_bytes;

static uint64_t state = 1;

const struct base_entropy ctest_entropy = {.fill = fill_seeded};
const struct base_entropy ctest_entropy_broken = {.fill = fill_broken};

void ctest_seed(uint64_t seed) { state = seed; }

void ctest_system_set(enum ctest_system mode) {
  system_mode = mode;
  system_calls = system_bytes = 0;
}

ssize_t __wrap_getrandom(void *buffer, size_t bytes, unsigned flags) {
  unsigned char *p = buffer;
  if (system_mode == CTEST_SYSTEM_SOUND) return __real_getrandom(buffer, bytes, flags);
  if (system_mode == CTEST_SYSTEM_BLOCKS && flags != 0) return refuse(EAGAIN);
  if (system_mode == CTEST_SYSTEM_EMPTY) return 0;
  if (system_mode == CTEST_SYSTEM_INTERRUPTED && system_calls++ % 2 == 0) return refuse(EINTR);
  if (system_mode == CTEST_SYSTEM_SHORT && bytes > 7) bytes = 7;
  if (system_mode == CTEST_SYSTEM_ENDS && bytes > 100 - system_bytes) bytes = 100 - system_bytes;
  if (bytes == 0) return refuse(EIO);
  for (size_t i = 0; i < bytes; i++) p[i] = (unsigned char)(system_bytes++ & 255);
  return (ssize_t)bytes;
}

/* The top 52 bits, at the centre of their interval: never 0 or 1. */
double ctest_uniform(void) { return ldexp((double)(next_word() >> 12) + 0.5, -52); }

/* Box & Muller (1958). */
double ctest_normal(void) {
  double r = sqrt(-2 * log(ctest_uniform()));
  return r * cos(6.283185307179586 * ctest_uniform());
}

static ssize_t refuse(int reason) {
  errno = reason;
  return -1;
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
