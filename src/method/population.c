/*
 * A certificate of the population: bounds on the gradient and the smallest eigenvalue of the objective's expectation,
 * from records that had no part in choosing the point. Each error concerns one direction, which is fixed
 * before these records are used (proofs: population-certificate):
 *
 *   gradient    with u the direction of the expected gradient, |E g| = u'mean + u'(E g - mean) <= |mean| + Bernstein's
 *               bound for n numbers u'g_i, whose variance is at most u'E[g g']u <= the largest eigenvalue of a released
 *               second moment plus the error of u'S u; |mean| has the bound of its noise (confidence.c)
 *   eigenvalue  with v the eigenvector of the smallest one, v'E[H]v = v'H~v - v'(noise)v - v'(H - E H)v, and v'H~v is
 *               at least the smallest eigenvalue of the released matrix; Hoeffding's bound for n numbers v'H_i v
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

/* Number of errors that the bounds share: noise and sampling of the gradient, of its second moment and of the
 * eigenvalue. */
#define ERRORS 6

/* Bernstein's bound on expectation minus mean, for n numbers with this variance and below `most`. */
static double bernstein(double variance, double most, double n, double beta) {
  double logs = log(1 / beta);
  return sqrt(2 * variance * logs / n) + most * logs / (3 * n);
}

static double hoeffding(double range, double n, double beta) { return range * sqrt(log(1 / beta) / (2 * n)); }

/* The smallest p such that the mean of numbers in [0, most] with expectation p is this small with probability beta:
 * their variance is at most most p, and p - bernstein(most p) - mean grows in p where it is positive. */
static double mean_upper(double mean, double most, double n, double beta) {
  double logs = log(1 / beta), a = sqrt(2 * most * logs / n), c = fmax(mean, 0) + most * logs / (3 * n);
  double root = (a + sqrt(a * a + 4 * c)) / 2;
  return fmin(root * root, most);
}

/* Releases on fresh records, so many of them; or, each at a cost of rho, on all records. */
struct sample {
  size_t records;
  double rho; /* zero: of fresh records, which are paid for */
};

/* Bound on u'E[g g']u for a fixed u, with g the gradient of the loss. */
static int second_moment(const struct objective *f, const double *w, struct sample of, double beta, double *variance,
                         struct opt_result *result) {
  size_t dim = f->dim;
  double most = f->steepest * f->steepest, sd, smallest;
  double *matrix = base_alloc(dim * (dim + 1), sizeof(double));
  if (!matrix) return BASE_ERR_MEMORY;
  const struct ask ask = {.at = w};
  const struct answer to = {.value = matrix, .sd = &sd};
  int status = of.rho > 0 ? release(oracle_all(f->oracle), &query_products, &ask, of.rho, to)
                          : fresh_release(f->oracle, &query_products, &ask, of.records, to);
  la_scale(dim * dim, -1, matrix);
  if (status == BASE_OK) status = la_eigen_min(dim, matrix, &smallest, matrix + dim * dim);
  base_free(matrix);
  if (status != BASE_OK) return status;
  double largest = -smallest + oracle_missing(f->oracle) * most;
  *variance = mean_upper(largest - base_qnorm(beta) * sd, most, (double)of.records, beta);
  struct trace_row row = {0, 0, "gradient products", -smallest, *variance, sd, 0, 0};
  return trace_add(&result->trace, &row);
}

/* h: NULL where no Hessian is needed; else it has the fraction share of the cost. */
static int both_at(const struct objective *f, const double *w, struct sample of, double share, double *g, double *h,
                   struct epoch_sd *sd) {
  const struct epoch how = {.records = of.records, .leaves = 1, .curvature_share = share};
  if (!(of.rho > 0)) return epoch_open(f->oracle, &how, w, g, h, sd);
  struct scope *all = oracle_all(f->oracle);
  const struct ask ask = {.at = w};
  const struct answer to_g = {.value = g, .sd = &sd->gradient}, to_h = {.value = h, .sd = &sd->hessian};
  int status = release(all, &query_gradient, &ask, (1 - share) * of.rho, to_g);
  return status == BASE_OK && h ? release(all, &query_hessian, &ask, share * of.rho, to_h) : status;
}

