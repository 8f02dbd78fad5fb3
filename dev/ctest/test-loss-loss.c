/* Both losses: derivatives by central differences, public bounds on a dense grid, extended precision, extreme margins.
 */
#include "ctest.h"
#include "loss/loss.h"

#include <float.h>
#include <math.h>

#define REACH 700.0

static void derivatives(const struct loss *loss, double y);
static void bounds(const struct loss *loss);
static void range(const struct loss *loss);
static void precision(const struct loss *loss, int sigmoid);
static void sums(const struct loss *loss, int sigmoid);
static void extremes(const struct loss *loss);
static void parts(const struct loss *loss);
static void majorant(const struct loss *loss);
static double value_at(const struct loss *loss, double y, double t);
static double d1_at(const struct loss *loss, double y, double t);
static double d2_at(const struct loss *loss, double y, double t);
static double grid_step(void) { return ctest_size(1, 0) ? 0.01 : 0.5; }

void test_loss_loss(void) {
  static const char *const names[] = {"logistic", "sigmoid"};
  for (int k = 0; k < 2; k++) {
    const struct loss *loss = loss_find(names[k]);
    CHECK(loss != NULL);
    if (!loss) continue;
    derivatives(loss, 1);
    derivatives(loss, -1);
    bounds(loss);
    range(loss);
    precision(loss, k);
    sums(loss, k);
    extremes(loss);
    parts(loss);
    majorant(loss);
  }
  CHECK(loss_find("logit") == NULL);
  CHECK(loss_find("") == NULL);
}

static void derivatives(const struct loss *loss, double y) {
  const double h = 1e-4;
  double worst1 = 0, worst2 = 0;
  for (double t = -REACH; t <= REACH; t += grid_step()) {
    double by_value = (value_at(loss, y, t + h) - value_at(loss, y, t - h)) / (2 * h);
    double by_d1 = (d1_at(loss, y, t + h) - d1_at(loss, y, t - h)) / (2 * h);
    worst1 = fmax(worst1, fabs(by_value - d1_at(loss, y, t)));
    worst2 = fmax(worst2, fabs(by_d1 - d2_at(loss, y, t)));
  }
  CHECK_NEAR(worst1, 0, 5e-9); /* 700 u / h and h^2 third / 6 */
  CHECK_NEAR(worst2, 0, 1e-9);
}

/* None is exceeded, and each is attained within a thousandth: a wrong constant fails on one side. */
static void bounds(const struct loss *loss) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  const double h = 1e-4, step = grid_step();
  double lip = 0, low = INFINITY, high = -INFINITY, third = 0, floor = INFINITY;
  for (int side = -1; side <= 1; side += 2) {
    for (double t = -REACH; t <= REACH; t += fabs(t) < 8 ? step / 10 : step) {
      lip = fmax(lip, fabs(d1_at(loss, side, t)));
      low = fmin(low, d2_at(loss, side, t));
      high = fmax(high, d2_at(loss, side, t));
      third = fmax(third, fabs(d2_at(loss, side, t + h) - d2_at(loss, side, t - h)) / (2 * h));
      floor = fmin(floor, value_at(loss, side, t));
    }
    CHECK_NEAR(value_at(loss, side, 0), b->at_zero, 4 * DBL_EPSILON);
  }
  const double near = 1e-3 + 1e-2 * (step > 0.1);
  CHECK(lip <= b->lipschitz * (1 + 4 * DBL_EPSILON));
  CHECK_NEAR(lip, b->lipschitz, near * b->lipschitz);
  CHECK(b->curv_lower >= 0 && low >= -b->curv_lower * (1 + 4 * DBL_EPSILON));
  CHECK_NEAR(low, -b->curv_lower, near * b->curv_upper);
  CHECK(high <= b->curv_upper * (1 + 4 * DBL_EPSILON));
  CHECK_NEAR(high, b->curv_upper, near * b->curv_upper);
  CHECK(third <= b->third + 1e-9);
  CHECK_NEAR(third, b->third, near * b->third);
  CHECK(floor >= b->floor);
  CHECK_NEAR(floor, b->floor, 1e-3);
}

static void range(const struct loss *loss) {
  static const double reach[] = {1e-9, 1e-3, 0.1, 1, 3, 20, REACH};
  CHECK(loss_range(loss, 0) == 0);
  for (size_t k = 0; k < sizeof reach / sizeof *reach; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = -1000; i <= 1000; i++) {
      for (int side = -1; side <= 1; side += 2) {
        double v = value_at(loss, side, reach[k] * i / 1000);
        low = fmin(low, v);
        high = fmax(high, v);
      }
    }
    double claimed = loss_range(loss, reach[k]), rounding = 4 * DBL_EPSILON * fmax(1, high);
    CHECK(high - low <= claimed + rounding);
    CHECK_NEAR(high - low, claimed, 1e-12 * claimed + rounding);
  }
}

/* Directly from the definition, in extended precision. */
static void reference(int sigmoid, double y, double t, long double out[3]) {
  long double margin = (long double)y * t, s = 1 / (1 + expl(margin));
  long double rest = 1 / (1 + expl(-margin)); /* 1 - s without cancellation */
  if (sigmoid) {
    out[0] = s;
    out[1] = -y * s * rest;
    out[2] = s * rest * (rest - s);
  } else {
    out[0] = margin > 0 ? log1pl(expl(-margin)) : log1pl(expl(margin)) - margin;
    out[1] = -y * s;
    out[2] = s * rest;
  }
}

