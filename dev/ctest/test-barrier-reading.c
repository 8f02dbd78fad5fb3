/* A reading goes on over several sums: each is the one in memory of the rows whose turn it is, bit for bit, and no row
 * has two turns. */
#include "feed.h"

static void same_as_in_memory(size_t factors, size_t n, size_t chunk);
static void in_coordinates(int weighted);
static void beside_passes(void);
static void rows_once(void);
static void wrong_number_of_rows(void);
static void failing(void);
static void asked_from_inside(void);
static void released(enum factor factor, size_t chunk);

void test_barrier_reading(void) {
  static const size_t chunks[] = {1, 7, 1000, DATA_BLOCK, 1000000};
  for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
    same_as_in_memory(k % 2, 12, chunks[k]);
    same_as_in_memory((k + 1) % 2, 7 * DATA_BLOCK + 3, chunks[k]);
  }
  same_as_in_memory(0, 3 * 65 * DATA_BLOCK, 65000); /* several windows a sum */
  for (int k = 0; k < 2; k++) in_coordinates(k);
  beside_passes();
  rows_once();
  wrong_number_of_rows();
  failing();
  asked_from_inside();
  released(FACTOR_SQUARE_ROOT, 700);
  released(FACTOR_TREE, 1000000);
}

static const double here[MOST] = {0.5, -1, 2, 0.1, 0, 3}, before[MOST] = {0.4, -1, 1, 0.3, 0, 2};

/* What the sums of a leaf are, and how many numbers they have at most. */
static const struct sum *const sums[] = {&sum_epoch_start, &sum_difference, &query_gradient.sum, &query_hessian.sum};
enum { SUMS = 4, NUMBERS = MOST + MOST * MOST };

/* The sum over these rows. */
static int sum_of(struct oracle *o, int which, const struct batch *of, double *answer) {
  const struct ask ask = {.at = here, .along = before};
  const struct task task = {&o->model, &ask, of};
  memset(answer, 0, NUMBERS * sizeof(double));
  CHECK(o->engine.kind->can(&o->engine, sums[which], &task));
  return o->engine.kind->sum(&o->engine, sums[which], &task, answer);
}

static int next(struct pair *s, int which, size_t count, double *answer) {
  const struct batch of = {.count = count, .size = (double)count, .next = 1};
  return sum_of(&s->stream, which, &of, answer);
}

static int begin(struct pair *s) { return s->engine.kind->begin(&s->engine); }
static void end(struct pair *s) { s->engine.kind->end(&s->engine); }

/* ---- the same numbers ---- */

/* The next count rows, which begin with the row at. */
static void check_next(struct pair *s, int which, size_t at, size_t count) {
  double stream[NUMBERS], memory[NUMBERS];
  size_t *row = base_alloc(count, sizeof *row);
  for (size_t i = 0; i < count; i++) row[i] = at + i;
  const struct batch of = {.count = count, .row = row, .size = (double)count};
  CHECK(next(s, which, count, stream) == BASE_OK);
  CHECK(sum_of(s->memory.oracle, which, &of, memory) == BASE_OK);
  CHECK(memcmp(stream, memory, sizeof stream) == 0);
  CHECK(count < 100 || !fixture_all_zero(NUMBERS, stream));
  base_free(row);
}

/* A long leaf, short ones, and one of what is left. */
static void read_all(struct pair *s) {
  size_t n = s->rows.n, shares[] = {n / 2, 1, n / 9, 1, 2}, at = 0;
  CHECK(begin(s) == BASE_OK);
  for (int k = 0; k < 5; at += shares[k++]) check_next(s, k % SUMS, at, shares[k]);
  check_next(s, 0, at, n - at);
}

static void same_as_in_memory(size_t factors, size_t n, size_t chunk) {
  struct pair s;
  pair_open(&s, "sigmoid", factors == 0, factors, n, P, chunk);
  read_all(&s);
  CHECK(s.rows.opened == 1 && s.rows.closed == 1);
  pair_close(&s);
}

