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
 * loss is kappa, 0 < kappa < eps, plus that of a Gaussian release with four times its tails
 * (proofs: objective-perturbation). */
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
struct engine;
struct model;
struct coordinates;

/* Of what the engine sums by the model, which is NULL where only counts are asked for. The oracle owns nothing that it
 * is given or that this points to; all but the two structs must outlive it. */
int oracle_create(const struct engine *engine, const struct model *model, struct ledger *ledger,
                  const struct base_entropy *entropy, enum oracle_neighbours neighbours, struct oracle **out);
void oracle_free(struct oracle *oracle);
/* From now on coefficients and answers are in these coordinates (data/data.h), which must outlive the oracle. Once. */
int oracle_move(struct oracle *oracle, const struct coordinates *coordinates);
/* Before that, and before any query: records have these weights and offsets, one each or NULL, and no offset is larger
 * than most, which is public. Where the engine has no such records, or the model, BASE_ERR_ARGUMENT. */
int oracle_weigh(struct oracle *oracle, const double *weight, const double *offset, double most);

/* Public facts: no charge. */
size_t oracle_dim(const struct oracle *oracle);     /* coefficients */
size_t oracle_outputs(const struct oracle *oracle); /* that have as many each; predictors of a row */
size_t oracle_columns(const struct oracle *oracle); /* those but the intercept's */
size_t oracle_rows(const struct oracle *oracle);
/* Of the columns, in coordinates of weighted rows; else NULL. */
const double *oracle_scales(const struct oracle *oracle);
double oracle_left(const struct oracle *oracle);
double oracle_lipschitz(const struct oracle *oracle);  /* L: no gradient is longer */
double oracle_smoothness(const struct oracle *oracle); /* G: gradient Lipschitz */
double oracle_curv_lower(const struct oracle *oracle); /* no Hessian has an eigenvalue below minus this */
double oracle_third(const struct oracle *oracle);      /* M: Hessian Lipschitz, or infinite */
double oracle_floor(const struct oracle *oracle);      /* lower bound of the loss */
double oracle_at_zero(const struct oracle *oracle);    /* no loss at w = 0 is larger */

/* ---- release.c: releases ---- */

/* The records of a release: the full data, or the open step's batch. */
struct scope;
struct scope *oracle_all(struct oracle *oracle);
struct scope *oracle_step(struct oracle *oracle);

/* All are about struct ask (engine/ask.h). A matrix of more rows than ORACLE_MOST_DIM is refused before it is charged:
 * it would take more than half a gigabyte, some copies of it. Refused as well is all that sums second derivatives which
 * jump (oracle_third() is infinite): Hessian, model gradient, trace and direction of the exact curvature. A model of
 * several outputs gives values, gradients, clipped or not, and second moments of rows. */
#define ORACLE_MOST_DIM 8192
struct query;
extern const struct query query_value;
extern const struct query query_gradient;
/* The same with the part of each record clipped to the norm clip. */
extern const struct query query_clipped_gradient;
/* gradient + Hessian times along: of the quadratic model of at, at at + along */
extern const struct query query_model_gradient;
/* sd on the diagonal, sd / sqrt(2) off it; the majorant is the Hessian of the quadratic upper bound */
extern const struct query query_hessian;
extern const struct query query_majorant;
/* The same noise on (1/n) sum_i l'_i^2 z_i z_i', the second moments of the records' gradients. */
extern const struct query query_products;
/* Of weighted rows: (1/n) sum_i weight_i z_i z_i', weights at most one and such that no term is longer than cap^2. */
extern const struct query query_weighted;
/* (1/n) sum_i z_i z_i', of the coefficients of one output; the response is not looked at. */
extern const struct query query_second_moments;
/* Means of clipped rows' columns, and of min(r_j^2, most_j^2) / (2 most_j) where most_j > 0: 2 p numbers. Before the
 * rows have other coordinates. */
