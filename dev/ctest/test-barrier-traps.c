/*
 * Whatever goes wrong behind the barrier, and whenever: what was charged stays charged, nothing is charged twice, and
 * what leaves is blank. An interrupt at every place where one is looked for, randomness that fails after any number of
 * bytes, a history that cannot grow, and a question asked in the middle of another one.
 */
#include "shorthand.h"
#include "fixture.h"

enum { DIM = 3, STEPS = 3, QUESTIONS = 6, CELLS = 3 };

struct reply {
  double answer[DIM * DIM];
  double sd[STEPS];
  size_t index;
};

static const double w0[DIM] = {0.5, -1, 0.25}, direction0[DIM] = {1, 1, -1}, steps0[STEPS] = {4, 2, 1};

static int ask(struct oracle *o, int question, double rho, struct reply *r);
static int is_blank(int question, const struct reply *r);
static void interrupts(void);
static void failing_entropy(void);
static void ranges_fail(void);
static void growing_history(void);
static void question_within(int threads);

void test_barrier_traps(void) {
  interrupts();
  failing_entropy();
  ranges_fail();
  growing_history();
  question_within(1);
  question_within(4);
}

static int ask(struct oracle *o, int question, double rho, struct reply *r) {
  static const double offset[STEPS];
  for (int i = 0; i < DIM * DIM; i++) r->answer[i] = 77;
  r->index = 0;
  switch (question) {
  case 0:
    return oracle_value(o, w0, rho, r->answer, r->sd);
  case 1:
    return oracle_gradient(o, w0, rho, r->answer, r->sd);
  case 2:
    return oracle_hessian(o, w0, rho, r->answer, r->sd);
  case 3:
    return oracle_decreases(o, w0, direction0, STEPS, steps0, rho, r->answer, r->sd);
  case 4:
    return oracle_first_step(o, w0, direction0, STEPS, steps0, offset, 1, rho, &r->index);
  default:
    return oracle_best_step(o, w0, direction0, STEPS, steps0, offset, rho, &r->index);
  }
}

/* Zeros, or the index that says "none". */
static int is_blank(int question, const struct reply *r) {
  static const size_t lengths[QUESTIONS] = {1, DIM, DIM * DIM, STEPS, 0, 0};
  return fixture_all_zero(lengths[question], r->answer) && (question < 4 || r->index == STEPS);
}

/* After how many polls, or calls of the generator, something goes wrong. */
static int left;
static int stop_after_polls(void) { return left-- <= 0; }

/* Data of several blocks, so that sums stop in their middle. One thread, which asks at every one of them. */
static void interrupts(void) {
  struct base_host host = {stop_after_polls, NULL};
  base_limit_threads(1);
  for (int q = 0; q < QUESTIONS; q++) {
    struct fixture f;
    struct reply r;
    fixture_open(&f, "sigmoid", 5 * DATA_BLOCK, DIM, 0, ORACLE_REPLACE_ONE, 100);
    int status = BASE_ERR_STOPPED, stops = 0;
    ctest_unwiped();
    base_set_host(&host);
    for (; status == BASE_ERR_STOPPED && stops < 20; stops++) {
      left = stops;
      status = ask(f.oracle, q, 1, &r);
      CHECK(ledger_length(f.ledger) == (size_t)stops + 1);
      CHECK(ledger_spent(f.ledger) == stops + 1);
      CHECK(status == BASE_OK || (status == BASE_ERR_STOPPED && is_blank(q, &r)));
      CHECK(ctest_unwiped() == 0);
    }
    base_set_host(NULL);
    CHECK(status == BASE_OK && stops == 6 && !is_blank(q, &r));
    fixture_close(&f);
  }
  base_limit_threads(64);
}

static int fill_until_failure(void *buffer, size_t bytes) {
  return left-- > 0 ? ctest_entropy.fill(buffer, bytes) : BASE_ERR_ENTROPY;
}
static const struct base_entropy failing = {.fill = fill_until_failure};

/* A generator that fails in the middle of the noise: the coordinates that have theirs are withheld with the others. */
static void failing_entropy(void) {
  int most = 0;
  for (int q = 0; q < QUESTIONS; q++) {
    struct fixture f;
    struct reply r;
    fixture_open(&f, "logistic", 20, DIM, 0, ORACLE_REPLACE_ONE, 1000);
    CHECK(ledger_decide(f.ledger, LEDGER_ZCDP) == BASE_OK);
    f.oracle->entropy = &failing;
    int status = BASE_ERR_ENTROPY, failures = 0;
    ctest_unwiped();
    for (; status == BASE_ERR_ENTROPY && failures < 60; failures++) { /* more rows would make the history grow */
      left = failures;
      status = ask(f.oracle, q, 1, &r);
      CHECK(ledger_length(f.ledger) == (size_t)failures + 1);
      CHECK(ledger_spent(f.ledger) == failures + 1);
      CHECK(status == BASE_OK || (status == BASE_ERR_ENTROPY && is_blank(q, &r)));
      CHECK(ctest_unwiped() == 0);
    }
    CHECK(status == BASE_OK);
    if (failures > most) most = failures;
    fixture_close(&f);
  }
  CHECK(most > 2); /* some noise was drawn before a failure */
}

