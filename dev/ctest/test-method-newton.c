/* Newton runs: where they go, what they spend and on what, certificates that hold. */
#include "method/newton.h"
#include "run.h"

enum { DIM = 4 };

static void converges(enum newton_curvature curvature, enum oracle_modify modify, int damped);
static void certificates_hold(void);
static void stops_at_the_target(void);
static void keeps_the_rest(void);
static void shares_are_kept(void);
static void lambda0_follows_the_trace(void);
static void matrix_is_repaired(void);
static void horizon_is_kept(void);
static void lambda0_falls_with_the_signal(void);
static void tail_is_quieter(void);
static void damping_helps(void);
static void refuses_nonconvex(void);
static void default_target(void);

static const struct penalty ridge = {PENALTY_RIDGE, 0.02, 1};

void test_method_newton(void) {
  for (int curvature = NEWTON_HESSIAN; curvature <= NEWTON_DIRECT; curvature++) {
    converges(curvature, ORACLE_ADD, 0);
    converges(curvature, ORACLE_CLIP, 0);
  }
  converges(NEWTON_DIRECT, ORACLE_ADD, 1);
  certificates_hold();
  stops_at_the_target();
  keeps_the_rest();
  shares_are_kept();
  lambda0_follows_the_trace();
  matrix_is_repaired();
  horizon_is_kept();
  lambda0_falls_with_the_signal();
  tail_is_quieter();
  damping_helps();
  refuses_nonconvex();
  default_target();
}

static struct newton_options options(enum newton_curvature curvature) {
  struct newton_options o = {.curvature = curvature,
                             .spend_all = 1,
                             .iterations = curvature == NEWTON_LAZY ? 40 : 12,
                             .eps_g = 0.02,
                             .confidence = 0.95,
                             .curvature_share = 0.4,
                             .trace_share = 0.2,
                             .search_share = 0.3,
                             .certificate_share = 0.1,
                             .lambda0 = NAN,
                             .lambda_scale = curvature == NEWTON_LAZY ? 0.01 : 1};
  return o;
}

