/*
 * Privacy loss distributions (Koskela et al. 2020; Gopi et al. 2021), composed
 * by FFT, with an upper and a lower bound of the exact result.
 *
 * Discretisation. pmf.c gives distributions on the grid h Z that dominate, or are
 * dominated by, those of the rounds; domination survives composition (Zhu, Dong
 * & Wang 2022, theorem 10).
 *
 * Tilting. The distributions are multiplied by exp(theta l), with theta near the saddle
 * point, before the transform and divided by it after, so that delta keeps its
 * relative accuracy at any size and the window holds a few standard deviations.
 *
 * Errors, each on the safe side of the bound:
 *  - masses and edges of a round are off by a relative slack_s: if P <= e^a P^
 *    and Q >= e^-a Q^, then delta(eps) <= e^a delta^(eps - 2 a); a = sum T_s slack_s;
 *  - a spectrum X^ = X + e with |e| <= eta gives X^T within (|X^| + eta)^T -
 *    |X^|^T, summed over frequencies after the fact: an error of the tilted distribution
 *    in the first norm, hence of delta by that times the largest tilted weight;
 *  - mass beyond the window wraps around: this only increases the pessimistic
 *    bound, to which a Chernoff bound of the mass above is added; from the optimistic
 *    bound a Chernoff bound of all of it is subtracted.
 * They assume that exp, log and pnorm are accurate to a few units in the last
 * place, which the constants below include.
 */
#include "acct/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_BINS = 1 << 16, MAX_WINDOW = 1 << 19, PASSES = 4, ATTEMPTS = 16 };
static const double pi = 3.14159265358979323846;

struct grid {
  double h, eps, log_delta; /* the target: eps is NaN where it is unknown; delta decides which tail may be cut off */
  double theta, total;      /* total: number of rounds */
  double variance;          /* of the whole loss, about */
  enum acct_bound bound;
};
/* delta(eps) = e^log_scale (A - e^(eps - l) B +- noise max_u e^(-theta (eps + u - shift)) (1 - e^-u)) + extra, with
 * A = sum of the untilted masses from the grid's first loss l >= eps on, B the same by e^(l - loss) */
struct answer {
  double shift, theta, log_scale, h;
  double extra, noise, slack;
  double top; /* there is no finite loss above it */
  long first;
  size_t n;
  double *a, *b;
};
struct plan {
  const struct acct_round *round;
  size_t rounds;
  struct acct_pair *pair; /* of each round's leaves */
  struct acct_pmf *pmf;
};

static int asymmetric(const struct acct_round *round, size_t rounds);
static int prepare(const struct acct_round *round, size_t rounds, double eps, double log_delta, double order,
                   enum acct_bound bound, struct grid *grid, int *usable);
static int plan_create(const struct acct_round *round, size_t rounds, enum acct_bound bound, struct plan *plan);
static void plan_free(struct plan *plan);
static double natural_size(const struct plan *plan, const struct grid *grid);
static int compose(const struct plan *plan, int reverse, const struct grid *grid, struct answer *answer);
static double evaluate(const struct answer *answer, double eps, enum acct_bound bound);
static double solve(const struct answer *answer, double log_delta, enum acct_bound bound);

/* The grid depends on a guess of eps: the one from Renyi divergences, then the result
 * itself where it is much smaller, or the natural size of the loss. */
int acct_pld_epsilon(const struct acct_round *round, size_t rounds, double delta, enum acct_bound bound, double *eps) {
  double guess, order, log_delta;
  int status = acct_rdp_epsilon(round, rounds, delta, &guess, &order), usable = 1;
  struct grid grid;
  struct plan plan = {0};
  *eps = bound == ACCT_PESSIMISTIC ? INFINITY : 0.0;
  if (!status) status = plan_create(round, rounds, bound, &plan);
  for (int pass = 0; pass < PASSES && !status; pass++) {
    /* Where the largest loss already has the mass of the tail, the best order is too large to tilt by. */
    if (guess > 0.0) order = fmin(order, 1.0 + (10.0 - 3.0 * log(delta)) / guess);
    status = prepare(round, rounds, guess, log(delta), order, bound, &grid, &usable);
    grid.eps = NAN;
    double worst = 0.0;
    for (int reverse = 0; usable && reverse <= asymmetric(round, rounds) && !status; reverse++) {
      struct answer answer = {0};
      status = compose(&plan, reverse, &grid, &answer);
      if (!status) worst = fmax(worst, solve(&answer, log(delta), bound));
      base_free(answer.a);
    }
    if (!usable || status) break;
    *eps = bound == ACCT_PESSIMISTIC ? fmin(*eps, worst) : fmax(*eps, worst);
    double natural = natural_size(&plan, &grid);
    if (worst > 0.0 && worst < 0.4 * guess) {
      guess = worst;
    } else if (natural < 0.1 * guess) {
      guess = natural;
    } else {
      break;
    }
    status = acct_rdp_log_delta(round, rounds, guess, &log_delta, &order);
  }
  plan_free(&plan);
  return status == BASE_ERR_NUMERIC ? BASE_OK : status;
}

