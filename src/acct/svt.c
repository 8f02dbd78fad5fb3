/*
 * Sparse vector (AboveThreshold) with at most k queries of sensitivity one, of
 * any signs, chosen adaptively. With the cdf F of the query noise and the
 * divergence R_T of the threshold noise under a shift tau,
 *
 *   D_alpha <= min over tau in [0, 1] of R_T(alpha; tau) + log V_k / (alpha - 1)
 *   V_0 = 1,  V_j = max over x and s in {tau - 1, tau + 1} of A(x) + B(x) V_{j-1}
 *   A = S(x)^alpha S(x + s)^(1 - alpha),  B = F(x)^alpha F(x + s)^(1 - alpha),  S = 1 - F.
 *
 * The maximum over x is bounded from above rigorously. Write g = A + B V.
 *
 * Laplace noise of scale one: where x and x + s have one sign, g is convex in
 * F(x) or in S(x), because u^alpha w^(1 - alpha) is jointly convex; its maximum
 * there lies at an end: at infinity (1 or V) or where the sign changes. In
 * between (|x| <= |s|) one of A, B is convex in x and the other, say A, has
 * (log A)'' >= -2 alpha, so that in a cell of width w
 *   g <= max(ends) + (w^2 / 8) 2 alpha max A.
 * Gaussian noise: the hazard's derivative lies in (0, 1), hence
 * (log A)'', (log B)'' >= -alpha and g <= max(ends) + (w^2 / 8) alpha max g.
 *
 * Sums are kept as V - 1 so that small divergences keep their digits.
 */
#include "acct/private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { TAUS = 11, LAPLACE_CELLS = 64, GAUSSIAN_TAUS = 6, GAUSSIAN_CELLS = 1024, MOST_CELLS = 16384, EXACT_STEPS = 64 };

/* One point or cell: an upper bound is a + b v, where v = V - 1. */
struct line {
  double a, b;
};

static double laplace_bound(double alpha, double eps, size_t k);
static double gaussian_bound(double alpha, double threshold, double query, size_t k);
static double grow(size_t k, size_t n, struct line *line);
static void laplace_cells(double alpha, double s, struct line *line);
static double excess(double p, double log_ratio, double alpha);
struct normal_grid;
static void gaussian_cells(double alpha, long shift, const struct normal_grid *grid, struct line *line);

double acct_svt_rdp(const struct acct_leaf *leaf, double alpha) {
  size_t k = (size_t)leaf->b;
  if (leaf->kind == ACCT_SVT_GAUSSIAN) return gaussian_bound(alpha, leaf->a, leaf->c, k);
  return fmin(laplace_bound(alpha, leaf->a, k), acct_pure_rdp(leaf->a, alpha));
}

static double laplace_bound(double alpha, double eps, size_t k) {
  double best = INFINITY;
  if (alpha * eps > 300.0) return best; /* the pure bound is as good there */
  struct line line[2 * LAPLACE_CELLS];
  for (int i = 0; i < TAUS; i++) {
    double tau = (double)i / (TAUS - 1), threshold = 0.0;
    laplace_cells(alpha, (tau - 1.0) * 0.25 * eps, line);
    laplace_cells(alpha, (tau + 1.0) * 0.25 * eps, line + LAPLACE_CELLS);
    if (i > 0) threshold = acct_laplace_rdp(tau * 0.5 * eps, alpha);
    best = fmin(best, threshold + log1p(grow(k, 2 * LAPLACE_CELLS, line)) / (alpha - 1.0));
  }
  return best;
}

static int by_slope(const void *x, const void *y) {
  const struct line *p = x, *q = y;
  if (p->b != q->b) return p->b < q->b ? -1 : 1;
  return (p->a > q->a) - (p->a < q->a);
}

