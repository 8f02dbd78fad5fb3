/*
 * The only way for information about the data to leave: check, sensitivity, scale of the noise, charge, exact sum,
 * draw. A query (query_*.c) defines the sum and its sensitivity; no caller passes a sensitivity. All memory
 * that a release keeps is allocated before the charge, and after it nothing is refunded.
 */
#include "barrier/private.h"

#include <math.h>
#include <string.h>

size_t release_answers(const struct scope *s, const struct query *q, const struct ask *a) {
  const struct task task = scope_task(s, a);
  return q->answers ? q->answers(&task) : q->sum.width(&task);
}

/* Weighted rows of a batch have no lengths. */
static int answers_moved(const struct scope *s, const struct query *q) {
  const struct model *m = &s->oracle->model;
  if (!m->coordinates) return 1;
  enum in_coordinates in = q->in_coordinates;
  if (!model_weighted(m)) return in != COORDINATES_NONE;
  return (in == COORDINATES_WEIGHTED || (in == COORDINATES_DAMPED && model_damped(m))) && !s->of;
}

/* With several outputs a record's contribution is bounded for some queries only; for a network only where it is
 * clipped. */
static int answers_model(const struct scope *s, const struct query *q) {
  const struct model *m = &s->oracle->model;
  return m->network ? q->networks : q->multi_output || m->outputs <= 1;
}

int release_fits(const struct scope *s, const struct query *q, const struct ask *a) {
  if (!answers_moved(s, q) || !answers_model(s, q)) return BASE_ERR_ARGUMENT;
  int status = a->at ? check_point(s->oracle, a->at) : BASE_OK;
  if (status == BASE_OK && a->along) status = check_point(s->oracle, a->along);
  return status == BASE_OK && q->check ? q->check(s, a) : status;
}

int release_check(const struct scope *s, const struct query *q, const struct ask *a) {
  const struct task task = scope_task(s, a);
  return scope_can(s, &q->sum, &task) ? release_fits(s, q, a) : BASE_ERR_ARGUMENT;
}

/* Where each number has its own noise, the ledger's entry has the largest of the sensitivities and scales. */
static int find_noise(const struct scope *s, const struct query *q, const struct ask *a, double rho, size_t k,
                      double *each, struct noise *noise) {
  *noise = (struct noise){.sensitivity = 0, .each = each};
  if (!q->mechanism->each) {
    noise->sensitivity = q->sensitivity(s, a, 0);
    return q->mechanism->scale(k, rho, noise);
  }
  for (size_t i = 0; i < k; i++) {
    struct noise one = {.sensitivity = q->sensitivity(s, a, i)};
    int status = q->mechanism->scale(1, rho / (double)k, &one);
    if (status != BASE_OK) return status;
    each[i] = one.scale;
    noise->sensitivity = fmax(noise->sensitivity, one.sensitivity);
    noise->scale = fmax(noise->scale, one.scale);
  }
  return BASE_OK;
}

/* Everything that does not need the data. */
static int prepare(const struct scope *s, const struct query *q, const struct ask *a, double rho, size_t k,
                   const struct answer *out, struct noise *noise) {
  if (out->index) *out->index = k;
  int status = release_check(s, q, a);
  if (status == BASE_OK) status = find_noise(s, q, a, rho, k, out->sd, noise);
  if (status == BASE_OK && out->sd && !q->mechanism->each) *out->sd = noise->scale;
  return status;
}

/* A release on a batch was paid for when its step was opened. */
static int pay(struct scope *s, const struct query *q, double rho, size_t k, const struct noise *noise) {
  struct oracle *o = s->oracle;
  const struct mechanism *m = q->mechanism;
  double values = m->each || m->chooses ? (double)k : 1;
  const struct ledger_entry entry = {q->name, m->name, rho, noise->sensitivity, noise->scale, values};
  if (s->of) return scope_pay(s, q, rho);
  return ledger_charge(o->ledger, o->neighbours, q->mechanism->gaussian, &entry);
}

static int draw(const struct scope *s, const struct query *q, const struct ask *a, size_t k, const struct noise *noise,
                double *work, const struct answer *out) {
  double *sum = work ? work : out->value, *answer = q->mechanism->chooses ? work : out->value;
  int status = scope_mean(s, &q->sum, a, sum);
  if (status == BASE_OK && q->finish) status = q->finish(s, a, sum, answer);
  return status == BASE_OK ? q->mechanism->draw(s->oracle->entropy, k, noise, answer, out->index) : status;
}

int release(struct scope *s, const struct query *q, const struct ask *a, double rho, struct answer out) {
  const struct task task = scope_task(s, a);
  size_t k = release_answers(s, q, a), width = q->sum.width(&task);
  struct noise noise;
  int status = prepare(s, q, a, rho, k, &out, &noise);
  double *work = NULL;
  if (status == BASE_OK && (q->finish || q->mechanism->chooses)) {
    work = base_alloc(width, sizeof(double));
    if (!work) status = BASE_ERR_MEMORY;
  }
  if (status == BASE_OK && !s->of) status = journal_open(s->oracle, q, k);
  if (status == BASE_OK) status = pay(s, q, rho, k, &noise);
  if (status == BASE_OK) status = draw(s, q, a, k, &noise, work, &out);
  if (status == BASE_OK && !s->of) journal_add(s->oracle, q, a, k, out.value, noise.scale);
  if (status != BASE_OK && out.value) memset(out.value, 0, k * sizeof(double));
  if (work) memset(work, 0, width * sizeof(double));
  base_free(work);
  return status;
}

double release_sd(const struct scope *s, const struct query *q, const struct ask *a, double rho) {
  size_t k = release_answers(s, q, a);
  double largest = 0;
  if (!q->mechanism->each) return q->mechanism->guess(k, q->sensitivity(s, a, 0), rho);
  for (size_t i = 0; i < k; i++) {
    largest = fmax(largest, q->mechanism->guess(1, q->sensitivity(s, a, i), rho / (double)k));
  }
  return largest;
}
