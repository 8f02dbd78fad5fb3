/*
 * The frame of Newton's method (Ganesh et al. 2023, algorithm 3):
 *
 *   repeat T times:
 *     measure the gradient at w
 *     find a direction with second-order information; step (newton_step.c)
 *   measure the gradient at the last w, or at the mean of the last ones: the certificate
 *
 * All releases are Gaussian, so a run is sqrt(2 rho)-GDP exactly (proofs:
 * gdp-filter). The loss and the penalty must be convex: then no eigenvalue of the
 * Hessian is negative, and only the gradient must be certified.
 *
 * With batches a step draws one batch, and is charged beforehand for all its releases
 * together (barrier/schedule.c). All steps are taken and cost the same:
 * because of the sampling error they certify nothing. The last gradient
 * is on the full data.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

static int iterate(struct newton *s, double end, double rho, double *mean);
static int iteration(struct newton *s, double slice);
static int step_on_batch(struct newton *s, double slice);
static int measure(struct newton *s, double rho);
static int note_gradient(struct newton *s, double rho);
static double gradient_left(struct oracle *oracle, const struct newton_options *o, double rho);
static double error_level(const struct newton_options *o);
static int certified(const struct newton *s) { return s->result->gradient_upper <= s->o->eps_g; }
static int on_batches(const struct newton_options *o) { return o->batch.size > 0; }

int newton_run(struct oracle *oracle, const struct penalty *penalty, const struct newton_options *options, double rho,
               double *w, struct opt_result *result) {
  struct objective f;
  int status = result_init_convex(result, options->iterations, oracle, penalty, &f);
  if (status != BASE_OK) return status;
  if (on_batches(options) && options->damped) return BASE_ERR_ARGUMENT;
  size_t dim = f.dim, noisy = options->curvature == NEWTON_LAZY || options->curvature == NEWTON_DIRECT;
  double *memory = base_alloc(dim * (7 + noisy * dim), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  struct objective on_batch = f;
  on_batch.batch = &options->batch;
  struct newton s = {.f = on_batches(options) ? &on_batch : &f, .all = &f, .o = options, .result = result, .w = w};
  s.gap = gap_public(&f, w);
  s.reach = gap_reach(&f, s.gap, w);
  s.gradient = memory;
  s.direction = memory + dim;
  s.penalty = memory + 2 * dim;
  s.inverse = memory + 3 * dim;
  s.value = memory + 5 * dim;
  s.window = memory + 6 * dim;
  s.vectors = noisy ? memory + 7 * dim : NULL;
  penalty_add_diagonal(penalty, dim, w, s.penalty); /* of a convex penalty: the same everywhere */
  status = iterate(&s, fmax(oracle_left(oracle) - rho, 0), rho, memory + 4 * dim);
  base_free(memory);
  return status;
}

double newton_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct newton_options *options,
                            double rho, const double *w) {
  (void)penalty;
  (void)w;
  size_t dim = oracle_dim(oracle);
  double last = options->certificate_share * rho;
  double sd = release_sd(oracle_all(oracle), &query_gradient, &(struct ask){0}, last),
         left = gradient_left(oracle, options, rho - last);
  return confidence_target(left, sd, dim, error_level(options), oracle_lipschitz(oracle));
}

/* At convergence the norm of the gradient is that of its noise; a mean of iterates has a smaller one. */
static double gradient_left(struct oracle *oracle, const struct newton_options *o, double rho) {
  const struct objective f = {.oracle = oracle,
                              .dim = oracle_dim(oracle),
                              .steepest = oracle_lipschitz(oracle),
                              .batch = on_batches(o) ? &o->batch : NULL};
  double steps = rho * (o->curvature == NEWTON_LAZY ? 1 - o->curvature_share : 1);
  double sd = objective_sd_gradient(&f, NULL, steps / o->iterations, newton_gradient_share(o));
  return sd * sqrt((double)f.dim / fmax(1, o->tail * o->iterations));
}

