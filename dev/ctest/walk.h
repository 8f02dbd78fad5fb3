/*
 * Exact laws of the samplers in src/mech: their own text, compiled here once more with other draws (mech/bits.h). Where
 * the package draws random bits, a walk takes each possibility in turn, with its probability, until all paths have been
 * walked:
 *
 *   for (begin(least); walk_more();) found(result of the sampler);
 *
 * A path that has become less probable than `least` is cut: the status becomes an error, which ends all loops of a
 * sampler, and its probability is added to walk.cut. So each probability lies in [law, law + cut], by computation and
 * not by chance. Words are taken by cells between given edges, as one number of the cell, its first or, with walk.last,
 * its last: the sampler must not tell numbers of a cell apart, or the two laws differ.
 */
#ifndef DPSOSP_WALK_H
#define DPSOSP_WALK_H

#include <math.h>

#include "ctest.h"

#define DPSOSP_MECH_BITS_H /* in place of mech/bits.h */
#define MECH_PATIENCE 64

struct mech_bits {
  int status;
  size_t used;
  unsigned char byte[14]; /* always spent: trials of exp(-1/2) are drawn as all others */
};

enum { DEEPEST = 400, CELLS = 64 };

static struct {
  size_t depth, at, choice[DEEPEST], ways[DEEPEST];
  long double probability, least, cut;
  uint64_t edge[CELLS]; /* the first is 0, the last 2^32 */
  size_t edges;
  int last;           /* the last number of each cell */
  size_t words;       /* drawn on this path */
  size_t cell;        /* that of the last word; CELLS before the first */
  uint32_t word;      /* the last word */
  int whole;          /* trials of exp(-g) are the package's; else they are coins of this probability */
  int tails, belows;  /* a path is cut at this number of failed coins, or of integers drawn; zero: never */
  int fails, drawn;
} walk;

static void walk_edges(size_t edges, const uint64_t *edge) {
  walk.edges = edges;
  for (size_t i = 0; i < edges; i++) walk.edge[i] = edge[i];
}

/* Cells of equal size. */
static void walk_cells(size_t cells) {
  walk.edges = cells + 1;
  for (size_t i = 0; i <= cells; i++) walk.edge[i] = ((uint64_t)i << 32) / cells;
}

static void walk_begin(long double least) {
  walk.least = least;
  walk.cut = 0;
  walk.depth = 0;
  walk.at = SIZE_MAX;
}

/* The next path; zero where all have been walked. */
static int walk_more(void) {
  if (walk.at != SIZE_MAX) {
    walk.depth = walk.at;
    while (walk.depth > 0 && walk.choice[walk.depth - 1] + 1 == walk.ways[walk.depth - 1]) walk.depth--;
    if (walk.depth == 0) return 0;
    walk.choice[walk.depth - 1]++;
  }
  walk.at = walk.words = 0;
  walk.fails = walk.drawn = 0;
  walk.cell = CELLS;
  walk.probability = 1;
  return 1;
}

static void walk_cut(struct mech_bits *b) {
  walk.cut += walk.probability;
  walk.probability = 0;
  b->status = BASE_ERR_ENTROPY;
}

/* One of n ways; the caller then multiplies walk.probability. */
static size_t walk_choose(size_t n) {
  if (walk.at == walk.depth) {
    walk.choice[walk.at] = 0;
    walk.ways[walk.depth++] = n;
  }
  return walk.choice[walk.at++];
}

static void walk_took(struct mech_bits *b, long double probability) {
  walk.probability *= probability;
  if (walk.probability < walk.least || walk.at + 1 >= DEEPEST) walk_cut(b);
}

static inline uint32_t mech_word(struct mech_bits *b) {
  if (b->status != BASE_OK) return 0;
  const size_t i = walk_choose(walk.edges - 1);
  const uint64_t first = walk.edge[i], end = walk.edge[i + 1];
  walk.words++;
  walk.cell = i;
  walk.word = (uint32_t)(walk.last ? end - 1 : first);
  walk_took(b, ldexpl((long double)(end - first), -32));
  return walk.word;
}

static inline uint32_t mech_below(struct mech_bits *b, uint32_t n) {
  if (b->status != BASE_OK) return 0;
  const uint32_t v = (uint32_t)walk_choose(n);
  walk_took(b, 1 / (long double)n);
  if (++walk.drawn == walk.belows && b->status == BASE_OK) walk_cut(b);
  return v;
}

/* A coin that falls with probability p. */
static int walk_coin(struct mech_bits *b, long double p) {
  if (b->status != BASE_OK) return 0;
  const int fell = walk_choose(2) == 0;
  walk_took(b, fell ? p : 1 - p);
  if (!fell && ++walk.fails == walk.tails && b->status == BASE_OK) walk_cut(b);
  return fell;
}

static void mech_bits_open(struct mech_bits *b, const struct base_entropy *source) {
  (void)source;
  *b = (struct mech_bits){BASE_OK, sizeof b->byte, {0}};
}

static int mech_bits_close(struct mech_bits *b) { return b->status; }

static void mech_bits_allow(struct mech_bits *b, size_t buffers) { (void)b, (void)buffers; }

