/*
 * barrier: the only place where data, noise and budget meet.
 *
 * A method asks the oracle; the oracle charges the ledger, draws the noise and
 * only then answers. Whatever is done with the answers, the run is private.
 * An answer that cannot be paid for is refused with BASE_ERR_BUDGET and
 * charges nothing; an error or an interrupt after the charge refunds nothing.
 *
 * Costs are rho. A Gaussian release of sensitivity D with standard deviation s
 * costs rho = D^2 / (2 s^2), that is mu = sqrt(2 rho).
 */
#ifndef DPSOSP_BARRIER_H
#define DPSOSP_BARRIER_H

#include "base/base.h"

enum oracle_neighbours {
  ORACLE_REPLACE_ONE, /* one record is replaced by any other */
  ORACLE_ZERO_OUT     /* one record is replaced by a null record */
};

/* ---- ledger ---- */

struct ledger;

enum ledger_accountant {
  LEDGER_OPEN, /* not decided yet: the first charge decides */
  LEDGER_GDP,  /* all releases Gaussian: sum of mu^2, converted exactly */
  LEDGER_ZCDP, /* any release: sum of rho, converted by CKS */
  LEDGER_RENYI /* any release, subsampled ones too: sum of R(alpha) / alpha at one order alpha fixed in advance */
};

struct ledger_entry {
  const char *what;      /* "gradient", "hessian", ... static text */
  const char *mechanism; /* "gaussian", "sparse vector", ... static text */
  double rho;
  double sensitivity; /* of the released quantity, rounding included */
  double scale;       /* of the noise: sd, or the Laplace scale, or the temperature */
};

/* Capacities are what the budget buys under each accountant, in rho; a
 * capacity of zero says that this accountant cannot be used. */
int ledger_create(double gdp_capacity, double zcdp_capacity, enum ledger_accountant accountant, struct ledger **out);
/* Capacity and costs in R(alpha) / alpha at this order alpha > 1, which is rho for a Gaussian release
 * and at most rho for a zCDP one. */
int ledger_create_renyi(double order, double capacity, struct ledger **out);
/* For one perturbed minimiser, and Gaussian releases beside it: all together are (eps, delta)-private when the privacy
 * loss is kappa, 0 < kappa < eps, plus that of a Gaussian release with four times its tails (proofs vignette). */
int ledger_create_perturbed(double eps, double delta, double kappa, struct ledger **out);
void ledger_free(struct ledger *ledger);
/* Decides the accountant; refused once another one has been charged. A Renyi
 * ledger takes all mechanisms and stays one. */
int ledger_decide(struct ledger *ledger, enum ledger_accountant accountant);
/* neighbours: the relation that the entry's sensitivity is for. The first charge fixes that of the ledger; one under
 * the other is refused with BASE_ERR_RELATION. */
int ledger_charge(struct ledger *ledger, enum oracle_neighbours neighbours, int gaussian,
                  const struct ledger_entry *entry);
/* Ends a run that owned the ledger: all but keep is charged as unused, so that
 * the total is the budget, which is what the guarantee says. */
int ledger_close(struct ledger *ledger, enum oracle_neighbours neighbours, double keep);
/* Under the accountant decided (GDP while open). */
double ledger_left(const struct ledger *ledger);
double ledger_spent(const struct ledger *ledger);
double ledger_capacity(const struct ledger *ledger);
enum ledger_accountant ledger_accountant_of(const struct ledger *ledger);
double ledger_order(const struct ledger *ledger);                      /* of a Renyi ledger; else zero */
enum oracle_neighbours ledger_neighbours(const struct ledger *ledger); /* of its entries, if there are any */
size_t ledger_length(const struct ledger *ledger);
const struct ledger_entry *ledger_at(const struct ledger *ledger, size_t i);

/* ---- oracle ---- */

struct oracle;
struct data;
struct loss;

/* The oracle owns nothing that it is given; all must outlive it. */
int oracle_create(const struct data *data, const struct loss *loss, struct ledger *ledger,
                  const struct base_entropy *entropy, enum oracle_neighbours neighbours, struct oracle **out);
void oracle_free(struct oracle *oracle);