/* end: what must stay in the ledger. mean: of the last iterates. */
static int iterate(struct newton *s, double end, double rho, double *mean) {
  const struct newton_options *o = s->o;
  struct oracle *oracle = s->f->oracle;
  int first = o->iterations - (int)ceil(o->tail * o->iterations);
  double last = o->certificate_share * rho, shared = o->curvature_share * (rho - last);
  s->steps_rho = rho - last - (o->curvature == NEWTON_LAZY ? shared : 0);
  int status = newton_prepare(s, shared);
  for (s->iteration = 1; status == BASE_OK && s->iteration <= o->iterations; s->iteration++) {
    base_progress(s->iteration, o->iterations + 1);
    double left = s->f->batch ? s->steps_rho : oracle_left(oracle) - end - last;
    status = iteration(s, left / (s->f->batch ? o->iterations : o->iterations - s->iteration + 1) * ALMOST);
    if (s->result->status == OPT_SOSP) return status;
    if (s->iteration > first) la_axpy(s->f->dim, 1.0 / (o->iterations - first), s->w, mean);
  }
  if (status != BASE_OK) return status;
  if (first < o->iterations) memcpy(s->w, mean, s->f->dim * sizeof(double));
  s->f = s->all;
  status = measure(s, (oracle_left(oracle) - end) * ALMOST);
  if (status == BASE_OK && certified(s)) s->result->status = OPT_SOSP;
  return status;
}

static int iteration(struct newton *s, double slice) {
  if (s->f->batch) return step_on_batch(s, slice);
  int status = measure(s, newton_gradient_share(s->o) * slice);
  if (status != BASE_OK) return status;
  if (!s->o->spend_all && certified(s)) {
    s->result->status = OPT_SOSP;
    return BASE_OK;
  }
  s->result->gradient_norm = s->result->gradient_upper = NAN;
  return newton_step(s, slice);
}

static int step_on_batch(struct newton *s, double slice) {
  int status = objective_step_open(s->f, s->w, slice, 1 - newton_gradient_share(s->o));
  if (status == BASE_OK) status = objective_step_gradient(s->f, s->w, slice, s->gradient, &s->sd);
  if (status == BASE_OK) status = note_gradient(s, slice);
  if (status == BASE_OK) status = newton_step(s, slice);
  objective_step_close(s->f);
  s->result->gradient_norm = s->result->gradient_upper = NAN;
  return status;
}

static int measure(struct newton *s, double rho) {
  int status = objective_gradient(s->f, s->w, rho, s->gradient, &s->sd);
  return status == BASE_OK ? note_gradient(s, rho) : status;
}

static int note_gradient(struct newton *s, double rho) {
  struct opt_result *r = s->result;
  r->gradient_norm = la_norm(s->f->dim, s->gradient);
  r->gradient_upper = confidence_norm(r->gradient_norm, s->sd, s->f->dim, error_level(s->o));
  struct trace_row row = {
      1, s->iteration, objective_gradient_name(s->f), r->gradient_norm, r->gradient_upper, s->sd, rho, 0};
  return trace_add(&r->trace, &row);
}

/* Error probability of one bound: with spend_all and on batches only the last bound counts, otherwise all together. */
static double error_level(const struct newton_options *o) {
  return (1 - o->confidence) / (o->spend_all || on_batches(o) ? 1 : o->iterations + 1);
}

static const char *const curvatures[] = {"hessian", "qu", "lazy", "direct", NULL};
static const char *const modifications[] = {"add", "clip", NULL};

static const struct field newton_fields[] = {
    {"curvature", FIELD_CHOICE, offsetof(struct newton_options, curvature), curvatures},
    {"modify", FIELD_CHOICE, offsetof(struct newton_options, modify), modifications},
    FIELD(newton_options, FLAG, damped),
    FIELD(newton_options, FLAG, adaptive),
    FIELD(newton_options, FLAG, spend_all),
    FIELD(newton_options, COUNT, iterations),
    FIELD(newton_options, NUMBER, eps_g),
    FIELD(newton_options, NUMBER, confidence),
    FIELD(newton_options, NUMBER, curvature_share),
    FIELD(newton_options, NUMBER, trace_share),
    FIELD(newton_options, NUMBER, search_share),
    FIELD(newton_options, NUMBER, certificate_share),
    FIELD(newton_options, NUMBER, lambda0),
    FIELD(newton_options, NUMBER, lambda_scale),
    FIELD(newton_options, NUMBER, tail),
    {"batch_size", FIELD_NUMBER, offsetof(struct newton_options, batch.size), NULL},
    {"batch_scheme", FIELD_CHOICE, offsetof(struct newton_options, batch.scheme), batch_schemes},
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(newton)
