/* Lanczos as a process: a start that misses the answer, steps, tolerance, repeatability, and ends. */
#include "ctest.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

enum { DIM = 400 };
#define LOW (-1.5)

/* y = P diag(-1, 1, ..., 2) P x + LOW v (v' x), P = I - v v': smallest eigenvalue LOW with vector v, then about -1. */
struct probe {
  double v[DIM];
  double start[DIM]; /* the first vector that the operator was applied to */
  int calls;
  int calls_until_bad;
};

static void missed_start(void);
static void tolerance(void);
static void repeatable(void);
static void ends(void);
static void probe_set(struct probe *probe);
static void probe_apply(const struct linop *self, const double *x, double *y);

void test_la_lanczos(void) {
  missed_start();
  tolerance();
  repeatable();
  ends();
}

/* v across the start: the first run converges to about -1 before rounding errors bring v in, and only a second start
 * can find LOW. */
static void missed_start(void) {
  static struct probe probe;
  probe_set(&probe);
  const struct linop op = {DIM, probe_apply, &probe};
  double value, vector[DIM];
  CHECK(la_eigen_min_lanczos(&op, 1e-5, &value, vector) == BASE_OK);
  CHECK_NEAR(value, LOW, 1e-4);
  la_axpy(DIM, -la_dot(DIM, probe.v, probe.start), probe.start, probe.v);
  la_scale(DIM, 1 / la_norm(DIM, probe.v), probe.v);
  CHECK_NEAR(la_dot(DIM, probe.v, probe.start), 0, 1e-15);
  CHECK(la_eigen_min_lanczos(&op, 1e-5, &value, vector) == BASE_OK);
  CHECK_NEAR(value, LOW, 1e-4);
  CHECK_NEAR(fabs(la_dot(DIM, vector, probe.v)), 1, 1e-6);
}

/* The residual obeys the tolerance, and a coarse one costs fewer steps than the dimension. */
static void tolerance(void) {
  static struct probe probe;
  const double tol[3] = {1e-3, 1e-6, 1e-13};
  int calls[3];
  for (int k = 0; k < 3; k++) {
    probe_set(&probe);
    const struct linop op = {DIM, probe_apply, &probe};
    double value, vector[DIM], image[DIM];
    CHECK(la_eigen_min_lanczos(&op, tol[k], &value, vector) == BASE_OK);
    calls[k] = probe.calls;
    probe_apply(&op, vector, image);
    la_axpy(DIM, -value, vector, image);
    CHECK(la_norm(DIM, image) <= tol[k] * 3 * 2 + 1e-12);
  }
  CHECK(calls[0] <= calls[1] && calls[1] <= calls[2] && calls[2] < DIM);
}

static void repeatable(void) {
  static struct probe probe;
  double value[2], vector[2][DIM];
  for (int k = 0; k < 2; k++) {
    ctest_seed(5);
    probe_set(&probe);
    const struct linop op = {DIM, probe_apply, &probe};
    CHECK(la_eigen_min_lanczos(&op, 1e-10, &value[k], vector[k]) == BASE_OK);
  }
  CHECK(value[0] == value[1]);
  CHECK(memcmp(vector[0], vector[1], sizeof vector[0]) == 0);
}

static int always(void) { return 1; }

/* Not a number after some steps, a stop request, a bad argument. */
static void ends(void) {
  static struct probe probe;
  double value, vector[DIM];
  probe_set(&probe);
  probe.calls_until_bad = 7;
  const struct linop op = {DIM, probe_apply, &probe}, empty = {0, probe_apply, &probe};
  CHECK(la_eigen_min_lanczos(&op, 1e-10, &value, vector) == BASE_ERR_NUMERIC);
  CHECK(probe.calls == 7);
  CHECK(la_eigen_min_lanczos(&empty, 1e-10, &value, vector) == BASE_ERR_ARGUMENT);
  CHECK(la_eigen_min_lanczos(&op, NAN, &value, vector) == BASE_ERR_ARGUMENT);
  const struct base_host host = {always, NULL};
  base_set_host(&host);
  CHECK(la_eigen_min_lanczos(&op, 1e-10, &value, vector) == BASE_ERR_STOPPED);
  base_set_host(NULL);
}

static void probe_set(struct probe *probe) {
  memset(probe, 0, sizeof *probe);
  for (size_t i = 0; i < DIM; i++) probe->v[i] = ctest_normal();
  la_scale(DIM, 1 / la_norm(DIM, probe->v), probe->v);
}

static void probe_apply(const struct linop *self, const double *x, double *y) {
  struct probe *probe = (struct probe *)self->context;
  if (probe->calls++ == 0) memcpy(probe->start, x, sizeof probe->start);
  const double along = la_dot(DIM, probe->v, x);
  for (size_t i = 0; i < DIM; i++) y[i] = (i == 0 ? -1 : 1 + (double)i / DIM) * (x[i] - along * probe->v[i]);
  la_axpy(DIM, LOW * along - la_dot(DIM, probe->v, y), probe->v, y);
  if (probe->calls == probe->calls_until_bad) y[3] = NAN;
}
