/* Networks at the barrier: how far a record moves the clipped sum, its divisor and its noise, and that nothing else is
 * released. */
#include "images.h"

static void moved_by_a_record(enum oracle_neighbours neighbours, size_t classes);
static void weighted(enum oracle_neighbours neighbours, size_t classes);
static void divided_by_the_public_size(void);
static void noise(void);
static void steps(void);
static void nothing_else(void);

void test_barrier_network(void) {
  moved_by_a_record(ORACLE_REPLACE_ONE, 2);
  moved_by_a_record(ORACLE_REPLACE_ONE, 4);
  moved_by_a_record(ORACLE_ZERO_OUT, 2);
  moved_by_a_record(ORACLE_ZERO_OUT, 4);
  for (size_t classes = 2; classes <= 4; classes += 2) {
    weighted(ORACLE_REPLACE_ONE, classes);
    weighted(ORACLE_ZERO_OUT, classes);
  }
  divided_by_the_public_size();
  noise();
  steps();
  nothing_else();
}

static void clipped_mean(struct images *f, const struct batch *of, double *g) {
  const struct scope scope = {.oracle = f->oracle, .of = of};
  const struct ask ask = {.at = f->w, .clip = IMAGES_CLIP};
  CHECK(scope_mean(&scope, &query_clipped_gradient.sum, &ask, g) == BASE_OK);
}

static double sensitivity_of(struct images *f, const struct batch *of) {
  const struct scope scope = {.oracle = f->oracle, .of = of};
  const struct ask ask = {.at = f->w, .clip = IMAGES_CLIP};
  return query_clipped_gradient.sensitivity(&scope, &ask, 0);
}

/* Among the pairs are the same image in two classes, whose gradients are opposite: the bound is nearly reached. */
static void moved_by_a_record(enum oracle_neighbours neighbours, size_t classes) {
  struct images f;
  images_open(&f, classes, neighbours, 0);
  size_t dim = network_dim(f.network);
  double *g = base_alloc(2 * dim, sizeof *g), *h = g + dim, largest = 0;
  double bound = sensitivity_of(&f, NULL),
         claimed = (neighbours == ORACLE_REPLACE_ONE ? 2 : 1) * IMAGES_CLIP / IMAGES_N;
  CHECK(bound >= claimed && bound <= claimed * (1 + 1e-9));
  for (int kind = ctest_size(0, 13); kind < 28; kind += ctest_size(1, 3)) {
    images_draw_record(&f, 7, kind % 14, classes);
    images_close_rows(&f);
    images_open_rows(&f, neighbours);
    clipped_mean(&f, NULL, g);
    if (neighbours == ORACLE_ZERO_OUT) {
      f.y[7] = NAN;
    } else if (kind >= 14) {
      f.y[7] = classes > 2 ? (f.y[7] < 0.5 ? 1 : 1.0 / (double)classes) : -f.y[7];
    } else {
      images_draw_record(&f, 7, (5 * kind + 3) % 14, classes);
    }
    images_close_rows(&f);
    images_open_rows(&f, neighbours);
    clipped_mean(&f, NULL, h);
    CHECK(fixture_all_finite(dim, g) && fixture_all_finite(dim, h));
    la_axpy(dim, -1, g, h);
    largest = fmax(largest, la_norm(dim, h));
    CHECK(la_norm(dim, h) <= bound);
  }
  CHECK(largest > (classes == 2 ? 0.999 : 0.6) * claimed);
  base_free(g);
  images_close(&f);
}

/* A weight multiplies what is clipped: no sum moves by more than without weights, and a record that weighs nothing adds
 * what a null record does. */
