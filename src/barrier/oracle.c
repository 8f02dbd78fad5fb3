/*
 * The oracle: charge, then compute, then draw, then answer.
 *
 * Every release below follows the same lines: the sensitivity of the computed
 * quantity (sensitivity.c), the noise scale that this sensitivity and rho
 * give, the charge, the exact sum (sums.c), the noise (mech). No caller passes
 * a sensitivity. After the charge nothing is refunded.
 */
#include "barrier/private.h"
#include "la/la.h"
#include "mech/mech.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The sampler rounds what it is given to 2^-52 of a lattice spacing of at most
 * sd / 2^30; over c coordinates this adds at most sqrt(c) 2^-82 sd to the
 * sensitivity, which the factor SLACK covers as long as mu >= sqrt(c) 2^-41. */
#define SLACK (1 + 0x1p-40)

static int check_steps(size_t k, const double *step);
static double eps_first_step(size_t k, double rho);
static double sensitivity_first_step(const struct oracle *o, const double *w, const double *direction, size_t k,
                                     const double *step, const double *offset, int scale_free);
static double range_best_step(const struct oracle *o, const double *w, const double *direction, size_t k,
                              const double *step, const double *offset);
static double rounding_of_score(const struct oracle *o, double sensitivity, double offset);
static double largest(size_t k, const double *x);
static double smallest(size_t k, const double *x);

int oracle_create(const struct data *data, const struct loss *loss, struct ledger *ledger,
                  const struct base_entropy *entropy, enum oracle_neighbours neighbours, struct oracle **out) {
  *out = NULL;
  struct oracle *o = base_alloc(1, sizeof *o);
  if (!o) return BASE_ERR_MEMORY;
  o->data = data;
  o->loss = loss;
  o->ledger = ledger;
  o->entropy = entropy;
  o->neighbours = neighbours;
  *out = o;
  return BASE_OK;
}

void oracle_free(struct oracle *oracle) {
  if (oracle) oracle_batches_end(oracle);
  base_free(oracle);
}

size_t oracle_dim(const struct oracle *o) { return data_dim(o->data); }
size_t oracle_rows(const struct oracle *o) { return data_rows(o->data); }
double oracle_divisor(const struct oracle *o) { return o->batch ? o->batch->size : (double)o->data->n; }
double oracle_left(const struct oracle *o) { return ledger_left(o->ledger); }

double oracle_lipschitz(const struct oracle *o) { return loss_bounds_of(o->loss)->lipschitz; }

double oracle_smoothness(const struct oracle *o) {
  const struct loss_bounds *b = loss_bounds_of(o->loss);
  return b->curv_lower > b->curv_upper ? b->curv_lower : b->curv_upper;
}

double oracle_curv_lower(const struct oracle *o) { return loss_bounds_of(o->loss)->curv_lower; }
double oracle_third(const struct oracle *o) { return loss_bounds_of(o->loss)->third; }
double oracle_floor(const struct oracle *o) { return loss_bounds_of(o->loss)->floor; }
double oracle_at_zero(const struct oracle *o) { return loss_bounds_of(o->loss)->at_zero; }

double oracle_sd_value(const struct oracle *o, const double *w, double rho) {
  return sensitivity_value(o, w) / sqrt(2 * rho) * SLACK;
}

double oracle_sd_gradient(const struct oracle *o, const double *w, double rho) {
  return sensitivity_gradient(o, w) / sqrt(2 * rho) * SLACK;
}

double oracle_sd_hessian(const struct oracle *o, const double *w, double rho) {
  return sensitivity_hessian(o, w) / sqrt(2 * rho) * SLACK;
}

double oracle_sd_majorant(const struct oracle *o, const double *w, double rho) {
  return sensitivity_majorant(o, w) / sqrt(2 * rho) * SLACK;
}

double oracle_sd_decrease(const struct oracle *o, const double *w, const double *direction, double step, double rho) {
  return sensitivity_decrease(o, w, direction, step) / sqrt(2 * rho) * SLACK;
}

int oracle_value(struct oracle *o, const double *w, double rho, double *value, double *sd) {
  int status = check_point(o, w);
  if (status == BASE_OK) status = charge_gaussian(o, "value", sensitivity_value(o, w), rho, 1, sd);
  double exact = 0;
  if (status == BASE_OK) status = sums_value(o, w, &exact);
  if (status == BASE_OK) status = mech_gaussian(o->entropy, 1, *sd, &exact);
  *value = status == BASE_OK ? exact : 0;
  return status;
}

int oracle_gradient(struct oracle *o, const double *w, double rho, double *gradient, double *sd) {
  size_t dim = data_dim(o->data);
  int status = check_point(o, w);
  if (status == BASE_OK) status = charge_gaussian(o, "gradient", sensitivity_gradient(o, w), rho, dim, sd);
  if (status == BASE_OK) status = sums_gradient(o, w, gradient);
  if (status == BASE_OK) status = mech_gaussian(o->entropy, dim, *sd, gradient);
  if (status != BASE_OK) memset(gradient, 0, dim * sizeof(double));
  return status;
}

