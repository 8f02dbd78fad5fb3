/*
 * A noisy matrix of second moments of an intercept and of columns, shrunk towards what is known of it: the first entry,
 * the variances of the columns up to a factor, and that their means, in the first row, are near zero.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

static void shrink_diagonal(const struct known_moments *k, double *m);

static double square(double x) { return x * x; }

static double total(const struct known_moments *k) {
  double sum = 0;
  for (size_t j = 1; j < k->dim; j++) sum += k->variance[j];
  return sum;
}

static double trace_of(size_t dim, const double *m) {
  double sum = 0;
  for (size_t j = 1; j < dim; j++) sum += m[j + j * dim];
  return sum;
}

/* Entries off the diagonal are shrunk as if all correlations had the same variance. */
void shrink_moments(const struct known_moments *k, double *m) {
  size_t dim = k->dim;
  double noise = k->sd * k->sd / 2, squares = 0, products = 0;
  shrink_diagonal(k, m);
  m[0] = k->first;
  for (size_t j = 2; j < dim; j++) {
    for (size_t i = 1; i < j; i++) {
      squares += square(m[i + j * dim]) - noise;
      products += m[i + i * dim] * m[j + j * dim];
    }
  }
  double correlation = squares > 0 && products > 0 ? squares / products : 0; /* squared */
  double more = fmin(2, fmax(1, total(k) / trace_of(dim, m)));
  for (size_t j = 1; j < dim; j++) {
    for (size_t i = 0; i < j; i++) {
      double signal = i == 0 ? k->mean[j] : correlation * m[i + i * dim] * m[j + j * dim];
      m[j + i * dim] = m[i + j * dim] *= signal > 0 ? signal / (signal + noise) : 0;
    }
  }
  for (size_t j = 1; j < dim; j++) la_scale(dim - 1, more, m + 1 + j * dim);
}

/* Towards the known variances, where a larger trace is spread equally. */
static void shrink_diagonal(const struct known_moments *k, double *m) {
  size_t dim = k->dim;
  double trace = trace_of(dim, m), sum = total(k), excess = 0, columns = (double)(dim - 1);
  double known = fmin(fmax(trace, 0.1 * sum), sum), more = fmax(trace - known, 0) / columns;
  for (size_t j = 1; j < dim; j++) {
    excess += square(m[j + j * dim] - known * k->variance[j] / sum - more) / columns;
  }
  double factor = excess > k->sd * k->sd ? 1 - k->sd * k->sd / excess : 0;
  for (size_t j = 1; j < dim; j++) {
    double mean = fmax(known * k->variance[j] / sum + more, 1e-9);
    m[j + j * dim] = fmax(mean + factor * (m[j + j * dim] - mean), 0.2 * mean);
  }
}
