/* The self-test of the arithmetic, in modes of the processor that fail it. What compilers do is in dev/fast-math.sh. */
#include "ctest.h"

#include <fenv.h>
#include <float.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

static void sound(void);
static void rounding(void);
static void flushing(void);

void test_base_arithmetic(void) {
  sound();
  rounding();
  flushing();
}

static void sound(void) {
  CHECK(base_arithmetic_fault() == NULL);
}

/* Not under valgrind, which rounds some results to nearest in every mode. */
static void rounding(void) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int k = 0; k < 3 && ctest_extended(); k++) {
    if (fesetround(modes[k]) != 0) continue;
    const char *fault = base_arithmetic_fault();
    fesetround(FE_TONEAREST);
    CHECK(fault && strstr(fault, "nearest") != NULL);
  }
  sound();
}

/* Results that are set to zero, and operands that are; not under valgrind, which has no such mode. */
static void flushing(void) {
#ifdef __SSE2__
  static const unsigned modes[] = {0x8000, 0x0040};
  const unsigned before = _mm_getcsr();
  for (int k = 0; k < 2 && ctest_extended(); k++) {
    _mm_setcsr(before | modes[k]);
    const char *fault = base_arithmetic_fault();
    _mm_setcsr(before);
    CHECK(fault && strstr(fault, "zero") != NULL);
  }
  sound();
#endif
}