int oracle_model_gradient(struct oracle *o, const double *w, const double *direction, double rho, double *gradient,
                          double *sd) {
  size_t dim = data_dim(o->data);
  int status = check_point(o, w);
  if (status == BASE_OK) status = check_point(o, direction);
  if (status == BASE_OK) {
    status = charge_gaussian(o, "model gradient", sensitivity_model_gradient(o, w, direction), rho, dim, sd);
  }
  if (status == BASE_OK) status = sums_model_gradient(o, w, direction, gradient);
  if (status == BASE_OK) status = mech_gaussian(o->entropy, dim, *sd, gradient);
  if (status != BASE_OK) memset(gradient, 0, dim * sizeof(double));
  return status;
}

int oracle_hessian(struct oracle *o, const double *w, double rho, double *hessian, double *sd) {
  size_t dim = data_dim(o->data);
  if (dim > ORACLE_MOST_DIM) return BASE_ERR_ARGUMENT;
  int status = check_point(o, w);
  if (status == BASE_OK) status = charge_gaussian(o, "hessian", sensitivity_hessian(o, w), rho, dim * dim, sd);
  if (status == BASE_OK) status = sums_hessian(o, w, hessian);
  if (status == BASE_OK) status = mech_symmetric(o->entropy, dim, *sd, hessian);
  if (status != BASE_OK) memset(hessian, 0, dim * dim * sizeof(double));
  return status;
}

/* k Gaussian releases at once: with sd_i = D_i sqrt(k / (2 rho)) the cost is
 * sum D_i^2 / (2 sd_i^2) = rho (privacy.md C4). */
int oracle_decreases(struct oracle *o, const double *w, const double *direction, size_t k, const double *step,
                     double rho, double *decrease, double *sd) {
  int status = check_steps(k, step);
  if (status == BASE_OK) status = check_point(o, w);
  if (status == BASE_OK) status = check_point(o, direction);
  if (status != BASE_OK) return status;
  double widest = 0;
  for (size_t i = 0; i < k; i++) {
    double sensitivity = sensitivity_decrease(o, w, direction, step[i]);
    status = gaussian_scale(sensitivity, rho / (double)k, 1, &sd[i]);
    if (status != BASE_OK) return status;
    if (sensitivity > widest) widest = sensitivity;
  }
  struct ledger_entry entry = {"line search", "gaussian", rho, widest, largest(k, sd)};
  status = ledger_charge(o->ledger, o->neighbours, 1, &entry);
  if (status == BASE_OK) status = sums_decreases(o, w, direction, k, step, decrease);
  if (status == BASE_OK) status = mech_gaussian_each(o->entropy, k, sd, decrease);
  if (status != BASE_OK) memset(decrease, 0, k * sizeof(double));
  return status;
}

/*
 * Sparse vector on q_i = (decrease_i + offset_i) / step_i, which is >= 0 when
 * the condition holds and has the same sensitivity for every step (privacy.md
 * A4), or on q_i itself with the sensitivity of the largest step.
 * An eps-DP sparse vector with this split costs rho <= 0.11 eps^2 for at most
 * 20 queries (privacy.md C3, numerically certified) and eps^2 / 2 always.
 * Noisy queries and threshold are compared on their lattices (spacing at most
 * 2^-30 of a scale of at most 4 D / eps): a shift by D becomes one by at most
 * D + 2^-27 D / eps on the lattice, hence the enlarged sensitivity. An eps so
 * small that this would dominate is refused: C3 is certified far from it only.
 */
int oracle_first_step(struct oracle *o, const double *w, const double *direction, size_t k, const double *step,
                      const double *offset, int scale_free, double rho, size_t *index) {
  *index = k;
  int status = check_steps(k, step);
  if (status == BASE_OK) status = check_point(o, w);
  if (status == BASE_OK) status = check_point(o, direction);
  if (status != BASE_OK) return status;
  double eps = eps_first_step(k, rho);
  if (!(eps >= 0x1p-18)) return BASE_ERR_ARGUMENT;
  double sensitivity = sensitivity_first_step(o, w, direction, k, step, offset, scale_free) * (1 + 0x1p-26 / eps);
  struct ledger_entry entry = {"line search", "sparse vector", rho, sensitivity, 4 * sensitivity / eps};
  double *query = base_alloc(k, sizeof(double));
  if (!query) return BASE_ERR_MEMORY;
  status = ledger_charge(o->ledger, o->neighbours, 0, &entry);
  if (status == BASE_OK) status = sums_decreases(o, w, direction, k, step, query);
  if (status == BASE_OK) {
    for (size_t i = 0; i < k; i++) query[i] = (query[i] + offset[i]) / (scale_free ? step[i] : 1);
    status = mech_sparse_vector(o->entropy, k, query, sensitivity, eps, index);
  }
  memset(query, 0, k * sizeof(double));
  base_free(query);
  return status;
}

static double eps_first_step(size_t k, double rho) { return sqrt(rho / (k <= 20 ? 0.11 : 0.5)); }

