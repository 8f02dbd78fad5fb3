/* A dense layer: z = W (a, 1). The gradient of a row is slope (a, 1)', with squared norm |(a, 1)|^2 |slope|^2, so no
 * row's gradient is formed. */
#include "base/simd.h"
#include "model/private.h"

#include <string.h>

/* The next multiple of LA_LANES. */
static size_t padded(size_t outputs) { return (outputs + LA_LANES - 1) / LA_LANES * LA_LANES; }

static void forward(const struct layer *l, size_t rows, const double *w, const double *a, double *work, double *z) {
  size_t inputs = shape_size(l->in) + 1, outputs = l->out.channels;
  (void)work;
  memset(z, 0, rows * outputs * sizeof *z);
  la_lanes_add(rows, outputs, inputs, a, rows, w, outputs, 1, z, rows);
}

static void backward(const struct layer *l, size_t rows, const double *w, const double *a, const double *z,
                     const double *slope, double *work, double *below) {
  size_t inputs = shape_size(l->in), outputs = l->out.channels;
  (void)a, (void)z, (void)work;
  memset(below, 0, rows * inputs * sizeof *below);
  la_lanes_add(rows, inputs, outputs, slope, rows, w, 1, outputs, below, rows);
}

/* sum_i <- sum_i + |row i|^2 */
SIMD_CLONES static void add_squares(size_t features, size_t rows, const double *x, double *restrict sum) {
  for (size_t j = 0; j < features; j++) {
    SIMD_LOOP
    for (size_t i = 0; i < rows; i++) sum[i] += x[i + j * rows] * x[i + j * rows];
  }
}

static void norms(const struct layer *l, size_t rows, const double *a, const double *slope, double *square) {
  double inputs[NETWORK_MOST_ROWS] = {0}, slopes[NETWORK_MOST_ROWS] = {0};
  add_squares(shape_size(l->in) + 1, rows, a, inputs);
  add_squares(l->out.channels, rows, slope, slopes);
  for (size_t i = 0; i < rows; i++) square[i] += inputs[i] * slopes[i];
}

/* work: slopes times factors, by rows. */
static void add(const struct layer *l, size_t rows, const double *a, const double *slope, const double *factor,
                double *work, double *g) {
  size_t inputs = shape_size(l->in) + 1, outputs = l->out.channels, ld = padded(outputs);
  memset(work, 0, rows * ld * sizeof *work);
  for (size_t k = 0; k < outputs; k++) {
    for (size_t i = 0; i < rows; i++) work[k + i * ld] = factor[i] * slope[i + k * rows];
  }
  la_lanes_add(outputs, inputs, rows, work, ld, a, 1, rows, g, outputs);
}

static size_t work_size(const struct layer *l, size_t rows) { return rows * padded(l->out.channels); }

const struct layer_kind layer_dense = {forward, backward, norms, add, work_size};
