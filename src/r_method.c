/* Runs of the methods: options, results and trace are passed by the names in the method's table. */
#include "ffi.h"
#include "r_data.h"
#include "la/la.h"
#include "method/method.h"

#include <string.h>

static const struct method *arg_method(SEXP name);
static void *options_from(const struct method *method, SEXP list);
static struct penalty penalty_from(SEXP list);
static SEXP list_of(const struct field *fields, const void *first, size_t size, size_t n);

static void finalize_result(SEXP x) {
  struct opt_result *r = R_ExternalPtrAddr(x);
  if (r) opt_result_free(r);
  base_free(r);
  R_ClearExternalPtr(x);
}

/* list(w, result, trace) */
SEXP ffi_method_run(SEXP name, SEXP oracle, SEXP penalty, SEXP options, SEXP rho, SEXP start, SEXP progress,
                    SEXP reproducible) {
  static const char *const names[] = {"w", "result", "trace"};
  struct oracle *o = arg_bundle(oracle)->oracle;
  const struct method *method = arg_method(name);
  const void *settings = options_from(method, options);
  const struct penalty r = penalty_from(penalty);
  const double budget = arg_double(rho);
  R_xlen_t dim = (R_xlen_t)oracle_dim(o);
  SEXP out = PROTECT(glue_list(3, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, dim));
  double *w = REAL(VECTOR_ELT(out, 0));
  memcpy(w, arg_doubles(start, dim), (size_t)dim * sizeof(double));
  SEXP holder = PROTECT(glue_pointer("result", finalize_result));
  struct opt_result *result = base_alloc(1, sizeof *result);
  if (!result) glue_fail(BASE_ERR_MEMORY);
  R_SetExternalPtrAddr(holder, result);

  glue_answer_begin(reproducible, progress);
  int status = method->run(o, &r, settings, budget, w, result);
  oracle_batches_end(o); /* may be large, so not left to the garbage collector */
  glue_answer_end(reproducible, status);

  SET_VECTOR_ELT(out, 1, list_of(result_fields, result, sizeof *result, 1));
  SET_VECTOR_ELT(out, 2, list_of(trace_fields, result->trace.rows, sizeof *result->trace.rows, result->trace.length));
  finalize_result(holder);
  UNPROTECT(2);
  return out;
}

SEXP ffi_method_alpha(SEXP name, SEXP oracle, SEXP penalty, SEXP options, SEXP rho, SEXP start) {
  struct oracle *o = arg_bundle(oracle)->oracle;
  const struct method *method = arg_method(name);
  const struct penalty r = penalty_from(penalty);
  const double *w = arg_doubles(start, (R_xlen_t)oracle_dim(o));
  return Rf_ScalarReal(method->alpha(o, &r, options_from(method, options), arg_double(rho), w));
}

/* The negated lower bound of a penalty's second derivatives, and a bound of the third derivatives. */
SEXP ffi_penalty_bounds(SEXP penalty) {
  static const char *const names[] = {"curv_lower", "third"};
  const struct penalty p = penalty_from(penalty);
  const double bounds[] = {penalty_curv_lower(&p), penalty_third(&p)};
  return glue_numbers(2, names, bounds);
}

/* The scale of residuals from noisy counts, whose noise has this sd; present: their sum without noise. */
SEXP ffi_residual_scale(SEXP ends, SEXP counts, SEXP sd, SEXP present) {
  static const char *const names[] = {"sd", "far", "error"};
  const R_xlen_t k = XLENGTH(ends);
  const struct residual_counts c = {(size_t)k, arg_doubles(ends, k), arg_doubles(counts, k), arg_double(sd),
                                    arg_double(present), 0, 0};
  const struct residual_scale scale = residual_scale(&c);
  const double numbers[] = {scale.sd, scale.far, scale.error};
  return glue_numbers(3, names, numbers);
}

