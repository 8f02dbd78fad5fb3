/*
 * The fraction of usable records: those that are not null. One record changes their number by at most one, under both
 * relations (proofs: sensitivity-usable). With several records of a person it is the fraction of persons that have one.
 */
#include "barrier/private.h"

static void add(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  (void)task;
  (void)work;
  for (size_t i = 0; i < b->rows; i++) *sum += data_share(b, i) * (b->clip[i] > 0);
}

static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  (void)a;
  (void)i;
  return bounds_sensitivity(s, 1, bounds_sum_rounding(s, 1));
}

const struct query query_usable = {.name = "usable records",
                                   .sum = {SUM_VECTOR, scope_width_one, add, NULL, "usable"},
                                   .mechanism = &mechanism_gaussian,
                                   .keep = KEEP_NOT,
                                   .in_coordinates = COORDINATES_WEIGHTED,
                                   .multi_output = 1,
                                   .networks = 1,
                                   .part = PART_NONE,
                                   .sensitivity = sensitivity};
