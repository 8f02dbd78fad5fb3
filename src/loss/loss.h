/*
 * loss: per-record loss as a function of the response y and the linear
 * predictor t = x'w, with the public bounds that sensitivities follow from.
 * A loss of several outputs is a function of as many predictors: the bounds are
 * those of the vector l' in the Euclidean norm, of the eigenvalues of the matrix
 * l'', and of the latter's change in the spectral norm.
 */
#ifndef DPSOSP_LOSS_H
#define DPSOSP_LOSS_H

#include "base/base.h"

struct loss;

struct loss_bounds {
  double lipschitz;   /* |l'| <= lipschitz; infinite for a loss whose slope has no bound */
  double curv_lower;  /* l'' >= -curv_lower, curv_lower >= 0 */
  double curv_upper;  /* l'' <= curv_upper; these two bound the difference quotients of l' where there is no l'' */
  double third;       /* |l'''| <= third; infinite where l'' jumps */
  double at_zero;     /* l(y, 0) <= at_zero, for y = 0 too, which a null record has */
  double zero_spread; /* |l(y, 0) - l(0, 0)| <= zero_spread */
  double floor;       /* l >= floor */
};

/* The table; NULL ends it. y is -1 or 1, of "huber" and "squared" in [-1, 1], of "multinomial" k / K for the class k of
 * K, of "poisson" in [0, 1]. */
extern const struct loss *const losses_all[];
/* The one of this name, with the default of its parameter if it has one; NULL for an unknown name. */
const struct loss *loss_find(const char *name);
/* The same with a parameter, which the loss's file describes; ignored by a loss without one.
 * BASE_ERR_ARGUMENT where it is out of its range, and for an unknown name. */
int loss_create(const char *name, double parameter, struct loss **out);
void loss_free(struct loss *loss);
/* Is the slope a mean minus the response, a residual? */
int loss_has_residuals(const struct loss *loss);
/* Has l' the same sign at every t, for each response? */
int loss_has_one_sign(const struct loss *loss);
/* log(1 + l'' / strong) - tilt (1 - |l'| / lipschitz) is at most this; strong > 0, tilt >= 0. */
double loss_determinant(const struct loss *loss, double strong, double tilt);
/* Number of predictors of a row. With several, t and d1 below have a column for each, and there is no d2. */
size_t loss_outputs(const struct loss *loss);
/* The class that a response of "multinomial" with so many classes has, from 0 on. */
size_t loss_class(double classes, double y);
const struct loss_bounds *loss_bounds_of(const struct loss *loss);
/* max l - min l over |t| <= t_max and all responses, including 0. */
double loss_range(const struct loss *loss, double t_max);
/* |l'| over |t| <= t_max and all responses. */
double loss_slope_within(const struct loss *loss, double t_max);
/* The largest distance of l'(y, z'w + o) z and l'(y_2, z_2'w + o_2) z_2 over rows with |z| <= 1, offsets of at most
 * `offset` and all responses, |w| = norm (proofs: sensitivity-gradient); an upper bound. */
double loss_gradient_spread(const struct loss *loss, double norm, double offset);
/* -lower <= l'' <= upper over |t| <= t_max and all responses. */
void loss_curvature_within(const struct loss *loss, double t_max, double *lower, double *upper);
/* l(y, t) - l(y, t + x) lies between -rise and fall over |t| <= t_max, |x| <= step and all responses; upper bounds. */
double loss_fall(const struct loss *loss, double t_max, double step);
double loss_rise(const struct loss *loss, double t_max, double step);
/* The sum of the values: faster than loss_eval, with a rounding error of at most (n + 12) u times the sum of their
 * bounds for n <= 1024, of several outputs (n + 12 + 2 loss_outputs()) u. */
double loss_sum(const struct loss *loss, size_t n, const double *y, const double *t);
/* Value, first and second derivative with respect to t; NULL for those not needed. */
void loss_eval(const struct loss *loss, size_t n, const double *y, const double *t, double *value, double *d1,
               double *d2);
/* Slopes with respect to t, of rows whose loss has a slope of at most c_i each, .51 <= c_i <= 1: that of
 * "bounded_logistic" with this parameter; c_i = 1: the logistic loss itself. */
void loss_row_slopes(size_t n, const double *y, const double *t, const double *c, double *d1);

/* For rows that have slopes of their own: for the logistic loss by loss_row_slopes(); other losses have one
 * slope only, and ignore c. */
void loss_own_slopes(const struct loss *loss, size_t n, const double *y, const double *t, const double *c, double *d1);
double loss_min_slope(const struct loss *loss);
/* Bound on l'' of such a row, for every c. */
double loss_own_curvature(const struct loss *loss);

/* Curvature of a quadratic upper bound: l(y, s) <= l(y, t) + l'(y, t) (s - t) + c/2 (s - t)^2 for every s and all
 * responses, with 0 <= c <= curv_upper; Lipschitz in t with the constant below. */
void loss_upper_curvature(const struct loss *loss, size_t n, const double *t, double *c);
double loss_upper_lipschitz(const struct loss *loss);

#endif
