/* The state of a run of residual.c, which recalibrate.c reads. */
#ifndef DPSOSP_METHOD_RESIDUAL_H
#define DPSOSP_METHOD_RESIDUAL_H

#include "la/la.h"
#include "method/private.h"

#include <math.h>
#include <string.h>

#define ENDS 25        /* of the grid of residuals, from the largest residual on by a factor of sqrt(2) downwards */

struct run {
  struct objective f;
  const struct residual_options *o;
  struct opt_result *result;
  double rho;
  size_t dim;
  size_t skip; /* the first column: one, or zero without an intercept */
  double *w, *start;
  double *matrix, *value; /* M: its eigenvectors, one a column, and its eigenvalues */
  double matrix_noise;    /* about the spectral norm of the noise of M */
  double *scratch;        /* dim x dim */
  double *product;        /* dim x dim, for the posterior */
  double *moment;         /* of columns that may have no records (posterior_moments()) */
  double *variance;       /* prior variances of the columns' coefficients, relative to others */
  double *equation;       /* v, relative to the start */
  double precision;       /* of each of its numbers */
  double *away;           /* the mean iterate that it is computed from, averaged in the same way */
  double *mean, *mean_gradient, *gradient, *rotated, *move;
  double factor;         /* by which the columns were rescaled */
  double first_variance; /* posterior variance of the intercept */
  double spread;         /* standard deviation of the response about the start, at most three times the first scale */
  double most;           /* largest residual */
  struct residual_scale scale; /* zero before the first counts */
  double size[ENDS], count[ENDS]; /* the last noisy counts of residuals, */
  double count_sd;                /* and of their noise */
  double clip, within;            /* c, p */
};

/* ---- recalibrate.c ---- */

int residual_recalibrate(struct run *r, double *w);

/* ---- both ---- */

static inline double square(double x) { return x * x; }

/* The standard deviation of what the noise of its centre leaves of the mean of a column. */
static inline double centre_sd(const struct run *r, size_t j) {
  return oracle_scale(r->f.oracle)[j - r->skip] * r->o->centre;
}

/* to <- V'x, V the eigenvectors of M */
static inline void rotate(const struct run *r, const double *x, double *to) {
  memset(to, 0, r->dim * sizeof(double));
  la_matvec_t_add(r->dim, r->dim, r->matrix, r->dim, x, to);
}

/* The variance of the prediction over the records; without an intercept its mean square. */
static inline double variance_of(struct run *r, const double *w) {
  double sum = 0;
  memcpy(r->move, w, r->dim * sizeof(double));
  memset(r->move, 0, r->skip * sizeof(double));
  rotate(r, r->move, r->rotated);
  for (size_t k = 0; k < r->dim; k++) sum += r->value[k] * square(r->rotated[k]);
  return sum / r->o->present;
}

#endif
