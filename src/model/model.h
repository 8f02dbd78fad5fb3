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
struct network;

/* With several outputs predictors, weights and scaled have a column as long as the block for each. */
struct model_kind {
  /* t: the block's predictors */
  void (*predict)(const struct model *m, const struct data_block *b, const double *w, double *t);
  /* g <- g + sum_i weight_i dt_i/dw; scaled, as long as the block, is overwritten */
  void (*pull)(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *g);
  /* lower triangle of h <- h + sum_i weight_i z_i z_i', z_i = dt_i/dw of one output; work: columns of a tile, two and
   * four of them */
  void (*curve)(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *again,
                double *four, double *h);
  /* *sum <- *sum + sum_i weight_i |dt_i/dw|^2; square is overwritten */
  void (*trace)(const struct model *m, const struct data_block *b, const double *weight, double *square, double *sum);
  /* Of a network these two alone, which are NULL of other models; tape as the model says. g <- g + sum_i g_i, g_i
   * record i's gradient clipped to the norm clip, as it is computed, and from this record alone */
  void (*clipped)(const struct model *m, const struct data_block *b, const double *w, double clip, double *tape,
                  double *g);
  /* value_i <- the loss of record i at w + step along, from this record alone; of a null record zero */
  void (*losses)(const struct model *m, const struct data_block *b, const double *w, const double *along, double step,
                 double *tape, double *value);
};

struct model {
  const struct model_kind *kind;
  const struct loss *loss;
  size_t outputs;                        /* predictors of a row */
  size_t columns;                        /* of a row, without the intercept */
  size_t side;                           /* coefficients of one output */
  size_t dim;                            /* of all of them, one output after the other */
  const struct coordinates *coordinates; /* that the coefficients are in; NULL: those of the rows */
  double offset;                         /* no record's is larger in absolute value */
  struct loss_bounds own;                /* of weighted rows, of offsets, and of networks, which have none */
  const struct network *network;         /* or NULL */
  size_t tape;                           /* numbers that a thread needs for it */
};

/* t_i = z_i'w, z_i the clipped row, for each output of the loss. Of data with an intercept the first coefficient is
 * that of the column of ones. */
struct model model_linear(const struct data *rows, const struct loss *loss);
/* square_i <- |z_i|^2, of a tile */
void model_squares(const struct data_block *b, double *square);

/* ---- record.c: losses of a block's records, with their weights and offsets; t as predict() has it ---- */

/* Records have offsets of at most this, and may have weights. Before there are coordinates. */
int model_weigh(struct model *m, double most);
/* As loss_eval(), loss_sum(), loss_own_slopes(), loss_upper_curvature() and loss_range(). */
void model_eval(const struct model *m, const struct data_block *b, const double *t, double *value, double *d1,
                double *d2);
double model_sum(const struct model *m, const struct data_block *b, const double *t);
void model_own_slopes(const struct model *m, const struct data_block *b, const double *t, const double *c, double *d1);
void model_upper_curvature(const struct model *m, const struct data_block *b, const double *t, double *c);
double model_range(const struct model *m, double t_max);

/* ---- coordinates.c: what a record adds, and from coefficients to those of the rows and back ---- */

/* Of a record's value, gradient and Hessian as functions of w, where its row has norm one or is weighted. */
const struct loss_bounds *model_bounds(const struct model *m);
/* Of a record's slope as a function of its predictor: no larger than size, with this Lipschitz constant. */
void model_slope_bounds(const struct model *m, double *size, double *lipschitz);
int model_weighted(const struct model *m);
/* dl_i/dt_i, weighted; c is overwritten. */
void model_slopes(const struct model *m, const struct data_block *b, const double *t, double *c, double *d1);
/* Weights of weighted rows in the matrix of their second moments: at most one, and cap^2 / |z_i|^2. */
void model_row_weights(const struct model *m, const struct data_block *b, double *weight);

/* Coefficients are in these coordinates from now on. For one output; weighted rows are for convex losses only. */
int model_move(struct model *m, const struct coordinates *coordinates);
/* Points as those of the rows, in memory of the coordinates that the next call for the same slot overwrites. */
const double *model_point(const struct model *m, int slot, const double *w);
/* Sums over the rows, of gradients and of Hessians, to the coordinates. */
void model_gradient(const struct model *m, double *g);
void model_matrix(const struct model *m, double *h);
/* Bound of a row's norm in the coordinates over that of the row: one without coordinates. */
double model_stretch(const struct model *m);

#endif
