/*
 * The steps of Newton's method.
 *
 * Double noise: w <- w - A^-1 g~ + noise, A the curvature with eigenvalues
 * modified by lambda0 (Ganesh et al. 2023, section 5.2; proofs: sensitivity-direction, newton-damping).
 * With a larger lambda0 the direction's noise falls as lambda0^-4 and so does
 * the progress along small eigenvalues: lambda0^3 = scale tr(H) (b / n)^2 / rho,
 * rho the direction's cost, balances the two; the trace is released for it.
 *
 * Noisy matrix: w <- w - step B^-1 g~, where B is a curvature matrix released
 * with symmetric Gaussian noise (proofs: symmetric-noise) and repaired: eigenvalues
 * e, which the noise moves by at most about sqrt(2 d) sd, become max(e, 0) +
 * lambda0 or max(e, lambda0). For a Hessian of each step lambda0 = scale
 * sqrt(2 d) sd. All of it is post-processing.
 *
 * With one matrix for T steps, a direction whose curvature lambda is well below
 * lambda0 / T is not fitted, and the noise in a direction above it is about s / lambda,
 * where s is the noise of one gradient that takes the whole budget of the steps.
 * Fitting a direction pays where the gradient along it, lambda |w*_j|, exceeds s: lambda0
 * = scale T s sqrt(d), with 1 / scale the expected norm of w*, and at least
 * sqrt(2 d) sd, which keeps the steps below the majorant's inverse. More steps
 * then cost time, not accuracy.
 *
 * The size of w* depends on the data. An adaptive lambda0 starts with a small norm and is halved, at most once in each
 * twelfth of the run, while the mean of the gradients exceeds its noise level where lambda0 damps the steps, that is in
 * the coordinates with weights lambda0 / (e + lambda0). This uses released gradients only.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

/* Bound on the norm of the iterates. Beyond it the rounding of the next direction would have no useful bound, and the
 * noise of a step with a small lambda0 may be as long. */
#define LONGEST 1e6
/* Candidate steps 1, 1/4 and 1/16 of a damped iteration. */
#define DAMPED_CANDIDATES 3
#define NOISE_SHARE 0.25
/* How often an adaptive lambda0 is tested, and by how many standard deviations a sum of squares must exceed its mean
 * under pure noise (inst/experiments/convex-rule.R). More tests help with strong signals, and fit noise otherwise. */
#define WINDOWS 12
#define LEVEL 2

static int double_noise(struct newton *s, double rho);
static int adaptive_lambda0(struct newton *s, enum curvature curvature, double rho, double rho_direction,
                            double *lambda0);
static int noisy_matrix(struct newton *s, double rho);
static int ask_matrix(struct newton *s, double rho, double *sd);
static double min_eigenvalue(const struct newton *s, double sd);
static int invert(struct newton *s, double sd);
static void fill_inverse(struct newton *s);
static void adapt(struct newton *s);
static void precondition(struct newton *s);
static int damped_step(struct newton *s, double rho, double *step);
static double safe_step(const struct newton *s);
static int note(struct newton *s, const char *query, double estimate, double bound, double sd, double rho);
static int lazy(const struct newton_options *o) { return o->curvature == NEWTON_LAZY; }
static double search_share(const struct newton_options *o) { return o->damped ? o->search_share : 0; }

double newton_gradient_share(const struct newton_options *o) {
  return (1 - search_share(o)) * (1 - (lazy(o) ? 0 : o->curvature_share));
}

int newton_prepare(struct newton *s, double rho) { return lazy(s->o) ? noisy_matrix(s, rho) : BASE_OK; }

int newton_step(struct newton *s, double slice) {
  const struct newton_options *o = s->o;
  double rho = slice * (1 - search_share(o)) * o->curvature_share, step = 1;
  if (s->f->batch) rho = objective_step_left(s->f);
  int status = BASE_OK;
  if (!s->vectors) {
    status = double_noise(s, rho);
  } else {
    if (!lazy(o)) status = noisy_matrix(s, rho);
    if (status == BASE_OK) precondition(s);
    if (status == BASE_OK && lazy(o) && o->adaptive && isnan(o->lambda0)) adapt(s);
  }
  if (status == BASE_OK && o->damped) status = damped_step(s, slice * o->search_share, &step);
  double length = step * la_norm(s->f->dim, s->direction);
  if (status != BASE_OK || !(la_norm(s->f->dim, s->w) + length <= LONGEST)) return status;
  la_axpy(s->f->dim, -step, s->direction, s->w);
  trace_last(&s->result->trace)->step = length;
  return BASE_OK;
}

