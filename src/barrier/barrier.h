/*
 * barrier: the only place where data, noise and budget meet.
 *
 * A method sends queries to the oracle, which charges the ledger, draws noise
 * and only then releases. Whatever is done with releases, the run is private.
 * A query that cannot be paid for is refused with BASE_ERR_BUDGET and
 * charges nothing; an error or an interrupt after the charge refunds nothing.
 *
 * Costs are rho. A Gaussian release of sensitivity D with standard deviation s
 * costs rho = D^2 / (2 s^2), that is mu = sqrt(2 rho).
 */
#ifndef DPSOSP_BARRIER_H
#define DPSOSP_BARRIER_H

#include "base/base.h"
#include "engine/ask.h"

enum oracle_neighbours {
  ORACLE_REPLACE_ONE, /* one record is replaced by any other */
  ORACLE_ZERO_OUT     /* one record is replaced by a null record */
};

/* ---- ledger ---- */

struct ledger;
struct acct_perturbed; /* acct/acct.h */

enum ledger_accountant {
  LEDGER_OPEN, /* not decided yet: the first charge decides */
  LEDGER_GDP,  /* all releases Gaussian: sum of mu^2, converted exactly */
  LEDGER_ZCDP, /* any release: sum of rho, converted by CKS */
  LEDGER_RENYI /* any release, also subsampled: sum of R(alpha) / alpha at one order alpha fixed in advance */
};

struct ledger_entry {
  const char *what;      /* "gradient", "hessian", ... static text */
  const char *mechanism; /* "gaussian", "sparse vector", ... static text */
  double rho;
  double sensitivity; /* of the released quantity, rounding included */
  double scale;       /* of the noise: sd, or the Laplace scale, or the temperature */
  double values;      /* number of values, each with this sensitivity and scale (proofs: ledger-rows) */
};

/* Capacities are the amounts of rho that the budget allows under each accountant; a
 * capacity of zero means that this accountant cannot be used. */
int ledger_create(double gdp_capacity, double zcdp_capacity, enum ledger_accountant accountant, struct ledger **out);
/* Capacity and costs in R(alpha) / alpha at this order alpha > 1, which is rho for a Gaussian release
 * and at most rho for a zCDP one. */
int ledger_create_renyi(double order, double capacity, struct ledger **out);
/* For one perturbed minimiser and other Gaussian releases: all together are (eps, delta)-private
 * (proofs: objective-perturbation). top + tilt < eps. */
int ledger_create_perturbed(double eps, double delta, const struct acct_perturbed *how, struct ledger **out);
void ledger_free(struct ledger *ledger);
/* Decides the accountant; refused after a charge under another one. A Renyi
 * ledger takes all mechanisms and remains one. */
int ledger_decide(struct ledger *ledger, enum ledger_accountant accountant);
/* neighbours: the relation of the entry's sensitivity. The first charge fixes the relation of the ledger; a charge
 * under the other one is refused with BASE_ERR_RELATION. */
int ledger_charge(struct ledger *ledger, enum oracle_neighbours neighbours, int gaussian,
                  const struct ledger_entry *entry);
/* Ends a run that owned the ledger: all but keep is charged as unused, so that
 * the total is the budget, which is what the guarantee says. */
int ledger_close(struct ledger *ledger, enum oracle_neighbours neighbours, double keep);
/* Under the accountant that was decided (GDP while open). */
double ledger_left(const struct ledger *ledger);
double ledger_spent(const struct ledger *ledger);
double ledger_capacity(const struct ledger *ledger);
enum ledger_accountant ledger_accountant_of(const struct ledger *ledger);
double ledger_order(const struct ledger *ledger);                      /* of a Renyi ledger; else zero */
enum oracle_neighbours ledger_neighbours(const struct ledger *ledger); /* of its entries, if it has any */
size_t ledger_length(const struct ledger *ledger);
const struct ledger_entry *ledger_at(const struct ledger *ledger, size_t i);

/* ---- oracle ---- */

struct oracle;
struct engine;
struct model;
struct coordinates;

/* An oracle for the engine's sums by the model, which is NULL for counts only. The oracle owns none of its arguments;
 * all but the two structs must outlive it. */
