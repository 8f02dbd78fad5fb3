/*
 * Smallest eigenpairs, by LAPACK and by Lanczos, of matrices whose spectrum is
 * known: closed forms, and diagonals turned by reflections. A unit vector v is
 * right when its Rayleigh quotient is the smallest eigenvalue; where the
 * eigenvalue is isolated v itself is compared, up to its sign.
 */
#include "ctest.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

struct dense {
  const double *h;
};

typedef double spectrum(size_t i, size_t d);

static void known(size_t d, spectrum *eigenvalue, double gap);
static void laplacian(size_t d);
static void goe(size_t d);
static void rank_one(size_t d, double a);
static void check_pair(size_t d, const double *h, const double *w, double smallest, double norm, double gap);
static void check_one(size_t d, const double *h, const double *w, double smallest, double norm, double gap,
                      double value, const double *v);
static void dispatch(void);
static void refusals(void);
static void badly_scaled(void);
static void apply(const struct linop *self, const double *x, double *y);
static void reflect_both(size_t d, double *h, double *w);

static double zero(size_t i, size_t d) { return (void)i, (void)d, 0.0; }
static double identity(size_t i, size_t d) { return (void)i, (void)d, 1.0; }
static double spread(size_t i, size_t d) { return i == 0 ? -2 : (double)i / (double)d; }
static double positive(size_t i, size_t d) { return i == 0 ? 0.01 : 1 + (double)i / (double)d; }
static double twice(size_t i, size_t d) { return i < 2 ? -1 : (double)i / (double)d; }
static double many(size_t i, size_t d) { return i < (d + 1) / 2 ? -1 : 1; }
static double cluster(size_t i, size_t d) { return (void)d, i < 8 ? -1 + 1e-9 * (double)i : 1; }
static double graded(size_t i, size_t d) { return (void)d, i == 0 ? -1 : pow(10, -12.0 * (double)i / (double)d); }
static double needle(size_t i, size_t d) { return (void)d, i == 0 ? 1 - 1e-3 : 1; }
static double tiny(size_t i, size_t d) { return 1e-150 * spread(i, d); }
static double large(size_t i, size_t d) { return 1e150 * spread(i, d); }

void test_la_eigen(void) {
  static const size_t dims[] = {1, 2, 3, 5, 10, 31, 32, 33, 65, 200, 501, 800};
  const size_t count = (size_t)ctest_size(12, 9);
  for (size_t k = 0; k < count; k++) {
    const size_t d = dims[k];
    known(d, zero, 0);
    known(d, identity, 0);
    known(d, spread, 2);
    known(d, positive, 0.99);
    known(d, twice, 0);
    known(d, many, 0);
    known(d, cluster, 0);
    known(d, graded, 1);
    known(d, needle, 1e-3);
    known(d, tiny, 2e-150);
    known(d, large, 2e150);
    rank_one(d, 3);
    rank_one(d, -3);
    laplacian(d);
    goe(d);
  }
  dispatch();
  refusals();
  badly_scaled();
}

/* diag(eigenvalue) turned by two reflections; eigenvalue(0) is the smallest. */
static void known(size_t d, spectrum *eigenvalue, double gap) {
  double *h = base_alloc(d * d, sizeof *h), *w = base_alloc(d, sizeof *w);
  double norm = 0;
  for (size_t i = 0; i < d; i++) {
    h[i + i * d] = eigenvalue(i, d);
    norm = fmax(norm, fabs(h[i + i * d]));
  }
  /* not turned at first: a diagonal matrix */
  w[0] = 1;
  check_pair(d, h, w, eigenvalue(0, d), norm, gap);
  reflect_both(d, h, w);
  reflect_both(d, h, w);
  check_pair(d, h, w, eigenvalue(0, d), norm, gap);
  base_free(w);
  base_free(h);
}

/* Second differences: eigenvalues 2 - 2 cos(pi i / (d + 1)), eigenvectors of sines, the smallest two ever closer. */
static void laplacian(size_t d) {
  double *h = base_alloc(d * d, sizeof *h), *w = base_alloc(d, sizeof *w);
  const double pi = 3.141592653589793, angle = pi / (double)(d + 1);
  for (size_t i = 0; i < d; i++) {
    h[i + i * d] = 2;
    if (i > 0) h[i - 1 + i * d] = h[i + (i - 1) * d] = -1;
    w[i] = sin(angle * (double)(i + 1)) * sqrt(2 / (double)(d + 1));
  }
  check_pair(d, h, w, 4 * pow(sin(angle / 2), 2), 4, 3 * angle * angle / 2);
  base_free(w);
  base_free(h);
}

/* a v v': smallest eigenvalue 0 (any vector across v) or a (v). */
static void rank_one(size_t d, double a) {
  double *h = base_alloc(d * d, sizeof *h), *v = base_alloc(d, sizeof *v);
  for (size_t i = 0; i < d; i++) v[i] = ctest_normal();
  la_scale(d, 1 / la_norm(d, v), v);
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < d; i++) h[i + j * d] = a * v[i] * v[j];
  if (d == 1)
    check_pair(d, h, v, a, fabs(a), fabs(a));
  else
    check_pair(d, h, v, fmin(a, 0), fabs(a), a < 0 ? -a : 0);
  base_free(v);
  base_free(h);
}

