/*
 * The plan: the number of iterations, and the cost of each. It uses public constants
 * only, and a gap that may have been released.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

static double min_decrease(const struct objective *f, double eps_g, double eps_h);
static double min_decrease_published(const struct opt_options *o);
static int add_phases(const struct opt_options *o, int two, int iterations, double rho, double left,
                      struct phase *phases, int count);
static int certifies(const void *wish, double alpha);

/* What certifies() needs to find the default target. */
struct wish {
  const struct objective *f;
  const struct opt_options *o;
  double rho, gap;
};

int plan_iterations(const struct objective *f, const struct opt_options *o, double gap) {
  double least = o->published ? min_decrease_published(o) : min_decrease(f, o->eps_g, o->eps_h);
  return plan_ceil(gap / least, o->max_iterations);
}

/*
 * Gao & Wright, section 3.4: phase 1 spends a fraction of the budget on the square root of the
 * iterations; phase 2 has the planned number and the rest of the budget.
 * With batches: such phases on batches, with their fraction of the budget, and
 * then two on the full data with the rest, which certify.
 */
int plan_phases(const struct objective *f, const struct opt_options *o, int iterations, double rho, double left,
                struct phase phases[MOST_PHASES]) {
  int on_batches = o->batch.sampling.size > 0, count = 0;
  double rest = rho;
  if (on_batches) {
    double share = o->batch.share * rho;
    rest = rho - share;
    count = add_phases(o, o->two_phase, iterations, share, left, phases, 0);
    for (int i = 0; i < count; i++) phases[i].batch = 1;
    left -= share;
  }
  int first = count;
  count = add_phases(o, o->two_phase || on_batches, iterations, rest, left, phases, first);
  double error = (1 - o->confidence) / (count - first);
  for (int i = 0; i < count; i++) {
    struct phase *p = &phases[i];
    /* The eigenvalue bound is tested only where it does not follow from the loss and the penalty. */
    int both = f->lower > o->eps_h;
    p->beta_g = error / (both ? 2 : 1) / p->iterations;
    p->beta_h = error / 2 * 6 / (M_PI * M_PI);
  }
  return count;
}

/* One or two phases that spend rho of what is left. */
static int add_phases(const struct opt_options *o, int two, int iterations, double rho, double left,
                      struct phase *phases, int count) {
  for (int i = two ? 0 : 1; i < 2; i++) {
    struct phase *p = &phases[count++];
    int first_of_two = i == 0;
    p->number = count;
    p->batch = 0;
    p->iterations = first_of_two ? (int)ceil(sqrt(iterations)) : iterations;
    p->rho = first_of_two ? o->phase1_share * rho : rho;
    p->reserve = left - p->rho > 0 ? left - p->rho : 0;
  }
  return count;
}

double phase_left(const struct objective *f, const struct phase *phase) {
  double left = oracle_left(f->oracle) - phase->reserve;
  return left > 0 ? left : 0;
}

double opt_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct opt_options *options,
                         double rho, const double *w) {
  (void)w;
  struct objective f;
  objective_init(&f, (struct oracle *)oracle, penalty);
  double gap = isnan(options->gap) ? oracle_at_zero(oracle) - oracle_floor(oracle) : options->gap;
  const struct wish wish = {&f, options, rho - plan_last(options, rho), gap};
  return plan_smallest_alpha(certifies, &wish, f.steepest); /* without a penalty every point meets steepest */
}

double plan_last(const struct opt_options *o, double rho) {
  int measured = o->spend_all && !o->published && o->search != OPT_SHORT_STEP;
  return measured ? o->gap_share * rho : 0;
}

double plan_smallest_alpha(int (*accepts)(const void *context, double alpha), const void *context, double high) {
  double low = 1e-8;
  if (accepts(context, low)) return low;
  for (int i = 0; i < 60; i++) {
    double middle = sqrt(low * high);
    if (accepts(context, middle)) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high;
}

double plan_gradient_decrease(const struct objective *f, double eps_g) {
  return (1 - 2 * GW_C1) / (2 * f->smooth) * eps_g * eps_g;
}

double plan_t2(void) {
  double a = 1 - GW_C - GW_CH;
  return 1.5 * a + 3 * sqrt(a * a / 4 - 2.0 / 3 * GW_C2_SEARCH);
}

/* Gao & Wright (10) with the constants of the loss. The second term counts only when
 * steps of negative curvature can occur at all. */
static double min_decrease(const struct objective *f, double eps_g, double eps_h) {
  double by_gradient = plan_gradient_decrease(f, eps_g);
  if (f->lower <= eps_h || f->third == 0) return by_gradient;
  double by_curvature = 2 * (1.0 / 3 - GW_C2 - GW_C) * eps_h * eps_h * eps_h / (f->third * f->third);
  return fmin(by_gradient, by_curvature);
}

/* Gao & Wright (10), or (17) with a line search, at G = M = 1 and with targets divided as in their experiments. */
static double min_decrease_published(const struct opt_options *o) {
  double eps_g = o->eps_g / (1 + GW_C1), eps_h = o->eps_h / (1 + GW_C), cube = eps_h * eps_h * eps_h;
  if (o->search == OPT_SHORT_STEP) {
    return fmin((1 - 2 * GW_C1) / 2 * eps_g * eps_g, 2 * (1.0 / 3 - GW_C2 - GW_C) * cube);
  }
  double t2 = plan_t2();
  return fmin((1 - GW_C1 - GW_CG) * GW_CG * eps_g * eps_g, GW_CH / 4 * t2 * t2 * cube);
}

int plan_ceil(double x, int most) {
  if (!(x < most)) return most;
  return x > 1 ? (int)ceil(x) : 1;
}

/* Assumes the first phase on the full data, a point with |g| = alpha / 2 and the mean of |g~|^2. */
static int certifies(const void *wish, double alpha) {
  const struct wish *c = wish;
  const struct objective *f = c->f;
  const struct opt_options *o = c->o;
  struct opt_options at = *o;
  struct phase phases[MOST_PHASES];
  at.eps_g = alpha;
  at.eps_h = sqrt(f->third * alpha);
  plan_phases(f, &at, plan_iterations(f, &at, c->gap), c->rho, c->rho, phases);
  const struct phase *p = phases;
  while (p->batch) p++;
  int search = o->search != OPT_SHORT_STEP, both = f->lower > at.eps_h;
  double rest = p->rho * (both ? 1 - o->hessian_share : 1);
  double sd = objective_sd_all(f, &query_gradient, NULL, rest * (search ? 1 - o->search_share : 1) / p->iterations);
  double seen = sqrt(alpha * alpha / 4 + (double)f->dim * sd * sd);
  if (confidence_norm(seen, sd, f->dim, confidence_share(p->beta_g, 1)) > alpha) return 0;
  if (!both) return 1;
  double sd_h = objective_sd_all(f, &query_hessian, NULL, o->hessian_share * p->rho);
  return 3 * objective_eigen_error(f, sd_h, confidence_share(p->beta_h, 1)) <= at.eps_h;
}