/* The tail is cut off according to a guess of delta; repeated where the result is far below the guess. */
int acct_pld_log_delta(const struct acct_round *round, size_t rounds, double eps, enum acct_bound bound,
                       double *log_delta) {
  double guess, order;
  int status = acct_rdp_log_delta(round, rounds, eps, &guess, &order), usable = 1;
  struct grid grid;
  struct plan plan = {0};
  *log_delta = bound == ACCT_PESSIMISTIC ? 0.0 : -INFINITY;
  if (!status) status = plan_create(round, rounds, bound, &plan);
  for (int pass = 0; pass < PASSES && !status; pass++) {
    status = prepare(round, rounds, eps, fmax(guess, -700.0), order, bound, &grid, &usable);
    double worst = -INFINITY;
    for (int reverse = 0; usable && reverse <= asymmetric(round, rounds) && !status; reverse++) {
      struct answer answer = {0};
      status = compose(&plan, reverse, &grid, &answer);
      if (!status) worst = fmax(worst, evaluate(&answer, eps, bound));
      base_free(answer.a);
    }
    if (!usable || status) break;
    *log_delta = bound == ACCT_PESSIMISTIC ? fmin(*log_delta, worst) : fmax(*log_delta, fmin(worst, 0.0));
    if (!(worst < grid.log_delta - 4.0) || grid.log_delta <= -700.0) break;
    guess = 1.5 * worst;
  }
  plan_free(&plan);
  return status == BASE_ERR_NUMERIC ? BASE_OK : status;
}

static int asymmetric(const struct acct_round *round, size_t rounds) {
  for (size_t i = 0; i < rounds; i++) {
    if (round[i].amplification == ACCT_MIXTURE) return 1;
  }
  return 0;
}

/* For each round the grid raises log E exp(theta L) by about theta (theta + 1) h^2 / 12,
 * and so eps by (theta + 1) h^2 / 12, a relative error of 4e-5; and the variance, about twice
 * the divergence of order one, by a relative 4e-4. */
static int prepare(const struct acct_round *round, size_t rounds, double eps, double log_delta, double order,
                   enum acct_bound bound, struct grid *grid, int *usable) {
  double total = 0.0, jumps = 0.0, near_one = 1.0 + 1e-4, divergence;
  int status = acct_rdp_curve(round, rounds, 1, &near_one, &divergence);
  if (status) return status;
  for (size_t i = 0; i < rounds; i++) {
    total += round[i].times;
    if (round[i].leaf->kind != ACCT_GAUSSIAN) jumps += round[i].times;
  }
  double variance = 2.0 * divergence, size = fmax(eps, 0.1 * sqrt(variance));
  *grid = (struct grid){
      sqrt(12.0 * 4e-5 * size / (total * order)), eps, fmin(log_delta, -1.0), order - 1.0, total, variance, bound};
  grid->h = fmin(fmin(grid->h, size / 300.0), sqrt(12.0 * 4e-4 * variance / total));
  if (bound == ACCT_OPTIMISTIC && jumps > 0.0) grid->h = fmin(grid->h, 2e-3 * size / jumps);
  *usable = eps < 1e12 && grid->h > 0.0 && grid->theta > 0.0;
  return BASE_OK;
}

/* ---- the rounds on one grid ---- */