static double sensitivity_first_step(const struct oracle *o, const double *w, const double *direction, size_t k,
                                     const double *step, const double *offset, int scale_free) {
  double sensitivity = 0;
  for (size_t i = 0; i < k; i++) {
    double d = sensitivity_decrease(o, w, direction, step[i]);
    d = (d + rounding_of_score(o, d, offset[i])) / (scale_free ? step[i] : 1);
    if (d > sensitivity) sensitivity = d;
  }
  return sensitivity;
}

double oracle_scale_first_step(const struct oracle *o, const double *w, const double *direction, size_t k,
                               const double *step, const double *offset, int scale_free, double rho) {
  return 4 * sensitivity_first_step(o, w, direction, k, step, offset, scale_free) / eps_first_step(k, rho);
}

/*
 * Exponential mechanism on decrease_i + offset_i. Two neighbours' scores
 * differ by a function of the step with slope at most 2 L |d| / n, so their
 * range is that times the spread of the steps; bounded range eta costs
 * rho = eta^2 / 8 (privacy.md C4). The sampler rounds scores to 2^-32 of the
 * temperature: eta grows by at most 2^-30.
 */
int oracle_best_step(struct oracle *o, const double *w, const double *direction, size_t k, const double *step,
                     const double *offset, double rho, size_t *index) {
  *index = k;
  int status = check_steps(k, step);
  if (status == BASE_OK) status = check_point(o, w);
  if (status == BASE_OK) status = check_point(o, direction);
  double eta = sqrt(8 * rho) - 0x1p-30;
  if (status != BASE_OK || !(eta > 0)) return BASE_ERR_ARGUMENT;
  double range = range_best_step(o, w, direction, k, step, offset);
  struct ledger_entry entry = {"line search", "exponential", rho, range, range / eta};
  double *score = base_alloc(k, sizeof(double));
  if (!score) return BASE_ERR_MEMORY;
  status = ledger_charge(o->ledger, o->neighbours, 0, &entry);
  if (status == BASE_OK) status = sums_decreases(o, w, direction, k, step, score);
  if (status == BASE_OK) {
    for (size_t i = 0; i < k; i++) score[i] += offset[i];
    status = mech_exponential(o->entropy, k, score, range / eta, index);
  }
  memset(score, 0, k * sizeof(double));
  base_free(score);
  return status;
}

static double range_best_step(const struct oracle *o, const double *w, const double *direction, size_t k,
                              const double *step, const double *offset) {
  double top = largest(k, step), more = 0;
  double range = sensitivity_spread(o, w, direction, top, top - smallest(k, step));
  for (size_t i = 0; i < k; i++) {
    double r = rounding_of_score(o, sensitivity_decrease(o, w, direction, step[i]), offset[i]);
    if (r > more) more = r;
  }
  return range + 2 * more;
}

double oracle_scale_best_step(const struct oracle *o, const double *w, const double *direction, size_t k,
                              const double *step, const double *offset, double rho) {
  return range_best_step(o, w, direction, k, step, offset) / sqrt(8 * rho);
}

int gaussian_scale(double sensitivity, double rho, size_t coordinates, double *sd) {
  double mu = sqrt(2 * rho);
  if (!(mu >= sqrt((double)coordinates) * 0x1p-41)) return BASE_ERR_ARGUMENT;
  *sd = sensitivity / mu * SLACK;
  return *sd > 0 && isfinite(*sd) ? BASE_OK : BASE_ERR_ARGUMENT;
}

int charge_gaussian(struct oracle *o, const char *what, double sensitivity, double rho, size_t coordinates,
                    double *sd) {
  int status = gaussian_scale(sensitivity, rho, coordinates, sd);
  if (status != BASE_OK) return status;
  struct ledger_entry entry = {what, "gaussian", rho, sensitivity, *sd};
  return ledger_charge(o->ledger, o->neighbours, 1, &entry);
}

/* Far below overflow, so that every exact sum is finite whatever the data are
 * and no later error depends on them. */
int check_point(const struct oracle *o, const double *w) {
  return la_norm(data_dim(o->data), w) <= 1e100 ? BASE_OK : BASE_ERR_ARGUMENT;
}

static int check_steps(size_t k, const double *step) {
  if (k == 0) return BASE_ERR_ARGUMENT;
  for (size_t i = 0; i < k; i++) {
    if (!(step[i] > 0) || !(step[i] <= 1e50)) return BASE_ERR_ARGUMENT;
  }
  return BASE_OK;
}

/* A decrease is at most n times its sensitivity; the sum with its offset, and the division by the step, round it once
 * each, in both data sets. */
static double rounding_of_score(const struct oracle *o, double sensitivity, double offset) {
  return 4 * DBL_EPSILON * ((double)data_rows(o->data) * sensitivity + fabs(offset));
}

static double largest(size_t k, const double *x) {
  double m = x[0];
  for (size_t i = 1; i < k; i++) m = x[i] > m ? x[i] : m;
  return m;
}

static double smallest(size_t k, const double *x) {
  double m = x[0];
  for (size_t i = 1; i < k; i++) m = x[i] < m ? x[i] : m;
  return m;
}
