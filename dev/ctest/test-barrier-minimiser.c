/* How far the exact minimisers of neighbours are apart. */
#include "fixture.h"
#include "la/la.h"

enum { N = 5, DIM = 3 };

static void none_is_worse(void);
static void worst(void);

void test_barrier_minimiser(void) {
  none_is_worse();
  worst();
}

/* Of these records the first is as it is, or another one, over the bound. */
static double share(const double *row, const double *label, const double *other, double y, double least,
                    enum oracle_neighbours neighbours) {
  double quadratic[DIM] = {least, least, least}, zero[DIM] = {0}, w[2][DIM];
  for (int s = 0; s < 2; s++) {
    double *x = base_alloc(N * DIM, sizeof *x), *labels = base_alloc(N, sizeof *labels);
    memcpy(x, row, N * DIM * sizeof *x);
    memcpy(labels, label, N * sizeof *labels);
    for (size_t j = 0; s && j < DIM; j++) x[j * N] = other[j];
    if (s) labels[0] = y;
    struct fixture f;
    struct strong p;
    fixture_open_rows(&f, "logistic", x, labels, N, DIM, 0, neighbours, 1);
    CHECK(strong_init(oracle_all(f.oracle), quadratic, zero, 0, &p) == BASE_OK);
    CHECK(strong_minimise(oracle_all(f.oracle), &p, w[s]) == BASE_OK);
    fixture_close(&f);
  }
  la_axpy(DIM, -1, w[0], w[1]);
  return la_norm(DIM, w[1]) / fixture_minimiser_change(least, N, neighbours == ORACLE_REPLACE_ONE);
}

/* Random records, opposite ones among them, beside null records or others. */
static void none_is_worse(void) {
  for (int k = 0; k < 48; k++) {
    enum oracle_neighbours neighbours = k % 2 ? ORACLE_REPLACE_ONE : ORACLE_ZERO_OUT;
    double row[N * DIM], label[N], other[DIM];
    for (int i = 0; i < N * DIM; i++) row[i] = 2 * ctest_normal();
    for (int j = 0; j < DIM; j++) other[j] = k % 4 == 1 ? -row[j * N] : 2 * ctest_normal();
    for (int i = 0; i < N; i++) label[i] = i > 0 && k % 3 ? (double)NAN : fixture_sign();
    double y = neighbours == ORACLE_ZERO_OUT ? (double)NAN : k % 4 == 1 ? label[0] : fixture_sign();
    CHECK(share(row, label, other, y, exp(-5 * ctest_uniform()), neighbours) <= 1);
  }
}

/* Beside null records, which bend nothing, with a strong ridge, which keeps slopes near those at zero. */
static void worst(void) {
  const double row[N * DIM] = {1}, label[N] = {1, NAN, NAN, NAN, NAN}, other[DIM] = {-1};
  double found = share(row, label, other, 1, 50, ORACLE_REPLACE_ONE);
  CHECK(found > 0.99 && found <= 1);
  found = share(row, label, other, NAN, 50, ORACLE_ZERO_OUT);
  CHECK(found > 0.9 && found <= 1);
}
