/*
 * OPT and OPT-LS with the constants of Gao & Wright's experiments, for
 * reproduction: G = M = B_g = B_H = 1, targets divided by 1 + c, tests on the
 * noisy quantities themselves, sigma^2 = T / rho (3 T / (2 rho) with a line
 * search), the printed sparse vector, fall-back to the short step.
 *
 * Their Hessian noise (independent entries on and above the diagonal,
 * sensitivity 2 B_H sqrt(d) / n) has spectral norm 2 sigma sqrt(d); the oracle's
 * (half the variance off the diagonal) is asked for noise of that same
 * spectral norm, which costs less than what the paper's plan sets aside.
 *
 * On batches (section 3.3) gradient and Hessian of an iteration share one, with
 * equal noise over sensitivity, at a T-th of the budget whether or not the
 * Hessian is asked for. A point that passes there is a candidate only.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

struct run {
  const struct objective *f;
  const struct opt_options *o;
  const struct phase *phase;
  double *w, *gradient, *hessian, *direction;
  struct opt_result *result;
  double sigma2; /* noise variance over squared sensitivity */
  double cost;   /* of an iteration on a batch */
  int passed;
  int iteration;
};

static int run_phase(struct run *r);
static int iterate(struct run *r);
static int ask_gradient(struct run *r, double *rho, double *sd);
static int ask_hessian(struct run *r, double *rho, double *sd);
static int gradient_step(struct run *r);
static int curvature_step(struct run *r, double eigenvalue);
static int walk(struct run *r, struct search *search, double short_step);

