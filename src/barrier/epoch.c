/*
 * An epoch: a gradient on fresh records, differences of gradients on further ones, and their sums so far, with
 * correlated noise. A leaf x_t is exact and stays inside; y_t = sum_j C_tj x_j + noise is an ordinary release, and the
 * result sum_j B_tj y_j is computed from released numbers (factor.c).
 *
 * A replaced record is in one leaf, which changes by at most the sensitivity of the first one, so that all y
 * together change by at most that times the norm of C's column, and the noise is proportional to it. This holds
 * although later leaves, and the end of an epoch, depend on releases: the next epoch has further records and
 * noise of its own (proofs: fresh-records, prefix-sums).
 *
 * The Hessian of the first leaf's records is released once, or kept inside; then `products` products with it are
 * released, which share the cost equally (proofs: sensitivity-product).
 */
#include "barrier/private.h"
#include "la/la.h"
#include "mech/mech.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Enough to hide rounding errors by noise that is as good as nothing. */
#define ROUNDING_PART 1e-4

static int check_epoch(const struct oracle *o, const struct epoch *how, const double *w, const double *hessian);
static int scales(const struct scope *s, double rho, const struct epoch *how, const double *w, double *leaf,
                  struct epoch_sd *sd);
static double encoding_error(const struct scope *s, size_t leaves);
static struct scope first_scope(struct oracle *o, const struct epoch *how, struct batch *batch);
static int make_room(struct epoch_sums *e, const struct epoch *how, size_t dim);
static int sum_first(struct scope *s, const double *w, double *leaf, double *hessian);
static int add_leaf(struct oracle *o, const double *w, double *gradient, double *sd);

int epoch_open(struct oracle *o, const struct epoch *how, const double *w, double *gradient, double *hessian,
               struct epoch_sd *sd) {
  size_t dim = o->model.dim;
  int status = check_epoch(o, how, w, hessian);
  if (status != BASE_OK) return status;
  fresh_end_epoch(o->fresh);
  struct epoch_sums *e = &o->fresh->epoch;
  struct batch batch;
  struct scope s = first_scope(o, how, &batch);
  double leaf;
  status = scales(&s, o->fresh->rho, how, w, &leaf, sd);
  if (status == BASE_OK) status = make_room(e, how, dim);
  e->leaf = leaf;
  e->sd = sd->gradient;
  e->start = bounds_norm(&s, w);
  if (status == BASE_OK) status = fresh_take(o, &batch);
  if (status == BASE_OK) status = sum_first(&s, w, e->leaves, hessian ? hessian : e->hessian);
  if (status == BASE_OK && hessian) status = mech_symmetric(o->entropy, dim, sd->hessian, hessian);
  if (status == BASE_OK) status = add_leaf(o, w, gradient, &sd->gradient);
  if (status == BASE_OK) return BASE_OK;
  fresh_end_epoch(o->fresh);
  memset(gradient, 0, dim * sizeof(double));
  if (hessian) memset(hessian, 0, dim * dim * sizeof(double));
  return status;
}

int epoch_leaf(struct oracle *o, const double *w, size_t records, double *gradient, double *sd) {
  size_t dim = o->model.dim;
  memset(gradient, 0, dim * sizeof(double));
  if (!o->fresh || o->fresh->epoch.steps == 0 || records == 0) return BASE_ERR_ARGUMENT;
  struct epoch_sums *e = &o->fresh->epoch;
  struct batch batch = {.count = records, .size = (double)records};
  const struct scope s = fresh_scope(o, &batch);
  int status = e->steps < e->how.leaves ? check_point(o, w) : BASE_ERR_ARGUMENT;
  if (status == BASE_OK && !(sensitivity_difference(&s, w, e->at) <= e->leaf)) status = BASE_ERR_ARGUMENT;
  if (status == BASE_OK) status = fresh_take(o, &batch);
  if (status != BASE_OK) return status; /* nothing was read, and the epoch continues */
  const struct ask ask = {.at = w, .along = e->at};
  status = scope_mean(&s, &sum_difference, &ask, e->leaves + e->steps * dim);
  if (status == BASE_OK) status = add_leaf(o, w, gradient, sd);
  if (status == BASE_OK) return BASE_OK;
  fresh_end_epoch(o->fresh);
  memset(gradient, 0, dim * sizeof(double));
  return status;
}

