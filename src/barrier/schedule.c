/*
 * Steps on batches. The charge is the Renyi divergence, at the ledger's
 * order, of everything that a step may release on its batch, amplified once
 * (proofs: amplification): the base mechanism is the adaptive composition of a
 * gradient and second-order releases, all Gaussian, so it is Gaussian with
 * mu^2 = mu_g^2 + mu_H^2. Under replace-one both schemes amplify its pair of neighbouring
 * batches, under zero-out only Poisson does
 * (proofs: replace-one-batches, zero-out-batches).
 *
 * Or the step is a sparse vector alone, an eps-DP mechanism, which is amplified as
 * such under both relations and schemes (proofs: pure-batches). It cannot
 * share a batch with a gradient: conditional on the gradient, the batch gives
 * no further amplification.
 *
 * Second-order releases are a Hessian, or the trace and the direction of
 * Newton's method (proofs: steps-on-batches). The scale of a direction's noise depends on earlier releases of the step.
 * This changes nothing: given these releases, the scale is the
 * same for both neighbours and the means differ by at most the sensitivity, so
 * one random map takes the pair N(0, 1), N(mu, 1) to the step's releases on any
 * two neighbouring batches, and the mixtures of that pair as well.
 *
 * The divergence of a composition on one batch exceeds the sum of the parts'
 * divergences and cannot be charged release by release: a filter adds conditional
 * divergences, and conditional on the first release the batch gives no further
 * amplification. Therefore a step is charged when it is opened, and the ledger
 * takes no other charge before it is closed.
 *
 * A batch depends on no record, so its number of rows may be known; but sums
 * are divided by the public size (proofs: batch-divisor).
 */
#include "acct/acct.h"
#include "barrier/private.h"
#include "mech/mech.h"

#include <math.h>
#include <string.h>

/* Copying the rows costs as much as gathering this fraction of all rows from their columns. */
#define COPY_SHARE 0.25

static int check_sampling(const struct oracle *o, const struct sampling *how) {
  if (!(ledger_order(o->ledger) > 0)) return BASE_ERR_ACCOUNTANT;
  const struct batch none = {.size = how->size};
  const struct task task = {.model = &o->model, .of = &none};
  if (o->engine.rows->share) return BASE_ERR_ARGUMENT; /* a batch is of records, not of persons */
  if (!o->engine.kind->can(&o->engine, &query_gradient.sum, &task)) return BASE_ERR_ARGUMENT;
  if (!(how->size > 0) || !(how->size < (double)data_rows(o->engine.rows))) return BASE_ERR_ARGUMENT;
  if (how->scheme == SCHEME_POISSON) return BASE_OK;
  return how->size == floor(how->size) && o->neighbours == ORACLE_REPLACE_ONE ? BASE_OK : BASE_ERR_ARGUMENT;
}

/* The part that the ledger's entry describes: the step's first query. */
static int first_part(const struct schedule *how) {
  if (how->share[PART_CHOICE] > 0) return PART_CHOICE;
  return how->share[PART_SLOPE] > 0 ? PART_SLOPE : PART_CURVATURE;
}

static const struct query *first_query(int first, const struct ask *ask) {
  static const struct query *const asked[PARTS] = {
      [PART_SLOPE] = &query_gradient, [PART_CURVATURE] = &query_hessian, [PART_CHOICE] = &query_batch_step};
  return first == PART_SLOPE && ask->clip > 0 ? &query_clipped_gradient : asked[first];
}

/* A sparse vector must be alone, and noisy decreases need a gradient. */
static int check_schedule(const struct schedule *how) {
  double total = 0;
  for (int part = 0; part < PARTS; part++) {
    if (!(how->share[part] >= 0)) return BASE_ERR_ARGUMENT;
    total += how->share[part];
  }
  if (!(total <= 1) || !(total > 0)) return BASE_ERR_ARGUMENT;
  if (how->share[PART_CHOICE] > 0 && how->share[PART_CHOICE] < total) return BASE_ERR_ARGUMENT;
  return how->share[PART_DECREASE] > 0 && how->share[PART_SLOPE] == 0 ? BASE_ERR_ARGUMENT : BASE_OK;
}

static int check_ask(struct oracle *o, const struct schedule *how, const struct ask *ask) {
  const struct batch none = {.size = how->sampling.size};
  const struct scope before = {.oracle = o, .of = &none};
  if (how->share[PART_CURVATURE] > 0 && o->model.dim > ORACLE_MOST_DIM) return BASE_ERR_ARGUMENT;
  if (o->model.network && how->share[PART_CURVATURE] > 0) return BASE_ERR_ARGUMENT;
  return release_check(&before, first_query(first_part(how), ask), ask);
}

