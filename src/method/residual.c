/*
 * Regression by squared error, and of counts by the Poisson loss. The noise of a gradient is proportional to the
 * residual at which a record is clipped, so residuals are clipped at a multiple of their own scale, which decreases
 * from phase to phase.
 *
 * Residuals, scales and gradients are divided by the curvature h of the loss at the start: one for squared error, for
 * counts the level, so that residuals are relative to it. Then the mean of h z z' / h is about M for both losses.
 *
 *   matrix       M, of the weighted rows, is released. The columns are rescaled by its trace, so that rows have a norm
 *                of about one, and M is shrunk towards what is known of it (shrink.c).
 *   each phase
 *     scale      of the residuals at w, from noisy counts (scale.c) and, where they say little, from the spread of the
 *                response or the scale of the phase before. The clip is c = q times the scale, in the first
 *                phase at least the option `first` times it, and at least one event, without which rare counts would
 *                say nothing; p, the fraction within c, is the curvature that remains.
 *     steps      w <- w - (p M + a I)^-1 g, T steps, g the mean of z clip(r, c min(1, R / |z|)), with noise s sqrt(T)
 *                in each coordinate; a = max(T s sqrt(d) / (16 reach scale), least |noise of M|), and larger until the
 *                predictors of the rows vary by at most `iterate_sd` times the scale (iterate_variance()); those of
 *                counts, which are logarithms, by at most iterate_sd
 *     equation   The means of the last iterates and of their gradients give v = M w - g / p, the value of M w at the
 *                minimum, with the variance (s / p)^2 / tail in each coordinate. The v of all phases are averaged with
 *                their precisions as weights.
 *     posterior  w <- the posterior mean given v (posterior_known_mean()), with noise that includes the sampling error
 *                scale^2 M / (n p), a known prior variance of the intercept, which is the noise of the start, and
 *                variances of the columns in proportion to the squares of their priors, with a factor for the curved
 *                part of each smooth (smoothness.c)
 *   recalibrate  The mean of residuals with a wider clip, and their product with the prediction, correct what small
 *                clips do to residuals that are not symmetric: the level, and one factor for all slopes. Where there is
 *                little data, the level only. Huber's loss, which is this one with a clip of its own, keeps that: the
 *                level only.
 *
 * Without iterations there are no releases, and the solution is the start: the level. Without an intercept, of squared
 * error, the start is zero, all coordinates are columns, and only the factor of the slopes is recalibrated.
 *
 * At the end coefficients are mapped back to the coordinates of the caller. An intercept is the first coefficient.
 * Everything but the releases is post-processing, on which accuracy rests, not privacy. There is no certificate.
 */
#include "method/residual.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define PHASES 4
static const double phase_share[PHASES] = {0.05, 0.10, 0.25, 0.60};
static const double phase_steps[PHASES] = {10, 10, 15, 40};
#define LONGEST 16     /* largest square of the factor of the columns */
#define SHORTEST 0.5   /* and the smallest one */
#define SKEW 0.3       /* standard deviation of a robust level about the mean, over the scale of residuals */
#define SURELY 3.5     /* standard deviations by which counts must exceed zero */
#define DOUBT 0.1      /* relative error of p, as residuals have another distribution than t */


static int allocate(struct run *r, double **memory);
static int prepare(struct run *r);
static int rescale(struct run *r, double *sd);
static void shrink(struct run *r, double sd);
static int decompose(struct run *r);
static void set_prior(struct run *r);
static int phase(struct run *r, int i);
static int measure_scale(struct run *r);
static double expected_scale(const struct run *r);
static double doubt_of_scale(const struct run *r);
static double damping(const struct run *r, double s, double steps);
static double iterate_variance(const struct run *r, double s, double steps, double added);
static int take_steps(struct run *r, double rho, int steps, double added, int *kept);
static void combine(struct run *r, double sd);
static int solve(struct run *r);
static void count_effective(struct run *r);
static double mean_square(const struct run *r);

