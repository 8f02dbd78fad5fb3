/*
 * A noisy matrix of second moments of an intercept and of columns, shrunk towards what is known of it: the first entry,
 * the variances of the columns up to a factor, and that their means, in the first row, are near zero.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

static void shrink_diagonal(const struct known_moments *k, double *m);

static double square(double x) { return x * x; }

/* The first column. */
static size_t skip_of(const struct known_moments *k) { return k->through_zero ? 0 : 1; }

static double total(const struct known_moments *k) {
  double sum = 0;
  for (size_t j = skip_of(k); j < k->dim; j++) sum += k->variance[j];
  return sum;
}

static double trace_of(const struct known_moments *k, const double *m) {
  double sum = 0;
  for (size_t j = skip_of(k); j < k->dim; j++) sum += m[j + j * k->dim];
  return sum;
}

/* Entries off the diagonal are shrunk as if all correlations had the same variance. */
void shrink_moments(const struct known_moments *k, double *m) {
  size_t dim = k->dim, skip = skip_of(k);
  double noise = k->sd * k->sd / 2, squares = 0, products = 0;
  shrink_diagonal(k, m);
  if (skip) m[0] = k->first;
  for (size_t j = skip + 1; j < dim; j++) {
    for (size_t i = skip; i < j; i++) {
      squares += square(m[i + j * dim]) - noise;
      products += m[i + i * dim] * m[j + j * dim];
    }
  }
  double correlation = squares > 0 && products > 0 ? squares / products : 0; /* squared */
  double more = fmin(2, fmax(1, total(k) / trace_of(k, m)));
  for (size_t j = 1; j < dim; j++) {
    for (size_t i = 0; i < j; i++) {
      double signal = i < skip ? k->mean[j] : correlation * m[i + i * dim] * m[j + j * dim];
      m[j + i * dim] = m[i + j * dim] *= signal > 0 ? signal / (signal + noise) : 0;
    }
  }
  for (size_t j = skip; j < dim; j++) la_scale(dim - skip, more, m + skip + j * dim);
}

/* Towards the known variances, where a larger trace is spread equally. */
static void shrink_diagonal(const struct known_moments *k, double *m) {
  size_t dim = k->dim, skip = skip_of(k);
  double trace = trace_of(k, m), sum = total(k), excess = 0, columns = (double)(dim - skip);
  double known = fmin(fmax(trace, 0.1 * sum), sum), more = fmax(trace - known, 0) / columns;
  for (size_t j = skip; j < dim; j++) {
    excess += square(m[j + j * dim] - known * k->variance[j] / sum - more) / columns;
  }
  double factor = excess > k->sd * k->sd ? 1 - k->sd * k->sd / excess : 0;
  for (size_t j = skip; j < dim; j++) {
    double mean = fmax(known * k->variance[j] / sum + more, 1e-9);
    m[j + j * dim] = fmax(mean + factor * (m[j + j * dim] - mean), 0.2 * mean);
  }
}
