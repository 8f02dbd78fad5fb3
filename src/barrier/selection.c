/*
 * Draws how often which candidates are run, when only the best of all runs is released. The cost is charged here,
 * before the number is drawn. The number and the candidates are secret: they leave only through the chosen run. A
 * Poisson number that is zero is drawn again (proofs: best-of-runs, selection-order).
 */
#include "barrier/private.h"
#include "acct/acct.h"
#include "mech/mech.h"

#include <math.h>

static int draw_count(const struct base_entropy *e, const struct selection *s, size_t *count) {
  int status;
  do status = s->law == SELECTION_POISSON ? mech_poisson(e, s->mean, count) : mech_geometric(e, s->mean, count);
  while (status == BASE_OK && *count == 0);
  return status;
}

double selection_cost(const struct selection *s, double order) {
  const struct acct_selection runs = {s->law == SELECTION_POISSON ? ACCT_POISSON_RUNS : ACCT_GEOMETRIC_RUNS,
                                      (double)s->mean, s->mu};
  return acct_selection_rdp(&runs, order) / order;
}

int selection_open(const struct selection *s, struct ledger *ledger, const struct base_entropy *e,
                   enum oracle_neighbours neighbours, size_t *runs) {
  *runs = 0;
  if (s->mean == 0 || s->candidates == 0 || !(s->mu > 0)) return BASE_ERR_ARGUMENT;
  if (ledger_accountant_of(ledger) != LEDGER_RENYI) return BASE_ERR_ACCOUNTANT;
  const struct ledger_entry entry = {"best of runs", "random runs", selection_cost(s, ledger_order(ledger)), 0, 0, 0};
  int status = ledger_charge(ledger, neighbours, 0, &entry);
  return status == BASE_OK ? draw_count(e, s, runs) : status;
}

int selection_candidate(const struct selection *s, const struct base_entropy *e, size_t *index) {
  return mech_uniform(e, s->candidates, index);
}
