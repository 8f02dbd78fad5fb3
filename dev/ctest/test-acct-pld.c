/* The bracket of the privacy loss distribution around answers known in closed form, by sums or by quadrature. */
#include "reference.h"

#include <float.h>

static void gaussians(void);
static void randomised_response(void);
static void laplace(void);
static void sampled_once(void);
static void sampled_twice(void);
static void mixtures(void);
static void extremes(void);
static void memory(void);

void test_acct_pld(void) {
  gaussians();
  randomised_response();
  laplace();
  sampled_once();
  sampled_twice();
  mixtures();
  extremes();
  memory();
}

static double power_of_ten(double low, double high) { return pow(10, low + (high - low) * ctest_uniform()); }

/* Exact delta of eps, and how wide the bracket of eps may be, relative. */
static void check_log_delta(const struct acct_round *round, size_t rounds, double eps, double log_exact, double width) {
  double low = NAN, high = NAN, error = 1e-13 * (1 + fabs(log_exact)) + reference_tolerance(0);
  CHECK(acct_pld_log_delta(round, rounds, eps, ACCT_OPTIMISTIC, &low) == BASE_OK);
  CHECK(acct_pld_log_delta(round, rounds, eps, ACCT_PESSIMISTIC, &high) == BASE_OK);
  CHECK(low <= log_exact + error && log_exact <= high + error);
  CHECK(high - low <= width);
}

static void check_epsilon(const struct acct_round *round, size_t rounds, double log_delta, double exact, double width) {
  double low = NAN, high = NAN, error = 1e-12 + reference_tolerance(0);
  CHECK(acct_pld_epsilon(round, rounds, exp(log_delta), ACCT_OPTIMISTIC, &low) == BASE_OK);
  CHECK(acct_pld_epsilon(round, rounds, exp(log_delta), ACCT_PESSIMISTIC, &high) == BASE_OK);
  CHECK(low <= exact * (1 + error) && exact <= high * (1 + error));
  CHECK(high - low <= width * exact);
}

/* ---- compositions of Gaussians ---- */

static long double gaussian_log_delta(long double mu, long double eps) {
  return logl(reference_base(ACCT_GAUSSIAN, mu, eps));
}

static void gaussians(void) {
  for (int i = 0; i < ctest_size(6, 2); i++) {
    double times = floor(power_of_ten(0, 6)), mu = power_of_ten(-1.3, 0.8) / sqrt(times);
    struct acct_leaf leaf[] = {{ACCT_GAUSSIAN, mu, 0, 0, 1}, {ACCT_GAUSSIAN, 0.7 * mu, 0, 0, 2}};
    struct acct_round round[] = {{leaf, 1, ACCT_PLAIN, 1, times}, {leaf + 1, 1, ACCT_PLAIN, 1, times}};
    double whole = mu * sqrt(times * (i % 2 ? 1 + 2 * 0.49 : 1)), eps = whole * (0.5 * whole + 6 * ctest_uniform());
    double log_exact = (double)gaussian_log_delta(whole, eps);
    check_log_delta(round, i % 2 ? 2 : 1, eps, log_exact, 0.05);
    check_epsilon(round, i % 2 ? 2 : 1, log_exact, eps, 0.01);
  }
  for (int i = 0; i < ctest_size(3, 1); i++) { /* the exact inverse of the other accountant */
    double delta = power_of_ten(-12, -2), mu = power_of_ten(-1, 0.5);
    struct acct_leaf leaf = {ACCT_GAUSSIAN, mu, 0, 0, 9};
    struct acct_round round = {&leaf, 1, ACCT_PLAIN, 1, 1};
    check_epsilon(&round, 1, log(delta), acct_gdp_epsilon(3 * mu, delta), 0.01);
  }
}

/* ---- randomised response, T times: the binomial law ---- */

static long double response_delta(long double a, int times, long double eps) {
  long double sum = 0;
  for (int k = 0; k <= times; k++) {
    long double over = a * (2 * k - times) - eps;
    long double log_choose = lgammal(times + 1) - lgammal(k + 1) - lgammal(times - k + 1);
    if (over > 0) sum += expl(log_choose - k * log1pl(expl(-a)) - (times - k) * log1pl(expl(a))) * -expm1l(-over);
  }
  return sum;
}

