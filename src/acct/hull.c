/*
 * A discrete pair that dominates a composition of leaves, from an upper bound
 * of its profile delta(v) on a grid of v: the lower convex hull in e^v of the
 * bound. The profile is convex in e^v, so it lies below every chord between
 * points that it does not exceed. The bound is the smaller one of the
 * conversion of Renyi divergences and, where the loss is bounded, of randomised
 * response, which dominates all pure mechanisms (Kairouz, Oh & Viswanath 2015).
 */
#include "acct/private.h"

#include <float.h>
#include <math.h>

enum { POINTS = 800, ORDERS = 80 };

struct composition {
  const struct acct_leaf *leaf;
  size_t leaves;
};

struct hull {
  size_t n;
  double v[POINTS], delta[POINTS];
};

/* The rounding of the atoms changes the profile by at most POINTS units in the last place,
 * because slopes are differences of a decreasing profile and their sum telescopes. */
static const double raise = 1.0 + 1e-9;

static int curve_of(const void *context, size_t n, const double *order, double *rdp);
static int profile_bound(const struct acct_leaf *leaf, size_t leaves, struct hull *hull);
static void convexify(struct hull *hull);
static double slope(const struct hull *hull, size_t i, size_t j);
static double chord_across_zero(const struct hull *hull);
static int to_atoms(const struct hull *hull, struct acct_pair *pair);

int acct_hull_create(const struct acct_leaf *leaf, size_t leaves, struct acct_pair *pair) {
  struct hull *hull = base_alloc(1, sizeof *hull);
  if (!hull) return BASE_ERR_MEMORY;
  int status = profile_bound(leaf, leaves, hull);
  if (!status) {
    convexify(hull);
    status = to_atoms(hull, pair);
  }
  base_free(hull);
  return status;
}

static int curve_of(const void *context, size_t n, const double *order, double *rdp) {
  const struct composition *all = context;
  for (size_t i = 0; i < n; i++) rdp[i] = acct_leaves_rdp(all->leaf, all->leaves, order[i]);
  return BASE_OK;
}

static int profile_bound(const struct acct_leaf *leaf, size_t leaves, struct hull *hull) {
  const struct composition all = {leaf, leaves};
  double pure = 0.0, last, order, at[ORDERS], rdp[ORDERS];
  for (size_t i = 0; i < leaves; i++) {
    int unbounded = leaf[i].kind == ACCT_GAUSSIAN || leaf[i].kind == ACCT_SVT_GAUSSIAN;
    pure += unbounded ? INFINITY : leaf[i].times * leaf[i].a;
  }
  for (int j = 0; j < ORDERS; j++) at[j] = 1.0 + exp(log(1e-3) + log(1e9) * j / (ORDERS - 1));
  int status = acct_curve_epsilon(&(struct acct_curve){curve_of, &all}, 1e-40, &last, &order);
  if (!status) status = curve_of(&all, ORDERS, at, rdp);
  if (status) return status;
  double top = fmin(pure, last);
  if (!(top < 1e300)) return BASE_ERR_NUMERIC;
  hull->n = POINTS;
  for (size_t i = 0; i < POINTS; i++) {
    double v = top * (double)i / (POINTS - 1), log_delta = 0.0;
    for (int j = 0; j < ORDERS; j++) {
      double rounding = 8.0 * DBL_EPSILON * at[j] * (rdp[j] + v + 1.0);
      log_delta = fmin(log_delta, acct_order_log_delta(at[j], rdp[j], v) + rounding);
    }
    double delta = exp(log_delta);
    /* (e^pure - e^v) / (1 + e^pure), at v = 0 the total variation */
    if (isfinite(pure)) delta = fmin(delta, -expm1(v - pure) / (1.0 + exp(-pure)));
    hull->v[i] = v;
    hull->delta[i] = fmax(delta, 0.0) * raise;
  }
  return BASE_OK;
}

/* By symmetry the profile continues below e^v = 1 as 1 - e^v + e^v delta(-v).
 * Where the two halves of the hull are not convex together, points near v = 0 are
 * removed until the chord from -v to v makes them convex. */
static void convexify(struct hull *hull) {
  size_t n = 0;
  for (size_t j = 0; j < hull->n; j++) {
    hull->v[n] = hull->v[j], hull->delta[n] = hull->delta[j];
    while (n >= 2 && slope(hull, n - 2, n - 1) >= slope(hull, n - 1, n)) {
      hull->v[n - 1] = hull->v[n], hull->delta[n - 1] = hull->delta[n];
      n--;
    }
    n++;
  }
  hull->n = n;
  while (hull->n > 1 && slope(hull, 0, 1) < chord_across_zero(hull)) {
    hull->n--;
    for (size_t i = 0; i < hull->n; i++) hull->v[i] = hull->v[i + 1], hull->delta[i] = hull->delta[i + 1];
  }
}

static double slope(const struct hull *hull, size_t i, size_t j) {
  return (hull->delta[j] - hull->delta[i]) * exp(-hull->v[i]) / expm1(hull->v[j] - hull->v[i]);
}

/* The chord from the mirror image of the first point: its rise delta - (1 - e^-v + e^-v delta) over e^v - e^-v. */
static double chord_across_zero(const struct hull *hull) {
  double v = hull->v[0];
  return v == 0.0 ? -0.5 * (1.0 - hull->delta[0]) : expm1(-v) * (1.0 - hull->delta[0]) / (exp(v) - exp(-v));
}

/* Each kink of the profile at e^v is an atom; its mass under Q is the change of slope. */
static int to_atoms(const struct hull *hull, struct acct_pair *pair) {
  if (acct_pair_alloc(hull->n, pair)) return BASE_ERR_MEMORY;
  double above = 0.0;
  for (size_t k = hull->n; k-- > 0;) {
    double below = k > 0 ? slope(hull, k - 1, k) : chord_across_zero(hull);
    pair->loss[k] = hull->v[k];
    pair->q[k] = fmax(above - below, 0.0);
    pair->p[k] = exp(hull->v[k]) * pair->q[k];
    above = below;
  }
  /* A first point at zero: its atom is the mass of loss zero, which acct_pair_zero() computes. */
  if (pair->loss[0] == 0.0) pair->p[0] = pair->q[0] = 0.0;
  pair->p_infinite = hull->delta[hull->n - 1];
  return BASE_OK;
}
