/* Gaussian noise on vectors and symmetric matrices. */
#include <math.h>
#include <string.h>

#include "mech/private.h"

/* A long vector is drawn in parts of this length. Each part has a key of its own, so parts can be drawn in parallel. */
#define PART 4096

static int add_part(const struct base_entropy *e, size_t n, double sd, double *x);
static void add_one_part(void *context, size_t index, int worker);
static int add_symmetric(struct mech_bits *b, size_t d, double sd, double *h);

struct parts {
  const struct base_entropy *e;
  size_t n;
  double sd, *x;
  int *status; /* of each thread */
};

/* Without keys, all bytes must come in one order, so the vector is not split. */
int mech_gaussian(const struct base_entropy *e, size_t n, double sd, double *x) {
  if (!e->expand || n <= PART) return add_part(e, n, sd, x);
  const int threads = base_threads();
  struct parts p = {e, n, sd, x, base_alloc((size_t)threads, sizeof *p.status)};
  int status = p.status ? BASE_OK : BASE_ERR_MEMORY;
  if (status == BASE_OK) status = base_parallel((n - 1) / PART + 1, threads, add_one_part, &p);
  for (int k = 0; k < threads && status == BASE_OK; k++) status = p.status[k];
  base_free(p.status);
  if (status != BASE_OK) memset(x, 0, n * sizeof *x);
  return status;
}

static void add_one_part(void *context, size_t index, int worker) {
  struct parts *p = context;
  const size_t start = index * PART, left = p->n - start;
  const int status = add_part(p->e, left < PART ? left : PART, p->sd, p->x + start);
  if (status != BASE_OK) p->status[worker] = status;
}

static int add_part(const struct base_entropy *e, size_t n, double sd, double *x) {
  struct mech_bits b;
  mech_bits_open(&b, e);
  const int status = mech_perturb(&b, mech_draw_normal, sd, n, x);
  mech_bits_close(&b);
  return status;
}

int mech_gaussian_each(const struct base_entropy *e, size_t n, const double *sd, double *x) {
  struct mech_bits b;
  int status = BASE_OK;
  mech_bits_open(&b, e);
  for (size_t i = 0; i < n && status == BASE_OK; i++) status = mech_perturb(&b, mech_draw_normal, sd[i], 1, x + i);
  mech_bits_close(&b);
  if (status != BASE_OK) memset(x, 0, n * sizeof *x);
  return status;
}

int mech_symmetric(const struct base_entropy *e, size_t d, double sd, double *h) {
  struct mech_bits b;
  mech_bits_open(&b, e);
  const int status = add_symmetric(&b, d, sd, h);
  mech_bits_close(&b);
  if (status != BASE_OK) memset(h, 0, d * d * sizeof *h);
  return status;
}

static int add_symmetric(struct mech_bits *b, size_t d, double sd, double *h) {
  /* This constant is the next double above sqrt(1/2); nextafter covers the rounding of the product. */
  const double off = nextafter(sd * 0x1.6a09e667f3bcdp-1, INFINITY);
  for (size_t j = 0; j < d; j++) {
    double *column = h + j * d;
    int status = mech_perturb(b, mech_draw_normal, sd, 1, column + j);
    if (status == BASE_OK) status = mech_perturb(b, mech_draw_normal, off, d - j - 1, column + j + 1);
    if (status != BASE_OK) return status;
    for (size_t i = j + 1; i < d; i++) h[j + i * d] = column[i];
  }
  return BASE_OK;
}
