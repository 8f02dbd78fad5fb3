/*
 * Sparse vector: exact divergences of the index where it stops, for queries
 * chosen against it, stay below the bound; and the bound is the recursion of
 * svt.c, maximised by brute force.
 */
#include "reference.h"

#include <float.h>

static void short_runs(void);
static void long_runs(void);
static void recursion(void);
static void shape(void);
static void zcdp_constant(void);
static void hull(void);

void test_acct_svt(void) {
  short_runs();
  long_runs();
  recursion();
  shape();
  zcdp_constant();
  hull();
}

static double power_of_ten(double low, double high) { return pow(10, low + (high - low) * ctest_uniform()); }

/* ---- the law of the stopping index ---- */

enum { MOST = 3000 };
/* Queries q[i] under P and q[i] + shift[i] under Q, in units of the sensitivity; the threshold is zero. */
struct game {
  struct acct_leaf leaf;
  int k;
  double q[MOST], shift[MOST];
  double p_stop[MOST + 1], q_stop[MOST + 1]; /* the last one: never */
};

static double scale_of(const struct game *g, int query) {
  if (g->leaf.kind == ACCT_SVT_GAUSSIAN) return 1 / (query ? g->leaf.c : g->leaf.a);
  return (query ? 4 : 2) / g->leaf.a;
}

static double threshold_density(const struct game *g, double t) {
  double scale = scale_of(g, 0);
  if (g->leaf.kind == ACCT_SVT_GAUSSIAN) return (double)reference_normal_density(t / scale) / scale;
  return exp(-fabs(t) / scale) / (2 * scale);
}

/* P(noise of a query > x) */
static double above(const struct game *g, double x) {
  double u = x / scale_of(g, 1);
  if (g->leaf.kind == ACCT_SVT_GAUSSIAN) return base_pnorm(-u);
  return u > 0 ? exp(-u) / 2 : 1 - exp(u) / 2;
}

/* By quadrature over the threshold's noise in panels of width one: kinks of Laplace noise lie at whole numbers. */
static void play(struct game *g) {
  const struct reference_rule *rule = reference_rule();
  double scale = scale_of(g, 0), far = g->leaf.kind == ACCT_SVT_GAUSSIAN ? 9 * scale : 40 * scale;
  int panels = (int)ceil(far), wide = 1;
  for (int i = 0; i <= g->k; i++) g->p_stop[i] = g->q_stop[i] = 0;
  if (g->leaf.kind == ACCT_SVT_GAUSSIAN && panels > 60) panels = 60, wide = (int)ceil(far / 60);
  for (int j = -panels; j < panels; j++) {
    for (int n = 0; n < REFERENCE_POINTS; n++) {
      double t = wide * (j + 0.5 + 0.5 * (double)rule->x[n]);
      double p = threshold_density(g, t) * 0.5 * wide * (double)rule->w[n], q = p;
      for (int i = 0; i < g->k && (p > 0 || q > 0); i++) {
        int same = i > 1 && g->q[i] == g->q[i - 2] && g->shift[i] == g->shift[i - 2];
        static double up[2], shifted[2];
        if (!same) {
          up[i % 2] = above(g, t - g->q[i]);
          shifted[i % 2] = above(g, t - g->q[i] - g->shift[i]);
        }
        g->p_stop[i] += p * up[i % 2], g->q_stop[i] += q * shifted[i % 2];
        p *= 1 - up[i % 2], q *= 1 - shifted[i % 2];
      }
      g->p_stop[g->k] += p, g->q_stop[g->k] += q;
    }
  }
}

/* Either direction. Both laws have mass one but for the quadrature, which this form of the moment forgives. */
static double divergence(const struct game *g, double order) {
  long double moment[2] = {0, 0};
  for (int i = 0; i <= g->k; i++) {
    long double p = g->p_stop[i], q = g->q_stop[i];
    if (p > 0 && q > 0) {
      moment[0] += q * reference_excess((p - q) / q, order);
      moment[1] += p * reference_excess((q - p) / p, order);
    }
  }
  return (double)(log1pl(fmaxl(moment[0], moment[1])) / (order - 1));
}

static struct acct_leaf laplace(double eps, double k) { return (struct acct_leaf){ACCT_SVT_LAPLACE, eps, k, 0, 1}; }
static struct acct_leaf gaussian(double threshold, double k, double query) {
  return (struct acct_leaf){ACCT_SVT_GAUSSIAN, 1 / threshold, k, 1 / query, 1};
}

/* Against the bound at several orders; the largest share of it. */
static double check(const struct game *g) {
  static const double orders[] = {1.05, 1.5, 2, 4, 10, 40};
  double share = 0;
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    if (orders[i] > 5 && !ctest_extended()) continue; /* powers need the range of long double */
    double exact = divergence(g, orders[i]), bound = acct_svt_rdp(&g->leaf, orders[i]);
    CHECK(exact <= bound * (1 + 1e-7) + 1e-13);
    share = reference_worst(share, exact / bound);
  }
  return share;
}

