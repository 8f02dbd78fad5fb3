/* Conversions of acct/acct.h, elementwise over two vectors of one length (R recycles them). */
#include "glue.h"
#include "ffi.h"
#include "acct/acct.h"

static SEXP map2(SEXP x, SEXP y, double (*f)(double, double)) {
  R_xlen_t n = XLENGTH(x);
  const double *px = arg_doubles(x, n), *py = arg_doubles(y, n);
  SEXP value = PROTECT(Rf_allocVector(REALSXP, n));
  for (R_xlen_t i = 0; i < n; i++) REAL(value)[i] = f(px[i], py[i]);
  UNPROTECT(1);
  return value;
}

SEXP ffi_gdp_delta(SEXP mu, SEXP eps) { return map2(mu, eps, acct_gdp_delta); }
SEXP ffi_gdp_epsilon(SEXP mu, SEXP delta) { return map2(mu, delta, acct_gdp_epsilon); }
SEXP ffi_gdp_mu(SEXP eps, SEXP delta) { return map2(eps, delta, acct_gdp_mu); }
SEXP ffi_zcdp_delta(SEXP rho, SEXP eps) { return map2(rho, eps, acct_zcdp_delta); }
SEXP ffi_zcdp_epsilon(SEXP rho, SEXP delta) { return map2(rho, delta, acct_zcdp_epsilon); }
SEXP ffi_zcdp_rho(SEXP eps, SEXP delta) { return map2(eps, delta, acct_zcdp_rho); }
