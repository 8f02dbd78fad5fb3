/* Laws on a grid: their profiles lie on either side of the true one at every eps, and come closer with the square of
 * the width. */
#include "reference.h"

#include <float.h>

static void brackets(void);
static void masses(void);
static void second_order(void);
static void shares(void);
static void memory(void);

void test_acct_pmf(void) {
  brackets();
  masses();
  second_order();
  shares();
  memory();
}

static double power_of_ten(double low, double high) { return pow(10, low + (high - low) * ctest_uniform()); }

/* A sampled release of parameter a in a grid of width h. */
struct sampled {
  struct acct_leaf leaf;
  struct acct_round round;
  int reverse;
  double h;
};

/* coarse: the sums over points take their time. */
static void discretise(struct sampled *x, enum acct_bound bound, int coarse, struct acct_pmf *pmf) {
  struct acct_pair base;
  struct acct_bins bins;
  double low, high;
  x->round.leaf = &x->leaf;
  CHECK(acct_pair_create(&x->leaf, 1, bound, &base) == BASE_OK);
  acct_bins_span(&x->round, &base, -25, 1e-14, &low, &high);
  if (coarse) x->h = fmax(x->h, (low + high) / 3000);
  CHECK(acct_bins_create(&x->round, &base, x->h, low, high, &bins) == BASE_OK);
  if (x->reverse) acct_bins_reverse(&bins);
  CHECK(acct_pmf_create(&bins, x->h, bound, pmf) == BASE_OK);
  acct_bins_free(&bins);
  acct_pair_free(&base);
}

static long double truth(const struct sampled *x, double eps) {
  enum acct_kind kind = x->leaf.kind;
  if (x->round.amplification == ACCT_PLAIN) return reference_base(kind, x->leaf.a, eps);
  if (x->round.amplification == ACCT_PROFILE) return reference_replace(kind, x->leaf.a, x->round.rate, eps);
  return (x->reverse ? reference_reverse : reference_mixture)(kind, x->leaf.a, x->round.rate, eps);
}

static long double loss(const struct acct_pmf *pmf, double h, size_t i) {
  return (long double)h * ((long double)pmf->first + (long double)i);
}

static long double hockey_stick(const struct acct_pmf *pmf, double h, long double eps) {
  long double sum = pmf->infinite;
  for (size_t i = 0; i < pmf->n; i++) {
    long double over = loss(pmf, h, i) - eps;
    if (over > 0) sum += expl(pmf->log_mass[i]) * -expm1l(-over);
  }
  return sum;
}

static struct sampled draw(int i) {
  static const enum acct_kind kinds[] = {ACCT_GAUSSIAN, ACCT_LAPLACE, ACCT_EXPONENTIAL, ACCT_PURE};
  struct sampled x = {{kinds[i % 4], power_of_ten(-1.5, 0.4), 0, 0, 1}, {NULL, 1, ACCT_PLAIN, 1, 1}, 0, 0};
  int way = i / 4 % 4; /* plain, mixture, its reverse, profile */
  if (way > 0) x.round.rate = i % 5 ? power_of_ten(-4, 0) : 0.5;
  x.round.amplification = way == 0 ? ACCT_PLAIN : way == 3 ? ACCT_PROFILE : ACCT_MIXTURE;
  x.reverse = way == 2;
  x.h = log1p(x.round.rate * expm1(x.leaf.a)) / power_of_ten(0.3, 2);
  return x;
}

/* With slack a, P <= e^a P^ and Q >= e^-a Q^, hence delta(eps) <= e^a delta^(eps - 2 a). */
static void brackets(void) {
  double error = ctest_extended() ? 1e-13 : 1e-11;
  for (int i = 0; i < ctest_size(160, 8); i++) {
    struct sampled x = draw(i);
    struct acct_pmf above, below;
    discretise(&x, ACCT_PESSIMISTIC, 1, &above);
    discretise(&x, ACCT_OPTIMISTIC, 1, &below);
    double out = 0, range = x.h * (double)(above.first + (long)above.n);
    for (int j = 0; j < 16; j++) {
      double eps = j % 4 ? range * ctest_uniform() * ctest_uniform() : -0.5 * range * ctest_uniform();
      if (j % 3 == 0) eps = x.h * floor(eps / x.h); /* on the grid */
      long double exact = truth(&x, eps), size = expl(above.slack) + error;
      long double up = size * hockey_stick(&above, x.h, eps - 2 * above.slack);
      long double down = hockey_stick(&below, x.h, eps + 2 * below.slack) / (expl(below.slack) + error);
      out = reference_worst(out, (double)((exact - up) / (exact + 1e-300L)));
      out = reference_worst(out, (double)((down - exact) / (down + 1e-300L)));
      CHECK(up >= exact && down <= exact);
      /* Neither is void: the slope in eps is at most one. A bounded range is attained in part only. */
      CHECK(up <= exact + x.h && (down >= exact - 2 * x.h || x.leaf.kind == ACCT_EXPONENTIAL));
    }
    acct_pmf_free(&above);
    acct_pmf_free(&below);
  }
}

