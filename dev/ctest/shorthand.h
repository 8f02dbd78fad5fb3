/* Short names for what tests, harnesses and benchmarks ask of the barrier. */
#ifndef DPSOSP_SHORTHAND_H
#define DPSOSP_SHORTHAND_H

#include <math.h>
#include <string.h>

#include "barrier/private.h"

/* Coefficients of a linear model. */
static inline size_t data_dim(const struct data *rows) { return rows->p + (size_t)rows->intercept; }

/* Of a linear model of rows in memory. */
static inline int open_oracle(struct data *rows, const struct loss *loss, struct ledger *ledger,
                              const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                              struct oracle **out) {
  const struct engine engine = engine_memory(rows);
  const struct model model = model_linear(rows, loss);
  return oracle_create(&engine, &model, ledger, entropy, neighbours, out);
}

/* ---- releases ---- */

static inline int oracle_value(struct oracle *o, const double *w, double rho, double *value, double *sd) {
  return release(oracle_all(o), &query_value, &(struct ask){.at = w}, rho, (struct answer){value, sd, NULL});
}
static inline int oracle_gradient(struct oracle *o, const double *w, double rho, double *g, double *sd) {
  return release(oracle_all(o), &query_gradient, &(struct ask){.at = w}, rho, (struct answer){g, sd, NULL});
}
static inline int oracle_hessian(struct oracle *o, const double *w, double rho, double *h, double *sd) {
  return release(oracle_all(o), &query_hessian, &(struct ask){.at = w}, rho, (struct answer){h, sd, NULL});
}
static inline int oracle_majorant(struct oracle *o, const double *w, double rho, double *h, double *sd) {
  return release(oracle_all(o), &query_majorant, &(struct ask){.at = w}, rho, (struct answer){h, sd, NULL});
}
static inline int oracle_products(struct oracle *o, const double *w, double rho, double *j, double *sd) {
  return release(oracle_all(o), &query_products, &(struct ask){.at = w}, rho, (struct answer){j, sd, NULL});
}
static inline int oracle_model_gradient(struct oracle *o, const double *w, const double *along, double rho, double *g,
                                        double *sd) {
  const struct ask ask = {.at = w, .along = along};
  return release(oracle_all(o), &query_model_gradient, &ask, rho, (struct answer){g, sd, NULL});
}
static inline int oracle_trace(struct oracle *o, const double *w, enum curvature curvature, double rho, double *trace,
                               double *sd) {
  const struct ask ask = {.at = w, .curvature = curvature};
  return release(oracle_all(o), &query_trace, &ask, rho, (struct answer){trace, sd, NULL});
}

struct oracle_newton {
  enum curvature curvature;
  enum modify modify;
  double lambda0;
  const double *penalty;
};
static inline int direction_of(struct scope *s, const double *w, const double *g, const struct oracle_newton *how,
                               double rho, double *direction, double *sd) {
  const struct modified matrix = {how->modify, how->lambda0, how->penalty};
  const struct ask ask = {.at = w, .along = g, .curvature = how->curvature, .matrix = &matrix};
  return release(s, &query_direction, &ask, rho, (struct answer){direction, sd, NULL});
}
static inline int oracle_newton_direction(struct oracle *o, const double *w, const double *g,
                                          const struct oracle_newton *how, double rho, double *direction, double *sd) {
  return direction_of(oracle_all(o), w, g, how, rho, direction, sd);
}

static inline struct ask search_ask(const double *w, const double *along, size_t k, const double *step,
                                    const double *offset, int scale_free) {
  return (struct ask){.at = w, .along = along, .k = k, .step = step, .offset = offset, .scale_free = scale_free};
}
static inline int oracle_decreases(struct oracle *o, const double *w, const double *along, size_t k, const double *step,
                                   double rho, double *decrease, double *sd) {
  const struct ask ask = search_ask(w, along, k, step, NULL, 0);
  return release(oracle_all(o), &query_decreases, &ask, rho, (struct answer){decrease, sd, NULL});
}
static inline int oracle_first_step(struct oracle *o, const double *w, const double *along, size_t k,
                                    const double *step, const double *offset, int scale_free, double rho,
                                    size_t *index) {
  const struct ask ask = search_ask(w, along, k, step, offset, scale_free);
  return release(oracle_all(o), &query_first_step, &ask, rho, (struct answer){.index = index});
}
static inline int oracle_best_step(struct oracle *o, const double *w, const double *along, size_t k, const double *step,
                                   const double *offset, double rho, size_t *index) {
  const struct ask ask = search_ask(w, along, k, step, offset, 0);
  return release(oracle_all(o), &query_best_step, &ask, rho, (struct answer){.index = index});
}

