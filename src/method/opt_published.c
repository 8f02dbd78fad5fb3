/*
 * OPT and OPT-LS with the constants of Gao & Wright's experiments, for
 * reproduction: G = M = B_g = B_H = 1, targets divided by 1 + c, tests on the
 * noisy quantities themselves, sigma^2 = T / rho (3 T / (2 rho) with a line
 * search), the printed sparse vector, fall-back to the short step.
 *
 * Their Hessian noise (independent entries on and above the diagonal,
 * sensitivity 2 B_H sqrt(d) / n) has spectral norm 2 sigma sqrt(d). The oracle's noise
 * (half the variance off the diagonal) is given the same
 * spectral norm, which costs less than the paper's plan reserves.
 *
 * On batches (section 3.3) gradient and Hessian of an iteration share one batch, with
 * equal noise over sensitivity, for a fraction 1 / T of the budget whether or not the
 * Hessian is released. A point that passes there is a candidate only.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

struct state {
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

static int run_phase(struct state *s);
static int iterate(struct state *s);
static int ask_gradient(struct state *s, double *rho, double *sd);
static int ask_hessian(struct state *s, double *rho, double *sd);
static int gradient_step(struct state *s);
static int curvature_step(struct state *s, double eigenvalue);
static int walk(struct state *s, struct line_search *search, double short_step);

int opt_published(const struct objective *f, const struct opt_options *o, const struct phase *phases, int count,
                  double *w, struct opt_result *result) {
  size_t dim = f->dim;
  struct state s = {.o = o, .w = w, .result = result};
  struct objective on_batch = *f;
  on_batch.batch = &o->batch.sampling;
  double *memory = base_alloc(dim * (dim + 2), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  s.gradient = memory;
  s.direction = memory + dim;
  s.hessian = memory + 2 * dim;
  int status = BASE_OK;
  for (int i = 0; i < count && status == BASE_OK && !s.passed; i++) {
    s.phase = &phases[i];
    s.f = s.phase->batch ? &on_batch : f;
    result->planned = s.phase->iterations;
    status = run_phase(&s);
    if (status == BASE_ERR_BUDGET) status = BASE_OK;
  }
  if (phases[0].batch) {
    result_forget(result);
    result->status = OPT_ITERATIONS;
  }
  base_free(memory);
  return status;
}

static int run_phase(struct state *s) {
  double factor = s->o->search == OPT_SHORT_STEP ? 1 : 1.5;
  int iterations = s->phase->iterations;
  s->result->status = OPT_ITERATIONS;
  s->cost = phase_left(s->f, s->phase) * ALMOST / iterations;
  s->sigma2 = factor * iterations / (phase_left(s->f, s->phase) * ALMOST);
  for (s->iteration = 1; s->iteration <= iterations; s->iteration++) {
    base_progress(s->iteration, iterations);
    int status = iterate(s);
    objective_step_close(s->f);
    if (status == BASE_ERR_BUDGET) s->result->status = OPT_BUDGET;
    if (status != BASE_OK || s->passed) return status;
  }
  return BASE_OK;
}

static int iterate(struct state *s) {
  const struct objective *f = s->f;
  struct opt_result *out = s->result;
  double sd, rho, value;
  int status = ask_gradient(s, &rho, &sd);
  if (status != BASE_OK) return status;
  out->gradient_norm = la_norm(f->dim, s->gradient);
  out->gradient_upper = confidence_norm(out->gradient_norm, sd, f->dim, s->phase->beta_g);
  struct trace_row row = {
      s->phase->number, s->iteration, objective_gradient_name(f), out->gradient_norm, out->gradient_upper, sd, rho, 0};
  status = trace_add(&out->trace, &row);
  if (status != BASE_OK) return status;
  if (out->gradient_norm > s->o->eps_g / (1 + GW_C1)) return gradient_step(s);

  status = ask_hessian(s, &rho, &sd);
  if (status == BASE_OK) status = la_eigen_min(f->dim, s->hessian, &value, s->direction);
  if (status != BASE_OK) return status;
  out->eigen_min = value;
  out->eigen_lower = value - objective_eigen_error(f, sd, s->phase->beta_h);
  row = (struct trace_row){
      s->phase->number, s->iteration, objective_hessian_name(f), value, out->eigen_lower, sd, rho, 0};
  status = trace_add(&out->trace, &row);
  if (status != BASE_OK) return status;
  if (value < -s->o->eps_h / (1 + GW_C)) return curvature_step(s, value);
  out->status = OPT_SOSP;
  s->passed = 1;
  return BASE_OK;
}

/* Near w = 0 the sensitivity is smaller than the paper's, and so is the cost of its noise. */
static int ask_gradient(struct state *s, double *rho, double *sd) {
  *rho = s->f->batch ? s->cost : published_gradient_cost(s->f, s->w, 1 / (2 * s->sigma2));
  int status = objective_step_open(s->f, s->w, *rho, 0.5);
  return status == BASE_OK ? objective_step_gradient(s->f, s->w, *rho, s->gradient, sd) : status;
}