/* first: the part with which the step begins. */
static int find_base(const struct oracle *o, const struct sampling *how, int first, double cost,
                     struct amplified *found) {
  int status = check_sampling(o, how);
  if (status != BASE_OK) return status;
  if (!(cost > 0) || !isfinite(cost)) return BASE_ERR_ARGUMENT;
  if (found->cost == cost && found->how.scheme == how->scheme && found->how.size == how->size) return BASE_OK;
  const struct acct_sampled sampled = {.n = (double)data_rows(o->engine.rows),
                                       .size = how->size,
                                       .order = ledger_order(o->ledger),
                                       .amplification = scope_replaces(&o->all) ? ACCT_PROFILE : ACCT_MIXTURE};
  double rho;
  if (first == PART_CHOICE) {
    rho = acct_sampled_eps(&sampled, cost);
  } else {
    status = acct_sampled_rho(&sampled, cost, &rho);
  }
  if (status == BASE_OK) *found = (struct amplified){*how, cost, rho};
  return status;
}

static int describe(struct oracle *o, const struct schedule *how, const struct ask *ask, double rho,
                    struct ledger_entry *entry) {
  static const char *const names[PARTS] = {"batch gradient", "batch hessian", "", "batch line search"};
  const struct batch none = {.size = how->sampling.size};
  const struct scope before = {.oracle = o, .of = &none};
  int first = first_part(how), parts = 0;
  const struct query *q = first_query(first, ask);
  struct noise noise = {.sensitivity = q->sensitivity(&before, ask, 0)};
  size_t k = release_answers(&before, q, ask);
  int status = q->mechanism->scale(k, rho * how->share[first], &noise);
  for (int part = 0; part < PARTS; part++) parts += how->share[part] > 0;
  entry->what = parts > 1 ? "batch step" : names[first];
  entry->mechanism = first == PART_CHOICE ? "sparse vector on a batch" : "gaussian on a batch";
  entry->sensitivity = noise.sensitivity;
  entry->scale = noise.scale;
  entry->values = first == PART_CHOICE ? (double)k : 1 / how->share[first];
  return status;
}

static int draw(struct oracle *o, const struct sampling *how) {
  struct batch *rows = &o->batch;
  size_t n = data_rows(o->engine.rows);
  rows->size = how->size;
  if (how->scheme == SCHEME_POISSON) {
    return mech_subset_poisson(o->entropy, n, how->size / (double)n, &rows->row, &rows->count);
  }
  rows->row = base_alloc((size_t)how->size, sizeof *rows->row);
  if (!rows->row) return BASE_ERR_MEMORY;
  rows->count = (size_t)how->size;
  int status = mech_subset_fixed(o->entropy, n, rows->count, rows->row);
  if (status != BASE_OK) rows->count = 0;
  return status;
}

/* Copies the rows once gathering without a copy has cost as much: at most twice the least possible time. */
static void gather_from_records(struct oracle *o) {
  o->drawn += (double)o->batch.count;
  if (!o->records && o->drawn > COPY_SHARE * (double)data_rows(o->engine.rows))
    o->records = data_records(o->engine.rows);
  o->batch.records = o->records;
}

void step_close(struct oracle *o) {
  struct batch *rows = &o->batch;
  if (rows->size > 0) ledger_step_end(o->ledger);
  if (rows->row) memset(rows->row, 0, rows->count * sizeof *rows->row);
  base_free(rows->row);
  memset(rows, 0, sizeof *rows);
  memset(o->step.left, 0, sizeof o->step.left);
}

int step_open(struct oracle *o, const struct schedule *how, const struct ask *ask, double cost) {
  step_close(o);
  int status = check_schedule(how), first = first_part(how);
  struct amplified *bought = &o->bought[first];
  struct ledger_entry entry = {.rho = cost};
  if (status == BASE_OK) status = check_ask(o, how, ask);
  if (status == BASE_OK) status = find_base(o, &how->sampling, first, cost, bought);
  if (status == BASE_OK) status = describe(o, how, ask, bought->rho, &entry);
  if (status == BASE_OK) status = ledger_charge(o->ledger, o->neighbours, 0, &entry);
  if (status != BASE_OK) return status;
  ledger_step_begin(o->ledger);
  status = draw(o, &how->sampling);
  if (status != BASE_OK) {
    step_close(o);
    return status;
  }
  gather_from_records(o);
  for (int part = 0; part < PARTS; part++) o->step.left[part] = bought->rho * how->share[part];
  return BASE_OK;
}

double step_left(const struct oracle *o, const struct query *q) {
  return q->part == PART_NONE ? 0 : o->step.left[q->part];
}

void oracle_batches_end(struct oracle *o) {
  step_close(o);
  fresh_close(o);
  data_records_free(o->records);
  o->records = NULL;
  o->drawn = 0;
}

double step_sd(struct oracle *o, const struct sampling *how, const struct query *q, const struct ask *ask,
               double cost) {
  if (q->part == PART_NONE || q->part == PART_DECREASE) return INFINITY;
  const struct batch none = {.size = how->size};
  const struct scope before = {.oracle = o, .of = &none};
  int status = find_base(o, how, q->part, cost, &o->bought[q->part]);
  return status == BASE_OK ? release_sd(&before, q, ask, o->bought[q->part].rho) : INFINITY;
}
