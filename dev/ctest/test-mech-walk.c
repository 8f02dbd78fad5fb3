/*
 * Laws of the samplers by walking all that they could draw (walk.h), against closed forms, with no sample. Parts are
 * walked with what has been walked before in place of their own parts (proofs: by-machine).
 */
#include "walk.h"

#include "rounds.h"

static void trials(uint64_t a);
static void half_normal(void);
static void thinning(uint32_t k);
static void descents(void);
static void descent(const uint32_t *k, uint32_t digits);
static void accepted(uint32_t k, uint32_t digits);
static void rounding(uint64_t scale, int64_t fraction, int negative);
static void subsets(size_t n, size_t m);
static void orders(size_t n);
static void poisson_subset(uint64_t step, size_t cells);
static void runs(void);
static void exponential(void);
static void sparse_vector(void);

static long double laplace_below(long double z) { return expl(z) / 2; }
static long double normal_below(long double z) { return erfcl(-z * sqrtl(0.5L)) / 2; }

void test_mech_walk(void) {
  static const uint64_t odd[] = {0, 1, 3, 1000000007, UINT64_C(1) << 31, 0xfffffffe, UINT64_C(1) << 32};
  for (walk.last = 0; walk.last <= 1; walk.last++) {
    walk.whole = 1;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) trials(odd[i]);
    walk.whole = 0;
    for (uint32_t k = 0; k < 4; k++) thinning(k);
    poisson_subset(UINT64_C(1) << 30, 4);
    poisson_subset(UINT64_C(3) << 29, 8);
    poisson_subset(UINT64_C(1) << 32, 1);
    poisson_subset(UINT64_C(5) << 31, 2);
  }
  walk.last = 0;
  half_normal();
  descents();
  whole_variate(round_draw_laplace, 0, 1e-14L, 1e-9L);
  whole_variate(round_draw_normal, 1, 1e-7L, 0.06L);
  variates(mech_draw_laplace, laplace_below, 1e-6L, 0.2L);
  variates(mech_draw_normal, normal_below, 1e-6L, 0.5L);
  static const uint64_t scales[] = {1, 2, 3, 13, (UINT64_C(1) << 31) - 1, UINT64_C(1) << 32};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
    for (int negative = 0; negative <= 1; negative++) {
      rounding(scales[i], 0, negative);
      rounding(scales[i], 1, negative);
      rounding(scales[i], INT64_C(1) << 51, negative);
      rounding(scales[i], 0x5a827999fcef3, negative);
    }
  for (size_t n = 0; n <= 6; n++) {
    for (size_t m = 0; m <= n; m++) subsets(n, m);
    orders(n);
  }
  runs();
  exponential();
  sparse_vector();
}

/* ---- trials and variates ---- */

/* The first failure is at trial j with probability g^(j - 1) / (j - 1)! (1 - g / j); an odd j is a success. */
static void trials(uint64_t a) {
  const uint64_t edge[] = {0, a, UINT64_C(1) << 32};
  if (a == 0 || a == edge[2])
    walk_cells(1);
  else
    walk_edges(3, edge);
  const long double g = ldexpl((long double)a, -32);
  long double target[MOST], before = 1;
  int parity = 1;
  target[0] = 0;
  for (size_t j = 1; j < 40; before *= g / (long double)j++) target[j] = before * (1 - g / (long double)j);
  for (begin(1e-20L); walk_more();) {
    struct mech_bits b = fresh();
    const int success = mech_bernoulli_exp(&b, a);
    if (b.status == BASE_OK) parity = parity && success == (int)(walk.words % 2);
    found(walk.words);
  }
  CHECK(parity);
  CHECK(is_law(40, target, 1e-16L));
  long double successes = 0;
  for (size_t j = 1; j < 40; j += 2) successes += law[j];
  CHECK_NEAR((double)(successes - expl(-g)), 0, (double)rounded_sums());
}

/* A round that ends at its first failed trial has k with probability (1 - e^(-1/2)) e^(-k^2 / 2); the second failure
 * begins the next round, which is as the first. */
static void half_normal(void) {
  long double target[9], sum = 0;
  for (int k = 0; k < 9; k++) sum += target[k] = -expm1l(-0.5L) * expl(-0.5L * k * k);
  walk.tails = 2;
  for (begin(1e-20L); walk_more();) {
    struct mech_bits b = fresh();
    found(half_normal_integer(&b));
  }
  CHECK(is_part(9, target));
  walk.tails = 0;
  for (int k = 0; k < 9; k++) target[k] /= sum;
  for (begin_long(1e-6L); walk_more();) {
    struct mech_bits b = fresh();
    found(half_normal_integer(&b));
  }
  CHECK(is_law(9, target, 0.03L));
}