/* On a batch the Hessian is paid for already. */
static int ask_hessian(struct state *s, double *rho, double *sd) {
  *rho = s->f->batch ? 0 : published_hessian_cost(s->f, s->w, s->sigma2);
  return objective_step_hessian(s->f, s->w, *rho, s->hessian, sd);
}

double published_gradient_cost(const struct objective *f, const double *w, double rho) {
  double ratio = objective_sd_all(f, &query_gradient, w, rho) / objective_sd_all(f, &query_gradient, NULL, rho);
  return rho * ratio * ratio;
}

/* Where the curvature's bound is nearly zero, so would be the cost. */
#define LEAST_COST 1e-6

/* The cost at which sqrt(2) sd equals 2 sigma 2 sqrt(d) / n: see the head of this file. */
double published_hessian_cost(const struct objective *f, const double *w, double sigma2) {
  double rho = 1 / (2 * sigma2), dim = (double)f->dim;
  double wanted = sqrt(2 * sigma2 * dim) * 2 / (double)oracle_rows(f->oracle);
  double ratio = objective_sd_all(f, &query_hessian, w, rho) / wanted;
  return rho * fmin(1, fmax(ratio * ratio, LEAST_COST));
}

static int gradient_step(struct state *s) {
  double norm = s->result->gradient_norm;
  for (size_t i = 0; i < s->f->dim; i++) s->direction[i] = -s->gradient[i];
  if (s->o->search == OPT_SHORT_STEP) return walk(s, NULL, 1);
  double fall_back = 2 * (1 - GW_C1 - GW_CG);
  struct line_search search = {.first = s->o->mult_g * fall_back,
                               .ratio = s->o->back_g,
                               .k = search_candidates(s->o->mult_g, s->o->back_g),
                               .sufficient = GW_CG * norm * norm,
                               .power = 1};
  return walk(s, &search, fall_back);
}

static int curvature_step(struct state *s, double eigenvalue) {
  if (la_dot(s->f->dim, s->direction, s->gradient) > 0) la_scale(s->f->dim, -1, s->direction);
  if (s->o->search == OPT_SHORT_STEP) return walk(s, NULL, 2 * fabs(eigenvalue));
  double fall_back = plan_t2() * fabs(eigenvalue);
  struct line_search search = {.first = s->o->mult_h * fall_back,
                               .ratio = s->o->back_h,
                               .k = search_candidates(s->o->mult_h, s->o->back_h),
                               .sufficient = GW_CH / 2 * fabs(eigenvalue),
                               .power = 2};
  return walk(s, &search, fall_back);
}

static int walk(struct state *s, struct line_search *search, double short_step) {
  struct found found = {0};
  struct trace *trace = &s->result->trace;
  if (search) {
    /* eps = 1 / lambda with lambda^2 = sigma^2; the oracle computes its cost (0.11 eps^2 there). */
    double eps2 = 1 / s->sigma2;
    search->kind = s->o->search;
    search->published = 1;
    search->rho = (search->kind == OPT_SVT && search->k <= 20 ? 0.11 : 0.5) * eps2;
    search->error = 1 - s->o->confidence;
    search->gap = INFINITY;
    int status = search_run(s->f, search, s->w, s->direction, &found);
    struct trace_row row = {s->phase->number, s->iteration, "line search", found.decrease,
                            found.bound,      found.sd,     found.rho,     0};
    if (status == BASE_OK) status = trace_add(trace, &row);
    if (status != BASE_OK) return status;
  }
  double step = found.step > 0 ? found.step : short_step;
  la_axpy(s->f->dim, step, s->direction, s->w);
  trace_last(trace)->step = step * la_norm(s->f->dim, s->direction);
  result_forget(s->result);
  return BASE_OK;
}
