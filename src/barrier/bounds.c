/*
 * Sensitivities: the largest change of a sum by one record, over the divisor of the sum, and the rounding error of
 * the sum, for rows of norm at most one. The change by a record is in the query's file: L, a, b, M and so on are the
 * model's bounds, |l'| <= L, l'' in [-a, b]; n is the number of records or, for a batch, its public size.
 *
 * Rounding (proofs: rounding). A release is noise on the computed sum, which differs from
 * the exact one by at most E for every data set: its sensitivity is at most
 * the exact one plus 2 E. With u = 2^-53, m blocks of B rows, p columns, and
 * sums in any order within a tile (fused multiplications only remove roundings):
 *   - the predictor t of a record has error at most (p + 3) u |w|, as
 *     |fl(z'w) - z'w| <= gamma_(p+2) |z|'|w| and |z| <= 1;
 *   - loss_eval has an error of 12 u relative to the largest value of its result.
 *     exp_minus() has a relative error below 3 u (loss/exp.h). The worst case
 *     is the sigmoid's second derivative f = e q^3 (1 - e), q = 1 / (1 + e):
 *     two roundings in each q, four in the products, one in 1 - e, and 3 u in
 *     e, whose derivative is e q^4 (1 - 4 e + e^2): on [0, 1]
 *     11 |f| + 3 e q^4 |1 - 4 e + e^2| stays below 12 max |f|;
 *   - loss_sum of at most B terms has an error of (B + 12) u times the sum of their
 *     bounds, each at least log 2 for the logistic loss: a factor 1 + e of its
 *     product and the multiplication by it have relative errors of
 *     3/2 u + u + u, which the logarithm makes absolute, its own error is 2 u,
 *     and the rest covers the linear parts and the sum of the few logarithms.
 *     For the other losses see their files: a term has an error of 12 u times its
 *     bound, and n - 1 additions are n - 1 roundings of at most the sum;
 *   - weights, products and the division by n add less than 8 u; weights and offsets of records (model/record.c) less
 *     than 8 u more;
 *   - a term takes part in at most a additions, which the engine counts (engine_additions());
 *   - this many u times the sum of absolute values, whose norm is at most n times
 *     the bound of one term, because each row has norm at most one.
 * With K > 1 outputs t is a vector, |w| the norm of all coefficients: the errors of the predictors have a norm of at
 * most (p + 3) u |w|, and loss_eval and loss_sum have an additional error of 2 K u relative to the bound
 * (loss/multinomial.c). For a network, a record's part is bounded as it is computed, from this record and the weights
 * alone (model/network.h): the only error is that of the additions, E = (n / b) u (a + 32) size.
 * Where records belong to persons, a is that of the largest number of rows that the persons may have, which is public,
 * and the sum of absolute values at most the number of persons times the bound of one term (proofs: persons).
 * A product of a person's sum with itself has the roundings of both, of at most K additions each, and n more.
 * A batch has at most n rows and m blocks, but is divided by its public size b: n / b times as much, unless it is known
 * to have b rows.
 * Where l'' jumps, rounding of a predictor may change a weight l'' by its whole
 * range, in any number of records at once, because a null record may change how its
 * whole block is read. Then there is no bound, and sums with such weights are refused. Sums of
 * l and l' need only a Lipschitz l', and sums of a curvature bound need its own Lipschitz constant.
 * In other coordinates of the rows (model/coordinates.c) with z = T r, |T| <= S, the predictor is that of T'w, whose
 * norm is at most S |w| and whose rounding at most doubles the error above; sums are mapped by T, which multiplies
 * their error by S, that of a matrix by S^2, and rounds each number at most eight times.
 * A database that knows the coordinates adds terms as large as a record's bound in them, in at most 1000 cells: S is
 * then at least twice the cap and the bound (proofs: push-down-coordinates).
 * So E = (n / b) u [ lip (p + 3) |w| + (a + 32) size ] with lip the Lipschitz
 * constant of the summed function of t and size its bound. The factor 2 covers second-order
 * terms. Underflow is negligible: numbers that are rounded to a
 * multiple of 2^-1074 are later multiplied by less than 2^512.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

/* The norm of a point that is not known, for its rounding. */
#define FAR 64