int residual_run(struct oracle *oracle, const struct penalty *penalty, const struct residual_options *options,
                 double rho, double *w, struct opt_result *result) {
  struct run r = {.o = options, .result = result, .rho = rho * ALMOST, .w = w, .factor = 1};
  r.most = options->most / options->curvature;
  int status = result_init_convex(result, options->iterations, oracle, penalty, &r.f);
  result->effective = result->variance = result->square = 0;
  result->factor = 1;
  if (status != BASE_OK || options->iterations == 0) return status;
  r.skip = oracle_constant(oracle) > 0;
  if (!oracle_clips(oracle) || (options->exponential && !r.skip)) return BASE_ERR_ARGUMENT;
  double *memory;
  status = allocate(&r, &memory);
  if (status == BASE_OK) status = prepare(&r);
  for (int i = 0; status == BASE_OK && i < PHASES; i++) status = phase(&r, i);
  if (status == BASE_OK) {
    count_effective(&r);
    result->square = mean_square(&r);
    status = residual_recalibrate(&r, w);
    result->variance = variance_of(&r, w);
    result->factor = r.factor;
  }
  la_scale(r.dim - r.skip, r.factor, w + r.skip);
  base_free(memory);
  return status;
}

/* There is no certificate. */
double residual_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                              const struct residual_options *options, double rho, const double *w) {
  (void)oracle;
  (void)penalty;
  (void)options;
  (void)rho;
  (void)w;
  return NAN;
}

static int allocate(struct run *r, double **memory) {
  size_t dim = r->dim = r->f.dim;
  double *next = *memory = base_alloc(dim * (11 + 3 * dim), sizeof(double));
  if (!next) return BASE_ERR_MEMORY;
  double **const vectors[] = {&r->start, &r->value,         &r->variance, &r->equation, &r->away,
                              &r->mean,  &r->mean_gradient, &r->gradient, &r->rotated,  &r->move, &r->moment};
  for (size_t i = 0; i < 11; i++, next += dim) *vectors[i] = next;
  r->matrix = next;
  r->scratch = next + dim * dim;
  r->product = next + 2 * dim * dim;
  memcpy(r->start, r->w, dim * sizeof(double));
  return BASE_OK;
}

/* ---- the matrix ---- */

static int prepare(struct run *r) {
  double sd, rho = r->o->matrix_share * r->rho;
  const struct answer to = {.value = r->matrix, .sd = &sd};
  int status = release(oracle_all(r->f.oracle), &query_weighted, &(struct ask){.at = r->w}, rho, to);
  if (status == BASE_OK) status = trace_note(&r->result->trace, "weighted matrix", NAN, sd, rho);
  if (status == BASE_OK) status = rescale(r, &sd);
  if (status != BASE_OK) return status;
  r->matrix_noise = sqrt(2 * (double)r->dim) * sd;
  posterior_moments(r->dim, r->o->few, r->matrix, r->moment);
  shrink(r, sd);
  posterior_limit(r->dim, r->moment, sd, r->matrix);
  return decompose(r);
}

/* To the trace that rows of norm one have; the noise is known for the square of the factor. */
static int rescale(struct run *r, double *sd) {
  size_t dim = r->dim;
  double trace = 0, constant = oracle_constant(r->f.oracle), noise = sqrt((double)dim) * *sd;
  for (size_t j = r->skip; j < dim; j++) trace += r->matrix[j + j * dim];
  double wanted = r->o->present * (1 - constant * constant);
  r->factor = sqrt(fmin(LONGEST, fmax(SHORTEST, wanted / fmax(fmax(trace, noise / 2), 1e-3 * r->o->present))));
  for (size_t j = r->skip; j < dim; j++) {
    la_scale(dim, r->factor, r->matrix + j * dim);
    for (size_t i = 0; i < dim; i++) r->matrix[j + i * dim] *= r->factor;
  }
  *sd *= r->factor * r->factor;
  return oracle_rescale(r->f.oracle, r->factor);
}

static void shrink(struct run *r, double sd) {
  double *variance = r->move, *mean = r->rotated, constant = oracle_constant(r->f.oracle);
  for (size_t j = r->skip; j < r->dim; j++) {
    variance[j] = r->o->present * square(oracle_spread(r->f.oracle)[j - r->skip]);
    mean[j] = square(constant * centre_sd(r, j));
  }
  const struct known_moments known = {r->dim, sd, r->o->present * constant * constant, variance, mean, !r->skip};
  shrink_moments(&known, r->matrix);
}

/* M as eigenvectors and eigenvalues, which are raised to half of the least entry of the diagonal, or of the noise. */
static int decompose(struct run *r) {
  size_t dim = r->dim;
  double least = r->matrix[0];
  for (size_t j = 1; j < dim; j++) least = fmin(least, r->matrix[j + j * dim]);
  int status = la_eigen_released(dim, r->matrix, r->value);
  if (status != BASE_OK) return status;
  double floor = fmin(least, r->matrix_noise) / 2;
  for (size_t k = 0; k < dim; k++) r->value[k] = fmax(r->value[k], floor);
  set_prior(r);
  return BASE_OK;
}

