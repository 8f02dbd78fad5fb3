/*
 * model: from coefficients and a row to the argument of the loss, and back from slopes and curvatures to
 * gradients and Hessians. A record's contribution to a sum is bounded by the loss's bounds, because rows have norm at
 * most one: sensitivities follow from the bounds of a model.
 */
#ifndef DPSOSP_MODEL_H
#define DPSOSP_MODEL_H

#include "data/private.h"
#include "loss/loss.h"

struct model;
struct network;

/* With several outputs, predictors, weights and scaled have a column as long as the block for each. */
struct model_kind {
  /* t: the block's predictors */
  void (*predict)(const struct model *m, const struct data_block *b, const double *w, double *t);
  /* g <- g + sum_i share_i weight_i dt_i/dw, share_i the record's part of its person (data/private.h), here and below;
   * scaled, as long as the block, is overwritten */
  void (*pull)(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *g);
  /* lower triangle of h <- h + sum_i share_i weight_i z_i z_i', z_i = dt_i/dw of one output, in a matrix of `stride`
   * rows; work has two columns of a tile, and four */
  void (*curve)(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *again,
                double *four, size_t stride, double *h);
  /* *sum <- *sum + sum_i share_i weight_i |dt_i/dw|^2; square is overwritten */
  void (*trace)(const struct model *m, const struct data_block *b, const double *weight, double *square, double *sum);
  /* Networks have these two functions only, which are NULL for other models; tape as the model requires. g <- g + sum_i
   * g_i, where g_i is record i's gradient clipped to the norm clip, computed from this record alone. */
  void (*clipped)(const struct model *m, const struct data_block *b, const double *w, double clip, double *tape,
                  double *g);
  /* value_i <- the loss of record i at w + step along, without its weight, from this record alone; of a null
   * record, which sums give the weight zero, that of a row of zeros */
  void (*losses)(const struct model *m, const struct data_block *b, const double *w, const double *along, double step,
                 double *tape, double *value);
};

struct model {
  const struct model_kind *kind;
  const struct loss *loss;
  size_t outputs;                        /* predictors of a row */
  size_t columns;                        /* columns of a row without the intercept */
  size_t side;                           /* coefficients of one output */
  size_t dim;                            /* all coefficients, one output after the other */
  const struct coordinates *coordinates; /* of the coefficients; NULL: those of the rows */
  double offset;                         /* bound on what is added to the records' predictors */
  struct loss_bounds own;                /* for weighted rows, offsets, and networks, which have none */
  const struct network *network;         /* or NULL */
  size_t tape;                           /* numbers that a thread needs for the network */
};

/* t_i = z_i'w, z_i the clipped row, for each output of the loss. If data have an intercept, the first coefficient
 * belongs to the column of ones. */
struct model model_linear(const struct data *rows, const struct loss *loss);
/* square_i <- |z_i|^2, of a tile */
void model_squares(const struct data_block *b, double *square);

/* ---- record.c: losses of a block's records, with their weights and offsets; t as predict() has it ---- */

/* Records have offsets of absolute value at most `most`, and may have weights. To be called before model_move(). */
int model_set_weights(struct model *m, double most);
/* Like loss_eval(), loss_own_slopes(), loss_upper_curvature() and loss_range(). */
void model_eval(const struct model *m, const struct data_block *b, const double *t, double *value, double *d1,
                double *d2);
/* Like loss_sum(). Where records belong to persons, what is summed is the difference from the null record's value times
 * the record's share: model_null() must then be added once for each person (proofs: persons). */
double model_sum(const struct model *m, const struct data_block *b, const double *t);
double model_null(const struct model *m);
/* Losses without the records' weights, for those who clip differences of them before they weight these. */
void model_values(const struct model *m, const struct data_block *b, const double *t, double *value);
void model_own_slopes(const struct model *m, const struct data_block *b, const double *t, const double *c, double *d1);
/* Slopes without the records' weights, for those who clip them before they weight them. */
void model_residuals(const struct model *m, const struct data_block *b, const double *t, double *d1);
void model_upper_curvature(const struct model *m, const struct data_block *b, const double *t, double *c);
double model_range(const struct model *m, double t_max);
/* Like loss_slope_within() and so on, for predictors of at most t_max without their offsets. */
double model_slope_within(const struct model *m, double t_max);
void model_curvature_within(const struct model *m, double t_max, double *lower, double *upper);
double model_fall(const struct model *m, double t_max, double step);
double model_rise(const struct model *m, double t_max, double step);

/* ---- coordinates.c: contributions of records, and coefficients in other coordinates ---- */

/* Bounds on a record's value, gradient and Hessian as functions of w, where its row has norm one or is weighted. */
const struct loss_bounds *model_bounds(const struct model *m);
/* Bounds on a record's slope as a function of its predictor: its size, and its Lipschitz constant. */
void model_slope_bounds(const struct model *m, double *size, double *lipschitz);
int model_weighted(const struct model *m);
/* Are these damped? Then slopes, their squares and second derivatives are those of the loss itself, as follows. */
int model_damped(const struct model *m);
/* Of damped rows: slopes, with the records' weights v_i, are clipped to v_i B / |z_i|, B the bound on a gradient, those
 * of several outputs in norm, and second derivatives are multiplied by min(1, (R / |z_i|)^2), R the cap. */
void model_damp_slopes(const struct model *m, const struct data_block *b, double *d1);
void model_damp_curvatures(const struct model *m, const struct data_block *b, double *d2);
/* Bound on the change of a sum of gradients at a point of this norm where a record is replaced by any other, or by a
 * null record. */
double model_gradient_change(const struct model *m, double norm, int replaces);
/* dl_i/dt_i, weighted; c is overwritten. */
void model_slopes(const struct model *m, const struct data_block *b, const double *t, double *c, double *d1);
/* Weights of weighted rows in the matrix of their second moments: at most one, and cap^2 / |z_i|^2. For a loss with
 * residuals times the record's weight: the matrix is then that of the weighted loss, up to the curvature. */
void model_row_weights(const struct model *m, const struct data_block *b, double *weight);

/* Are the slopes of weighted rows residuals, which queries clip? */
int model_clips(const struct model *m);
/* Of weighted rows: the cap of their coordinates; limit_i <- clip min(1, cap / |z_i|), and a bound on limit_i |z_i| */
double model_cap(const struct model *m);
void model_limits(const struct data_block *b, double clip, double cap, double *limit);
double model_limit_bound(double clip, double cap);

/* Coefficients are in these coordinates from now on, those of each output. Several outputs need weighted rows. */
int model_move(struct model *m, const struct coordinates *coordinates);
/* Maps a point to the coordinates of the rows; the result is overwritten by the next call for the same slot. */
const double *model_point(const struct model *m, int slot, const double *w);
/* Map sums over the rows, gradients and matrices of so many rows, one output's or all, to the coordinates. */
void model_gradient(const struct model *m, double *g);
void model_matrix(const struct model *m, size_t side, double *h);
/* Bound on a row's norm in the coordinates divided by that of the row: one without coordinates. */
double model_stretch(const struct model *m);

#endif
