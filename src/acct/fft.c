/* Radix-2 fast Fourier transform, decimation in time, twiddles from a table of exact sines. */
#include "acct/private.h"

#include <math.h>

static void reverse_bits(size_t n, struct acct_complex *x);

int acct_fft(size_t n, struct acct_complex *x, int inverse) {
  struct acct_complex *w = base_alloc(n / 2, sizeof *w);
  if (!w) return BASE_ERR_MEMORY;
  for (size_t k = 0; k < n / 2; k++) {
    double angle = 2.0 * 3.14159265358979323846 * (double)k / (double)n;
    w[k] = (struct acct_complex){cos(angle), inverse ? sin(angle) : -sin(angle)};
  }
  reverse_bits(n, x);
  for (size_t half = 1; half < n; half *= 2) {
    size_t stride = n / (2 * half);
    for (size_t start = 0; start < n; start += 2 * half) {
      struct acct_complex *a = x + start, *b = a + half;
      for (size_t j = 0; j < half; j++) {
        struct acct_complex t = w[j * stride], y = b[j];
        double re = t.re * y.re - t.im * y.im, im = t.re * y.im + t.im * y.re;
        b[j] = (struct acct_complex){a[j].re - re, a[j].im - im};
        a[j] = (struct acct_complex){a[j].re + re, a[j].im + im};
      }
    }
  }
  base_free(w);
  return BASE_OK;
}

static void reverse_bits(size_t n, struct acct_complex *x) {
  for (size_t i = 1, j = 0; i < n; i++) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      struct acct_complex t = x[i];
      x[i] = x[j];
      x[j] = t;
    }
  }
}
