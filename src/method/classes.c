/*
 * Newton's method for a loss of several outputs, of weighted rows in coordinates of their own, with one matrix of rows
 * and one of classes.
 *
 *   matrix      M, of the weighted rows, is released and shrunk by posterior_matrix().
 *   directions  At the start all rows have the same probabilities q, and the Hessian is C (x) M, C = diag(q) - q q'
 *               (proofs: classes-hessian). With l_k and b_k the eigenvalues and eigenvectors of C, it consists of K - 1
 *               blocks l_k M, one for each direction b_k of the classes. The direction 1 changes no probability.
 *   steps       In direction k the coefficients u_k = W b_k move by -(l_k M + a_k I)^-1 G b_k, T steps, G the mean of
 *               the records' slopes, clipped and with noise. W and G have a column for each class.
 *   solution    The mean of the last iterates is the start plus f_j times the distance x_j to the minimum, plus noise,
 *               in each coordinate j of an eigenvector of M and in each direction. The solution is the start plus the
 *               mean of x given this mean (attenuated.c).
 *
 * a_k = max(T s sqrt(d) / (16 reach), least l_k |noise of M|), with s the noise of one gradient that has the whole
 * budget of the steps, and larger until the variance of the predictors of direction k is at most iterate_variance, and
 * iterate_loss / l_k, so that it costs a loss of at most half of iterate_loss. As in ridge.c, with m the eigenvalues of
 * M and e = l_k m / a_k, it is
 *
 *   sum m s^2 T / (a_k^2 e (2 + e)) (1 - (1 + e)^(-2 T)).
 *
 * In a quadratic model a step leaves the part r = 1 / (1 + e) of a distance. With N the number of the last iterates and
 * F = T - N, the mean of these, of which the first is that before step F + 1, has
 *
 *   f = 1 - (r^F - r^T) / (N (1 - r)),   noise s^2 T sum_l c_l^2,   c_l = r^(L - l) (1 - r^(T - L)) / (N l_k m),
 *
 * L = max(F, l), and the sampling error f^2 / (n l_k m). x_j has a prior variance in proportion to those of the
 * coordinates that the eigenvector has, such that predictors have the variance t^2; that of the intercept is that of
 * a predictor of variance one.
 *
 * Clipped slopes certify nothing: the gradient at the solution is not clipped. Everything but the releases is
 * post-processing, on which accuracy rests, not privacy.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define LEAST 1e-9 /* of curvatures, which rounding could leave without a sign; also relative to what is added */

struct run {
  struct objective f;
  const struct classes_options *o;
  struct opt_result *result;
  size_t side, classes;
  double s;               /* see above */
  double *w, *start, *mean, *gradient, *rotated, *moved;
  double *matrix, *value; /* M: its eigenvectors, one a column, and its eigenvalues */
  double matrix_noise;    /* about the spectral norm of the noise of M */
  double *direction, *curvature; /* b_k, one a column, and l_k, in ascending order: the first is that of 1 */
  double *added;          /* a_k */
};

static int allocate(struct run *r, double **memory);
static int prepare(struct run *r, double rho);
static int find_directions(struct run *r);
static double damping(const struct run *r, double curvature);
static double iterate_variance(const struct run *r, double curvature, double added);
static int take_steps(struct run *r, double rho);
static void precondition(struct run *r);
static int finish(struct run *r);
static int certify(struct run *r, double rho);

static int classes_fit(struct run *r, double rho) {
  const struct classes_options *o = r->o;
  double last = o->certificate_share * rho, matrix = o->matrix_share * (rho - last);
  double steps = (rho - last - matrix) * ALMOST;
  const struct ask ask = {.at = r->w, .clip = o->clip};
  r->s = release_sd(oracle_all(r->f.oracle), &query_class_gradient, &ask, steps);
  int status = prepare(r, matrix);
  if (status == BASE_OK) status = find_directions(r);
  if (status == BASE_OK) status = take_steps(r, steps);
  if (status == BASE_OK) status = finish(r);
  return status == BASE_OK ? certify(r, last * ALMOST) : status;
}

