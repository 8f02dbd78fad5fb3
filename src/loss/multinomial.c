/*
 * Multinomial logistic loss of K classes, the loss's parameter: of K predictors t, and the response k / K of class k,
 *
 *   l(y, t) = log(e^t_1 + ... + e^t_K) - t_y.
 *
 * With p_k = e^t_k / sum e^t_j: the slope is p - e_y, |p - e_y|^2 <= 2 (1 - p_y)^2 <= 2; the second derivative is
 * diag(p) - pp', between 0 and 1/2; the third one along a unit v is the third central moment of v under p, at most
 * range^3 / (6 sqrt(3)) with a range of at most sqrt(2) (proofs: multinomial). A response of 0, as a null record has it
 * whose predictors are zero, counts as the first class.
 *
 * Errors: predictors are shifted by the largest one, which rounds a difference a by a u and so changes e^-a by .4 u at
 * most; e^-a has an error of 3 u (loss/exp.h) and a sum of K of them, which is at least one, of (1.4 K + 3) u:
 * probabilities have an error of (1.4 K + 7) u, and the logarithm of the sum one of (1.4 K + 4) u, which is less than
 * (2 K + 12) u log(K).
 */
#include "base/simd.h"
#include "loss/exp.h"
#include "loss/private.h"

#include <math.h>

/* Number of rows that are processed together. */
#define SOME 64

#define THIRD 0.2721655269759087 /* 2 sqrt(2) / (6 sqrt(3)) */

static struct loss_bounds bounds_at(double classes) {
  return (struct loss_bounds){
      .lipschitz = M_SQRT2, .curv_upper = 0.5, .third = THIRD, .at_zero = log(classes), .zero_spread = 0, .floor = 0};
}

/* l is log K at t = 0, has a slope of at most sqrt(2) and is not negative. */
static double range(double classes, double t_max) { return M_SQRT2 * t_max + fmin(M_SQRT2 * t_max, log(classes)); }

/*
 * With |t| <= t_max two predictors differ by at most d = sqrt(2) t_max: 1 - p_y <= q = (K - 1) / (K - 1 + e^-d) and
 * p_k <= m = 1 / (1 + (K - 1) e^-d). So |p - e_y|^2, the sum of (1 - p_y)^2 and the squares of the other p_k, which add
 * to 1 - p_y, is at most q^2 + q m, which is 1 - 1 / K at t_max = 0.
 */
static double steepest(double classes, double t_max) {
  double others = classes - 1, e = exp(-M_SQRT2 * t_max), q = others / (others + e), m = 1 / (1 + others * e);
  return sqrt(q * (q + m)) * SLACK;
}

size_t loss_class(double classes, double y) {
  double k = floor(classes * y + 0.5);
  return (size_t)fmax(1, fmin(k, classes)) - 1;
}

/* Of rows with n predictors apart. */
SIMD_CLONES static void largest(size_t classes, size_t rows, size_t n, const double *t, double *restrict most) {
  for (size_t i = 0; i < rows; i++) most[i] = t[i];
  for (size_t k = 1; k < classes; k++) {
    SIMD_LOOP
    for (size_t i = 0; i < rows; i++) most[i] = t[i + k * n] > most[i] ? t[i + k * n] : most[i];
  }
}

/* e <- e^(t - most) for one class, and added to total. A difference of zeros may be -0, which exp_minus() does not
 * accept. */
SIMD_CLONES static void exponentials(size_t rows, const double *t, const double *most, double *restrict e,
                                     double *restrict total) {
  SIMD_LOOP
  for (size_t i = 0; i < rows; i++) {
    e[i] = exp_minus(fabs(most[i] - t[i]));
    total[i] += e[i];
  }
}

static size_t some(size_t start, size_t n) { return n - start < SOME ? n - start : SOME; }

/* The values of some rows. */
static void some_values(double classes, size_t rows, size_t n, const double *y, const double *t, double *value) {
  double most[SOME] = {0}, e[SOME], total[SOME] = {0};
  largest((size_t)classes, rows, n, t, most);
  for (size_t k = 0; k < (size_t)classes; k++) exponentials(rows, t + k * n, most, e, total);
  for (size_t i = 0; i < rows; i++) value[i] = log(total[i]) + (most[i] - t[i + loss_class(classes, y[i]) * n]);
}

static void values(double classes, size_t n, const double *y, const double *t, double *value) {
  for (size_t start = 0; start < n; start += SOME) {
    some_values(classes, some(start, n), n, y + start, t + start, value + start);
  }
}

static double sum(double classes, size_t n, const double *y, const double *t) {
  double total = 0, value[SOME];
  for (size_t start = 0; start < n; start += SOME) {
    size_t rows = some(start, n);
    some_values(classes, rows, n, y + start, t + start, value);
    for (size_t i = 0; i < rows; i++) total += value[i];
  }
  return total;
}

static void slopes(double classes, size_t n, const double *y, const double *t, double *d1) {
  double most[SOME] = {0};
  for (size_t start = 0; start < n; start += SOME) {
    size_t rows = some(start, n);
    double total[SOME] = {0}, *d = d1 + start;
    largest((size_t)classes, rows, n, t + start, most);
    for (size_t k = 0; k < (size_t)classes; k++) exponentials(rows, t + start + k * n, most, d + k * n, total);
    for (size_t k = 0; k < (size_t)classes; k++) {
      for (size_t i = 0; i < rows; i++) d[i + k * n] /= total[i];
    }
    for (size_t i = 0; i < rows; i++) d[i + loss_class(classes, y[start + i]) * n] -= 1;
  }
}

const struct loss loss_multinomial = {
    .name = "multinomial",
    .parameter = 3,
    .least = 2,
    .most = 1000,
    .multi_output = 1,
    .bounds_at = bounds_at,
    .bounds = {.lipschitz = M_SQRT2, .curv_upper = 0.5, .third = THIRD, .at_zero = 1.0986122886681098 /* log(3) */},
    .range = range,
    .steepest = steepest,
    .sum = sum,
    .values = values,
    .slopes = slopes,
};
