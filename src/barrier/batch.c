/*
 * Steps on batches. What is charged is the Renyi divergence, at the ledger's
 * order, of everything that a step may release on its batch, amplified once
 * (privacy.md F): the base mechanism is the adaptive composition of a
 * gradient and second-order answers, all Gaussian, so Gaussian itself with
 * mu^2 = mu_g^2 + mu_H^2. Under replace-one its pair of neighbouring batches
 * is amplified by F1, whatever the scheme; under zero-out Poisson's by F3.
 *
 * Second-order answers are a Hessian, or the trace and the direction of
 * Newton's method (J2). That a direction's noise has a scale which follows from
 * what the step released before it changes nothing: given that, the scale is the
 * same for both neighbours and the means differ by at most the sensitivity, so
 * one random map takes the pair N(0, 1), N(mu, 1) to the step's answers on any
 * two neighbouring batches, and takes the mixtures of that pair with it.
 *
 * The divergence of a composition on one batch is more than the sum of the
 * parts', and cannot be charged as answers are asked for: a filter adds up
 * conditional divergences, and given the first answer the batch is no longer a
 * fresh one. Hence a step is charged when it is opened, and the ledger takes no
 * other charge before it is closed.
 *
 * A batch depends on no record, so its number of rows may be known; but sums
 * are divided by the public size, as the number is not the same for a
 * neighbour with one record more (privacy.md A5).
 */
#include "acct/acct.h"
#include "barrier/private.h"
#include "mech/mech.h"

#include <math.h>
#include <string.h>

#define MOST_TRIALS 60
#define ACCURACY 1e-9 /* of the cost */
/* A copy by rows costs as much as gathering this share of all rows from their columns. */
#define COPY_SHARE 0.25

static int check_sampling(const struct oracle *o, const struct oracle_sampling *how);
static int amplify(const struct oracle *o, const struct oracle_sampling *how, double rho, double *cost);
static int find_base(const struct oracle *o, const struct oracle_sampling *how, double cost, struct amplified *found);
static int excess(const struct oracle *o, const struct oracle_sampling *how, double log_rho, double cost,
                  double *value);
static int draw(const struct oracle *o, const struct oracle_sampling *how, struct batch *rows);
static void gather_from_records(struct oracle *o);
static struct oracle on_batch(const struct oracle *o, const struct batch *rows);
static struct oracle before_draw(const struct oracle *o, const struct oracle_sampling *how, struct batch *none);

int oracle_step_open(struct oracle *o, const struct oracle_sampling *how, const double *w, double cost,
                     double curvature_share) {
  oracle_step_close(o);
  int status = check_point(o, w);
  if (status == BASE_OK && !(curvature_share >= 0 && curvature_share <= 1)) status = BASE_ERR_ARGUMENT;
  if (curvature_share > 0 && data_dim(o->data) > ORACLE_MOST_DIM) status = BASE_ERR_ARGUMENT;
  struct amplified *bought = curvature_share < 1 ? &o->for_gradient : &o->for_hessian;
  if (status == BASE_OK) status = find_base(o, how, cost, bought);
  if (status != BASE_OK) return status;
  size_t dim = data_dim(o->data);
  double gradient_rho = bought->rho * (1 - curvature_share), curvature_rho = bought->rho * curvature_share;
  struct batch none;
  const struct oracle view = before_draw(o, how, &none);
  const char *what = curvature_share == 0 ? "batch gradient" : curvature_share == 1 ? "batch hessian" : "batch step";
  struct ledger_entry entry = {what, "gaussian on a batch", cost, 0, 0};
  if (gradient_rho > 0) {
    entry.sensitivity = sensitivity_gradient(&view, w);
    status = gaussian_scale(entry.sensitivity, gradient_rho, dim, &entry.scale);
  } else {
    entry.sensitivity = sensitivity_hessian(&view, w);
    status = gaussian_scale(entry.sensitivity, curvature_rho, dim * dim, &entry.scale);
  }
  if (status == BASE_OK) status = ledger_charge(o->ledger, o->neighbours, 0, &entry);
  if (status != BASE_OK) return status;
  ledger_step_begin(o->ledger);
  status = draw(o, how, &o->step.rows);
  if (status != BASE_OK) {
    oracle_step_close(o);
    return status;
  }
  gather_from_records(o);
  o->step.gradient_rho = gradient_rho;
  o->step.curvature_rho = curvature_rho;
  return BASE_OK;
}

