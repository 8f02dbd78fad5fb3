/* Rows of a worker, which computes exact sums over them for the fit (R/source-worker.R): no ledger, no noise. */
#include "ffi.h"
#include "r_data.h"

#include <string.h>

static struct bundle *arg_shard(SEXP x) { return glue_address(x, "shard"); }

SEXP ffi_shard_create(SEXP rows, SEXP intercept, SEXP radius, SEXP y, SEXP loss, SEXP parameter) {
  struct bundle *b;
  SEXP out = PROTECT(bundle_create("shard", bundle_keeps(rows), &b));
  bundle_fill(b, rows, intercept, radius, y, loss, parameter);
  UNPROTECT(1);
  return out;
}

/* Like the rows of an oracle: points and sums stay in the rows' own coordinates. */
static int move_rows(struct bundle *b, struct coordinates *coordinates) {
  glue_host_begin(R_NilValue);
  int status = b->engine.kind->move(&b->engine, coordinates);
  glue_host_end();
  return status == BASE_OK ? model_move(&b->model, coordinates) : status;
}

SEXP ffi_shard_move(SEXP shard, SEXP coordinates) {
  struct bundle *b = arg_shard(shard);
  bundle_coordinates(b, coordinates);
  glue_check(move_rows(b, b->coordinates));
  return R_NilValue;
}

/* A run may have rescaled its coordinates (oracle_rescale()): then those of the rows become the same. */
static void follow_scale(struct bundle *b, SEXP scale) {
  if (!b->coordinates || XLENGTH(scale) == 0) return;
  struct coordinates_spec spec = b->coordinates->spec;
  const double *now = arg_doubles(scale, (R_xlen_t)spec.p);
  if (memcmp(now, spec.scale, spec.p * sizeof *now) == 0) return;
  struct coordinates *before = b->coordinates, *after;
  spec.scale = now;
  glue_check(coordinates_create(&spec, &after));
  b->coordinates = after;
  int status = move_rows(b, after);
  coordinates_free(before);
  glue_check(status);
}

/* Like ffi_oracle_set_weights(). */
SEXP ffi_shard_set_weights(SEXP shard, SEXP weight, SEXP offset, SEXP most) {
  struct bundle *b = arg_shard(shard);
  const double *v = bundle_records(b, weight), *o = bundle_records(b, offset);
  double bound = arg_double(most);
  glue_check(model_set_weights(&b->model, o ? bound : 0));
  glue_check(b->engine.kind->set_weights(&b->engine, v, o, bound));
  return R_NilValue;
}

/* Like ffi_oracle_set_persons(). */
SEXP ffi_shard_set_persons(SEXP shard, SEXP persons) {
  struct bundle *b = arg_shard(shard);
  struct persons who = arg_persons(persons, data_rows(b->data));
  glue_check(b->engine.kind->set_persons(&b->engine, who.code, who.n, who.most));
  return R_NilValue;
}

/* Zeros for what was not sent. */
static const double *sent(SEXP what, const char *name, size_t n) {
  SEXP x = arg_element(what, name);
  if (XLENGTH(x) > 0) return arg_doubles(x, (R_xlen_t)n);
  double *zeros = (double *)R_alloc(n, sizeof *zeros);
  memset(zeros, 0, n * sizeof *zeros);
  return zeros;
}

/* A batch of these of n rows, whose numbers begin with one and ascend; NULL: all rows. */
static const struct batch *arg_batch(SEXP rows, size_t n, struct batch *to) {
  if (rows == R_NilValue) return NULL;
  if (TYPEOF(rows) != INTSXP) Rf_error("internal: numbers of rows were expected");
  size_t count = (size_t)XLENGTH(rows);
  *to = (struct batch){.count = count, .row = (size_t *)R_alloc(count + 1, sizeof(size_t)), .size = (double)count};
  for (size_t i = 0, least = 1; i < count; i++) {
    int row = INTEGER(rows)[i];
    if (row < 1 || (size_t)row < least || (size_t)row > n) Rf_error("internal: ascending numbers were expected");
    to->row[i] = (size_t)row - 1;
    least = (size_t)row + 1;
  }
  return to;
}

/* what: the list of r_remote.c; its rows are those of this shard. */
SEXP ffi_shard_sum(SEXP shard, SEXP what) {
  struct bundle *b = arg_shard(shard);
  const struct sum *sum = sum_of_word(arg_string(arg_element(what, "word")));
  if (!sum) Rf_error("internal: a known word was expected");
  follow_scale(b, arg_element(what, "scale"));
  SEXP steps = arg_element(what, "steps");
  const struct ask ask = {.at = sent(what, "at", b->model.dim),
                          .along = XLENGTH(arg_element(what, "along")) > 0 ? sent(what, "along", b->model.dim) : NULL,
                          .k = (size_t)XLENGTH(steps),
                          .step = arg_doubles(steps, -1),
                          .curvature = curvature_from(arg_element(what, "curvature")),
                          .clip = arg_double(arg_element(what, "clip")),
                          .cap = arg_double(arg_element(what, "cap")),
                          .within = arg_double(arg_element(what, "within")),
                          .most = sent(what, "most", b->model.columns)};
  struct batch batch;
  const struct task task = {&b->model, &ask, arg_batch(glue_element(what, "rows"), data_rows(b->data), &batch)};
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)sum->width(&task)));
  glue_limit_threads();
  glue_host_begin(R_NilValue);
  int status = b->engine.kind->sum(&b->engine, sum, &task, REAL(out));
  glue_host_end();
  glue_check(status);
  UNPROTECT(1);
  return out;
}
