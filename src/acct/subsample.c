/*
 * RDP of a subsampled round. With g(v) = 1 + s (e^v - 1) and the base's pair (P, Q),
 *
 *   zero-out, Poisson:  E_Q g(L)^alpha, and in the reverse direction E_Q g(L)^(1 - alpha),
 *                       of which a Gaussian needs the first only (Mironov, Talwar &
 *                       Zhang 2019, theorem 5);
 *   replace-one:        1 + E_Q psi(g(L)) over L > 0, psi = g^alpha + g^(1 - alpha) - 1 - g,
 *                       by the distribution of bins.c; by parts, the integral of
 *                       s delta(v) (proofs: profile-divergence).
 *
 * All integrands are convex in e^v, so replacing the base by its chords between
 * nodes ("connect the dots") gives an upper bound. The Gaussian zero-out case is
 * computed exactly instead: on the real line the trapezoidal rule with width h
 * has an error of at most 2 M / (exp(2 pi c / h) - 1), M the integral of the
 * modulus at imaginary part c < pi / mu (Trefethen & Weideman 2014, theorem
 * 5.1). There |g(x + ic)| <= g(x) and |phi(x + ic)| = phi(x) e^(c^2 / 2), and
 * both the integrand and M are of second order in s, in a ratio below 1e3 on
 * the widths taken here: a relative error below 1e-15.
 *
 * Never more than the base: amplification cannot hurt.
 */
#include "acct/private.h"

#include <math.h>

enum { NODES = 2000, MOST_POINTS = 40000 };

/* Points of a sum over Q: weight, log g, g - 1. */
struct points {
  size_t n;
  double *log_w, *w, *log_g, *g1;
  double first, h; /* of the trapezoidal rule: x = (first + i) h */
};

/* log(1 + sum) of terms that may be large. */
struct log_sum {
  double shift, sum;
};

static int chords(const struct acct_pair *base, const struct acct_round *round, struct points *points);
static int trapezoid(double mu, double rate, double last_order, struct points *points);
static size_t within(const struct points *points, double mu, double order);
static void add_excess(struct log_sum *sum, const struct points *points, size_t n, double a);
static void add_folded(struct log_sum *sum, const struct points *points, double order);
static void add_tails(struct log_sum *sum, const struct acct_pair *base, const struct acct_round *round, double order);
static void add_log(struct log_sum *sum, double log_term);
static double log_one_plus(const struct log_sum *sum);

int acct_subsample_rdp(const struct acct_round *round, size_t n, const double *order, double *rdp) {
  static const double finest = 8.0; /* mu beyond which the trapezoidal rule would need too many points */
  struct acct_pair base;
  struct points points = {0};
  int status = acct_pair_create(round->leaf, round->leaves, ACCT_PESSIMISTIC, &base);
  if (status) return status == BASE_ERR_NUMERIC ? BASE_OK : status;
  int gaussian = base.kind == PAIR_GAUSSIAN, mixture = round->amplification == ACCT_MIXTURE;
  int exact = gaussian && mixture && base.a < finest && order[n - 1] * base.a < 2000.0;
  if (exact) {
    status = trapezoid(base.a, round->rate, order[n - 1], &points);
  } else if (base.p_infinite == 0.0) {
    status = chords(&base, round, &points);
  }
  for (size_t i = 0; i < n && !status && points.n > 0; i++) {
    struct log_sum sum = {0.0, 0.0}, reverse = {0.0, 0.0};
    if (mixture) {
      add_excess(&sum, &points, exact ? within(&points, base.a, order[i]) : points.n, order[i]);
      if (!gaussian) add_excess(&reverse, &points, points.n, 1.0 - order[i]);
    } else {
      add_folded(&sum, &points, order[i]);
    }
    if (gaussian && !exact) add_tails(&sum, &base, round, order[i]);
    double log_moment = fmax(log_one_plus(&sum), log_one_plus(&reverse));
    if (isnan(sum.sum) || isnan(reverse.sum)) log_moment = INFINITY;
    rdp[i] = fmin(rdp[i], log_moment * (1.0 + 1e-12) / (order[i] - 1.0));
  }
  base_free(points.log_w);
  acct_pair_free(&base);
  return status;
}

