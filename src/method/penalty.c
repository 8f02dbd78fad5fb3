/* See penalty.h. For r(w) = w^2 / (1 + w^2): r' = 2 w / (1 + w^2)^2,
 * r'' = (2 - 6 w^2) / (1 + w^2)^3 in [-1/2, 2], r''' = 24 w (w^2 - 1) / (1 + w^2)^4. */
#include "method/penalty.h"

const char *const penalty_kinds[] = {"none", "ridge", "nonconvex", NULL};

static int is_free(const struct penalty *p, size_t j) { return (p->side ? j % p->side : j) < p->skip; }
static double curvature(const struct penalty *p, double w);

double penalty_value(const struct penalty *p, size_t dim, const double *w) {
  double total = 0;
  if (p->kind == PENALTY_NONE) return 0;
  for (size_t j = p->skip; j < dim; j++) {
    double s = is_free(p, j) ? 0 : w[j] * w[j];
    total += p->kind == PENALTY_RIDGE ? s / 2 : s / (1 + s);
  }
  return p->lambda * total;
}

void penalty_add_gradient(const struct penalty *p, size_t dim, const double *w, double *gradient) {
  if (p->kind == PENALTY_NONE) return;
  for (size_t j = p->skip; j < dim; j++) {
    double s = 1 + w[j] * w[j];
    if (!is_free(p, j)) gradient[j] += p->lambda * (p->kind == PENALTY_RIDGE ? w[j] : 2 * w[j] / (s * s));
  }
}

void penalty_add_diagonal(const struct penalty *p, size_t dim, const double *w, double *diagonal) {
  if (p->kind == PENALTY_NONE) return;
  for (size_t j = p->skip; j < dim; j++) {
    if (!is_free(p, j)) diagonal[j] += curvature(p, w[j]);
  }
}

void penalty_add_hessian(const struct penalty *p, size_t dim, const double *w, double *hessian) {
  if (p->kind == PENALTY_NONE) return;
  for (size_t j = p->skip; j < dim; j++) hessian[j + j * dim] += curvature(p, w[j]);
}

double penalty_curv_lower(const struct penalty *p) { return p->kind == PENALTY_NONCONVEX ? p->lambda / 2 : 0; }

double penalty_curv_upper(const struct penalty *p) {
  switch (p->kind) {
  case PENALTY_RIDGE:
    return p->lambda;
  case PENALTY_NONCONVEX:
    return 2 * p->lambda;
  default:
    return 0;
  }
}

/* max |r'''| = 4.6686 at w^2 = 1 - 2 / sqrt(5), rounded up */
double penalty_third(const struct penalty *p) { return p->kind == PENALTY_NONCONVEX ? 4.67 * p->lambda : 0; }

static double curvature(const struct penalty *p, double w) {
  double s = 1 + w * w;
  return p->lambda * (p->kind == PENALTY_RIDGE ? 1 : (8 - 6 * s) / (s * s * s));
}
