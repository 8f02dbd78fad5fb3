/*
 * DP-TR: the trust-region method of Wang & Xu (2021, algorithm 1), with the
 * noise of privacy.md B2, B3 and G.
 *
 *   alpha <- what the target leaves room for; radius r = sqrt(alpha / M)
 *   T <- 6 sqrt(M) gap / alpha^1.5
 *   repeat T times:
 *     release gradient and Hessian at w
 *     s, lambda <- minimum of g's + s'Hs / 2 over |s| <= r and its dual variable
 *     w <- w + s;  done when lambda is small enough
 *
 * What lambda says about w + s (from the proof of their theorem 2): g + H s =
 * -lambda s, the Hessian is M-Lipschitz, and the noise of g is at most q_g long
 * and that of H has at most the spectral norm q_H. Hence at w + s
 *
 *   |gradient|          <= lambda |s| + M |s|^2 / 2 + q_g + q_H |s|
 *   smallest eigenvalue >= theta - M |s| - q_H,
 *
 * theta >= -lambda being that of H. With tight constants a run stops when these bounds
 * meet the target; lambda <= sqrt(alpha M) suffices, as alpha is chosen so.
 *
 * The explicit test (Gao & Wright's modification, their section 4) asks instead
 * whether w itself meets the target, as OPT does.
 *
 * With batches (algorithm 2) the same steps take gradient and Hessian on
 * independent fresh ones, until the bounds meet the target as if sampling were
 * noise. That is no certificate: the point is handed on to FINAL_ITERATIONS about
 * all rows, with what is left of the budget.
 *
 * Beyond the paper, with tight constants: a gradient that does not stand out of
 * its noise gives no direction. The run then stays and measures again, and
 * averages of measurements at one point take the place of single ones.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define FINAL_STEPS 3       /* of a run that spends all */
#define FINAL_ITERATIONS 20 /* after the batches */

/* What a point is known to be: estimates and bounds, as in the result. */
struct certificate {
  double gradient_norm, gradient_upper;
  double eigen_min, eigen_lower;
};

struct plan {
  double alpha, radius;
  int iterations;
  double rho_g, rho_h;   /* of an iteration */
  double beta_g, beta_h; /* error probabilities of the first bounds at a point */
  double margin;         /* of the target, what its bounds take with this noise; at most 1 certifies */
};

/* What the default target is to be certified with. */
struct wish {
  const struct objective *f;
  const struct tr_options *o;
  double rho, gap;
  const double *w;
};

struct run {
  const struct objective *f;
  const struct tr_options *o;
  struct objective on_batch; /* f and o while on batches, and after */
  struct tr_options tight;
  struct plan plan;
  double end; /* what must stay in the ledger */
  double *w;
  struct opt_result *result;
  struct pool gradient, hessian;
  double *answer; /* the newest gradient or Hessian */
  double *step;
  double length, dual;     /* of the step */
  double norm, eigen_min;  /* of the averages */
  double noise_g, noise_h; /* q_g, q_H */
  double beta_g;           /* error probability of the newest bound on the gradient */
  int phase, iteration, last;
  int shift;    /* of the trace's phases: 1 after steps on batches */
  int spare;    /* of the planned iterations, when phase 2 began */
  int measured; /* times at this point */
  int certified;
  double *best; /* the newest certified point and its certificate */
  struct certificate kept;
};

static void plan_published(struct plan *p, const struct wish *c);
static void plan_tight(struct plan *p, const struct wish *c);
static void plan_noise(struct plan *p, const struct wish *c);
static int certifies(const void *wish, double alpha);
static int run_batches(struct run *r, const struct wish *c);
static int travel(struct run *r);
static int run_all(struct run *r);
static int goes_on(const struct run *r);
static void next_phase(struct run *r);
static void begin(struct run *r, int phase, int iterations, double share);
static int iterate(struct run *r);
static int measure(struct run *r);
static int stands_out(const struct run *r);
static double gradient_upper(const struct run *r);
static struct certificate bounds_here(const struct run *r);
static struct certificate bounds_ahead(const struct run *r);
static int accepted(const struct run *r, const struct certificate *c);
static void keep(struct run *r, const struct certificate *c);
static void move(struct run *r, const struct certificate *there);
static void arrive(struct run *r);
static void set_certificate(struct opt_result *result, const struct certificate *c);

