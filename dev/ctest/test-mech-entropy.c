/*
 * Noise and its source: nothing that was drawn is kept for a later call, so a
 * forked child shares no noise with its parent, and a source that fails makes
 * a call fail. Of a source that is expanded each part of a long vector has a
 * key of its own.
 */
#include "ctest.h"
#include "laplace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mech/private.h"

enum { CHILDREN = 40, DIM = 3 };
struct noise {
  double value[DIM];
};

static void nothing_kept(void);
static void wiped(void);
static void forks(void);
static void system_failures(void);
static void parts(void);
static void a_part_fails(void);

void test_mech_entropy(void) {
  nothing_kept();
  wiped();
  forks();
  system_failures();
  parts();
  a_part_fails();
}

static int fills;
static size_t filled;

static int fill_counted(void *buffer, size_t bytes) {
  fills++;
  filled = bytes;
  return ctest_entropy.fill(buffer, bytes);
}

/* One number takes a fraction of a buffer: the next call must not take the rest. */
static void nothing_kept(void) {
  static const struct base_entropy counted = {.fill = fill_counted};
  for (int i = 1; i <= 20; i++) {
    double x = 0;
    size_t index;
    fills = 0;
    CHECK(mech_gaussian(&counted, 1, 1, &x) == BASE_OK && fills >= 1);
    fills = 0;
    CHECK(mech_gaussian_each(&counted, 1, &(double){1}, &x) == BASE_OK && fills >= 1);
    fills = 0;
    CHECK(mech_symmetric(&counted, 1, 1, &x) == BASE_OK && fills >= 1);
    fills = 0;
    CHECK(laplace_noise(&counted, 1, &x) == BASE_OK && fills >= 1);
    fills = 0;
    CHECK(mech_sparse_vector(&counted, 1, &x, 1, 1, &index) == BASE_OK && fills >= 1);
    fills = 0;
    CHECK(mech_exponential(&counted, 1, &x, 1, &index) == BASE_OK && fills >= 1);
  }
}

static int all_zero(const void *memory, size_t bytes) {
  const unsigned char *p = memory;
  int zero = 1;
  for (size_t i = 0; i < bytes; i++) zero = zero && p[i] == 0;
  return zero;
}

/* What a buffer held is gone when it is closed, and so is a key. */
static void wiped(void) {
  static const struct base_entropy expanded = {.fill = fill_counted, .expand = 1};
  struct mech_bits b = {0}; /* a stream begins with blocks that nothing fills */
  for (int i = 0; i < 2; i++) {
    fills = 0;
    mech_bits_open(&b, i ? &expanded : &ctest_entropy);
    mech_bits_allow(&b, MECH_PATIENCE);
    for (int k = 0; k < 200; k++) mech_word(&b);
    if (i) CHECK(!all_zero(&b.stream, sizeof b.stream) && fills == 1 && filled == BASE_KEY_BYTES);
    CHECK(!all_zero(b.byte, sizeof b.byte));
    CHECK(mech_bits_close(&b) == BASE_OK);
    CHECK(all_zero(b.byte, sizeof b.byte) && b.used == sizeof b.byte && !b.keyed);
    if (i) CHECK(all_zero(&b.stream, sizeof b.stream));
  }
}

static struct noise draw(void) {
  struct noise x = {{0}};
  if (mech_gaussian(&base_entropy_system, DIM, 1, x.value) != BASE_OK) memset(&x, 0, sizeof x);
  return x;
}

static int same(const struct noise *a, const struct noise *b) { return memcmp(a, b, sizeof *a) == 0; }

