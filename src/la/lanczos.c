/*
 * Smallest eigenpair of a symmetric operator by the Lanczos process with full
 * reorthogonalisation (B. N. Parlett, The Symmetric Eigenvalue Problem, SIAM
 * 1998, ch. 13). After m steps the operator is the tridiagonal T on the basis
 * Q; the smallest eigenpair (theta, s) of T gives the Ritz pair (theta, Q s),
 * whose residual norm is beta_m |s_m|.
 *
 * A small residual shows that theta is near an eigenvalue, not that this is the
 * smallest one: a start (nearly) orthogonal to the wanted eigenvector misses
 * it, and so does an invariant subspace that does not contain it. Therefore a
 * result is accepted only when a second run, from an independent start, finds
 * nothing smaller. A random start has a component of order 1 / sqrt(d) along
 * any fixed vector (J. Kuczynski, H. Wozniakowski, SIAM J. Matrix Anal. Appl.
 * 13, 1992), so two such misses have a negligible probability. A run of d
 * steps spans the whole space and needs no second one.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la/private.h"

static int run_to_convergence(struct krylov *run, double tol, uint64_t *seed, double *value, double *vector,
                              int *complete);
static void random_vector(uint64_t *seed, size_t n, double *x);

int la_eigen_min_lanczos(const struct linop *op, double tol, double *value, double *vector) {
  if (op->dim == 0 || !(tol >= 0)) return BASE_ERR_ARGUMENT;
  double *candidate = base_alloc(op->dim, sizeof *candidate);
  if (!candidate) return BASE_ERR_MEMORY;
  uint64_t seed = 1;
  double smallest = INFINITY;
  int status, again;
  do {
    struct krylov run;
    double theta = 0;
    int complete = 0;
    status = krylov_create(&run, op, NULL);
    if (status == BASE_OK) status = run_to_convergence(&run, tol, &seed, &theta, candidate, &complete);
    again = status == BASE_OK && !complete && theta < smallest - fmax(tol, DBL_EPSILON) * run.norm;
    if (status == BASE_OK && theta < smallest) {
      smallest = theta;
      memcpy(vector, candidate, op->dim * sizeof *vector);
    }
    krylov_free(&run);
  } while (again);
  base_free(candidate);
  if (status == BASE_OK) *value = smallest;
  return status;
}

/* complete: the basis spans the whole space. */
static int run_to_convergence(struct krylov *run, double tol, uint64_t *seed, double *value, double *vector,
                              int *complete) {
  const size_t d = run->op->dim;
  double *ritz = base_alloc(d, sizeof *ritz); /* smallest eigenvector of T */
  int status = ritz ? BASE_OK : BASE_ERR_MEMORY, converged = 0;
  random_vector(seed, d, run->next);
  while (status == BASE_OK && !converged) {
    status = krylov_extend(run);
    if (status != BASE_OK) break;
    const size_t m = run->columns;
    *complete = krylov_complete(run);
    const int last = *complete || krylov_invariant(run);
    if (!last && m % KRYLOV_CHECK != 0) continue;
    status = la_tridiagonal_min(m, run->diagonal, run->off, value, ritz);
    converged = last || run->off[m - 1] * fabs(ritz[m - 1]) <= tol * run->norm;
  }
  if (status == BASE_OK) {
    krylov_combine(run, ritz, vector);
    la_scale(d, 1 / la_norm(d, vector), vector);
  }
  base_free(ritz);
  return status;
}

/* Fixed numbers, uniform on (-1, 1): SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Results are reproducible; these
 * numbers have nothing to do with privacy. */
static void random_vector(uint64_t *seed, size_t n, double *x) {
  for (size_t i = 0; i < n; i++) {
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    x[i] = ldexp((double)(z >> 11) + 0.5, -52) - 1;
  }
}