int oracle_create(const struct engine *engine, const struct model *model, struct ledger *ledger,
                  const struct base_entropy *entropy, enum oracle_neighbours neighbours, struct oracle **out);
void oracle_free(struct oracle *oracle);
/* Coefficients and releases are in these coordinates from now on (data/data.h), which must outlive the oracle. Once. */
int oracle_move(struct oracle *oracle, const struct coordinates *coordinates);
/* In coordinates of weighted rows without a tilt: the columns' scales and spreads are multiplied by this public or
 * released number, once. */
int oracle_rescale(struct oracle *oracle, double factor);
/* Before oracle_move() and any query: records have these weights and offsets, one each or NULL, and no offset exceeds
 * `most`, which is public, in absolute value. BASE_ERR_ARGUMENT where engine or model cannot have them. */
int oracle_set_weights(struct oracle *oracle, const double *weight, const double *offset, double most);
/* Before any query: rows belong to these persons, 1, ..., persons, of whom none has more than `most` rows
 * (data_shares()). What is protected are then persons, and releases depend on their number, not on that of rows.
 * Batches, fresh records and perturbed objectives are refused from then on. */
int oracle_set_persons(struct oracle *oracle, const int *person, size_t persons, size_t most);

/* Public facts: no charge. */
size_t oracle_dim(const struct oracle *oracle);     /* coefficients */
size_t oracle_outputs(const struct oracle *oracle); /* predictors of a row; each has the same number of coefficients */
size_t oracle_columns(const struct oracle *oracle); /* columns without the intercept */
size_t oracle_rows(const struct oracle *oracle);    /* number of records or, where they belong to persons, of persons */
/* Relative standard deviations that are expected of the columns' coefficients, in coordinates of weighted rows; else
 * NULL. */
const double *oracle_prior(const struct oracle *oracle);
const double *oracle_spread(const struct oracle *oracle); /* the same for the columns */
const double *oracle_scale(const struct oracle *oracle);  /* of the columns in these coordinates; else NULL */
double oracle_constant(const struct oracle *oracle);      /* the intercept's coordinate; zero if there is none */
int oracle_clips(const struct oracle *oracle);            /* are slopes residuals, of weighted rows? */
double oracle_left(const struct oracle *oracle);
double oracle_lipschitz(const struct oracle *oracle);  /* L: bound on the norm of a gradient */
double oracle_smoothness(const struct oracle *oracle); /* G: Lipschitz constant of the gradient */
double oracle_curv_lower(const struct oracle *oracle); /* no Hessian has an eigenvalue below minus this */
double oracle_missing(const struct oracle *oracle);    /* this part of a record's bound may be missing from a matrix */
double oracle_third(const struct oracle *oracle);      /* M: Lipschitz constant of the Hessian, or infinite */
double oracle_floor(const struct oracle *oracle);      /* lower bound of the loss */
double oracle_at_zero(const struct oracle *oracle);    /* upper bound of the loss at w = 0 */

/* ---- release.c: releases ---- */

/* The records of a release: the full data, or the open step's batch. */
struct scope;
struct scope *oracle_all(struct oracle *oracle);
struct scope *oracle_step(struct oracle *oracle);

/* The comments name members of struct ask (engine/ask.h). A matrix of more rows than ORACLE_MOST_DIM is refused before
 * it is charged: it would take more than half a gigabyte, and there are several copies. Also refused are sums of second
 * derivatives that jump (oracle_third() is infinite): Hessian, model gradient, trace and direction of the exact
 * curvature. A model of several outputs has values, gradients (clipped or not), moments of columns and second
 * moments of rows only. */