static struct mech_uniform of_digits(uint32_t first, uint32_t second) {
  return (struct mech_uniform){.known = MECH_DIGITS, .digit = {first, second}};
}

/* True with probability (2k + x) / (2k + 2). */
static void thinning(uint32_t k) {
  enum { FIRST = 0x2827999f, SECOND = 0x6ed9eba1 };
  static const uint64_t edge[] = {0, 1, FIRST, FIRST + 1ll, SECOND, SECOND + 1ll, UINT64_C(1) << 32};
  const long double x = ldexpl(FIRST, -32) + ldexpl(SECOND, -64), p = (2 * k + x) / (2 * k + 2);
  const long double target[] = {1 - p, p};
  walk_edges(7, edge);
  for (begin(1e-30L); walk_more();) {
    struct mech_bits b = fresh();
    struct mech_uniform given = of_digits(FIRST, SECOND);
    found((size_t)thin(&b, k, &given));
  }
  CHECK(is_law(2, target, 1e-18L));
}

/* Comparisons alone decide, so a law is that of uniform numbers in any base: here 2, with x of four digits. */
static void descents(void) {
  static const uint32_t none[] = {0, 1, 2, 5};
  walk_cells(2);
  for (uint32_t digits = 1; digits < 16; digits += 3) {
    descent(NULL, digits);
    for (int i = 0; i < 4; i++) descent(none + i, digits);
    accepted(0, digits);
    accepted(1, digits);
    accepted(2, digits);
  }
}

/* 0.b1 b2 b3 b4 in base 2, each as the first word of its cell. */
static struct mech_uniform binary(uint32_t digits) {
  struct mech_uniform x = {.known = MECH_DIGITS};
  for (int i = 0; i < 4; i++) x.digit[i] = (digits >> (3 - i) & 1) << 31;
  return x;
}

/* True with probability exp(-x p), p = 1 or (2k + x) / (2k + 2). */
static void descent(const uint32_t *k, uint32_t digits) {
  const long double x = digits / 16.0L, p = k ? (2 * *k + x) / (2 * *k + 2) : 1;
  const long double target[] = {-expm1l(-x * p), expl(-x * p)};
  for (begin_long(1e-6L); walk_more();) {
    struct mech_bits b = fresh();
    struct mech_uniform given = binary(digits);
    found((size_t)descend(&b, k, &given));
  }
  CHECK(is_law(2, target, 0.1L));
}

/* True with probability exp(-x (2k + x) / 2). */
static void accepted(uint32_t k, uint32_t digits) {
  const long double x = digits / 16.0L, g = x * (2 * k + x) / 2;
  const long double target[] = {-expm1l(-g), expl(-g)};
  for (begin_long(1e-6L); walk_more();) {
    struct mech_bits b = fresh();
    struct mech_uniform given = binary(digits);
    found((size_t)accept_fraction(&b, k, &given));
  }
  CHECK(is_law(2, target, 0.3L));
}

/* ---- rounding ---- */

static struct mech_variate given;

static void draw_given(struct mech_bits *b, struct mech_variate *v) {
  (void)b;
  *v = given;
}

/* The number of spacings of the rounded noisy value away from zero, for the noise's sign. */
static int128 rounded(uint64_t scale, double x) {
  struct mech_bits b = fresh();
  const struct mech_grid grid = {0, scale};
  const int128 index = mech_point_draw(&b, draw_given, &grid, x).index;
  return given.negative ? -index : index;
}

/*
 * With F = fraction / 2^52 the index reaches j from x' = (j - F - 1/2) / S - k on. The largest x' of six digits (192
 * bits) below that, found bit by bit, is compared with the division of integers. The law of the index follows, as it
 * rises in x' and x' is uniform.
 */
