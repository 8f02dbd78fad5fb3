/* Renyi divergences, plain and subsampled, against sums and quadrature of their definitions; conversions; the budget.
 */
#include "reference.h"

#include <float.h>

static void single_releases(void);
static void zcdp_constants(void);
static void sampled_gaussian_whole_orders(void);
static void sampled_gaussian_real_orders(void);
static void replace_one(void);
static void sampled_laplace(void);
static void curves_add(void);
static void conversions(void);
static void budget(void);
static void memory(void);

void test_acct_rdp(void) {
  single_releases();
  zcdp_constants();
  sampled_gaussian_whole_orders();
  sampled_gaussian_real_orders();
  replace_one();
  sampled_laplace();
  curves_add();
  conversions();
  budget();
  memory();
}

static double power_of_ten(double low, double high) { return pow(10, low + (high - low) * ctest_uniform()); }

static double leaf_rdp(enum acct_kind kind, double a, double order) {
  struct acct_leaf leaf = {kind, a, 0, 0, 1};
  return acct_leaf_rdp(&leaf, order);
}

static double step_rdp(enum acct_kind kind, double a, enum acct_amplification way, double rate, double order) {
  struct acct_leaf leaf = {kind, a, 0, 0, 1};
  struct acct_round round = {&leaf, 1, way, rate, 1};
  double rdp = NAN;
  CHECK(acct_rdp_curve(&round, 1, 1, &order, &rdp) == BASE_OK);
  return rdp;
}

/* ---- single releases ---- */

/* Two outcomes of likelihood ratio e^up and e^-down, of masses that sum to one. */
static long double two_points(long double up, long double down, long double order) {
  long double q = -expm1l(-down) / (expl(up) - expl(-down));
  long double excess = q * reference_excess(expm1l(up), order) + (1 - q) * reference_excess(expm1l(-down), order);
  return log1pl(excess) / (order - 1);
}

/* The largest over the place of the range. */
static long double bounded_range(long double range, long double order) {
  long double best = 0;
  for (int i = 1; i < 600; i++) best = fmaxl(best, two_points(range * i / 600, range * (600 - i) / 600, order));
  return best;
}

/* The middle outcomes x in (0, a) of Laplace noise at 0 against a: loss a - 2 x. */
struct laplace {
  long double a, order, rate;
  int reverse;
};

/* Excess of the moment of (1 - s) Q + s P against Q at loss l, or of the reverse. */
static long double mixed(const struct laplace *x, long double l) {
  return reference_excess(x->rate * expm1l(l), x->reverse ? 1 - x->order : x->order);
}
static long double middle(long double x, const void *with) {
  const struct laplace *l = with;
  return expl(x - l->a) / 2 * mixed(l, l->a - 2 * x);
}
static long double laplace_rdp(long double a, long double order, long double rate, int reverse) {
  struct laplace x = {a, order, rate, reverse};
  long double ends = expl(-a) / 2 * mixed(&x, a) + mixed(&x, -a) / 2;
  return log1pl(ends + reference_integral(middle, &x, 0, a, 1 + (int)(a * (order + 1) / 4))) / (order - 1);
}

static void single_releases(void) {
  double laplace = 0, pure = 0, under = 0, over = 0, worst = reference_tolerance(1e-11);
  for (int i = 0; i < ctest_size(150, 4); i++) {
    double a = power_of_ten(-4, 0.7), order = 1 + power_of_ten(-3, 1.5);
    long double exact = laplace_rdp(a, order, 1, 0), response = two_points(a, a, order);
    double value = leaf_rdp(ACCT_LAPLACE, a, order);
    laplace = reference_worst(laplace, fabs(value / (double)exact - 1) * fmin(1, order * a) * fmin(1, order - 1));
    value = leaf_rdp(ACCT_PURE, a, order);
    pure = reference_worst(pure, fabs(value / (double)response - 1) * fmin(1, order * a) * fmin(1, order - 1));
    /* The sum over a grid of places misses the largest by second order in its width. */
    double ratio = leaf_rdp(ACCT_EXPONENTIAL, a, order) / (double)bounded_range(a, order);
    under = reference_worst(under, (1 - ratio) * fmin(1, order * a) * fmin(1, order - 1));
    over = reference_worst(over, ratio - 1);
    CHECK_NEAR(leaf_rdp(ACCT_GAUSSIAN, a, order), 0.5 * order * a * a, 1e-15 * order * a * a);
    struct acct_leaf three = {ACCT_LAPLACE, a, 0, 0, 3};
    CHECK_NEAR(acct_leaf_rdp(&three, order), 3 * leaf_rdp(ACCT_LAPLACE, a, order), 1e-14 * order);
  }
  CHECK(laplace <= worst);
  CHECK(pure <= worst);
  CHECK(under <= worst);
  CHECK(over <= 1e-3);
}

