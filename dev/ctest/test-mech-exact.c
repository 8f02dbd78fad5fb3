/*
 * The parts of the sampler: integers and trials against their probabilities,
 * whole laws on coarse lattices (scales of a few spacings, where every
 * probability is a difference of the distribution function), and the rounding
 * against an independent computation with 128-bit integers.
 */
#include "ctest.h"
#include "statistics.h"

#include <math.h>

#include "mech/private.h"

enum { SPAN = 120 }; /* lattice points on either side of zero that are counted */

static void below(uint32_t n);
static void below_all_bytes(void);
static void below_words(uint32_t n);
static void bernoulli(uint64_t a);
static void the_same_of_a_half(void);
static void uniform_order(void);
static void coarse(mech_sampler *draw, double (*cdf)(double), uint64_t scale, double x);
static void rounding(void);
static void last_digits(uint64_t scale, double share);
static mech_sampler draw_given;
static double laplace_cdf(double z);

void test_mech_exact(void) {
  static const uint64_t scales[] = {1, 2, 3, 7, 13};
  static const double places[] = {0, 0.5, -0.25, 0x1p-52, 5.3, -1.0 / 3};
  below(1), below(2), below(3), below(6), below(200), below(256), below(257), below(1000);
  below_all_bytes();
  below_words(257), below_words(1000), below_words((UINT32_C(1) << 31) + 1), below_words(UINT32_MAX);
  bernoulli(0), bernoulli(1), bernoulli(1000000000), bernoulli(UINT64_C(1) << 31), bernoulli(UINT64_C(1) << 32);
  the_same_of_a_half();
  uniform_order();
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 6; j++) {
      coarse(mech_draw_normal, base_pnorm, scales[i], places[j]);
      coarse(mech_draw_laplace, laplace_cdf, scales[i], places[j]);
    }
  rounding();
  last_digits(3, 0.4);
  last_digits(1000003, 1.0 / 3);
  last_digits((UINT64_C(1) << 31) - 1, 0.25);
  last_digits((UINT64_C(1) << 31) - 1, 1e-4);
  last_digits((UINT64_C(1) << 32) - 5, 0.999);
}

static void below(uint32_t n) {
  enum { MOST = 1000 };
  double count[MOST] = {0}, probability[MOST];
  int inside = 1;
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy);
  for (int i = ctest_size(200000, 10000); i > 0; i--) {
    mech_bits_allow(&b, MECH_PATIENCE);
    const uint32_t v = mech_below(&b, n);
    inside = inside && v < n;
    if (v < n) count[v]++;
  }
  CHECK(inside);
  for (uint32_t i = 0; i < n; i++) probability[i] = 1.0 / n;
  CHECK(chi_square_test(n, count, probability) > STATISTICS_LEVEL);
  CHECK(mech_bits_close(&b) == BASE_OK);
}

/* From a buffer that ends with this word, and a source that fails, if another one is asked for. */
static int below_of(uint32_t n, uint32_t word, size_t bytes, uint32_t *v) {
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy_broken);
  b.used = sizeof b.byte - bytes;
  for (size_t i = 0; i < bytes; i++) b.byte[b.used + i] = (unsigned char)(word >> 8 * (bytes - 1 - i));
  *v = mech_below(&b, n);
  return mech_bits_close(&b) == BASE_OK;
}

/* Of the 256 bytes each number has as many, and the fewest are left out. */
static void below_all_bytes(void) {
  int same = 1;
  for (uint32_t n = 1; n <= 256; n++) {
    uint32_t count[256] = {0}, v;
    for (uint32_t byte = 0; byte < 256; byte++)
      if (below_of(n, byte, 1, &v) && v < n) count[v]++;
    for (uint32_t i = 0; i < n; i++) same = same && count[i] == 256 / n;
  }
  CHECK(same);
}

