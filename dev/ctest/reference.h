/*
 * Reference values for the tests of acct, in long double and by other means than
 * the room's own: Gauss-Legendre quadrature, the normal law by erfcl(), and the
 * hockey-stick divergences of dominating pairs in closed form, at any real eps.
 */
#ifndef DPSOSP_REFERENCE_H
#define DPSOSP_REFERENCE_H

#include <math.h>

#include "acct/private.h"
#include "ctest.h"

enum { REFERENCE_POINTS = 20 };
struct reference_rule {
  long double x[REFERENCE_POINTS], w[REFERENCE_POINTS];
};
typedef long double reference_function(long double x, const void *with);

/* Relative; valgrind's long double is a double. */
static inline double reference_tolerance(double fine) { return ctest_extended() ? fine : fmax(fine, 1e-10); }

/* The larger one; not a number stays. */
static inline double reference_worst(double worst, double x) { return isnan(worst) || x <= worst ? worst : x; }

/* Roots of the Legendre polynomial by Newton's method; on [-1, 1]. */
static inline const struct reference_rule *reference_rule(void) {
  static struct reference_rule rule;
  for (int i = 0; i < REFERENCE_POINTS && !(rule.w[REFERENCE_POINTS - 1] > 0); i++) {
    long double x = cosl(acosl(-1) * (i + 0.75L) / (REFERENCE_POINTS + 0.5L)), slope = 1;
    for (int step = 0; step < 50; step++) {
      long double before = 1, now = x;
      for (int n = 2; n <= REFERENCE_POINTS; n++) {
        long double next = ((2 * n - 1) * x * now - (n - 1) * before) / n;
        before = now, now = next;
      }
      slope = REFERENCE_POINTS * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    rule.x[i] = x;
    rule.w[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return &rule;
}

static inline long double reference_integral(reference_function *f, const void *with, long double low, long double high,
                                             int panels) {
  const struct reference_rule *rule = reference_rule();
  long double sum = 0, half = (high - low) / (2 * panels);
  for (int k = 0; k < panels; k++) {
    long double middle = low + (2 * k + 1) * half;
    for (int i = 0; i < REFERENCE_POINTS; i++) sum += rule->w[i] * f(middle + half * rule->x[i], with);
  }
  return sum * half;
}

static inline long double reference_normal_density(long double x) { return expl(-x * x / 2) / sqrtl(2 * acosl(-1)); }
/* P(Z > x) */
static inline long double reference_normal_above(long double x) { return erfcl(x / sqrtl(2)) / 2; }

/* Hockey-stick divergences at e^v of a single release of parameter a. */
static inline long double reference_base(enum acct_kind kind, long double a, long double v) {
  if (kind == ACCT_GAUSSIAN) {
    long double below = reference_normal_above(v / a + a / 2);
    return reference_normal_above(v / a - a / 2) - (below > 0 ? expl(v) * below : 0);
  }
  if (v < 0) return -expm1l(v) + expl(v) * reference_base(kind, a, -v);
  if (v >= a) return 0;
  long double half = -expm1l((v - a) / 2);
  if (kind == ACCT_LAPLACE) return half;
  if (kind == ACCT_EXPONENTIAL) return half * half / -expm1l(-a);
  return -expm1l(v - a) / (1 + expl(-a)); /* ACCT_PURE */
}

/* The same of ((1 - s) Q + s P, Q), of (Q, (1 - s) Q + s P) and of replace-one
 * neighbours, s delta(log(1 + (e^v - 1) / s)) continued by symmetry. */
static inline long double reference_mixture(enum acct_kind kind, long double a, long double s, long double v) {
  long double y = expm1l(v) / s;
  return y <= -1 ? -expm1l(v) : s * reference_base(kind, a, log1pl(y));
}
static inline long double reference_reverse(enum acct_kind kind, long double a, long double s, long double v) {
  long double left = s - expm1l(v) * (1 - s); /* 1 - e^v (1 - s) */
  return left <= 0 ? 0 : left * reference_base(kind, a, v + logl(s) - logl(left));
}
static inline long double reference_replace(enum acct_kind kind, long double a, long double s, long double v) {
  if (v < 0) return -expm1l(v) + expl(v) * reference_replace(kind, a, s, -v);
  return reference_mixture(kind, a, s, v);
}

/* r^alpha - 1 - alpha (r - 1) of r = 1 + y, without cancellation. */
static inline long double reference_excess(long double y, long double alpha) {
  if (fabsl(y) * (1 + fabsl(alpha)) > 1e-2L) return expm1l(alpha * log1pl(y)) - alpha * y;
  long double sum = 0, term = 1;
  for (int j = 1; j < 14; j++) {
    term *= (alpha - j + 1) / j * y;
    if (j > 1) sum += term;
  }
  return sum;
}

#endif
