/*
 * DP-TR: the trust-region method of Wang & Xu (2021, algorithm 1), with less noise for the same privacy
 * (proofs: sensitivity-hessian, symmetric-noise, gdp-conversion).
 *
 *   alpha <- the accuracy that the target allows; radius r = sqrt(alpha / M)
 *   T <- 6 sqrt(M) gap / alpha^1.5
 *   repeat T times:
 *     release gradient and Hessian at w
 *     s, lambda <- minimum of g's + s'Hs / 2 over |s| <= r and its dual variable
 *     w <- w + s;  done when lambda is small enough
 *
 * What lambda implies about w + s (from the proof of their theorem 2; proofs: trust-region): g + H s =
 * -lambda s, the Hessian is M-Lipschitz, the noise of g has norm at most q_g
 * and that of H has spectral norm at most q_H. Hence at w + s
 *
 *   |gradient|          <= lambda |s| + M |s|^2 / 2 + q_g + q_H |s|
 *   smallest eigenvalue >= theta - M |s| - q_H,
 *
 * with theta >= -lambda the smallest eigenvalue of H. With tight constants a run stops when these bounds
 * meet the target; lambda <= sqrt(alpha M) is sufficient, by the choice of alpha.
 *
 * The explicit test (Gao & Wright's modification, their section 4) asks instead
 * whether w itself meets the target, as OPT does.
 *
 * With batches (algorithm 2) the same steps take gradient and Hessian on
 * independent fresh batches, until the bounds meet the target as if sampling error were
 * noise. That is no certificate: the point is the start of FINAL_ITERATIONS on
 * the full data, with the rest of the budget.
 *
 * Beyond the paper, with tight constants: a gradient that does not exceed
 * its noise level gives no direction. The run then stays and measures again, and
 * averages of measurements at one point replace single ones.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define FINAL_STEPS 3       /* of a run that spends everything */
#define FINAL_ITERATIONS 20 /* after the batches */

/* What is known about a point: estimates and bounds, as in the result. */
struct certificate {
  double gradient_norm, gradient_upper;
  double eigen_min, eigen_lower;
};

struct costs {
  double alpha, radius;
  int iterations;
  double rho_g, rho_h;   /* of an iteration */
  double beta_g, beta_h; /* error probabilities of the first bounds at a point */
  double margin;         /* fraction of the target that its bounds take with this noise; at most 1 certifies */
};

/* What certifies() needs to find the default target. */
struct wish {
  const struct objective *f;
  const struct tr_options *o;
  double rho, gap;
};

struct state {
  const struct objective *f;
  const struct tr_options *o;
  struct objective on_batch; /* f and o on batches, and afterwards */
  struct tr_options tight;
  struct costs costs;
  double end; /* must stay in the ledger */
  double *w;
  struct opt_result *result;
  struct pool gradient, hessian;
  double *answer; /* the last gradient or Hessian */
  double *step;
  double length, dual;     /* of the step */
  double norm, eigen_min;  /* of the averages */
  double noise_g, noise_h; /* q_g, q_H */
  double beta_g;           /* error probability of the last bound on the gradient */
  int phase, iteration, last;
  int shift;    /* of the trace's phases: 1 after steps on batches */
  int spare;    /* planned iterations that were left when phase 2 began */
  int measured; /* number of measurements at this point */
  int certified;
  double *best; /* the last certified point and its certificate */
  struct certificate kept;
};

static void costs_published(struct costs *costs, const struct wish *c);
static void costs_tight(struct costs *costs, const struct wish *c);
static void costs_noise(struct costs *costs, const struct wish *c);
static int certifies(const void *wish, double alpha);
static int run_batches(struct state *s, const struct wish *c);
static int travel(struct state *s);
static int run_all(struct state *s);
static int goes_on(const struct state *s);
static void next_phase(struct state *s);
static void begin(struct state *s, int phase, int iterations, double share);
static int iterate(struct state *s);
static int measure(struct state *s);
static int stands_out(const struct state *s);
static double gradient_upper(const struct state *s);
static struct certificate bounds_here(const struct state *s);
static struct certificate bounds_ahead(const struct state *s);
static int accepted(const struct state *s, const struct certificate *c);
static void keep(struct state *s, const struct certificate *c);
static void move(struct state *s, const struct certificate *there);
static void arrive(struct state *s);
static void set_certificate(struct opt_result *result, const struct certificate *c);