/* D_alpha / alpha stays below the constant and comes near it. */
static void zcdp_constants(void) {
  static const enum acct_kind kinds[] = {ACCT_GAUSSIAN, ACCT_LAPLACE, ACCT_PURE, ACCT_EXPONENTIAL};
  for (int i = 0; i < 40; i++) {
    struct acct_leaf leaf = {kinds[i % 4], power_of_ten(-3, 1), 0, 0, 2};
    double rho = acct_leaf_zcdp(&leaf), most = 0;
    for (double x = 1e-3; x < 1e4; x *= 1.3) {
      long double a = leaf.a, order = 1 + x, one = order * a * a / 2;
      if (leaf.kind == ACCT_LAPLACE) one = laplace_rdp(a, order, 1, 0);
      if (leaf.kind == ACCT_PURE) one = two_points(a, a, order);
      if (leaf.kind == ACCT_EXPONENTIAL) one = bounded_range(a, order);
      most = reference_worst(most, (double)(2 * one / order));
      if (leaf.kind != ACCT_GAUSSIAN && order * a > 300) break;
    }
    CHECK(most <= rho * (1 + reference_tolerance(1e-8)));
    CHECK(most >= rho * (leaf.kind == ACCT_EXPONENTIAL ? 0.4 : 0.99));
  }
}

/* ---- sampled Gaussian, zero-out ---- */

/* log of sum of e^x, term by term. */
struct log_sum {
  long double top, sum;
};
static void add(struct log_sum *s, long double x) {
  if (x > s->top) {
    s->sum = s->sum * expl(s->top - x) + 1;
    s->top = x;
  } else {
    s->sum += expl(x - s->top);
  }
}

/* log of e^x - 1 for x > 0 */
static long double log_expm1(long double x) { return x > 40 ? x : logl(expm1l(x)); }

/* log(1 + e^x) */
static long double log_1p_exp(long double x) { return x > 40 ? x : log1pl(expl(x)); }

/* Mironov, Talwar & Zhang 2019: sum of C(alpha, k) (1 - q)^(alpha - k) q^k (e^(k (k - 1) mu^2 / 2) - 1) + 1. */
static long double binomial_rdp(long double q, long double mu, int order) {
  struct log_sum excess = {-INFINITY, 0};
  long double choose = 0;
  for (int k = 1; k <= order; k++) {
    choose += logl(order - k + 1) - logl(k);
    if (k == 1 || (q == 1 && k < order)) continue;
    long double rest = k < order ? (order - k) * log1pl(-q) : 0;
    add(&excess, choose + rest + k * logl(q) + log_expm1(k * (k - 1) * mu * mu / 2));
  }
  return log_1p_exp(excess.top + logl(excess.sum)) / (order - 1);
}

