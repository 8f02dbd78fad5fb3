/* Penalties: derivatives by differences, public bounds valid and tight, what is skipped. */
#include "ctest.h"
#include "method/penalty.h"

#include <math.h>
#include <string.h>

enum { DIM = 4 };

static void derivatives(const struct penalty *p);
static void bounds(const struct penalty *p);
static void added(const struct penalty *p);
static void known_values(void);

void test_method_penalty(void) {
  static const enum penalty_kind kinds[] = {PENALTY_NONE, PENALTY_RIDGE, PENALTY_NONCONVEX, 0};
  for (int k = 0; k < 3; k++) {
    for (size_t skip = 0; skip < 2; skip++) {
      struct penalty p = {kinds[k], 0.3, skip, 0};
      derivatives(&p);
      bounds(&p);
      added(&p);
    }
  }
  known_values();
}

static void gradient_at(const struct penalty *p, const double *w, double *g) {
  memset(g, 0, DIM * sizeof *g);
  penalty_add_gradient(p, DIM, w, g);
}

static void hessian_at(const struct penalty *p, const double *w, double *h) {
  memset(h, 0, DIM * DIM * sizeof *h);
  penalty_add_hessian(p, DIM, w, h);
}

static void derivatives(const struct penalty *p) {
  const double step = 1e-5;
  double worst1 = 0, worst2 = 0;
  for (int i = 0; i < 200; i++) {
    double w[DIM], g[DIM], h[DIM * DIM], low[DIM], high[DIM];
    for (int j = 0; j < DIM; j++) w[j] = 2 * ctest_normal();
    gradient_at(p, w, g);
    hessian_at(p, w, h);
    for (int j = 0; j < DIM; j++) {
      double at = w[j], above, below;
      w[j] = at + step;
      above = penalty_value(p, DIM, w);
      gradient_at(p, w, high);
      w[j] = at - step;
      below = penalty_value(p, DIM, w);
      gradient_at(p, w, low);
      w[j] = at;
      worst1 = fmax(worst1, fabs((above - below) / (2 * step) - g[j]));
      for (int l = 0; l < DIM; l++) worst2 = fmax(worst2, fabs((high[l] - low[l]) / (2 * step) - h[l + j * DIM]));
    }
  }
  CHECK_NEAR(worst1, 0, 1e-9);
  CHECK_NEAR(worst2, 0, 1e-8);
}

/* Along one penalised coordinate, on a dense grid. */
static void bounds(const struct penalty *p) {
  const double step = 1e-4;
  double low = 0, high = 0, third = 0;
  for (double t = -6; t <= 6; t += 1e-3) {
    double w[DIM] = {0, t, 0, 0}, h[DIM * DIM], next[DIM * DIM];
    hessian_at(p, w, h);
    w[1] += step;
    hessian_at(p, w, next);
    low = fmin(low, h[1 + DIM]);
    high = fmax(high, h[1 + DIM]);
    third = fmax(third, fabs(next[1 + DIM] - h[1 + DIM]) / step);
  }
  CHECK(low >= -penalty_curv_lower(p) - 1e-12);
  CHECK_NEAR(low, -penalty_curv_lower(p), 1e-3 * p->lambda);
  CHECK(high <= penalty_curv_upper(p) + 1e-12);
  CHECK_NEAR(high, penalty_curv_upper(p), 1e-3 * p->lambda);
  CHECK(third <= penalty_third(p) + 1e-9);
  CHECK_NEAR(third, penalty_third(p), 1e-2 * p->lambda);
}

/* Added to what is there, and nothing to the coordinates that are skipped. */
static void added(const struct penalty *p) {
  double w[DIM] = {1.5, -0.5, 2, 0.25}, g[DIM], h[DIM * DIM], only[DIM], only_h[DIM * DIM];
  for (int j = 0; j < DIM; j++) g[j] = 10 + j;
  for (int j = 0; j < DIM * DIM; j++) h[j] = 100 + j;
  gradient_at(p, w, only);
  hessian_at(p, w, only_h);
  penalty_add_gradient(p, DIM, w, g);
  penalty_add_hessian(p, DIM, w, h);
  for (int j = 0; j < DIM; j++) CHECK_NEAR(g[j], 10 + j + only[j], 1e-14);
  for (int j = 0; j < DIM * DIM; j++) CHECK_NEAR(h[j], 100 + j + only_h[j], 1e-13);
  for (size_t j = 0; j < p->skip; j++) CHECK(only[j] == 0 && only_h[j + j * DIM] == 0);
  double other[DIM];
  memcpy(other, w, sizeof w);
  for (size_t j = 0; j < p->skip; j++) other[j] = 1e6;
  CHECK(penalty_value(p, DIM, w) == penalty_value(p, DIM, other));
}

static void known_values(void) {
  const double w[DIM] = {3, 1, -2, 0};
  struct penalty ridge = {PENALTY_RIDGE, 0.5, 0, 0}, nonconvex = {PENALTY_NONCONVEX, 2, 1, 0},
                 none = {PENALTY_NONE, 5, 0, 0};
  CHECK_NEAR(penalty_value(&ridge, DIM, w), 3.5, 1e-15);
  CHECK_NEAR(penalty_value(&nonconvex, DIM, w), 2 * (0.5 + 0.8), 1e-15);
  CHECK(penalty_value(&none, DIM, w) == 0);
}