/* Public facts: no charge. */
size_t oracle_dim(const struct oracle *oracle);
size_t oracle_rows(const struct oracle *oracle);
double oracle_left(const struct oracle *oracle);
double oracle_lipschitz(const struct oracle *oracle);  /* L: no gradient is longer */
double oracle_smoothness(const struct oracle *oracle); /* G: gradient Lipschitz */
double oracle_curv_lower(const struct oracle *oracle); /* no Hessian has an eigenvalue below minus this */
double oracle_third(const struct oracle *oracle);      /* M: Hessian Lipschitz, or infinite */
double oracle_floor(const struct oracle *oracle);      /* lower bound of the loss */
double oracle_at_zero(const struct oracle *oracle);    /* no loss at w = 0 is larger */
/* Standard deviation that an answer of this cost has, before asking. */
double oracle_sd_value(const struct oracle *oracle, const double *w, double rho);
double oracle_sd_gradient(const struct oracle *oracle, const double *w, double rho);
double oracle_sd_hessian(const struct oracle *oracle, const double *w, double rho);
/* Of one decrease asked for alone; of k at once each has a k-th of the cost. */
double oracle_sd_decrease(const struct oracle *oracle, const double *w, const double *direction, double step,
                          double rho);
/* Laplace scale of the noise of a sparse vector's queries, twice that of its threshold's, and temperature of an
 * exponential mechanism; arguments as of oracle_first_step() and oracle_best_step(). */
double oracle_scale_first_step(const struct oracle *oracle, const double *w, const double *direction, size_t k,
                               const double *step, const double *offset, int scale_free, double rho);
double oracle_scale_best_step(const struct oracle *oracle, const double *w, const double *direction, size_t k,
                              const double *step, const double *offset, double rho);

/* Noisy answers; *sd is the standard deviation of the noise. */
int oracle_value(struct oracle *oracle, const double *w, double rho, double *value, double *sd);
int oracle_gradient(struct oracle *oracle, const double *w, double rho, double *gradient, double *sd);
/* sd on the diagonal, sd / sqrt(2) off it. Here and below a matrix of more rows than ORACLE_MOST_DIM is refused before
 * it is charged: it would take more than half a gigabyte, some copies of it. Refused as well is all that sums second
 * derivatives which jump (oracle_third() is infinite): Hessian, model gradient, trace and direction of the exact
 * curvature. */
#define ORACLE_MOST_DIM 8192
int oracle_hessian(struct oracle *oracle, const double *w, double rho, double *hessian, double *sd);

/* gradient + Hessian times direction: the gradient of the quadratic model of w at w + direction. */
int oracle_model_gradient(struct oracle *oracle, const double *w, const double *direction, double rho, double *gradient,
                          double *sd);

/* Decreases f(w) - f(w + step d) for k steps, with noise in proportion to each
 * one's own sensitivity; sd[k]. */
int oracle_decreases(struct oracle *oracle, const double *w, const double *direction, size_t k, const double *step,
                     double rho, double *decrease, double *sd);
/* The first step, in the order given, whose decrease plus offset is
 * (noisily) not negative; *index = k when there is none. scale_free: queries
 * divided by their step (one sensitivity for all); otherwise the sensitivity
 * of the largest step serves all. */
int oracle_first_step(struct oracle *oracle, const double *w, const double *direction, size_t k, const double *step,
                      const double *offset, int scale_free, double rho, size_t *index);
/* A step with large decrease plus offset, by the exponential mechanism. */
int oracle_best_step(struct oracle *oracle, const double *w, const double *direction, size_t k, const double *step,
                     const double *offset, double rho, size_t *index);

/* ---- batch.c: steps on a random part of the rows, whose cost is amplified by the sampling ---- */

enum oracle_scheme {
  ORACLE_FIXED,  /* size rows without replacement; under replace-one only */
  ORACLE_POISSON /* each row by itself, size of them expected */
};

/* Sums over a batch are divided by the public size, whatever the number of its rows. */
struct oracle_sampling {
  enum oracle_scheme scheme;
  double size;
};

/*
 * Opens a step: charges it, at most cost and in full whatever is asked then, and draws its batch. Of what the cost buys
 * without the amplification the share is for second-order answers, the rest for a gradient; 0 and 1 give only one of
 * them. Amplification is of all that is asked on a batch together, so nothing can be added to an open step, and the
 * ledger must be a Renyi one (else BASE_ERR_ACCOUNTANT). A step is one release: until it is closed the ledger refuses
 * every other charge with BASE_ERR_STEP, so that no question about all rows, nor another oracle's, comes between its
 * answers. A batch that leaves nothing out, a fixed size that is no whole
 * number and fixed sizes under zero-out, where neighbouring batches differ in two records, are refused.
 */
