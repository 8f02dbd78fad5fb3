/*
 * Smallest eigenpair of a symmetric operator by the Lanczos process with full
 * reorthogonalisation (B. N. Parlett, The Symmetric Eigenvalue Problem, SIAM
 * 1998, ch. 13). After m steps the operator is the tridiagonal T on the basis
 * Q; the smallest eigenpair (theta, s) of T gives the Ritz pair (theta, Q s),
 * whose residual norm is beta_m |s_m|.
 *
 * A small residual shows that theta is near an eigenvalue, not that it is the
 * smallest one: a start (nearly) orthogonal to the wanted eigenvector misses
 * it, and so does an invariant subspace that does not hold it. Therefore an
 * answer counts only when a second run, from an independent start, finds
 * nothing smaller. A random start has a component of order 1 / sqrt(d) along
 * any fixed vector (J. Kuczynski, H. Wozniakowski, SIAM J. Matrix Anal. Appl.
 * 13, 1992), so two such misses have a negligible probability. A run of d
 * steps has seen the whole space and needs no second one.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la/private.h"

#define BLOCK 32       /* columns of the basis that are allocated together */
#define CHECK_EVERY 10 /* steps between two looks at the Ritz pair */

struct run {
  const struct linop *op;
  double **blocks;  /* basis: column j is in blocks[j / BLOCK] */
  double *diagonal; /* of T */
  double *off;      /* of T; off[m - 1] is the coupling beta_m to the next column */
  double *ritz;     /* smallest eigenvector of T */
  double *next;     /* operator times the last column, then the next column */
  double norm;      /* estimate of the operator's norm: that of T by rows */
  int complete;     /* the basis spans the whole space */
};

static int run_create(struct run *run, const struct linop *op);
static void run_free(struct run *run);
static int run_to_convergence(struct run *run, double tol, uint64_t *seed, double *value, double *vector);
static int expand(struct run *run, size_t m);
static int step(struct run *run, size_t m);
static void orthogonalise(struct run *run, size_t m);
static void combine(const struct run *run, size_t m, double *vector);
static size_t block_columns(size_t m, size_t first);
static void random_vector(uint64_t *seed, size_t n, double *x);

int la_eigen_min_lanczos(const struct linop *op, double tol, double *value, double *vector) {
  if (op->dim == 0 || !(tol >= 0)) return BASE_ERR_ARGUMENT;
  double *candidate = base_alloc(op->dim, sizeof *candidate);
  if (!candidate) return BASE_ERR_MEMORY;
  uint64_t seed = 1;
  double smallest = INFINITY;
  int status, again;
  do {
    struct run run;
    double theta = 0;
    status = run_create(&run, op);
    if (status == BASE_OK) status = run_to_convergence(&run, tol, &seed, &theta, candidate);
    again = status == BASE_OK && !run.complete && theta < smallest - fmax(tol, DBL_EPSILON) * run.norm;
    if (status == BASE_OK && theta < smallest) {
      smallest = theta;
      memcpy(vector, candidate, op->dim * sizeof *vector);
    }
    run_free(&run);
  } while (again);
  base_free(candidate);
  if (status == BASE_OK) *value = smallest;
  return status;
}

static int run_create(struct run *run, const struct linop *op) {
  const size_t d = op->dim;
  *run = (struct run){.op = op};
  run->blocks = base_alloc((d - 1) / BLOCK + 1, sizeof *run->blocks);
  run->diagonal = base_alloc(d, sizeof *run->diagonal);
  run->off = base_alloc(d, sizeof *run->off);
  run->ritz = base_alloc(d, sizeof *run->ritz);
  run->next = base_alloc(d, sizeof *run->next);
  return run->blocks && run->diagonal && run->off && run->ritz && run->next ? BASE_OK : BASE_ERR_MEMORY;
}

static void run_free(struct run *run) {
  if (run->blocks)
    for (size_t b = 0; b <= (run->op->dim - 1) / BLOCK; b++) base_free(run->blocks[b]);
  base_free(run->blocks);
  base_free(run->diagonal);
  base_free(run->off);
  base_free(run->ritz);
  base_free(run->next);
}