static int plan_create(const struct acct_round *round, size_t rounds, enum acct_bound bound, struct plan *plan) {
  *plan = (struct plan){round, rounds, base_alloc(rounds, sizeof *plan->pair), base_alloc(rounds, sizeof *plan->pmf)};
  int status = plan->pair && plan->pmf ? BASE_OK : BASE_ERR_MEMORY;
  for (size_t i = 0; i < rounds && !status; i++) {
    status = acct_pair_create(round[i].leaf, round[i].leaves, bound, &plan->pair[i]);
  }
  if (status) plan_free(plan);
  return status;
}

static void plan_free(struct plan *plan) {
  for (size_t i = 0; plan->pair && i < plan->rounds; i++) acct_pair_free(&plan->pair[i]);
  base_free(plan->pair);
  base_free(plan->pmf);
  *plan = (struct plan){0};
}

static double log_cut(const struct grid *grid) { return grid->log_delta - log(grid->total) - 12.0; }

/* The largest loss of one round that delta does not allow to cut off, or the same for the
 * normal distribution of the sum. */
static double natural_size(const struct plan *plan, const struct grid *grid) {
  double largest = 0.5 * grid->variance + sqrt(-2.0 * grid->variance * grid->log_delta);
  for (size_t i = 0; i < plan->rounds; i++) {
    double low, high;
    acct_bins_span(&plan->round[i], &plan->pair[i], log_cut(grid), 1.0, &low, &high);
    largest = fmax(largest, fmax(low, high));
  }
  return largest;
}

static int discretise(const struct acct_round *round, const struct acct_pair *base, int reverse,
                      const struct grid *grid, struct acct_pmf *pmf) {
  struct acct_bins bins = {0};
  struct acct_round attained = *round;
  /* Attained by replace-one neighbours of which one contributes nothing. */
  if (grid->bound == ACCT_OPTIMISTIC && round->amplification == ACCT_PROFILE) attained.amplification = ACCT_MIXTURE;
  double low, high;
  acct_bins_span(&attained, base, log_cut(grid), 1e-12 / grid->total, &low, &high);
  if ((low + high) / grid->h > MAX_BINS) return BASE_ERR_NUMERIC;
  int status = acct_bins_create(&attained, base, grid->h, low, high, &bins);
  if (!status && reverse) acct_bins_reverse(&bins);
  if (!status) status = acct_pmf_create(&bins, grid->h, grid->bound, pmf);
  acct_bins_free(&bins);
  return status;
}

/* log E exp(theta L), and mean and variance under the tilted distribution. */
static double log_moment(const struct acct_pmf *pmf, double h, double theta, double *mean, double *variance) {
  double top = -INFINITY, s0 = 0.0, s1 = 0.0, s2 = 0.0;
  for (size_t i = 0; i < pmf->n; i++) {
    top = fmax(top, pmf->log_mass[i] + theta * h * (double)(pmf->first + (long)i));
  }
  for (size_t i = 0; i < pmf->n; i++) {
    double l = h * (double)(pmf->first + (long)i), w = exp(pmf->log_mass[i] + theta * l - top);
    s0 += w, s1 += w * l, s2 += w * l * l;
  }
  if (mean) {
    *mean = s1 / s0;
    *variance = fmax(s2 / s0 - *mean * *mean, h * h);
  }
  return top + log(s0);
}

static double total_log_moment(const struct plan *plan, double h, double theta) {
  double sum = 0.0;
  for (size_t i = 0; i < plan->rounds; i++)
    sum += plan->round[i].times * log_moment(&plan->pmf[i], h, theta, NULL, NULL);
  return sum;
}

/* Distance of the tilted distribution from the target: zero at the saddle point,
 * decreasing in theta. With K = log E exp(theta L) it is eps - K', or K - theta K' - log delta. */
static double off_target(const struct plan *plan, const struct grid *grid, double theta, double *sd) {
  double log_m = 0.0, mean = 0.0, variance = 0.0;
  for (size_t i = 0; i < plan->rounds; i++) {
    double one, spread, times = plan->round[i].times;
    log_m += times * log_moment(&plan->pmf[i], grid->h, theta, &one, &spread);
    mean += times * one, variance += times * spread;
  }
  *sd = sqrt(variance);
  return isnan(grid->eps) ? log_m - theta * mean - grid->log_delta : grid->eps - mean;
}

