/*
 * x <- h(A)^-1 x for a symmetric matrix A without negative eigenvalues, where h is nearly max(t, m), in a number of
 * operations that depends on the dimension alone: A may be un-noised, and the time must not reveal it.
 *
 *   h(t) = S_K(t) / S_(K-1)(t),  S_k(t) = sum_(j<=k) t^j m^(k-j),  K = 7.
 *
 * S_K = m S_(K-1) + t^K = t S_(K-1) + m^K, so h >= max(t, m), 0 <= h' <= 1, and h <= (1 + 1 / K) max(t, m), which it
 * reaches at t = m. K = 1 would be t + m; the larger K, the steeper 1 / h: its slope stays below 0.47 / m^2
 * (proofs: sensitivity-direction), and as h' <= 1 below 1 / t^2. As S_k = (t^(k+1) - m^(k+1)) / (t - m), with w_j the
 * K + 1 roots of one
 *
 *   1 / h(t) = 1 / (K + 1) sum_j (1 - w_j) / (t - m w_j),
 *
 * a sum of solutions of shifted systems, computed here with a tridiagonal T = Q'AQ.
 *
 * Rounding, with u = 2^-53 and N a bound on the Frobenius norm of A and on m: T belongs to a matrix within
 * (10 d^2 + 100 d) u N of A; a reflection costs about (4 n + 60) u N, and 12 n u N for its vector. Applied to x,
 * reflections cost (4 d^2 + 20 d) u |x|. Elimination without pivoting is stable: the values t - m w_j, t >= 0, lie in a
 * sector of half angle a = (pi - theta_j) / 2, so that T - m w_j = e^(ib) H^(1/2) (I + iM) H^(1/2), H > 0,
 * |M| <= tan a. The k-th pivot D is e_k'B v for its leading block B and the v with B v = D e_k, v_k = 1; also D = v*B
 * v, so |D| <= (1 / cos a) sqrt(h_kk) sqrt(v*H v) <= (1 / cos a) sqrt(h_kk |D|), and |D| <= h_kk / cos^2 a < 7 N, or 11
 * N where rounding leaves eigenvalues of -m / 4. With such bounds on the entries of L and U, each solution belongs to a
 * system within about 32 (2 * 11 + 3) u N, and no pole is nearer to the real axis than max(t, m) sin theta_j: the total
 * error is at most 1000 u N / m^2. Numbers below TINY are set to zero, because their squares would underflow.
 */
#include "la/la.h"

#include "base/simd.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define TINY 1e-140
#define HALF 0.70710678118654752440 /* sqrt(1 / 2) */

/* The eighth roots of one above the real axis, and -1, which has no conjugate; twice (1 - w) / (K + 1). */
enum { POLES = 4 };
static const double root[POLES][2] = {{HALF, HALF}, {0, 1}, {-HALF, HALF}, {-1, 0}};
static const double weight[POLES][2] = {
    {(1 - HALF) / 4, -HALF / 4}, {0.25, -0.25}, {(1 + HALF) / 4, -HALF / 4}, {0.25, 0}};

static double reflector(size_t n, double *v);
static void reflect(size_t n, const double *v, double *x);
static void reflect_matrix(size_t n, const double *v, size_t lda, double *a, double *scratch);
static void solve_shifted(size_t d, const double *diagonal, const double *off, double complex shift, const double *x,
                          double complex *pivot, double complex *y);

int la_solve_clipped(size_t d, double *a, double least, double *x) {
  if (d == 0) return BASE_ERR_ARGUMENT;
  size_t bytes = d * (3 * sizeof(double) + 2 * sizeof(double complex));
  double complex *pivot = base_alloc(1, bytes);
  if (!pivot) return BASE_ERR_MEMORY;
  double complex *y = pivot + d;
  double *diagonal = (double *)(y + d), *off = diagonal + d, *sum = off + d;
  for (size_t k = 0; k < d; k++) {
    double *below = a + k + 1 + k * d;
    size_t n = d - k - 1;
    diagonal[k] = a[k + k * d];
    off[k] = n == 1 ? *below : 0;
    if (n < 2) continue;
    off[k] = reflector(n, below);
    reflect_matrix(n, below, d, below + d, sum);
    reflect(n, below, x + k + 1);
  }
  memset(sum, 0, d * sizeof(double));
  for (size_t j = 0; j < POLES; j++) {
    solve_shifted(d, diagonal, off, least * (root[j][0] + root[j][1] * I), x, pivot, y);
    for (size_t k = 0; k < d; k++) sum[k] += weight[j][0] * creal(y[k]) - weight[j][1] * cimag(y[k]);
  }
  memcpy(x, sum, d * sizeof(double));
  for (size_t k = d - 1; k-- > 0;) {
    if (d - k - 1 >= 2) reflect(d - k - 1, a + k + 1 + k * d, x + k + 1);
  }
  memset(pivot, 0, bytes); /* a may be un-noised, so no copy may stay in memory */
  base_free(pivot);
  return BASE_OK;
}

/* Replaces v by the v of norm sqrt(2) for which (I - v v') maps the old v to a multiple of the first axis; returns the
 * multiple. */
SIMD_CLONES static double reflector(size_t n, double *v) {
  double squares = 0;
  SIMD_SUM(squares)
  for (size_t i = 0; i < n; i++) squares += v[i] * v[i];
  double norm = sqrt(squares), first = v[0], place = -copysign(norm, first);
  v[0] = first - place;
  double scale = norm > TINY ? 1 / sqrt(norm * fabs(v[0])) : 0;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) v[i] *= scale;
  return place;
}

SIMD_CLONES static void reflect(size_t n, const double *v, double *x) {
  double along = 0;
  SIMD_SUM(along)
  for (size_t i = 0; i < n; i++) along += v[i] * x[i];
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) x[i] -= along * v[i];
}

/* (I - v v') A (I - v v') = A - v p' - p v', p = A v - (v'A v / 2) v; lower triangle. */
SIMD_CLONES static void reflect_matrix(size_t n, const double *v, size_t lda, double *a, double *p) {
  memset(p, 0, n * sizeof(double));
  for (size_t j = 0; j < n; j++) {
    const double *column = a + j * lda, vj = v[j];
    double sum = 0;
    SIMD_SUM(sum)
    for (size_t i = j + 1; i < n; i++) {
      sum += column[i] * v[i];
      p[i] += column[i] * vj;
    }
    p[j] += sum + column[j] * vj;
  }
  double half = 0;
  SIMD_SUM(half)
  for (size_t i = 0; i < n; i++) half += v[i] * p[i] / 2;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) p[i] -= half * v[i];
  for (size_t j = 0; j < n; j++) {
    double *column = a + j * lda;
    const double vj = v[j], pj = p[j];
    SIMD_LOOP
    for (size_t i = j; i < n; i++) column[i] -= v[i] * pj + p[i] * vj;
  }
}

/* y <- (T - shift I)^-1 x */
static void solve_shifted(size_t d, const double *diagonal, const double *off, double complex shift, const double *x,
                          double complex *pivot, double complex *y) {
  pivot[0] = diagonal[0] - shift;
  y[0] = x[0];
  for (size_t k = 1; k < d; k++) {
    double complex factor = off[k - 1] / pivot[k - 1];
    pivot[k] = diagonal[k] - shift - factor * off[k - 1];
    y[k] = x[k] - factor * y[k - 1];
  }
  y[d - 1] /= pivot[d - 1];
  for (size_t k = d - 1; k-- > 0;) y[k] = (y[k] - off[k] * y[k + 1]) / pivot[k];
}
