/*
 * Gradient descent on batches for networks (Abadi et al. 2016), with momentum or by Adam (Kingma & Ba 2015):
 *
 *   repeat a planned number of times, on a fresh batch: g <- noisy mean of the records' clipped gradients at w
 *     momentum   m <- momentum m + (1 - momentum) g;  w <- w - step m
 *     Adam       m <- .9 m + .1 g;  v <- .999 v + .001 g^2;
 *                w <- w - step (m / (1 - .9^t)) / (sqrt(v / (1 - .999^t)) + 1e-8)
 *   return the last w
 *
 * Everything except g is a function of releases (proofs: post-processing). Nothing is certified, because a network has
 * none of the bounds that a certificate needs.
 */
#include "la/la.h"
#include "method/private.h"

#include <math.h>
#include <string.h>

#define FIRST 0.9
#define SECOND 0.999
#define TINY 1e-8

struct moments {
  double *first, *second; /* running means of the gradients and of their squares */
};

static int gradient(struct oracle *oracle, const struct descent_options *o, const double *w, double cost, double *g,
                    double *sd) {
  const struct schedule how = {.sampling = o->batch.sampling, .share = {[PART_SLOPE] = 1}};
  const struct ask ask = {.at = w, .clip = o->clip};
  const struct query *q = &query_clipped_gradient;
  int status = step_open(oracle, &how, &ask, cost);
  if (status == BASE_OK) {
    status = release(oracle_step(oracle), q, &ask, step_left(oracle, q), (struct answer){g, sd, NULL});
  }
  step_close(oracle);
  return status;
}

static void move_momentum(const struct descent_options *o, size_t dim, const double *g, struct moments *m, double *w) {
  for (size_t j = 0; j < dim; j++) {
    m->first[j] = o->momentum * m->first[j] + (1 - o->momentum) * g[j];
    w[j] -= o->step * m->first[j];
  }
}

static void move_adam(const struct descent_options *o, int t, size_t dim, const double *g, struct moments *m,
                      double *w) {
  double first = 1 - pow(FIRST, t), second = 1 - pow(SECOND, t);
  for (size_t j = 0; j < dim; j++) {
    m->first[j] = FIRST * m->first[j] + (1 - FIRST) * g[j];
    m->second[j] = SECOND * m->second[j] + (1 - SECOND) * g[j] * g[j];
    w[j] -= o->step * (m->first[j] / first) / (sqrt(m->second[j] / second) + TINY);
  }
}

static int descend(struct oracle *oracle, const struct descent_options *o, double cost, size_t dim, double *g,
                   struct moments *m, double *w, struct opt_result *result) {
  double sd;
  for (int t = 1; t <= o->iterations; t++) {
    base_progress(t, o->iterations);
    int status = gradient(oracle, o, w, cost, g, &sd);
    if (status != BASE_OK) return status;
    const struct trace_row row = {1, t, "batch gradient", la_norm(dim, g), NAN, sd, cost, o->step};
    status = trace_add(&result->trace, &row);
    if (status != BASE_OK) return status;
    if (o->adam) {
      move_adam(o, t, dim, g, m, w);
    } else {
      move_momentum(o, dim, g, m, w);
    }
  }
  return BASE_OK;
}

int descent_run(struct oracle *oracle, const struct penalty *penalty, const struct descent_options *options, double rho,
                double *w, struct opt_result *result) {
  size_t dim = oracle_dim(oracle);
  result_init(result);
  result->status = OPT_ITERATIONS;
  result->planned = options->iterations;
  if (penalty->kind != PENALTY_NONE) return BASE_ERR_ARGUMENT;
  double *memory = base_alloc(3 * dim, sizeof *memory);
  if (!memory) return BASE_ERR_MEMORY;
  struct moments m = {memory + dim, memory + 2 * dim};
  int status = descend(oracle, options, rho * ALMOST / options->iterations, dim, memory, &m, w, result);
  base_free(memory);
  if (status == BASE_ERR_BUDGET) result->status = OPT_BUDGET;
  return status == BASE_ERR_BUDGET ? BASE_OK : status;
}

/* No target can be certified. */
double descent_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                             const struct descent_options *options, double rho, const double *w) {
  (void)oracle, (void)penalty, (void)options, (void)rho, (void)w;
  return INFINITY;
}

static const struct field descent_fields[] = {
    FIELD(descent_options, FLAG, adam),
    FIELD(descent_options, NUMBER, momentum),
    FIELD(descent_options, NUMBER, step),
    FIELD(descent_options, NUMBER, clip),
    FIELD(descent_options, COUNT, iterations),
    BATCH_FIELDS(descent_options),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(descent)