static int points_alloc(size_t n, struct points *points) {
  points->log_w = base_alloc(4 * n, sizeof *points->log_w);
  if (!points->log_w) return BASE_ERR_MEMORY;
  points->w = points->log_w + n, points->log_g = points->w + n, points->g1 = points->log_g + n;
  return BASE_OK;
}

/* g = 1 + s (e^v - 1) */
static void point(struct points *points, double rate, double v, double log_w) {
  size_t i = points->n++;
  points->log_w[i] = log_w;
  points->w[i] = exp(log_w);
  points->log_g[i] = v < 30.0 ? log1p(rate * expm1(v)) : v + log(rate + (1.0 - rate) * exp(-v));
  points->g1[i] = expm1(points->log_g[i]);
}

/* ---- the base by its chords ---- */

/* Edges in loss. Gaussian: in standard deviations, dense where small orders need them, and none where the masses of
 * either distribution would be denormal numbers. */
static double edge(const struct acct_pair *base, size_t i) {
  double u = (double)i / NODES;
  if (base->kind == PAIR_DISCRETE) return base->loss[i];
  if (base->kind != PAIR_GAUSSIAN) return base->a * u;
  double all = fmax(36.0 - 0.5 * base->a, 1.0), dense = fmin(12.5 + base->a, 0.6 * all);
  return base->a * (u < 0.5 ? 2.0 * u * dense : dense + (2.0 * u - 1.0) * (all - dense));
}

/* Masses of P at v > 0; those of Q are e^-v times as much, and at -v the other way round. */
static int chords(const struct acct_pair *base, const struct acct_round *round, struct points *points) {
  size_t n = base->kind == PAIR_DISCRETE ? base->n : NODES + 1;
  double *p = base_alloc(n, sizeof *p);
  int status = p ? points_alloc(2 * n, points) : BASE_ERR_MEMORY;
  for (size_t i = 0; i < n && !status; i++) {
    if (base->kind == PAIR_DISCRETE) p[i] = base->p[i];
    if (base->kind == PAIR_DISCRETE || i + 1 == n) continue;
    double low = edge(base, i), high = edge(base, i + 1);
    struct acct_masses x = acct_pair_between(base, low, high);
    double share = acct_share_above(x, low, high - low);
    p[i] += x.p - share, p[i + 1] += share;
  }
  for (size_t i = 0; i < n && !status; i++) {
    double v = edge(base, i);
    if (!(p[i] > 0.0)) continue;
    point(points, round->rate, v, log(p[i]) - v);
    if (round->amplification == ACCT_MIXTURE) point(points, round->rate, -v, log(p[i]));
  }
  base_free(p);
  return status;
}

/* Beyond the last chord g e^-v is smaller than there; below, g >= 1 - s, where the excess is at most order s. */
static void add_tails(struct log_sum *sum, const struct acct_pair *base, const struct acct_round *round, double order) {
  double mu = base->a, last = edge(base, NODES), x = last / mu + 0.5 * mu;
  double drop = log(round->rate + (1.0 - round->rate) * exp(-last));
  add_log(sum, 0.5 * order * (order - 1.0) * mu * mu + base_pnorm_log(order * mu - x) + order * drop);
  if (round->amplification != ACCT_MIXTURE) return;
  add_log(sum, base_pnorm_log(mu - x) + log(order) + log(round->rate));
}

/* ---- the Gaussian exactly ---- */

/* The terms beyond are below 1e-300 of the sum. */
static const double standard_deviations = 39.0;