static int double_noise(struct newton *s, double rho) {
  const struct newton_options *o = s->o;
  struct modified matrix = {.modify = o->modify, .lambda0 = o->lambda0, .penalty = s->penalty};
  const struct ask ask = {.at = s->w,
                          .along = s->gradient,
                          .curvature = o->curvature == NEWTON_QU ? CURVATURE_MAJORANT : CURVATURE_HESSIAN,
                          .matrix = &matrix};
  double sd;
  if (isnan(o->lambda0)) {
    double whole = rho;
    rho = (1 - o->trace_share) * whole;
    int status = adaptive_lambda0(s, ask.curvature, o->trace_share * whole, rho, &matrix.lambda0);
    if (status != BASE_OK) return status;
  }
  int status = objective_step_direction(s->f, &ask, rho, s->direction, &sd);
  if (status != BASE_OK) return status;
  return note(s, objective_direction_name(s->f), la_norm(s->f->dim, s->direction), NAN, sd, rho);
}

/*
 * The cube root is the paper's rule and 1 / n its least value; it assumes a gradient along eigenvalues near
 * lambda0. For a gradient along large eigenvalues the decrease may be only |g|^2 / (2 tr), and the direction's noise,
 * tr / 2 times its variance (c / lambda0^2 |g|)^2 / (2 rho), must stay below NOISE_SHARE times that: lambda0^2 >= c tr
 * / sqrt(2 NOISE_SHARE rho). Without this condition runs with large budgets diverge.
 */
static int adaptive_lambda0(struct newton *s, enum curvature curvature, double rho, double rho_direction,
                            double *lambda0) {
  double n = objective_rows(s->f), c = oracle_smoothness(s->f->oracle) / n, trace, sd;
  int status = objective_step_trace(s->f, s->w, curvature, rho, &trace, &sd);
  if (status != BASE_OK) return status;
  double positive = fmax(trace, 0), descent = sqrt(c * positive / sqrt(2 * NOISE_SHARE * rho_direction));
  *lambda0 = fmax(fmax(cbrt(s->o->lambda_scale * positive * c * c / rho_direction), descent), 1 / n);
  return note(s, objective_trace_name(s->f), trace, trace + base_qnorm(s->o->confidence) * sd, sd, rho);
}

static int noisy_matrix(struct newton *s, double rho) {
  double sd;
  int status = ask_matrix(s, rho, &sd);
  if (status == BASE_OK) status = note(s, lazy(s->o) ? "majorant" : objective_hessian_name(s->f), NAN, NAN, sd, rho);
  return status == BASE_OK ? invert(s, sd) : status;
}

/* Lazy: the quadratic upper bound at zero, whatever the start is, on the full data. */
static int ask_matrix(struct newton *s, double rho, double *sd) {
  const struct objective *f = s->f;
  if (!lazy(s->o)) return objective_step_hessian(f, s->w, rho, s->vectors, sd);
  memset(s->direction, 0, f->dim * sizeof(double));
  const struct ask ask = {.at = s->direction};
  const struct answer to = {.value = s->vectors, .sd = sd};
  int status = release(oracle_all(f->oracle), &query_majorant, &ask, rho, to);
  for (size_t j = 0; j < f->dim; j++) s->vectors[j + j * f->dim] += s->penalty[j];
  return status;
}

static double min_eigenvalue(const struct newton *s, double sd) {
  const struct newton_options *o = s->o;
  double root = sqrt((double)s->f->dim), noise = sqrt(2) * root * sd;
  if (!lazy(o)) return o->lambda_scale * noise;
  double gradient = objective_sd_gradient(s->f, s->w, s->steps_rho / o->iterations, 1);
  if (!isfinite(gradient)) return noise; /* the step cannot be opened; opening it will report why */
  return fmax(o->lambda_scale * sqrt(o->iterations) * gradient * root, noise);
}

