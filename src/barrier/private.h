/* Inside the barrier: queries, mechanisms and scopes, bounds of sensitivities. */
#ifndef DPSOSP_BARRIER_PRIVATE_H
#define DPSOSP_BARRIER_PRIVATE_H

#include "barrier/barrier.h"

#include "engine/engine.h"

/* The rows of a release, and what is left to be spent there. */
struct scope {
  struct oracle *oracle;
  const struct batch *of; /* NULL: all rows */
  double left[PARTS];     /* in an open step: rho, or eps for PART_CHOICE */
  int exact;              /* fresh records: the batch has exactly as many rows as the divisor of its sums, */
  double whole;           /* and this rho is left for any Gaussian query */
};

/* The amount that a cost allows before amplification. */
struct amplified {
  struct sampling how;
  double cost; /* zero: none computed yet */
  double rho;  /* for a sparse vector eps */
};

struct oracle {
  struct engine engine;
  struct model model;
  struct ledger *ledger;
  const struct base_entropy *entropy;
  enum oracle_neighbours neighbours;
  struct scope all, step;
  struct kept kept[KEEP_NOT];
  struct batch batch;             /* of the open step */
  double drawn;                   /* number of rows of all batches so far */
  struct records *records;        /* a copy from which they are gathered once they are many, or NULL */
  struct amplified bought[PARTS]; /* the last results, because a run uses the same cost again and again */
  struct fresh *fresh;            /* the open schedule of fresh records, or NULL */
  struct coordinates *rescaled;   /* what oracle_rescale() made, or NULL */
};

/* ---- mechanism.c ---- */

struct noise {
  double sensitivity, scale; /* as in the ledger */
  double parameter;          /* of the mechanism */
  const double *each;        /* scales of the numbers, if each has its own */
};

struct mechanism {
  const char *name;
  int gaussian; /* may the ledger count it as Gaussian? */
  int each;     /* do numbers have sensitivities and scales of their own? */
  int chooses;  /* is an index released? */
  /* From noise->sensitivity and rho to the scale for k numbers, or an error. */
  int (*scale)(size_t k, double rho, struct noise *noise);
  /* The same scale, before a release is planned. */
  double (*guess)(size_t k, double sensitivity, double rho);
  int (*draw)(const struct base_entropy *e, size_t k, const struct noise *noise, double *x, size_t *index);
};
extern const struct mechanism mechanism_gaussian;
extern const struct mechanism mechanism_each;
extern const struct mechanism mechanism_symmetric;
extern const struct mechanism mechanism_first;
extern const struct mechanism mechanism_first_pure; /* its cost is eps instead of rho */
extern const struct mechanism mechanism_best;

/* Standard deviation of the noise on so many coordinates, enlarged by the sampler's rounding of its argument; an error
 * where the noise would be too large for that. */
int gaussian_scale(double sensitivity, double rho, size_t coordinates, double *sd);

/* ---- fresh.c ---- */

/* An open epoch: its releases and, until its end, the exact leaves and the Hessian that is multiplied. */
struct epoch_sums {
  struct epoch how;
  double leaf;  /* bound on the sensitivity of a leaf */
  double sd;    /* of the noise on each number of an encoded sum */
  size_t steps; /* number of leaves so far */
  size_t dim;
  double *leaves, *sums; /* how.leaves vectors each: exact leaves; encoded sums with their noise */
  double *at;            /* the point of the last leaf */
  double *hessian;       /* exact, of the first leaf, or NULL */
  double start;          /* a bound on the norm of the first leaf's point */
  size_t products;       /* number of products with the Hessian so far */
};

struct fresh {
  double rho;              /* cost of all leaves together */
  size_t *order;           /* of the rows; NULL where the engine reads a stream */
  long owner;              /* the process that may use it: a fork would draw other noise for the same records */
  size_t used;             /* number of records used, from the first on */
  struct epoch_sums epoch; /* without memory if there is none */
};
/* The scope of a leaf with this batch, before its records are taken: for sensitivities. */
struct scope fresh_scope(struct oracle *o, const struct batch *batch);
/* Fills the batch with the next fresh records, which are used up whatever happens then. BASE_ERR_RECORDS when
 * fewer are left. */
