/* What the linker puts before base_alloc() and base_free() (--wrap): a count, and failures on demand. */
#include "ctest.h"

void *__real_base_alloc(size_t count, size_t size);
void __real_base_free(void *p);
void *__wrap_base_alloc(size_t count, size_t size);
void __wrap_base_free(void *p);

static int to_failure;
static long live;

void ctest_fail_allocation(int which) { to_failure = which; }

long ctest_live_allocations(void) { return live; }

void *__wrap_base_alloc(size_t count, size_t size) {
  if (to_failure > 0 && --to_failure == 0) return NULL;
  void *p = __real_base_alloc(count, size);
  live += p != NULL;
  return p;
}

void __wrap_base_free(void *p) {
  live -= p != NULL;
  __real_base_free(p);
}
