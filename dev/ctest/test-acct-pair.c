/* Dominating pairs: masses of intervals by quadrature over the outcomes, and profiles of hulls above those of real
 * compositions. */
#include "reference.h"

#include <float.h>
#include <string.h>

static void gaussian_masses(void);
static void laplace_masses(void);
static void exponential_profile(void);
static void randomised_response(void);
static void sums_of_masses(void);
static void hulls(void);
static void attained(void);
static void memory(void);

void test_acct_pair(void) {
  gaussian_masses();
  laplace_masses();
  exponential_profile();
  randomised_response();
  sums_of_masses();
  hulls();
  attained();
  memory();
}

static struct acct_pair single(enum acct_kind kind, double a) {
  struct acct_leaf leaf = {kind, a, 0, 0, 1};
  struct acct_pair pair;
  CHECK(acct_pair_create(&leaf, 1, ACCT_PESSIMISTIC, &pair) == BASE_OK);
  return pair;
}

static double power_of_ten(double low, double high) { return pow(10, low + (high - low) * ctest_uniform()); }

static double relative(double x, long double y) { return (double)(fabsl(x - y) / y); }

/* ---- masses ---- */

/* Of the loss l = mu x: x is normal around mu / 2 under P and -mu / 2 under Q. */
struct gaussian {
  long double mu, centre;
};
static long double gaussian_density(long double l, const void *with) {
  const struct gaussian *g = with;
  return reference_normal_density(l / g->mu - g->centre) / g->mu;
}

/* The head of bins.c allows 32 + 4 m^2 units in the last place, m standard deviations at the last edge. With mu a power
 * of two the edges are exact in units of mu; otherwise their rounding moves them by an ulp of the loss. */
static void gaussian_masses(void) {
  double exact = 0, rounded = 0, open = 0;
  for (int i = 0; i < ctest_size(4000, 200); i++) {
    double mu = i % 2 ? ldexp(1, (int)(-12 + 15 * ctest_uniform())) : power_of_ten(-4, 0.9);
    double low = i % 5 ? mu * 8 * ctest_uniform() : 0, high = low + mu * power_of_ten(-9, 0.9);
    struct acct_pair pair = single(ACCT_GAUSSIAN, mu);
    struct acct_masses x = acct_pair_between(&pair, low, high), above = acct_pair_between(&pair, low, INFINITY);
    for (int q = 0; q < 2; q++) {
      struct gaussian g = {mu, q ? -mu / 2.0L : mu / 2.0L};
      long double mass = reference_integral(gaussian_density, &g, low, high, 1 + (int)(4 * (high - low) / mu));
      long double from = low / g.mu - g.centre, to = high / g.mu - g.centre, m = high / mu + mu / 2;
      double units = relative(q ? x.q : x.p, mass) / (DBL_EPSILON * (32 + 4 * (double)(m * m)));
      long double moved = (reference_normal_density(from) * low + reference_normal_density(to) * high) / mu / mass;
      if (i % 2) exact = reference_worst(exact, units);
      if (!(i % 2)) rounded = reference_worst(rounded, units - 4 * (double)moved / (32 + 4 * (double)(m * m)));
      open = reference_worst(open, relative(q ? above.q : above.p, reference_normal_above(from)) /
                                       (DBL_EPSILON * (32 + 4 * (double)(from * from))));
    }
  }
  double allowed = ctest_extended() ? 1 : 1e4;
  CHECK(exact <= allowed);
  CHECK(rounded <= allowed);
  CHECK(open <= allowed);
}

/* Laplace noise at 0 (P) and a (Q): the loss of outcome x is a - 2 x in [0, a], a below and -a above. */
static long double laplace_p(long double l, const void *with) { return expl((l - *(const double *)with) / 2) / 4; }
static long double laplace_q(long double l, const void *with) { return expl(-(l + *(const double *)with) / 2) / 4; }

