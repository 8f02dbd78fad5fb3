/* Rows in chunks: every sum is the one in memory, bit for bit, however they come; passes that fail answer nothing. */
#include "feed.h"

enum { STEPS = 2 };
static const double steps[STEPS] = {0.5, 3};

static void same_as_in_memory(const char *loss, int intercept, size_t factors, size_t n, size_t chunk);
static void in_coordinates(int weighted, int intercept, size_t n);
static void wide_rows(void);
static void wrong_number_of_rows(void);
static void failing(void);
static void no_batches(void);
static void no_rows(void);
static void asked_from_inside(void);
static void arguments(void);
static void allocations(const char *folder);
static void counts(void);
static void weighed(size_t chunk);

static void read_or_kept(void);
static void kept_once(void);
static void kept_batches(void);

/* Rows that are read again in each pass, and rows that are kept after the first, in memory or in a file. */
void test_barrier_stream(void) {
  for (feed_keeps = 0; feed_keeps < 3; feed_keeps++) read_or_kept();
  for (feed_keeps = 1; feed_keeps < 3; feed_keeps++) {
    kept_once();
    kept_batches();
  }
  feed_keeps = 0;
  no_batches();
  no_rows();
  arguments();
  allocations(NULL);
  allocations("/tmp");
  counts();
}

static void read_or_kept(void) {
  static const size_t chunks[] = {1, 7, 1000, DATA_BLOCK, 1000000};
  for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
    same_as_in_memory("logistic", 1, k % 2, 3, chunks[k]);
    same_as_in_memory("sigmoid", 0, (k + 1) % 2, 2 * DATA_BLOCK, chunks[k]);
  }
  same_as_in_memory("sigmoid", 1, 0, 64 * DATA_BLOCK + 1, 1000000);
  if (ctest_size(1, 0)) same_as_in_memory("sigmoid", 1, 1, 65 * DATA_BLOCK, 65000);
  /* several windows, and eight blocks at a time for a group */
  same_as_in_memory("logistic", 0, 0, (size_t)ctest_size(530 * DATA_BLOCK + 77, 66 * DATA_BLOCK + 77), 50000);
  for (int k = 0; k < 4; k++) in_coordinates(k % 2, k / 2, k >= ctest_size(3, 1) ? 900 : 65 * DATA_BLOCK + 77);
  wide_rows();
  wrong_number_of_rows();
  failing();
  asked_from_inside();
  for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) weighed(chunks[k]);
}

struct answers {
  double value, gradient[MOST], both[1 + MOST], hessian[MOST * MOST], majorant[MOST * MOST], trace, decrease[STEPS];
};
enum { PASSES = 7 };

static void ask(struct oracle *o, struct answers *a) {
  double w[MOST] = {0.5, -1, 2, 0.1, 0, 3}, direction[MOST] = {1, 1, -2, 0, 0.3, 1};
  memset(a, 0, sizeof *a);
  CHECK(sums_value(oracle_all(o), w, &a->value) == BASE_OK);
  CHECK(sums_gradient(oracle_all(o), w, a->gradient) == BASE_OK);
  CHECK(sums_value_gradient(oracle_all(o), w, a->both) == BASE_OK);
  CHECK(sums_hessian(oracle_all(o), w, a->hessian) == BASE_OK);
  CHECK(sums_majorant(oracle_all(o), w, a->majorant) == BASE_OK);
  CHECK(sums_trace(oracle_all(o), w, CURVATURE_MAJORANT, &a->trace) == BASE_OK);
  CHECK(sums_decreases(oracle_all(o), w, direction, STEPS, steps, a->decrease) == BASE_OK);
}