static void sampled_gaussian_whole_orders(void) {
  static const double rates[] = {1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.99, 1};
  static const double sigmas[] = {0.2, 0.35, 0.6, 1, 1.7, 3, 10, 30, 100};
  static const int orders[] = {2, 3, 4, 6, 8, 13, 16, 32, 47, 64};
  double worst = 0;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    for (size_t j = 0; j < sizeof sigmas / sizeof *sigmas; j++) {
      for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        double mu = 1 / sigmas[j], order = orders[k];
        double value = step_rdp(ACCT_GAUSSIAN, mu, ACCT_MIXTURE, rates[i], order);
        long double exact = binomial_rdp(rates[i], mu, orders[k]);
        worst = reference_worst(worst, fabs(value / (double)exact - 1));
        CHECK(value <= 0.5 * order * mu * mu * (1 + 1e-15));
        CHECK(value >= (double)exact * (1 - reference_tolerance(1e-12)));
      }
    }
  }
  CHECK(worst <= 1e-10);
}

struct gaussian {
  long double mu, rate, order, shift;
};

/* Q's density times the excess of ((1 - s) Q + s P) / Q, scaled by e^-shift. */
static long double gaussian_moment(long double x, const void *with) {
  const struct gaussian *g = with;
  long double v = g->mu * (x - g->mu / 2), y = g->rate * expm1l(v), density = -x * x / 2 - g->shift;
  if (g->order * log1pl(y) > 100) return expl(density + g->order * log1pl(y)) / sqrtl(2 * acosl(-1));
  return expl(density) * reference_excess(y, g->order) / sqrtl(2 * acosl(-1));
}

/* Panels of a quarter of the narrowest scale, over where anything is. */
static long double sampled_rdp(long double q, long double mu, long double order) {
  struct gaussian g = {mu, q, order, 0};
  long double far = order * mu; /* where e^(order v) moves the density to */
  g.shift = fmaxl(0, order * (logl(q) + mu * (far - mu / 2)) - far * far / 2);
  int panels = (int)((80 + far) * fmaxl(1, mu) * 2);
  long double excess = reference_integral(gaussian_moment, &g, -40, far + 40, panels);
  return log_1p_exp(logl(excess) + g.shift) / (order - 1);
}

static void sampled_gaussian_real_orders(void) {
  double worst = 0, integer = 0;
  for (int i = 0; i < ctest_size(60, 4); i++) {
    double q = i % 10 ? power_of_ten(-8, 0) : 1, mu = power_of_ten(-2, 0.7), order = 1 + power_of_ten(-4, 1.8);
    long double exact = sampled_rdp(q, mu, order);
    double value = step_rdp(ACCT_GAUSSIAN, mu, ACCT_MIXTURE, q, order);
    worst = reference_worst(worst, fabs(value / (double)exact - 1));
    CHECK(value <= 0.5 * order * mu * mu * (1 + 1e-15));
    int whole = 2 + i % 30; /* the reference itself */
    integer = reference_worst(integer, (double)fabsl(sampled_rdp(q, mu, whole) / binomial_rdp(q, mu, whole) - 1));
  }
  CHECK(worst <= reference_tolerance(1e-10) * (ctest_extended() ? 1 : 100));
  CHECK(integer <= reference_tolerance(1e-13) * (ctest_extended() ? 1 : 100));
  /* Beyond the finest noise that the trapezoidal rule takes: still an upper bound, and no more than the base. */
  for (double mu = 7; mu < 40; mu *= 1.5) {
    double value = step_rdp(ACCT_GAUSSIAN, mu, ACCT_MIXTURE, 1e-3, 3);
    long double exact = binomial_rdp(1e-3L, mu, 3);
    CHECK(value >= (double)exact * (1 - 1e-12) && value <= (double)exact * (1 + 1e-3));
  }
}

/* ---- replace-one (proofs: profile-divergence) ---- */

struct profile {
  enum acct_kind kind;
  long double a, rate, order, shift;
};

/* (g^(alpha - 2) + g^(-alpha - 1)) s delta(v) dg, g = 1 + s (e^v - 1). */
static long double integrand(long double v, const void *with) {
  const struct profile *p = with;
  long double log_g = log1pl(p->rate * expm1l(v)), delta = reference_base(p->kind, p->a, v);
  long double powers = expl((p->order - 2) * log_g - p->shift) + expl(-(p->order + 1) * log_g - p->shift);
  return powers * p->rate * p->rate * delta * expl(v);
}

