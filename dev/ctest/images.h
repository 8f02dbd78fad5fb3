/* A small network over images at an oracle: convolution, pooling, dense layers. */
#ifndef DPSOSP_IMAGES_H
#define DPSOSP_IMAGES_H

#include "fixture.h"
#include "la/la.h"
#include "model/network.h"

enum { IMAGES_N = 90, IMAGES_SIDE = 6, IMAGES_INPUTS = IMAGES_SIDE * IMAGES_SIDE };
#define IMAGES_CLIP 0.3

static const struct layer_spec images_layers[] = {
    {.type = LAYER_CONVOLUTION, .outputs = 3, .size = 3, .stride = 1, .padding = 1, .activation = ACTIVATION_TANH},
    {.type = LAYER_POOL, .size = 2, .stride = 2},
    {.type = LAYER_DENSE, .outputs = 5, .activation = ACTIVATION_RELU}};

struct images {
  double x[IMAGES_N * IMAGES_INPUTS], y[IMAGES_N], *w;
  struct network *network;
  struct loss *loss;
  struct data *data;
  struct engine engine;
  struct model model;
  struct ledger *ledger;
  struct oracle *oracle;
};

static inline void images_open_rows(struct images *f, enum oracle_neighbours neighbours) {
  CHECK(data_create(f->x, IMAGES_N, IMAGES_INPUTS, 0, IMAGES_SIDE, f->y, &f->data) == BASE_OK);
  f->engine = engine_memory(f->data);
  f->model = model_network(f->data, f->loss, f->network);
  CHECK(oracle_create(&f->engine, &f->model, f->ledger, &ctest_entropy, neighbours, &f->oracle) == BASE_OK);
}

static inline void images_close_rows(struct images *f) {
  oracle_free(f->oracle);
  data_free(f->data);
}

static inline void images_open(struct images *f, size_t classes, enum oracle_neighbours neighbours, double order) {
  const struct network_spec spec = {.input = {1, IMAGES_SIDE, IMAGES_SIDE},
                                    .lower = 0,
                                    .upper = 1,
                                    .layers = sizeof images_layers / sizeof images_layers[0],
                                    .layer = images_layers};
  CHECK(loss_create(classes > 2 ? "multinomial" : "logistic", (double)classes, &f->loss) == BASE_OK);
  CHECK(network_create(&spec, loss_outputs(f->loss), &f->network) == BASE_OK);
  f->w = base_alloc(network_dim(f->network), sizeof(double));
  for (size_t j = 0; j < network_dim(f->network); j++) f->w[j] = 0.5 * ctest_normal();
  for (size_t i = 0; i < IMAGES_N * IMAGES_INPUTS; i++) f->x[i] = ctest_uniform();
  for (size_t i = 0; i < IMAGES_N; i++)
    f->y[i] = classes > 2 ? (double)(1 + i % classes) / (double)classes : fixture_sign();
  CHECK((order > 0 ? ledger_create_renyi(order, 1, &f->ledger) : ledger_create(1, 1, LEDGER_OPEN, &f->ledger)) ==
        BASE_OK);
  images_open_rows(f, neighbours);
}

static inline void images_close(struct images *f) {
  images_close_rows(f);
  ledger_free(f->ledger);
  network_free(f->network);
  loss_free(f->loss);
  base_free(f->w);
}

/* A record like the last one, an unlike one, or one that is to break the sum. */
static inline void images_draw_record(struct images *f, size_t i, int kind, size_t classes) {
  static const double odd[] = {NAN, INFINITY, 1e300, 1e160, 1e20, -1e9};
  for (size_t j = 0; j < IMAGES_INPUTS; j++) {
    double *x = &f->x[i + j * IMAGES_N];
    *x = kind < 6 ? (j % 5 == 0 ? odd[kind] : ctest_uniform()) : kind < 12 ? ctest_uniform() : j < 18 ? 1 : 0;
    if (kind == 13) *x = odd[3];
  }
  f->y[i] = classes > 2 ? (double)(1 + kind % (int)classes) / (double)classes : kind % 2 ? 1 : -1;
  if (kind == 9) f->y[i] = NAN;
}

#endif
