/* What is asked about the data, beside the kind of query: plain data, public or released. */
#ifndef DPSOSP_ASK_H
#define DPSOSP_ASK_H

#include <stddef.h>

enum curvature {
  CURVATURE_HESSIAN, /* (1/n) sum l''_i z_i z_i' */
  CURVATURE_MAJORANT /* (1/n) sum c_i z_i z_i', c_i the curvature of a quadratic upper bound of the loss at z_i'w */
};

enum modify {
  MODIFY_ADD, /* eigenvalues e become e + lambda0 */
  MODIFY_CLIP /* and max(e, lambda0) */
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

/* A query looks at what it needs. */
struct ask {
  const double *at;    /* w */
  const double *along; /* of a search and of a quadratic model the direction, of a Newton direction the gradient */
  size_t k;            /* candidates of a search: w + step[i] along; columns that are counted */
  const double *step, *offset;
  int scale_free;           /* compared after division by their step */
  enum curvature curvature; /* of a trace and a Newton direction */
  const struct modified *matrix;
  double clip;                       /* no record's part of a clipped gradient is longer; of a network also no fall of a
                                      * record's loss, over the length of the step */
  const double *most;                /* of column moments: bounds of the clipped rows' numbers; 0: no second moment */
  const struct histogram *histogram; /* of each column */
};

#endif