static int run_to_convergence(struct run *run, double tol, uint64_t *seed, double *value, double *vector) {
  const size_t d = run->op->dim;
  random_vector(seed, d, run->next);
  double beta = la_norm(d, run->next);
  for (size_t m = 1;; m++) {
    la_scale(d, 1 / beta, run->next);
    int status = expand(run, m);
    if (status == BASE_OK) status = step(run, m);
    if (status != BASE_OK) return status;
    beta = run->off[m - 1];
    run->complete = m == d;
    /* below this the next column would be rounding error: the subspace is invariant */
    const int last = run->complete || beta <= (double)d * DBL_EPSILON * run->norm;
    if (!last && m % CHECK_EVERY != 0) continue;
    status = la_tridiagonal_min(m, run->diagonal, run->off, value, run->ritz);
    if (status != BASE_OK) return status;
    if (last || beta * fabs(run->ritz[m - 1]) <= tol * run->norm) {
      combine(run, m, vector);
      return BASE_OK;
    }
  }
}

/* next becomes column m (the first is m = 1). */
static int expand(struct run *run, size_t m) {
  const size_t d = run->op->dim, block = (m - 1) / BLOCK;
  if (!run->blocks[block]) run->blocks[block] = base_alloc(d * block_columns(d, block * BLOCK), sizeof(double));
  if (!run->blocks[block]) return BASE_ERR_MEMORY;
  memcpy(run->blocks[block] + d * ((m - 1) % BLOCK), run->next, d * sizeof(double));
  return BASE_OK;
}

/* Row m of T, and the next column in run->next, not yet of unit length. */
static int step(struct run *run, size_t m) {
  if (base_stop_requested()) return BASE_ERR_STOPPED;
  const size_t d = run->op->dim;
  const double *column = run->blocks[(m - 1) / BLOCK] + d * ((m - 1) % BLOCK);
  run->op->apply(run->op, column, run->next);
  const double alpha = la_dot(d, column, run->next);
  orthogonalise(run, m);
  orthogonalise(run, m); /* twice is enough (Parlett, section 6.9) */
  const double beta = la_norm(d, run->next);
  if (!isfinite(alpha) || !isfinite(beta)) return BASE_ERR_NUMERIC;
  run->diagonal[m - 1] = alpha;
  run->off[m - 1] = beta;
  run->norm = fmax(run->norm, fabs(alpha) + beta + (m > 1 ? run->off[m - 2] : 0));
  return BASE_OK;
}

/* next <- (I - Q Q') next, block by block. */
static void orthogonalise(struct run *run, size_t m) {
  const size_t d = run->op->dim;
  double coefficient[BLOCK];
  for (size_t first = 0; first < m; first += BLOCK) {
    const size_t columns = block_columns(m, first);
    const double *q = run->blocks[first / BLOCK];
    memset(coefficient, 0, sizeof coefficient);
    la_matvec_t_add(d, columns, q, d, run->next, coefficient);
    for (size_t j = 0; j < columns; j++) la_axpy(d, -coefficient[j], q + d * j, run->next);
  }
}

/* vector <- Q s, of unit length. */
static void combine(const struct run *run, size_t m, double *vector) {
  const size_t d = run->op->dim;
  memset(vector, 0, d * sizeof *vector);
  for (size_t j = 0; j < m; j++) la_axpy(d, run->ritz[j], run->blocks[j / BLOCK] + d * (j % BLOCK), vector);
  la_scale(d, 1 / la_norm(d, vector), vector);
}

/* Columns in use of the block that starts at this one, when m are in use. */
static size_t block_columns(size_t m, size_t first) { return m - first < BLOCK ? m - first : BLOCK; }

/* Fixed numbers, uniform on (-1, 1): SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Results are repeatable, and nothing
 * here concerns privacy. */
static void random_vector(uint64_t *seed, size_t n, double *x) {
  for (size_t i = 0; i < n; i++) {
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    x[i] = ldexp((double)(z >> 11) + 0.5, -52) - 1;
  }
}
