/*
 * Coefficients in other coordinates of the rows (data/data.h): with z = T r a predictor is w'z = (T'w)'r, a gradient is
 * T times the sum over r, and a Hessian is T times the sum over r times T'. So rows and sums stay as they are.
 *
 * A weighted row keeps its length s = |z|, and its contribution is bounded by its loss. With B the bound and c the
 * smallest slope that a loss can be given, it has the slope c_i = B / s, clipped to the interval from c to the slope of
 * the loss, and the weight min(1, B / (c s)). Then weight times slope times s is at most B for every response
 * (proofs: row-slopes). For a loss whose slope cannot be chosen there are weights only. Queries of residuals clip the
 * slope to the row's limit c min(1, cap / s), so that limit times s is at most c cap (proofs: sensitivity-residual).
 *
 * A damped row has the loss itself, with its slope clipped to B / s, so that slope times s is at most B; of several
 * outputs the norm of the slopes is. Its second
 * derivative has the weight min(1, (R / s)^2), R the cap, so that weight times second derivative times s^2 is at most
 * R^2 times the latter's bound (proofs: damped-rows).
 *
 * With a tilt k the loss has the weight 1 + k for y > 0 and 1 - k for y < 0, at the predictor
 * t + log((1 + k) / (1 - k)): then the true log-odds t still minimise the expected loss. The lengths are such that a
 * sum of gradients changes by at most 2 B, as without it (proofs: tilt).
 */
#include "base/simd.h"
#include "la/la.h"
#include "model/model.h"

#include <math.h>

static double row_bound(const struct coordinates_spec *s);
static double shift_of(const struct coordinates_spec *s);
static void tilt(size_t n, double tilt, const double *y, double *restrict d1);
static void shorten(size_t outputs, size_t n, double limit, double *d1);

const struct loss_bounds *model_bounds(const struct model *m) {
  return model_weighted(m) || m->network || m->offset > 0 ? &m->own : loss_bounds_of(m->loss);
}

int model_weighted(const struct model *m) { return m->coordinates && m->coordinates->spec.weighted; }

int model_damped(const struct model *m) { return m->coordinates && m->coordinates->spec.damped; }

void model_slope_bounds(const struct model *m, double *size, double *lipschitz) {
  const struct loss_bounds *b = loss_bounds_of(m->loss);
  *size = b->lipschitz;
  *lipschitz = fmax(b->curv_lower, b->curv_upper);
  if (!model_weighted(m)) return;
  double most = 1 + fabs(m->coordinates->spec.tilt);
  *size *= most;
  *lipschitz = most * fmax(*lipschitz, loss_own_curvature(m->loss));
}

int model_move(struct model *m, const struct coordinates *coordinates) {
  const struct loss_bounds *b = model_bounds(m);
  size_t outputs = coordinates->spec.outputs > 1 ? coordinates->spec.outputs : 1;
  if (m->network || m->outputs != outputs || (outputs > 1 && !coordinates->spec.weighted)) return BASE_ERR_ARGUMENT;
  /* A class must be the sign of the slope: that is so for the logistic loss, the only one whose slope can be chosen. */
  if (coordinates->spec.tilt != 0 && loss_min_slope(m->loss) >= b->lipschitz) return BASE_ERR_ARGUMENT;
  m->coordinates = coordinates;
  m->own = *b;
  if (!coordinates->spec.weighted) return BASE_OK;
  int bounded = isfinite(loss_bounds_of(m->loss)->lipschitz);
  m->own.lipschitz = bounded ? (1 + fabs(coordinates->spec.tilt)) * row_bound(&coordinates->spec) : INFINITY;
  /* Rows may be long. */
  double longest = coordinates->spec.damped && bounded ? coordinates->spec.cap * (1 + 0x1p-48) : INFINITY;
  m->own.curv_upper = b->curv_upper * longest * longest;
  if (b->curv_lower > 0) m->own.curv_lower = b->curv_lower * longest * longest;
  if (!isfinite(longest)) m->own.third = INFINITY;
  m->offset += fabs(shift_of(&coordinates->spec));
  return BASE_OK;
}

double model_gradient_change(const struct model *m, double norm, int replaces) {
  double one = model_bounds(m)->lipschitz;
  if (!isfinite(one)) return one;
  if (model_weighted(m)) return replaces ? 2 * row_bound(&m->coordinates->spec) : one;
  return replaces ? loss_gradient_spread(m->loss, norm, m->offset) : model_slope_within(m, norm);
}

int model_clips(const struct model *m) { return model_weighted(m) && loss_has_residuals(m->loss); }

double model_cap(const struct model *m) { return m->coordinates->spec.cap; }

void model_limits(const struct data_block *b, double clip, double cap, double *limit) {
  for (size_t i = 0; i < b->rows; i++) limit[i] = clip * fmin(1, cap / b->length[i]);
}

/* With the rounding of the limit. */
double model_limit_bound(double clip, double cap) { return clip * cap * (1 + 0x1p-48); }

void model_damp_slopes(const struct model *m, const struct data_block *b, double *d1) {
  if (!model_damped(m)) return;
  size_t n = b->rows;
  for (size_t i = 0; i < n; i++) {
    double limit = m->coordinates->spec.bound / b->length[i] * (b->weight ? b->weight[i] : 1);
    if (m->outputs > 1) {
      shorten(m->outputs, n, limit, d1 + i);
    } else {
      d1[i] = d1[i] > -limit ? (d1[i] < limit ? d1[i] : limit) : -limit;
    }
  }
}

