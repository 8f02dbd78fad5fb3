/*
 * The ledger: a filter (proofs: gdp-filter, renyi-filter). A release is
 * charged before it is made, and refused when it would exceed the capacity that
 * was fixed before the run; adaptive costs are free under both filters:
 *   - Gaussian DP, all releases Gaussian: sum of mu^2 <= mu_total^2;
 *   - zCDP, any releases: sum of rho <= rho_total;
 *   - Renyi at one order alpha fixed before the run, any releases:
 *     sum of R(alpha) <= R_total(alpha).
 * In rho = mu^2 / 2 = R(alpha) / alpha all are the same sum with different
 * capacities.
 *
 * The filter must not depend on released values (the conversions
 * differ, and a transcript that chooses between two guarantees has neither;
 * proofs: one-accountant), so it is decided by the first charge at the latest.
 * The same holds for the neighbour relation: a release under zero-out costs more
 * under replace-one, so a sum of both is not a cost under it (proofs:
 * one-relation).
 *
 * The proof assumes one release after another. A step on a batch is one release
 * with several parts: while it is open there is no other (proofs: batch-step).
 */
#include "barrier/private.h"

#include "acct/acct.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct ledger {
  double capacity[LEDGER_RENYI + 1]; /* zero: this accountant cannot be used */
  double order;                      /* of a Renyi ledger */
  enum ledger_accountant accountant;
  enum oracle_neighbours neighbours; /* of the entries */
  int in_step;                       /* a step on a batch is open */
  double spent;
  int perturbed; /* may a perturbed minimiser be released, with this part in the capacity? */
  struct acct_perturbed minimiser;
  double carry; /* rounding error of the additions to spent (Kahan) */
  struct ledger_entry *entries;
  size_t length;
  size_t room;
  long owner; /* the process that may use it: a fork could spend the budget twice */
};

static int create(struct ledger **out);
static double capacity_under(const struct ledger *l, enum ledger_accountant accountant);
static int make_room(struct ledger *l);

int ledger_create(double gdp_capacity, double zcdp_capacity, enum ledger_accountant accountant, struct ledger **out) {
  *out = NULL;
  if (!(gdp_capacity >= 0) || !(zcdp_capacity >= 0)) return BASE_ERR_ARGUMENT;
  int status = create(out);
  if (status != BASE_OK) return status;
  (*out)->capacity[LEDGER_GDP] = gdp_capacity;
  (*out)->capacity[LEDGER_ZCDP] = zcdp_capacity;
  status = ledger_decide(*out, accountant);
  if (status == BASE_OK && gdp_capacity == 0) status = ledger_decide(*out, LEDGER_ZCDP);
  if (status == BASE_OK && zcdp_capacity == 0) status = ledger_decide(*out, LEDGER_GDP);
  if (status != BASE_OK) {
    ledger_free(*out);
    *out = NULL;
  }
  return status;
}

int ledger_create_renyi(double order, double capacity, struct ledger **out) {
  *out = NULL;
  if (!(capacity > 0) || !(order > 1) || !isfinite(order)) return BASE_ERR_ARGUMENT;
  int status = create(out);
  if (status != BASE_OK) return status;
  (*out)->capacity[LEDGER_RENYI] = capacity;
  (*out)->order = order;
  (*out)->accountant = LEDGER_RENYI;
  return BASE_OK;
}

/* The capacity is the largest mu^2 / 2 that the budget allows for all releases together. A tilt is for slopes of one
 * sign. */
int ledger_create_perturbed(double eps, double delta, const struct acct_perturbed *how, struct ledger **out) {
  *out = NULL;
  if (!(how->top >= 0) || !(how->tilt >= 0) || !(how->share > 0) || !(how->share <= 1)) return BASE_ERR_ARGUMENT;
  if (how->tilt > 0 && !how->one_sign) return BASE_ERR_ARGUMENT;
  if (!(how->top + how->tilt < eps) || !(delta > 0)) return BASE_ERR_ARGUMENT;
  double mu = acct_perturbed_mu(eps, delta, how);
  int status = ledger_create(mu * mu / 2, 0, LEDGER_GDP, out);
  if (status != BASE_OK) return status;
  (*out)->perturbed = 1;
  (*out)->minimiser = *how;
  return BASE_OK;
}

const struct acct_perturbed *ledger_perturbed(const struct ledger *ledger) {
  return ledger->perturbed ? &ledger->minimiser : NULL;
}

void ledger_take_perturbed(struct ledger *ledger) { ledger->perturbed = 0; }

