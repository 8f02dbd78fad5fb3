/* The best of a random number of runs: its cost, and the candidates of the runs. */
#include "ffi.h"
#include "glue.h"
#include "barrier/barrier.h"

/* Their names in R (R/tool-tune.R). */
static const char *const laws[] = {[SELECTION_POISSON] = "poisson", [SELECTION_GEOMETRIC] = "geometric", NULL};

static struct selection arg_selection(SEXP law, SEXP mean, int of, SEXP mu) {
  int number = arg_int(mean);
  if (number < 1 || of < 1) Rf_error("internal: positive numbers were expected");
  return (struct selection){(enum selection_law)arg_choice(law, laws), (uint32_t)number, (uint32_t)of, arg_double(mu)};
}

/* The divergence at this order, divided by the order. */
SEXP ffi_selection_cost(SEXP law, SEXP mean, SEXP mu, SEXP order) {
  const struct selection s = arg_selection(law, mean, 1, mu);
  return Rf_ScalarReal(selection_cost(&s, arg_double(order)));
}

/* Charges the cost, and returns the index of each run's candidate: these, and their number, are secret. */
SEXP ffi_selection_draw(SEXP budget, SEXP law, SEXP mean, SEXP candidates, SEXP mu, SEXP neighbours,
                        SEXP reproducible) {
  const struct selection s = arg_selection(law, mean, arg_int(candidates), mu);
  struct ledger *ledger = arg_ledger(budget);
  const struct base_entropy *entropy = arg_entropy(reproducible);
  enum oracle_neighbours relation = arg_neighbours(neighbours);
  size_t runs, index = 0;
  glue_answer_begin(reproducible, R_NilValue);
  glue_answer_end(reproducible, selection_open(&s, ledger, entropy, relation, &runs));
  SEXP out = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)runs));
  int status = BASE_OK;
  glue_answer_begin(reproducible, R_NilValue);
  for (size_t i = 0; i < runs && status == BASE_OK; i++) {
    status = selection_candidate(&s, entropy, &index);
    INTEGER(out)[i] = (int)index + 1;
  }
  glue_answer_end(reproducible, status);
  UNPROTECT(1);
  return out;
}
