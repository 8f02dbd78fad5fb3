/* la, inside: LAPACK behind plain C. Callers outside the room use la/la.h. */
#ifndef DPSOSP_LA_PRIVATE_H
#define DPSOSP_LA_PRIVATE_H

#include "la/la.h"

/* Smallest eigenpair of the symmetric d x d matrix h; only its lower triangle is read and it is overwritten. */
int la_dense_min(size_t d, double *h, double *value, double *vector);

/* Smallest eigenpair of the m x m tridiagonal matrix with this diagonal and off-diagonal (m - 1 long). */
int la_tridiagonal_min(size_t m, const double *diagonal, const double *off, double *value, double *vector);

/* All eigenpairs, values in ascending order, column i of vectors belonging to values[i]; h as in la_dense_min. */
int la_dense_all(size_t d, double *h, double *values, double *vectors);
int la_tridiagonal_all(size_t m, const double *diagonal, const double *off, double *values, double *vectors);

/* ---- matrix.c ---- */

/* The linop of a dense symmetric matrix, which is its context. */
void la_dense_apply(const struct linop *self, const double *x, double *y);
int la_all_finite(size_t n, const double *x);

/* ---- krylov.c ---- */

#define KRYLOV_CHECK 10 /* number of columns between two convergence checks */

struct krylov {
  const struct linop *op;
  const double *across; /* NULL, or a unit eigenvector to which the start and the basis are orthogonal */
  size_t columns;
  double **blocks;  /* the basis, several columns in a block */
  double *diagonal; /* of T, the operator on the basis */
  double *off;      /* of T; the last one is the coupling to the next column */
  double *next;     /* before the first step: the start; then the next column, not of unit length */
  double norm;      /* estimate of the operator's norm: that of T by rows */
};
/* To be freed also when its creation failed. */
int krylov_create(struct krylov *k, const struct linop *op, const double *across);
void krylov_free(struct krylov *k);
/* Adds a column. */
int krylov_extend(struct krylov *k);
/* Is the span of the basis invariant under the operator? */
int krylov_invariant(const struct krylov *k);
/* Does the basis span the whole space? */
int krylov_complete(const struct krylov *k);
/* vector <- basis times coefficients */
void krylov_combine(const struct krylov *k, const double *coefficient, double *vector);

#endif
