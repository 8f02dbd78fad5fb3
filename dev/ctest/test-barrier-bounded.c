/* The logistic loss with a bounded slope at the barrier: no pair of neighbours moves a sum by more than its
 * sensitivity, and opposite rows with large margins move the gradient by all of it. */
#include "fixture.h"

enum { N = 5, P = 2 };

static struct loss *loss;
static enum oracle_neighbours relation;

struct exact {
  double value, gradient[P], hessian[P * P];
};

/* Sums of rows that differ in the first record only, and their sensitivities. */
static struct exact answers(const double *first, double y_first, const double *w, struct exact *sensitivity) {
  double x[N * P], y[N];
  struct exact a = {0};
  struct data *d = NULL;
  for (size_t i = 0; i < N; i++) {
    y[i] = i == 0 ? y_first : 1;
    for (size_t j = 0; j < P; j++) x[i + j * N] = i == 0 ? first[j] : 0.1 * (double)(i + j);
  }
  CHECK(data_create(x, N, P, 0, 1, y, &d) == BASE_OK);
  struct oracle o = {.engine = engine_memory(d), .model = model_linear(d, loss), .neighbours = relation};
  o.all.oracle = &o;
  CHECK(sums_value(&o.all, w, &a.value) == BASE_OK);
  CHECK(sums_gradient(&o.all, w, a.gradient) == BASE_OK);
  CHECK(sums_hessian(&o.all, w, a.hessian) == BASE_OK);
  sensitivity->value = sensitivity_value(&o.all, w);
  sensitivity->gradient[0] = sensitivity_gradient(&o.all, w);
  sensitivity->hessian[0] = sensitivity_hessian(&o.all, w);
  data_free(d);
  return a;
}

static double distance(size_t n, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum = hypot(sum, a[i] - b[i]);
  return sum;
}

/* The change of the gradient over its sensitivity, once no change is above. */
static double change(const double *one, const double *other, double y, const double *w) {
  struct exact sensitivity;
  struct exact a = answers(one, 1, w, &sensitivity);
  struct exact b = answers(other, relation == ORACLE_ZERO_OUT ? NAN : y, w, &sensitivity);
  CHECK(fabs(a.value - b.value) <= sensitivity.value);
  CHECK(distance(P, a.gradient, b.gradient) <= sensitivity.gradient[0]);
  CHECK(distance(P * P, a.hessian, b.hessian) <= sensitivity.hessian[0]);
  return distance(P, a.gradient, b.gradient) / sensitivity.gradient[0];
}

void test_barrier_bounded(void) {
  static const double slopes[] = {0.51, 0.75, 0.99}, far[] = {-1e4, 0}, up[] = {0.01, 1}, down[] = {0.01, -1};
  for (int k = 0; k < 6; k++) {
    relation = k % 2 ? ORACLE_ZERO_OUT : ORACLE_REPLACE_ONE;
    if (loss_create("bounded_logistic", slopes[k / 2], &loss) != BASE_OK) CHECK(0);
    CHECK_NEAR(change(up, down, 1, far), 1, 1e-3);
    for (int i = 0; i < ctest_size(2000, 100); i++) {
      double one[P], other[P], w[P], size = exp(6 * ctest_uniform() - 2);
      for (int j = 0; j < P; j++) {
        one[j] = 2 * ctest_normal();
        other[j] = 2 * ctest_normal();
        w[j] = size * ctest_normal();
      }
      change(one, other, fixture_sign(), w);
    }
    loss_free(loss);
  }
}
