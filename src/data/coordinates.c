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
static int tilts(const struct coordinates_spec *s);
static int damps(const struct coordinates_spec *s);
static int is_low(double end, double centre);
static void derive(struct coordinates *c, double *square, double *cross);
static void derive_pairs(struct coordinates *c, const double *ends, double *numbers);

int coordinates_create(const struct coordinates_spec *spec, struct coordinates **out) {
  size_t p = spec->p;
  *out = NULL;
  for (size_t j = 0; j < p; j++) {
    double centre = spec->centre[j];
    if (!usable(spec->scale[j]) || !usable(spec->prior[j]) || !usable(spec->spread[j])) return BASE_ERR_ARGUMENT;
    if (!(fabs(centre) <= 1) || (!spec->intercept && centre != 0)) return BASE_ERR_ARGUMENT;
  }
  if (!usable(spec->radius) || !usable(spec->constant) || !usable(spec->cap) || !usable(spec->bound) ||
      (!spec->weighted && spec->cap != 1) || !tilts(spec) || !damps(spec)) {
    return BASE_ERR_ARGUMENT;
  }
  size_t points = 2 * (spec->outputs > 1 ? spec->outputs : 1) * (p + 1);
  struct coordinates *c = base_alloc(1, sizeof *c + (12 * p + points) * sizeof(double));
  if (!c) return BASE_ERR_MEMORY;
  double *numbers = (double *)(c + 1);
  memcpy(numbers, spec->scale, p * sizeof(double));
  memcpy(numbers + p, spec->centre, p * sizeof(double));
  memcpy(numbers + 2 * p, spec->prior, p * sizeof(double));
  memcpy(numbers + 3 * p, spec->spread, p * sizeof(double));
  *c = (struct coordinates){.spec = *spec, .work = numbers + 12 * p};
  c->spec.scale = numbers;
  c->spec.centre = numbers + p;
  c->spec.prior = numbers + 2 * p;
  c->spec.spread = numbers + 3 * p;
  derive(c, numbers + 4 * p, numbers + 5 * p);
  if (spec->tilt != 0) derive_pairs(c, spec->end, numbers + 6 * p);
  c->spec.end = NULL; /* not copied */
  *out = c;
  return BASE_OK;
}

void coordinates_free(struct coordinates *c) { base_free(c); }

static int usable(double number) { return number >= LEAST && number <= MOST; }

/* Zero is on no column's other side: entries that a sparse matrix does not hold need not be looked at. */
static int tilts(const struct coordinates_spec *s) {
  if (s->tilt == 0) return 1;
  if (!s->weighted || !(fabs(s->tilt) <= 0.5) || !usable(s->shortest) || !s->end) return 0;
  for (size_t j = 0; j < s->p; j++) {
    double end = s->end[j], centre = s->centre[j];
    if (isnan(end)) continue;
    if (!(fabs(end) <= 1) || (!s->intercept && end != 0) || (is_low(end, centre) ? end > 0 : end < 0)) return 0;
  }
  return 1;
}

static int damps(const struct coordinates_spec *s) {
  return !s->damped || (s->weighted && s->tilt == 0);
}

static int is_low(double end, double centre) { return end < centre || (end == centre && end <= 0); }

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

/* Of a column with an end, all regular rows' numbers have the same sign relative to it. Others have both signs. */
static void derive_pairs(struct coordinates *c, const double *ends, double *numbers) {
  const struct coordinates_spec *s = &c->spec;
  size_t p = s->p;
  double *square = numbers, *cross = numbers + p, *none = numbers + 2 * p, *end_cross = numbers + 3 * p;
  double *low = numbers + 4 * p, *high = numbers + 5 * p, free_rest = 0, end_rest = 0;
  for (size_t j = 0; j < p; j++) {
    double centre = s->centre[j], end = ends[j], at = end * s->radius;
    int free = isnan(end);
    square[j] = free ? c->square[j] : 0;
    cross[j] = free ? c->cross[j] : 0;
    none[j] = 0;
    end_cross[j] = free ? 0 : -2 * s->radius * c->square[j] * (centre - end);
    free_rest += free ? c->square[j] * centre * centre : 0;
    end_rest += free ? 0 : c->square[j] * (end * end - centre * centre);
    low[j] = !free && is_low(end, centre) ? at - 4 * DBL_EPSILON * fabs(at) : -INFINITY;
    high[j] = !free && !is_low(end, centre) ? at + 4 * DBL_EPSILON * fabs(at) : INFINITY;
  }
  c->free_square = square;
  c->free_cross = cross;
  c->free_rest = free_rest * s->radius * s->radius;
  c->end_square = none;
  c->end_cross = end_cross;
  c->end_rest = end_rest * s->radius * s->radius;
  c->low = low;
  c->high = high;
}

double coordinates_tilted(const struct coordinates_spec *s, double length, double free, double excess, int regular) {
  double b = (1 + fabs(s->tilt)) / 2, part = b * b * excess / s->shortest;
  double root = part + sqrt(part * part + 2 * b * b * (length * length + free));
  return fmax(fmax(s->shortest, length), (regular ? root : b / (1 - b) * length) * (1 + 16 * DBL_EPSILON));
}