static void rounding(uint64_t scale, int64_t fraction, int negative) {
  enum { PLACES = 6 };
  const double x = ldexp((double)(negative ? -fraction : fraction), -52);
  int same = 1;
  for (uint32_t k = 0; k < 2; k++) {
    const int128 unit = (int128)scale << 52, first = (int128)scale * k + 1, count = scale < 20 ? (int128)scale : 20;
    for (int128 i = 0; i < count; i++) {
      const int128 j = first + i * ((int128)scale / count);
      int128 rest = (j << 52) - fraction - ((int128)1 << 51) - unit * k;
      if (rest <= 0 || rest >= unit) continue;
      given = (struct mech_variate){.negative = negative, .k = k, .x.known = MECH_DIGITS};
      for (int place = 0; place < PLACES; place++)
        for (uint32_t bit = UINT32_C(1) << 31; bit; bit >>= 1) {
          given.x.digit[place] |= bit;
          if (rounded(scale, x) >= j) given.x.digit[place] &= ~bit;
        }
      /* Exact quotients are not below themselves: one less in the last place. */
      uint32_t digit[PLACES];
      for (int place = 0; place < PLACES; place++) {
        digit[place] = (uint32_t)((rest << 32) / unit);
        rest = (rest << 32) % unit;
      }
      for (int place = PLACES - 1; rest == 0 && place >= 0; place--)
        if (digit[place]--) break;
      for (int place = 0; place < PLACES; place++) same = same && digit[place] == given.x.digit[place];
    }
  }
  CHECK(same);
}

/* ---- subsets, orders, numbers of runs ---- */

static void subsets(size_t n, size_t m) {
  size_t row[6], sets = 0;
  long double target[MOST];
  int sorted = 1;
  for (size_t set = 0; set < (size_t)1 << n; set++) sets += (size_t)__builtin_popcountll(set) == m;
  for (size_t set = 0; set < (size_t)1 << n; set++)
    target[set] = (size_t)__builtin_popcountll(set) == m ? 1 / (long double)sets : 0;
  for (begin(0); walk_more();) {
    size_t set = 0;
    sorted = sorted && mech_subset_fixed(NULL, n, m, row) == BASE_OK;
    for (size_t i = 0; i < m; i++) {
      sorted = sorted && (i == 0 || row[i] > row[i - 1]);
      set |= (size_t)1 << row[i];
    }
    found(set);
  }
  CHECK(sorted);
  CHECK(is_law((size_t)1 << n, target, 0));
}

/* As many paths as orders, and each order once: so all have the same probability. */
static void orders(size_t n) {
  static unsigned char seen[720];
  size_t order[6], paths = 0, factorial = 1, new = 0;
  memset(seen, 0, sizeof seen);
  for (size_t i = 2; i <= n; i++) factorial *= i;
  for (begin(0); walk_more(); paths++) {
    size_t code = 0;
    if (mech_permutation(NULL, n, order) != BASE_OK) return;
    for (size_t i = 0; i < n; i++) {
      size_t smaller = 0;
      for (size_t j = i + 1; j < n; j++) smaller += order[j] < order[i];
      code = code * (n - i) + smaller;
    }
    new += !seen[code]++;
    CHECK_NEAR((double)(walk.probability * (long double)factorial), 1, (double)rounded_sums());
  }
  CHECK(paths == factorial && new == factorial);
}

/* Gaps are geometric, P(gap >= k) = exp(-k step / 2^32), and rows are in a subset independently. */
static void poisson_subset(uint64_t step, size_t cells) {
  const long double s = ldexpl((long double)step, -32), p = -expm1l(-s);
  long double target[MOST];
  for (size_t k = 0; k < 6; k++) target[k] = expl(-s * (long double)k) * p;
  target[6] = expl(-6 * s);
  walk_cells(cells);
  for (begin_long(1e-7L); walk_more();) {
    struct mech_bits b = fresh();
    const uint64_t gap = gap_draw(&b, step);
    if (b.status == BASE_OK) found(gap < 6 ? (size_t)gap : 6);
  }
  CHECK(is_law(7, target, 1e-2L));
  if (cells > 2 || p >= 0.8L) return;
  /* A little above p, so that its step is this one. */
  const double rate = (double)p * (1 + 1e-13);
  int fine = 1;
  for (size_t set = 0; set < 4; set++) target[set] = (set & 1 ? p : 1 - p) * (set & 2 ? p : 1 - p);
  for (begin_long(1e-7L); walk_more();) {
    size_t *row, count, set = 0;
    const int status = mech_subset_poisson(NULL, 2, rate, &row, &count);
    fine = fine && (status == BASE_OK) == (walk.probability > 0);
    for (size_t i = 0; i < count; i++) set |= (size_t)1 << row[i];
    found(set);
    if (row) wipe_subset(row, count);
  }
  CHECK(fine);
  CHECK(is_law(4, target, 1e-2L));
}

