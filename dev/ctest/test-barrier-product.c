/* Products with the Hessian of an epoch's first leaf: what they are, what a record moves them by, what they cost. */
#include "fixture.h"
#include "la/la.h"
#include "statistics.h"

#include <sys/wait.h>
#include <unistd.h>

enum { N = 200, P = 3, PRODUCTS = 4 };
static const struct epoch simple = {
    .records = 50, .leaves = 2, .factor = FACTOR_TREE, .curvature_share = 0.3, .products = PRODUCTS};

static void products_are_that(int moved);
static void paid_out_of_the_share(enum oracle_neighbours neighbours);
static void refusals(void);
static void neighbours_move(enum oracle_neighbours neighbours);
static void worst_neighbours(void);
static void noise_is_that(void);
static void forked(void);

void test_barrier_product(void) {
  products_are_that(0);
  products_are_that(1);
  paid_out_of_the_share(ORACLE_REPLACE_ONE);
  paid_out_of_the_share(ORACLE_ZERO_OUT);
  refusals();
  neighbours_move(ORACLE_REPLACE_ONE);
  neighbours_move(ORACLE_ZERO_OUT);
  worst_neighbours();
  noise_is_that();
  forked();
}

/* Hardly any noise: the Hessian of the leaf's records, by its definition, times v; a leaf behind changes nothing. */
static void products_are_that(int moved) {
  struct fixture f;
  struct fixture_coordinates c = {.made = NULL};
  double w[P + 1] = {0.3, -0.2, 0.5, 0.1}, v[P + 1], g[P + 1], h[(P + 1) * (P + 1)], product[P + 1], want[P + 1], sd;
  struct epoch_sd both;
  fixture_open(&f, "sigmoid", N, P, 1, ORACLE_REPLACE_ONE, 1e12);
  struct oracle *o = f.oracle;
  if (moved) {
    CHECK(fixture_coordinates(f.data, 1, 0, 1, 1, &c) == BASE_OK);
    CHECK(oracle_move(o, c.made) == BASE_OK);
  }
  CHECK(fresh_open(o, 1e12) == BASE_OK);
  CHECK(epoch_open(o, &simple, w, g, NULL, &both) == BASE_OK);
  const struct batch batch = {.count = 50, .row = o->fresh->order, .size = 50};
  const struct scope s = {.oracle = o, .of = &batch};
  CHECK(sums_hessian(&s, w, h) == BASE_OK);
  for (int k = 0; k < PRODUCTS; k++) {
    for (size_t j = 0; j <= P; j++) v[j] = exp(k) * ctest_normal();
    la_matvec(P + 1, P + 1, h, P + 1, v, want);
    CHECK(epoch_product(o, v, product, &sd) == BASE_OK);
    for (size_t j = 0; j <= P; j++) CHECK_NEAR(product[j], want[j], 1e-5);
    w[0] += 0.01;
    if (k == 1) CHECK(epoch_leaf(o, w, 50, g, &sd) == BASE_OK);
  }
  fixture_close(&f);
  coordinates_free(c.made);
}

