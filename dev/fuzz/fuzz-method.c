/* Runs with any control object and any data: they end, spend no more than they may, and leave a finite point. */
#include "fuzz.h"

#include "data/data.h"
#include "la/la.h"
#include "loss/loss.h"
#include "method/method.h"
#include "method/newton.h"
#include "shorthand.h"

enum { OPT, TR, GD, NEWTON, METHODS };
enum { ROWS = 5, COLUMNS = 2, DIM = COLUMNS + 1 };

static struct opt_options read_opt(struct fuzz *f);
static struct tr_options read_tr(struct fuzz *f);
static struct gd_options read_gd(struct fuzz *f);
static struct newton_options read_newton(struct fuzz *f);
static struct penalty read_penalty(struct fuzz *f);
static void run(struct fuzz *f, uint32_t method, struct oracle *o, struct ledger *l);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  double x[ROWS * COLUMNS], y[ROWS];
  struct data *rows = NULL;
  struct ledger *ledger = NULL;
  struct oracle *oracle = NULL;
  size_t n = 1 + fuzz_below(&f, ROWS);
  fuzz_doubles(&f, n * COLUMNS, x);
  for (size_t i = 0; i < n; i++) y[i] = fuzz_below(&f, 2) ? 1 : -1;
  uint32_t method = fuzz_below(&f, METHODS);
  /* Newton's method is for convex ones; what needs a Lipschitz Hessian is not let through with the Huber losses. */
  static const char *const losses[] = {"huber", "huber_svm", "logistic", "bounded_logistic", "sigmoid"};
  uint32_t first = method == OPT || method == TR ? 2 : 0, last = method == NEWTON ? 4 : 5;
  const struct loss *loss = loss_find(losses[first + fuzz_below(&f, last - first)]);
  double capacity = fuzz_double(&f);
  enum oracle_neighbours relation = fuzz_below(&f, 2) ? ORACLE_ZERO_OUT : ORACLE_REPLACE_ONE;
  int status = data_create(x, n, COLUMNS, 1, 1, y, &rows);
  if (status == BASE_OK) status = ledger_create(capacity, capacity, LEDGER_OPEN, &ledger);
  if (status == BASE_OK) status = open_oracle(rows, loss, ledger, &ctest_entropy, relation, &oracle);
  if (status == BASE_OK) run(&f, method, oracle, ledger);
  oracle_free(oracle);
  ledger_free(ledger);
  data_free(rows);
  fuzz_end();
  return 0;
}

static double positive(struct fuzz *f) {
  double x = fabs(fuzz_double(f));
  return x > 0 && isfinite(x) ? x : 1;
}

/* What the control objects and sosp() let through; the number of iterations is kept small for speed. */
static struct opt_options read_opt(struct fuzz *f) {
  struct opt_options o = {.published = (int)fuzz_below(f, 2),
                          .two_phase = (int)fuzz_below(f, 2),
                          .spend_all = (int)fuzz_below(f, 2),
                          .search = (enum opt_line_search)fuzz_below(f, 4),
                          .eps_g = positive(f),
                          .eps_h = positive(f),
                          .confidence = fuzz_share(f),
                          .gap = fuzz_below(f, 2) ? NAN : positive(f),
                          .gap_share = fuzz_share(f),
                          .phase1_share = fuzz_share(f),
                          .search_share = fuzz_share(f),
                          .hessian_share = 0.01 + 0.98 * fuzz_share(f), /* a run asks for some 30 / share Hessians */
                          .max_iterations = 1 + (int)fuzz_below(f, 12),
                          .mult_g = 1 + 1e6 * fuzz_share(f) * fuzz_share(f),
                          .mult_h = 1 + 1e6 * fuzz_share(f) * fuzz_share(f),
                          .back_g = 0.98 * fuzz_share(f),
                          .back_h = 0.98 * fuzz_share(f)};
  return o;
}

static struct tr_options read_tr(struct fuzz *f) {
  struct tr_options o = {.published = (int)fuzz_below(f, 2),
                         .explicit_test = (int)fuzz_below(f, 2),
                         .spend_all = (int)fuzz_below(f, 2),
                         .eps_g = positive(f),
                         .eps_h = positive(f),
                         .confidence = fuzz_share(f),
                         .gap = fuzz_below(f, 2) ? NAN : positive(f),
                         .gap_share = fuzz_share(f),
                         .max_iterations = 1 + (int)fuzz_below(f, 12)};
  return o;
}

