/*
 * Products of the columns of tall, narrow blocks: the weighted cross-product of
 * a block, in tiles of 4 x 3 entries
 * whose twelve sums stay in registers, the most that the sixteen vector registers
 * of most processors allow. Four weighted columns at a time are copied; the
 * others are read in place, as many columns at a time as fit a second-level
 * cache with a few hundred rows. On narrow matrices this is as fast as a tuned dsyrk
 * (dev/bench), includes the weights, and does not depend on the installed BLAS.
 */
#include "base/simd.h"
#include "la/la.h"

enum { LEFT = 4, RIGHT = 3, NEAR = 384 };

static void add_rows(size_t m, size_t n, const double *a, size_t lda, const double *u, const double *v, double *scratch,
                     size_t first, size_t end, double *c, size_t ldc);
static void copy_weighted(size_t m, const double *u, const double *v, const double *column, double *restrict to);
static void tile(size_t m, const double *const left[LEFT], const double *const right[RIGHT], double sums[LEFT][RIGHT]);
static size_t smaller(size_t x, size_t y) { return x < y ? x : y; }

void la_crossprod_add(size_t m, size_t n, const double *a, size_t lda, const double *u, const double *v,
                      double *scratch, double *c, size_t ldc) {
  for (size_t first = 0; first < n; first += NEAR) {
    add_rows(m, n, a, lda, u, v, scratch, first, smaller(first + NEAR, n), c, ldc);
  }
}

/* Rows first, ..., end - 1 of the lower triangle. */
static void add_rows(size_t m, size_t n, const double *a, size_t lda, const double *u, const double *v, double *scratch,
                     size_t first, size_t end, double *c, size_t ldc) {
  const double *left[LEFT], *right[RIGHT];
  double sums[LEFT][RIGHT];
  for (size_t j = 0; j < end; j += LEFT) {
    for (size_t k = 0; k < LEFT; k++) {
      if (j + k < n) copy_weighted(m, u, v, a + (j + k) * lda, scratch + k * m);
      left[k] = scratch + (j + k < n ? k : 0) * m; /* sums for an absent column are not used */
    }
    for (size_t i = j > first ? j : first; i < end; i += RIGHT) {
      for (size_t k = 0; k < RIGHT; k++) right[k] = a + smaller(i + k, n - 1) * lda;
      tile(m, left, right, sums);
      for (size_t k = 0; k < smaller(LEFT, n - j); k++) {
        for (size_t l = 0; l < smaller(RIGHT, end - i); l++) {
          if (i + l >= j + k) c[i + l + (j + k) * ldc] += sums[k][l];
        }
      }
    }
  }
}

/* Four columns of A stay in the first-level cache for all of X; sums for an absent column are not used. */
void la_multiply_t_add(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *x, double *y,
                       size_t ldy) {
  const double *left[LEFT], *right[RIGHT];
  double sums[LEFT][RIGHT];
  for (size_t j = 0; j < n; j += LEFT) {
    for (size_t l = 0; l < LEFT; l++) left[l] = a + smaller(j + l, n - 1) * lda;
    for (size_t c = 0; c < k; c += RIGHT) {
      for (size_t l = 0; l < RIGHT; l++) right[l] = x + smaller(c + l, k - 1) * m;
      tile(m, left, right, sums);
      for (size_t l = 0; l < smaller(LEFT, n - j); l++) {
        for (size_t r = 0; r < smaller(RIGHT, k - c); r++) y[j + l + (c + r) * ldy] += sums[l][r];
      }
    }
  }
}

SIMD_CLONES static void copy_weighted(size_t m, const double *u, const double *v, const double *column,
                                      double *restrict to) {
  SIMD_LOOP
  for (size_t i = 0; i < m; i++) to[i] = u[i] * (v[i] * column[i]);
}

SIMD_CLONES static void tile(size_t m, const double *const left[LEFT], const double *const right[RIGHT],
                             double sums[LEFT][RIGHT]) {
  const double *a0 = left[0], *a1 = left[1], *a2 = left[2], *a3 = left[3];
  const double *b0 = right[0], *b1 = right[1], *b2 = right[2];
  double s00 = 0, s01 = 0, s02 = 0, s10 = 0, s11 = 0, s12 = 0;
  double s20 = 0, s21 = 0, s22 = 0, s30 = 0, s31 = 0, s32 = 0;
  SIMD_SUM(s00, s01, s02, s10, s11, s12, s20, s21, s22, s30, s31, s32)
  for (size_t i = 0; i < m; i++) {
    s00 += a0[i] * b0[i];
    s01 += a0[i] * b1[i];
    s02 += a0[i] * b2[i];
    s10 += a1[i] * b0[i];
    s11 += a1[i] * b1[i];
    s12 += a1[i] * b2[i];
    s20 += a2[i] * b0[i];
    s21 += a2[i] * b1[i];
    s22 += a2[i] * b2[i];
    s30 += a3[i] * b0[i];
    s31 += a3[i] * b1[i];
    s32 += a3[i] * b2[i];
  }
  const double all[LEFT][RIGHT] = {{s00, s01, s02}, {s10, s11, s12}, {s20, s21, s22}, {s30, s31, s32}};
  for (size_t k = 0; k < LEFT; k++)
    for (size_t l = 0; l < RIGHT; l++) sums[k][l] = all[k][l];
}