/* A Gaussian orthogonal matrix: nothing is known, the two ways must agree, and the trace bounds the value. */
static void goe(size_t d) {
  double *h = base_alloc(d * d, sizeof *h), *v = base_alloc(d, sizeof *v);
  for (size_t j = 0; j < d; j++)
    for (size_t i = j; i < d; i++) h[i + j * d] = ctest_normal() * (i == j ? 1 : sqrt(0.5));
  la_symmetrise(d, h);
  double value = 0, trace = 0;
  CHECK(la_eigen_min_lapack(d, h, &value, v) == BASE_OK);
  for (size_t i = 0; i < d; i++) trace += h[i + i * d];
  CHECK(value <= trace / (double)d + 1e-12);
  check_pair(d, h, v, value, sqrt(2 * (double)d), 0);
  base_free(v);
  base_free(h);
}

/* gap: distance to the next eigenvalue; 0 when w need not be the only answer. */
static void check_pair(size_t d, const double *h, const double *w, double smallest, double norm, double gap) {
  double *copy = base_alloc(d * d, sizeof *copy), *v = base_alloc(d, sizeof *v), value = NAN;
  const struct dense dense = {h};
  const struct linop op = {d, apply, &dense};
  memcpy(copy, h, d * d * sizeof *copy);
  CHECK(la_eigen_min_lapack(d, h, &value, v) == BASE_OK);
  check_one(d, h, w, smallest, norm, gap, value, v);
  memset(v, 0, d * sizeof *v);
  value = NAN;
  CHECK(la_eigen_min_lanczos(&op, 1e-12, &value, v) == BASE_OK);
  check_one(d, h, w, smallest, norm, gap, value, v);
  CHECK(memcmp(copy, h, d * d * sizeof *copy) == 0);
  base_free(v);
  base_free(copy);
}

static void check_one(size_t d, const double *h, const double *w, double smallest, double norm, double gap,
                      double value, const double *v) {
  double *y = base_alloc(d, sizeof *y);
  CHECK_NEAR(value, smallest, 1e-10 * norm);
  CHECK_NEAR(la_norm(d, v), 1, 1e-12);
  la_matvec(d, d, h, d, v, y);
  CHECK_NEAR(la_dot(d, v, y), smallest, 1e-10 * norm);
  la_axpy(d, -value, v, y);
  CHECK(la_norm(d, y) <= 1e-10 * norm);
  /* sin(angle) <= residual / gap */
  if (gap > 0 && d > 1) CHECK_NEAR(fabs(la_dot(d, v, w)), 1, 1e-8 + pow(1e-10 * norm / gap, 2));
  base_free(y);
}

/* Both sides of the limit give the same answer; the matrix of the larger side holds the smaller one. */
static void dispatch(void) {
  const size_t d = LA_DENSE_LIMIT + 1;
  double *h = base_alloc(d * d, sizeof *h), *v = base_alloc(d, sizeof *v), value = 0;
  for (size_t size = d - 1; size <= d; size++) {
    memset(h, 0, d * d * sizeof *h);
    for (size_t i = 0; i < size; i++) h[i + i * size] = i == 7 ? -3 : (double)i;
    CHECK(la_eigen_min(size, h, &value, v) == BASE_OK);
    CHECK_NEAR(value, -3, 1e-9);
    CHECK_NEAR(fabs(v[7]), 1, 1e-12);
  }
  h[5] = NAN;
  CHECK(la_eigen_min(d, h, &value, v) == BASE_ERR_NUMERIC);
  base_free(v);
  base_free(h);
}

static void refusals(void) {
  const double bad[3] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; k++) {
    double h[4] = {1, 0, 0, 1}, v[2], value;
    h[3] = bad[k];
    const struct dense dense = {h};
    const struct linop op = {2, apply, &dense};
    CHECK(la_eigen_min_lapack(2, h, &value, v) == BASE_ERR_NUMERIC);
    CHECK(la_eigen_min(2, h, &value, v) == BASE_ERR_NUMERIC);
    CHECK(la_eigen_min_lanczos(&op, 1e-10, &value, v) == BASE_ERR_NUMERIC);
  }
  double value, v[1];
  CHECK(la_eigen_min(0, v, &value, v) == BASE_ERR_ARGUMENT);
}

/* 370 orders of magnitude between the entries: LAPACK may return a vector of another eigenvalue as if it were right. */
static void badly_scaled(void) {
  double far = 0x1p-291, h[16] = {0x1p-1013, far, 0, 0, far, -0x1.bp+189, 0x1p-320, 0, 0, 0x1p-320}, v[4], value;
  if (la_eigen_min_lapack(4, h, &value, v) == BASE_OK) {
    CHECK_NEAR(value, -0x1.bp+189, 1e45);
    CHECK_NEAR(fabs(v[1]), 1, 1e-9);
  }
}

static void apply(const struct linop *self, const double *x, double *y) {
  const struct dense *dense = self->context;
  la_matvec(self->dim, self->dim, dense->h, self->dim, x, y);
}

/* h <- P h P, w <- P w with P = I - 2 u u' and a random unit vector u. */
static void reflect_both(size_t d, double *h, double *w) {
  double *u = base_alloc(d, sizeof *u), *hu = base_alloc(d, sizeof *hu);
  for (size_t i = 0; i < d; i++) u[i] = ctest_normal();
  la_scale(d, 1 / la_norm(d, u), u);
  la_matvec(d, d, h, d, u, hu);
  la_axpy(d, -la_dot(d, u, hu), u, hu); /* P h P = h - 2 (u r' + r u'), r = h u - (u' h u) u */
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < d; i++) h[i + j * d] -= 2 * (u[i] * hu[j] + hu[i] * u[j]);
  la_axpy(d, -2 * la_dot(d, u, w), u, w);
  base_free(hu);
  base_free(u);
}
