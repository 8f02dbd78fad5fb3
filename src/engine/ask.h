/* The parameters of a query: plain data, public or released. */
#ifndef DPSOSP_ASK_H
#define DPSOSP_ASK_H

#include <stddef.h>

enum curvature {
  CURVATURE_HESSIAN, /* (1/n) sum l''_i z_i z_i' */
  CURVATURE_MAJORANT /* (1/n) sum c_i z_i z_i', c_i the curvature of a quadratic upper bound of the loss at z_i'w */
};

enum modify {
  MODIFY_ADD, /* an eigenvalue e becomes e + lambda0 */
  MODIFY_CLIP /* or max(e, lambda0) */
};

/* The matrix A of a Newton direction: (curvature at w + diag(penalty)), its eigenvalues modified. Its smallest
 * eigenvalue is bounded below by lambda0 and the penalty, which are public or released; the sensitivity follows. */
struct modified {
  enum modify modify;
  double lambda0;
  const double *penalty; /* second derivatives of the penalty, none negative */
};

/* Cells [breaks[i], breaks[i + 1]), the last one closed, of cells + 1 increasing numbers. */
struct histogram {
  const double *breaks;
  size_t cells;
};

/* Each query uses the members that it needs. */
struct ask {
  const double *at;    /* w */
  const double *along; /* the direction of a search or of a quadratic model; the gradient of a Newton direction */
  size_t k;            /* number of candidates of a search: w + step[i] along; or of columns or ends that are counted */
  const double *step, *offset; /* step: also the ends of a histogram of residuals,
                                * and of the interval that decreases are clipped to */
  int scale_free;              /* decreases are divided by their step before they are compared */
  enum curvature curvature;    /* for a trace and a Newton direction */
  const struct modified *matrix;
  double clip;                       /* largest norm of a record's part of a clipped gradient; for a network also the
                                      * largest decrease of a record's loss, divided by the length of the step; largest
                                      * residual, or largest second derivative of a loss of residuals */
  double cap;                        /* of rows of residuals, or for a gradient of classes, in place of that of their
                                      * coordinates; zero: that one */
  double within;                     /* for the Hessian of Huber's loss: residuals beyond it have no second derivative,
                                      * over a ramp (query_residual.c); zero: all have one */
  const double *most;                /* for column moments: bounds of the clipped rows' numbers; 0: no second moment */
  const struct histogram *histogram; /* for each column */
};

#endif
