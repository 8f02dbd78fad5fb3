/*
 * Test builds only (dev/replay.sh): logs what passes the barrier, and replays recorded answers in place of noise. No
 * file of the package names anything here: the linker puts these functions in front of the package's own
 * (--wrap=mech_gaussian and so on), which are then called under the name __real_. The log holds exact sums, so this
 * must never be part of a package that anyone installs.
 */
#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "barrier/private.h"
#include "mech/mech.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mode { OFF, RECORD, REPLAY };

struct numbers {
  size_t length, room;
  double *value;
};
/* Same: must be the same for neighbours; exact: may differ by the sensitivity; scale: of each exact number's noise;
 * answer: what was released. */
enum { SAME, EXACT, SCALE, ANSWER, PARTS_OF_EVENT };
struct event {
  const char *kind;
  char name[64];
  struct numbers part[PARTS_OF_EVENT];
};
struct events {
  size_t length, room;
  struct event *event;
};

static enum mode mode = OFF;
static uint64_t seed;
static size_t draws;
static struct events now, tape;
static size_t at_tape; /* the next event of the tape */
static int apart;      /* has the replay left the tape? */
static const void *probed; /* the last oracle whose rows were read */

/* What a structure has is logged member by member; a new member must be, too. */
_Static_assert(sizeof(struct ask) == 12 * sizeof(double), "log the new member of struct ask in note_ask()");
_Static_assert(sizeof(struct coordinates_spec) == 15 * sizeof(double), "log the new member in note_coordinates()");
_Static_assert(sizeof(struct schedule) == (2 + PARTS) * sizeof(double), "log the new member in step_open()");
_Static_assert(sizeof(struct epoch) == 5 * sizeof(double), "log the new member in epoch_open()");
_Static_assert(sizeof(struct selection) == 3 * sizeof(double), "log the new member in selection_open()");

static void *grown(void *p, size_t *room, size_t needed, size_t size) {
  if (needed <= *room) return p;
  *room = 2 * needed + 16;
  p = realloc(p, *room * size);
  if (!p) abort();
  return p;
}

static void wipe(struct events *e) {
  for (size_t i = 0; i < e->length; i++) {
    for (int part = 0; part < PARTS_OF_EVENT; part++) free(e->event[i].part[part].value);
  }
  free(e->event);
  memset(e, 0, sizeof *e);
}

static void add(int part, size_t n, const double *x) {
  if (!mode || n == 0) return;
  struct numbers *v = &now.event[now.length - 1].part[part];
  v->value = grown(v->value, &v->room, v->length + n, sizeof *v->value);
  memcpy(v->value + v->length, x, n * sizeof *x);
  v->length += n;
}
static void same(double x) { add(SAME, 1, &x); }
static void same_many(size_t n, const double *x) {
  same(x ? (double)n : -1);
  if (x) add(SAME, n, x);
}

static void begin(const char *kind, const char *name) {
  if (!mode) return;
  now.event = grown(now.event, &now.room, now.length + 1, sizeof *now.event);
  struct event *e = &now.event[now.length++];
  memset(e, 0, sizeof *e);
  e->kind = kind;
  strncpy(e->name, name ? name : "", sizeof e->name - 1);
}

static void status_event(const char *name, int status) {
  begin("status", name);
  same(status);
}

/* ---- randomness: each draw has a stream of its own, from the seed and the draw's number ---- */

static uint64_t state;
static int fill_own(void *buffer, size_t bytes) {
  unsigned char *p = buffer;
  for (size_t i = 0; i < bytes; i++) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    p[i] = (unsigned char)((z ^ (z >> 31)) >> 24);
  }
  return BASE_OK;
}
static const struct base_entropy own = {.fill = fill_own};

static void next_stream(void) {
  state = seed * 0x9e3779b97f4a7c15u + ++draws * 0xd1342543de82ef95u;
}

extern const struct base_entropy __real_base_entropy_system;
static int fill_system(void *buffer, size_t bytes) {
  if (!mode) return __real_base_entropy_system.fill(buffer, bytes);
  next_stream();
  return fill_own(buffer, bytes);
}
/* Not expanded in threads while a log is written: draws go through `own` then. */
const struct base_entropy __wrap_base_entropy_system = {.fill = fill_system, .expand = 1};

/* ---- the tape ---- */

