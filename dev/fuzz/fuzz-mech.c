/* The samplers, for any values, scales and sources of bytes. */
#include "fuzz.h"

#include "mech/mech.h"

enum { MOST = 12 };

static void vector(struct fuzz *f, const struct base_entropy *e);
static void symmetric(struct fuzz *f, const struct base_entropy *e);
static void choice(struct fuzz *f, const struct base_entropy *e);

static unsigned char stuck;

static int fill_stuck(void *buffer, size_t bytes) {
  memset(buffer, stuck, bytes);
  return BASE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct base_entropy constant = {.fill = fill_stuck};
  static const struct base_entropy *const sources[] = {&ctest_entropy, &ctest_entropy, &ctest_entropy_broken,
                                                       &constant};
  struct fuzz f = fuzz_begin(data, size);
  const struct base_entropy *e = sources[fuzz_below(&f, 4)];
  stuck = (unsigned char)fuzz_word(&f, 1);
  switch (fuzz_below(&f, 3)) {
  case 0:
    vector(&f, e);
    break;
  case 1:
    symmetric(&f, e);
    break;
  default:
    choice(&f, e);
  }
  fuzz_end();
  return 0;
}

/* A multiple of the lattice's spacing, or so far from zero that every double is one. */
static int on_lattice(double scale, double x) {
  double h = mech_lattice(scale);
  return fabs(x) >= 0x1p54 * h || fmod(x, h) == 0;
}

static void vector(struct fuzz *f, const struct base_entropy *e) {
  double x[MOST], sd[MOST], scale = fuzz_double(f);
  size_t n = fuzz_below(f, MOST + 1);
  fuzz_doubles(f, n, x);
  for (size_t i = 0; i < n; i++) sd[i] = fuzz_below(f, 4) ? scale : fuzz_double(f);
  int each = (int)fuzz_below(f, 2), valid = mech_lattice(scale) > 0 && fuzz_all_finite(n, x);
  int status = each ? mech_gaussian_each(e, n, sd, x) : mech_gaussian(e, n, scale, x);
  if (status != BASE_OK) REQUIRE(fuzz_all_zero(n, x));
  if (!each && !valid && n > 0) REQUIRE(status == BASE_ERR_ARGUMENT);
  if (!each && valid && e == &ctest_entropy) REQUIRE(status == BASE_OK);
  if (e == &ctest_entropy_broken && n > 0) REQUIRE(status != BASE_OK);
  for (size_t i = 0; i < n && status == BASE_OK; i++) REQUIRE(on_lattice(each ? sd[i] : scale, x[i]));
}

static void symmetric(struct fuzz *f, const struct base_entropy *e) {
  double h[9], scale = fuzz_double(f);
  size_t d = fuzz_below(f, 4);
  fuzz_doubles(f, d * d, h);
  int status = mech_symmetric(e, d, scale, h);
  if (status != BASE_OK) REQUIRE(fuzz_all_zero(d * d, h));
  if (e == &ctest_entropy_broken && d > 0) REQUIRE(status != BASE_OK);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) REQUIRE(h[i + d * j] == h[j + d * i]);
}

static void choice(struct fuzz *f, const struct base_entropy *e) {
  double q[MOST], sensitivity = fuzz_double(f), eps = fuzz_double(f);
  size_t k = fuzz_below(f, MOST + 1), index = k + 1;
  fuzz_doubles(f, k, q);
  int exponential = (int)fuzz_below(f, 2);
  int status = exponential ? mech_exponential(e, k, q, sensitivity, &index)
                           : mech_sparse_vector(e, k, q, sensitivity, eps, &index);
  REQUIRE(index <= k);
  if (status != BASE_OK) REQUIRE(index == k);
  if (status == BASE_OK && exponential) REQUIRE(index < k);
  if (status == BASE_OK) REQUIRE(e != &ctest_entropy_broken && fuzz_all_finite(k, q));
}
