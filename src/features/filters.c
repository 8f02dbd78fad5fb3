/*
 * Morlet wavelets and Gaussian windows.
 *
 * The wavelet of scale j and direction a is, for u along a and v across it,
 *   (exp(i xi u) - kappa) exp(-(u^2 + v^2 / 4) / (2 s^2)) / (4 pi s^2),   s = .8 2^j, xi = (3 pi / 4) / 2^j,
 * at the pixels of a disc of radius 6.4 2^j, four standard deviations of its longer axis; kappa makes its sum zero.
 */
#include "features/private.h"

#include <math.h>

static const double radius = 6.4, width = .8, slant = .5, frequency = .75 * M_PI;
static const double window_sd = 1.6;
enum { WINDOW_STEP = 4 };

struct wavelet {
  int scale;
  double angle, kappa;
};

static size_t disc(int scale, struct tap *tap, const struct bank *bank, const struct wavelet *wavelets);
static void set_tap(struct tap *tap, const struct bank *bank, const struct wavelet *wavelets, size_t x, size_t y);
static struct wavelet make_wavelet(int scale, size_t direction);
static int in_disc(int scale, double x, double y) { return x * x + y * y <= ldexp(radius * radius, 2 * scale); }
static double envelope(const struct wavelet *w, double x, double y);
static double phase(const struct wavelet *w, double x, double y);

int bank_create(struct bank *bank, int scale, size_t height, size_t columns, size_t stride) {
  *bank = (struct bank){.height = height, .width = columns, .stride = stride};
  bank->reach = (size_t)ldexp(radius, scale);
  bank->rows = (height + stride - 1) / stride;
  bank->columns = (columns + stride - 1) / stride;
  bank->places = columns + 2 * bank->reach;
  bank->length = (bank->places + stride - 1) / stride + BANK_STEP;
  bank->taps = disc(scale, NULL, bank, NULL);
  bank->tap = base_alloc(bank->taps, sizeof *bank->tap);
  if (!bank->tap) return BASE_ERR_MEMORY;
  struct wavelet wavelets[OWN];
  for (size_t k = 0; k < OWN; k++) wavelets[k] = make_wavelet(scale, k);
  disc(scale, bank->tap, bank, wavelets);
  return BASE_OK;
}

void bank_free(struct bank *bank) { base_free(bank->tap); }

/* Number of pixels in a quarter of the disc, borders included; sets their taps unless these are NULL. */
static size_t disc(int scale, struct tap *tap, const struct bank *bank, const struct wavelet *wavelets) {
  size_t taps = 0;
  for (size_t y = 0; y <= bank->reach; y++) {
    for (size_t x = 0; x <= bank->reach; x++) {
      if (!in_disc(scale, (double)x, (double)y)) continue;
      if (tap) set_tap(tap + taps, bank, wavelets, x, y);
      taps++;
    }
  }
  return taps;
}

/* A pixel on an axis is read twice, so its weight is half. */
static void set_tap(struct tap *tap, const struct bank *bank, const struct wavelet *wavelets, size_t x, size_t y) {
  const size_t right = bank->reach + x, left = bank->reach - x, row = y * bank->stride * bank->length;
  tap->plus = row + right % bank->stride * bank->length + right / bank->stride;
  tap->minus = row + left % bank->stride * bank->length + left / bank->stride;
  for (size_t k = 0; k < OWN; k++) {
    const struct wavelet *w = wavelets + k;
    const double sd = ldexp(width, w->scale), share = (x > 0 ? 1 : .5) * (y > 0 ? 1 : .5);
    const double factor = share / 2 * slant / (2 * M_PI * sd * sd), down = (double)y;
    double real[2], imaginary[2]; /* to the right, to the left */
    for (int side = 0; side < 2; side++) {
      const double across = side ? -(double)x : (double)x, size = factor * envelope(w, across, down);
      real[side] = size * (cos(phase(w, across, down)) - w->kappa);
      imaginary[side] = size * sin(phase(w, across, down));
    }
    tap->weight[EVEN_EVEN][k] = real[0] + real[1];
    tap->weight[ODD_ODD][k] = real[0] - real[1];
    tap->weight[EVEN_ODD][k] = imaginary[0] + imaginary[1];
    tap->weight[ODD_EVEN][k] = imaginary[0] - imaginary[1];
  }
}

static struct wavelet make_wavelet(int scale, size_t direction) {
  struct wavelet w = {.scale = scale, .angle = M_PI * (double)direction / DIRECTIONS};
  double waves = 0, envelopes = 0;
  const int reach = (int)ldexp(radius, scale);
  for (int y = -reach; y <= reach; y++) {
    for (int x = -reach; x <= reach; x++) {
      if (!in_disc(scale, x, y)) continue;
      waves += envelope(&w, x, y) * cos(phase(&w, x, y));
      envelopes += envelope(&w, x, y);
    }
  }
  w.kappa = waves / envelopes;
  return w;
}

static double envelope(const struct wavelet *w, double x, double y) {
  const double sd = ldexp(width, w->scale), u = x * cos(w->angle) + y * sin(w->angle);
  const double v = slant * (y * cos(w->angle) - x * sin(w->angle));
  return exp(-(u * u + v * v) / (2 * sd * sd));
}

static double phase(const struct wavelet *w, double x, double y) {
  return ldexp(frequency, -w->scale) * (x * cos(w->angle) + y * sin(w->angle));
}

size_t features_windows(size_t side) { return side / WINDOW_STEP; }

/* Windows are centred on a side whose length they do not divide. */
int windows_create(struct windows *windows, size_t side, size_t stride) {
  *windows = (struct windows){.count = features_windows(side), .lines = (side + stride - 1) / stride};
  windows->weight = base_alloc(windows->count * windows->lines, sizeof *windows->weight);
  if (!windows->weight) return BASE_ERR_MEMORY;
  const double first = (double)(side % WINDOW_STEP) / 2 + (WINDOW_STEP - 1) / 2.;
  for (size_t i = 0; i < windows->count; i++) {
    double *weight = windows->weight + i * windows->lines, sum = 0;
    for (size_t k = 0; k < windows->lines; k++) {
      const double away = ((double)(stride * k) - first - (double)(WINDOW_STEP * i)) / window_sd;
      sum += weight[k] = exp(-away * away / 2);
    }
    for (size_t k = 0; k < windows->lines; k++) weight[k] /= sum;
  }
  return BASE_OK;
}

void windows_free(struct windows *windows) { base_free(windows->weight); }
