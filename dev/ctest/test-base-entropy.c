/*
 * The operating system's generator: all bytes are its own, whatever pieces it
 * gives them in; a failure is an error; and it is nobody's small seed.
 */
#include "ctest.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 700, FILLS = 400, EACH = 16 };

static void pieces(enum ctest_system mode);
static void failures(enum ctest_system mode);
static void many(void);

void test_base_entropy(void) {
#ifdef __linux__ /* elsewhere other functions are called, which cannot fail or are not wrapped */
  pieces(CTEST_SYSTEM_SHORT);
  pieces(CTEST_SYSTEM_INTERRUPTED);
  pieces(CTEST_SYSTEM_BLOCKS);
  failures(CTEST_SYSTEM_ENDS);
  failures(CTEST_SYSTEM_EMPTY);
#endif
  ctest_system_set(CTEST_SYSTEM_SOUND);
  many();
}

/* The bytes come in order and fill the buffer, and nothing beside it. */
static void pieces(enum ctest_system mode) {
  unsigned char buffer[BYTES + 2];
  int same = 1;
  memset(buffer, 0xee, sizeof buffer);
  ctest_system_set(mode);
  CHECK(base_entropy_system.fill(buffer + 1, BYTES) == BASE_OK);
  for (int i = 0; i < BYTES; i++) same = same && buffer[i + 1] == (i & 255);
  CHECK(same);
  CHECK(buffer[0] == 0xee && buffer[BYTES + 1] == 0xee);
}

static void failures(enum ctest_system mode) {
  unsigned char buffer[BYTES];
  ctest_system_set(mode);
  CHECK(base_entropy_system.fill(buffer, BYTES) == BASE_ERR_ENTROPY);
}

static int compare(const void *a, const void *b) { return memcmp(a, b, EACH); }

/* Of 400 blocks of 128 bits no two are equal: with a seed of 16 bits or fewer, drawn anew for each of them, the
 * probability of that would be below 0.3, and with one of 8 bits it is zero. */
static void many(void) {
  static unsigned char blocks[FILLS][EACH];
  int equal = 0;
  for (int i = 0; i < FILLS; i++) CHECK(base_entropy_system.fill(blocks[i], EACH) == BASE_OK);
  qsort(blocks, FILLS, EACH, compare);
  for (int i = 1; i < FILLS; i++) equal += compare(blocks[i - 1], blocks[i]) == 0;
  CHECK(equal == 0);
}
