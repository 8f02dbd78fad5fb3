/* Oracles without rows, for plans: facts about releases that could be made, and no release (engine/planned.c). */
#include "ffi.h"
#include "r_data.h"

#include <string.h>

/* n: a number, as it may exceed an integer; dense, indicators: as in ffi_oracle_create_stream(). */
SEXP ffi_oracle_planned(SEXP n, SEXP dense, SEXP indicators, SEXP intercept, SEXP radius, SEXP loss, SEXP parameter,
                        SEXP ledger, SEXP neighbours) {
  if (TYPEOF(indicators) != INTSXP) Rf_error("internal: numbers of indicators were expected");
  const struct data_columns columns = {
      .dense = (size_t)arg_int(dense), .factors = (size_t)XLENGTH(indicators), .indicators = INTEGER(indicators)};
  const double rows = arg_double(n);
  if (!(rows >= 1 && rows <= 0x1p53)) Rf_error("internal: a number of rows was expected");
  struct ledger *budget = arg_ledger(ledger);
  struct bundle *b;
  SEXP out = PROTECT(bundle_create("oracle", ledger, &b));
  glue_check(loss_create(arg_string(loss), arg_double(parameter), &b->loss));
  glue_check(engine_planned(&columns, (size_t)rows, arg_flag(intercept), arg_double(radius), &b->engine));
  b->model = model_linear(b->engine.rows, b->loss);
  bundle_open(b, budget, neighbours, Rf_ScalarLogical(0));
  UNPROTECT(1);
  return out;
}

/* The sd that the release of a query at w would have, of rows or without them. w NULL: a point that is not known yet.
 * clip: of residuals, or of second
 * derivatives. */
SEXP ffi_oracle_sd(SEXP oracle, SEXP query, SEXP w, SEXP clip, SEXP rho) {
  static const char *const names[] = {
      "gradient",          "hessian",          "majorant",        "weighted",      "moments",
      "residual gradient", "residual hessian", "residual counts", "recalibration", "class hessian", NULL};
  static const struct query *const queries[] = {
      &query_gradient,          &query_hessian,          &query_majorant,        &query_weighted,     &query_moments,
      &query_residual_gradient, &query_residual_hessian, &query_residual_counts, &query_recalibration,
      &query_class_hessian};
  static const double ends[] = {1, 2};
  struct oracle *o = arg_bundle(oracle)->oracle;
  double *most = (double *)R_alloc(oracle_dim(o), sizeof(double)); /* like ends, hardly changes the noise */
  memset(most, 0, oracle_dim(o) * sizeof(double));
  const double *at = Rf_isNull(w) ? most : arg_doubles(w, (R_xlen_t)oracle_dim(o));
  struct ask ask = {.at = at, .along = at, .k = 2, .step = ends, .clip = arg_double(clip), .most = most};
  const struct query *q = queries[arg_choice(query, names)];
  if (Rf_isNull(w) && q == &query_gradient) ask.at = NULL;
  glue_check(release_fits(oracle_all(o), q, &ask));
  return Rf_ScalarReal(release_sd(oracle_all(o), q, &ask, arg_double(rho)));
}
