/* The result of a run: its initial state and its completion. */
#include "method/private.h"

#include <math.h>
#include <string.h>

void result_init(struct opt_result *result) {
  memset(result, 0, sizeof *result);
  result->decrease = result->ridge = result->effective = NAN;
  result->factor = result->variance = result->square = NAN;
  result_forget(result);
}

void result_init_planned(struct opt_result *result, int planned, struct oracle *oracle, const struct penalty *penalty,
                         struct objective *f) {
  result_init(result);
  objective_init(f, oracle, penalty);
  result->eigen_known = f->lower <= 0;
  if (result->eigen_known) result->eigen_lower = 0;
  result->gap = NAN;
  result->status = OPT_ITERATIONS;
  result->planned = planned;
}

int result_init_convex(struct opt_result *result, int planned, struct oracle *oracle, const struct penalty *penalty,
                       struct objective *f) {
  result_init_planned(result, planned, oracle, penalty, f);
  return result->eigen_known ? BASE_OK : BASE_ERR_ARGUMENT;
}

void result_forget(struct opt_result *result) {
  result->gradient_norm = result->gradient_upper = result->eigen_min = result->eigen_lower = NAN;
}

void opt_result_free(struct opt_result *result) {
  base_free(result->trace.rows);
  memset(result, 0, sizeof *result);
}
