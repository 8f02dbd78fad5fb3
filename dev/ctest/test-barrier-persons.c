/*
 * Several records of a person (proofs: persons): when all records of one person are replaced, one record by twenty among
 * them, no sum changes by more than its sensitivity, which is that for n records; a person's copies of one record count
 * as this record, once; where everybody has one record, sums are the same bit for bit; the number of rows changes no
 * sensitivity; and what is refused.
 */
#include "fixture.h"
#include "la/la.h"
#include "model/network.h"

enum { P = 3, SIDE = P + 1, K = 3, OTHERS = 6, PERSONS = OTHERS + 1, LONGEST = 20, MOST_ROWS = LONGEST + 3 * OTHERS };
enum { DIM = K * SIDE, NUMBERS = SIDE * SIDE + DIM + 1, STEPS = 2 };

enum where { MAPPED, CLIPPED, WEIGHTED, TILTED };

struct item {
  const struct query *query;
  const char *loss;
  enum where where;
  double least; /* of the sensitivity, the part that random pairs reach */
};

static const struct item items[] = {
    {&query_value, "logistic", MAPPED, 0.5},
    {&query_value, "huber", MAPPED, 0.1},
    {&query_value, "multinomial", MAPPED, 0.1},
    {&query_gradient, "logistic", MAPPED, 0.3},
    {&query_gradient, "sigmoid", CLIPPED, 0.2},
    {&query_gradient, "logistic", WEIGHTED, 0.3},
    {&query_gradient, "logistic", TILTED, 0.3},
    {&query_gradient, "multinomial", MAPPED, 0.2},
    {&query_clipped_gradient, "logistic", MAPPED, 0.3},
    {&query_clipped_gradient, "multinomial", MAPPED, 0.2},
    {&query_model_gradient, "logistic", MAPPED, 0.1},
    {&query_hessian, "logistic", MAPPED, 0.3},
    {&query_hessian, "sigmoid", MAPPED, 0.1},
    {&query_majorant, "logistic", MAPPED, 0.3},
    {&query_trace, "logistic", MAPPED, 0.3},
    {&query_direction, "logistic", MAPPED, 0.01},
    {&query_products, "logistic", MAPPED, 0.1},
    {&query_weighted, "logistic", WEIGHTED, 0.3},
    {&query_weighted, "multinomial", WEIGHTED, 0.3},
    {&query_second_moments, "logistic", MAPPED, 0.3},
    {&query_moments, "logistic", MAPPED, 0.3},
    {&query_weighted_moments, "logistic", MAPPED, 0.3},
    {&query_usable, "logistic", MAPPED, 0.9},
    {&query_decreases, "logistic", MAPPED, 0.1},
    {&query_first_step, "logistic", MAPPED, 0.1},
    {&query_best_step, "logistic", MAPPED, 0.1},
    {&query_class_gradient, "multinomial", WEIGHTED, 0.2},
    {&query_class_counts, "multinomial", MAPPED, 0.6},
    {&query_response, "huber", MAPPED, 0.3},
    {&query_residual_gradient, "squared", WEIGHTED, 0.3},
    {&query_residual_products, "squared", WEIGHTED, 0.1},
    {&query_residual_hessian, "squared", WEIGHTED, 0.3},
    {&query_recalibration, "squared", WEIGHTED, 0.2},
    {&query_residual_counts, "squared", WEIGHTED, 0.3},
};
enum { ITEMS = sizeof items / sizeof *items };

static const double steps[STEPS] = {0.5, 2}, offsets[STEPS] = {0.1, -0.1}, penalty[SIDE] = {0.3, 0.3, 0.3, 0.3};

/* Rows by person, the first person's first; m = 0: the person has one null record. */
struct lists {
  size_t rows, first;
  double x[MOST_ROWS * P], y[MOST_ROWS], weight[MOST_ROWS], offset[MOST_ROWS];
  int person[MOST_ROWS];
  int weighed;
};

static double w[DIM], along[DIM], scale[P], centre[P], end[P];

static void pairs(const struct item *item, enum oracle_neighbours neighbours);
static void copies(const struct item *item, int other_null);
static void one_record_each(const struct item *item);
static void counts_of_raw_columns(void);
static void of_networks(void);
static void rows_are_private(void);
static void refused(void);
static void shares(void);