static void laplace_masses(void) {
  double worst = 0;
  for (int i = 0; i < ctest_size(2000, 200); i++) {
    double a = ldexp(1, (int)(-10 + 14 * ctest_uniform())), low = i % 4 ? a * ctest_uniform() : 0;
    double high = i % 3 ? low + a * power_of_ten(-9, 0) : i % 2 ? INFINITY : a;
    struct acct_pair pair = single(ACCT_LAPLACE, a);
    struct acct_masses x = acct_pair_between(&pair, low, high);
    int atom = low < a && high >= a;
    int panels = 1 + (int)a;
    long double p = reference_integral(laplace_p, &a, low, fmin(high, a), panels) + 0.5L * atom;
    long double q = reference_integral(laplace_q, &a, low, fmin(high, a), panels) + 0.5L * atom * expl(-a);
    worst = reference_worst(worst, reference_worst(relative(x.p, p), relative(x.q, q)));
  }
  CHECK(worst <= reference_tolerance(4e-15));
}

/* Likelihood ratios e^t and e^(t - a), of masses that make both laws sum to one: the largest delta(v) over t. */
static long double bounded_range(long double a, long double v) {
  long double low = v, high = a;
  for (int i = 0; i < 200; i++) {
    long double third = (high - low) / 3, delta[2];
    for (int j = 0; j < 2; j++) {
      long double t = low + third * (j + 1);
      delta[j] = expm1l(a - t) * -expm1l(v - t) * expl(t) / expm1l(a);
    }
    if (delta[0] < delta[1]) low += third;
    if (delta[0] >= delta[1]) high -= third;
  }
  return expm1l(a - low) * -expm1l(v - low) * expl(low) / expm1l(a);
}

static void exponential_profile(void) {
  double worst = 0;
  for (int i = 0; i < ctest_size(500, 50); i++) {
    double a = power_of_ten(-2, 1), v = a * 0.95 * ctest_uniform();
    struct acct_pair pair = single(ACCT_EXPONENTIAL, a);
    struct acct_masses x = acct_pair_between(&pair, v, INFINITY);
    double delta = x.p - exp(v) * x.q;
    worst = reference_worst(worst, (double)fabsl(delta - bounded_range(a, v)) / (DBL_EPSILON * x.p));
    CHECK(acct_pair_between(&pair, a, INFINITY).p == 0);
  }
  CHECK(worst <= (ctest_extended() ? 32 : 1e3));
}

static void randomised_response(void) {
  for (int i = 0; i < 50; i++) {
    double eps = power_of_ten(-6, 2.5);
    long double p = 1 / (1 + expl(-(long double)eps)), q = 1 / (1 + expl((long double)eps));
    struct acct_pair pair = single(ACCT_PURE, eps);
    struct acct_masses at = acct_pair_between(&pair, 0.5 * eps, eps), above = acct_pair_between(&pair, eps, INFINITY);
    CHECK(relative(at.p, p) < 4e-16 && relative(at.q, q) < 3e-14); /* exp(eps): eps ulp(eps) */
    CHECK(above.p == 0 && above.q == 0);
    CHECK(acct_pair_between(&pair, 0, nextafter(eps, 0)).p == 0);
    CHECK_NEAR(acct_pair_zero(&pair), 0, 4 * DBL_EPSILON);
    acct_pair_free(&pair);
  }
}

/* Adjacent intervals add up, ratios stay between their ends, and P(L > 0) + Q(L > 0) + P(L = 0) = 1 by symmetry. */
static void sums_of_masses(void) {
  static const enum acct_kind kinds[] = {ACCT_GAUSSIAN, ACCT_LAPLACE, ACCT_EXPONENTIAL, ACCT_PURE};
  for (int i = 0; i < ctest_size(2000, 200); i++) {
    double a = power_of_ten(-5, 1), cut[6] = {0};
    struct acct_pair pair = single(kinds[i % 4], a);
    double whole = pair.kind == PAIR_GAUSSIAN ? 8 * a + a * a : 1.2 * a;
    for (int j = 1; j < 5; j++) cut[j] = cut[j - 1] + (whole - cut[j - 1]) * ctest_uniform() * ctest_uniform();
    cut[5] = INFINITY;
    struct acct_masses sum = {0, 0}, all = acct_pair_between(&pair, 0, INFINITY);
    for (int j = 0; j < 5; j++) {
      struct acct_masses x = acct_pair_between(&pair, cut[j], cut[j + 1]);
      double slack = 1e-12;
      sum.p += x.p, sum.q += x.q;
      CHECK(x.p >= x.q * exp(cut[j]) * (1 - slack));
      CHECK(j == 4 || x.p <= x.q * exp(cut[j + 1]) * (1 + slack));
    }
    CHECK_NEAR(sum.p, all.p, 1e-13 * all.p);
    CHECK_NEAR(sum.q, all.q, 1e-13 * all.q);
    CHECK_NEAR(all.p + all.q + acct_pair_zero(&pair), 1, 1e-14);
    acct_pair_free(&pair);
  }
}

