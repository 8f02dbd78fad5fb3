#ifndef DPSOSP_LOSS_PRIVATE_H
#define DPSOSP_LOSS_PRIVATE_H

#include "loss/loss.h"

/* The functions of a block take the parameter first; a loss without one does not look at it. */
struct loss {
  const char *name;
  double parameter;
  double least, most;                                /* that the parameter may be */
  int several;                                       /* the parameter is the number of predictors */
  struct loss_bounds (*bounds_at)(double parameter); /* NULL: there is no parameter */
  struct loss_bounds bounds;
  double (*range)(double parameter, double t_max);
  double (*sum)(double parameter, size_t n, const double *y, const double *t);
  void (*values)(double parameter, size_t n, const double *y, const double *t, double *value);
  void (*slopes)(double parameter, size_t n, const double *y, const double *t, double *d1);
  void (*curvatures)(double parameter, size_t n, const double *y, const double *t, double *d2); /* not of several */
  const struct loss *flattens;                         /* the same with a slope that can be chosen; or NULL */
  void (*upper)(size_t n, const double *t, double *c); /* NULL: curv_upper everywhere */
};

#endif
