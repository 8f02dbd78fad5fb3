/* Networks: gradients of every layer against differences of the loss, clipped ones against these, and that a record's
 * part is its own. */
#include "ctest.h"
#include "la/la.h"
#include "model/network.h"

#include <math.h>
#include <string.h>

enum { MOST_DIM = 4000, MOST_INPUTS = 162 };

struct example {
  struct network *network;
  struct loss *loss;
  struct shape input;
  size_t dim, inputs;
  double w[MOST_DIM];
};

static void gradients(const struct example *e);
static void clipping(const struct example *e);
static void alone(const struct example *e);
static void hostile(const struct example *e);
static void saturated(void);
static void refused(void);
static void started(void);

static void example_open(struct example *e, struct shape input, size_t layers, const struct layer_spec *layer,
                         size_t classes, double size) {
  const struct network_spec spec = {.input = input, .lower = -1, .upper = 3, .layers = layers, .layer = layer};
  CHECK(loss_create(classes > 2 ? "multinomial" : "logistic", (double)classes, &e->loss) == BASE_OK);
  CHECK(network_create(&spec, classes > 2 ? classes : 1, &e->network) == BASE_OK);
  e->input = input;
  e->inputs = input.channels * input.height * input.width;
  e->dim = network_dim(e->network);
  CHECK(e->dim <= MOST_DIM && e->inputs <= MOST_INPUTS);
  for (size_t j = 0; j < e->dim; j++) e->w[j] = size * ctest_normal();
}

static void example_close(struct example *e) {
  network_free(e->network);
  loss_free(e->loss);
}

/* A tile of 8 rows and one of 64, layers with numbers of units that fill no register, and with nothing hidden. */
static const struct layer_spec dense[] = {{.type = LAYER_DENSE, .outputs = 13, .activation = ACTIVATION_TANH},
                                          {.type = LAYER_DENSE, .outputs = 9, .activation = ACTIVATION_RELU}};
/* So many that large weights would overflow, and come back. */
static const struct layer_spec deep[] = {{.type = LAYER_DENSE, .outputs = 9, .activation = ACTIVATION_RELU},
                                         {.type = LAYER_DENSE, .outputs = 9, .activation = ACTIVATION_RELU},
                                         {.type = LAYER_DENSE, .outputs = 9, .activation = ACTIVATION_RELU},
                                         {.type = LAYER_DENSE, .outputs = 9, .activation = ACTIVATION_RELU}};
static const struct layer_spec images[] = {
    {.type = LAYER_CONVOLUTION, .outputs = 5, .size = 4, .stride = 2, .padding = 1, .activation = ACTIVATION_TANH},
    {.type = LAYER_POOL, .size = 2, .stride = 1},
    {.type = LAYER_CONVOLUTION, .outputs = 6, .size = 2, .stride = 1, .activation = ACTIVATION_RELU},
    {.type = LAYER_DENSE, .outputs = 7, .activation = ACTIVATION_TANH}};

void test_model_network(void) {
  struct {
    struct shape input;
    size_t layers;
    const struct layer_spec *layer;
    size_t classes;
  } of[] = {{{17, 1, 1}, 2, dense, 2},   {{17, 1, 1}, 2, dense, 4}, {{3, 1, 1}, 0, NULL, 2}, {{2, 9, 9}, 4, images, 3},
            {{1, 11, 10}, 4, images, 2}, {{3, 1, 1}, 0, NULL, 5},   {{6, 1, 1}, 4, deep, 3}};
  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
    struct example e;
    example_open(&e, of[i].input, of[i].layers, of[i].layer, of[i].classes, 0.6);
    gradients(&e);
    clipping(&e);
    alone(&e);
    hostile(&e);
    example_close(&e);
  }
  saturated();
  refused();
  started();
}

/* ---- rows and sums ---- */

static double response(const struct example *e, size_t i) {
  size_t outputs = loss_outputs(e->loss);
  return outputs > 1 ? (double)(1 + i % outputs) / (double)outputs : i % 2 ? 1 : -1;
}

static void draw_rows(const struct example *e, size_t n, double *x, double *y) {
  for (size_t i = 0; i < n * e->inputs; i++) x[i] = 4 * ctest_uniform() - 1;
  for (size_t i = 0; i < n; i++) y[i] = response(e, i);
}

