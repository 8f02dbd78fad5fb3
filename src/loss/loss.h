/*
 * loss: per-record loss as a function of the response y and the linear
 * predictor t = x'w, with the public bounds that sensitivities follow from.
 */
#ifndef DPSOSP_LOSS_H
#define DPSOSP_LOSS_H

#include "base/base.h"

struct loss;

struct loss_bounds {
  double lipschitz;  /* |l'| <= lipschitz */
  double curv_lower; /* l'' >= -curv_lower, curv_lower >= 0 */
  double curv_upper; /* l'' <= curv_upper */
  double third;      /* |l'''| <= third */
  double at_zero;    /* l(y, 0), the same for every y */
  double floor;      /* l >= floor */
};

/* "logistic" or "sigmoid"; NULL for an unknown name. */
const struct loss *loss_find(const char *name);
const struct loss_bounds *loss_bounds_of(const struct loss *loss);
/* max l - min l over |t| <= t_max and both responses. */
double loss_range(const struct loss *loss, double t_max);
/* The sum of the values: faster than loss_eval, with a rounding error of at most (n + 12) u times the sum of their
 * bounds for n <= 1024. */
double loss_sum(const struct loss *loss, size_t n, const double *y, const double *t);
/* value, first and second derivative with respect to t; NULL is not computed. */
void loss_eval(const struct loss *loss, size_t n, const double *y, const double *t, double *value, double *d1,
               double *d2);

/* Curvature of a quadratic upper bound: l(y, s) <= l(y, t) + l'(y, t) (s - t) + c/2 (s - t)^2 for every s and both
 * responses, with 0 <= c <= curv_upper and c third-Lipschitz in t. */
void loss_majorant(const struct loss *loss, size_t n, const double *t, double *c);

#endif