#define ORACLE_MOST_DIM 8192
struct query;
extern const struct query query_value;
extern const struct query query_gradient;
/* The same with each record's part clipped to the norm clip. */
extern const struct query query_clipped_gradient;
/* gradient + Hessian times along: the gradient at (at + along) of the quadratic model around at */
extern const struct query query_model_gradient;
/* sd on the diagonal, sd / sqrt(2) off it; the majorant is the Hessian of the quadratic upper bound */
extern const struct query query_hessian;
extern const struct query query_majorant;
/* The same noise on (1/n) sum_i l'_i^2 z_i z_i', the second moments of the records' gradients. */
extern const struct query query_products;
/* For weighted rows: (1/n) sum_i weight_i z_i z_i', with weights of at most one and such that no term exceeds cap^2. */
extern const struct query query_weighted;
/* (1/n) sum_i z_i z_i', for the coefficients of one output; does not use the response. */
extern const struct query query_second_moments;
/* Means of clipped rows' columns, of min(r_j^2, max_j^2) / (2 max_j) where max_j > 0, and of the coordinate of the
 * intercept, if there is one: 2 p or 2 p + 1 numbers. Only before the rows have other coordinates. The second query
 * multiplies what a record adds by its weight. */
extern const struct query query_moments;
extern const struct query query_weighted_moments;
/* The fraction of the records that are not null. */
extern const struct query query_usable;
/* For records that are not null: means of 1, y and y^2 / 2, |y| <= 1: 3 numbers. */
extern const struct query query_response;
/* For oracle_clips(), with residuals clipped to the norm clip: the gradient, where those of rows longer than cap, that
 * of the ask or else of the coordinates, have a smaller clip; the mean residual and, with `along`, the mean of residual
 * times f / 2, f = z'along clipped to [-2, 2]. */
extern const struct query query_residual_gradient;
extern const struct query query_recalibration;
/* With the same clip of residuals the second moments of the records' gradients; with clip the bound of second
 * derivatives the Hessian, where rows longer than 1.3 cap have a smaller weight. The noise is that of query_hessian. */
extern const struct query query_residual_products;
extern const struct query query_residual_hessian;
/* For k ends step_0 < step_1 < ...: the fraction of records at each, where a record with |residual| between two ends
 * counts at both, more at the nearer one. With a clip residuals are clipped first, and with a cap they are multiplied
 * by the length of their row over the cap, up to one. */
extern const struct query query_residual_counts;
/* The same of the lengths of rows. */
extern const struct query query_row_lengths;
/* For weighted rows of several outputs: the gradient, where the slopes of a record have at most the norm clip, and less
 * where its row is longer than cap. */
extern const struct query query_class_gradient;
/* For damped rows of several outputs: the Hessian, and the second moments of the records' gradients, of all outputs'
 * coefficients. The noise is that of query_hessian. */
extern const struct query query_class_hessian;
extern const struct query query_class_products;
/* For each class of several: the fraction of the records that have it. */
extern const struct query query_class_counts;
/* The trace of the curvature, and A^-1 along for a released gradient along; refused where it may be negative. */
extern const struct query query_trace;
extern const struct query query_direction;
/* f(at) - f(at + step_i along); for a network each record's decrease is clipped to clip |step_i along|. The noise of
 * each is proportional to its own sensitivity: k values, k sd. */
extern const struct query query_decreases;
/* f(at) - f(at + along), where each record's decrease is clipped to [-step_0, step_1], and residuals to the norm clip
 * where slopes have no bound. */
extern const struct query query_improvement;
/* The first step, in the order given, whose decrease plus offset is (noisily) not negative; index k when there is none.
 * scale_free: queries divided by their step (one sensitivity for all); otherwise the sensitivity of the largest step
 * serves all. sd is the Laplace scale of the queries' noise, twice that of the threshold's. */
extern const struct query query_first_step;
/* The same as the only query on a step's batch (PART_CHOICE), where its cost is eps. */
extern const struct query query_batch_step;
/* A step with large decrease plus offset, by the exponential mechanism; sd is its temperature. A step may be zero. */
extern const struct query query_best_step;
/* Histograms of raw columns, one after the other. */
extern const struct query query_counts;
/* The same under another name. */
extern const struct query query_table;
/* Sums over the records of k scores in [0, 1], each a raw column; and the number of a column with a large sum, by the
 * exponential mechanism. Other numbers are clipped; a number that is not finite adds nothing. */
extern const struct query query_scores;
extern const struct query query_best_score;

