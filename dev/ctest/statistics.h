/* Goodness of fit for tests of random draws. Seeds are fixed, so a test passes always or never. */
#ifndef DPSOSP_STATISTICS_H
#define DPSOSP_STATISTICS_H

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/* Smallest p-value that passes: some 200 tests of a sound sampler stay above it with probability 0.9998. */
#define STATISTICS_LEVEL 1e-6

static inline int statistics_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov: sorts x; asymptotic p-value of sup |F_n - F|. */
static inline double ks_test(size_t n, double *x, double (*cdf)(double)) {
  double largest = 0, p = 0;
  qsort(x, n, sizeof *x, statistics_compare);
  for (size_t i = 0; i < n; i++) {
    const double f = cdf(x[i]);
    largest = fmax(largest, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
  }
  const double t = sqrt((double)n) * largest;
  if (t < 0.3) return 1;
  for (int j = 1; j < 100; j++) p += (j % 2 ? 2 : -2) * exp(-2.0 * j * j * t * t);
  return p;
}

/* Pearson's chi-square of counts against probabilities that sum to one. Cells of expectation below 8 are pooled, then
 * joined by the next one if that is not enough. */
static inline double chi_square_test(size_t cells, const double *count, const double *probability) {
  double n = 0, statistic = 0, pooled = 0, pooled_expected = 0;
  int used = 0;
  for (size_t i = 0; i < cells; i++) n += count[i];
  for (size_t i = 0; i < cells; i++)
    if (n * probability[i] < 8) {
      pooled += count[i];
      pooled_expected += n * probability[i];
    }
  int join = pooled_expected < 8;
  for (size_t i = 0; i < cells; i++) {
    double seen = count[i], expected = n * probability[i];
    if (expected < 8) continue;
    if (join) {
      seen += pooled;
      expected += pooled_expected;
    }
    join = 0;
    statistic += (seen - expected) * (seen - expected) / expected;
    used++;
  }
  if (pooled_expected >= 8) {
    statistic += (pooled - pooled_expected) * (pooled - pooled_expected) / pooled_expected;
    used++;
  }
  return used < 2 ? 1 : 1 - base_pnchisq(statistic, used - 1, 0);
}

#endif
