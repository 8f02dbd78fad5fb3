/* Line searches of networks: what is compared, how far a record moves it, what it costs and what is refused. */
#include "images.h"

static void clipped_losses(size_t classes);
static void weighted(void);
static void from_the_record_alone(void);
static void moved_by_a_record(enum oracle_neighbours neighbours, size_t classes);
static void on_batches(enum oracle_neighbours neighbours);
static void of_all_rows(void);
static void refused(void);

enum { STEPS = 3, ROW = 7 };
static const double steps[STEPS] = {2, 1, 0.125}, offsets[STEPS] = {0, 0, 0};

void test_barrier_network_search(void) {
  clipped_losses(2);
  clipped_losses(4);
  weighted();
  from_the_record_alone();
  for (size_t classes = 2; classes <= 4; classes += 2) {
    moved_by_a_record(ORACLE_REPLACE_ONE, classes);
    moved_by_a_record(ORACLE_ZERO_OUT, classes);
  }
  on_batches(ORACLE_REPLACE_ONE);
  on_batches(ORACLE_ZERO_OUT);
  of_all_rows();
  refused();
}

static double *draw_direction(const struct images *f) {
  double *along = base_alloc(network_dim(f->network), sizeof *along);
  for (size_t j = 0; j < network_dim(f->network); j++) along[j] = 0.2 * ctest_normal();
  return along;
}

static struct ask ask_of(const struct images *f, const double *along, double clip, int scale_free) {
  struct ask ask = search_ask(f->w, along, STEPS, steps, offsets, scale_free);
  ask.clip = clip;
  return ask;
}

static double limit_of(const struct images *f, const double *along, double clip, int i) {
  return clip * steps[i] * la_norm(network_dim(f->network), along);
}

/* By the predictors. */
static void losses_at(const struct images *f, const double *w, double *value) {
  double *t = base_alloc(IMAGES_N * f->model.outputs, sizeof *t);
  CHECK(network_predict(f->network, IMAGES_N, f->x, w, t) == BASE_OK);
  loss_eval(f->loss, IMAGES_N, f->y, t, value, NULL, NULL);
  base_free(t);
}

static double clamp(double x, double limit) { return fmax(-limit, fmin(x, limit)); }

/* A null record has none. */
static void clipped_losses(size_t classes) {
  struct images f;
  images_open(&f, classes, ORACLE_ZERO_OUT, 0);
  f.y[ROW] = NAN;
  images_close_rows(&f);
  images_open_rows(&f, ORACLE_ZERO_OUT);
  size_t dim = network_dim(f.network);
  double *along = draw_direction(&f), *point = base_alloc(dim, sizeof *point), here[IMAGES_N], there[IMAGES_N];
  losses_at(&f, f.w, here);
  for (double clip = 1e-3; clip < 1e3; clip *= 10) {
    const struct ask ask = ask_of(&f, along, clip, 0);
    double mean[STEPS];
    CHECK(scope_mean(oracle_all(f.oracle), &query_decreases.sum, &ask, mean) == BASE_OK);
    for (int i = 0; i < STEPS; i++) {
      double expected = 0, limit = limit_of(&f, along, clip, i);
      memcpy(point, f.w, dim * sizeof *point);
      la_axpy(dim, steps[i], along, point);
      losses_at(&f, point, there);
      for (size_t k = 0; k < IMAGES_N; k++) expected += k == ROW ? 0 : clamp(here[k] - there[k], limit) / IMAGES_N;
      CHECK_NEAR(mean[i], expected, 1e-13);
    }
  }
  base_free(along);
  base_free(point);
  images_close(&f);
}

