/*
 * Newton's method with one matrix, for weighted rows in coordinates of their own, with a ridge penalty around the start
 * whose size follows from releases.
 *
 *   matrix    M = curvature times the positive part of the noisy weighted matrix, released here or by an earlier run
 *   ridge     kappa_j = base / prior_j^2, base = s sqrt(d) / size, with s the noise of one gradient that has the whole
 *             budget of the steps, and prior_j from the coordinates. That of the intercept is base times the option
 *             intercept.
 *   steps     w <- w - A^-1 (g + kappa (w - start)), A = M + damping D, D = diag(max(T kappa / reach, least) + kappa),
 *             T steps
 *   finish    The mean iterate and the mean of the gradients there, without the ridge, estimate the gradient at the
 *             start in a quadratic model of the loss with the Hessian H. The solution is the mean of the minimiser
 *             given this estimate (posterior.c), where its coordinate j has a variance in proportion to 1 / kappa_j,
 *             and the curved part of each smooth a factor of its own (smoothness.c).
 *
 * H is M for the curvature of the loss at the start, shrunk by posterior_matrix().
 *
 * D gives the slowest direction `reach` time constants, and keeps steps below what the noise of the matrix may hide.
 * damping >= 1 limits how far the iterates vary: far from the solution the mean gradient of a bounded slope is
 * biased. With e_k and v_k the eigenvalues and vectors of D^-1/2 M D^-1/2 / damping, a step in direction k shrinks the
 * distance by 1 / (1 + e_k), and its noise, s sqrt(T) in each coordinate, adds
 * v_k'(damping D)^-1 v_k s^2 T / (1 + e_k)^2 to the variance. After T steps the predictors of the rows,
 * w'M w / curvature on average, therefore vary with the variance
 *
 *   sum_k v_k'(damping D)^-1 v_k s^2 T / (curvature (2 + e_k)) (1 - (1 + e_k)^(-2 T)),
 *
 * which decreases in damping and must be at most the option iterate_variance.
 *
 * Stability rests on A, privacy does not: everything but the gradients and the matrix is post-processing.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

struct run {
  const struct objective *f;
  const struct ridge_options *o;
  struct opt_result *result;
  double rho_steps;
  double s;       /* see above */
  double sd_matrix; /* of the noise of the weighted matrix */
  double least;   /* least term that the steps add to M, because of its noise */
  double *w, *start;
  double *gradient, *direction, *kappa, *added, *mean; /* dim each */
  double *last; /* the mean gradient of the data, without the ridge, over the last iterates */
  double *moment; /* of columns that may have no records (posterior_moments()) */
  double *matrix, *hessian, *inverse, *scratch; /* dim x dim each; hessian: H */
  double *spare; /* 4 dim */
};

static int prepare(struct run *r, double rho);
static int weighted_matrix(struct run *r, double rho);
static void size_ridge(struct run *r);
static int damping(struct run *r);
static double iterate_variance(const struct run *r, const double *value, const double *spread, double damping);
static int take_steps(struct run *r);
static void move(struct run *r);
static int finish(struct run *r);
static int count_effective(struct run *r, const double *moved, const double *variance, double sd);
static int certify(struct run *r, double rho);
static int invert(const struct run *r, const double *added);
static void compose(size_t dim, const double *vectors, const double *values, double *matrix);
static int measure(struct run *r, double rho, double *sd);

int ridge_run(struct oracle *oracle, const struct penalty *penalty, const struct ridge_options *options, double rho,
              double *w, struct opt_result *result) {
  struct objective f;
  result_init_planned(result, options->iterations, oracle, penalty, &f);
  if (!oracle_prior(oracle)) return BASE_ERR_ARGUMENT;
  size_t dim = f.dim;
  double *memory = base_alloc(dim * (12 + 4 * dim), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  struct run r = {.f = &f, .o = options, .result = result, .w = w, .start = memory};
  double **const vectors[] = {&r.gradient, &r.direction, &r.kappa, &r.added, &r.mean, &r.last, &r.moment};
  for (size_t i = 0; i < 7; i++) *vectors[i] = memory + (i + 1) * dim;
  r.matrix = memory + 8 * dim;
  r.hessian = r.matrix + dim * dim;
  r.inverse = r.hessian + dim * dim;
  r.scratch = r.inverse + dim * dim;
  r.spare = r.scratch + dim * dim;
  memcpy(r.start, w, dim * sizeof(double));
  double last = options->certificate_share * rho;
  double matrix = options->matrix ? 0 : options->matrix_share * (rho - last);
  r.rho_steps = (rho - last - matrix) * ALMOST;
  int status = prepare(&r, matrix);
  if (status == BASE_OK) status = take_steps(&r);
  if (status == BASE_OK) status = finish(&r);
  if (status == BASE_OK && last > 0) status = certify(&r, last * ALMOST);
  base_free(memory);
  return status;
}

double ridge_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct ridge_options *options,
                           double rho, const double *w) {
  return objective_alpha_last(oracle, penalty, options->certificate_share * rho, options->confidence, w);
}