/* Random queries around the threshold with shifts of one either way, and the classic: all shifted but the last. */
static void short_runs(void) {
  static const int lengths[] = {1, 2, 5};
  double share[2] = {0, 0};
  struct game *g = base_alloc(1, sizeof *g);
  for (int i = 0; i < ctest_size(72, 12); i++) {
    int k = lengths[i % 3], noise = i / 3 % 2;
    double eps = power_of_ten(-0.7, 0.7), threshold = power_of_ten(-0.5, 1);
    g->leaf = noise ? gaussian(threshold, k, threshold * power_of_ten(-0.3, 0.5)) : laplace(eps, k);
    g->k = k;
    double spread = 3 * scale_of(g, 1), centre = floor(spread * (2 * ctest_uniform() - 1));
    for (int j = 0; j < k; j++) {
      g->q[j] = i / 6 % 2 ? centre : floor(spread * ctest_normal() / 2);
      g->shift[j] = i / 6 % 2 ? (j == k - 1 ? 1 : -1) : ctest_uniform() < 0.5 ? -1 : 1;
    }
    play(g);
    share[noise] = reference_worst(share[noise], check(g));
  }
  double tight = ctest_size(1, 0) ? 0.5 : 0.02; /* a few games only do not come near it */
  CHECK(share[0] > tight && share[0] < 1);
  CHECK(share[1] > tight && share[1] < 1);
  base_free(g);
}

/*
 * Equal queries with shifts of alternating sign, k = 3000, sd^2 = 3 / (2 rho)
 * and 3 / rho: the divergence of order 1.5 exceeds alpha rho, so that a bound
 * linear in alpha that forgets the length of the run (Chen & Lee 2020, equation
 * (5)) is none (proofs: sparse-vector-long).
 */
static void long_runs(void) {
  double rho = 0.01, order = 1.5, most = 0;
  struct game *g = base_alloc(1, sizeof *g);
  g->k = ctest_size(3000, 300);
  g->leaf = gaussian(sqrt(1.5 / rho), g->k, sqrt(3 / rho));
  for (int place = 40; place <= 65; place += ctest_size(10, 25)) {
    for (int i = 0; i < g->k; i++) g->q[i] = -place, g->shift[i] = i % 2 ? 1 : -1;
    play(g);
    most = reference_worst(most, divergence(g, order));
  }
  CHECK(most > 1.1 * order * rho || ctest_size(0, 1));
  CHECK(acct_svt_rdp(&g->leaf, order) >= most * (1 + 1e-9));
  CHECK(acct_svt_rdp(&g->leaf, order) <= order * g->leaf.c * g->leaf.c * g->k / 2);
  base_free(g);
}

/* ---- the recursion ---- */

static double log_cdf(const struct acct_leaf *leaf, double x) {
  if (leaf->kind == ACCT_SVT_GAUSSIAN) return base_pnorm_log(x * leaf->c);
  double u = x * leaf->a / 4;
  return u < 0 ? u - log(2) : log1p(-exp(-u) / 2);
}

static double threshold_rdp(const struct acct_leaf *leaf, double tau, double order) {
  struct acct_leaf noise = {ACCT_LAPLACE, tau * leaf->a / 2, 0, 0, 1};
  if (leaf->kind == ACCT_SVT_GAUSSIAN) return order * tau * tau * leaf->a * leaf->a / 2;
  return tau > 0 ? acct_leaf_rdp(&noise, order) : 0;
}

/* The formula of U_k (proofs: sparse-vector-divergence) over the taus i / n and a grid of x: not above the true minimum
 * over these taus. */
static double brute_force(const struct acct_leaf *leaf, double order, int n) {
  enum { POINTS = 1601 };
  double best = INFINITY, reach = leaf->kind == ACCT_SVT_GAUSSIAN ? (7 + 2 * order * leaf->c) / leaf->c : 1;
  for (int i = 0; i <= n; i++) {
    double tau = (double)i / n, v = 1, a[2 * POINTS], b[2 * POINTS];
    for (int j = 0; j < 2 * POINTS; j++) {
      double s = j % 2 ? tau + 1 : tau - 1;
      double x = leaf->kind == ACCT_SVT_GAUSSIAN ? reach * (2.0 * (j / 2) / (POINTS - 1) - 1)
                                                 : s * (1.0 * (j / 2) / (POINTS - 1) - 1); /* between 0 and -s */
      a[j] = exp(order * log_cdf(leaf, -x) + (1 - order) * log_cdf(leaf, -x - s));
      b[j] = exp(order * log_cdf(leaf, x) + (1 - order) * log_cdf(leaf, x + s));
    }
    for (int step = 0; step < leaf->b; step++) {
      double next = v;
      for (int j = 0; j < 2 * POINTS; j++) next = fmax(next, a[j] + b[j] * v);
      v = next;
    }
    best = fmin(best, threshold_rdp(leaf, tau, order) + log(v) / (order - 1));
  }
  return best;
}

