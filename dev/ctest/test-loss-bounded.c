/* The logistic loss with a bounded slope: its definition in extended precision, what makes it proper, and that its
 * bounds are attained; that they are enough, and that derivatives agree, is in test-loss-table.c. Slopes of rows that
 * have a bound each. */
#include "ctest.h"
#include "loss/loss.h"

#include <float.h>
#include <math.h>

static void precision(const struct loss *loss, double c);
static void is_proper(const struct loss *loss);
static void is_tight(const struct loss *loss, double c);
static void rows(void);

void test_loss_bounded(void) {
  static const double slopes[] = {0.51, 0.55, 0.75, 0.9, 1 - DBL_EPSILON / 2};
  struct loss *loss;
  for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
    CHECK(loss_create("bounded_logistic", slopes[i], &loss) == BASE_OK);
    if (!loss) continue;
    precision(loss, slopes[i]);
    is_proper(loss);
    is_tight(loss, slopes[i]);
    loss_free(loss);
  }
  CHECK(loss_create("bounded_logistic", 0.5, &loss) == BASE_ERR_ARGUMENT);
  CHECK(loss_create("bounded_logistic", 1, &loss) == BASE_ERR_ARGUMENT);
  CHECK(loss_create("bounded_logistic", NAN, &loss) == BASE_ERR_ARGUMENT);
  rows();
}

static void reference(long double c, long double m, long double out[3]) {
  long double h = c - 0.5L, k = 1 / (4 * h), q = h / (1 + k);
  if (m < 0) {
    out[0] = c - q - c * m + h / k * expm1l(k * m);
    out[1] = -(c - h * expl(k * m));
    out[2] = expl(k * m) / 4;
  } else {
    out[0] = c * expl(-m) - q * expl(-(1 + k) * m);
    out[1] = -(c * expl(-m) - h * expl(-(1 + k) * m));
    out[2] = c * expl(-m) - h * (1 + k) * expl(-(1 + k) * m);
  }
}

/* The barrier counts on 12 u relative to the largest value. */
static void precision(const struct loss *loss, double c) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  double worst[3] = {0, 0, 0};
  for (int i = 0; i < ctest_size(100000, 2000); i++) {
    double t = ctest_normal() * exp(4 * ctest_uniform()), y = i % 2 ? 1 : -1, got[3];
    long double exact[3];
    reference(c, y * t, exact);
    loss_eval(loss, 1, &y, &t, &got[0], &got[1], &got[2]);
    const double size[] = {b->at_zero + b->lipschitz * fabs(t), b->lipschitz, b->curv_upper};
    for (int k = 0; k < 3; k++) {
      worst[k] = fmax(worst[k], (double)fabsl(got[k] - exact[k] * (k == 1 ? y : 1)) / size[k]);
    }
  }
  for (int k = 0; k < 3; k++) CHECK_NEAR(worst[k], 0, 12 * DBL_EPSILON / 2);
}

static double slope(const struct loss *loss, double t) {
  double y = 1, d1;
  loss_eval(loss, 1, &y, &t, NULL, &d1, NULL);
  return d1;
}

static double curvature(const struct loss *loss, double t) {
  double y = 1, d2;
  loss_eval(loss, 1, &y, &t, NULL, NULL, &d2);
  return d2;
}

/* With P(y = 1) = 1 / (1 + e^-t) the expected slope at t is zero. */
static void is_proper(const struct loss *loss) {
  for (double t = -20; t <= 20; t += 0.37) {
    double p = 1 / (1 + exp(-t)), rest = 1 / (1 + exp(t));
    CHECK_NEAR(p * slope(loss, t) - rest * slope(loss, -t), 0, 8 * DBL_EPSILON);
  }
}

static void is_tight(const struct loss *loss, double c) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  double high = 0, third = (curvature(loss, 1e-6) - curvature(loss, -1e-6)) / 2e-6;
  for (double t = 0; t < 5; t += 1e-4) high = fmax(high, curvature(loss, t));
  CHECK_NEAR(high, b->curv_upper, 1e-7);
  CHECK_NEAR(third, b->third, 1e-4);
  CHECK_NEAR(slope(loss, -600), -c, DBL_EPSILON);
  CHECK(b->lipschitz == c);
}

/* Bounds of all sizes, the smallest and the largest among them; a null record, whose y is 0, moves nothing. */
static void rows(void) {
  enum { N = 1000 };
  static double y[N], t[N], c[N], d1[N];
  double worst = 0;
  for (int round = 0; round < ctest_size(100, 4); round++) {
    for (int i = 0; i < N; i++) {
      y[i] = i % 7 == 0 ? 0 : i % 2 ? 1 : -1;
      t[i] = ctest_normal() * exp(6 * ctest_uniform() - 2);
      c[i] = i % 5 == 0 ? 1 : i % 5 == 1 ? 0.51 : 0.51 + 0.49 * ctest_uniform();
    }
    loss_row_slopes(N, y, t, c, d1);
    for (int i = 0; i < N; i++) {
      long double exact[3], m = (long double)y[i] * t[i];
      reference(c[i], m, exact);
      if (c[i] == 1) exact[1] = -1 / (1 + expl(m));
      worst = fmax(worst, (double)fabsl(d1[i] - y[i] * exact[1]) / c[i]);
      CHECK(fabs(d1[i]) <= c[i]);
    }
  }
  CHECK_NEAR(worst, 0, 12 * DBL_EPSILON / 2);
}
