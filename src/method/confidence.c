/* Confidence bounds for exact quantities from releases: post-processing. */
#include "method/private.h"

#include <math.h>

static double chi_upper(size_t dim, double beta);
static double excess(double seen, double df, double length, double beta);

/* Error probability of look number `look`: 6 / (pi j)^2 sums to one over j. */
double confidence_share(double beta, int look) { return beta * 6 / pow(M_PI * look, 2); }

/*
 * |g + e|^2 / sd^2 is non-central chi-square with d degrees of freedom and
 * non-centrality |g|^2 / sd^2; its cdf decreases in the latter. The bound is
 * the |g| for which a norm of at most the observed one has probability beta: it corrects
 * for the noise's own norm, sqrt(d) sd, which inflates |g + e|. If
 * even g = 0 would probably give a larger |g + e|, the bound would tend to zero;
 * this shows nothing, so the observation counts as at least d. Solved by
 * regula falsi in the Illinois variant; the upper end is a bound at every step.
 */
double confidence_norm(double noisy_norm, double sd, size_t dim, double beta) {
  if (!(sd > 0)) return noisy_norm;
  double df = (double)dim, seen = fmax(noisy_norm / sd, sqrt(df));
  double triangle = seen + chi_upper(dim, beta);
  if (seen * seen > 1e5) return triangle * sd; /* there both agree closely */
  double low = 0, high = triangle, at_low = excess(seen, df, low, beta), at_high = excess(seen, df, high, beta);
  int side = 0;
  for (int i = 0; i < 60 && at_high < 0 && high - low > 1e-12 * high; i++) {
    double middle = low + (high - low) * at_low / (at_low - at_high), value = excess(seen, df, middle, beta);
    if (value > 0) {
      low = middle, at_low = value;
      if (side > 0) at_high /= 2;
      side = 1;
    } else {
      high = middle, at_high = value;
      if (side < 0) at_low /= 2;
      side = -1;
    }
  }
  return high * sd;
}

/* Positive where a length is too probable for a bound. On the normal scale the cdf is nearly linear in the length. */
static double excess(double seen, double df, double length, double beta) {
  double quantile = base_qnorm(base_pnchisq(seen * seen, df, length * length));
  return fmin(fmax(quantile, -40), 40) - base_qnorm(beta);
}

/* high is usually a target that every point meets without the penalty. */
double confidence_target(double left, double sd, size_t dim, double beta, double high) {
  double low = 0;
  for (int i = 0; i < 60; i++) {
    double middle = (low + high) / 2, norm = fmax(left, middle / 2);
    double seen = sqrt(norm * norm + (double)dim * sd * sd);
    if (confidence_norm(seen, sd, dim, beta) <= middle) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high;
}

/* E = sqrt(2) sd sqrt(d) bounds the mean of the largest eigenvalue (Sudakov-Fernique);
 * it is 1-Lipschitz in the Frobenius norm, in which the coordinates of E are
 * independent N(0, sd^2): hence the Gaussian tail. */
double confidence_eigen(double sd, size_t dim, double beta) {
  return sd * (sqrt(2 * (double)dim) + sqrt(2 * log(1 / beta)));
}

double confidence_length(double sd, size_t dim, double beta) { return sd * chi_upper(dim, beta); }

/* sqrt of a bound on the upper quantile of chi-square: Laurent & Massart (2000), lemma 1. */
static double chi_upper(size_t dim, double beta) {
  double x = log(1 / beta), df = (double)dim;
  return sqrt(df + 2 * sqrt(df * x) + 2 * x);
}