static void same_as_in_memory(const char *loss, int intercept, size_t factors, size_t n, size_t chunk) {
  struct pair s;
  struct answers memory, stream;
  double w[MOST] = {1, 2, 3};
  pair_open(&s, loss, intercept, factors, n, P, chunk);
  ask(s.memory.oracle, &memory);
  ask(&s.stream, &stream);
  CHECK(memcmp(&memory, &stream, sizeof memory) == 0);
  int passes = feed_keeps ? 1 : PASSES; /* one a question, or one in all */
  CHECK(s.rows.opened == passes && s.rows.closed == passes);
  CHECK(sensitivity_gradient(oracle_all(&s.stream), w) == sensitivity_gradient(oracle_all(s.memory.oracle), w));
  CHECK(sensitivity_hessian(oracle_all(&s.stream), w) == sensitivity_hessian(oracle_all(s.memory.oracle), w));
  pair_close(&s);
}

/* Coordinates are given after a pass, whose last window is short; moments before. */
static void in_coordinates(int weighted, int intercept, size_t n) {
  struct pair s;
  struct fixture_coordinates c, other;
  double most[P] = {1, 0, 0.5, 0.25, 1}, w[MOST] = {0.5, -1, 2, 0.1, 0, 3}, answer[2][MOST * MOST];
  pair_open(&s, "logistic", intercept, n % 2, n, P, 5000);
  for (int k = 0; k < 2; k++) {
    struct oracle *o = k == 0 ? s.memory.oracle : &s.stream;
    ctest_seed(3);
    CHECK(sums_moments(oracle_all(o), most, answer[k]) == BASE_OK);
    CHECK(fixture_coordinates(s.memory.data, 1, weighted, 1, 0.5, k == 0 ? &c : &other) == BASE_OK);
  }
  CHECK(memcmp(answer[0], answer[1], (2 * P + (size_t)intercept) * sizeof(double)) == 0);
  CHECK(oracle_move(s.memory.oracle, c.made) == BASE_OK);
  CHECK(oracle_move(&s.stream, other.made) == BASE_OK);
  CHECK(oracle_move(&s.stream, other.made) == BASE_ERR_ARGUMENT);
  pair_same_moved(&s, weighted, w);
  CHECK(sensitivity_gradient(oracle_all(&s.stream), w) == sensitivity_gradient(oracle_all(s.memory.oracle), w));
  pair_close(&s);
  coordinates_free(c.made);
  coordinates_free(other.made);
}

/* So many columns that a window has few blocks, or one. */
static void wide_rows(void) {
  static const size_t columns[] = {1200, 2100};
  for (int k = 0; k < ctest_size(2, 1); k++) {
    struct pair s;
    size_t p = columns[k];
    double *w = base_alloc(2 * (p + 1), sizeof *w), *memory = base_alloc(p + 1, sizeof *memory), *stream = w + p + 1;
    pair_open(&s, "logistic", 1, 0, 3 * DATA_BLOCK + 3, p, 700);
    for (size_t j = 0; j <= p; j++) w[j] = ctest_normal();
    CHECK(sums_gradient(oracle_all(s.memory.oracle), w, memory) == BASE_OK);
    CHECK(sums_gradient(oracle_all(&s.stream), w, stream) == BASE_OK);
    CHECK(memcmp(memory, stream, (p + 1) * sizeof(double)) == 0);
    pair_close(&s);
    base_free(memory);
    base_free(w);
  }
}

/* ---- passes that fail ---- */

static void wrong_number_of_rows(void) {
  static const size_t sizes[] = {1, 900, 65 * DATA_BLOCK};
  static const size_t chunks[] = {DATA_BLOCK, 65, 1000000};
  for (size_t k = 0; k < (size_t)ctest_size(3, 2); k++) {
    for (size_t c = 0; c < 3; c++) {
      struct pair s;
      struct answers memory, stream;
      size_t n = sizes[k];
      pair_open(&s, "logistic", 1, c % 2, n, P, chunks[c]);
      s.rows.more = 1; /* a record of its own, or the end of the last chunk */
      check_failed(&s, BASE_ERR_ROWS);
      s.rows.more = (size_t)-1;
      check_failed(&s, BASE_ERR_ROWS);
      s.rows.more = 0;
      ask(s.memory.oracle, &memory);
      ask(&s.stream, &stream);
      CHECK(memcmp(&memory, &stream, sizeof memory) == 0);
      pair_close(&s);
    }
  }
}

