/* The lattice of released values, shifts along it, extreme numbers, and every refusal, which must leave no value
 * behind. */
#include "ctest.h"
#include "laplace.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "mech/private.h"

static void spacing(void);
static void membership(double scale, double x);
static void shifts(double scale, double x);
static void far_values(void);
static void long_index(void);
static void refusals(void);
static void failures(void);
static void stuck(void);
static int fill_some(void *buffer, size_t bytes);
static int fill_stuck(void *buffer, size_t bytes);

static const struct base_entropy some = {.fill = fill_some}; /* works a number of times, then fails */
static int fills_left;
static const struct base_entropy constant = {.fill = fill_stuck};
static int stuck_at;

void test_mech_lattice(void) {
  spacing();
  membership(1, 0.1);
  membership(0.3, -1e4);
  membership(1e-300, 1e-299);
  membership(1e300, -3e301);
  membership(DBL_MAX / 64, 0);
  membership(0x1p-1043, 0x1p-1044);
  shifts(1, 0.1);
  shifts(7e-5, -0.01);
  shifts(3e200, 0);
  far_values();
  long_index();
  refusals();
  failures();
  stuck();
}

/* A power of two, at most scale / 2^30 and more than half of scale / 2^31; S spacings are the scale or a little more.
 */
static void spacing(void) {
  for (int i = 0; i < 1000; i++) {
    const double scale = i == 0 ? 1 : i == 1 ? nextafter(1, 0) : i == 2 ? nextafter(1, 2) : exp(100 * ctest_normal());
    const double h = mech_lattice(scale);
    struct mech_grid grid;
    int exponent;
    CHECK(frexp(h, &exponent) == 0.5);
    CHECK(h <= ldexp(scale, -30) && h >= ldexp(scale, -31));
    CHECK(mech_grid_choose(scale, &grid) == BASE_OK);
    CHECK(ldexp(1, grid.exponent) == h && grid.scale <= UINT64_C(1) << 31);
    const double used = (double)grid.scale * h;
    CHECK(used >= scale && used < scale * (1 + 0x1p-30));
  }
  CHECK(mech_lattice(1) == 0x1p-30);
}

static void membership(double scale, double x) {
  const double h = mech_lattice(scale);
  int member = 1, moved = 0;
  for (int i = 0; i < 300; i++) {
    double y[2] = {x, x};
    CHECK(mech_gaussian(&ctest_entropy, 1, scale, y) == BASE_OK);
    CHECK(laplace_noise(&ctest_entropy, scale, y + 1) == BASE_OK);
    for (int k = 0; k < 2; k++) {
      member = member && isfinite(y[k]) && fmod(y[k], h) == 0 && fabs(y[k] - x) < 40 * scale;
      moved += y[k] != x;
    }
  }
  CHECK(member);
  CHECK(moved == 600);
}

/* With the same bits, a shift of x by lattice points shifts the answer by as much, and a shift by less than half a
 * spacing moves it by one point at most. */
static void shifts(double scale, double x) {
  const double h = mech_lattice(scale);
  int exact = 1, near = 1;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    const double steps = floor(1e6 * ctest_uniform()) - 5e5;
    double at[3] = {floor(x / h) * h, 0, 0};
    at[1] = at[0] + steps * h;
    at[2] = at[0] + 0.49 * h;
    for (int k = 0; k < 3; k++) {
      ctest_seed(seed);
      CHECK(mech_gaussian(&ctest_entropy, 1, scale, at + k) == BASE_OK);
    }
    exact = exact && at[1] == at[0] + steps * h;
    near = near && (at[2] == at[0] || at[2] == at[0] + h);
  }
  CHECK(exact);
  CHECK(near);
}

/* Values of up to 2^90 spacings carry their noise; where doubles are far apart the answer is the double nearest to the
 * noisy value, which beyond 2^122 spacings is the value itself. */
static void far_values(void) {
  const double powers[] = {52, 53, 60, 80, 90, 121, 122, 123, 140, 500};
  for (int i = 0; i < 10; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double x = sign * ldexp(1.75, (int)powers[i] - 30); /* scale 1: spacing 2^-30 */
      double y = x;
      CHECK(mech_gaussian(&ctest_entropy, 1, 1, &y) == BASE_OK);
      CHECK(fabs(y - x) <= 10 + (nextafter(fabs(x), INFINITY) - fabs(x)));
      if (powers[i] <= 60) CHECK(y != x);
      if (powers[i] >= 100) CHECK(y == x);
    }
  double y = DBL_MAX, z = 0x1p-1074;
  CHECK(mech_gaussian(&ctest_entropy, 1, 1e-300, &y) == BASE_OK && y == DBL_MAX);
  CHECK(mech_gaussian(&ctest_entropy, 1, 1e300, &z) == BASE_OK && fabs(z) < 1e301 && fabs(z) > 1e290);
}