/* An approximate tilt is enough: any tilt gives a valid bound. */
static double choose_tilt(const struct plan *plan, const struct grid *grid) {
  double sd, off = off_target(plan, grid, grid->theta, &sd), low = grid->theta, high = low;
  if (fabs(off) <= (isnan(grid->eps) ? 0.3 * fabs(grid->log_delta) : 1.0 * sd)) return grid->theta;
  /* If the largest loss is more probable than delta, there is no saddle point, or it lies between two grid points. */
  double narrow = 1.1 * grid->h * sqrt(grid->total);
  int spread = sd > narrow, gathered = 0;
  while (off > 0.0 && !gathered && high < 1e15) {
    off = off_target(plan, grid, high *= 16.0, &sd);
    gathered = spread && sd <= narrow;
    spread = spread || sd > narrow;
  }
  if (off > 0.0 || gathered) return grid->theta;
  while (low > 1e-9 && off_target(plan, grid, low, &sd) < 0.0) low /= 16.0;
  for (int i = 0; i < 12 && high / low > 1.05; i++) {
    double mid = sqrt(low * high);
    if (off_target(plan, grid, mid, &sd) > 0.0) {
      low = mid;
    } else {
      high = mid;
    }
  }
  return low;
}

/* ---- composition ---- */

/* Moments of the tilted sum and what lies outside of the window. */
struct shape {
  double mean, log_m, outside, log_above, size;
};

/* The smallest power of two that leaves a negligible mass outside, by Chernoff bounds. */
static int shape_of(const struct plan *plan, const struct grid *grid, struct shape *shape) {
  static const double tilts[] = {0.015, 0.05, 0.15, 0.5, 1.0, 2.0, 3.5, 5.0, 7.0, 10.0};
  enum { TILTS = sizeof tilts / sizeof *tilts };
  double variance = 0.0, support = 1.0, total = 0.0, h = grid->h, theta = grid->theta;
  *shape = (struct shape){.outside = 0.0, .log_above = -INFINITY, .size = 1024.0};
  for (size_t i = 0; i < plan->rounds; i++) {
    double one, spread, times = plan->round[i].times;
    shape->log_m += times * log_moment(&plan->pmf[i], h, theta, &one, &spread);
    shape->mean += times * one, variance += times * spread;
    support += times * (double)(plan->pmf[i].n - 1);
    total += times;
  }
  double sd = sqrt(variance), up[TILTS], down[TILTS], doubt = 1e-12 * total;
  for (int i = 0; i < TILTS; i++) {
    up[i] = total_log_moment(plan, h, theta + tilts[i] / sd) - shape->log_m - tilts[i] / sd * shape->mean + doubt;
    down[i] = total_log_moment(plan, h, theta - tilts[i] / sd) - shape->log_m + tilts[i] / sd * shape->mean + doubt;
  }
  for (; shape->size <= MAX_WINDOW; shape->size *= 2.0) {
    double half = 0.5 * (shape->size - 4.0) * h, above = 0.0, below = 0.0;
    if (2.0 * support <= shape->size) { /* inside, whatever the centre is */
      shape->outside = 0.0;
      shape->log_above = -INFINITY;
      return BASE_OK;
    }
    for (int i = 0; i < TILTS; i++) {
      above = fmin(above, up[i] - tilts[i] / sd * half);
      below = fmin(below, down[i] - tilts[i] / sd * half);
    }
    shape->outside = exp(above) + exp(below);
    /* P(L >= top) = M E~ exp(-theta L) 1(L >= top) */
    shape->log_above = shape->log_m - theta * (shape->mean + half) + above;
    if (shape->outside < 1e-9) return BASE_OK;
  }
  return BASE_ERR_NUMERIC;
}

/* Product of the spectra as log modulus and phase, for frequencies up to n / 2
 * (the rest is conjugate); bump: log of the factor by which rounding may raise the modulus. */
struct spectrum {
  double *log_size, *phase, *bump;
};