/* Of one record: the squares of the gradient's mu and of the products', whatever their vectors, add up to the cost. */
static void paid_out_of_the_share(enum oracle_neighbours neighbours) {
  struct fixture f;
  double w[P] = {0.2}, v[P] = {0, 0.5, 0}, g[P], product[P], sd, square = 0;
  struct epoch_sd both;
  fixture_open(&f, "sigmoid", N, P, 0, neighbours, 1);
  struct oracle *o = f.oracle;
  CHECK(fresh_open(o, 0.4) == BASE_OK);
  double terms = neighbours == ORACLE_REPLACE_ONE ? 2 : 1, q = 1 / (1 + exp(0.2)), b = q * (1 - q) * (1 - 2 * q);
  for (int epoch = 0; epoch < 2; epoch++) {
    CHECK(epoch_open(o, &simple, w, g, NULL, &both) == BASE_OK);
    square = pow(terms * 0.25 / 50 * sqrt(2) / both.gradient, 2);
    for (int k = 0; k < PRODUCTS; k++) {
      v[0] = k;
      CHECK(epoch_product(o, v, product, &sd) == BASE_OK);
      square += pow(terms * b / 50 * la_norm(P, v) / sd, 2);
    }
    CHECK_NEAR(square / 2, 0.4, 1e-6);
    CHECK(epoch_product(o, v, product, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(P, product));
  }
  CHECK(ledger_length(f.ledger) == 1 && ledger_spent(f.ledger) == 0.4 && fresh_left(o) == N - 100);
  fixture_close(&f);
}

static void refusals(void) {
  struct fixture f;
  double w[P] = {0}, v[P] = {1}, g[P], h[P * P], product[P], sd;
  struct epoch_sd both;
  struct epoch how = simple;
  fixture_open(&f, "sigmoid", N, P, 0, ORACLE_REPLACE_ONE, 1);
  struct oracle *o = f.oracle;
  CHECK(epoch_product(o, v, product, &sd) == BASE_ERR_ARGUMENT);
  CHECK(fresh_open(o, 0.5) == BASE_OK);
  CHECK(epoch_product(o, v, product, &sd) == BASE_ERR_ARGUMENT);
  CHECK(epoch_open(o, &simple, w, g, h, &both) == BASE_ERR_ARGUMENT); /* it is not released as well */
  how.curvature_share = 0;
  CHECK(epoch_open(o, &how, w, g, NULL, &both) == BASE_ERR_ARGUMENT && fresh_left(o) == N);
  how = (struct epoch){.records = 50, .leaves = 2, .curvature_share = 0.3};
  CHECK(epoch_open(o, &how, w, g, h, &both) == BASE_OK);
  CHECK(epoch_product(o, v, product, &sd) == BASE_ERR_ARGUMENT);
  CHECK(epoch_open(o, &simple, w, g, NULL, &both) == BASE_OK);
  v[0] = 1e200;
  CHECK(epoch_product(o, v, product, &sd) == BASE_ERR_ARGUMENT);
  v[0] = NAN;
  CHECK(epoch_product(o, v, product, &sd) == BASE_ERR_ARGUMENT && o->fresh->epoch.products == 0);
  fixture_close(&f);
  /* where second derivatives jump */
  fixture_open(&f, "huber_svm", N, P, 0, ORACLE_REPLACE_ONE, 1);
  v[0] = 1;
  CHECK(fresh_open(f.oracle, 0.5) == BASE_OK);
  CHECK(epoch_open(f.oracle, &simple, w, g, NULL, &both) == BASE_OK);
  CHECK(epoch_product(f.oracle, v, product, &sd) != BASE_OK && fixture_all_zero(P, product));
  fixture_close(&f);
}

/* ---- neighbours: two records of the same leaf, the others alike; p = 2 ---- */

static double share(enum oracle_neighbours neighbours, const double *row, const double *y, double at, const double *v) {
  double answer[2][2], sensitivity = 0;
  const double w[2] = {at, 0};
  for (int k = 0; k < 2; k++) {
    struct fixture f;
    double *x = base_alloc(6, sizeof *x), *labels = base_alloc(3, sizeof *labels), g[2];
    const double rows[6] = {row[2 * k], 0.3, -0.5, row[2 * k + 1], 0.4, 0.5}, responses[3] = {y[k], 1, -1};
    const struct epoch how = {.records = 3, .leaves = 1, .curvature_share = 0.5, .products = 1};
    struct epoch_sd both;
    memcpy(x, rows, sizeof rows);
    memcpy(labels, responses, sizeof responses);
    fixture_open_rows(&f, "sigmoid", x, labels, 3, 2, 0, neighbours, 1);
    CHECK(fresh_open(f.oracle, 1) == BASE_OK && epoch_open(f.oracle, &how, w, g, NULL, &both) == BASE_OK);
    const struct batch batch = {.count = 3, .size = 3};
    const struct scope s = fresh_scope(f.oracle, &batch);
    la_matvec(2, 2, f.oracle->fresh->epoch.hessian, 2, v, answer[k]);
    sensitivity = sensitivity_product(&s, f.oracle->fresh->epoch.start, v);
    fixture_close(&f);
  }
  return hypot(answer[0][0] - answer[1][0], answer[0][1] - answer[1][1]) / sensitivity;
}

static void neighbours_move(enum oracle_neighbours neighbours) {
  double worst = 0;
  for (int i = 0; i < ctest_size(1000, 100); i++) {
    double row[4], v[2], y[2] = {fixture_sign(), fixture_sign()};
    for (int j = 0; j < 4; j++) row[j] = 2 * ctest_normal();
    for (int j = 0; j < 2; j++) v[j] = exp(i % 7 - 3) * ctest_normal();
    if (neighbours == ORACLE_ZERO_OUT) y[1] = NAN;
    worst = fmax(worst, share(neighbours, row, y, 2 * ctest_normal(), v));
  }
  CHECK(worst > 0.5 && worst <= 1);
}

/* The same row with both responses along w, so that the curvatures are of opposite signs: the largest that there are,
 * and the largest that there are at a shorter w. */
static void worst_neighbours(void) {
  const double row[4] = {1, 0, 1, 0}, y[2] = {1, -1}, v[2] = {7, 0}, at[2] = {1.317, 0.2};
  for (int k = 0; k < 2; k++) {
    double found = share(ORACLE_REPLACE_ONE, row, y, at[k], v);
    CHECK(found > 0.999 && found <= 1);
  }
}

/* ---- noise ---- */

/* Of null records: what is released is noise, of the sd that it is given with. */
static void noise_is_that(void) {
  enum { EPOCHS = 500, DRAWS = EPOCHS * PRODUCTS };
  struct fixture f;
  double *x = base_alloc(EPOCHS, sizeof *x), *y = base_alloc(EPOCHS, sizeof *y), z[DRAWS], w[1] = {0}, g, sd;
  struct epoch_sd both;
  const struct epoch how = {.records = 1, .leaves = 1, .curvature_share = 0.5, .products = PRODUCTS};
  for (size_t i = 0; i < EPOCHS; i++) y[i] = NAN;
  fixture_open_rows(&f, "sigmoid", x, y, EPOCHS, 1, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(fresh_open(f.oracle, 1) == BASE_OK);
  for (size_t e = 0; e < DRAWS; e++) {
    if (e % PRODUCTS == 0) CHECK(epoch_open(f.oracle, &how, w, &g, NULL, &both) == BASE_OK);
    double v = exp(ctest_normal());
    CHECK(epoch_product(f.oracle, &v, &z[e], &sd) == BASE_OK);
    z[e] /= sd;
  }
  CHECK(ks_test(DRAWS, z, base_pnorm) > STATISTICS_LEVEL);
  fixture_close(&f);
}

static void forked(void) {
  struct fixture f;
  double w[P] = {0}, v[P] = {1}, g[P], product[P], sd;
  struct epoch_sd both;
  fixture_open(&f, "logistic", N, P, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(fresh_open(f.oracle, 1) == BASE_OK && epoch_open(f.oracle, &simple, w, g, NULL, &both) == BASE_OK);
  pid_t child = fork();
  if (child == 0) {
    int refused = epoch_product(f.oracle, v, product, &sd) == BASE_ERR_FORK;
    fixture_close(&f);
    _exit(refused ? 0 : 1);
  }
  int status = 1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  CHECK(epoch_product(f.oracle, v, product, &sd) == BASE_OK);
  fixture_close(&f);
}