static void in_coordinates(int weighted) {
  struct pair s;
  struct fixture_coordinates c, other;
  pair_open(&s, "logistic", 1, 0, 5 * DATA_BLOCK, P, 5000);
  ctest_seed(3);
  CHECK(fixture_coordinates(s.memory.data, 1, weighted, 1, 0.5, &c) == BASE_OK);
  ctest_seed(3);
  CHECK(fixture_coordinates(s.memory.data, 1, weighted, 1, 0.5, &other) == BASE_OK);
  CHECK(oracle_move(s.memory.oracle, c.made) == BASE_OK && oracle_move(&s.stream, other.made) == BASE_OK);
  if (!weighted) read_all(&s); /* batches of weighted rows have no lengths in memory */
  pair_close(&s);
  coordinates_free(c.made);
  coordinates_free(other.made);
}

/* ---- what is refused ---- */

/* All rows may be asked about before and after, not while a reading is open; being refused changes nothing. */
static void beside_passes(void) {
  struct pair s;
  double all[NUMBERS], again[NUMBERS];
  pair_open(&s, "logistic", 1, 0, 3000, P, 700);
  CHECK(next(&s, 0, 1, all) == BASE_ERR_SOURCE); /* not begun */
  CHECK(sum_of(&s.stream, 0, NULL, all) == BASE_OK);
  CHECK(next(&s, 0, 1, again) == BASE_ERR_SOURCE);
  CHECK(begin(&s) == BASE_OK && begin(&s) == BASE_ERR_SOURCE);
  check_next(&s, 0, 0, 1000);
  CHECK(sum_of(&s.stream, 0, NULL, again) == BASE_ERR_SOURCE && fixture_all_zero(NUMBERS, again));
  CHECK(begin(&s) == BASE_ERR_SOURCE);
  check_next(&s, 1, 1000, 500);
  CHECK(s.rows.opened == 2 && s.rows.closed == 1);
  end(&s);
  end(&s);
  CHECK(s.rows.opened == 2 && s.rows.closed == 2);
  CHECK(sum_of(&s.stream, 0, NULL, again) == BASE_OK && memcmp(all, again, sizeof all) == 0);
  read_all(&s);                                                /* from the first row on */
  CHECK(sum_of(&s.stream, 0, NULL, again) == BASE_ERR_SOURCE); /* it has not ended */
  end(&s);
  CHECK(s.rows.opened == 4 && s.rows.closed == 4);
  pair_close(&s);
}

static void rows_once(void) {
  struct pair s;
  double answer[NUMBERS];
  pair_open(&s, "logistic", 1, 0, 3000, P, 700);
  CHECK(begin(&s) == BASE_OK);
  CHECK(next(&s, 0, 3001, answer) == BASE_ERR_SOURCE);
  check_next(&s, 0, 0, 1000);
  CHECK(next(&s, 0, 2001, answer) == BASE_ERR_SOURCE);
  check_next(&s, 0, 1000, 2000);
  CHECK(s.rows.closed == 1);
  CHECK(next(&s, 0, 1, answer) == BASE_ERR_SOURCE && fixture_all_zero(NUMBERS, answer));
  CHECK(s.rows.opened == 1);
  end(&s);
  CHECK(s.rows.closed == 1);
  pair_close(&s);
}

/* Neither sums nor a feed that is open after a failure; another reading is sound. */
static void check_over(struct pair *s) {
  double answer[NUMBERS];
  CHECK(s->rows.opened == s->rows.closed);
  CHECK(next(s, 0, 1, answer) == BASE_ERR_SOURCE && sum_of(&s->stream, 0, NULL, answer) == BASE_ERR_SOURCE);
  CHECK(s->rows.opened == s->rows.closed);
  end(s);
  s->rows.more = 0;
  s->rows.fails_in = 0;
  read_all(s);
  end(s);
  CHECK(s->rows.opened == s->rows.closed);
}

static void wrong_number_of_rows(void) {
  static const size_t chunks[] = {1, 700, 1000000};
  double answer[NUMBERS];
  for (size_t c = 0; c < 3; c++) {
    struct pair s;
    pair_open(&s, "logistic", 1, 0, 3000, P, chunks[c]);
    s.rows.more = (size_t)-1;
    CHECK(begin(&s) == BASE_OK && next(&s, 0, 1000, answer) == BASE_OK);
    CHECK(next(&s, 0, 2000, answer) == BASE_ERR_ROWS);
    check_over(&s);
    /* those beyond the last are seen by a reading that comes to it, and by no other */
    for (size_t last = 1999; last <= 2000; last++) {
      s.rows.more = 1;
      CHECK(begin(&s) == BASE_OK && next(&s, 0, 1000, answer) == BASE_OK);
      CHECK(next(&s, 0, last, answer) == (last == 2000 ? BASE_ERR_ROWS : BASE_OK));
      if (last < 2000) end(&s);
    }
    check_over(&s);
    pair_close(&s);
  }
}