int tr_run(struct oracle *oracle, const struct penalty *penalty, const struct tr_options *options, double rho,
           double *w, struct opt_result *result) {
  result_init(result);

  struct objective f;
  objective_init(&f, oracle, penalty);
  size_t dim = f.dim;
  struct run r = {.f = &f, .o = options, .w = w, .result = result, .end = fmax(oracle_left(oracle) - rho, 0)};
  double *memory = base_alloc(2 * dim * dim + 3 * dim, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  r.gradient = (struct pool){memory, dim, 0, 0, 0};
  r.step = memory + dim;
  r.best = memory + 2 * dim;
  r.hessian = (struct pool){memory + 3 * dim, dim * dim, 0, 0, 0};
  r.answer = memory + 3 * dim + dim * dim;

  int status = gap_find(&f, options->gap, options->gap_share, options->confidence, w, rho, result);
  if (status == BASE_OK) {
    void (*plan)(struct plan *, const struct wish *) = options->published ? plan_published : plan_tight;
    struct wish wish = {&f, options, oracle_left(oracle) - r.end, result->gap, w};
    int batches = options->batch.sampling.size > 0;
    if (batches) wish.rho *= options->batch.share;
    plan(&r.plan, &wish);
    result->planned = r.plan.iterations;
    result->eigen_known = f.lower <= options->eps_h;
    status = batches ? run_batches(&r, &wish) : run_all(&r);
  }
  base_free(memory);
  return status;
}

double tr_default_alpha(const struct oracle *oracle, const struct penalty *penalty, const struct tr_options *options,
                        double rho, const double *w) {
  struct objective f;
  objective_init(&f, (struct oracle *)oracle, penalty);
  double gap = isnan(options->gap) ? oracle_at_zero(oracle) - oracle_floor(oracle) : options->gap;
  struct wish wish = {&f, options, rho, gap, w};
  if (options->batch.sampling.size > 0) wish.rho *= options->batch.share;
  return plan_smallest_alpha(certifies, &wish, f.steepest); /* which every point meets, but for the penalty */
}

/* ---- the plan: public constants, and a gap that was itself released ---- */

/* Wang & Xu's, with G = M = 1 as in Gao & Wright's experiments: half of an iteration's budget for each answer. */
static void plan_published(struct plan *p, const struct wish *c) {
  p->alpha = c->o->eps_g;
  p->radius = sqrt(p->alpha);
  p->iterations = plan_ceil(6 * c->gap / pow(p->alpha, 1.5), c->o->max_iterations);
  double sigma2 = p->iterations / (c->rho * ALMOST);
  p->rho_g = 1 / (2 * sigma2);
  p->rho_h = published_hessian_cost(c->f, c->w, sigma2);
  p->beta_g = p->beta_h = (1 - c->o->confidence) / 2 / p->iterations;
}

/* The largest alpha (the longest steps) that can be certified; where none can, the one that comes nearest. Steps so
 * short that they may not arrive within the iterations allowed certify nothing. */
static void plan_tight(struct plan *p, const struct wish *c) {
  double third = c->f->third;
  struct plan best = {.margin = INFINITY};
  for (int k = 1; k <= 120 && best.margin > 1; k++) {
    p->alpha = 2.0 / 3 * c->o->eps_g * pow(2, -k / 8.0);
    p->radius = sqrt(p->alpha / third);
    double needed = 6 * sqrt(third) * c->gap / pow(p->alpha, 1.5);
    p->iterations = plan_ceil(needed, c->o->max_iterations);
    plan_noise(p, c);
    if (needed > c->o->max_iterations) p->margin = fmax(p->margin, 1) * needed / c->o->max_iterations;
    if (p->margin < best.margin) best = *p;
  }
  *p = best;
}

/*
 * The noise of an iteration, shared so that that of the model's gradient at
 * |s| = r, a / sqrt(share_g) + r b / sqrt(share_H), is least. An explicit test sees
 * its own noise on top of what it is about, and allows for it again.
 */
static void plan_noise(struct plan *p, const struct wish *c) {
  const struct objective *f = c->f;
  const struct tr_options *o = c->o;
  double slice = c->rho / p->iterations * ALMOST, again = o->explicit_test ? 2 : 0;
  p->beta_g = p->beta_h = (1 - o->confidence) / 2 / p->iterations * 6 / (M_PI * M_PI);
  double a = confidence_length(oracle_sd_gradient(f->oracle, c->w, slice), f->dim, p->beta_g);
  double b = confidence_eigen(oracle_sd_hessian(f->oracle, c->w, slice), f->dim, p->beta_h / 2);
  double ratio = pow(p->radius * b / a, 2.0 / 3), share = ratio / (1 + ratio);
  p->rho_g = slice * (1 - share);
  p->rho_h = slice * share;
  double noise_g = a / sqrt(1 - share), noise_h = b / sqrt(share);
  double gradient = 1.5 * p->alpha + (1 + again) * noise_g + p->radius * noise_h;
  double curvature = 2 * sqrt(f->third * p->alpha) + (1 + again) * noise_h;
  p->margin = fmax(gradient / o->eps_g, f->lower <= o->eps_h ? 0 : curvature / o->eps_h);
}

static int certifies(const void *wish, double alpha) {
  struct wish c = *(const struct wish *)wish;
  struct tr_options at = *c.o;
  struct plan p;
  at.eps_g = alpha;
  at.eps_h = sqrt(c.f->third * alpha);
  c.o = &at;
  plan_tight(&p, &c);
  return p.margin <= 1;
}

/* ---- the run ---- */

/* The plan is about all rows; on batches noise and sampling error come on top. */
static int run_batches(struct run *r, const struct wish *c) {
  const struct certificate none = {NAN, NAN, NAN, NAN};
  r->on_batch = *r->f;
  r->on_batch.batch = &r->o->batch.sampling;
  r->f = &r->on_batch;
  r->shift = 1;
  int status = travel(r);
  if (status != BASE_OK) return status;
  set_certificate(r->result, &none);
  struct wish rest = *c;
  r->tight = *r->o;
  r->tight.published = 0;
  rest.o = &r->tight;
  rest.rho = oracle_left(c->f->oracle) - r->end;
  r->f = c->f;
  r->o = &r->tight;
  r->plan.iterations = r->result->planned = FINAL_ITERATIONS;
  plan_noise(&r->plan, &rest);
  return run_all(r);
}

/* To a point that passes on batches. */
static int travel(struct run *r) {
  int status = BASE_OK, found = 0;
  r->last = r->plan.iterations;
  for (r->iteration = 1; r->iteration <= r->last && status == BASE_OK && !found; r->iteration++) {
    base_progress(r->iteration, r->last);
    status = measure(r);
    if (status != BASE_OK) break;
    struct certificate here = bounds_here(r), there = bounds_ahead(r);
    found = accepted(r, r->o->explicit_test ? &here : &there);
    if ((found && !r->o->explicit_test) || (!found && (r->o->published || stands_out(r)))) move(r, &there);
  }
  arrive(r);
  return status == BASE_ERR_BUDGET ? BASE_OK : status;
}

static int run_all(struct run *r) {
  int status = BASE_OK;
  r->phase = 1;
  r->last = r->plan.iterations;
  for (r->iteration = 1; r->iteration <= r->last && status == BASE_OK; r->iteration++) {
    base_progress(r->iteration, r->last);
    status = iterate(r);
    if (r->certified && !goes_on(r)) break;
    if (r->certified) next_phase(r);
  }
  r->result->status = r->certified ? OPT_SOSP : r->o->published && status == BASE_OK ? OPT_ITERATIONS : OPT_BUDGET;
  if (r->certified) {
    memcpy(r->w, r->best, r->f->dim * sizeof(double));
    set_certificate(r->result, &r->kept);
  }
  return status == BASE_ERR_BUDGET ? BASE_OK : status;
}

static int goes_on(const struct run *r) { return r->o->spend_all && !r->o->published; }

/*
 * From a certified point on the worst case no longer has to be planned for.
 * Phase 2 travels on half of what is left, until a step stays inside the radius;
 * phase 3 has the rest for a few precise steps. All of it within the iterations
 * that the error probabilities were planned for.
 */
static void next_phase(struct run *r) {
  int done = r->iteration, inside = r->length < r->plan.radius * (1 - 1e-9);
  if (r->phase == 1) {
    r->spare = r->plan.iterations - done;
    int planned = (int)fmin(r->spare - FINAL_STEPS, fmax(done, 2 * ceil(sqrt(r->plan.iterations))));
    begin(r, 2, planned, 0.5);
  } else if (r->phase == 2 && (inside || done == r->last)) {
    r->spare -= done;
    begin(r, 3, r->spare < FINAL_STEPS ? r->spare : FINAL_STEPS, 1);
  }
}

/* This share of what is left, in equal parts. As costs now depend on answers, averages begin anew. */
static void begin(struct run *r, int phase, int iterations, double share) {
  double slice = share * (oracle_left(r->f->oracle) - r->end) * ALMOST / iterations;
  double share_h = r->plan.rho_h / (r->plan.rho_g + r->plan.rho_h);
  if (iterations < 1) return;
  r->plan.rho_g = slice * (1 - share_h);
  r->plan.rho_h = slice * share_h;
  r->phase = phase;
  r->last = iterations;
  r->result->planned = iterations;
  r->iteration = 0;
  arrive(r);
}

static int iterate(struct run *r) {
  int status = measure(r), ahead = !r->o->explicit_test;
  if (status != BASE_OK) return status;
  struct certificate here = bounds_here(r), there = bounds_ahead(r);
  set_certificate(r->result, &here);
  int certified = accepted(r, ahead ? &there : &here);
  if (certified) keep(r, ahead ? &there : &here);
  if (certified && !goes_on(r)) {
    if (ahead) move(r, &there);
    return BASE_OK;
  }
  /* With the explicit test a point that is not measured has no certificate: the last iteration stays. */
  if (!ahead && r->iteration == r->last) return BASE_OK;
  if (r->o->published || stands_out(r)) move(r, &there);
  return BASE_OK;
}

/*
 * The bounds on the noise hold for all iterations together. The j-th average at
 * a point takes 6 / (pi j)^2 of the error probability of that point, of which there
 * are no more than iterations, whatever made the run stay or move.
 */
static int measure(struct run *r) {
  const struct objective *f = r->f;
  double sd, again = pow(++r->measured, 2);
  r->beta_g = r->plan.beta_g / again;
  int status = objective_gradient(f, r->w, r->plan.rho_g, r->answer, &sd);
  if (status != BASE_OK) return status;
  pool_add(&r->gradient, r->answer, sd, r->plan.rho_g);
  r->noise_g = confidence_length(pool_sd(&r->gradient), f->dim, r->beta_g);
  r->norm = la_norm(f->dim, r->gradient.mean);
  struct trace_row row = {r->phase + r->shift,
                          r->iteration,
                          objective_gradient_name(f),
                          r->norm,
                          gradient_upper(r),
                          pool_sd(&r->gradient),
                          r->plan.rho_g,
                          0};
  status = trace_add(&r->result->trace, &row);

  if (status == BASE_OK) status = objective_hessian(f, r->w, r->plan.rho_h, r->answer, &sd);
  if (status != BASE_OK) return status;
  pool_add(&r->hessian, r->answer, sd, r->plan.rho_h);
  r->noise_h = confidence_eigen(pool_sd(&r->hessian), f->dim, r->plan.beta_h / again / 2); /* of either sign */
  status = la_trust_region(f->dim, r->hessian.mean, r->gradient.mean, r->plan.radius, r->step, &r->dual, &r->eigen_min);
  if (status != BASE_OK) return status;
  r->length = la_norm(f->dim, r->step);
  row = (struct trace_row){r->phase + r->shift,
                           r->iteration,
                           objective_hessian_name(f),
                           r->eigen_min,
                           r->eigen_min - r->noise_h,
                           pool_sd(&r->hessian),
                           r->plan.rho_h,
                           0};
  return trace_add(&r->result->trace, &row);
}

/* The gradient is longer than its noise, which is not longer than any gradient; or the curvature is surely negative. */
static int stands_out(const struct run *r) {
  double sd = pool_sd(&r->gradient), noise = sqrt((double)r->f->dim) * sd;
  if (noise <= r->f->steepest && r->norm >= sqrt(2) * noise) return 1;
  return r->f->lower > r->o->eps_h && r->eigen_min + r->noise_h <= -r->o->eps_h / 3;
}

/* The explicit test knows that noise lengthens the norm. The dual variable's bounds all rest on the noise's own. */
static double gradient_upper(const struct run *r) {
  if (!r->o->explicit_test) return r->norm + r->noise_g;
  return confidence_norm(r->norm, pool_sd(&r->gradient), r->f->dim, r->beta_g);
}

static struct certificate bounds_here(const struct run *r) {
  struct certificate c = {r->norm, gradient_upper(r), r->eigen_min, fmax(r->eigen_min - r->noise_h, -r->f->lower)};
  return c;
}

/* See the head of this file. */
static struct certificate bounds_ahead(const struct run *r) {
  double s = r->length, third = r->f->third, gradient = r->dual * s;
  struct certificate c = {gradient, gradient + third * s * s / 2 + r->noise_g + r->noise_h * s, r->eigen_min,
                          fmax(r->eigen_min - third * s - r->noise_h, -r->f->lower)};
  return c;
}

/* Published tests are on the noisy quantities themselves. */
static int accepted(const struct run *r, const struct certificate *c) {
  const struct tr_options *o = r->o;
  if (!o->published) return c->gradient_upper <= o->eps_g && c->eigen_lower >= -o->eps_h;
  if (!o->explicit_test) return r->dual <= sqrt(r->plan.alpha);
  return c->gradient_norm <= o->eps_g / (1 + GW_C1) && c->eigen_min >= -o->eps_h / (1 + GW_C);
}

static void keep(struct run *r, const struct certificate *c) {
  memcpy(r->best, r->w, r->f->dim * sizeof(double));
  if (!r->o->explicit_test) la_axpy(r->f->dim, 1, r->step, r->best);
  r->kept = *c;
  r->certified = 1;
}

static void move(struct run *r, const struct certificate *there) {
  const struct certificate none = {NAN, NAN, NAN, NAN};
  la_axpy(r->f->dim, 1, r->step, r->w);
  trace_last(&r->result->trace)->step = r->length;
  set_certificate(r->result, r->o->explicit_test ? &none : there);
  arrive(r);
}

/* At a point that was not measured yet. */
static void arrive(struct run *r) {
  pool_reset(&r->gradient);
  pool_reset(&r->hessian);
  r->measured = 0;
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
