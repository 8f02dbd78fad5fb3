/* Oracles: data, loss and ledger behind one external pointer, and its queries. */
#include "ffi.h"
#include "r_data.h"

#include <string.h>

static void finalize_bundle(SEXP x) {
  struct bundle *b = R_ExternalPtrAddr(x);
  if (b) {
    oracle_free(b->oracle);
    engine_free(&b->engine);
    coordinates_free(b->coordinates);
    data_free(b->data);
    network_free(b->network);
    loss_free(b->loss);
    R_ReleaseObject(b->keep);
    base_free(b);
  }
  R_ClearExternalPtr(x);
}

struct bundle *arg_bundle(SEXP x) {
  return glue_address(x, "oracle");
}

/* kept is held in a way that saveRDS() does not follow: as the pointer's own protected value it, and so the data, would
 * be written to the file. */
SEXP bundle_create(const char *tag, SEXP kept, struct bundle **out) {
  SEXP pointer = PROTECT(glue_pointer(tag, finalize_bundle));
  struct bundle *b = base_alloc(1, sizeof *b);
  if (!b) glue_fail(BASE_ERR_MEMORY);
  R_SetExternalPtrAddr(pointer, b);
  b->keep = R_NilValue;
  R_PreserveObject(kept);
  b->keep = kept;
  UNPROTECT(1);
  *out = b;
  return pointer;
}

void bundle_open(struct bundle *b, struct ledger *budget, SEXP neighbours, SEXP reproducible) {
  glue_check(
      oracle_create(&b->engine, &b->model, budget, arg_entropy(reproducible), arg_neighbours(neighbours), &b->oracle));
}

static SEXP element_of(SEXP rows, const char *name, SEXPTYPE type) {
  SEXP x = arg_element(rows, name);
  if (TYPEOF(x) != (int)type) Rf_error("internal: rows were expected");
  return x;
}

/* list(x, codes, indicators): a matrix of doubles, or of integers that are the bits of floats; a matrix of integers. */
static int dense_create(SEXP rows, SEXP y, int intercept, double radius, struct data **out) {
  SEXP x = arg_element(rows, "x"), codes = element_of(rows, "codes", INTSXP);
  SEXP indicators = element_of(rows, "indicators", INTSXP);
  int n = Rf_nrows(x), single = TYPEOF(x) == INTSXP;
  if ((!single && TYPEOF(x) != REALSXP) || Rf_nrows(codes) != n || Rf_ncols(codes) != Rf_length(indicators)) {
    Rf_error("internal: rows were expected");
  }
  struct data_columns columns = {.x = single ? NULL : REAL(x),
                                 .dense = (size_t)Rf_ncols(x),
                                 .codes = INTEGER(codes),
                                 .factors = (size_t)Rf_ncols(codes),
                                 .indicators = INTEGER(indicators)};
  const double *response = arg_doubles(y, n);
  if (!single) return data_create_columns(&columns, (size_t)n, intercept, radius, response, out);
  return data_create_single((const float *)INTEGER(x), &columns, (size_t)n, intercept, radius, response, out);
}

static struct data_compressed compressed_from(SEXP start, SEXP row, SEXP value) {
  return (struct data_compressed){INTEGER(start),         INTEGER(row),         REAL(value),
                                  (size_t)XLENGTH(start), (size_t)XLENGTH(row), (size_t)XLENGTH(value)};
}

/* list(start, row, value, dim) */
static int sparse_create(SEXP rows, SEXP y, int intercept, double radius, struct data **out) {
  struct data_compressed x = compressed_from(element_of(rows, "start", INTSXP), element_of(rows, "row", INTSXP),
                                             element_of(rows, "value", REALSXP));
  const int *dim = INTEGER(element_of(rows, "dim", INTSXP));
  return data_create_sparse(&x, (size_t)dim[0], (size_t)dim[1], intercept, radius, arg_doubles(y, dim[0]), out);
}

static int rows_create(SEXP rows, SEXP y, int intercept, double radius, struct data **out) {
  if (Rf_inherits(rows, "dpsosp_columns")) return dense_create(rows, y, intercept, radius, out);
  if (Rf_inherits(rows, "dpsosp_compressed")) return sparse_create(rows, y, intercept, radius, out);
  if (!Rf_isMatrix(rows)) Rf_error("internal: a matrix was expected");
  int n = Rf_nrows(rows), p = Rf_ncols(rows);
  return data_create(arg_doubles(rows, (R_xlen_t)n * p), (size_t)n, (size_t)p, intercept, radius, arg_doubles(y, n),
                     out);
}