static void weighted(enum oracle_neighbours neighbours, size_t classes) {
  struct images f;
  images_open(&f, classes, neighbours, 0);
  size_t dim = network_dim(f.network);
  double *g = base_alloc(2 * dim, sizeof *g), *h = g + dim, weight[IMAGES_N], largest = 0;
  for (size_t i = 0; i < IMAGES_N; i++) weight[i] = 0.25;
  clipped_mean(&f, NULL, h);
  CHECK(oracle_set_weights(f.oracle, weight, NULL, 0) == BASE_OK);
  clipped_mean(&f, NULL, g);
  CHECK(la_norm(dim, g) > 1e-3 * IMAGES_CLIP);
  for (size_t j = 0; j < dim; j++) CHECK_NEAR(g[j], h[j] / 4, 1e-15);
  double bound = sensitivity_of(&f, NULL);
  for (size_t i = 0; i < 12; i++) {
    double y = f.data->y[i], clip = f.data->clip[i];
    f.data->weight[i] = 1;
    clipped_mean(&f, NULL, g);
    if (neighbours == ORACLE_ZERO_OUT) {
      f.data->clip[i] = 0;
    } else {
      f.data->weight[i] = i % 3 ? 1 : ctest_uniform();
      f.data->y[i] = classes > 2 ? (y < 0.5 ? 1 : 1.0 / (double)classes) : -y;
    }
    clipped_mean(&f, NULL, h);
    la_axpy(dim, -1, h, g);
    largest = fmax(largest, la_norm(dim, g));
    f.data->clip[i] = clip;
    f.data->weight[i] = 0;
    clipped_mean(&f, NULL, g);
    f.data->clip[i] = 0;
    f.data->weight[i] = 1;
    clipped_mean(&f, NULL, h);
    for (size_t j = 0; j < dim; j++) CHECK(g[j] == h[j]);
    f.data->y[i] = y;
    f.data->clip[i] = clip;
  }
  CHECK(largest <= bound && largest > 0.5 * bound);
  base_free(g);
  images_close(&f);
}

/* However many rows a batch has. */
static void divided_by_the_public_size(void) {
  struct images f;
  images_open(&f, 3, ORACLE_ZERO_OUT, 0);
  size_t dim = network_dim(f.network), rows[IMAGES_N];
  double *g = base_alloc(2 * dim, sizeof *g), *all = g + dim;
  for (size_t i = 0; i < IMAGES_N; i++) rows[i] = i;
  const struct batch ten = {.count = 30, .row = rows, .size = 10}, twenty = {.count = 30, .row = rows, .size = 20};
  clipped_mean(&f, &ten, g);
  clipped_mean(&f, &twenty, all);
  for (size_t j = 0; j < dim; j++) CHECK_NEAR(g[j], 2 * all[j], 1e-15);
  CHECK(la_norm(dim, g) > 0.01 && la_norm(dim, g) <= 3 * IMAGES_CLIP);
  CHECK_NEAR(sensitivity_of(&f, &ten), IMAGES_CLIP / 10, 1e-10);
  clipped_mean(&f, NULL, all);
  const struct batch whole = {.count = IMAGES_N, .row = rows, .size = IMAGES_N};
  clipped_mean(&f, &whole, g);
  for (size_t j = 0; j < dim; j++) CHECK(g[j] == all[j]);
  base_free(g);
  images_close(&f);
}

/* Of the scale that the cost buys, on every number. */
static void noise(void) {
  struct images f;
  images_open(&f, 3, ORACLE_REPLACE_ONE, 0);
  size_t dim = network_dim(f.network);
  double *g = base_alloc(2 * dim, sizeof *g), *exact = g + dim, sd, square = 0, rho = 0.02;
  const struct ask ask = {.at = f.w, .clip = IMAGES_CLIP};
  clipped_mean(&f, NULL, exact);
  CHECK(release(oracle_all(f.oracle), &query_clipped_gradient, &ask, rho, (struct answer){g, &sd, NULL}) == BASE_OK);
  CHECK_NEAR(sd / (2 * IMAGES_CLIP / IMAGES_N / sqrt(2 * rho)), 1, 1e-6);
  for (size_t j = 0; j < dim; j++) square += pow((g[j] - exact[j]) / sd, 2) / (double)dim;
  CHECK_NEAR(square, 1, 6 * sqrt(2 / (double)dim)); /* a false alarm in 1e8 */
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-15);
  static const double bad[] = {0, -1, NAN, INFINITY};
  for (size_t k = 0; k < 4; k++) {
    const struct ask wrong = {.at = f.w, .clip = bad[k]};
    CHECK(release(oracle_all(f.oracle), &query_clipped_gradient, &wrong, rho, (struct answer){g, &sd, NULL}) ==
          BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_length(f.ledger) == 1);
  base_free(g);
  images_close(&f);
}