static inline int oracle_moments(struct oracle *o, const double *most, double rho, double *moments, double *sd) {
  return release(oracle_all(o), &query_moments, &(struct ask){.most = most}, rho, (struct answer){moments, sd, NULL});
}
static inline int oracle_usable(struct oracle *o, double rho, double *fraction, double *sd) {
  return release(oracle_all(o), &query_usable, &(struct ask){0}, rho, (struct answer){fraction, sd, NULL});
}
static inline int oracle_weighted(struct oracle *o, const double *w, double rho, double *h, double *sd) {
  return release(oracle_all(o), &query_weighted, &(struct ask){.at = w}, rho, (struct answer){h, sd, NULL});
}

static inline double oracle_sd_value(struct oracle *o, const double *w, double rho) {
  return release_sd(oracle_all(o), &query_value, &(struct ask){.at = w}, rho);
}
static inline double oracle_sd_gradient(struct oracle *o, const double *w, double rho) {
  return release_sd(oracle_all(o), &query_gradient, &(struct ask){.at = w}, rho);
}
static inline double oracle_sd_hessian(struct oracle *o, const double *w, double rho) {
  return release_sd(oracle_all(o), &query_hessian, &(struct ask){.at = w}, rho);
}
static inline double oracle_sd_majorant(struct oracle *o, const double *w, double rho) {
  return release_sd(oracle_all(o), &query_majorant, &(struct ask){.at = w}, rho);
}

#define MOST_COLUMNS 8
struct ranges_column {
  const double *values, *breaks;
  size_t cells;
};
static inline int ranges_of(const struct raw *raw, const struct ranges_column *columns, struct ledger *ledger,
                            const struct base_entropy *entropy, enum oracle_neighbours neighbours, double rho,
                            double *counts, double *sd) {
  const struct engine engine = engine_raw(raw);
  struct histogram histogram[MOST_COLUMNS];
  size_t cells = 0;
  struct oracle *o;
  for (size_t j = 0; j < raw->columns; j++) {
    histogram[j] = (struct histogram){columns[j].breaks, columns[j].cells};
    cells += columns[j].cells;
  }
  memset(counts, 0, cells * sizeof *counts);
  const struct ask ask = {.k = raw->columns, .histogram = histogram};
  int status = oracle_create(&engine, NULL, ledger, entropy, neighbours, &o);
  if (status == BASE_OK) status = release(oracle_all(o), &query_counts, &ask, rho, (struct answer){counts, sd, NULL});
  oracle_free(o);
  return status;
}
static inline int ranges_release(struct ledger *ledger, const struct base_entropy *entropy,
                                 enum oracle_neighbours neighbours, size_t n, size_t m,
                                 const struct ranges_column *columns, double rho, double *counts, double *sd) {
  const double *values[MOST_COLUMNS];
  for (size_t j = 0; j < m; j++) values[j] = columns[j].values;
  const struct raw raw = {.n = n, .columns = m, .values = values};
  return ranges_of(&raw, columns, ledger, entropy, neighbours, rho, counts, sd);
}
static inline int ranges_release_stream(struct ledger *ledger, const struct base_entropy *entropy,
                                        enum oracle_neighbours neighbours, size_t n, size_t m,
                                        const struct ranges_column *columns, const struct data_feed *feed, double rho,
                                        double *counts, double *sd) {
  const struct raw raw = {.n = n, .columns = m, .feed = feed};
  return ranges_of(&raw, columns, ledger, entropy, neighbours, rho, counts, sd);
}

/* ---- steps ---- */

static inline int oracle_step_open(struct oracle *o, const struct sampling *how, const double *w, double cost,
                                   double curvature_share) {
  const struct schedule schedule = {*how, {1 - curvature_share, curvature_share}};
  return step_open(o, &schedule, &(struct ask){.at = w}, cost);
}
static inline double oracle_step_left(const struct oracle *o) { return step_left(o, &query_hessian); }
static inline void oracle_step_close(struct oracle *o) { step_close(o); }
static inline int oracle_step_gradient(struct oracle *o, const double *w, double *g, double *sd) {
  const struct query *q = &query_gradient;
  return release(oracle_step(o), q, &(struct ask){.at = w}, step_left(o, q), (struct answer){g, sd, NULL});
}
static inline int oracle_step_hessian(struct oracle *o, const double *w, double *h, double *sd) {
  const struct query *q = &query_hessian;
  return release(oracle_step(o), q, &(struct ask){.at = w}, step_left(o, q), (struct answer){h, sd, NULL});
}
static inline int oracle_step_trace(struct oracle *o, const double *w, enum curvature curvature, double rho,
                                    double *trace, double *sd) {
  const struct ask ask = {.at = w, .curvature = curvature};
  return release(oracle_step(o), &query_trace, &ask, rho, (struct answer){trace, sd, NULL});
}
static inline int oracle_step_direction(struct oracle *o, const double *w, const double *g,
                                        const struct oracle_newton *how, double rho, double *direction, double *sd) {
  return direction_of(oracle_step(o), w, g, how, rho, direction, sd);
}
static inline double oracle_sd_step_gradient(struct oracle *o, const struct sampling *how, const double *w,
                                             double cost) {
  return step_sd(o, how, &query_gradient, &(struct ask){.at = w}, cost);
}
static inline double oracle_sd_step_hessian(struct oracle *o, const struct sampling *how, const double *w,
                                            double cost) {
  return step_sd(o, how, &query_hessian, &(struct ask){.at = w}, cost);
}