static int multiply(const struct acct_round *round, const struct acct_pmf *pmf, double h, double theta, size_t n,
                    struct acct_complex *x, struct spectrum *product) {
  double log_m = log_moment(pmf, h, theta, NULL, NULL), rounding = 0.0;
  long window = (long)n;
  memset(x, 0, n * sizeof *x);
  for (size_t i = 0; i < pmf->n; i++) {
    long at = pmf->first + (long)i;
    double tilt = theta * h * (double)at, tilted = exp(pmf->log_mass[i] + tilt - log_m);
    if (!(tilted > 0.0)) continue;
    x[((at % window) + window) % window].re += tilted;
    rounding += tilted * (4.0 + fabs(pmf->log_mass[i]) + fabs(tilt) + fabs(log_m));
  }
  double eta = 2.0 * DBL_EPSILON * rounding + 8.0 * DBL_EPSILON * log2((double)n);
  int status = acct_fft(n, x, 0);
  for (size_t k = 0; k <= n / 2 && !status; k++) {
    double size = fmax(hypot(x[k].re, x[k].im), eta);
    product->log_size[k] += round->times * log(size);
    product->phase[k] += remainder(round->times * atan2(x[k].im, x[k].re), 2.0 * pi);
    product->bump[k] += round->times * (log1p(2.0 * eta / size) + 8.0 * DBL_EPSILON);
  }
  return status;
}

/* (size + error)^T - size^T, and the rounding of the power. */
static double raised(double log_size, double bump) {
  double by = bump + 4.0 * DBL_EPSILON * (4.0 + fabs(log_size));
  return by < 1.0 ? exp(log_size) * expm1(by) : exp(log_size + by);
}

/* The tilted distribution, at start and after, in x; the bound of its error in the first norm. */
static int transform(const struct plan *plan, const struct grid *grid, long start, size_t n, struct acct_complex *x,
                     double *noise) {
  size_t half = n / 2 + 1;
  struct spectrum product = {.log_size = base_alloc(3 * half, sizeof *product.log_size)};
  if (!product.log_size) return BASE_ERR_MEMORY;
  product.phase = product.log_size + half, product.bump = product.phase + half;
  int status = BASE_OK;
  for (size_t s = 0; s < plan->rounds && !status; s++) {
    status = multiply(&plan->round[s], &plan->pmf[s], grid->h, grid->theta, n, x, &product);
  }
  unsigned long back = (unsigned long)(((start % (long)n) + (long)n) % (long)n);
  double error = 0.0, sum = 0.0;
  for (size_t k = 0; k < half; k++) {
    double size = exp(product.log_size[k]), twice = k == 0 || k == n / 2 ? 1.0 : 2.0;
    double angle = product.phase[k] + 2.0 * pi * (double)((unsigned long)k * back % n) / (double)n;
    x[k] = (struct acct_complex){size * cos(angle), size * sin(angle)};
    if (k > 0) x[n - k] = (struct acct_complex){x[k].re, -x[k].im};
    sum += twice * size;
    error += twice * raised(product.log_size[k], product.bump[k]);
  }
  *noise = error + 8.0 * DBL_EPSILON * log2((double)n) * sum;
  base_free(product.log_size);
  return status ? status : acct_fft(n, x, 1);
}

static int compose_pmfs(const struct plan *plan, const struct grid *grid, struct answer *answer) {
  struct shape shape;
  double finite = 0.0, theta = grid->theta, h = grid->h;
  int status = shape_of(plan, grid, &shape), pessimistic = grid->bound == ACCT_PESSIMISTIC;
  if (status) return status;
  size_t n = (size_t)shape.size;
  struct acct_complex *law = base_alloc(n, sizeof *law);
  answer->a = base_alloc(2 * (n + 1), sizeof *answer->a);
  if (!law || !answer->a) {
    base_free(law);
    return BASE_ERR_MEMORY;
  }
  answer->b = answer->a + n + 1;
  answer->first = (long)floor(shape.mean / h) - (long)(n / 2);
  answer->n = n, answer->h = h, answer->theta = theta;
  answer->shift = shape.mean, answer->log_scale = shape.log_m - theta * shape.mean;
  for (size_t i = 0; i < plan->rounds; i++) {
    finite += plan->round[i].times * log1p(-fmin(plan->pmf[i].infinite, 1.0));
    answer->slack += plan->round[i].times * plan->pmf[i].slack;
    answer->top += plan->round[i].times * h * (double)(plan->pmf[i].first + (long)plan->pmf[i].n - 1);
  }
  status = transform(plan, grid, answer->first, n, law, &answer->noise);
  if (!pessimistic) answer->noise = -(answer->noise + shape.outside);
  answer->extra = pessimistic ? -expm1(finite) + exp(shape.log_above) : 0.0;
  double step_down = exp(-h);
  for (size_t i = n; i-- > 0 && !status;) { /* far below the mean the sums may overflow: no bound there */
    double l = h * (double)(answer->first + (long)i) - shape.mean, mass = law[i].re / shape.size;
    double untilted = mass > 0.0 ? mass * exp(-theta * l) : 0.0;
    answer->a[i] = answer->a[i + 1] + untilted;
    answer->b[i] = step_down * answer->b[i + 1] + untilted;
  }
  base_free(law);
  return status;
}

