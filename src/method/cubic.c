/*
 * Newton's method with cubic regularisation for convex objectives (Nesterov & Polyak 2006; private: Ganesh et al. 2023,
 * algorithms 1 and 2, with another scale of the noise; proofs: sensitivity-model). With M the Lipschitz constant of the
 * Hessian
 *
 *   phi(v) = g'v + v'Hv / 2 + (M / 6) |v|^3 >= f(w + v) - f(w)
 *
 * is minimised over a ball around zero that contains w + v.
 *
 * Direct: g and H are released, H with symmetric Gaussian noise E (proofs: symmetric-noise). |E| is about
 * e = sqrt(2 d) sd, and with H + E + e I the model remains an upper bound; it is minimised exactly (la_cubic), which is
 * post-processing, and the result is projected.
 *
 * Inner steps: the published solver releases the gradient of phi at each of its N points, g + H v, with noise
 * proportional to its sensitivity at |v| (printed with the diameter for |v| and without 1 / n), and takes steps of 2 /
 * (m (i + 2)), with m the strong convexity of the penalty. Its mean has weights 2 (i + 1) / (N (N + 1)); the printed
 * weights 2 i do not sum to one.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

struct cubic {
  const struct objective *f;
  const struct cubic_options *o;
  struct opt_result *result;
  int iteration;
  double strong;                                  /* m */
  double *w, *gradient, *step, *point, *mean, *h; /* h: NULL with inner steps */
};

static int iterate(struct cubic *s, double end, double rho);
static int measure(struct cubic *s, double rho, double *sd);
static int direct_step(struct cubic *s, double rho);
static int inner_steps(struct cubic *s, double rho);
static int model_gradient(struct cubic *s, double rho, double *sd);
static void project(const struct cubic *s, double *point);
static int note(struct cubic *s, const char *query, double estimate, double bound, double sd, double rho);
static int certified(const struct cubic *s) { return s->result->gradient_upper <= s->o->eps_g; }

int cubic_run(struct oracle *oracle, const struct penalty *penalty, const struct cubic_options *options, double rho,
              double *w, struct opt_result *result) {
  struct objective f;
  int status = result_init_convex(result, options->iterations, oracle, penalty, &f);
  if (status != BASE_OK) return status;
  int strong = penalty->kind == PENALTY_RIDGE && penalty->skip == 0 && penalty->lambda > 0;
  if (options->inner > 0 && !(strong && isfinite(options->diameter))) return BASE_ERR_ARGUMENT;
  double *memory = base_alloc(f.dim * (4 + (options->inner ? 0 : f.dim)), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  struct cubic s = {.f = &f, .o = options, .result = result, .w = w, .strong = strong ? penalty->lambda : 0};
  s.gradient = memory;
  s.step = memory + f.dim;
  s.point = memory + 2 * f.dim;
  s.mean = memory + 3 * f.dim;
  s.h = options->inner ? NULL : memory + 4 * f.dim;
  status = iterate(&s, fmax(oracle_left(oracle) - rho, 0), rho);
  base_free(memory);
  return status;
}

double cubic_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct cubic_options *options,
                           double rho, const double *w) {
  const struct newton_options like = {.curvature = NEWTON_DIRECT,
                                      .spend_all = 1,
                                      .iterations = options->iterations,
                                      .confidence = options->confidence,
                                      .curvature_share = options->hessian_share,
                                      .certificate_share = options->certificate_share};
  return newton_default_alpha(oracle, penalty, &like, rho, w);
}

static int iterate(struct cubic *s, double end, double rho) {
  const struct cubic_options *o = s->o;
  double last = o->certificate_share * rho, sd;
  project(s, s->w);
  for (s->iteration = 1; s->iteration <= o->iterations; s->iteration++) {
    base_progress(s->iteration, o->iterations + 1);
    double slice = (oracle_left(s->f->oracle) - end - last) / (o->iterations - s->iteration + 1) * ALMOST;
    int status = o->inner ? inner_steps(s, slice) : direct_step(s, slice);
    if (status != BASE_OK || s->result->status == OPT_SOSP) return status;
  }
  int status = measure(s, (oracle_left(s->f->oracle) - end) * ALMOST, &sd);
  if (status == BASE_OK && certified(s)) s->result->status = OPT_SOSP;
  return status;
}

