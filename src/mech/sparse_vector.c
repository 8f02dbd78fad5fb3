/*
 * Sparse vector technique, AboveThreshold (C. Dwork, A. Roth 2014, "The
 * algorithmic foundations of differential privacy", algorithm 1, theorem
 * 3.23), with eps / 2 for the threshold and eps / 2 for the queries.
 *
 * All noisy values lie on one lattice, that of the threshold's noise; the scale of
 * the query's noise is exactly twice as large. So values are compared as
 * integers. The proof shifts the noise of the threshold, and of the query that
 * passes, by the sensitivity. Here the shift must be a multiple of the
 * spacing, at most sensitivity + spacing, which the caller's sensitivity
 * covers (barrier/mechanism.c). Drawing stops at the first pass: the number of
 * draws is the release itself.
 */
#include <math.h>

#include "mech/private.h"

static int first_above(struct mech_bits *b, size_t k, const double *q, struct mech_grid grid, size_t *index);

int mech_sparse_vector(const struct base_entropy *e, size_t k, const double *q, double sensitivity, double eps,
                       size_t *index) {
  *index = k;
  struct mech_grid grid;
  if (!(sensitivity > 0) || !(eps > 0)) return BASE_ERR_ARGUMENT;
  int status = mech_grid_choose(nextafter(2 * sensitivity / eps, INFINITY), &grid);
  for (size_t i = 0; i < k && status == BASE_OK; i++)
    if (!isfinite(q[i])) status = BASE_ERR_ARGUMENT;
  if (status != BASE_OK) return status;
  struct mech_bits b;
  mech_bits_open(&b, e);
  status = first_above(&b, k, q, grid, index);
  mech_bits_close(&b);
  return status;
}

/* A point with shift > 0 is farther out than any noisy threshold, so comparing its index gives the right result, too.
 * */
static int first_above(struct mech_bits *b, size_t k, const double *q, struct mech_grid grid, size_t *index) {
  const int128 threshold = mech_point_draw(b, mech_draw_laplace, &grid, 0).index;
  grid.scale *= 2;
  for (size_t i = 0; i < k && b->status == BASE_OK; i++) {
    const int128 query = mech_point_draw(b, mech_draw_laplace, &grid, q[i]).index;
    if (query < threshold || b->status != BASE_OK) continue;
    *index = i;
    break;
  }
  return b->status;
}