/* Members that are not needed are NULL. */
struct answer {
  double *value; /* noisy */
  double *sd;    /* scale of the noise */
  size_t *index; /* of the chosen step */
};
/* The sum of this name, for those who compute it elsewhere (engine/remote.c); NULL for an unknown name. */
struct sum;
const struct sum *sum_of_word(const char *word);

/* Releases at a cost of rho; on a batch this is a part of what the step has left for such queries. */
int release(struct scope *scope, const struct query *query, const struct ask *ask, double rho, struct answer out);
/* Does this query suit the model and its coordinates, whether there are rows or not? Public facts only. */
int release_fits(const struct scope *scope, const struct query *query, const struct ask *ask);
/* The sd that this release would have, if release_fits(), the largest of several; infinite where eps is too small for a
 * sparse vector. */
double release_sd(const struct scope *scope, const struct query *query, const struct ask *ask, double rho);

/* ---- journal.c: earlier releases ---- */

enum keep { KEEP_GRADIENT, KEEP_MATRIX, KEEP_NOT };
/* Matrices with more numbers are not kept. */
#define JOURNAL_MOST ((size_t)1 << 20)
struct kept {
  const char *query; /* its name */
  size_t numbers;    /* length of value */
  double *at, *value;
  double sd; /* as in the release */
};
/* The last release of this kind on the full data, or NULL. */
const struct kept *oracle_kept(const struct oracle *oracle, enum keep keep);

/* ---- schedule.c: steps on random batches, whose cost is amplified by the sampling ---- */

enum scheme {
  SCHEME_FIXED,  /* size rows without replacement; under replace-one only */
  SCHEME_POISSON /* each row independently, size rows expected */
};

/* Sums over a batch are divided by the public size, whatever the number of its rows. */
struct sampling {
  enum scheme scheme;
  double size;
};

enum {
  PART_SLOPE,     /* gradients */
  PART_CURVATURE, /* Hessians, traces, directions */
  PART_DECREASE,  /* noisy decreases, beside gradients */
  PART_CHOICE,    /* a sparse vector, alone on its batch */
  PARTS
};

/* share: fractions of what a step's cost allows before amplification, at most one in total */
struct schedule {
  struct sampling sampling;
  double share[PARTS];
};

/*
 * Opens a step: charges it, at most cost and in full whatever is queried then, and draws its batch. ask is its first
 * query: a gradient, without one a Hessian, or a sparse vector; the ledger's entry describes it. Amplification applies
 * to all releases on a batch together, so nothing can be added to an open step, and the ledger must be a Renyi ledger
 * (else BASE_ERR_ACCOUNTANT). A step is one release: until it is closed the ledger refuses every other charge with
 * BASE_ERR_STEP, so that no query on the full data, nor another oracle's, comes between its releases. Refused are: a
 * batch size >= n; a fixed size that is not an integer; and fixed sizes under zero-out, where neighbouring batches
 * would differ in two records.
 */
int step_open(struct oracle *oracle, const struct schedule *how, const struct ask *ask, double cost);
/* What is left for queries like this one, before amplification; for a sparse vector its eps. */
double step_left(const struct oracle *oracle, const struct query *query);
/* Closes the step: its batch is forgotten, and the ledger takes charges again. Opening a step closes an open one. */
void step_close(struct oracle *oracle);
/* After the last step: also frees the copy of the rows that batches are gathered from, and ends fresh records. */
void oracle_batches_end(struct oracle *oracle);
/* Scale of the noise of this release on a step that makes no other; infinite if it would be refused, as noisy
 * decreases would. */
double step_sd(struct oracle *oracle, const struct sampling *how, const struct query *query, const struct ask *ask,
               double cost);

/* ---- fresh.c, epoch.c: each record is in one leaf, and all leaves are paid for together ---- */

/*
 * Charges rho, once, and puts the records in a random order, or begins to read a stream. Queries on fresh records,
 * which are in no leaf yet, then cost nothing more: a record is in one leaf, and no leaf costs more than
 * rho (proofs: fresh-records). A query that needs more records than are left is refused with BASE_ERR_RECORDS; the
 * number that it needs follows from released points. Opening a schedule closes an open one. One output only.
 */