static void failing(void) {
  static const int failures[] = {BASE_ERR_SOURCE, BASE_ERR_STOPPED, BASE_ERR_MEMORY};
  static const size_t where[] = {0, 1, 500, 64 * DATA_BLOCK, 65 * DATA_BLOCK};
  struct pair s;
  pair_open(&s, "sigmoid", 1, 1, 65 * DATA_BLOCK, P, 1000);
  for (size_t k = 0; k < 3; k++) {
    for (size_t i = 0; i < 5; i++) {
      s.rows.failure = failures[k];
      s.rows.fails_at = where[i];
      s.rows.fails_in = s.rows.opened + 1;
      check_failed(&s, failures[k]);
    }
  }
  s.rows.fails_in = 0;
  double w[MOST] = {1}, answer[MOST], sd;
  CHECK(oracle_gradient(&s.stream, w, 0.1, answer, &sd) == BASE_OK);
  pair_close(&s);
}

/* A pass that fails keeps nothing, and neither does a reading; what is kept is not read again. */
static void kept_once(void) {
  struct pair s;
  double w[MOST] = {1, -1}, answer[2], memory;
  const struct batch of = {.count = 100, .size = 100, .next = 1};
  pair_open(&s, "logistic", 1, 0, 3000, P, 700);
  const struct task next = {&s.stream.model, &(struct ask){.at = w}, &of};
  CHECK(sums_value(oracle_all(s.memory.oracle), w, &memory) == BASE_OK);
  s.rows.failure = BASE_ERR_SOURCE;
  s.rows.fails_at = 2900;
  s.rows.fails_in = 1;
  check_failed(&s, BASE_ERR_SOURCE);
  CHECK(sums_value(oracle_all(&s.stream), w, answer) == BASE_OK && answer[0] == memory && s.rows.opened == 2);
  CHECK(sums_value(oracle_all(&s.stream), w, answer) == BASE_OK && answer[0] == memory && s.rows.opened == 2);
  CHECK(s.engine.kind->begin(&s.engine) == BASE_OK);
  CHECK(s.engine.kind->sum(&s.engine, &query_value.sum, &next, answer) == BASE_OK && answer[0] != memory);
  s.engine.kind->end(&s.engine);
  CHECK(sums_value(oracle_all(&s.stream), w, answer) == BASE_OK && answer[0] == memory && s.rows.opened == 4);
  pair_close(&s);
}

/* Rows that are kept have numbers: a sum over a batch is that in memory, from the first pass on; not in a reading. */
static void kept_batches(void) {
  struct pair s;
  double w[MOST] = {1, -1}, answer[2], memory[2];
  size_t rows[] = {1, 5, 1000, 2999};
  const struct batch of = {.row = rows, .count = 4, .size = 4};
  pair_open(&s, "logistic", 1, 0, 3000, P, 700);
  const struct engine *here = &s.memory.oracle->engine;
  const struct task there = {&s.stream.model, &(struct ask){.at = w}, &of};
  const struct task task = {&s.memory.oracle->model, &(struct ask){.at = w}, &of};
  CHECK(s.engine.kind->can(&s.engine, &query_value.sum, &there));
  s.rows.failure = BASE_ERR_SOURCE;
  s.rows.fails_at = 2900;
  s.rows.fails_in = 1;
  answer[0] = 1;
  CHECK(s.engine.kind->sum(&s.engine, &query_value.sum, &there, answer) == BASE_ERR_SOURCE && answer[0] == 0);
  CHECK(s.engine.kind->sum(&s.engine, &query_value.sum, &there, answer) == BASE_OK && s.rows.opened == 2);
  CHECK(here->kind->sum(here, &query_value.sum, &task, memory) == BASE_OK && memory[0] == answer[0]);
  CHECK(s.engine.kind->begin(&s.engine) == BASE_OK);
  CHECK(s.engine.kind->sum(&s.engine, &query_value.sum, &there, answer) == BASE_ERR_SOURCE);
  s.engine.kind->end(&s.engine);
  pair_close(&s);
}