static long double profile_rdp(enum acct_kind kind, long double a, long double rate, long double order) {
  struct profile p = {kind, a, rate, order, 0};
  long double top = kind == ACCT_GAUSSIAN ? a * (a * (order + 0.5L) + 14) : a;
  if (kind == ACCT_GAUSSIAN) p.shift = fmaxl(0, order * (order - 1) * a * a / 2 + order * logl(rate));
  int panels = 200 + (int)(kind == ACCT_GAUSSIAN ? 8 * (a * order + 14) * fmaxl(a, 1) : 4 * a * order);
  long double sum = order * (order - 1) * reference_integral(integrand, &p, 0, top, panels);
  return log_1p_exp(logl(sum) + p.shift) / (order - 1);
}

static void replace_one(void) {
  static const enum acct_kind kinds[] = {ACCT_GAUSSIAN, ACCT_LAPLACE};
  for (int i = 0; i < ctest_size(60, 4); i++) {
    enum acct_kind kind = kinds[i % 2];
    double q = power_of_ten(-6, 0), a = power_of_ten(-2, 0.5), order = 1 + power_of_ten(-2, 1.8);
    double exact = (double)profile_rdp(kind, a, q, order), value = step_rdp(kind, a, ACCT_PROFILE, q, order);
    double base = leaf_rdp(kind, a, order);
    CHECK(value <= base);
    CHECK(value >= fmin(exact, base) * (1 - reference_tolerance(1e-10)));
    CHECK(value <= fmin(exact, base) * (1 + 1e-3));
    /* Whatever the pair of neighbours, and either direction of it. */
    CHECK(value >= step_rdp(kind, a, ACCT_MIXTURE, q, order) * (1 - 1e-3));
  }
  /* Orders that look where the masses are smaller than any double, and the reference's need the range of long double.
   */
  for (double mu = 0.5; mu < 3; mu *= 2) {
    for (double order = 20; order * mu < (ctest_extended() ? 130 : 0); order += 12) {
      double exact = (double)profile_rdp(ACCT_GAUSSIAN, mu, 0.01L, order);
      double value = step_rdp(ACCT_GAUSSIAN, mu, ACCT_PROFILE, 0.01, order);
      CHECK(value >= exact * (1 - reference_tolerance(1e-10)) && value <= exact * (1 + 2e-3));
    }
  }
}

/* ---- sampled Laplace, zero-out ---- */

static void sampled_laplace(void) {
  for (int i = 0; i < ctest_size(60, 4); i++) {
    double q = i % 10 ? power_of_ten(-5, 0) : 1, a = power_of_ten(-2, 0.8), order = 1 + power_of_ten(-2, 1.5);
    double forward = (double)laplace_rdp(a, order, q, 0), backward = (double)laplace_rdp(a, order, q, 1);
    double exact = fmax(forward, backward), value = step_rdp(ACCT_LAPLACE, a, ACCT_MIXTURE, q, order);
    CHECK(value >= exact * (1 - reference_tolerance(1e-10)));
    CHECK(value <= exact * (1 + 1e-3));
    CHECK(value <= leaf_rdp(ACCT_LAPLACE, a, order));
  }
}

/* ---- compositions and conversions ---- */

static void curves_add(void) {
  struct acct_leaf a = {ACCT_GAUSSIAN, 0.3, 0, 0, 5}, b = {ACCT_LAPLACE, 0.2, 0, 0, 1};
  struct acct_round round[] = {{&a, 1, ACCT_PLAIN, 1, 7}, {&b, 1, ACCT_MIXTURE, 0.05, 1000}};
  double order[] = {1.01, 2, 3.5, 50}, rdp[4];
  CHECK(acct_rdp_curve(round, 2, 4, order, rdp) == BASE_OK);
  for (int i = 0; i < 4; i++) {
    double first = 35 * 0.5 * order[i] * 0.09;
    CHECK_NEAR(rdp[i], first + 1000 * step_rdp(ACCT_LAPLACE, 0.2, ACCT_MIXTURE, 0.05, order[i]), 1e-12 * rdp[i]);
  }
}