/* ---- hulls ---- */

static double profile(const struct acct_pair *pair, double v) {
  struct acct_masses x = acct_pair_between(pair, v, INFINITY);
  return x.p - exp(v) * x.q;
}

/* A release of parameter a, and one after it of parameter b. */
struct couple {
  enum acct_kind first, second;
  double a, b, v;
};

static long double after_laplace(long double x, const void *with) {
  const struct couple *c = with;
  return expl(-x) / 2 * reference_base(c->first, c->a, c->v - c->b + 2 * x);
}

/* Exact profile of the composition: the second one's loss l is known, and e^v becomes e^(v - l). */
static long double composed(const struct couple *c) {
  long double a = c->a, b = c->b, up = reference_base(c->first, a, c->v - b), v = c->v;
  long double down = reference_base(c->first, a, v + b), share = 1 / (1 + expl(-b));
  if (c->second == ACCT_PURE) return share * up + (1 - share) * down;
  long double middle = reference_integral(after_laplace, c, 0, b, 200);
  return up / 2 + expl(-b) / 2 * down + middle;
}

/* Kinks and the first points of quadrature: the integrand of Laplace after Laplace has a corner. */
static void check_hull(const struct acct_leaf *leaf, size_t leaves, struct couple *c) {
  struct acct_pair pair;
  CHECK(acct_pair_create(leaf, leaves, ACCT_PESSIMISTIC, &pair) == BASE_OK && pair.kind == PAIR_DISCRETE);
  double most = 0, range = c->b + (c->first == ACCT_GAUSSIAN ? 6 * c->a + c->a * c->a : c->a);
  for (int i = 0; i < 60; i++) {
    c->v = i == 0 ? 0 : range * ctest_uniform();
    long double below = composed(c);
    if (below > 1e-12) most = reference_worst(most, (double)(below / profile(&pair, c->v)));
  }
  CHECK(most <= 1 + 1e-9);
  CHECK(most > 0.05); /* not an empty claim either */
  double before = -INFINITY, at = -0.5 * range;
  for (int i = 0; i < 200; i++) { /* convex in e^v, through the mirror image at zero */
    double v[2], delta[2];
    v[0] = at, v[1] = at + range / 100;
    for (int j = 0; j < 2; j++) {
      delta[j] = v[j] >= 0 ? profile(&pair, v[j]) : -expm1(v[j]) + exp(v[j]) * profile(&pair, -v[j]);
    }
    double slope = (delta[1] - delta[0]) / (exp(v[1]) - exp(v[0]));
    CHECK(slope >= before - 1e-11 * (1 + exp(-v[0])) * 100 / range);
    before = slope, at = v[1];
  }
  struct acct_masses all = acct_pair_between(&pair, 0, INFINITY);
  CHECK(all.p + all.q <= 1 + 1e-12);
  CHECK(profile(&pair, 0) <= 1);
  for (size_t i = 0; i < pair.n; i++) {
    CHECK(pair.q[i] >= 0 && fabs(pair.p[i] - exp(pair.loss[i]) * pair.q[i]) <= 1e-14 * pair.p[i]);
  }
  acct_pair_free(&pair);
}