/* An index too long for a double is rounded from the integer, once: just above a tie it goes up. */
static void long_index(void) {
  const struct mech_grid grid = {0, 1 << 30};
  const struct mech_point big = {((int128)1 << 100) + ((int128)1 << 47) + 1, 0};
  const struct mech_point opposite = {-big.index, 0};
  CHECK(mech_point_value(&grid, big) == 0x1p100 + 0x1p48);
  CHECK(mech_point_value(&grid, opposite) == -0x1p100 - 0x1p48);
  const struct mech_point odd = {((int128)1 << 53) - 1, 0};
  CHECK(mech_point_value(&grid, odd) == 0x1p53 - 1);
}

static void refusals(void) {
  const double bad_scale[] = {0, -1, NAN, INFINITY, -INFINITY, 0x1p-1050}, bad_x[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 6; i++) {
    double x[4] = {1, 2, 2, 3};
    CHECK(mech_gaussian(&ctest_entropy, 2, bad_scale[i], x) == BASE_ERR_ARGUMENT && x[0] == 0 && x[1] == 0);
    x[0] = 1;
    CHECK(laplace_noise(&ctest_entropy, bad_scale[i], x) == BASE_ERR_ARGUMENT && x[0] == 0);
    x[0] = x[1] = 1;
    const double sd[2] = {1, bad_scale[i]};
    CHECK(mech_gaussian_each(&ctest_entropy, 2, sd, x) == BASE_ERR_ARGUMENT && x[0] == 0 && x[1] == 0);
    x[0] = x[1] = 1;
    CHECK(mech_symmetric(&ctest_entropy, 2, bad_scale[i], x) == BASE_ERR_ARGUMENT && x[0] == 0 && x[3] == 0);
  }
  for (int i = 0; i < 3; i++) {
    double x[2] = {1, bad_x[i]};
    CHECK(mech_gaussian(&ctest_entropy, 2, 1, x) == BASE_ERR_ARGUMENT && x[0] == 0 && x[1] == 0);
    x[0] = bad_x[i];
    CHECK(laplace_noise(&ctest_entropy, 1, x) == BASE_ERR_ARGUMENT && x[0] == 0);
  }
  CHECK(mech_gaussian(&ctest_entropy, 0, 1, NULL) == BASE_OK);
}

/* A source that fails at once or after some buffers: the status comes through, and nothing un-noised is left. */
static void failures(void) {
  enum { N = 200 };
  for (int m = 0; m < 6; m++) {
    double x[N], sd[N];
    int clean = 1;
    for (int i = 0; i < N; i++) x[i] = sd[i] = 1;
    fills_left = m;
    CHECK(mech_gaussian(&some, N, 1, x) == BASE_ERR_ENTROPY);
    for (int i = 0; i < N; i++) clean = clean && x[i] == 0;
    for (int i = 0; i < N; i++) x[i] = 1;
    fills_left = m;
    CHECK(mech_gaussian_each(&some, N, sd, x) == BASE_ERR_ENTROPY);
    for (int i = 0; i < N; i++) clean = clean && x[i] == 0;
    for (int i = 0; i < 196; i++) x[i] = 1;
    fills_left = m;
    CHECK(mech_symmetric(&some, 14, 1, x) == BASE_ERR_ENTROPY);
    for (int i = 0; i < 196; i++) clean = clean && x[i] == 0;
    CHECK(clean);
  }
  double x = 1;
  CHECK(laplace_noise(&ctest_entropy_broken, 1, &x) == BASE_ERR_ENTROPY && x == 0);
  CHECK(mech_gaussian(&ctest_entropy_broken, 1, 1, &x) == BASE_ERR_ENTROPY);
}

/* A source that repeats one byte for ever: each draw ends, and zeros, which no sound source gives, are an error. */
static void stuck(void) {
  for (stuck_at = 0; stuck_at < 256; stuck_at++) {
    double x = 1, y = 1;
    const int gaussian = mech_gaussian(&constant, 1, 1, &x), laplace = laplace_noise(&constant, 1, &y);
    CHECK(gaussian == BASE_OK || (gaussian == BASE_ERR_ENTROPY && x == 0));
    CHECK(laplace == BASE_OK || (laplace == BASE_ERR_ENTROPY && y == 0));
    if (stuck_at == 0) CHECK(gaussian == BASE_ERR_ENTROPY && laplace == BASE_ERR_ENTROPY);
  }
}

static int fill_some(void *buffer, size_t bytes) {
  if (fills_left == 0) return BASE_ERR_ENTROPY;
  fills_left--;
  return ctest_entropy.fill(buffer, bytes);
}

static int fill_stuck(void *buffer, size_t bytes) {
  memset(buffer, stuck_at, bytes);
  return BASE_OK;
}
