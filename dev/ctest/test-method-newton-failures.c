/* A Newton run that is interrupted, or whose memory or randomness fails, at each place where it can. */
#include "method/newton.h"
#include "run.h"

enum { DIM = 3 };

static void interrupted(enum newton_curvature curvature, enum oracle_modify modify);
static void without_memory(enum newton_curvature curvature, enum oracle_modify modify);
static void without_entropy(void);

void test_method_newton_failures(void) {
  for (int curvature = NEWTON_HESSIAN; curvature <= NEWTON_DIRECT; curvature++) {
    for (int modify = ORACLE_ADD; modify <= ORACLE_CLIP; modify++) {
      interrupted((enum newton_curvature)curvature, (enum oracle_modify)modify);
      without_memory((enum newton_curvature)curvature, (enum oracle_modify)modify);
    }
  }
  without_entropy();
}

static int polls_left;
static int stop_after_polls(void) { return polls_left-- <= 0; }

/* The same run each time, for the seed is the same. */
static int run(struct fixture *f, enum newton_curvature curvature, enum oracle_modify modify, double *w,
               struct opt_result *r) {
  struct newton_options o = {.curvature = curvature,
                             .modify = modify,
                             .damped = curvature == NEWTON_DIRECT,
                             .spend_all = 1,
                             .iterations = 3,
                             .eps_g = 1,
                             .confidence = 0.9,
                             .curvature_share = 0.4,
                             .trace_share = 0.2,
                             .search_share = 0.3,
                             .certificate_share = 0.1,
                             .lambda0 = NAN,
                             .lambda_scale = 1,
                             .tail = 0.5};
  return newton_run(f->oracle, &run_no_penalty, &o, 1, w, r);
}

static void open_run(struct fixture *f) {
  ctest_seed(3);
  fixture_open(f, "logistic", 150, DIM, 0, ORACLE_REPLACE_ONE, 1);
}

/* What was charged before it ended is the beginning of what the whole run charges. */
static void is_prefix(const struct ledger *part, const struct ledger *whole) {
  int same = ledger_length(part) <= ledger_length(whole);
  for (size_t i = 0; same && i < ledger_length(part); i++) same = ledger_at(part, i)->rho == ledger_at(whole, i)->rho;
  CHECK(same);
}

static size_t whole_run(struct fixture *whole, enum newton_curvature curvature, enum oracle_modify modify) {
  struct opt_result r;
  double w[DIM] = {0.4, -0.2, 0};
  open_run(whole);
  CHECK(run(whole, curvature, modify, w, &r) == BASE_OK);
  size_t answers = r.trace.length;
  opt_result_free(&r);
  return answers;
}

static void interrupted(enum newton_curvature curvature, enum oracle_modify modify) {
  struct base_host host = {stop_after_polls, NULL};
  struct fixture whole;
  size_t answers = whole_run(&whole, curvature, modify);
  int status = BASE_ERR_STOPPED, stops = 0;
  for (; status == BASE_ERR_STOPPED && stops < 1000; stops++) {
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0.4, -0.2, 0};
    open_run(&f);
    polls_left = stops;
    base_set_host(&host);
    status = run(&f, curvature, modify, w, &r);
    base_set_host(NULL);
    CHECK(status == BASE_ERR_STOPPED || status == BASE_OK);
    CHECK(fixture_all_finite(DIM, w));
    is_prefix(f.ledger, whole.ledger);
    if (status == BASE_ERR_STOPPED) CHECK(ledger_length(f.ledger) == r.trace.length + 1); /* paid, not answered */
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(status == BASE_OK && stops == (int)answers + 1);
  fixture_close(&whole);
}

static void without_memory(enum newton_curvature curvature, enum oracle_modify modify) {
  struct fixture whole;
  whole_run(&whole, curvature, modify);
  int status = BASE_ERR_MEMORY, failures = 0;
  for (; status == BASE_ERR_MEMORY && failures < 1000; failures++) {
    long before = ctest_live_allocations();
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0.4, -0.2, 0};
    open_run(&f);
    ctest_fail_allocation(failures + 1);
    status = run(&f, curvature, modify, w, &r);
    ctest_fail_allocation(0);
    CHECK(status == BASE_ERR_MEMORY || status == BASE_OK);
    CHECK(fixture_all_finite(DIM, w));
    is_prefix(f.ledger, whole.ledger);
    opt_result_free(&r);
    fixture_close(&f);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK && failures > 3);
  fixture_close(&whole);
}

static void without_entropy(void) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0};
  open_run(&f);
  f.oracle->entropy = &ctest_entropy_broken;
  CHECK(run(&f, NEWTON_HESSIAN, ORACLE_ADD, w, &r) == BASE_ERR_ENTROPY);
  CHECK(r.trace.length == 0 && ledger_length(f.ledger) == 1 && fixture_all_zero(DIM, w));
  opt_result_free(&r);
  fixture_close(&f);
}
