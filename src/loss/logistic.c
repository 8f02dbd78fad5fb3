/*
 * Logistic loss l(y, t) = log(1 + exp(-y t)), y in {-1, 1}.
 *
 * With s = 1 / (1 + exp(y t)): l' = -y s in [-1, 1], l'' = s (1 - s) in
 * [0, 1/4], |l'''| = s (1 - s) |1 - 2 s| <= 1 / (6 sqrt(3)).
 */
#include "base/simd.h"
#include "loss/exp.h"
#include "loss/private.h"

#include <float.h>
#include <math.h>

/* log(1 + e^T) - log(1 + e^-T) = T */
static double range(double none, double t_max) {
  (void)none;
  return t_max;
}

static double share_above(double t) { return 1 / (1 + exp(-t)); }

static double steepest(double none, double t_max) {
  (void)none;
  return share_above(t_max) * SLACK;
}

/*
 * max(1, max over 0 <= a <= 1 of 2 s(offset + norm a) sqrt(1 - a^2)), s(t) = 1 / (1 + e^-t) (proofs:
 * sensitivity-gradient). The logarithm of what is maximised is concave in a, so bisection encloses the maximum; each
 * factor is taken at the end of the last interval where it is larger. An infinite norm gives 2.
 */
static double spread(double norm, double offset) {
  double low = 0, high = 1;
  for (int k = 0; k < 60; k++) {
    double a = (low + high) / 2, slope = norm * share_above(-offset - norm * a) - a / (1 - a * a);
    if (slope > 0) low = a;
    else high = a;
  }
  return fmax(1, 2 * share_above(offset + norm * high) * sqrt(1 - low * low)) * SLACK;
}

/* l(y, t) as a function of u = -y t. */
static double value_at(double u) { return fmax(u, 0) + log1p(exp(-fabs(u))); }

/* A difference of two values, whose rounding is added. */
static double difference(double from, double to) {
  return value_at(from) - value_at(to) + 4 * DBL_EPSILON * (1 + fabs(from) + fabs(to));
}

/* The loss is convex and falls in y t: it falls most from y t = -t_max upwards, and rises most from there downwards. */
static double fall(double t_max, double step) { return difference(t_max, t_max - step); }

static double rise(double t_max, double step) { return difference(t_max + step, t_max); }

/* One logarithm serves many records: log(1 + e_1) + log(1 + e_2) + ... is the
 * logarithm of the product, whose factors lie in [1, 2]. */
#define PRODUCT 512

SIMD_CLONES static double sum(double none, size_t n, const double *y, const double *t) {
  (void)none;
  double total = 0;
  for (size_t start = 0; start < n; start += PRODUCT) {
    size_t end = n - start < PRODUCT ? n : start + PRODUCT;
    double product = 1, linear = 0;
    SIMD_PRODUCT_SUM(product, linear)
    for (size_t i = start; i < end; i++) {
      double margin = y[i] * t[i];
      product *= 1 + exp_minus(fabs(margin));
      linear += margin < 0 ? -margin : 0;
    }
    total += log(product) + linear;
  }
  return total;
}

static void values(double none, size_t n, const double *y, const double *t, double *value) {
  (void)none;
  for (size_t i = 0; i < n; i++) {
    double margin = y[i] * t[i];
    value[i] = log1p(exp_minus(fabs(margin))) + (margin < 0 ? -margin : 0);
  }
}

SIMD_CLONES static void slopes(double none, size_t n, const double *y, const double *t, double *d1) {
  (void)none;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double margin = y[i] * t[i], e = exp_minus(fabs(margin));
    d1[i] = -y[i] * (margin < 0 ? 1 : e) / (1 + e);
  }
}

SIMD_CLONES static void curvatures(double none, size_t n, const double *y, const double *t, double *d2) {
  (void)none;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double e = exp_minus(fabs(y[i] * t[i])), q = 1 / (1 + e);
    d2[i] = e * q * q;
  }
}

/*
 * tanh(t / 2) / (2 t) (Jaakkola & Jordan 2000; lemma 5.1 of Ganesh et al. 2023): the mean of s (1 - s) over [0, t],
 * hence at most 1/4 and as Lipschitz as that. Its series, 1/4 - t^2 / 48 + ..., replaces 0 / 0.
 */
static void upper(size_t n, const double *t, double *c) {
  for (size_t i = 0; i < n; i++) c[i] = fabs(t[i]) < 1e-4 ? 0.25 - t[i] * t[i] / 48 : tanh(t[i] / 2) / (2 * t[i]);
}

/*
 * With s = |l'|: log(1 + s (1 - s) / strong) - tilt (1 - s) is concave in s, and its derivative is zero where
 * tilt s^2 + (2 - tilt) s = 1 + tilt strong. Where that root exceeds 1, the largest value is 0, at s = 1.
 */
static double determinant(double strong, double tilt) {
  double four = 1 + 4 * strong, s = 0.5 + tilt * four / (2 * (sqrt(4 + tilt * tilt * four) + 2));
  return s < 1 ? log1p(s * (1 - s) / strong) - tilt * (1 - s) : 0;
}

extern const struct loss loss_bounded_logistic;

const struct loss loss_logistic = {
    .name = "logistic",
    .one_sign = 1,
    .bounds = {.lipschitz = 1,
               .curv_lower = 0,
               .curv_upper = 0.25,
               .third = 0.09622504486493763, /* 1 / (6 sqrt(3)) */
               .at_zero = 0.6931471805599453,
               .zero_spread = 0,
               .floor = 0},
    .range = range,
    .steepest = steepest,
    .spread = spread,
    .fall = fall,
    .rise = rise,
    .sum = sum,
    .values = values,
    .slopes = slopes,
    .flattens = &loss_bounded_logistic,
    .curvatures = curvatures,
    .upper = upper,
    .determinant = determinant,
};
