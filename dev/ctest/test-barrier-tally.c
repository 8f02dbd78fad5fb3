/*
 * Persons' rows in chunks: shares follow from a first pass, and every sum is the one in memory, bit for bit, wherever a
 * person's rows lie, but for products of rows that are not kept; a first pass that fails answers nothing, and neither
 * does one with more rows of a person than the limit (proofs: persons).
 */
#include "feed.h"

enum { PERSONS = 400 };

static void same_as_in_memory(size_t n, size_t chunk, int weighed);
static void moved(int weighted);
static void failing(void);
static void too_many_rows(void);
static void no_rows(void);
static void arguments(void);
static void allocations(void);
static void counts(void);

void test_barrier_tally(void) {
  for (feed_keeps = 0; feed_keeps < 2; feed_keeps++) {
    for (int weighed = 0; weighed < 2; weighed++) {
      same_as_in_memory(900, 1, weighed);
      same_as_in_memory(3000, 700, weighed);
      same_as_in_memory(66 * DATA_BLOCK + 77, 50000, weighed);
    }
    moved(0);
    moved(1);
    failing();
    too_many_rows();
    no_rows();
  }
  feed_keeps = 0;
  arguments();
  allocations();
  counts();
}

/* A person's rows lie anywhere; few persons have many. The first one has null records only, the last none. */
static int *draw_persons(struct pair *s) {
  size_t n = s->rows.n;
  int *person = base_alloc(n, sizeof *person);
  double *y = (double *)s->rows.y;
  for (size_t i = 0; i < n; i++) {
    person[i] = 1 + (int)((PERSONS - 1) * ctest_uniform() * ctest_uniform());
    if (person[i] == 1) y[i] = NAN;
    s->memory.data->y[i] = y[i];
  }
  data_clip(s->memory.data);
  s->rows.person = person;
  return person;
}

static int *persons_open(struct pair *s, size_t n, size_t chunk) {
  pair_open(s, "logistic", 1, 1, n, P, chunk);
  int *person = draw_persons(s);
  CHECK(oracle_set_persons(s->memory.oracle, person, PERSONS, n) == BASE_OK);
  CHECK(oracle_set_persons(&s->stream, NULL, PERSONS, n) == BASE_OK);
  return person;
}

static void persons_close(struct pair *s, int *person) {
  pair_close(s);
  base_free(person);
}

struct sums {
  double value, gradient[MOST], both[1 + MOST], hessian[MOST * MOST], products[MOST * MOST], usable, moments[2 * MOST];
};
enum { ASKED = 7 };

static void ask(struct oracle *o, struct sums *a) {
  double w[MOST] = {0.5, -1, 2, 0.1, 0, 3}, most[P] = {1, 0, 0.5, 0.25, 1};
  const struct ask at = {.at = w};
  memset(a, 0, sizeof *a);
  CHECK(sums_value(oracle_all(o), w, &a->value) == BASE_OK);
  CHECK(sums_gradient(oracle_all(o), w, a->gradient) == BASE_OK);
  CHECK(sums_value_gradient(oracle_all(o), w, a->both) == BASE_OK);
  CHECK(sums_hessian(oracle_all(o), w, a->hessian) == BASE_OK);
  CHECK(sums_moments(oracle_all(o), most, a->moments) == BASE_OK);
  CHECK(scope_mean(oracle_all(o), &query_products.sum, &at, a->products) == BASE_OK);
  CHECK(scope_mean(oracle_all(o), &query_usable.sum, &at, &a->usable) == BASE_OK);
}

/* Rows in chunks come in their order, so that their products are those of records, which are larger. */
static void of_records(const struct sums *memory, struct sums *stream) {
  for (size_t j = 0; j < P + 1; j++) CHECK(stream->products[j * (P + 2)] > memory->products[j * (P + 2)]);
  memcpy(stream->products, memory->products, sizeof stream->products);
}

static void same_as_in_memory(size_t n, size_t chunk, int weighed) {
  struct pair s;
  struct sums memory, stream;
  double w[MOST] = {1, 2, 3}, *weight = base_alloc(2 * n, sizeof *weight), *offset = weight + n;
  int *person = persons_open(&s, n, chunk);
  for (size_t i = 0; i < n; i++) {
    weight[i] = ctest_uniform();
    offset[i] = ctest_normal();
  }
  if (weighed) {
    s.rows.weight = weight;
    s.rows.offset = offset;
    CHECK(oracle_set_weights(s.memory.oracle, weight, offset, 1.5) == BASE_OK);
    CHECK(oracle_set_weights(&s.stream, weight, offset, 1.5) == BASE_OK);
  }
  ask(s.memory.oracle, &memory);
  ask(&s.stream, &stream);
  if (n <= DATA_BLOCK && !feed_keeps) of_records(&memory, &stream);
  CHECK(memcmp(&memory, &stream, sizeof memory) == 0);
  int passes = feed_keeps ? 1 : 1 + ASKED;
  CHECK(s.rows.opened == passes && s.rows.closed == passes);
  CHECK(oracle_rows(&s.stream) == PERSONS);
  CHECK(sensitivity_gradient(oracle_all(&s.stream), w) == sensitivity_gradient(oracle_all(s.memory.oracle), w));
  CHECK(sensitivity_hessian(oracle_all(&s.stream), w) == sensitivity_hessian(oracle_all(s.memory.oracle), w));
  persons_close(&s, person);
  base_free(weight);
}

