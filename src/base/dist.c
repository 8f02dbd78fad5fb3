/*
 * Distributions: the only file that names R's mathematical library. The names
 * have no Rf_ prefix: Rmath.h adds it inside R, and the standalone library that
 * the C tests link has none.
 */
#include "base/base.h"

#include <Rmath.h>

double base_pnorm(double x) { return pnorm5(x, 0, 1, 1, 0); }
double base_pnorm_log(double x) { return pnorm5(x, 0, 1, 1, 1); }
double base_qnorm(double p) { return qnorm5(p, 0, 1, 1, 0); }
double base_pnchisq(double x, double df, double ncp) { return pnchisq(x, df, ncp, 1, 0); }