/* The weight multiplies the clipped decrease; a decrease that is weighted first would be clipped less. */
static void weighted(void) {
  struct images f;
  images_open(&f, 2, ORACLE_ZERO_OUT, 0);
  size_t dim = network_dim(f.network);
  double *along = draw_direction(&f), *point = base_alloc(dim, sizeof *point), clip = 0.02, weight[IMAGES_N];
  double here[IMAGES_N], there[IMAGES_N], mean[STEPS];
  for (size_t i = 0; i < IMAGES_N; i++) weight[i] = i % 4 ? ctest_uniform() : 0;
  CHECK(oracle_set_weights(f.oracle, NULL, weight, 1) == BASE_ERR_ARGUMENT);
  CHECK(oracle_set_weights(f.oracle, weight, NULL, 0) == BASE_OK);
  const struct ask ask = ask_of(&f, along, clip, 0);
  CHECK(scope_mean(oracle_all(f.oracle), &query_decreases.sum, &ask, mean) == BASE_OK);
  losses_at(&f, f.w, here);
  for (int i = 0; i < STEPS; i++) {
    double expected = 0, limit = limit_of(&f, along, clip, i);
    memcpy(point, f.w, dim * sizeof *point);
    la_axpy(dim, steps[i], along, point);
    losses_at(&f, point, there);
    for (size_t k = 0; k < IMAGES_N; k++) expected += weight[k] * clamp(here[k] - there[k], limit) / IMAGES_N;
    CHECK_NEAR(mean[i], expected, 1e-13);
    CHECK(query_decreases.sensitivity(oracle_all(f.oracle), &ask, (size_t)i) <= limit / IMAGES_N * (1 + 1e-9));
  }
  base_free(along);
  base_free(point);
  images_close(&f);
}

/* To the last bit, whatever the other records are. */
static void from_the_record_alone(void) {
  struct images f;
  images_open(&f, 4, ORACLE_ZERO_OUT, 0);
  double *along = draw_direction(&f), *tape = base_alloc(f.model.tape, sizeof *tape), value[2][IMAGES_N];
  double *buffer = base_alloc(IMAGES_N * data_buffer(f.data), sizeof *buffer);
  for (int side = 0; side < 2; side++) {
    const struct data_block b = data_block_at(f.data, NULL, 0, buffer);
    f.model.kind->losses(&f.model, &b, f.w, along, 0.5, tape, value[side]);
    for (size_t i = 0; i < IMAGES_N; i++) {
      if (i != ROW) images_draw_record(&f, i, 6 + (int)(i % 6), 4);
    }
    images_close_rows(&f);
    images_open_rows(&f, ORACLE_ZERO_OUT);
  }
  CHECK(value[0][ROW] == value[1][ROW] && value[0][ROW] > 0 && value[0][ROW + 1] != value[1][ROW + 1]);
  base_free(along);
  base_free(tape);
  base_free(buffer);
  images_close(&f);
}

static void mean_decreases(struct images *f, enum oracle_neighbours neighbours, const struct ask *ask, double *mean) {
  images_close_rows(f);
  images_open_rows(f, neighbours);
  CHECK(scope_mean(oracle_all(f->oracle), &query_decreases.sum, ask, mean) == BASE_OK);
  CHECK(fixture_all_finite(STEPS, mean));
}

/* Among the pairs are the same image in two classes, whose losses go up and down: the bound is nearly reached. */
static void moved_by_a_record(enum oracle_neighbours neighbours, size_t classes) {
  struct images f;
  images_open(&f, classes, neighbours, 0);
  double *along = draw_direction(&f), clip = 1e-3, terms = neighbours == ORACLE_REPLACE_ONE ? 2 : 1, largest = 0;
  const struct ask ask = ask_of(&f, along, clip, 0), free_of_scale = ask_of(&f, along, clip, 1);
  for (int kind = ctest_size(0, 13); kind < 28; kind += ctest_size(1, 3)) {
    double one[STEPS], other[STEPS];
    images_draw_record(&f, ROW, kind % 14, classes);
    mean_decreases(&f, neighbours, &ask, one);
    if (neighbours == ORACLE_ZERO_OUT) {
      f.y[ROW] = NAN;
    } else if (kind >= 14) {
      f.y[ROW] = classes > 2 ? (f.y[ROW] < 0.5 ? 1 : 1.0 / (double)classes) : -f.y[ROW];
    } else {
      images_draw_record(&f, ROW, (5 * kind + 3) % 14, classes);
    }
    mean_decreases(&f, neighbours, &ask, other);
    for (int i = 0; i < STEPS; i++) {
      double bound = query_decreases.sensitivity(oracle_all(f.oracle), &ask, (size_t)i);
      double claimed = terms * limit_of(&f, along, clip, i) / IMAGES_N;
      CHECK(bound >= claimed && bound <= claimed * (1 + 1e-9));
      CHECK(fabs(one[i] - other[i]) <= bound);
      CHECK(query_first_step.sensitivity(oracle_all(f.oracle), &free_of_scale, 0) * steps[i] >= bound);
      largest = fmax(largest, fabs(one[i] - other[i]) / claimed);
    }
  }
  CHECK(largest > 0.999);
  base_free(along);
  images_close(&f);
}

