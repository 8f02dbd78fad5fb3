/* The losses with corners: values and derivatives against their definitions and each other, bounds that are reached and
 * not exceeded, for responses between -1 and 1 too. */
#include "ctest.h"
#include "loss/loss.h"

#include <float.h>
#include <math.h>

enum { MOST = 1024 };

struct kind {
  const char *name;
  double parameter;
  int numeric; /* the response is any number in [-1, 1] */
};

static void derivatives(const struct kind *k, const struct loss *loss);
static void bounds(const struct kind *k, const struct loss *loss);
static void precision(const struct kind *k, const struct loss *loss);
static void sums(const struct kind *k, const struct loss *loss);
static void majorant(const struct kind *k, const struct loss *loss);
static void parameters(void);

void test_loss_huber(void) {
  static const struct kind kinds[] = {{"huber_svm", 0.5, 0}, {"huber_svm", 1, 0},   {"huber_svm", 0.01, 0},
                                      {"huber", 0.2, 1},     {"huber", 0.001, 1},   {"huber", 1, 1},
                                      {"huber", 2, 1},       {"huber_svm", 0.3, 0}, {"huber", 0.7, 1}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct loss *loss;
    CHECK(loss_create(kinds[i].name, kinds[i].parameter, &loss) == BASE_OK);
    derivatives(&kinds[i], loss);
    bounds(&kinds[i], loss);
    precision(&kinds[i], loss);
    sums(&kinds[i], loss);
    majorant(&kinds[i], loss);
    loss_free(loss);
  }
  parameters();
}

static double response(const struct kind *k) {
  double y = 2 * ctest_uniform() - 1;
  return k->numeric && ctest_uniform() < 0.8 ? y : y < 0 ? -1 : 1;
}

/* Half of them near the corners. */
static double predictor(const struct kind *k, double y) {
  double corner = k->numeric ? y + (ctest_uniform() < 0.5 ? -1 : 1) * k->parameter
                             : y * (1 + (ctest_uniform() < 0.5 ? -1 : 1) * k->parameter);
  return ctest_uniform() < 0.5 ? corner + k->parameter * ctest_normal() * exp(-8 * ctest_uniform())
                               : ctest_normal() * exp(4 * ctest_uniform());
}

struct at {
  double value, d1, d2;
};

static struct at eval(const struct loss *loss, double y, double t) {
  struct at a;
  loss_eval(loss, 1, &y, &t, &a.value, &a.d1, &a.d2);
  return a;
}

/* From the definitions, by cases; distance to the nearer corner. */
static long double reference(const struct kind *k, double y, double t, long double out[3]) {
  long double a = k->parameter;
  if (k->numeric) {
    long double u = (long double)t - y, size = fabsl(u);
    out[0] = size <= a ? u * u / 2 : a * size - a * a / 2;
    out[1] = size <= a ? u : u < 0 ? -a : a;
    out[2] = size <= a;
    return fabsl(size - a);
  }
  long double z = (long double)y * t;
  int flat = z >= 1 + a, bent = !flat && z > 1 - a;
  out[0] = flat ? 0 : bent ? (1 + a - z) * (1 + a - z) / (4 * a) : 1 - z;
  out[1] = flat ? 0 : bent ? -y * (1 + a - z) / (2 * a) : -y;
  out[2] = bent ? 1 / (2 * a) : 0;
  return fabsl(fabsl(1 - z) - a);
}

/* Central differences are exact for parabolas but for rounding; steps stay on one side of the corners. */
static void derivatives(const struct kind *k, const struct loss *loss) {
  const double size = loss_bounds_of(loss)->curv_upper;
  double worst1 = 0, worst2 = 0;
  int tried = 0;
  for (int i = 0; i < ctest_size(20000, 500); i++) {
    double y = response(k), t = predictor(k, y), h = 1e-3 * k->parameter;
    long double exact[3];
    if (reference(k, y, t, exact) <= 2 * h || fabs(t) > 10) continue;
    struct at here = eval(loss, y, t), low = eval(loss, y, t - h), high = eval(loss, y, t + h);
    worst1 = fmax(worst1, fabs((high.value - low.value) / (2 * h) - here.d1));
    worst2 = fmax(worst2, fabs((high.d1 - low.d1) / (2 * h) - here.d2));
    tried++;
  }
  CHECK_NEAR(worst1, 0, 1e-10 / k->parameter);
  CHECK_NEAR(worst2, 0, 1e-8 * size / k->parameter);
  CHECK(tried > ctest_size(10000, 100));
}