int fresh_open(struct oracle *oracle, double rho);
void fresh_close(struct oracle *oracle);
/* Number of records that are in no leaf yet. */
size_t fresh_left(const struct oracle *oracle);
/* A leaf for one query, with Gaussian noise. */
int fresh_release(struct oracle *oracle, const struct query *query, const struct ask *ask, size_t records,
                  struct answer out);
/* Scale of its noise. */
double fresh_sd(struct oracle *oracle, const struct query *query, const struct ask *ask, size_t records);

/* How the noise of an epoch's prefix sums is correlated (factor.c). */
enum factor { FACTOR_SQUARE_ROOT, FACTOR_TREE, FACTOR_INDEPENDENT };

/* The first leaf has `records` records, and gives the gradient and the Hessian there. Each later leaf gives the
 * difference of gradients between its point and that of the leaf before; the release is their sum so far. No leaf may
 * be more sensitive than the first. The Hessian is released, or is kept inside and multiplied. */
struct epoch {
  size_t records, leaves; /* leaves: the largest number of them */
  enum factor factor;
  double curvature_share; /* of rho, for the Hessian; zero: none */
  size_t products;        /* largest number of products of it with a vector; zero: it is released itself */
};
#define EPOCH_MOST_LEAVES 4096
struct epoch_sd {
  double gradient, hessian;
};
/* hessian: NULL where none is released. */
int epoch_open(struct oracle *oracle, const struct epoch *how, const double *w, double *gradient, double *hessian,
               struct epoch_sd *sd);
/* A leaf of `records` records; refused with BASE_ERR_ARGUMENT where it would be more sensitive than the first, and
 * after the last leaf. */
int epoch_leaf(struct oracle *oracle, const double *w, size_t records, double *gradient, double *sd);
/* The smallest number of records that the next leaf can have at this point; SIZE_MAX if there is none. */
size_t epoch_records(struct oracle *oracle, const double *w);
/* The Hessian of the first leaf times v, with noise of this sd on each number, proportional to |v|; refused with
 * BASE_ERR_ARGUMENT after the last product. */
int epoch_product(struct oracle *oracle, const double *v, double *product, double *sd);
/* Noise of the last gradient of such an epoch, and of its Hessian where it is released. */
struct epoch_sd epoch_noise(struct oracle *oracle, double rho, const struct epoch *how, const double *w);

/* ---- selection.c: the best of a random number of runs; the number and the candidates stay secret ---- */

enum selection_law { SELECTION_POISSON, SELECTION_GEOMETRIC };
struct selection {
  enum selection_law law;
  uint32_t mean; /* of the number of runs; for Poisson that of the distribution with zero, which is then drawn again */
  uint32_t candidates;
  double mu; /* each run is mu-GDP, for every candidate */
};
/* Renyi divergence at this order, divided by the order. */
double selection_cost(const struct selection *s, double order);
/* Charges this cost to a Renyi ledger (else BASE_ERR_ACCOUNTANT), then draws the number of runs. */
int selection_open(const struct selection *s, struct ledger *ledger, const struct base_entropy *e,
                   enum oracle_neighbours neighbours, size_t *runs);
/* Draws the candidate of a run. */
int selection_candidate(const struct selection *s, const struct base_entropy *e, size_t *index);

/* ---- perturbed.c: the minimiser of the mean loss plus sum_j quadratic_j w_j^2 / 2 ---- */

/* With noise added to it (output perturbation); every quadratic_j must be positive. */
int oracle_minimiser(struct oracle *oracle, const double *quadratic, double rho, double *w, double *sd);

struct oracle_perturbation {
  double sd_objective; /* of each v_j */
  double sd_output;    /* of the noise that covers the solver's error */
};
/* The minimiser of that plus v'w / n, v Gaussian noise, with a little noise for the solver's error (objective
 * perturbation). Once for each ledger, which must come from ledger_create_perturbed() with a top of at least
 * loss_determinant() at n times the least quadratic_j, for its tilt, and with slopes of one sign only where the loss
 * has such; rho must be at least the share of the ledger's capacity. */
int oracle_perturbed_minimiser(struct oracle *oracle, const double *quadratic, double rho, double rho_output, double *w,
                               struct oracle_perturbation *how);

#endif