void test_barrier_persons(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int i = 0; i < ITEMS; i++) {
      ctest_seed((uint64_t)i + 1);
      pairs(&items[i], ORACLE_REPLACE_ONE);
      pairs(&items[i], ORACLE_ZERO_OUT);
      copies(&items[i], 0);
      copies(&items[i], 1);
      one_record_each(&items[i]);
    }
  }
  fixture_storage = FIXTURE_DENSE;
  counts_of_raw_columns();
  of_networks();
  rows_are_private();
  refused();
  shares();
}

/* ---- data ---- */

static struct loss *open_loss(const char *name) {
  struct loss *loss;
  double parameter = strcmp(name, "multinomial") == 0 ? K : strcmp(name, "huber") == 0 ? 0.4 : 0;
  CHECK(loss_create(name, parameter, &loss) == BASE_OK);
  return loss;
}

static double draw_response(const char *loss) {
  if (strcmp(loss, "multinomial") == 0) return (double)(1 + (int)(K * ctest_uniform())) / K;
  return strcmp(loss, "huber") == 0 || strcmp(loss, "squared") == 0 ? 2 * ctest_uniform() - 1 : fixture_sign();
}

/* Along w or against it, alike or not, some of them null. */
static void add_record(struct lists *l, int person, const double *like, double y, int null) {
  size_t i = l->rows++;
  l->person[i] = person;
  l->y[i] = null ? NAN : y;
  l->weight[i] = ctest_uniform() < 0.5 ? 1 : ctest_uniform();
  l->offset[i] = ctest_uniform() - 0.5;
  for (size_t j = 0; j < P; j++) l->x[i * P + j] = like[j];
}

static void draw_row(double *row) {
  double size = exp(3 * ctest_uniform() - 1), sign = fixture_sign();
  int extreme = ctest_uniform() < 0.6;
  for (size_t j = 0; j < P; j++) row[j] = extreme ? sign * size * w[j + 1] : size * ctest_normal();
}

static void draw_person(struct lists *l, const char *loss, int person, size_t m) {
  double row[P], y = draw_response(loss);
  int alike = ctest_uniform() < 0.7;
  draw_row(row);
  for (size_t k = 0; k < m; k++) {
    if (!alike) {
      draw_row(row);
      y = draw_response(loss);
    }
    add_record(l, person, row, y, 0);
  }
  if (m == 0 || ctest_uniform() < 0.3) add_record(l, person, row, y, 1);
}

/* Two data sets that differ in the records of the first person. */
static void draw_pair(const struct item *item, enum oracle_neighbours neighbours, struct lists *l) {
  static const size_t sizes[] = {0, 1, 1, 2, 7, LONGEST - 1};
  struct lists others = {0};
  others.weighed = ctest_uniform() < 0.3;
  for (int i = 2; i <= PERSONS; i++) draw_person(&others, item->loss, i, 1 + (size_t)(2 * ctest_uniform()));
  for (int side = 0; side < 2; side++) {
    l[side] = (struct lists){.weighed = others.weighed};
    draw_person(&l[side], item->loss, 1, side && neighbours == ORACLE_ZERO_OUT ? 0 : sizes[(int)(6 * ctest_uniform())]);
    l[side].first = l[side].rows;
    for (size_t i = 0; i < others.rows; i++) {
      size_t to = l[side].rows++;
      memcpy(l[side].x + to * P, others.x + i * P, P * sizeof(double));
      l[side].y[to] = others.y[i];
      l[side].weight[to] = others.weight[i];
      l[side].offset[to] = others.offset[i];
      l[side].person[to] = others.person[i];
    }
  }
}

static void draw_point(int outputs) {
  double size = exp(3 * ctest_uniform() - 1);
  for (size_t j = 0; j < DIM; j++) {
    w[j] = (size_t)outputs * SIDE > j ? size * ctest_normal() : 0;
    along[j] = ctest_normal();
  }
  for (size_t j = 0; j < P; j++) {
    scale[j] = exp(ctest_normal());
    centre[j] = ctest_uniform() - 0.5;
    end[j] = fixture_end(centre[j], 1);
  }
}

/* ---- sums ---- */

struct problem {
  struct fixture f;
  struct loss *loss;
  struct coordinates *coordinates;
};