static void randomised_response(void) {
  static const int many[] = {1, 2, 7, 30, 200, 1000};
  for (int i = 0; i < ctest_size(8, 2); i++) {
    int times = many[i % 6];
    double a = power_of_ten(-1, 0) / sqrt(times);
    struct acct_leaf leaf = {ACCT_PURE, a, 0, 0, 1};
    struct acct_round round = {&leaf, 1, ACCT_PLAIN, 1, times};
    double eps = fmin(a * sqrt(times) * (0.1 + 3 * ctest_uniform()), 0.9 * a * times);
    double exact = (double)response_delta(a, times, eps);
    /* Many rounds of a lattice much coarser than the grid: merged outcomes move by its width. */
    check_log_delta(&round, 1, eps, log(exact), 0.2);
    check_epsilon(&round, 1, log(exact), eps, 0.05);
  }
}

/* ---- Laplace, T times ---- */

/*
 * i of the T outcomes are beyond one end (loss a), j beyond the other one (-a),
 * the rest x_1 ... x_n lie between, with the joint density e^-S / 2^n of S
 * = x_1 + ... + x_n times the Irwin-Hall density of S, and the loss n a - 2 S.
 */
struct middle {
  int n;
  long double a, over; /* eps less the loss of the ends and n a */
};
static long double middle_density(long double s, const void *with) {
  const struct middle *m = with;
  long double sum = 0, sign = 1, choose = 1, factorial = 1;
  for (int k = 1; k < m->n; k++) factorial *= k;
  for (int k = 0; k * m->a < s && k <= m->n; k++) {
    sum += sign * choose * powl(s - k * m->a, m->n - 1);
    choose = choose * (m->n - k) / (k + 1), sign = -sign;
  }
  return expl(-s) * powl(0.5L, m->n) * sum / factorial * -expm1l(m->over + 2 * s);
}

static long double laplace_delta(long double a, int times, long double eps) {
  long double sum = 0;
  for (int i = 0; i <= times; i++) {
    for (int j = 0; i + j <= times; j++) {
      struct middle m = {times - i - j, a, 0};
      m.over = eps - a * (i - j) - m.n * a;
      long double ways = expl(lgammal(times + 1) - lgammal(i + 1) - lgammal(j + 1) - lgammal(m.n + 1));
      long double ends = ways * powl(0.5L, i + j) * expl(-a * j), last = fminl(-m.over / 2, m.n * a);
      if (last <= 0 && m.n > 0) continue;
      if (m.n == 0) {
        sum += m.over < 0 ? ends * -expm1l(m.over) : 0;
        continue;
      }
      for (int k = 0; k < m.n && k * a < last; k++) { /* a polynomial on each piece */
        sum += ends * reference_integral(middle_density, &m, k * a, fminl((k + 1) * a, last), 2);
      }
    }
  }
  return sum;
}

static void laplace(void) {
  CHECK_NEAR((double)laplace_delta(0.7L, 1, 0.2L), (double)reference_base(ACCT_LAPLACE, 0.7L, 0.2L), 1e-15);
  for (int i = 0; i < ctest_size(8, 2); i++) {
    int times = 1 + i % 6;
    double a = power_of_ten(-1.3, 0.3), eps = a * times * (0.05 + 0.85 * ctest_uniform());
    struct acct_leaf leaf = {ACCT_LAPLACE, a, 0, 0, 1};
    struct acct_round round = {&leaf, 1, ACCT_PLAIN, 1, times};
    double exact = (double)laplace_delta(a, times, eps);
    check_log_delta(&round, 1, eps, log(exact), 0.2);
    check_epsilon(&round, 1, log(exact), eps, 0.02);
  }
}

/* ---- sampled releases ---- */

static long double worse_direction(enum acct_kind kind, long double a, long double s, long double v) {
  return fmaxl(reference_mixture(kind, a, s, v), reference_reverse(kind, a, s, v));
}

