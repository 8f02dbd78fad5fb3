/* What a budget's store needs of the core (R/privacy-store.R): hashes of its rows, and random names. */
#include "ffi.h"
#include "glue.h"

/* Returns 2 * bytes digits. */
static SEXP hexadecimal(const unsigned char *byte, int bytes) {
  static const char digit[] = "0123456789abcdef";
  char text[2 * BASE_SHA256_BYTES];
  for (int i = 0; i < bytes; i++) {
    text[2 * i] = digit[byte[i] >> 4];
    text[2 * i + 1] = digit[byte[i] & 15];
  }
  return Rf_mkCharLen(text, 2 * bytes);
}

/* The SHA-256 of each text, whose bytes are taken as they are. */
SEXP ffi_sha256(SEXP texts) {
  if (TYPEOF(texts) != STRSXP) Rf_error("internal: texts were expected");
  SEXP out = PROTECT(Rf_allocVector(STRSXP, XLENGTH(texts)));
  for (R_xlen_t i = 0; i < XLENGTH(texts); i++) {
    unsigned char digest[BASE_SHA256_BYTES];
    SEXP text = STRING_ELT(texts, i);
    base_sha256(CHAR(text), (size_t)LENGTH(text), digest);
    SET_STRING_ELT(out, i, hexadecimal(digest, BASE_SHA256_BYTES));
  }
  UNPROTECT(1);
  return out;
}

/* 128 bits of the operating system's generator, so that no two have one name, whatever R's seed is. */
SEXP ffi_random_id(void) {
  unsigned char byte[16];
  glue_check(base_entropy_system.fill(byte, sizeof byte));
  return Rf_ScalarString(hexadecimal(byte, sizeof byte));
}