/* The clipped sum over the rows, of norm at most radius in all tests. */
static void sum_rows(const struct example *e, size_t n, const double *x, const double *y, double radius, double clip,
                     double *g) {
  struct data *data;
  CHECK(data_create(x, n, e->inputs, 0, radius, y, &data) == BASE_OK);
  const struct model m = model_network(data, e->loss, e->network);
  double *buffer = base_alloc(data_block_rows(data, NULL) * data_buffer(data), sizeof *buffer);
  double *tape = base_alloc(m.tape, sizeof *tape);
  memset(g, 0, e->dim * sizeof *g);
  for (size_t i = 0; i < m.tape; i++) tape[i] = NAN; /* nothing is read that was not written */
  for (size_t k = 0; k < data_blocks(data, NULL); k++) {
    const struct data_block b = data_block_at(data, NULL, k, buffer);
    m.kind->clipped(&m, &b, e->w, clip, tape, g);
  }
  base_free(tape);
  base_free(buffer);
  data_free(data);
}

/* Of one row, as long as the network's gradient is. */
static void whole(const struct example *e, const double *x, double y, double *g) {
  sum_rows(e, 1, x, &y, 100, 1e40, g);
}

static double loss_at(const struct example *e, const double *w, const double *x, double y) {
  double t[16], value;
  CHECK(network_predict(e->network, 1, x, w, t) == BASE_OK);
  loss_eval(e->loss, 1, &y, t, &value, NULL, NULL);
  return value;
}

/* ---- checks ---- */

static void gradients(const struct example *e) {
  double x[MOST_INPUTS], y, g[MOST_DIM], w[MOST_DIM];
  draw_rows(e, 1, x, &y);
  whole(e, x, y, g);
  memcpy(w, e->w, sizeof w);
  double largest = 0, size = la_norm(e->dim, g);
  for (size_t j = 0; j < e->dim; j += (size_t)ctest_size(1, 13)) {
    const double step = 1e-4;
    double value[4];
    for (int k = 0; k < 4; k++) {
      w[j] = e->w[j] + (k < 2 ? -1 : 1) * (k % 2 ? 2 : 1) * step;
      value[k] = loss_at(e, w, x, y);
    }
    w[j] = e->w[j];
    double slope = (8 * (value[2] - value[0]) - (value[3] - value[1])) / (12 * step);
    largest = fmax(largest, fabs(slope - g[j]));
  }
  CHECK(size > 0.01);
  CHECK(largest < 1e-8 * fmax(1, size));
}

/* A record's gradient over its norm, from the whole one, which is formed here; short ones stay as they are. */
static void clipping(const struct example *e) {
  double x[MOST_INPUTS], y, g[MOST_DIM], clipped[MOST_DIM];
  for (int i = 0; i < 5; i++) {
    draw_rows(e, 1, x, &y);
    whole(e, x, y, g);
    double size = la_norm(e->dim, g), error = 0;
    for (int k = 0; k < 3; k++) {
      double clip = size * (k == 0 ? 1e-3 : k == 1 ? 0.999 : 1.001), factor = fmin(1, clip / size);
      sum_rows(e, 1, x, &y, 100, clip, clipped);
      for (size_t j = 0; j < e->dim; j++) error = fmax(error, fabs(clipped[j] - factor * g[j]) / size);
      CHECK(la_norm(e->dim, clipped) <= clip * (1 + 1e-14));
    }
    CHECK(error < 1e-12);
  }
}

/* Whatever else is in its block or tile, and wherever it is, a record adds the same: to the last bit, as null records
 * add nothing. */
static void alone(const struct example *e) {
  enum { N = 150 };
  double *x = base_alloc(N * e->inputs, sizeof *x), y[N], row[MOST_INPUTS], label, g[MOST_DIM], again[MOST_DIM];
  draw_rows(e, 1, row, &label);
  sum_rows(e, 1, row, &label, 100, 0.1, g);
  static const size_t places[] = {0, 1, 7, 8, 63, 64, 100, N - 1};
  for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
    draw_rows(e, N, x, y);
    for (size_t i = 0; i < N; i++) x[i + (i % e->inputs) * N] = i % 3 ? NAN : INFINITY;
    for (size_t j = 0; j < e->inputs; j++) x[places[k] + j * N] = row[j];
    y[places[k]] = label;
    sum_rows(e, N, x, y, 100, 0.1, again);
    CHECK(memcmp(g, again, e->dim * sizeof *g) == 0);
  }
  /* predictors, among rows that are not null */
  double *t = base_alloc(N * loss_outputs(e->loss), sizeof *t), one[16];
  CHECK(network_predict(e->network, 1, row, e->w, one) == BASE_OK);
  draw_rows(e, N, x, y);
  for (size_t j = 0; j < e->inputs; j++) x[77 + j * N] = row[j];
  CHECK(network_predict(e->network, N, x, e->w, t) == BASE_OK);
  for (size_t k = 0; k < loss_outputs(e->loss); k++) CHECK(t[77 + k * N] == one[k]);
  base_free(t);
  base_free(x);
}