/* Released, unless an earlier run did so. */
static int weighted_matrix(struct run *r, double rho) {
  const struct ask ask = {.at = r->w};
  const struct answer to = {.value = r->scratch, .sd = &r->sd_matrix};
  if (r->o->matrix) {
    r->sd_matrix = r->o->matrix_sd;
    memcpy(r->scratch, r->o->matrix, r->f->dim * r->f->dim * sizeof(double));
    return BASE_OK;
  }
  int status = release(oracle_all(r->f->oracle), &query_weighted, &ask, rho, to);
  return status == BASE_OK ? trace_note(&r->result->trace, "weighted matrix", NAN, r->sd_matrix, rho) : status;
}

/* M, H, s and kappa. */
static int prepare(struct run *r, double rho) {
  const struct ridge_options *o = r->o;
  size_t dim = r->f->dim;
  int status = weighted_matrix(r, rho);
  if (status == BASE_OK) {
    posterior_moments(dim, o->few, r->scratch, r->moment);
    status = la_eigen_released(dim, r->scratch, r->added);
  }
  if (status != BASE_OK) return status;
  double noise = sqrt(2 * (double)dim) * r->sd_matrix; /* about its spectral norm */
  for (size_t k = 0; k < dim; k++) r->direction[k] = o->curvature * fmax(r->added[k], 0);
  compose(dim, r->scratch, r->direction, r->matrix);
  memcpy(r->hessian, r->matrix, dim * dim * sizeof(double));
  la_scale(dim * dim, 1 / o->curvature, r->hessian);
  posterior_matrix(dim, dim - oracle_columns(r->f->oracle), oracle_spread(r->f->oracle), r->sd_matrix, r->hessian);
  posterior_limit(dim, r->moment, r->sd_matrix, r->hessian);
  la_scale(dim * dim, o->start_curvature, r->hessian);
  r->least = o->curvature * o->least * noise;
  r->s = objective_sd_all(r->f, &query_gradient, r->w, r->rho_steps);
  size_ridge(r);
  return BASE_OK;
}

static void size_ridge(struct run *r) {
  size_t dim = r->f->dim, skip = dim - oracle_columns(r->f->oracle);
  const double *prior = oracle_prior(r->f->oracle);
  double base = r->s * sqrt((double)dim) / r->o->size;
  for (size_t j = 0; j < dim; j++) {
    r->kappa[j] = base * (j < skip ? r->o->intercept : 1 / (prior[j - skip] * prior[j - skip]));
  }
  r->result->ridge = base;
}

/* Multiplies what is added to M; gradient and direction are scratch here. */
static int damping(struct run *r) {
  size_t dim = r->f->dim;
  double *value = r->gradient, *spread = r->direction, low = 0, high = 64;
  for (size_t j = 0; j < dim; j++) {
    for (size_t i = 0; i < dim; i++) r->scratch[i + j * dim] = r->matrix[i + j * dim] / sqrt(r->added[i] * r->added[j]);
  }
  int status = la_eigen_released(dim, r->scratch, value);
  if (status != BASE_OK) return status;
  for (size_t k = 0; k < dim; k++) {
    spread[k] = 0;
    for (size_t j = 0; j < dim; j++) spread[k] += r->scratch[j + k * dim] * r->scratch[j + k * dim] / r->added[j];
  }
  if (iterate_variance(r, value, spread, 1) <= r->o->iterate_variance) return BASE_OK;
  for (int i = 0; i < 60; i++) {
    double middle = (low + high) / 2;
    if (iterate_variance(r, value, spread, exp2(middle)) <= r->o->iterate_variance) {
      high = middle;
    } else {
      low = middle;
    }
  }
  la_scale(dim, exp2(high), r->added);
  return BASE_OK;
}

