/*
 * Newton's method for convex objectives: with double noise (Ganesh et al.
 * 2023), with one or with repeated noisy curvature matrices, and damped
 * (Avella-Medina, Bradshaw & Loh 2023).
 */
#ifndef DPSOSP_METHOD_NEWTON_H
#define DPSOSP_METHOD_NEWTON_H

#include "method/method.h"

enum newton_curvature {
  NEWTON_HESSIAN, /* double noise: directions of the exact Hessian, released with noise of their own */
  NEWTON_QU,      /* double noise: the same with the quadratic upper bound */
  NEWTON_LAZY,    /* the quadratic upper bound at zero, released once */
  NEWTON_DIRECT   /* a noisy Hessian in each step */
};

/* With batches all releases of a step are on one fresh batch; lazy curvature and the certificate are on the full data.
 * */
struct newton_options {
  enum newton_curvature curvature;
  enum modify modify;
  int damped;    /* step length by a private line search; otherwise 1 */
  int adaptive;  /* lazy: lambda0 falls while gradients in damped directions exceed the noise level */
  int spend_all; /* do not stop at the first certified point; on batches no point is certified */
  int iterations;
  double eps_g;             /* target */
  double confidence;        /* of the certificate, in (0, 1) */
  double curvature_share;   /* fraction of an iteration's budget (lazy: of the whole) for second-order information */
  double trace_share;       /* fraction of that, for the trace from which lambda0 follows */
  double search_share;      /* fraction of an iteration's budget, for a damped step */
  double certificate_share; /* fraction of the whole budget, for the gradient at the solution */
  double lambda0;           /* NaN: adaptive, see newton_step.c */
  double lambda_scale;      /* factor of an adaptive lambda0 */
  double tail;              /* fraction of the last iterates whose mean is the solution; 0: the last iterate */
  struct sampling batch;    /* size 0: all rows; not for damped steps */
};

/* Minimises loss + penalty from w (overwritten with the result), spending at most rho. Both must be convex. */
int newton_run(struct oracle *oracle, const struct penalty *penalty, const struct newton_options *options, double rho,
               double *w, struct opt_result *result);

/* The smallest eps_g that the last gradient can certify, where the norm of the gradient is the larger of eps_g / 2 and
 * that left by the noise of a step. */
double newton_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct newton_options *options,
                            double rho, const double *w);

#endif
