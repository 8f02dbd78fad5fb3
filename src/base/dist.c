/* Distributions: the only file that names R's mathematical library. */
#include "base/base.h"

#include <Rmath.h>

double base_pnorm(double x) { return Rf_pnorm5(x, 0, 1, 1, 0); }
double base_pnorm_log(double x) { return Rf_pnorm5(x, 0, 1, 1, 1); }
double base_qnorm(double p) { return Rf_qnorm5(p, 0, 1, 1, 0); }
double base_qnorm_upper(double p) { return Rf_qnorm5(p, 0, 1, 0, 0); }
double base_pnchisq(double x, double df, double ncp) { return Rf_pnchisq(x, df, ncp, 1, 0); }
