/*
 * Rows in other coordinates: their norms there. Everything depends on the record and on public or
 * released numbers alone, so it costs no privacy.
 *
 * Let q = |z|^2 = clip^2 (sum_j (scale_j^2 x_j - 2 radius scale_j^2 centre_j) x_j + rest) for a row whose clipped
 * numbers are r_j = clip x_j, |r| <= 1. No part of it is larger than S = sum_j scale_j^2 (1 + |centre_j|)^2 +
 * constant^2, because radius r_0 <= 1, and each has an error of at most (p + 16) u of that, so rounding reduces
 * q by less than 4 (p + 16) u S. This slack is added: no row is longer than its computed length. Underflow is at most
 * 2^-1074 clip^2 <= 1e-223 for each term, far below the slack, because neither scales nor the radius are smaller than
 * LEAST; sums that overflow are infinite and not NaN, because no term is below -radius^2 scale_j^2.
 *
 * The slope of a loss is not a continuous function of a row's length (loss/bounded_logistic.c). So a row must have the
 * same length, to the last bit, whatever the other rows of its block are: rows are read in place, never from the copy
 * that is made when another row is null.
 */
#include "data/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The range of the numbers of coordinates. */
#define LEAST 1e-50
#define MOST 1e50

static int usable(double number);
static void derive(struct coordinates *c, double *square, double *cross);

int coordinates_create(const struct coordinates_spec *spec, struct coordinates **out) {
  size_t p = spec->p;
  *out = NULL;
  for (size_t j = 0; j < p; j++) {
    double scale = spec->scale[j], centre = spec->centre[j];
    if (!usable(scale) || !(fabs(centre) <= 1) || (!spec->intercept && centre != 0)) return BASE_ERR_ARGUMENT;
  }
  if (!usable(spec->radius) || !usable(spec->constant) || !usable(spec->cap) || !usable(spec->bound) ||
      (!spec->weighted && spec->cap != 1)) {
    return BASE_ERR_ARGUMENT;
  }
  struct coordinates *c = base_alloc(1, sizeof *c + (6 * p + 2) * sizeof(double));
  if (!c) return BASE_ERR_MEMORY;
  double *numbers = (double *)(c + 1);
  memcpy(numbers, spec->scale, p * sizeof(double));
  memcpy(numbers + p, spec->centre, p * sizeof(double));
  *c = (struct coordinates){.spec = *spec, .work = numbers + 4 * p};
  c->spec.scale = numbers;
  c->spec.centre = numbers + p;
  derive(c, numbers + 2 * p, numbers + 3 * p);
  *out = c;
  return BASE_OK;
}

void coordinates_free(struct coordinates *c) { base_free(c); }

static int usable(double number) { return number >= LEAST && number <= MOST; }

/* stretch: the Frobenius norm of the map from r to z. */
static void derive(struct coordinates *c, double *square, double *cross) {
  const struct coordinates_spec *s = &c->spec;
  double constant = s->intercept ? s->constant : 0, rest = constant * constant, most = rest, norm = 0;
  for (size_t j = 0; j < s->p; j++) {
    double centre = s->centre[j], shift = s->radius * centre;
    square[j] = s->scale[j] * s->scale[j];
    cross[j] = 2 * shift * square[j];
    rest += square[j] * centre * centre;
    most += square[j] * (1 + fabs(centre)) * (1 + fabs(centre));
    norm += square[j] * (1 + shift * shift);
  }
  c->square = square;
  c->cross = cross;
  c->rest = rest * s->radius * s->radius;
  c->slack = 4 * (double)(s->p + 16) * DBL_EPSILON * most;
  c->stretch = sqrt(norm + constant * constant * s->radius * s->radius) * (1 + 1e-9);
}
