/*
 * Several records of a person (proofs: persons): when all records of one person are replaced, one record by twenty
 * among them, no sum changes by more than its sensitivity, which is that for n records; a person's copies of one record
 * count as this record, once; and where everybody has one record, sums are the same, bit for bit unless they are of
 * values or of products.
 */
#include "persons.h"

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
    {&query_gradient, "logistic", DAMPED, 0.3},
    {&query_hessian, "logistic", DAMPED, 0.3},
    {&query_products, "logistic", DAMPED, 0.1},
    {&query_gradient, "multinomial", DAMPED, 0.2},
    {&query_class_hessian, "multinomial", DAMPED, 0.1},
    {&query_class_products, "multinomial", DAMPED, 0.1},
    {&query_weighted, "logistic", WEIGHTED, 0.3},
    {&query_weighted, "multinomial", WEIGHTED, 0.3},
    {&query_second_moments, "logistic", MAPPED, 0.3},
    {&query_moments, "logistic", MAPPED, 0.3},
    {&query_weighted_moments, "logistic", MAPPED, 0.3},
    {&query_usable, "logistic", MAPPED, 0.9},
    {&query_decreases, "logistic", MAPPED, 0.1},
    {&query_improvement, "logistic", TILTED, 0.02},
    {&query_improvement, "squared", WEIGHTED, 0.02},
    {&query_improvement, "multinomial", WEIGHTED, 0.02},
    {&query_first_step, "logistic", MAPPED, 0.1},
    {&query_best_step, "logistic", MAPPED, 0.1},
    {&query_class_gradient, "multinomial", WEIGHTED, 0.2},
    {&query_class_counts, "multinomial", MAPPED, 0.6},
    {&query_class_counts, "logistic", MAPPED, 0.6},
    {&query_response, "huber", MAPPED, 0.3},
    {&query_residual_gradient, "squared", WEIGHTED, 0.3},
    {&query_residual_products, "squared", WEIGHTED, 0.1},
    {&query_residual_hessian, "squared", WEIGHTED, 0.3},
    {&query_recalibration, "squared", WEIGHTED, 0.2},
    {&query_residual_counts, "squared", WEIGHTED, 0.3},
    {&query_residual_counts, "multinomial", DAMPED, 0.3},
};
enum { ITEMS = sizeof items / sizeof *items };

static void pairs(const struct item *item, enum oracle_neighbours neighbours);
static void copies(const struct item *item, int other_null);
static void one_record_each(const struct item *item);

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
}

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
    for (int side = 0; side < 2 && i % 2; side++) scatter(&l[side]);
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

/* Everybody's record once, or up to LONGEST - 1 times, with a null record of each person or without: the sums are the
 * same, but for what shares are rounded down by. */
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

/* Values are differences from that of the null record, and products are of persons' sums: added in another way. */
static void one_record_each(const struct item *item) {
  struct lists l = {.rows = 0};
  double answer[2][NUMBERS], row[P];
  size_t k = 0;
  int other = item->query == &query_value || item->query == &query_decreases || item->query->mechanism->chooses ||
              item->query->sum.form == SUM_PRODUCTS;
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
  for (size_t i = 0; i < k; i++) CHECK_NEAR(answer[1][i], answer[0][i], other ? 1e-14 : 0);
}
