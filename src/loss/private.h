#ifndef DPSOSP_LOSS_PRIVATE_H
#define DPSOSP_LOSS_PRIVATE_H

#include "loss/loss.h"

struct loss {
  const char *name;
  struct loss_bounds bounds;
  double (*range)(double t_max);
  double (*sum)(size_t n, const double *y, const double *t);
  void (*values)(size_t n, const double *y, const double *t, double *value);
  void (*slopes)(size_t n, const double *y, const double *t, double *d1);
  void (*curvatures)(size_t n, const double *y, const double *t, double *d2);
  void (*majorant)(size_t n, const double *t, double *c); /* NULL: curv_upper everywhere */
};

extern const struct loss loss_logistic;
extern const struct loss loss_sigmoid;

#endif