/* Keeps the lines that are the largest one for some v >= 0; ascending slopes. */
static size_t envelope(size_t n, struct line *line) {
  size_t kept = 0;
  qsort(line, n, sizeof *line, by_slope);
  for (size_t i = 0; i < n; i++) {
    struct line x = line[i];
    while (kept > 0 && line[kept - 1].a <= x.a) kept--; /* not larger for any v >= 0 */
    while (kept > 1 && (line[kept - 1].a - x.a) * (line[kept - 1].b - line[kept - 2].b) <=
                           (line[kept - 2].a - line[kept - 1].a) * (x.b - line[kept - 1].b)) {
      kept--; /* x exceeds it before it exceeds the one below */
    }
    line[kept++] = x;
  }
  return kept;
}

/* The largest line at v, or v, from the ends at infinity. As v grows, later lines of the envelope are the largest:
 * place only increases. */
static double next(double v, size_t n, const struct line *line, size_t *place) {
  size_t i = *place;
  while (i + 1 < n && line[i + 1].a + line[i + 1].b * v >= line[i].a + line[i].b * v) i++;
  *place = i;
  return fmax(v, line[i].a + line[i].b * v);
}

/* V_k - 1. The growth in a step is convex in V, so over an interval it is at most that
 * at either end: after the first steps, as many steps are taken together as let V
 * grow by one percent. */
static double grow(size_t k, size_t n, struct line *line) {
  double v = 0.0, left = (double)k;
  for (size_t i = 0; i < n; i++) {
    if (!(fabs(line[i].a) < 1e150 && line[i].b < 1e150)) return INFINITY; /* products would overflow */
  }
  n = envelope(n, line);
  size_t place = 0;
  for (int j = 0; j < EXACT_STEPS && left > 0.0; j++, left -= 1.0) v = next(v, n, line, &place);
  while (left > 0.0 && v < 1e150) {
    size_t ahead = place;
    double end = 1.01 * v, now = next(v, n, line, &place), growth = fmax(now - v, next(end, n, line, &ahead) - end);
    if (!(growth > 0.0)) break;
    double steps = fmin(fmax(floor((end - v) / growth), 1.0), left);
    v = steps > 1.0 ? v + steps * growth : now;
    left -= steps;
  }
  return v < 1e150 ? v : INFINITY;
}

/* p (p / q)^(alpha - 1) as weight and excess: p e^t = p + p expm1(t). */
static double excess(double p, double log_ratio, double alpha) { return p * expm1((alpha - 1.0) * log_ratio); }

/* Cells of |x| <= |s|. With p = exp(-|x|) / 2 on the side of x and other =
 * exp(|x| - |s|) / 2 on the far side of x + s, one term is p against 1 - other
 * (convex in x), the other one 1 - p against other. */
static void laplace_cells(double alpha, double s, struct line *line) {
  double length = fabs(s), width = length / LAPLACE_CELLS, bend = 0.25 * alpha * width * width;
  double near_before = 0.0, far_before = 0.0, sum_before = 0.0;
  for (int i = 0; i <= LAPLACE_CELLS; i++) {
    double x = width * i, p = 0.5 * exp(-x), other = 0.5 * exp(x - length);
    double near_excess = excess(p, log(p) - log1p(-other), alpha);
    double far_excess = excess(1.0 - p, log1p(-p) - log(other), alpha);
    double near = p + near_excess, far = 1.0 - p + far_excess, sum = near_excess + far_excess;
    if (i > 0) {
      double curve = bend * exp(bend) * fmax(far, far_before);
      double rounding = 8.0 * DBL_EPSILON * alpha * (near + far);
      /* B is the near term when s > 0 (x < 0) and the far one otherwise. */
      double b = s > 0.0 ? fmax(near, near_before) : fmax(far, far_before) + curve;
      line[i - 1] = (struct line){fmax(sum, sum_before) + curve + rounding, b};
    }
    near_before = near, far_before = far, sum_before = sum;
  }
}

/* log Phi on a grid that holds all shifts: at(i) is x = i width. */
struct normal_grid {
  double width;
  long cells, shift; /* cells on either side of zero; of the shift by one step of tau */
  double *log_cdf;   /* at x = -(cells + SHIFTS shift) width and after */
};
enum { SHIFTS = 2 * (GAUSSIAN_TAUS - 1) };