/* ---- exact sums, and sensitivities ---- */

static inline int mean_of(const struct scope *s, const struct query *q, const struct ask *ask, double *answer) {
  return scope_mean(s, &q->sum, ask, answer);
}
static inline int sums_value(const struct scope *s, const double *w, double *value) {
  return mean_of(s, &query_value, &(struct ask){.at = w}, value);
}
static inline int sums_gradient(const struct scope *s, const double *w, double *g) {
  return mean_of(s, &query_gradient, &(struct ask){.at = w}, g);
}
static inline int sums_model_gradient(const struct scope *s, const double *w, const double *along, double *g) {
  return mean_of(s, &query_model_gradient, &(struct ask){.at = w, .along = along}, g);
}
static inline int sums_value_gradient(const struct scope *s, const double *w, double *both) {
  return scope_mean(s, &sum_value_gradient, &(struct ask){.at = w}, both);
}
static inline int sums_hessian(const struct scope *s, const double *w, double *h) {
  return mean_of(s, &query_hessian, &(struct ask){.at = w}, h);
}
static inline int sums_majorant(const struct scope *s, const double *w, double *h) {
  return mean_of(s, &query_majorant, &(struct ask){.at = w}, h);
}
static inline int sums_products(const struct scope *s, const double *w, double *j) {
  return mean_of(s, &query_products, &(struct ask){.at = w}, j);
}
static inline int sums_moments(const struct scope *s, const double *most, double *moments) {
  return mean_of(s, &query_moments, &(struct ask){.most = most}, moments);
}
static inline int sums_weighted(const struct scope *s, double *h) {
  return mean_of(s, &query_weighted, &(struct ask){0}, h);
}
static inline int sums_trace(const struct scope *s, const double *w, enum curvature curvature, double *trace) {
  return mean_of(s, &query_trace, &(struct ask){.at = w, .curvature = curvature}, trace);
}
static inline int sums_decreases(const struct scope *s, const double *w, const double *along, size_t k,
                                 const double *step, double *decrease) {
  const struct ask ask = search_ask(w, along, k, step, NULL, 0);
  return mean_of(s, &query_decreases, &ask, decrease);
}

static inline double sensitivity_value(const struct scope *s, const double *w) {
  return query_value.sensitivity(s, &(struct ask){.at = w}, 0);
}
static inline double sensitivity_gradient(const struct scope *s, const double *w) {
  return query_gradient.sensitivity(s, &(struct ask){.at = w}, 0);
}
static inline double sensitivity_model_gradient(const struct scope *s, const double *w, const double *along) {
  return query_model_gradient.sensitivity(s, &(struct ask){.at = w, .along = along}, 0);
}
static inline double sensitivity_hessian(const struct scope *s, const double *w) {
  return query_hessian.sensitivity(s, &(struct ask){.at = w}, 0);
}
static inline double sensitivity_products(const struct scope *s, const double *w) {
  return query_products.sensitivity(s, &(struct ask){.at = w}, 0);
}
static inline double sensitivity_moments(const struct scope *s) {
  return query_moments.sensitivity(s, &(struct ask){0}, 0);
}
static inline double sensitivity_weighted(const struct scope *s) {
  return query_weighted.sensitivity(s, &(struct ask){0}, 0);
}
static inline double sensitivity_trace(const struct scope *s, const double *w, enum curvature curvature) {
  return query_trace.sensitivity(s, &(struct ask){.at = w, .curvature = curvature}, 0);
}
static inline double sensitivity_decrease(const struct scope *s, const double *w, const double *along, double step) {
  const struct ask ask = search_ask(w, along, 1, &step, NULL, 0);
  return query_decreases.sensitivity(s, &ask, 0);
}
/* Of the difference of the decreases at two steps. */
static inline double sensitivity_spread(const struct scope *s, const double *w, const double *along,
                                        const double *step) {
  const double offset[2] = {0, 0};
  const struct ask ask = search_ask(w, along, 2, step, offset, 0);
  return query_best_step.sensitivity(s, &ask, 0);
}
/* Of a gradient of this norm. */
static inline double sensitivity_newton(const struct scope *s, const double *w, const struct oracle_newton *how,
                                        double norm) {
  double g[64] = {norm};
  const struct modified matrix = {how->modify, how->lambda0, how->penalty};
  const struct ask ask = {.at = w, .along = g, .curvature = how->curvature, .matrix = &matrix};
  return s->oracle->model.dim <= 64 ? query_direction.sensitivity(s, &ask, 0) : NAN;
}

#endif
