/*
 * la: linear algebra. la/blas.c is the only file that names BLAS or LAPACK.
 * Matrices are column-major.
 */
#ifndef DPSOSP_LA_H
#define DPSOSP_LA_H

#include "base/base.h"

double la_dot(size_t n, const double *x, const double *y);
double la_norm(size_t n, const double *x);
/* y <- y + a x */
void la_axpy(size_t n, double a, const double *x, double *y);
void la_scale(size_t n, double a, double *x);

/* y <- A x, and y <- y + A' x; A has m rows, n columns, leading dimension lda. */
void la_matvec(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y);
/* The same for a tile of rows that will be read again. Like la_matvec_t_add() it prefetches the next tile. */
void la_matvec_tile(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y);
void la_matvec_t_add(size_t m, size_t n, const double *a, size_t lda, const double *x, double *y);
/* Y <- A X, and Y <- Y + A' X, with k columns, for tiles of rows. The columns of m numbers are contiguous. */
void la_multiply(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *x, size_t ldx,
                 double *restrict y);
void la_multiply_t_add(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *x, double *y,
                       size_t ldy);
/* lower triangle of C (n x n, leading dimension ldc) <- C + A' diag(u v) A; A has m rows; scratch: 4 m doubles. The
 * left factor is u (v a), so that u v may underflow as long as v a does not. */
void la_crossprod_add(size_t m, size_t n, const double *a, size_t lda, const double *u, const double *v,
                      double *scratch, double *c, size_t ldc);
/* C <- C + sum_k x_k y_k', C with m rows, n columns, leading dimension ldc; the m numbers of x_k are at x + k ldx, the
 * n of y_k at y + k step_k + j step_n. Each row of C is computed by the same operations, whatever the other rows are;
 * therefore x is read up to the next multiple of LA_LANES. */
#define LA_LANES 8
void la_lanes_add(size_t m, size_t n, size_t depth, const double *x, size_t ldx, const double *y, size_t step_k,
                  size_t step_n, double *c, size_t ldc);
/* copies the lower triangle to the upper one */
void la_symmetrise(size_t n, double *c);

/* x <- A^-1 x for the symmetric positive definite d x d matrix A, by Cholesky; its lower triangle is read and
 * overwritten with the factor. */
int la_solve_definite(size_t d, double *a, double *x);
/* The same for A with its eigenvalues e, which are nonnegative up to rounding, raised to h(e) between max(e, least) and
 * 8/7 of that; least may be zero where A is definite. The number of operations depends on d alone (clip.c). */
int la_solve_clipped(size_t d, double *a, double least, double *x);
/* All eigenvalues of the symmetric d x d matrix A in ascending order; its lower triangle is read and A is overwritten
 * with the eigenvectors, one in each column. */
int la_eigen_all(size_t d, double *a, double *values);
/* The same, several times faster for large d by another driver of LAPACK; for matrices that were released. */
int la_eigen_released(size_t d, double *a, double *values);

/* A symmetric linear operator: y <- A x. */
struct linop {
  size_t dim;
  void (*apply)(const struct linop *self, const double *x, double *y);
  const void *context;
};

/* Smallest eigenvalue and a unit eigenvector of the symmetric d x d matrix h
 * (left unchanged): LAPACK for d <= LA_DENSE_LIMIT, Lanczos above it. */
#define LA_DENSE_LIMIT 500
int la_eigen_min(size_t d, const double *h, double *value, double *vector);
int la_eigen_min_lapack(size_t d, const double *h, double *value, double *vector);
/* Lanczos with full reorthogonalisation, until the residual is below
 * tol times the operator's norm. */
int la_eigen_min_lanczos(const struct linop *op, double tol, double *value, double *vector);

/* The global minimum of g's + s'Hs / 2 over |s| <= radius, for any symmetric H (h is left unchanged), with its
 * dual variable: (H + dual I) step = -g, H + dual I positive semidefinite, dual (|step| - radius) = 0; and
 * H's smallest eigenvalue. An eigen-decomposition for d <= LA_DENSE_LIMIT, Lanczos above it. */
int la_trust_region(size_t d, const double *h, const double *g, double radius, double *step, double *dual,
                    double *eigen_min);
/* The global minimum of g's + s'Hs / 2 + (third / 6) |s|^3, third > 0; by an eigen-decomposition. */
int la_cubic(size_t d, const double *h, const double *g, double third, double *step, double *dual, double *eigen_min);
int la_trust_region_lanczos(const struct linop *op, const double *g, double radius, double *step, double *dual,
                            double *eigen_min);

#endif