/* Such that the predictors have the variance one. */
static void set_prior(struct run *r) {
  size_t dim = r->dim;
  double total = 0;
  for (size_t j = r->skip; j < dim; j++) {
    double diagonal = 0;
    for (size_t k = 0; k < dim; k++) diagonal += r->value[k] * square(r->matrix[j + k * dim]);
    r->variance[j] = square(oracle_prior(r->f.oracle)[j - r->skip]);
    total += diagonal * r->variance[j];
  }
  la_scale(dim - r->skip, 1 / total, r->variance + r->skip);
}

/* ---- a phase ---- */

static void rotate_back(const struct run *r, const double *x, double *to) {
  la_matvec(r->dim, r->dim, r->matrix, r->dim, x, to);
}

static int phase(struct run *r, int i) {
  const struct residual_options *o = r->o;
  int status = measure_scale(r), kept = 0;
  if (status != BASE_OK) return status;
  double least = i == 0 ? fmax(o->clip, o->first) : o->clip;
  if (i == 0) r->spread = fmin(o->spread, 3 * r->scale.sd);
  r->clip = fmin(fmax(least * r->scale.sd, o->event / o->curvature), r->most);
  r->within = residual_within(&r->scale, r->clip);
  double rho = phase_share[i] * r->rho * (1 - o->matrix_share - PHASES * o->counts_share - o->recalibration_share);
  int steps = (int)fmax(1, floor(phase_steps[i] / 75 * o->iterations + 0.5));
  const struct ask ask = {.at = r->w, .clip = o->curvature * r->clip};
  double s = release_sd(oracle_all(r->f.oracle), &query_residual_gradient, &ask, rho) / o->curvature;
  status = take_steps(r, rho, steps, damping(r, s, steps), &kept);
  if (status != BASE_OK) return status;
  combine(r, s * sqrt((double)steps / kept));
  return solve(r);
}

static int measure_scale(struct run *r) {
  double end[ENDS], sd, rho = r->o->counts_share * r->rho;
  for (int j = 0; j < ENDS; j++) {
    end[j] = r->o->most * exp2((j - ENDS + 1) / 2.0);
    r->size[j] = end[j] / r->o->curvature;
  }
  const struct ask ask = {.at = r->w, .k = ENDS, .step = end};
  const struct answer to = {r->count, &sd, NULL};
  int status = release(oracle_all(r->f.oracle), &query_residual_counts, &ask, rho, to);
  if (status != BASE_OK) return status;
  r->count_sd = sd;
  r->scale = residual_scale(&(struct residual_counts){
      ENDS, r->size, r->count, sd, r->o->present, expected_scale(r), doubt_of_scale(r)});
  return trace_note(&r->result->trace, "residual counts", r->o->curvature * r->scale.sd, sd, rho);
}

/* Before counts that say more: somewhat below the spread of the response, then that of the phase before. */
static double expected_scale(const struct run *r) {
  return r->scale.scale > 0 ? r->scale.scale : r->o->spread / 2;
}

static double doubt_of_scale(const struct run *r) {
  return r->scale.scale > 0 ? hypot(r->scale.error / M_LN2, r->o->phase_doubt) : r->o->first_doubt;
}

/* a */
static double damping(const struct run *r, double s, double steps) {
  double added =
      fmax(steps * s * sqrt((double)r->dim) / (16 * r->o->reach * r->scale.sd), r->o->least * r->matrix_noise);
  double most = square(r->o->iterate_sd * (r->o->exponential ? fmin(r->scale.sd, 1) : r->scale.sd));
  for (int i = 0; i < 200 && iterate_variance(r, s, steps, added) > most; i++) added *= 1.5;
  return added;
}

/* As in ridge.c, with M in place of its expectation. */
static double iterate_variance(const struct run *r, double s, double steps, double added) {
  double variance = 0;
  for (size_t k = 0; k < r->dim; k++) {
    double e = r->within * r->value[k] / added;
    variance -= expm1(-2 * steps * log1p(e)) / (2 + e);
  }
  return variance * s * s * steps / added;
}

