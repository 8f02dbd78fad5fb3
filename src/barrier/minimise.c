/*
 * The exact minimiser of a strongly convex problem on the data, which must not leave the barrier:
 *
 *   F(w) = f(w) + sum_j q_j w_j^2 / 2 + c'w,   f the mean loss, l'' in [0, b], every q_j >= m > 0.
 *
 * The minimiser plus noise is released, and the noise is proportional to the largest distance between the
 * computed and the true minimiser. So that distance must be bounded for all data, not measured:
 *
 *   ball      F(w) <= F(0) implies |w| <= W = (|c| + sqrt(|c|^2 + 2 m (f(0) - inf l))) / m, with f(0) bounded
 *             for all data. All points that are evaluated have norm at most 3 W.
 *   gradient  Within 3 W the computed gradient differs from the true one by at most E: the error of the sum
 *             (bounds.c) and at most eight roundings of its terms and those of q w and c.
 *   stop      F is m-strongly convex: where the computed gradient is at most E, the true one is at most 2 E, and the
 *             distance at most 2 E / m.
 *   descent   G = b + max q. A gradient step of 1 / G from w shrinks the distance by 1 - m / G, and its
 *             rounding and that of the gradient add at most (E + 16 u 3 W G) / G. From 0, at a distance of at most W,
 *             the distance after T steps is at most (1 - m / G)^T W + E' / m, E' = E + 48 u W G; with T = (G / m) log(W
 *             m / E') that is 2 E' / m, whatever the gradient there is.
 *
 * Newton's method with backtracking comes first: ten steps, up to a hundred where l'' jumps, instead of thousands. Only
 * its stop within 3 W matters, not its path: where l'' jumps, either value gives a matrix
 * between m and G and so a direction of descent. Where the stop was not reached, descent starts from zero, and the
 * bound follows from it. In both cases the distance is at most 2 E' / m for every data set; which case it was shows in
 * the time only (SECURITY.md).
 */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define NEWTON_STEPS 200
#define BACKTRACKS 50
#define UNIT (DBL_EPSILON / 2)
#define REACH 3 /* norm of the farthest point that is evaluated, divided by the radius of the ball */

/* A point with F and its gradient there, one after the other as a pass returns them. */
struct point {
  double *w, *value, *gradient;
};

struct descent {
  const struct scope *scope;
  const struct strong *problem;
  size_t dim;
  struct point here, trial;
  double *step, *matrix;
};

static int newton(struct descent *s, int *stopped);
static int newton_step(struct descent *s, int *moved);
static int backtrack(struct descent *s, int *moved);
static int descend(struct descent *s);
static int evaluate(const struct descent *s, struct point *at);

int strong_init(const struct scope *s, const double *quadratic, const double *linear, double longest,
                struct strong *problem) {
  const struct loss_bounds *b = model_bounds(&s->oracle->model);
  const struct task task = scope_task(s, NULL);
  double least = INFINITY, most = 0;
  if (!scope_can(s, &sum_value_gradient, &task) || model_weighted(&s->oracle->model)) return BASE_ERR_ARGUMENT;
  for (size_t j = 0; j < s->oracle->model.dim; j++) {
    if (!(quadratic[j] > 0) || !(quadratic[j] <= 1e50)) return BASE_ERR_ARGUMENT;
    least = fmin(least, quadratic[j]);
    most = fmax(most, quadratic[j]);
  }
  if (s->oracle->model.outputs > 1 || b->curv_lower > 0 || !(longest >= 0)) return BASE_ERR_ARGUMENT;
  double ball = (longest + sqrt(longest * longest + 2 * least * (b->at_zero - b->floor))) / least;
  double reach = REACH * ball, smooth = b->curv_upper + most;
  double error = bounds_gradient_error(s, reach) + 8 * UNIT * (b->lipschitz + most * reach + longest);
  error += 16 * UNIT * reach * smooth;
  *problem = (struct strong){quadratic, linear, least, smooth, ball, error};
  return isfinite(strong_distance(problem)) ? BASE_OK : BASE_ERR_ARGUMENT;
}

/* Slightly more, for the rounding of the bound itself and of the norm that is compared. */
double strong_distance(const struct strong *problem) { return 2 * problem->error / problem->least * (1 + 0x1p-20); }

