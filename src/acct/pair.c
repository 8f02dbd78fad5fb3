/*
 * Dominating pairs (Zhu, Dong & Wang 2022). A pair (P, Q) is described by the distribution
 * of its privacy loss. All pairs here are symmetric, so losses above zero are
 * enough: Q(-L in A) = P(L in A).
 *
 * Gaussian: L / mu ~ N(mu / 2, 1) under P, N(-mu / 2, 1) under Q.
 * Laplace of sensitivity a over scale: P(L > v) = 1 - exp((v - a) / 2) / 2 for
 * v < a, and an atom of 1 / 2 at a.
 * Exponential mechanism of bounded range a (Dong, Durfee & Rogers 2020, lemma
 * 3.4: delta(v) = (1 - exp((v - a) / 2))^2 / (1 - exp(-a))): the derivative in
 * e^v gives P(L > v) = (1 - exp((v - a) / 2)) / (1 - exp(-a)), Laplace without
 * its atoms.
 * Anything else is discrete (dominating.c, hull.c).
 */
#include "acct/private.h"

#include <math.h>
#include <string.h>

static struct acct_masses gaussian_between(double mu, double low, double high);
static struct acct_masses exponential_between(const struct acct_pair *pair, double low, double high);
static struct acct_masses discrete_between(const struct acct_pair *pair, double low, double high);

int acct_pair_alloc(size_t n, struct acct_pair *pair) {
  pair->kind = PAIR_DISCRETE;
  pair->n = n;
  pair->loss = base_alloc(3 * n, sizeof *pair->loss);
  if (!pair->loss) return BASE_ERR_MEMORY;
  pair->p = pair->loss + n;
  pair->q = pair->loss + 2 * n;
  return BASE_OK;
}

void acct_pair_free(struct acct_pair *pair) {
  base_free(pair->loss);
  memset(pair, 0, sizeof *pair);
}

double acct_pair_zero(const struct acct_pair *pair) {
  if (pair->kind != PAIR_DISCRETE) return 0.0;
  struct acct_masses above = discrete_between(pair, 0.0, INFINITY);
  return fmax(1.0 - above.p - above.q, 0.0);
}

struct acct_masses acct_pair_between(const struct acct_pair *pair, double low, double high) {
  switch (pair->kind) {
  case PAIR_GAUSSIAN:
    return gaussian_between(pair->a, low, high);
  case PAIR_LAPLACE:
  case PAIR_EXPONENTIAL:
    return exponential_between(pair, low, high);
  case PAIR_DISCRETE:
    break;
  }
  return discrete_between(pair, low, high);
}

/* Standard normal mass of centre -+ half. A narrow interval: the average of
 * phi(m + t) = phi(m) sum_n He_n(m) (-t)^n / n!, which has no cancellation; a wide
 * one: the difference of the smaller tails, whose ratio is far from one. */
static double normal_mass(double centre, double half) {
  static const double sqrt_2pi = 2.50662827463100050242;
  double m = fabs(centre);
  if (m * half > 0.5 || half > 0.25) return base_pnorm(half - m) - base_pnorm(-half - m);
  double sum = 1.0, before = 1.0, now = m; /* He_{n-1}, He_n; terms of even n */
  double term = 1.0;
  for (double n = 1.0; n < 26.0; n += 1.0) {
    double next = m * now - n * before;
    before = now, now = next;
    term *= half / (n + 1.0);
    if (fmod(n, 2.0) == 1.0) sum += next * term * half / (n + 2.0);
  }
  return 2.0 * half * sum * exp(-0.5 * m * m) / sqrt_2pi;
}

static struct acct_masses gaussian_between(double mu, double low, double high) {
  double a = low / mu, b = high / mu;
  if (isinf(high)) return (struct acct_masses){base_pnorm(0.5 * mu - a), base_pnorm(-0.5 * mu - a)};
  double centre = 0.5 * (a + b), half = 0.5 * (b - a);
  return (struct acct_masses){normal_mass(centre - 0.5 * mu, half), normal_mass(centre + 0.5 * mu, half)};
}

static struct acct_masses exponential_between(const struct acct_pair *pair, double low, double high) {
  double a = pair->a, scale = pair->kind == PAIR_LAPLACE ? 0.5 : -1.0 / expm1(-a);
  if (low >= a) return (struct acct_masses){0.0, 0.0};
  double half = 0.5 * (fmin(high, a) - low);
  struct acct_masses x = {scale * exp(0.5 * (low - a)) * expm1(half), -scale * exp(-0.5 * (low + a)) * expm1(-half)};
  if (pair->kind == PAIR_LAPLACE && a <= high) {
    x.p += 0.5;
    x.q += 0.5 * exp(-a);
  }
  return x;
}

static struct acct_masses discrete_between(const struct acct_pair *pair, double low, double high) {
  size_t from = 0, to = pair->n; /* the first atom above low */
  while (from < to) {
    size_t mid = (from + to) / 2;
    if (pair->loss[mid] > low) {
      to = mid;
    } else {
      from = mid + 1;
    }
  }
  struct acct_masses x = {isinf(high) ? pair->p_infinite : 0.0, 0.0};
  for (size_t i = from; i < pair->n && pair->loss[i] <= high; i++) {
    x.p += pair->p[i];
    x.q += pair->q[i];
  }
  return x;
}