SEXP ffi_trust_region(SEXP gradient, SEXP hessian, SEXP radius) {
  static const char *const names[] = {"step", "dual", "eigenvalue"};
  const R_xlen_t d = XLENGTH(gradient);
  const double *g = arg_doubles(gradient, d), *h = arg_doubles(hessian, d * d);
  double dual, smallest;
  SEXP out = PROTECT(glue_list(3, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, d));
  glue_host_begin(R_NilValue);
  const int status = la_trust_region((size_t)d, h, g, arg_double(radius), REAL(VECTOR_ELT(out, 0)), &dual, &smallest);
  glue_host_end();
  glue_check(status);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(dual));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(smallest));
  UNPROTECT(1);
  return out;
}

static const struct method *arg_method(SEXP name) {
  const struct method *method = method_named(arg_string(name));
  if (!method) Rf_error("internal: a method was expected");
  return method;
}

/* In memory that R frees when the entry returns. */
static void *options_from(const struct method *method, SEXP list) {
  char *options = memset(R_alloc(method->size, 1), 0, method->size);
  for (const struct field *field = method->fields; field->name; field++) {
    SEXP x = arg_element(list, field->name);
    void *at = options + field->offset;
    switch (field->type) {
    case FIELD_FLAG:
      *(int *)at = arg_flag(x);
      break;
    case FIELD_COUNT:
      *(int *)at = arg_int(x);
      break;
    case FIELD_NUMBER:
      *(double *)at = arg_double(x);
      break;
    case FIELD_CHOICE:
      *(int *)at = arg_choice(x, field->choices);
      break;
    case FIELD_NUMBERS:
      *(const double **)at = Rf_isNull(x) ? NULL : arg_doubles(x, XLENGTH(x));
      break;
    case FIELD_TEXT:
      Rf_error("internal: a text among options");
    }
  }
  return options;
}

static struct penalty penalty_from(SEXP list) {
  struct penalty p = {(enum penalty_kind)arg_choice(arg_element(list, "kind"), penalty_kinds),
                      arg_double(arg_element(list, "lambda")), (size_t)arg_int(arg_element(list, "skip")),
                      (size_t)arg_int(arg_element(list, "side"))};
  return p;
}

/* A vector of one member of n structs of this size. */
static SEXP vector_of(const struct field *field, const char *first, size_t size, size_t n) {
  static const SEXPTYPE types[] = {[FIELD_FLAG] = LGLSXP,
                                   [FIELD_COUNT] = INTSXP,
                                   [FIELD_NUMBER] = REALSXP,
                                   [FIELD_TEXT] = STRSXP,
                                   [FIELD_CHOICE] = STRSXP};
  SEXP out = PROTECT(Rf_allocVector(types[field->type], (R_xlen_t)n));
  for (size_t i = 0; i < n; i++) {
    const void *at = first + i * size + field->offset;
    switch (field->type) {
    case FIELD_FLAG:
      LOGICAL(out)[i] = *(const int *)at;
      break;
    case FIELD_COUNT:
      INTEGER(out)[i] = *(const int *)at;
      break;
    case FIELD_NUMBER:
      REAL(out)[i] = *(const double *)at;
      break;
    case FIELD_TEXT:
      SET_STRING_ELT(out, (R_xlen_t)i, Rf_mkChar(*(const char *const *)at));
      break;
    case FIELD_CHOICE:
      SET_STRING_ELT(out, (R_xlen_t)i, Rf_mkChar(field->choices[*(const int *)at]));
      break;
    case FIELD_NUMBERS:
      Rf_error("internal: numbers in a result");
    }
  }
  UNPROTECT(1);
  return out;
}

/* A list of such vectors. */
static SEXP list_of(const struct field *fields, const void *first, size_t size, size_t n) {
  int length = 0;
  while (fields[length].name) length++;
  const char **names = (const char **)R_alloc((size_t)length, sizeof *names);
  for (int i = 0; i < length; i++) names[i] = fields[i].name;
  SEXP out = PROTECT(glue_list(length, names));
  for (int i = 0; i < length; i++) SET_VECTOR_ELT(out, i, vector_of(&fields[i], first, size, n));
  UNPROTECT(1);
  return out;
}
