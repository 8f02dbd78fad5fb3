/*
 * Exact rounding of x + noise to the lattice.
 *
 * In units of the lattice spacing the noisy value is F + S (k + x'), or its
 * negative, where S is an integer and x' = 0.d1 d2 ... in base 2^32 has as many
 * digits as were needed so far. F is x / 2^exponent; only its fraction is
 * rounded, to a multiple of 2^-52. Since x is a double, F is an integer times a
 * power of two, and both parts are computed with integers. The nearest
 * lattice point is floor(F + 1/2 + S (k + x')). Two digits put the argument
 * between two multiples of 2^-64 that are S 2^-64 apart. Unless they lie on
 * both sides of an integer (probability S 2^-64) the floor is known; otherwise
 * further digits are compared with that integer. Nothing is approximated: the
 * index has exactly the distribution of the rounded continuous variable. Ties have
 * probability zero. I. Mironov 2012, "On significance of the least
 * significant bits for differential privacy", shows what floating-point noise
 * would leak.
 */
#include <math.h>
#include <string.h>

#include "mech/private.h"

/* F = whole 2^shift + fraction / 2^52, 0 <= fraction < 2^52. */
struct coordinate {
  int128 whole;
  uint64_t fraction;
  int shift;
};

static struct coordinate coordinate_of(double x, int exponent);
static struct coordinate split(int128 multiple);
static uint64_t steps(struct mech_bits *b, uint64_t scale, struct mech_uniform *x, uint64_t fraction);
static int tail_reaches(struct mech_bits *b, uint64_t scale, struct mech_uniform *x, uint64_t gap);

double mech_lattice(double scale) {
  struct mech_grid grid;
  return mech_grid_choose(scale, &grid) == BASE_OK ? ldexp(1, grid.exponent) : 0;
}

int mech_grid_choose(double scale, struct mech_grid *grid) {
  if (!(scale > 0) || !isfinite(scale)) return BASE_ERR_ARGUMENT;
  int exponent;
  const double mantissa = frexp(scale, &exponent);   /* in [1/2, 1) */
  grid->scale = (uint64_t)ceil(ldexp(mantissa, 31)); /* rounded up: never less noise than requested */
  grid->exponent = exponent - 31;
  return ldexp(1, grid->exponent) > 0 ? BASE_OK : BASE_ERR_ARGUMENT;
}

int mech_perturb(struct mech_bits *b, mech_sampler *draw, double scale, size_t n, double *x) {
  struct mech_grid grid;
  int status = mech_grid_choose(scale, &grid);
  for (size_t i = 0; i < n && status == BASE_OK; i++)
    if (!isfinite(x[i])) status = BASE_ERR_ARGUMENT;
  for (size_t i = 0; i < n && status == BASE_OK; i++) {
    x[i] = mech_point_value(&grid, mech_point_draw(b, draw, &grid, x[i]));
    status = b->status;
  }
  if (status != BASE_OK) memset(x, 0, n * sizeof *x);
  return status;
}

struct mech_point mech_point_draw(struct mech_bits *b, mech_sampler *draw, const struct mech_grid *grid, double x) {
  struct mech_variate v;
  mech_bits_allow(b, MECH_PATIENCE);
  draw(b, &v);
  /* Negative noise is the mirror image of positive noise on -x. Products instead of a branch, which would be predicted
   * wrongly half the time. */
  const int sign = 1 - 2 * v.negative;
  const struct coordinate c = coordinate_of(sign * x, grid->exponent);
  const int128 noise = (int128)grid->scale * v.k + (int128)steps(b, grid->scale, &v.x, c.fraction);
  return (struct mech_point){sign * (c.whole + noise), c.shift};
}

/* An index of at most 2^53 is exact; a larger one is rounded after the draw. */
double mech_point_value(const struct mech_grid *grid, struct mech_point point) {
  return ldexp((double)point.index, grid->exponent + point.shift);
}

/*
 * x = m 2^q with an integer |m| < 2^53. Beyond 2^122 spacings F is written as
 * m 2^70 times a power of two: the noise, which is below 2^64 spacings, cannot
 * change the nearest double there.
 */
static struct coordinate coordinate_of(double x, int exponent) {
  int q;
  const int128 m = (int64_t)ldexp(frexp(x, &q), 53);
  const int t = m == 0 ? 0 : q - 53 - exponent; /* F = m 2^t */
  if (t > 70) return (struct coordinate){m * ((int128)1 << 70), 0, t - 70};
  if (t >= 0) return (struct coordinate){m * ((int128)1 << t), 0, 0};
  if (t >= -52) return split(m * ((int128)1 << (52 + t)));
  return split((int64_t)rint(ldexp((double)m, 52 + t)));
}

/* Floor and remainder of multiple / 2^52. */
static struct coordinate split(int128 multiple) {
  const int128 unit = (int128)1 << 52;
  int128 whole = multiple / unit, rest = multiple % unit;
  if (rest < 0) {
    rest += unit;
    whole--;
  }
  return (struct coordinate){whole, (uint64_t)rest, 0};
}

/* floor(fraction / 2^52 + 1/2 + S x). */
static uint64_t steps(struct mech_bits *b, uint64_t scale, struct mech_uniform *x, uint64_t fraction) {
  const uint64_t high = mech_uniform_digit(b, x, 0), low = mech_uniform_digit(b, x, 1);
  /* in units of 2^-64; S <= 2^32, so this is below 2^97 */
  const int128 start = (int128)scale * (int128)(high << 32 | low) + (int128)(fraction << 12) + ((int128)1 << 63);
  const uint64_t floor_start = (uint64_t)(start >> 64);
  const int128 gap = ((int128)(floor_start + 1) << 64) - start; /* to the next integer */
  if (gap >= (int128)scale) return floor_start;
  return floor_start + (uint64_t)tail_reaches(b, scale, x, (uint64_t)gap);
}

/* Is S r >= gap, where r = 0.d3 d4 ... and 0 < gap < S? Compared digit by digit; each time the gap is scaled by 2^32.
 * */
static int tail_reaches(struct mech_bits *b, uint64_t scale, struct mech_uniform *x, uint64_t gap) {
  for (int place = 2; b->status == BASE_OK; place++) {
    const uint64_t reached = scale * mech_uniform_digit(b, x, place), wanted = gap << 32;
    if (reached >= wanted) return 1;
    gap = wanted - reached;
    if (gap >= scale) return 0;
  }
  return 0;
}
