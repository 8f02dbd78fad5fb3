/* Bounds on f(w0) - inf f, from which the planned iterations follow. */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

double gap_public(const struct objective *f, const double *w) {
  double most = oracle_at_zero(f->oracle) + f->steepest * la_norm(f->dim, w);
  return most + penalty_value(f->penalty, f->dim, w) - oracle_floor(f->oracle);
}

/* At this distance the sampling error of the mean of n losses of the largest size, L reach / sqrt(n), equals the gap.
 * */
double gap_reach(const struct objective *f, double gap, const double *w) {
  return la_norm(f->dim, w) + gap * sqrt((double)oracle_rows(f->oracle)) / f->steepest;
}

/*
 * f(w0) - inf f: a public bound at w0 = 0, where the loss has one for all data;
 * otherwise the caller's number; otherwise a noisy value plus its own upper quantile,
 * with the noise's sign (proofs: initial-gap).
 */
int gap_find(const struct objective *f, double gap, double share, double confidence, const double *w, double rho,
             struct opt_result *result) {
  double value = oracle_at_zero(f->oracle), sd = 0;
  if (!isnan(gap)) {
    result->gap = gap;
    return BASE_OK;
  }
  if (la_norm(f->dim, w) > 0) {
    double cost = share * rho;
    const struct ask ask = {.at = w};
    int status = release(oracle_all(f->oracle), &query_value, &ask, cost, (struct answer){.value = &value, .sd = &sd});
    struct trace_row row = {0, 0, "value", value, value + base_qnorm(confidence) * sd, sd, cost, 0};
    if (status == BASE_OK) status = trace_add(&result->trace, &row);
    if (status != BASE_OK) return status;
    value = row.bound;
  }
  result->gap = value + penalty_value(f->penalty, f->dim, w) - oracle_floor(f->oracle);
  return BASE_OK;
}
