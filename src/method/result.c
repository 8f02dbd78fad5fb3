/* The result of a run: its initial state and its completion. */
#include "method/private.h"

#include <math.h>
#include <string.h>

void result_init(struct opt_result *result) {
  memset(result, 0, sizeof *result);
  result->decrease = result->ridge = result->signal = result->factor = result->variance = NAN;
  result_forget(result);
}

int result_init_convex(struct opt_result *result, int planned, struct oracle *oracle, const struct penalty *penalty,
                       struct objective *f) {
  result_init(result);
  result->eigen_lower = 0;
  result->eigen_known = 1;
  result->gap = NAN;
  result->status = OPT_ITERATIONS;
  result->planned = planned;
  objective_init(f, oracle, penalty);
  return f->lower > 0 ? BASE_ERR_ARGUMENT : BASE_OK;
}

void result_forget(struct opt_result *result) {
  result->gradient_norm = result->gradient_upper = result->eigen_min = result->eigen_lower = NAN;
}

void opt_result_free(struct opt_result *result) {
  base_free(result->trace.rows);
  memset(result, 0, sizeof *result);
}
