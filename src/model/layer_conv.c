/*
 * A convolution: z_o(y, x) = sum over channels c and places (v, u) of a window of W_o(c, v, u) a_c(y s + v - p, x s + u
 * - p), plus a constant; s the stride, p the padding. Vector registers hold the rows of a tile, so nothing is
 * unfolded.
 *
 * The gradient of a row is a sum over the pixels of the output with possible cancellation, so its norm is computed from
 * the computed sums. They are computed twice, for the norm and for the clipped gradient, by the same operations, and
 * never stored.
 */
#include "base/simd.h"
#include "model/private.h"

#include <string.h>

#define ROWS (2 * SIMD_LANES)
/* Channels that are computed together. */
#define CHANNELS 4

/* Whole numbers from first to end - 1. */
struct range {
  size_t first, end;
};

static size_t smaller(size_t x, size_t y) { return x < y ? x : y; }

/* The places of a window of this size that lie inside a line of `in` pixels, if the window begins at start - padding.
 * */
static struct range inside(const struct layer *l, size_t start, size_t in) {
  size_t end = in + l->padding - start;
  return (struct range){start < l->padding ? l->padding - start : 0, smaller(end, l->size)};
}

/* The windows, of `out` in all, whose place v lies inside a line of `in` pixels. */
static struct range windows(const struct layer *l, size_t v, size_t in, size_t out) {
  size_t first = v < l->padding ? (l->padding - v + l->stride - 1) / l->stride : 0;
  size_t end = in + l->padding > v ? (in + l->padding - v - 1) / l->stride + 1 : 0;
  return (struct range){first, smaller(end, out)};
}

static size_t places(const struct layer *l) { return l->size * l->size; }

/* ---- forward ---- */

/* packed: the weights of several output channels, CHANNELS for each place of each input channel, and the constants. */
static void pack_outputs(const struct layer *l, const double *w, size_t o, double *packed) {
  size_t count = l->in.channels * places(l) + 1, outputs = l->out.channels;
  for (size_t k = 0; k < count; k++) {
    for (size_t j = 0; j < CHANNELS; j++) packed[k * CHANNELS + j] = o + j < outputs ? w[k * outputs + o + j] : 0;
  }
}

/* The sums of one pixel for several rows. */
SIMD_INLINE void window_sums(const struct layer *l, size_t rows, const double *packed, const double *a, size_t y,
                             size_t x, double sums[CHANNELS][ROWS]) {
  const struct range v = inside(l, y * l->stride, l->in.height), u = inside(l, x * l->stride, l->in.width);
  const double *constant = packed + l->in.channels * places(l) * CHANNELS;
  simd_vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
  s0 += constant[0], s1 += constant[1], s2 += constant[2], s3 += constant[3];
  simd_vector t0 = s0, t1 = s1, t2 = s2, t3 = s3;
  for (size_t c = 0; c < l->in.channels; c++) {
    for (size_t i = v.first; i < v.end; i++) {
      size_t line = (c * l->in.height + y * l->stride + i - l->padding) * l->in.width;
      const double *at = a + (line + x * l->stride + u.first - l->padding) * rows;
      const double *weight = packed + ((c * l->size + i) * l->size + u.first) * CHANNELS;
      for (size_t j = u.first; j < u.end; j++, at += rows, weight += CHANNELS) {
        const simd_vector a0 = SIMD_AT(at), a1 = SIMD_AT(at + SIMD_LANES);
        s0 += a0 * weight[0], t0 += a1 * weight[0];
        s1 += a0 * weight[1], t1 += a1 * weight[1];
        s2 += a0 * weight[2], t2 += a1 * weight[2];
        s3 += a0 * weight[3], t3 += a1 * weight[3];
      }
    }
  }
  SIMD_AT(sums[0]) = s0, SIMD_AT(sums[0] + SIMD_LANES) = t0;
  SIMD_AT(sums[1]) = s1, SIMD_AT(sums[1] + SIMD_LANES) = t1;
  SIMD_AT(sums[2]) = s2, SIMD_AT(sums[2] + SIMD_LANES) = t2;
  SIMD_AT(sums[3]) = s3, SIMD_AT(sums[3] + SIMD_LANES) = t3;
}

SIMD_CLONES static void forward_outputs(const struct layer *l, size_t rows, const double *packed, const double *a,
                                        size_t outputs, double *z) {
  size_t pixels = shape_pixels(l->out);
  double sums[CHANNELS][ROWS] = {{0}};
  for (size_t y = 0; y < l->out.height; y++) {
    for (size_t x = 0; x < l->out.width; x++) {
      double *to = z + (y * l->out.width + x) * rows;
      for (size_t i = 0; i < rows; i += ROWS) {
        window_sums(l, rows, packed, a + i, y, x, sums);
        for (size_t j = 0; j < outputs; j++) memcpy(to + j * pixels * rows + i, sums[j], sizeof sums[j]);
      }
    }
  }
}

