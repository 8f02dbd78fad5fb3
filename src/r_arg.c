/* Conversions between R and C, conditions, and R as the core's host. */
#include "ffi.h"
#include "glue.h"

#include <R.h>
#include <R_ext/Utils.h>
#include <Rmath.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static SEXP progress_callback;
static int progress_jumped; /* the callback did not return: the run must stop */
static int random_in_use;   /* the core draws from R's generator */

static SEXP namespace_call(const char *name, SEXP argument);

double arg_double(SEXP x) {
  if (TYPEOF(x) != REALSXP || XLENGTH(x) != 1) Rf_error("internal: a double was expected");
  return REAL(x)[0];
}

int arg_int(SEXP x) {
  if (TYPEOF(x) != INTSXP || XLENGTH(x) != 1) Rf_error("internal: an integer was expected");
  return INTEGER(x)[0];
}

size_t arg_size(SEXP x) {
  double size = arg_double(x);
  if (!(size >= 0 && size <= 9007199254740992.0)) Rf_error("internal: a number of rows was expected");
  return (size_t)size;
}

int arg_flag(SEXP x) {
  if (TYPEOF(x) != LGLSXP || XLENGTH(x) != 1) Rf_error("internal: a flag was expected");
  return LOGICAL(x)[0] == TRUE;
}

const char *arg_string(SEXP x) {
  if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1) Rf_error("internal: a string was expected");
  return CHAR(STRING_ELT(x, 0));
}

const double *arg_doubles(SEXP x, R_xlen_t length) {
  if (TYPEOF(x) != REALSXP || (length >= 0 && XLENGTH(x) != length)) Rf_error("internal: doubles were expected");
  return REAL(x);
}

int arg_choice(SEXP x, const char *const *choices) {
  const char *name = arg_string(x);
  for (int i = 0; choices[i]; i++) {
    if (strcmp(choices[i], name) == 0) return i;
  }
  Rf_error("internal: '%s' is no choice", name);
}

static R_xlen_t place_of(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < XLENGTH(names); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return i;
  }
  return -1;
}

SEXP glue_element(SEXP list, const char *name) {
  R_xlen_t i = TYPEOF(list) == VECSXP ? place_of(list, name) : -1;
  return i < 0 ? R_NilValue : VECTOR_ELT(list, i);
}

SEXP arg_element(SEXP list, const char *name) {
  if (TYPEOF(list) != VECSXP || place_of(list, name) < 0) Rf_error("internal: '%s' is missing", name);
  return glue_element(list, name);
}

/* ---- pointers ---- */

SEXP glue_pointer(const char *tag, R_CFinalizer_t finalizer) {
  SEXP x = PROTECT(R_MakeExternalPtr(NULL, Rf_install(tag), R_NilValue));
  R_RegisterCFinalizerEx(x, finalizer, TRUE);
  UNPROTECT(1);
  return x;
}

void glue_close(SEXP x) { R_SetExternalPtrProtected(x, R_ExternalPtrTag(x)); }

void *glue_address(SEXP x, const char *tag) {
  if (TYPEOF(x) != EXTPTRSXP || R_ExternalPtrTag(x) != Rf_install(tag)) {
    namespace_call("raise_foreign", PROTECT(Rf_mkString(tag)));
  }
  void *p = R_ExternalPtrAddr(x);
  if (!p) {
    const char *raise = R_ExternalPtrProtected(x) == R_NilValue ? "raise_restored" : "raise_closed";
    namespace_call(raise, PROTECT(Rf_mkString(tag)));
  }
  return p;
}

struct ledger *arg_ledger(SEXP x) {
  return glue_address(x, "budget");
}

static SEXP named(SEXPTYPE type, int length, const char *const *names) {
  SEXP x = PROTECT(Rf_allocVector(type, length));
  SEXP labels = PROTECT(Rf_allocVector(STRSXP, length));
  for (int i = 0; i < length; i++) SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
  Rf_setAttrib(x, R_NamesSymbol, labels);
  UNPROTECT(2);
  return x;
}

SEXP glue_list(int length, const char *const *names) { return named(VECSXP, length, names); }

SEXP glue_numbers(int length, const char *const *names, const double *x) {
  SEXP out = named(REALSXP, length, names);
  memcpy(REAL(out), x, (size_t)length * sizeof *x);
  return out;
}

/* ---- randomness ---- */

