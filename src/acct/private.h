/*
 * acct, inside: what its files share.
 */
#ifndef DPSOSP_ACCT_PRIVATE_H
#define DPSOSP_ACCT_PRIVATE_H

#include "acct/acct.h"

/* Mills ratio R(x) = (1 - Phi(x)) / phi(x) and -R'(x) = 1 - x R(x) > 0, to a
 * few units in the last place for x >= -5. */
double acct_mills(double x);
double acct_mills_slope(double x);

/* Does delta(x) stay at or below the one asked for? */
struct acct_target {
  double (*log_delta)(double x, double other);
  double other;
  double log_delta_max; /* a little below the one asked for */
};
/* target for delta in (0, 1): lower by more than the rounding error of log_delta. */
double acct_target_log(double delta);
int acct_meets(const struct acct_target *target, double x);
/* Bisection between good, which meets the target, and bad, which does not,
 * down to neighbouring doubles: the last good one. */
double acct_bisect(const struct acct_target *target, double good, double bad);
/* The smallest x that meets the target (delta decreasing in x, 0 does not meet it), from one that does but for
 * rounding. */
double acct_smallest(const struct acct_target *target, double good);
/* The largest x > 0 that meets the target (delta increasing in x), from a guess. */
double acct_largest(const struct acct_target *target, double guess);

#endif
