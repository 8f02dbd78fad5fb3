/*
 * Penalties: functions of w alone. They depend on no record, so they have
 * sensitivity zero and are added outside the barrier.
 */
#ifndef DPSOSP_METHOD_PENALTY_H
#define DPSOSP_METHOD_PENALTY_H

#include "base/base.h"

enum penalty_kind {
  PENALTY_NONE,
  PENALTY_RIDGE,    /* lambda / 2 |w|^2 */
  PENALTY_NONCONVEX /* lambda sum w_j^2 / (1 + w_j^2) */
};

extern const char *const penalty_kinds[]; /* their names; ends with NULL */

struct penalty {
  enum penalty_kind kind;
  double lambda;
  size_t skip; /* number of first coordinates that are not penalised (the intercept), */
  size_t side; /* in each output of so many coordinates; 0: in all coordinates together */
};

double penalty_value(const struct penalty *p, size_t dim, const double *w);
void penalty_add_gradient(const struct penalty *p, size_t dim, const double *w, double *gradient);
/* Its Hessian is diagonal. */
void penalty_add_diagonal(const struct penalty *p, size_t dim, const double *w, double *diagonal);
void penalty_add_hessian(const struct penalty *p, size_t dim, const double *w, double *hessian);
/* Second derivatives lie in [-lower, upper]; third ones are at most third. */
double penalty_curv_lower(const struct penalty *p);
double penalty_curv_upper(const struct penalty *p);
double penalty_third(const struct penalty *p);

#endif
