/*
 * The last step of a run by residuals (residual.c). The mean of residuals with a wider clip, and their product with the
 * prediction, correct what small clips do to residuals that are not symmetric: the level, and one factor for all
 * slopes.
 */
#include "method/residual.h"

#define EXPECTED 0.2   /* of a correction of counts, over the scale of the residuals and over the slopes */
#define DOUBT 1        /* standard deviations by which the mean of counts may be below their level */
#define LEVEL_CLIP 1.5 /* clip of the residuals for the level, over their scale */

/* The standard deviation of the prediction over the records; leaves the slopes in r->move. */
static double spread_of(struct run *r, const double *w) { return sqrt(fmax(variance_of(r, w), 1e-12)); }

/* The posterior mean of a correction, given an estimate of this variance. Where residuals are symmetric its variance is
 * `least`, elsewhere sd^2 more; both are equally likely. */
static double correction(double estimate, double variance, double least, double sd) {
  double small = variance + least, large = small + sd * sd;
  double odds = sqrt(small / large) * exp(fmin(square(estimate) / 2 * (1 / small - 1 / large), 100));
  return estimate * (1 - variance * (1 / small + odds / large) / (1 + odds));
}

/* Releases the means of (1, f / 2) clip(r, clip), or the first of them, and their standard deviation. */
static int release_means(struct run *r, const double *w, const double *f, double clip, double estimate[2], double *sd) {
  double h = r->o->curvature, rho = r->o->recalibration_share * r->rho;
  const struct ask ask = {.at = w, .along = f, .clip = h * clip};
  int status = release(oracle_all(r->f.oracle), &query_recalibration, &ask, rho, (struct answer){estimate, sd, NULL});
  if (status == BASE_OK) status = trace_note(&r->result->trace, "recalibration", h * clip, *sd, rho);
  if (status != BASE_OK) return status;
  la_scale(f ? 2 : 1, 1 / h, estimate);
  *sd /= h;
  return BASE_OK;
}

/* The variance of the level: that of the intercept, and what the noise of the centres adds. */
static double level_variance(const struct run *r, const double *w) {
  double variance = square(oracle_constant(r->f.oracle)) * r->first_variance;
  for (size_t j = 1; j < r->dim; j++) variance += square(w[j] * centre_sd(r, j));
  return variance;
}

/* A clip beyond which hardly any residual is. */
static double wide_clip(const struct run *r) {
  return fmin(fmin(fmax(2 * r->clip, r->scale.far), 6 * r->clip), r->most);
}

/* By the mean of (1, f / 2) clip(r, C), f the prediction without its level over its standard deviation. */
static int recalibrate(struct run *r, double *w) {
  double sd, estimate[2], spread = spread_of(r, w), known = level_variance(r, w);
  la_scale(r->dim, 1 / spread, r->move);
  int status = release_means(r, w, r->move, wide_clip(r), estimate, &sd);
  if (status != BASE_OK) return status;
  double present = r->o->present, sampling = square(r->scale.sd) * present / (double)oracle_rows(r->f.oracle);
  double level = correction(estimate[0], sd * sd + sampling, known, r->o->level_correction * r->scale.sd);
  double slope = correction(2 * estimate[1], 4 * sd * sd + sampling, 0, r->o->slope_correction * spread);
  if (r->skip) w[0] -= level / (present * oracle_constant(r->f.oracle));
  la_scale(r->dim - r->skip, 1 - slope / (present * spread), w + r->skip);
  return BASE_OK;
}

/* The level alone, whose variance is known. A robust estimate keeps its clip, as another one has another level. */
static int recalibrate_level(struct run *r, double *w) {
  double clip = r->o->robust ? r->clip : fmin(LEVEL_CLIP * r->scale.sd, r->most);
  double sd, estimate[2], variance = level_variance(r, w);
  int status = release_means(r, w, NULL, clip, estimate, &sd);
  if (status != BASE_OK) return status;
  double within = residual_within(&r->scale, clip) * r->o->present;
  w[0] -= estimate[0] / within * variance / (variance + square(sd / within)) / oracle_constant(r->f.oracle);
  return BASE_OK;
}

/* Of counts, where noise may be large on the scale of logarithms: corrections are shrunk by what small clips are
 * expected to do, in addition to the variance of the level. */
static int recalibrate_counts(struct run *r, double *w) {
  int slopes = r->o->slopes;
  double sd, estimate[2] = {0}, spread = spread_of(r, w), s = slopes ? spread : 0;
  double known = level_variance(r, w) + square(EXPECTED * r->scale.sd), factor = square(EXPECTED * spread);
  la_scale(r->dim, 1 / spread, r->move);
  int status = release_means(r, w, slopes ? r->move : NULL, fmin(2 * r->clip, r->most), estimate, &sd);
  if (status != BASE_OK) return status;
  double present = r->o->present, sampling = square(r->scale.sd) * present / (double)oracle_rows(r->f.oracle);
  double first = sd * sd + sampling, second = 4 * sd * sd + sampling;
  double level = (1 + s * s) * estimate[0] - 2 * s * estimate[1], slope = 2 * estimate[1] - s * estimate[0];
  level *= known / (known + square(1 + s * s) * first + s * s * second);
  slope *= factor / (factor + second + s * s * first);
  w[0] -= level / (present * oracle_constant(r->f.oracle));
  if (slopes) la_scale(r->dim - 1, 1 - slope / (present * spread), w + 1);
  return BASE_OK;
}

/* Small clips make the mean of skewed counts too small. The level was released, and the mean of e^(b + f), f about
 * normal with mean m and variance s^2, is e^(b + m + s^2 / 2), with the doubt of expect_level() in residual.c: the
 * intercept is raised as far as neither noise nor doubt explains. */
static void keep_level(struct run *r, double *w) {
  double second = variance_of(r, w), constant = oracle_constant(r->f.oracle), mean = 0;
  for (size_t k = 0; k < r->dim; k++) mean += r->value[k] * r->matrix[k * r->dim] * r->rotated[k];
  mean /= constant * r->o->present;
  double half = fmax(second - square(mean), 0) / 2, doubt = sqrt(square(r->o->level) + square(half / 2));
  w[0] = fmax(w[0], r->start[0] - (mean + half + DOUBT * doubt) / constant);
}

int residual_recalibrate(struct run *r, double *w) {
  if (r->o->exponential) {
    int status = recalibrate_counts(r, w);
    if (status == BASE_OK && r->o->whole) keep_level(r, w);
    return status;
  }
  if (r->o->slopes) return recalibrate(r, w);
  return r->skip ? recalibrate_level(r, w) : BASE_OK;
}
