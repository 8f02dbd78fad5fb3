/*
 * ctest: the C tests' header. A file test-<room>-<topic>.c has one entry
 *
 *   void test_<room>_<topic>(void) { CHECK(1 + 1 == 2); }
 *
 * which make finds by the file's name; nothing else is to be edited. Each
 * CHECK counts as one test, and a failed one does not end the others.
 */
#ifndef DPSOSP_CTEST_H
#define DPSOSP_CTEST_H

#include <stdint.h>

#include "base/base.h"

#define CHECK(cond) ctest_check((cond) != 0, #cond, __FILE__, __LINE__)
/* |x - y| <= tol; not a number never passes. */
#define CHECK_NEAR(x, y, tol) ctest_check_near((x), (y), (tol), #x, #y, __FILE__, __LINE__)

void ctest_check(int passed, const char *what, const char *file, int line);
void ctest_check_near(double x, double y, double tol, const char *x_text, const char *y_text, const char *file,
                      int line);

/* full, or quick when the environment has CTEST_QUICK=1 (under valgrind): for sample sizes. */
int ctest_size(int full, int quick);

/* Is long double really wider than double? Not under valgrind, which computes it in 64 bits: a reference sum in it is
 * then no better than one in double. */
int ctest_extended(void);

/* A deterministic source of bytes (SplitMix64), the same on all machines.
 * ctest_seed() restarts it; every test begins with seed 1. */
extern const struct base_entropy ctest_entropy;
void ctest_seed(uint64_t seed);
/* A source that always fails. */
extern const struct base_entropy ctest_entropy_broken;
/* What the operating system's generator does from now on; every test begins with CTEST_SYSTEM_SOUND. In the other
 * modes its bytes are 0, 1, 2, ... modulo 256. */
enum ctest_system {
  CTEST_SYSTEM_SOUND,       /* as it is */
  CTEST_SYSTEM_SHORT,       /* at most 7 bytes a call */
  CTEST_SYSTEM_INTERRUPTED, /* every other call is interrupted by a signal */
  CTEST_SYSTEM_ENDS,        /* an error after 100 bytes */
  CTEST_SYSTEM_EMPTY,       /* no bytes, and no error */
  CTEST_SYSTEM_BLOCKS       /* an error unless the caller waits until the generator is seeded */
};
void ctest_system_set(enum ctest_system mode);
/* A number in (0, 1) and a standard normal one from the same stream, for test data. */
double ctest_uniform(void);
double ctest_normal(void);

/* The which-th allocation of the core from now on fails, counted from one; zero: none. */
void ctest_fail_allocation(int which);
/* Allocations of the core that are not freed yet. */
long ctest_live_allocations(void);
/* Allocations freed since the last call that were not all zero then. */
long ctest_unwiped(void);

#endif