/* A generous budget: near the minimum, certified, everything spent. */
static void converges(enum newton_curvature curvature, enum oracle_modify modify, int damped) {
  for (int k = 0; k < 2; k++) {
    const struct penalty *penalty = k ? &ridge : &run_no_penalty;
    struct newton_options o = options(curvature);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = 1e4;
    o.modify = modify;
    o.damped = damped;
    o.confidence = 0.9999;
    fixture_open(&f, "logistic", (size_t)ctest_size(4000, 800), DIM - 1, 1, ORACLE_REPLACE_ONE, 2 * rho);
    CHECK(newton_run(f.oracle, penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK(run_exact_gradient(&f, penalty, w) < 2e-3);
    CHECK(r.status == OPT_SOSP && r.gradient_upper <= o.eps_g);
    CHECK(run_exact_gradient(&f, penalty, w) <= r.gradient_upper);
    CHECK(r.eigen_known && r.eigen_lower == 0 && r.planned == o.iterations);
    CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
    CHECK(ledger_accountant_of(f.ledger) == LEDGER_GDP);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Little budget, so that noise matters: of the certified runs at most 5 % may be wrong. */
static void certificates_hold(void) {
  int runs = ctest_size(200, 4), wrong = 0, certified = 0;
  for (int i = 0; i < runs; i++) {
    struct newton_options o = options((enum newton_curvature)(i % 4));
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = 0.02;
    ctest_seed(900 + (uint64_t)i);
    fixture_open(&f, "logistic", 400, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.spend_all = i % 8 < 4;
    o.eps_g = newton_default_alpha(f.oracle, &o, rho, w);
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK((r.status == OPT_SOSP) == (r.gradient_upper <= o.eps_g));
    certified += r.status == OPT_SOSP;
    wrong += run_exact_gradient(&f, &run_no_penalty, w) > r.gradient_upper;
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(certified >= runs / 4);
  CHECK(wrong <= 0.05 * runs + 3 * sqrt(0.05 * 0.95 * runs));
}

/* Without spend_all the first certified gradient ends the run; what is left is unused. */
static void stops_at_the_target(void) {
  struct newton_options o = options(NEWTON_HESSIAN);
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1e4;
  fixture_open(&f, "logistic", 2000, DIM, 0, ORACLE_REPLACE_ONE, rho);
  o.spend_all = 0;
  CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK(r.status == OPT_SOSP && r.trace.length < 13 &&
        strcmp((&r.trace.rows[r.trace.length - 1])->query, "gradient") == 0);
  CHECK(run_exact_gradient(&f, &run_no_penalty, w) <= r.gradient_upper && r.gradient_upper <= o.eps_g);
  CHECK(oracle_left(f.oracle) > rho / 2);
  for (size_t i = 0; i + 1 < r.trace.length; i++) {
    if (strcmp(r.trace.rows[i].query, "gradient") == 0) CHECK(r.trace.rows[i].bound > o.eps_g);
  }
  opt_result_free(&r);

  o.eps_g = 1e-9; /* out of reach */
  fixture_close(&f);
  fixture_open(&f, "logistic", 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(newton_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_OK);
  CHECK(r.status == OPT_ITERATIONS && r.gradient_upper > o.eps_g);
  CHECK_NEAR(ledger_spent(f.ledger), 1, 1e-9);
  opt_result_free(&r);
  fixture_close(&f);
}

/* A run takes no more than its part of a budget that others share. */
static void keeps_the_rest(void) {
  struct fixture f;
  double part = 0.3;
  fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, 1);
  for (int i = 1; i <= 3; i++) {
    struct newton_options o = options((enum newton_curvature)i);
    struct opt_result r;
    double w[DIM] = {0.5, 0, 0, 0};
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, part, w, &r) == BASE_OK);
    CHECK_NEAR(ledger_spent(f.ledger), i * part, 1e-9);
    CHECK(ledger_spent(f.ledger) <= i * part + 1e-12);
    opt_result_free(&r);
  }
  fixture_close(&f);
}

static double spent_on(const struct opt_result *r, const char *query) {
  double total = 0;
  for (size_t i = 0; i < r->trace.length; i++) {
    if (strcmp(r->trace.rows[i].query, query) == 0) total += r->trace.rows[i].rho;
  }
  return total;
}

static void shares_are_kept(void) {
  for (int curvature = NEWTON_HESSIAN; curvature <= NEWTON_DIRECT; curvature++) {
    for (int damped = 0; damped <= (curvature == NEWTON_DIRECT); damped++) {
      struct newton_options o = options((enum newton_curvature)curvature);
      struct fixture f;
      struct opt_result r;
      double w[DIM] = {0}, rho = 2, steps = 0.9 * rho, walk = steps * (damped ? 0.7 : 1);
      o.damped = damped;
      fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
      const struct trace_row *end = (&r.trace.rows[r.trace.length - 1]);
      CHECK(strcmp(end->query, "gradient") == 0);
      CHECK_NEAR(end->rho, 0.1 * rho, 1e-9);
      CHECK_NEAR(spent_on(&r, "gradient"), 0.1 * rho + 0.6 * walk, 1e-9);
      CHECK_NEAR(spent_on(&r, "trace"), curvature <= NEWTON_QU ? 0.4 * 0.2 * walk : 0, 1e-9);
      CHECK_NEAR(spent_on(&r, "direction"), curvature <= NEWTON_QU ? 0.4 * 0.8 * walk : 0, 1e-9);
      CHECK_NEAR(spent_on(&r, "majorant"), curvature == NEWTON_LAZY ? 0.4 * steps : 0, 1e-9);
      CHECK_NEAR(spent_on(&r, "hessian"), curvature == NEWTON_DIRECT ? 0.4 * walk : 0, 1e-9);
      CHECK_NEAR(spent_on(&r, "line search"), damped ? 0.3 * steps : 0, 1e-9);
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
}

/* lambda0 = (scale tr (b / n)^2 / rho)^(1/3), at least what descent needs and 1 / n, from the trace as released: seen
 * in the direction's noise. A ridge penalty on all coordinates adds to it. */
static void lambda0_follows_the_trace(void) {
  static const struct penalty all = {PENALTY_RIDGE, 0.05, 0};
  int by_descent = 0, by_scale = 0;
  for (int k = 0; k < 3; k++) {
    struct newton_options o = options(NEWTON_HESSIAN);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = k == 1 ? 1e-3 : 1, n = 200, c = 0.25 / n;
    if (k == 1) o.lambda0 = 0.07;
    o.lambda_scale = k == 2 ? 1e4 : 1;
    fixture_open(&f, "logistic", (size_t)n, DIM, 0, ORACLE_REPLACE_ONE, rho);
    CHECK(newton_run(f.oracle, k == 2 ? &all : &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(spent_on(&r, "trace") > 0 || k == 1);
    for (size_t i = 0; i < r.trace.length; i++) {
      const struct trace_row *row = &r.trace.rows[i], *gradient = row - (k == 1 ? 1 : 2);
      if (strcmp(row->query, "direction") != 0) continue;
      double trace = fmax(row[-1].estimate, 0), descent = sqrt(c * trace / sqrt(0.5 * row->rho));
      double lambda0 = k == 1 ? 0.07 : fmax(fmax(cbrt(o.lambda_scale * trace * c * c / row->rho), descent), 1 / n);
      by_descent += lambda0 == descent;
      by_scale += lambda0 > descent && lambda0 > 1 / n && k != 1;
      double m = lambda0 + (k == 2 ? 0.05 : 0);
      double sd = gradient->estimate * c / (m * (m + c)) / sqrt(2 * row->rho);
      CHECK_NEAR(row->sd, sd, 1e-6 * sd);
    }
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(by_descent > 0 && by_scale > 0);
}

/* Noise far larger than the matrix: its negative eigenvalues are raised, steps stay bounded by |g| / lambda0. */
static void matrix_is_repaired(void) {
  for (int modify = ORACLE_ADD; modify <= ORACLE_CLIP; modify++) {
    for (int curvature = NEWTON_LAZY; curvature <= NEWTON_DIRECT; curvature++) {
      struct newton_options o = options((enum newton_curvature)curvature);
      struct fixture f;
      struct opt_result r;
      double w[DIM] = {0}, rho = 1e-4, lambda0 = 0, least = 0;
      o.modify = modify;
      fixture_open(&f, "logistic", 30, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
      for (size_t i = 0; i + 1 < r.trace.length; i++) {
        const struct trace_row *row = &r.trace.rows[i];
        int gradient = strcmp(row->query, "gradient") == 0;
        if (!gradient) lambda0 = sqrt(2 * DIM) * row->sd;
        if (!gradient) least = fmin(least, row->estimate);
        const struct trace_row *last = curvature == NEWTON_LAZY ? row : row - 1;
        if (gradient == (curvature == NEWTON_LAZY)) CHECK(row->step <= last->estimate / lambda0 * (1 + 1e-12));
      }
      CHECK(least < 0);
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
}

/* Lazy: T steps along a direction without curvature go as far as T / lambda0 = 1 / (scale s sqrt(d)), whatever T. */
static void horizon_is_kept(void) {
  for (int iterations = 10; iterations <= 80; iterations *= 2) {
    struct newton_options o = options(NEWTON_LAZY);
    struct fixture f;
    struct opt_result r;
    size_t n = 200;
    double *x = base_alloc(n * DIM, sizeof *x), *y = base_alloc(n, sizeof *y), w[DIM] = {0}, rho = 1;
    for (size_t i = 0; i < n; i++) y[i] = 1; /* rows of zeros: the gradient is all noise */
    o.iterations = iterations;
    o.lambda_scale = 0.3;
    fixture_open_rows(&f, "logistic", x, y, n, DIM, 0, ORACLE_REPLACE_ONE, rho);
    double lambda0 = 0.3 * iterations * sqrt(DIM) * oracle_sd_gradient(f.oracle, w, 0.6 * 0.9 * rho), most = 0;
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    for (size_t i = 1; i + 1 < r.trace.length; i++) {
      CHECK(r.trace.rows[i].step <= r.trace.rows[i].estimate / lambda0 * (1 + 1e-9));
      most = fmax(most, r.trace.rows[i].step / r.trace.rows[i].estimate * lambda0);
    }
    CHECK(most > 0.8); /* along the eigenvectors whose noise was negative it is one */
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Of a step over its gradient: one over lambda0 or less, and near it somewhere. */
static double longest_step(const struct opt_result *r, size_t from, size_t to) {
  double longest = 0;
  for (size_t i = from; i < to; i++) longest = fmax(longest, r->trace.rows[i].step / r->trace.rows[i].estimate);
  return longest;
}

/* Twelve looks: on pure noise few of them see anything, on strong data the first ones do. */
static void lambda0_falls_with_the_signal(void) {
  double halved[2] = {0, 0};
  int runs = ctest_size(40, 4);
  for (int i = 0; i < runs; i++) {
    for (int signal = 0; signal <= 1; signal++) {
      struct newton_options o = options(NEWTON_LAZY);
      struct fixture f;
      struct opt_result r;
      size_t n = 500;
      double *x = base_alloc(n * DIM, sizeof *x), *y = base_alloc(n, sizeof *y), w[DIM] = {0}, rho = 5;
      for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < DIM; j++) x[k + j * n] = signal ? 0.05 * ctest_normal() : 0;
        y[k] = x[k] > 0 ? 1 : -1;
      }
      o.iterations = 48;
      o.adaptive = 1;
      o.lambda_scale = 1;
      fixture_open_rows(&f, "logistic", x, y, n, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
      halved[signal] += log2(longest_step(&r, 40, 49) / longest_step(&r, 1, 5)) / runs;
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
  CHECK(halved[0] < 2);
  CHECK(halved[1] > halved[0] + 1);
}

/* The mean of the last iterates is nearer to the minimum than the last of them. */
static void tail_is_quieter(void) {
  double squares[2] = {0, 0};
  int runs = ctest_size(60, 4);
  for (int i = 0; i < runs; i++) {
    for (int k = 0; k < 2; k++) {
      struct newton_options o = options(NEWTON_LAZY);
      struct fixture f;
      struct opt_result r;
      double w[DIM] = {0}, g, rho = 0.5;
      o.tail = k ? 0.5 : 0;
      ctest_seed((uint64_t)i);
      fixture_open(&f, "logistic", 300, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &ridge, &o, rho, w, &r) == BASE_OK);
      run_check(&f, &r, w, rho);
      g = run_exact_gradient(&f, &ridge, w);
      squares[k] += g * g / runs;
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
  CHECK(squares[1] < 0.5 * squares[0]);

  double w[3][DIM] = {{0}}; /* of one iterate the mean is itself; of all of two it is halfway */
  for (int k = 0; k < 3; k++) {
    struct newton_options o = options(NEWTON_LAZY);
    struct fixture f;
    struct opt_result r;
    o.iterations = 2;
    o.tail = 0.5 * k;
    ctest_seed(5);
    fixture_open(&f, "logistic", 300, DIM, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(newton_run(f.oracle, &ridge, &o, 1, w[k], &r) == BASE_OK);
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(memcmp(w[0], w[1], sizeof w[0]) == 0 && memcmp(w[0], w[2], sizeof w[0]) != 0);
}

/* From far away, where the loss has next to no curvature, full steps overshoot. */
static void damping_helps(void) {
  double after[2] = {0, 0}, before = 0;
  for (int damped = 0; damped <= 1; damped++) {
    struct newton_options o = options(NEWTON_DIRECT);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {-9, 9, 9, 0}, rho = 1e4;
    int searches = 0, shorter = 0;
    o.damped = damped;
    o.iterations = 4;
    ctest_seed(8);
    fixture_open(&f, "logistic", 500, DIM, 0, ORACLE_REPLACE_ONE, rho);
    CHECK(sums_value(f.oracle, w, &before) == BASE_OK);
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(sums_value(f.oracle, w, &after[damped]) == BASE_OK);
    for (size_t i = 0; i < r.trace.length; i++) {
      const struct trace_row *row = &r.trace.rows[i];
      if (strcmp(row->query, "line search") != 0) continue;
      searches++;
      shorter += !isnan(row->estimate);
      CHECK(row->step > 0);
    }
    CHECK(searches == (damped ? 4 : 0) && (shorter > 0 || !damped));
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(after[0] > before && after[1] < before / 2);
}

/* Before anything is charged. */
static void refuses_nonconvex(void) {
  static const struct penalty nonconvex = {PENALTY_NONCONVEX, 0.1, 0};
  for (int k = 0; k < 2; k++) {
    struct newton_options o = options(NEWTON_LAZY);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0};
    fixture_open(&f, k ? "logistic" : "sigmoid", 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(newton_run(f.oracle, k ? &nonconvex : &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
    CHECK(ledger_length(f.ledger) == 0 && r.trace.length == 0 && fixture_all_zero(DIM, w));
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* More data or more budget certify more, and runs reach the target. */
static void default_target(void) {
  double last = 2;
  struct newton_options o = options(NEWTON_QU);
  const double w[DIM] = {0};
  for (int k = 0; k < 4; k++) {
    struct fixture f;
    fixture_open(&f, "logistic", (size_t)(400 * pow(4, k)), DIM, 0, ORACLE_REPLACE_ONE, 1);
    double alpha = newton_default_alpha(f.oracle, &o, 0.1, w);
    CHECK(alpha > 0 && alpha < last);
    CHECK(newton_default_alpha(f.oracle, &o, 0.4, w) < alpha);
    CHECK(ledger_length(f.ledger) == 0);
    last = alpha;
    fixture_close(&f);
  }
}
