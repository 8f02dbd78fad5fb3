/* Line searches on batches: what they cost, their laws, and refusals. */
#include "acct/acct.h"
#include "fixture.h"
#include "la/la.h"
#include "statistics.h"

enum { N = 500, DIM = 3, STEPS = 4 };
#define ORDER 12.0

static const double w0[DIM] = {0.5, -1, 0.25}, along0[DIM] = {1, 1, -1}, steps0[STEPS] = {4, 2, 1, 0.5};
static const double offset0[STEPS] = {0.3, -0.2, 0.1, 0.05};

static void choice_costs(enum oracle_neighbours neighbours, enum scheme scheme, double size);
static void choice_law(double label);
static void choice_ratios(enum oracle_neighbours neighbours);
static void decrease_costs(enum oracle_neighbours neighbours, enum scheme scheme, double size);
static void own_batch(void);
static void refused(void);
static void staying(void);

void test_barrier_search(void) {
  choice_costs(ORACLE_REPLACE_ONE, SCHEME_FIXED, 40);
  choice_costs(ORACLE_REPLACE_ONE, SCHEME_POISSON, 12.5);
  choice_costs(ORACLE_ZERO_OUT, SCHEME_POISSON, 400);
  choice_law(1);
  choice_law(-1);
  choice_ratios(ORACLE_REPLACE_ONE);
  choice_ratios(ORACLE_ZERO_OUT);
  decrease_costs(ORACLE_REPLACE_ONE, SCHEME_FIXED, 40);
  decrease_costs(ORACLE_REPLACE_ONE, SCHEME_POISSON, 12.5);
  decrease_costs(ORACLE_ZERO_OUT, SCHEME_POISSON, 400);
  own_batch();
  refused();
  staying();
}

static void to_renyi(struct fixture *f, enum oracle_neighbours neighbours, double capacity) {
  oracle_free(f->oracle);
  ledger_free(f->ledger);
  CHECK(ledger_create_renyi(ORDER, capacity, &f->ledger) == BASE_OK);
  CHECK(open_oracle(f->data, loss_find("logistic"), f->ledger, &ctest_entropy, neighbours, &f->oracle) == BASE_OK);
}

static void open_renyi(struct fixture *f, enum oracle_neighbours neighbours, double capacity) {
  fixture_open(f, "logistic", N, DIM - 1, 1, neighbours, 1);
  to_renyi(f, neighbours, capacity);
}

static struct schedule choice(struct sampling how) { return (struct schedule){how, {[PART_CHOICE] = 1}}; }

static struct ask ask_of(int scale_free) { return search_ask(w0, along0, STEPS, steps0, offset0, scale_free); }

/* A search with a batch of its own. */
static int choose(struct oracle *o, struct sampling how, const struct ask *ask, double cost, size_t *index) {
  const struct schedule schedule = choice(how);
  const struct query *q = &query_batch_step;
  int status = step_open(o, &schedule, ask, cost);
  if (status == BASE_OK) status = release(oracle_step(o), q, ask, step_left(o, q), (struct answer){.index = index});
  step_close(o);
  return status;
}

/* eps by the noise that the ledger names, and the charge by eps: as one mechanism, whose amplified eps' costs
 * min(eps'^2 / 2, eps' / order). */
static void choice_costs(enum oracle_neighbours neighbours, enum scheme scheme, double size) {
  const struct sampling how = {scheme, size};
  static const double cost[] = {1e-7, 1e-4, 5e-2};
  double length = la_norm(DIM, along0), rate = size / N, change[2] = {0};
  for (int k = 0; k < STEPS; k++) { /* of decreases, and of those divided by their step */
    double one =
        fixture_logistic_decrease(la_norm(DIM, w0), steps0[k] * length, neighbours == ORACLE_REPLACE_ONE) / size;
    change[0] = fmax(change[0], one);
    change[1] = fmax(change[1], one / steps0[k]);
  }
  struct fixture f;
  size_t index;
  open_renyi(&f, neighbours, 1);
  for (int i = 0; i < 6; i++) {
    const struct ask ask = ask_of(i % 2);
    CHECK(choose(f.oracle, how, &ask, cost[i / 2], &index) == BASE_OK && index <= STEPS);
    const struct ledger_entry *e = ledger_at(f.ledger, (size_t)i);
    double eps = 4 * e->sensitivity / e->scale, amplified = log1p(rate * expm1(eps));
    double charge = fmin(amplified * amplified / 2, amplified / ORDER), wanted = change[i % 2];
    CHECK(e->rho == cost[i / 2] && charge <= e->rho && charge > e->rho * (1 - 1e-9));
    CHECK(e->sensitivity >= wanted);
    CHECK_NEAR(e->sensitivity, wanted, 1e-3 * wanted);
    CHECK(strcmp(e->what, "batch line search") == 0 && strcmp(e->mechanism, "sparse vector on a batch") == 0);
  }
  CHECK(ledger_length(f.ledger) == 6);
  fixture_close(&f);
}