/* The recorded answer of the draw that has just begun, or NULL. */
static const double *recorded(size_t n) {
  if (mode != REPLAY || apart) return NULL;
  const struct event *mine = &now.event[now.length - 1];
  while (at_tape < tape.length && strcmp(tape.event[at_tape].kind, "draw") != 0) at_tape++;
  const struct event *then = at_tape < tape.length ? &tape.event[at_tape++] : NULL;
  if (!then || strcmp(then->name, mine->name) != 0 || then->part[ANSWER].length != n) {
    apart = 1;
    return NULL;
  }
  return then->part[ANSWER].value;
}

static void draw_begin(const char *name, size_t n, const double *x) {
  begin("draw", name);
  same((double)n);
  add(EXACT, n, x);
  next_stream();
}
static int draw_end(int status, size_t n, const double *x) {
  add(ANSWER, n, x);
  same(status);
  return status;
}

#define SCALES(n, value)                                                                                              \
  for (size_t i_ = 0; i_ < (n); i_++) {                                                                               \
    double s_ = (value);                                                                                              \
    add(SCALE, 1, &s_);                                                                                               \
  }

int __real_mech_gaussian(const struct base_entropy *e, size_t n, double sd, double *x);
int __wrap_mech_gaussian(const struct base_entropy *e, size_t n, double sd, double *x) {
  if (!mode) return __real_mech_gaussian(e, n, sd, x);
  draw_begin("gaussian", n, x);
  SCALES(n, sd)
  const double *then = recorded(n);
  int status = BASE_OK;
  if (then) memcpy(x, then, n * sizeof *x);
  else status = __real_mech_gaussian(&own, n, sd, x);
  return draw_end(status, n, x);
}

int __real_mech_gaussian_each(const struct base_entropy *e, size_t n, const double *sd, double *x);
int __wrap_mech_gaussian_each(const struct base_entropy *e, size_t n, const double *sd, double *x) {
  if (!mode) return __real_mech_gaussian_each(e, n, sd, x);
  draw_begin("gaussian each", n, x);
  add(SCALE, n, sd);
  const double *then = recorded(n);
  int status = BASE_OK;
  if (then) memcpy(x, then, n * sizeof *x);
  else status = __real_mech_gaussian_each(&own, n, sd, x);
  return draw_end(status, n, x);
}

/* Only the lower triangle of the sum counts. */
int __real_mech_symmetric(const struct base_entropy *e, size_t d, double sd, double *h);
int __wrap_mech_symmetric(const struct base_entropy *e, size_t d, double sd, double *h) {
  if (!mode) return __real_mech_symmetric(e, d, sd, h);
  draw_begin("symmetric", 0, NULL);
  for (size_t j = 0; j < d; j++) {
    add(EXACT, d - j, h + j * d + j);
    SCALES(d - j, i_ == 0 ? sd : sd / sqrt(2))
  }
  const double *then = recorded(d * d);
  int status = BASE_OK;
  if (then) memcpy(h, then, d * d * sizeof *h);
  else status = __real_mech_symmetric(&own, d, sd, h);
  return draw_end(status, d * d, h);
}

static int draw_index(int status, size_t *index) {
  double x = (double)*index;
  return draw_end(status, 1, &x);
}

int __real_mech_sparse_vector(const struct base_entropy *e, size_t k, const double *q, double sensitivity, double eps,
                              size_t *index);
int __wrap_mech_sparse_vector(const struct base_entropy *e, size_t k, const double *q, double sensitivity, double eps,
                              size_t *index) {
  if (!mode) return __real_mech_sparse_vector(e, k, q, sensitivity, eps, index);
  draw_begin("sparse vector", k, q);
  SCALES(1, sensitivity)
  same(eps);
  const double *then = recorded(1);
  int status = BASE_OK;
  if (then) *index = (size_t)*then;
  else status = __real_mech_sparse_vector(&own, k, q, sensitivity, eps, index);
  return draw_index(status, index);
}

int __real_mech_exponential(const struct base_entropy *e, size_t k, const double *u, double temperature, size_t *index);
int __wrap_mech_exponential(const struct base_entropy *e, size_t k, const double *u, double temperature,
                            size_t *index) {
  if (!mode) return __real_mech_exponential(e, k, u, temperature, index);
  draw_begin("exponential", k, u);
  SCALES(1, temperature)
  const double *then = recorded(1);
  int status = BASE_OK;
  if (then) *index = (size_t)*then;
  else status = __real_mech_exponential(&own, k, u, temperature, index);
  return draw_index(status, index);
}