/* P's masses are kept, Q's are no more than one. */
static void masses(void) {
  for (int i = 0; i < ctest_size(64, 8); i++) {
    struct sampled x = draw(i);
    for (int bound = 0; bound < 2; bound++) {
      struct acct_pmf pmf;
      long double p = 0, q = 0;
      discretise(&x, bound ? ACCT_OPTIMISTIC : ACCT_PESSIMISTIC, 1, &pmf);
      for (size_t j = 0; j < pmf.n; j++) {
        long double mass = expl(pmf.log_mass[j]);
        p += mass, q += mass * expl(-loss(&pmf, x.h, j));
      }
      CHECK_NEAR((double)p + pmf.infinite, 1, 1e-12);
      if (!bound) CHECK(q <= 1 + 1e-12L);
      CHECK(pmf.infinite <= 2e-11);
      CHECK(pmf.slack > 0 && pmf.slack < 1e-10);
      acct_pmf_free(&pmf);
    }
  }
}

/* Half the width, a quarter of the error, in the mean over eps, where there are no atoms. */
static void second_order(void) {
  for (int i = 0; i < 32; i++) {
    struct sampled x = draw(i);
    int attained = x.leaf.kind == ACCT_GAUSSIAN;
    if (!attained && x.leaf.kind != ACCT_EXPONENTIAL) continue;
    for (int bound = 0; bound <= attained; bound++) {
      double error[2], range = log1p(x.round.rate * expm1(attained ? 2 * x.leaf.a : x.leaf.a));
      if (x.reverse) range = fmin(range, -0.9 * log1p(-fmin(x.round.rate, 0.9999)));
      for (int halved = 0; halved < 2; halved++) {
        struct acct_pmf pmf;
        x.h = range / (halved ? 129.7 : 64.85);
        discretise(&x, bound ? ACCT_OPTIMISTIC : ACCT_PESSIMISTIC, 0, &pmf);
        error[halved] = 0;
        for (int j = 0; j < 151; j++) {
          double eps = range * (j + 0.5) / 151;
          error[halved] += (double)fabsl(hockey_stick(&pmf, x.h, eps) - truth(&x, eps));
        }
        acct_pmf_free(&pmf);
      }
      CHECK_NEAR(error[0] / error[1], 4, 0.4);
    }
  }
}

/* Of two masses in a bin, the split keeps both laws: p = low + high, q = e^-l low + e^-(l + w) high. */
static void shares(void) {
  for (int i = 0; i < 200; i++) {
    double l = 4 * ctest_uniform() - 2, w = power_of_ten(-6, 0), p = ctest_uniform(), at = l + w * ctest_uniform();
    double high = acct_share_above((struct acct_masses){p, p * exp(-at)}, l, w);
    long double exact = (long double)p * -expm1l((long double)l - at) / -expm1l(-(long double)w);
    CHECK(high <= p && high >= (double)exact - 4 * DBL_EPSILON * p);
    CHECK_NEAR(high, (double)exact, 64 * DBL_EPSILON * p / w);
  }
  CHECK(acct_share_above((struct acct_masses){0.25, 0}, 700, 1) == 0.25); /* exp would overflow: the upper end */
  CHECK(acct_share_above((struct acct_masses){0.25, 0}, 0, 1) == 0.25);
}

static void memory(void) {
  struct sampled x = draw(0);
  struct acct_pair base;
  struct acct_bins bins;
  struct acct_pmf pmf;
  x.round.leaf = &x.leaf;
  CHECK(acct_pair_create(&x.leaf, 1, ACCT_PESSIMISTIC, &base) == BASE_OK);
  ctest_fail_allocation(1);
  CHECK(acct_bins_create(&x.round, &base, 0.1, 1, 1, &bins) == BASE_ERR_MEMORY);
  ctest_fail_allocation(0);
  CHECK(acct_bins_create(&x.round, &base, 0.1, 1, 1, &bins) == BASE_OK);
  ctest_fail_allocation(1);
  CHECK(acct_pmf_create(&bins, 0.1, ACCT_PESSIMISTIC, &pmf) == BASE_ERR_MEMORY);
  ctest_fail_allocation(0);
  acct_bins_free(&bins);
}
