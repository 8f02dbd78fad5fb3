/*
 * One phase of OPT with the constants of the loss, with tests that account for the noise.
 *
 *   repeat while the phase has budget:
 *     measure the gradient; average it with those at the same point
 *     if its norm is surely at most eps_g:
 *       if no eigenvalue can be below -eps_h: certified
 *       measure the Hessian until its smallest eigenvalue is surely at least
 *         -eps_h: certified;  or surely negative: step along its eigenvector
 *     else if the gradient exceeds its noise level: step against it
 *
 * With spend_all the run continues from a certified point until the budget is
 * spent, and ends at the last certified point.
 *
 * With a start_curvature such a run ends at the mean of the minimiser given all gradients that it measured at its last
 * point, in a quadratic model of the objective with the Hessian start_curvature times the unit matrix (posterior.c).
 * The intercept stays: that of the start is a good one. Where there is no more than noise, the mean is close to the
 * point. A run without a step says nothing of its end. A certified point moves no farther than its certificate allows:
 * over a distance r the gradient changes by at most G r and the Hessian by at most M r.
 *
 * A phase on batches does the same with releases on a fresh batch each, until
 * a point passes: this candidate is the start of the phases on the full data.
 *
 * "Surely" means with the phase's confidence. Measurements at one point are
 * averaged with weights 1/sd^2, which loses nothing. Their costs at a point do
 * not depend on what was measured there. So each average is exactly Gaussian, whether the run
 * stays for it or not; the tests at a point share its error probability.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

/* A phase ends when it has less than this fraction of its budget. */
#define NOTHING_LEFT 1e-9

/* A step is taken only if noise alone would give so long a gradient with at most this probability. On synthetic
 * problems (inst/experiments/doubt-rule.R) larger values gain less than 1 %, and 0.001 loses 3 to 8 %. */
#define NOISE_ALONE 0.05

struct state {
  const struct objective *f;
  const struct opt_options *o;
  const struct phase *phase;
  double *w;
  struct opt_result *result;
  struct pool gradient, hessian;
  struct pool first; /* all gradients at the start on the full data */
  double *answer; /* the last gradient or Hessian */
  double *direction;
  double slice; /* budget of the current iteration */
  int iteration;
  int last; /* the run ends with this iteration */
  int eigen_points;
  int steps;          /* so far: their bounds share the error probability of the run's decrease */
  double headroom;    /* upper bound of f(w) - inf f, from the decreases of the steps */
  double reach;       /* bound on the distance of a candidate from zero */
  double batch_slice; /* of all iterations of a phase on batches */
  int candidate;      /* of a phase on batches */
  /* The last certified point, with its certificate as in the result. */
  int certified, here; /* here: w is that point */
  double *best;
  double certificate[4];
};

static int done(const struct state *s);
static int last_move(struct state *s);
static double freedom(const struct state *s);
static void moved_by(struct state *s, int certified, double length);
static int run_phase(struct state *s, int last_phase);
static void keep_certified(struct state *s);
static void restore_certified(struct state *s);
static int measure_gradient(struct state *s, double rho);
static int second_order(struct state *s, int *moved);
static void accept(struct state *s);
static int measure_hessian(struct state *s, double *value, double *width);
static int gradient_step(struct state *s);
static int curvature_step(struct state *s, double eigenvalue, double guaranteed);
static int walk(struct state *s, struct line_search *search, double short_step, double wanted);
static void arrive(struct state *s);
static double affordable(const struct state *s, double need);