/* Canonne, Kamath & Steinke 2020, proposition 12 (proofs: renyi-conversion). */
static long double epsilon_at(long double order, long double rdp, long double delta) {
  return rdp + log1pl(-1 / order) - (logl(delta) + logl(order)) / (order - 1);
}

/* The best order by a golden search in log(order - 1), of a Gaussian with rho. */
static long double best_epsilon(long double rho, long double delta) {
  long double low = -20, high = 20;
  for (int i = 0; i < 200; i++) {
    long double third = (high - low) / 3, x = 1 + expl(low + third), y = 1 + expl(high - third);
    if (epsilon_at(x, rho * x, delta) < epsilon_at(y, rho * y, delta)) {
      high -= third;
    } else {
      low += third;
    }
  }
  return epsilon_at(1 + expl(low), rho * (1 + expl(low)), delta);
}

static void conversions(void) {
  for (int i = 0; i < ctest_size(200, 30); i++) {
    double rho = power_of_ten(-4, 1.5), delta = power_of_ten(-15, -1), eps, order, log_delta;
    struct acct_leaf leaf = {ACCT_GAUSSIAN, sqrt(2 * rho), 0, 0, 1};
    struct acct_round round = {&leaf, 1, ACCT_PLAIN, 1, 1};
    CHECK(acct_rdp_epsilon(&round, 1, delta, &eps, &order) == BASE_OK);
    double exact = fmax((double)best_epsilon(rho, delta), 0);
    CHECK(eps >= exact * (1 - 1e-11) && eps <= exact * (1 + 1e-4) + 1e-12);
    double own = (double)epsilon_at(order, rho * (long double)order, delta); /* at the order it names */
    CHECK_NEAR(eps, fmax(own, 0), 1e-9 * (1 + eps));                         /* order - 1 may have lost digits */
    /* delta of that eps is delta again, and the other way round. */
    if (!(eps > 0)) continue;
    CHECK(acct_rdp_log_delta(&round, 1, eps, &log_delta, &order) == BASE_OK);
    CHECK_NEAR(log_delta, log(delta), 2e-3 * (1 + fabs(log(delta))));
    double rdp = rho * order, at = acct_order_log_delta(order, rdp, eps);
    CHECK_NEAR(log_delta, fmin(at, 0), 1e-9 * (1 + fabs(at)));
    CHECK_NEAR((double)epsilon_at(order, rdp, expl(at)), eps, 1e-9 * (1 + eps));
  }
}

/* The largest divergence at the order that gives (eps, delta), and zero where none does. */
static void budget(void) {
  for (int i = 0; i < 200; i++) {
    double order = 1 + power_of_ten(-1, 3), eps = power_of_ten(-2, 1), delta = power_of_ten(-12, -2);
    double allowed = acct_rdp_budget(order, eps, delta), none = (double)epsilon_at(order, 0, delta);
    if (none >= eps) CHECK(allowed <= 1e-12);
    if (none < eps) CHECK_NEAR((double)epsilon_at(order, allowed, delta), eps, 1e-12 * (1 + eps + fabs(none)));
  }
  CHECK(acct_rdp_budget(1.0001, 1, 1e-6) == 0);
}

static void memory(void) {
  struct acct_leaf leaf = {ACCT_LAPLACE, 0.5, 0, 0, 2};
  struct acct_round round = {&leaf, 1, ACCT_PROFILE, 0.1, 10};
  long live = ctest_live_allocations();
  double eps, order;
  for (int which = 1; which < 12; which++) {
    ctest_fail_allocation(which);
    CHECK(acct_rdp_epsilon(&round, 1, 1e-6, &eps, &order) == BASE_ERR_MEMORY);
    CHECK(ctest_live_allocations() == live);
  }
  ctest_fail_allocation(0);
  CHECK(acct_rdp_epsilon(&round, 1, 1e-6, &eps, &order) == BASE_OK && eps > 0 && isfinite(eps));
  CHECK(ctest_live_allocations() == live);
}
