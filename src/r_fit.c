/* Runs of the methods: options in, result and trace out. */
#include "ffi.h"
#include "r_data.h"
#include "la/la.h"
#include "method/method.h"
#include "method/newton.h"

#include <string.h>

static SEXP element(SEXP list, const char *name);
static double number_in(SEXP list, const char *name) { return arg_double(element(list, name)); }
static int int_in(SEXP list, const char *name) { return arg_int(element(list, name)); }
static struct penalty penalty_from(SEXP list);
static struct opt_options opt_options_from(SEXP list);
static struct tr_options tr_options_from(SEXP list);
static struct gd_options gd_options_from(SEXP list);
static struct newton_options newton_options_from(SEXP list);
static struct perturbed_options perturbed_options_from(SEXP list);
static struct cubic_options cubic_options_from(SEXP list);
static struct batch_options batch_from(SEXP list);
static SEXP trace_to_list(const struct trace *trace);

static void finalize_result(SEXP x) {
  struct opt_result *r = R_ExternalPtrAddr(x);
  if (r) opt_result_free(r);
  base_free(r);
  R_ClearExternalPtr(x);
}

/* One of the methods, with its options. */
typedef int method_run(struct oracle *oracle, const struct penalty *penalty, const void *options, double rho, double *w,
                       struct opt_result *result);

static SEXP run_method(method_run *run, const void *options, SEXP oracle, SEXP penalty, SEXP rho, SEXP start,
                       SEXP progress, SEXP reproducible) {
  static const char *const names[] = {
      "w",         "status",      "planned",     "gap",  "gradient_norm", "gradient_upper",
      "eigen_min", "eigen_lower", "eigen_known", "trace", "decrease"};
  struct oracle *o = arg_bundle(oracle)->oracle;
  struct penalty r = penalty_from(penalty);
  double budget = arg_double(rho);
  R_xlen_t dim = (R_xlen_t)oracle_dim(o);
  SEXP out = PROTECT(glue_list(11, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, dim));
  memcpy(REAL(VECTOR_ELT(out, 0)), arg_doubles(start, dim), (size_t)dim * sizeof(double));
  SEXP holder = PROTECT(glue_pointer("result", finalize_result));
  struct opt_result *result = base_alloc(1, sizeof *result);
  if (!result) glue_fail(BASE_ERR_MEMORY);
  R_SetExternalPtrAddr(holder, result);

  glue_answer_begin(reproducible, progress);
  int status = run(o, &r, options, budget, REAL(VECTOR_ELT(out, 0)), result);
  oracle_batches_end(o); /* may be large: not left to the garbage collector */
  glue_answer_end(reproducible, status);

  SET_VECTOR_ELT(out, 1, Rf_ScalarInteger((int)result->status));
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger(result->planned));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(result->gap));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal(result->gradient_norm));
  SET_VECTOR_ELT(out, 5, Rf_ScalarReal(result->gradient_upper));
  SET_VECTOR_ELT(out, 6, Rf_ScalarReal(result->eigen_min));
  SET_VECTOR_ELT(out, 7, Rf_ScalarReal(result->eigen_lower));
  SET_VECTOR_ELT(out, 8, Rf_ScalarLogical(result->eigen_known));
  SET_VECTOR_ELT(out, 10, Rf_ScalarReal(result->decrease));
  SET_VECTOR_ELT(out, 9, trace_to_list(&result->trace));
  finalize_result(holder);
  UNPROTECT(2);
  return out;
}

