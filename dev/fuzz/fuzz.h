/*
 * fuzz: what the harnesses share. A harness is a file fuzz-<what>.c with
 * LLVMFuzzerTestOneInput(), which reads its arguments off the input and calls
 * the core; dev/fuzz.sh finds it by its name. It looks for crashes, errors that
 * the sanitizers see, and violations of what the header promises.
 */
#ifndef DPSOSP_FUZZ_H
#define DPSOSP_FUZZ_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(cond)                                                                                                  \
  do {                                                                                                                 \
    if (!(cond)) {                                                                                                     \
      fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #cond);                                             \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* What is left of the input; zeros when nothing is. */
struct fuzz {
  const uint8_t *p;
  size_t left;
};

static inline uint64_t fuzz_word(struct fuzz *f, size_t bytes) {
  uint64_t w = 0;
  for (size_t i = 0; i < bytes; i++) {
    w = w << 8 | (f->left ? *f->p : 0);
    if (f->left) f->p++, f->left--;
  }
  return w;
}

/* 0, ..., n - 1, n <= 2^16 */
static inline uint32_t fuzz_below(struct fuzz *f, uint32_t n) { return (uint32_t)(fuzz_word(f, n <= 256 ? 1 : 2) % n); }

/* Any double: by its bits, or one of those that programs stumble over. */
static inline double fuzz_double(struct fuzz *f) {
  static const double odd[] = {0,        -0.0,      1,         -1,          NAN,
                               INFINITY, -INFINITY, 0x1p-1074, 0x1p-1022,   0x1.fffffffffffffp1023,
                               1e-300,   1e300,     0x1p-53,   1 - 0x1p-53, 1 + 0x1p-52,
                               0.5};
  const uint32_t kind = fuzz_below(f, 4);
  double x;
  if (kind == 0) return odd[fuzz_below(f, sizeof odd / sizeof *odd)];
  if (kind == 1) return (double)(int16_t)fuzz_word(f, 2) / 8192;
  if (kind == 2) return ldexp(1 + (double)fuzz_word(f, 1) / 256, (int)fuzz_below(f, 256) - 128);
  const uint64_t bits = fuzz_word(f, 8);
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* A number in (0, 1), its ends within 2^-16. */
static inline double fuzz_share(struct fuzz *f) { return ((double)fuzz_word(f, 2) + 0.5) / 65536; }

static inline void fuzz_doubles(struct fuzz *f, size_t n, double *x) {
  for (size_t i = 0; i < n; i++) x[i] = fuzz_double(f);
}

static inline int fuzz_all_finite(size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

static inline int fuzz_all_zero(size_t n, const double *x) {
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) return 0;
  return 1;
}

/* Seeds the source of bytes; one input in eight lets an allocation fail. */
static inline struct fuzz fuzz_begin(const uint8_t *data, size_t size) {
  struct fuzz f = {data, size};
  ctest_seed(fuzz_word(&f, 1));
  ctest_fail_allocation(fuzz_below(&f, 8) == 7 ? 1 + (int)fuzz_below(&f, 32) : 0);
  return f;
}

/* Whatever happened, nothing is left behind. */
static inline void fuzz_end(void) {
  ctest_fail_allocation(0);
  REQUIRE(ctest_live_allocations() == 0);
}

#endif