int oracle_step_open(struct oracle *oracle, const struct oracle_sampling *how, const double *w, double cost,
                     double curvature_share);
/* Each at most once a step, on its batch; a Hessian takes all that is for second-order answers. */
int oracle_step_gradient(struct oracle *oracle, const double *w, double *gradient, double *sd);
int oracle_step_hessian(struct oracle *oracle, const double *w, double *hessian, double *sd);
/* What is left for second-order answers, before the amplification. */
double oracle_step_left(const struct oracle *oracle);
/* Forgets the batch, and the ledger takes charges again. A step that is opened closes the oracle's one before. */
void oracle_step_close(struct oracle *oracle);
/* After the last step: forgets the copy of the rows, too, that many batches are gathered from. */
void oracle_batches_end(struct oracle *oracle);
/* Standard deviations that the answers of a step have which gives one of them only; infinite if it would be refused. */
double oracle_sd_step_gradient(struct oracle *oracle, const struct oracle_sampling *how, const double *w, double cost);
double oracle_sd_step_hessian(struct oracle *oracle, const struct oracle_sampling *how, const double *w, double cost);

/* ---- newton.c: curvature matrices, and the direction that one of them gives ---- */

enum oracle_curvature {
  ORACLE_HESSIAN, /* (1/n) sum l''_i z_i z_i' */
  ORACLE_MAJORANT /* (1/n) sum c_i z_i z_i', c_i the curvature of a quadratic upper bound of the loss at z_i'w */
};

enum oracle_modify {
  ORACLE_ADD, /* eigenvalues e become e + lambda0 */
  ORACLE_CLIP /* and max(e, lambda0) */
};

/* The matrix A of a Newton direction: (curvature at w + diag(penalty)), its eigenvalues modified. Its smallest
 * eigenvalue is bounded below by lambda0 and the penalty, which are public or released; the sensitivity follows. */
struct oracle_newton {
  enum oracle_curvature curvature;
  enum oracle_modify modify;
  double lambda0;
  const double *penalty; /* second derivatives of the penalty, none negative */
};

double oracle_sd_majorant(const struct oracle *oracle, const double *w, double rho);
/* As oracle_hessian(), of the quadratic upper bound. */
int oracle_majorant(struct oracle *oracle, const double *w, double rho, double *matrix, double *sd);
/* Trace of the curvature; refused where it may be negative. */
int oracle_trace(struct oracle *oracle, const double *w, enum oracle_curvature curvature, double rho, double *trace,
                 double *sd);
/* A^-1 gradient, for a gradient that was released; refused where the curvature may be negative. */
int oracle_newton_direction(struct oracle *oracle, const double *w, const double *gradient,
                            const struct oracle_newton *how, double rho, double *direction, double *sd);
/* The same about the open step's batch, for a part of what is left there; more than that is refused. */
int oracle_step_trace(struct oracle *oracle, const double *w, enum oracle_curvature curvature, double rho,
                      double *trace, double *sd);
int oracle_step_direction(struct oracle *oracle, const double *w, const double *gradient,
                          const struct oracle_newton *how, double rho, double *direction, double *sd);

/* ---- perturbed.c: the minimiser of the mean loss plus sum_j quadratic_j w_j^2 / 2 ---- */

/* With noise of its own, for a quadratic part that is positive everywhere (output perturbation). */
int oracle_minimiser(struct oracle *oracle, const double *quadratic, double rho, double *w, double *sd);

struct oracle_perturbation {
  double sd_objective; /* of each v_j */
  double sd_output;    /* of the noise that covers what the solver leaves open */
};
/* Of that plus v'w / n, v Gaussian noise, and a little noise for the solver's error (objective perturbation). Once a
 * ledger, which must come from ledger_create_perturbed() with a kappa of at least log(1 + b / (n least quadratic_j)), b
 * the loss's largest curvature. */
int oracle_perturbed_minimiser(struct oracle *oracle, const double *quadratic, double rho, double rho_output, double *w,
                               struct oracle_perturbation *how);

#endif