/* What is wrong with the slots of a dgCMatrix: a word, or NULL. */
SEXP ffi_sparse_check(SEXP start, SEXP row, SEXP value, SEXP dim) {
  static const char *const faults[] = {
      [DATA_LENGTHS] = "lengths", [DATA_STARTS] = "starts", [DATA_RANGE] = "range", [DATA_ORDER] = "order"};
  if (TYPEOF(start) != INTSXP || TYPEOF(row) != INTSXP || TYPEOF(value) != REALSXP || TYPEOF(dim) != INTSXP) {
    Rf_error("internal: slots were expected");
  }
  struct data_compressed x = compressed_from(start, row, value);
  enum data_fault fault = data_check_compressed(&x, (size_t)INTEGER(dim)[0], (size_t)INTEGER(dim)[1]);
  return fault == DATA_SOUND ? R_NilValue : Rf_mkString(faults[fault]);
}

/* Rows are kept by reference; R copies them if they are modified. */
SEXP bundle_keeps(SEXP rows) {
  MARK_NOT_MUTABLE(rows);
  return Rf_inherits(rows, "dpsosp_compressed") ? R_NilValue : rows;
}

void bundle_fill(struct bundle *b, SEXP rows, SEXP intercept, SEXP radius, SEXP y, SEXP loss, SEXP parameter) {
  glue_limit_threads();
  glue_check(loss_create(arg_string(loss), arg_double(parameter), &b->loss));
  glue_check(rows_create(rows, y, arg_flag(intercept), arg_double(radius), &b->data));
  b->engine = engine_memory(b->data);
  b->model = model_linear(b->engine.rows, b->loss);
}

SEXP ffi_oracle_create(SEXP rows, SEXP intercept, SEXP radius, SEXP y, SEXP loss, SEXP parameter, SEXP ledger,
                       SEXP neighbours, SEXP reproducible) {
  struct ledger *budget = arg_ledger(ledger);
  SEXP keep = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(keep, 0, bundle_keeps(rows));
  SET_VECTOR_ELT(keep, 1, ledger);
  struct bundle *b;
  SEXP out = PROTECT(bundle_create("oracle", keep, &b));
  bundle_fill(b, rows, intercept, radius, y, loss, parameter);
  bundle_open(b, budget, neighbours, reproducible);
  UNPROTECT(2);
  return out;
}

static const char *arg_folder(SEXP x) { return x == R_NilValue ? NULL : arg_string(x); }

/* If it fails, the bundle frees what was created. */
static int remote_create(struct bundle *b) {
  struct engine chunks = b->engine;
  return engine_remote(&b->remote.remote, &chunks, &b->engine);
}

/* feed: a function of R/source-stream.R, which yields n rows, a double, of `dense` columns and of factors with these
 * numbers of indicators. push: NULL, or the list of R/sql-push.R. keeps: are the rows kept after the first pass?
 * folder: of the file that keeps them; NULL: memory does. network: NULL, or a network of such rows. */
SEXP ffi_oracle_create_stream(SEXP feed, SEXP push, SEXP n, SEXP dense, SEXP indicators, SEXP intercept, SEXP radius,
                              SEXP loss, SEXP parameter, SEXP ledger, SEXP neighbours, SEXP reproducible, SEXP keeps,
                              SEXP folder, SEXP network) {
  if (TYPEOF(indicators) != INTSXP) Rf_error("internal: numbers of indicators were expected");
  struct data_columns columns = {
      .dense = (size_t)arg_int(dense), .factors = (size_t)XLENGTH(indicators), .indicators = INTEGER(indicators)};
  struct ledger *budget = arg_ledger(ledger);
  SEXP keep = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(keep, 1, ledger);
  struct bundle *b;
  SEXP out = PROTECT(bundle_create("oracle", keep, &b));
  if (push != R_NilValue) SET_VECTOR_ELT(keep, 2, remote_init(&b->remote, push));
  SET_VECTOR_ELT(keep, 0, source_init(&b->source, feed, columns.dense, columns.factors, 1));
  glue_limit_threads();
  glue_check(loss_create(arg_string(loss), arg_double(parameter), &b->loss));
  glue_check(engine_stream(&b->source.feed, &columns, arg_size(n), arg_flag(intercept), arg_double(radius),
                           arg_flag(keeps), arg_folder(folder), &b->engine));
  if (push != R_NilValue) glue_check(remote_create(b));
  if (network != R_NilValue) network_from(network, &b->network);
  b->model = b->network ? model_network(b->engine.rows, b->loss, b->network) : model_linear(b->engine.rows, b->loss);
  bundle_open(b, budget, neighbours, reproducible);
  UNPROTECT(2);
  return out;
}