/* All points that may end a run share the error probability. */
static int measure(struct cubic *s, double rho, double *sd) {
  struct opt_result *r = s->result;
  double beta = (1 - s->o->confidence) / (s->o->spend_all || s->o->inner ? 1 : s->o->iterations + 1);
  int status = objective_gradient(s->f, s->w, rho, s->gradient, sd);
  if (status != BASE_OK) return status;
  r->gradient_norm = la_norm(s->f->dim, s->gradient);
  r->gradient_upper = confidence_norm(r->gradient_norm, *sd, s->f->dim, beta);
  return note(s, "gradient", r->gradient_norm, r->gradient_upper, *sd, rho);
}

static int direct_step(struct cubic *s, double rho) {
  size_t dim = s->f->dim;
  double sd, dual, lowest;
  int status = measure(s, (1 - s->o->hessian_share) * rho, &sd);
  if (status != BASE_OK) return status;
  if (!s->o->spend_all && certified(s)) {
    s->result->status = OPT_SOSP;
    return BASE_OK;
  }
  s->result->gradient_norm = s->result->gradient_upper = NAN;
  status = objective_hessian(s->f, s->w, s->o->hessian_share * rho, s->h, &sd);
  if (status != BASE_OK) return status;
  double noise = sqrt(2 * (double)dim) * sd;
  for (size_t j = 0; j < dim; j++) s->h[j + j * dim] += noise;
  status = la_cubic(dim, s->h, s->gradient, s->f->third, s->step, &dual, &lowest);
  if (status != BASE_OK) return status;
  la_axpy(dim, 1, s->step, s->w);
  project(s, s->w);
  double lower = lowest - noise - objective_eigen_error(s->f, sd, 1 - s->o->confidence);
  status = note(s, "hessian", lowest - noise, lower, sd, s->o->hessian_share * rho);
  if (status == BASE_OK) trace_last(&s->result->trace)->step = la_norm(dim, s->step);
  return status;
}

static int inner_steps(struct cubic *s, double rho) {
  size_t dim = s->f->dim;
  double count = s->o->inner, sd;
  memset(s->mean, 0, dim * sizeof(double));
  memcpy(s->point, s->w, dim * sizeof(double));
  for (int i = 0; i < s->o->inner; i++) {
    la_axpy(dim, 2 * (i + 1) / (count * (count + 1)), s->point, s->mean);
    if (i + 1 == s->o->inner) break; /* no point after the last would be used */
    int status = model_gradient(s, rho / (count - 1), &sd);
    if (status != BASE_OK) return status;
    double length = 2 / (s->strong * (i + 2));
    la_axpy(dim, -length, s->gradient, s->point);
    project(s, s->point);
    status = note(s, "model gradient", la_norm(dim, s->gradient), NAN, sd, rho / (count - 1));
    if (status != BASE_OK) return status;
  }
  memcpy(s->w, s->mean, dim * sizeof(double));
  return BASE_OK;
}

/* The gradient of phi at point - w. */
static int model_gradient(struct cubic *s, double rho, double *sd) {
  size_t dim = s->f->dim;
  memcpy(s->step, s->point, dim * sizeof(double));
  la_axpy(dim, -1, s->w, s->step);
  const struct ask ask = {.at = s->w, .along = s->step};
  const struct answer to = {.value = s->gradient, .sd = sd};
  int status = release(oracle_all(s->f->oracle), &query_model_gradient, &ask, rho, to);
  if (status != BASE_OK) return status;
  penalty_add_gradient(s->f->penalty, dim, s->point, s->gradient); /* a ridge penalty is its own model */
  la_axpy(dim, s->f->third / 2 * la_norm(dim, s->step), s->step, s->gradient);
  return BASE_OK;
}

static void project(const struct cubic *s, double *point) {
  double norm = la_norm(s->f->dim, point), radius = s->o->diameter / 2;
  if (norm > radius) la_scale(s->f->dim, radius / norm, point);
}

static int note(struct cubic *s, const char *query, double estimate, double bound, double sd, double rho) {
  struct trace_row row = {1, s->iteration, query, estimate, bound, sd, rho, 0};
  return trace_add(&s->result->trace, &row);
}

static const struct field cubic_fields[] = {
    FIELD(cubic_options, COUNT, inner),
    FIELD(cubic_options, COUNT, iterations),
    FIELD(cubic_options, FLAG, spend_all),
    FIELD(cubic_options, NUMBER, diameter),
    FIELD(cubic_options, NUMBER, eps_g),
    FIELD(cubic_options, NUMBER, confidence),
    FIELD(cubic_options, NUMBER, hessian_share),
    FIELD(cubic_options, NUMBER, certificate_share),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(cubic)