int epoch_product(struct oracle *o, const double *v, double *product, double *sd) {
  size_t dim = o->model.dim;
  memset(product, 0, dim * sizeof(double));
  if (!o->fresh || !o->fresh->epoch.hessian) return BASE_ERR_ARGUMENT;
  if (base_process_id() != o->fresh->owner) return BASE_ERR_FORK;
  struct epoch_sums *e = &o->fresh->epoch;
  if (e->products == e->how.products) return BASE_ERR_ARGUMENT;
  struct batch batch;
  const struct scope s = first_scope(o, &e->how, &batch);
  double rho = o->fresh->rho * e->how.curvature_share / (double)e->how.products;
  int status = check_point(o, v);
  if (status == BASE_OK) status = gaussian_scale(sensitivity_product(&s, e->start, v), rho, dim, sd);
  if (status != BASE_OK) return status;
  e->products++;
  la_matvec(dim, dim, e->hessian, dim, v, product);
  status = mech_gaussian(o->entropy, dim, *sd, product);
  if (status != BASE_OK) memset(product, 0, dim * sizeof(double));
  return status;
}

/* The change of a difference by one record falls with the number of records; its rounding error does not. */
size_t epoch_records(struct oracle *o, const double *w) {
  if (!o->fresh || o->fresh->epoch.steps == 0) return SIZE_MAX;
  const struct epoch_sums *e = &o->fresh->epoch;
  struct batch batch = {.count = 1, .size = 1};
  const struct scope s = fresh_scope(o, &batch);
  double one = sensitivity_difference(&s, w, e->at), error = sensitivity_difference(&s, w, w);
  double records = one <= e->leaf ? 1 : ceil((one - error) / (e->leaf - error));
  if (!(e->leaf > 2 * error) || !(records < (double)(SIZE_MAX / 2))) return SIZE_MAX;
  batch.count = (size_t)records;
  batch.size = records;
  while (!(sensitivity_difference(&s, w, e->at) <= e->leaf)) batch.size = (double)++batch.count;
  return batch.count;
}

struct epoch_sd epoch_noise(struct oracle *o, double rho, const struct epoch *how, const double *w) {
  const struct batch batch = {.count = how->records, .size = (double)how->records};
  const struct scope s = {.oracle = o, .of = &batch, .exact = 1};
  struct epoch_sd sd;
  double leaf;
  if (scales(&s, rho, how, w, &leaf, &sd) != BASE_OK) return (struct epoch_sd){INFINITY, INFINITY};
  sd.gradient *= factor_row(how->factor, how->leaves - 1);
  return sd;
}

static int check_epoch(const struct oracle *o, const struct epoch *how, const double *w, const double *hessian) {
  double share = how->curvature_share;
  int released = share > 0 && how->products == 0;
  if (!o->fresh || how->records == 0 || how->leaves == 0 || how->leaves > EPOCH_MOST_LEAVES) return BASE_ERR_ARGUMENT;
  if (!(share >= 0) || !(share < 1) || released != (hessian != NULL)) return BASE_ERR_ARGUMENT;
  if (how->products > 0 && share == 0) return BASE_ERR_ARGUMENT;
  if (model_weighted(&o->model)) return BASE_ERR_ARGUMENT; /* a batch does not have their lengths */
  if (share > 0 && o->model.dim > ORACLE_MOST_DIM) return BASE_ERR_ARGUMENT;
  if (how->records > fresh_left(o)) return BASE_ERR_RECORDS;
  return check_point(o, w);
}

/* The scope of an epoch's first leaf. */
static struct scope first_scope(struct oracle *o, const struct epoch *how, struct batch *batch) {
  *batch = (struct batch){.count = how->records, .size = (double)how->records};
  return fresh_scope(o, batch);
}

