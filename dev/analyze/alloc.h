/* Included before every source that is analysed: tells gcc what base_alloc() returns and who takes it back, as it
 * knows of malloc() and free(). */
#include <stddef.h>

void base_free(void *p);
__attribute__((malloc, malloc(base_free, 1), alloc_size(1, 2))) void *base_alloc(size_t count, size_t size);
