/*
 * The fraction of usable records, by its own query and as a coordinate of the moments: known values, in all storages
 * and coordinates, and what one record changes (proofs: sensitivity-usable, sensitivity-moments).
 */
#include "fixture.h"

enum { P = 3, N = 2500, NULLS = 40 };

static void open_with_nulls(struct fixture *f, enum oracle_neighbours neighbours, int nulls) {
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y);
  for (size_t i = 0; i < N * P; i++) x[i] = 0.1 * ctest_normal();
  for (size_t i = 0; i < N; i++) y[i] = i % 2 ? 1 : -1;
  for (int k = 0; k < nulls; k++) { /* by their columns, by their responses */
    if (k % 2) {
      y[61 * k + 3] = NAN;
    } else {
      x[61 * k] = k % 4 ? NAN : INFINITY;
    }
  }
  fixture_open_rows(f, "logistic", x, y, N, P, 1, neighbours, 10);
}

static double usable(const struct fixture *f) {
  double fraction;
  CHECK(mean_of(oracle_all(f->oracle), &query_usable, &(struct ask){0}, &fraction) == BASE_OK);
  return fraction;
}

static void counts(enum oracle_neighbours neighbours) {
  static const int nulls[] = {0, NULLS - 1, NULLS};
  double fraction[3], moments[2 * P + 1], most[P] = {1, 1, 1}, sensitivity = 0;
  for (int k = 0; k < 3; k++) {
    struct fixture f;
    open_with_nulls(&f, neighbours, nulls[k]);
    fraction[k] = usable(&f);
    CHECK_NEAR(fraction[k], 1 - (double)nulls[k] / N, 1e-15);
    CHECK(sums_moments(oracle_all(f.oracle), most, moments) == BASE_OK);
    double r_0 = 1 / f.data->radius; /* of a row that is not clipped */
    if (f.data->radius > 1.5) CHECK_NEAR(moments[2 * P], fraction[k] * r_0, 1e-12);
    CHECK(moments[2 * P] <= fraction[k] * r_0 && moments[2 * P] > 0.9 * fraction[k] * r_0);
    sensitivity = query_usable.sensitivity(oracle_all(f.oracle), &(struct ask){0}, 0);
    fixture_close(&f);
  }
  CHECK(fraction[1] - fraction[2] <= sensitivity);
  CHECK(sensitivity >= 1.0 / N && sensitivity <= (1 + 1e-8) / N); /* more is for rounding */
}

static void in_coordinates(int weighted) {
  struct fixture f;
  struct fixture_coordinates c;
  open_with_nulls(&f, ORACLE_REPLACE_ONE, NULLS);
  CHECK(fixture_coordinates(f.data, 1, weighted, 1, 0.5, &c) == BASE_OK);
  CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
  CHECK_NEAR(usable(&f), 1 - (double)NULLS / N, 1e-15);
  fixture_close(&f);
  coordinates_free(c.made);
}

/* The noise has the standard deviation of the ledger. */
static void noise(void) {
  struct fixture f;
  double value, sd, sum = 0, square = 0, rho = 1e-4;
  int times = ctest_size(600, 100);
  open_with_nulls(&f, ORACLE_REPLACE_ONE, NULLS);
  for (int i = 0; i < times; i++) {
    CHECK(oracle_usable(f.oracle, rho, &value, &sd) == BASE_OK);
    double z = (value - 1 + (double)NULLS / N) / sd;
    sum += z;
    square += z * z;
  }
  const struct ledger_entry *last = ledger_at(f.ledger, ledger_length(f.ledger) - 1);
  CHECK(strcmp(last->what, "usable records") == 0 && last->scale == sd && last->rho == rho);
  CHECK(sd >= 1 / (N * sqrt(2 * rho)));
  CHECK_NEAR(sum / sqrt(times), 0, 4.5);
  CHECK_NEAR(square / times, 1, 5 * sqrt(2.0 / times));
  fixture_close(&f);
}

void test_barrier_usable(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    ctest_seed(1);
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) counts(neighbours);
    in_coordinates(0);
    in_coordinates(1);
  }
  fixture_storage = 0;
  noise();
}