extern const struct query query_moments;
/* Of the curvature: its trace, and A^-1 along for a released gradient along; refused where it may be negative. */
extern const struct query query_trace;
extern const struct query query_direction;
/* f(at) - f(at + step_i along), of a network with each record's clipped to clip |step_i along|; each with noise in
 * proportion to its own sensitivity: k values, k sd. */
extern const struct query query_decreases;
/* The first step, in the order given, whose decrease plus offset is (noisily) not negative; index k when there is none.
 * scale_free: queries divided by their step (one sensitivity for all); otherwise the sensitivity of the largest step
 * serves all. sd is the Laplace scale of the queries' noise, twice that of the threshold's. */
extern const struct query query_first_step;
/* The same as the only query on a step's batch (PART_CHOICE), where what it takes of the step is eps. */
extern const struct query query_batch_step;
/* A step with large decrease plus offset, by the exponential mechanism; sd is its temperature. One may be zero. */
extern const struct query query_best_step;
/* Histograms of raw columns, one after the other. */
extern const struct query query_counts;
/* The same under another name. */
extern const struct query query_table;
/* Sums over the records of k scores in [0, 1], each a raw column, and the column with a large sum by the exponential
 * mechanism. Other numbers are clamped; what is not finite adds nothing. */
extern const struct query query_scores;
extern const struct query query_best_score;

/* What is not asked for is NULL. */
struct answer {
  double *value; /* noisy */
  double *sd;    /* scale of the noise */
  size_t *index; /* of the step chosen */
};
/* What queries sum, by the words by which others are asked for it (engine/remote.c); NULL for another word. */
struct sum;
const struct sum *sum_of_word(const char *word);

/* At a cost of rho, which on a batch is a part of what its step has left for such queries. */
int release(struct scope *scope, const struct query *query, const struct ask *ask, double rho, struct answer out);
/* The sd that this would have, the largest of several; infinite where eps is too small for a sparse vector. */
double release_sd(const struct scope *scope, const struct query *query, const struct ask *ask, double rho);

/* ---- journal.c: what was paid for ---- */

enum keep { KEEP_GRADIENT, KEEP_MATRIX, KEEP_NOT };
/* Matrices of more numbers are not kept. */
#define JOURNAL_MOST ((size_t)1 << 20)
struct kept {
  const char *query; /* its name */
  size_t numbers;    /* of value */
  double *at, *value;
  double sd; /* as of the answer */
};
/* The last such release on the full data, or NULL. */
const struct kept *oracle_kept(const struct oracle *oracle, enum keep keep);

/* ---- schedule.c: steps on a random part of the rows, whose cost is amplified by the sampling ---- */

