/*
 * Runs the tests named in entries.h (which make writes from the file names), or
 * only those given as arguments, and ends with "N passed, N failed".
 */
#include "ctest.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHOWN = 12 }; /* of the slowest tests */

struct entry {
  const char *name;
  void (*run)(void);
};

#define ENTRY(name) void test_##name(void);
#include "entries.h"
#undef ENTRY

#define ENTRY(name) {#name, test_##name},
static const struct entry entries[] = {
#include "entries.h"
};
#undef ENTRY

static int passed, failed;
static double seconds[sizeof entries / sizeof *entries]; /* of processor time */

static int run(const struct entry *entry);
static void print_slowest(void);
static int wanted(const struct entry *entry, int argc, char **argv);

int main(int argc, char **argv) {
  int ran = 0;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (wanted(&entries[i], argc, argv)) ran += run(&entries[i]);
  if (ran == 0) ctest_check(0, "at least one test has the name asked for", __FILE__, __LINE__);
  print_slowest();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

void ctest_check(int ok, const char *what, const char *file, int line) {
  if (ok) {
    passed++;
    return;
  }
  failed++;
  printf("%s:%d: failed: %s\n", file, line, what);
}

void ctest_check_near(double x, double y, double tol, const char *x_text, const char *y_text, const char *file,
                      int line) {
  if (x == y || fabs(x - y) <= tol) {
    passed++;
    return;
  }
  failed++;
  printf("%s:%d: failed: %s = %.17g, %s = %.17g, apart by %.3g > %.3g\n", file, line, x_text, x, y_text, y, fabs(x - y),
         tol);
}

int ctest_size(int full, int quick) {
  const char *value = getenv("CTEST_QUICK");
  return value && strcmp(value, "1") == 0 ? quick : full;
}

int ctest_extended(void) {
  volatile long double one = 1;
  return one + (long double)DBL_EPSILON / 4 != one;
}

/* Each test starts from the same stream and the default host, whatever ran before it. A test without a check fails. */
static int run(const struct entry *entry) {
  int before = passed + failed;
  clock_t begin = clock();
  ctest_seed(1);
  ctest_system_set(CTEST_SYSTEM_SOUND);
  base_set_host(NULL);
  printf("%s\n", entry->name);
  fflush(stdout);
  entry->run();
  if (passed + failed == before) ctest_check(0, "the test checks something", entry->name, 0);
  seconds[entry - entries] = (double)(clock() - begin) / CLOCKS_PER_SEC;
  return 1;
}

static void print_slowest(void) {
  printf("slowest:");
  for (int shown = 0; shown < SHOWN; shown++) {
    size_t slowest = 0;
    for (size_t i = 1; i < sizeof entries / sizeof *entries; i++)
      if (seconds[i] > seconds[slowest]) slowest = i;
    if (seconds[slowest] == 0) break;
    printf("%s %s %.1f", shown > 0 ? "," : "", entries[slowest].name, seconds[slowest]);
    seconds[slowest] = 0;
  }
  printf("\n");
}

static int wanted(const struct entry *entry, int argc, char **argv) {
  if (argc < 2) return 1;
  for (int i = 1; i < argc; i++)
    if (strcmp(entry->name, argv[i]) == 0) return 1;
  return 0;
}