static void moved(int weighted) {
  struct pair s;
  struct fixture_coordinates c, other;
  double w[MOST] = {0.5, -1, 2, 0.1, 0, 3};
  int *person = persons_open(&s, 65 * DATA_BLOCK + 77, 5000);
  for (int k = 0; k < 2; k++) {
    ctest_seed(3);
    CHECK(fixture_coordinates(s.memory.data, 1, weighted, 1, 0.5, k == 0 ? &c : &other) == BASE_OK);
  }
  CHECK(oracle_move(s.memory.oracle, c.made) == BASE_OK);
  CHECK(oracle_move(&s.stream, other.made) == BASE_OK);
  pair_same_moved(&s, weighted, w);
  persons_close(&s, person);
  coordinates_free(c.made);
  coordinates_free(other.made);
}

/* In the first pass; the next one counts from zero again. */
static void failing(void) {
  struct pair s;
  struct sums memory, stream;
  int *person = persons_open(&s, 3000, 700);
  s.rows.failure = BASE_ERR_SOURCE;
  s.rows.fails_at = 2900;
  for (int k = 0; k < 2; k++) {
    s.rows.fails_in = s.rows.opened + 1;
    check_failed(&s, BASE_ERR_SOURCE);
  }
  s.rows.more = 1;
  check_failed(&s, BASE_ERR_ROWS);
  s.rows.more = 0;
  person[2000] = PERSONS + 1;
  check_failed(&s, BASE_ERR_ARGUMENT);
  person[2000] = 0;
  check_failed(&s, BASE_ERR_ARGUMENT);
  persons_close(&s, person);

  person = persons_open(&s, 3000, 700);
  s.rows.failure = BASE_ERR_SOURCE;
  s.rows.fails_at = 2900;
  s.rows.fails_in = 1;
  check_failed(&s, BASE_ERR_SOURCE);
  ask(s.memory.oracle, &memory);
  ask(&s.stream, &stream);
  CHECK(memcmp(&memory, &stream, sizeof memory) == 0);
  persons_close(&s, person);
}

static void too_many_rows(void) {
  for (size_t most = 2; most <= 3; most++) {
    struct pair s;
    double w[MOST] = {0}, value;
    pair_open(&s, "logistic", 1, 0, 300, P, 70);
    int *person = draw_persons(&s);
    for (int i = 0; i < 300; i++) person[i] = 1 + i % 100;
    s.rows.person = person;
    CHECK(oracle_set_persons(&s.stream, NULL, PERSONS, most) == BASE_OK);
    s.rows.more = 1; /* the first pass counts all rows, and fails */
    CHECK(sums_value(oracle_all(&s.stream), w, &value) == (most == 3 ? BASE_ERR_ROWS : BASE_ERR_ARGUMENT));
    s.rows.more = 0;
    CHECK(sums_value(oracle_all(&s.stream), w, &value) == (most == 3 ? BASE_OK : BASE_ERR_ARGUMENT));
    persons_close(&s, person);
  }
}

/* Sums are those of one null record, which adds what a person without records does. */
static void no_rows(void) {
  struct pair s;
  struct sums memory, stream;
  double w[MOST] = {0.5, -1, 2, 0.1, 0, 3};
  const int person = 1, indicators[] = {INDICATORS};
  const struct data_columns columns = {.dense = P - INDICATORS, .factors = 1, .indicators = indicators};
  pair_open(&s, "logistic", 1, 1, 1, P, 10);
  s.memory.data->y[0] = NAN;
  data_clip(s.memory.data);
  CHECK(oracle_set_persons(s.memory.oracle, &person, PERSONS, 5) == BASE_OK);
  const struct data_feed feed = feed_of(&s.rows);
  engine_free(&s.engine);
  CHECK(engine_stream(&feed, &columns, 0, 1, 1, feed_keeps, NULL, &s.engine) == BASE_OK);
  s.stream.engine = s.engine;
  CHECK(oracle_set_persons(&s.stream, NULL, PERSONS, 5) == BASE_OK);
  CHECK(sums_value(oracle_all(&s.stream), w, &stream.value) == BASE_ERR_ROWS); /* the feed has one row */
  s.rows.n = 0;
  ask(s.memory.oracle, &memory);
  ask(&s.stream, &stream);
  CHECK(memcmp(&memory, &stream, sizeof memory) == 0);
  CHECK(oracle_rows(&s.stream) == PERSONS);
  CHECK(sensitivity_gradient(oracle_all(&s.stream), w) == sensitivity_gradient(oracle_all(s.memory.oracle), w));
  struct fixture_coordinates c[2];
  for (int k = 0; k < 2; k++) {
    ctest_seed(3);
    CHECK(fixture_coordinates(s.memory.data, 1, 1, 1, 0.5, &c[k]) == BASE_OK);
    CHECK(oracle_move(k == 0 ? s.memory.oracle : &s.stream, c[k].made) == BASE_OK);
  }
  pair_same_moved(&s, 1, w);
  pair_close(&s);
  for (int k = 0; k < 2; k++) coordinates_free(c[k].made);
}