static struct gd_options read_gd(struct fuzz *f) {
  struct gd_options o = {.eps_g = positive(f),
                         .eps_h = positive(f),
                         .confidence = fuzz_share(f),
                         .gap = fuzz_below(f, 2) ? NAN : positive(f),
                         .gap_share = fuzz_share(f),
                         .hessian_share = fuzz_share(f),
                         .max_iterations = 1 + (int)fuzz_below(f, 12)};
  return o;
}

static struct newton_options read_newton(struct fuzz *f) {
  struct newton_options o = {.curvature = (enum newton_curvature)fuzz_below(f, 4),
                             .modify = (enum modify)fuzz_below(f, 2),
                             .spend_all = (int)fuzz_below(f, 2),
                             .iterations = 1 + (int)fuzz_below(f, 12),
                             .eps_g = positive(f),
                             .confidence = fuzz_share(f),
                             .curvature_share = fuzz_share(f),
                             .trace_share = fuzz_share(f),
                             .search_share = fuzz_share(f),
                             .certificate_share = fuzz_share(f),
                             .lambda0 = fuzz_below(f, 2) ? NAN : fmin(positive(f), 1e6),
                             .lambda_scale = fmin(positive(f), 1e6),
                             .tail = fuzz_share(f)};
  o.damped = o.curvature == NEWTON_DIRECT && fuzz_below(f, 2);
  return o;
}

static struct penalty read_penalty(struct fuzz *f) {
  double lambda = fabs(fuzz_double(f));
  struct penalty p = {(enum penalty_kind)fuzz_below(f, 3), lambda <= 1e6 ? lambda : 1, fuzz_below(f, 2), 0};
  return p;
}

/* The default target where it is wanted, and the run. */
static int run_method(struct fuzz *f, uint32_t method, int slow, struct oracle *o, const struct penalty *penalty,
                      double rho, double *w, struct opt_result *result) {
  double alpha = 1;
  int status;
  if (method == OPT) {
    struct opt_options options = read_opt(f);
    if (slow) alpha = opt_default_alpha(o, penalty, &options, rho, w);
    status = opt_run(o, penalty, &options, rho, w, result);
  } else if (method == TR) {
    struct tr_options options = read_tr(f);
    if (slow) alpha = tr_default_alpha(o, penalty, &options, rho, w);
    status = tr_run(o, penalty, &options, rho, w, result);
  } else if (method == GD) {
    struct gd_options options = read_gd(f);
    if (slow) alpha = gd_default_alpha(o, penalty, &options, rho, w);
    status = gd_run(o, penalty, &options, rho, w, result);
  } else {
    struct newton_options options = read_newton(f);
    if (slow) alpha = newton_default_alpha(o, penalty, &options, rho, w);
    status = newton_run(o, penalty, &options, rho, w, result);
  }
  REQUIRE(alpha > 0 && isfinite(alpha));
  return status;
}

static void run(struct fuzz *f, uint32_t method, struct oracle *o, struct ledger *l) {
  struct penalty penalty = read_penalty(f);
  struct opt_result result;
  double w[DIM], rho = fuzz_below(f, 2) ? ledger_left(l) : fmin(fuzz_double(f), ledger_left(l));
  for (int i = 0; i < DIM; i++) {
    w[i] = fuzz_double(f);
    if (!(fabs(w[i]) <= 1e30)) w[i] = 0; /* as check_vector() has it */
  }
  if (method == NEWTON && penalty.kind == PENALTY_NONCONVEX) penalty.kind = PENALTY_RIDGE;
  int slow = rho > 0 && isfinite(rho) && fuzz_below(f, 16) == 15;
  int status = run_method(f, method, slow, o, &penalty, rho, w, &result);
  REQUIRE(status >= 0 && status < BASE_STATUS_COUNT && status != BASE_ERR_BUDGET);
  REQUIRE(ledger_spent(l) <= ledger_capacity(l));
  /* what the ledger cannot tell from its capacity may be added */
  if (rho > 0) REQUIRE(ledger_spent(l) <= rho * (1 + 1e-9) + 0x1p-50 * ledger_capacity(l));
  if (status == BASE_OK) {
    REQUIRE(fuzz_all_finite(DIM, w));
    REQUIRE(result.trace.length == ledger_length(l));
    for (size_t i = 0; i < result.trace.length; i++) REQUIRE(result.trace.rows[i].rho == ledger_at(l, i)->rho);
  }
  opt_result_free(&result);
}
