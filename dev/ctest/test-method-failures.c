/* A run that is interrupted, or whose memory or randomness fails, at each place where it can. */
#include "method/newton.h"
#include "run.h"

enum { DIM = 3 };

/* A method with its options, on data and with a start that are the same each time. */
struct trial {
  int (*run)(const struct trial *t, const struct fixture *f, double *w, struct opt_result *r);
  const char *loss;
  double rho;
  int allocations;                       /* more than so many */
  const struct coordinates *coordinates; /* of the rows, or NULL */
  union {
    struct opt_options opt;
    struct tr_options tr;
    struct gd_options gd;
    struct newton_options newton;
    struct ridge_options ridge;
  } o;
};

static struct trial opt_trial(int published, enum opt_line_search search);
static struct trial tr_trial(int explicit_test, int published);
static struct trial gd_trial(void);
static struct trial newton_trial(enum newton_curvature curvature, enum modify modify);
static struct trial ridge_trial(const struct coordinates *c);
static void interrupted(const struct trial *t);
static void without_memory(const struct trial *t);
static void without_entropy(const struct trial *t);

static void fails_everywhere(struct trial t) {
  interrupted(&t);
  without_memory(&t);
  without_entropy(&t);
}

void test_method_failures(void) {
  for (int published = 0; published <= 1; published++) {
    fails_everywhere(opt_trial(published, OPT_GAUSSIAN));
    fails_everywhere(opt_trial(published, OPT_SVT));
  }
  fails_everywhere(tr_trial(0, 0));
  fails_everywhere(tr_trial(1, 0));
  fails_everywhere(tr_trial(0, 1));
  fails_everywhere(gd_trial());
  for (int curvature = NEWTON_HESSIAN; curvature <= NEWTON_DIRECT; curvature++) {
    fails_everywhere(newton_trial((enum newton_curvature)curvature, MODIFY_ADD));
    fails_everywhere(newton_trial((enum newton_curvature)curvature, MODIFY_CLIP));
  }
  static const double scale[DIM] = {1, 2, 3}, centre[DIM] = {0};
  const struct coordinates_spec spec = {DIM, 0, 1, 0, 1, 1, 1, 0.5, scale, centre, scale, scale, 0, 0, NULL, 1};
  struct coordinates *c;
  CHECK(coordinates_create(&spec, &c) == BASE_OK);
  fails_everywhere(ridge_trial(c));
  coordinates_free(c);
}

/* ---- what is run; Hessians are asked for, too ---- */

static int run_opt(const struct trial *t, const struct fixture *f, double *w, struct opt_result *r) {
  run_decide(f, t->o.opt.search);
  return opt_run(f->oracle, &run_no_penalty, &t->o.opt, t->rho, w, r);
}

static struct trial opt_trial(int published, enum opt_line_search search) {
  struct trial t = {run_opt, "sigmoid", 2,
                    5,       NULL,      {.opt = published ? run_options_published(search, 1) : run_options(search, 1)}};
  t.o.opt.eps_g = 0.2;
  t.o.opt.eps_h = published ? 0.01 : 0.03;
  t.o.opt.max_iterations = 6;
  return t;
}

static int run_tr(const struct trial *t, const struct fixture *f, double *w, struct opt_result *r) {
  return tr_run(f->oracle, &run_no_penalty, &t->o.tr, t->rho, w, r);
}

static struct trial tr_trial(int explicit_test, int published) {
  struct trial t = {run_tr, "sigmoid", 2, 2, NULL, {.tr = run_options_tr(explicit_test, published)}};
  t.o.tr.eps_g = 0.2;
  t.o.tr.eps_h = 0.03;
  t.o.tr.max_iterations = 6;
  t.o.tr.spend_all = explicit_test;
  return t;
}

static int run_gd(const struct trial *t, const struct fixture *f, double *w, struct opt_result *r) {
  return gd_run(f->oracle, &run_no_penalty, &t->o.gd, t->rho, w, r);
}

static struct trial gd_trial(void) {
  struct trial t = {run_gd, "sigmoid", 2, 2, NULL, {.gd = run_options_gd()}};
  t.o.gd.eps_g = 0.2;
  t.o.gd.eps_h = 0.03;
  t.o.gd.max_iterations = 6;
  return t;
}

