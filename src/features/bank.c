/*
 * Convolutions with the wavelets of one scale. Rows above and below a pixel are
 * added and subtracted first, then columns to its right and left, so
 * that a quarter of each filter is enough; filters that are mirror images
 * share their parts. Beyond its borders a plane is continued by its mirror image, in which
 * the line at the border is not repeated.
 */
#include "base/simd.h"
#include "features/private.h"

#include <math.h>

static void continue_columns(const struct bank *bank, const double *plane, double *continued);
static void fold_rows(const struct bank *bank, const double *continued, size_t row, double *sums, double *differences);
static void convolve(const struct bank *bank, enum part part, const double *rows, double sign, double *out);
static void moduli_of_row(const struct bank *bank, const double *parts, size_t row, double *moduli);
static size_t mirrored(ptrdiff_t at, size_t side);

static size_t line_size(const struct bank *bank) { return bank->stride * bank->length; }
static size_t answer_size(const struct bank *bank) { return (bank->columns + BANK_STEP - 1) / BANK_STEP * BANK_STEP; }

/* The continued plane, folded rows, and parts of a row of the result. */
size_t bank_scratch(const struct bank *bank) {
  return (bank->height + 2 * (bank->reach + 1)) * line_size(bank) + PARTS * OWN * answer_size(bank);
}

void bank_apply(const struct bank *bank, const double *plane, double *scratch, double *moduli) {
  const size_t answers = OWN * answer_size(bank);
  double *sums = scratch + bank->height * line_size(bank), *differences = sums + (bank->reach + 1) * line_size(bank);
  double *parts = differences + (bank->reach + 1) * line_size(bank);
  continue_columns(bank, plane, scratch);
  for (size_t row = 0; row < bank->rows; row++) {
    fold_rows(bank, scratch, row, sums, differences);
    convolve(bank, EVEN_EVEN, sums, 1, parts + EVEN_EVEN * answers);
    convolve(bank, ODD_ODD, differences, -1, parts + ODD_ODD * answers);
    convolve(bank, EVEN_ODD, differences, 1, parts + EVEN_ODD * answers);
    convolve(bank, ODD_EVEN, sums, -1, parts + ODD_EVEN * answers);
    moduli_of_row(bank, parts, row, moduli);
  }
}

static void continue_columns(const struct bank *bank, const double *plane, double *continued) {
  for (size_t c = 0; c < bank->places; c++) {
    const size_t from = mirrored((ptrdiff_t)c - (ptrdiff_t)bank->reach, bank->width);
    const size_t to = c % bank->stride * bank->length + c / bank->stride;
    for (size_t r = 0; r < bank->height; r++) {
      continued[r * line_size(bank) + to] = plane[r * bank->width + from];
    }
  }
}

SIMD_CLONES static void fold_rows(const struct bank *bank, const double *continued, size_t row, double *sums,
                                  double *differences) {
  const size_t line = line_size(bank);
  const ptrdiff_t middle = (ptrdiff_t)(row * bank->stride);
  for (size_t y = 0; y <= bank->reach; y++) {
    const double *below = continued + mirrored(middle + (ptrdiff_t)y, bank->height) * line;
    const double *above = continued + mirrored(middle - (ptrdiff_t)y, bank->height) * line;
    double *restrict sum = sums + y * line, *restrict difference = differences + y * line;
    SIMD_LOOP
    for (size_t c = 0; c < line; c++) {
      sum[c] = below[c] + above[c];
      difference[c] = below[c] - above[c];
    }
  }
}

/* Twice SIMD_LANES results of five filters at a time, whose sums stay in registers. */
SIMD_CLONES static void convolve(const struct bank *bank, enum part part, const double *rows, double sign,
                                 double *out) {
  const size_t answers = answer_size(bank);
  for (size_t x = 0; x < answers; x += 2 * SIMD_LANES) {
    simd_vector a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, a4 = {0}, b0 = {0}, b1 = {0}, b2 = {0}, b3 = {0}, b4 = {0};
    for (size_t t = 0; t < bank->taps; t++) {
      const double *plus = rows + bank->tap[t].plus + x, *minus = rows + bank->tap[t].minus + x;
      const double *w = bank->tap[t].weight[part];
      const simd_vector a = SIMD_AT(plus) + sign * SIMD_AT(minus);
      const simd_vector b = SIMD_AT(plus + SIMD_LANES) + sign * SIMD_AT(minus + SIMD_LANES);
      a0 += w[0] * a, b0 += w[0] * b;
      a1 += w[1] * a, b1 += w[1] * b;
      a2 += w[2] * a, b2 += w[2] * b;
      a3 += w[3] * a, b3 += w[3] * b;
      a4 += w[4] * a, b4 += w[4] * b;
    }
    const simd_vector first[OWN] = {a0, a1, a2, a3, a4}, second[OWN] = {b0, b1, b2, b3, b4};
    for (size_t k = 0; k < OWN; k++) {
      SIMD_AT(out + k * answers + x) = first[k];
      SIMD_AT(out + k * answers + x + SIMD_LANES) = second[k];
    }
  }
}

/* The real part of a filter is even in both directions or odd in both. In the mirror image parts that are odd in the
 * horizontal direction change their sign. */
SIMD_CLONES static void moduli_of_row(const struct bank *bank, const double *parts, size_t row, double *moduli) {
  const size_t answers = answer_size(bank), plane = bank->rows * bank->columns;
  for (size_t k = 0; k < OWN; k++) {
    const double *ee = parts + (EVEN_EVEN * OWN + k) * answers, *oo = parts + (ODD_ODD * OWN + k) * answers;
    const double *eo = parts + (EVEN_ODD * OWN + k) * answers, *oe = parts + (ODD_EVEN * OWN + k) * answers;
    double *restrict own = moduli + k * plane + row * bank->columns;
    double *restrict mirror = moduli + (DIRECTIONS - k) % DIRECTIONS * plane + row * bank->columns;
    SIMD_LOOP
    for (size_t x = 0; x < bank->columns; x++) {
      const double real = ee[x] + oo[x], imaginary = eo[x] + oe[x];
      own[x] = sqrt(real * real + imaginary * imaginary);
    }
    if (mirror == own) continue;
    SIMD_LOOP
    for (size_t x = 0; x < bank->columns; x++) {
      const double real = ee[x] - oo[x], imaginary = eo[x] - oe[x];
      mirror[x] = sqrt(real * real + imaginary * imaginary);
    }
  }
}

/* The line of a plane whose mirror image lies at `at` beyond its borders. */
static size_t mirrored(ptrdiff_t at, size_t side) {
  const ptrdiff_t last = (ptrdiff_t)side - 1;
  at = (at < 0 ? -at : at) % (2 * last);
  return (size_t)(at > last ? 2 * last - at : at);
}
