/*
 * Several records of a person, beyond sums of linear models (proofs: persons): counts of raw columns and sums of
 * networks, which no list of records moves by more than a record may; that the number of rows is private; what is
 * refused.
 */
#include "persons.h"

#include "la/la.h"
#include "model/network.h"

static void counts_of_raw_columns(void);
static void of_networks(void);
static void rows_are_private(void);
static void refused(void);
static void shares(void);

void test_barrier_units(void) {
  fixture_storage = FIXTURE_DENSE;
  counts_of_raw_columns();
  of_networks();
  rows_are_private();
  refused();
  shares();
}

/* ---- raw columns ---- */

static void count_raw(size_t n, const double *values, const int *person, double *counts) {
  static const double breaks[] = {-1, 0, 1, 2};
  const struct histogram histogram = {breaks, 3};
  double share[MOST_ROWS];
  CHECK(data_shares(n, person, PERSONS, LONGEST, NULL, share) == BASE_OK);
  const struct raw raw = {.n = n, .columns = 1, .values = &values, .share = share};
  const struct engine engine = engine_raw(&raw);
  const struct ask ask = {.k = 1, .histogram = &histogram};
  struct oracle *o;
  CHECK(oracle_create(&engine, NULL, NULL, &ctest_entropy, ORACLE_REPLACE_ONE, &o) == BASE_OK);
  CHECK(mean_of(oracle_all(o), &query_counts, &ask, counts) == BASE_OK);
  CHECK_NEAR(query_counts.sensitivity(oracle_all(o), &ask, 0), M_SQRT2, 1e-15);
  const struct ask scores = {.k = 1};
  CHECK(release_check(oracle_all(o), &query_scores, &scores) == BASE_ERR_ARGUMENT);
  CHECK(release_check(oracle_all(o), &query_best_score, &scores) == BASE_ERR_ARGUMENT);
  oracle_free(o);
}

static void counts_of_raw_columns(void) {
  double worst = 0;
  for (int i = 0; i < 2000; i++) {
    double counts[2][3], values[MOST_ROWS];
    int person[MOST_ROWS];
    for (int side = 0; side < 2; side++) {
      size_t m = ctest_uniform() < 0.5 ? 1 : LONGEST, n = m + OTHERS;
      int alike = ctest_uniform() < 0.5;
      for (size_t r = 0; r < n; r++) {
        person[r] = r < m ? 1 : (int)(r - m) + 2;
        values[r] = r > 0 && r < m && alike ? values[0] : r < m ? 4 * ctest_uniform() - 1.5 : 0.5;
        if (r < m && ctest_uniform() < 0.1) values[r] = NAN;
      }
      count_raw(n, values, person, counts[side]);
    }
    double norm = 0;
    for (int c = 0; c < 3; c++) norm = hypot(norm, counts[0][c] - counts[1][c]);
    worst = fmax(worst, norm);
  }
  CHECK(worst <= M_SQRT2 && worst > 1.3);
}

/* ---- networks ---- */

static void network_sums(const struct lists *l, const struct network *network, const struct loss *loss,
                         const double *at, const double *to, double *answer) {
  double *x = base_alloc(l->rows * P, sizeof *x);
  struct data *d;
  struct oracle *o;
  for (size_t i = 0; i < l->rows * P; i++) x[i / P + i % P * l->rows] = l->x[i];
  CHECK(data_create(x, l->rows, P, 0, 2, l->y, &d) == BASE_OK);
  const struct engine engine = engine_memory(d);
  const struct model model = model_network(d, loss, network);
  CHECK(oracle_create(&engine, &model, NULL, &ctest_entropy, ORACLE_REPLACE_ONE, &o) == BASE_OK);
  CHECK(oracle_set_persons(o, l->person, PERSONS, LONGEST) == BASE_OK);
  size_t dim = network_dim(network);
  const struct ask ask = {.at = at, .along = to, .k = STEPS, .step = steps, .clip = 0.2};
  CHECK(mean_of(oracle_all(o), &query_clipped_gradient, &ask, answer) == BASE_OK);
  CHECK(mean_of(oracle_all(o), &query_decreases, &ask, answer + dim) == BASE_OK);
  answer[dim + STEPS] = query_clipped_gradient.sensitivity(oracle_all(o), &ask, 0);
  for (size_t i = 0; i < STEPS; i++) {
    answer[dim + STEPS + 1 + i] = query_decreases.sensitivity(oracle_all(o), &ask, i);
  }
  oracle_free(o);
  data_free(d);
  base_free(x);
}

static void of_networks(void) {
  static const struct layer_spec layer = {.type = LAYER_DENSE, .outputs = 4, .activation = ACTIVATION_TANH};
  const struct network_spec spec = {.input = {1, 1, P}, .lower = -1, .upper = 1, .layers = 1, .layer = &layer};
  const struct item item = {.loss = "logistic"};
  struct loss *loss = open_loss("logistic");
  struct network *network;
  CHECK(network_create(&spec, 1, &network) == BASE_OK);
  size_t dim = network_dim(network), numbers = dim + 2 * STEPS + 1;
  double *point = base_alloc(2 * dim + 2 * numbers, sizeof *point), *to = point + dim, *answer = to + dim;
  double worst[2] = {0, 0};
  for (int i = 0; i < 400; i++) {
    struct lists l[2];
    for (size_t j = 0; j < 2 * dim; j++) point[j] = ctest_normal();
    draw_point(1);
    draw_pair(&item, ORACLE_REPLACE_ONE, l);
    for (size_t side = 0; side < 2; side++) {
      network_sums(&l[side], network, loss, point, to, answer + side * numbers);
    }
    double norm = 0;
    for (size_t j = 0; j < dim; j++) norm = hypot(norm, answer[j] - answer[numbers + j]);
    worst[0] = fmax(worst[0], norm / answer[dim + STEPS]);
    for (size_t j = dim; j < dim + STEPS; j++) {
      worst[1] = fmax(worst[1], fabs(answer[j] - answer[numbers + j]) / answer[j + STEPS + 1]);
    }
  }
  for (int k = 0; k < 2; k++) CHECK(worst[k] <= 1 && worst[k] > 0.3);
  base_free(point);
  network_free(network);
  loss_free(loss);
}

