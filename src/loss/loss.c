/* The table of losses. To add one: a file with its struct loss, and a line here. */
#include "loss/private.h"

#include <math.h>
#include <string.h>

extern const struct loss loss_logistic, loss_sigmoid, loss_bounded_logistic, loss_huber_svm, loss_huber,
    loss_multinomial, loss_poisson, loss_squared;

const struct loss *const losses_all[] = {
    &loss_logistic,  &loss_sigmoid, &loss_bounded_logistic,
    &loss_huber_svm, &loss_huber,   &loss_multinomial,
    &loss_poisson,   &loss_squared, NULL,
};

const struct loss *loss_find(const char *name) {
  const struct loss *const *loss = losses_all;
  while (*loss && strcmp((*loss)->name, name) != 0) loss++;
  return *loss;
}

int loss_create(const char *name, double parameter, struct loss **out) {
  *out = NULL;
  const struct loss *kind = loss_find(name);
  if (!kind || (kind->bounds_at && !(parameter >= kind->least && parameter <= kind->most))) return BASE_ERR_ARGUMENT;
  if (kind->multi_output && parameter != floor(parameter)) return BASE_ERR_ARGUMENT;
  struct loss *loss = base_alloc(1, sizeof *loss);
  if (!loss) return BASE_ERR_MEMORY;
  *loss = *kind;
  if (kind->bounds_at) {
    loss->parameter = parameter;
    loss->bounds = kind->bounds_at(parameter);
  }
  *out = loss;
  return BASE_OK;
}

void loss_free(struct loss *loss) { base_free(loss); }

int loss_has_residuals(const struct loss *loss) { return loss->residual; }

int loss_has_one_sign(const struct loss *loss) { return loss->one_sign; }

double loss_determinant(const struct loss *loss, double strong, double tilt) {
  return loss->determinant ? loss->determinant(strong, tilt) : log1p(loss->bounds.curv_upper / strong);
}

size_t loss_outputs(const struct loss *loss) { return loss->multi_output ? (size_t)loss->parameter : 1; }

const struct loss_bounds *loss_bounds_of(const struct loss *loss) { return &loss->bounds; }

double loss_range(const struct loss *loss, double t_max) { return loss->range(loss->parameter, t_max); }

double loss_slope_within(const struct loss *loss, double t_max) {
  double most = loss->bounds.lipschitz;
  return loss->steepest ? fmin(loss->steepest(loss->parameter, t_max), most) : most;
}

double loss_gradient_spread(const struct loss *loss, double norm, double offset) {
  double most = 2 * loss_slope_within(loss, norm + offset);
  return loss->spread ? fmin(loss->spread(norm, offset), most) : most;
}

void loss_curvature_within(const struct loss *loss, double t_max, double *lower, double *upper) {
  *lower = loss->bounds.curv_lower;
  *upper = loss->bounds.curv_upper;
  if (loss->bend) *lower = *upper = fmin(loss->bend(t_max), *upper);
}

static double farthest(const struct loss *loss, double t_max, double step) {
  return fmin(loss->bounds.lipschitz * step, loss_range(loss, t_max + step));
}

double loss_fall(const struct loss *loss, double t_max, double step) {
  double most = farthest(loss, t_max, step);
  return loss->fall ? fmin(loss->fall(t_max, step), most) : most;
}

double loss_rise(const struct loss *loss, double t_max, double step) {
  double most = farthest(loss, t_max, step);
  return loss->rise ? fmin(loss->rise(t_max, step), most) : most;
}

double loss_sum(const struct loss *loss, size_t n, const double *y, const double *t) {
  return loss->sum(loss->parameter, n, y, t);
}

void loss_eval(const struct loss *loss, size_t n, const double *y, const double *t, double *value, double *d1,
               double *d2) {
  if (value) loss->values(loss->parameter, n, y, t, value);
  if (d1) loss->slopes(loss->parameter, n, y, t, d1);
  if (d2) loss->curvatures(loss->parameter, n, y, t, d2);
}

void loss_own_slopes(const struct loss *loss, size_t n, const double *y, const double *t, const double *c, double *d1) {
  if (loss->flattens) {
    loss_row_slopes(n, y, t, c, d1);
  } else {
    loss->slopes(loss->parameter, n, y, t, d1);
  }
}

double loss_min_slope(const struct loss *loss) {
  return loss->flattens ? loss->flattens->least : loss->bounds.lipschitz;
}

double loss_own_curvature(const struct loss *loss) {
  const struct loss *flat = loss->flattens;
  return flat ? flat->bounds_at(flat->least).curv_upper : loss->bounds.curv_upper;
}

void loss_upper_curvature(const struct loss *loss, size_t n, const double *t, double *c) {
  for (size_t i = 0; i < n && !loss->upper; i++) c[i] = loss->bounds.curv_upper;
  if (loss->upper) loss->upper(n, t, c);
}

double loss_upper_lipschitz(const struct loss *loss) { return loss->upper ? loss->bounds.third : 0; }