static void hulls(void) {
  for (int i = 0; i < ctest_size(24, 4); i++) {
    double mu = power_of_ten(-1.5, 0.5), a = power_of_ten(-1.5, 0.5);
    struct acct_leaf one[] = {{ACCT_GAUSSIAN, mu, 0, 0, 1}, {ACCT_LAPLACE, a, 0, 0, 1}};
    struct acct_leaf two[] = {{ACCT_GAUSSIAN, mu, 0, 0, 1}, {ACCT_PURE, a, 0, 0, 1}};
    struct acct_leaf three[] = {{ACCT_LAPLACE, a, 0, 0, 2}};
    struct acct_leaf four[] = {{ACCT_PURE, a, 0, 0, 2}};
    struct acct_leaf five[] = {{ACCT_GAUSSIAN, mu, 0, 0, 1}, {ACCT_EXPONENTIAL, 2 * a, 0, 0, 1}}; /* attains pure a */
    struct acct_leaf six[] = {
        {ACCT_GAUSSIAN, mu, 0, 0, 1}, {ACCT_LAPLACE, a, 0, 0, 1}, {ACCT_SVT_LAPLACE, 0.1, 5, 0, 1}};
    struct couple gaussian_laplace = {ACCT_GAUSSIAN, ACCT_LAPLACE, mu, a, 0};
    struct couple gaussian_pure = {ACCT_GAUSSIAN, ACCT_PURE, mu, a, 0};
    struct couple laplace = {ACCT_LAPLACE, ACCT_LAPLACE, a, a, 0}, pure = {ACCT_PURE, ACCT_PURE, a, a, 0};
    switch (i % 6) {
    case 0:
      check_hull(one, 2, &gaussian_laplace);
      break;
    case 1:
      check_hull(two, 2, &gaussian_pure);
      break;
    case 2:
      check_hull(three, 1, &laplace);
      break;
    case 3:
      check_hull(four, 1, &pure);
      break;
    case 4:
      check_hull(five, 2, &gaussian_pure);
      break;
    default:
      check_hull(six, 3, &gaussian_laplace);
    }
  }
}

/* The optimistic pair lies below the pessimistic one, and nothing is claimed of sparse vector alone. */
static void attained(void) {
  struct acct_leaf leaf[] = {{ACCT_LAPLACE, 0.5, 0, 0, 1}, {ACCT_GAUSSIAN, 0.3, 0, 0, 4}, {ACCT_PURE, 0.2, 0, 0, 1}};
  struct acct_leaf svt = {ACCT_SVT_LAPLACE, 1, 10, 0, 1}, choice = {ACCT_EXPONENTIAL, 1, 0, 0, 1};
  struct acct_pair low, high;
  CHECK(acct_pair_create(leaf, 3, ACCT_OPTIMISTIC, &low) == BASE_OK && low.kind == PAIR_GAUSSIAN);
  CHECK_NEAR(low.a, 0.6, 1e-15);
  CHECK(acct_pair_create(leaf, 3, ACCT_PESSIMISTIC, &high) == BASE_OK);
  for (double v = 0; v < 3; v += 0.01) CHECK(profile(&low, v) <= profile(&high, v));
  acct_pair_free(&high);
  CHECK(acct_pair_create(&svt, 1, ACCT_OPTIMISTIC, &low) == BASE_OK);
  CHECK(profile(&low, 0) == 0 && acct_pair_zero(&low) == 1);
  acct_pair_free(&low);
  CHECK(acct_pair_create(&choice, 1, ACCT_OPTIMISTIC, &low) == BASE_OK);
  for (double v = 0; v < 1; v += 0.01) {
    CHECK(profile(&low, v) <= (double)reference_base(ACCT_EXPONENTIAL, 1, v) * (1 + 1e-14) + 1e-16);
  }
  CHECK_NEAR(profile(&low, 0), tanh(0.25), 1e-15); /* the total variation of any bounded range 1, attained */
  acct_pair_free(&low);
}

static void memory(void) {
  struct acct_leaf leaf = {ACCT_LAPLACE, 0.5, 0, 0, 3};
  long live = ctest_live_allocations();
  for (int which = 1;; which++) {
    struct acct_pair pair;
    ctest_fail_allocation(which);
    int status = acct_pair_create(&leaf, 1, ACCT_PESSIMISTIC, &pair);
    ctest_fail_allocation(0);
    if (status == BASE_OK) acct_pair_free(&pair);
    CHECK(ctest_live_allocations() == live);
    if (status == BASE_OK) break;
    CHECK(status == BASE_ERR_MEMORY);
  }
}