/* Words below the largest multiple of n count by their remainder. */
static void below_words(uint32_t n) {
  const uint64_t range = UINT64_C(1) << 32, fair = range / n * n;
  const uint64_t words[] = {0, 1, n - 1, n, n + UINT64_C(1), fair / 2, fair - 1, fair, range - 1};
  int same = 1;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    uint32_t v;
    if (words[i] >= range) continue;
    const int taken = below_of(n, (uint32_t)words[i], 4, &v);
    same = same && taken == (words[i] < fair) && (!taken || v == words[i] % n);
  }
  CHECK(same);
}

static void bernoulli(uint64_t a) {
  const int n = ctest_size(400000, 10000);
  const double p = exp(-ldexp((double)a, -32));
  double hits = 0;
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy);
  for (int i = 0; i < n; i++) {
    mech_bits_allow(&b, MECH_PATIENCE);
    hits += mech_bernoulli_exp(&b, a);
  }
  CHECK_NEAR(hits, n * p, 5 * sqrt(n * p * (1 - p)) + 1e-4);
  CHECK(mech_bits_close(&b) == BASE_OK);
}

/* What is looked up is what the trials find, of as many bytes. */
static void the_same_of_a_half(void) {
  int same = 1;
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy);
  for (int i = 0; i < 20000; i++) {
    mech_bits_allow(&b, MECH_PATIENCE);
    if (b.used + 100 > sizeof b.byte) mech_bits_refill(&b); /* more than a trial needs, but for one in 2^60 */
    struct mech_bits trials = b;
    const int looked_up = mech_bernoulli_exp_half(&b), found = mech_bernoulli_exp(&trials, UINT64_C(1) << 31);
    same = same && looked_up == found && b.used == trials.used;
  }
  CHECK(same);
  CHECK(mech_bits_close(&b) == BASE_OK);
}

/* Three numbers compared pairwise fall into each of the 6 orders alike, and a comparison repeated gives the same. */
static void uniform_order(void) {
  double count[8] = {0};
  int same = 1;
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy);
  for (int i = ctest_size(100000, 5000); i > 0; i--) {
    struct mech_uniform u = {.known = 0}, v = {.known = 0}, w = {.known = 0};
    mech_bits_allow(&b, MECH_PATIENCE);
    const int uv = mech_uniform_less(&b, &u, &v), vw = mech_uniform_less(&b, &v, &w),
              uw = mech_uniform_less(&b, &u, &w);
    same = same && uv != mech_uniform_less(&b, &v, &u);
    count[uv + 2 * vw + 4 * uw]++; /* u < v < w without u < w (3) and its mirror (4) cannot be */
  }
  CHECK(same);
  CHECK(count[3] == 0 && count[4] == 0);
  double possible[6], sixth[6];
  for (int i = 0, k = 0; i < 8; i++)
    if (i != 3 && i != 4) possible[k++] = count[i];
  for (int k = 0; k < 6; k++) sixth[k] = 1 / 6.0;
  CHECK(chi_square_test(6, possible, sixth) > STATISTICS_LEVEL);
  /* numbers that agree in every place mean a broken source */
  struct mech_uniform u = {.known = MECH_DIGITS}, v = {.known = MECH_DIGITS};
  for (int i = 0; i < MECH_DIGITS; i++) u.digit[i] = v.digit[i] = 7;
  CHECK(mech_uniform_less(&b, &u, &v) == 0);
  CHECK(mech_bits_close(&b) == BASE_ERR_ENTROPY);
}

/* Spacing 1: P(j) = F((j + 1/2 - x) / S) - F((j - 1/2 - x) / S). */
static void coarse(mech_sampler *draw, double (*cdf)(double), uint64_t scale, double x) {
  double count[2 * SPAN + 1] = {0}, probability[2 * SPAN + 1], outside = 0;
  const struct mech_grid grid = {0, scale};
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy);
  for (int i = ctest_size(100000, 3000); i > 0; i--) {
    const struct mech_point point = mech_point_draw(&b, draw, &grid, x);
    if (point.index < -SPAN || point.index > SPAN)
      outside++;
    else
      count[(int)point.index + SPAN]++;
  }
  CHECK(mech_bits_close(&b) == BASE_OK);
  for (int j = -SPAN; j <= SPAN; j++) {
    const double s = (double)scale;
    probability[j + SPAN] = cdf((j + 0.5 - x) / s) - cdf((j - 0.5 - x) / s);
  }
  CHECK(outside <= 40); /* 100000 exp(-120 / 13) = 10 for Laplace, none for the others */
  CHECK(chi_square_test(2 * SPAN + 1, count, probability) > STATISTICS_LEVEL);
}