static void ranges_fail(void) {
  const double a[] = {0.5, 1.5, 2.5, 2.5}, breaks[CELLS + 1] = {0, 1, 2, 3};
  const struct ranges_column columns[] = {{a, breaks, CELLS}, {a, breaks, CELLS}};
  struct base_host host = {stop_after_polls, NULL};
  for (int interrupt = 0; interrupt <= 1; interrupt++) {
    const int expected = interrupt ? BASE_ERR_STOPPED : BASE_ERR_ENTROPY;
    struct ledger *ledger = NULL;
    CHECK(ledger_create(100, 0, LEDGER_GDP, &ledger) == BASE_OK);
    int status = expected, failures = 0;
    if (interrupt) base_set_host(&host);
    for (; status == expected && failures < 90; failures++) {
      double counts[2 * CELLS] = {77, 77, 77, 77, 77, 77}, sd;
      left = failures;
      status = ranges_release(ledger, interrupt ? &ctest_entropy : &failing, ORACLE_REPLACE_ONE, 4, 2, columns, 1,
                              counts, &sd);
      CHECK(ledger_length(ledger) == (size_t)failures + 1);
      CHECK((status == BASE_OK) != fixture_all_zero(2 * CELLS, counts));
    }
    base_set_host(NULL);
    CHECK(status == BASE_OK && failures > 1);
    ledger_free(ledger);
  }
}

/* The first allocation of every question fails. Where it is one of the history, the question is neither charged nor
 * answered, and can be asked again; else it is paid for and not answered. */
static void growing_history(void) {
  struct fixture f;
  struct reply r;
  int refused = 0;
  fixture_open(&f, "logistic", 20, DIM, 0, ORACLE_REPLACE_ONE, 1000);
  for (size_t i = 0; i < 300; i++) {
    long before = ctest_live_allocations();
    ctest_fail_allocation(1);
    CHECK(ask(f.oracle, 1, 1, &r) == BASE_ERR_MEMORY && is_blank(1, &r));
    ctest_fail_allocation(0);
    CHECK(ctest_live_allocations() == before);
    if (ledger_length(f.ledger) == i) {
      refused++;
      CHECK(ledger_spent(f.ledger) == (double)i && ask(f.oracle, 1, 1, &r) == BASE_OK);
    }
    CHECK(ledger_length(f.ledger) == i + 1 && ledger_spent(f.ledger) == (double)(i + 1));
  }
  CHECK(refused == 4); /* rows 1, 65, 129 and 257 */
  for (size_t i = 0; i < 300; i++) CHECK(ledger_at(f.ledger, i)->rho == 1);
  fixture_close(&f);
}

/* ---- a host that asks while it is asked whether to stop, as an event handler could ---- */

static struct fixture *within;
static struct reply inner;
static int inner_question, inner_status, polls;

static int asks_at_first_poll(void) {
  if (++polls == 1) inner_status = ask(within->oracle, inner_question, 1e12, &inner);
  return 0;
}

/* Noise is far below what is compared. Both are charged, and each answers as if it were alone. */
static void question_within(int threads) {
  struct base_host host = {asks_at_first_poll, NULL};
  base_limit_threads(threads);
  for (int outer = 0; outer < 4; outer++) {
    for (inner_question = 0; inner_question < 4; inner_question++) {
      struct fixture f;
      struct reply alone[2], r;
      fixture_open(&f, "sigmoid", 50 * DATA_BLOCK, DIM, 0, ORACLE_REPLACE_ONE, 1e15);
      CHECK(ask(f.oracle, outer, 1e12, &alone[0]) == BASE_OK);
      CHECK(ask(f.oracle, inner_question, 1e12, &alone[1]) == BASE_OK);
      within = &f;
      polls = 0;
      inner_status = -1;
      base_set_host(&host);
      CHECK(ask(f.oracle, outer, 1e12, &r) == BASE_OK);
      base_set_host(NULL);
      /* Of several threads the one that looks for interrupts may come too late to have a part in the sum. */
      size_t asked = polls > 0;
      CHECK(asked || threads > 1);
      CHECK(ledger_length(f.ledger) == 3 + asked && ledger_spent(f.ledger) == 1e12 * (double)(3 + asked));
      CHECK(!asked || inner_status == BASE_OK);
      for (int i = 0; i < DIM * DIM; i++) {
        CHECK_NEAR(r.answer[i], alone[0].answer[i], 1e-8);
        CHECK(!asked || fabs(inner.answer[i] - alone[1].answer[i]) <= 1e-8);
      }
      fixture_close(&f);
    }
  }
  base_limit_threads(64);
}