static double laplace_above(double x, double scale) { return x < 0 ? 1 - exp(x / scale) / 2 : exp(-x / scale) / 2; }

/* Of the index, by the definition of the mechanism; the threshold by the midpoints of equal masses. */
static void law_of(const double *query, double threshold, double *p) {
  enum { GRID = 20000 };
  for (int i = 0; i <= STEPS; i++) p[i] = 0;
  for (int g = 0; g < GRID; g++) {
    double u = (g + 0.5) / GRID, t = threshold * (u < 0.5 ? log(2 * u) : -log(2 - 2 * u)), none = 1.0 / GRID;
    for (int i = 0; i < STEPS; i++) {
      double pass = laplace_above(t - query[i], 2 * threshold);
      p[i] += none * pass;
      none *= 1 - pass;
    }
    p[STEPS] += none;
  }
}

/* One record, in the batch with probability one half: sums are divided by the public size, with it and without. */
static void one_record(struct fixture *f, enum oracle_neighbours neighbours, double label) {
  double *x = base_alloc(DIM, sizeof *x), *y = base_alloc(1, sizeof *y);
  x[0] = 0.6;
  x[1] = 0.3;
  x[2] = -0.7;
  y[0] = label == 0 ? NAN : label;
  fixture_open_rows(f, "logistic", x, y, 1, DIM, 0, neighbours, 1);
  to_renyi(f, neighbours, 1e9);
}

static const struct sampling half = {SCHEME_POISSON, 0.5};

static void mixture(const struct fixture *f, double threshold, double *p) {
  double exact[STEPS], query[STEPS], with[STEPS + 1];
  CHECK(sums_decreases(oracle_all(f->oracle), w0, along0, STEPS, steps0, exact) == BASE_OK);
  for (int i = 0; i < STEPS; i++) query[i] = offset0[i] / steps0[i];
  law_of(query, threshold, p);
  for (int i = 0; i < STEPS; i++) query[i] += exact[i] / half.size / steps0[i];
  law_of(query, threshold, with);
  for (int i = 0; i <= STEPS; i++) p[i] = (p[i] + with[i]) / 2;
}

static void choice_law(double label) {
  struct fixture f;
  int count = ctest_size(20000, 400), answered = 0;
  double p[STEPS + 1], seen[STEPS + 1] = {0}, cost = 0.02;
  const struct ask ask = ask_of(1);
  size_t index;
  one_record(&f, ORACLE_REPLACE_ONE, label);
  for (int i = 0; i < count; i++) {
    if (choose(f.oracle, half, &ask, cost, &index) == BASE_OK && index <= STEPS) seen[index]++, answered++;
  }
  CHECK(answered == count);
  mixture(&f, ledger_at(f.ledger, 0)->scale / 2, p);
  CHECK(chi_square_test(STEPS + 1, seen, p) > STATISTICS_LEVEL);
  fixture_close(&f);
}

