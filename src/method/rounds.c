/*
 * Rounds at the posterior mean, for a loss of several outputs, of weighted rows in coordinates of their own: each round
 * releases one gradient of clipped slopes at the mean of the minimiser given all releases so far.
 *
 *   matrix     M, of the weighted rows, is released and shrunk by posterior_matrix(). Its eigenvectors are the
 *              coordinates of what follows; m_j are its eigenvalues, times the weight that a row of usual length has in
 *              a gradient.
 *   curvature  The Hessian at W is taken for m (x) C, with C the mean of the outputs' second derivatives over normal
 *              predictors, whose mean is the intercept of W and whose covariance is W'diag(m) W. With l_k and b_k the
 *              eigenvalues and eigenvectors of C it has the eigenvalues h_jk = m_j l_k. The direction 1 changes no
 *              probability. At a constant prediction all this is exact (proofs: classes-hessian).
 *   equation   Of round r there are the point X_r, as the distance from the start, and the released gradient G_r, whose
 *              noise has the standard deviation s_r. In a quadratic model with the minimum X
 *
 *                h_jk (X b_k)_j = (h_jk X_r b_k - G_r b_k)_j + noise.
 *
 *              The mean of the rounds, with weights s_r^-2, is v = h X + noise of variance N = 1 / sum s_r^-2. Each
 *              round leaves the weights of earlier ones the fraction `kept`, as h was another one there.
 *   mean       x_jk has a prior variance in proportion to those of the coordinates that eigenvector j has, such that
 *              predictors have the variance t^2, the same for all directions. That of the intercept's part is that of a
 *              predictor of variance one. With V = known + t^2 prior, the mean of x is h V / (h^2 V + N) v, averaged
 *              over t, each value twice the one before, by its likelihood times 1 / (1 + (t / usual)^4).
 *
 * Curvature and mean follow each other twice in a round. A round changes no output's predictors by a standard deviation
 * of more than `reach`: where slopes are at their bounds a first gradient would lead too far. Budgets grow by the
 * factor `growth`: a gradient far from the minimum says less of it.
 *
 * Clipped slopes certify nothing: the gradient at the solution is not clipped. Everything but the releases is
 * post-processing, on which accuracy rests, not privacy.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LEAST 1e-9      /* of eigenvalues of M, which rounding could leave without a sign */
#define LEAST_BLOCK 1e-6 /* of those of C */
#define PAIRS 200       /* of opposite normal predictors */

struct run {
  struct objective f;
  const struct rounds_options *o;
  struct opt_result *result;
  size_t side, classes;
  double *w, *start;
  double *x, *centre, *slope; /* X; the means of X_r and G_r */
  double *gradient, *turned, *target; /* scratch, as large */
  double precision;           /* 1 / N */
  double *matrix, *value;     /* M: its eigenvectors, one a column, and m */
  double *known, *prior;      /* see above */
  double *direction, *block;  /* b_k, one a column, and l_k; those of the direction 1 are last */
  double *spread, *mean;      /* the covariance of the predictors, and their mean */
  double *normal, *predictor; /* PAIRS x classes: normal numbers, and scratch */
};

static int allocate(struct run *r, double **memory);
static int prepare(struct run *r, double rho);
static void set_prior(struct run *r);
static int take_rounds(struct run *r, double rho);
static int certify(struct run *r, double rho);

static int rounds_fit(struct run *r, double rho) {
  const struct rounds_options *o = r->o;
  double last = o->certificate_share * rho, matrix = o->matrix_share * (rho - last);
  int status = prepare(r, matrix);
  if (status == BASE_OK) status = take_rounds(r, (rho - last - matrix) * ALMOST);
  return status == BASE_OK ? certify(r, last * ALMOST) : status;
}

int rounds_run(struct oracle *oracle, const struct penalty *penalty, const struct rounds_options *options, double rho,
               double *w, struct opt_result *result) {
  struct run r = {.o = options, .result = result, .w = w};
  int status = result_init_convex(result, options->iterations, oracle, penalty, &r.f);
  if (status == BASE_OK && (oracle_outputs(oracle) < 2 || !oracle_prior(oracle) || oracle_constant(oracle) == 0)) {
    status = BASE_ERR_ARGUMENT;
  }
  if (status != BASE_OK) return status;
  double *memory;
  status = allocate(&r, &memory);
  if (status == BASE_OK) status = rounds_fit(&r, rho);
  base_free(memory);
  return status;
}

double rounds_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct rounds_options *options,
                            double rho, const double *w) {
  return objective_alpha_last(oracle, penalty, options->certificate_share * rho, options->confidence, w);
}