int classes_run(struct oracle *oracle, const struct penalty *penalty, const struct classes_options *options, double rho,
                double *w, struct opt_result *result) {
  struct run r = {.o = options, .result = result, .w = w};
  int status = result_init_convex(result, options->iterations, oracle, penalty, &r.f);
  if (status == BASE_OK && (oracle_outputs(oracle) < 2 || !oracle_prior(oracle) || oracle_constant(oracle) == 0)) {
    status = BASE_ERR_ARGUMENT;
  }
  if (status != BASE_OK) return status;
  double *memory;
  status = allocate(&r, &memory);
  if (status == BASE_OK) status = classes_fit(&r, rho);
  base_free(memory);
  return status;
}

double classes_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                             const struct classes_options *options, double rho, const double *w) {
  struct objective f;
  objective_init(&f, oracle, penalty);
  double sd = objective_sd_all(&f, &query_gradient, w, options->certificate_share * rho);
  return 2 * confidence_norm(sqrt((double)f.dim) * sd, sd, f.dim, 1 - options->confidence);
}

static int allocate(struct run *r, double **memory) {
  size_t dim = r->f.dim, classes = r->classes = oracle_outputs(r->f.oracle), side = r->side = dim / classes;
  double *next = *memory = base_alloc(5 * dim + side * (side + 1) + classes * (classes + 2), sizeof(double));
  if (!next) return BASE_ERR_MEMORY;
  double **const vectors[] = {&r->start, &r->mean, &r->gradient, &r->rotated, &r->moved};
  for (size_t i = 0; i < 5; i++, next += dim) *vectors[i] = next;
  r->matrix = next;
  r->value = next + side * side;
  r->direction = r->value + side;
  r->curvature = r->direction + classes * classes;
  r->added = r->curvature + classes;
  memcpy(r->start, r->w, dim * sizeof(double));
  return BASE_OK;
}

/* ---- the matrices ---- */

static int prepare(struct run *r, double rho) {
  size_t side = r->side;
  double sd, least;
  const struct answer to = {.value = r->matrix, .sd = &sd};
  int status = release(oracle_all(r->f.oracle), &query_weighted, &(struct ask){.at = r->w}, rho, to);
  if (status == BASE_OK) status = trace_note(&r->result->trace, "weighted matrix", NAN, sd, rho);
  if (status != BASE_OK) return status;
  posterior_matrix(side, 1, oracle_spread(r->f.oracle), sd, r->matrix);
  r->matrix_noise = sqrt(2 * (double)side) * sd;
  least = r->matrix[0];
  for (size_t j = 1; j < side; j++) least = fmin(least, r->matrix[j + j * side]);
  status = la_eigen_released(side, r->matrix, r->value);
  for (size_t j = 0; j < side; j++) r->value[j] = fmax(r->value[j], fmax(least, LEAST) / 2);
  return status;
}

/* q from the intercepts of the start. */
static int find_directions(struct run *r) {
  size_t classes = r->classes;
  double *q = r->added, total = 0, most = -INFINITY, constant = oracle_constant(r->f.oracle);
  for (size_t k = 0; k < classes; k++) most = fmax(most, q[k] = constant * r->w[k * r->side]);
  for (size_t k = 0; k < classes; k++) total += q[k] = exp(q[k] - most);
  la_scale(classes, 1 / total, q);
  for (size_t k = 0; k < classes; k++) {
    for (size_t i = 0; i < classes; i++) r->direction[i + k * classes] = (i == k ? q[k] : 0) - q[i] * q[k];
  }
  int status = la_eigen_all(classes, r->direction, r->curvature);
  for (size_t k = 1; status == BASE_OK && k < classes; k++) {
    r->curvature[k] = fmax(r->curvature[k], LEAST);
    r->added[k] = damping(r, r->curvature[k]);
  }
  return status;
}

