/*
 * OPT, OPT-LS, 2OPT, 2OPT-LS: differentially private optimisation with
 * second-order guarantees (Gao & Wright 2023, algorithms 1-3 and section 3.4).
 *
 *   T <- ceil(initial gap / smallest decrease of an iteration)
 *   one phase:  T iterations with the whole budget
 *   two phases: sqrt(T) iterations with 3/4 of it, then T with the rest
 *
 * OPT-B, 2OPT-B (section 3.3, appendix B): these phases use a batch in each
 * step. A release on a batch certifies nothing for the full data, so
 * a point that passes there is the start of two phases on the full data,
 * with the constants of the loss and the budget kept for them.
 *
 * An iteration releases a gradient; if it is small enough, a Hessian;
 * and steps along one of them, or stops.
 *
 * If a line search releases values of the objective and the whole budget is to be
 * spent, a fraction of it measures the decrease between the start and the final
 * point, which is given up if it is surely worse.
 */
#include "method/private.h"

#include <math.h>
#include <string.h>

static int run_phases(const struct objective *f, const struct opt_options *o, double rho, double left, double *w,
                      struct opt_result *result);
static int measure_decrease(const struct objective *f, const struct opt_options *o, double rho, const double *start,
                            double *direction, double *w, struct opt_result *result);

int opt_run(struct oracle *oracle, const struct penalty *penalty, const struct opt_options *options, double rho,
            double *w, struct opt_result *result) {
  result_init(result);
  result->status = OPT_BUDGET;

  struct objective f;
  objective_init(&f, oracle, penalty);
  double end = oracle_left(oracle) - rho;
  int status = gap_find(&f, options->gap, options->gap_share, options->confidence, w, rho, result);
  if (status != BASE_OK) return status;

  double *start = base_alloc(2 * f.dim, sizeof(double));
  if (!start) return BASE_ERR_MEMORY;
  memcpy(start, w, f.dim * sizeof(double));
  end = fmax(end, 0);
  double last = plan_last(options, rho), left = oracle_left(oracle);
  status = run_phases(&f, options, left - end - last, left, w, result);
  if (status == BASE_OK && last > 0 && result->status != OPT_START) {
    status = measure_decrease(&f, options, (oracle_left(oracle) - end) * ALMOST, start, start + f.dim, w, result);
  }
  base_free(start);
  return status;
}

static int run_phases(const struct objective *f, const struct opt_options *o, double rho, double left, double *w,
                      struct opt_result *result) {
  struct phase phases[MOST_PHASES];
  int count = plan_phases(f, o, plan_iterations(f, o, result->gap), rho, left, phases), status = BASE_OK;
  int published = o->published ? count : 0;
  while (published > 0 && phases[0].batch && !phases[published - 1].batch) published--;
  if (published > 0) status = opt_published(f, o, phases, published, w, result);
  if (status == BASE_OK && published < count) {
    status = opt_tight(f, o, phases + published, count - published, w, result);
  }
  return status;
}

/* Spends the rest of the budget. If even the upper bound is no decrease, the start is returned. */
static int measure_decrease(const struct objective *f, const struct opt_options *o, double rho, const double *start,
                            double *direction, double *w, struct opt_result *result) {
  const double step = 1;
  double decrease, sd;
  for (size_t i = 0; i < f->dim; i++) direction[i] = w[i] - start[i];
  const struct ask ask = {.at = start, .along = direction, .k = 1, .step = &step};
  const struct answer to = {.value = &decrease, .sd = &sd};
  int status = release(oracle_all(f->oracle), &query_decreases, &ask, rho, to);
  if (status != BASE_OK) return status;
  decrease += penalty_value(f->penalty, f->dim, start) - penalty_value(f->penalty, f->dim, w);
  double width = base_qnorm(o->confidence) * sd;
  result->decrease = decrease - width;
  const struct trace_row *before = trace_last(&result->trace);
  struct trace_row row = {before->phase, before->iteration, "line search", decrease, decrease - width, sd, rho, 0};
  if (decrease + width < 0) {
    memcpy(w, start, f->dim * sizeof(double));
    result_forget(result);
    result->status = OPT_START;
  }
  return trace_add(&result->trace, &row);
}

static const struct field opt_fields[] = {
    FIELD(opt_options, FLAG, published),
    FIELD(opt_options, FLAG, two_phase),
    FIELD(opt_options, FLAG, spend_all),
    {"search", FIELD_CHOICE, offsetof(struct opt_options, search), line_searches},
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
    FIELD(opt_options, NUMBER, start_curvature),
    FIELD(opt_options, NUMBER, signal),
    FIELD(opt_options, COUNT, signals),
    BATCH_FIELDS(opt_options),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(opt)