int tr_run(struct oracle *oracle, const struct penalty *penalty, const struct tr_options *options, double rho,
           double *w, struct opt_result *result) {
  result_init(result);

  struct objective f;
  objective_init(&f, oracle, penalty);
  size_t dim = f.dim;
  struct state s = {.f = &f, .o = options, .w = w, .result = result, .end = fmax(oracle_left(oracle) - rho, 0)};
  double *memory = base_alloc(2 * dim * dim + 3 * dim, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  s.gradient = (struct pool){memory, dim, 0, 0, 0};
  s.step = memory + dim;
  s.best = memory + 2 * dim;
  s.hessian = (struct pool){memory + 3 * dim, dim * dim, 0, 0, 0};
  s.answer = memory + 3 * dim + dim * dim;

  int status = gap_find(&f, options->gap, options->gap_share, options->confidence, w, rho, result);
  if (status == BASE_OK) {
    void (*set_costs)(struct costs *, const struct wish *) = options->published ? costs_published : costs_tight;
    struct wish wish = {&f, options, oracle_left(oracle) - s.end, result->gap};
    int batches = options->batch.sampling.size > 0;
    if (batches) wish.rho *= options->batch.share;
    set_costs(&s.costs, &wish);
    result->planned = s.costs.iterations;
    result->eigen_known = f.lower <= options->eps_h;
    status = batches ? run_batches(&s, &wish) : run_all(&s);
  }
  base_free(memory);
  return status;
}

double tr_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct tr_options *options,
                        double rho, const double *w) {
  (void)w;
  struct objective f;
  objective_init(&f, (struct oracle *)oracle, penalty);
  double gap = isnan(options->gap) ? oracle_at_zero(oracle) - oracle_floor(oracle) : options->gap;
  struct wish wish = {&f, options, rho, gap};
  if (options->batch.sampling.size > 0) wish.rho *= options->batch.share;
  return plan_smallest_alpha(certifies, &wish, f.steepest); /* without a penalty every point meets steepest */
}

/* ---- the costs: from public constants, and a gap that may have been released ---- */

/* Those of Wang & Xu, with G = M = 1 as in Gao & Wright's experiments: each release has half of an iteration's budget.
 * */
static void costs_published(struct costs *costs, const struct wish *c) {
  costs->alpha = c->o->eps_g;
  costs->radius = sqrt(costs->alpha);
  costs->iterations = plan_ceil(6 * c->gap / pow(costs->alpha, 1.5), c->o->max_iterations);
  double sigma2 = costs->iterations / (c->rho * ALMOST);
  costs->rho_g = 1 / (2 * sigma2);
  costs->rho_h = published_hessian_cost(c->f, NULL, sigma2);
  costs->beta_g = costs->beta_h = (1 - c->o->confidence) / 2 / costs->iterations;
}

/* The largest alpha (the longest steps) that can be certified; if none can, the one that comes nearest. Steps so
 * short that they may not arrive within the allowed iterations certify nothing. */
static void costs_tight(struct costs *costs, const struct wish *c) {
  double third = c->f->third;
  struct costs best = {.margin = INFINITY};
  for (int k = 1; k <= 120 && best.margin > 1; k++) {
    costs->alpha = 2.0 / 3 * c->o->eps_g * pow(2, -k / 8.0);
    costs->radius = sqrt(costs->alpha / third);
    double needed = 6 * sqrt(third) * c->gap / pow(costs->alpha, 1.5);
    costs->iterations = plan_ceil(needed, c->o->max_iterations);
    costs_noise(costs, c);
    if (needed > c->o->max_iterations) costs->margin = fmax(costs->margin, 1) * needed / c->o->max_iterations;
    if (costs->margin < best.margin) best = *costs;
  }
  *costs = best;
}

