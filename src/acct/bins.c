/*
 * The privacy loss of one round in bins. With the base pair (P, Q) and g(v) =
 * 1 + s (e^v - 1), losses t > 0 of the round are losses v of the base with e^t =
 * g(v):
 *
 *   zero-out, Poisson:  ((1 - s) Q + s P, Q) above zero; below, t = log g(-v)
 *                       with masses (1 - s) P + s Q and P of the base's loss v;
 *   replace-one:        the profile s delta(v) at e^t = g(v) (Balle, Barthe &
 *                       Gaboardi 2018) has minus its derivative Q(L > v) and the
 *                       mass s P(L > v) + (1 - s) Q(L > v) above t: the same distribution
 *                       above zero, continued by symmetry, the rest at zero.
 *
 * Rounding: v(t) is accurate to a few units in the last place, which moves an edge
 * by that times v dt / dv; the masses are accurate to about (32 + 4 m^2) units, where
 * m is the number of standard deviations at the last edge.
 */
#include "acct/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

static struct acct_masses upper(const struct acct_round *round, const struct acct_pair *base, double low, double high);
static struct acct_masses lower(const struct acct_round *round, const struct acct_pair *base, double low, double high);
static double loss_above(double s, double t);
static double loss_below(double s, double t);
static double reach(const struct acct_round *round, const struct acct_pair *base, int above, double log_mass);
static double slack(const struct acct_round *round, const struct acct_pair *base, double high);

void acct_bins_span(const struct acct_round *round, const struct acct_pair *base, double log_cut, double lower_cut,
                    double *low, double *high) {
  *high = reach(round, base, 1, log_cut);
  *low = reach(round, base, 0, fmin(log_cut, lower_cut));
}

int acct_bins_create(const struct acct_round *round, const struct acct_pair *base, double h, double low, double high,
                     struct acct_bins *bins) {
  long ups = (long)fmax(ceil(high / h), 1.0), downs = (long)fmax(ceil(low / h), 1.0);
  size_t n = (size_t)(ups + downs);
  bins->p = base_alloc(2 * (n + 2), sizeof *bins->p);
  if (!bins->p) return BASE_ERR_MEMORY;
  bins->q = bins->p + n + 2;
  bins->first = -downs;
  bins->n = n;
  bins->zero = acct_pair_zero(base);
  for (long k = 0; k <= ups; k++) { /* the last bin is open */
    struct acct_masses x = upper(round, base, h * (double)k, k < ups ? h * (double)(k + 1) : INFINITY);
    bins->p[downs + 1 + k] = x.p, bins->q[downs + 1 + k] = x.q;
  }
  for (long k = 0; k <= downs; k++) {
    struct acct_masses x = lower(round, base, h * (double)k, k < downs ? h * (double)(k + 1) : INFINITY);
    bins->p[downs - k] = x.p, bins->q[downs - k] = x.q;
  }
  if (round->amplification == ACCT_PROFILE && round->rate < 1.0) {
    struct acct_masses above = upper(round, base, 0.0, INFINITY);
    bins->zero = fmax(1.0 - above.p - above.q, 0.0);
  }
  bins->slack = slack(round, base, high);
  return BASE_OK;
}

void acct_bins_free(struct acct_bins *bins) {
  base_free(bins->p);
  memset(bins, 0, sizeof *bins);
}

void acct_bins_reverse(struct acct_bins *bins) {
  size_t last = bins->n + 1;
  for (size_t i = 0; i <= last - i; i++) {
    size_t j = last - i;
    double pi = bins->p[i], qi = bins->q[i];
    bins->p[i] = bins->q[j], bins->q[i] = bins->p[j];
    bins->p[j] = qi, bins->q[j] = pi;
  }
  bins->first = -bins->first - (long)bins->n;
}

/* Masses of the round's losses in (low, high], 0 <= low. */
static struct acct_masses upper(const struct acct_round *round, const struct acct_pair *base, double low, double high) {
  double s = round->rate;
  struct acct_masses x = acct_pair_between(base, loss_above(s, low), loss_above(s, high));
  return (struct acct_masses){s * x.p + (1.0 - s) * x.q, x.q};
}

/* Masses of the round's losses in [-high, -low), 0 <= low. */
static struct acct_masses lower(const struct acct_round *round, const struct acct_pair *base, double low, double high) {
  double s = round->rate;
  if (round->amplification != ACCT_MIXTURE) {
    struct acct_masses x = upper(round, base, low, high);
    return (struct acct_masses){x.q, x.p};
  }
  double from = loss_below(s, low), to = loss_below(s, high);
  if (!(from < to)) return (struct acct_masses){0.0, 0.0};
  struct acct_masses x = acct_pair_between(base, from, to);
  return (struct acct_masses){(1.0 - s) * x.p + s * x.q, x.p};
}

/* v with 1 + s (e^v - 1) = e^t. */
static double loss_above(double s, double t) {
  if (s == 1.0 || isinf(t)) return t;
  return t < 30.0 ? log1p(expm1(t) / s) : t - log(s) + log1p(-exp(-t) * (1.0 - s));
}

/* v with 1 - s (1 - e^-v) = e^-t; infinite from t = -log(1 - s) on. */
static double loss_below(double s, double t) {
  if (s == 1.0 || isinf(t)) return t;
  double gone = -expm1(-t) / s;
  return gone < 1.0 ? -log1p(-gone) : INFINITY;
}

/* A loss beyond which both distributions (P above, Q below) have no more than this mass. */
static double reach(const struct acct_round *round, const struct acct_pair *base, int above, double log_mass) {
  double mass = exp(fmax(log_mass, -740.0)), in = 0.0, out = 1e-9;
  for (; out < 1e9; in = out, out *= 2.0) {
    struct acct_masses x = above ? upper(round, base, out, INFINITY) : lower(round, base, out, INFINITY);
    if (fmax(x.p, x.q) <= mass) break;
  }
  for (int i = 0; i < 20 && out - in > 1e-3 * out; i++) {
    double mid = 0.5 * (in + out);
    struct acct_masses x = above ? upper(round, base, mid, INFINITY) : lower(round, base, mid, INFINITY);
    if (fmax(x.p, x.q) <= mass) {
      out = mid;
    } else {
      in = mid;
    }
  }
  return out;
}

static double slack(const struct acct_round *round, const struct acct_pair *base, double high) {
  double s = round->rate, v = loss_above(s, high), slope = s * exp(fmin(v - high, 0.0 - log(s))), m = 0.0;
  if (base->kind == PAIR_GAUSSIAN) m = v / base->a + 0.5 * base->a;
  if (base->kind == PAIR_DISCRETE) m = sqrt(v); /* P is e^v Q there */
  return DBL_EPSILON * (32.0 + 4.0 * m * m + 4.0 * v * slope);
}
