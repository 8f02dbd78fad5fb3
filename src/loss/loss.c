/* The table of losses. To add one: a file with its struct loss, and a line here. */
#include "loss/private.h"

#include <string.h>

static const struct loss *const table[] = {&loss_logistic, &loss_sigmoid};

const struct loss *loss_find(const char *name) {
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (strcmp(table[i]->name, name) == 0) return table[i];
  }
  return NULL;
}

const struct loss_bounds *loss_bounds_of(const struct loss *loss) { return &loss->bounds; }

double loss_range(const struct loss *loss, double t_max) { return loss->range(t_max); }

double loss_sum(const struct loss *loss, size_t n, const double *y, const double *t) { return loss->sum(n, y, t); }

void loss_eval(const struct loss *loss, size_t n, const double *y, const double *t, double *value, double *d1,
               double *d2) {
  if (value) loss->values(n, y, t, value);
  if (d1) loss->slopes(n, y, t, d1);
  if (d2) loss->curvatures(n, y, t, d2);
}

void loss_majorant(const struct loss *loss, size_t n, const double *t, double *c) {
  for (size_t i = 0; i < n && !loss->majorant; i++) c[i] = loss->bounds.curv_upper;
  if (loss->majorant) loss->majorant(n, t, c);
}
