/*
 * Private backtracking over the candidates first * ratio^i, i < k, along a released direction (Gao & Wright 2023,
 * section 3.2; proofs: sensitivity-decrease, several-scales, sparse-vector-cost, exponential-mechanism).
 *
 * Public or released numbers bound the possible decrease by a step: it is
 * at most the gap f(w) - inf f. A candidate is left out, before any
 * query, where its noise or the decrease that the gradient predicts for it exceeds the gap,
 * and where it leads out of the ball of admissible points. Of the
 * rest one is taken only if it decreases f with probability 1 - DOUBT, which
 * holds for all candidates at once:
 *
 *   Gaussian      the largest lower bound, if positive: noise sd times the
 *                 normal quantile of DOUBT / k
 *   sparse vector passes only decreases of at least the margin of the
 *                 two Laplace distributions
 *   exponential   its choice is worse than the best candidate by at most
 *                 temperature * log(k / DOUBT): the largest candidates are left
 *                 out until the shortest is expected to decrease f by as much
 *
 * With published constants no candidate is left out, and the mechanism's choice is taken.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

/* A step may increase f with this probability: many small gains are worth a rare small loss. On synthetic problems
 * (inst/experiments/doubt-rule.R) the remaining excess losses are 4 to 13 % larger with 0.1 and 2 to 8 % smaller with
 * 0.4; no run with either ends above its start. */
#define DOUBT 0.2

const char *const line_searches[] = {"none", "gaussian", "svt", "exponential", NULL};

struct candidates {
  double *step, *offset, *noisy, *sd, *scratch;
};

/* The normal quantile that one of k variables exceeds with at most this probability. */
static double quantile(double error, size_t k) { return -base_qnorm(error / (double)k); }
static void set_steps(const struct line_search *s, const struct candidates *c);
static void fill(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                 const struct candidates *c);
static void narrow(const struct objective *f, struct line_search *s, const double *w, const double *direction,
                   const struct candidates *c);
static int sensible(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                    const struct candidates *c);
static double margin(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                     const struct candidates *c);
static int by_gaussian(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                       const struct candidates *c, struct found *found);
static int by_index(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                    const struct candidates *c, struct found *found);

/* Gao & Wright Alg. 2: floor(log_ratio(1 / multiplier)) + 1 */
size_t search_candidates(double multiplier, double ratio) {
  return (size_t)floor(log(multiplier) / -log(ratio) + 1e-9) + 1;
}

double search_noise(size_t k, double decrease) { return decrease / (quantile(DOUBT, k) * sqrt((double)k)); }

int search_run(const struct objective *f, const struct line_search *search, const double *w, const double *direction,
               struct found *found) {
  struct line_search s = *search;
  *found = (struct found){0, NAN, NAN, NAN, 0};
  double *work = base_alloc(4 * s.k + f->dim, sizeof(double));
  if (!work) return BASE_ERR_MEMORY;
  const struct candidates c = {work, work + s.k, work + 2 * s.k, work + 3 * s.k, work + 4 * s.k};
  int status = BASE_OK;
  if (!s.published) narrow(f, &s, w, direction, &c);
  if (s.k > 0) {
    fill(f, &s, w, direction, &c);
    found->rho = s.rho;
    status =
        s.kind == OPT_GAUSSIAN ? by_gaussian(f, &s, w, direction, &c, found) : by_index(f, &s, w, direction, &c, found);
  }
  base_free(work);
  return status;
}

static void set_steps(const struct line_search *s, const struct candidates *c) {
  for (size_t i = 0; i < s->k; i++) c->step[i] = s->first * pow(s->ratio, (double)i);
}

/* The offset is added to a decrease of the loss: the penalty's decrease, minus the required decrease. */
static void fill(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                 const struct candidates *c) {
  set_steps(s, c);
  double unsure = s->kind == OPT_SVT && !s->published ? margin(f, s, w, direction, c) / s->first : 0;
  for (size_t i = 0; i < s->k; i++) {
    double required = fmax(s->sufficient * pow(c->step[i], s->power), unsure * c->step[i]);
    c->offset[i] = objective_penalty_decrease(f, w, direction, c->step[i], c->scratch) - required;
  }
}