/* The same normal numbers in each run: public ones (splitmix64). */
static void draw_normals(size_t n, double *normal) {
  uint64_t state = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    normal[i] = base_qnorm(((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53);
  }
}

static int allocate(struct run *r, double **memory) {
  size_t dim = r->f.dim, classes = r->classes = oracle_outputs(r->f.oracle), side = r->side = dim / classes;
  double *next = *memory = base_alloc(7 * dim + side * (side + 3) + classes * (2 * classes + 2 + 2 * PAIRS),
                                      sizeof(double));
  if (!next) return BASE_ERR_MEMORY;
  double **const vectors[] = {&r->start, &r->x, &r->centre, &r->slope, &r->gradient, &r->turned, &r->target};
  for (size_t i = 0; i < 7; i++, next += dim) *vectors[i] = next;
  r->matrix = next;
  r->value = r->matrix + side * side;
  r->known = r->value + side;
  r->prior = r->known + side;
  r->direction = r->prior + side;
  r->spread = r->direction + classes * classes;
  r->block = r->spread + classes * classes;
  r->mean = r->block + classes;
  r->normal = r->mean + classes;
  r->predictor = r->normal + PAIRS * classes;
  memcpy(r->start, r->w, dim * sizeof(double));
  memset(r->x, 0, 3 * dim * sizeof(double));
  r->precision = 0;
  draw_normals(PAIRS * classes, r->normal);
  return BASE_OK;
}

/* ---- the matrix ---- */

/* What is kept of the products of columns with the intercept's coordinate. Columns are centred, so that often there is
 * nothing but noise, which would give them a part of the intercept's prior variance, a wide one. */
static double coupling(size_t side, const double *m, double sd) {
  double squares = 0;
  for (size_t j = 1; j < side; j++) squares += m[j] * m[j];
  double noise = (double)(side - 1) * sd * sd; /* twice what is expected */
  return squares > noise ? 1 - noise / squares : 0;
}

static int prepare(struct run *r, double rho) {
  size_t side = r->side;
  double sd, least;
  const struct answer to = {.value = r->matrix, .sd = &sd};
  int status = release(oracle_all(r->f.oracle), &query_weighted, &(struct ask){.at = r->w}, rho, to);
  if (status == BASE_OK) status = trace_note(&r->result->trace, "weighted matrix", NAN, sd, rho);
  if (status != BASE_OK) return status;
  double coupled = coupling(side, r->matrix, sd);
  posterior_matrix(side, 1, oracle_spread(r->f.oracle), sd, r->matrix);
  for (size_t j = 1; j < side; j++) {
    r->matrix[j] *= coupled;
    r->matrix[j * side] *= coupled;
  }
  double weight = fmin(1, r->o->cap); /* of rows whose length is about one */
  least = r->matrix[0];
  for (size_t j = 1; j < side; j++) least = fmin(least, r->matrix[j + j * side]);
  status = la_eigen_released(side, r->matrix, r->value);
  for (size_t j = 0; j < side; j++) r->value[j] = fmax(r->value[j], fmax(least, LEAST) / 2) * weight;
  set_prior(r);
  return status;
}

/* Prior variances of the coordinates, relative to t^2, and of the part of the intercept. Where the noise left nothing
 * of the matrix nothing is known of the coordinates, and they stay at zero. */
static void set_prior(struct run *r) {
  size_t side = r->side;
  double total = 0, constant = oracle_constant(r->f.oracle);
  const double *expected = oracle_prior(r->f.oracle);
  for (size_t k = 0; k < side; k++) {
    const double *vector = r->matrix + k * side;
    r->known[k] = vector[0] * vector[0] / (constant * constant);
    r->prior[k] = 0;
    for (size_t j = 1; j < side; j++) r->prior[k] += vector[j] * vector[j] * expected[j - 1] * expected[j - 1];
    if (r->value[k] > LEAST) total += r->prior[k] * r->value[k];
  }
  la_scale(side, total > 0 ? r->o->present / total : 0, r->prior);
}

/* ---- rounds ---- */

static void take_equation(struct run *r, double sd);
static int find_mean(struct run *r, double *x);
static double largest_change(const struct run *r, const double *x);

/* w <- the start plus X */
static void set_point(struct run *r) {
  la_multiply(r->side, r->side, r->classes, r->matrix, r->side, r->x, r->side, r->w);
  la_axpy(r->f.dim, 1, r->start, r->w);
}

/* X <- the next point; target is scratch. */
static int move(struct run *r) {
  size_t dim = r->f.dim;
  double *next = r->target;
  memcpy(next, r->x, dim * sizeof(double));
  int status = find_mean(r, next);
  if (status != BASE_OK) return status;
  la_axpy(dim, -1, r->x, next);
  double change = largest_change(r, next);
  la_scale(dim, change > r->o->reach ? r->o->reach / change : 1, next);
  la_axpy(dim, 1, next, r->x);
  trace_last(&r->result->trace)->step = la_norm(dim, next);
  set_point(r);
  return BASE_OK;
}

static int take_rounds(struct run *r, double rho) {
  int rounds = r->o->iterations;
  double total = 0;
  for (int i = 0; i < rounds; i++) total += pow(r->o->growth, i - rounds);
  for (int i = 0; i < rounds; i++) {
    double sd, part = rho * pow(r->o->growth, i - rounds) / total;
    const struct ask ask = {.at = r->w, .clip = r->o->clip, .cap = r->o->cap};
    const struct answer to = {r->gradient, &sd, NULL};
    base_progress(i + 1, rounds + 1);
    int status = release(oracle_all(r->f.oracle), &query_class_gradient, &ask, part, to);
    double norm = la_norm(r->f.dim, r->gradient);
    if (status == BASE_OK) status = trace_note(&r->result->trace, "class gradient", norm, sd, part);
    if (status != BASE_OK) return status;
    take_equation(r, sd);
    status = move(r);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

/* The means of points and gradients, with this round's. */
static void take_equation(struct run *r, double sd) {
  size_t dim = r->f.dim;
  double new = 1 / (sd * sd), old = r->o->kept * r->precision;
  memset(r->turned, 0, dim * sizeof(double));
  la_multiply_t_add(r->side, r->side, r->classes, r->matrix, r->side, r->gradient, r->turned, r->side);
  r->precision = old + new;
  la_scale(dim, old / r->precision, r->centre);
  la_scale(dim, old / r->precision, r->slope);
  la_axpy(dim, new / r->precision, r->x, r->centre);
  la_axpy(dim, new / r->precision, r->turned, r->slope);
}

/* The largest standard deviation of an output's predictors. */
static double largest_change(const struct run *r, const double *x) {
  double most = 0;
  for (size_t k = 0; k < r->classes; k++) {
    double sum = 0;
    for (size_t j = 0; j < r->side; j++) sum += r->value[j] * x[j + k * r->side] * x[j + k * r->side];
    most = fmax(most, sum);
  }
  return sqrt(most / r->o->present);
}

/* ---- curvature ---- */

/* Adds diag(p) - pp' for these predictors, p their probabilities. */
static void add_curvature(size_t classes, double *predictor, double *c) {
  double most = -INFINITY, total = 0;
  for (size_t k = 0; k < classes; k++) most = fmax(most, predictor[k]);
  for (size_t k = 0; k < classes; k++) total += predictor[k] = exp(predictor[k] - most);
  la_scale(classes, 1 / total, predictor);
  for (size_t k = 0; k < classes; k++) {
    c[k + k * classes] += predictor[k];
    la_axpy(classes, -predictor[k], predictor, c + k * classes);
  }
}

/* C <- the mean second derivative for normal predictors with this mean and this covariance, whose square root is
 * computed in its place. */
static int mean_curvature(const struct run *r, const double *mean, double *covariance, double *c) {
  size_t classes = r->classes;
  double *at = r->predictor, *root = r->block;
  int status = la_eigen_released(classes, covariance, root);
  if (status != BASE_OK) return status;
  for (size_t k = 0; k < classes; k++) la_scale(classes, sqrt(fmax(root[k], 0)), covariance + k * classes);
  memset(c, 0, classes * classes * sizeof(double));
  for (size_t i = 0; i < 2 * PAIRS; i++) {
    la_matvec(classes, classes, covariance, classes, r->normal + i / 2 * classes, at);
    for (size_t k = 0; k < classes; k++) at[k] = mean[k] + (i % 2 == 0 ? at[k] : -at[k]);
    add_curvature(classes, at, c);
  }
  la_scale(classes * classes, 0.5 / PAIRS, c);
  return BASE_OK;
}

/* Mean and covariance of the predictors at X. */
static void set_predictors(struct run *r, const double *x) {
  size_t side = r->side, classes = r->classes;
  for (size_t k = 0; k < classes; k++) {
    double first = r->start[k * side];
    for (size_t j = 0; j < side; j++) {
      size_t i = j + k * side;
      first += r->matrix[j * side] * x[i];
      r->turned[i] = r->value[j] / r->o->present * x[i];
    }
    r->mean[k] = oracle_constant(r->f.oracle) * first;
  }
  memset(r->spread, 0, classes * classes * sizeof(double));
  la_multiply_t_add(side, classes, classes, x, side, r->turned, r->spread, classes);
}

/* b_k and l_k at X: what is added to C leaves its other eigenvectors as they are, and makes the direction 1 last. */
static int find_directions(struct run *r, const double *x) {
  size_t classes = r->classes;
  set_predictors(r, x);
  int status = mean_curvature(r, r->mean, r->spread, r->direction);
  for (size_t i = 0; i < classes * classes; i++) r->direction[i] += 1 / (double)classes;
  if (status == BASE_OK) status = la_eigen_released(classes, r->direction, r->block);
  for (size_t k = 0; k + 1 < classes; k++) r->block[k] = fmax(r->block[k], LEAST_BLOCK);
  return status;
}

/* ---- the posterior mean ---- */

/* to <- x B, or x B', B the directions but 1. */
static void multiply_directions(const struct run *r, const double *x, int transposed, double *to) {
  size_t side = r->side, classes = r->classes;
  memset(to, 0, r->f.dim * sizeof(double));
  for (size_t k = 0; k < (transposed ? classes : classes - 1); k++) {
    for (size_t i = 0; i < (transposed ? classes - 1 : classes); i++) {
      la_axpy(side, r->direction[transposed ? k + i * classes : i + k * classes], x + i * side, to + k * side);
    }
  }
}

static double level(const struct run *r, int i) { return ldexp(r->o->signal, i); }

static double variance(const struct run *r, double t, size_t j) { return r->known[j] + t * t * r->prior[j]; }

/* Of v, plus the logarithm of the prior probability of t. */
static double log_weight(const struct run *r, double t, const double *v) {
  double sum = 2 * log1p(pow(t / r->o->usual, 4));
  for (size_t k = 0; k + 1 < r->classes; k++) {
    for (size_t j = 0; j < r->side; j++) {
      double h = r->value[j] * r->block[k], y = v[j + k * r->side], s = h * h * variance(r, t, j) + 1 / r->precision;
      sum += y * (y / s) + log(s);
    }
  }
  return -sum / 2;
}

/* x <- the mean given v, in the coordinates of the directions. */
static void shrink(const struct run *r, const double *v, double *x) {
  double most = -INFINITY, total = 0;
  for (int i = 0; i < r->o->signals; i++) most = fmax(most, log_weight(r, level(r, i), v));
  memset(x, 0, r->f.dim * sizeof(double));
  for (int i = 0; i < r->o->signals; i++) {
    double t = level(r, i), weight = exp(log_weight(r, t, v) - most);
    total += weight;
    for (size_t k = 0; k + 1 < r->classes; k++) {
      for (size_t j = 0; j < r->side; j++) {
        double h = r->value[j] * r->block[k], u = variance(r, t, j);
        x[j + k * r->side] += weight * h * u / (h * h * u + 1 / r->precision) * v[j + k * r->side];
      }
    }
  }
  la_scale(r->f.dim, 1 / total, x);
}

/* x <- the mean, from a first estimate */
static int find_mean(struct run *r, double *x) {
  size_t side = r->side;
  for (int times = 0; times < 2; times++) {
    int status = find_directions(r, x);
    if (status != BASE_OK) return status;
    double *v = r->gradient;
    multiply_directions(r, r->centre, 0, v);
    multiply_directions(r, r->slope, 0, r->turned);
    for (size_t k = 0; k + 1 < r->classes; k++) {
      for (size_t j = 0; j < side; j++) v[j + k * side] *= r->value[j] * r->block[k];
    }
    la_axpy(r->f.dim, -1, r->turned, v);
    shrink(r, v, r->turned);
    multiply_directions(r, r->turned, 1, x);
  }
  return BASE_OK;
}

/* ---- the certificate ---- */

static int certify(struct run *r, double rho) {
  struct opt_result *result = r->result;
  double sd;
  int status = objective_gradient(&r->f, r->w, rho, r->gradient, &sd);
  if (status != BASE_OK) return status;
  result->gradient_norm = la_norm(r->f.dim, r->gradient);
  result->gradient_upper = confidence_norm(result->gradient_norm, sd, r->f.dim, 1 - r->o->confidence);
  if (result->gradient_upper <= r->o->eps_g) result->status = OPT_SOSP;
  status = trace_note(&result->trace, "gradient", result->gradient_norm, sd, rho);
  if (status == BASE_OK) trace_last(&result->trace)->bound = result->gradient_upper;
  return status;
}

static const struct field rounds_fields[] = {
    FIELD(rounds_options, COUNT, iterations),
    FIELD(rounds_options, NUMBER, eps_g),
    FIELD(rounds_options, NUMBER, confidence),
    FIELD(rounds_options, NUMBER, certificate_share),
    FIELD(rounds_options, NUMBER, matrix_share),
    FIELD(rounds_options, NUMBER, clip),
    FIELD(rounds_options, NUMBER, cap),
    FIELD(rounds_options, NUMBER, growth),
    FIELD(rounds_options, NUMBER, kept),
    FIELD(rounds_options, NUMBER, present),
    FIELD(rounds_options, NUMBER, reach),
    FIELD(rounds_options, NUMBER, signal),
    FIELD(rounds_options, COUNT, signals),
    FIELD(rounds_options, NUMBER, usual),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(rounds)
