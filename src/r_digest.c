/* Digests of columns that come in chunks, to tell whether two passes gave the same rows (R/source-stream.R). */
#include "ffi.h"
#include "glue.h"

#include <math.h>
#include <string.h>

/* A bijection of the state for every word, and of the word for every state: a single change is always detected, and
 * other changes except with probability 2^-64, as far as the products mix. The order matters. It does not resist
 * someone who searches for collisions: readers are trusted. */
static uint64_t mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  return state ^ (state >> 32);
}

/* All kinds of NaN give one digest: the kind may depend on the order of an addition in compiled code. */
static uint64_t mix_double(uint64_t state, double value) {
  uint64_t word = UINT64_C(0x7ff8000000000000);
  if (!isnan(value)) memcpy(&word, &value, sizeof word);
  return mix(state, word);
}

static uint64_t mix_string(uint64_t state, SEXP string) {
  const unsigned char *text = (const unsigned char *)CHAR(string);
  state = mix(state, string == NA_STRING ? UINT64_MAX : (uint64_t)LENGTH(string));
  for (R_xlen_t i = 0; i < LENGTH(string); i++) state = mix(state, text[i]);
  return state;
}

/* Updates the eight raw bytes by the values of column in order, so the result does not depend on the chunks. A whole
 * number gives the same digest as an integer and as a double. */
SEXP ffi_column_digest(SEXP digest, SEXP column) {
  uint64_t state;
  if (TYPEOF(digest) != RAWSXP || XLENGTH(digest) != (R_xlen_t)sizeof state) {
    Rf_error("internal: a digest was expected");
  }
  memcpy(&state, RAW(digest), sizeof state);
  R_xlen_t n = XLENGTH(column);
  if (TYPEOF(column) == REALSXP) {
    const double *value = REAL(column);
    for (R_xlen_t i = 0; i < n; i++) state = mix_double(state, value[i]);
  } else if (TYPEOF(column) == INTSXP || TYPEOF(column) == LGLSXP) {
    const int *value = TYPEOF(column) == INTSXP ? INTEGER(column) : LOGICAL(column);
    for (R_xlen_t i = 0; i < n; i++) state = mix_double(state, value[i] == NA_INTEGER ? NA_REAL : value[i]);
  } else if (TYPEOF(column) == STRSXP) {
    for (R_xlen_t i = 0; i < n; i++) state = mix_string(state, STRING_ELT(column, i));
  } else {
    Rf_error("internal: a column was expected");
  }
  SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)sizeof state));
  memcpy(RAW(out), &state, sizeof state);
  UNPROTECT(1);
  return out;
}