/* ---- what is public ---- */

static void rows_are_private(void) {
  const struct item item = {&query_gradient, "logistic", MAPPED, 0};
  struct lists l = {.rows = 0};
  struct problem p;
  double row[P] = {1, 0, 0}, w_star[SIDE], sd;
  for (int i = 0; i < MOST_ROWS; i++) add_record(&l, 1 + i % PERSONS, row, 1, 0);
  open_problem(&p, &item, &l, ORACLE_ZERO_OUT, 1);
  CHECK(oracle_rows(p.f.oracle) == PERSONS && data_rows(p.f.data) == MOST_ROWS);
  CHECK_NEAR(scope_divisor(oracle_all(p.f.oracle)), PERSONS, 0);
  CHECK_NEAR(bounds_max_rows(oracle_all(p.f.oracle)), 1, 0);
  CHECK(data_max_blocks(p.f.data) == 1);
  struct ledger *ledger;
  CHECK(ledger_create(1e8, 0, LEDGER_GDP, &ledger) == BASE_OK);
  p.f.oracle->ledger = p.f.ledger = ledger;
  CHECK(oracle_minimiser(p.f.oracle, penalty, 1, w_star, &sd) == BASE_OK);
  double change = fixture_minimiser_change(penalty[0], PERSONS, 0);
  CHECK_NEAR(ledger_at(ledger, 0)->sensitivity, change, 1e-6 * change);
  close_problem(&p);
}

/* As many terms as persons may have rows are rounded, although there are fewer. */
static void rounding_is_of_all_rows(const struct problem *p) {
  struct data more = *p->f.data;
  more.max_rows = (size_t)1 << 30;
  const struct engine few = engine_memory(p->f.data), many = engine_memory(&more);
  CHECK(engine_additions(&many, SUM_VECTOR, 1) > 1e4 && engine_additions(&few, SUM_VECTOR, 1) < 1e4);
}

static void refused(void) {
  const struct item item = {&query_gradient, "logistic", MAPPED, 0};
  struct lists l = {.rows = 0};
  struct problem p;
  double row[P] = {1, 0, 0}, point[SIDE];
  for (int i = 0; i < MOST_ROWS; i++) add_record(&l, 1 + i % PERSONS, row, 1, 0);
  open_problem(&p, &item, &l, ORACLE_REPLACE_ONE, 1);
  rounding_is_of_all_rows(&p);
  CHECK(oracle_set_persons(p.f.oracle, l.person, PERSONS, LONGEST) == BASE_ERR_ARGUMENT);
  CHECK(fresh_open(p.f.oracle, 1) == BASE_ERR_ARGUMENT);
  struct oracle_perturbation how;
  CHECK(oracle_perturbed_minimiser(p.f.oracle, penalty, 1, 1, point, &how) == BASE_ERR_ARGUMENT);
  CHECK(ledger_create_renyi(10, 1, &p.f.ledger) == BASE_OK);
  p.f.oracle->ledger = p.f.ledger;
  const struct schedule batch = {.sampling = {SCHEME_POISSON, 3}, .share = {1}};
  CHECK(step_open(p.f.oracle, &batch, &asked, 0.1) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(p.f.ledger) == 0);
  close_problem(&p);
}

static void shares(void) {
  const int person[] = {1, 2, 1, 1, 3, 2}, low[] = {0, 1, 1}, high[] = {1, 2, 5};
  const double clip[] = {1, 0.5, 0, 1, 0, 2};
  double share[6];
  CHECK(data_shares(6, person, 4, 3, clip, share) == BASE_OK);
  CHECK(share[0] == 0.5 && share[3] == 0.5 && share[1] == 0.5 && share[5] == 0.5 && share[2] == 0 && share[4] == 0);
  CHECK(data_shares(6, person, 4, 3, NULL, share) == BASE_OK);
  CHECK(share[2] == floor(0x1p20 / 3) / 0x1p20 && 3 * share[2] < 1 && share[4] == 1);
  CHECK(data_shares(6, person, 4, 2, NULL, share) == BASE_ERR_ARGUMENT);
  CHECK(data_shares(3, low, 4, 3, NULL, share) == BASE_ERR_ARGUMENT);
  CHECK(data_shares(3, high, 4, 3, NULL, share) == BASE_ERR_ARGUMENT);
  CHECK(data_shares(6, person, 0, 3, NULL, share) == BASE_ERR_ARGUMENT);
  CHECK(data_shares(6, person, 4, ((size_t)1 << 20) + 1, NULL, share) == BASE_ERR_ARGUMENT);
  ctest_fail_allocation(1);
  CHECK(data_shares(6, person, 4, 3, NULL, share) == BASE_ERR_MEMORY);
  /* The bound on the rows must not overflow, as it bounds rounding. */
  struct data *d;
  CHECK(data_create(clip, 6, 1, 0, 2, clip, &d) == BASE_OK);
  CHECK(data_set_persons(d, person, SIZE_MAX / 3 + 1, 3) == BASE_ERR_ARGUMENT);
  CHECK(data_set_persons(d, person, 4, 3) == BASE_OK);
  data_free(d);
}