/* Draws that do not depend on data: the same stream gives the same numbers, which are compared. */

static void public_rows(size_t n, const size_t *row) {
  for (size_t i = 0; i < n; i++) same((double)row[i]);
}

int __real_mech_subset_fixed(const struct base_entropy *e, size_t n, size_t m, size_t *row);
int __wrap_mech_subset_fixed(const struct base_entropy *e, size_t n, size_t m, size_t *row) {
  if (!mode) return __real_mech_subset_fixed(e, n, m, row);
  begin("public draw", "subset");
  next_stream();
  int status = __real_mech_subset_fixed(&own, n, m, row);
  same((double)n);
  public_rows(m, row);
  return status;
}

int __real_mech_subset_poisson(const struct base_entropy *e, size_t n, double rate, size_t **row, size_t *count);
int __wrap_mech_subset_poisson(const struct base_entropy *e, size_t n, double rate, size_t **row, size_t *count) {
  if (!mode) return __real_mech_subset_poisson(e, n, rate, row, count);
  begin("public draw", "poisson subset");
  next_stream();
  int status = __real_mech_subset_poisson(&own, n, rate, row, count);
  same((double)n);
  same(rate);
  if (status == BASE_OK) public_rows(*count, *row);
  return status;
}

int __real_mech_permutation(const struct base_entropy *e, size_t n, size_t *order);
int __wrap_mech_permutation(const struct base_entropy *e, size_t n, size_t *order) {
  if (!mode) return __real_mech_permutation(e, n, order);
  begin("public draw", "permutation");
  next_stream();
  int status = __real_mech_permutation(&own, n, order);
  public_rows(n, order);
  return status;
}

#define PUBLIC(name, type)                                                                                            \
  int __real_##name(const struct base_entropy *e, type a, size_t *out);                                               \
  int __wrap_##name(const struct base_entropy *e, type a, size_t *out) {                                              \
    if (!mode) return __real_##name(e, a, out);                                                                       \
    begin("public draw", #name);                                                                                      \
    next_stream();                                                                                                    \
    int status = __real_##name(&own, a, out);                                                                         \
    same((double)a);                                                                                                  \
    same((double)*out);                                                                                               \
    return status;                                                                                                    \
  }
PUBLIC(mech_poisson, uint32_t)
PUBLIC(mech_geometric, uint32_t)
PUBLIC(mech_uniform, uint32_t)

/* ---- charges ---- */

int __real_ledger_charge(struct ledger *ledger, enum oracle_neighbours neighbours, int gaussian,
                         const struct ledger_entry *entry);
int __wrap_ledger_charge(struct ledger *ledger, enum oracle_neighbours neighbours, int gaussian,
                         const struct ledger_entry *entry) {
  int status = __real_ledger_charge(ledger, neighbours, gaussian, entry);
  begin("charge", entry->what);
  same(entry->rho);
  same(entry->sensitivity);
  same(entry->scale);
  same(entry->values);
  same(gaussian);
  same(neighbours);
  same(status);
  return status;
}

int __real_scope_pay(struct scope *s, const struct query *q, double rho);
int __wrap_scope_pay(struct scope *s, const struct query *q, double rho) {
  int status = __real_scope_pay(s, q, rho);
  begin("pay", q->name);
  same(rho);
  same(s->exact);
  same(status);
  return status;
}

/* ---- asks ---- */

static void note_ask(const struct scope *s, const struct ask *a) {
  const struct oracle *o = s->oracle;
  size_t dim = o->model.dim;
  same_many(dim, a->at);
  same_many(dim, a->along);
  same((double)a->k);
  same_many(a->k, a->step);
  same_many(a->k, a->offset);
  same(a->scale_free);
  same(a->curvature);
  same(a->clip);
  same(a->cap);
  same(a->within);
  if (a->matrix) {
    same(a->matrix->modify);
    same(a->matrix->lambda0);
    same_many(dim, a->matrix->penalty);
  }
  if (a->most) same_many(o->engine.rows->p, a->most);
  for (size_t j = 0; a->histogram && j < a->k; j++) same_many(a->histogram[j].cells + 1, a->histogram[j].breaks);
}

/* ---- rows: a record's numbers must be its own, bit by bit ---- */

/* For each row its product with a point whose numbers are all different, clip, response, weight and offset; of raw
 * columns each number. */
static double *row_numbers;
static size_t row_width;

