/* A run that is interrupted, or whose memory or randomness fails, at each place where it can. */
#include "run.h"

enum { DIM = 3 };

static void interrupted(int published, enum opt_line_search search);
static void without_memory(int published, enum opt_line_search search);
static void without_entropy(void);
static void others_interrupted(int which);
static void others_without_memory(int which);
static void others_without_entropy(int which);

void test_method_failures(void) {
  for (int published = 0; published <= 1; published++) {
    interrupted(published, OPT_GAUSSIAN);
    interrupted(published, OPT_SVT);
    without_memory(published, OPT_GAUSSIAN);
    without_memory(published, OPT_SVT);
  }
  without_entropy();
  for (int which = 0; which < 4; which++) {
    others_interrupted(which);
    others_without_memory(which);
    others_without_entropy(which);
  }
}

static int polls_left;
static int stop_after_polls(void) { return polls_left-- <= 0; }

/* The same run each time, for the seed is the same; Hessians are asked for, too. */
static void open_run(struct fixture *f, enum opt_line_search search, double rho) {
  ctest_seed(3);
  fixture_open(f, "sigmoid", 150, DIM, 0, ORACLE_REPLACE_ONE, rho);
  run_decide(f, search);
}

static struct opt_options options_of(int published, enum opt_line_search search) {
  struct opt_options o = published ? run_options_published(search, 1) : run_options(search, 1);
  o.eps_g = 0.2;
  o.eps_h = published ? 0.01 : 0.03;
  o.max_iterations = 6;
  return o;
}

/* What was charged before it ended is the beginning of what the whole run charges. */
static void is_prefix(const struct ledger *part, const struct ledger *whole) {
  int same = ledger_length(part) <= ledger_length(whole);
  for (size_t i = 0; same && i < ledger_length(part); i++) same = ledger_at(part, i)->rho == ledger_at(whole, i)->rho;
  CHECK(same);
}