int opt_published(const struct objective *f, const struct opt_options *o, const struct phase *phases, int count,
                  double *w, struct opt_result *result) {
  size_t dim = f->dim;
  struct run r = {.o = o, .w = w, .result = result};
  struct objective on_batch = *f;
  on_batch.batch = &o->batch.sampling;
  double *memory = base_alloc(dim * (dim + 2), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  r.gradient = memory;
  r.direction = memory + dim;
  r.hessian = memory + 2 * dim;
  int status = BASE_OK;
  for (int i = 0; i < count && status == BASE_OK && !r.passed; i++) {
    r.phase = &phases[i];
    r.f = r.phase->batch ? &on_batch : f;
    result->planned = r.phase->iterations;
    status = run_phase(&r);
    if (status == BASE_ERR_BUDGET) status = BASE_OK;
  }
  if (phases[0].batch) {
    result_forget(result);
    result->status = OPT_ITERATIONS;
  }
  base_free(memory);
  return status;
}

static int run_phase(struct run *r) {
  double factor = r->o->search == OPT_SHORT_STEP ? 1 : 1.5;
  int iterations = r->phase->iterations;
  r->result->status = OPT_ITERATIONS;
  r->cost = phase_left(r->f, r->phase) * ALMOST / iterations;
  r->sigma2 = factor * iterations / (phase_left(r->f, r->phase) * ALMOST);
  for (r->iteration = 1; r->iteration <= iterations; r->iteration++) {
    base_progress(r->iteration, iterations);
    int status = iterate(r);
    objective_step_close(r->f);
    if (status == BASE_ERR_BUDGET) r->result->status = OPT_BUDGET;
    if (status != BASE_OK || r->passed) return status;
  }
  return BASE_OK;
}

static int iterate(struct run *r) {
  const struct objective *f = r->f;
  struct opt_result *out = r->result;
  double sd, rho, value;
  int status = ask_gradient(r, &rho, &sd);
  if (status != BASE_OK) return status;
  out->gradient_norm = la_norm(f->dim, r->gradient);
  out->gradient_upper = confidence_norm(out->gradient_norm, sd, f->dim, r->phase->beta_g);
  struct trace_row row = {
      r->phase->number, r->iteration, objective_gradient_name(f), out->gradient_norm, out->gradient_upper, sd, rho, 0};
  status = trace_add(&out->trace, &row);
  if (status != BASE_OK) return status;
  if (out->gradient_norm > r->o->eps_g / (1 + GW_C1)) return gradient_step(r);

  status = ask_hessian(r, &rho, &sd);
  if (status == BASE_OK) status = la_eigen_min(f->dim, r->hessian, &value, r->direction);
  if (status != BASE_OK) return status;
  out->eigen_min = value;
  out->eigen_lower = value - confidence_eigen(sd, f->dim, r->phase->beta_h);
  row = (struct trace_row){
      r->phase->number, r->iteration, objective_hessian_name(f), value, out->eigen_lower, sd, rho, 0};
  status = trace_add(&out->trace, &row);
  if (status != BASE_OK) return status;
  if (value < -r->o->eps_h / (1 + GW_C)) return curvature_step(r, value);
  out->status = OPT_SOSP;
  r->passed = 1;
  return BASE_OK;
}

static int ask_gradient(struct run *r, double *rho, double *sd) {
  *rho = r->f->batch ? r->cost : 1 / (2 * r->sigma2);
  int status = objective_step_open(r->f, r->w, *rho, 0.5);
  return status == BASE_OK ? objective_step_gradient(r->f, r->w, *rho, r->gradient, sd) : status;
}

/* Of a batch it is paid for already. */
static int ask_hessian(struct run *r, double *rho, double *sd) {
  *rho = r->f->batch ? 0 : published_hessian_cost(r->f, r->w, r->sigma2);
  return objective_step_hessian(r->f, r->w, *rho, r->hessian, sd);
}

/* The cost at which sqrt(2) sd equals 2 sigma 2 sqrt(d) / n: see the head of this file. */
double published_hessian_cost(const struct objective *f, const double *w, double sigma2) {
  double rho = 1 / (2 * sigma2), dim = (double)f->dim;
  double wanted = sqrt(2 * sigma2 * dim) * 2 / (double)oracle_rows(f->oracle);
  double ratio = oracle_sd_hessian(f->oracle, w, rho) / wanted;
  return rho * fmin(1, ratio * ratio);
}

static int gradient_step(struct run *r) {
  double norm = r->result->gradient_norm;
  for (size_t i = 0; i < r->f->dim; i++) r->direction[i] = -r->gradient[i];
  if (r->o->search == OPT_SHORT_STEP) return walk(r, NULL, 1);
  double fall_back = 2 * (1 - GW_C1 - GW_CG);
  struct search search = {.first = r->o->mult_g * fall_back,
                          .ratio = r->o->back_g,
                          .k = search_candidates(r->o->mult_g, r->o->back_g),
                          .sufficient = GW_CG * norm * norm,
                          .power = 1};
  return walk(r, &search, fall_back);
}

static int curvature_step(struct run *r, double eigenvalue) {
  if (la_dot(r->f->dim, r->direction, r->gradient) > 0) la_scale(r->f->dim, -1, r->direction);
  if (r->o->search == OPT_SHORT_STEP) return walk(r, NULL, 2 * fabs(eigenvalue));
  double fall_back = plan_t2() * fabs(eigenvalue);
  struct search search = {.first = r->o->mult_h * fall_back,
                          .ratio = r->o->back_h,
                          .k = search_candidates(r->o->mult_h, r->o->back_h),
                          .sufficient = GW_CH / 2 * fabs(eigenvalue),
                          .power = 2};
  return walk(r, &search, fall_back);
}

static int walk(struct run *r, struct search *search, double short_step) {
  struct found found = {0};
  struct trace *trace = &r->result->trace;
  if (search) {
    /* eps = 1 / lambda with lambda^2 = sigma^2; what this costs is the oracle's to say (0.11 eps^2 there). */
    double eps2 = 1 / r->sigma2;
    search->kind = r->o->search;
    search->published = 1;
    search->rho = (search->kind == OPT_SVT && search->k <= 20 ? 0.11 : 0.5) * eps2;
    search->error = 1 - r->o->confidence;
    search->gap = INFINITY;
    int status = search_run(r->f, search, r->w, r->direction, &found);
    struct trace_row row = {r->phase->number, r->iteration, "line search", found.decrease,
                            found.bound,      found.sd,     found.rho,     0};
    if (status == BASE_OK) status = trace_add(trace, &row);
    if (status != BASE_OK) return status;
  }
  double step = found.step > 0 ? found.step : short_step;
  la_axpy(r->f->dim, step, r->direction, r->w);
  trace_last(trace)->step = step * la_norm(r->f->dim, r->direction);
  result_forget(r->result);
  return BASE_OK;
}