/* A grid that is too large for memory is replaced by a coarser one. */
static int compose(const struct plan *plan, int reverse, const struct grid *grid, struct answer *answer) {
  struct grid coarse = *grid;
  int status = BASE_ERR_NUMERIC;
  for (int attempt = 0; attempt < ATTEMPTS && status == BASE_ERR_NUMERIC; attempt++, coarse.h *= 4.0) {
    status = BASE_OK;
    for (size_t i = 0; i < plan->rounds && !status; i++) {
      status = discretise(&plan->round[i], &plan->pair[i], reverse, &coarse, &plan->pmf[i]);
    }
    if (!status) coarse.theta = choose_tilt(plan, &coarse);
    if (!status) status = compose_pmfs(plan, &coarse, answer);
    for (size_t i = 0; i < plan->rounds; i++) acct_pmf_free(&plan->pmf[i]);
  }
  return status;
}

/* ---- the answer ---- */

/* log delta(eps), its bound. */
static double evaluate(const struct answer *x, double eps, enum acct_bound bound) {
  int pessimistic = bound == ACCT_PESSIMISTIC;
  double sign = pessimistic ? 1.0 : -1.0, nothing = pessimistic ? 0.0 : -INFINITY;
  double at = eps - sign * 2.0 * x->slack, position = ceil(at / x->h) - (double)x->first, relative = at - x->shift;
  if (at >= x->top) return pessimistic ? log(x->extra) : -INFINITY;
  if (position < 0.0) return nothing;
  size_t i = (size_t)fmin(position, (double)x->n);
  double scaled = exp(fmin(at - x->h * ((double)x->first + (double)i), 0.0)) * x->b[i], u = log1p(1.0 / x->theta);
  double widest = x->theta * x->h * (double)x->n + fabs(x->log_scale);
  double rounding = DBL_EPSILON * (16.0 + (double)(x->n - i) + fabs(at) + 4.0 * widest) * (x->a[i] + scaled);
  double sum = fmax(x->a[i] - scaled, 0.0) + sign * rounding + x->noise * exp(-x->theta * (relative + u)) * -expm1(-u);
  if (!(sum < DBL_MAX)) return nothing;
  double log_sum = log(fmax(sum, 0.0)) + x->log_scale + sign * x->slack;
  if (x->extra == 0.0) return log_sum;
  double log_extra = log(x->extra), top = fmax(log_sum, log_extra);
  return top + log(exp(log_sum - top) + exp(log_extra - top)) + 4.0 * DBL_EPSILON;
}

/* Pessimistic: an eps that satisfies delta; optimistic: an eps that does not. */
static double solve(const struct answer *x, double log_delta, enum acct_bound bound) {
  double low = fmax(0.0, x->h * (double)x->first);
  double high = fmin(x->h * (double)(x->first + (long)x->n), x->top + 2.0 * x->slack + 1e-12 * fabs(x->top));
  if (!(high > 0.0)) return 0.0;
  if (bound == ACCT_OPTIMISTIC) { /* far below the mean the bound is invalid: start where it holds */
    double lowest = low, start = fmax(x->shift, low);
    for (int i = 0; i <= 64; i++) {
      low = start + (lowest - start) * i / 64.0;
      if (evaluate(x, low, bound) > log_delta) break;
    }
  }
  if (evaluate(x, low, bound) <= log_delta) return bound == ACCT_PESSIMISTIC ? low : 0.0;
  if (evaluate(x, high, bound) > log_delta) return bound == ACCT_PESSIMISTIC ? INFINITY : high;
  for (int i = 0; i < 60; i++) {
    double mid = 0.5 * (low + high);
    if (evaluate(x, mid, bound) <= log_delta) {
      high = mid;
    } else {
      low = mid;
    }
  }
  return bound == ACCT_PESSIMISTIC ? high : low;
}
