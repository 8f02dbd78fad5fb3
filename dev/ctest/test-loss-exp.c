/* e^-a against extended precision: on dense grids, at the ends of the argument's reduction, at powers of two and their
 * neighbours, and where it stops at the least values. The bound is the one of its proof, 3 u. */
#include "ctest.h"

#include <float.h>
#include <math.h>

#include "base/simd.h"
#include "loss/exp.h"

enum { BATCH = 1000 };
static double asked[BATCH], worst;
static size_t waiting;

static void ask(double a);
static void answer(void);
static void around(double a);
static void dense(void);
static void reductions(void);
static void powers(void);
static void beyond(void);

void test_loss_exp(void) {
  CHECK(exp_minus(0) == 1);
  beyond();
  if (!ctest_extended()) return;
  worst = 0;
  dense();
  reductions();
  powers();
  answer();
  CHECK(worst <= 3);
  CHECK(worst > 0.5); /* no double is nearer everywhere than half an ulp: the comparison sees something */
}

static void ask(double a) {
  asked[waiting++] = a;
  if (waiting == BATCH) answer();
}

SIMD_CLONES static void exp_of_all(size_t n, const double *a, double *restrict e) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) e[i] = exp_minus(a[i]);
}

/* In a loop of vectors, as the losses do, and alone; worst is the largest relative error in u. */
static void answer(void) {
  double e[BATCH];
  exp_of_all(waiting, asked, e);
  for (size_t i = 0; i < waiting; i++) {
    long double exact = expl(-(long double)asked[i]), unit = exact * DBL_EPSILON / 2;
    worst = fmax(worst, (double)(fabsl(e[i] - exact) / unit));
    worst = fmax(worst, (double)(fabsl(exp_minus(asked[i]) - exact) / unit));
  }
  waiting = 0;
}

/* a and forty neighbours on each side. */
static void around(double a) {
  double below = a, above = a;
  ask(a);
  for (int i = 0; i < 40; i++) {
    if (below > 0) ask(below = nextafter(below, 0));
    if (above < 708) ask(above = nextafter(above, INFINITY));
  }
}

/* Two of the steps are no multiples of one another, and the arguments fill the last bits at random. */
static void dense(void) {
  int n = ctest_size(1000000, 1000);
  for (int i = 0; i < n; i++) {
    ask(708.0 * i / n);
    ask(2.0 * (i + ctest_uniform()) / n);
    ask(708 * ctest_uniform());
    ask(exp(-30 * ctest_uniform()));
  }
}

/* Where k changes, |r| is largest; in the middle, a - k log 2 cancels most. */
static void reductions(void) {
  for (int k = 0; k <= 1020; k++) {
    around((double)((k + 0.5L) * logl(2)));
    around((double)(k * logl(2)));
  }
}

static void powers(void) {
  for (int k = -1074; k <= 9; k++) around(ldexp(1, k));
  around(708);
}

/* Not above e^-708, not zero, not a subnormal number. */
static void beyond(void) {
  static const double a[] = {708, 709, 745, 746, 1e5, 1e10, 1e100, DBL_MAX, INFINITY};
  for (size_t i = 0; i < sizeof a / sizeof *a; i++) CHECK(exp_minus(a[i]) == exp_minus(708));
  CHECK(exp_minus(708) >= DBL_MIN && exp_minus(708) < 0x1p-1021);
}
