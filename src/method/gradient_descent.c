/*
 * DP-GD, the baseline (Wang, Chen & Xu 2019, as in Wang & Xu 2021, section 5):
 *
 *   T <- gap / the least decrease by a step of length 1/G
 *   repeat T times: release the gradient at w; w <- w - gradient / G
 *   return the iterate whose gradient is shortest by its estimate |gradient|^2 - d sd^2
 *
 * DP-SGD (Abadi et al. 2016, with the oracle's batches and divisor): each step uses a gradient on
 * a fresh batch, and the last iterate is returned. The rest of the budget pays for a gradient on the full data there.
 *
 * The choice uses released norms only, which is free (proofs: post-processing). Noise is less near w = 0: the released
 * norms themselves would favour the first iterates. A part of
 * the budget is kept for one Hessian, at the chosen iterate: it can show that this
 * is not a second-order point, but nothing is done about it. Where the loss and
 * the penalty bound the curvature, gradients have the whole budget.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

struct costs {
  int iterations;
  double rho_g, rho_h;   /* of each gradient, of the Hessian */
  double rho_last;       /* with batches: of the gradient at the last iterate */
  double beta_g, beta_h; /* error probability of each bound */
};

/* What certifies() needs to find the default target. */
struct wish {
  const struct objective *f;
  const struct gd_options *o;
  double rho, gap;
};

static struct costs costs_of(const struct wish *c);
static int certifies(const void *wish, double alpha);
static int descend(const struct objective *f, const struct costs *costs, double *w, double *gradient, double *best,
                   struct opt_result *result);
static int test_gradient(const struct objective *f, const struct costs *costs, const double *w, double *gradient,
                         struct opt_result *result);
static int test_curvature(const struct objective *f, const struct costs *costs, const double *w,
                          struct opt_result *result);

int gd_run(struct oracle *oracle, const struct penalty *penalty, const struct gd_options *options, double rho,
           double *w, struct opt_result *result) {
  result_init(result);
  result->status = OPT_BUDGET;

  struct objective f;
  objective_init(&f, oracle, penalty);
  double end = fmax(oracle_left(oracle) - rho, 0);
  int status = gap_find(&f, options->gap, options->gap_share, options->confidence, w, rho, result);
  if (status != BASE_OK) return status;
  double *memory = base_alloc(2 * f.dim, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  double *best = memory + f.dim;
  struct objective on_batch = f;
  on_batch.batch = options->batch.sampling.size > 0 ? &options->batch.sampling : NULL;
  const struct wish wish = {&f, options, oracle_left(oracle) - end, result->gap};
  const struct costs costs = costs_of(&wish);
  result->planned = costs.iterations;
  memcpy(best, w, f.dim * sizeof(double));
  status = descend(&on_batch, &costs, w, memory, best, result);
  memcpy(w, best, f.dim * sizeof(double));
  if (status == BASE_OK && costs.rho_last > 0) status = test_gradient(&f, &costs, w, memory, result);
  base_free(memory);
  if (status == BASE_OK) status = test_curvature(&f, &costs, w, result);
  if (result->gradient_upper <= options->eps_g && result->eigen_lower >= -options->eps_h) result->status = OPT_SOSP;
  return status == BASE_ERR_BUDGET ? BASE_OK : status;
}

double gd_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct gd_options *options,
                        double rho, const double *w) {
  (void)w;
  struct objective f;
  objective_init(&f, (struct oracle *)oracle, penalty);
  double gap = isnan(options->gap) ? oracle_at_zero(oracle) - oracle_floor(oracle) : options->gap;
  const struct wish wish = {&f, options, rho, gap};
  return plan_smallest_alpha(certifies, &wish, f.steepest);
}

static struct costs costs_of(const struct wish *c) {
  const struct gd_options *o = c->o;
  int both = c->f->lower > o->eps_h;
  double rho = c->rho * ALMOST;
  struct costs costs = {.iterations = plan_ceil(c->gap / plan_gradient_decrease(c->f, o->eps_g), o->max_iterations)};
  double steps = o->batch.sampling.size > 0 ? o->batch.share * rho : rho;
  costs.rho_h = both ? o->hessian_share * (steps < rho ? rho - steps : rho) : 0;
  costs.rho_last = steps < rho ? rho - steps - costs.rho_h : 0;
  costs.rho_g = (steps < rho ? steps : rho - costs.rho_h) / costs.iterations;
  costs.beta_h = (1 - o->confidence) / 2;
  costs.beta_g = (1 - o->confidence) / (both ? 2 : 1);
  if (costs.rho_last == 0) costs.beta_g /= costs.iterations; /* any iterate may be chosen */
  return costs;
}