int oracle_step_gradient(struct oracle *o, const double *w, double *gradient, double *sd) {
  const struct oracle view = step_view(o);
  size_t dim = data_dim(o->data);
  int status = check_point(o, w);
  if (status == BASE_OK) status = gaussian_scale(sensitivity_gradient(&view, w), o->step.gradient_rho, dim, sd);
  o->step.gradient_rho = 0;
  if (status == BASE_OK) status = sums_gradient(&view, w, gradient);
  if (status == BASE_OK) status = mech_gaussian(o->entropy, dim, *sd, gradient);
  if (status != BASE_OK) memset(gradient, 0, dim * sizeof(double));
  return status;
}

int oracle_step_hessian(struct oracle *o, const double *w, double *hessian, double *sd) {
  const struct oracle view = step_view(o);
  size_t dim = data_dim(o->data);
  int status = check_point(o, w);
  if (status == BASE_OK) status = gaussian_scale(sensitivity_hessian(&view, w), o->step.curvature_rho, dim * dim, sd);
  o->step.curvature_rho = 0;
  if (status == BASE_OK) status = sums_hessian(&view, w, hessian);
  if (status == BASE_OK) status = mech_symmetric(o->entropy, dim, *sd, hessian);
  if (status != BASE_OK) memset(hessian, 0, dim * dim * sizeof(double));
  return status;
}

double oracle_step_left(const struct oracle *o) { return o->step.curvature_rho; }

struct oracle step_view(const struct oracle *o) {
  return on_batch(o, &o->step.rows);
}

int step_gaussian(struct oracle *o, double sensitivity, double rho, size_t coordinates, double *sd) {
  if (!(rho > 0) || !(rho <= o->step.curvature_rho)) return BASE_ERR_ARGUMENT;
  int status = gaussian_scale(sensitivity, rho, coordinates, sd);
  if (status == BASE_OK) o->step.curvature_rho -= rho;
  return status;
}

void oracle_step_close(struct oracle *o) {
  struct batch *rows = &o->step.rows;
  if (rows->size > 0) ledger_step_end(o->ledger);
  if (rows->row) memset(rows->row, 0, rows->count * sizeof *rows->row);
  base_free(rows->row);
  memset(&o->step, 0, sizeof o->step);
}

void oracle_batches_end(struct oracle *o) {
  oracle_step_close(o);
  data_records_free(o->records);
  o->records = NULL;
  o->drawn = 0;
}

double oracle_sd_step_gradient(struct oracle *o, const struct oracle_sampling *how, const double *w, double cost) {
  struct batch none;
  const struct oracle view = before_draw(o, how, &none);
  int status = find_base(o, how, cost, &o->for_gradient);
  return status == BASE_OK ? oracle_sd_gradient(&view, w, o->for_gradient.rho) : INFINITY;
}

double oracle_sd_step_hessian(struct oracle *o, const struct oracle_sampling *how, const double *w, double cost) {
  struct batch none;
  const struct oracle view = before_draw(o, how, &none);
  int status = find_base(o, how, cost, &o->for_hessian);
  return status == BASE_OK ? oracle_sd_hessian(&view, w, o->for_hessian.rho) : INFINITY;
}

/* ---- accounting ---- */

static int check_sampling(const struct oracle *o, const struct oracle_sampling *how) {
  if (!(ledger_order(o->ledger) > 0)) return BASE_ERR_ACCOUNTANT;
  if (data_is_stream(o->data)) return BASE_ERR_ARGUMENT; /* rows cannot be asked for by their numbers */
  if (!(how->size > 0) || !(how->size < (double)o->data->n)) return BASE_ERR_ARGUMENT;
  if (how->scheme == ORACLE_POISSON) return BASE_OK;
  return how->size == floor(how->size) && o->neighbours == ORACLE_REPLACE_ONE ? BASE_OK : BASE_ERR_ARGUMENT;
}

