/*
 * Rows in other coordinates: how long they are there. What is done to a record depends on this record and on public or
 * released numbers alone, so it costs no privacy.
 *
 * With q = |z|^2 = clip^2 (sum_j scale_j^2 x_j^2 - 2 radius sum_j scale_j^2 centre_j x_j + rest) for a row whose clipped
 * numbers are r_j = clip x_j, |r| <= 1: no part of it is larger than S = sum_j scale_j^2 (1 + |centre_j|)^2 +
 * constant^2, as radius r_0 <= 1, and each is good to (p + 16) u of that, so 4 (p + 16) u S is more than rounding takes
 * from q. Lengths are taken with that slack: no row is longer than its length says.
 */
#include "data/private.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct measuring {
  struct data *data;
  double *work;
  size_t size; /* of a thread's part */
};

static void measure_block(void *context, size_t index, int worker);
static void measure_tile(const struct data_block *tile, double *square, double *along, double *length);
static void derive(struct coordinates *c, double *square, double *cross);

int coordinates_create(const struct coordinates_spec *spec, struct coordinates **out) {
  size_t p = spec->p;
  *out = NULL;
  for (size_t j = 0; j < p; j++) {
    double scale = spec->scale[j], centre = spec->centre[j];
    if (!(scale > 0) || !(scale <= 1e50) || !(fabs(centre) <= 1) || (!spec->intercept && centre != 0)) {
      return BASE_ERR_ARGUMENT;
    }
  }
  if (!(spec->constant > 0) || !(spec->constant <= 1e50) || !(spec->cap > 0) || !(spec->bound > 0) ||
      !isfinite(spec->cap) || !isfinite(spec->bound)) {
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

/* Threads have a block's buffer and three of its vectors each. */
int data_measure(struct data *data) {
  size_t rows = data_block_rows(data, NULL), threads = (size_t)base_threads();
  struct measuring m = {data, NULL, rows * (data_buffer(data) + 3)};
  m.work = base_alloc(m.size * threads, sizeof(double));
  if (!m.work) return BASE_ERR_MEMORY;
  int status = base_parallel(data_blocks(data, NULL), (int)threads, measure_block, &m);
  memset(m.work, 0, m.size * threads * sizeof(double));
  base_free(m.work);
  return status;
}

int data_move(struct data *data, const struct coordinates *coordinates) {
  if (data->coordinates) return BASE_ERR_ARGUMENT;
  if (coordinates->spec.weighted && !data->length) {
    data->length = base_alloc(data->n, sizeof(double));
    if (!data->length) return BASE_ERR_MEMORY;
  }
  data->coordinates = coordinates;
  int status = data_measure(data);
  if (status != BASE_OK) data->coordinates = NULL;
  return status;
}

static void measure_block(void *context, size_t index, int worker) {
  const struct measuring *m = context;
  struct data *data = m->data;
  const struct coordinates_spec *s = &data->coordinates->spec;
  size_t most = data_block_rows(data, NULL), first = index * DATA_BLOCK;
  double *buffer = m->work + (size_t)worker * m->size, *square = buffer + most * data_buffer(data),
         *along = square + most, *length = along + most;
  struct data_block block = data_block_at(data, NULL, index, buffer);
  for (size_t start = 0; start < block.rows; start += 128) {
    struct data_block tile = data_tile(&block, start, 128, buffer);
    measure_tile(&tile, square, along, length + start);
  }
  for (size_t i = 0; i < block.rows; i++) {
    if (s->weighted) {
      data->length[first + i] = length[i];
    } else if (length[i] > s->cap) {
      data->clip[first + i] *= s->cap / length[i];
    }
  }
}

static void measure_tile(const struct data_block *tile, double *square, double *along, double *length) {
  const struct coordinates *c = tile->data->coordinates;
  memset(square, 0, tile->rows * sizeof(double));
  data_squares_add(tile, c->square, square);
  data_matvec(tile, c->cross, along);
  for (size_t i = 0; i < tile->rows; i++) {
    double clip = tile->clip[i], q = clip * (clip * (square[i] - along[i] + c->rest));
    length[i] = sqrt(fmax(q, 0) + c->slack) * (1 + 8 * DBL_EPSILON);
  }
}
