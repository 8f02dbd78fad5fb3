/* The multinomial loss against its definition in extended precision, its slopes against differences of values, and its
 * bounds (proofs: multinomial). */
#include "ctest.h"
#include "loss/loss.h"

#include <math.h>

enum { ROWS = 150, MOST = 12 };

static void agrees(size_t classes, double scale);
static void within_bounds(size_t classes);
static void far_out(void);
static void third(void);
static void parameters(void);

void test_loss_multinomial(void) {
  static const size_t classes[] = {2, 3, 7, MOST};
  for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
    agrees(classes[k], 1);
    agrees(classes[k], 30);
    within_bounds(classes[k]);
  }
  far_out();
  third();
  parameters();
}

static struct loss *open_loss(size_t classes) {
  struct loss *loss;
  CHECK(loss_create("multinomial", (double)classes, &loss) == BASE_OK);
  CHECK(loss && loss_outputs(loss) == classes);
  return loss;
}

static long double reference(size_t classes, size_t n, size_t i, size_t y, const double *t, long double *p) {
  long double sum = 0, most = t[i];
  for (size_t k = 1; k < classes; k++) most = fmaxl(most, t[i + k * n]);
  for (size_t k = 0; k < classes; k++) sum += expl(t[i + k * n] - most);
  for (size_t k = 0; k < classes; k++) p[k] = expl(t[i + k * n] - most) / sum;
  return logl(sum) + most - t[i + y * n];
}

/* Rows of a number that no vector register divides; classes in turn. */
static void agrees(size_t classes, double scale) {
  struct loss *loss = open_loss(classes);
  double t[ROWS * MOST], y[ROWS], value[ROWS], slope[ROWS * MOST], worst = 0, steep = 0;
  long double p[MOST], total = 0;
  for (size_t i = 0; i < ROWS; i++) y[i] = (double)(i % classes + 1) / (double)classes;
  for (size_t i = 0; i < ROWS * classes; i++) t[i] = scale * ctest_normal();
  loss_eval(loss, ROWS, y, t, value, slope, NULL);
  for (size_t i = 0; i < ROWS; i++) {
    long double exact = reference(classes, ROWS, i, i % classes, t, p);
    total += exact;
    worst = fmax(worst, fabs((double)(value[i] - exact)) / (1 + scale));
    for (size_t k = 0; k < classes; k++) {
      steep = fmax(steep, fabs((double)(slope[i + k * ROWS] - (p[k] - (k == i % classes)))));
    }
  }
  CHECK_NEAR(worst, 0, 1e-14);
  CHECK_NEAR(steep, 0, 1e-14);
  CHECK_NEAR(loss_sum(loss, ROWS, y, t), (double)total, 1e-14 * ROWS * (1 + scale));
  loss_free(loss);
}

/* Values between zero and the range, slopes, differences of slopes and values of one row; the bounds are attained. */
static void within_bounds(size_t classes) {
  struct loss *loss = open_loss(classes);
  const struct loss_bounds *b = loss_bounds_of(loss);
  double steepest = 0, curved = 0, excess = -INFINITY, t[MOST], u[MOST], d1[MOST], d2[MOST], at, next;
  CHECK(b->curv_lower == 0 && b->floor == 0 && b->zero_spread == 0);
  for (int run = 0; run < 20000; run++) {
    double y = ceil(ctest_uniform() * (double)classes) / (double)classes, far = exp(6 * ctest_uniform() - 3);
    double norm = 0, apart = 0, slopes = 0, change = 0, along = 0;
    for (size_t k = 0; k < classes; k++) {
      t[k] = far * ctest_normal();
      u[k] = 1e-6 * ctest_normal();
    }
    /* The worst curvature: two classes share all. */
    if (run % 2) {
      for (size_t k = 0; k < classes; k++) {
        t[k] = k < 2 ? 40 : 0;
        u[k] = k == 0 ? 1e-6 : k == 1 ? -1e-6 : 0;
      }
    }
    loss_eval(loss, 1, &y, t, &at, d1, NULL);
    for (size_t k = 0; k < classes; k++) {
      norm = hypot(norm, t[k]);
      apart = hypot(apart, u[k]);
      u[k] += t[k];
    }
    loss_eval(loss, 1, &y, u, &next, d2, NULL);
    for (size_t k = 0; k < classes; k++) {
      slopes = hypot(slopes, d1[k]);
      change = hypot(change, d2[k] - d1[k]);
      along += (d2[k] + d1[k]) / 2 * (u[k] - t[k]);
    }
    steepest = fmax(steepest, slopes);
    curved = fmax(curved, change / apart);
    double least = log((double)classes) - b->lipschitz * norm; /* of the values at this distance */
    excess = fmax(excess, fabs(at - log((double)classes)) - b->lipschitz * norm - 1e-13);
    excess = fmax(excess, fmax(-at, at - fmax(0, least) - loss_range(loss, norm) - 1e-13 * (1 + norm)));
    CHECK_NEAR(next - at, along, 1e-12 * (1 + norm)); /* by the trapezoidal rule */
  }
  CHECK(excess <= 0);
  CHECK(steepest <= b->lipschitz && steepest > 0.99 * b->lipschitz);
  CHECK(curved <= b->curv_upper * (1 + 1e-8) && curved > 0.999 * b->curv_upper);
  CHECK_NEAR(b->at_zero, log((double)classes), 1e-15);
  loss_free(loss);
}

static void far_out(void) {
  struct loss *loss = open_loss(3);
  double t[3] = {1e100, -1e100, 0}, y = 2.0 / 3, value, slope[3];
  loss_eval(loss, 1, &y, t, &value, slope, NULL);
  CHECK(value == 2e100 && slope[0] == 1 && slope[1] == -1 && slope[2] < 1e-300);
  double zeros[3] = {-0.0, 0, -0.0};
  loss_eval(loss, 1, &y, zeros, &value, slope, NULL);
  CHECK_NEAR(value, log(3), 1e-15);
  /* A null record's response counts as the first class; whatever is no class is the nearest one. */
  double zero[3] = {0, 0, 0}, none = 0;
  loss_eval(loss, 1, &none, zero, &value, slope, NULL);
  CHECK_NEAR(value, log(3), 1e-15);
  CHECK_NEAR(slope[0], -2.0 / 3, 1e-15);
  none = -1;
  loss_eval(loss, 1, &none, t, NULL, slope, NULL);
  CHECK(slope[0] == 0);
  loss_free(loss);
}

/* Along a unit vector between two classes the third derivative is 2^(3/2) p (1 - p) (1 - 2 p). */
static void third(void) {
  struct loss *loss = open_loss(2);
  double most = 0, h = 1e-4;
  for (double s = -3; s <= 3; s += 0.01) {
    double at[3];
    for (int k = -1; k <= 1; k++) {
      double c = (s + k * h) / sqrt(2), t[2] = {c, -c}, y = 1, d1[2];
      loss_eval(loss, 1, &y, t, NULL, d1, NULL);
      at[k + 1] = (d1[0] - d1[1]) / sqrt(2);
    }
    most = fmax(most, fabs(at[0] - 2 * at[1] + at[2]) / (h * h));
  }
  CHECK_NEAR(most, loss_bounds_of(loss)->third, 1e-4);
  loss_free(loss);
}

static void parameters(void) {
  static const double wrong[] = {1, 2.5, 1001, -3, NAN};
  struct loss *loss;
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    CHECK(loss_create("multinomial", wrong[k], &loss) == BASE_ERR_ARGUMENT && !loss);
  }
  CHECK(loss_outputs(loss_find("logistic")) == 1);
}
