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

#include <math.h>
#include <string.h>

int opt_run(struct oracle *oracle, const struct penalty *penalty, const struct opt_options *options, double rho,
            double *w, struct opt_result *result) {
  memset(result, 0, sizeof *result);
  result->gradient_norm = result->gradient_upper = result->eigen_min = result->eigen_lower = NAN;
  result->status = OPT_BUDGET;

  struct objective f;
  objective_init(&f, oracle, penalty);
  double end = oracle_left(oracle) - rho;
  int status = gap_find(&f, options->gap, options->gap_share, options->confidence, w, rho, result);
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
