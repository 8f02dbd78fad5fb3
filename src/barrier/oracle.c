/* The oracle: rows, a model of them, a budget, and public facts about them. */
#include "barrier/private.h"

#include <math.h>

int oracle_create(const struct engine *engine, const struct model *model, struct ledger *ledger,
                  const struct base_entropy *entropy, enum oracle_neighbours neighbours, struct oracle **out) {
  *out = NULL;
  struct oracle *o = base_alloc(1, sizeof *o);
  if (!o) return BASE_ERR_MEMORY;
  o->engine = *engine;
  if (model) o->model = *model;
  o->ledger = ledger;
  o->entropy = entropy;
  o->neighbours = neighbours;
  o->all = (struct scope){.oracle = o};
  o->step = (struct scope){.oracle = o, .of = &o->batch};
  *out = o;
  return BASE_OK;
}

void oracle_free(struct oracle *oracle) {
  if (oracle) oracle_batches_end(oracle);
  if (oracle) journal_free(oracle);
  if (oracle) coordinates_free(oracle->rescaled);
  base_free(oracle);
}

struct scope *oracle_all(struct oracle *o) {
  return &o->all;
}
struct scope *oracle_step(struct oracle *o) {
  return &o->step;
}

/* Kept releases are in other coordinates, and an open batch and the copy of the records hold rows that
 * were clipped for other coordinates. */
static int move(struct oracle *o, const struct coordinates *coordinates) {
  struct model moved = o->model;
  int status = o->engine.kind->move ? model_move(&moved, coordinates) : BASE_ERR_ARGUMENT;
  if (status == BASE_OK) status = o->engine.kind->move(&o->engine, coordinates);
  if (status != BASE_OK) return status;
  o->model = moved;
  oracle_batches_end(o);
  for (int keep = 0; keep < KEEP_NOT; keep++) o->kept[keep].query = NULL;
  return BASE_OK;
}

int oracle_move(struct oracle *o, const struct coordinates *coordinates) {
  return o->model.coordinates ? BASE_ERR_ARGUMENT : move(o, coordinates);
}

/* Lengths are measured anew, so that everything that depends on them is as if these were the first coordinates. */
int oracle_rescale(struct oracle *o, double factor) {
  if (!model_weighted(&o->model) || o->rescaled) return BASE_ERR_ARGUMENT;
  struct coordinates_spec spec = o->model.coordinates->spec;
  if (spec.tilt != 0) return BASE_ERR_ARGUMENT;
  double *scale = base_alloc(2 * spec.p, sizeof *scale);
  if (!scale) return BASE_ERR_MEMORY;
  double *spread = scale + spec.p;
  for (size_t j = 0; j < spec.p; j++) {
    scale[j] = factor * spec.scale[j];
    spread[j] = factor * spec.spread[j];
  }
  spec.scale = scale;
  spec.spread = spread;
  int status = coordinates_create(&spec, &o->rescaled);
  base_free(scale);
  return status == BASE_OK ? move(o, o->rescaled) : status;
}

int oracle_set_weights(struct oracle *o, const double *weight, const double *offset, double most) {
  struct model weighed = o->model;
  int status = o->engine.kind->set_weights ? model_set_weights(&weighed, offset ? most : 0) : BASE_ERR_ARGUMENT;
  if (status == BASE_OK) status = o->engine.kind->set_weights(&o->engine, weight, offset, most);
  if (status == BASE_OK) o->model = weighed;
  return status;
}

int oracle_set_persons(struct oracle *o, const int *person, size_t persons, size_t most) {
  const struct engine_kind *kind = o->engine.kind;
  return kind->set_persons ? kind->set_persons(&o->engine, person, persons, most) : BASE_ERR_ARGUMENT;
}

size_t oracle_dim(const struct oracle *o) { return o->model.dim; }
size_t oracle_outputs(const struct oracle *o) { return o->model.outputs; }
size_t oracle_columns(const struct oracle *o) { return o->model.columns; }

const double *oracle_prior(const struct oracle *o) {
  return model_weighted(&o->model) ? o->model.coordinates->spec.prior : NULL;
}

const double *oracle_spread(const struct oracle *o) {
  return model_weighted(&o->model) ? o->model.coordinates->spec.spread : NULL;
}

const double *oracle_scale(const struct oracle *o) {
  return model_weighted(&o->model) ? o->model.coordinates->spec.scale : NULL;
}

double oracle_constant(const struct oracle *o) {
  const struct coordinates *c = o->model.coordinates;
  return c && c->spec.intercept ? c->spec.constant : 0;
}

int oracle_clips(const struct oracle *o) { return model_clips(&o->model); }

size_t oracle_rows(const struct oracle *o) { return data_persons(o->engine.rows); }
double oracle_left(const struct oracle *o) { return ledger_left(o->ledger); }

double oracle_lipschitz(const struct oracle *o) { return model_bounds(&o->model)->lipschitz; }

double oracle_smoothness(const struct oracle *o) {
  const struct loss_bounds *b = model_bounds(&o->model);
  return fmax(b->curv_lower, b->curv_upper);
}

double oracle_curv_lower(const struct oracle *o) { return model_bounds(&o->model)->curv_lower; }
double oracle_missing(const struct oracle *o) { return engine_missing(&o->engine); }
double oracle_third(const struct oracle *o) { return model_bounds(&o->model)->third; }
double oracle_floor(const struct oracle *o) { return model_bounds(&o->model)->floor; }
double oracle_at_zero(const struct oracle *o) { return model_bounds(&o->model)->at_zero; }