/*
 * The noise of an iteration, divided so that the noise of the model's gradient at
 * |s| = r, a / sqrt(share_g) + r b / sqrt(share_H), is least. An explicit test has
 * its own noise in addition, and allows for it again.
 */
static void costs_noise(struct costs *costs, const struct wish *c) {
  const struct objective *f = c->f;
  const struct tr_options *o = c->o;
  double slice = c->rho / costs->iterations * ALMOST, again = o->explicit_test ? 2 : 0;
  costs->beta_g = costs->beta_h = (1 - o->confidence) / 2 / costs->iterations * 6 / (M_PI * M_PI);
  double a = confidence_length(objective_sd_all(f, &query_gradient, NULL, slice), f->dim, costs->beta_g);
  double b = objective_eigen_error(f, objective_sd_all(f, &query_hessian, NULL, slice), costs->beta_h / 2);
  double ratio = pow(costs->radius * b / a, 2.0 / 3), share = ratio / (1 + ratio);
  costs->rho_g = slice * (1 - share);
  costs->rho_h = slice * share;
  double noise_g = a / sqrt(1 - share), noise_h = b / sqrt(share);
  double gradient = 1.5 * costs->alpha + (1 + again) * noise_g + costs->radius * noise_h;
  double curvature = 2 * sqrt(f->third * costs->alpha) + (1 + again) * noise_h;
  costs->margin = fmax(gradient / o->eps_g, f->lower <= o->eps_h ? 0 : curvature / o->eps_h);
}

static int certifies(const void *wish, double alpha) {
  struct wish c = *(const struct wish *)wish;
  struct tr_options at = *c.o;
  struct costs costs;
  at.eps_g = alpha;
  at.eps_h = sqrt(c.f->third * alpha);
  c.o = &at;
  costs_tight(&costs, &c);
  return costs.margin <= 1;
}

/* ---- the run ---- */

/* The plan is for the full data; on batches noise and sampling error come in addition. */
static int run_batches(struct state *s, const struct wish *c) {
  const struct certificate none = {NAN, NAN, NAN, NAN};
  s->on_batch = *s->f;
  s->on_batch.batch = &s->o->batch.sampling;
  s->f = &s->on_batch;
  s->shift = 1;
  int status = travel(s);
  if (status != BASE_OK) return status;
  set_certificate(s->result, &none);
  struct wish rest = *c;
  s->tight = *s->o;
  s->tight.published = 0;
  rest.o = &s->tight;
  rest.rho = oracle_left(c->f->oracle) - s->end;
  s->f = c->f;
  s->o = &s->tight;
  s->costs.iterations = s->result->planned = FINAL_ITERATIONS;
  costs_noise(&s->costs, &rest);
  return run_all(s);
}

/* Moves to a point that passes on batches. */
static int travel(struct state *s) {
  int status = BASE_OK, found = 0;
  s->last = s->costs.iterations;
  for (s->iteration = 1; s->iteration <= s->last && status == BASE_OK && !found; s->iteration++) {
    base_progress(s->iteration, s->last);
    status = measure(s);
    if (status != BASE_OK) break;
    struct certificate here = bounds_here(s), there = bounds_ahead(s);
    found = accepted(s, s->o->explicit_test ? &here : &there);
    if ((found && !s->o->explicit_test) || (!found && (s->o->published || stands_out(s)))) move(s, &there);
  }
  arrive(s);
  return status == BASE_ERR_BUDGET ? BASE_OK : status;
}

static int run_all(struct state *s) {
  int status = BASE_OK;
  s->phase = 1;
  s->last = s->costs.iterations;
  for (s->iteration = 1; s->iteration <= s->last && status == BASE_OK; s->iteration++) {
    base_progress(s->iteration, s->last);
    status = iterate(s);
    if (s->certified && !goes_on(s)) break;
    if (s->certified) next_phase(s);
  }
  s->result->status = s->certified ? OPT_SOSP : s->o->published && status == BASE_OK ? OPT_ITERATIONS : OPT_BUDGET;
  if (s->certified) {
    memcpy(s->w, s->best, s->f->dim * sizeof(double));
    set_certificate(s->result, &s->kept);
  }
  return status == BASE_ERR_BUDGET ? BASE_OK : status;
}