/* Assumes a point with |g| = alpha / 2 and the mean of |g~|^2; the eigenvalue's bound may be as far off as its
 * estimate. */
static int certifies(const void *wish, double alpha) {
  struct wish c = *(const struct wish *)wish;
  struct gd_options at = *c.o;
  at.eps_g = alpha;
  at.eps_h = sqrt(c.f->third * alpha);
  c.o = &at;
  const struct costs costs = costs_of(&c);
  double sd = objective_sd_all(c.f, &query_gradient, NULL, costs.rho_last > 0 ? costs.rho_last : costs.rho_g);
  double seen = sqrt(alpha * alpha / 4 + (double)c.f->dim * sd * sd);
  if (confidence_norm(seen, sd, c.f->dim, costs.beta_g) > alpha) return 0;
  if (costs.rho_h == 0) return 1;
  return 2 * objective_eigen_error(c.f, objective_sd_all(c.f, &query_hessian, NULL, costs.rho_h), costs.beta_h) <=
         at.eps_h;
}

/* best <- the iterate with the shortest gradient, without the part of its noise, whose certificate is in the result; on
 * batches the last one. */
static int descend(const struct objective *f, const struct costs *costs, double *w, double *gradient, double *best,
                   struct opt_result *result) {
  double sd, least = INFINITY;
  for (int t = 1; t <= costs->iterations; t++) {
    base_progress(t, costs->iterations);
    int status = objective_gradient(f, w, costs->rho_g, gradient, &sd);
    if (status != BASE_OK) return status;
    double norm = la_norm(f->dim, gradient), upper = confidence_norm(norm, sd, f->dim, costs->beta_g);
    struct trace_row row = {1,
                            t,
                            objective_gradient_name(f),
                            norm,
                            upper,
                            sd,
                            costs->rho_g,
                            f->batch || t < costs->iterations ? norm / f->smooth : 0};
    status = trace_add(&result->trace, &row);
    if (status != BASE_OK) return status;
    double square = norm * norm - (double)f->dim * sd * sd;
    if (!f->batch && square < least) {
      least = square;
      result->gradient_norm = norm;
      result->gradient_upper = upper;
      memcpy(best, w, f->dim * sizeof(double));
    }
    if (f->batch || t < costs->iterations) la_axpy(f->dim, -1 / f->smooth, gradient, w);
  }
  if (f->batch) memcpy(best, w, f->dim * sizeof(double));
  return BASE_OK;
}

static int test_gradient(const struct objective *f, const struct costs *costs, const double *w, double *gradient,
                         struct opt_result *result) {
  double sd;
  int status = objective_gradient(f, w, costs->rho_last, gradient, &sd);
  if (status != BASE_OK) return status;
  result->gradient_norm = la_norm(f->dim, gradient);
  result->gradient_upper = confidence_norm(result->gradient_norm, sd, f->dim, costs->beta_g);
  struct trace_row row = {2, 1, "gradient", result->gradient_norm, result->gradient_upper, sd, costs->rho_last, 0};
  return trace_add(&result->trace, &row);
}

static int test_curvature(const struct objective *f, const struct costs *costs, const double *w,
                          struct opt_result *result) {
  result->eigen_lower = -f->lower;
  result->eigen_known = costs->rho_h == 0;
  if (result->eigen_known) return BASE_OK;
  size_t dim = f->dim;
  double *h = base_alloc(dim * (dim + 1), sizeof *h), sd, value;
  if (!h) return BASE_ERR_MEMORY;
  int status = objective_hessian(f, w, costs->rho_h, h, &sd);
  if (status == BASE_OK) status = la_eigen_min(dim, h, &value, h + dim * dim);
  base_free(h);
  if (status != BASE_OK) return status;
  double lower = value - objective_eigen_error(f, sd, costs->beta_h);
  struct trace_row row = {costs->rho_last > 0 ? 2 : 1, costs->iterations, "hessian", value, lower, sd, costs->rho_h, 0};
  result->eigen_min = value;
  result->eigen_lower = fmax(lower, -f->lower);
  return trace_add(&result->trace, &row);
}

static const struct field gd_fields[] = {
    FIELD(gd_options, NUMBER, eps_g),
    FIELD(gd_options, NUMBER, eps_h),
    FIELD(gd_options, NUMBER, confidence),
    FIELD(gd_options, NUMBER, gap),
    FIELD(gd_options, NUMBER, gap_share),
    FIELD(gd_options, NUMBER, hessian_share),
    FIELD(gd_options, COUNT, max_iterations),
    BATCH_FIELDS(gd_options),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(gd)
