/*
 * Private backtracking over the candidates first * ratio^i, i < k, along a
 * released direction (GW 3.2 and privacy.md A3-A4, C3-C4).
 */
#include "method/private.h"

#include <math.h>
#include <string.h>

/* A candidate is preferred by its decrease less this many standard deviations. */
#define SEARCH_Z 1.0

static int by_gaussian(const struct objective *f, const struct search *s, const double *w, const double *direction,
                       const double *steps, const double *offset, double *noisy, double *noise_sd, double *step,
                       double *decrease, double *sd);
static int by_index(const struct objective *f, const struct search *s, const double *w, const double *direction,
                    const double *steps, const double *offset, double *step);

/* GW Alg. 2: floor(log_ratio(1 / multiplier)) + 1 */
size_t search_candidates(double multiplier, double ratio) {
  return (size_t)floor(log(multiplier) / -log(ratio) + 1e-9) + 1;
}

int search_run(const struct objective *f, const struct search *s, const double *w, const double *direction,
               double *step, double *decrease, double *sd) {
  *step = 0;
  *decrease = *sd = NAN;
  double *work = base_alloc(4 * s->k + f->dim, sizeof(double));
  if (!work) return BASE_ERR_MEMORY;
  double *steps = work, *offset = work + s->k, *scratch = work + 4 * s->k;
  for (size_t i = 0; i < s->k; i++) {
    steps[i] = s->first * pow(s->ratio, (double)i);
    offset[i] =
        objective_penalty_decrease(f, w, direction, steps[i], scratch) - s->sufficient * pow(steps[i], s->power);
  }
  int status = s->kind == OPT_GAUSSIAN ? by_gaussian(f, s, w, direction, steps, offset, work + 2 * s->k,
                                                     work + 3 * s->k, step, decrease, sd)
                                       : by_index(f, s, w, direction, steps, offset, step);
  base_free(work);
  return status;
}

/* The candidate with the largest lower confidence bound; none when all bounds are negative. */
static int by_gaussian(const struct objective *f, const struct search *s, const double *w, const double *direction,
                       const double *steps, const double *offset, double *noisy, double *noise_sd, double *step,
                       double *decrease, double *sd) {
  int status = oracle_decreases(f->oracle, w, direction, s->k, steps, s->rho, noisy, noise_sd);
  if (status != BASE_OK) return status;
  double best = 0;
  for (size_t i = 0; i < s->k; i++) {
    double bound = noisy[i] + offset[i] - SEARCH_Z * noise_sd[i];
    if (bound <= best) continue;
    best = bound;
    *step = steps[i];
    *decrease = noisy[i] + offset[i] + s->sufficient * pow(steps[i], s->power);
    *sd = noise_sd[i];
  }
  return BASE_OK;
}

static int by_index(const struct objective *f, const struct search *s, const double *w, const double *direction,
                    const double *steps, const double *offset, double *step) {
  size_t index = s->k;
  int status = s->kind == OPT_SVT
                   ? oracle_first_step(f->oracle, w, direction, s->k, steps, offset, !s->published, s->rho, &index)
                   : oracle_best_step(f->oracle, w, direction, s->k, steps, offset, s->rho, &index);
  if (status == BASE_OK && index < s->k) *step = steps[index];
  return status;
}