/* R's generators give at least 25 good bits in each draw; sixteen are used. */
static int fill_from_r(void *buffer, size_t bytes) {
  unsigned char *p = buffer;
  for (size_t i = 0; i < bytes; i += 2) {
    unsigned bits = (unsigned)(unif_rand() * 65536.0);
    p[i] = (unsigned char)(bits & 255);
    if (i + 1 < bytes) p[i + 1] = (unsigned char)((bits >> 8) & 255);
  }
  return BASE_OK;
}

static const struct base_entropy entropy_r = {.fill = fill_from_r};

const struct base_entropy *arg_entropy(SEXP reproducible) {
  return arg_flag(reproducible) ? &entropy_r : &base_entropy_system;
}

static void random_begin(SEXP reproducible) {
  if (arg_flag(reproducible)) GetRNGstate();
  random_in_use = arg_flag(reproducible);
}

static void random_end(SEXP reproducible) {
  random_in_use = 0;
  if (arg_flag(reproducible)) PutRNGstate();
}

/* ---- conditions ---- */

void glue_check(int status) {
  if (status != BASE_OK) glue_fail(status);
}

void NORET glue_fail(int status) {
  static const char *const names[] = {"name", "message"};
  SEXP argument = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(argument, 0, Rf_mkString(base_name(status)));
  SET_VECTOR_ELT(argument, 1, Rf_mkString(base_message(status)));
  namespace_call("raise_status", argument);
  Rf_error("internal: no condition was raised"); /* not reached */
}

static SEXP namespace_call(const char *name, SEXP argument) {
  SEXP package = PROTECT(Rf_mkString("dpsosp"));
  SEXP space = PROTECT(R_FindNamespace(package));
  SEXP call = PROTECT(Rf_lang2(Rf_install(name), argument));
  SEXP value = Rf_eval(call, space);
  UNPROTECT(3);
  return value;
}

/* ---- arithmetic ---- */

SEXP ffi_arithmetic_check(void) {
  const char *fault = base_arithmetic_fault();
  return fault ? Rf_mkString(fault) : R_NilValue;
}

/* ---- threads ---- */

/* R is asked only where something limits them. */
void glue_limit_threads(void) {
  SEXP option = Rf_GetOption1(Rf_install("dpsosp.threads"));
  int limited = option != R_NilValue || getenv("_R_CHECK_LIMIT_CORES_") != NULL;
  base_limit_threads(limited ? arg_int(namespace_call("max_threads", option)) : INT_MAX);
}

/* ---- the host ---- */

static void check_interrupt(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

static int stop_requested(void) { return progress_jumped || R_ToplevelExec(check_interrupt, NULL) == FALSE; }

struct r_call {
  void (*code)(void *);
  void *argument;
  int drawing;
};

/* R code may draw random numbers: it gets the generator in the core's state, and the core continues from the state
 * after it. Otherwise the core would draw the same noise again. */
static void run_code(void *argument) {
  const struct r_call *call = argument;
  if (call->drawing) PutRNGstate();
  call->code(call->argument);
  if (call->drawing) GetRNGstate();
}

/* The code may run another fit, so the state of this one is restored afterwards. */
int glue_run(void (*code)(void *), void *argument) {
  struct r_call call = {code, argument, random_in_use};
  SEXP callback = progress_callback;
  int jumped = progress_jumped, returned = R_ToplevelExec(run_code, &call);
  progress_callback = callback;
  progress_jumped = jumped;
  random_in_use = call.drawing;
  return returned;
}

static void call_progress(void *argument) {
  const int *at = argument;
  SEXP done = PROTECT(Rf_ScalarInteger(at[0])), total = PROTECT(Rf_ScalarInteger(at[1]));
  Rf_eval(PROTECT(Rf_lang3(progress_callback, done, total)), R_GlobalEnv);
  UNPROTECT(3);
}

/* The callback handles its own errors, so a jump is an interrupt or similar: the run stops at its next check. */
static void progress(int done, int total) {
  if (!progress_callback || progress_callback == R_NilValue) return;
  int at[2] = {done, total};
  progress_jumped = !glue_run(call_progress, at);
}

void glue_host_begin(SEXP callback) {
  static const struct base_host host = {stop_requested, progress};
  progress_callback = callback;
  progress_jumped = 0;
  base_set_host(&host);
}

void glue_host_end(void) {
  progress_callback = NULL;
  progress_jumped = 0;
}

void glue_answer_begin(SEXP reproducible, SEXP callback) {
  glue_limit_threads();
  random_begin(reproducible);
  glue_host_begin(callback);
}

void glue_answer_end(SEXP reproducible, int status) {
  glue_host_end();
  random_end(reproducible);
  glue_check(status);
}