/* To a norm of at most limit: slopes of one record, n numbers apart. */
static void shorten(size_t outputs, size_t n, double limit, double *d1) {
  double square = 0;
  for (size_t k = 0; k < outputs; k++) square += d1[k * n] * d1[k * n];
  double size = sqrt(square);
  for (size_t k = 0; k < outputs && size > limit; k++) d1[k * n] *= limit / size;
}

void model_damp_curvatures(const struct model *m, const struct data_block *b, double *d2) {
  if (!model_damped(m)) return;
  for (size_t i = 0; i < b->rows; i++) {
    double part = fmin(1, m->coordinates->spec.cap / b->length[i]);
    d2[i] *= part * part;
  }
}

/* The bound on a row's gradient, without a tilt, and the rounding of its slope and weights. */
static double row_bound(const struct coordinates_spec *s) { return s->bound * (1 + 0x1p-48); }

static double shift_of(const struct coordinates_spec *s) { return log1p(s->tilt) - log1p(-s->tilt); }

/* The slope of each row's loss. */
SIMD_CLONES static void own_slopes(size_t n, double bound, double least, const double *length, double *restrict c) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double slope = bound / length[i];
    slope = slope > least ? slope : least;
    c[i] = slope < 1 ? slope : 1;
  }
}

/* d1_i times the weight of its class. */
SIMD_CLONES static void tilt(size_t n, double tilt, const double *y, double *restrict d1) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) d1[i] *= y[i] > 0 ? 1 + tilt : 1 - tilt;
}

/* d1_i times the row's weight, which is less than one for rows longer than `most`. */
SIMD_CLONES static void apply_weights(size_t n, double most, const double *length, double *restrict d1) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double weight = most / length[i];
    d1[i] *= weight < 1 ? weight : 1;
  }
}

void model_slopes(const struct model *m, const struct data_block *b, const double *t, double *c, double *d1) {
  if (!model_weighted(m) || model_damped(m)) {
    model_eval(m, b, t, NULL, d1, NULL);
    model_damp_slopes(m, b, d1);
    return;
  }
  const struct coordinates_spec *s = &m->coordinates->spec;
  double least = loss_min_slope(m->loss), shifted[DATA_BLOCK];
  own_slopes(b->rows, s->bound, least, b->length, c);
  if (s->tilt != 0) {
    double shift = shift_of(s);
    for (size_t i = 0; i < b->rows; i++) shifted[i] = t[i] + shift;
    t = shifted;
  }
  model_own_slopes(m, b, t, c, d1);
  for (size_t k = 0; k < m->outputs; k++) apply_weights(b->rows, s->bound / least, b->length, d1 + k * b->rows);
  if (s->tilt != 0) tilt(b->rows, s->tilt, b->y, d1);
}

void model_row_weights(const struct model *m, const struct data_block *b, double *weight) {
  const struct coordinates_spec *s = &m->coordinates->spec;
  double most = isfinite(loss_min_slope(m->loss)) ? s->bound / loss_min_slope(m->loss) : INFINITY;
  for (size_t i = 0; i < b->rows; i++) {
    double length = b->length[i], part = s->cap / length;
    weight[i] = fmin(fmin(1, most / length), part * part);
  }
  if (!model_clips(m) || !b->weight) return;
  for (size_t i = 0; i < b->rows; i++) weight[i] *= b->weight[i];
}

/* Of one output: v_j = scale_j w_j and v_0 = radius (constant w_0 - sum_j centre_j v_j). */
static void map_point(const struct coordinates_spec *s, const double *w, double *v) {
  size_t skip = (size_t)s->intercept;
  double shift = 0;
  for (size_t j = 0; j < s->p; j++) {
    v[skip + j] = s->scale[j] * w[skip + j];
    shift += s->centre[j] * v[skip + j];
  }
  if (skip) v[0] = s->radius * (s->constant * w[0] - shift);
}

const double *model_point(const struct model *m, int slot, const double *w) {
  const struct coordinates *c = m->coordinates;
  if (!c || !w) return w;
  double *v = c->work + (size_t)slot * m->dim;
  for (size_t at = 0; at < m->dim; at += m->side) map_point(&c->spec, w + at, v + at);
  return v;
}

/* Of one output. */
static void map_gradient(const struct coordinates_spec *s, double *g) {
  size_t skip = (size_t)s->intercept;
  double first = skip ? s->radius * g[0] : 0;
  for (size_t j = 0; j < s->p; j++) g[skip + j] = s->scale[j] * (g[skip + j] - s->centre[j] * first);
  if (skip) g[0] = s->constant * first;
}

void model_gradient(const struct model *m, double *g) {
  if (!m->coordinates) return;
  for (size_t at = 0; at < m->dim; at += m->side) map_gradient(&m->coordinates->spec, g + at);
}

static void map_columns(const struct model *m, size_t side, double *h) {
  for (size_t j = 0; j < side; j++) {
    for (size_t at = 0; at < side; at += m->side) map_gradient(&m->coordinates->spec, h + j * side + at);
  }
}

/* Maps the columns, then the rows; then makes the matrix exactly symmetric again. */
void model_matrix(const struct model *m, size_t side, double *h) {
  if (!m->coordinates) return;
  map_columns(m, side, h);
  for (size_t j = 0; j < side; j++) {
    for (size_t i = 0; i < j; i++) {
      double above = h[i + j * side];
      h[i + j * side] = h[j + i * side];
      h[j + i * side] = above;
    }
  }
  map_columns(m, side, h);
  la_symmetrise(side, h);
}

double model_stretch(const struct model *m) { return m->coordinates ? m->coordinates->stretch : 1; }