static void sampled_once(void) {
  static const enum acct_kind kinds[] = {ACCT_GAUSSIAN, ACCT_LAPLACE, ACCT_PURE};
  for (int i = 0; i < ctest_size(18, 3); i++) {
    enum acct_kind kind = kinds[i % 3];
    double q = i % 4 ? power_of_ten(-4, -0.1) : 0.9, a = power_of_ten(-1, 0.5);
    struct acct_leaf leaf = {kind, a, 0, 0, 1};
    struct acct_round round = {&leaf, 1, i / 3 % 2 ? ACCT_PROFILE : ACCT_MIXTURE, q, 1};
    double v = a * (kind == ACCT_GAUSSIAN ? 3 + a : 0.9) * (0.1 + 0.9 * ctest_uniform()), eps = log1p(q * expm1(v));
    int profile = round.amplification == ACCT_PROFILE;
    double exact = (double)(profile ? reference_replace(kind, a, q, eps) : worse_direction(kind, a, q, eps));
    check_log_delta(&round, 1, eps, log(exact), profile ? INFINITY : 0.2);
    check_epsilon(&round, 1, log(exact), eps, profile ? INFINITY : 0.03);
  }
}

/* One direction of a sampled Gaussian followed by another one: the first loss l is known, and eps becomes eps - l. */
struct sampled {
  long double mu, rate, eps;
  int reverse;
};
static long double second(long double x, const void *with) {
  const struct sampled *s = with;
  long double l = log1pl(s->rate * expm1l(s->mu * (x - s->mu / 2))), q = reference_normal_density(x);
  if (s->reverse) return q * reference_reverse(ACCT_GAUSSIAN, s->mu, s->rate, s->eps + l);
  return q * expl(l) * reference_mixture(ACCT_GAUSSIAN, s->mu, s->rate, s->eps - l);
}

/* The integrand turns sharply, on its left, where the second loss is all that "not sampled" gives. */
static long double twice(const struct sampled *s) {
  long double low = -12, high = 12 + s->mu, sum = 0, turn = (s->reverse ? -s->eps : s->eps) - log1pl(-s->rate);
  long double ratio = 1 + expm1l(turn) / s->rate, at = ratio > 0 ? logl(ratio) / s->mu + s->mu / 2 : low;
  for (int k = 0; k < 60; k++) {
    sum += reference_integral(second, s, at - (at - low) * powl(0.5L, k), at - (at - low) * powl(0.5L, k + 1),
                              24 / (k + 1) + 2);
  }
  return sum + reference_integral(second, s, at, fmaxl(at, high), 100);
}

static void sampled_twice(void) {
  for (int i = 0; i < ctest_size(6, 1); i++) {
    double q = i % 3 ? power_of_ten(-1.7, -0.1) : 0.8, mu = power_of_ten(-1, 0.4);
    struct acct_leaf leaf = {ACCT_GAUSSIAN, mu, 0, 0, 1};
    struct acct_round round = {&leaf, 1, ACCT_MIXTURE, q, 2};
    struct sampled forward = {mu, q, log1p(q * expm1(mu * (3 + mu) * (0.1 + 0.9 * ctest_uniform()))), 0}, backward;
    backward = forward;
    backward.reverse = 1;
    long double up = twice(&forward), down = twice(&backward);
    double log_exact = (double)logl(fmaxl(up, down));
    check_log_delta(&round, 1, (double)forward.eps, log_exact, 0.05);
    check_epsilon(&round, 1, log_exact, (double)forward.eps, 0.01);
  }
}

