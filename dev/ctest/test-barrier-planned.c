/*
 * An oracle without rows has the sensitivities and scales of noise of one with so many rows, to the bit, for every
 * query, relation, storage and coordinates; and it refuses whatever is asked of it before anything is charged.
 */
#include "acct/acct.h"
#include "fixture.h"
#include "la/la.h"

enum { P = 6, DIM = P + 1, STEPS = 3 };
/* So many rows that some groups have several blocks. */
#define N ((size_t)ctest_size(70000, 1200))

static const struct query *const queries[] = {
    &query_value,         &query_gradient,        &query_clipped_gradient, &query_model_gradient,
    &query_hessian,       &query_majorant,        &query_products,         &query_weighted,
    &query_moments,       &query_usable,          &query_response,         &query_residual_gradient,
    &query_recalibration, &query_residual_counts, &query_residual_hessian, &query_second_moments,
    &query_trace,         &query_direction,       &query_decreases,        &query_first_step,
    &query_improvement,   &query_batch_step,      &query_best_step,       &query_counts,           &query_table,
    &query_scores,        &query_best_score};
enum { QUERIES = sizeof queries / sizeof *queries, RAW = 4 }; /* the last ones are of raw columns, without a model */
static int compared[QUERIES];

/* Everything that a query may need. */
static const double at[DIM] = {0.5, -1, 2, 0.1, 0, 3, -0.2}, along[DIM] = {0.4, -1, 1, 0.3, 0, 2, 1};
static const double step[STEPS] = {0.5, 1, 2}, offset[STEPS] = {0, 0.1, 0}, most[P] = {1, 0.5, 0, 1, 0.2, 1};
static const double penalty[DIM] = {0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, breaks[3] = {0, 1, 2};
static const struct modified modified = {MODIFY_ADD, 0.1, penalty};
static const struct histogram histograms[STEPS] = {{breaks, 2}, {breaks, 2}, {breaks, 1}};
static const struct ask everything = {.at = at,
                                      .along = along,
                                      .k = STEPS,
                                      .step = step,
                                      .offset = offset,
                                      .matrix = &modified,
                                      .clip = 0.7,
                                      .most = most,
                                      .histogram = histograms};

struct planned {
  struct engine engine;
  struct model model;
  struct oracle *oracle;
};

static int open_planned(struct planned *p, const char *loss, size_t n, int intercept, struct ledger *ledger,
                        enum oracle_neighbours neighbours) {
  static const int indicators[] = {1, 2}; /* as fixture_codes() has them */
  int codes = fixture_storage == FIXTURE_CODES;
  const struct data_columns columns = {.dense = codes ? P / 2 : P, .factors = codes ? 2 : 0, .indicators = indicators};
  p->oracle = NULL;
  int status = engine_planned(&columns, n, intercept, 1, &p->engine);
  if (status != BASE_OK) return status;
  p->model = model_linear(p->engine.rows, loss_find(loss));
  return oracle_create(&p->engine, &p->model, ledger, &ctest_entropy, neighbours, &p->oracle);
}

static void close_planned(struct planned *p) {
  oracle_free(p->oracle);
  engine_free(&p->engine);
}

/* The same number, or infinite in both. */
static int same(double x, double y) { return x == y; }

/* Of the queries that the real oracle answers there: the planned one says which. */
static void same_in(const struct scope *real, const struct scope *planned) {
  for (int q = 0; q < QUERIES - RAW; q++) {
    CHECK(release_fits(planned, queries[q], &everything) == release_check(real, queries[q], &everything));
    if (release_fits(planned, queries[q], &everything) != BASE_OK) continue;
    compared[q] = 1;
    CHECK(same(queries[q]->sensitivity(real, &everything, 0), queries[q]->sensitivity(planned, &everything, 0)));
    CHECK(same(release_sd(real, queries[q], &everything, 0.3), release_sd(planned, queries[q], &everything, 0.3)));
  }
}

static void same_on_batches(struct oracle *real, struct oracle *planned) {
  const struct batch batch = {.size = 500};
  same_in(&(struct scope){.oracle = real, .of = &batch}, &(struct scope){.oracle = planned, .of = &batch});
}

static void same_steps(struct oracle *real, struct oracle *planned) {
  for (int scheme = SCHEME_FIXED; scheme <= SCHEME_POISSON; scheme++) {
    const struct sampling how = {(enum scheme)scheme, 500};
    double sd = step_sd(real, &how, &query_gradient, &everything, 0.01);
    CHECK(scheme == SCHEME_FIXED || isfinite(sd));
    CHECK(same(sd, step_sd(planned, &how, &query_gradient, &everything, 0.01)));
  }
}

static void same_on_fresh_records(struct oracle *real, struct oracle *planned) {
  const struct epoch epoch = {.records = 1000, .leaves = 4, .factor = FACTOR_TREE, .curvature_share = 0.2};
  const struct epoch_sd x = epoch_noise(real, 0.3, &epoch, at), y = epoch_noise(planned, 0.3, &epoch, at);
  CHECK(same(x.gradient, y.gradient) && same(x.hessian, y.hessian));
}

/* moved: in no other coordinates, in those of clipped rows, of weighted ones. */
static void same_as_real(const char *loss, int intercept, enum oracle_neighbours neighbours, int moved) {
  struct fixture f;
  struct planned p;
  struct fixture_coordinates c;
  fixture_open(&f, loss, N, P, intercept, neighbours, 1);
  oracle_free(f.oracle);
  ledger_free(f.ledger);
  CHECK(ledger_create_renyi(8, 1, &f.ledger) == BASE_OK);
  CHECK(open_oracle(f.data, loss_find(loss), f.ledger, &ctest_entropy, neighbours, &f.oracle) == BASE_OK);
  CHECK(open_planned(&p, loss, N, intercept, f.ledger, neighbours) == BASE_OK);
  CHECK(oracle_rows(p.oracle) == N && oracle_dim(p.oracle) == oracle_dim(f.oracle));
  CHECK(fixture_coordinates(f.data, 1, moved == 2, moved == 2 ? 1.3 : 1, 0.5, &c) == BASE_OK);
  if (moved) CHECK(oracle_move(f.oracle, c.made) == BASE_OK && oracle_move(p.oracle, c.made) == BASE_OK);
  same_in(oracle_all(f.oracle), oracle_all(p.oracle));
  same_on_batches(f.oracle, p.oracle);
  if (!moved) same_steps(f.oracle, p.oracle);
  same_on_fresh_records(f.oracle, p.oracle);
  CHECK(same(oracle_lipschitz(f.oracle), oracle_lipschitz(p.oracle)));
  CHECK(!moved || oracle_move(p.oracle, c.made) == BASE_ERR_ARGUMENT); /* once */
  close_planned(&p);
  coordinates_free(c.made);
  fixture_close(&f);
}

/* A gradient's sensitivity at a point, and a little more for rounding. */
static void known(enum oracle_neighbours neighbours) {
  double most = fixture_logistic_change(la_norm(DIM, at), neighbours == ORACLE_REPLACE_ONE);
  struct ledger *ledger;
  struct planned p;
  CHECK(ledger_create(1, 1, LEDGER_OPEN, &ledger) == BASE_OK);
  CHECK(open_planned(&p, "logistic", N, 1, ledger, neighbours) == BASE_OK);
  double change = (double)N * query_gradient.sensitivity(oracle_all(p.oracle), &everything, 0);
  CHECK(change > most && change < most * (1 + 1e-6));
  close_planned(&p);
  ledger_free(ledger);
}

static void refuses(enum ledger_accountant accountant) {
  struct ledger *ledger;
  struct planned p;
  double value[256], sd[8], w[DIM];
  size_t index;
  struct oracle_perturbation how;
  CHECK(ledger_create(1e6, 1e6, accountant, &ledger) == BASE_OK);
  CHECK(open_planned(&p, "logistic", N, 1, ledger, ORACLE_REPLACE_ONE) == BASE_OK);
  for (int q = 0; q < QUERIES; q++) {
    const struct answer to = {value, sd, &index};
    CHECK(release(oracle_all(p.oracle), queries[q], &everything, 0.1, to) == BASE_ERR_ARGUMENT);
    CHECK(fresh_release(p.oracle, queries[q], &everything, 100, to) == BASE_ERR_ARGUMENT);
  }
  CHECK(fresh_open(p.oracle, 0.1) == BASE_ERR_ARGUMENT);
  static const double quadratic[DIM] = {1, 1, 1, 1, 1, 1, 1};
  CHECK(oracle_minimiser(p.oracle, quadratic, 0.1, w, sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_perturbed_minimiser(p.oracle, quadratic, 0.1, 0.1, w, &how) == BASE_ERR_ARGUMENT);
  CHECK(oracle_set_weights(p.oracle, penalty, NULL, 0) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(ledger) == 0 && ledger_spent(ledger) == 0);
  close_planned(&p);
  ledger_free(ledger);
}

static void refuses_steps(void) {
  struct ledger *ledger;
  struct planned p;
  const struct schedule schedule = {{SCHEME_FIXED, 500}, {0.5, 0.5}};
  CHECK(ledger_create_renyi(8, 1e3, &ledger) == BASE_OK);
  CHECK(open_planned(&p, "logistic", N, 1, ledger, ORACLE_REPLACE_ONE) == BASE_OK);
  CHECK(step_open(p.oracle, &schedule, &everything, 0.01) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(ledger) == 0);
  close_planned(&p);
  ledger_free(ledger);
}

static void refuses_perturbed(void) {
  struct ledger *ledger;
  struct planned p;
  double w[DIM];
  struct oracle_perturbation how;
  static const double quadratic[DIM] = {1, 1, 1, 1, 1, 1, 1};
  const struct acct_perturbed accounted = {1, 0.5, 0, 0.01};
  CHECK(ledger_create_perturbed(2, 1e-6, &accounted, &ledger) == BASE_OK);
  CHECK(open_planned(&p, "logistic", N, 1, ledger, ORACLE_REPLACE_ONE) == BASE_OK);
  CHECK(oracle_perturbed_minimiser(p.oracle, quadratic, 0.01, 0.001, w, &how) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(ledger) == 0 && ledger_perturbed(ledger));
  close_planned(&p);
  ledger_free(ledger);
}

static void failures(void) {
  struct planned p;
  long before = ctest_live_allocations();
  CHECK(open_planned(&p, "logistic", 0, 1, NULL, ORACLE_REPLACE_ONE) == BASE_ERR_ARGUMENT);
  int status = BASE_ERR_MEMORY, which = 0;
  while (status == BASE_ERR_MEMORY && which < 100) {
    ctest_fail_allocation(++which);
    status = open_planned(&p, "logistic", N, 1, NULL, ORACLE_REPLACE_ONE);
    ctest_fail_allocation(0);
    close_planned(&p);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK && which > 5);
}

void test_barrier_planned(void) {
  static const enum fixture_storage storages[] = {FIXTURE_DENSE, FIXTURE_CODES};
  for (int k = 0; k < 2; k++) {
    fixture_storage = storages[k];
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      for (int moved = 0; moved < 3; moved++) {
        same_as_real("logistic", 1, neighbours, moved);
        same_as_real("logistic", 0, neighbours, moved);
      }
      same_as_real("sigmoid", 1, neighbours, 1);
      same_as_real("huber", 0, neighbours, 0);
      same_as_real("squared", 1, neighbours, 2);
    }
  }
  for (int q = 0; q < QUERIES - RAW; q++) CHECK(compared[q]);
  fixture_storage = FIXTURE_DENSE;
  known(ORACLE_REPLACE_ONE);
  known(ORACLE_ZERO_OUT);
  refuses(LEDGER_GDP);
  refuses(LEDGER_ZCDP);
  refuses_steps();
  refuses_perturbed();
  failures();
}
