/* Averages of measurements at one point, with weights 1 / sd^2. */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

void pool_add(struct pool *p, const double *x, double sd, double rho) {
  double precision = 1 / (sd * sd), share = precision / (p->precision + precision);
  if (share == 1) {
    memcpy(p->mean, x, p->length * sizeof(double));
  } else {
    la_scale(p->length, 1 - share, p->mean);
    la_axpy(p->length, share, x, p->mean);
  }
  p->precision += precision;
  p->rho += rho;
  p->count++;
}

double pool_sd(const struct pool *p) { return 1 / sqrt(p->precision); }

void pool_reset(struct pool *p) {
  p->precision = p->rho = 0;
  p->count = 0;
}
