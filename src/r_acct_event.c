/* Accounting of events: a plan is a matrix of leaves (kind, a, b, c, times, step) and vectors over its steps. */
#include "glue.h"
#include "ffi.h"
#include "acct/acct.h"

#include <R.h>
#include <math.h>

struct plan {
  struct acct_step *step;
  size_t steps;
};

/* Memory of R_alloc: released when .Call returns. */
static struct plan arg_plan(SEXP leaves, SEXP amplification, SEXP rate, SEXP times) {
  R_xlen_t rows = XLENGTH(leaves) / 6, steps = XLENGTH(rate);
  const double *x = arg_doubles(leaves, rows * 6), *a = arg_doubles(amplification, steps);
  const double *r = arg_doubles(rate, steps), *t = arg_doubles(times, steps);
  struct acct_leaf *leaf = (struct acct_leaf *)R_alloc((size_t)rows, sizeof *leaf);
  struct plan plan = {(struct acct_step *)R_alloc((size_t)steps, sizeof *plan.step), (size_t)steps};
  for (R_xlen_t i = 0; i < rows; i++) {
    leaf[i] = (struct acct_leaf){(enum acct_kind)x[i], x[rows + i], x[2 * rows + i], x[3 * rows + i], x[4 * rows + i]};
  }
  R_xlen_t row = 0;
  for (R_xlen_t s = 0; s < steps; s++) {
    R_xlen_t begin = row;
    while (row < rows && (R_xlen_t)x[5 * rows + row] == s) row++;
    plan.step[s] = (struct acct_step){leaf + begin, (size_t)(row - begin), (enum acct_amplification)a[s], r[s], t[s]};
  }
  return plan;
}

static SEXP pair_of_doubles(double x, double y) {
  SEXP value = Rf_allocVector(REALSXP, 2);
  REAL(value)[0] = x;
  REAL(value)[1] = y;
  return value;
}

SEXP ffi_rdp_curve(SEXP leaves, SEXP amplification, SEXP rate, SEXP times, SEXP order) {
  struct plan plan = arg_plan(leaves, amplification, rate, times);
  R_xlen_t n = XLENGTH(order);
  SEXP value = PROTECT(Rf_allocVector(REALSXP, n));
  glue_check(acct_rdp_curve(plan.step, plan.steps, (size_t)n, arg_doubles(order, n), REAL(value)));
  UNPROTECT(1);
  return value;
}

SEXP ffi_rdp_epsilon(SEXP leaves, SEXP amplification, SEXP rate, SEXP times, SEXP delta) {
  struct plan plan = arg_plan(leaves, amplification, rate, times);
  double eps, order;
  glue_check(acct_rdp_epsilon(plan.step, plan.steps, arg_double(delta), &eps, &order));
  return pair_of_doubles(eps, order);
}

SEXP ffi_rdp_log_delta(SEXP leaves, SEXP amplification, SEXP rate, SEXP times, SEXP eps) {
  struct plan plan = arg_plan(leaves, amplification, rate, times);
  double log_delta, order;
  glue_check(acct_rdp_log_delta(plan.step, plan.steps, arg_double(eps), &log_delta, &order));
  return pair_of_doubles(log_delta, order);
}

SEXP ffi_rdp_budget(SEXP order, SEXP eps, SEXP delta) {
  return Rf_ScalarReal(acct_rdp_budget(arg_double(order), arg_double(eps), arg_double(delta)));
}

SEXP ffi_pld_epsilon(SEXP leaves, SEXP amplification, SEXP rate, SEXP times, SEXP delta, SEXP optimistic) {
  struct plan plan = arg_plan(leaves, amplification, rate, times);
  enum acct_bound bound = arg_flag(optimistic) ? ACCT_OPTIMISTIC : ACCT_PESSIMISTIC;
  double eps;
  glue_check(acct_pld_epsilon(plan.step, plan.steps, arg_double(delta), bound, &eps));
  return Rf_ScalarReal(eps);
}

SEXP ffi_pld_log_delta(SEXP leaves, SEXP amplification, SEXP rate, SEXP times, SEXP eps, SEXP optimistic) {
  struct plan plan = arg_plan(leaves, amplification, rate, times);
  enum acct_bound bound = arg_flag(optimistic) ? ACCT_OPTIMISTIC : ACCT_PESSIMISTIC;
  double log_delta;
  glue_check(acct_pld_log_delta(plan.step, plan.steps, arg_double(eps), bound, &log_delta));
  return Rf_ScalarReal(log_delta);
}

SEXP ffi_leaf_zcdp(SEXP leaves, SEXP amplification, SEXP rate, SEXP times) {
  struct plan plan = arg_plan(leaves, amplification, rate, times);
  double rho = 0.0;
  for (size_t s = 0; s < plan.steps; s++) {
    for (size_t i = 0; i < plan.step[s].leaves; i++) {
      rho += plan.step[s].times * acct_leaf_zcdp(&plan.step[s].leaf[i]);
    }
  }
  return Rf_ScalarReal(rho);
}