static double log_cdf(const struct normal_grid *grid, long i) {
  return grid->log_cdf[i + grid->cells + SHIFTS * grid->shift];
}

static int grid_create(double alpha, double query, struct normal_grid *grid) {
  double reach = alpha * 2.0 * query + fmax(8.0, sqrt(alpha)), unit = query / (GAUSSIAN_TAUS - 1);
  if (2.0 * reach / unit > MOST_CELLS) return BASE_ERR_NUMERIC;
  grid->shift = (long)fmax(ceil(unit * GAUSSIAN_CELLS / (2.0 * reach)), 1.0);
  grid->width = unit / (double)grid->shift;
  grid->cells = (long)ceil(reach / grid->width);
  long half = grid->cells + SHIFTS * grid->shift;
  grid->log_cdf = base_alloc((size_t)(2 * half + 1), sizeof *grid->log_cdf);
  if (!grid->log_cdf) return BASE_ERR_MEMORY;
  for (long i = -half; i <= half; i++) grid->log_cdf[i + half] = base_pnorm_log(grid->width * (double)i);
  return BASE_OK;
}

/* Threshold and queries with Gaussian noise; also a function of at most k noisy
 * queries, given the threshold. */
static double gaussian_bound(double alpha, double threshold, double query, size_t k) {
  struct normal_grid grid;
  double best = 0.5 * alpha * query * query * (double)k;
  if (grid_create(alpha, query, &grid)) return best;
  size_t n = (size_t)(2 * grid.cells) + 2;
  struct line *line = base_alloc(2 * n, sizeof *line);
  for (int i = 0; line && i < GAUSSIAN_TAUS; i++) {
    double tau = (double)i / (GAUSSIAN_TAUS - 1);
    gaussian_cells(alpha, (i - GAUSSIAN_TAUS + 1) * grid.shift, &grid, line);
    gaussian_cells(alpha, (i + GAUSSIAN_TAUS - 1) * grid.shift, &grid, line + n);
    double shifted = 0.5 * alpha * tau * tau * threshold * threshold;
    best = fmin(best, shifted + log1p(grow(k, 2 * n, line)) / (alpha - 1.0));
  }
  base_free(line);
  base_free(grid.log_cdf);
  return best;
}

/* Cells of |x| <= reach, and the two ends beyond. At x <= -reach, S(x + s) is
 * nearly one and B increases: b' >= -x - (alpha - 1) |s| - (alpha - 1) / |x + s| >= 0. */
static void gaussian_cells(double alpha, long shift, const struct normal_grid *grid, struct line *line) {
  double bend = alpha * grid->width * grid->width / 8.0, more = bend < 0.5 ? bend / (1.0 - bend) : INFINITY;
  double a_before = 0.0, b_before = 0.0, sum_before = 0.0, b_first = 0.0;
  long last = grid->cells;
  for (long i = -last; i <= last; i++) {
    double log_f = log_cdf(grid, i), log_s = log_cdf(grid, -i), f = exp(log_f), s = exp(log_s);
    double b_excess = excess(f, log_f - log_cdf(grid, i + shift), alpha);
    double a_excess = excess(s, log_s - log_cdf(grid, -i - shift), alpha);
    double a = s + a_excess, b = f + b_excess, sum = a_excess + b_excess;
    if (i == -last) b_first = b;
    if (i > -last) {
      double a_top = fmax(a, a_before), b_top = fmax(b, b_before);
      double rounding = 8.0 * DBL_EPSILON * alpha * (a_top + b_top);
      line[i + last - 1] =
          (struct line){fmax(sum, sum_before) + more * (a_top + b_top) + rounding, b_top * (1.0 + more)};
    }
    a_before = a, b_before = b, sum_before = sum;
  }
  double beyond = expm1((1.0 - alpha) * log_cdf(grid, last - labs(shift)));
  line[2 * last] = (struct line){beyond + b_first, b_first};
  line[2 * last + 1] = (struct line){beyond + a_before, 1.0 + beyond};
}