static void interrupted(int published, enum opt_line_search search) {
  struct base_host host = {stop_after_polls, NULL};
  struct opt_options o = options_of(published, search);
  struct fixture whole;
  struct opt_result r;
  double w[DIM] = {0.4, -0.2, 0}, rho = 2;
  int status = BASE_ERR_STOPPED, stops = 0;
  open_run(&whole, search, rho);
  CHECK(opt_run(whole.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  size_t answers = r.trace.length;
  opt_result_free(&r);
  for (; status == BASE_ERR_STOPPED && stops < 1000; stops++) {
    struct fixture f;
    double again[DIM] = {0.4, -0.2, 0};
    open_run(&f, search, rho);
    polls_left = stops;
    base_set_host(&host);
    status = opt_run(f.oracle, &run_no_penalty, &o, rho, again, &r);
    base_set_host(NULL);
    CHECK(status == BASE_ERR_STOPPED || status == BASE_OK);
    CHECK(fixture_all_finite(DIM, again));
    is_prefix(f.ledger, whole.ledger);
    if (status == BASE_ERR_STOPPED) CHECK(ledger_length(f.ledger) == r.trace.length + 1); /* paid, not answered */
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(status == BASE_OK && stops == (int)answers + 1);
  fixture_close(&whole);
}

static void without_memory(int published, enum opt_line_search search) {
  struct opt_options o = options_of(published, search);
  struct fixture whole;
  struct opt_result r;
  double w[DIM] = {0.4, -0.2, 0}, rho = 2;
  int status = BASE_ERR_MEMORY, failures = 0;
  open_run(&whole, search, rho);
  CHECK(opt_run(whole.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  opt_result_free(&r);
  for (; status == BASE_ERR_MEMORY && failures < 1000; failures++) {
    long before = ctest_live_allocations();
    struct fixture f;
    double again[DIM] = {0.4, -0.2, 0};
    open_run(&f, search, rho);
    ctest_fail_allocation(failures + 1);
    status = opt_run(f.oracle, &run_no_penalty, &o, rho, again, &r);
    ctest_fail_allocation(0);
    CHECK(status == BASE_ERR_MEMORY || status == BASE_OK);
    CHECK(fixture_all_finite(DIM, again));
    is_prefix(f.ledger, whole.ledger);
    opt_result_free(&r);
    fixture_close(&f);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK && failures > 5);
  fixture_close(&whole);
}

static void without_entropy(void) {
  struct fixture f;
  struct opt_options o = run_options(OPT_SHORT_STEP, 0);
  struct opt_result r;
  double w[DIM] = {0};
  open_run(&f, OPT_SHORT_STEP, 1);
  f.oracle->entropy = &ctest_entropy_broken;
  CHECK(opt_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ENTROPY);
  CHECK(r.trace.length == 0 && ledger_length(f.ledger) == 1 && fixture_all_zero(DIM, w));
  opt_result_free(&r);
  fixture_close(&f);
}

/* The trust region by its dual variable, by the explicit test and with the published constants, and gradient descent.
 */
static int run_other(const struct fixture *f, int which, double rho, double *w, struct opt_result *r) {
  struct tr_options t = run_options_tr(which == 1, which == 2);
  struct gd_options g = run_options_gd();
  t.eps_g = g.eps_g = 0.2;
  t.eps_h = g.eps_h = 0.03;
  t.max_iterations = g.max_iterations = 6;
  t.spend_all = which == 1;
  return which < 3 ? tr_run(f->oracle, &run_no_penalty, &t, rho, w, r)
                   : gd_run(f->oracle, &run_no_penalty, &g, rho, w, r);
}

static void others_interrupted(int which) {
  struct base_host host = {stop_after_polls, NULL};
  struct fixture whole;
  struct opt_result r;
  double w[DIM] = {0.4, -0.2, 0}, rho = 2;
  int status = BASE_ERR_STOPPED, stops = 0;
  open_run(&whole, OPT_SHORT_STEP, rho);
  CHECK(run_other(&whole, which, rho, w, &r) == BASE_OK);
  size_t answers = r.trace.length;
  opt_result_free(&r);
  for (; status == BASE_ERR_STOPPED && stops < 1000; stops++) {
    struct fixture f;
    double again[DIM] = {0.4, -0.2, 0};
    open_run(&f, OPT_SHORT_STEP, rho);
    polls_left = stops;
    base_set_host(&host);
    status = run_other(&f, which, rho, again, &r);
    base_set_host(NULL);
    CHECK(status == BASE_ERR_STOPPED || status == BASE_OK);
    CHECK(fixture_all_finite(DIM, again));
    is_prefix(f.ledger, whole.ledger);
    if (status == BASE_ERR_STOPPED) CHECK(ledger_length(f.ledger) == r.trace.length + 1);
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(status == BASE_OK && stops == (int)answers + 1);
  fixture_close(&whole);
}

static void others_without_memory(int which) {
  struct fixture whole;
  struct opt_result r;
  double w[DIM] = {0.4, -0.2, 0}, rho = 2;
  int status = BASE_ERR_MEMORY, failures = 0;
  open_run(&whole, OPT_SHORT_STEP, rho);
  CHECK(run_other(&whole, which, rho, w, &r) == BASE_OK);
  opt_result_free(&r);
  for (; status == BASE_ERR_MEMORY && failures < 1000; failures++) {
    long before = ctest_live_allocations();
    struct fixture f;
    double again[DIM] = {0.4, -0.2, 0};
    open_run(&f, OPT_SHORT_STEP, rho);
    ctest_fail_allocation(failures + 1);
    status = run_other(&f, which, rho, again, &r);
    ctest_fail_allocation(0);
    CHECK(status == BASE_ERR_MEMORY || status == BASE_OK);
    CHECK(fixture_all_finite(DIM, again));
    is_prefix(f.ledger, whole.ledger);
    opt_result_free(&r);
    fixture_close(&f);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK && failures > 2);
  fixture_close(&whole);
}

static void others_without_entropy(int which) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0};
  open_run(&f, OPT_SHORT_STEP, 1);
  f.oracle->entropy = &ctest_entropy_broken;
  CHECK(run_other(&f, which, 1, w, &r) == BASE_ERR_ENTROPY);
  CHECK(r.trace.length == 0 && ledger_length(f.ledger) == 1 && fixture_all_zero(DIM, w));
  opt_result_free(&r);
  fixture_close(&f);
}
