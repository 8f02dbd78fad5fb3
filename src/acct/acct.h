/*
 * acct: accounting on plain numbers. Nothing here sees data.
 *
 * mu is the parameter of Gaussian differential privacy (sensitivity over
 * standard deviation), rho that of zero-concentrated differential privacy. A
 * Gaussian release costs rho = mu^2 / 2.
 */
#ifndef DPSOSP_ACCT_H
#define DPSOSP_ACCT_H

#include "base/base.h"

/* delta = Phi(-eps/mu + mu/2) - exp(eps) Phi(-eps/mu - mu/2), exact; its log; and the inverses. */
double acct_gdp_delta(double mu, double eps);
double acct_gdp_log_delta(double mu, double eps);
double acct_gdp_epsilon(double mu, double delta);
double acct_gdp_mu(double eps, double delta);

/* One minimiser of a perturbed objective and other Gaussian releases, mu^2 in total (proofs:
 * objective-perturbation). */
struct acct_perturbed {
  int one_sign; /* a record's slopes have one sign */
  double top;   /* the determinants add at most this where the slope is as large as it can be, */
  double tilt;  /* and more in proportion to what a slope lacks, up to this at slope zero */
  double share; /* the minimiser's least fraction of mu^2 */
};
double acct_perturbed_delta(double mu, double eps, const struct acct_perturbed *p);
double acct_perturbed_epsilon(double mu, double delta, const struct acct_perturbed *p);
double acct_perturbed_mu(double eps, double delta, const struct acct_perturbed *p);

/* inf over alpha > 1 of exp((alpha-1)(alpha rho - eps)) / (alpha-1) (1 - 1/alpha)^alpha
 * (Canonne, Kamath & Steinke 2020; proofs: renyi-conversion). */
double acct_zcdp_delta(double rho, double eps);
double acct_zcdp_log_delta(double rho, double eps);
double acct_zcdp_epsilon(double rho, double delta);
double acct_zcdp_rho(double eps, double delta);

/* ---- events ---- */

/* One release, with noise in units of "noise over sensitivity" under the relation that is
 * accounted for. The comments say what a, b and c are. */
enum acct_kind {
  ACCT_GAUSSIAN,    /* a: mu = sensitivity / sd */
  ACCT_LAPLACE,     /* a: sensitivity / scale */
  ACCT_PURE,        /* a: eps */
  ACCT_EXPONENTIAL, /* a: bounded range */
  ACCT_SVT_LAPLACE, /* a: eps, b: k; threshold Lap(2 / eps), queries Lap(4 / eps) */
  ACCT_SVT_GAUSSIAN /* a: sensitivity / sd of the threshold, b: k, c: sensitivity / sd of the queries */
};

struct acct_leaf {
  enum acct_kind kind;
  double a, b, c;
  double times; /* >= 1 */
};

enum acct_amplification {
  ACCT_PLAIN,   /* every record takes part */
  ACCT_MIXTURE, /* Poisson, zero-out: the pair ((1 - q) Q + q P, Q) and its reverse (proofs: zero-out-batches) */
  ACCT_PROFILE  /* replace-one, Poisson or without replacement (proofs: replace-one-batches) */
};

/* A composition of leaves on one batch, drawn anew `times` times. */
struct acct_round {
  const struct acct_leaf *leaf;
  size_t leaves;
  enum acct_amplification amplification;
  double rate;  /* 1 when plain */
  double times; /* >= 1 */
};

/* Renyi divergence of order alpha > 1 (both directions), and its zCDP constant. */
double acct_leaf_rdp(const struct acct_leaf *leaf, double alpha);
double acct_leaf_zcdp(const struct acct_leaf *leaf);
double acct_svt_rdp(const struct acct_leaf *leaf, double alpha);

/* RDP of a whole composition at n orders, ascending. */
int acct_rdp_curve(const struct acct_round *round, size_t rounds, size_t n, const double *order, double *rdp);
/* eps of delta and delta of eps from a curve: the conversion of Canonne,
 * Kamath & Steinke at every order, refined between orders; *order is the best one. */
int acct_rdp_epsilon(const struct acct_round *round, size_t rounds, double delta, double *eps, double *order);
int acct_rdp_log_delta(const struct acct_round *round, size_t rounds, double eps, double *log_delta, double *order);
/* The RDP at this order that (eps, delta) allows. */
double acct_rdp_budget(double order, double eps, double delta);

/* A batch of `size` out of n records (fixed or expected size), and the order at which the Renyi divergence is counted,
 * divided by the order. */
struct acct_sampled {
  double n, size, order;
  enum acct_amplification amplification;
};
/* The largest rho = mu^2 / 2 of Gaussian releases on such a batch that together cost at most `cost`. */
int acct_sampled_rho(const struct acct_sampled *s, double cost, double *rho);
/* The largest eps of a pure mechanism that costs at most `cost` on such a batch. */
double acct_sampled_eps(const struct acct_sampled *s, double cost);

/* Renyi divergence of the best of a random number of runs of a mu-GDP mechanism: Poisson conditioned on at least one
 * run, or geometric. */
enum acct_runs { ACCT_POISSON_RUNS, ACCT_GEOMETRIC_RUNS };
struct acct_selection {
  enum acct_runs law;
  double mean; /* of the unconditioned Poisson distribution, or of the geometric one */
  double mu;
};
double acct_selection_rdp(const struct acct_selection *s, double order);

enum acct_bound { ACCT_PESSIMISTIC, ACCT_OPTIMISTIC };

/* The same from the privacy loss distribution. Infinity, or log delta = 0,
 * where the grid that memory allows is too coarse (0, or minus infinity for the
 * optimistic bound). */
int acct_pld_epsilon(const struct acct_round *round, size_t rounds, double delta, enum acct_bound bound, double *eps);
int acct_pld_log_delta(const struct acct_round *round, size_t rounds, double eps, enum acct_bound bound,
                       double *log_delta);

#endif
