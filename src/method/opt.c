/*
 * OPT, OPT-LS, 2OPT, 2OPT-LS: differentially private optimisation with
 * second-order guarantees (Gao & Wright 2023, algorithms 1-3 and section 3.4).
 *
 *   T <- ceil(initial gap / smallest decrease of an iteration)
 *   one phase:  T iterations with the whole budget
 *   two phases: sqrt(T) iterations with 3/4 of it, then T with all that is left
 *
 * An iteration asks for a gradient; where it is small enough, for a Hessian;
 * and steps along the one or the other, or is done.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

static int initial_gap(const struct objective *f, const struct opt_options *o, const double *w, double rho,
                       struct opt_result *result);

int opt_run(struct oracle *oracle, const struct penalty *penalty, const struct opt_options *options, double rho,
            double *w, struct opt_result *result) {
  memset(result, 0, sizeof *result);
  result->gradient_norm = result->gradient_upper = result->eigen_min = result->eigen_lower = NAN;
  result->status = OPT_BUDGET;

  struct objective f;
  objective_init(&f, oracle, penalty);
  double end = oracle_left(oracle) - rho;
  int status = initial_gap(&f, options, w, rho, result);
  if (status != BASE_OK) return status;

  struct phase phases[2];
  double left = oracle_left(oracle);
  int count = plan_phases(&f, options, plan_iterations(&f, options, result->gap), left - fmax(end, 0), left, phases);
  return options->published ? opt_published(&f, options, phases, count, w, result)
                            : opt_tight(&f, options, phases, count, w, result);
}

void opt_result_free(struct opt_result *result) {
  base_free(result->trace.rows);
  memset(result, 0, sizeof *result);
}

/*
 * f(w0) - inf f: public at w0 = 0, where the loss is the same for all data;
 * else the caller's number; else a noisy value plus its own upper quantile
 * (privacy.md E: the noise must keep its sign).
 */
static int initial_gap(const struct objective *f, const struct opt_options *o, const double *w, double rho,
                       struct opt_result *result) {
  double value = oracle_at_zero(f->oracle), sd = 0;
  if (!isnan(o->gap)) {
    result->gap = o->gap;
    return BASE_OK;
  }
  if (la_norm(f->dim, w) > 0) {
    double cost = o->gap_share * rho;
    int status = oracle_value(f->oracle, w, cost, &value, &sd);
    struct trace_row row = {0, 0, "value", value, value + base_qnorm(o->confidence) * sd, sd, cost, 0};
    if (status == BASE_OK) status = trace_add(&result->trace, &row);
    if (status != BASE_OK) return status;
    value = row.bound;
  }
  result->gap = value + penalty_value(f->penalty, f->dim, w) - oracle_floor(f->oracle);
  return BASE_OK;
}
