/*
 * Put before glue.h in a copy of the package: the glue's calls of R that allocate fail where the environment says so.
 * INJECT_AT counts down to the call that is to fail. It is gone once a call has failed.
 */
#ifndef DPSOSP_INJECT_H
#define DPSOSP_INJECT_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <stdio.h>
#include <stdlib.h>

static inline void inject(void) {
  const char *at = getenv("INJECT_AT");
  if (!at) return;
  char next[32];
  snprintf(next, sizeof next, "%d", atoi(at) - 1);
  setenv("INJECT_AT", next, 1);
  if (atoi(next) > 0) return;
  unsetenv("INJECT_AT");
  Rf_error("injected");
}

/* A name within its own macro is the function. */
#define Rf_allocVector(...) (inject(), Rf_allocVector(__VA_ARGS__))
#define Rf_allocMatrix(...) (inject(), Rf_allocMatrix(__VA_ARGS__))
#define Rf_ScalarReal(x) (inject(), Rf_ScalarReal(x))
#define Rf_ScalarInteger(x) (inject(), Rf_ScalarInteger(x))
#define Rf_ScalarLogical(x) (inject(), Rf_ScalarLogical(x))
#define Rf_mkChar(x) (inject(), Rf_mkChar(x))
#define Rf_mkString(x) (inject(), Rf_mkString(x))
#define Rf_lang2(...) (inject(), Rf_lang2(__VA_ARGS__))
#define Rf_lang3(...) (inject(), Rf_lang3(__VA_ARGS__))
#define R_MakeExternalPtr(...) (inject(), R_MakeExternalPtr(__VA_ARGS__))
#define R_RegisterCFinalizerEx(...) (inject(), R_RegisterCFinalizerEx(__VA_ARGS__))
#define R_PreserveObject(x) (inject(), R_PreserveObject(x))
#define R_alloc(...) (inject(), R_alloc(__VA_ARGS__))
#define PutRNGstate() (inject(), PutRNGstate())

#endif