/* The barrier's rounding bounds count on 12 u relative to the largest value. */
static void precision(const struct loss *loss, int sigmoid) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  const double u = DBL_EPSILON / 2;
  double worst[3] = {0, 0, 0};
  for (int i = 0; i < ctest_size(200000, 2000); i++) {
    double t = ctest_normal() * exp(4 * ctest_uniform()), y = i % 2 ? 1 : -1, got[3];
    long double exact[3];
    reference(sigmoid, y, t, exact);
    loss_eval(loss, 1, &y, &t, &got[0], &got[1], &got[2]);
    const double size[] = {b->at_zero + b->lipschitz * fabs(t), b->lipschitz, b->curv_upper};
    for (int k = 0; k < 3; k++) worst[k] = fmax(worst[k], (double)fabsl(got[k] - exact[k]) / size[k]);
  }
  for (int k = 0; k < 3; k++) CHECK_NEAR(worst[k], 0, 12 * u);
}

/* The fast sum, with more terms than one product takes, against the claimed n u times the sum of bounds. */
static void sums(const struct loss *loss, int sigmoid) {
  enum { MOST = 1024 };
  static const size_t counts[] = {0, 1, 511, 512, 513, 1000, MOST};
  static double y[MOST], t[MOST];
  const struct loss_bounds *b = loss_bounds_of(loss);
  for (int scale = -8; scale <= 2; scale += 2) {
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
      size_t n = counts[k];
      long double total = 0, exact[3];
      double size = 0;
      for (size_t i = 0; i < n; i++) {
        y[i] = i % 3 ? 1 : -1;
        t[i] = ctest_normal() * pow(10, scale);
        reference(sigmoid, y[i], t[i], exact);
        total += exact[0];
        size += b->at_zero + b->lipschitz * fabs(t[i]);
      }
      double bound = (double)(n + 12) * DBL_EPSILON / 2 * size;
      CHECK_NEAR((double)(loss_sum(loss, n, y, t) - total), 0, bound);
    }
  }
}

static void extremes(const struct loss *loss) {
  static const double t[] = {1e100, -1e100, 800, -800, 1e-300, -1e-300, 0, -0.0};
  const struct loss_bounds *b = loss_bounds_of(loss);
  for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
    for (int side = -1; side <= 1; side += 2) {
      double y = side, value, d1, d2;
      loss_eval(loss, 1, &y, &t[i], &value, &d1, &d2);
      CHECK(isfinite(value) && value >= b->floor && value <= b->at_zero + b->lipschitz * fabs(t[i]) * (1 + 1e-15) + 1);
      CHECK(isfinite(d1) && fabs(d1) <= b->lipschitz && y * d1 <= 0);
      CHECK(isfinite(d2) && d2 <= b->curv_upper && d2 >= -b->curv_lower);
      CHECK_NEAR(loss_sum(loss, 1, &y, &t[i]), value, 1e-15 * fmax(1, value));
    }
  }
}

/* What is not asked for does not change the rest. */
static void parts(const struct loss *loss) {
  for (int i = 0; i < 50; i++) {
    double y = i % 2 ? 1 : -1, t = 3 * ctest_normal(), value, d1, d2;
    loss_eval(loss, 1, &y, &t, &value, &d1, &d2);
    CHECK(value_at(loss, y, t) == value && d1_at(loss, y, t) == d1 && d2_at(loss, y, t) == d2);
    CHECK(value_at(loss, -y, -t) == value && d1_at(loss, -y, -t) == -d1 && d2_at(loss, -y, -t) == d2);
  }
}

static double value_at(const struct loss *loss, double y, double t) {
  double v;
  loss_eval(loss, 1, &y, &t, &v, NULL, NULL);
  return v;
}

static double d1_at(const struct loss *loss, double y, double t) {
  double v;
  loss_eval(loss, 1, &y, &t, NULL, &v, NULL);
  return v;
}

static double d2_at(const struct loss *loss, double y, double t) {
  double v;
  loss_eval(loss, 1, &y, &t, NULL, NULL, &v);
  return v;
}

static double majorant_at(const struct loss *loss, double t) {
  double c;
  loss_upper_curvature(loss, 1, &t, &c);
  return c;
}

/* The parabola lies above the loss, whatever the response and however far away; its curvature obeys its bounds and, for
 * a logistic loss, has its closed form at every size of t. */
static void majorant(const struct loss *loss) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  double worst = -INFINITY, slope = 0, low = INFINITY, high = 0, off = 0;
  int closed = b->curv_lower == 0;
  for (double t = -40; t <= 40; t += 0.173) {
    double c = majorant_at(loss, t);
    low = fmin(low, c);
    high = fmax(high, c);
    slope = fmax(slope, fabs(majorant_at(loss, t + 1e-4) - majorant_at(loss, t - 1e-4)) / 2e-4);
    for (int y = -1; y <= 1; y += 2) {
      for (double s = -60; s <= 60; s += 0.617) {
        double above = value_at(loss, y, t) + d1_at(loss, y, t) * (s - t) + c / 2 * (s - t) * (s - t);
        worst = fmax(worst, value_at(loss, y, s) - above);
      }
    }
  }
  CHECK(worst <= 1e-12);
  CHECK(low >= 0 && high <= b->curv_upper && majorant_at(loss, 0) <= b->curv_upper);
  CHECK(slope <= b->third);
  for (double t = 1e-9; closed && t < 1e9; t *= 1.7) {
    double c = (double)(tanhl((long double)t / 2) / (2 * (long double)t));
    off = fmax(off, fabs(majorant_at(loss, t) - c) + fabs(majorant_at(loss, -t) - c));
  }
  CHECK(off <= 16 * DBL_EPSILON * b->curv_upper);
  CHECK(majorant_at(loss, 1e100) >= 0);
}
