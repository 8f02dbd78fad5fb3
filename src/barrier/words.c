/* The sums by name, for those who compute them elsewhere. */
#include "barrier/private.h"

#include <string.h>

/* Queries that share a name have the same sum. */
static const struct sum *const sums[] = {
    &query_value.sum,    &query_gradient.sum,  &query_clipped_gradient.sum, &query_model_gradient.sum,
    &sum_value_gradient, &query_hessian.sum,   &query_majorant.sum,         &query_direction.sum,
    &query_trace.sum,    &query_products.sum,  &query_weighted.sum,         &query_second_moments.sum,
    &query_moments.sum,  &query_usable.sum,    &query_decreases.sum,        &query_best_step.sum,
    &query_class_gradient.sum, &query_class_counts.sum, &query_weighted_moments.sum, &query_response.sum,
    &query_class_hessian.sum, &query_class_products.sum,
    &query_residual_gradient.sum, &query_recalibration.sum, &query_residual_counts.sum, &query_residual_products.sum,
    &query_residual_hessian.sum, &query_row_lengths.sum, &query_improvement.sum, &sum_epoch_start, &sum_difference,
};

const struct sum *sum_of_word(const char *word) {
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    if (strcmp(sums[i]->word, word) == 0) return sums[i];
  }
  return NULL;
}