int strong_minimise(const struct scope *scope, const struct strong *problem, double *w) {
  size_t dim = scope->oracle->model.dim, numbers = dim * dim + 5 * dim + 2;
  double *memory = base_alloc(numbers, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  double *matrix = memory, *step = matrix + dim * dim, *here = step + dim, *trial = here + 2 * dim + 1;
  struct descent s = {.scope = scope,
                      .problem = problem,
                      .dim = dim,
                      .here = {here, here + dim, here + dim + 1},
                      .trial = {trial, trial + dim, trial + dim + 1},
                      .step = step,
                      .matrix = matrix};
  int stopped = 0, status = newton(&s, &stopped);
  if (status == BASE_OK && !stopped) status = descend(&s);
  memcpy(w, s.here.w, dim * sizeof(double));
  if (status != BASE_OK) memset(w, 0, dim * sizeof(double));
  memset(memory, 0, numbers * sizeof(double));
  base_free(memory);
  return status;
}

static int newton(struct descent *s, int *stopped) {
  int moved = 1, status = evaluate(s, &s->here);
  for (int i = 0; i < NEWTON_STEPS && moved && status == BASE_OK; i++) {
    *stopped = la_norm(s->dim, s->here.gradient) <= s->problem->error;
    if (*stopped) return BASE_OK;
    status = newton_step(s, &moved);
  }
  return status;
}

static int newton_step(struct descent *s, int *moved) {
  *moved = 0;
  const struct ask ask = {.at = s->here.w};
  int status = scope_mean(s->scope, &query_hessian.sum, &ask, s->matrix);
  if (status != BASE_OK) return status;
  for (size_t j = 0; j < s->dim; j++) s->matrix[j + j * s->dim] += s->problem->quadratic[j];
  memcpy(s->step, s->here.gradient, s->dim * sizeof(double));
  status = la_solve_definite(s->dim, s->matrix, s->step);
  if (status == BASE_ERR_NUMERIC) return BASE_OK;
  return status == BASE_OK ? backtrack(s, moved) : status;
}

/* A step is taken where the value falls enough (Armijo) or, as near the minimum values differ by rounding alone, where
 * the gradient halves. */
static int backtrack(struct descent *s, int *moved) {
  double slope = la_dot(s->dim, s->here.gradient, s->step), norm = la_norm(s->dim, s->here.gradient), length = 1;
  for (int i = 0; i < BACKTRACKS && !*moved; i++, length /= 2) {
    memcpy(s->trial.w, s->here.w, s->dim * sizeof(double));
    la_axpy(s->dim, -length, s->step, s->trial.w);
    if (!(la_norm(s->dim, s->trial.w) <= REACH * s->problem->ball)) continue;
    int status = evaluate(s, &s->trial);
    if (status != BASE_OK) return status;
    *moved =
        *s->trial.value <= *s->here.value - 1e-4 * length * slope || la_norm(s->dim, s->trial.gradient) <= norm / 2;
  }
  if (*moved) memcpy(s->here.w, s->trial.w, (2 * s->dim + 1) * sizeof(double));
  return BASE_OK;
}

static int descend(struct descent *s) {
  const struct strong *p = s->problem;
  double steps = ceil(p->smooth / p->least * log(fmax(1, p->ball * p->least / p->error)));
  memset(s->here.w, 0, s->dim * sizeof(double));
  for (double t = 0; t < steps; t++) {
    int status = evaluate(s, &s->here);
    if (status != BASE_OK) return status;
    la_axpy(s->dim, -1 / p->smooth, s->here.gradient, s->here.w);
  }
  return BASE_OK;
}

static int evaluate(const struct descent *s, struct point *at) {
  const struct strong *p = s->problem;
  const struct ask ask = {.at = at->w};
  int status = scope_mean(s->scope, &sum_value_gradient, &ask, at->value);
  for (size_t j = 0; j < s->dim && status == BASE_OK; j++) {
    double curved = p->quadratic[j] * at->w[j];
    *at->value += (curved / 2 + p->linear[j]) * at->w[j];
    at->gradient[j] += curved + p->linear[j];
  }
  return status;
}