/* a_k */
static double damping(const struct run *r, double curvature) {
  const struct classes_options *o = r->o;
  double most = fmin(o->iterate_variance, o->iterate_loss / curvature);
  double added = fmax(o->iterations * r->s * sqrt((double)r->side) / (16 * o->reach),
                      o->least * curvature * r->matrix_noise);
  for (int i = 0; i < 200 && iterate_variance(r, curvature, added) > most; i++) added *= 1.5;
  return added;
}

/* The variance above, where m / e = a_k / l_k. */
static double iterate_variance(const struct run *r, double curvature, double added) {
  double variance = 0, steps = r->o->iterations;
  for (size_t j = 0; j < r->side; j++) {
    double e = curvature * r->value[j] / added;
    variance -= expm1(-2 * steps * log1p(e)) / (2 + e);
  }
  return variance * r->s * r->s * steps / (curvature * added);
}

/* ---- steps ---- */

/* Number of the first iterates that the mean leaves out. */
static int first_kept(const struct classes_options *o) { return o->iterations - (int)ceil(o->tail * o->iterations); }

static int take_steps(struct run *r, double rho) {
  size_t dim = r->f.dim;
  int steps = r->o->iterations, first = first_kept(r->o);
  memset(r->mean, 0, dim * sizeof(double));
  for (int i = 1; i <= steps; i++) {
    double sd;
    const struct ask ask = {.at = r->w, .clip = r->o->clip};
    const struct answer to = {r->gradient, &sd, NULL};
    base_progress(i, steps + 1);
    int status = release(oracle_all(r->f.oracle), &query_class_gradient, &ask, rho / steps, to);
    double norm = la_norm(dim, r->gradient);
    if (status == BASE_OK) status = trace_note(&r->result->trace, "class gradient", norm, sd, rho / steps);
    if (status != BASE_OK) return status;
    la_axpy(dim, i > first ? 1.0 / (steps - first) : 0, r->w, r->mean);
    precondition(r);
    la_axpy(dim, -1, r->moved, r->w);
    trace_last(&r->result->trace)->step = la_norm(dim, r->moved);
  }
  return BASE_OK;
}

/* to <- x A, or x A', of a row for each coefficient and a column for each class. */
static void multiply_classes(const struct run *r, const double *x, int transposed, double *to) {
  size_t side = r->side, classes = r->classes;
  memset(to, 0, r->f.dim * sizeof(double));
  for (size_t k = 0; k < classes; k++) {
    for (size_t i = 0; i < classes; i++) {
      la_axpy(side, r->direction[transposed ? k + i * classes : i + k * classes], x + i * side, to + k * side);
    }
  }
}

/* x <- x in the coordinates of eigenvectors and directions; that of the direction 1 is zero. */
static void rotate(struct run *r, double *x) {
  memset(r->rotated, 0, r->f.dim * sizeof(double));
  la_multiply_t_add(r->side, r->side, r->classes, r->matrix, r->side, x, r->rotated, r->side);
  multiply_classes(r, r->rotated, 0, x);
  memset(x, 0, r->side * sizeof(double));
}

static void rotate_back(struct run *r, const double *x, double *to) {
  multiply_classes(r, x, 1, r->rotated);
  la_multiply(r->side, r->side, r->classes, r->matrix, r->side, r->rotated, r->side, to);
}

/* moved <- the step, from gradient, which is overwritten */
static void precondition(struct run *r) {
  size_t side = r->side;
  rotate(r, r->gradient);
  for (size_t k = 1; k < r->classes; k++) {
    for (size_t j = 0; j < side; j++) r->gradient[j + k * side] /= r->curvature[k] * r->value[j] + r->added[k];
  }
  rotate_back(r, r->gradient, r->moved);
}

/* ---- the solution ---- */

