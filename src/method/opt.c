/*
 * OPT, OPT-LS, 2OPT, 2OPT-LS: differentially private optimisation with
 * second-order guarantees (Gao & Wright 2023, algorithms 1-3 and section 3.4).
 *
 *   T <- ceil(initial gap / smallest decrease of an iteration)
 *   one phase:  T iterations with the whole budget
 *   two phases: sqrt(T) iterations with 3/4 of it, then T with all that is left
 *
 * OPT-B, 2OPT-B (section 3.3, appendix B): these phases take a batch in each
 * step. What an answer on a batch shows is no certificate for all rows, so
 * that a point which passes there is handed on to two phases about all rows,
 * with the constants of the loss and the budget kept for them.
 *
 * An iteration asks for a gradient; where it is small enough, for a Hessian;
 * and steps along the one or the other, or is done.
 */
#include "method/private.h"

#include <math.h>

int opt_run(struct oracle *oracle, const struct penalty *penalty, const struct opt_options *options, double rho,
            double *w, struct opt_result *result) {
  result_init(result);
  result->status = OPT_BUDGET;

  struct objective f;
  objective_init(&f, oracle, penalty);
  double end = oracle_left(oracle) - rho;
  int status = gap_find(&f, options->gap, options->gap_share, options->confidence, w, rho, result);
  if (status != BASE_OK) return status;

  struct phase phases[MOST_PHASES];
  double left = oracle_left(oracle);
  int count = plan_phases(&f, options, plan_iterations(&f, options, result->gap), left - fmax(end, 0), left, phases);
  int published = options->published ? count : 0;
  while (published > 0 && phases[0].batch && !phases[published - 1].batch) published--;
  if (published > 0) status = opt_published(&f, options, phases, published, w, result);
  if (status == BASE_OK && published < count) {
    status = opt_tight(&f, options, phases + published, count - published, w, result);
  }
  return status;
}

static const char *const searches[] = {"none", "gaussian", "svt", "exponential", NULL};

static const struct field opt_fields[] = {
    FIELD(opt_options, FLAG, published),
    FIELD(opt_options, FLAG, two_phase),
    FIELD(opt_options, FLAG, spend_all),
    {"search", FIELD_CHOICE, offsetof(struct opt_options, search), searches},
    FIELD(opt_options, NUMBER, eps_g),
    FIELD(opt_options, NUMBER, eps_h),
    FIELD(opt_options, NUMBER, confidence),
    FIELD(opt_options, NUMBER, gap),
    FIELD(opt_options, NUMBER, gap_share),
    FIELD(opt_options, NUMBER, phase1_share),
    FIELD(opt_options, NUMBER, search_share),
    FIELD(opt_options, NUMBER, hessian_share),
    FIELD(opt_options, COUNT, max_iterations),
    FIELD(opt_options, NUMBER, mult_g),
    FIELD(opt_options, NUMBER, mult_h),
    FIELD(opt_options, NUMBER, back_g),
    FIELD(opt_options, NUMBER, back_h),
    {"batch_size", FIELD_NUMBER, offsetof(struct opt_options, batch.sampling.size), NULL},
    {"batch_scheme", FIELD_CHOICE, offsetof(struct opt_options, batch.sampling.scheme), batch_schemes},
    {"batch_share", FIELD_NUMBER, offsetof(struct opt_options, batch.share), NULL},
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(opt)
