/* Inside the barrier: the structs, the exact sums and the sensitivities. */
#ifndef DPSOSP_BARRIER_PRIVATE_H
#define DPSOSP_BARRIER_PRIVATE_H

#include "barrier/barrier.h"

#include "data/private.h"
#include "loss/loss.h"

/* An open step: its batch, and what of the base mechanism's rho is still there to be asked for. */
struct step {
  struct batch rows;
  double gradient_rho, curvature_rho;
};

/* What a cost buys before it is amplified. */
struct amplified {
  struct oracle_sampling how;
  double cost; /* zero: none yet */
  double rho;
};

struct oracle {
  const struct data *data;
  const struct loss *loss;
  struct ledger *ledger;
  const struct base_entropy *entropy;
  enum oracle_neighbours neighbours;
  const struct batch *batch; /* what sums and sensitivities are about; NULL: all rows */
  struct step step;
  double drawn;            /* rows of all batches so far */
  struct records *records; /* where they are gathered from once they are many, or NULL */
  /* The newest, as a run asks for the same cost again and again. */
  struct amplified for_gradient, for_hessian;
};

/* Standard deviation of the noise on so many coordinates, enlarged by what the sampler rounds off its argument; refused
 * where the noise would be too large for that (see oracle.c). */
int gaussian_scale(double sensitivity, double rho, size_t coordinates, double *sd);

/* What sums are divided by: n, or the batch's public size. */
double oracle_divisor(const struct oracle *o);

/* ---- sums.c: exact answers; they must not leave the barrier ---- */

/* Groups of blocks that are summed apart, unless there are fewer blocks; sensitivity.c counts on them. */
#define SUMS_GROUPS 64
size_t sums_matrix_groups(size_t dim);
/* Neighbouring blocks that a group is dealt at a time. */
size_t sums_neighbours(size_t blocks, size_t groups);

int sums_value(const struct oracle *o, const double *w, double *value);
int sums_gradient(const struct oracle *o, const double *w, double *gradient);
/* gradient + Hessian times direction */
int sums_model_gradient(const struct oracle *o, const double *w, const double *direction, double *gradient);
/* value and gradient in one pass; both: 1 + dim */
int sums_value_gradient(const struct oracle *o, const double *w, double *both);
int sums_hessian(const struct oracle *o, const double *w, double *hessian);
int sums_majorant(const struct oracle *o, const double *w, double *matrix);
int sums_trace(const struct oracle *o, const double *w, enum oracle_curvature curvature, double *trace);
/* decrease[i] = f(w) - f(w + step[i] direction) */
int sums_decreases(const struct oracle *o, const double *w, const double *direction, size_t k, const double *step,
                   double *decrease);

/* ---- sensitivity.c: l2 sensitivities of what sums.c computes, rounding errors included ---- */

/* Infinite, which refuses the release, of sums of second derivatives that jump. */

double sensitivity_value(const struct oracle *o, const double *w);
double sensitivity_gradient(const struct oracle *o, const double *w);
double sensitivity_hessian(const struct oracle *o, const double *w);
double sensitivity_model_gradient(const struct oracle *o, const double *w, const double *direction);
double sensitivity_majorant(const struct oracle *o, const double *w);
double sensitivity_trace(const struct oracle *o, const double *w, enum oracle_curvature curvature);
/* of the direction of a gradient of this norm; infinite where rounding could make the matrix indefinite */
double sensitivity_newton(const struct oracle *o, const double *w, const struct oracle_newton *how,
                          double gradient_norm);
/* Bound on the Frobenius norm of its matrix, and on what clips it. */
double sensitivity_newton_size(const struct oracle *o, const struct oracle_newton *how);
double sensitivity_decrease(const struct oracle *o, const double *w, const double *direction, double step);
/* of the difference of two decreases whose steps lie at most spread apart */
double sensitivity_spread(const struct oracle *o, const double *w, const double *direction, double max_step,
                          double spread);

/* Bound on the distance of the computed gradient from the true one at a w of this norm. */
double sensitivity_gradient_error(const struct oracle *o, double norm);

/* ---- minimise.c: the minimiser of a strongly convex problem; it must not leave the barrier ---- */

struct strong {
  const double *quadratic; /* the loss plus quadratic_j w_j^2 / 2 */
  const double *linear;    /* plus linear'w */
  double least;            /* of quadratic */
  double smooth;           /* the gradient's Lipschitz constant */
  double ball;             /* the minimiser is no longer than this */
  double error;            /* E' of minimise.c */
};
/* longest: bound on the norm of linear, whose values may come later; public, like all that is set here. Refused where
 * the loss may be concave or a quadratic part is not positive. */
int strong_init(const struct oracle *o, const double *quadratic, const double *linear, double longest,
                struct strong *problem);
/* How far what strong_minimise() finds may be from the minimiser, whatever the data. */
double strong_distance(const struct strong *problem);
int strong_minimise(const struct oracle *o, const struct strong *problem, double *w);

/* ---- batch.c ---- */

/* The oracle, of the open step's batch. */
struct oracle step_view(const struct oracle *o);
/* As charge_gaussian(), for a second-order answer about that batch, out of what the step has left for them. */
int step_gaussian(struct oracle *o, double sensitivity, double rho, size_t coordinates, double *sd);

/* ---- ledger.c ---- */

/* What a perturbed minimiser may shift the privacy loss by; zero where the ledger has no such release, or had it. */
double ledger_shift(const struct ledger *ledger);
int ledger_take_shift(struct ledger *ledger);
/* Between these two the ledger takes no charge. */
void ledger_step_begin(struct ledger *ledger);
void ledger_step_end(struct ledger *ledger);

/* ---- oracle.c: what every release shares ---- */

/* The noise that sensitivity and rho give, and its charge. */
int charge_gaussian(struct oracle *o, const char *what, double sensitivity, double rho, size_t coordinates, double *sd);
/* Is w short enough for every exact sum to be finite? */
int check_point(const struct oracle *o, const double *w);

#endif
