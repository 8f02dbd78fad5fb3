/*
 * model: from coefficients and a row to what the loss is a function of, and back from slopes and curvatures to
 * gradients and Hessians. What a record adds to a sum is bounded by the loss's bounds, as rows have a norm of at most
 * one: the bounds of a model are what sensitivities follow from.
 */
#ifndef DPSOSP_MODEL_H
#define DPSOSP_MODEL_H

#include "data/private.h"
#include "loss/loss.h"

struct model;

struct model_kind {
  /* t: the block's predictors */
  void (*predict)(const struct model *m, const struct data_block *b, const double *w, double *t);
  /* g <- g + sum_i weight_i dt_i/dw; scaled, as long as the block, is overwritten */
  void (*pull)(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *g);
  /* lower triangle of h <- h + sum_i weight_i dt_i/dw dt_i/dw'; work: columns of a tile, two and four of them */
  void (*curve)(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *again,
                double *four, double *h);
  /* *sum <- *sum + sum_i weight_i |dt_i/dw|^2; square is overwritten */
  void (*trace)(const struct model *m, const struct data_block *b, const double *weight, double *square, double *sum);
};

struct model {
  const struct model_kind *kind;
  const struct loss *loss;
  size_t outputs; /* predictors of a row */
  size_t dim;     /* coefficients */
};

/* t_i = z_i'w, z_i the clipped row. Of data with an intercept the first coefficient is that of the column of ones. */
struct model model_linear(const struct data *rows, const struct loss *loss);

/* Of a record's value, gradient and Hessian as functions of w, where its row has norm one. */
const struct loss_bounds *model_bounds(const struct model *m);

#endif
