/*
 * RDP of a subsampled step. With g(v) = 1 + s (e^v - 1) and the base's pair (P, Q),
 *
 *   zero-out, Poisson:  E_Q g(L)^alpha, and in the reverse direction E_Q g(L)^(1 - alpha),
 *                       of which a Gaussian needs the first only (Mironov, Talwar &
 *                       Zhang 2019, theorem 5);
 *   replace-one:        1 + E_Q psi(g(L)) over L > 0, psi = g^alpha + g^(1 - alpha) - 1 - g,
 *                       by the law of bins.c; equal to section F1's integral of
 *                       s delta(v) by parts.
 *
 * All integrands are convex in e^v, so replacing the base by its chords between
 * nodes ("connect the dots") gives an upper bound. The Gaussian zero-out case is
 * computed exactly instead: on the real line the trapezoidal rule with width h
 * has an error of at most 2 M / (exp(2 pi c / h) - 1), M the integral of the
 * modulus at imaginary part c < pi / mu (Trefethen & Weideman 2014, theorem
 * 5.1). There |g(x + ic)| <= g(x) and |phi(x + ic)| = phi(x) e^(c^2 / 2), and
 * both the integrand and M are of second order in s, in a ratio below 1e4 on
 * the widths taken here: a relative error below 1e-15.
 *
 * Never more than the base: amplification cannot hurt.
 */
#include "acct/private.h"

#include <math.h>

enum { NODES = 2000 };

/* Chords of the base above zero: masses of Q at v, their mirror images have e^v times as much. */
struct nodes {
  size_t n;
  double *v, *log_w, *log_g, *log_h; /* log_g: of g(v); log_h: of g(-v) */
  double last;                       /* no node above */
};

static int nodes_create(const struct acct_pair *base, double rate, struct nodes *nodes);
static double chords(const struct nodes *nodes, const struct acct_pair *base, const struct acct_step *step, int reverse,
                     double order);
static double trapezoid(double mu, double rate, double order);
static double excess(double log_g, double order);

int acct_subsample_rdp(const struct acct_step *step, size_t n, const double *order, double *rdp) {
  static const double finest = 8.0; /* mu beyond which the trapezoidal rule would need too many points */
  struct acct_pair base;
  struct nodes nodes = {0};
  int status = acct_pair_create(step->leaf, step->leaves, ACCT_PESSIMISTIC, &base);
  if (status) return status == BASE_ERR_NUMERIC ? BASE_OK : status;
  int mixture = step->amplification == ACCT_MIXTURE, exact = base.kind == PAIR_GAUSSIAN && mixture && base.a < finest;
  if (!exact && base.p_infinite == 0.0) status = nodes_create(&base, step->rate, &nodes);
  for (size_t i = 0; i < n && !status; i++) {
    double log_moment = INFINITY;
    if (exact) {
      log_moment = trapezoid(base.a, step->rate, order[i]);
    } else if (nodes.n > 0) {
      log_moment = chords(&nodes, &base, step, 0, order[i]);
      if (mixture && base.kind != PAIR_GAUSSIAN)
        log_moment = fmax(log_moment, chords(&nodes, &base, step, 1, order[i]));
    }
    rdp[i] = fmin(rdp[i], log_moment * (1.0 + 1e-12) / (order[i] - 1.0));
  }
  base_free(nodes.v);
  acct_pair_free(&base);
  return status;
}

/* Edges of the chords. Gaussian: in standard deviations, dense where small orders look. */
static double edge(const struct acct_pair *base, size_t i) {
  double u = (double)i / NODES;
  if (base->kind != PAIR_GAUSSIAN) return base->a * u;
  double dense = 12.5 + base->a, all = 60.0 + base->a;
  return base->a * (u < 0.5 ? 2.0 * u * dense : dense + (2.0 * u - 1.0) * (all - dense));
}

static int nodes_create(const struct acct_pair *base, double rate, struct nodes *nodes) {
  size_t n = base->kind == PAIR_DISCRETE ? base->n : NODES + 1;
  nodes->v = base_alloc(4 * n, sizeof *nodes->v);
  if (!nodes->v) return BASE_ERR_MEMORY;
  nodes->n = n;
  nodes->log_w = nodes->v + n, nodes->log_g = nodes->log_w + n, nodes->log_h = nodes->log_g + n;
  double *p = nodes->log_w;
  if (base->kind == PAIR_DISCRETE) {
    for (size_t i = 0; i < n; i++) nodes->v[i] = base->loss[i], p[i] = base->p[i];
  } else {
    for (size_t i = 0; i < n; i++) nodes->v[i] = edge(base, i);
    for (size_t i = 0; i + 1 < n; i++) {
      double low = nodes->v[i], high = nodes->v[i + 1];
      struct acct_masses x = acct_pair_between(base, low, high);
      double share = acct_share_above(x, low, high - low);
      p[i] += x.p - share, p[i + 1] += share;
    }
  }
  nodes->last = nodes->v[n - 1];
  for (size_t i = 0; i < n; i++) {
    double v = nodes->v[i];
    nodes->log_w[i] = log(p[i]) - v;
    nodes->log_g[i] = v < 30.0 ? log1p(rate * expm1(v)) : v + log(rate + (1.0 - rate) * exp(-v));
    nodes->log_h[i] = log1p(rate * expm1(-v));
  }
  return BASE_OK;
}