/* ffi_<name>_run(): a run of <name>_run() with its struct <name>_options. */
#define RUN(name)                                                                                                      \
  static int run_##name(struct oracle *oracle, const struct penalty *penalty, const void *options, double rho,         \
                        double *w, struct opt_result *result) {                                                        \
    return name##_run(oracle, penalty, options, rho, w, result);                                                       \
  }                                                                                                                    \
  SEXP ffi_##name##_run(SEXP oracle, SEXP penalty, SEXP options, SEXP rho, SEXP start, SEXP progress,                  \
                        SEXP reproducible) {                                                                           \
    struct name##_options o = name##_options_from(options);                                                            \
    return run_method(run_##name, &o, oracle, penalty, rho, start, progress, reproducible);                            \
  }

RUN(opt)
RUN(tr)
RUN(gd)
RUN(newton)
RUN(perturbed)
RUN(cubic)

/* ffi_<name>_alpha(): the default target of <name>_default_alpha(). */
#define ALPHA(name)                                                                                                    \
  SEXP ffi_##name##_alpha(SEXP oracle, SEXP penalty, SEXP options, SEXP rho, SEXP start) {                             \
    const struct oracle *o = arg_bundle(oracle)->oracle;                                                               \
    struct penalty r = penalty_from(penalty);                                                                          \
    struct name##_options opt = name##_options_from(options);                                                          \
    const double *w = arg_doubles(start, (R_xlen_t)oracle_dim(o));                                                     \
    return Rf_ScalarReal(name##_default_alpha(o, &r, &opt, arg_double(rho), w));                                       \
  }

ALPHA(opt)
ALPHA(tr)
ALPHA(gd)

SEXP ffi_newton_alpha(SEXP oracle, SEXP options, SEXP rho, SEXP start) {
  struct oracle *o = arg_bundle(oracle)->oracle;
  struct newton_options opt = newton_options_from(options);
  return Rf_ScalarReal(newton_default_alpha(o, &opt, arg_double(rho), arg_doubles(start, (R_xlen_t)oracle_dim(o))));
}

/* Lower bound of a penalty's second derivatives, its sign changed, and bound of the third ones. */
SEXP ffi_penalty_bounds(SEXP penalty) {
  struct penalty p = penalty_from(penalty);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, 2));
  REAL(out)[0] = penalty_curv_lower(&p);
  REAL(out)[1] = penalty_third(&p);
  UNPROTECT(1);
  return out;
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

static struct tr_options tr_options_from(SEXP list) {
  struct tr_options o = {
      .published = arg_flag(element(list, "published")),
      .explicit_test = arg_flag(element(list, "explicit_test")),
      .spend_all = arg_flag(element(list, "spend_all")),
      .eps_g = number_in(list, "eps_g"),
      .eps_h = number_in(list, "eps_h"),
      .confidence = number_in(list, "confidence"),
      .gap = number_in(list, "gap"),
      .gap_share = number_in(list, "gap_share"),
      .max_iterations = int_in(list, "max_iterations"),
      .batch = batch_from(list),
  };
  return o;
}

static struct gd_options gd_options_from(SEXP list) {
  struct gd_options o = {
      .eps_g = number_in(list, "eps_g"),
      .eps_h = number_in(list, "eps_h"),
      .confidence = number_in(list, "confidence"),
      .gap = number_in(list, "gap"),
      .gap_share = number_in(list, "gap_share"),
      .hessian_share = number_in(list, "hessian_share"),
      .max_iterations = int_in(list, "max_iterations"),
      .batch = batch_from(list),
  };
  return o;
}

static struct batch_options batch_from(SEXP list) {
  struct batch_options b = {{(enum oracle_scheme)int_in(list, "batch_scheme"), number_in(list, "batch_size")},
                            number_in(list, "batch_share")};
  return b;
}

static struct penalty penalty_from(SEXP list) {
  struct penalty p = {(enum penalty_kind)int_in(list, "kind"), number_in(list, "lambda"), (size_t)int_in(list, "skip")};
  return p;
}