/* The samplers get names of their own. */
#define mech_bernoulli_exp walked_bernoulli_exp
#define mech_outcomes walked_outcomes
#define mech_uniform_draw walked_uniform_draw
#define mech_uniform_tie walked_uniform_tie
#define mech_draw_normal walked_draw_normal
#define mech_draw_laplace walked_draw_laplace
#define mech_lattice walked_lattice
#define mech_grid_choose walked_grid_choose
#define mech_point_draw walked_point_draw
#define mech_point_value walked_point_value
#define mech_perturb walked_perturb
#define mech_subset_fixed walked_subset_fixed
#define mech_subset_poisson walked_subset_poisson
#define mech_permutation walked_permutation
#define mech_poisson walked_poisson
#define mech_geometric walked_geometric
#define mech_uniform walked_uniform
#define mech_exponential walked_exponential
#define mech_sparse_vector walked_sparse_vector

#include "mech/private.h"

#undef mech_bernoulli_exp
#define mech_bernoulli_exp walked_trial
int walked_trial(struct mech_bits *b, uint64_t a);
#include "mech/bernoulli.c"
#undef mech_bernoulli_exp
#define mech_bernoulli_exp walked_bernoulli_exp

/* exp(-a / 2^32) or, where a is the word just drawn, which stands for its cell, the mean of that over the cell. */
static long double walk_chance(uint64_t a) {
  const long double unit = 0x1p-32L;
  if (walk.cell == CELLS || a != walk.word) return expl(-(long double)a * unit);
  const long double first = (long double)walk.edge[walk.cell], size = (long double)walk.edge[walk.cell + 1] - first;
  return expl(-first * unit) * expm1l(-size * unit) / expm1l(-unit) / size;
}

int mech_bernoulli_exp(struct mech_bits *b, uint64_t a) {
  return walk.whole ? walked_trial(b, a) : walk_coin(b, walk_chance(a));
}

#include "mech/uniform.c"
#include "mech/variate.c"
#include "mech/lattice.c"
#include "mech/permutation.c"
#include "mech/runs.c"
#include "mech/exponential.c"
#define wipe wipe_subset
#include "mech/subset.c"
#undef wipe

/* The sparse vector's own text with noise of few values: on whole numbers, at most WALK_SPAN scales from zero. */
enum { WALK_SPAN = 20 };

static int walk_grid(double scale, struct mech_grid *grid) {
  *grid = (struct mech_grid){0, (uint64_t)rint(scale)};
  return BASE_OK;
}

/* Rounded Laplace noise; what lies beyond the span is counted at its ends. */
static long double walk_rounded_laplace(int64_t j, uint64_t scale) {
  const long double s = (long double)scale, k = (long double)(j < 0 ? -j : j);
  if (k == WALK_SPAN * s) return expl(-(k - 0.5L) / s) / 2;
  return j == 0 ? -expm1l(-0.5L / s) : expl(-(k - 0.5L) / s) * -expm1l(-1 / s) / 2;
}

static struct mech_point walk_point(struct mech_bits *b, mech_sampler *draw, const struct mech_grid *grid, double x) {
  (void)draw;
  const int64_t span = WALK_SPAN * (int64_t)grid->scale;
  if (b->status != BASE_OK) return (struct mech_point){0, 0};
  const int64_t j = (int64_t)walk_choose((size_t)(2 * span + 1)) - span;
  walk_took(b, walk_rounded_laplace(j, grid->scale));
  return (struct mech_point){(int128)j + (int128)rint(x), 0};
}

#undef mech_grid_choose
#undef mech_point_draw
#define mech_grid_choose walk_grid
#define mech_point_draw walk_point
#include "mech/sparse_vector.c"
#undef mech_grid_choose
#undef mech_point_draw
#define mech_grid_choose walked_grid_choose
#define mech_point_draw walked_point_draw

/* ---- laws ---- */

enum { MOST = 64 };

static long double law[MOST];

/* Far above the rounding of the sums, and far below what a wrong number would change. */
static long double rounded_sums(void) { return ctest_extended() ? 1e-12L : 1e-9L; }

static void begin(long double least) {
  walk_begin(least);
  for (size_t i = 0; i < MOST; i++) law[i] = 0;
}

/* For walks of many paths: in the quick form they are cut earlier, and the law lies in wider limits. */
static void begin_long(long double least) { begin(ctest_size(1, 0) ? least : 100 * least); }

static void found(size_t result) {
  if (walk.probability > 0) law[result < MOST ? result : MOST - 1] += walk.probability;
}

/* Is each probability in [law, law + cut], and, in the full form, at most this much cut? */
static int is_law(size_t n, const long double *target, long double most_cut) {
  int inside = 1;
  long double sum = walk.cut;
  for (size_t i = 0; i < n; i++) {
    inside = inside && law[i] <= target[i] + rounded_sums() && target[i] <= law[i] + walk.cut + rounded_sums();
    sum += law[i];
  }
  return inside && fabsl(sum - 1) <= rounded_sums() && (walk.cut <= most_cut + rounded_sums() || !ctest_size(1, 0));
}

/* Is each probability the law's, and the rest cut? For walks that are cut where a sampler begins again. */
static int is_part(size_t n, const long double *target) {
  int same = 1;
  long double sum = walk.cut;
  for (size_t i = 0; i < n; i++) {
    same = same && fabsl(law[i] - target[i]) <= rounded_sums();
    sum += law[i];
  }
  return same && fabsl(sum - 1) <= rounded_sums();
}

static struct mech_bits fresh(void) {
  struct mech_bits b;
  mech_bits_open(&b, NULL);
  return b;
}

#endif