/* Batches need rows by their numbers: refused, and not charged, nor has an answer a noise to plan with. */
static void no_batches(void) {
  struct pair s;
  struct ledger *ledger;
  double w[MOST] = {0};
  const struct sampling how = {SCHEME_POISSON, 10};
  pair_open(&s, "logistic", 1, 0, 100, P, 10);
  CHECK(ledger_create_renyi(8, 1, &ledger) == BASE_OK);
  s.stream.ledger = ledger;
  CHECK(oracle_step_open(&s.stream, &how, w, 0.1, 0) == BASE_ERR_ARGUMENT);
  CHECK(isinf(step_sd(&s.stream, &how, &query_gradient, &(struct ask){.at = w}, 0.1)));
  CHECK(ledger_spent(ledger) == 0 && s.rows.opened == 0);
  ledger_free(ledger);
  pair_close(&s);
}

/* Only persons may have none. */
static void no_rows(void) {
  struct pair s;
  double w[MOST] = {0}, value;
  const struct data_columns columns = {.dense = P};
  pair_open(&s, "logistic", 1, 0, 1, P, 10);
  const struct data_feed feed = feed_of(&s.rows);
  engine_free(&s.engine);
  CHECK(engine_stream(&feed, &columns, 0, 1, 1, 0, NULL, &s.engine) == BASE_OK);
  s.stream.engine = s.engine;
  CHECK(sums_value(oracle_all(&s.stream), w, &value) == BASE_ERR_SOURCE);
  CHECK(s.rows.opened == 0);
  pair_close(&s);
}

/* A feed that asks about its own data gets no answer, and does not disturb the pass that it feeds. */
static void asked_from_inside(void) {
  struct pair s;
  double w[MOST] = {0}, memory, stream;
  pair_open(&s, "logistic", 1, 0, 65 * DATA_BLOCK, P, 30000);
  s.rows.nested = &s.stream;
  CHECK(sums_value(oracle_all(&s.stream), w, &stream) == BASE_OK);
  CHECK(sums_value(oracle_all(s.memory.oracle), w, &memory) == BASE_OK);
  CHECK(memory == stream);
  CHECK(s.rows.opened == 1 && s.rows.closed == 1);
  pair_close(&s);
}

static void arguments(void) {
  struct rows rows = {0};
  struct data_feed feed = feed_of(&rows);
  static const int none[] = {0};
  const struct data_columns one = {.dense = 1}, empty = {.factors = 1, .indicators = none};
  struct engine e;
  CHECK(engine_stream(&feed, &one, 1, 1, 0, 0, NULL, &e) == BASE_ERR_ARGUMENT && e.own == NULL);
  CHECK(engine_stream(&feed, &one, 1, 1, INFINITY, 0, NULL, &e) == BASE_ERR_ARGUMENT && e.own == NULL);
  CHECK(engine_stream(&feed, &empty, 1, 1, 1, 0, NULL, &e) == BASE_ERR_ARGUMENT && e.own == NULL);
  CHECK(engine_stream(&feed, &one, 1, 1, 1, 1, "/no such folder", &e) == BASE_ERR_FILE && e.own == NULL);
}

static void allocations(const char *folder) {
  static const double x[4] = {0.1, 0.2, 0.3, 0.4}, y[2] = {1, -1};
  struct rows rows = {.x = x, .y = y, .n = 2, .dense = 2, .chunk = 1};
  const struct data_columns two = {.dense = 2};
  struct data_feed feed = feed_of(&rows);
  long before = ctest_live_allocations();
  int status = BASE_ERR_MEMORY;
  for (int which = 1; status == BASE_ERR_MEMORY && which < 100; which++) {
    struct engine e;
    ctest_fail_allocation(which);
    status = engine_stream(&feed, &two, 2, 1, 1, folder != NULL, folder, &e);
    ctest_fail_allocation(0);
    CHECK((status == BASE_OK) == (e.own != NULL));
    engine_free(&e);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK);
}

/* ---- weights and offsets ---- */

