/* Status texts, allocation, host, entropy and distributions of the room base, and the test header's own source. */
#include "ctest.h"

#include <math.h>
#include <string.h>

static void messages(void);
static void allocation(void);
static void host(void);
static void entropy(void);
static void seeded_entropy(void);
static void distributions(void);

void test_base_base(void) {
  messages();
  allocation();
  host();
  entropy();
  seeded_entropy();
  distributions();
}

static void messages(void) {
  for (int s = 0; s < BASE_STATUS_COUNT; s++) {
    CHECK(base_message(s) != NULL && strlen(base_message(s)) > 0);
    CHECK(base_name(s) != NULL && strlen(base_name(s)) > 0);
    for (int r = 0; r < s; r++) {
      CHECK(strcmp(base_message(r), base_message(s)) != 0);
      CHECK(strcmp(base_name(r), base_name(s)) != 0);
    }
  }
  CHECK(strcmp(base_message(-1), base_message(BASE_STATUS_COUNT)) == 0);
}

static void allocation(void) {
  unsigned char *p = base_alloc(7, 3);
  int zero = p != NULL;
  for (int i = 0; zero && i < 21; i++) zero = p[i] == 0;
  CHECK(zero);
  base_free(p);
  p = base_alloc(0, 8);
  CHECK(p != NULL);
  base_free(p);
  /* volatile: the compiler must not see that the product overflows */
  volatile size_t quarter = SIZE_MAX / 4;
  CHECK(base_alloc(quarter, 8) == NULL);
  base_free(NULL);
}

static int reported;
static int always(void) { return 1; }
static void report(int done, int total) { reported = 100 * done + total; }

static void host(void) {
  struct base_host h = {always, report};
  CHECK(!base_stop_requested());
  base_progress(1, 2);
  CHECK(reported == 0);
  base_set_host(&h);
  CHECK(base_stop_requested());
  base_progress(3, 4);
  CHECK(reported == 304);
  base_set_host(NULL);
  CHECK(!base_stop_requested());
}

/* 4096 random bits twice: equal blocks or a share of ones beyond 8 standard deviations mean a broken source. */
static void entropy(void) {
  unsigned char a[512] = {0}, b[512] = {0};
  CHECK(base_entropy_system.fill(a, sizeof a) == BASE_OK);
  CHECK(base_entropy_system.fill(b, sizeof b) == BASE_OK);
  CHECK(memcmp(a, b, sizeof a) != 0);
  int ones = 0;
  for (size_t i = 0; i < sizeof a; i++)
    for (int k = 0; k < 8; k++) ones += (a[i] >> k) & 1;
  CHECK_NEAR(ones, 2048, 8 * 32);
}

/* First words of SplitMix64 from seed 1234567, the published known answer of its reference code. */
static void seeded_entropy(void) {
  static const uint64_t known[3] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                    UINT64_C(9817491932198370423)};
  unsigned char bytes[24];
  ctest_seed(1234567);
  CHECK(ctest_entropy.fill(bytes, sizeof bytes) == BASE_OK);
  for (int i = 0; i < 3; i++) {
    uint64_t word = 0;
    for (int k = 7; k >= 0; k--) word = word << 8 | bytes[8 * i + k];
    CHECK(word == known[i]);
  }
  CHECK(ctest_entropy_broken.fill(bytes, sizeof bytes) == BASE_ERR_ENTROPY);

  int n = ctest_size(100000, 1000);
  double sum = 0, square = 0;
  for (int i = 0; i < n; i++) {
    double z = ctest_normal();
    sum += z;
    square += z * z;
  }
  CHECK_NEAR(sum / n, 0, 5 / sqrt(n));
  CHECK_NEAR(square / n, 1, 5 * sqrt(2.0 / n));
}

/* Known values: tables of the normal law; exp(-1) is the upper tail of a chi-square of 2 degrees at 2. */
static void distributions(void) {
  CHECK_NEAR(base_pnorm(1.959963984540054), 0.975, 1e-15);
  CHECK_NEAR(base_pnorm_log(0), -0.6931471805599453, 1e-15);
  CHECK_NEAR(base_pnorm_log(-40), -804.6084420137538, 1e-9);
  CHECK_NEAR(base_qnorm(0.975), 1.959963984540054, 1e-14);
  CHECK_NEAR(base_pnchisq(2, 2, 0), 1 - exp(-1), 1e-12);
  /* non-central, 1 degree: P(|Z + 1| <= 1) = Phi(0) - Phi(-2) */
  CHECK_NEAR(base_pnchisq(1, 1, 1), 0.5 - base_pnorm(-2), 1e-10);
}