static int run_newton(const struct trial *t, const struct fixture *f, double *w, struct opt_result *r) {
  return newton_run(f->oracle, &run_no_penalty, &t->o.newton, t->rho, w, r);
}

static struct trial newton_trial(enum newton_curvature curvature, enum modify modify) {
  struct trial t = {run_newton,
                    "logistic",
                    1,
                    3,
                    NULL,
                    {.newton = {.curvature = curvature,
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
                                .tail = 0.5}}};
  return t;
}

static int run_ridge(const struct trial *t, const struct fixture *f, double *w, struct opt_result *r) {
  return ridge_run(f->oracle, &run_no_penalty, &t->o.ridge, t->rho, w, r);
}

static struct trial ridge_trial(const struct coordinates *c) {
  struct trial t = {run_ridge, "logistic", 1, 3, c, {.ridge = run_options_ridge()}};
  t.o.ridge.iterations = 3;
  return t;
}

/* ---- how it fails ---- */

static const double start[DIM] = {0.4, -0.2, 0};

static void open_trial(struct fixture *f, const struct trial *t, double *w) {
  ctest_seed(3);
  fixture_open(f, t->loss, 150, DIM, 0, ORACLE_REPLACE_ONE, t->rho);
  if (t->coordinates) CHECK(oracle_move(f->oracle, t->coordinates) == BASE_OK);
  memcpy(w, start, sizeof start);
}

/* Its answers. */
static size_t whole_run(struct fixture *whole, const struct trial *t) {
  struct opt_result r;
  double w[DIM];
  open_trial(whole, t, w);
  CHECK(t->run(t, whole, w, &r) == BASE_OK);
  size_t answers = r.trace.length;
  opt_result_free(&r);
  return answers;
}

/* What was charged before it ended is the beginning of what the whole run charges. */
static void is_prefix(const struct ledger *part, const struct ledger *whole) {
  int same = ledger_length(part) <= ledger_length(whole);
  for (size_t i = 0; same && i < ledger_length(part); i++) same = ledger_at(part, i)->rho == ledger_at(whole, i)->rho;
  CHECK(same);
}

static int polls_left;
static int stop_after_polls(void) { return polls_left-- <= 0; }

static void interrupted(const struct trial *t) {
  struct base_host host = {stop_after_polls, NULL};
  struct fixture whole;
  size_t answers = whole_run(&whole, t);
  int status = BASE_ERR_STOPPED, stops = 0;
  for (; status == BASE_ERR_STOPPED && stops < 1000; stops++) {
    struct fixture f;
    struct opt_result r;
    double w[DIM];
    open_trial(&f, t, w);
    polls_left = stops;
    base_set_host(&host);
    status = t->run(t, &f, w, &r);
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

static void without_memory(const struct trial *t) {
  struct fixture whole;
  whole_run(&whole, t);
  int status = BASE_ERR_MEMORY, failures = 0;
  for (; status == BASE_ERR_MEMORY && failures < 1000; failures++) {
    long before = ctest_live_allocations();
    struct fixture f;
    struct opt_result r;
    double w[DIM];
    open_trial(&f, t, w);
    ctest_fail_allocation(failures + 1);
    status = t->run(t, &f, w, &r);
    ctest_fail_allocation(0);
    CHECK(status == BASE_ERR_MEMORY || status == BASE_OK);
    CHECK(fixture_all_finite(DIM, w));
    is_prefix(f.ledger, whole.ledger);
    opt_result_free(&r);
    fixture_close(&f);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK && failures > t->allocations);
  fixture_close(&whole);
}

/* The first answer fails; it is paid for. */
static void without_entropy(const struct trial *t) {
  struct fixture f;
  struct opt_result r;
  double w[DIM];
  open_trial(&f, t, w);
  f.oracle->entropy = &ctest_entropy_broken;
  CHECK(t->run(t, &f, w, &r) == BASE_ERR_ENTROPY);
  CHECK(r.trace.length == 0 && ledger_length(f.ledger) == 1 && memcmp(w, start, sizeof start) == 0);
  opt_result_free(&r);
  fixture_close(&f);
}