static void forward(const struct layer *l, size_t rows, const double *w, const double *a, double *work, double *z) {
  size_t pixels = shape_pixels(l->out);
  for (size_t o = 0; o < l->out.channels; o += CHANNELS) {
    pack_outputs(l, w, o, work);
    forward_outputs(l, rows, work, a, smaller(CHANNELS, l->out.channels - o), z + o * pixels * rows);
  }
}

/* ---- backward ---- */

/* packed: the weights of several input channels, CHANNELS for each output channel of each place. */
static void pack_inputs(const struct layer *l, const double *w, size_t c, double *packed) {
  size_t outputs = l->out.channels, count = places(l) * outputs;
  for (size_t k = 0; k < count; k++) {
    for (size_t j = 0; j < CHANNELS; j++) {
      packed[k * CHANNELS + j] = c + j < l->in.channels ? w[(c + j) * count + k] : 0;
    }
  }
}

/* below <- below + the weights of one place times the slopes of one pixel, for several input channels. */
SIMD_CLONES static void add_below(size_t rows, size_t outputs, size_t apart, const double *weight, const double *slope,
                                  size_t inputs, size_t between, double *below) {
  double sums[CHANNELS][ROWS] = {{0}};
  for (size_t i = 0; i < rows; i += ROWS) {
    simd_vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
    const double *at = slope + i, *k = weight;
    for (size_t o = 0; o < outputs; o++, at += apart, k += CHANNELS) {
      const simd_vector d0 = SIMD_AT(at), d1 = SIMD_AT(at + SIMD_LANES);
      s0 += d0 * k[0], t0 += d1 * k[0];
      s1 += d0 * k[1], t1 += d1 * k[1];
      s2 += d0 * k[2], t2 += d1 * k[2];
      s3 += d0 * k[3], t3 += d1 * k[3];
    }
    SIMD_AT(sums[0]) = s0, SIMD_AT(sums[0] + SIMD_LANES) = t0;
    SIMD_AT(sums[1]) = s1, SIMD_AT(sums[1] + SIMD_LANES) = t1;
    SIMD_AT(sums[2]) = s2, SIMD_AT(sums[2] + SIMD_LANES) = t2;
    SIMD_AT(sums[3]) = s3, SIMD_AT(sums[3] + SIMD_LANES) = t3;
    for (size_t j = 0; j < inputs; j++) {
      for (size_t r = 0; r < ROWS; r++) below[j * between + i + r] += sums[j][r];
    }
  }
}

/* All places of all windows, for several input channels. */
static void backward_inputs(const struct layer *l, size_t rows, const double *packed, const double *slope,
                            size_t inputs, double *below) {
  size_t between = shape_pixels(l->in) * rows, apart = shape_pixels(l->out) * rows, outputs = l->out.channels;
  for (size_t v = 0; v < l->size; v++) {
    const struct range y = windows(l, v, l->in.height, l->out.height);
    for (size_t u = 0; u < l->size; u++) {
      const struct range x = windows(l, u, l->in.width, l->out.width);
      const double *weight = packed + (v * l->size + u) * outputs * CHANNELS;
      for (size_t i = y.first; i < y.end; i++) {
        for (size_t j = x.first; j < x.end; j++) {
          size_t to = (i * l->stride + v - l->padding) * l->in.width + j * l->stride + u - l->padding;
          add_below(rows, outputs, apart, weight, slope + (i * l->out.width + j) * rows, inputs, between,
                    below + to * rows);
        }
      }
    }
  }
}

static void backward(const struct layer *l, size_t rows, const double *w, const double *a, const double *z,
                     const double *slope, double *work, double *below) {
  size_t pixels = shape_pixels(l->in);
  (void)a, (void)z;
  memset(below, 0, shape_size(l->in) * rows * sizeof *below);
  for (size_t c = 0; c < l->in.channels; c += CHANNELS) {
    pack_inputs(l, w, c, work);
    backward_inputs(l, rows, work, slope, smaller(CHANNELS, l->in.channels - c), below + c * pixels * rows);
  }
}

/* ---- gradients of rows ---- */

/* One place of one input channel (after the last one: the constant), and several output channels. */
struct weight {
  struct range y, x;         /* windows */
  size_t step, line;         /* distance between the inputs of two windows; 0 for the constant */
  const double *a;           /* input of the first window */
  const double *d[CHANNELS]; /* slopes of the output channels; the last one is repeated if there are fewer */
};