static struct mech_variate given;

static void draw_given(struct mech_bits *b, struct mech_variate *v) {
  (void)b;
  *v = given;
}

/*
 * Given k and 64 bits of x' (the further digits zero) the noisy value is a
 * multiple of 2^-64 that 128 bits hold: compared with its rounding, for values
 * of 40 integer bits, fractions of all lengths, and both signs.
 */
static void rounding(void) {
  int nearest = 1;
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy);
  for (int i = 0; i < ctest_size(50000, 2000); i++) {
    const struct mech_grid grid = {(int)mech_below(&b, 100) - 50, 1 + ((uint64_t)mech_word(&b) >> mech_below(&b, 31))};
    given = (struct mech_variate){.negative = i % 2, .k = mech_below(&b, 9), .x.known = MECH_DIGITS};
    given.x.digit[0] = mech_word(&b);
    given.x.digit[1] = mech_word(&b);
    /* x = m 2^q spacings with at most 52 bits behind the point */
    const int q = (int)mech_below(&b, 53);
    const int64_t m = (int64_t)((uint64_t)mech_word(&b) << 20 | mech_word(&b) >> 12) * (mech_below(&b, 2) ? 1 : -1);
    mech_bits_allow(&b, MECH_PATIENCE);
    const struct mech_point point = mech_point_draw(&b, draw_given, &grid, ldexp((double)m, grid.exponent - q));
    const int128 unit = (int128)1 << 64;
    const int128 noise =
        (int128)grid.scale * ((int128)given.k * unit + ((int128)given.x.digit[0] << 32) + given.x.digit[1]);
    const int128 value = (int128)m * ((int128)1 << (64 - q)) + (given.negative ? -noise : noise);
    /* nearest: |index - value| <= 1/2 */
    const int128 off = point.index * unit - value;
    nearest = nearest && point.shift == 0 && off <= unit / 2 && off >= -unit / 2;
  }
  CHECK(nearest);
  CHECK(mech_bits_close(&b) == BASE_OK);
}

/*
 * The first two digits leave the noisy value within S 2^-64 below the middle
 * between two points, share * S short of it in these units: the further
 * digits, drawn uniformly, must carry it over with probability 1 - share.
 */
static void last_digits(uint64_t scale, double share) {
  const uint64_t gap = (uint64_t)ceil(share * (double)scale);
  uint64_t inverse = 1; /* of the odd scale, modulo 2^64: Newton's iteration doubles the correct bits */
  for (int i = 0; i < 6; i++) inverse *= 2 - scale * inverse;
  const uint64_t x = ((UINT64_C(1) << 63) - gap) * inverse;
  given = (struct mech_variate){.x.known = 2};
  given.x.digit[0] = (uint32_t)(x >> 32);
  given.x.digit[1] = (uint32_t)x;
  const int128 low = ((int128)scale * (int128)x) >> 64;
  const struct mech_grid grid = {0, scale};
  const int n = ctest_size(100000, 5000);
  double over = 0;
  int expected = 1;
  struct mech_bits b;
  mech_bits_open(&b, &ctest_entropy);
  for (int i = 0; i < n; i++) {
    given.negative = i % 2;
    const struct mech_point point = mech_point_draw(&b, draw_given, &grid, 0);
    const int128 size = given.negative ? -point.index : point.index;
    expected = expected && (size == low || size == low + 1);
    over += size == low + 1;
  }
  const double p = 1 - (double)gap / (double)scale;
  CHECK(expected);
  CHECK_NEAR(over, n * p, 5 * sqrt(n * p * (1 - p)) + 1);
  CHECK(mech_bits_close(&b) == BASE_OK);
}

static double laplace_cdf(double z) { return z < 0 ? exp(z) / 2 : 1 - exp(-z) / 2; }
