/*
 * Steps of networks for networks.R: as the package takes them, and by the same code without what privacy costs, that is
 * without norms, clipping and noise (NON-PRIVATE: built for the benchmarks alone, never part of the package). Both draw
 * their batches in the same way.
 */
#define R_NO_REMAP
#include <Rinternals.h>

#include "../ctest/shorthand.h"
#include "model/private.h"

/* ---- the network's own file once more, with layers that have no norms and factors that stay as they are ---- */

static struct layer_kind plain_dense, plain_convolution, plain_pool;

static void plain_open(void) {
  plain_dense = layer_dense;
  plain_convolution = layer_convolution;
  plain_pool = layer_pool;
  plain_dense.norms = plain_convolution.norms = NULL;
}

static void plain_factors(size_t rows, size_t dim, double clip, const double *square, double *factor) {
  (void)rows, (void)dim, (void)clip, (void)square, (void)factor;
}

#define layer_dense plain_dense
#define layer_convolution plain_convolution
#define layer_pool plain_pool
#define clip_factors plain_factors
#define network_create plain_create
#define network_free plain_free
#define network_dim plain_dim
#define network_fans plain_fans
#define network_predict plain_predict
#define model_network plain_model
#include "../../src/model/network.c"
#undef network_create
#undef network_free
#undef network_dim
#undef network_fans
#undef network_predict
#undef model_network

/* ---- what R calls; all else is hidden, as in the package ---- */

#pragma GCC visibility push(default)

struct bench_network {
  struct network *network;
  struct loss *loss;
  struct data *data;
  struct engine engine;
  struct ledger *ledger;
  struct oracle *oracle;
  double *w, *g;
  int plain;
};

static void must(int status) {
  if (status != BASE_OK) Rf_error("%s", base_message(status));
}

static const struct layer_spec mlp[] = {{.type = LAYER_DENSE, .outputs = 256, .activation = ACTIVATION_TANH}};
static const struct layer_spec cnn[] = {
    {.type = LAYER_CONVOLUTION, .outputs = 16, .size = 8, .stride = 2, .padding = 3, .activation = ACTIVATION_TANH},
    {.type = LAYER_POOL, .size = 2, .stride = 1},
    {.type = LAYER_CONVOLUTION, .outputs = 32, .size = 4, .stride = 2, .activation = ACTIVATION_TANH},
    {.type = LAYER_POOL, .size = 2, .stride = 1},
    {.type = LAYER_DENSE, .outputs = 32, .activation = ACTIVATION_TANH}};

/* Of images of 28 x 28 numbers in [0, 1], the rows of x, in ten classes. */
SEXP bench_network_open(SEXP x, SEXP y, SEXP images, SEXP plain) {
  const int convolutions = Rf_asLogical(images);
  const struct network_spec spec = {.input = {1, 28, 28},
                                    .lower = 0,
                                    .upper = 1,
                                    .layers = convolutions ? sizeof cnn / sizeof cnn[0] : 1,
                                    .layer = convolutions ? cnn : mlp};
  struct bench_network *b = base_alloc(1, sizeof *b);
  plain_open();
  b->plain = Rf_asLogical(plain);
  must(loss_create("multinomial", 10, &b->loss));
  must(b->plain ? plain_create(&spec, 10, &b->network) : network_create(&spec, 10, &b->network));
  must(data_create(REAL(x), (size_t)Rf_nrows(x), (size_t)Rf_ncols(x), 0, 1e100, REAL(y), &b->data));
  must(ledger_create_renyi(8, 1e6, &b->ledger));
  b->engine = engine_memory(b->data);
  const struct model model =
      b->plain ? plain_model(b->data, b->loss, b->network) : model_network(b->data, b->loss, b->network);
  must(oracle_create(&b->engine, &model, b->ledger, &base_entropy_system, ORACLE_ZERO_OUT, &b->oracle));
  b->w = base_alloc(2 * network_dim(b->network), sizeof *b->w);
  b->g = b->w + network_dim(b->network);
  network_start(b->network, 1, b->w);
  SEXP out = PROTECT(R_MakeExternalPtr(b, R_NilValue, x)); /* until the process ends */
  R_PreserveObject(out);
  UNPROTECT(1);
  return out;
}

/* Steps along gradients of Poisson batches of this expected size. */
SEXP bench_network_steps(SEXP network, SEXP steps, SEXP batch) {
  struct bench_network *b = R_ExternalPtrAddr(network);
  const struct schedule how = {.sampling = {SCHEME_POISSON, Rf_asReal(batch)}, .share = {[PART_SLOPE] = 1}};
  const struct ask ask = {.at = b->w, .clip = 0.5};
  const struct query *q = &query_clipped_gradient;
  for (int t = 0; t < Rf_asInteger(steps); t++) {
    double sd;
    must(step_open(b->oracle, &how, &ask, 1e-3));
    struct scope *step = oracle_step(b->oracle);
    must(b->plain ? scope_mean(step, &q->sum, &ask, b->g)
                  : release(step, q, &ask, step_left(b->oracle, q), (struct answer){b->g, &sd, NULL}));
    step_close(b->oracle);
    for (size_t j = 0; j < network_dim(b->network); j++) b->w[j] -= 0.01 * b->g[j];
  }
  return R_NilValue;
}

SEXP bench_network_dim(SEXP network) {
  struct bench_network *b = R_ExternalPtrAddr(network);
  return Rf_ScalarReal((double)network_dim(b->network));
}
