/*
 * The Lanczos process with full reorthogonalisation: an orthonormal basis Q of
 * the Krylov space of a start vector, on which the operator is tridiagonal.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "la/private.h"

#define BLOCK 32 /* columns of the basis that are allocated together */

static int add_column(struct krylov *k);
static int add_row(struct krylov *k);
static void orthogonalise(struct krylov *k);
static size_t block_columns(size_t m, size_t first);

int krylov_create(struct krylov *k, const struct linop *op, const double *across) {
  const size_t d = op->dim;
  *k = (struct krylov){.op = op, .across = across};
  k->blocks = base_alloc((d - 1) / BLOCK + 1, sizeof *k->blocks);
  k->diagonal = base_alloc(d, sizeof *k->diagonal);
  k->off = base_alloc(d, sizeof *k->off);
  k->next = base_alloc(d, sizeof *k->next);
  return k->blocks && k->diagonal && k->off && k->next ? BASE_OK : BASE_ERR_MEMORY;
}

void krylov_free(struct krylov *k) {
  if (k->blocks)
    for (size_t b = 0; b <= (k->op->dim - 1) / BLOCK; b++) base_free(k->blocks[b]);
  base_free(k->blocks);
  base_free(k->diagonal);
  base_free(k->off);
  base_free(k->next);
}

int krylov_extend(struct krylov *k) {
  const size_t d = k->op->dim;
  if (base_stop_requested()) return BASE_ERR_STOPPED;
  la_scale(d, 1 / la_norm(d, k->next), k->next);
  const int status = add_column(k);
  return status == BASE_OK ? add_row(k) : status;
}

/* Is the norm of the next column only rounding error? */
int krylov_invariant(const struct krylov *k) {
  return k->off[k->columns - 1] <= (double)k->op->dim * DBL_EPSILON * k->norm;
}

int krylov_complete(const struct krylov *k) { return k->columns + (k->across ? 1 : 0) >= k->op->dim; }

void krylov_combine(const struct krylov *k, const double *coefficient, double *vector) {
  const size_t d = k->op->dim;
  memset(vector, 0, d * sizeof *vector);
  for (size_t j = 0; j < k->columns; j++) la_axpy(d, coefficient[j], k->blocks[j / BLOCK] + d * (j % BLOCK), vector);
}

static int add_column(struct krylov *k) {
  const size_t d = k->op->dim, block = k->columns / BLOCK;
  if (!k->blocks[block]) k->blocks[block] = base_alloc(d * block_columns(d, block * BLOCK), sizeof(double));
  if (!k->blocks[block]) return BASE_ERR_MEMORY;
  memcpy(k->blocks[block] + d * (k->columns % BLOCK), k->next, d * sizeof(double));
  k->columns++;
  return BASE_OK;
}

/* Computes the last row of T, and the next column, not yet of unit length. */
static int add_row(struct krylov *k) {
  const size_t d = k->op->dim, last = k->columns - 1;
  const double *column = k->blocks[last / BLOCK] + d * (last % BLOCK);
  k->op->apply(k->op, column, k->next);
  const double alpha = la_dot(d, column, k->next);
  orthogonalise(k);
  orthogonalise(k); /* twice is enough (Parlett, section 6.9) */
  const double beta = la_norm(d, k->next);
  if (!isfinite(alpha) || !isfinite(beta)) return BASE_ERR_NUMERIC;
  k->diagonal[last] = alpha;
  k->off[last] = beta;
  k->norm = fmax(k->norm, fabs(alpha) + beta + (last > 0 ? k->off[last - 1] : 0));
  return BASE_OK;
}

/* next <- (I - Q Q') next, block by block. Its component along `across` is rounding error, which scaling a short next
 * to unit length would enlarge without bound, so it is removed, too. */
static void orthogonalise(struct krylov *k) {
  const size_t d = k->op->dim;
  double coefficient[BLOCK];
  if (k->across) la_axpy(d, -la_dot(d, k->across, k->next), k->across, k->next);
  for (size_t first = 0; first < k->columns; first += BLOCK) {
    const size_t columns = block_columns(k->columns, first);
    const double *q = k->blocks[first / BLOCK];
    memset(coefficient, 0, sizeof coefficient);
    la_matvec_t_add(d, columns, q, d, k->next, coefficient);
    for (size_t j = 0; j < columns; j++) la_axpy(d, -coefficient[j], q + d * j, k->next);
  }
}

/* Number of used columns of the block that starts at column first, when m are used. */
static size_t block_columns(size_t m, size_t first) { return m - first < BLOCK ? m - first : BLOCK; }
