/* Laplace noise. */
#include "mech/private.h"

int mech_laplace(const struct base_entropy *e, double scale, double *x) {
  struct mech_bits b;
  mech_bits_open(&b, e);
  const int status = mech_perturb(&b, mech_draw_laplace, scale, 1, x);
  mech_bits_close(&b);
  return status;
}
