/*
 * features: numbers computed from an image by fixed, public filters. The features of an
 * image depend on this image alone, bit for bit, whatever its place
 * among others: neighbouring data sets have neighbouring features.
 */
#ifndef DPSOSP_FEATURES_H
#define DPSOSP_FEATURES_H

#include "base/base.h"

/* Pixel (row, column) of image i is entry i + n (row down + column right) of one of the two arrays. Pixels are clipped
 * to [lower, upper] and mapped to [0, 1]. */
struct features_images {
  const double *numbers;
  const int *integers; /* where numbers is NULL; missing is the missing one */
  int missing;
  size_t n, height, width;
  size_t down, right;
  double lower, upper;
};

enum { FEATURES_LEAST_SIDE = 4, FEATURES_MOST_SIDE = 256 };

/* Which channels of order two: none, a third of them, all. */
enum features_order { FEATURES_FIRST, FEATURES_MID, FEATURES_FULL };

/* Channels of one kind have the same distribution on images without preferred direction: the local mean, order one by
 * scale, order two by the angle between its two wavelets, from 0 to 90 degrees. */
enum { FEATURES_KINDS = 8 };

/* How a feature is mapped: its square root minus centre, divided by scale, both by kind; then an image's features are
 * brought to the length norm, unless that is zero. */
struct features_map {
  const double *centre, *scale;
  double norm;
};

size_t features_channels(enum features_order order);
/* Windows along a side of so many pixels. */
size_t features_windows(size_t side);
/* out: n rows, column-major, a column for each channel, row and column of windows, the last one fastest. NaN for an
 * image of which a pixel is missing or not finite. */
int features_scattering(const struct features_images *images, enum features_order order, const struct features_map *map,
                        double *out);

#endif