static void open_problem(struct problem *p, const struct item *item, const struct lists *l,
                         enum oracle_neighbours neighbours, int persons) {
  double *x = base_alloc(l->rows * P, sizeof *x), *y = base_alloc(l->rows, sizeof *y);
  for (size_t i = 0; i < l->rows; i++) {
    y[i] = l->y[i];
    for (size_t j = 0; j < P; j++) x[i + j * l->rows] = l->x[i * P + j];
  }
  *p = (struct problem){.f = {.x = x, .y = y}, .loss = open_loss(item->loss)};
  if (fixture_storage == FIXTURE_SPARSE) {
    for (size_t i = 0; i < l->rows * P; i++) x[i] = fmod(fabs(x[i]) * 1e4, 3) > 1.5 ? 0 : x[i];
  }
  CHECK(fixture_data(x, l->rows, P, 1, 1, y, &p->f.arrays, &p->f.data) == BASE_OK);
  CHECK(open_oracle(p->f.data, p->loss, NULL, &ctest_entropy, neighbours, &p->f.oracle) == BASE_OK);
  if (l->weighed) {
    const double *offset = loss_outputs(p->loss) > 1 ? NULL : l->offset;
    CHECK(oracle_set_weights(p->f.oracle, l->weight, offset, 0.5) == BASE_OK);
  }
  if (persons) CHECK(oracle_set_persons(p->f.oracle, l->person, PERSONS, LONGEST) == BASE_OK);
  const struct coordinates_spec spec = {.p = P,
                                        .intercept = 1,
                                        .weighted = item->where >= WEIGHTED,
                                        .radius = 1,
                                        .constant = 0.5,
                                        .cap = item->where >= WEIGHTED ? 1.2 : 1,
                                        .bound = 0.6,
                                        .tilt = item->where == TILTED ? 0.3 : 0,
                                        .shortest = 0.75,
                                        .end = end,
                                        .prior = scale,
                                        .spread = scale,
                                        .scale = scale,
                                        .centre = centre,
                                        .outputs = loss_outputs(p->loss)};
  if (item->where == MAPPED) return;
  CHECK(coordinates_create(&spec, &p->coordinates) == BASE_OK);
  CHECK(oracle_move(p->f.oracle, p->coordinates) == BASE_OK);
}

static void close_problem(struct problem *p) {
  fixture_close(&p->f);
  coordinates_free(p->coordinates);
  loss_free(p->loss);
}

static const double most[P] = {1, 0.5, 0};
static const struct modified matrix = {MODIFY_ADD, 0.5, penalty};
static const struct ask asked = {.at = w,
                                 .along = along,
                                 .k = STEPS,
                                 .step = steps,
                                 .offset = offsets,
                                 .curvature = CURVATURE_MAJORANT,
                                 .matrix = &matrix,
                                 .clip = 0.4,
                                 .most = most};

/* The numbers before noise; of a choice what is compared. */
static size_t exact(const struct problem *p, const struct query *q, double *answer) {
  const struct scope *s = oracle_all(p->f.oracle);
  const struct task task = scope_task(s, &asked);
  double sum[NUMBERS];
  CHECK(release_check(s, q, &asked) == BASE_OK);
  CHECK(mean_of(s, q, &asked, sum) == BASE_OK);
  if (q->finish && q->mechanism->chooses) q->finish(s, &asked, sum, NULL);
  if (q->finish && !q->mechanism->chooses) q->finish(s, &asked, sum, answer);
  if (!q->finish || q->mechanism->chooses) memcpy(answer, sum, q->sum.width(&task) * sizeof *answer);
  return release_answers(s, q, &asked);
}

static double change_over_sensitivity(const struct scope *s, const struct query *q, size_t k, const double *a,
                                      const double *b) {
  double norm = 0, low = INFINITY, high = -INFINITY, worst = 0;
  for (size_t i = 0; i < k; i++) {
    double change = a[i] - b[i];
    norm = hypot(norm, change);
    low = fmin(low, change);
    high = fmax(high, change);
    double own = q->mechanism->each || q == &query_first_step ? q->sensitivity(s, &asked, i) : INFINITY;
    worst = fmax(worst, fabs(change) / own);
  }
  if (q->mechanism->each || q == &query_first_step) return worst;
  return (q == &query_best_step ? high - low : norm) / q->sensitivity(s, &asked, 0);
}

