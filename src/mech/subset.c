/*
 * Random subsets of 0, ..., n - 1, ascending: the rows of a batch. Only integers are used, so that the distribution is
 * exact: amplification by sampling is accounted for at one rate, and a larger rate would make it invalid.
 */
#include "mech/private.h"

#include <math.h>
#include <string.h>

#define MOST_ROWS UINT32_MAX

static uint64_t gap_draw(struct mech_bits *b, uint64_t step);
static int keep(size_t **row, size_t *room, size_t count, size_t next);
static void wipe(size_t *row, size_t room);

/*
 * Floyd's algorithm (Bentley & Floyd 1987, "A sample of brilliance"): for j = n - m, ..., n - 1, a uniform
 * number up to j is added or, if it is already in the set, j itself. The marks put the rows in order; with one bit for
 * each row they cost less time than the sums over the rows unless m is below about n / 10^4.
 */
int mech_subset_fixed(const struct base_entropy *e, size_t n, size_t m, size_t *row) {
  if (n > MOST_ROWS || m > n) return BASE_ERR_ARGUMENT;
  size_t words = n / 64 + 1, count = 0;
  uint64_t *mark = base_alloc(words, sizeof *mark);
  if (!mark) return BASE_ERR_MEMORY;
  struct mech_bits b;
  mech_bits_open(&b, e);
  for (size_t j = n - m; j < n; j++) {
    mech_bits_allow(&b, MECH_PATIENCE);
    size_t i = mech_below(&b, (uint32_t)j + 1);
    if (mark[i / 64] >> i % 64 & 1) i = j;
    mark[i / 64] |= UINT64_C(1) << i % 64;
  }
  int status = mech_bits_close(&b);
  for (size_t k = 0; k < words && status == BASE_OK; k++) {
    for (uint64_t left = mark[k]; left; left &= left - 1) row[count++] = 64 * k + (size_t)__builtin_ctzll(left);
  }
  if (status != BASE_OK) memset(row, 0, m * sizeof *row);
  memset(mark, 0, words * sizeof *mark);
  base_free(mark);
  return status;
}

/*
 * Each row has probability 1 - exp(-step / 2^32), where step is the largest integer for which this is at most rate. The
 * gap before the next row is then geometric, P(gap >= k) = exp(-k step / 2^32), so the time depends on the rows taken
 * only.
 */
int mech_subset_poisson(const struct base_entropy *e, size_t n, double rate, size_t **row, size_t *count) {
  *row = NULL;
  *count = 0;
  if (n > MOST_ROWS || !(rate > 0) || !(rate < 1)) return BASE_ERR_ARGUMENT;
  uint64_t step = (uint64_t)ldexp(-log1p(-rate) * (1 - 0x1p-50), 32);
  if (step == 0) return BASE_ERR_ARGUMENT;
  double mean = (double)n * rate;
  size_t room = (size_t)(mean + 4 * sqrt(mean)) + 16;
  *row = base_alloc(room, sizeof **row);
  int status = *row ? BASE_OK : BASE_ERR_MEMORY;
  struct mech_bits b;
  mech_bits_open(&b, e);
  for (uint64_t next = gap_draw(&b, step); status == BASE_OK && next < n; next += 1 + gap_draw(&b, step)) {
    status = b.status;
    if (status == BASE_OK) status = keep(row, &room, (*count)++, (size_t)next);
  }
  if (status == BASE_OK) status = b.status;
  mech_bits_close(&b);
  if (status != BASE_OK) {
    wipe(*row, room);
    *row = NULL;
    *count = 0;
  }
  return status;
}

/*
 * floor(X / step) with P(X >= x) = exp(-x / 2^32). X = U + 2^32 V, where U is uniform on 0, ..., 2^32 - 1 and accepted
 * with probability exp(-U / 2^32), and V is the number of successes of probability exp(-1) before the first failure
 * (Canonne, Kamath & Steinke 2020, algorithm 2).
 */
static uint64_t gap_draw(struct mech_bits *b, uint64_t step) {
  const uint64_t one = UINT64_C(1) << 32;
  uint64_t u, v = 0;
  mech_bits_allow(b, MECH_PATIENCE);
  do u = mech_word(b);
  while (!mech_bernoulli_exp(b, u) && b->status == BASE_OK);
  while (mech_bernoulli_exp(b, one) && b->status == BASE_OK) v++;
  return (u + one * v) / step;
}

/* Appends next; doubles the room when it is full. */
static int keep(size_t **row, size_t *room, size_t count, size_t next) {
  if (count == *room) {
    size_t *more = base_alloc(2 * *room, sizeof *more);
    if (!more) return BASE_ERR_MEMORY;
    memcpy(more, *row, count * sizeof *more);
    wipe(*row, *room);
    *row = more;
    *room *= 2;
  }
  (*row)[count] = next;
  return BASE_OK;
}

static void wipe(size_t *row, size_t room) {
  if (row) memset(row, 0, room * sizeof *row);
  base_free(row);
}