/* Probabilities of neighbours differ by a factor of exp(eps') at most, and by much of it. */
static void choice_ratios(enum oracle_neighbours neighbours) {
  static const double labels[][2] = {{1, -1}, {-1, 1}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  double cost = 0.5, amplified = fmax(sqrt(2 * cost), ORDER * cost), largest = 0;
  for (int k = neighbours == ORACLE_REPLACE_ONE ? 0 : 2; k < 6; k++) {
    double p[2][STEPS + 1];
    for (int side = 0; side < 2; side++) {
      struct fixture f;
      const struct ask ask = ask_of(1);
      size_t index;
      one_record(&f, neighbours, labels[k][side]);
      CHECK(choose(f.oracle, half, &ask, cost, &index) == BASE_OK);
      mixture(&f, ledger_at(f.ledger, 0)->scale / 2, p[side]);
      fixture_close(&f);
    }
    for (int i = 0; i <= STEPS; i++) largest = fmax(largest, log(p[0][i] / p[1][i]));
  }
  CHECK(largest <= amplified);
  CHECK(largest > 0.1 * amplified);
}

/* A gradient and noisy decreases share what the step was charged. */
static void decrease_costs(enum oracle_neighbours neighbours, enum scheme scheme, double size) {
  const struct schedule how = {{scheme, size}, {[PART_SLOPE] = 0.7, [PART_DECREASE] = 0.3}};
  const struct ask at = {.at = w0}, ask = ask_of(0);
  double two = neighbours == ORACLE_REPLACE_ONE ? 2 : 1, g[DIM], sd_g, decrease[STEPS], sd[STEPS];
  struct fixture f;
  open_renyi(&f, neighbours, 1);
  for (double cost = 1e-6; cost < 0.1; cost *= 100) {
    CHECK(step_open(f.oracle, &how, &at, cost) == BASE_OK);
    size_t length = ledger_length(f.ledger);
    CHECK(strcmp(ledger_at(f.ledger, length - 1)->what, "batch step") == 0);
    CHECK(oracle_step_gradient(f.oracle, w0, g, &sd_g) == BASE_OK);
    double left = step_left(f.oracle, &query_decreases), norm = la_norm(DIM, w0),
           mu2 = pow(fixture_logistic_change(norm, two > 1) / size / sd_g, 2);
    CHECK(release(oracle_step(f.oracle), &query_decreases, &ask, left, (struct answer){decrease, sd, NULL}) == BASE_OK);
    CHECK(step_left(f.oracle, &query_decreases) == 0);
    for (int i = 0; i < STEPS; i++) {
      double length = steps0[i] * la_norm(DIM, along0);
      mu2 += pow(fixture_logistic_decrease(norm, length, two > 1) / size / sd[i], 2);
    }
    const struct acct_leaf leaf = {ACCT_GAUSSIAN, sqrt(mu2), 0, 0, 1};
    const struct acct_round round = {&leaf, 1, two > 1 ? ACCT_PROFILE : ACCT_MIXTURE, size / N, 1};
    double order = ORDER, divergence;
    CHECK(acct_rdp_curve(&round, 1, 1, &order, &divergence) == BASE_OK);
    CHECK_NEAR(divergence / ORDER / ledger_at(f.ledger, length - 1)->rho, 1, 1e-2);
    CHECK(ledger_length(f.ledger) == length);
    step_close(f.oracle);
  }
  fixture_close(&f);
}

/* Whatever the step before drew. */
static void own_batch(void) {
  const struct sampling how = {SCHEME_FIXED, 50};
  const struct schedule schedule = choice(how);
  const struct ask ask = ask_of(1);
  double g[DIM], sd;
  size_t first[50];
  struct fixture f;
  open_renyi(&f, ORACLE_REPLACE_ONE, 1);
  CHECK(oracle_step_open(f.oracle, &how, w0, 1e-3, 0) == BASE_OK);
  CHECK(oracle_step_gradient(f.oracle, w0, g, &sd) == BASE_OK);
  memcpy(first, f.oracle->batch.row, sizeof first);
  CHECK(step_open(f.oracle, &schedule, &ask, 1e-3) == BASE_OK);
  CHECK(memcmp(first, f.oracle->batch.row, sizeof first) != 0 && ledger_length(f.ledger) == 2);
  fixture_close(&f);
}

static int asks(struct scope *s, const struct query *q, const struct ask *ask, double rho) {
  double value[STEPS], sd[STEPS];
  size_t index;
  return release(s, q, ask, rho, (struct answer){value, sd, q == &query_decreases ? NULL : &index});
}

static void refused(void) {
  static const double wrong[][PARTS] = {{0.5, 0, 0, 0.5}, {0, 0, 0.5, 0.5}, {0, 0.5, 0, 0.5}, {0, 0, 1, 0},
                                        {0, 0.5, 0.5, 0}, {0, 0, 0, NAN},   {0, 0, 0, 1.1},   {0, 0, 0, -1}};
  const struct sampling how = {SCHEME_FIXED, 50};
  const struct schedule alone = choice(how), gradient = {how, {[PART_SLOPE] = 1}};
  struct ask ask = ask_of(1), values = ask_of(0);
  const double far[DIM] = {1e101}, none[STEPS] = {0};
  struct fixture f;
  size_t index;
  open_renyi(&f, ORACLE_REPLACE_ONE, 1e3);
  /* A sparse vector beside anything else, decreases without a gradient. */
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct schedule schedule = {how, {0}};
    memcpy(schedule.share, wrong[i], sizeof wrong[i]);
    CHECK(step_open(f.oracle, &schedule, &ask, 1e-3) == BASE_ERR_ARGUMENT);
  }
  /* eps below what the sampler takes, and without end. */
  CHECK(choose(f.oracle, how, &ask, 1e-20, &index) == BASE_ERR_ARGUMENT);
  CHECK(choose(f.oracle, how, &ask, 100, &index) == BASE_ERR_ARGUMENT);
  ask.step = none;
  CHECK(step_open(f.oracle, &alone, &ask, 1e-3) == BASE_ERR_ARGUMENT);
  ask.step = steps0;
  ask.along = far;
  CHECK(step_open(f.oracle, &alone, &ask, 1e-3) == BASE_ERR_ARGUMENT);
  ask.along = along0;
  /* About all rows, and fresh ones, eps would be taken for rho. */
  struct scope fresh = {.oracle = f.oracle, .of = &f.oracle->batch, .exact = 1, .whole = 1};
  CHECK(asks(&fresh, &query_batch_step, &ask, 1e-3) == BASE_ERR_ARGUMENT);
  CHECK(asks(oracle_all(f.oracle), &query_batch_step, &ask, 1e-3) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);
  /* In a step what it has paid for, and once. */
  CHECK(step_open(f.oracle, &gradient, &ask, 1e-3) == BASE_OK);
  CHECK(asks(oracle_step(f.oracle), &query_batch_step, &ask, 1e-9) == BASE_ERR_ARGUMENT);
  CHECK(asks(oracle_step(f.oracle), &query_decreases, &values, 1e-9) == BASE_ERR_ARGUMENT);
  CHECK(step_open(f.oracle, &alone, &ask, 1e-3) == BASE_OK);
  double eps = step_left(f.oracle, &query_batch_step);
  CHECK(asks(oracle_step(f.oracle), &query_first_step, &ask, 1e-9) == BASE_ERR_ARGUMENT);
  CHECK(asks(oracle_step(f.oracle), &query_decreases, &values, 1e-9) == BASE_ERR_ARGUMENT);
  CHECK(asks(oracle_step(f.oracle), &query_gradient, &values, 1e-9) == BASE_ERR_ARGUMENT);
  CHECK(asks(oracle_step(f.oracle), &query_batch_step, &ask, eps * 1.001) == BASE_ERR_ARGUMENT);
  CHECK(asks(oracle_step(f.oracle), &query_batch_step, &ask, eps) == BASE_OK);
  CHECK(asks(oracle_step(f.oracle), &query_batch_step, &ask, eps) == BASE_ERR_ARGUMENT);
  CHECK(asks(oracle_all(f.oracle), &query_first_step, &ask, 1e-3) == BASE_ERR_STEP);
  step_close(f.oracle);
  CHECK(ledger_length(f.ledger) == 2);
  fixture_close(&f);
  fixture_open(&f, "logistic", N, DIM - 1, 1, ORACLE_REPLACE_ONE, 1);
  CHECK(choose(f.oracle, how, &ask, 1e-3, &index) == BASE_ERR_ACCOUNTANT && ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

/* One of the candidates of an exponential mechanism may be zero; its range is that of the largest. */
static void staying(void) {
  static const double steps[2] = {2, 0}, none[2] = {0, 0};
  struct fixture f;
  size_t index;
  fixture_open(&f, "logistic", N, DIM - 1, 1, ORACLE_REPLACE_ONE, 1e6);
  double change = fixture_logistic_decrease(la_norm(DIM, w0), 2 * la_norm(DIM, along0), 1);
  CHECK(oracle_best_step(f.oracle, w0, along0, 2, steps, none, 0.1, &index) == BASE_OK && index < 2);
  CHECK_NEAR(ledger_at(f.ledger, 0)->sensitivity, change / N, 1e-9);
  CHECK(oracle_first_step(f.oracle, w0, along0, 2, steps, none, 0, 0.1, &index) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 1);
  fixture_close(&f);
}
