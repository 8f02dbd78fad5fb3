/*
 * The scale of residuals from noisy counts on a grid (query_residual_counts): the counts are fitted by those of a t
 * distribution with 5 degrees of freedom, by least squares, on a grid of scales. The result has the posterior mean of
 * the logarithm of the scale, whose prior is normal about the scale that is expected, or flat. Single noisy counts
 * would give quantiles with a larger error.
 *
 * A residual counts at the two ends around it, by linear interpolation, so that the fraction at an end j and beyond is
 * one minus the mean of the distribution function F of |r| between the ends j - 1 and j.
 *
 * far is a size that few residuals exceed: the middle of the first interval from which on the fraction does not exceed
 * FEW by more than the noise. As there are many ends, noise alone often makes one of the fractions this large; sizes of
 * more than LIKELY times the scale, which would cost most, need more evidence (inst/experiments/recalibration-rule.R).
 */
#include "method/private.h"

#include <math.h>

#define SCALES 97            /* 2^(-1/8) apart, from the last end on */
#define MISFIT 0.02          /* standard deviation of what the distribution of residuals differs by, and */
#define QUANTILE 1.103668273 /* of order .84, so that 68 % of the |r| are below it times the scale */
#define FEW 0.004 /* a small fraction, both of the records that are used */
#define DOUBT 1.5 /* standard deviations of the noise */
#define LIKELY 5  /* over the scale: residuals that are larger are rare, and */
#define EVIDENT 3 /* standard deviations of the noise tell that there are more */

static double misfit(const struct residual_counts *c, double scale);
static double unexpected(const struct residual_counts *c, double scale);
static double mean_below(double low, double high, double scale);
static double find_far(const struct residual_counts *c, double likely);

/* P(|T| < x / scale), T of the t distribution with 5 degrees of freedom. */
static double below(double x, double scale) {
  double angle = atan(x / (scale * sqrt(5))), cosine = cos(angle);
  return 2 / M_PI * (angle + sin(angle) * cosine * (1 + 2.0 / 3 * cosine * cosine));
}

struct residual_scale residual_scale(const struct residual_counts *c) {
  double fit[SCALES], least = INFINITY, total = 0, mean = 0, square = 0;
  double top = c->end[c->k - 1], other = MISFIT * c->present, variance = c->sd * c->sd + other * other;
  for (int i = 0; i < SCALES; i++) {
    double scale = top * exp2(-i / 8.0);
    fit[i] = (misfit(c, scale) / variance + unexpected(c, scale)) / 2;
    least = fmin(least, fit[i]);
  }
  for (int i = 0; i < SCALES; i++) {
    double posterior = exp(least - fit[i]);
    total += posterior;
    mean += posterior * (-i / 8.0);
    square += posterior * pow(i / 8.0, 2);
  }
  mean /= total;
  double scale = top * exp2(mean), sd = QUANTILE * scale, error = M_LN2 * sqrt(fmax(square / total - mean * mean, 0));
  return (struct residual_scale){.scale = scale, .sd = sd, .error = error, .far = find_far(c, LIKELY * sd)};
}

double residual_within(const struct residual_scale *s, double x) { return below(x, s->scale); }

/* Sum of squared differences of the counts. */
static double misfit(const struct residual_counts *c, double scale) {
  double sum = 0, before = 0;
  for (size_t j = 0; j < c->k; j++) {
    double up_to = j + 1 < c->k ? mean_below(c->end[j], c->end[j + 1], scale) : 1;
    double difference = c->count[j] - c->present * (up_to - before);
    sum += difference * difference;
    before = up_to;
  }
  return sum;
}

/* The square of the distance from the scale that is expected, in standard deviations. */
static double unexpected(const struct residual_counts *c, double scale) {
  double distance = c->doubt > 0 && c->expected > 0 ? log2(scale / c->expected) / c->doubt : 0;
  return distance * distance;
}

/* The mean of F between two ends, by Simpson's rule. */
static double mean_below(double low, double high, double scale) {
  return (below(low, scale) + 4 * below((low + high) / 2, scale) + below(high, scale)) / 6;
}

static double find_far(const struct residual_counts *c, double likely) {
  double far = c->end[c->k - 1], beyond = 0;
  for (size_t j = c->k - 1; j > 0; j--) {
    beyond += c->count[j];
    double noise = c->sd * sqrt((double)(c->k - j)), middle = (c->end[j - 1] + c->end[j]) / 2;
    double few = FEW * c->present + DOUBT * noise;
    if (beyond >= (middle > likely ? fmax(few, EVIDENT * noise) : few)) break;
    far = middle;
  }
  return far;
}
