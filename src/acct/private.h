/*
 * acct, inside: what its files share.
 */
#ifndef DPSOSP_ACCT_PRIVATE_H
#define DPSOSP_ACCT_PRIVATE_H

#include "acct/acct.h"

/* Mills ratio R(x) = (1 - Phi(x)) / phi(x) and -R'(x) = 1 - x R(x) > 0, to a
 * few units in the last place for x >= -5. */
double acct_mills(double x);
double acct_mills_slope(double x);

/* Is delta(x) at most the target? */
struct acct_target {
  double (*log_delta)(double x, double other);
  double other;
  double log_delta_max; /* slightly below the target */
};
/* The target for delta in (0, 1), lowered by more than the rounding error of log_delta. */
double acct_target_log(double delta);
int acct_meets(const struct acct_target *target, double x);
/* The smallest x that meets the target (delta decreases in x, 0 does not meet it), starting from an x that meets it up
 * to rounding. */
double acct_smallest(const struct acct_target *target, double good);
/* The largest x > 0 that meets the target (delta increases in x), starting from a guess. */
double acct_largest(const struct acct_target *target, double guess);

/* The worst eps-DP mechanism (randomised response), and Laplace noise with a = sensitivity / scale. */
double acct_pure_rdp(double eps, double alpha);
double acct_laplace_rdp(double a, double alpha);
/* Of a composition. */
double acct_leaves_rdp(const struct acct_leaf *leaf, size_t leaves, double alpha);

/* Renyi divergences as a function of the order. */
struct acct_curve {
  int (*at)(const void *context, size_t n, const double *order, double *rdp);
  const void *context;
};
/* Like acct_rdp_epsilon() and acct_rdp_log_delta(), for a curve; and log delta of eps at one order. */
int acct_curve_epsilon(const struct acct_curve *curve, double delta, double *eps, double *order);
int acct_curve_log_delta(const struct acct_curve *curve, double eps, double *log_delta, double *order);
double acct_order_log_delta(double order, double rdp, double eps);

/* A symmetric dominating pair (P, Q) of a composition of leaves, described by the distribution of
 * its privacy loss L = log(P / Q) above zero. */
struct acct_pair {
  enum { PAIR_GAUSSIAN, PAIR_LAPLACE, PAIR_EXPONENTIAL, PAIR_DISCRETE } kind;
  double a;
  /* PAIR_DISCRETE: atoms of positive loss, ascending, with their masses. */
  size_t n;
  double *loss, *p, *q;
  double p_infinite; /* mass of P at loss infinity */
};
struct acct_masses {
  double p, q;
};
/* optimistic: a pair that some mechanism with this description attains. */
int acct_pair_create(const struct acct_leaf *leaf, size_t leaves, enum acct_bound bound, struct acct_pair *pair);
void acct_pair_free(struct acct_pair *pair);
/* Allocates n atoms; the second one computes the atoms of the hull of a proven profile (hull.c). */
int acct_pair_alloc(size_t n, struct acct_pair *pair);
int acct_hull_create(const struct acct_leaf *leaf, size_t leaves, struct acct_pair *pair);
/* Masses of losses in (low, high], 0 <= low < high <= infinity, each with relative error ACCT_MASS_ERROR. */
struct acct_masses acct_pair_between(const struct acct_pair *pair, double low, double high);
/* Mass of loss zero, the same under both. */
double acct_pair_zero(const struct acct_pair *pair);

/* A round's privacy loss in bins (h (first + i), h (first + i + 1)]. */
struct acct_bins {
  long first;
  size_t n;
  double *p, *q; /* masses of the bins at 1 ... n, below them at 0, above them at n + 1 */
  double zero;   /* mass of the loss zero, in no bin */
  double slack;  /* relative error of p and of q, and of the edges in units of loss */
};
/* Losses outside of [-low, high] have at most the mass exp(log_cut) above, and lower_cut below. */
void acct_bins_span(const struct acct_round *round, const struct acct_pair *base, double log_cut, double lower_cut,
                    double *low, double *high);
int acct_bins_create(const struct acct_round *round, const struct acct_pair *base, double h, double low, double high,
                     struct acct_bins *bins);
void acct_bins_free(struct acct_bins *bins);
/* The pair (Q, P) instead of (P, Q). */
void acct_bins_reverse(struct acct_bins *bins);

/* Distributions on the grid h Z by the masses of P; those of Q are exp(-h k) times as large. */
struct acct_pmf {
  long first;
  size_t n;
  double *log_mass, infinite; /* of P */
  double slack;
};
/* Pessimistic: dominates the pair of the bins. Optimistic: is dominated by it. *pmf owns log_mass. */
int acct_pmf_create(const struct acct_bins *bins, double h, enum acct_bound bound, struct acct_pmf *pmf);
void acct_pmf_free(struct acct_pmf *pmf);
/* The part of the P-mass of losses in (low, low + width] that goes to the upper end when
 * both distributions keep their mass on the two ends; rounded up. */
double acct_share_above(struct acct_masses bin, double low, double width);

/* RDP of a subsampled round at n ascending orders. */
int acct_subsample_rdp(const struct acct_round *round, size_t n, const double *order, double *rdp);

/* In place, n a power of two; inverse without the factor 1 / n. */
struct acct_complex {
  double re, im;
};
int acct_fft(size_t n, struct acct_complex *x, int inverse);

#endif