/* Frees rows and everything else at once; the oracle cannot be used any more. */
SEXP ffi_oracle_close(SEXP oracle) {
  arg_bundle(oracle);
  finalize_bundle(oracle);
  glue_close(oracle);
  return R_NilValue;
}

/* Releases a query: a list of the result under its name, in the vector given, and of sd. */
static SEXP ask(const struct query *query, const struct ask *what, const char *name, SEXP answer, SEXP sd, SEXP oracle,
                SEXP rho, SEXP reproducible) {
  const char *const names[] = {name, "sd"};
  PROTECT(answer);
  PROTECT(sd);
  const struct answer to = {.value = REAL(answer), .sd = REAL(sd)};
  SEXP out = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(out, 0, answer);
  SET_VECTOR_ELT(out, 1, sd);
  double cost = arg_double(rho);
  glue_answer_begin(reproducible, R_NilValue);
  glue_answer_end(reproducible, release(oracle_all(arg_bundle(oracle)->oracle), query, what, cost, to));
  UNPROTECT(3);
  return out;
}

static int dim_of(SEXP oracle) { return (int)oracle_dim(arg_bundle(oracle)->oracle); }

static const double *arg_point(SEXP oracle, SEXP w) { return arg_doubles(w, dim_of(oracle)); }

SEXP ffi_oracle_value(SEXP oracle, SEXP w, SEXP rho, SEXP reproducible) {
  const struct ask at = {.at = arg_point(oracle, w)};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, 1)), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(&query_value, &at, "value", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

/* ends: those of the interval that decreases are clipped to. */
SEXP ffi_oracle_improvement(SEXP oracle, SEXP w, SEXP direction, SEXP ends, SEXP clip, SEXP rho, SEXP reproducible) {
  const struct ask what = {.at = arg_point(oracle, w),
                           .along = arg_point(oracle, direction),
                           .k = 2,
                           .step = arg_doubles(ends, 2),
                           .clip = arg_double(clip)};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, 1)), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(&query_improvement, &what, "value", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

SEXP ffi_oracle_gradient(SEXP oracle, SEXP w, SEXP rho, SEXP reproducible) {
  const struct ask at = {.at = arg_point(oracle, w)};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, dim_of(oracle))), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(&query_gradient, &at, "gradient", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

static SEXP ask_matrix(const struct query *query, const char *name, SEXP oracle, struct ask what, SEXP rho,
                       SEXP reproducible) {
  int dim = dim_of(oracle);
  SEXP answer = PROTECT(Rf_allocMatrix(REALSXP, dim, dim)), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(query, &what, name, answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

/* Of one output or of several. */
static const struct query *query_of(SEXP oracle, const struct query *one, const struct query *several) {
  return oracle_outputs(arg_bundle(oracle)->oracle) > 1 ? several : one;
}

SEXP ffi_oracle_hessian(SEXP oracle, SEXP w, SEXP rho, SEXP reproducible) {
  const struct query *query = query_of(oracle, &query_hessian, &query_class_hessian);
  return ask_matrix(query, "hessian", oracle, (struct ask){.at = arg_point(oracle, w)}, rho, reproducible);
}

SEXP ffi_oracle_products(SEXP oracle, SEXP w, SEXP rho, SEXP reproducible) {
  const struct query *query = query_of(oracle, &query_products, &query_class_products);
  return ask_matrix(query, "products", oracle, (struct ask){.at = arg_point(oracle, w)}, rho, reproducible);
}

/* Of residuals clipped to `clip`, and closer in rows longer than `cap`. */
SEXP ffi_oracle_residual_gradient(SEXP oracle, SEXP w, SEXP clip, SEXP cap, SEXP rho, SEXP reproducible) {
  const struct ask what = {.at = arg_point(oracle, w), .clip = arg_double(clip), .cap = arg_double(cap)};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, dim_of(oracle))), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(&query_residual_gradient, &what, "gradient", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

SEXP ffi_oracle_residual_products(SEXP oracle, SEXP w, SEXP clip, SEXP cap, SEXP rho, SEXP reproducible) {
  const struct ask what = {.at = arg_point(oracle, w), .clip = arg_double(clip), .cap = arg_double(cap)};
  return ask_matrix(&query_residual_products, "products", oracle, what, rho, reproducible);
}

/* clip: bound of the second derivatives; within: of the residuals that have one, or zero. */
SEXP ffi_oracle_residual_hessian(SEXP oracle, SEXP w, SEXP clip, SEXP cap, SEXP within, SEXP rho, SEXP reproducible) {
  const struct ask what = {.at = arg_point(oracle, w), .clip = arg_double(clip), .cap = arg_double(cap),
                           .within = arg_double(within)};
  return ask_matrix(&query_residual_hessian, "hessian", oracle, what, rho, reproducible);
}

static SEXP ask_counts(const struct query *query, SEXP oracle, struct ask what, SEXP ends, SEXP rho,
                       SEXP reproducible) {
  R_xlen_t k = XLENGTH(ends);
  what.k = (size_t)k;
  what.step = arg_doubles(ends, k);
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, k)), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(query, &what, "counts", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

/* clip, cap: as in the query, or zero. */
SEXP ffi_oracle_residual_counts(SEXP oracle, SEXP w, SEXP ends, SEXP clip, SEXP cap, SEXP rho, SEXP reproducible) {
  const struct ask what = {.at = arg_point(oracle, w), .clip = arg_double(clip), .cap = arg_double(cap)};
  return ask_counts(&query_residual_counts, oracle, what, ends, rho, reproducible);
}

SEXP ffi_oracle_row_lengths(SEXP oracle, SEXP ends, SEXP rho, SEXP reproducible) {
  return ask_counts(&query_row_lengths, oracle, (struct ask){.at = NULL}, ends, rho, reproducible);
}

/* most: bounds of the columns' numbers; zero for columns without second moment. weighted: by the records' weights? */
SEXP ffi_oracle_moments(SEXP oracle, SEXP most, SEXP weighted, SEXP rho, SEXP reproducible) {
  R_xlen_t p = (R_xlen_t)arg_bundle(oracle)->model.columns;
  const struct ask what = {.most = arg_doubles(most, p)};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, 2 * p + arg_bundle(oracle)->engine.rows->intercept));
  SEXP sd = PROTECT(Rf_allocVector(REALSXP, 1));
  const struct query *query = arg_flag(weighted) ? &query_weighted_moments : &query_moments;
  SEXP out = ask(query, &what, "moments", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

SEXP ffi_oracle_usable(SEXP oracle, SEXP rho, SEXP reproducible) {
  const struct ask what = {0};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, 1)), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(&query_usable, &what, "usable", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

/* Of the response; for an oracle of any columns. */
SEXP ffi_oracle_response(SEXP oracle, SEXP rho, SEXP reproducible) {
  const struct ask what = {.at = NULL};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, 3)), sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(&query_response, &what, "moments", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

/* Of one output two. */
SEXP ffi_oracle_class_counts(SEXP oracle, SEXP rho, SEXP reproducible) {
  const struct ask what = {.at = NULL};
  R_xlen_t outputs = (R_xlen_t)arg_bundle(oracle)->model.outputs;
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, outputs > 1 ? outputs : 2));
  SEXP sd = PROTECT(Rf_allocVector(REALSXP, 1));
  SEXP out = ask(&query_class_counts, &what, "counts", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

void bundle_coordinates(struct bundle *b, SEXP coordinates) {
  R_xlen_t p = (R_xlen_t)b->model.columns;
  const struct coordinates_spec spec = {.p = (size_t)p,
                                        .intercept = b->engine.rows->intercept,
                                        .weighted = arg_flag(arg_element(coordinates, "weighted")),
                                        .damped = arg_flag(arg_element(coordinates, "damped")),
                                        .radius = b->engine.rows->radius,
                                        .constant = arg_double(arg_element(coordinates, "constant")),
                                        .cap = arg_double(arg_element(coordinates, "cap")),
                                        .bound = arg_double(arg_element(coordinates, "bound")),
                                        .tilt = arg_double(arg_element(coordinates, "tilt")),
                                        .shortest = arg_double(arg_element(coordinates, "shortest")),
                                        .end = arg_doubles(arg_element(coordinates, "end"), p),
                                        .prior = arg_doubles(arg_element(coordinates, "prior"), p),
                                        .spread = arg_doubles(arg_element(coordinates, "spread"), p),
                                        .scale = arg_doubles(arg_element(coordinates, "scale"), p),
                                        .centre = arg_doubles(arg_element(coordinates, "centre"), p),
                                        .outputs = b->model.outputs};
  if (b->coordinates) Rf_error("internal: there are coordinates");
  glue_check(coordinates_create(&spec, &b->coordinates));
}

/* The oracle's points and releases are in these coordinates from now on. */
SEXP ffi_oracle_move(SEXP oracle, SEXP coordinates) {
  struct bundle *b = arg_bundle(oracle);
  bundle_coordinates(b, coordinates);
  glue_host_begin(R_NilValue);
  int status = oracle_move(b->oracle, b->coordinates);
  glue_host_end();
  glue_check(status);
  return R_NilValue;
}

const double *bundle_records(const struct bundle *b, SEXP x) {
  if (x == R_NilValue) return NULL;
  return arg_doubles(x, b->data ? (R_xlen_t)data_rows(b->data) : 0);
}

/* A weight and an offset for each record, or NULL; for rows in chunks without numbers, which come with the rows. most:
 * bound on the offsets. */
SEXP ffi_oracle_set_weights(SEXP oracle, SEXP weight, SEXP offset, SEXP most) {
  struct bundle *b = arg_bundle(oracle);
  b->source.weights = weight != R_NilValue;
  b->source.offsets = offset != R_NilValue;
  glue_check(oracle_set_weights(b->oracle, bundle_records(b, weight), bundle_records(b, offset), arg_double(most)));
  return R_NilValue;
}

struct persons arg_persons(SEXP persons, size_t rows) {
  SEXP code = arg_element(persons, "code");
  int n = arg_int(arg_element(persons, "n")), most = arg_int(arg_element(persons, "most"));
  if (TYPEOF(code) != INTSXP || (size_t)XLENGTH(code) != rows || n < 1 || most < 1) {
    Rf_error("internal: persons were expected");
  }
  return (struct persons){INTEGER(code), (size_t)n, (size_t)most};
}

/* To which persons rows belong; for rows in chunks without numbers, which come with the rows. */
SEXP ffi_oracle_set_persons(SEXP oracle, SEXP persons) {
  struct bundle *b = arg_bundle(oracle);
  struct persons who = arg_persons(persons, b->data ? data_rows(b->data) : 0);
  b->source.persons = 1;
  if (!b->data) who.code = NULL;
  glue_check(oracle_set_persons(b->oracle, who.code, who.n, who.most));
  return R_NilValue;
}

SEXP ffi_oracle_decreases(SEXP oracle, SEXP w, SEXP direction, SEXP steps, SEXP rho, SEXP reproducible) {
  R_xlen_t k = XLENGTH(steps);
  const struct ask search = {
      .at = arg_point(oracle, w), .along = arg_point(oracle, direction), .k = (size_t)k, .step = arg_doubles(steps, k)};
  SEXP answer = PROTECT(Rf_allocVector(REALSXP, k)), sd = PROTECT(Rf_allocVector(REALSXP, k));
  SEXP out = ask(&query_decreases, &search, "decrease", answer, sd, oracle, rho, reproducible);
  UNPROTECT(2);
  return out;
}

/* One-based index of the chosen step; NA for none. */
SEXP ffi_oracle_choose(SEXP oracle, SEXP w, SEXP direction, SEXP steps, SEXP offset, SEXP sparse_vector, SEXP rho,
                       SEXP reproducible) {
  struct oracle *o = arg_bundle(oracle)->oracle;
  R_xlen_t k = XLENGTH(steps);
  int first = arg_flag(sparse_vector);
  const struct ask search = {.at = arg_point(oracle, w),
                             .along = arg_point(oracle, direction),
                             .k = (size_t)k,
                             .step = arg_doubles(steps, k),
                             .offset = arg_doubles(offset, k),
                             .scale_free = first};
  double cost = arg_double(rho);
  size_t index;
  const struct query *query = first ? &query_first_step : &query_best_step;
  glue_answer_begin(reproducible, R_NilValue);
  glue_answer_end(reproducible, release(oracle_all(o), query, &search, cost, (struct answer){.index = &index}));
  return Rf_ScalarInteger(index < (size_t)k ? (int)index + 1 : NA_INTEGER);
}

/* Lipschitz constant, curvature bounds and third derivative of a loss. */
SEXP ffi_loss_bounds(SEXP name, SEXP parameter) {
  static const char *const names[] = {"lipschitz", "curv_lower", "curv_upper", "third", "at_zero"};
  struct loss *loss;
  glue_check(loss_create(arg_string(name), arg_double(parameter), &loss));
  const struct loss_bounds b = *loss_bounds_of(loss);
  loss_free(loss);
  const double bounds[] = {b.lipschitz, b.curv_lower, b.curv_upper, b.third, b.at_zero};
  return glue_numbers(5, names, bounds);
}

/* Values, or second derivatives, of a loss of one predictor at t, for one response. */
SEXP ffi_loss_at(SEXP name, SEXP parameter, SEXP y, SEXP t, SEXP second) {
  const R_xlen_t n = XLENGTH(t);
  const double *at = arg_doubles(t, n);
  struct loss *loss;
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  double *response = (double *)R_alloc((size_t)n, sizeof *response);
  for (R_xlen_t i = 0; i < n; i++) response[i] = arg_double(y);
  glue_check(loss_create(arg_string(name), arg_double(parameter), &loss));
  loss_eval(loss, (size_t)n, response, at, arg_flag(second) ? NULL : REAL(out), NULL,
            arg_flag(second) ? REAL(out) : NULL);
  loss_free(loss);
  UNPROTECT(1);
  return out;
}

/* Have slopes one sign, and what determinants may add at most for each tilt? */
SEXP ffi_loss_determinant(SEXP name, SEXP parameter, SEXP strong, SEXP tilt) {
  static const char *const names[] = {"one_sign", "top"};
  struct loss *loss;
  glue_check(loss_create(arg_string(name), arg_double(parameter), &loss));
  const double values[] = {loss_has_one_sign(loss), loss_determinant(loss, arg_double(strong), arg_double(tilt))};
  loss_free(loss);
  return glue_numbers(2, names, values);
}

/* NULL, or a list. */
static SEXP kept_list(const struct oracle *o, enum keep keep) {
  static const char *const names[] = {"query", "at", "value", "sd"};
  const struct kept *kept = oracle_kept(o, keep);
  if (!kept) return R_NilValue;
  int dim = (int)oracle_dim(o), side = dim / (int)oracle_outputs(o); /* a matrix is for one output */
  SEXP out = PROTECT(glue_list(4, names));
  SET_VECTOR_ELT(out, 0, Rf_mkString(kept->query));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, dim));
  memcpy(REAL(VECTOR_ELT(out, 1)), kept->at, (size_t)dim * sizeof(double));
  SEXP value = keep == KEEP_MATRIX ? Rf_allocMatrix(REALSXP, side, side) : Rf_allocVector(REALSXP, dim);
  SET_VECTOR_ELT(out, 2, value);
  if ((size_t)XLENGTH(value) != kept->numbers) Rf_error("internal: a release of another length was expected");
  memcpy(REAL(value), kept->value, kept->numbers * sizeof(double));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(kept->sd));
  UNPROTECT(1);
  return out;
}

/* The last gradient and the last matrix on the full data. */
SEXP ffi_oracle_kept(SEXP oracle) {
  static const char *const names[] = {"gradient", "matrix"};
  const struct oracle *o = arg_bundle(oracle)->oracle;
  SEXP out = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(out, 0, kept_list(o, KEEP_GRADIENT));
  SET_VECTOR_ELT(out, 1, kept_list(o, KEEP_MATRIX));
  UNPROTECT(1);
  return out;
}

SEXP ffi_oracle_facts(SEXP oracle) {
  const struct oracle *o = arg_bundle(oracle)->oracle;
  static const char *const names[] = {"dim", "third", "lipschitz"};
  SEXP out = PROTECT(glue_list(3, names));
  SET_VECTOR_ELT(out, 0, Rf_ScalarInteger((int)oracle_dim(o)));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(oracle_third(o)));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(oracle_lipschitz(o)));
  UNPROTECT(1);
  return out;
}