static void failing(void) {
  static const int failures[] = {BASE_ERR_SOURCE, BASE_ERR_STOPPED, BASE_ERR_MEMORY};
  static const size_t where[] = {0, 1, 500, 64 * DATA_BLOCK};
  struct pair s;
  double answer[NUMBERS];
  pair_open(&s, "sigmoid", 1, 1, 65 * DATA_BLOCK, P, 999);
  s.rows.shut = 1;
  CHECK(begin(&s) == BASE_ERR_SOURCE && s.rows.opened == 1 && s.rows.closed == 1);
  s.rows.shut = 0;
  for (size_t k = 0; k < 3; k++) {
    for (size_t i = 0; i < 4; i++) {
      s.rows.failure = failures[k];
      s.rows.fails_at = where[i];
      s.rows.fails_in = s.rows.opened + 1;
      CHECK(begin(&s) == BASE_OK);
      int status = next(&s, 0, 500, answer);
      if (status == BASE_OK) status = next(&s, 1, 65 * DATA_BLOCK - 500, answer);
      CHECK(status == failures[k]);
      check_over(&s);
    }
  }
  pair_close(&s);
}

static void asked_from_inside(void) {
  struct pair s;
  pair_open(&s, "logistic", 1, 0, 3000, P, 700);
  s.rows.nested = &s.stream;
  read_all(&s);
  CHECK(s.rows.opened == 1 && s.rows.closed == 1);
  pair_close(&s);
}

/* ---- releases ---- */

struct leaves {
  double start[MOST], hessian[MOST * MOST], later[MOST], value, sd[3];
};

/* An epoch, whose records in memory are in their own order, not a random one; then a value. */
static void release_leaves(struct oracle *o, enum factor factor, struct leaves *a) {
  const struct epoch how = {.records = 1500, .leaves = 8, .factor = factor, .curvature_share = 0.2};
  const struct ask ask = {.at = before};
  struct epoch_sd sd;
  memset(a, 0, sizeof *a);
  CHECK(fresh_open(o, 0.5) == BASE_OK);
  for (size_t i = 0; o->fresh->order && i < data_rows(o->engine.rows); i++) o->fresh->order[i] = i;
  ctest_seed(8);
  CHECK(epoch_open(o, &how, here, a->start, a->hessian, &sd) == BASE_OK);
  CHECK(epoch_leaf(o, before, epoch_records(o, before), a->later, &a->sd[0]) == BASE_OK);
  CHECK(fresh_release(o, &query_value, &ask, fresh_left(o), (struct answer){&a->value, &a->sd[1], NULL}) == BASE_OK);
  CHECK(fresh_release(o, &query_value, &ask, 1, (struct answer){&a->sd[2], NULL, NULL}) == BASE_ERR_RECORDS);
}

/* The same noisy numbers; the feed is open from the charge to the last row. */
static void released(enum factor factor, size_t chunk) {
  struct pair s;
  struct leaves memory, stream;
  pair_open(&s, "sigmoid", 1, 1, 9000, P, chunk);
  release_leaves(s.memory.oracle, factor, &memory);
  fresh_close(s.memory.oracle);
  release_leaves(&s.stream, factor, &stream);
  CHECK(memcmp(&memory, &stream, sizeof memory) == 0);
  CHECK(s.rows.opened == 1 && s.rows.closed == 1);
  fresh_close(&s.stream);
  /* given up, and one that does not begin: charged, closed */
  CHECK(fresh_open(&s.stream, 0.5) == BASE_OK);
  oracle_batches_end(&s.stream);
  CHECK(!s.stream.fresh && s.rows.opened == 2 && s.rows.closed == 2);
  s.rows.shut = 1;
  CHECK(fresh_open(&s.stream, 0.5) == BASE_ERR_SOURCE);
  CHECK(!s.stream.fresh && s.rows.opened == 3 && s.rows.closed == 3);
  CHECK_NEAR(ledger_spent(s.memory.ledger), 2, 1e-12);
  pair_close(&s);
}