static void pairs(const struct item *item, enum oracle_neighbours neighbours) {
  struct lists l[2];
  double worst = 0;
  for (int i = 0; i < ctest_size(300, 100); i++) {
    double answer[2][NUMBERS], sensitivity[2];
    size_t k = 0;
    draw_point(strcmp(item->loss, "multinomial") == 0 ? K : 1);
    draw_pair(item, neighbours, l);
    for (int side = 0; side < 2; side++) {
      struct problem p;
      open_problem(&p, item, &l[side], neighbours, 1);
      k = exact(&p, item->query, answer[side]);
      sensitivity[side] = item->query->sensitivity(oracle_all(p.f.oracle), &asked, 0);
      if (side) {
        double found = change_over_sensitivity(oracle_all(p.f.oracle), item->query, k, answer[0], answer[1]);
        worst = isfinite(found) ? fmax(worst, found) : INFINITY;
      }
      close_problem(&p);
    }
    CHECK(sensitivity[0] == sensitivity[1]); /* whatever the numbers of rows */
  }
  CHECK(worst <= 1);
  CHECK(worst > item->least);
}

/* ---- copies ---- */

/* Everybody's record once, or as many times as `LONGEST - 1` allows, each with its null records: the sums are the same up
 * to what shares are rounded down by, which no sum exceeds. */
static void copies(const struct item *item, int other_null) {
  struct lists l[2] = {{.rows = 0}, {.rows = 0}};
  double answer[2][NUMBERS], size = 0, row[P];
  size_t k = 0;
  draw_point(strcmp(item->loss, "multinomial") == 0 ? K : 1);
  for (int i = 1; i <= PERSONS; i++) {
    double y = draw_response(item->loss), weight = ctest_uniform();
    draw_row(row);
    size_t times = i == 1 ? LONGEST - 1 : 3 - (size_t)other_null;
    for (int side = 0; side < 2; side++) {
      for (size_t c = 0; c < (side ? times : 1); c++) {
        add_record(&l[side], i, row, y, 0);
        l[side].weight[l[side].rows - 1] = weight;
        l[side].offset[l[side].rows - 1] = weight - 0.5;
      }
    }
    if (other_null) add_record(&l[1], i, row, y, 1);
  }
  l[0].weighed = l[1].weighed = 1;
  for (int side = 0; side < 2; side++) {
    struct problem p;
    open_problem(&p, item, &l[side], ORACLE_REPLACE_ONE, 1);
    k = exact(&p, item->query, answer[side]);
    close_problem(&p);
  }
  for (size_t i = 0; i < k; i++) size = fmax(size, fabs(answer[0][i]));
  for (size_t i = 0; i < k; i++) CHECK_NEAR(answer[1][i], answer[0][i], 1e-4 * fmax(size, 1));
}

/* Values are differences from that of the null record, so they are added in another way. */
static void one_record_each(const struct item *item) {
  struct lists l = {.rows = 0};
  double answer[2][NUMBERS], row[P];
  size_t k = 0;
  int values = item->query == &query_value || item->query == &query_decreases || item->query->mechanism->chooses;
  draw_point(strcmp(item->loss, "multinomial") == 0 ? K : 1);
  for (int i = 1; i <= PERSONS; i++) {
    draw_row(row);
    add_record(&l, i, row, draw_response(item->loss), i == 3);
  }
  for (int persons = 0; persons < 2; persons++) {
    struct problem p;
    open_problem(&p, item, &l, ORACLE_REPLACE_ONE, persons);
    k = exact(&p, item->query, answer[persons]);
    close_problem(&p);
  }
  for (size_t i = 0; i < k; i++) CHECK_NEAR(answer[1][i], answer[0][i], values ? 1e-14 : 0);
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
    for (int side = 0; side < 2; side++) network_sums(&l[side], network, loss, point, to, answer + (size_t)side * numbers);
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
  CHECK(data_most_blocks(p.f.data) == 1);
  struct ledger *ledger;
  CHECK(ledger_create(1e8, 0, LEDGER_GDP, &ledger) == BASE_OK);
  p.f.oracle->ledger = p.f.ledger = ledger;
  CHECK(oracle_minimiser(p.f.oracle, penalty, 1, w_star, &sd) == BASE_OK);
  CHECK_NEAR(ledger_at(ledger, 0)->sensitivity * PERSONS * penalty[0], 1, 1e-6); /* L / (n m) */
  close_problem(&p);
}

/* As many terms as persons may have rows are rounded, although there are fewer. */
static void rounding_is_of_all_rows(const struct problem *p) {
  struct data more = *p->f.data;
  more.most_rows = (size_t)1 << 30;
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
}
