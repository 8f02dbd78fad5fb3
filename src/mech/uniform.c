/* Uniform numbers whose digits are drawn when needed. A drawn digit is kept, so comparisons bias no number. */
#include "mech/private.h"

uint32_t mech_uniform_draw(struct mech_bits *b, struct mech_uniform *u, int place) {
  if (place >= MECH_DIGITS) {
    b->status = BASE_ERR_ENTROPY;
    return 0;
  }
  while (u->known <= place) u->digit[u->known++] = mech_word(b);
  return u->digit[place];
}

int mech_uniform_tie(struct mech_bits *b, struct mech_uniform *u, struct mech_uniform *v) {
  for (int place = 1; b->status == BASE_OK; place++) {
    const uint32_t p = mech_uniform_digit(b, u, place), q = mech_uniform_digit(b, v, place);
    if (p != q) return p < q;
  }
  return 0;
}