static int gradient_and_eigenvalue(const struct objective *f, const double *w, struct sample of, double share,
                                   double beta, double variance, struct opt_result *result) {
  size_t dim = f->dim;
  double n = (double)of.records, *g = base_alloc(dim * (dim + 2), sizeof(double));
  if (!g) return BASE_ERR_MEMORY;
  int both = share > 0;
  double *h = g + 2 * dim;
  struct epoch_sd sd;
  int status = both_at(f, w, of, share, g, both ? h : NULL, &sd);
  if (status == BASE_OK) {
    penalty_add_gradient(f->penalty, dim, w, g);
    result->gradient_norm = la_norm(dim, g);
    result->gradient_upper =
        confidence_norm(result->gradient_norm, sd.gradient, dim, beta) + bernstein(variance, 2 * f->steepest, n, beta);
    struct trace_row row = {0, 0, "gradient", result->gradient_norm, result->gradient_upper, sd.gradient, 0, 0};
    status = trace_add(&result->trace, &row);
  }
  if (status == BASE_OK && both) {
    penalty_add_hessian(f->penalty, dim, w, h);
    status = la_eigen_min(dim, h, &result->eigen_min, g + dim);
    double below = oracle_curv_lower(f->oracle), above = oracle_smoothness(f->oracle);
    double lower = result->eigen_min + base_qnorm(beta) * sd.hessian - hoeffding(below + above, n, beta) - f->missing;
    result->eigen_lower = fmax(lower, -f->lower);
    struct trace_row row = {0, 0, "hessian", result->eigen_min, result->eigen_lower, sd.hessian, 0, 0};
    if (status == BASE_OK) status = trace_add(&result->trace, &row);
  }
  base_free(g);
  return status;
}

static void begin(const struct objective *f, double curvature_share, struct opt_result *result) {
  result_forget(result);
  result->eigen_known = curvature_share == 0;
  if (result->eigen_known) result->eigen_lower = -f->lower;
}

/* For the second moment: fraction of the remaining records or, where all records serve all releases, of the cost. */
#define PRODUCTS 0.1

int population_certify(const struct objective *f, const double *w, double curvature_share, double beta,
                       struct opt_result *result) {
  size_t left = fresh_left(f->oracle), products = (size_t)(PRODUCTS * (double)left);
  double variance = f->steepest * f->steepest;
  begin(f, curvature_share, result);
  if (left == 0) return BASE_OK;
  int status = products > 0 && f->dim <= ORACLE_MOST_DIM
                   ? second_moment(f, w, (struct sample){.records = products}, beta / ERRORS, &variance, result)
                   : BASE_OK;
  const struct sample rest = {.records = fresh_left(f->oracle)};
  if (status == BASE_OK) {
    status = gradient_and_eigenvalue(f, w, rest, curvature_share, beta / ERRORS, variance, result);
  }
  return status;
}

/* ---- certificate of a point that comes from other records ---- */

/* Persons with several records are no leaves of fresh records: each release is of all persons. */
static int certify_by_all(const struct objective *f, const double *w, double curvature_share, double rho, double beta,
                          struct opt_result *result) {
  size_t n = oracle_rows(f->oracle);
  double variance = f->steepest * f->steepest;
  begin(f, curvature_share, result);
  const struct sample some = {n, PRODUCTS * rho}, rest = {n, (1 - PRODUCTS) * rho};
  int status = second_moment(f, w, some, beta / ERRORS, &variance, result);
  if (status != BASE_OK) return status;
  return gradient_and_eigenvalue(f, w, rest, curvature_share, beta / ERRORS, variance, result);
}

int population_run(struct oracle *oracle, const struct penalty *penalty, const struct population_options *options,
                   double rho, const double *w, struct opt_result *result) {
  struct objective f;
  objective_init(&f, oracle, penalty);
  result_init(result);
  result->status = OPT_RECORDS;
  double share = f.lower > 0 ? options->hessian_share : 0, beta = 1 - options->confidence;
  if (options->persons) return certify_by_all(&f, w, share, rho * ALMOST, beta, result);
  int status = fresh_open(oracle, rho * ALMOST);
  if (status == BASE_OK) status = population_certify(&f, w, share, beta, result);
  fresh_close(oracle);
  return status;
}

/* There is no plan. */
static double population_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                                       const struct population_options *options, double rho, const double *w) {
  (void)oracle;
  (void)penalty;
  (void)options;
  (void)rho;
  (void)w;
  return NAN;
}

static const struct field population_fields[] = {
    FIELD(population_options, NUMBER, confidence),
    FIELD(population_options, NUMBER, hessian_share),
    FIELD(population_options, FLAG, persons),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(population)
