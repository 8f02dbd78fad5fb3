/*
 * Second moments of persons' gradients (proofs: persons): with rows in memory each person's gradients are summed before
 * they are multiplied, whatever the place of the rows; the result is the same for any number of threads. Where a person
 * may have more rows than a block has room for, the products are those of records, by this public limit alone.
 */
#include "persons.h"

static void by_definition(const struct item *item, const struct query *gradient);
static void many_rows(size_t most);
static void allocations(void);

void test_barrier_products(void) {
  static const struct item damped = {&query_products, "logistic", DAMPED, 0};
  static const struct item classes = {&query_class_products, "multinomial", DAMPED, 0};
  static const struct item mapped = {&query_products, "huber", MAPPED, 0};
  static const struct item residual[] = {{&query_residual_products, "squared", WEIGHTED, 0},
                                         {&query_residual_products, "poisson", WEIGHTED, 0}};
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int i = 0; i < 20; i++) {
      by_definition(&damped, &query_gradient);
      by_definition(&classes, &query_gradient);
      by_definition(&mapped, &query_gradient);
      by_definition(&residual[i % 2], &query_residual_gradient);
    }
    many_rows(DATA_BLOCK);
    many_rows(DATA_BLOCK + 1);
  }
  fixture_storage = 0;
  allocations();
}

static void mean_at(const struct item *item, const struct query *q, const struct lists *l, double *answer) {
  struct problem p;
  open_problem(&p, item, l, ORACLE_REPLACE_ONE, 1);
  CHECK(mean_of(oracle_all(p.f.oracle), q, &asked, answer) == BASE_OK);
  close_problem(&p);
}

/* A person's sum is that of data in which all other records are null. */
static void by_definition(const struct item *item, const struct query *gradient) {
  struct lists l = {.weighed = ctest_uniform() < 0.5};
  double found[DIM * DIM], sum[DIM], products[DIM * DIM] = {0};
  int outputs = strcmp(item->loss, "multinomial") == 0 ? K : 1;
  size_t dim = (size_t)outputs * SIDE;
  static const size_t sizes[PERSONS] = {LONGEST - 1, 1, 0, 4, 2, 3, 1};
  for (int i = 0; i < PERSONS; i++) draw_person(&l, item->loss, i + 1, sizes[i]);
  draw_point(outputs);
  scatter(&l);
  mean_at(item, item->query, &l, found);
  for (int i = 1; i <= PERSONS; i++) {
    struct lists own = l;
    for (size_t r = 0; r < l.rows; r++) own.y[r] = l.person[r] == i ? l.y[r] : NAN;
    mean_at(item, gradient, &own, sum);
    for (size_t j = 0; j < dim * dim; j++) products[j] += PERSONS * sum[j / dim] * sum[j % dim];
  }
  for (size_t j = 0; j < dim * dim; j++) CHECK_NEAR(found[j], products[j], 1e-13);
}

/* ---- several blocks ---- */

enum { N = 20000, WHO = 300, COLUMNS = 6, ALL = (COLUMNS + 1) * (COLUMNS + 1) };

/* The slope of the logistic loss times a record's share, for each coefficient. */
static void reference(const struct data *d, const double *x, const int *person, const double *at, int of_persons,
                      double *products) {
  double *sums = base_alloc(WHO * (COLUMNS + 1), sizeof *sums);
  memset(products, 0, ALL * sizeof *products);
  for (size_t i = 0; i < N; i++) {
    if (!(d->clip[i] > 0)) continue;
    double z[COLUMNS + 1] = {d->clip[i]}, t = d->clip[i] * at[0];
    for (size_t j = 0; j < COLUMNS; j++) z[j + 1] = d->clip[i] * x[i + j * N];
    for (size_t j = 0; j < COLUMNS; j++) t += z[j + 1] * at[j + 1];
    double slope = -d->y[i] / (1 + exp(d->y[i] * t)), *sum = sums + (size_t)(person[i] - 1) * (COLUMNS + 1);
    for (size_t j = 0; j <= COLUMNS; j++) sum[j] += d->share[i] * slope * z[j];
    for (size_t j = 0; j < ALL && !of_persons; j++) {
      products[j] += d->share[i] * slope * slope * z[j / (COLUMNS + 1)] * z[j % (COLUMNS + 1)] / WHO;
    }
  }
  for (size_t i = 0; i < WHO && of_persons; i++) {
    const double *sum = sums + i * (COLUMNS + 1);
    for (size_t j = 0; j < ALL; j++) products[j] += sum[j / (COLUMNS + 1)] * sum[j % (COLUMNS + 1)] / WHO;
  }
  base_free(sums);
}

/* most: the limit. Some persons have one row, the last none, one as many as a block. */
static void many_rows(size_t most) {
  struct fixture f;
  double at[COLUMNS + 1] = {0.3, 1, -2, 0.5, 0.1, 3, 0}, found[3][ALL], expected[ALL];
  int *person = base_alloc(N, sizeof *person);
  fixture_open(&f, "logistic", N, COLUMNS, 1, ORACLE_REPLACE_ONE, 1);
  for (size_t i = 0; i < N; i++) {
    person[i] = i < WHO ? 1 + (int)i : i % 3 == 0 && i < 3 * DATA_BLOCK ? 7 : 20 + (int)((WHO - 21) * ctest_uniform());
    if (person[i] == WHO) person[i] = 1;
    if (i % 101 == 0) f.data->y[i] = NAN;
  }
  data_clip(f.data);
  CHECK(oracle_set_persons(f.oracle, person, WHO, most) == BASE_OK);
  for (int k = 0; k < 3; k++) {
    base_limit_threads(1 + k);
    CHECK(sums_products(oracle_all(f.oracle), at, found[k]) == BASE_OK);
    CHECK(memcmp(found[k], found[0], sizeof found[0]) == 0);
  }
  base_limit_threads(64);
  reference(f.data, f.x, person, at, most <= DATA_BLOCK, expected);
  for (size_t j = 0; j < ALL; j++) CHECK_NEAR(found[0][j], expected[j], 1e-13);
  fixture_close(&f);
  base_free(person);
}

/* Without memory there are no persons, and all is freed. */
static void allocations(void) {
  long before = ctest_live_allocations();
  int status = BASE_ERR_MEMORY, failures = 0, person[50];
  for (int i = 0; i < 50; i++) person[i] = 1 + i % 7;
  while (status == BASE_ERR_MEMORY && failures < 100) {
    struct fixture f;
    fixture_open(&f, "logistic", 50, 2, 1, ORACLE_REPLACE_ONE, 1);
    ctest_fail_allocation(failures + 1);
    status = oracle_set_persons(f.oracle, person, 7, 50);
    ctest_fail_allocation(0);
    failures += status == BASE_ERR_MEMORY;
    fixture_close(&f);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK && failures >= 4);
}