static double stretch_of(const struct scope *s);
static double matrix_rounding(const struct scope *s, size_t side, double more, double lip, double w_norm, double size);
static double more_for_persons(const struct scope *s);
static double rounding_in(const struct scope *s, double added, double lip, double w_norm, double size);

double bounds_sensitivity(const struct scope *s, double change, double error) {
  return change / scope_divisor(s) + 2 * error;
}

int scope_replaces(const struct scope *s) { return s->oracle->neighbours == ORACLE_REPLACE_ONE; }

double bounds_terms(const struct scope *s) { return scope_replaces(s) ? 2 : 1; }

double bounds_rounding(const struct scope *s, double lip, double w_norm, double size) {
  return stretch_of(s) * rounding_in(s, engine_additions(&s->oracle->engine, SUM_VECTOR, 1), lip, w_norm, size);
}

double bounds_sum_rounding(const struct scope *s, double size) {
  double added = engine_additions_any(&s->oracle->engine);
  return 2 * (DBL_EPSILON / 2) * (added + 32) * size * bounds_max_rows(s);
}

double bounds_matrix_rounding(const struct scope *s, double lip, double w_norm, double size) {
  return matrix_rounding(s, s->oracle->model.side, 0, lip, w_norm, size);
}

double bounds_products_rounding(const struct scope *s, double lip, double w_norm, double size) {
  return matrix_rounding(s, s->oracle->model.side, more_for_persons(s), lip, w_norm, size);
}

double bounds_outputs_rounding(const struct scope *s, double lip, double w_norm, double size) {
  return matrix_rounding(s, s->oracle->model.dim, more_for_persons(s), lip, w_norm, size);
}

static double more_for_persons(const struct scope *s) {
  const struct data *rows = s->oracle->engine.rows;
  return rows->share ? (double)(rows->max_rows / rows->persons) + (double)rows->persons : 0;
}

double bounds_both_rounding(const struct scope *s, double lip, double w_norm, double size) {
  size_t dim = s->oracle->model.dim;
  double added = engine_additions(&s->oracle->engine, SUM_BOTH, dim * (dim + 1));
  return stretch_of(s) * rounding_in(s, added, lip, w_norm, size);
}

/* more: additions that only these sums have */
static double matrix_rounding(const struct scope *s, size_t side, double more, double lip, double w_norm, double size) {
  double stretch = stretch_of(s);
  double added = engine_additions(&s->oracle->engine, SUM_MATRIX, side * side) + more;
  return stretch * stretch * rounding_in(s, added, lip, w_norm, size);
}

static double stretch_of(const struct scope *s) {
  const struct model *m = &s->oracle->model;
  double stretch = model_stretch(m);
  if (!m->coordinates || !s->oracle->engine.kind->inside) return stretch;
  const struct coordinates_spec *spec = &m->coordinates->spec;
  return fmax(stretch, 2 * fmax(spec->cap, spec->bound / loss_bounds_of(m->loss)->lipschitz));
}

static double rounding_in(const struct scope *s, double added, double lip, double w_norm, double size) {
  double columns = (double)s->oracle->engine.rows->p;
  if (s->oracle->model.coordinates) {
    w_norm *= 2 * stretch_of(s);
    added += 16;
  }
  /* The error of t + o, in up to four predictors of a term. */
  if (s->oracle->model.offset > 0) w_norm += w_norm + 4 * s->oracle->model.offset;
  if (s->oracle->model.outputs > 1) added += 2 * (double)s->oracle->model.outputs;
  return 2 * (DBL_EPSILON / 2) * (lip * (columns + 3) * w_norm + (added + 32) * size) * bounds_max_rows(s);
}

/* Rounded up: dim + 2 roundings of relative size u. */
double bounds_norm(const struct scope *s, const double *w) {
  size_t dim = s->oracle->model.dim;
  return w ? la_norm(dim, w) * (1 + (double)(dim + 8) * DBL_EPSILON) : FAR;
}

double bounds_reach(const struct scope *s, const double *w) {
  return !w || s->oracle->engine.kind->inside ? INFINITY : bounds_norm(s, w);
}

double bounds_max_rows(const struct scope *s) {
  return s->exact ? 1 : (double)data_persons(s->oracle->engine.rows) / scope_divisor(s);
}
