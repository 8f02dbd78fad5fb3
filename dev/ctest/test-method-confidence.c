/* Confidence bounds: simulated coverage is what it says, no less and not much more. */
#include "ctest.h"
#include "la/la.h"
#include "mech/mech.h"
#include "method/private.h"
#include "statistics.h"

#include <string.h>

static void norm_coverage(size_t dim, double norm, double beta);
static void norm_shape(void);
static void norm_exact(void);
static void eigen_coverage(size_t dim, double beta);

void test_method_confidence(void) {
  static const size_t dims[] = {1, 5, 54};
  static const double norms[] = {0, 0.5, 3, 12, 1000}; /* R's non-central chi-square is slow between */
  for (size_t d = 0; d < 3; d++) {
    for (size_t k = 0; k < sizeof norms / sizeof *norms; k++) {
      norm_coverage(dims[d], norms[k], 0.05);
      norm_coverage(dims[d], norms[k], 0.3);
    }
  }
  norm_shape();
  norm_exact();
  eigen_coverage(1, 0.1);
  eigen_coverage(3, 0.1);
  eigen_coverage(20, 0.1);
}

/* The bound inverts the exact law, so its coverage is 1 - beta, but where it is cut at zero (the true norm is zero or
 * hardly seen) and for |g| > 316 sd, where a larger one is used. */
static void norm_coverage(size_t dim, double norm, double beta) {
  int count = ctest_size(300, 12), covered = 0;
  double sd = 0.37, *ratio = base_alloc((size_t)count, sizeof *ratio);
  for (int i = 0; i < count; i++) {
    double square = 0;
    for (size_t j = 0; j < dim; j++) square += pow((j == 0 ? norm : 0) + ctest_normal(), 2);
    double upper = confidence_norm(sd * sqrt(square), sd, dim, beta);
    covered += upper >= sd * norm;
    ratio[i] = upper / (sd * norm);
  }
  double error = 4 * sqrt(beta * (1 - beta) / count), share = (double)covered / count;
  CHECK(share >= 1 - beta - error);
  if (norm == 0) CHECK(covered == count);
  if (norm >= 3 && norm <= 300) CHECK(share <= 1 - beta + error);
  qsort(ratio, (size_t)count, sizeof *ratio, statistics_compare);
  double width = 2 * (1 + sqrt(2 * log(1 / beta)) + pow((double)dim, 0.25)) + 2 * sqrt((double)dim) * (norm > 300);
  if (norm >= 3) CHECK(ratio[count / 2] <= 1 + width / norm); /* not absurdly wide */
  base_free(ratio);
}

static void norm_shape(void) {
  double last = 0;
  CHECK(confidence_norm(0.7, 0, 5, 0.05) == 0.7); /* no noise, no width */
  for (double seen = 0; seen < 400;
       seen += seen < 20 ? ctest_size(1, 4)
                         : ctest_size(27, 400)) { /* grows with what was seen, through the change of formula */
    double upper = confidence_norm(seen, 1, 10, 0.05);
    CHECK(upper >= last - 1e-9);
    CHECK(upper >= confidence_norm(seen, 1, 10, 0.1) - 1e-9);
    last = upper;
  }
  CHECK_NEAR(confidence_norm(30, 2, 10, 0.05), 2 * confidence_norm(15, 1, 10, 0.05), 1e-9);
}

/* At the bound, and not a billionth below, what was seen has probability beta at most, but for roundings of the cdf. */
static void norm_exact(void) {
  static const double seen[] = {0, 3, 8, 30, 120, 300}, betas[] = {0.3, 0.05, 1e-3, 1e-7};
  for (size_t i = 0; i < 6; i++) {
    for (size_t j = 0; j < 4; j++) {
      for (size_t dim = 1; dim < 300; dim *= 7) {
        double least = fmax(seen[i], sqrt((double)dim)), upper = confidence_norm(seen[i], 1, dim, betas[j]);
        CHECK(base_pnchisq(least * least, (double)dim, upper * upper) <= betas[j] * (1 + 1e-12));
        CHECK(base_pnchisq(least * least, (double)dim, pow(upper * (1 - 1e-9), 2)) > betas[j]);
      }
    }
  }
}

static void eigen_coverage(size_t dim, double beta) {
  int count = ctest_size(2000, 100), covered = 0, failed = BASE_OK;
  double sd = 0.21, bound = confidence_eigen(sd, dim, beta), *largest = base_alloc((size_t)count, sizeof *largest);
  double *noise = base_alloc(dim * dim, sizeof *noise), *vector = base_alloc(dim, sizeof *vector);
  for (int i = 0; i < count; i++) {
    memset(noise, 0, dim * dim * sizeof *noise);
    failed |= mech_symmetric(&ctest_entropy, dim, sd, noise);
    failed |= la_eigen_min(dim, noise, &largest[i], vector); /* the smallest has the law of minus the largest */
    largest[i] = -largest[i];
    covered += largest[i] <= bound;
  }
  CHECK(failed == BASE_OK);
  CHECK((double)covered / count >= 1 - beta);
  qsort(largest, (size_t)count, sizeof *largest, statistics_compare);
  double quantile = largest[(int)((1 - beta) * count)];
  CHECK(bound <= (dim == 1 ? 3 : 2) * quantile);
  CHECK_NEAR(confidence_eigen(3 * sd, dim, beta), 3 * bound, 1e-12);
  CHECK(confidence_eigen(sd, dim, beta / 10) > bound);
  base_free(vector);
  base_free(noise);
  base_free(largest);
}
