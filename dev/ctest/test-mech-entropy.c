/*
 * Noise and its source: nothing that was drawn is kept for a later call, so a
 * forked child shares no noise with its parent, and a source that fails makes
 * a call fail.
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

void test_mech_entropy(void) {
  nothing_kept();
  wiped();
  forks();
  system_failures();
}

static int fills;

static int fill_counted(void *buffer, size_t bytes) {
  fills++;
  return ctest_entropy.fill(buffer, bytes);
}

/* One number takes a fraction of a buffer: the next call must not take the rest. */
static void nothing_kept(void) {
  static const struct base_entropy counted = {fill_counted};
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

/* What a buffer held is gone when it is closed. */
static void wiped(void) {
  struct mech_bits b;
  int zero = 1;
  mech_bits_open(&b, &ctest_entropy);
  mech_word(&b);
  CHECK(mech_bits_close(&b) == BASE_OK);
  for (size_t i = 0; i < sizeof b.byte; i++) zero = zero && b.byte[i] == 0;
  CHECK(zero && b.used == sizeof b.byte);
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
    CHECK(mech_gaussian(&base_entropy_system, DIM, 1, x.value) == BASE_ERR_ENTROPY);
    CHECK(x.value[0] == 0 && x.value[1] == 0 && x.value[2] == 0);
  }
#endif
  ctest_system_set(CTEST_SYSTEM_SOUND);
}
