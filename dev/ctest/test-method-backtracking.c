/* Gradient descent with line searches: what it asks, charges and finds. */
#include "run.h"

enum { DIM = 3 };
#define ORDER 24.0

static void asks(enum opt_line_search search, int batches);
static void descends(enum opt_line_search search, int batches);
static void costs_rise(enum opt_line_search search, int batches);
static void rises_in_run(enum opt_line_search search, int batches, int *rises, int *ended_early);
static void clip_falls(int batches);
static void refuses(void);
static void fails(enum opt_line_search search, int batches);

void test_method_backtracking(void) {
  for (int search = OPT_GAUSSIAN; search <= OPT_EXPONENTIAL; search++) {
    for (int batches = 0; batches <= (search != OPT_EXPONENTIAL); batches++) {
      asks((enum opt_line_search)search, batches);
      descends((enum opt_line_search)search, batches);
      costs_rise((enum opt_line_search)search, batches);
      fails((enum opt_line_search)search, batches);
    }
  }
  for (int batches = 0; batches < 2; batches++) clip_falls(batches);
  refuses();
}

static struct backtracking_options options(enum opt_line_search search, int batches, size_t n) {
  struct backtracking_options o = {.search = search,
                                   .attempts = 40,
                                   .candidates = search == OPT_GAUSSIAN ? 5 : 20,
                                   .first = 2,
                                   .ratio = search == OPT_GAUSSIAN ? 0.4 : 0.8,
                                   .sufficient = 0.5,
                                   .eps_g = 0.05,
                                   .confidence = 0.9999,
                                   .gradient_share = 0.75,
                                   .certificate_share = 0.05};
  if (batches) o.batch = (struct sampling){SCHEME_POISSON, (double)n / 10};
  return o;
}

static void open_problem(struct fixture *f, enum opt_line_search search, int batches, size_t n, double capacity) {
  fixture_open(f, "logistic", n, DIM - 1, 1, ORACLE_REPLACE_ONE, capacity);
  run_decide(f, search);
  if (!batches) return;
  oracle_free(f->oracle);
  ledger_free(f->ledger);
  CHECK(ledger_create_renyi(ORDER, capacity, &f->ledger) == BASE_OK);
  CHECK(open_oracle(f->data, loss_find("logistic"), f->ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &f->oracle) ==
        BASE_OK);
}

static int run(const struct fixture *f, enum opt_line_search search, int batches, double rho, double *w,
               struct opt_result *r) {
  const struct backtracking_options o = options(search, batches, data_rows(f->data));
  return backtracking_run(f->oracle, &run_no_penalty, &o, rho, w, r);
}

/* An attempt is a gradient and a search, each on a batch of its own or both on one; then one gradient of all rows, and
 * what the ledger is to keep is kept. */
static void asks(enum opt_line_search search, int batches) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1, total = 0;
  const char *gradient = batches ? "batch gradient" : "gradient",
             *looks = batches ? "batch line search" : "line search";
  size_t entry = 0;
  open_problem(&f, search, batches, 1000, 3 * rho);
  CHECK(run(&f, search, batches, rho, w, &r) == BASE_OK);
  size_t last = r.trace.length - 1;
  CHECK(last % 2 == 0);
  for (size_t i = 0; i <= last; i++) {
    const struct trace_row *row = &r.trace.rows[i];
    int together = batches && search == OPT_GAUSSIAN && i < last;
    total += row->rho;
    CHECK(strcmp(row->query, i == last ? "gradient" : i % 2 ? looks : gradient) == 0);
    CHECK(i == last || row->iteration == (int)(i / 2) + 1);
    if (together && i % 2) {
      CHECK(row->rho == 0);
      continue;
    }
    const struct ledger_entry *e = ledger_at(f.ledger, entry++);
    CHECK(e->rho == row->rho && strcmp(e->what, together ? "batch step" : row->query) == 0);
  }
  CHECK(entry == ledger_length(f.ledger));
  CHECK_NEAR(total, ledger_spent(f.ledger), 1e-12);
  CHECK(total <= rho && total > rho * (1 - 1e-9)); /* what an attempt no longer takes goes to the certificate */
  CHECK(r.trace.rows[last].rho >= 0.05 * rho * (1 - 1e-9) && r.gradient_upper == r.trace.rows[last].bound);
  CHECK(f.oracle->batch.row == NULL && fixture_all_finite(DIM, w));
  opt_result_free(&r);
  fixture_close(&f);
}

/* With little noise: to where the gradient is short, as it is certified to be. */
static void descends(enum opt_line_search search, int batches) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0}, rho = 60;
  open_problem(&f, search, batches, (size_t)ctest_size(8000, 4000), rho);
  CHECK(run(&f, search, batches, rho, w, &r) == BASE_OK);
  double exact = run_exact_gradient(&f, &run_no_penalty, w);
  CHECK(exact < 0.02 && exact <= r.gradient_upper && r.gradient_upper <= 0.05 && r.status == OPT_SOSP);
  CHECK(r.eigen_known && r.eigen_lower == 0);
  opt_result_free(&r);
  fixture_close(&f);
}