/* No record adds more than the clip, and none that has no value anything. */
static void hostile(const struct example *e) {
  static const double value[] = {NAN, INFINITY, -INFINITY, 1e300, 1e200, 1e20, -1e9, 0, 5e-324};
  double row[MOST_INPUTS], y, g[MOST_DIM];
  for (size_t k = 0; k < sizeof value / sizeof value[0]; k++) {
    for (int all = 0; all < 2; all++) {
      draw_rows(e, 1, row, &y);
      for (size_t j = 0; j < (all ? e->inputs : 1); j++) row[j] = value[k];
      sum_rows(e, 1, row, &y, 20, 0.01, g);
      double norm = la_norm(e->dim, g);
      CHECK(norm <= 0.01 * (1 + 1e-14));
      if (k < 5) CHECK(norm == 0);
      if (k >= 5) CHECK(norm > 0);
    }
  }
  /* weights out of all proportion: numbers are clamped */
  static const double scale[] = {1e3, 1e30, 1e80, 1e95};
  for (size_t k = 0; k < sizeof scale / sizeof scale[0]; k++) {
    struct example large = *e;
    for (size_t j = 0; j < e->dim; j++) large.w[j] *= scale[k];
    draw_rows(e, 1, row, &y);
    sum_rows(&large, 1, row, &y, 20, 0.5, g);
    CHECK(la_norm(e->dim, g) <= 0.5 * (1 + 1e-14));
  }
}

/* Records that are there, but whose slope is so small that they cannot change a bit of the sum. */
static void saturated(void) {
  enum { N = 96 };
  struct example e;
  example_open(&e, (struct shape){2, 9, 9}, 4, images, 2, 0.3);
  e.w[e.dim - 1] = 900;
  double *x = base_alloc(N * e.inputs, sizeof *x), y[N], row[MOST_INPUTS], g[MOST_DIM], again[MOST_DIM];
  draw_rows(&e, 1, row, y);
  y[0] = -1;
  sum_rows(&e, 1, row, y, 100, 0.1, g);
  for (size_t place = 0; place < N; place += 19) {
    draw_rows(&e, N, x, y);
    for (size_t i = 0; i < N; i++) y[i] = i == place ? -1 : 1;
    for (size_t j = 0; j < e.inputs; j++) x[place + j * N] = row[j];
    sum_rows(&e, N, x, y, 100, 0.1, again);
    size_t other = 0;
    for (size_t j = 0; j < e.dim; j++) other += g[j] != again[j] && fabs(g[j]) > 1e-250;
    CHECK(other == 0);
  }
  base_free(x);
  example_close(&e);
}

static void refused(void) {
  static const struct layer_spec bad[] = {
      {.type = LAYER_CONVOLUTION, .outputs = 2, .size = 12, .stride = 1},
      {.type = LAYER_CONVOLUTION, .outputs = 2, .size = 3, .stride = 0},
      {.type = LAYER_CONVOLUTION, .outputs = 0, .size = 3, .stride = 1},
      {.type = LAYER_CONVOLUTION, .outputs = 2, .size = 3, .stride = 1, .padding = 3},
      {.type = LAYER_POOL, .size = 2, .stride = 2, .padding = 1},
      {.type = LAYER_DENSE, .outputs = (size_t)1 << 40},
  };
  struct network_spec spec = {.input = {1, 10, 10}, .lower = 0, .upper = 1, .layers = 1};
  struct network *network;
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    spec.layer = &bad[k];
    CHECK(network_create(&spec, 2, &network) == BASE_ERR_ARGUMENT && !network);
  }
  spec.layers = 0;
  spec.lower = 1;
  CHECK(network_create(&spec, 2, &network) == BASE_ERR_ARGUMENT);
}

/* The weights of the first layer of a network, from the standard's bytes for the key that is a seed: 0x76b8e0ad is the
 * first word of RFC 8439, appendix A.1. */
static void started(void) {
  struct example e;
  double w[MOST_DIM];
  example_open(&e, (struct shape){17, 1, 1}, 2, dense, 3, 1);
  network_start(e.network, 0, w);
  CHECK_NEAR(w[0] * sqrt(17), base_qnorm(0x76b8e0adp-32), 1e-9);
  CHECK_NEAR(w[1] * sqrt(17), base_qnorm(0xa0f13d90p-32), 1e-9);
  double other[MOST_DIM], fan[MOST_DIM];
  network_start(e.network, 256, other);
  network_fans(e.network, fan);
  size_t zeros = 0, equal = 0;
  for (size_t j = 0; j < e.dim; j++) {
    zeros += w[j] == 0;
    equal += w[j] == other[j];
    CHECK((w[j] == 0) == (fan[j] == 0));
  }
  CHECK(zeros == 13 + 9 + 3 && equal == zeros);
  example_close(&e);
}
