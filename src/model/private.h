/* Inside the model room: the layers of a network. */
#ifndef DPSOSP_MODEL_PRIVATE_H
#define DPSOSP_MODEL_PRIVATE_H

#include "la/la.h"
#include "model/network.h"

/* Rows of a tile, at most. */
#define NETWORK_MOST_ROWS 64

struct layer;

/* Numbers are those of a tile: rows of them, a multiple of LA_LANES, one feature after the other. The inputs a have one
 * feature more than the layer's, which is one: that of the constant. Weights of a layer: outputs of them for each of
 * what a unit sums, the constant's last. */
struct layer_kind {
  /* z <- what is summed */
  void (*forward)(const struct layer *l, size_t rows, const double *w, const double *a, double *work, double *z);
  /* below <- slopes along a, from those along z */
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

/* factor_i <- factor_i times what clips a gradient with this squared norm, of dim numbers. */
void clip_factors(size_t rows, size_t dim, double clip, const double *square, double *factor);

static inline size_t shape_size(struct shape s) { return s.channels * s.height * s.width; }
static inline size_t shape_pixels(struct shape s) { return s.height * s.width; }

#endif
