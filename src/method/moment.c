/*
 * Newton's method for a loss of several outputs, with one matrix for all of them and for all steps.
 *
 * At every point the Hessian is at most b (I - 11'/K) (x) S, S = (1/n) sum z_i z_i' the second moments of the rows
 * (proofs: majorant-several). S is released once, with as many numbers whatever K is; then each of T steps releases a
 * gradient, every record's part clipped to a public norm, and moves by
 *
 *   W <- W - (b S~ + penalty + r I)^-1 G~,   S~ the released matrix, W and G~ with a column for each output.
 *
 * All of it is post-processing. The LEADING largest eigenvalues of S~ are used as they are (negative ones as zero); the
 * others, which are mostly noise, are replaced by their mean, which follows from the trace. r follows from the noise
 * that T steps leave in a predictor: a variance of NOISE^2, for a row with these second moments,
 *
 * and at least REPAIR b times the expected norm of the matrix's noise, which keeps steps stable. Clipped
 * gradients certify nothing, so all steps are taken; the last gradient, not clipped, is the certificate.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

/* Constants: the first two were chosen on images, the last is the smallest that was stable in all runs there. */
#define LEADING 100
#define NOISE 2
#define REPAIR 0.25
/* Bound on the norm of the iterates. */
#define LONGEST 1e6

struct moment {
  const struct objective *f;
  const struct moment_options *o;
  struct opt_result *result;
  size_t side, leading; /* coefficients of an output; number of eigenvalues used as they are */
  double *w;
  double *gradient, *direction;
  double *vectors, *value; /* eigenvectors and eigenvalues of b S~ + penalty, in ascending order */
  double rest;             /* replaces the other eigenvalues */
  double r;
};

static int prepare(struct moment *s, double rho, double rho_step);
static double damping(const struct moment *s, double sd, double rho_step);
static double predicted_noise(const struct moment *s, double r);
static int step(struct moment *s, int iteration, double rho);
static void precondition(struct moment *s);
static int certify(struct moment *s, double rho);

static int moment_run(struct oracle *oracle, const struct penalty *penalty, const struct moment_options *o, double rho,
                      double *w, struct opt_result *result) {
  struct objective f;
  int status = result_init_convex(result, o->iterations, oracle, penalty, &f);
  if (status != BASE_OK) return status;
  size_t side = f.dim / oracle_outputs(oracle);
  double *memory = base_alloc(side * (side + 1) + 2 * f.dim, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  struct moment s = {.f = &f, .o = o, .result = result, .side = side, .w = w};
  s.leading = side < LEADING ? side : LEADING;
  s.vectors = memory;
  s.value = memory + side * side;
  s.gradient = s.value + side;
  s.direction = s.gradient + f.dim;
  double end = fmax(oracle_left(oracle) - rho, 0), steps = (1 - o->certificate_share) * rho;
  double slice = (1 - o->curvature_share) * steps / o->iterations * ALMOST;
  status = prepare(&s, o->curvature_share * steps, slice);
  for (int t = 1; status == BASE_OK && t <= o->iterations; t++) {
    base_progress(t, o->iterations + 1);
    status = step(&s, t, slice);
  }
  if (status == BASE_OK) status = certify(&s, (oracle_left(oracle) - end) * ALMOST);
  base_free(memory);
  return status;
}

static double moment_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct moment_options *o,
                                   double rho, const double *w) {
  (void)penalty;
  (void)w;
  double sd = release_sd(oracle_all(oracle), &query_gradient, &(struct ask){0}, o->certificate_share * rho);
  return confidence_target(0, sd, oracle_dim(oracle), 1 - o->confidence, oracle_lipschitz(oracle));
}

/* ---- the matrix ---- */

static int prepare(struct moment *s, double rho, double rho_step) {
  size_t side = s->side;
  double b = oracle_smoothness(s->f->oracle), sd, trace = 0, sum = 0;
  const struct ask none = {.at = NULL};
  int status =
      release(oracle_all(s->f->oracle), &query_second_moments, &none, rho, (struct answer){s->vectors, &sd, NULL});
  if (status != BASE_OK) return status;
  struct trace_row row = {1, 0, "second moments", NAN, NAN, sd, rho, 0};
  status = trace_add(&s->result->trace, &row);
  if (status != BASE_OK) return status;
  la_scale(side * side, b, s->vectors);
  memset(s->value, 0, side * sizeof(double));
  penalty_add_diagonal(s->f->penalty, side, s->w, s->value); /* of a convex penalty: the same everywhere */
  for (size_t j = 0; j < side; j++) trace += s->vectors[j + j * side] += s->value[j];
  status = la_eigen_released(side, s->vectors, s->value);
  if (status != BASE_OK) return status;
  for (size_t j = side - s->leading; j < side; j++) sum += s->value[j] = fmax(s->value[j], 0);
  s->rest = side > s->leading ? fmax(trace - sum, 0) / (double)(side - s->leading) : 0;
  s->r = damping(s, sd, rho_step);
  return BASE_OK;
}

