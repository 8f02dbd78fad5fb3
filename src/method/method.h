/*
 * method: the algorithms. They query the oracle and have no other access to the data.
 */
#ifndef DPSOSP_METHOD_H
#define DPSOSP_METHOD_H

#include "barrier/barrier.h"
#include "method/penalty.h"

/* ---- methods.c: the table of methods, and the names of their options and results for the glue ---- */

enum field_type {
  FIELD_FLAG,    /* int, 0 or 1 */
  FIELD_COUNT,   /* int */
  FIELD_NUMBER,  /* double */
  FIELD_TEXT,    /* const char *, of a result only */
  FIELD_CHOICE,  /* an enum */
  FIELD_NUMBERS, /* const double * or NULL, of options only */
};

/* A member of a struct. An array of them ends with the name NULL. */
struct field {
  const char *name;
  enum field_type type;
  size_t offset;
  const char *const *choices; /* names of an enum's values, from 0 on; NULL ends them */
};

struct opt_result;

struct method {
  const char *name;
  size_t size;                /* of the options */
  const struct field *fields; /* all members of the options */
  /* Minimises loss + penalty from w (overwritten with the result), spending at most rho. */
  int (*run)(struct oracle *oracle, const struct penalty *penalty, const void *options, double rho, double *w,
             struct opt_result *result);
  /* The default target: see opt_default_alpha(). Ignores the options' own target. */
  double (*alpha)(struct oracle *oracle, const struct penalty *penalty, const void *options, double rho,
                  const double *w);
};

/* NULL when there is none. */
const struct method *method_named(const char *name);
/* All methods; ends with NULL. */
extern const struct method *const methods_all[];

extern const struct field result_fields[]; /* of struct opt_result, but for the trace */
extern const struct field trace_fields[];  /* of struct trace_row */

enum opt_line_search {
  OPT_SHORT_STEP, /* no search: steps from the smoothness constants */
  OPT_GAUSSIAN,   /* noisy decreases of all candidates at once */
  OPT_SVT,        /* sparse vector on the sufficient-decrease condition */
  OPT_EXPONENTIAL /* exponential mechanism on the decreases */
};

enum opt_status {
  OPT_SOSP,       /* certified: a second-order stationary point of the target's accuracy */
  OPT_BUDGET,     /* the budget is spent */
  OPT_ITERATIONS, /* the planned iterations are done */
  OPT_START,      /* nothing better than the start was found; it is what is returned */
  OPT_RECORDS     /* all fresh records are used */
};

/* Batches are for steps only. The points found are certified by releases on the full data. */
struct batch_options {
  struct sampling sampling; /* size 0: no batches */
  double share;             /* largest fraction of the budget for steps on batches */
};

struct opt_options {
  int published; /* constants of Gao & Wright instead of those of the loss */
  int two_phase;
  int spend_all; /* continue from a certified point while there is budget */
  enum opt_line_search search;
  double eps_g, eps_h;   /* target */
  double confidence;     /* of the certificate, in (0, 1) */
  double gap;            /* public bound on f(w0) - inf f; NaN: see opt_gap() */
  double gap_share;      /* fraction of the budget, when the gap is estimated */
  double phase1_share;   /* fraction of the budget, in two-phase runs */
  double search_share;   /* largest fraction of an iteration's budget for its line search */
  double hessian_share;  /* largest fraction of the remaining budget for one Hessian */
  int max_iterations;    /* upper bound of the planned number */
  double mult_g, mult_h; /* first candidate, in units of the short step (b_g, b_H) */
  double back_g, back_h; /* ratio of successive candidates (beta_g, beta_H) */
  /* For the end of a run (head of opt_tight.c): */
  double start_curvature; /* of the objective along a gradient of columns; 0: the run ends at its last point */
  double signal;          /* smallest standard deviation of a coefficient that the solution is shrunk for */
  int signals;            /* number of such values, each twice the one before */
  struct batch_options batch;
};

struct trace_row {
  int phase, iteration;
  const char *query; /* "gradient", "hessian", "line search", "value", "batch gradient", ... */
  double estimate;   /* norm of the noisy gradient, smallest noisy eigenvalue, decrease of the step taken */
  double bound;      /* upper confidence bound of the norm; lower bound of the eigenvalue or the decrease */
  double sd, rho;
  double step; /* length of the step taken after it; 0 for none */
};

struct trace {
  struct trace_row *rows;
  size_t length, room;
};