/* None is exceeded, by differences across the corners either, and each is attained. */
static void bounds(const struct kind *k, const struct loss *loss) {
  static const double reach[] = {0, 1e-3, 0.5, 1, 3, 50};
  const struct loss_bounds *b = loss_bounds_of(loss);
  double steepest = 0, most = 0, least = INFINITY, quotient = 0, at_zero = 0, spread = 0, null = eval(loss, 0, 0).value;
  for (int i = 0; i < ctest_size(20000, 2000); i++) {
    double y = response(k), t = predictor(k, y), s = t + k->parameter * ctest_normal();
    struct at here = eval(loss, y, t);
    steepest = fmax(steepest, fabs(here.d1));
    most = fmax(most, here.d2);
    least = fmin(least, fmin(here.d2, here.value));
    if (fabs(s - t) > 1e-3 * k->parameter) quotient = fmax(quotient, fabs((eval(loss, y, s).d1 - here.d1) / (s - t)));
    double zero = eval(loss, i % 2 ? 1 : y, 0).value;
    at_zero = fmax(at_zero, zero);
    spread = fmax(spread, fabs(zero - null));
  }
  CHECK(steepest == b->lipschitz && most == b->curv_upper && least == 0 && b->floor == 0 && b->curv_lower == 0);
  CHECK(quotient <= b->curv_upper * (1 + 1e-9) && quotient > 0.99 * b->curv_upper);
  CHECK(isinf(b->third) && b->third > 0);
  CHECK_NEAR(at_zero, b->at_zero, 4 * DBL_EPSILON);
  CHECK_NEAR(spread, b->zero_spread, 4 * DBL_EPSILON);
  CHECK(null <= b->at_zero && null >= b->floor);
  for (size_t r = 0; r < sizeof reach / sizeof *reach; r++) {
    double low = null, high = null;
    for (int i = -100; i <= 100; i++) {
      for (int j = -100; j <= 100; j += k->numeric ? 2 : 200) {
        double v = eval(loss, j / 100.0, reach[r] * i / 100).value;
        low = fmin(low, v);
        high = fmax(high, v);
      }
    }
    double claimed = loss_range(loss, reach[r]), rounding = 4 * DBL_EPSILON * fmax(1, high);
    CHECK(high - low <= claimed + rounding);
    CHECK_NEAR(high - low, claimed, rounding);
  }
}

/* The barrier's rounding bounds count on 12 u relative to the largest value. */
static void precision(const struct kind *k, const struct loss *loss) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  double worst[2] = {0, 0};
  for (int i = 0; i < ctest_size(100000, 2000); i++) {
    double y = response(k), t = predictor(k, y);
    long double exact[3];
    reference(k, y, t, exact);
    struct at here = eval(loss, y, t);
    worst[0] = fmax(worst[0], (double)fabsl(here.value - exact[0]) / (b->at_zero + b->lipschitz * fabs(t)));
    worst[1] = fmax(worst[1], (double)fabsl(here.d1 - exact[1]) / b->lipschitz);
  }
  for (int i = 0; i < 2; i++) CHECK_NEAR(worst[i], 0, 12 * DBL_EPSILON / 2);
}

static void sums(const struct kind *k, const struct loss *loss) {
  static const size_t counts[] = {0, 1, 7, 512, 513, MOST};
  static double y[MOST], t[MOST];
  const struct loss_bounds *b = loss_bounds_of(loss);
  for (int scale = -8; scale <= 2; scale += 2) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      long double total = 0, exact[3];
      double size = 0;
      for (size_t i = 0; i < counts[c]; i++) {
        y[i] = response(k);
        t[i] = ctest_normal() * pow(10, scale);
        reference(k, y[i], t[i], exact);
        total += exact[0];
        size += b->at_zero + b->lipschitz * fabs(t[i]);
      }
      double bound = (double)(counts[c] + 12) * DBL_EPSILON / 2 * size;
      CHECK_NEAR((double)(loss_sum(loss, counts[c], y, t) - total), 0, bound);
    }
  }
  static const double far[] = {1e100, -1e100, 1e-300, 0, -0.0};
  for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
    for (int side = -1; side <= 1; side++) {
      double label = side;
      struct at here = eval(loss, label, far[i]);
      CHECK(isfinite(here.value) && here.value >= 0 && fabs(here.d1) <= b->lipschitz && here.d2 <= b->curv_upper);
      CHECK(loss_sum(loss, 1, &label, &far[i]) == here.value);
    }
  }
}

/* The parabola lies above the loss, and its curvature is the same everywhere. */
static void majorant(const struct kind *k, const struct loss *loss) {
  const struct loss_bounds *b = loss_bounds_of(loss);
  int below = 0, bent = 0;
  for (int i = 0; i < ctest_size(20000, 500); i++) {
    double y = response(k), t = predictor(k, y), s = predictor(k, y), c;
    loss_upper_curvature(loss, 1, &t, &c);
    bent += c != b->curv_upper;
    struct at here = eval(loss, y, t);
    double above = here.value + here.d1 * (s - t) + c / 2 * (s - t) * (s - t);
    below += !(eval(loss, y, s).value <= above + 1e-13 * (1 + fabs(above)));
  }
  CHECK(below == 0 && bent == 0 && loss_upper_lipschitz(loss) == 0);
}

static void parameters(void) {
  static const struct kind refused[] = {{"huber_svm", 0, 0},    {"huber_svm", 1.01, 0}, {"huber_svm", NAN, 0},
                                        {"huber_svm", -1, 0},   {"huber", 0, 1},        {"huber", 2.01, 1},
                                        {"huber", INFINITY, 1}, {"huber", NAN, 1},      {"hinge", 1, 0}};
  struct loss *loss;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    CHECK(loss_create(refused[i].name, refused[i].parameter, &loss) == BASE_ERR_ARGUMENT && !loss);
  }
  CHECK(loss_create("logistic", NAN, &loss) == BASE_OK && loss_bounds_of(loss)->curv_upper == 0.25);
  loss_free(loss);
}