/* Leaves the means of the last iterates, relative to the start, and of their gradients. */
static int take_steps(struct run *r, double rho, int steps, double added, int *kept) {
  size_t dim = r->dim;
  int first = (int)floor((1 - r->o->tail) * steps);
  memset(r->mean, 0, dim * sizeof(double));
  memset(r->mean_gradient, 0, dim * sizeof(double));
  *kept = steps - first;
  for (int i = 1; i <= steps; i++) {
    double sd, part = i > first ? 1.0 / *kept : 0;
    const struct ask ask = {.at = r->w, .clip = r->o->curvature * r->clip};
    const struct answer to = {r->gradient, &sd, NULL};
    int status = release(oracle_all(r->f.oracle), &query_residual_gradient, &ask, rho / steps, to);
    double norm = la_norm(dim, r->gradient);
    if (status == BASE_OK) status = trace_note(&r->result->trace, "residual gradient", norm, sd, rho / steps);
    if (status != BASE_OK) return status;
    la_scale(dim, 1 / r->o->curvature, r->gradient);
    la_axpy(dim, part, r->w, r->mean);
    la_axpy(dim, -part, r->start, r->mean);
    la_axpy(dim, part, r->gradient, r->mean_gradient);
    rotate(r, r->gradient, r->rotated);
    for (size_t k = 0; k < dim; k++) r->rotated[k] /= r->within * r->value[k] + added;
    rotate_back(r, r->rotated, r->move);
    la_axpy(dim, -1, r->move, r->w);
    trace_last(&r->result->trace)->step = la_norm(dim, r->move);
  }
  return BASE_OK;
}

/* Adds this phase's v to the average; sd: of the mean gradient. */
static void combine(struct run *r, double sd) {
  size_t dim = r->dim;
  double precision = square(r->within / sd), part = precision / (r->precision + precision);
  rotate(r, r->mean, r->rotated);
  for (size_t k = 0; k < dim; k++) r->rotated[k] *= r->value[k];
  rotate_back(r, r->rotated, r->move);
  la_axpy(dim, -1 / r->within, r->mean_gradient, r->move);
  la_scale(dim, 1 - part, r->equation);
  la_axpy(dim, part, r->move, r->equation);
  la_scale(dim, 1 - part, r->away);
  la_axpy(dim, part, r->mean, r->away);
  r->precision += precision;
}

/* The variance of v along an eigenvector, with the sampling error. */
static double noise_of(const struct run *r, size_t k) {
  double sampling = square(r->scale.sd) / ((double)oracle_rows(r->f.oracle) * r->within);
  return 1 / r->precision + sampling * r->value[k];
}

/* The prior of the intercept is the level. The mean of e^(b + f) is e^(b + s^2 / 2), f normal with variance s^2: for
 * counts the intercept is below the level by s^2 / 2, about which there is as much doubt as half of that. A robust
 * intercept is another one than the mean where residuals are skewed. */
static double expect_level(struct run *r) {
  if (!r->skip) return 0;
  double less = r->o->exponential ? variance_of(r, r->w) / 2 : 0, constant = oracle_constant(r->f.oracle);
  double skew = r->o->robust ? SKEW * r->scale.sd : 0;
  r->variance[0] = (square(r->o->level) + square(less / 2) + square(skew)) / square(constant);
  return -less / constant;
}

/* In the basis of the eigenvectors the noise of v is independent. */
static int solve(struct run *r) {
  size_t dim = r->dim;
  double shift = expect_level(r);
  memset(r->product, 0, dim * dim * sizeof(double));
  rotate(r, r->equation, r->rotated);
  for (size_t k = 0; k < dim; k++) {
    double noise = noise_of(r, k);
    const double *vector = r->matrix + k * dim;
    r->rotated[k] -= shift * r->value[k] * vector[0];
    for (size_t j = 0; j < dim; j++) {
      la_axpy(dim, square(r->value[k]) / noise * vector[j], vector, r->product + j * dim);
    }
    r->rotated[k] *= r->value[k] / noise;
  }
  rotate_back(r, r->rotated, r->move);
  const struct posterior_known p = {.dim = dim,
                                    .product = r->product,
                                    .weighted = r->move,
                                    .variance = r->variance,
                                    .scratch = r->scratch,
                                    .least = r->o->signal * r->spread,
                                    .levels = r->o->signals,
                                    .usual = r->o->usual * r->spread,
                                    .through_zero = !r->skip,
                                    .group = r->o->smooth};
  int status = posterior_known_mean(&p, r->mean, &r->first_variance);
  if (status != BASE_OK) return status;
  double sd = r->matrix_noise / sqrt(2 * (double)dim);
  for (size_t j = 0; j < dim; j++) r->w[j] = r->start[j] + posterior_seen(r->moment[j], sd) * r->mean[j];
  r->w[0] += shift;
  return BASE_OK;
}