/* A search on its own batch is described by its clip; decreases are released beside a gradient, whatever is in it. */
static void on_batches(enum oracle_neighbours neighbours) {
  struct images f;
  size_t index = STEPS + 1;
  double *along, terms = neighbours == ORACLE_REPLACE_ONE ? 2 : 1, decrease[STEPS], sd[STEPS], size = 12;
  images_open(&f, 3, neighbours, 8);
  along = draw_direction(&f);
  const struct ask search = ask_of(&f, along, IMAGES_CLIP, 1), values = ask_of(&f, along, IMAGES_CLIP, 0);
  const struct sampling how = {SCHEME_POISSON, size};
  const struct schedule alone = {how, {[PART_CHOICE] = 1}}, both = {how, {[PART_SLOPE] = 0.9, [PART_DECREASE] = 0.1}};
  const struct query *q = &query_batch_step;
  CHECK(step_open(f.oracle, &alone, &search, 1e-2) == BASE_OK);
  CHECK(release(oracle_step(f.oracle), q, &search, step_left(f.oracle, q), (struct answer){.index = &index}) ==
        BASE_OK);
  CHECK(index <= STEPS);
  step_close(f.oracle);
  CHECK_NEAR(ledger_at(f.ledger, 0)->sensitivity / (terms * limit_of(&f, along, IMAGES_CLIP, 1) / size), 1, 1e-6);
  CHECK(step_open(f.oracle, &both, &values, 1e-2) == BASE_OK);
  q = &query_decreases;
  CHECK(release(oracle_step(f.oracle), q, &values, step_left(f.oracle, q), (struct answer){decrease, sd, NULL}) ==
        BASE_OK);
  step_close(f.oracle);
  CHECK_NEAR(ledger_at(f.ledger, 1)->sensitivity / (terms * IMAGES_CLIP / size), 1, 1e-6);
  for (int i = 0; i < STEPS; i++) CHECK_NEAR(sd[i] / sd[0], steps[i] / steps[0], 1e-9);
  CHECK(ledger_length(f.ledger) == 2);
  base_free(along);
  images_close(&f);
}

static void of_all_rows(void) {
  struct images f;
  size_t index = STEPS + 1;
  images_open(&f, 3, ORACLE_REPLACE_ONE, 0);
  double *along = draw_direction(&f);
  const struct ask ask = ask_of(&f, along, IMAGES_CLIP, 1);
  CHECK(release(oracle_all(f.oracle), &query_first_step, &ask, 0.01, (struct answer){.index = &index}) == BASE_OK);
  CHECK(index <= STEPS && ledger_length(f.ledger) == 1);
  base_free(along);
  images_close(&f);
}

/* Without a clip there is no bound. */
static void refused(void) {
  static const double bad[] = {0, -1, NAN, INFINITY};
  struct images f;
  size_t index;
  images_open(&f, 3, ORACLE_ZERO_OUT, 8);
  double *along = draw_direction(&f), decrease[STEPS], sd[STEPS];
  const struct schedule alone = {{SCHEME_POISSON, 12}, {[PART_CHOICE] = 1}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    const struct ask ask = ask_of(&f, along, bad[k], 1);
    CHECK(step_open(f.oracle, &alone, &ask, 1e-3) == BASE_ERR_ARGUMENT);
    CHECK(release(oracle_all(f.oracle), &query_first_step, &ask, 0.01, (struct answer){.index = &index}) ==
          BASE_ERR_ARGUMENT);
    CHECK(release(oracle_all(f.oracle), &query_decreases, &ask, 0.01, (struct answer){decrease, sd, NULL}) ==
          BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_length(f.ledger) == 0);
  base_free(along);
  images_close(&f);
}