struct opt_result {
  enum opt_status status;
  int planned; /* iterations planned in the last phase */
  double gap;  /* the gap used for the plan */
  /* Certificate: estimates and confidence bounds at the returned point; NaN if not measured there. */
  double gradient_norm, gradient_upper;
  double eigen_min, eigen_lower;
  int eigen_known; /* the lower bound follows from the loss and the penalty alone */
  double effective; /* number of coefficients that follow the records; NaN: all */
  double ridge;    /* size of a ridge that the method chose; else NaN */
  double factor;   /* by which a run by residuals rescaled the columns; else NaN */
  double variance; /* there: of the predictors over the records, by the matrix, */
  double square;   /* and the mean square of residuals over the squared curvature, by their counts; else NaN */
  double decrease; /* lower confidence bound of f(start) - f at the returned point; NaN if no release bounds it */
  struct trace trace;
};

/* Minimises loss + penalty from w (overwritten with the result), spending at most rho. */
int opt_run(struct oracle *oracle, const struct penalty *penalty, const struct opt_options *options, double rho,
            double *w, struct opt_result *result);
void opt_result_free(struct opt_result *result);

/* The smallest alpha for which the planned noise can certify the target
 * (alpha, sqrt(M alpha)) at a point whose gradient norm is alpha / 2. */
double opt_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct opt_options *options,
                         double rho, const double *w);

/* ---- trust_region.c ---- */

struct tr_options {
  int published;     /* constants of Wang & Xu, and G = M = 1, instead of those of the loss */
  int explicit_test; /* stop by bounds at the point itself, not by those that the dual variable gives */
  int spend_all;     /* continue from a certified point while there is budget */
  double eps_g, eps_h;
  double confidence;
  double gap, gap_share; /* as in opt_options */
  int max_iterations;
  struct batch_options batch;
};
int tr_run(struct oracle *oracle, const struct penalty *penalty, const struct tr_options *options, double rho,
           double *w, struct opt_result *result);
/* The smallest alpha for which the plan can certify (alpha, sqrt(M alpha)). */
double tr_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct tr_options *options,
                        double rho, const double *w);

/* ---- gradient_descent.c ---- */

struct gd_options {
  double eps_g, eps_h;
  double confidence;
  double gap, gap_share;
  double hessian_share; /* fraction of the budget for the Hessian at the chosen iterate */
  int max_iterations;
  struct batch_options batch;
};
int gd_run(struct oracle *oracle, const struct penalty *penalty, const struct gd_options *options, double rho,
           double *w, struct opt_result *result);
double gd_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct gd_options *options,
                        double rho, const double *w);

/* ---- descent.c ---- */

struct descent_options {
  int adam;        /* 0: momentum */
  double momentum; /* in [0, 1) */
  double step;
  double clip; /* norm to which records' gradients are clipped */
  int iterations;
  struct batch_options batch; /* share is ignored: the whole budget is for steps */
};
/* For networks; without a penalty. */
int descent_run(struct oracle *oracle, const struct penalty *penalty, const struct descent_options *options, double rho,
                double *w, struct opt_result *result);
double descent_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                             const struct descent_options *options, double rho, const double *w);

/* ---- cubic.c ---- */

struct cubic_options {
  int inner; /* number of noisy steps on each cubic model; 0: gradient and Hessian are released, and the model is solved
              * exactly */
  int iterations;
  int spend_all;            /* do not stop at the first certified point */
  double diameter;          /* of the ball around zero that contains the iterates; may be infinite when inner is 0 */
  double eps_g, confidence; /* of the target, of the certificate */
  double hessian_share;     /* fraction of an iteration's budget, when inner is 0 */
  double certificate_share; /* fraction of the whole budget, for the gradient at the solution */
};
/* For convex objectives; inner steps need a penalty that is strongly convex in every coordinate. */
int cubic_run(struct oracle *oracle, const struct penalty *penalty, const struct cubic_options *options, double rho,
              double *w, struct opt_result *result);
/* The same as for Newton's method with as many noisy Hessians. */
double cubic_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct cubic_options *options,
                           double rho, const double *w);

/* ---- moment.c: Newton's method for several outputs ---- */

struct moment_options {
  int iterations;
  double eps_g;             /* target */
  double confidence;        /* of the certificate, in (0, 1) */
  double curvature_share;   /* fraction of the steps' budget, for the matrix */
  double certificate_share; /* fraction of the whole budget, for the gradient at the solution */
  double clip;              /* norm to which a record's gradient is clipped */
};

/* ---- ridge.c ---- */

