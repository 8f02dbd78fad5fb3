/* Inside the method room: the regularised objective, bounds, line search. */
#ifndef DPSOSP_METHOD_PRIVATE_H
#define DPSOSP_METHOD_PRIVATE_H

#include "method/method.h"
#include "method/newton.h"

#include <stddef.h>

/* ---- methods.c ---- */

extern const char *const batch_schemes[]; /* names of enum scheme */
extern const char *const line_searches[]; /* names of enum opt_line_search */

/* A member whose name for R is that in its struct. */
#define FIELD(of, kind, member)                                                                                        \
  { #member, FIELD_##kind, offsetof(struct of, member), NULL }

/* The members of a struct batch_options that is the member "batch". */
#define BATCH_FIELDS(of)                                                                                               \
  {"batch_size", FIELD_NUMBER, offsetof(struct of, batch.sampling.size), NULL},                                        \
      {"batch_scheme", FIELD_CHOICE, offsetof(struct of, batch.sampling.scheme), batch_schemes}, {                     \
    "batch_share", FIELD_NUMBER, offsetof(struct of, batch.share), NULL                                                \
  }

/* The entry of a method in the table, from <name>_run(), <name>_default_alpha(), struct <name>_options and
 * <name>_fields[]. */
#define METHOD(name)                                                                                                   \
  static int run_untyped(struct oracle *oracle, const struct penalty *penalty, const void *options, double rho,        \
                         double *w, struct opt_result *result) {                                                       \
    return name##_run(oracle, penalty, options, rho, w, result);                                                       \
  }                                                                                                                    \
  static double alpha_untyped(struct oracle *oracle, const struct penalty *penalty, const void *options, double rho,   \
                              const double *w) {                                                                       \
    return name##_default_alpha(oracle, penalty, options, rho, w);                                                     \
  }                                                                                                                    \
  const struct method method_##name = {#name, sizeof(struct name##_options), name##_fields, run_untyped, alpha_untyped};

/* Factor that keeps products of fractions of the remaining budget below it despite rounding. */
#define ALMOST (1 - 1e-12)

/* ---- posterior.c ---- */

/* Shrinks the positive part of a noisy matrix of second moments as far as noise explains it, with the standard
 * deviation sd on the diagonal and sd / sqrt(2) off it: the entries on the diagonal, but for the first `skip`, towards
 * multiples of the squares of `spread`; those off it towards zero, as if all correlations had the same variance, so
 * that noise does not relate columns that hardly vary.
 *
 * Without noise the trace is at most about one, as rows have a norm of about one; what is more comes from the noise,
 * equally for all columns. It is removed as far as columns have a smaller spread than others. Without it in the others,
 * the curvature where correlated columns hold most of the signal, which is larger than the mean, would be taken for
 * too small and the solution would be too far from the start. */
void posterior_matrix(size_t dim, size_t skip, const double *spread, double sd, double *h);

/* Of columns that may have no records (`few` is not zero; NULL: none): their second moments, the diagonal of a released
 * matrix h; infinity for others. */
void posterior_moments(size_t dim, const double *few, const double *h, double *moment);
/* A shrunk matrix has moments that are expected of columns with records: limits them to those that were released, but
 * for noise of the standard deviation sd. */
void posterior_limit(size_t dim, const double *moment, double sd, double *h);
/* A factor of the coefficient: by how much the moment exceeds the noise. */
double posterior_seen(double moment, double sd);
/* How far a solution follows an estimate e along the eigenvectors of a matrix with these values, where e has noise of
 * these variances: factors K for a prior whose variances are in proportion to `prior` and of the size for which the sum
 * of value (K e)^2 is `wanted`. They take the place of `prior`. */
void posterior_follows(size_t dim, const double *value, const double *estimate, const double *noise, double wanted,
                       double *prior);

/* See the head of the file. */
struct posterior {
  size_t dim;
  const double *hessian;  /* H, dim x dim */
  const double *variance; /* p, dim */
  double sd;              /* s */
  double least;           /* smallest t */
  int levels;             /* number of values of t */
  double usual;           /* t above it are less likely; INFINITY: all are equally likely */
  const double *group;    /* of each coordinate, for a factor of its own (smoothness.c); 0: none; NULL: no groups */
};
int posterior_mean(const struct posterior *p, const double *v, double *a);
/* The same for H = h I and p_j = 1, without matrices; hessian, variance and group are not used. */
int posterior_mean_scalar(const struct posterior *p, double h, const double *v, double *a);

/* The same where noise is correlated and the variance of the first coordinate is known: v = H a + noise of covariance
 * N, and t may be zero, too. */
struct posterior_known {
  size_t dim;
  const double *product;  /* H N^-1 H, dim x dim */
  const double *weighted; /* H N^-1 v */
  const double *variance; /* that of the first coordinate, then p */
  double *scratch;        /* dim x dim */
  double least;           /* smallest t but zero */
  int levels;             /* number of values of t without zero */
  double usual;           /* as in struct posterior */
  int through_zero;       /* has the first coordinate no variance of its own, but p, too? */
  const double *group;    /* as in struct posterior */
};
/* first: the posterior variance of the first coordinate, averaged over t. */
int posterior_known_mean(const struct posterior_known *p, double *a, double *first);

/* ---- smoothness.c ---- */

/* The factors on prior variances of coordinates in the groups 1, 2, ..., given the variances without them. */
int posterior_factors(size_t dim, const double *product, const double *weighted, const double *group,
                      const double *variance, double *factor);

/* ---- shrink.c ---- */

struct known_moments {
  size_t dim;
  double sd;    /* of the noise on the diagonal; off it sd / sqrt(2) */
  double first; /* the first entry */
  const double *variance, *mean; /* from 1 on: relative variances of the columns; variances of their means */
  int through_zero; /* is there no intercept, so that all entries are of columns? */
};
void shrink_moments(const struct known_moments *k, double *m);

/* ---- scale.c ---- */

/* The fraction of residuals smaller than x. */
double residual_within(const struct residual_scale *s, double x);

/* ---- objective.c: noisy loss plus exact penalty ---- */

struct objective {
  struct oracle *oracle;
  const struct penalty *penalty;
  size_t dim;
  double smooth;                /* G: Lipschitz constant of the gradient */
  double third;                 /* M: Lipschitz constant of the Hessian */
  double steepest;              /* bound on the norm of the loss's gradient, for all data */
  double lower;                 /* no eigenvalue of the Hessian is below -lower, for all data */
  double missing;               /* bound on the norm of what a computed Hessian lacks */
  const struct sampling *batch; /* releases are on a fresh batch; NULL: on the full data */
  double clip;                  /* norm to which a record's part of a gradient is clipped; 0: not clipped */
};
/* On the full data. */
void objective_init(struct objective *f, struct oracle *oracle, const struct penalty *penalty);
/* On a batch *sd includes noise and sampling error, as if the latter were Gaussian and equal in all directions:
 * good for choosing steps, not for certificates. */
int objective_gradient(const struct objective *f, const double *w, double rho, double *g, double *sd);
int objective_hessian(const struct objective *f, const double *w, double rho, double *h, double *sd);
/* sd of a gradient that gets a fraction of what rho allows. */
double objective_sd_gradient(const struct objective *f, const double *w, double rho, double share);
double objective_sd_hessian(const struct objective *f, const double *w, double rho);
/* sd of a release on the full data; w, here and above, is NULL for points that are not known yet. */
double objective_sd_all(const struct objective *f, const struct query *q, const double *w, double rho);
/* The default target where a last gradient at this cost is all that certifies: twice the bound that noise alone has. */
double objective_alpha_last(struct oracle *oracle, const struct penalty *penalty, double rho, double confidence,
                            const double *w);
/* Bound on the error of an eigenvalue of a Hessian with noise of this sd; of either sign for half of beta. */
double objective_eigen_error(const struct objective *f, double sd, double beta);
/* A step with several releases. On a batch, opening the step pays for all of them: rho of a release is then only used
 * in a trace, and a Hessian or a direction takes everything that is left. On the full data each release pays, and
 * opening and closing do nothing. sd as above; for traces and directions it is that of the noise alone. */
int objective_step_open(const struct objective *f, const double *w, double rho, double curvature_share);
/* A step with a gradient and, for this fraction of what the cost allows, noisy decreases. */
int objective_step_open_search(const struct objective *f, const double *w, double rho, double search_share);
void objective_step_close(const struct objective *f);
int objective_step_gradient(const struct objective *f, const double *w, double rho, double *g, double *sd);
int objective_step_hessian(const struct objective *f, const double *w, double rho, double *h, double *sd);
int objective_step_trace(const struct objective *f, const double *w, enum curvature curvature, double rho,
                         double *trace, double *sd);
int objective_step_direction(const struct objective *f, const struct ask *ask, double rho, double *direction,
                             double *sd);
int objective_step_decreases(const struct objective *f, const struct ask *ask, double rho, double *decrease,
                             double *sd);
/* By the sparse vector; on a batch of its own, outside of any step. */
int objective_first_step(const struct objective *f, const struct ask *ask, double rho, size_t *index);
/* Scale of its noise; infinite where it would be refused. */
double objective_scale_first(const struct objective *f, const struct ask *ask, double rho);
/* What is left of an open step on a batch for second-order releases. */
double objective_step_left(const struct objective *f);
/* The divisor of sums. */
double objective_rows(const struct objective *f);
/* "gradient" or "batch gradient", "hessian" or "batch hessian", ...: names for the trace. */
const char *objective_gradient_name(const struct objective *f);
const char *objective_hessian_name(const struct objective *f);
const char *objective_trace_name(const struct objective *f);
const char *objective_direction_name(const struct objective *f);
const char *objective_search_name(const struct objective *f);
/* r(w) - r(w + step d): the penalty's part of a decrease. */
double objective_penalty_decrease(const struct objective *f, const double *w, const double *direction, double step,
                                  double *scratch);

/* ---- result.c ---- */

/* Nothing is known about any point. */
void result_init(struct opt_result *result);
/* For a planned number of iterations; where the objective is convex, no eigenvalue is negative. Sets *f, too. */
void result_init_planned(struct opt_result *result, int planned, struct oracle *oracle, const struct penalty *penalty,
                         struct objective *f);
/* The same for a method for convex problems; refuses others. */
int result_init_convex(struct opt_result *result, int planned, struct oracle *oracle, const struct penalty *penalty,
                       struct objective *f);
/* Earlier measurements were at another point. */
void result_forget(struct opt_result *result);

/* ---- confidence.c ---- */

/* The part of the error probability beta that is spent on the look-th test at one point. Valid under adaptive stopping:
 * the parts of all possible tests sum to at most beta. */
double confidence_share(double beta, int look);

/* Upper bound of |g| with error probability beta, from |g + e|, e ~ N(0, sd^2 I_d). */
double confidence_norm(double noisy_norm, double sd, size_t dim, double beta);
/* The smallest target, up to high, that is certified where the norm is the larger of half of it and `left`. */
double confidence_target(double left, double sd, size_t dim, double beta, double high);
/* q with P(largest eigenvalue of E > q) <= beta, E symmetric Gaussian, sd on and sd / sqrt(2) off the diagonal. */
double confidence_eigen(double sd, size_t dim, double beta);

/* q with P(|e| > q) <= beta, e ~ N(0, sd^2 I_d). */
double confidence_length(double sd, size_t dim, double beta);

/* ---- spider_published.c ---- */

struct spider_published {
  double alpha, records;   /* accuracy; number of records in an epoch's first leaf */
  double batch, drift;     /* records of a difference, and length of an epoch, per unit of |gradient| along the way */
  double products, length; /* largest numbers of an escape */
};
/* For this many records; first_sd: noise of an epoch's gradient times its records; mu: of a gradient. */
struct spider_published spider_published(const struct objective *f, double gap, double mu, double first_sd,
                                         double records);

/* ---- population.c ---- */

/* Certifies the expected objective at w, with error probability beta, by all remaining fresh records. */
int population_certify(const struct objective *f, const double *w, double curvature_share, double beta,
                       struct opt_result *result);

/* ---- gap.c ---- */

/* Public upper bound of f(w) - inf f, from the Lipschitz constant of the loss. */
double gap_public(const struct objective *f, const double *w);
/* Public bound: no line search from w goes farther from zero. */
double gap_reach(const struct objective *f, double gap, const double *w);
/* Sets result->gap; gap: the caller's, or NaN. */
int gap_find(const struct objective *f, double gap, double share, double confidence, const double *w, double rho,
             struct opt_result *result);

/* ---- pool.c ---- */

/* A running average of Gaussian releases with different sd. */
struct pool {
  double *mean;
  size_t length;
  double precision; /* sum of 1 / sd^2 */
  double rho;       /* total cost */
  int count;
};
void pool_add(struct pool *p, const double *x, double sd, double rho);
double pool_sd(const struct pool *p);
void pool_reset(struct pool *p);

/* ---- trace.c ---- */

int trace_add(struct trace *trace, const struct trace_row *row);
/* A row without a bound, numbered by its place. */
int trace_note(struct trace *trace, const char *query, double estimate, double sd, double rho);
struct trace_row *trace_last(struct trace *trace);

/* ---- line_search.c ---- */

struct line_search {
  enum opt_line_search kind;
  int published; /* all candidates; sparse vector with the sensitivity of the largest step, and no margin */
  double first;  /* largest candidate */
  double ratio;  /* of successive candidates */
  size_t k;
  double sufficient; /* required decrease: sufficient * step^power */
  int power;
  double rho;
  double error;   /* error probability of the bound on the decrease */
  double gap;     /* bound on decreases */
  double promise; /* expected decrease over the length of a step, to first order */
  double least;   /* expected decrease of the smallest candidate */
  double reach;   /* bound on the distance of a candidate from zero */
};
/* NaN means not released. */
struct found {
  double step;            /* 0: no candidate was accepted */
  double decrease, bound; /* estimate; lower bound, with the search's probability of error */
  double sd;
  double rho; /* paid; 0 when no candidate was left */
};
size_t search_candidates(double multiplier, double ratio);
/* Noise per unit of step at which a candidate that decreases by this per unit of step is just accepted. */
double search_noise(size_t k, double decrease);
int search_run(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
               struct found *found);

/* ---- opt_tight.c, opt_published.c: the phases of a run ---- */

struct phase {
  int number;
  int batch;      /* steps on batches */
  int iterations; /* planned */
  double rho;     /* its budget at the start */
  double reserve; /* must stay in the ledger */
  double beta_g;  /* error probability of the bounds on the gradient at one point */
  double beta_h;  /* error probability of those on the eigenvalue at the j-th point with any, times j^2 */
};
double phase_left(const struct objective *f, const struct phase *phase);
int opt_tight(const struct objective *f, const struct opt_options *o, const struct phase *phases, int count, double *w,
              struct opt_result *result);
int opt_published(const struct objective *f, const struct opt_options *o, const struct phase *phases, int count,
                  double *w, struct opt_result *result);

/* Cost of a Hessian whose noise has the published spectral norm; sigma2: noise variance over squared sensitivity. */
double published_hessian_cost(const struct objective *f, const double *w, double sigma2);
/* What a gradient at w costs with the noise that it has at this cost where its sensitivity is largest. */
double published_gradient_cost(const struct objective *f, const double *w, double rho);

/* ---- phases.c ---- */

/* x rounded up to a whole number from 1 to most. */
int plan_ceil(double x, int most);
/* The smallest alpha in [1e-8, high] that is accepted, up to a factor of 2^-50. */
double plan_smallest_alpha(int (*accepts)(const void *context, double alpha), const void *context, double high);
/* The part of a run's budget that is kept to measure its decrease at the end, if values of the objective are released
 * anyway. */
double plan_last(const struct opt_options *o, double rho);
/* The least decrease by a gradient step of length 1/G where the norm is above eps_g: the first term of Gao & Wright
 * (10). */
double plan_gradient_decrease(const struct objective *f, double eps_g);

int plan_iterations(const struct objective *f, const struct opt_options *o, double gap);
/* Phases of a run with this many iterations and this budget, those on batches first; returns their number. */
#define MOST_PHASES 4
int plan_phases(const struct objective *f, const struct opt_options *o, int iterations, double rho, double left,
                struct phase phases[MOST_PHASES]);

/* ---- newton_step.c ---- */

struct newton {
  const struct objective *f, *all; /* for the steps; on the full data */
  const struct newton_options *o;
  struct opt_result *result;
  int iteration;
  double steps_rho; /* budget of all steps together, without the releases of newton_prepare() */
  double *w;
  double *gradient;       /* noisy, with the penalty's; at w */
  double sd;              /* of its noise, with the sampling error */
  double *direction;      /* the step is its negative */
  double *penalty;        /* second derivatives of the penalty */
  double *vectors;        /* eigenvectors of a noisy curvature matrix, as columns; NULL with double noise */
  double *value;          /* its eigenvalues */
  double *inverse;        /* of its modified eigenvalues */
  double lambda0, least;  /* by which they are modified, and the lower limit of an adaptive one */
  double *window;         /* sum of the gradients since the last test of lambda0 */
  double window_variance; /* of their noise */
  int looks;              /* number of these gradients */
  double gap;             /* public upper bound of f(start) - inf f */
  double reach;           /* bound on the distance of a line search's candidate from zero */
};
/* Fraction of an iteration's budget for the gradient; the rest is for the step. */
double newton_gradient_share(const struct newton_options *o);
/* Makes the releases that all steps share. */
int newton_prepare(struct newton *s, double rho);
/* Moves w, given the gradient there; slice is the budget of the whole iteration. On batches the step must be open. */
int newton_step(struct newton *s, double slice);

/* Constants of Gao & Wright's analysis: c, c1, c2 bound the noise, c_g, c_H are the sufficient decreases. */
#define GW_C 0.1
#define GW_C1 0.1
#define GW_C2 0.1               /* short step */
#define GW_C2_SEARCH (1.0 / 12) /* line search */
#define GW_CG 0.6
#define GW_CH 0.25
double plan_t2(void); /* t2 of Gao & Wright (15) */

#endif