/* x = (L / mu + mu / 2) is standard normal under Q. */
static int trapezoid(double mu, double rate, double last_order, struct points *points) {
  double c = fmin(10.0, 2.8 / mu), h = 2.0 * 3.14159265358979323846 * c / (0.5 * c * c + 50.0);
  double first = floor(-standard_deviations / h), last = ceil((last_order * mu + standard_deviations) / h);
  if (last - first > MOST_POINTS) return BASE_OK;
  int status = points_alloc((size_t)(last - first) + 1, points);
  points->first = first, points->h = h;
  for (double i = first; i <= last && !status; i += 1.0) {
    double x = i * h;
    point(points, rate, mu * (x - 0.5 * mu), -0.5 * x * x - 0.91893853320467274178 + log(h));
  }
  return status;
}

/* Number of points up to where the sum of this order has passed its peak. */
static size_t within(const struct points *points, double mu, double order) {
  size_t n = (size_t)(ceil((order * mu + standard_deviations) / points->h) - points->first) + 1;
  return n < points->n ? n : points->n;
}

/* ---- sums ---- */

static void add_log(struct log_sum *x, double log_term) {
  if (log_term > x->shift + 600.0) {
    x->sum *= exp(x->shift - log_term);
    x->shift = log_term;
  }
  x->sum += exp(log_term - x->shift);
}

static double log_one_plus(const struct log_sum *x) {
  return x->shift == 0.0 ? log1p(x->sum) : x->shift + log(x->sum + exp(-x->shift));
}

static double weight(const struct log_sum *sum, const struct points *points, size_t i) {
  return sum->shift == 0.0 ? points->w[i] : exp(points->log_w[i] - sum->shift);
}

/* g^a - 1 - a (g - 1) >= 0, for a > 1 or a < 0; computed without cancellation as a tends to one or to zero. */
static double excess(double log_g, double g1, double a) {
  if (fabs(a * g1) > 0.02 || fabs(g1) > 0.02) {
    double value = a > 1.0 ? (1.0 + g1) * expm1((a - 1.0) * log_g) - (a - 1.0) * g1 : expm1(a * log_g) - a * g1;
    return fmax(value, 0.0);
  }
  double series = 1.0;
  for (double k = 9.0; k >= 3.0; k -= 1.0) series = 1.0 + (a - k + 1.0) * g1 / k * series;
  return 0.5 * a * (a - 1.0) * g1 * g1 * series;
}

/* log(e^x - 1) */
static double log_expm1(double x) { return x > 30.0 ? x : log(expm1(x)); }

static void add_excess(struct log_sum *sum, const struct points *points, size_t n, double a) {
  for (size_t i = 0; i < n; i++) {
    double log_g = points->log_g[i];
    if (a * log_g <= 30.0) {
      sum->sum += weight(sum, points, i) * excess(log_g, points->g1[i], a);
    } else { /* (g^a - g) (1 - (a - 1) (1 - 1 / g) / (g^(a - 1) - 1)), or an upper bound, g^a */
      double y = (a - 1.0) * log_g, less = -(a - 1.0) * expm1(-log_g) / expm1(y);
      add_log(sum, points->log_w[i] + (a > 1.0 ? log_g + log_expm1(y) + log1p(-less) : a * log_g));
    }
  }
}

/* g^a + g^(1 - a) - 1 - g = (g^(a - 1) - 1) (g - g^(1 - a)), g >= 1. */
static void add_folded(struct log_sum *sum, const struct points *points, double a) {
  for (size_t i = 0; i < points->n; i++) {
    double log_g = points->log_g[i], x = (a - 1.0) * log_g, g1 = points->g1[i];
    if (x <= 30.0 && log_g <= 30.0) {
      double e = expm1(x);
      sum->sum += weight(sum, points, i) * e * (e + e * g1 + g1) / (1.0 + e);
    } else if (x > 0.0) { /* an upper bound: the second factor without its subtrahend */
      add_log(sum, points->log_w[i] + log_g + log_expm1(x));
    }
  }
}