/* The variance above. */
static double iterate_variance(const struct run *r, const double *value, const double *spread, double damping) {
  double variance = 0, steps = r->o->iterations;
  for (size_t k = 0; k < r->f->dim; k++) {
    double e = fmax(value[k], 0) / damping;
    variance -= spread[k] / (2 + e) * expm1(-2 * steps * log1p(e));
  }
  return variance * r->s * r->s * steps / (r->o->curvature * damping);
}

static int take_steps(struct run *r) {
  const struct ridge_options *o = r->o;
  size_t dim = r->f->dim;
  int first = o->iterations - (int)ceil(o->tail * o->iterations);
  for (size_t j = 0; j < dim; j++) {
    r->added[j] = fmax(o->iterations * r->kappa[j] / o->reach, r->least) + r->kappa[j];
    r->added[j] += penalty_curv_upper(r->f->penalty);
  }
  double sd;
  int status = damping(r);
  if (status == BASE_OK) status = invert(r, r->added);
  memset(r->mean, 0, dim * sizeof(double));
  memset(r->last, 0, dim * sizeof(double));
  for (int i = 1; status == BASE_OK && i <= o->iterations; i++) {
    base_progress(i, o->iterations + 1);
    double last = i > first ? 1.0 / (o->iterations - first) : 0;
    la_axpy(dim, last, r->w, r->mean);
    status = measure(r, r->rho_steps / o->iterations, &sd);
    if (status != BASE_OK) break;
    la_axpy(dim, last, r->gradient, r->last);
    for (size_t j = 0; j < dim; j++) r->last[j] -= last * r->kappa[j] * (r->w[j] - r->start[j]);
    move(r);
  }
  memcpy(r->w, r->mean, dim * sizeof(double));
  return status;
}

/* Along the inverse times the gradient that was measured last. */
static void move(struct run *r) {
  size_t dim = r->f->dim;
  la_matvec(dim, dim, r->inverse, dim, r->gradient, r->direction);
  la_axpy(dim, -1, r->direction, r->w);
  trace_last(&r->result->trace)->step = la_norm(dim, r->direction);
}

/* See the head of this file; w is the mean iterate. The variances are those of predictors of variance one, or
 * zero where the noise left nothing of the matrix. */
static int finish(struct run *r) {
  size_t dim = r->f->dim, skip = dim - oracle_columns(r->f->oracle);
  double *variance = r->added, *away = r->direction, *estimate = r->gradient, total = 0;
  double sd = r->s / sqrt(r->o->tail);
  for (size_t j = skip; j < dim; j++) total += r->hessian[j + j * dim] / r->o->start_curvature / r->kappa[j];
  for (size_t j = 0; j < dim; j++) variance[j] = total > 0 ? r->o->present / (total * r->kappa[j]) : 0;
  penalty_add_hessian(r->f->penalty, dim, r->w, r->hessian);
  memcpy(away, r->w, dim * sizeof(double));
  la_axpy(dim, -1, r->start, away);
  la_matvec(dim, dim, r->hessian, dim, away, estimate);
  la_axpy(dim, -1, r->last, estimate);
  const struct posterior p = {.dim = dim,
                              .hessian = r->hessian,
                              .variance = variance,
                              .sd = sd,
                              .least = r->o->signal,
                              .levels = r->o->signals,
                              .usual = r->o->usual,
                              .group = r->o->smooth};
  int status = posterior_mean(&p, estimate, away);
  if (status != BASE_OK) return status;
  for (size_t j = 0; j < dim; j++) away[j] *= posterior_seen(r->moment[j], r->sd_matrix);
  memcpy(r->w, r->start, dim * sizeof(double));
  la_axpy(dim, 1, away, r->w);
  return count_effective(r, away, variance, sd);
}

/* The number of coefficients that follow the records: if the solution is K e for the estimate e, this is tr(H K). K is
 * that of a prior with one variance, for which the predictors vary as much as with w. */