/* They come with the rows: the sums are those in memory, to the last bit, also of numbers that are none. */
static void weighed(size_t chunk) {
  enum { N = 3000 };
  static const double wrong[] = {-2, 3, NAN, INFINITY, -INFINITY, 0};
  static double weight[N], offset[N];
  struct pair s;
  double w[MOST], value[2], g[2][MOST];
  for (size_t i = 0; i < N; i++) {
    weight[i] = i % 7 == 0 ? wrong[i / 7 % 6] : ctest_uniform();
    offset[i] = i % 5 == 0 ? wrong[i / 5 % 6] : ctest_normal();
  }
  for (size_t j = 0; j < MOST; j++) w[j] = ctest_normal();
  pair_open(&s, "logistic", 1, 1, N, P, chunk);
  s.rows.weight = weight;
  s.rows.offset = offset;
  CHECK(oracle_set_weights(s.memory.oracle, weight, offset, 1.5) == BASE_OK);
  CHECK(oracle_set_weights(&s.stream, weight, offset, 1.5) == BASE_OK);
  const struct scope *of[] = {oracle_all(s.memory.oracle), oracle_all(&s.stream)};
  for (int k = 0; k < 2; k++) {
    CHECK(sums_value(of[k], w, &value[k]) == BASE_OK && sums_gradient(of[k], w, g[k]) == BASE_OK);
  }
  CHECK(isfinite(value[0]) && memcmp(&value[0], &value[1], sizeof value[0]) == 0);
  CHECK(memcmp(g[0], g[1], sizeof g[0]) == 0);
  CHECK(oracle_set_weights(&s.stream, weight, offset, 1.5) == BASE_ERR_ARGUMENT);
  pair_close(&s);
}

/* ---- ranges ---- */

/* The same counts and noise, the same charge; no counts from a pass that fails. */
static void counts(void) {
  enum { N = 500, M = 2, CELLS = 5 };
  static const double breaks_a[] = {-1, 0, 1, 10}, breaks_b[] = {-2, 0, 2};
  struct ranges_column columns[M] = {{NULL, breaks_a, 3}, {NULL, breaks_b, 2}};
  double x[M * N], memory[CELLS], stream[CELLS], sd[2];
  struct ledger *ledger[2];
  for (size_t i = 0; i < M * N; i++) x[i] = i % 50 == 0 ? NAN : ctest_normal();
  columns[0].values = x;
  columns[1].values = x + N;
  for (size_t chunk = 1; chunk <= N; chunk *= 7) {
    struct rows rows = {.x = x, .n = N, .dense = M, .chunk = chunk};
    struct data_feed feed = feed_of(&rows);
    for (int k = 0; k < 2; k++) CHECK(ledger_create(1, 0, LEDGER_GDP, &ledger[k]) == BASE_OK);
    ctest_seed(5);
    CHECK(ranges_release(ledger[0], &ctest_entropy, ORACLE_REPLACE_ONE, N, M, columns, 0.1, memory, &sd[0]) == BASE_OK);
    ctest_seed(5);
    CHECK(ranges_release_stream(ledger[1], &ctest_entropy, ORACLE_REPLACE_ONE, N, M, columns, &feed, 0.1, stream,
                                &sd[1]) == BASE_OK);
    CHECK(memcmp(memory, stream, sizeof memory) == 0 && sd[0] == sd[1]);
    for (int wrong = 0; wrong < 3; wrong++) {
      rows.more = wrong == 0 ? 1 : wrong == 1 ? (size_t)-1 : 0;
      rows.fails_in = wrong == 2 ? rows.opened + 1 : 0;
      rows.failure = BASE_ERR_SOURCE;
      rows.fails_at = N / 2;
      CHECK(ranges_release_stream(ledger[1], &ctest_entropy, ORACLE_REPLACE_ONE, N, M, columns, &feed, 0.1, stream,
                                  &sd[1]) == (wrong == 2 ? BASE_ERR_SOURCE : BASE_ERR_ROWS));
      CHECK(fixture_all_zero(CELLS, stream));
    }
    CHECK_NEAR(ledger_spent(ledger[1]), 0.4, 1e-12);
    CHECK(rows.opened == rows.closed);
    for (int k = 0; k < 2; k++) ledger_free(ledger[k]);
  }
}