static int goes_on(const struct state *s) { return s->o->spend_all && !s->o->published; }

/*
 * After a certified point the plan need not cover the worst case any more.
 * Phase 2 spends half of the rest, until a step ends inside the radius;
 * phase 3 has the other half for a few precise steps. Both stay within the iterations
 * for which the error probabilities were planned.
 */
static void next_phase(struct state *s) {
  int done = s->iteration, inside = s->length < s->costs.radius * (1 - 1e-9);
  if (s->phase == 1) {
    s->spare = s->costs.iterations - done;
    int planned = (int)fmin(s->spare - FINAL_STEPS, fmax(done, 2 * ceil(sqrt(s->costs.iterations))));
    begin(s, 2, planned, 0.5);
  } else if (s->phase == 2 && (inside || done == s->last)) {
    s->spare -= done;
    begin(s, 3, s->spare < FINAL_STEPS ? s->spare : FINAL_STEPS, 1);
  }
}

/* Spends this fraction of the rest, in equal parts. New averages begin, because costs now depend on releases. */
static void begin(struct state *s, int phase, int iterations, double share) {
  double slice = share * (oracle_left(s->f->oracle) - s->end) * ALMOST / iterations;
  double share_h = s->costs.rho_h / (s->costs.rho_g + s->costs.rho_h);
  if (iterations < 1) return;
  s->costs.rho_g = slice * (1 - share_h);
  s->costs.rho_h = slice * share_h;
  s->phase = phase;
  s->last = iterations;
  s->result->planned = iterations;
  s->iteration = 0;
  arrive(s);
}

static int iterate(struct state *s) {
  int status = measure(s), ahead = !s->o->explicit_test;
  if (status != BASE_OK) return status;
  struct certificate here = bounds_here(s), there = bounds_ahead(s);
  set_certificate(s->result, &here);
  int certified = accepted(s, ahead ? &there : &here);
  if (certified) keep(s, ahead ? &there : &here);
  if (certified && !goes_on(s)) {
    if (ahead) move(s, &there);
    return BASE_OK;
  }
  /* With the explicit test a point needs a measurement for its certificate, so the last iteration does not move. */
  if (!ahead && s->iteration == s->last) return BASE_OK;
  if (s->o->published || stands_out(s)) move(s, &there);
  return BASE_OK;
}

/*
 * The bounds on the noise hold for all iterations together. The j-th average at
 * a point has 6 / (pi j)^2 of the error probability of that point; there are
 * at most `iterations` points, however the run stays or moves.
 */
static int measure(struct state *s) {
  const struct objective *f = s->f;
  double sd, again = pow(++s->measured, 2);
  s->beta_g = s->costs.beta_g / again;
  int status = objective_gradient(f, s->w, s->costs.rho_g, s->answer, &sd);
  if (status != BASE_OK) return status;
  pool_add(&s->gradient, s->answer, sd, s->costs.rho_g);
  s->noise_g = confidence_length(pool_sd(&s->gradient), f->dim, s->beta_g);
  s->norm = la_norm(f->dim, s->gradient.mean);
  struct trace_row row = {s->phase + s->shift,
                          s->iteration,
                          objective_gradient_name(f),
                          s->norm,
                          gradient_upper(s),
                          pool_sd(&s->gradient),
                          s->costs.rho_g,
                          0};
  status = trace_add(&s->result->trace, &row);

  if (status == BASE_OK) status = objective_hessian(f, s->w, s->costs.rho_h, s->answer, &sd);
  if (status != BASE_OK) return status;
  pool_add(&s->hessian, s->answer, sd, s->costs.rho_h);
  s->noise_h = objective_eigen_error(f, pool_sd(&s->hessian), s->costs.beta_h / again / 2); /* of either sign */
  status =
      la_trust_region(f->dim, s->hessian.mean, s->gradient.mean, s->costs.radius, s->step, &s->dual, &s->eigen_min);
  if (status != BASE_OK) return status;
  s->length = la_norm(f->dim, s->step);
  row = (struct trace_row){s->phase + s->shift,
                           s->iteration,
                           objective_hessian_name(f),
                           s->eigen_min,
                           s->eigen_min - s->noise_h,
                           pool_sd(&s->hessian),
                           s->costs.rho_h,
                           0};
  return trace_add(&s->result->trace, &row);
}

