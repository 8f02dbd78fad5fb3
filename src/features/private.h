/* Inside of features/: filters, and the scattering of one image. */
#ifndef DPSOSP_FEATURES_PRIVATE_H
#define DPSOSP_FEATURES_PRIVATE_H

#include "features/features.h"

/* Directions of wavelets are k pi / 8, from right towards down. Those of k and 8 - k mirror each other, so that filters
 * of five are kept, from 0 to 90 degrees. A filter is the sum of four parts, each even or odd across and down. */
enum { DIRECTIONS = 8, OWN = 5 };
enum part { EVEN_EVEN, ODD_ODD, EVEN_ODD, ODD_EVEN, PARTS };

/* Weights of the pixels (x +- right, y +- down): two entries of the rows y +- down, added or subtracted. */
struct tap {
  size_t plus, minus;
  double weight[PARTS][OWN];
};

/* Number of results of a row that are computed together. */
enum { BANK_STEP = 8 };

/* The wavelets of one scale, at every stride-th pixel of planes of height x width. Columns are continued beyond the
 * borders and dealt out to stride phases, of which each has length places in a row. */
struct bank {
  size_t height, width, stride, reach;
  size_t rows, columns; /* of the result */
  size_t places, length;
  size_t taps;
  struct tap *tap;
};

int bank_create(struct bank *bank, int scale, size_t height, size_t columns, size_t stride);
void bank_free(struct bank *bank);
size_t bank_scratch(const struct bank *bank);
/* The moduli of plane's convolutions with the wavelets: DIRECTIONS planes of rows x columns. */
void bank_apply(const struct bank *bank, const double *plane, double *scratch, double *moduli);

/* Weights of windows for the lines 0, stride, 2 stride, ... of a side: count x lines, by rows. */
struct windows {
  size_t count, lines;
  double *weight;
};

int windows_create(struct windows *windows, size_t side, size_t stride);
void windows_free(struct windows *windows);

/* Windows for the pixels of a bank's result. */
struct pool {
  struct windows down, across;
};

struct scattering {
  enum features_order order;
  size_t pixels, grid; /* of an image: its pixels, the windows on it */
  struct bank fine, coarse;
  struct pool every, second; /* pixel */
};

int scattering_create(struct scattering *s, size_t height, size_t width, enum features_order order);
void scattering_free(struct scattering *s);
/* Number of doubles that scattering_image() needs. */
size_t scattering_scratch(const struct scattering *s);
/* image: pixels by rows; out: channels x grid, by rows. */
void scattering_image(const struct scattering *s, const double *image, double *scratch, double *out);
/* The kind of each channel. */
void scattering_kinds(enum features_order order, size_t *kinds);

#endif