/* A step on a batch, whose entry says what its gradient has. */
static void steps(void) {
  struct images f;
  images_open(&f, 2, ORACLE_ZERO_OUT, 8);
  size_t dim = network_dim(f.network);
  double *g = base_alloc(dim, sizeof *g), sd;
  const struct ask ask = {.at = f.w, .clip = IMAGES_CLIP};
  struct schedule how = {.sampling = {SCHEME_POISSON, 12}, .share = {[PART_SLOPE] = 1}};
  CHECK(step_open(f.oracle, &how, &ask, 1e-3) == BASE_OK);
  double left = step_left(f.oracle, &query_clipped_gradient);
  CHECK(release(oracle_step(f.oracle), &query_clipped_gradient, &ask, left, (struct answer){g, &sd, NULL}) == BASE_OK);
  const struct ledger_entry *e = ledger_at(f.ledger, 0);
  CHECK_NEAR(e->sensitivity, IMAGES_CLIP / 12, 1e-9);
  CHECK_NEAR(e->scale, sd, 1e-12);
  CHECK(release(oracle_step(f.oracle), &query_clipped_gradient, &ask, left, (struct answer){g, &sd, NULL}) != BASE_OK);
  step_close(f.oracle);
  CHECK(step_open(f.oracle, &how, &(struct ask){.at = f.w}, 1e-3) == BASE_ERR_ARGUMENT);
  how.share[PART_SLOPE] = 0.5;
  how.share[PART_CURVATURE] = 0.5;
  CHECK(step_open(f.oracle, &how, &ask, 1e-3) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 1);
  base_free(g);
  images_close(&f);
}

/* All that would need a Lipschitz constant, a second derivative or a linear predictor. */
static void nothing_else(void) {
  struct images f;
  images_open(&f, 2, ORACLE_REPLACE_ONE, 0);
  size_t dim = network_dim(f.network), index;
  double *value = base_alloc(dim * dim, sizeof *value), *zeros = base_alloc(dim, sizeof *zeros), sd[2],
         step[2] = {1, 2};
  const double penalty[1] = {0};
  const struct modified matrix = {MODIFY_ADD, 1, zeros};
  const struct ask ask = {.at = f.w,
                          .along = f.w,
                          .k = 2,
                          .step = step,
                          .offset = penalty,
                          .matrix = &matrix,
                          .most = zeros,
                          .clip = IMAGES_CLIP};
  const struct query *const refused[] = {&query_value,    &query_gradient,  &query_model_gradient, &query_hessian,
                                         &query_majorant, &query_products,  &query_weighted,       &query_moments,
                                         &query_trace,    &query_direction, &query_second_moments, &query_best_step};
  for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
    const struct answer to = {refused[k]->mechanism->chooses ? NULL : value, sd, &index};
    CHECK(release(oracle_all(f.oracle), refused[k], &ask, 0.01, to) == BASE_ERR_ARGUMENT);
  }
  for (size_t j = 0; j < dim; j++) zeros[j] = 1;
  CHECK(oracle_minimiser(f.oracle, zeros, 0.01, value, sd) == BASE_ERR_ARGUMENT);
  CHECK(fresh_open(f.oracle, 0.01) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);
  CHECK(isinf(oracle_lipschitz(f.oracle)) && isinf(oracle_smoothness(f.oracle)) && isinf(oracle_third(f.oracle)));
  CHECK(isinf(oracle_curv_lower(f.oracle)) && isinf(oracle_at_zero(f.oracle)) && oracle_floor(f.oracle) < 0);
  base_free(value);
  base_free(zeros);
  images_close(&f);
}