/* The mean square of clipped residuals, of which the scale alone says little where they are skewed. */
static double clipped_square(const struct run *r) {
  double sum = 0;
  for (int j = 0; j < ENDS; j++) sum += r->count[j] * square(fmin(r->size[j], r->clip));
  return fmax(sum / r->o->present, square(r->scale.sd) * r->within);
}

/* The mean square of residuals, as far as counts exceed their noise. */
static double mean_square(const struct run *r) {
  double sum = 0;
  for (int j = 0; j < ENDS; j++) sum += r->count[j] > SURELY * r->count_sd ? r->count[j] * square(r->size[j]) : 0;
  return fmax(sum / r->o->present, square(r->scale.sd));
}

/* Without the level. */
static void rotate_columns(struct run *r, const double *x, double *to) {
  memcpy(r->move, x, r->dim * sizeof(double));
  memset(r->move, 0, r->skip * sizeof(double));
  rotate(r, r->move, to);
}

/* The number of coefficients that follow the records, as in ridge.c, with what is not known of v: the noise of g, the
 * sampling error, the noise of M, with variance half as large off the diagonal, and p. */
static void count_effective(struct run *r) {
  double sampling = clipped_square(r) / ((double)oracle_rows(r->f.oracle) * square(r->within));
  double matrix = square(r->matrix_noise) / (4 * (double)r->dim), far = 0, wanted = 0, effective = 0;
  double *v = r->mean_gradient, *away = r->mean, *w = r->gradient, *noise = r->rotated, *prior = r->move;
  rotate_columns(r, r->w, w);
  rotate_columns(r, r->away, away);
  rotate_columns(r, r->equation, v);
  for (size_t k = 0; k < r->dim; k++) {
    far += square(w[k] - away[k]);
    wanted += r->value[k] * square(w[k]);
  }
  for (size_t k = 0; k < r->dim; k++) {
    double doubt = DOUBT * (r->value[k] * away[k] - v[k]);
    noise[k] = 1 / r->precision + sampling * r->value[k] + matrix * far + square(doubt);
    prior[k] = 0;
    for (size_t j = r->skip; j < r->dim; j++) prior[k] += r->variance[j] * square(r->matrix[j + k * r->dim]);
  }
  posterior_follows(r->dim, r->value, v, noise, wanted, prior);
  for (size_t k = 0; k < r->dim; k++) effective += r->value[k] * prior[k];
  r->result->effective = effective;
}

static const struct field residual_fields[] = {
    FIELD(residual_options, COUNT, iterations),    FIELD(residual_options, NUMBER, matrix_share),
    FIELD(residual_options, NUMBER, counts_share), FIELD(residual_options, NUMBER, recalibration_share),
    FIELD(residual_options, FLAG, slopes),         FIELD(residual_options, NUMBER, present),
    FIELD(residual_options, NUMBER, curvature),    FIELD(residual_options, NUMBER, most),
    FIELD(residual_options, NUMBER, event),        FIELD(residual_options, FLAG, exponential),
    FIELD(residual_options, FLAG, robust),         FIELD(residual_options, FLAG, whole),
    FIELD(residual_options, NUMBER, level),        FIELD(residual_options, NUMBER, spread),
    FIELD(residual_options, NUMBER, centre),       FIELD(residual_options, NUMBER, clip),
    FIELD(residual_options, NUMBER, first),        FIELD(residual_options, NUMBER, reach),
    FIELD(residual_options, NUMBER, least),        FIELD(residual_options, NUMBER, iterate_sd),
    FIELD(residual_options, NUMBER, tail),         FIELD(residual_options, NUMBER, signal),
    FIELD(residual_options, COUNT, signals),       FIELD(residual_options, NUMBER, usual),
    FIELD(residual_options, NUMBER, level_correction),
    FIELD(residual_options, NUMBER, slope_correction), FIELD(residual_options, NUMBER, first_doubt),
    FIELD(residual_options, NUMBER, phase_doubt),  FIELD(residual_options, NUMBERS, smooth),
    FIELD(residual_options, NUMBERS, few),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(residual)
