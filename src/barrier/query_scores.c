/*
 * Scores of records, k raw columns of numbers from 0 to 1: their sums with Gaussian noise, and the column of the
 * largest sum by the exponential mechanism (proofs: sensitivity-scores, best-score).
 *
 * A score is clipped to [0, 1] and rounded to a multiple of 2^-20, so that sums of fewer than 2^32 scores are exact in
 * doubles and there is no rounding error to add. A number that is not finite adds nothing. A replaced record changes
 * each sum by at most one: k sums by at most sqrt(k), attained by all zeros against all ones. It changes the
 * differences of two columns' sums by at most two. The null record's score is the same fraction of the range of every
 * column, and these ranges end at one, so under zero-out the differences change by at most one; in the sums it counts
 * like other records.
 */
#include "barrier/private.h"

#include <math.h>

#define UNIT 0x1p-20
#define MOST_RECORDS 4294967296.0

static size_t width(const struct task *task) { return task->ask->k; }

static double clamp(double score) { return score > 0 ? fmin(score, 1) : 0; }

static void count(const struct task *task, size_t column, size_t n, const double *values, const double *share,
                  double *sum) {
  (void)task;
  (void)share;
  for (size_t i = 0; i < n; i++) {
    if (isfinite(values[i])) sum[column] += floor(clamp(values[i]) / UNIT + 0.5) * UNIT;
  }
}

static int check(const struct scope *s, const struct ask *a) {
  const struct raw *raw = s->oracle->engine.own;
  if (raw->share) return BASE_ERR_ARGUMENT; /* sums of products with shares would not be exact */
  return a->k == raw->columns && a->k > 0 && (double)raw->n < MOST_RECORDS ? BASE_OK : BASE_ERR_ARGUMENT;
}

static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  (void)s;
  (void)i;
  return sqrt((double)a->k);
}

static double spread(const struct scope *s, const struct ask *a, size_t i) {
  (void)a;
  (void)i;
  return bounds_terms(s);
}

const struct query query_scores = {.name = "scores",
                                   .sum = {SUM_COUNTS, width, NULL, count, NULL},
                                   .mechanism = &mechanism_gaussian,
                                   .keep = KEEP_NOT,
                                   .part = PART_NONE,
                                   .check = check,
                                   .sensitivity = sensitivity};

const struct query query_best_score = {.name = "best score",
                                       .sum = {SUM_COUNTS, width, NULL, count, NULL},
                                       .mechanism = &mechanism_best,
                                       .keep = KEEP_NOT,
                                       .part = PART_NONE,
                                       .check = check,
                                       .sensitivity = spread};
