/* What the linker puts before base_alloc() and base_free() (--wrap): counts, failures on demand, and a look at what is
 * freed: the size stands before the allocation. */
#include "ctest.h"

void *__real_base_alloc(size_t count, size_t size);
void __real_base_free(void *p);
void *__wrap_base_alloc(size_t count, size_t size);
void __wrap_base_free(void *p);

enum { HEAD = 16 }; /* keeps the alignment */

static int to_failure;
static long live, unwiped;

void ctest_fail_allocation(int which) { to_failure = which; }

long ctest_live_allocations(void) { return live; }

long ctest_unwiped(void) {
  long now = unwiped;
  unwiped = 0;
  return now;
}

void *__wrap_base_alloc(size_t count, size_t size) {
  if (to_failure > 0 && --to_failure == 0) return NULL;
  if (size != 0 && count > (SIZE_MAX - HEAD) / size) return __real_base_alloc(count, size);
  char *p = __real_base_alloc(HEAD + count * size, 1);
  if (!p) return NULL;
  *(size_t *)(void *)p = count * size;
  live++;
  return p + HEAD;
}

void __wrap_base_free(void *p) {
  if (!p) return;
  live--;
  char *head = (char *)p - HEAD;
  size_t bytes = *(size_t *)(void *)head, i = 0;
  while (i < bytes && head[HEAD + i] == 0) i++;
  unwiped += i < bytes;
  __real_base_free(head);
}