static void read_rows(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const double *point = task->ask->at;
  size_t most = tile_gradient(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    data_matvec(&tile, point, work[T]);
    for (size_t i = 0; i < tile.rows; i++) {
      int used = tile.clip[i] > 0;
      const double numbers[] = {used ? work[T][i] : 0, tile.clip[i], used ? tile.y[i] : 0, data_weight(&tile, i),
                                tile.offset ? tile.offset[i] : 0};
      memcpy(row_numbers + row_width * data_row(b, start + i), numbers, sizeof numbers);
    }
  }
  *sum += (double)b->rows;
}
static size_t one_number(const struct task *task) {
  (void)task;
  return 1;
}
static const struct sum reading = {SUM_VECTOR, one_number, read_rows, NULL, NULL};

static void log_rows(size_t rows, size_t width) {
  begin("rows", "rows");
  same((double)width);
  add(EXACT, rows * width, row_numbers);
  free(row_numbers);
}

static void probe_raw(const struct raw *raw) {
  if (!raw->values) return;
  row_numbers = calloc(raw->n * raw->columns, sizeof *row_numbers);
  for (size_t j = 0; j < raw->columns; j++) {
    for (size_t i = 0; i < raw->n; i++) row_numbers[i * raw->columns + j] = raw->values[j][i];
  }
  log_rows(raw->n, raw->columns);
}

/* Before the first release of an oracle, where it reads rows itself, in any order. */
static void probe(const struct scope *s) {
  const struct oracle *o = s->oracle;
  const struct engine *e = &o->engine;
  if (s->of || o == probed || o->fresh || !e->kind->sum) return;
  probed = o;
  if (!o->model.kind) {
    probe_raw(e->own);
    return;
  }
  if (e->shards || e->kind->inside) return;
  double *point = calloc(e->rows->p + 1, sizeof *point), total;
  for (size_t j = 0; j < e->rows->p; j++) point[j] = 1 / (1.37 + 0.618 * (double)j);
  const struct ask ask = {.at = point};
  const struct task task = {&o->model, &ask, NULL};
  if (e->kind->can(e, &reading, &task)) {
    row_width = 5;
    row_numbers = calloc(row_width * data_rows(e->rows), sizeof *row_numbers);
    if (e->kind->sum(e, &reading, &task, &total) == BASE_OK) log_rows(data_rows(e->rows), row_width);
  }
  free(point);
}

/* Numbers of the records of a leaf; there are none where the records are the next ones of a stream. */
static void note_take(const struct batch *batch) {
  begin("take", "fresh records");
  same((double)batch->count);
  if (batch->row) public_rows(batch->count, batch->row);
}

int __real_release(struct scope *s, const struct query *q, const struct ask *a, double rho, struct answer out);
int __wrap_release(struct scope *s, const struct query *q, const struct ask *a, double rho, struct answer out) {
  if (!mode) return __real_release(s, q, a, rho, out);
  probe(s);
  if (s->exact) note_take(s->of); /* fresh_release() calls fresh_take() in its own file, which no linker sees */
  begin("ask", q->name);
  same(rho);
  same(s->of ? s->of->size : -1);
  same(s->exact);
  same(s->oracle->engine.rows ? scope_divisor(s) : -1);
  same(s->oracle->neighbours);
  note_ask(s, a);
  int status = __real_release(s, q, a, rho, out);
  status_event(q->name, status);
  return status;
}

int __real_oracle_create(const struct engine *engine, const struct model *model, struct ledger *ledger,
                         const struct base_entropy *entropy, enum oracle_neighbours neighbours, struct oracle **out);
int __wrap_oracle_create(const struct engine *engine, const struct model *model, struct ledger *ledger,
                         const struct base_entropy *entropy, enum oracle_neighbours neighbours, struct oracle **out) {
  begin("oracle", "create");
  probed = NULL; /* an address may come back */
  if (model) {
    same((double)model->dim);
    same((double)model->outputs);
    same(model->offset);
    same_many(sizeof model->own / sizeof(double), (const double *)&model->own);
  }
  if (engine->rows) {
    same((double)engine->rows->p);
    same(engine->rows->radius); /* not the number of rows, which is private until rows have persons */
  }
  same((double)engine->shards);
  same(neighbours);
  return __real_oracle_create(engine, model, ledger, entropy, neighbours, out);
}

