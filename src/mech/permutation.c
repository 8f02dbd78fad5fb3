/* Random orders. Only integers are used, so that all orders have exactly the same probability. */
#include "mech/private.h"

#include <string.h>

/* Fisher and Yates: number i goes to a uniform place up to i, and the number that was there goes to the end. */
int mech_permutation(const struct base_entropy *e, size_t n, size_t *order) {
  if (n > UINT32_MAX) return BASE_ERR_ARGUMENT;
  struct mech_bits b;
  mech_bits_open(&b, e);
  for (size_t i = 0; i < n; i++) {
    mech_bits_allow(&b, MECH_PATIENCE);
    size_t place = mech_below(&b, (uint32_t)i + 1);
    order[i] = order[place];
    order[place] = i;
  }
  int status = mech_bits_close(&b);
  if (status != BASE_OK) memset(order, 0, n * sizeof *order);
  return status;
}