/* The part of the cost that the Hessian has. Where w makes it the same for all records, only its rounding needs noise,
 * and the gradient has the rest. */
static double hessian_part(const struct scope *s, const struct epoch *how, const double *w) {
  int same = how->curvature_share > 0 && how->products == 0 && hessian_change(s, w) == 0;
  return same ? fmin(how->curvature_share, ROUNDING_PART) : how->curvature_share;
}

/* Noise scales of a leaf, of the encoded sums, and of a released Hessian. */
static int scales(const struct scope *s, double rho, const struct epoch *how, const double *w, double *leaf,
                  struct epoch_sd *sd) {
  size_t dim = s->oracle->model.dim;
  double part = hessian_part(s, how, w);
  *leaf = sensitivity_start_gradient(s, w, how->leaves);
  *sd = (struct epoch_sd){0, 0};
  double all = *leaf * factor_column(how->factor, how->leaves) + encoding_error(s, how->leaves);
  int status = gaussian_scale(all, rho * (1 - part), dim * how->leaves, &sd->gradient);
  if (status != BASE_OK || part == 0 || how->products > 0) return status;
  return gaussian_scale(sensitivity_start_hessian(s, w), rho * part, dim * dim, &sd->hessian);
}

/* Rounding of an encoded sum of m leaves, each of norm at most 2 L, with coefficients of at most one: m + 1 roundings
 * of at most 2 m L, in m sums of two neighbours; doubled for terms of second order. */
static double encoding_error(const struct scope *s, size_t leaves) {
  double m = (double)leaves, longest = 2 * model_bounds(&s->oracle->model)->lipschitz;
  return 4 * sqrt(m) * (m + 1) * m * (DBL_EPSILON / 2) * longest * model_stretch(&s->oracle->model);
}

static int make_room(struct epoch_sums *e, const struct epoch *how, size_t dim) {
  e->how = *how;
  e->dim = dim;
  e->leaves = base_alloc(how->leaves * dim, sizeof(double));
  e->sums = base_alloc(how->leaves * dim, sizeof(double));
  e->at = base_alloc(dim, sizeof(double));
  if (how->products > 0) e->hessian = base_alloc(dim * dim, sizeof(double));
  return e->leaves && e->sums && e->at && (e->hessian || how->products == 0) ? BASE_OK : BASE_ERR_MEMORY;
}

/* Records of a stream are read once, so gradient and Hessian are computed in one pass. */
static int sum_first(struct scope *s, const double *w, double *leaf, double *hessian) {
  size_t dim = s->oracle->model.dim, width = dim * (dim + 1);
  const struct ask ask = {.at = w};
  if (!hessian) return scope_mean(s, &query_gradient.sum, &ask, leaf);
  double *both = base_alloc(width, sizeof(double));
  if (!both) return BASE_ERR_MEMORY;
  int status = scope_mean(s, &sum_epoch_start, &ask, both);
  memcpy(leaf, both, dim * sizeof(double));
  memcpy(hessian, both + dim, dim * dim * sizeof(double));
  memset(both, 0, width * sizeof(double));
  base_free(both);
  return status;
}

/* Encodes the newest leaf with those before it, adds noise, and returns the sum of all leaves. */
static int add_leaf(struct oracle *o, const double *w, double *gradient, double *sd) {
  struct epoch_sums *e = &o->fresh->epoch;
  size_t dim = e->dim, step = e->steps;
  double *sum = e->sums + step * dim;
  for (size_t j = 0; j <= step; j++) la_axpy(dim, factor_encode(e->how.factor, step, j), e->leaves + j * dim, sum);
  int status = mech_gaussian(o->entropy, dim, e->sd, sum);
  if (status != BASE_OK) return status;
  memset(gradient, 0, dim * sizeof(double));
  for (size_t j = 0; j <= step; j++) la_axpy(dim, factor_decode(e->how.factor, step, j), e->sums + j * dim, gradient);
  *sd = e->sd * factor_row(e->how.factor, step);
  memcpy(e->at, w, dim * sizeof(double));
  e->steps++;
  return BASE_OK;
}