static void note_coordinates(const struct coordinates_spec *c) {
  same((double)c->p);
  same(c->intercept);
  same(c->weighted);
  same(c->damped);
  same(c->radius);
  same(c->constant);
  same(c->cap);
  same(c->bound);
  same_many(c->p, c->scale);
  same_many(c->p, c->centre);
  same_many(c->p, c->prior);
  same_many(c->p, c->spread);
  same(c->tilt);
  same(c->shortest);
  same_many(c->p, c->tilt != 0 ? c->end : NULL);
  same((double)c->outputs);
}

int __real_oracle_move(struct oracle *o, const struct coordinates *c);
int __wrap_oracle_move(struct oracle *o, const struct coordinates *c) {
  begin("oracle", "move");
  if (mode) note_coordinates(&c->spec);
  int status = __real_oracle_move(o, c);
  if (mode) same(status);
  return status;
}

int __real_oracle_rescale(struct oracle *o, double factor);
int __wrap_oracle_rescale(struct oracle *o, double factor) {
  begin("oracle", "rescale");
  same(factor);
  return __real_oracle_rescale(o, factor);
}

int __real_oracle_set_weights(struct oracle *o, const double *weight, const double *offset, double most);
int __wrap_oracle_set_weights(struct oracle *o, const double *weight, const double *offset, double most) {
  begin("oracle", "weights");
  same(weight != NULL);
  same(offset != NULL);
  same(most);
  return __real_oracle_set_weights(o, weight, offset, most);
}

int __real_oracle_set_persons(struct oracle *o, const int *person, size_t persons, size_t most);
int __wrap_oracle_set_persons(struct oracle *o, const int *person, size_t persons, size_t most) {
  begin("oracle", "persons");
  same((double)persons);
  same((double)most);
  return __real_oracle_set_persons(o, person, persons, most);
}

int __real_step_open(struct oracle *o, const struct schedule *how, const struct ask *ask, double cost);
int __wrap_step_open(struct oracle *o, const struct schedule *how, const struct ask *ask, double cost) {
  begin("step", "open");
  same(how->sampling.scheme);
  same(how->sampling.size);
  if (mode) add(SAME, PARTS, how->share);
  same(cost);
  if (mode) note_ask(&o->all, ask);
  int status = __real_step_open(o, how, ask, cost);
  status_event("step", status);
  return status;
}

int __real_fresh_open(struct oracle *o, double rho);
int __wrap_fresh_open(struct oracle *o, double rho) {
  begin("fresh", "open");
  same(rho);
  int status = __real_fresh_open(o, rho);
  status_event("fresh", status);
  return status;
}

int __real_fresh_take(struct oracle *o, struct batch *batch);
int __wrap_fresh_take(struct oracle *o, struct batch *batch) {
  int status = __real_fresh_take(o, batch);
  if (status == BASE_OK) note_take(batch);
  return status;
}

int __real_epoch_open(struct oracle *o, const struct epoch *how, const double *w, double *gradient, double *hessian,
                      struct epoch_sd *sd);
int __wrap_epoch_open(struct oracle *o, const struct epoch *how, const double *w, double *gradient, double *hessian,
                      struct epoch_sd *sd) {
  begin("epoch", "open");
  same((double)how->records);
  same((double)how->leaves);
  same(how->factor);
  same(how->curvature_share);
  same((double)how->products);
  same_many(o->model.dim, w);
  int status = __real_epoch_open(o, how, w, gradient, hessian, sd);
  status_event("epoch", status);
  return status;
}

int __real_epoch_leaf(struct oracle *o, const double *w, size_t records, double *gradient, double *sd);
int __wrap_epoch_leaf(struct oracle *o, const double *w, size_t records, double *gradient, double *sd) {
  begin("epoch", "leaf");
  same((double)records);
  same_many(o->model.dim, w);
  int status = __real_epoch_leaf(o, w, records, gradient, sd);
  status_event("leaf", status);
  return status;
}

int __real_epoch_product(struct oracle *o, const double *v, double *product, double *sd);
int __wrap_epoch_product(struct oracle *o, const double *v, double *product, double *sd) {
  begin("epoch", "product");
  same_many(o->model.dim, v);
  int status = __real_epoch_product(o, v, product, sd);
  status_event("product", status);
  return status;
}

int __real_oracle_minimiser(struct oracle *o, const double *quadratic, double rho, double *w, double *sd);
int __wrap_oracle_minimiser(struct oracle *o, const double *quadratic, double rho, double *w, double *sd) {
  begin("ask", "minimiser");
  same(rho);
  same_many(o->model.dim, quadratic);
  int status = __real_oracle_minimiser(o, quadratic, rho, w, sd);
  status_event("minimiser", status);
  return status;
}

