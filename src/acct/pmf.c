/*
 * A pair on the grid h Z from its bins.
 *
 * Pessimistic: the mass of a bin is split between the bin's two ends so that
 * both distributions keep their total mass ("connect the dots", Doroshenko et al. 2022): the
 * profile becomes the chords between its values on the grid. The fraction of the
 * upper end is rounded up, which only increases the profile.
 *
 * Optimistic: neighbouring outcomes are merged, which is data processing, into
 * runs whose ratio P / Q is e^(h i). Both errors are of second order in h.
 */
#include "acct/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Losses from `far` on, and masses of Q below `faint`, are rounded to an end of their bin: there exp() would overflow,
 * or the ratio of the masses is not accurate. */
static const double far = 600.0, faint = 1e-300;

static void connect_dots(const struct acct_bins *bins, double h, struct acct_pmf *pmf);
static void merge_runs(const struct acct_bins *bins, double h, struct acct_pmf *pmf);

int acct_pmf_create(const struct acct_bins *bins, double h, enum acct_bound bound, struct acct_pmf *pmf) {
  *pmf = (struct acct_pmf){bins->first, bins->n + 1, base_alloc(bins->n + 1, sizeof *pmf->log_mass), 0.0, bins->slack};
  if (!pmf->log_mass) return BASE_ERR_MEMORY;
  (bound == ACCT_PESSIMISTIC ? connect_dots : merge_runs)(bins, h, pmf);
  pmf->log_mass[-bins->first] += bins->zero;
  for (size_t i = 0; i < pmf->n; i++) pmf->log_mass[i] = log(pmf->log_mass[i]);
  return BASE_OK;
}

void acct_pmf_free(struct acct_pmf *pmf) {
  base_free(pmf->log_mass);
  memset(pmf, 0, sizeof *pmf);
}

double acct_share_above(struct acct_masses bin, double low, double width) {
  if (low > far) return bin.p;
  double above = bin.p - exp(low) * bin.q, rounding = 8.0 * DBL_EPSILON * bin.p * (1.0 + fabs(low));
  return fmin(fmax((above + rounding) / -expm1(-width), 0.0), bin.p);
}

static void connect_dots(const struct acct_bins *bins, double h, struct acct_pmf *pmf) {
  double *mass = pmf->log_mass;
  mass[0] += bins->p[0];
  for (size_t k = 0; k < bins->n; k++) {
    struct acct_masses bin = {bins->p[k + 1], bins->q[k + 1]};
    double high = acct_share_above(bin, h * (double)(bins->first + (long)k), h);
    mass[k] += bin.p - high;
    mass[k + 1] += high;
  }
  pmf->infinite = bins->p[bins->n + 1];
}

/* Greedy, in ascending order; a run ends where P / Q reaches e^(h i). */
static void merge_runs(const struct acct_bins *bins, double h, struct acct_pmf *pmf) {
  double run_p = 0.0, run_q = 0.0, *mass = pmf->log_mass;
  size_t i = 0, k = 0, length = 0, longest = 0;
  for (; k < bins->n + 2; k++) {
    double rest_p = bins->p[k], rest_q = bins->q[k], loss = h * (double)(bins->first + (long)k);
    if (loss > far || (loss > 0.0 && rest_p > 0.0 && rest_q < faint)) break;
    while (rest_p > 0.0 && i < pmf->n) {
      double ratio = exp(h * (double)(pmf->first + (long)i));
      double missing = ratio * run_q - run_p, gain = rest_p - ratio * rest_q;
      if (missing < 0.0) { /* rounding, or the first outcome is above the point */
        i++;
        continue;
      }
      if (gain <= missing) break;
      double f = missing / gain;
      mass[i++] = run_p + f * rest_p;
      rest_p -= f * rest_p, rest_q -= f * rest_q;
      run_p = run_q = 0.0;
      length = 0;
    }
    run_p += rest_p, run_q += rest_q;
    if (++length > longest) longest = length;
  }
  if (run_p > 0.0) { /* the last run is rounded down */
    double at = fmin(floor(log(run_p / run_q) / h) - (double)pmf->first, (double)bins->n);
    if (at >= 0.0) mass[(size_t)at] += run_p;
  }
  for (; k < bins->n + 2; k++) mass[k - 1] += bins->p[k];
  double steepest = h * fmax(fabs((double)pmf->first), fabs((double)pmf->first + (double)pmf->n));
  pmf->slack += DBL_EPSILON * (16.0 + (double)longest + 2.0 * fmin(steepest, far));
}
