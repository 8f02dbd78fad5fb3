/*
 * Factors as codes: in row i of a factor the indicator number code - 1 is one and the
 * others are zero; with code 0 all are zero. A product that a dense matrix would
 * sum over the indicators is then one addition, at the place given by the code.
 */
#include "base/simd.h"
#include "data/private.h"

#include <math.h>

void codes_block(struct data_block *b, int copy, double *buffer) {
  const struct columns *columns = b->data->own;
  b->codes = columns->factors > 0 ? columns->codes + b->start : NULL;
  b->codes_ld = b->data->n;
  if (!copy) return;
  int *codes = (int *)(buffer + b->rows * columns->dense);
  for (size_t f = 0; f < columns->factors; f++) {
    for (size_t i = 0; i < b->rows; i++) {
      size_t from = data_row(b, i) + f * b->data->n;
      codes[i + f * b->rows] = b->clip[i] > 0 ? columns->codes[from] : 0;
    }
  }
  b->codes = codes;
  b->codes_ld = b->rows;
}

/* The column whose indicator is one, for a code that is not 0. */
static size_t place(size_t first, int code) { return first + (size_t)code - 1; }

void codes_matvec_add(const struct data_block *b, const double *w, double *t) {
  const struct columns *columns = b->data->own;
  for (size_t f = 0; f < columns->factors; f++) {
    const int *code = b->codes + f * b->codes_ld;
    size_t first = columns->first[f];
    for (size_t i = 0; i < b->rows; i++) t[i] += code[i] > 0 ? w[place(first, code[i])] : 0;
  }
}

/* Without a branch, which would be predicted badly: where no indicator is one, zero is added to the first. */
void codes_matvec_t_add(const struct data_block *b, const double *v, double *g) {
  const struct columns *columns = b->data->own;
  for (size_t f = 0; f < columns->factors; f++) {
    const int *code = b->codes + f * b->codes_ld;
    double *to = g + columns->first[f];
    for (size_t i = 0; i < b->rows; i++) to[code[i] > 0 ? code[i] - 1 : 0] += code[i] > 0 ? v[i] : 0;
  }
}

/* The rows of C that belong to a factor: below the dense columns, below the factors before it, and its diagonal. */
void codes_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                         size_t ldc) {
  const struct columns *columns = b->data->own;
  if (columns->factors == 0) return;
  for (size_t i = 0; i < b->rows; i++) scratch[i] = u[i] * v[i];
  for (size_t f = 0; f < columns->factors; f++) {
    const int *code = b->codes + f * b->codes_ld;
    size_t first = columns->first[f];
    for (size_t j = 0; j < columns->dense; j++) {
      const double *x = b->x + j * b->ld;
      double *to = c + first + j * ldc;
      for (size_t i = 0; i < b->rows; i++) to[code[i] > 0 ? code[i] - 1 : 0] += code[i] > 0 ? scratch[i] * x[i] : 0;
    }
    for (size_t e = 0; e <= f; e++) {
      const int *other = b->codes + e * b->codes_ld;
      double *to = c + columns->first[e] * ldc;
      for (size_t i = 0; i < b->rows; i++) {
        if (code[i] > 0 && other[i] > 0) to[place(first, code[i]) + place(0, other[i]) * ldc] += scratch[i];
      }
    }
  }
}

void codes_squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum) {
  const struct columns *columns = b->data->own;
  for (size_t f = 0; f < columns->factors; f++) {
    const int *code = b->codes + f * b->codes_ld;
    int last = (int)(columns->first[f + 1] - columns->first[f]);
    for (size_t i = 0; i < b->rows; i++) {
      int some = code[i] > 0 && code[i] <= last;
      size_t j = some ? place(columns->first[f], code[i]) : 0;
      double one = weight ? weight[j] - linear[j] : 1;
      sum[i] += some ? one : code[i] == 0 ? 0 : NAN;
    }
  }
}

/* Zero is inside, and so is a code that makes its row a null record. */
void codes_outside_add(const struct data_block *b, const double *high, double *count) {
  const struct columns *columns = b->data->own;
  for (size_t f = 0; f < columns->factors; f++) {
    const int *code = b->codes + f * b->codes_ld;
    int last = (int)(columns->first[f + 1] - columns->first[f]);
    for (size_t i = 0; i < b->rows; i++) {
      int some = code[i] > 0 && code[i] <= last;
      count[i] += some && high[place(columns->first[f], code[i])] < 1;
    }
  }
}

void codes_moments_add(const struct data_block *b, const double *weight, const double *most, double *g) {
  const struct columns *columns = b->data->own;
  for (size_t f = 0; f < columns->factors; f++) {
    const int *code = b->codes + f * b->codes_ld;
    for (size_t i = 0; i < b->rows; i++) {
      size_t j = code[i] > 0 ? place(columns->first[f], code[i]) : 0;
      double v = weight ? weight[i] : 1;
      if (code[i] > 0 && most[j] > 0) g[j] += v * data_moment(b->clip[i], most[j]);
    }
  }
}