static int create(struct ledger **out) {
  struct ledger *l = base_alloc(1, sizeof *l);
  if (!l) return BASE_ERR_MEMORY;
  l->accountant = LEDGER_OPEN;
  l->owner = base_process_id();
  *out = l;
  return BASE_OK;
}

void ledger_free(struct ledger *ledger) {
  if (!ledger) return;
  base_free(ledger->entries);
  base_free(ledger);
}

int ledger_decide(struct ledger *ledger, enum ledger_accountant accountant) {
  if (accountant == LEDGER_OPEN || accountant == ledger->accountant) return BASE_OK;
  if (ledger->accountant == LEDGER_RENYI) return BASE_OK;
  if (ledger->accountant != LEDGER_OPEN && ledger->length > 0) return BASE_ERR_ACCOUNTANT;
  if (!(capacity_under(ledger, accountant) > 0)) return BASE_ERR_ACCOUNTANT;
  ledger->accountant = accountant;
  return BASE_OK;
}

int ledger_charge(struct ledger *ledger, enum oracle_neighbours neighbours, int gaussian,
                  const struct ledger_entry *entry) {
  if (base_process_id() != ledger->owner) return BASE_ERR_FORK;
  if (ledger->in_step) return BASE_ERR_STEP;
  if (!(entry->rho > 0) || !isfinite(entry->rho)) return BASE_ERR_ARGUMENT;
  if (ledger->length > 0 && neighbours != ledger->neighbours) return BASE_ERR_RELATION;
  enum ledger_accountant accountant = ledger->accountant;
  if (!gaussian && accountant != LEDGER_RENYI) accountant = LEDGER_ZCDP;
  if (accountant == LEDGER_OPEN) accountant = LEDGER_GDP;
  if (accountant != ledger->accountant && ledger->length > 0) return BASE_ERR_ACCOUNTANT;
  double capacity = capacity_under(ledger, accountant);
  if (!(capacity > 0)) return BASE_ERR_ACCOUNTANT;
  double term = entry->rho - ledger->carry, spent = ledger->spent + term;
  if (!(spent <= capacity)) return BASE_ERR_BUDGET;
  int status = make_room(ledger);
  if (status != BASE_OK) return status;
  ledger->carry = (spent - ledger->spent) - term;
  ledger->spent = spent;
  ledger->accountant = accountant;
  ledger->neighbours = neighbours;
  ledger->entries[ledger->length++] = *entry;
  return BASE_OK;
}

void ledger_step_begin(struct ledger *ledger) { ledger->in_step = 1; }

void ledger_step_end(struct ledger *ledger) { ledger->in_step = 0; }

/* A charge of everything left might exceed the capacity by rounding, and be refused: this fraction is left out. */
#define CLOSE_SLACK 1e-11

int ledger_close(struct ledger *ledger, enum oracle_neighbours neighbours, double keep) {
  double unused = ledger_left(ledger) - (keep > 0 ? keep : 0) - CLOSE_SLACK * ledger_capacity(ledger);
  struct ledger_entry entry = {"unused", "none", unused, 0, 0, 0};
  if (!(unused > 0)) return BASE_OK;
  return ledger_charge(ledger, neighbours, ledger->accountant != LEDGER_ZCDP, &entry);
}

double ledger_left(const struct ledger *ledger) {
  double left = ledger_capacity(ledger) - ledger->spent;
  return left > 0 ? left : 0;
}

double ledger_spent(const struct ledger *ledger) { return ledger->spent; }

double ledger_capacity(const struct ledger *ledger) { return capacity_under(ledger, ledger->accountant); }

enum ledger_accountant ledger_accountant_of(const struct ledger *ledger) { return ledger->accountant; }

double ledger_order(const struct ledger *ledger) { return ledger->order; }

enum oracle_neighbours ledger_neighbours(const struct ledger *ledger) { return ledger->neighbours; }

size_t ledger_length(const struct ledger *ledger) { return ledger->length; }

const struct ledger_entry *ledger_at(const struct ledger *ledger, size_t i) { return &ledger->entries[i]; }

static double capacity_under(const struct ledger *l, enum ledger_accountant accountant) {
  return l->capacity[accountant == LEDGER_OPEN ? LEDGER_GDP : accountant];
}

static int make_room(struct ledger *l) {
  if (l->length < l->room) return BASE_OK;
  size_t room = l->room ? 2 * l->room : 64;
  struct ledger_entry *entries = base_alloc(room, sizeof *entries);
  if (!entries) return BASE_ERR_MEMORY;
  if (l->length) memcpy(entries, l->entries, l->length * sizeof *entries);
  base_free(l->entries);
  l->entries = entries;
  l->room = room;
  return BASE_OK;
}
