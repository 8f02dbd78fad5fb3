/* Scattering of images of every small size: what does not change it, what mirrors it, broken pixels, failures. The
 * numbers themselves are tested in R (test-features.R). */
#include "ctest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "features/features.h"

enum { MOST = 20 };

static const double zeros[FEATURES_KINDS], ones[FEATURES_KINDS] = {1, 1, 1, 1, 1, 1, 1, 1};
static const struct features_map as_they_are = {zeros, ones, 0};

static void flat(size_t height, size_t width);
static void alone(size_t height, size_t width);
static void transposed(size_t height, size_t width);
static void broken_pixels(void);
static void lengths(void);
static void failures(void);

void test_features_scattering(void) {
  static const size_t sides[] = {4, 5, 8, 14};
  size_t some = (size_t)ctest_size(1, 2);
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i += some) {
    for (size_t j = 0; j < sizeof sides / sizeof *sides; j += some) {
      flat(sides[i], sides[j]);
      alone(sides[i], sides[j]);
      transposed(sides[i], sides[j]);
    }
  }
  broken_pixels();
  lengths();
  failures();
}

/* Pixels by rows, in [0, 1]. */
static struct features_images images_of(const double *x, size_t n, size_t height, size_t width) {
  return (struct features_images){
      .numbers = x, .n = n, .height = height, .width = width, .down = width, .right = 1, .lower = 0, .upper = 1};
}

static size_t columns(size_t height, size_t width, enum features_order order) {
  return features_channels(order) * features_windows(height) * features_windows(width);
}