struct ridge_options {
  int iterations;
  double eps_g, confidence; /* of the target, of the certificate */
  double certificate_share; /* of the whole budget, for the gradient at the solution */
  double matrix_share;      /* of the rest, for the weighted matrix */
  double curvature;         /* second derivative of the loss that the matrix is taken with */
  double size;              /* norm of the solution that the ridge is for */
  double intercept;         /* ridge of the intercept, over that of a column whose prior is one */
  double start_curvature;   /* second derivative of the loss at the start */
  double present;           /* as in struct residual_options */
  double signal;            /* smallest standard deviation of the predictors that the solution is shrunk for */
  int signals;              /* number of such values, each twice the one before */
  double usual;             /* larger ones are less likely (posterior.c) */
  double reach;             /* time constants that the slowest direction has */
  double iterate_variance;  /* largest variance of the predictors caused by the noise of the iterates */
  double least;             /* of what is added to the matrix, over the norm of its noise */
  double tail;              /* fraction of the last iterates whose mean is the solution */
  const double *matrix;     /* weighted matrix that was released in these coordinates, dim x dim, or NULL: */
  double matrix_sd;         /* of its noise on the diagonal */
  const double *smooth;     /* of each coordinate: the number of the smooth whose curved part it is of, or 0; or NULL */
  const double *few;        /* is it of a level that may have no records? or NULL (posterior_seen()) */
};
/* Of weighted rows in coordinates of their own; w is the centre of the ridge. */
int ridge_run(struct oracle *oracle, const struct penalty *penalty, const struct ridge_options *options, double rho,
              double *w, struct opt_result *result);
double ridge_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct ridge_options *options,
                           double rho, const double *w);

/* ---- residual.c ---- */

/* The shares are of the whole budget; the gradients have what they leave. */
struct residual_options {
  int iterations;             /* of all phases; zero: the level only */
  double matrix_share;        /* for the weighted matrix */
  double counts_share;        /* for the counts of residuals of each phase */
  double recalibration_share; /* for the recalibration */
  int slopes;                 /* does it correct the slopes, too? */
  double present;             /* fraction of records that are not null, or mean of the weights that these have */
  double curvature;           /* of the loss at the start: one for squared error, for counts the level */
  double most;                /* largest residual */
  int exponential;            /* is the curvature in proportion to e^t, t the predictor? */
  int robust;                 /* Huber's loss: is the clip part of what is estimated? */
  int whole;                  /* is no row clipped, so that all have the same constant? */
  double event;               /* least clip: the change of a residual by one event, of counts; Huber's c; or zero */
  double level;               /* standard deviation of the noise of the start's constant prediction */
  double spread;              /* largest standard deviation of the predictors that is expected */
  double centre;              /* standard deviation of the noise of the centres of columns */
  double clip;                /* of residuals, over their scale */
  double first;               /* least such clip in the first phase */
  double reach, least;        /* see the head of the file; least as in ridge_options */
  double iterate_sd;          /* largest sd of the predictors caused by the noise of the iterates, over the scale; of
                              * counts at most this */
  double tail;                /* fraction of the last iterates of a phase whose mean is taken */
  double signal;              /* smallest standard deviation of the predictors that the solution is shrunk for, over the
                               * spread of the response */
  int signals;                /* number of such values, each twice the one before; zero is another one */
  double usual;               /* over the spread; larger ones are less likely (posterior.c) */
  double level_correction;    /* standard deviation of the recalibration's correction of the level, over the scale, */
  double slope_correction;    /* and of that of the slopes, over them, where residuals are not symmetric */
  double first_doubt;         /* standard deviation, in octaves, of the scale of residuals before the first counts, */
  double phase_doubt;         /* and of its change from phase to phase */
  const double *smooth, *few; /* as in struct ridge_options */
};
/* For squared error and counts without a penalty, of weighted rows in coordinates of their own, counts with an
 * intercept. w is a constant prediction, or zero. */
int residual_run(struct oracle *oracle, const struct penalty *penalty, const struct residual_options *options,
                 double rho, double *w, struct opt_result *result);
double residual_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                              const struct residual_options *options, double rho, const double *w);

/* ---- scale.c ---- */

/* Noisy fractions of records by the size of their residuals. */
struct residual_counts {
  size_t k;
  const double *end, *count; /* k ends, and the fraction at each */
  double sd;                 /* of the noise of a fraction */
  double present;            /* the sum of the fractions without noise */
  double expected, doubt;    /* the scale before, with a standard deviation in octaves; 0: nothing is known of it */
};
struct residual_scale {
  double scale; /* of a t distribution with 5 degrees of freedom */
  double sd;    /* 68 % of the residuals are smaller, as of a normal distribution with this standard deviation */
  double error; /* standard deviation of the logarithm of the scale, of its posterior */
  double far;   /* hardly any residual is larger */
};
struct residual_scale residual_scale(const struct residual_counts *c);