/* The noise of a perturbed objective is a function of the released point and the data: for neighbours it differs by the
 * change of the sum of the gradients there, which must be within what was paid (proofs: objective-perturbation). */
static void note_shift(struct oracle *o, const double *w, double sd) {
  const struct ask at = {.at = w};
  double *gradient = calloc(o->model.dim, sizeof *gradient);
  if (mode && scope_mean(&o->all, &query_gradient.sum, &at, gradient) == BASE_OK) {
    for (size_t j = 0; j < o->model.dim; j++) gradient[j] *= scope_divisor(&o->all);
    begin("shift", "gaussian");
    add(EXACT, o->model.dim, gradient);
    SCALES(o->model.dim, sd)
  }
  free(gradient);
}

int __real_oracle_perturbed_minimiser(struct oracle *o, const double *quadratic, double rho, double rho_output,
                                      double *w, struct oracle_perturbation *how);
int __wrap_oracle_perturbed_minimiser(struct oracle *o, const double *quadratic, double rho, double rho_output,
                                      double *w, struct oracle_perturbation *how) {
  begin("ask", "perturbed minimiser");
  same(rho);
  same(rho_output);
  same((double)data_persons(o->engine.rows));
  same_many(o->model.dim, quadratic);
  int status = __real_oracle_perturbed_minimiser(o, quadratic, rho, rho_output, w, how);
  if (status == BASE_OK) note_shift(o, w, how->sd_objective);
  status_event("perturbed minimiser", status);
  return status;
}

int __real_selection_open(const struct selection *s, struct ledger *ledger, const struct base_entropy *e,
                          enum oracle_neighbours neighbours, size_t *runs);
int __wrap_selection_open(const struct selection *s, struct ledger *ledger, const struct base_entropy *e,
                          enum oracle_neighbours neighbours, size_t *runs) {
  begin("ask", "selection");
  same(s->law);
  same(s->mean);
  same(s->candidates);
  same(s->mu);
  return __real_selection_open(s, ledger, e, neighbours, runs);
}

/* ---- R ---- */

Rboolean __wrap_R_useDynamicSymbols(DllInfo *dll, Rboolean value) {
  Rboolean __real_R_useDynamicSymbols(DllInfo *, Rboolean);
  (void)value;
  return __real_R_useDynamicSymbols(dll, TRUE);
}
Rboolean __wrap_R_forceSymbols(DllInfo *dll, Rboolean value) {
  (void)dll;
  (void)value;
  return FALSE;
}

/* how: 0 ends, 1 records, 2 replays what the last recording holds. */
SEXP attribute_visible replay_start(SEXP how, SEXP seed_) {
  int to = Rf_asInteger(how);
  wipe(&now);
  if (to == RECORD) wipe(&tape);
  mode = (enum mode)to;
  seed = (uint64_t)Rf_asInteger(seed_);
  draws = at_tape = 0;
  apart = 0;
  probed = NULL;
  return R_NilValue;
}

static SEXP numbers_of(const struct numbers *v) {
  SEXP x = Rf_allocVector(REALSXP, (R_xlen_t)v->length);
  if (v->length) memcpy(REAL(x), v->value, v->length * sizeof *v->value);
  return x;
}

/* Ends, and returns the log: kind, name, and the four parts. A recording becomes the tape. */
SEXP attribute_visible replay_stop(void) {
  enum mode was = mode;
  mode = OFF;
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 2 + PARTS_OF_EVENT));
  R_xlen_t n = (R_xlen_t)now.length;
  SET_VECTOR_ELT(out, 0, Rf_allocVector(STRSXP, n));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(STRSXP, n));
  for (int part = 0; part < PARTS_OF_EVENT; part++) SET_VECTOR_ELT(out, 2 + part, Rf_allocVector(VECSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkChar(now.event[i].kind));
    SET_STRING_ELT(VECTOR_ELT(out, 1), i, Rf_mkChar(now.event[i].name));
    for (int part = 0; part < PARTS_OF_EVENT; part++) {
      SET_VECTOR_ELT(VECTOR_ELT(out, 2 + part), i, numbers_of(&now.event[i].part[part]));
    }
  }
  if (was == RECORD) {
    wipe(&tape);
    tape = now;
    memset(&now, 0, sizeof now);
  } else {
    wipe(&now);
  }
  UNPROTECT(1);
  return out;
}