enum scheme {
  SCHEME_FIXED,  /* size rows without replacement; under replace-one only */
  SCHEME_POISSON /* each row by itself, size of them expected */
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

/* share: of what a step's cost buys without the amplification, at most one in all */
struct schedule {
  struct sampling sampling;
  double share[PARTS];
};

/*
 * Opens a step: charges it, at most cost and in full whatever is asked then, and draws its batch. ask is its first
 * question, about a gradient, without one a Hessian, or a sparse vector, which the ledger describes. Amplification is
 * of all that is asked on a batch together, so nothing can be added to an open step, and the ledger must be a Renyi one
 * (else BASE_ERR_ACCOUNTANT). A step is one release: until it is closed the ledger refuses every other charge with
 * BASE_ERR_STEP, so that no query on the full data, nor another oracle's, comes between its answers. A batch that
 * leaves nothing out, a fixed size that is no whole number and fixed sizes under zero-out, where neighbouring batches
 * differ in two records, are refused.
 */
int step_open(struct oracle *oracle, const struct schedule *how, const struct ask *ask, double cost);
/* What is left for queries like this one, before the amplification; of a sparse vector its eps. */
double step_left(const struct oracle *oracle, const struct query *query);
/* Forgets the batch, and the ledger takes charges again. A step that is opened closes the oracle's one before. */
void step_close(struct oracle *oracle);
/* After the last step: forgets the copy of the rows, too, that many batches are gathered from, and fresh records. */
void oracle_batches_end(struct oracle *oracle);
/* Scale of the noise that the answer has of a step which gives only this one; infinite if it would be refused, as are
 * noisy decreases. */
double step_sd(struct oracle *oracle, const struct sampling *how, const struct query *query, const struct ask *ask,
               double cost);

/* ---- fresh.c, epoch.c: each record in one leaf, all of them paid for together ---- */

/*
 * Charges rho, once, and puts the records in a random order, or begins to read a stream. Whatever is asked then of
 * fresh records, which are in no leaf yet, costs nothing more: a record is in one leaf, and no leaf releases more than
 * rho about it (proofs: fresh-records). What needs more records than are left is refused with BASE_ERR_RECORDS; how
 * many it needs follows from released points. A schedule that is opened closes the one before. Of one output only.
 */
int fresh_open(struct oracle *oracle, double rho);
void fresh_close(struct oracle *oracle);
/* Records that are in no leaf yet. */
size_t fresh_left(const struct oracle *oracle);
/* A leaf for one query, with Gaussian noise. */
int fresh_release(struct oracle *oracle, const struct query *query, const struct ask *ask, size_t records,
                  struct answer out);
/* Scale of its noise. */
double fresh_sd(struct oracle *oracle, const struct query *query, const struct ask *ask, size_t records);

/* How the noise of an epoch's prefix sums is correlated (factor.c). */
enum factor { FACTOR_SQUARE_ROOT, FACTOR_TREE, FACTOR_INDEPENDENT };

/* The first leaf has so many records, and gives the gradient and the Hessian there; those behind it give differences
 * of gradients between its point and that of the leaf before, and what is released is their sum so far. No leaf may be
 * more sensitive than the first. The Hessian is released, or stays where it is and is multiplied. */
struct epoch {
  size_t records, leaves; /* at most so many leaves */
  enum factor factor;
  double curvature_share; /* of rho, for the Hessian; zero: none */
  size_t products;        /* of it with a vector, at most; zero: it is released itself */
};
#define EPOCH_MOST_LEAVES 4096
struct epoch_sd {
  double gradient, hessian;
};
/* hessian: NULL where none is released. */
int epoch_open(struct oracle *oracle, const struct epoch *how, const double *w, double *gradient, double *hessian,
               struct epoch_sd *sd);
/* A leaf of so many records; refused with BASE_ERR_ARGUMENT where it would be more sensitive than the first, and
 * behind the last. */
int epoch_leaf(struct oracle *oracle, const double *w, size_t records, double *gradient, double *sd);
/* The fewest records that the next leaf can have with this point; none can: SIZE_MAX. */
size_t epoch_records(struct oracle *oracle, const double *w);
/* The Hessian of the first leaf times v, with noise of this sd on each number, in proportion to |v|; refused with
 * BASE_ERR_ARGUMENT behind the last product. */
int epoch_product(struct oracle *oracle, const double *v, double *product, double *sd);
/* Of the last gradient of such an epoch, and of its Hessian where it is released. */
struct epoch_sd epoch_noise(struct oracle *oracle, double rho, const struct epoch *how, const double *w);

/* ---- selection.c: the best of a random number of runs, whose number and candidates nobody learns ---- */

enum selection_law { SELECTION_POISSON, SELECTION_GEOMETRIC };
struct selection {
  enum selection_law law;
  uint32_t mean; /* of the number of runs; of the Poisson distribution that with zero, which is then drawn anew */
  uint32_t candidates;
  double mu; /* each run is mu-GDP, whichever candidate it is of */
};
/* Renyi divergence at this order, over the order. */
double selection_cost(const struct selection *s, double order);
/* Charges that to a Renyi ledger (else BASE_ERR_ACCOUNTANT), then draws the number of runs. */
int selection_open(const struct selection *s, struct ledger *ledger, const struct base_entropy *e,
                   enum oracle_neighbours neighbours, size_t *runs);
/* Of a run. */
int selection_candidate(const struct selection *s, const struct base_entropy *e, size_t *index);

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
