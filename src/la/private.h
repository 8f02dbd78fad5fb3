/* la, inside: LAPACK behind plain C. Callers outside the room use la/la.h. */
#ifndef DPSOSP_LA_PRIVATE_H
#define DPSOSP_LA_PRIVATE_H

#include "la/la.h"

/* Smallest eigenpair of the symmetric d x d matrix h; only its lower triangle is read and it is overwritten. */
int la_dense_min(size_t d, double *h, double *value, double *vector);

/* Smallest eigenpair of the m x m tridiagonal matrix with this diagonal and off-diagonal (m - 1 long). */
int la_tridiagonal_min(size_t m, const double *diagonal, const double *off, double *value, double *vector);

int la_all_finite(size_t n, const double *x);

#endif