static struct weight weight_at(const struct layer *l, size_t rows, const double *a, const double *slope, size_t place,
                               size_t o) {
  size_t c = place / places(l), v = place % places(l) / l->size, u = place % l->size,
         apart = shape_pixels(l->out) * rows;
  struct weight at = {.y = {0, l->out.height}, .x = {0, l->out.width}, .a = a + shape_size(l->in) * rows};
  if (c < l->in.channels) {
    at.y = windows(l, v, l->in.height, l->out.height);
    at.x = windows(l, u, l->in.width, l->out.width);
    at.step = l->stride * rows;
    at.line = l->stride * l->in.width * rows;
    at.a = a + ((c * l->in.height + at.y.first * l->stride + v - l->padding) * l->in.width + at.x.first * l->stride +
                u - l->padding) *
                   rows;
  }
  for (size_t j = 0; j < CHANNELS; j++) at.d[j] = slope + smaller(o + j, l->out.channels - 1) * apart;
  return at;
}

/* The derivatives with respect to these weights, for several rows from row i on. */
SIMD_CLONES static void derivatives(const struct layer *l, size_t rows, const struct weight *at, size_t i,
                                    double sums[CHANNELS][ROWS]) {
  simd_vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
  for (size_t y = at->y.first; y < at->y.end; y++) {
    const double *a = at->a + (y - at->y.first) * at->line + i;
    size_t pixel = (y * l->out.width + at->x.first) * rows + i;
    for (size_t x = at->x.first; x < at->x.end; x++, a += at->step, pixel += rows) {
      const simd_vector a0 = SIMD_AT(a), a1 = SIMD_AT(a + SIMD_LANES);
      s0 += a0 * SIMD_AT(at->d[0] + pixel), t0 += a1 * SIMD_AT(at->d[0] + pixel + SIMD_LANES);
      s1 += a0 * SIMD_AT(at->d[1] + pixel), t1 += a1 * SIMD_AT(at->d[1] + pixel + SIMD_LANES);
      s2 += a0 * SIMD_AT(at->d[2] + pixel), t2 += a1 * SIMD_AT(at->d[2] + pixel + SIMD_LANES);
      s3 += a0 * SIMD_AT(at->d[3] + pixel), t3 += a1 * SIMD_AT(at->d[3] + pixel + SIMD_LANES);
    }
  }
  SIMD_AT(sums[0]) = s0, SIMD_AT(sums[0] + SIMD_LANES) = t0;
  SIMD_AT(sums[1]) = s1, SIMD_AT(sums[1] + SIMD_LANES) = t1;
  SIMD_AT(sums[2]) = s2, SIMD_AT(sums[2] + SIMD_LANES) = t2;
  SIMD_AT(sums[3]) = s3, SIMD_AT(sums[3] + SIMD_LANES) = t3;
}

static void norms(const struct layer *l, size_t rows, const double *a, const double *slope, double *square) {
  double sums[CHANNELS][ROWS] = {{0}};
  for (size_t place = 0; place <= l->in.channels * places(l); place++) {
    for (size_t o = 0; o < l->out.channels; o += CHANNELS) {
      const struct weight at = weight_at(l, rows, a, slope, place, o);
      for (size_t i = 0; i < rows; i += ROWS) {
        derivatives(l, rows, &at, i, sums);
        for (size_t j = 0; j < CHANNELS && o + j < l->out.channels; j++) {
          for (size_t r = 0; r < ROWS; r++) square[i + r] += sums[j][r] * sums[j][r];
        }
      }
    }
  }
}

static void add(const struct layer *l, size_t rows, const double *a, const double *slope, const double *factor,
                double *work, double *g) {
  double sums[CHANNELS][ROWS] = {{0}};
  (void)work;
  for (size_t place = 0; place <= l->in.channels * places(l); place++) {
    for (size_t o = 0; o < l->out.channels; o += CHANNELS) {
      const struct weight at = weight_at(l, rows, a, slope, place, o);
      double *to = g + place * l->out.channels + o;
      for (size_t i = 0; i < rows; i += ROWS) {
        derivatives(l, rows, &at, i, sums);
        for (size_t j = 0; j < CHANNELS && o + j < l->out.channels; j++) {
          for (size_t r = 0; r < ROWS; r++) to[j] += sums[j][r] * factor[i + r];
        }
      }
    }
  }
}

static size_t work_size(const struct layer *l, size_t rows) {
  size_t forward_size = l->in.channels * places(l) + 1, backward_size = l->out.channels * places(l);
  (void)rows;
  return CHANNELS * (forward_size > backward_size ? forward_size : backward_size);
}

const struct layer_kind layer_convolution = {forward, backward, norms, add, work_size};