/* ---- rounds.c ---- */

struct rounds_options {
  int iterations;           /* number of rounds */
  double eps_g, confidence; /* of the target, of the certificate */
  double certificate_share; /* of the whole budget, for the gradient at the solution */
  double matrix_share;      /* of the rest, for the weighted matrix */
  double clip;              /* norm to which a record's slopes are clipped */
  double cap;               /* length from which on rows weigh less in gradients; at most that of the coordinates */
  double growth;            /* of the budgets of the rounds */
  double kept;              /* fraction of the weights of earlier rounds that a round leaves them */
  double present;           /* as in struct residual_options */
  double reach;             /* largest standard deviation of a change of the predictors in a round */
  double signal;            /* smallest standard deviation of the predictors that the solution is shrunk for */
  int signals;              /* number of such values, each twice the one before */
  double usual;             /* larger ones are less likely */
};
/* For several outputs without a penalty, of weighted rows with an intercept in coordinates of their own. w has
 * intercepts only. */
int rounds_run(struct oracle *oracle, const struct penalty *penalty, const struct rounds_options *options, double rho,
               double *w, struct opt_result *result);
double rounds_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct rounds_options *options,
                            double rho, const double *w);

/* ---- backtracking.c ---- */

/* For a network, first and clip are used as given, not relative to 1 / G and to the bound on gradients. */
struct backtracking_options {
  enum opt_line_search search; /* not OPT_SHORT_STEP; OPT_EXPONENTIAL on the full data only */
  int attempts;                /* planned number, from which the first attempt's cost follows */
  int candidates;              /* number of candidates of a search: the first is first / G, then by this ratio */
  double first, ratio;
  double sufficient; /* required decrease, relative to that of the tangent */
  double eps_g, confidence;
  double gradient_share;    /* fraction of an attempt's cost; the search has the rest */
  double certificate_share; /* fraction of the whole budget, for the gradient at the solution; zero for a network */
  double clip, clip_decay;  /* first clip of gradients, relative to their bound, 0: none; fraction that a cut removes */
  struct sampling batch;    /* size 0: the full data */
};
/* For convex objectives. */
int backtracking_run(struct oracle *oracle, const struct penalty *penalty, const struct backtracking_options *options,
                     double rho, double *w, struct opt_result *result);
/* The smallest target that the gradient at the solution can certify. */
double backtracking_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                                  const struct backtracking_options *options, double rho, const double *w);

/* ---- spider.c ---- */

enum spider_escape { ESCAPE_HESSIAN, ESCAPE_DRIFT };

struct spider_options {
  int published; /* constants of Liu & Talwar, and their escape from saddle points */
  enum factor noise;
  enum spider_escape escape;       /* by an eigenvector of a Hessian, or by how far steps lead; not if published */
  int leaves;                      /* largest number in an epoch */
  double eps_g, eps_h, confidence; /* of the target, of the certificate */
  double hessian_share;            /* fraction of the budget, for a Hessian where the gradient has the rest */
  double certificate_share;        /* fraction of the records, for the certificate */
  double value_share;              /* fraction of the records, for the loss at the start */
  double gap;                      /* as in opt_options */
};
/* The certificate refers to the population. */
int spider_run(struct oracle *oracle, const struct penalty *penalty, const struct spider_options *options, double rho,
               double *w, struct opt_result *result);
/* The target of the first plan. */
double spider_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct spider_options *options,
                            double rho, const double *w);

/* ---- population.c ---- */

struct population_options {
  double confidence;
  double hessian_share; /* as in spider_options */
  int persons;          /* do records belong to persons, so that all of them are used in each release? */
};
/* Certifies w, which is unchanged and must come from other records, by all records. */
int population_run(struct oracle *oracle, const struct penalty *penalty, const struct population_options *options,
                   double rho, const double *w, struct opt_result *result);

/* ---- perturbed.c ---- */

struct perturbed_options {
  int output;          /* 1: output perturbation; 0: objective perturbation */
  double eps_g;        /* target */
  double confidence;   /* of the certificate, in (0, 1) */
  double lambda;       /* lambda |w|^2 / 2 is added to the objective */
  double output_share; /* fraction of the budget, for the noise that covers the solver's error */
};
/* The loss and the penalty must be convex. w is output only: there is no start. */
int perturbed_run(struct oracle *oracle, const struct penalty *penalty, const struct perturbed_options *options,
                  double rho, double *w, struct opt_result *result);
/* Three times the norm of the noise in the gradient: with the usual rule for lambda, lambda |w| is about as large. */
double perturbed_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                               const struct perturbed_options *options, double rho, const double *w);

#endif