/* In the ledger's unit, of releases of this rho on a fresh batch. */
static int amplify(const struct oracle *o, const struct oracle_sampling *how, double rho, double *cost) {
  const struct acct_leaf leaf = {.kind = ACCT_GAUSSIAN, .a = sqrt(2 * rho), .times = 1};
  const struct acct_step step = {
      .leaf = &leaf,
      .leaves = 1,
      .amplification = o->neighbours == ORACLE_REPLACE_ONE ? ACCT_PROFILE : ACCT_MIXTURE,
      .rate = how->size / (double)o->data->n * (1 + 0x1p-50), /* rounded up */
      .times = 1,
  };
  double order = ledger_order(o->ledger), divergence = 0;
  int status = acct_rdp_curve(&step, 1, 1, &order, &divergence);
  *cost = divergence / order;
  return status;
}

/* The largest rho that costs at most this much. It is at least the cost, and less than the cost over the
 * square of the rate, as without amplification and to first order in rho. Secants of the logarithms, one end's value
 * halved when it stays (the Illinois method), now and then a bisection; the lower end has been seen to cost no more. */
static int find_base(const struct oracle *o, const struct oracle_sampling *how, double cost, struct amplified *found) {
  int status = check_sampling(o, how);
  if (status != BASE_OK) return status;
  if (!(cost > 0) || !isfinite(cost)) return BASE_ERR_ARGUMENT;
  if (found->cost == cost && found->how.scheme == how->scheme && found->how.size == how->size) return BASE_OK;
  double low = log(cost) - 1e-14, high = log(cost) + 2 * log((double)o->data->n / how->size) + log(2.0), below, above;
  status = excess(o, how, low, cost, &below);
  if (status == BASE_OK) status = excess(o, how, high, cost, &above);
  for (int i = 0, side = 0; i < MOST_TRIALS && status == BASE_OK && below < -ACCURACY; i++) {
    double next = isfinite(above) && i % 4 < 3 ? (low * above - high * below) / (above - below) : (low + high) / 2;
    double found_there;
    status = excess(o, how, next, cost, &found_there);
    if (found_there <= 0) {
      low = next;
      below = found_there;
      if (side < 0) above /= 2;
      side = -1;
    } else {
      high = next;
      above = found_there;
      if (side > 0) below /= 2;
      side = 1;
    }
  }
  if (status == BASE_OK) *found = (struct amplified){*how, cost, exp(low)};
  return status;
}

/* log of what releases of rho cost over what they may. */
static int excess(const struct oracle *o, const struct oracle_sampling *how, double log_rho, double cost,
                  double *value) {
  double there;
  int status = amplify(o, how, exp(log_rho), &there);
  *value = log(there / cost);
  return status;
}

/* ---- batches ---- */

static int draw(const struct oracle *o, const struct oracle_sampling *how, struct batch *rows) {
  size_t n = o->data->n;
  rows->size = how->size;
  if (how->scheme == ORACLE_POISSON) {
    return mech_subset_poisson(o->entropy, n, how->size / (double)n, &rows->row, &rows->count);
  }
  rows->row = base_alloc((size_t)how->size, sizeof *rows->row);
  if (!rows->row) return BASE_ERR_MEMORY;
  rows->count = (size_t)how->size;
  int status = mech_subset_fixed(o->entropy, n, rows->count, rows->row);
  if (status != BASE_OK) rows->count = 0;
  return status;
}

/* Copied when as much time went into batches without it: at most twice what is best, however many follow. */
static void gather_from_records(struct oracle *o) {
  o->drawn += (double)o->step.rows.count;
  if (!o->records && o->drawn > COPY_SHARE * (double)o->data->n) o->records = data_records(o->data);
  o->step.rows.records = o->records;
}

static struct oracle on_batch(const struct oracle *o, const struct batch *rows) {
  struct oracle view = *o;
  view.batch = rows;
  return view;
}

static struct oracle before_draw(const struct oracle *o, const struct oracle_sampling *how, struct batch *none) {
  *none = (struct batch){.size = how->size};
  return on_batch(o, none);
}