static double *random_numbers(size_t n) {
  double *x = malloc(n * sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = ctest_uniform();
  return x;
}

static double *features(const struct features_images *images, enum features_order order,
                        const struct features_map *map) {
  double *out = malloc(images->n * columns(images->height, images->width, order) * sizeof *out);
  CHECK(features_scattering(images, order, map, out) == BASE_OK);
  return out;
}

/* Of a constant image the means are that constant, and wavelets, whose sums are zero, see nothing: what rounding leaves
 * is of the size of its square root. */
static void flat(size_t height, size_t width) {
  double *x = random_numbers(height * width);
  for (size_t i = 0; i < height * width; i++) x[i] = .25;
  const struct features_images images = images_of(x, 1, height, width);
  double *out = features(&images, FEATURES_FULL, &as_they_are), wrong = 0;
  const size_t grid = features_windows(height) * features_windows(width);
  for (size_t j = 0; j < columns(height, width, FEATURES_FULL); j++) {
    wrong = fmax(wrong, fabs(out[j] - (j < grid ? .5 : 0)));
  }
  CHECK(wrong < 1e-7);
  free(out);
  free(x);
}

/* The same bits for an image among others, at any place, and by one thread or two; fewer orders are parts of more. */
static void alone(size_t height, size_t width) {
  const size_t pixels = height * width, p = columns(height, width, FEATURES_MID);
  double *x = random_numbers(MOST * pixels), *one = malloc(pixels * sizeof *one);
  const struct features_images all = images_of(x, MOST, height, width), single = images_of(one, 1, height, width);
  base_limit_threads(2);
  double *together = features(&all, FEATURES_MID, &as_they_are), *first = features(&all, FEATURES_FIRST, &as_they_are);
  base_limit_threads(1);
  double *again = features(&all, FEATURES_MID, &as_they_are);
  CHECK(memcmp(together, again, MOST * p * sizeof *again) == 0);
  CHECK(memcmp(together, first, MOST * columns(height, width, FEATURES_FIRST) * sizeof *first) == 0);
  for (size_t i = 0; i < MOST; i += 13) {
    int same = 1;
    for (size_t k = 0; k < pixels; k++) one[k] = x[i + k * MOST];
    double *out = features(&single, FEATURES_MID, &as_they_are);
    for (size_t j = 0; j < p; j++) same = same && out[j] == together[i + j * MOST];
    CHECK(same);
    free(out);
  }
  base_limit_threads(64);
  free(again);
  free(first);
  free(together);
  free(one);
  free(x);
}

/* Where a direction of k pi / 8 goes when right and down change places; -1 is none. */
static int turned(int k) { return k < 0 ? k : (12 - k) % 8; }

/* Of both directions of a channel in FEATURES_FULL, the fine one first. */
static size_t place(int fine, int coarse) {
  if (fine < 0) return coarse < 0 ? 0 : 9 + (size_t)coarse;
  return coarse < 0 ? 1 + (size_t)fine : 17 + 8 * (size_t)fine + (size_t)coarse;
}

/* The transposed image has the transposed channels of the mirrored directions. */
static void transposed(size_t height, size_t width) {
  double *x = random_numbers(height * width);
  const struct features_images images = images_of(x, 1, height, width);
  struct features_images other = images_of(x, 1, width, height);
  other.down = 1;
  other.right = width;
  double *out = features(&images, FEATURES_FULL, &as_they_are), wrong = 0;
  double *mirror = features(&other, FEATURES_FULL, &as_they_are);
  const size_t down = features_windows(height), across = features_windows(width);
  for (int fine = -1; fine < 8; fine++) {
    for (int coarse = -1; coarse < 8; coarse++) {
      const double *a = out + place(fine, coarse) * down * across;
      const double *b = mirror + place(turned(fine), turned(coarse)) * down * across;
      for (size_t i = 0; i < down; i++)
        for (size_t j = 0; j < across; j++) wrong = fmax(wrong, fabs(a[i * across + j] - b[j * down + i]));
    }
  }
  CHECK(wrong < 1e-12);
  free(mirror);
  free(out);
  free(x);
}

/* Values beyond the bounds count as the bound, also next to the largest double; one that is not finite makes its image,
 * and no other, NaN. */
static void broken_pixels(void) {
  static const double values[] = {NAN, INFINITY, -INFINITY};
  const size_t p = columns(8, 8, FEATURES_FIRST), middle = 20 * MOST + 7;
  double *x = random_numbers(MOST * 64);
  const struct features_images images = images_of(x, MOST, 8, 8);
  x[middle] = 1;
  double *right = features(&images, FEATURES_FIRST, &as_they_are);
  x[middle] = 1e300;
  double *out = features(&images, FEATURES_FIRST, &as_they_are);
  CHECK(memcmp(out, right, MOST * p * sizeof *out) == 0);
  for (size_t k = 0; k < 3; k++) {
    int as_promised = 1;
    x[middle] = values[k];
    CHECK(features_scattering(&images, FEATURES_FIRST, &as_they_are, out) == BASE_OK);
    for (size_t j = 0; j < MOST * p; j++) {
      as_promised = as_promised && (j % MOST == 7 ? isnan(out[j]) : out[j] == right[j]);
    }
    CHECK(as_promised);
  }
  for (size_t j = 0; j < MOST * 64; j++) x[j] = (2 * ctest_uniform() - 1) * 1.7e308;
  struct features_images wide = images;
  wide.lower = -1.7e308;
  wide.upper = 1.7e308;
  CHECK(features_scattering(&wide, FEATURES_FIRST, &as_they_are, out) == BASE_OK);
  int finite = 1;
  for (size_t j = 0; j < MOST * p; j++) finite = finite && out[j] >= 0 && out[j] <= 1;
  CHECK(finite);
  free(out);
  free(right);
  free(x);
}

/* Mapped features have the length asked for; one of length zero keeps it. Integers are read like doubles. */
static void lengths(void) {
  static const double halves[FEATURES_KINDS] = {.5, .5, .5, .5, .5, .5, .5, .5};
  const struct features_map map = {halves, ones, 3}, to_zero = {zeros, ones, 3};
  const size_t p = columns(8, 8, FEATURES_MID);
  double numbers[64];
  int integers[64] = {0};
  for (size_t k = 0; k < 64; k++) numbers[k] = integers[k] = (int)(255 * ctest_uniform());
  struct features_images images = images_of(numbers, 1, 8, 8);
  images.upper = 255;
  struct features_images whole = images;
  whole.numbers = NULL;
  whole.integers = integers;
  whole.missing = -1;
  double *out = features(&images, FEATURES_MID, &map), *same = features(&whole, FEATURES_MID, &map), squares = 0;
  for (size_t j = 0; j < p; j++) squares += out[j] * out[j];
  CHECK_NEAR(sqrt(squares), 3, 1e-12);
  CHECK(memcmp(out, same, p * sizeof *out) == 0);
  integers[5] = -1;
  CHECK(features_scattering(&whole, FEATURES_MID, &map, out) == BASE_OK);
  CHECK(isnan(out[0]) && isnan(out[p - 1]));
  memset(integers, 0, sizeof integers);
  CHECK(features_scattering(&whole, FEATURES_MID, &to_zero, out) == BASE_OK);
  CHECK(out[0] == 0 && out[p - 1] == 0);
  free(same);
  free(out);
}

static int always(void) { return 1; }

static void failures(void) {
  double *x = random_numbers(64), *out = random_numbers(columns(8, 8, FEATURES_FULL));
  const struct features_images images = images_of(x, 1, 8, 8);
  int which = 1;
  ctest_fail_allocation(which);
  while (features_scattering(&images, FEATURES_FULL, &as_they_are, out) == BASE_ERR_MEMORY) {
    CHECK(ctest_live_allocations() == 0);
    ctest_fail_allocation(++which);
  }
  ctest_fail_allocation(0);
  CHECK(which == 9);
  const struct base_host host = {always, NULL};
  base_set_host(&host);
  CHECK(features_scattering(&images, FEATURES_FULL, &as_they_are, out) == BASE_ERR_STOPPED);
  base_set_host(NULL);
  CHECK(ctest_live_allocations() == 0);
  free(out);
  free(x);
}
