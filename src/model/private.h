/* Inside the model room: the layers of a network. */
#ifndef DPSOSP_MODEL_PRIVATE_H
#define DPSOSP_MODEL_PRIVATE_H

#include "la/la.h"
#include "model/network.h"

/* Largest number of rows of a tile. */
#define NETWORK_MOST_ROWS 64

struct layer;

/* The numbers of a tile are stored feature by feature: as many rows as the tile has, a multiple of LA_LANES. The inputs
 * a have one feature more than the layer: the constant one. Weights of a layer: for each summed feature one for each
 * output, those of the constant last. */
struct layer_kind {
  /* z <- the layer's sums */
  void (*forward)(const struct layer *l, size_t rows, const double *w, const double *a, double *work, double *z);
  /* below <- slopes with respect to a, from those with respect to z */
  void (*backward)(const struct layer *l, size_t rows, const double *w, const double *a, const double *z,
                   const double *slope, double *work, double *below);
  /* square_i <- square_i + |gradient of row i|^2; NULL: there are no weights */
  void (*norms)(const struct layer *l, size_t rows, const double *a, const double *slope, double *square);
  /* g <- g + sum_i factor_i gradient of row i */
  void (*add)(const struct layer *l, size_t rows, const double *a, const double *slope, const double *factor,
              double *work, double *g);
  size_t (*work)(const struct layer *l, size_t rows); /* numbers */
};

struct layer {
  const struct layer_kind *kind;
  struct shape in, out;
  size_t size, stride, padding;
  enum activation activation;
  size_t first, weights; /* its part of w */
};

extern const struct layer_kind layer_dense, layer_convolution, layer_pool;

/* factor_i <- factor_i times the factor that clips a gradient of dim numbers with this squared norm. */
void clip_factors(size_t rows, size_t dim, double clip, const double *square, double *factor);

static inline size_t shape_size(struct shape s) { return s.channels * s.height * s.width; }
static inline size_t shape_pixels(struct shape s) { return s.height * s.width; }

#endif
