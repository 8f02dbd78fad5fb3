/* The objective: what the oracle answers about the loss, plus the penalty. */
#include "method/private.h"

#include "la/la.h"

#include <string.h>

void objective_init(struct objective *f, struct oracle *oracle, const struct penalty *penalty) {
  f->oracle = oracle;
  f->penalty = penalty;
  f->dim = oracle_dim(oracle);
  f->smooth = oracle_smoothness(oracle) + penalty_curv_upper(penalty);
  f->third = oracle_third(oracle) + penalty_third(penalty);
  f->steepest = oracle_lipschitz(oracle);
  f->lower = oracle_curv_lower(oracle) + penalty_curv_lower(penalty);
}

int objective_gradient(const struct objective *f, const double *w, double rho, double *g, double *sd) {
  int status = oracle_gradient(f->oracle, w, rho, g, sd);
  if (status == BASE_OK) penalty_add_gradient(f->penalty, f->dim, w, g);
  return status;
}

int objective_hessian(const struct objective *f, const double *w, double rho, double *h, double *sd) {
  int status = oracle_hessian(f->oracle, w, rho, h, sd);
  if (status == BASE_OK) penalty_add_hessian(f->penalty, f->dim, w, h);
  return status;
}

double objective_penalty_decrease(const struct objective *f, const double *w, const double *direction, double step,
                                  double *scratch) {
  memcpy(scratch, w, f->dim * sizeof(double));
  la_axpy(f->dim, step, direction, scratch);
  return penalty_value(f->penalty, f->dim, w) - penalty_value(f->penalty, f->dim, scratch);
}