int fresh_take(struct oracle *o, struct batch *batch);
/* Wipes and frees the epoch. */
void fresh_end_epoch(struct fresh *f);

/* ---- factor.c: prefix sums = decode (encode leaves), lower triangular; steps count from zero ---- */

double factor_encode(enum factor factor, size_t step, size_t leaf);
double factor_decode(enum factor factor, size_t step, size_t sum);
/* An upper bound on the norm of each column of encode, for so many leaves. */
double factor_column(enum factor factor, size_t leaves);
/* The norm of a row of decode. */
double factor_row(enum factor factor, size_t step);

/* ---- journal.c ---- */

int journal_open(struct oracle *o, const struct query *q, size_t k);
void journal_add(struct oracle *o, const struct query *q, const struct ask *a, size_t k, const double *value,
                 double sd);
void journal_free(struct oracle *o);

/* ---- queries ---- */

#define PART_NONE (-1)

/* In other coordinates, a query works with clipped rows only, also with weighted rows or with damped ones, or not at
 * all. */
enum in_coordinates { COORDINATES_CLIPPED, COORDINATES_WEIGHTED, COORDINATES_DAMPED, COORDINATES_NONE };

struct query {
  const char *name; /* in the ledger */
  struct sum sum;
  const struct mechanism *mechanism;
  enum keep keep; /* of releases on the full data */
  enum in_coordinates in_coordinates;
  int multi_output; /* may a linear model have several outputs? */
  int networks;     /* may it be a network? */
  int part;         /* the part of a step's cost that pays for it; PART_NONE: not on batches */
  int (*check)(const struct scope *s, const struct ask *a); /* checks the parameters; NULL: nothing to check */
  size_t (*answers)(const struct task *task);               /* numbers released; NULL: as many as the sum has */
  /* The l2 sensitivity of the computed result or, with `each`, of its i-th number. Infinite where there is no bound,
   * which refuses the release. */
  double (*sensitivity)(const struct scope *s, const struct ask *a, size_t i);
  /* From the mean to the result; NULL: the result is the mean. */
  int (*finish)(const struct scope *s, const struct ask *a, double *mean, double *answer);
};

/* Functions of query_matrix.c for other files. */
int curvature_may_be_negative(const struct scope *s, enum curvature curvature);
double curvature_lipschitz(const struct scope *s, enum curvature curvature);
size_t matrix_width(const struct task *task);
void matrix_add(const struct task *task, enum curvature curvature, const struct data_block *b, double *const *work,
                double *sum);
int matrix_check(const struct scope *s, const struct ask *a);
/* The weights of a tile; t is overwritten. */
typedef void weights_of(const struct task *task, const struct data_block *b, double *t, double *weight);
/* Adds the sum of weight_i z_i z_i'. */
void matrix_add_weighted(const struct task *task, weights_of *weights, const struct data_block *b, double *const *work,
                         double *sum);
/* Adds the second moments of the records' gradients slope_i z_i, with their shares; where rows come person by person,
 * those of the persons' sums of shares of gradients. */
void matrix_add_products(const struct task *task, weights_of *slopes, const struct data_block *b, double *const *work,
                         double *sum);
/* Change of a sum of Hessians at w between neighbours: max(a + b, sqrt(2) max(a, b)), zero-out max(a, b), in the
 * Frobenius norm, with the bounds a and b on the curvature at w (proofs: sensitivity-hessian). */
double hessian_change(const struct scope *s, const double *w);

/* Value and gradient in one pass. */
extern const struct sum sum_value_gradient;
/* The gradient and the Hessian at one point; the gradient at `at` minus that at `along`, which is a point here. */
extern const struct sum sum_epoch_start;
extern const struct sum sum_difference;
double sensitivity_start_gradient(const struct scope *s, const double *w, size_t leaves);
double sensitivity_start_hessian(const struct scope *s, const double *w); /* infinite where l'' jumps */
double sensitivity_difference(const struct scope *s, const double *w, const double *before);
/* Sensitivity of v times the Hessian at a point of this norm; infinite where l'' jumps. */
double sensitivity_product(const struct scope *s, double norm, const double *v);
/* Bound on the distance of the computed gradient from the true one at a w of this norm. */
double bounds_gradient_error(const struct scope *s, double norm);

/* ---- release.c ---- */