static int count_effective(struct run *r, const double *moved, const double *variance, double sd) {
  size_t dim = r->f->dim;
  double *value = r->spare, *estimate = value + dim, *prior = estimate + dim, *noise = prior + dim, effective = 0;
  la_matvec(dim, dim, r->hessian, dim, moved, r->last);
  double wanted = la_dot(dim, moved, r->last);
  memcpy(r->scratch, r->hessian, dim * dim * sizeof(double));
  int status = la_eigen_released(dim, r->scratch, value);
  if (status != BASE_OK) return status;
  for (size_t k = 0; k < dim; k++) {
    const double *vector = r->scratch + k * dim;
    estimate[k] = la_dot(dim, vector, r->gradient);
    prior[k] = 0;
    noise[k] = sd * sd;
    for (size_t j = 0; j < dim; j++) prior[k] += variance[j] * vector[j] * vector[j];
  }
  posterior_follows(dim, value, estimate, noise, wanted, prior);
  for (size_t k = 0; k < dim; k++) effective += value[k] * prior[k];
  r->result->effective = effective;
  return BASE_OK;
}

static int certify(struct run *r, double rho) {
  struct opt_result *result = r->result;
  double sd;
  int status = measure(r, rho, &sd);
  if (status != BASE_OK) return status;
  result->gradient_norm = la_norm(r->f->dim, r->gradient);
  result->gradient_upper = confidence_norm(result->gradient_norm, sd, r->f->dim, 1 - r->o->confidence);
  trace_last(&result->trace)->bound = result->gradient_upper;
  if (result->gradient_upper <= r->o->eps_g && result->eigen_known) result->status = OPT_SOSP;
  return BASE_OK;
}

/* The inverse of M with something added to its diagonal. */
static int invert(const struct run *r, const double *added) {
  size_t dim = r->f->dim;
  memcpy(r->scratch, r->matrix, dim * dim * sizeof(double));
  for (size_t j = 0; j < dim; j++) r->scratch[j + j * dim] += added[j];
  int status = la_eigen_released(dim, r->scratch, r->direction);
  if (status != BASE_OK) return status;
  for (size_t k = 0; k < dim; k++) r->direction[k] = 1 / r->direction[k];
  compose(dim, r->scratch, r->direction, r->inverse);
  return BASE_OK;
}

/* The matrix with these eigenvectors, one a column, and eigenvalues. */
static void compose(size_t dim, const double *vectors, const double *values, double *matrix) {
  memset(matrix, 0, dim * dim * sizeof(double));
  for (size_t k = 0; k < dim; k++) {
    const double *vector = vectors + k * dim;
    for (size_t j = 0; j < dim; j++) la_axpy(dim, values[k] * vector[j], vector, matrix + j * dim);
  }
}

/* The gradient of loss and ridge. */
static int measure(struct run *r, double rho, double *sd) {
  int status = objective_gradient(r->f, r->w, rho, r->gradient, sd);
  if (status != BASE_OK) return status;
  for (size_t j = 0; j < r->f->dim; j++) r->gradient[j] += r->kappa[j] * (r->w[j] - r->start[j]);
  return trace_note(&r->result->trace, "gradient", la_norm(r->f->dim, r->gradient), *sd, rho);
}

static const struct field ridge_fields[] = {
    FIELD(ridge_options, COUNT, iterations),          FIELD(ridge_options, NUMBER, eps_g),
    FIELD(ridge_options, NUMBER, confidence),         FIELD(ridge_options, NUMBER, certificate_share),
    FIELD(ridge_options, NUMBER, matrix_share),       FIELD(ridge_options, NUMBER, start_curvature),
    FIELD(ridge_options, NUMBER, curvature),          FIELD(ridge_options, NUMBER, size),
    FIELD(ridge_options, NUMBER, intercept),          FIELD(ridge_options, NUMBER, signal),
    FIELD(ridge_options, COUNT, signals),             FIELD(ridge_options, NUMBER, usual),
    FIELD(ridge_options, NUMBER, reach),              FIELD(ridge_options, NUMBER, iterate_variance),
    FIELD(ridge_options, NUMBER, least),              FIELD(ridge_options, NUMBER, tail),
    FIELD(ridge_options, NUMBERS, matrix),            FIELD(ridge_options, NUMBER, matrix_sd),
    FIELD(ridge_options, NUMBERS, smooth),            FIELD(ridge_options, NUMBERS, few),
    FIELD(ridge_options, NUMBER, present),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(ridge)
