/* The Poisson loss: its definition in extended precision, and that its bounds are attained; that they are enough, and
 * that derivatives agree, is in test-loss-table.c. */
#include "ctest.h"
#include "loss/loss.h"

#include <float.h>
#include <math.h>

static void precise(const struct loss *loss, double top);
static void sums(const struct loss *loss);
static void minimum(const struct loss *loss, double max);

void test_loss_poisson(void) {
  static const double maxima[] = {1, 2, 30, 1e6}, refused[] = {0, 0.99, 1.1e6, -1, INFINITY, NAN};
  struct loss *loss;
  for (size_t i = 0; i < sizeof maxima / sizeof *maxima; i++) {
    CHECK(loss_create("poisson", maxima[i], &loss) == BASE_OK);
    precise(loss, log(maxima[i]));
    sums(loss);
    minimum(loss, maxima[i]);
    loss_free(loss);
  }
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    CHECK(loss_create("poisson", refused[i], &loss) == BASE_ERR_ARGUMENT && !loss);
  }
}

/* The barrier counts on 12 u relative to the largest value. */
static void precise(const struct loss *loss, double top) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  double worst[3] = {0, 0, 0}, steepest = 0, rises = 0, most = 0;
  for (int i = 0; i < ctest_size(100000, 4000); i++) {
    double t = i % 2 ? top + ctest_normal() : ctest_normal() * exp(4 * ctest_uniform()), y = ctest_uniform(), got[3];
    if (i % 3 == 0) y = i % 2;
    long double e = t <= top ? expl((long double)t - top) : 1;
    long double exact[] = {e + (t > top ? (long double)t - top : 0) - (long double)y * t, e - y, t <= top ? e : 0};
    const double size[] = {b->at_zero + b->lipschitz * fabs(t), b->lipschitz, b->curv_upper};
    loss_eval(loss, 1, &y, &t, &got[0], &got[1], &got[2]);
    for (int k = 0; k < 3; k++) worst[k] = fmax(worst[k], (double)fabsl(got[k] - exact[k]) / size[k]);
    steepest = fmax(steepest, -got[1]);
    rises = fmax(rises, got[1]);
    most = fmax(most, got[2]);
  }
  for (int k = 0; k < 3; k++) CHECK_NEAR(worst[k], 0, 12 * DBL_EPSILON / 2);
  CHECK(rises == b->lipschitz && b->curv_lower == 0 && isinf(b->third) && b->third > 0 && b->zero_spread == 0);
  CHECK_NEAR(steepest, b->lipschitz, 0.02);
  CHECK_NEAR(most, b->curv_upper, 0.02);
}

static void sums(const struct loss *loss) {
  enum { MOST = 1024 };
  static const size_t counts[] = {0, 1, 7, 513, MOST};
  static double y[MOST], t[MOST], value[MOST];
  const struct loss_bounds *b = loss_bounds_of(loss);
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    long double total = 0;
    double size = 0;
    for (size_t i = 0; i < counts[c]; i++) {
      y[i] = ctest_uniform();
      t[i] = 5 * ctest_normal();
      size += b->at_zero + b->lipschitz * fabs(t[i]);
    }
    loss_eval(loss, counts[c], y, t, value, NULL, NULL);
    for (size_t i = 0; i < counts[c]; i++) total += value[i];
    CHECK_NEAR((double)(loss_sum(loss, counts[c], y, t) - total), 0, (double)(counts[c] + 24) * DBL_EPSILON / 2 * size);
  }
}

/* The slope is zero where e^t is the count; a response below zero counts as none; far predictors give numbers. */
static void minimum(const struct loss *loss, double max) {
  static const double far[] = {1e100, -1e100, 1e-300, 0, -0.0};
  for (int i = 1; i < 10; i++) {
    double y = i / 10.0, t = log(max * y), below = -y, zero = 0, slope, at_zero;
    loss_eval(loss, 1, &y, &t, NULL, &slope, NULL);
    CHECK_NEAR(slope, 0, 1e-14);
    loss_eval(loss, 1, &below, &t, NULL, &slope, NULL);
    loss_eval(loss, 1, &zero, &t, NULL, &at_zero, NULL);
    CHECK(slope == at_zero);
  }
  for (size_t i = 0; i < 2 * (sizeof far / sizeof *far); i++) {
    double y = (double)(i % 2), got[3];
    loss_eval(loss, 1, &y, &far[i / 2], &got[0], &got[1], &got[2]);
    CHECK(isfinite(got[0]) && fabs(got[1]) <= 1 && got[2] >= 0 && got[2] <= 1);
    CHECK(loss_sum(loss, 1, &y, &far[i / 2]) == got[0]);
  }
}