/* The largest candidates are left out first: noise, predicted decrease and distance all grow with the step. */
static void narrow(const struct objective *f, struct line_search *s, const double *w, const double *direction,
                   const struct candidates *c) {
  while (s->k > 0) {
    set_steps(s, c);
    memset(c->offset, 0, s->k * sizeof(double));
    if (sensible(f, s, w, direction, c)) return;
    s->first *= s->ratio;
    s->k--;
  }
}

/* Is the largest candidate admissible? Where only a choice is released there must be one. */
static int sensible(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                    const struct candidates *c) {
  if (s->kind == OPT_EXPONENTIAL && s->k == 1) return 0;
  memcpy(c->scratch, w, f->dim * sizeof(double));
  la_axpy(f->dim, s->first, direction, c->scratch);
  if (la_norm(f->dim, c->scratch) > s->reach || s->promise * s->first > s->gap) return 0;
  return margin(f, s, w, direction, c) < (s->kind == OPT_EXPONENTIAL ? s->least : s->gap);
}

/* Of a sparse vector whose queries are divided by their steps, unless a published search is reproduced. */
static struct ask ask_of(const struct line_search *s, const double *w, const double *direction,
                         const struct candidates *c) {
  return (struct ask){.at = w,
                      .along = direction,
                      .k = s->k,
                      .step = c->step,
                      .offset = c->offset,
                      .scale_free = s->kind == OPT_SVT && !s->published};
}

/* That a decrease at the largest candidate differs by from what the mechanism sees, with probability DOUBT at most;
 * of a sparse vector in proportion to the step. */
static double margin(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                     const struct candidates *c) {
  double k = (double)s->k;
  const struct scope *rows = oracle_all(f->oracle);
  struct ask ask = ask_of(s, w, direction, c);
  if (s->kind == OPT_EXPONENTIAL) return log(k / DOUBT) * release_sd(rows, &query_best_step, &ask, s->rho);
  if (s->kind == OPT_GAUSSIAN) {
    ask.k = 1; /* the first has the largest noise */
    return quantile(DOUBT, s->k) * release_sd(rows, &query_decreases, &ask, s->rho / k);
  }
  /* The queries' noise has this scale, the threshold's half of it; P(Laplace > x) = exp(-x / scale) / 2. */
  double scale = release_sd(rows, &query_first_step, &ask, s->rho);
  return s->first * scale * (log(k / DOUBT) + log(1 / DOUBT) / 2);
}

/* The candidate with the largest lower confidence bound; none when all are negative. */
static int by_gaussian(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                       const struct candidates *c, struct found *found) {
  const struct ask ask = ask_of(s, w, direction, c);
  const struct answer to = {.value = c->noisy, .sd = c->sd};
  int status = release(oracle_all(f->oracle), &query_decreases, &ask, s->rho, to);
  if (status != BASE_OK) return status;
  double doubt = quantile(DOUBT, s->k), sure = quantile(s->error, s->k), best = 0;
  for (size_t i = 0; i < s->k; i++) {
    double required = s->sufficient * pow(c->step[i], s->power), excess = c->noisy[i] + c->offset[i];
    double bound = excess - doubt * c->sd[i];
    if (bound <= best || bound > s->gap) continue;
    best = bound;
    found->step = c->step[i];
    found->decrease = excess + required;
    found->bound = excess + required - sure * c->sd[i];
    found->sd = c->sd[i];
  }
  return BASE_OK;
}

static int by_index(const struct objective *f, const struct line_search *s, const double *w, const double *direction,
                    const struct candidates *c, struct found *found) {
  size_t index = s->k;
  const struct ask ask = ask_of(s, w, direction, c);
  const struct query *q = s->kind == OPT_SVT ? &query_first_step : &query_best_step;
  int status = release(oracle_all(f->oracle), q, &ask, s->rho, (struct answer){.index = &index});
  if (status == BASE_OK && index < s->k) found->step = c->step[index];
  return status;
}