int opt_tight(const struct objective *f, const struct opt_options *o, const struct phase *phases, int count, double *w,
              struct opt_result *result) {
  size_t dim = f->dim, square = f->lower > o->eps_h ? dim * dim : 0;
  struct state s = {.o = o, .w = w, .result = result};
  struct objective on_batch = *f;
  on_batch.batch = &o->batch.sampling;
  double *memory = base_alloc(2 * square + 5 * dim, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  s.gradient = (struct pool){memory, dim, 0, 0, 0};
  s.direction = memory + dim;
  s.best = memory + 2 * dim;
  s.first = (struct pool){memory + 3 * dim, dim, 0, 0, 0};
  s.answer = memory + 4 * dim; /* dim or dim * dim, whichever is asked for */
  s.hessian = (struct pool){memory + 5 * dim + square, square, 0, 0, 0};
  s.headroom = result->gap;
  s.reach = gap_reach(f, result->gap, w);

  int status = BASE_OK;
  for (int i = 0; i < count && status == BASE_OK && !done(&s); i++) {
    struct phase phase = phases[i];
    if (phase.batch && s.candidate) continue;
    s.f = phase.batch ? &on_batch : f;
    if (i > 0 && phases[i - 1].batch) arrive(&s); /* batches released nothing on the full data */
    /* After a certified point the plan need not cover the worst case any more. */
    if (s.certified) {
      phase.iterations = phases[i - 1].iterations;
      pool_reset(&s.gradient); /* because the costs now depend on releases */
    }
    s.phase = &phase;
    result->planned = phase.iterations;
    status = run_phase(&s, i + 1 == count);
    if (status == BASE_ERR_BUDGET) status = BASE_OK; /* this phase is over */
  }
  if (s.certified) restore_certified(&s);
  if (s.steps == 0 && o->spend_all) result->status = OPT_START;
  if (status == BASE_OK && o->spend_all && o->start_curvature > 0) status = last_move(&s);
  base_free(memory);
  return status;
}

/* The posterior distribution is the same whether the costs of measurements depend on earlier ones or not. */
static int last_move(struct state *s) {
  size_t columns = oracle_columns(s->f->oracle), skip = s->f->dim - columns;
  int certified = s->certified && s->steps > 0;
  struct pool *pool = s->steps > 0 ? &s->gradient : &s->first;
  if (pool->count == 0 || (certified && !s->here)) return BASE_OK;
  const struct posterior p = {
      .dim = columns, .sd = pool_sd(pool), .least = s->o->signal, .levels = s->o->signals, .usual = INFINITY};
  la_scale(s->f->dim, -1, pool->mean);
  int status = posterior_mean_scalar(&p, s->o->start_curvature, pool->mean + skip, s->direction);
  if (status != BASE_OK) return status;
  double length = la_norm(columns, s->direction), most = certified ? freedom(s) : length;
  if (length > most) la_scale(columns, most / length, s->direction);
  length = fmin(length, most);
  la_axpy(columns, 1, s->direction, s->w + skip);
  trace_last(&s->result->trace)->step = length;
  moved_by(s, certified, length);
  return BASE_OK;
}

/* How far a certified point may move. */
static double freedom(const struct state *s) {
  const struct opt_result *r = s->result;
  double gradient = fmax(s->o->eps_g - r->gradient_upper, 0) / s->f->smooth;
  double curvature = fmax(r->eigen_lower + s->o->eps_h, 0) / s->f->third;
  return s->f->lower <= s->o->eps_h ? gradient : fmin(gradient, curvature);
}

/* What is known of the gradient and the eigenvalues is known where they were measured. */
static void moved_by(struct state *s, int certified, double length) {
  struct opt_result *r = s->result;
  double upper = r->gradient_upper + s->f->smooth * length, lower = r->eigen_lower - s->f->third * length;
  result_forget(r);
  if (r->eigen_known) r->eigen_lower = -s->f->lower;
  if (certified) {
    r->gradient_upper = upper;
    r->eigen_lower = fmax(lower, -s->f->lower);
  } else {
    r->status = OPT_BUDGET;
  }
}

/* With spend_all a certified point is kept and the run continues from it. */
static int done(const struct state *s) { return s->certified && !s->o->spend_all; }

static int run_phase(struct state *s, int last_phase) {
  const struct opt_options *o = s->o;
  int iterations = s->phase->iterations, both = s->f->lower > o->eps_h;
  s->batch_slice = phase_left(s->f, s->phase) * (both ? 1 - o->hessian_share : 1) / iterations * ALMOST;
  for (s->iteration = 1; s->iteration <= iterations; s->iteration++) {
    double left = phase_left(s->f, s->phase);
    if (!(left > NOTHING_LEFT * s->phase->rho)) break;
    base_progress(s->iteration, iterations);
    /* The cost of a Hessian changes the costs that follow, and whether there was one depends on releases: to keep
     * averages exactly Gaussian, a new average begins. */
    if (s->hessian.precision > 0) pool_reset(&s->gradient);
    s->last = last_phase && s->iteration == iterations;
    /* The budget that a Hessian may need is not spent on gradients; the last gradient takes all the rest. */
    s->slice = left * (both ? 1 - o->hessian_share : 1) / (iterations - s->iteration + 1) * ALMOST;
    int search = o->search != OPT_SHORT_STEP && s->iteration < iterations, moved = 0;
    if (s->phase->batch) s->slice = s->batch_slice;
    int status = measure_gradient(s, search ? s->slice * (1 - o->search_share) : s->slice);
    if (status == BASE_OK && s->result->gradient_upper <= o->eps_g) status = second_order(s, &moved);
    if (status != BASE_OK || done(s) || (s->phase->batch && s->candidate)) return status;
    if (!moved && !s->last) status = gradient_step(s);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

static int measure_gradient(struct state *s, double rho) {
  double sd;
  int status = objective_gradient(s->f, s->w, rho, s->answer, &sd);
  if (status != BASE_OK) return status;
  pool_add(&s->gradient, s->answer, sd, rho);
  if (s->steps == 0 && !s->phase->batch) pool_add(&s->first, s->answer, sd, rho);
  s->result->gradient_norm = la_norm(s->f->dim, s->gradient.mean);
  s->result->gradient_upper = confidence_norm(s->result->gradient_norm, pool_sd(&s->gradient), s->f->dim,
                                              confidence_share(s->phase->beta_g, s->gradient.count));
  struct trace_row row = {s->phase->number,
                          s->iteration,
                          objective_gradient_name(s->f),
                          s->result->gradient_norm,
                          s->result->gradient_upper,
                          pool_sd(&s->gradient),
                          rho,
                          0};
  return trace_add(&s->result->trace, &row);
}

static int second_order(struct state *s, int *moved) {
  struct opt_result *r = s->result;
  if (s->f->lower <= s->o->eps_h) { /* for all data */
    r->eigen_lower = -s->f->lower;
    r->eigen_known = 1;
    accept(s);
    return BASE_OK;
  }
  /* With spend_all Hessians are released for the first and for the last point only. */
  if (s->certified && !s->last) return BASE_OK;
  for (;;) {
    double value, width;
    int status = measure_hessian(s, &value, &width);
    if (status != BASE_OK) return status;
    if (value - width >= -s->o->eps_h) {
      accept(s);
      return BASE_OK;
    }
    if (value + width <= -s->o->eps_h / 3) {
      *moved = 1;
      return curvature_step(s, value, -(value + width));
    }
  }
}

static void accept(struct state *s) {
  if (s->phase->batch) {
    s->candidate = 1;
  } else {
    keep_certified(s);
  }
}

static void keep_certified(struct state *s) {
  const struct opt_result *r = s->result;
  const double certificate[] = {r->gradient_norm, r->gradient_upper, r->eigen_min, r->eigen_lower};
  memcpy(s->certificate, certificate, sizeof certificate);
  memcpy(s->best, s->w, s->f->dim * sizeof(double));
  s->certified = s->here = 1;
}

static void restore_certified(struct state *s) {
  struct opt_result *r = s->result;
  memcpy(s->w, s->best, s->f->dim * sizeof(double));
  r->gradient_norm = s->certificate[0];
  r->gradient_upper = s->certificate[1];
  r->eigen_min = s->certificate[2];
  r->eigen_lower = s->certificate[3];
  r->status = OPT_SOSP;
}

/* As precise as needed to distinguish -eps_h from -eps_h / 3, or as the budget allows. */
static int measure_hessian(struct state *s, double *value, double *width) {
  const struct objective *f = s->f;
  double left = phase_left(f, s->phase), sd;
  if (!(left > NOTHING_LEFT * s->phase->rho)) return BASE_ERR_BUDGET;
  if (s->hessian.count == 0) s->eigen_points++;
  double beta = confidence_share(s->phase->beta_h / pow(s->eigen_points, 2), s->hessian.count + 1);
  double wanted = s->o->eps_h / 3 / confidence_eigen(1, f->dim, beta);
  double rho = fmin(left * pow(objective_sd_hessian(f, s->w, left) / wanted, 2), s->o->hessian_share * left);
  int status = objective_hessian(f, s->w, rho, s->answer, &sd);
  if (status != BASE_OK) return status;
  pool_add(&s->hessian, s->answer, sd, rho);
  status = la_eigen_min(f->dim, s->hessian.mean, value, s->direction);
  if (status != BASE_OK) return status;
  *width = objective_eigen_error(f, pool_sd(&s->hessian), beta);
  s->result->eigen_min = *value;
  s->result->eigen_lower = *value - *width;
  struct trace_row row = {s->phase->number,
                          s->iteration,
                          objective_hessian_name(s->f),
                          *value,
                          *value - *width,
                          pool_sd(&s->hessian),
                          rho,
                          0};
  return trace_add(&s->result->trace, &row);
}

/*
 * A step against the pooled gradient, if it exceeds its noise level. With |g|^2
 * estimated by |g~|^2 - d sd^2, the step that minimises the quadratic upper
 * bound in expectation is 1/G times the ratio of the two.
 */
static int gradient_step(struct state *s) {
  const struct objective *f = s->f;
  double norm = s->result->gradient_norm, sd = pool_sd(&s->gradient);
  double signal = norm * norm - (double)f->dim * sd * sd;
  double noise = sqrt((double)f->dim) * sd;
  /* Measure again here if the gradient is too noisy, may be noise alone, or has more noise than any gradient is long.
   * */
  double longest = confidence_length(sd, f->dim, NOISE_ALONE);
  if (!(signal >= norm * norm / 2) || norm <= longest || noise > f->steepest) return BASE_OK;
  for (size_t i = 0; i < f->dim; i++) s->direction[i] = -s->gradient.mean[i];
  struct line_search search = {.first = s->o->mult_g / f->smooth,
                               .ratio = s->o->back_g,
                               .k = search_candidates(s->o->mult_g, s->o->back_g),
                               .sufficient = 0.25 * signal,
                               .power = 1,
                               .promise = signal,
                               .least = (signal - norm * norm / 2) / f->smooth};
  return walk(s, &search, signal / (norm * norm) / f->smooth, search_noise(search.k, signal / norm));
}

/* A step along the eigenvector, where the curvature is at most -guaranteed (Gao & Wright (7), SD2). */
static int curvature_step(struct state *s, double eigenvalue, double guaranteed) {
  const struct objective *f = s->f;
  if (la_dot(f->dim, s->direction, s->gradient.mean) > 0) la_scale(f->dim, -1, s->direction);
  double short_step = 2 * guaranteed / f->third, least = guaranteed * short_step * short_step / 6;
  struct line_search search = {.first = s->o->mult_h * short_step,
                               .ratio = s->o->back_h,
                               .k = search_candidates(s->o->mult_h, s->o->back_h),
                               .sufficient = 0.125 * fabs(eigenvalue),
                               .power = 2,
                               .least = least};
  return walk(s, &search, short_step, search_noise(search.k, guaranteed * short_step / 6));
}

/* wanted: standard deviation of a decrease, relative to step times the direction's norm. */
static int walk(struct state *s, struct line_search *search, double short_step, double wanted) {
  const struct objective *f = s->f;
  struct found found = {0};
  search->kind = s->o->search;
  search->rho = search->kind == OPT_SHORT_STEP ? 0 : affordable(s, wanted);
  search->error = confidence_share(1 - s->o->confidence, s->steps + 1);
  search->gap = s->headroom;
  search->reach = s->reach;
  if (search->kind != OPT_SVT) search->sufficient = 0;
  if (search->rho > 0) {
    int status = search_run(f, search, s->w, s->direction, &found);
    struct trace_row row = {s->phase->number, s->iteration, "line search", found.decrease,
                            found.bound,      found.sd,     found.rho,     0};
    if (status == BASE_OK && found.rho > 0) status = trace_add(&s->result->trace, &row);
    if (status != BASE_OK) return status;
  }
  double step = found.step > 0 ? found.step : short_step;
  la_axpy(f->dim, step, s->direction, s->w);
  trace_last(&s->result->trace)->step = step * la_norm(f->dim, s->direction);
  s->headroom -= fmax(found.bound, 0); /* the bound is NaN or negative where no decrease is known */
  s->steps++;
  arrive(s);
  return BASE_OK;
}

/* Begins at a point where nothing was measured. */
static void arrive(struct state *s) {
  pool_reset(&s->gradient);
  pool_reset(&s->hessian);
  result_forget(s->result);
  s->here = 0;
}

/* Cost of a gradient with this sd (a decrease's sd relative to step times
 * norm is the same multiple of 2 L / n), at most a fraction of the cost of finding the
 * direction; zero if that would leave five times the noise. A choice by
 * the exponential mechanism is useful only where its noise is small relative to
 * the decrease by the shortest step: it takes everything. */
static double affordable(const struct state *s, double wanted) {
  double share = s->o->search_share, most = s->gradient.rho * share / (1 - share);
  most = fmin(most, share * phase_left(s->f, s->phase));
  if (!(most > 0)) return 0;
  double need = most * pow(objective_sd_all(s->f, &query_gradient, s->w, most) / wanted, 2);
  if (need > 25 * most) return 0;
  return s->o->search == OPT_EXPONENTIAL ? most : fmin(need, most);
}
