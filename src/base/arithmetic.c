/*
 * Is the compiled and running arithmetic that of IEEE 754? base.h refuses the
 * flags that compilers announce; some do not announce them, and a library that was
 * loaded before may have changed the processor's mode. Operands are volatile, so
 * that the compiler cannot compute with them.
 */
#include "base/base.h"

#include <float.h>
#include <math.h>

static volatile double zero = 0, minus_zero = -0.0, one = 1, forty_nine = 49, large = 0x1p100, least = DBL_MIN,
                       half_ulp = 0x1p-53;

static int has_nan(void) {
  volatile double made = zero / zero;
  double x = made;
  return x != x && !(x <= 1) && !(x >= 1) && isnan(x) && !isfinite(x);
}

static int has_infinity(void) {
  volatile double made = one / zero;
  double x = made;
  return x > DBL_MAX && !isfinite(x) && !isfinite(-x);
}

/* A compiler that replaces x + 0 by x gives -0. */
static int has_signed_zero(void) {
  double x = minus_zero;
  return signbit(x) && !signbit(x + 0.0);
}

/* A compiler that replaces (x + y) - y by x gives 1. */
static int keeps_order(void) {
  double x = one, y = large;
  return (x + y) - y == 0;
}

/* 49 times the rounded 1 / 49 is less than 1; a true division gives 1. */
static int divides(void) {
  double x = forty_nine;
  return x / 49.0 == 1;
}

static int has_subnormals(void) {
  volatile double small = least / 4;
  return small > 0 && small * 4 == least;
}

static int rounds_to_nearest(void) {
  volatile double tie = one + half_ulp, above = one + 1.5 * half_ulp, below = -one - 1.5 * half_ulp;
  return tie == 1 && above == 1 + DBL_EPSILON && below == -1 - DBL_EPSILON;
}

const char *base_arithmetic_fault(void) {
  static const struct {
    int (*holds)(void);
    const char *fault;
  } all[] = {
      {rounds_to_nearest, "results are not rounded to nearest"}, /* first: the other tests assume it */
      {has_nan, "what is not a number compares as one"},
      {has_infinity, "infinity counts as finite"},
      {has_signed_zero, "the sign of zero is lost"},
      {keeps_order, "sums are taken in another order than they are written in"},
      {divides, "divisions are replaced by products"},
      {has_subnormals, "numbers near zero are set to zero"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (!all[i].holds()) return all[i].fault;
  }
  return NULL;
}
