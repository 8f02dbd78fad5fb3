/*
 * The scattering transform of one image (Bruna and Mallat, 2013): means in
 * Gaussian windows of the image, of the moduli of its convolutions with wavelets
 * of two scales, and of the moduli of the convolutions of the fine moduli with the coarse
 * wavelets. Convolutions with coarse wavelets are computed at every second pixel.
 */
#include "base/simd.h"
#include "features/private.h"

#include <string.h>

static int pool_create(struct pool *pool, size_t height, size_t width, size_t stride);
static double *put(const struct pool *pool, const double *plane, double *scratch, double *out);
static size_t larger(size_t x, size_t y) { return x > y ? x : y; }

/* Of order two: the angle between its wavelets in steps of pi / 8, from 0 to 7. */
static int is_kept(enum features_order order, size_t turn) {
  return order == FEATURES_FULL || (order == FEATURES_MID && turn % 2 == 0 && turn <= DIRECTIONS / 2);
}
static size_t turn_of(size_t first, size_t second) { return (second + DIRECTIONS - first) % DIRECTIONS; }

size_t features_channels(enum features_order order) {
  size_t kept = 0;
  for (size_t turn = 0; turn < DIRECTIONS; turn++) kept += is_kept(order, turn) ? 1 : 0;
  return 1 + (2 + kept) * DIRECTIONS;
}

void scattering_kinds(enum features_order order, size_t *kinds) {
  *kinds++ = 0;
  for (size_t k = 0; k < 2 * DIRECTIONS; k++) *kinds++ = 1 + k / DIRECTIONS;
  for (size_t first = 0; first < DIRECTIONS; first++) {
    for (size_t second = 0; second < DIRECTIONS; second++) {
      const size_t turn = turn_of(first, second);
      if (is_kept(order, turn)) *kinds++ = 3 + (turn < DIRECTIONS - turn ? turn : DIRECTIONS - turn);
    }
  }
}

int scattering_create(struct scattering *s, size_t height, size_t width, enum features_order order) {
  *s = (struct scattering){.order = order, .pixels = height * width};
  s->grid = features_windows(height) * features_windows(width);
  int status = bank_create(&s->fine, 0, height, width, 1);
  if (status == BASE_OK) status = bank_create(&s->coarse, 1, height, width, 2);
  if (status == BASE_OK) status = pool_create(&s->every, height, width, 1);
  if (status == BASE_OK) status = pool_create(&s->second, height, width, 2);
  return status;
}

static int pool_create(struct pool *pool, size_t height, size_t width, size_t stride) {
  const int status = windows_create(&pool->down, height, stride);
  return status == BASE_OK ? windows_create(&pool->across, width, stride) : status;
}

void scattering_free(struct scattering *s) {
  bank_free(&s->fine);
  bank_free(&s->coarse);
  windows_free(&s->every.down);
  windows_free(&s->every.across);
  windows_free(&s->second.down);
  windows_free(&s->second.across);
}

/* The moduli of the fine and coarse wavelets, and the scratch of a bank, which is larger than that of pooling. */
size_t scattering_scratch(const struct scattering *s) {
  return DIRECTIONS * (s->pixels + s->coarse.rows * s->coarse.columns) +
         larger(bank_scratch(&s->fine), bank_scratch(&s->coarse));
}

void scattering_image(const struct scattering *s, const double *image, double *scratch, double *out) {
  const size_t quarter = s->coarse.rows * s->coarse.columns;
  double *fine = scratch, *coarse = fine + DIRECTIONS * s->pixels, *work = coarse + DIRECTIONS * quarter;
  out = put(&s->every, image, work, out);
  bank_apply(&s->fine, image, work, fine);
  for (size_t k = 0; k < DIRECTIONS; k++) out = put(&s->every, fine + k * s->pixels, work, out);
  bank_apply(&s->coarse, image, work, coarse);
  for (size_t k = 0; k < DIRECTIONS; k++) out = put(&s->second, coarse + k * quarter, work, out);
  if (s->order == FEATURES_FIRST) return;
  for (size_t first = 0; first < DIRECTIONS; first++) {
    bank_apply(&s->coarse, fine + first * s->pixels, work, coarse);
    for (size_t second = 0; second < DIRECTIONS; second++) {
      if (is_kept(s->order, turn_of(first, second))) out = put(&s->second, coarse + second * quarter, work, out);
    }
  }
}

/* Writes the plane's means in all windows; returns the place of the next ones. */
SIMD_CLONES static double *put(const struct pool *pool, const double *plane, double *scratch, double *out) {
  const size_t width = pool->across.lines;
  double *restrict line = scratch;
  for (size_t i = 0; i < pool->down.count; i++) {
    memset(line, 0, width * sizeof *line);
    for (size_t r = 0; r < pool->down.lines; r++) {
      const double weight = pool->down.weight[i * pool->down.lines + r], *row = plane + r * width;
      SIMD_LOOP
      for (size_t c = 0; c < width; c++) line[c] += weight * row[c];
    }
    for (size_t j = 0; j < pool->across.count; j++) {
      const double *weight = pool->across.weight + j * width;
      double sum = 0;
      SIMD_SUM(sum)
      for (size_t c = 0; c < width; c++) sum += weight[c] * line[c];
      *out++ = sum;
    }
  }
  return out;
}