static struct opt_options opt_options_from(SEXP list) {
  struct opt_options o = {
      .published = arg_flag(element(list, "published")),
      .two_phase = arg_flag(element(list, "two_phase")),
      .spend_all = arg_flag(element(list, "spend_all")),
      .search = (enum opt_line_search)int_in(list, "search"),
      .eps_g = number_in(list, "eps_g"),
      .eps_h = number_in(list, "eps_h"),
      .confidence = number_in(list, "confidence"),
      .gap = number_in(list, "gap"),
      .gap_share = number_in(list, "gap_share"),
      .phase1_share = number_in(list, "phase1_share"),
      .search_share = number_in(list, "search_share"),
      .hessian_share = number_in(list, "hessian_share"),
      .max_iterations = int_in(list, "max_iterations"),
      .mult_g = number_in(list, "mult_g"),
      .mult_h = number_in(list, "mult_h"),
      .back_g = number_in(list, "back_g"),
      .back_h = number_in(list, "back_h"),
      .batch = batch_from(list),
  };
  return o;
}

static struct newton_options newton_options_from(SEXP list) {
  struct newton_options o = {
      .curvature = (enum newton_curvature)int_in(list, "curvature"),
      .modify = (enum oracle_modify)int_in(list, "modify"),
      .damped = arg_flag(element(list, "damped")),
      .adaptive = arg_flag(element(list, "adaptive")),
      .spend_all = arg_flag(element(list, "spend_all")),
      .iterations = int_in(list, "iterations"),
      .eps_g = number_in(list, "eps_g"),
      .confidence = number_in(list, "confidence"),
      .curvature_share = number_in(list, "curvature_share"),
      .trace_share = number_in(list, "trace_share"),
      .search_share = number_in(list, "search_share"),
      .certificate_share = number_in(list, "certificate_share"),
      .lambda0 = number_in(list, "lambda0"),
      .lambda_scale = number_in(list, "lambda_scale"),
      .tail = number_in(list, "tail"),
      .batch = batch_from(list).sampling,
  };
  return o;
}

static struct perturbed_options perturbed_options_from(SEXP list) {
  struct perturbed_options o = {
      .output = arg_flag(element(list, "output")),
      .eps_g = number_in(list, "eps_g"),
      .confidence = number_in(list, "confidence"),
      .lambda = number_in(list, "lambda"),
      .output_share = number_in(list, "output_share"),
  };
  return o;
}

static struct cubic_options cubic_options_from(SEXP list) {
  struct cubic_options o = {
      .inner = int_in(list, "inner"),
      .iterations = int_in(list, "iterations"),
      .spend_all = arg_flag(element(list, "spend_all")),
      .diameter = number_in(list, "diameter"),
      .eps_g = number_in(list, "eps_g"),
      .confidence = number_in(list, "confidence"),
      .hessian_share = number_in(list, "hessian_share"),
      .certificate_share = number_in(list, "certificate_share"),
  };
  return o;
}

static SEXP trace_to_list(const struct trace *trace) {
  static const char *const names[] = {"phase", "iteration", "query", "estimate", "bound", "sd", "rho", "step"};
  R_xlen_t n = (R_xlen_t)trace->length;
  SEXP out = PROTECT(glue_list(8, names));
  for (int j = 0; j < 8; j++) SET_VECTOR_ELT(out, j, Rf_allocVector(j < 2 ? INTSXP : j == 2 ? STRSXP : REALSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    const struct trace_row *row = &trace->rows[i];
    INTEGER(VECTOR_ELT(out, 0))[i] = row->phase;
    INTEGER(VECTOR_ELT(out, 1))[i] = row->iteration;
    SET_STRING_ELT(VECTOR_ELT(out, 2), i, Rf_mkChar(row->query));
    REAL(VECTOR_ELT(out, 3))[i] = row->estimate;
    REAL(VECTOR_ELT(out, 4))[i] = row->bound;
    REAL(VECTOR_ELT(out, 5))[i] = row->sd;
    REAL(VECTOR_ELT(out, 6))[i] = row->rho;
    REAL(VECTOR_ELT(out, 7))[i] = row->step;
  }
  UNPROTECT(1);
  return out;
}

static SEXP element(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < XLENGTH(names); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  Rf_error("internal: '%s' is missing", name);
}