static void arguments(void) {
  struct pair s;
  int *person = persons_open(&s, 100, 70);
  CHECK(oracle_set_persons(&s.stream, NULL, PERSONS, 100) == BASE_ERR_ARGUMENT);
  persons_close(&s, person);
  pair_open(&s, "logistic", 1, 0, 100, P, 70);
  person = draw_persons(&s);
  CHECK(oracle_set_persons(&s.stream, person, PERSONS, 100) == BASE_ERR_ARGUMENT);
  persons_close(&s, person);
  static const size_t wrong[3][2] = {{0, 1}, {1, 0}, {SIZE_MAX / 3 + 1, 3}};
  for (int k = 0; k < 3; k++) {
    pair_open(&s, "logistic", 1, 0, 100, P, 70);
    CHECK(oracle_set_persons(&s.stream, NULL, wrong[k][0], wrong[k][1]) == BASE_ERR_ARGUMENT);
    pair_close(&s);
  }
}

static void allocations(void) {
  long before = ctest_live_allocations();
  int status = BASE_ERR_MEMORY;
  for (int which = 1; status == BASE_ERR_MEMORY && which < 100; which++) {
    struct pair s;
    pair_open(&s, "logistic", 1, 0, 100, P, 70);
    ctest_fail_allocation(which);
    status = oracle_set_persons(&s.stream, NULL, PERSONS, 100);
    ctest_fail_allocation(0);
    pair_close(&s);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK);
}

/* Raw values: one person moves counts by one, whatever the rows; a row of nobody is no answer. */
static void counts(void) {
  enum { N = 500, CELLS = 3, WHO = 60 };
  static const double breaks[] = {-1, 0, 1, 10};
  const struct histogram histogram = {breaks, CELLS};
  const struct ask ask = {.k = 1, .histogram = &histogram};
  const struct task task = {.ask = &ask};
  double x[N], share[N], memory[CELLS], stream[CELLS];
  const double *values = x;
  int person[N], used[WHO] = {0};
  for (size_t i = 0; i < N; i++) {
    x[i] = i % 50 == 0 ? NAN : ctest_normal();
    person[i] = 1 + (int)(WHO * ctest_uniform() * ctest_uniform());
    used[person[i] - 1]++;
  }
  CHECK(data_shares(N, person, WHO, N, NULL, share) == BASE_OK);
  const struct raw arrays = {.n = N, .columns = 1, .values = &values, .share = share};
  const struct engine here = engine_raw(&arrays);
  CHECK(here.kind->sum(&here, &query_counts.sum, &task, memory) == BASE_OK);
  for (size_t chunk = 1; chunk <= N; chunk *= 7) {
    struct rows rows = {.x = x, .person = person, .n = N, .dense = 1, .chunk = chunk};
    struct data_feed feed = feed_of(&rows);
    struct raw chunks = {.n = N, .columns = 1, .feed = &feed, .used = used, .persons = WHO};
    const struct engine there = engine_raw(&chunks);
    CHECK(there.kind->sum(&there, &query_counts.sum, &task, stream) == BASE_OK);
    CHECK(memcmp(memory, stream, sizeof memory) == 0);
    int last = person[N - 1];
    person[N - 1] = WHO + 1;
    CHECK(there.kind->sum(&there, &query_counts.sum, &task, stream) == BASE_ERR_SOURCE);
    person[N - 1] = 0;
    CHECK(there.kind->sum(&there, &query_counts.sum, &task, stream) == BASE_ERR_SOURCE);
    person[N - 1] = last;
    int rest = used[last - 1];
    used[last - 1] = 0;
    CHECK(there.kind->sum(&there, &query_counts.sum, &task, stream) == BASE_ERR_SOURCE);
    used[last - 1] = rest;
    CHECK(rows.opened == rows.closed);
  }
}