/* Parent and children, forked one after the other from the same memory, all draw different noise. */
static void forks(void) {
  static struct noise drawn[CHILDREN + 1];
  static const struct noise none;
  int ends[2], equal = 0;
  draw();
  for (int i = 0; i < CHILDREN; i++) {
    if (pipe(ends) != 0) break;
    pid_t child = fork();
    if (child == 0) {
      struct noise x = draw();
      _exit(write(ends[1], &x, sizeof x) != (ssize_t)sizeof x);
    }
    close(ends[1]);
    CHECK(child > 0 && read(ends[0], &drawn[i], sizeof drawn[i]) == (ssize_t)sizeof drawn[i]);
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
  }
  drawn[CHILDREN] = draw();
  for (int i = 0; i <= CHILDREN; i++) {
    equal += same(&drawn[i], &none);
    for (int j = 0; j < i; j++) equal += same(&drawn[i], &drawn[j]);
  }
  CHECK(equal == 0);
}

/* Never a fallback: no noise, no number. */
static void system_failures(void) {
#ifdef __linux__
  static const enum ctest_system modes[] = {CTEST_SYSTEM_ENDS, CTEST_SYSTEM_EMPTY};
  for (int i = 0; i < 2; i++) {
    struct noise x = {{1, 2, 3}};
    ctest_system_set(modes[i]);
    /* a hundred bytes are three keys */
    for (int k = 0; i == 0 && k < 3; k++) CHECK(mech_gaussian(&base_entropy_system, DIM, 1, x.value) == BASE_OK);
    CHECK(mech_gaussian(&base_entropy_system, DIM, 1, x.value) == BASE_ERR_ENTROPY);
    CHECK(x.value[0] == 0 && x.value[1] == 0 && x.value[2] == 0);
  }
#endif
  ctest_system_set(CTEST_SYSTEM_SOUND);
}

/* ---- long vectors ---- */

enum { LONG = 20000 };

static int differ(size_t apart, const double *x, const double *y) {
  for (size_t i = 0; i + apart < LONG; i++) {
    if (x[i] == y[i + apart]) return 0;
  }
  return 1;
}

/* However many threads: noise on every number, none of it twice. */
static void parts(void) {
  static double x[LONG], y[LONG];
  static const size_t apart[] = {1, 1024, 2048, 4096, 8192};
  for (int threads = 1; threads <= 2; threads++) {
    base_limit_threads(threads);
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    CHECK(mech_gaussian(&base_entropy_system, LONG, 1, x) == BASE_OK);
    CHECK(mech_gaussian(&base_entropy_system, LONG, 1, y) == BASE_OK);
    CHECK(differ(0, x, y));
    for (size_t k = 0; k < sizeof apart / sizeof apart[0]; k++) CHECK(differ(apart[k], x, x));
    double sum = 0;
    for (size_t i = 0; i < LONG; i++) sum += x[i] * x[i];
    CHECK_NEAR(sum / LONG, 1, 0.06); /* six standard deviations */
  }
  base_limit_threads(1);
  /* a source that cannot be expanded gives its bytes in one order, to all numbers */
  struct mech_bits b;
  memset(x, 0, sizeof x);
  memset(y, 0, sizeof y);
  ctest_seed(5);
  CHECK(mech_gaussian(&ctest_entropy, LONG, 1, x) == BASE_OK);
  ctest_seed(5);
  mech_bits_open(&b, &ctest_entropy);
  CHECK(mech_perturb(&b, mech_draw_normal, 1, LONG, y) == BASE_OK);
  mech_bits_close(&b);
  CHECK(memcmp(x, y, sizeof x) == 0);
}

static int keys_left;

static int fill_some(void *buffer, size_t bytes) {
  return keys_left-- > 0 ? ctest_entropy.fill(buffer, bytes) : BASE_ERR_ENTROPY;
}

/* No number of any part is given away. */
static void a_part_fails(void) {
  static const struct base_entropy some = {.fill = fill_some, .expand = 1};
  static double x[LONG];
  for (int keys = 0; keys < 5; keys++) {
    keys_left = keys;
    for (size_t i = 0; i < LONG; i++) x[i] = 3;
    CHECK(mech_gaussian(&some, LONG, 1, x) == BASE_ERR_ENTROPY);
    CHECK(all_zero(x, sizeof x));
  }
  keys_left = 5;
  CHECK(mech_gaussian(&some, LONG, 1, x) == BASE_OK && keys_left == 0);
}