/* log(1 + sum of exp(term)) of terms that may be large. */
struct log_sum {
  double shift, sum;
};
static void add(struct log_sum *x, double log_term) {
  if (log_term > x->shift + 600.0) {
    x->sum *= exp(x->shift - log_term);
    x->shift = log_term;
  }
  x->sum += exp(log_term - x->shift);
}
static double log_one_plus(const struct log_sum *x) {
  return x->shift == 0.0 ? log1p(x->sum) : x->shift + log(x->sum + exp(-x->shift));
}

/* w (g^alpha + g^(1 - alpha) - 1 - g) = w (g^(alpha - 1) - 1) (g - g^(1 - alpha)), g >= 1. */
static void add_folded(struct log_sum *sum, double log_w, double log_g, double order) {
  double x = (order - 1.0) * log_g;
  if (x > 30.0) {
    add(sum, log_w + order * log_g); /* an upper bound */
    return;
  }
  double e = expm1(x), g1 = expm1(log_g);
  sum->sum += exp(log_w - sum->shift) * e * (e + e * g1 + g1) / (1.0 + e);
}

static double chords(const struct nodes *nodes, const struct acct_pair *base, const struct acct_step *step, int reverse,
                     double order) {
  struct log_sum sum = {0.0, 0.0};
  int mixture = step->amplification == ACCT_MIXTURE;
  double power = reverse ? 1.0 - order : order;
  for (size_t i = 0; i < nodes->n; i++) {
    double w = nodes->log_w[i];
    if (!(w > -INFINITY) || nodes->log_g[i] == 0.0) continue;
    if (!mixture) {
      add_folded(&sum, w, nodes->log_g[i], order);
      continue;
    }
    add(&sum, w + excess(nodes->log_g[i], power));
    add(&sum, w + nodes->v[i] + excess(nodes->log_h[i], power));
  }
  if (base->kind != PAIR_GAUSSIAN) return log_one_plus(&sum);
  /* Beyond the last node g <= e^v above; below, g >= 1 - s and the excess is convex. */
  double mu = base->a, x = nodes->last / mu + 0.5 * mu;
  add(&sum, 0.5 * order * (order - 1.0) * mu * mu + base_pnorm_log(order * mu - x));
  if (mixture) add(&sum, base_pnorm_log(mu - x) + (step->rate < 1.0 ? excess(log1p(-step->rate), order) : log(order)));
  return log_one_plus(&sum);
}

/* log of g^a - 1 - a (g - 1) >= 0, for a > 1 or a < 0. */
static double excess(double log_g, double a) {
  double x = a * log_g, e = expm1(log_g);
  if (x > 30.0) return x;
  if (fabs(a * e) > 0.02 || fabs(e) > 0.02) { /* as a tends to one, or to zero, both terms do */
    double value = a > 1.0 ? (1.0 + e) * expm1((a - 1.0) * log_g) - (a - 1.0) * e : expm1(x) - a * e;
    return log(fmax(value, 0.0));
  }
  double series = 1.0;
  for (double k = 9.0; k >= 3.0; k -= 1.0) series = 1.0 + (a - k + 1.0) * e / k * series;
  return log(0.5 * a * (a - 1.0) * series) + 2.0 * log(fabs(e));
}

/* log E_Q g^order, with x = (L / mu + mu / 2) standard normal under Q. */
static double trapezoid(double mu, double rate, double order) {
  double c = fmin(10.0, 2.8 / mu), h = 2.0 * 3.14159265358979323846 * c / (0.5 * c * c + 50.0);
  double low = -39.0, high = order * mu + 39.0;
  struct log_sum sum = {0.0, 0.0};
  if ((high - low) / h > 20000.0) return INFINITY;
  for (double i = floor(low / h); i <= ceil(high / h); i += 1.0) {
    double x = i * h, v = mu * (x - 0.5 * mu);
    double log_g = v < 30.0 ? log1p(rate * expm1(v)) : v + log(rate + (1.0 - rate) * exp(-v));
    if (log_g == 0.0) continue;
    add(&sum, -0.5 * x * x - 0.91893853320467274178 + log(h) + excess(log_g, order));
  }
  return log_one_plus(&sum);
}