static int invert(struct newton *s, double sd) {
  const struct newton_options *o = s->o;
  size_t dim = s->f->dim;
  s->lambda0 = isnan(o->lambda0) ? min_eigenvalue(s, sd) : o->lambda0;
  s->least = sqrt(2 * (double)dim) * sd;
  int status = la_eigen_all(dim, s->vectors, s->value);
  if (status != BASE_OK) return status;
  struct trace_row *row = trace_last(&s->result->trace);
  row->estimate = s->value[0];
  row->bound = s->value[0] - objective_eigen_error(s->f, sd, 1 - o->confidence);
  fill_inverse(s);
  return BASE_OK;
}

static void fill_inverse(struct newton *s) {
  for (size_t j = 0; j < s->f->dim; j++) {
    double e = s->value[j];
    s->inverse[j] = 1 / (s->o->modify == MODIFY_ADD ? fmax(e, 0) + s->lambda0 : fmax(e, s->lambda0));
  }
}

/* A weighted sum of squares of independent normal coordinates has mean v sum a and variance 2 v^2 sum a^2. */
static void adapt(struct newton *s) {
  size_t dim = s->f->dim;
  la_axpy(dim, 1, s->gradient, s->window);
  s->window_variance += s->sd * s->sd;
  if (++s->looks * WINDOWS < s->o->iterations) return;
  double seen = 0, mean = 0, squares = 0;
  for (size_t j = 0; j < dim; j++) {
    double part = s->lambda0 * s->inverse[j], a = part * part, along = la_dot(dim, s->vectors + j * dim, s->window);
    seen += a * along * along;
    mean += a;
    squares += a * a;
  }
  if (seen > s->window_variance * (mean + LEVEL * sqrt(2 * squares))) {
    s->lambda0 = fmax(s->lambda0 / 2, fmin(s->lambda0, s->least));
    fill_inverse(s);
  }
  memset(s->window, 0, dim * sizeof(double));
  s->window_variance = 0;
  s->looks = 0;
}

/* direction <- V diag(inverse) V' gradient, one column at a time */
static void precondition(struct newton *s) {
  size_t dim = s->f->dim;
  memset(s->direction, 0, dim * sizeof(double));
  for (size_t j = 0; j < dim; j++) {
    const double *vector = s->vectors + j * dim;
    la_axpy(dim, s->inverse[j] * la_dot(dim, vector, s->gradient), vector, s->direction);
  }
}

/* Chosen by the decreases at the candidates; if no decrease is significant, the step of the smoothness constant. */
static int damped_step(struct newton *s, double rho, double *step) {
  struct line_search search = {.kind = OPT_GAUSSIAN,
                               .first = 1,
                               .ratio = 0.25,
                               .k = DAMPED_CANDIDATES,
                               .rho = rho,
                               .error = confidence_share(1 - s->o->confidence, s->iteration),
                               .gap = s->gap,
                               .promise = la_dot(s->f->dim, s->gradient, s->direction) / 2,
                               .reach = s->reach};
  struct found found;
  la_scale(s->f->dim, -1, s->direction);
  int status = search_run(s->f, &search, s->w, s->direction, &found);
  la_scale(s->f->dim, -1, s->direction);
  if (status != BASE_OK) return status;
  *step = found.step > 0 ? found.step : safe_step(s);
  if (!(found.rho > 0)) return BASE_OK;
  return note(s, "line search", found.decrease, found.bound, found.sd, found.rho);
}

/* Minimises, along the direction, the upper bound with curvature G for the measured gradient. */
static double safe_step(const struct newton *s) {
  size_t dim = s->f->dim;
  double slope = la_dot(dim, s->gradient, s->direction), length = la_norm(dim, s->direction);
  return length > 0 ? fmin(1, slope / (s->f->smooth * length * length)) : 0;
}

/* For a step on a batch the gradient's row has the whole cost. */
static int note(struct newton *s, const char *query, double estimate, double bound, double sd, double rho) {
  if (s->f->batch && !lazy(s->o)) rho = 0;
  struct trace_row row = {1, s->iteration, query, estimate, bound, sd, rho, 0};
  return trace_add(&s->result->trace, &row);
}
