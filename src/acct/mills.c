/*
 * Mills ratio. With I_n = int_0^inf t^n / n! exp(-x t - t^2 / 2) dt, R(x) is
 * I_0 and -R'(x) is I_1. Integration by parts gives x I_0 + I_1 = 1 and
 * (n + 1) I_{n+1} + x I_n = I_{n-1}, whose minimal solution the backward
 * continued fraction r_n = I_n / I_{n-1} = 1 / (x + (n + 1) r_{n+1}) finds
 * without cancellation (Gautschi 1967).
 */
#include "acct/private.h"

#include <math.h>

static const double fraction_from = 2.0;
static double quotient(double x);
static double ratio(double x);

double acct_mills(double x) {
  if (x < fraction_from) return quotient(x);
  return 1.0 / (x + ratio(x));
}

double acct_mills_slope(double x) {
  if (x < fraction_from) return 1.0 - x * quotient(x);
  double r = ratio(x);
  return r / (x + r);
}

static double quotient(double x) {
  static const double sqrt_2pi = 2.50662827463100050242;
  return base_pnorm(-x) * sqrt_2pi * exp(0.5 * x * x);
}

/* r_1. The error falls like exp(-2 x sqrt(2 n)). */
static double ratio(double x) {
  double r = 0.0;
  for (double n = 12.0 + floor(400.0 / (x * x)); n >= 1.0; n -= 1.0) r = 1.0 / (x + (n + 1.0) * r);
  return r;
}