/* The smallest r that leaves at most the noise NOISE and repairs the matrix. Searched between two powers of ten: if
 * even the larger leaves more noise, no step is worth taking. */
static double damping(const struct moment *s, double sd, double rho_step) {
  const struct objective *f = s->f;
  const struct ask ask = {.at = s->w, .clip = s->o->clip};
  double noise = release_sd(oracle_all(f->oracle), &query_clipped_gradient, &ask, rho_step);
  double wanted = NOISE * NOISE / (s->o->iterations * noise * noise), low = 1e-12, high = 1e12;
  for (int i = 0; i < 100; i++) {
    double middle = sqrt(low * high);
    if (predicted_noise(s, middle) > wanted) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return fmax(high, REPAIR * oracle_smoothness(f->oracle) * sqrt(2 * (double)s->side) * sd);
}

/* Noise of steps with this r and a gradient's noise of one. The penalty is included as if it came from rows. */
static double predicted_noise(const struct moment *s, double r) {
  double b = oracle_smoothness(s->f->oracle), others = (double)(s->side - s->leading);
  double sum = others * s->rest / ((s->rest + r) * (s->rest + r));
  for (size_t j = s->side - s->leading; j < s->side; j++) sum += s->value[j] / ((s->value[j] + r) * (s->value[j] + r));
  return sum / b;
}

/* ---- steps ---- */

static int step(struct moment *s, int iteration, double rho) {
  const struct objective *f = s->f;
  const struct ask ask = {.at = s->w, .clip = s->o->clip};
  double sd;
  int status =
      release(oracle_all(f->oracle), &query_clipped_gradient, &ask, rho, (struct answer){s->gradient, &sd, NULL});
  if (status != BASE_OK) return status;
  penalty_add_gradient(f->penalty, f->dim, s->w, s->gradient);
  precondition(s);
  double length = la_norm(f->dim, s->direction);
  int moves = la_norm(f->dim, s->w) + length <= LONGEST;
  if (moves) la_axpy(f->dim, -1, s->direction, s->w);
  struct trace_row row = {1,  iteration, "clipped gradient", la_norm(f->dim, s->gradient), NAN,
                          sd, rho,       moves ? length : 0};
  return trace_add(&s->result->trace, &row);
}

/* direction <- G / (rest + r) + sum_j u_j (1 / (e_j + r) - 1 / (rest + r)) u_j'G, for each output */
static void precondition(struct moment *s) {
  size_t side = s->side;
  double others = 1 / (s->rest + s->r);
  for (size_t start = 0; start < s->f->dim; start += side) {
    const double *g = s->gradient + start;
    double *d = s->direction + start;
    memset(d, 0, side * sizeof(double));
    la_axpy(side, others, g, d);
    for (size_t j = side - s->leading; j < side; j++) {
      const double *u = s->vectors + j * side;
      la_axpy(side, (1 / (s->value[j] + s->r) - others) * la_dot(side, u, g), u, d);
    }
  }
}

static int certify(struct moment *s, double rho) {
  const struct objective *f = s->f;
  struct opt_result *result = s->result;
  double sd;
  int status = objective_gradient(f, s->w, rho, s->gradient, &sd);
  if (status != BASE_OK) return status;
  result->gradient_norm = la_norm(f->dim, s->gradient);
  result->gradient_upper = confidence_norm(result->gradient_norm, sd, f->dim, 1 - s->o->confidence);
  if (result->gradient_upper <= s->o->eps_g) result->status = OPT_SOSP;
  struct trace_row row = {2, 1, "gradient", result->gradient_norm, result->gradient_upper, sd, rho, 0};
  return trace_add(&result->trace, &row);
}

static const struct field moment_fields[] = {
    FIELD(moment_options, COUNT, iterations),
    FIELD(moment_options, NUMBER, eps_g),
    FIELD(moment_options, NUMBER, confidence),
    FIELD(moment_options, NUMBER, curvature_share),
    FIELD(moment_options, NUMBER, certificate_share),
    FIELD(moment_options, NUMBER, clip),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(moment)
