#ifndef DPSOSP_LOSS_PRIVATE_H
#define DPSOSP_LOSS_PRIVATE_H

#include "loss/loss.h"

/* Bounds that are computed are larger by this than what they bound, which covers their own rounding. */
#define SLACK (1 + 0x1p-30)

/* The functions of a block have the parameter as first argument; a loss without a parameter ignores it. */
struct loss {
  const char *name;
  double parameter;
  double least, most;                                /* range of the parameter */
  int multi_output;                                  /* the parameter is the number of predictors */
  int residual;                                      /* the slope is a mean minus the response */
  int one_sign;                                      /* l' has the same sign at every t */
  struct loss_bounds (*bounds_at)(double parameter); /* NULL: there is no parameter */
  struct loss_bounds bounds;
  double (*range)(double parameter, double t_max);
  /* Public bounds near t = 0, described in loss.h; NULL: those of bounds. The parameter is as above. */
  double (*steepest)(double parameter, double t_max);
  double (*spread)(double norm, double offset);
  double (*fall)(double t_max, double step), (*rise)(double t_max, double step);
  double (*bend)(double t_max); /* both of curv_lower and curv_upper */
  double (*sum)(double parameter, size_t n, const double *y, const double *t);
  void (*values)(double parameter, size_t n, const double *y, const double *t, double *value);
  void (*slopes)(double parameter, size_t n, const double *y, const double *t, double *d1);
  void (*curvatures)(double parameter, size_t n, const double *y, const double *t, double *d2); /* one output only */
  const struct loss *flattens;                         /* the loss of bounded slope for the same log-odds; or NULL */
  void (*upper)(size_t n, const double *t, double *c); /* NULL: curv_upper everywhere */
  double (*determinant)(double strong, double tilt);   /* NULL: by curv_upper alone */
};

#endif
