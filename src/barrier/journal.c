/* Keeps the last gradient and the last matrix that were released on the full data, so that they need not be paid for
 * again. They are releases, with noise (proofs: post-processing). */
#include "barrier/private.h"

#include <string.h>

/* Memory for copies is allocated before the charge; larger matrices are not kept. */
int journal_open(struct oracle *o, const struct query *q, size_t k) {
  if (q->keep == KEEP_NOT || k > JOURNAL_MOST) return BASE_OK;
  struct kept *kept = &o->kept[q->keep];
  if (!kept->at) kept->at = base_alloc(o->model.dim, sizeof(double));
  if (kept->at && !kept->value) kept->value = base_alloc(k, sizeof(double));
  return kept->at && kept->value ? BASE_OK : BASE_ERR_MEMORY;
}

void journal_add(struct oracle *o, const struct query *q, const struct ask *a, size_t k, const double *value,
                 double sd) {
  if (q->keep == KEEP_NOT || k > JOURNAL_MOST) return;
  struct kept *kept = &o->kept[q->keep];
  kept->query = q->name;
  kept->numbers = k;
  kept->sd = sd;
  memcpy(kept->at, a->at, o->model.dim * sizeof(double));
  memcpy(kept->value, value, k * sizeof(double));
}

const struct kept *oracle_kept(const struct oracle *o, enum keep keep) {
  return o->kept[keep].query ? &o->kept[keep] : NULL;
}

void journal_free(struct oracle *o) {
  for (int keep = 0; keep < KEEP_NOT; keep++) {
    base_free(o->kept[keep].at);
    base_free(o->kept[keep].value);
  }
}
