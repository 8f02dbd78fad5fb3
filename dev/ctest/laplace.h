/* Laplace noise by itself, which the package draws inside of a mechanism only. */
#ifndef DPSOSP_LAPLACE_H
#define DPSOSP_LAPLACE_H

#include "mech/private.h"

/* *x <- *x + Laplace(scale). */
static inline int laplace_noise(const struct base_entropy *e, double scale, double *x) {
  struct mech_bits b;
  mech_bits_open(&b, e);
  const int status = mech_perturb(&b, mech_draw_laplace, scale, 1, x);
  mech_bits_close(&b);
  return status;
}

#endif