static void recursion(void) {
  static const double lengths[] = {1, 2, 5, 20, 60};
  for (int i = 0; i < ctest_size(30, 2); i++) {
    double k = lengths[i % 5], order = 1 + power_of_ten(-0.7, 1), threshold = power_of_ten(-0.2, 1);
    struct acct_leaf leaf = i % 2 ? gaussian(threshold, k, threshold * 1.5) : laplace(power_of_ten(-1, 0.3), k);
    double exact = brute_force(&leaf, order, i % 2 ? 5 : 10), value = acct_svt_rdp(&leaf, order);
    if (i % 2) exact = fmin(exact, order * leaf.c * leaf.c * k / 2);
    CHECK(value >= exact * (1 - 1e-9) - 1e-14);
    CHECK(value <= exact * (i % 2 ? 1.06 : 1.02));
  }
}

/* ---- properties ---- */

static void shape(void) {
  static const double orders[] = {1.01, 1.5, 3, 20, 300, 1e5};
  for (int i = 0; i < ctest_size(6, 2); i++) {
    double order = orders[i % 6], eps = power_of_ten(-2, 1), sd = power_of_ten(-0.3, 1.5), before[2] = {0, 0};
    for (double k = 1; k < 2e9; k *= ctest_size(7, 1000)) {
      struct acct_leaf leaf[] = {laplace(eps, floor(k)), gaussian(sd, floor(k), 1.4 * sd)};
      for (int j = 0; j < 2; j++) {
        double value = acct_svt_rdp(&leaf[j], order);
        CHECK(value > 0 && value >= before[j] * (1 - 1e-12));
        before[j] = value;
        struct acct_leaf twice = leaf[j];
        twice.times = 2;
        CHECK(acct_leaf_rdp(&twice, order) == 2 * value);
      }
      /* Pure DP of eps, whatever the length: randomised response is the worst of all. */
      long double excess = reference_excess(expm1l(eps), order) + expl(eps) * reference_excess(expm1l(-eps), order);
      long double pure = order * eps < 300 ? log1pl(excess / (1 + expl(eps))) / (order - 1) : eps;
      CHECK(before[0] <= (double)pure * (1 + 1e-9));
      CHECK(before[1] <= order * leaf[1].c * leaf[1].c * floor(k) / 2 * (1 + 1e-12)); /* a function of k queries */
    }
    double once = acct_svt_rdp(&(struct acct_leaf){ACCT_SVT_LAPLACE, eps, 10, 0, 1}, order);
    CHECK(acct_svt_rdp(&(struct acct_leaf){ACCT_SVT_LAPLACE, eps, 10, 0, 1}, order * 1.3) >= once * (1 - 1e-3));
  }
}

/* At most 0.11 eps^2 for k <= 20, over all orders (proofs: sparse-vector-cost). */
static void zcdp_constant(void) {
  static const double grid[] = {0.002, 0.02, 0.1, 0.3, 0.7, 1, 1.5, 2};
  for (size_t i = 0; i < sizeof grid / sizeof *grid; i += (size_t)ctest_size(1, 7)) {
    double eps = grid[i];
    for (double k = 1; k <= 20; k += 19) {
      struct acct_leaf leaf = laplace(eps, k);
      double rho = acct_leaf_zcdp(&leaf), most = 0;
      CHECK(rho <= 0.11 * eps * eps);
      for (double x = 0.05; x < 1e6; x *= 1.9) most = fmax(most, acct_svt_rdp(&leaf, 1 + x) / (1 + x));
      CHECK(rho >= most && rho <= 1.2 * most);
    }
  }
  struct acct_leaf leaf = gaussian(5, 10, 7);
  CHECK(acct_leaf_zcdp(&leaf) == INFINITY); /* no order bounds it beyond itself */
}

/* The dominating pair's profile lies above that of every game. */
static void hull(void) {
  struct game *g = base_alloc(1, sizeof *g);
  for (int i = 0; i < ctest_size(6, 2); i++) {
    struct acct_pair pair;
    g->k = 1 + i % 5;
    g->leaf =
        i % 2 ? gaussian(power_of_ten(0, 0.7), g->k, power_of_ten(0, 0.7)) : laplace(power_of_ten(-0.7, 0.5), g->k);
    CHECK(acct_pair_create(&g->leaf, 1, ACCT_PESSIMISTIC, &pair) == BASE_OK);
    for (int j = 0; j < g->k; j++) {
      g->q[j] = floor(2 * scale_of(g, 1) * ctest_normal());
      g->shift[j] = j % 2 ? 1 : -1;
    }
    play(g);
    double top = pair.loss[pair.n - 1], out = 0;
    for (int j = 0; j < 50; j++) {
      double v = 0.7 * top * j / 50, forward = 0, backward = 0;
      for (int l = 0; l <= g->k; l++) {
        forward += fmax(g->p_stop[l] - exp(v) * g->q_stop[l], 0);
        backward += fmax(g->q_stop[l] - exp(v) * g->p_stop[l], 0);
      }
      struct acct_masses x = acct_pair_between(&pair, v, INFINITY);
      out = reference_worst(out, fmax(forward, backward) - (x.p - exp(v) * x.q));
    }
    CHECK(out <= 1e-13);
    acct_pair_free(&pair);
  }
  base_free(g);
}
