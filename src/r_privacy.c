/* Budgets: the ledger behind an external pointer, which does not copy. */
#include "acct/acct.h"
#include "ffi.h"
#include "glue.h"

/* Their names in R (R/privacy-budget.R, R/privacy-budget.R). */
static const char *const accountants[] = {
    [LEDGER_OPEN] = "auto", [LEDGER_GDP] = "gdp", [LEDGER_ZCDP] = "zcdp", [LEDGER_RENYI] = "renyi", NULL};
static const char *const relations[] = {[ORACLE_REPLACE_ONE] = "replace-one", [ORACLE_ZERO_OUT] = "zero-out", NULL};

static enum ledger_accountant arg_accountant(SEXP x) { return (enum ledger_accountant)arg_choice(x, accountants); }
enum oracle_neighbours arg_neighbours(SEXP x) { return (enum oracle_neighbours)arg_choice(x, relations); }

static void finalize_ledger(SEXP x) {
  ledger_free(R_ExternalPtrAddr(x));
  R_ClearExternalPtr(x);
}

SEXP ffi_ledger_create(SEXP gdp_capacity, SEXP zcdp_capacity, SEXP accountant) {
  SEXP out = PROTECT(glue_pointer("budget", finalize_ledger));
  struct ledger *ledger;
  glue_check(ledger_create(arg_double(gdp_capacity), arg_double(zcdp_capacity), arg_accountant(accountant), &ledger));
  R_SetExternalPtrAddr(out, ledger);
  UNPROTECT(1);
  return out;
}

SEXP ffi_ledger_create_renyi(SEXP order, SEXP capacity) {
  SEXP out = PROTECT(glue_pointer("budget", finalize_ledger));
  struct ledger *ledger;
  glue_check(ledger_create_renyi(arg_double(order), arg_double(capacity), &ledger));
  R_SetExternalPtrAddr(out, ledger);
  UNPROTECT(1);
  return out;
}

/* The numbers of a struct acct_perturbed, in its order. */
static struct acct_perturbed arg_perturbed(SEXP how) {
  const double *p = arg_doubles(how, 4);
  return (struct acct_perturbed){p[0] != 0, p[1], p[2], p[3]};
}

SEXP ffi_perturbed_mu(SEXP eps, SEXP delta, SEXP how) {
  const struct acct_perturbed p = arg_perturbed(how);
  return Rf_ScalarReal(acct_perturbed_mu(arg_double(eps), arg_double(delta), &p));
}

SEXP ffi_perturbed_epsilon(SEXP mu, SEXP delta, SEXP how) {
  const struct acct_perturbed p = arg_perturbed(how);
  return Rf_ScalarReal(acct_perturbed_epsilon(arg_double(mu), arg_double(delta), &p));
}

SEXP ffi_ledger_create_perturbed(SEXP eps, SEXP delta, SEXP how) {
  SEXP out = PROTECT(glue_pointer("budget", finalize_ledger));
  struct ledger *ledger;
  const struct acct_perturbed p = arg_perturbed(how);
  glue_check(ledger_create_perturbed(arg_double(eps), arg_double(delta), &p, &ledger));
  R_SetExternalPtrAddr(out, ledger);
  UNPROTECT(1);
  return out;
}

SEXP ffi_ledger_decide(SEXP ledger, SEXP accountant) {
  glue_check(ledger_decide(arg_ledger(ledger), arg_accountant(accountant)));
  return R_NilValue;
}

SEXP ffi_ledger_close(SEXP ledger, SEXP neighbours, SEXP keep) {
  glue_check(ledger_close(arg_ledger(ledger), arg_neighbours(neighbours), arg_double(keep)));
  return R_NilValue;
}

SEXP ffi_ledger_state(SEXP ledger) {
  const struct ledger *l = arg_ledger(ledger);
  static const char *const names[] = {"accountant", "capacity", "spent",       "left",  "what",
                                      "mechanism",  "rho",      "sensitivity", "scale", "values", "neighbours"};
  SEXP out = PROTECT(glue_list(11, names));
  R_xlen_t n = (R_xlen_t)ledger_length(l);
  SET_VECTOR_ELT(out, 0, Rf_mkString(accountants[ledger_accountant_of(l)]));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(ledger_capacity(l)));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(ledger_spent(l)));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal(ledger_left(l)));
  for (int i = 4; i < 10; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(i < 6 ? STRSXP : REALSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    const struct ledger_entry *e = ledger_at(l, (size_t)i);
    SET_STRING_ELT(VECTOR_ELT(out, 4), i, Rf_mkChar(e->what));
    SET_STRING_ELT(VECTOR_ELT(out, 5), i, Rf_mkChar(e->mechanism));
    REAL(VECTOR_ELT(out, 6))[i] = e->rho;
    REAL(VECTOR_ELT(out, 7))[i] = e->sensitivity;
    REAL(VECTOR_ELT(out, 8))[i] = e->scale;
    REAL(VECTOR_ELT(out, 9))[i] = e->values;
  }
  SET_VECTOR_ELT(out, 10, n > 0 ? Rf_mkString(relations[ledger_neighbours(l)]) : Rf_ScalarString(NA_STRING));
  UNPROTECT(1);
  return out;
}