/* Against each other: more is worse, and a plan is no better than a part of it. */
static void mixtures(void) {
  for (int i = 0; i < ctest_size(4, 2); i++) {
    double q = power_of_ten(-3, -1), times = floor(power_of_ten(1, 3)), mu = power_of_ten(-0.5, 0.3), delta = 1e-6;
    struct acct_leaf leaf[] = {
        {ACCT_GAUSSIAN, mu, 0, 0, 1}, {ACCT_LAPLACE, 0.1, 0, 0, 1}, {ACCT_SVT_LAPLACE, 0.2, 10, 0, 1}};
    struct acct_round round[] = {{leaf, 1, i % 2 ? ACCT_MIXTURE : ACCT_PROFILE, q, times},
                                 {leaf + 1, 1, ACCT_PLAIN, 1, 4},
                                 {leaf + 2, 1, ACCT_PLAIN, 1, 2}};
    double before[2] = {0, 0};
    for (size_t n = 1; n <= 3; n++) {
      double low, high;
      CHECK(acct_pld_epsilon(round, n, delta, ACCT_OPTIMISTIC, &low) == BASE_OK);
      CHECK(acct_pld_epsilon(round, n, delta, ACCT_PESSIMISTIC, &high) == BASE_OK);
      CHECK(low <= high && low > 0 && isfinite(high));
      CHECK(low >= before[0] * 0.98 && high >= before[0]);
      CHECK(high >= before[1] * 0.999);
      before[0] = low, before[1] = high;
    }
    /* Replace-one is no cheaper than zero-out of the same rate and noise. */
    struct acct_round other = round[0];
    double mixture, profile;
    other.amplification = ACCT_MIXTURE;
    CHECK(acct_pld_epsilon(&other, 1, delta, ACCT_OPTIMISTIC, &mixture) == BASE_OK);
    other.amplification = ACCT_PROFILE;
    CHECK(acct_pld_epsilon(&other, 1, delta, ACCT_PESSIMISTIC, &profile) == BASE_OK);
    CHECK(profile >= mixture);
  }
}

/* Bounds that cannot be met are infinite or void, never a number that is none. */
static void extremes(void) {
  static const double deltas[] = {1e-300, 1e-12, 0.4}, rates[] = {1e-8, 0.5};
  static const double counts[] = {1, 1e7}, sizes[] = {1e-4, 1, 12};
  for (int i = 0; i < 72; i += ctest_size(17, 37)) {
    double delta = deltas[i % 3], rate = rates[i / 3 % 2], times = counts[i / 6 % 2], a = sizes[i / 12 % 3];
    struct acct_leaf leaf = {i / 36 ? ACCT_LAPLACE : ACCT_GAUSSIAN, a, 0, 0, 1};
    struct acct_round round = {&leaf, 1,
                               i % 5 == 4  ? ACCT_PLAIN
                               : i % 5 % 2 ? ACCT_MIXTURE
                                           : ACCT_PROFILE,
                               rate, times};
    if (round.amplification == ACCT_PLAIN) round.rate = 1;
    double low = NAN, high = NAN, log_low = NAN, log_high = NAN;
    CHECK(acct_pld_epsilon(&round, 1, delta, ACCT_OPTIMISTIC, &low) == BASE_OK);
    CHECK(acct_pld_epsilon(&round, 1, delta, ACCT_PESSIMISTIC, &high) == BASE_OK);
    CHECK(low >= 0 && low <= high);
    double eps = isfinite(high) && high > 0 ? high : 1;
    CHECK(acct_pld_log_delta(&round, 1, eps, ACCT_OPTIMISTIC, &log_low) == BASE_OK);
    CHECK(acct_pld_log_delta(&round, 1, eps, ACCT_PESSIMISTIC, &log_high) == BASE_OK);
    CHECK(log_low <= log_high && log_high <= 0);
  }
}

static void memory(void) {
  struct acct_leaf leaf[] = {{ACCT_LAPLACE, 0.5, 0, 0, 2}, {ACCT_GAUSSIAN, 0.5, 0, 0, 1}};
  struct acct_round round[] = {{leaf, 1, ACCT_PLAIN, 1, 3}, {leaf + 1, 1, ACCT_MIXTURE, 0.1, 5}};
  long live = ctest_live_allocations();
  int which = 1, status = BASE_ERR_MEMORY, tried = 0;
  for (; status == BASE_ERR_MEMORY && tried < 60; which += 1 + which / 6, tried++) {
    double log_delta;
    ctest_fail_allocation(which);
    status = acct_pld_log_delta(round, 2, 1, ACCT_PESSIMISTIC, &log_delta);
    ctest_fail_allocation(0);
    CHECK(status == BASE_OK || status == BASE_ERR_MEMORY);
    CHECK(ctest_live_allocations() == live);
  }
  CHECK(status == BASE_OK && tried > 10);
}
