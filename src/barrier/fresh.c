/*
 * Fresh records: each is in at most one leaf, whatever the queries are. The records of a leaf follow from a random
 * order that does not depend on them and from the sizes of earlier leaves, which follow from releases. So replacing a
 * record changes one leaf, and the cost of this leaf is the cost of all queries
 * (proofs: fresh-records). A stream gives its records in the order in which they come.
 */
#include "barrier/private.h"
#include "mech/mech.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void wipe(struct oracle *o, struct fresh *f) {
  if (f && f->order) memset(f->order, 0, data_rows(o->engine.rows) * sizeof *f->order);
  if (f) base_free(f->order);
  base_free(f);
}

static struct fresh *make(const struct oracle *o, double rho) {
  struct fresh *f = base_alloc(1, sizeof *f);
  if (!f) return NULL;
  f->rho = rho;
  f->owner = base_process_id();
  if (o->engine.kind->begin) return f;
  f->order = base_alloc(data_rows(o->engine.rows), sizeof *f->order);
  if (f->order) return f;
  base_free(f);
  return NULL;
}

/* All releases together have this sensitivity, in units of their noise. */
static int charge(struct oracle *o, double rho) {
  const struct ledger_entry entry = {"fresh records", "gaussian", rho, sqrt(2 * rho), 1, 1};
  return ledger_charge(o->ledger, o->neighbours, 1, &entry);
}

/* Can the engine sum such batches, and are the leaves of the model bounded? */
static int can_open(const struct oracle *o) {
  if (o->model.outputs > 1 || o->model.network) return 0;
  const struct batch one = {.count = 1, .size = 1, .next = o->engine.kind->begin != NULL};
  const struct task task = {.model = &o->model, .of = &one};
  return scope_can(&o->all, &query_gradient.sum, &task);
}

int fresh_open(struct oracle *o, double rho) {
  fresh_close(o);
  if (!can_open(o)) return BASE_ERR_ARGUMENT;
  struct fresh *f = make(o, rho);
  if (!f) return BASE_ERR_MEMORY;
  int status = charge(o, rho);
  if (status != BASE_OK) {
    wipe(o, f);
    return status;
  }
  o->fresh = f;
  status =
      f->order ? mech_permutation(o->entropy, data_rows(o->engine.rows), f->order) : o->engine.kind->begin(&o->engine);
  if (status != BASE_OK) fresh_close(o);
  return status;
}

void fresh_close(struct oracle *o) {
  if (!o->fresh) return;
  if (!o->fresh->order) o->engine.kind->end(&o->engine);
  fresh_end_epoch(o->fresh);
  wipe(o, o->fresh);
  o->fresh = NULL;
}

void fresh_end_epoch(struct fresh *f) {
  struct epoch_sums *e = &f->epoch;
  if (e->leaves) memset(e->leaves, 0, e->how.leaves * e->dim * sizeof(double));
  if (e->hessian) memset(e->hessian, 0, e->dim * e->dim * sizeof(double));
  base_free(e->leaves);
  base_free(e->hessian);
  base_free(e->sums); /* released, like the point, so not wiped */
  base_free(e->at);
  memset(e, 0, sizeof *e);
}

size_t fresh_left(const struct oracle *o) { return o->fresh ? data_rows(o->engine.rows) - o->fresh->used : 0; }

struct scope fresh_scope(struct oracle *o, const struct batch *batch) {
  return (struct scope){.oracle = o, .of = batch, .exact = 1, .whole = o->fresh->rho};
}

static int compare(const void *x, const void *y) {
  size_t a = *(const size_t *)x, b = *(const size_t *)y;
  return (a > b) - (a < b);
}

int fresh_take(struct oracle *o, struct batch *batch) {
  struct fresh *f = o->fresh;
  size_t count = batch->count;
  if (base_process_id() != f->owner) return BASE_ERR_FORK;
  if (count > fresh_left(o)) return BASE_ERR_RECORDS;
  if (f->order) {
    batch->row = f->order + f->used;
    qsort(batch->row, count, sizeof *batch->row, compare);
  }
  batch->next = !f->order;
  f->used += count;
  return BASE_OK;
}

int fresh_release(struct oracle *o, const struct query *q, const struct ask *a, size_t records, struct answer out) {
  if (!o->fresh || records == 0 || !q->mechanism->gaussian) return BASE_ERR_ARGUMENT;
  struct batch batch = {.count = records, .size = (double)records};
  int status = fresh_take(o, &batch);
  if (status != BASE_OK) return status;
  struct scope s = fresh_scope(o, &batch);
  return release(&s, q, a, o->fresh->rho, out);
}

double fresh_sd(struct oracle *o, const struct query *q, const struct ask *a, size_t records) {
  if (!o->fresh) return INFINITY;
  const struct batch batch = {.count = records, .size = (double)records};
  const struct scope s = fresh_scope(o, &batch);
  return release_sd(&s, q, a, o->fresh->rho);
}