/* Is the gradient longer than its noise, whose norm is at most that of any gradient, or the curvature surely negative?
 * */
static int stands_out(const struct state *s) {
  double sd = pool_sd(&s->gradient), noise = sqrt((double)s->f->dim) * sd;
  if (noise <= s->f->steepest && s->norm >= sqrt(2) * noise) return 1;
  return s->f->lower > s->o->eps_h && s->eigen_min + s->noise_h <= -s->o->eps_h / 3;
}

/* The explicit test corrects for the noise's part of the norm. The bounds by the dual variable use the noise's own. */
static double gradient_upper(const struct state *s) {
  if (!s->o->explicit_test) return s->norm + s->noise_g;
  return confidence_norm(s->norm, pool_sd(&s->gradient), s->f->dim, s->beta_g);
}

static struct certificate bounds_here(const struct state *s) {
  struct certificate c = {s->norm, gradient_upper(s), s->eigen_min, fmax(s->eigen_min - s->noise_h, -s->f->lower)};
  return c;
}

/* See the head of this file. */
static struct certificate bounds_ahead(const struct state *s) {
  double length = s->length, third = s->f->third, gradient = s->dual * length;
  struct certificate c = {gradient, gradient + third * length * length / 2 + s->noise_g + s->noise_h * length,
                          s->eigen_min, fmax(s->eigen_min - third * length - s->noise_h, -s->f->lower)};
  return c;
}

/* Published tests use the noisy quantities themselves. */
static int accepted(const struct state *s, const struct certificate *c) {
  const struct tr_options *o = s->o;
  if (!o->published) return c->gradient_upper <= o->eps_g && c->eigen_lower >= -o->eps_h;
  if (!o->explicit_test) return s->dual <= sqrt(s->costs.alpha);
  return c->gradient_norm <= o->eps_g / (1 + GW_C1) && c->eigen_min >= -o->eps_h / (1 + GW_C);
}

static void keep(struct state *s, const struct certificate *c) {
  memcpy(s->best, s->w, s->f->dim * sizeof(double));
  if (!s->o->explicit_test) la_axpy(s->f->dim, 1, s->step, s->best);
  s->kept = *c;
  s->certified = 1;
}

static void move(struct state *s, const struct certificate *there) {
  const struct certificate none = {NAN, NAN, NAN, NAN};
  la_axpy(s->f->dim, 1, s->step, s->w);
  trace_last(&s->result->trace)->step = s->length;
  set_certificate(s->result, s->o->explicit_test ? &none : there);
  arrive(s);
}

/* Begins at a point where nothing was measured. */
static void arrive(struct state *s) {
  pool_reset(&s->gradient);
  pool_reset(&s->hessian);
  s->measured = 0;
}

static void set_certificate(struct opt_result *result, const struct certificate *c) {
  result->gradient_norm = c->gradient_norm;
  result->gradient_upper = c->gradient_upper;
  result->eigen_min = c->eigen_min;
  result->eigen_lower = c->eigen_lower;
}

static const struct field tr_fields[] = {
    FIELD(tr_options, FLAG, published),
    FIELD(tr_options, FLAG, explicit_test),
    FIELD(tr_options, FLAG, spend_all),
    FIELD(tr_options, NUMBER, eps_g),
    FIELD(tr_options, NUMBER, eps_h),
    FIELD(tr_options, NUMBER, confidence),
    FIELD(tr_options, NUMBER, gap),
    FIELD(tr_options, NUMBER, gap_share),
    FIELD(tr_options, COUNT, max_iterations),
    BATCH_FIELDS(tr_options),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(tr)
