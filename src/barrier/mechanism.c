/*
 * Mechanisms: from a sensitivity and a cost rho to the scale of the noise, and the draw.
 *
 *   gaussian     rho = D^2 / (2 sd^2); for k numbers, each with its own sensitivity, sd_i = D_i sqrt(k / (2 rho)):
 *                sum D_i^2 / (2 sd_i^2) = rho (proofs: several-scales)
 *   symmetric    the same for a symmetric matrix and the Frobenius norm, with noise of sd on and sd / sqrt(2) off the
 *                diagonal (proofs: symmetric-noise)
 *   first        sparse vector with scales 2 D / eps and 4 D / eps, which is eps-DP: rho <= 0.11 eps^2 for at most 20
 *                queries (certified numerically) and eps^2 / 2 always (proofs: sparse-vector, sparse-vector-cost)
 *                On a batch the cost is eps itself, which the sampling amplifies
 *   best         exponential mechanism on scores whose differences have range D: with temperature D / eta
 *                rho = eta^2 / 8 (proofs: exponential-mechanism)
 */
#include "barrier/private.h"
#include "mech/mech.h"

#include <math.h>

/* ---- Gaussian noise ---- */

/* The sampler rounds its argument to 2^-52 of a lattice spacing of at most
 * sd / 2^30; over c coordinates this adds at most sqrt(c) 2^-82 sd to the
 * sensitivity, which the factor SLACK covers as long as mu >= sqrt(c) 2^-41. */
#define SLACK (1 + 0x1p-40)

int gaussian_scale(double sensitivity, double rho, size_t coordinates, double *sd) {
  double mu = sqrt(2 * rho);
  if (!(mu >= sqrt((double)coordinates) * 0x1p-41)) return BASE_ERR_ARGUMENT;
  *sd = sensitivity / mu * SLACK;
  return *sd > 0 && isfinite(*sd) ? BASE_OK : BASE_ERR_ARGUMENT;
}

static int scale_gaussian(size_t k, double rho, struct noise *noise) {
  return gaussian_scale(noise->sensitivity, rho, k, &noise->scale);
}

static double guess_gaussian(size_t k, double sensitivity, double rho) {
  (void)k;
  return sensitivity / sqrt(2 * rho) * SLACK;
}

static int draw_gaussian(const struct base_entropy *e, size_t k, const struct noise *noise, double *x, size_t *index) {
  (void)index;
  return mech_gaussian(e, k, noise->scale, x);
}

const struct mechanism mechanism_gaussian = {
    .name = "gaussian", .gaussian = 1, .scale = scale_gaussian, .guess = guess_gaussian, .draw = draw_gaussian};

static int draw_each(const struct base_entropy *e, size_t k, const struct noise *noise, double *x, size_t *index) {
  (void)index;
  return mech_gaussian_each(e, k, noise->each, x);
}

const struct mechanism mechanism_each = {
    .name = "gaussian", .gaussian = 1, .each = 1, .scale = scale_gaussian, .guess = guess_gaussian, .draw = draw_each};

static int draw_symmetric(const struct base_entropy *e, size_t k, const struct noise *noise, double *x, size_t *index) {
  (void)index;
  return mech_symmetric(e, (size_t)(sqrt((double)k) + 0.5), noise->scale, x);
}

const struct mechanism mechanism_symmetric = {
    .name = "gaussian", .gaussian = 1, .scale = scale_gaussian, .guess = guess_gaussian, .draw = draw_symmetric};

/* ---- the first of k queries that is not negative ---- */

static double eps_of(size_t k, double rho) { return sqrt(rho / (k <= 20 ? 0.11 : 0.5)); }
static int can_draw(double eps) { return eps >= 0x1p-18 && isfinite(eps); }

/*
 * Noisy queries and threshold are compared on their lattices (spacing at most
 * 2^-30 of a scale of at most 4 D / eps): a shift by D becomes one by at most
 * D + 2^-27 D / eps on the lattice, hence the enlarged sensitivity. An eps so
 * small that this would dominate is refused, because C3 is certified only far from it.
 */
static int scale_pure(size_t k, double eps, struct noise *noise) {
  (void)k;
  noise->parameter = eps;
  if (!can_draw(eps)) return BASE_ERR_ARGUMENT;
  noise->sensitivity *= 1 + 0x1p-26 / noise->parameter;
  noise->scale = 4 * noise->sensitivity / noise->parameter;
  return BASE_OK;
}

static int scale_first(size_t k, double rho, struct noise *noise) { return scale_pure(k, eps_of(k, rho), noise); }

static double guess_pure(size_t k, double sensitivity, double eps) {
  (void)k;
  return can_draw(eps) ? 4 * sensitivity / eps : INFINITY;
}

static double guess_first(size_t k, double sensitivity, double rho) {
  return guess_pure(k, sensitivity, eps_of(k, rho));
}

static int draw_first(const struct base_entropy *e, size_t k, const struct noise *noise, double *x, size_t *index) {
  return mech_sparse_vector(e, k, x, noise->sensitivity, noise->parameter, index);
}

const struct mechanism mechanism_first = {
    .name = "sparse vector", .chooses = 1, .scale = scale_first, .guess = guess_first, .draw = draw_first};

const struct mechanism mechanism_first_pure = {
    .name = "sparse vector", .chooses = 1, .scale = scale_pure, .guess = guess_pure, .draw = draw_first};

/* ---- one of k with a large score ---- */

/* The sampler rounds scores to 2^-32 of the temperature: eta grows by at most 2^-30. */
static int scale_best(size_t k, double rho, struct noise *noise) {
  double eta = sqrt(8 * rho) - 0x1p-30;
  (void)k;
  if (!(eta > 0)) return BASE_ERR_ARGUMENT;
  noise->scale = noise->sensitivity / eta;
  return BASE_OK;
}

static double guess_best(size_t k, double sensitivity, double rho) {
  (void)k;
  return sensitivity / sqrt(8 * rho);
}

static int draw_best(const struct base_entropy *e, size_t k, const struct noise *noise, double *x, size_t *index) {
  return mech_exponential(e, k, x, noise->scale, index);
}

const struct mechanism mechanism_best = {
    .name = "exponential", .chooses = 1, .scale = scale_best, .guess = guess_best, .draw = draw_best};
