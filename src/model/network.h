/*
 * Networks of dense, convolution and pooling layers, whose records' gradients are clipped to a public norm. The
 * rows of a tile, always as many as fill vector registers, go through the same operations: the result for a
 * record depends on this record and on the weights alone, to the last bit. Numbers are clipped, so that
 * none is infinite or NaN, whatever weights and records are.
 */
#ifndef DPSOSP_MODEL_NETWORK_H
#define DPSOSP_MODEL_NETWORK_H

#include "model/model.h"

/* Numbers of a row, (channel * height + y) * width + x; those of a dense layer are channels of one pixel. */
struct shape {
  size_t channels, height, width;
};

enum layer_type { LAYER_DENSE, LAYER_CONVOLUTION, LAYER_POOL };
enum activation { ACTIVATION_NONE, ACTIVATION_TANH, ACTIVATION_RELU };

/* Each kind of layer uses the members that it needs. */
struct layer_spec {
  enum layer_type type;
  size_t outputs;               /* units or channels */
  size_t size, stride, padding; /* of a window; a pool has no padding */
  enum activation activation;
};

/* Inputs are clipped to [lower, upper] and mapped to [-1/2, 1/2]. A dense layer with the loss's
 * outputs and no activation follows the layers. */
struct network_spec {
  struct shape input;
  double lower, upper;
  size_t layers;
  const struct layer_spec *layer;
};

struct network;
/* BASE_ERR_ARGUMENT where a window does not fit its input. */
int network_create(const struct network_spec *spec, size_t outputs, struct network **out);
void network_free(struct network *network);
size_t network_dim(const struct network *network);
/* For each weight in order: the number of inputs that a unit of its layer sums; 0 for the weight of a constant. */
void network_fans(const struct network *network, double *fan);
/* Independent normal weights with variance one over these numbers, zero for a constant; determined by the seed. */
void network_start(const struct network *network, uint32_t seed, double *w);

/* For dense rows without intercept; the loss has as many outputs as the network. All arguments are kept by reference.
 * */
struct model model_network(const struct data *rows, const struct loss *loss, const struct network *network);
/* t, n x outputs: the predictors of n rows x, n x inputs, of finite numbers. */
int network_predict(const struct network *network, size_t n, const double *x, const double *w, double *t);

#endif