/* Costs are those of the first attempt times powers of 1.3 and, with much noise, rise: the next one's, where the
 * attempt before moved nothing. A run whose costs rise cannot afford all attempts, and ends. Whether they rise is up to
 * the noise: in some of the runs. */
static void costs_rise(enum opt_line_search search, int batches) {
  int rises = 0, ended_early = 0;
  for (int i = ctest_size(0, 4); i < 6; i++) {
    ctest_seed((uint64_t)i);
    rises_in_run(search, batches, &rises, &ended_early);
  }
  CHECK(rises > 0 && ended_early > 0);
}

static void rises_in_run(enum opt_line_search search, int batches, int *rises, int *ended_early) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0}, rho = 2e-4, before[2] = {0, 0};
  open_problem(&f, search, batches, 2000, rho);
  CHECK(run(&f, search, batches, rho, w, &r) == BASE_OK);
  for (size_t i = 0; i + 1 < r.trace.length; i++) {
    const struct trace_row *row = &r.trace.rows[i];
    double power = log(row->rho / before[i % 2]) / log(1.3);
    int rose = i > 1 && row->rho > before[i % 2] * (1 + 1e-9);
    if (i > 1 && !(batches && search == OPT_GAUSSIAN)) CHECK(fabs(power - rose) < 1e-9 || !(row->rho > 0));
    if (rose) CHECK(i > 3 && r.trace.rows[(i | 1) - 4].step == 0);
    *rises += rose;
    before[i % 2] = row->rho;
  }
  *ended_early += (int)r.trace.length < 2 * r.planned + 1;
  CHECK(r.status == OPT_BUDGET);
  opt_result_free(&r);
  fixture_close(&f);
}

/* Where gradients become dearer what they are clipped to is cut by its share, the first time between two steps; the
 * ledger has the noise of it. */
static void clip_falls(int batches) {
  int cuts = 0, later = 0;
  for (int i = ctest_size(0, 4); i < 6; i++) {
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = 2e-4, n = 2000;
    ctest_seed((uint64_t)i);
    open_problem(&f, OPT_SVT, batches, (size_t)n, rho);
    struct backtracking_options o = options(OPT_SVT, batches, (size_t)n);
    o.clip = 0.4;
    o.clip_decay = 0.1;
    o.candidates = 1; /* that searches often find none */
    o.sufficient = 0.9;
    CHECK(backtracking_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    double clip = 0.4, divisor = batches ? o.batch.size : n;
    int cut = 0;
    for (size_t j = 0; j + 3 < r.trace.length; j += 2) {
      const struct ledger_entry *e = ledger_at(f.ledger, j), *next = ledger_at(f.ledger, j + 2);
      int dearer = next->rho > e->rho * (1 + 1e-9), falls = dearer && !cut;
      CHECK_NEAR(e->sensitivity * divisor / 2, clip, 1e-6);
      CHECK(isnan(r.trace.rows[j].bound));
      CHECK(strcmp(r.trace.rows[j].query, batches ? "batch gradient" : "clipped gradient") == 0);
      cuts += falls;
      later += dearer && cut;
      if (falls) clip *= 0.9;
      cut = (cut || dearer) && r.trace.rows[j + 1].step == 0;
    }
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(cuts > 0 && later > 0);
}

static void refuses(void) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0};
  struct backtracking_options o = options(OPT_EXPONENTIAL, 1, 500);
  open_problem(&f, OPT_EXPONENTIAL, 1, 500, 1);
  CHECK(backtracking_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
  o = options(OPT_SVT, 0, 500);
  o.candidates = 0;
  CHECK(backtracking_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
  const struct penalty climbs = {PENALTY_NONCONVEX, 0.1, 1, 0};
  o.candidates = 20;
  CHECK(backtracking_run(f.oracle, &climbs, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

static int polls_left;
static int stop_after_polls(void) { return polls_left-- <= 0; }

/* An interrupt, a failed allocation or a broken generator ends the run, and leaves no batch behind. */
static void fails(enum opt_line_search search, int batches) {
  struct base_host host = {stop_after_polls, NULL};
  long live = ctest_live_allocations();
  for (int k = 0; k < 9; k++) {
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0};
    open_problem(&f, search, batches, 400, 1);
    polls_left = k / 3;
    if (k % 3 == 0) base_set_host(&host);
    if (k % 3 == 1) ctest_fail_allocation(1 + 10 * k);
    if (k % 3 == 2) f.oracle->entropy = &ctest_entropy_broken;
    CHECK(run(&f, search, batches, 1, w, &r) != BASE_OK);
    CHECK(f.oracle->batch.row == NULL && f.oracle->batch.count == 0);
    base_set_host(NULL);
    ctest_fail_allocation(0);
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(ctest_live_allocations() == live);
}
