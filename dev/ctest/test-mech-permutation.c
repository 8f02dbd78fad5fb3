/* Random orders: each of the 24 of four numbers as often as the others. */
#include "ctest.h"
#include "mech/mech.h"
#include "statistics.h"

#include <string.h>

static int index_of(const size_t *order) {
  int index = 0;
  for (int i = 0; i < 4; i++) {
    int smaller = 0;
    for (int j = i + 1; j < 4; j++) smaller += order[j] < order[i];
    index = index * (4 - i) + smaller;
  }
  return index;
}

void test_mech_permutation(void) {
  double count[24] = {0}, probability[24];
  size_t order[4], none[1] = {7};
  for (int k = 0; k < 24; k++) probability[k] = 1.0 / 24;
  for (int i = 0, runs = ctest_size(20000, 1000); i < runs; i++) {
    memset(order, 255, sizeof order);
    CHECK(mech_permutation(&ctest_entropy, 4, order) == BASE_OK);
    count[index_of(order)]++;
  }
  CHECK(chi_square_test(24, count, probability) > STATISTICS_LEVEL);
  CHECK(mech_permutation(&ctest_entropy, 0, none) == BASE_OK && none[0] == 7);
  CHECK(mech_permutation(&ctest_entropy, (size_t)UINT32_MAX + 1, none) == BASE_ERR_ARGUMENT && none[0] == 7);
  CHECK(mech_permutation(&ctest_entropy_broken, 4, order) == BASE_ERR_ENTROPY);
  CHECK(order[0] == 0 && order[1] == 0 && order[2] == 0 && order[3] == 0);
}
