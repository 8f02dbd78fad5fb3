/* The transform against the sum that defines it, and the error bound that pld.c relies on. */
#include "reference.h"

#include <float.h>

static void against_the_sum(void);
static void large(void);
static void memory(void);

void test_acct_fft(void) {
  against_the_sum();
  large();
  memory();
}

/* The bound of pld.c, of every component for an input of absolute sum `sum`. */
static double bound(size_t n, double sum) { return 8 * DBL_EPSILON * log2((double)n) * sum; }

static double distance(struct acct_complex x, long double re, long double im) {
  return (double)hypotl(x.re - re, x.im - im);
}

/* Of e^(-+2 pi i j k / n), from one table in long double. */
static double worst_error(size_t n, const struct acct_complex *x, const struct acct_complex *y, int inverse) {
  long double *c = base_alloc(2 * n, sizeof *c), *s = c + n, sign = inverse ? 1 : -1;
  double worst = 0;
  for (size_t j = 0; j < n; j++) {
    long double angle = 2 * acosl(-1) * (long double)j / (long double)n;
    c[j] = cosl(angle), s[j] = sign * sinl(angle);
  }
  for (size_t k = 0; k < n; k++) {
    long double re = 0, im = 0;
    for (size_t j = 0; j < n; j++) {
      size_t at = j * k % n;
      re += x[j].re * c[at] - x[j].im * s[at];
      im += x[j].re * s[at] + x[j].im * c[at];
    }
    worst = reference_worst(worst, distance(y[k], re, im));
  }
  base_free(c);
  return worst;
}

static void against_the_sum(void) {
  size_t most = (size_t)ctest_size(2048, 64);
  for (size_t n = 2; n <= most; n *= n < 64 ? 2 : 8) {
    struct acct_complex *x = base_alloc(3 * n, sizeof *x), *y = x + n, *z = y + n;
    for (int shape = 0; shape < 3; shape++) {
      double sum = 0;
      for (size_t j = 0; j < n; j++) { /* normal; a law that falls off fast; a law with a few atoms */
        double u = ctest_normal(), re = shape == 0 ? u : shape == 1 ? exp(-20.0 * (double)j / (double)n) : u > 1;
        x[j] = (struct acct_complex){re, shape == 0 ? ctest_normal() : 0};
        sum += hypot(x[j].re, x[j].im);
        y[j] = z[j] = x[j];
      }
      CHECK(acct_fft(n, y, 0) == BASE_OK && acct_fft(n, z, 1) == BASE_OK);
      CHECK(worst_error(n, x, y, 0) <= bound(n, sum));
      CHECK(worst_error(n, x, z, 1) <= bound(n, sum));
      double back = 0, size = 0;
      for (size_t j = 0; j < n; j++) size += hypot(y[j].re, y[j].im);
      CHECK(acct_fft(n, y, 1) == BASE_OK);
      for (size_t j = 0; j < n; j++) {
        back = reference_worst(back, hypot(y[j].re / (double)n - x[j].re, y[j].im / (double)n - x[j].im));
      }
      CHECK(back <= bound(n, sum) + bound(n, size / (double)n));
    }
    base_free(x);
  }
}

/* Closed forms at the largest window: one atom, and the powers of r, whose transform is (1 - r^n) / (1 - r w^k). */
static void large(void) {
  size_t n = (size_t)ctest_size(1 << 19, 1 << 10), atom = n / 3;
  long double r = 1 - 40.0L / (long double)n, sum = (1 - powl(r, (long double)n)) / (1 - r);
  double worst[2] = {0, 0};
  struct acct_complex *x = base_alloc(2 * n, sizeof *x), *y = x + n;
  x[atom].re = 1;
  for (size_t j = 0; j < n; j++) y[j].re = (double)(powl(r, (long double)j) / sum);
  CHECK(acct_fft(n, x, 0) == BASE_OK && acct_fft(n, y, 0) == BASE_OK);
  for (size_t k = 0; k < n; k++) {
    long double angle = 2 * acosl(-1) * (long double)(k * atom % n) / (long double)n;
    worst[0] = reference_worst(worst[0], distance(x[k], cosl(angle), -sinl(angle)));
    angle = 2 * acosl(-1) * (long double)k / (long double)n;
    long double re = 1 - r * cosl(angle), im = r * sinl(angle), size = re * re + im * im;
    worst[1] = reference_worst(worst[1], distance(y[k], (1 - r) * re / size, -(1 - r) * im / size));
  }
  CHECK(worst[0] <= bound(n, 1));
  CHECK(worst[1] <= bound(n, 1));
  base_free(x);
}

static void memory(void) {
  struct acct_complex x[4] = {{1, 0}};
  ctest_fail_allocation(1);
  CHECK(acct_fft(4, x, 0) == BASE_ERR_MEMORY);
  ctest_fail_allocation(0);
  CHECK(acct_fft(4, x, 0) == BASE_OK && x[3].re == 1);
}