/* f, and the variance of the noise, for the eigenvalue h of the Hessian. */
static double attenuation(const struct run *r, double h, double added, double *noise) {
  int steps = r->o->iterations, first = first_kept(r->o);
  double shrinks = -log1p(h / added), kept = steps - first, sum = 0;
  for (int l = 1; l < steps; l++) {
    int from = l > first ? l : first;
    double part = exp(shrinks * (from - l)) * expm1(shrinks * (steps - from)) / (kept * h);
    sum += part * part;
  }
  double factor = 1 + (exp(shrinks * steps) - exp(shrinks * first)) / (kept * -expm1(shrinks));
  double sampling = factor * factor / ((double)oracle_rows(r->f.oracle) * h);
  *noise = fmax(r->s * r->s * steps * sum + sampling, LEAST * LEAST); /* zero after a single step */
  return factor;
}

/* Prior variances of the coordinates, relative to t^2, and of the part of the intercept. */
static void set_prior(const struct run *r, double *known, double *prior) {
  size_t side = r->side;
  double total = 0, constant = oracle_constant(r->f.oracle);
  const double *expected = oracle_prior(r->f.oracle);
  for (size_t k = 0; k < side; k++) {
    const double *vector = r->matrix + k * side;
    known[k] = vector[0] * vector[0] / (constant * constant);
    prior[k] = 0;
    for (size_t j = 1; j < side; j++) prior[k] += vector[j] * vector[j] * expected[j - 1] * expected[j - 1];
    total += prior[k] * r->value[k];
  }
  la_scale(side, total > 0 ? 1 / total : 0, prior);
}

static int finish(struct run *r) {
  size_t side = r->side;
  double *memory = base_alloc(4 * side, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  double *factor = memory, *noise = factor + side, *known = noise + side, *prior = known + side;
  const struct attenuated a = {side, factor, noise, known, prior, r->o->signal, r->o->signals};
  la_axpy(r->f.dim, -1, r->start, r->mean);
  rotate(r, r->mean);
  set_prior(r, known, prior);
  memset(r->gradient, 0, side * sizeof(double));
  for (size_t k = 1; k < r->classes; k++) {
    for (size_t j = 0; j < side; j++) {
      double h = fmax(r->curvature[k] * r->value[j], LEAST * r->added[k]);
      factor[j] = fmax(attenuation(r, h, r->added[k], noise + j), r->o->trust);
    }
    attenuated_mean(&a, r->mean + k * side, r->gradient + k * side);
  }
  rotate_back(r, r->gradient, r->w);
  la_axpy(r->f.dim, 1, r->start, r->w);
  base_free(memory);
  return BASE_OK;
}

static int certify(struct run *r, double rho) {
  struct opt_result *result = r->result;
  double sd;
  int status = objective_gradient(&r->f, r->w, rho, r->gradient, &sd);
  if (status != BASE_OK) return status;
  result->gradient_norm = la_norm(r->f.dim, r->gradient);
  result->gradient_upper = confidence_norm(result->gradient_norm, sd, r->f.dim, 1 - r->o->confidence);
  if (result->gradient_upper <= r->o->eps_g) result->status = OPT_SOSP;
  status = trace_note(&result->trace, "gradient", result->gradient_norm, sd, rho);
  if (status == BASE_OK) trace_last(&result->trace)->bound = result->gradient_upper;
  return status;
}

static const struct field classes_fields[] = {
    FIELD(classes_options, COUNT, iterations),
    FIELD(classes_options, NUMBER, eps_g),
    FIELD(classes_options, NUMBER, confidence),
    FIELD(classes_options, NUMBER, certificate_share),
    FIELD(classes_options, NUMBER, matrix_share),
    FIELD(classes_options, NUMBER, clip),
    FIELD(classes_options, NUMBER, reach),
    FIELD(classes_options, NUMBER, least),
    FIELD(classes_options, NUMBER, iterate_variance),
    FIELD(classes_options, NUMBER, iterate_loss),
    FIELD(classes_options, NUMBER, tail),
    FIELD(classes_options, NUMBER, trust),
    FIELD(classes_options, NUMBER, signal),
    FIELD(classes_options, COUNT, signals),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(classes)
