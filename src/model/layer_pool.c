/* Pooling: the maximum of each window, separately for each channel. */
#include "base/simd.h"
#include "model/private.h"

#include <string.h>

static size_t input_at(const struct layer *l, size_t c, size_t y, size_t x) {
  return (c * l->in.height + y) * l->in.width + x;
}

SIMD_CLONES static void take_larger(size_t rows, const double *in, double *restrict out) {
  SIMD_LOOP
  for (size_t i = 0; i < rows; i++) out[i] = in[i] > out[i] ? in[i] : out[i];
}

static void forward(const struct layer *l, size_t rows, const double *w, const double *a, double *work, double *z) {
  (void)w, (void)work;
  for (size_t c = 0; c < l->out.channels; c++) {
    for (size_t y = 0; y < l->out.height; y++) {
      for (size_t x = 0; x < l->out.width; x++, z += rows) {
        memcpy(z, a + input_at(l, c, y * l->stride, x * l->stride) * rows, rows * sizeof *z);
        for (size_t k = 1; k < l->size * l->size; k++) {
          size_t at = input_at(l, c, y * l->stride + k / l->size, x * l->stride + k % l->size);
          take_larger(rows, a + at * rows, z);
        }
      }
    }
  }
}

/* Gives a window's slope to its largest number; if there are several, to the first. left: slopes not yet given. */
SIMD_CLONES static void give(size_t rows, const double *in, const double *out, double *restrict left,
                             double *restrict below) {
  SIMD_LOOP
  for (size_t i = 0; i < rows; i++) {
    double given = in[i] == out[i] ? left[i] : 0;
    below[i] += given;
    left[i] -= given;
  }
}

static void backward(const struct layer *l, size_t rows, const double *w, const double *a, const double *z,
                     const double *slope, double *work, double *below) {
  (void)w;
  memset(below, 0, shape_size(l->in) * rows * sizeof *below);
  for (size_t c = 0; c < l->out.channels; c++) {
    for (size_t y = 0; y < l->out.height; y++) {
      for (size_t x = 0; x < l->out.width; x++, z += rows, slope += rows) {
        memcpy(work, slope, rows * sizeof *work);
        for (size_t k = 0; k < l->size * l->size; k++) {
          size_t at = input_at(l, c, y * l->stride + k / l->size, x * l->stride + k % l->size);
          give(rows, a + at * rows, z, work, below + at * rows);
        }
      }
    }
  }
}

static size_t work_size(const struct layer *l, size_t rows) {
  (void)l;
  return rows;
}

const struct layer_kind layer_pool = {forward, backward, NULL, NULL, work_size};