size_t release_answers(const struct scope *s, const struct query *q, const struct ask *a);
/* Can this query be made? Depends on public facts only. */
int release_check(const struct scope *s, const struct query *q, const struct ask *a);

/* ---- scope.c ---- */

struct task scope_task(const struct scope *s, const struct ask *a);
/* Widths of sums: one number, or one for each coefficient. */
size_t scope_width_one(const struct task *task);
size_t scope_width_dim(const struct task *task);
/* The divisor of sums: n, the number of records or persons, or the batch's public size. */
double scope_divisor(const struct scope *s);
/* Can the engine compute this sum? Public; not without rows (engine/planned.c). */
int scope_can(const struct scope *s, const struct sum *sum, const struct task *task);
/* The sum divided by the divisor, without noise: it must not leave the barrier. */
int scope_mean(const struct scope *s, const struct sum *sum, const struct ask *a, double *answer);
/* Pays from what is left of the open step, or of the leaf. */
int scope_pay(struct scope *s, const struct query *q, double rho);
/* Is w short enough for every exact sum to be finite? */
int check_point(const struct oracle *o, const double *w);
/* May records' parts be clipped to this norm? */
int check_clip(const struct scope *s, const struct ask *a);

/* ---- bounds.c ---- */

int scope_replaces(const struct scope *s);
/* Number of terms in which the sums of two neighbours differ: two under replace-one, one under zero-out. */
double bounds_terms(const struct scope *s);
/* change: of the sum, between neighbours; error: of the computed mean. */
double bounds_sensitivity(const struct scope *s, double change, double error);
/* Rounding error of the mean of a function of the predictors that is at most size, with Lipschitz constant lip, at a
 * point of norm w_norm. */
double bounds_rounding(const struct scope *s, double lip, double w_norm, double size);
/* Rounding error of the mean of records' parts whose computed norms are at most size. */
double bounds_sum_rounding(const struct scope *s, double size);
double bounds_matrix_rounding(const struct scope *s, double lip, double w_norm, double size);
/* The same for products, also of persons' sums. */
double bounds_products_rounding(const struct scope *s, double lip, double w_norm, double size);
/* The same for matrices of all outputs. */
double bounds_outputs_rounding(const struct scope *s, double lip, double w_norm, double size);
/* Rounding error of a gradient that is summed in one pass with a matrix. */
double bounds_both_rounding(const struct scope *s, double lip, double w_norm, double size);
/* A bound on the norm of w, for rounding; NULL: of a point that is not known yet, which may be far. */
double bounds_norm(const struct scope *s, const double *w);
/* The same for what a record can add at w; infinite without a point, and for sums in a database: there a clip alone
 * bounds what a record adds, whatever the database's arithmetic does (proofs: push-down). */
double bounds_reach(const struct scope *s, const double *w);
/* Bound on the sum of the rows' shares, each one unless rows belong to persons, divided by the divisor. */
double bounds_max_rows(const struct scope *s);

/* ---- minimise.c: the minimiser of a strongly convex problem; it must not leave the barrier ---- */

struct strong {
  const double *quadratic; /* the loss plus quadratic_j w_j^2 / 2 */
  const double *linear;    /* plus linear'w */
  double least;            /* smallest quadratic_j */
  double smooth;           /* Lipschitz constant of the gradient */
  double ball;             /* bound on the norm of the minimiser */
  double error;            /* E' of minimise.c */
};
/* longest: bound on the norm of linear, whose values may be set later; public, like everything set here. Refused where
 * the loss may be concave or has several outputs, a quadratic_j is not positive, or the engine cannot sum. */
int strong_init(const struct scope *s, const double *quadratic, const double *linear, double longest,
                struct strong *problem);
/* Bound on the distance of the computed point from the minimiser, for all data. */
double strong_distance(const struct strong *problem);
int strong_minimise(const struct scope *s, const struct strong *problem, double *w);

/* ---- ledger.c ---- */

/* What a perturbed minimiser may add to the privacy loss; NULL where the ledger has no such release left. */
const struct acct_perturbed *ledger_perturbed(const struct ledger *ledger);
void ledger_take_perturbed(struct ledger *ledger);
/* Between these two the ledger takes no charge. */
void ledger_step_begin(struct ledger *ledger);
void ledger_step_end(struct ledger *ledger);

#endif
