/* Each allocation of the eigensolvers fails once, and Lanczos is stopped at each of its steps: an error, no leak, and
 * the eigenvalue is not written. */
#include <math.h>

#include "ctest.h"
#include "la/la.h"

enum { SMALL = 12, LARGE = LA_DENSE_LIMIT + 20 };

static void without_memory(size_t d, int least);
static void stopped(void);

void test_la_memory(void) {
  without_memory(SMALL, 4);
  without_memory(LARGE, 8);
  stopped();
}

/* A diagonal with eigenvalues 1 to d, but for the smallest, -1. */
static double *diagonal(size_t d) {
  double *h = base_alloc(d * d, sizeof *h);
  for (size_t i = 0; i < d; i++) h[i + i * d] = i == 0 ? -1 : 1 + (double)i / (double)d;
  return h;
}

static void without_memory(size_t d, int least) {
  double *h = diagonal(d), *vector = base_alloc(d, sizeof *vector);
  long before = ctest_live_allocations();
  int status = BASE_ERR_MEMORY, failures = 0;
  for (; status == BASE_ERR_MEMORY && failures < 1000; failures++) {
    double value = 77;
    ctest_fail_allocation(failures + 1);
    status = la_eigen_min(d, h, &value, vector);
    ctest_fail_allocation(0);
    CHECK(status == BASE_OK ? fabs(value + 1) < 1e-9 : value == 77);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK && failures > least);
  base_free(h);
  base_free(vector);
}

static int polls_left;
static int stop_after_polls(void) { return polls_left-- <= 0; }

static void stopped(void) {
  struct base_host host = {stop_after_polls, NULL};
  double *h = diagonal(LARGE), *vector = base_alloc(LARGE, sizeof *vector);
  long before = ctest_live_allocations();
  int status = BASE_ERR_STOPPED, stops = 0;
  base_set_host(&host);
  for (; status == BASE_ERR_STOPPED && stops < 1000; stops++) {
    double value = 77;
    polls_left = ctest_size(1, 4) * stops;
    status = la_eigen_min(LARGE, h, &value, vector);
    CHECK(status == BASE_OK || (status == BASE_ERR_STOPPED && value == 77));
    CHECK(ctest_live_allocations() == before);
  }
  base_set_host(NULL);
  CHECK(status == BASE_OK && stops > ctest_size(10, 3));
  base_free(h);
  base_free(vector);
}