static void runs(void) {
  long double target[MOST];
  size_t count;
  for (uint32_t mean = 1; mean <= 7; mean += 2) { /* paths of six draws */
    const long double p = 1 / (long double)mean;
    long double least = 0.5L;
    for (int c = 0; c < 7; c++) target[c] = c < 2 ? c * p : target[c - 1] * (1 - p);
    for (int c = 0; c < 6; c++) least *= p;
    for (begin(least); walk_more();)
      if (mech_geometric(NULL, mean, &count) == BASE_OK) found(count);
    CHECK(is_part(7, target));
  }
  for (uint32_t mean = 1; mean <= 2; mean++) {
    target[0] = expl(-(long double)mean);
    for (int c = 1; c < 40; c++) target[c] = target[c - 1] * mean / c;
    for (begin_long(1e-7L); walk_more();)
      if (mech_poisson(NULL, mean, &count) == BASE_OK) found(count);
    CHECK(is_law(40, target, mean == 1 ? 1e-2L : 0.1L));
  }
}

/* ---- selection ---- */

/* In the first round, which the second candidate ends, each is taken with probability exp(-g) / k: g is rounded. */
static void exponential(void) {
  static const double part = 0x1p-32;
  const double temperature = 0.375, gap[] = {0, 1, 0.3 + 0.4 * part, 2.5 + 0.75 * part, 3.625, 0.5 * part};
  enum { K = 6 };
  double u[K];
  size_t index;
  int near = 1;
  for (int i = 0; i < K; i++) u[i] = -gap[i] * temperature;
  walk.belows = 2;
  for (begin(1e-18L); walk_more();) {
    if (mech_exponential(NULL, K, u, temperature, &index) == BASE_OK) found(index);
  }
  walk.belows = 0;
  for (int i = 0; i < K; i++) {
    const long double g = -logl(law[i] * K), exact = -(long double)u[i] / temperature;
    near = near && fabsl(g - exact) <= 0.5L * part * (1 + 1e-3L);
  }
  CHECK(near);
}

/* P(index = i) = sum over t of P(T = t) P(q_0 + N < t) ... P(q_i + N >= t), T of scale S and N of scale 2 S. */
static void expected(size_t k, const double *q, uint64_t scale, long double *target) {
  const int64_t span = WALK_SPAN * (int64_t)scale;
  for (size_t i = 0; i <= k; i++) target[i] = 0;
  for (int64_t t = -span; t <= span; t++) {
    long double still = walk_rounded_laplace(t, scale);
    for (size_t i = 0; i < k; i++) {
      long double below = 0;
      for (int64_t j = -2 * span; j <= 2 * span; j++)
        if ((double)j + q[i] < (double)t) below += walk_rounded_laplace(j, 2 * scale);
      target[i] += still * (1 - below);
      still *= below;
    }
    target[k] += still;
  }
}

/* The law is that of AboveThreshold, and within eps of a neighbour's, whose queries are moved by the sensitivity. */
static void sparse_vector(void) {
  enum { K = 2 };
  static const double query[][K] = {{0, 0}, {1, 0}, {-1, 1}, {0, -1}, {1, 1}, {-3, 2}, {-2, 1}, {-4, 3}};
  const double sensitivity = 1, eps = 2; /* a scale of one spacing */
  const int queries = ctest_size(8, 3);
  long double target[K + 1], laws[8][K + 1];
  size_t index;
  for (int i = 0; i < queries; i++) {
    for (begin(0); walk_more();)
      if (mech_sparse_vector(NULL, K, query[i], sensitivity, eps, &index) == BASE_OK) found(index);
    expected(K, query[i], 1, target);
    CHECK(is_law(K + 1, target, 0));
    for (int r = 0; r <= K; r++) laws[i][r] = law[r];
  }
  int within = 1;
  for (int i = 0; i < queries; i++)
    for (int j = 0; j < queries; j++) {
      if (fmax(fabs(query[i][0] - query[j][0]), fabs(query[i][1] - query[j][1])) > sensitivity) continue;
      for (int r = 0; r <= K; r++) within = within && laws[i][r] <= expl(eps) * laws[j][r] + 4 * expl(-WALK_SPAN);
    }
  CHECK(within);
}
