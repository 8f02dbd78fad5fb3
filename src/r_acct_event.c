/* Accounting of events: a plan is a list of its leaves and its steps, lists of columns (event_plan() in
 * R/privacy-event.R). */
#include "glue.h"
#include "ffi.h"
#include "acct/acct.h"

#include <R.h>
#include <math.h>

/* Their names in R. */
static const char *const kinds[] = {[ACCT_GAUSSIAN] = "gaussian",
                                    [ACCT_LAPLACE] = "laplace",
                                    [ACCT_PURE] = "pure",
                                    [ACCT_EXPONENTIAL] = "exponential",
                                    [ACCT_SVT_LAPLACE] = "svt_laplace",
                                    [ACCT_SVT_GAUSSIAN] = "svt_gaussian",
                                    NULL};
static const char *const amplifications[] = {
    [ACCT_PLAIN] = "none", [ACCT_MIXTURE] = "mixture", [ACCT_PROFILE] = "profile", NULL};

struct composition {
  struct acct_round *round;
  size_t rounds;
};

/* The choice for an element of a vector of strings. */
static int choice_at(SEXP x, R_xlen_t i, const char *const *choices) {
  if (TYPEOF(x) != STRSXP) Rf_error("internal: strings were expected");
  int choice = arg_choice(PROTECT(Rf_ScalarString(STRING_ELT(x, i))), choices);
  UNPROTECT(1);
  return choice;
}

/* In memory of R_alloc, which is released when .Call returns. */
static struct acct_leaf *arg_leaves(SEXP leaves, R_xlen_t n) {
  SEXP kind = arg_element(leaves, "kind");
  if (XLENGTH(kind) != n) Rf_error("internal: other leaves were expected");
  const double *a = arg_doubles(arg_element(leaves, "a"), n), *b = arg_doubles(arg_element(leaves, "b"), n),
               *c = arg_doubles(arg_element(leaves, "c"), n), *times = arg_doubles(arg_element(leaves, "times"), n);
  struct acct_leaf *leaf = (struct acct_leaf *)R_alloc((size_t)n, sizeof *leaf);
  for (R_xlen_t i = 0; i < n; i++) {
    leaf[i] = (struct acct_leaf){(enum acct_kind)choice_at(kind, i, kinds), a[i], b[i], c[i], times[i]};
  }
  return leaf;
}

/* The leaves are in the order of the rounds: those of the first round, then those of the second and so on. */
static struct composition arg_composition(SEXP plan) {
  SEXP steps = arg_element(plan, "steps"), amplification = arg_element(steps, "amplification");
  R_xlen_t n = XLENGTH(amplification), leaves = 0;
  const double *rate = arg_doubles(arg_element(steps, "rate"), n), *times = arg_doubles(arg_element(steps, "times"), n);
  SEXP sizes = arg_element(steps, "leaves");
  if (TYPEOF(sizes) != INTSXP || XLENGTH(sizes) != n) Rf_error("internal: numbers of leaves were expected");
  for (R_xlen_t s = 0; s < n; s++) leaves += INTEGER(sizes)[s];
  const struct acct_leaf *leaf = arg_leaves(arg_element(plan, "leaves"), leaves);
  struct composition of = {(struct acct_round *)R_alloc((size_t)n, sizeof *of.round), (size_t)n};
  for (R_xlen_t s = 0; s < n; s++) {
    of.round[s] =
        (struct acct_round){leaf, (size_t)INTEGER(sizes)[s],
                            (enum acct_amplification)choice_at(amplification, s, amplifications), rate[s], times[s]};
    leaf += INTEGER(sizes)[s];
  }
  return of;
}

/* A value with its order. */
static SEXP at_order(const char *name, double value, double order) {
  const char *const names[] = {name, "order"};
  const double x[] = {value, order};
  return glue_numbers(2, names, x);
}

SEXP ffi_rdp_curve(SEXP plan, SEXP order) {
  struct composition of = arg_composition(plan);
  R_xlen_t n = XLENGTH(order);
  SEXP value = PROTECT(Rf_allocVector(REALSXP, n));
  glue_check(acct_rdp_curve(of.round, of.rounds, (size_t)n, arg_doubles(order, n), REAL(value)));
  UNPROTECT(1);
  return value;
}

SEXP ffi_rdp_epsilon(SEXP plan, SEXP delta) {
  struct composition of = arg_composition(plan);
  double eps, order;
  glue_check(acct_rdp_epsilon(of.round, of.rounds, arg_double(delta), &eps, &order));
  return at_order("eps", eps, order);
}

SEXP ffi_rdp_log_delta(SEXP plan, SEXP eps) {
  struct composition of = arg_composition(plan);
  double log_delta, order;
  glue_check(acct_rdp_log_delta(of.round, of.rounds, arg_double(eps), &log_delta, &order));
  return at_order("log_delta", log_delta, order);
}

SEXP ffi_rdp_budget(SEXP order, SEXP eps, SEXP delta) {
  return Rf_ScalarReal(acct_rdp_budget(arg_double(order), arg_double(eps), arg_double(delta)));
}

SEXP ffi_pld_epsilon(SEXP plan, SEXP delta, SEXP optimistic) {
  struct composition of = arg_composition(plan);
  enum acct_bound bound = arg_flag(optimistic) ? ACCT_OPTIMISTIC : ACCT_PESSIMISTIC;
  double eps;
  glue_check(acct_pld_epsilon(of.round, of.rounds, arg_double(delta), bound, &eps));
  return Rf_ScalarReal(eps);
}

SEXP ffi_pld_log_delta(SEXP plan, SEXP eps, SEXP optimistic) {
  struct composition of = arg_composition(plan);
  enum acct_bound bound = arg_flag(optimistic) ? ACCT_OPTIMISTIC : ACCT_PESSIMISTIC;
  double log_delta;
  glue_check(acct_pld_log_delta(of.round, of.rounds, arg_double(eps), bound, &log_delta));
  return Rf_ScalarReal(log_delta);
}

SEXP ffi_leaf_zcdp(SEXP plan) {
  struct composition of = arg_composition(plan);
  double rho = 0.0;
  for (size_t s = 0; s < of.rounds; s++) {
    for (size_t i = 0; i < of.round[s].leaves; i++) {
      rho += of.round[s].times * acct_leaf_zcdp(&of.round[s].leaf[i]);
    }
  }
  return Rf_ScalarReal(rho);
}
