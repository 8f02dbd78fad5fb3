/*
 * The exact sums over the data.
 *
 * With z_i the clipped row of record i and t_i = z_i'w:
 *   f = (1/n) sum l(y_i, t_i),  g = (1/n) sum l'_i z_i,  H = (1/n) sum l''_i z_i z_i'.
 * Of a batch: its rows alone, divided by its public size instead of n.
 * The majorant is H with c_i (loss_majorant) for l''_i; a trace is the sum of weights times |z_i|^2.
 *
 * A pass reads the data once. The blocks of rows are dealt out, some
 * neighbours at a time, to groups, as many whatever the number of threads; a
 * thread takes a group at a time and adds its blocks up in order; the groups'
 * sums are added in order. So an answer does not depend on the number of
 * threads, nor on how much of the data is in memory at once (data/stream.c).
 * Within a block, rows that are read twice (predictor, then gradient or
 * Hessian) are taken in tiles that stay in a near cache.
 */
#include "barrier/private.h"
#include "base/simd.h"
#include "la/la.h"

#include <string.h>

/* Blocks dealt out at a time, at most. A stream has many times as many in memory, for as many threads. */
#define MOST_NEIGHBOURS 8
/* The sums of a Hessian's groups take at most 32 MiB, or there are two. */
#define HESSIAN_NUMBERS ((size_t)1 << 22)
/* Bytes of a tile of rows for the gradient, in the first-level cache, and rows of one for the Hessian, of which seven
 * columns at a time are. */
#define TILE_BYTES 40960
#define HESSIAN_TILE 256

struct pass {
  const struct oracle *o;
  /* sum <- sum + the block's part; scratch is the thread's own */
  void (*add)(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);
  const double *w;
  enum oracle_curvature curvature;
  const double *direction;
  size_t k;
  const double *step;
  size_t width;            /* numbers in a sum */
  size_t stop_every;       /* blocks after which an interrupt is looked for: milliseconds apart */
  size_t groups;           /* at most; fewer when there are fewer blocks */
  size_t neighbours;       /* blocks dealt out at a time */
  const struct data *part; /* the rows that are in memory, from this block on */
  size_t first;
  double *sums; /* of the groups: the first is in the caller's answer, the others here */
  double *answer;
  double *scratch; /* one part for each thread */
};

/* What a thread needs: a copy of a broken block or a batch's, and vectors as long as a block. */
enum { BUFFER, T, U, V, WEIGHT, LEFT, SCRATCHES };

static int sums_matrix(const struct oracle *o, const double *w, enum oracle_curvature curvature, double *matrix);
static int run(struct pass *pass, double *answer);
static size_t quotient_up(size_t x, size_t y);
static int add_parts(struct pass *pass, int threads);
static size_t next_block(const struct pass *pass, size_t group, size_t j);
static void add_group(void *context, size_t group, int worker);
static size_t scratch_size(const struct oracle *o);
static void add_value(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);
static void add_gradient(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);
static void add_both(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);
static void add_hessian(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);
static void add_model(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);
static void add_trace(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);
static void add_decreases(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum);

int sums_value(const struct oracle *o, const double *w, double *value) {
  struct pass pass = {.o = o, .add = add_value, .w = w, .groups = SUMS_GROUPS, .width = 1, .stop_every = 16};
  return run(&pass, value);
}

int sums_gradient(const struct oracle *o, const double *w, double *gradient) {
  struct pass pass = {
      .o = o, .add = add_gradient, .w = w, .groups = SUMS_GROUPS, .width = data_dim(o->data), .stop_every = 16};
  return run(&pass, gradient);
}

int sums_model_gradient(const struct oracle *o, const double *w, const double *direction, double *gradient) {
  struct pass pass = {.o = o,
                      .add = add_model,
                      .w = w,
                      .direction = direction,
                      .groups = SUMS_GROUPS,
                      .width = data_dim(o->data),
                      .stop_every = 16};
  return run(&pass, gradient);
}

int sums_value_gradient(const struct oracle *o, const double *w, double *both) {
  struct pass pass = {
      .o = o, .add = add_both, .w = w, .groups = SUMS_GROUPS, .width = 1 + data_dim(o->data), .stop_every = 16};
  return run(&pass, both);
}

int sums_hessian(const struct oracle *o, const double *w, double *hessian) {
  return sums_matrix(o, w, ORACLE_HESSIAN, hessian);
}

int sums_majorant(const struct oracle *o, const double *w, double *matrix) {
  return sums_matrix(o, w, ORACLE_MAJORANT, matrix);
}

static int sums_matrix(const struct oracle *o, const double *w, enum oracle_curvature curvature, double *matrix) {
  size_t dim = data_dim(o->data);
  struct pass pass = {.o = o,
                      .add = add_hessian,
                      .w = w,
                      .curvature = curvature,
                      .groups = sums_matrix_groups(dim),
                      .width = dim * dim,
                      .stop_every = 1};
  int status = run(&pass, matrix);
  la_symmetrise(dim, matrix);
  return status;
}

int sums_trace(const struct oracle *o, const double *w, enum oracle_curvature curvature, double *trace) {
  struct pass pass = {
      .o = o, .add = add_trace, .w = w, .curvature = curvature, .groups = SUMS_GROUPS, .width = 1, .stop_every = 16};
  return run(&pass, trace);
}

int sums_decreases(const struct oracle *o, const double *w, const double *direction, size_t k, const double *step,
                   double *decrease) {
  struct pass pass = {.o = o,
                      .add = add_decreases,
                      .w = w,
                      .direction = direction,
                      .k = k,
                      .step = step,
                      .groups = SUMS_GROUPS,
                      .width = k,
                      .stop_every = 16};
  return run(&pass, decrease);
}

size_t sums_matrix_groups(size_t dim) {
  size_t groups = HESSIAN_NUMBERS / (dim * dim + 1);
  return groups < 2 ? 2 : groups > SUMS_GROUPS ? SUMS_GROUPS : groups;
}

size_t sums_neighbours(size_t blocks, size_t groups) {
  size_t neighbours = quotient_up(blocks, groups);
  return neighbours > MOST_NEIGHBOURS ? MOST_NEIGHBOURS : neighbours;
}

/* ---- groups of blocks ---- */

static int run(struct pass *pass, double *answer) {
  int threads = base_threads();
  size_t numbers = scratch_size(pass->o) * (size_t)threads;
  size_t blocks = data_blocks(pass->o->data, pass->o->batch);
  pass->neighbours = sums_neighbours(blocks, pass->groups);
  if (blocks < pass->groups * pass->neighbours) pass->groups = quotient_up(blocks, pass->neighbours);
  pass->answer = answer;
  pass->sums = base_alloc((pass->groups - 1) * pass->width, sizeof(double));
  pass->scratch = base_alloc(numbers, sizeof(double));
  memset(answer, 0, pass->width * sizeof(double));
  int status = pass->sums && pass->scratch ? BASE_OK : BASE_ERR_MEMORY;
  if (status == BASE_OK) status = add_parts(pass, threads);
  for (size_t g = 1; status == BASE_OK && g < pass->groups; g++) {
    la_axpy(pass->width, 1, pass->sums + (g - 1) * pass->width, answer);
  }
  la_scale(pass->width, 1 / oracle_divisor(pass->o), answer);
  if (pass->sums) memset(pass->sums, 0, (pass->groups - 1) * pass->width * sizeof(double));
  if (pass->scratch) memset(pass->scratch, 0, numbers * sizeof(double));
  base_free(pass->sums);
  base_free(pass->scratch);
  return status;
}

/* x / y, rounded up; at least one. */
static size_t quotient_up(size_t x, size_t y) {
  size_t quotient = (x + y - 1) / y;
  return quotient > 0 ? quotient : 1;
}

static int add_parts(struct pass *pass, int threads) {
  const struct data *data = pass->o->data;
  const struct batch *batch = pass->o->batch;
  size_t blocks = data_blocks(data, batch);
  int status = BASE_OK;
  for (size_t first = 0; status == BASE_OK && first < blocks; first += data_blocks(pass->part, batch)) {
    pass->first = first;
    status = data_load(data, first, &pass->part);
    if (status == BASE_OK) status = base_parallel(pass->groups, threads, add_group, pass);
  }
  data_unload(data);
  return status;
}

/* Its blocks, of those that are in memory. */
static void add_group(void *context, size_t group, int worker) {
  const struct pass *pass = context;
  const struct data *data = pass->o->data;
  const struct batch *batch = pass->o->batch;
  size_t rows = data_block_rows(data, batch);
  double *scratch[SCRATCHES], *sum = group == 0 ? pass->answer : pass->sums + (group - 1) * pass->width;
  scratch[BUFFER] = pass->scratch + (size_t)worker * scratch_size(pass->o);
  scratch[T] = scratch[BUFFER] + rows * data_buffer(data);
  for (int i = U; i < SCRATCHES; i++) scratch[i] = scratch[i - 1] + rows;
  size_t end = pass->first + data_blocks(pass->part, batch), done = 0;
  for (size_t j = next_block(pass, group, pass->first); j < end; j = next_block(pass, group, j + 1)) {
    if (done++ % pass->stop_every == 0 && base_parallel_stopped(worker)) return;
    struct data_block b = data_block_at(pass->part, batch, j - pass->first, scratch[BUFFER]);
    pass->add(pass, &b, scratch, sum);
  }
}

/* The group's first block from j on. */
static size_t next_block(const struct pass *pass, size_t group, size_t j) {
  size_t dealt = j / pass->neighbours, skip = (group + pass->groups - dealt % pass->groups) % pass->groups;
  return skip == 0 ? j : (dealt + skip) * pass->neighbours;
}

/* LEFT holds the four columns of data_crossprod_add(). */
static size_t scratch_size(const struct oracle *o) {
  return data_block_rows(o->data, o->batch) * (data_buffer(o->data) + (LEFT - T)) + 4 * HESSIAN_TILE;
}

/* ---- a block ---- */

static size_t search_tile(const struct data *data);
static size_t gradient_tile(const struct data *data);
static size_t value_tile(const struct data_block *b);
static void predictor(const struct oracle *o, const struct data_block *b, const double *w, double *t);
static void add_weighted_rows(const struct oracle *o, const struct data_block *b, const double *weight, double *scaled,
                              double *g);
static void curvatures(const struct pass *pass, const struct data_block *b, double *t, double *weight);
static void move(size_t n, const double *t, double step, const double *u, double *restrict to);
static void scale_shifted(size_t n, const double *scale, double constant, double *restrict t);
static double scale_to(size_t n, const double *scale, const double *weight, double *restrict to);

static void add_value(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum) {
  size_t most = value_tile(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, scratch[BUFFER]);
    predictor(pass->o, &tile, pass->w, scratch[T] + start);
  }
  *sum += loss_sum(pass->o->loss, b->rows, b->y, scratch[T]);
}

static void add_gradient(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum) {
  size_t most = gradient_tile(pass->o->data);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, scratch[BUFFER]);
    predictor(pass->o, &tile, pass->w, scratch[T] + start);
    loss_eval(pass->o->loss, tile.rows, tile.y, scratch[T] + start, NULL, scratch[V], NULL);
    add_weighted_rows(pass->o, &tile, scratch[V], scratch[WEIGHT], sum);
  }
}

/* Weights l' + l'' z'direction. */
static void add_model(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum) {
  size_t most = gradient_tile(pass->o->data);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, scratch[BUFFER]);
    double *t = scratch[T], *along = scratch[U], *weight = scratch[V];
    predictor(pass->o, &tile, pass->w, t);
    predictor(pass->o, &tile, pass->direction, along);
    loss_eval(pass->o->loss, tile.rows, tile.y, t, NULL, weight, NULL);
    loss_eval(pass->o->loss, tile.rows, tile.y, t, NULL, NULL, scratch[WEIGHT]);
    for (size_t i = 0; i < tile.rows; i++) weight[i] += scratch[WEIGHT][i] * along[i];
    add_weighted_rows(pass->o, &tile, weight, scratch[WEIGHT], sum);
  }
}

/* The gradient leaves the block's predictors behind. */
static void add_both(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum) {
  add_gradient(pass, b, scratch, sum + 1);
  *sum += loss_sum(pass->o->loss, b->rows, b->y, scratch[T]);
}

/* The lower triangle. */
static void add_hessian(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum) {
  const struct oracle *o = pass->o;
  size_t dim = data_dim(o->data), skip = (size_t)o->data->intercept;
  for (size_t start = 0; start < b->rows; start += HESSIAN_TILE) {
    struct data_block tile = data_tile(b, start, HESSIAN_TILE, scratch[BUFFER]);
    curvatures(pass, &tile, scratch[T], scratch[V]);
    scale_to(tile.rows, tile.scale, scratch[V], scratch[WEIGHT]);
    if (skip) add_weighted_rows(o, &tile, scratch[WEIGHT], scratch[U], sum);
    data_crossprod_add(&tile, scratch[WEIGHT], tile.scale, scratch[LEFT], sum + skip + skip * dim, dim);
  }
}

static void add_trace(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum) {
  const struct data *data = pass->o->data;
  double *weight = scratch[V], *square = scratch[U], total = 0;
  size_t most = value_tile(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, scratch[BUFFER]);
    curvatures(pass, &tile, scratch[T], weight);
    for (size_t i = 0; i < tile.rows; i++) square[i] = data->intercept;
    data_squares_add(&tile, square);
    /* Scaled twice: the square of a scale may underflow, and that of a long row overflow. */
    for (size_t i = 0; i < tile.rows; i++) total += weight[i] * (tile.scale[i] * (tile.scale[i] * square[i]));
  }
  *sum += total;
}

/* The candidates compute more than they read: each has a part of the next tile fetched. */
static void add_decreases(const struct pass *pass, const struct data_block *b, double *const *scratch, double *sum) {
  const struct loss *loss = pass->o->loss;
  double *t = scratch[T], *along = scratch[U], *candidate = scratch[V];
  size_t most = search_tile(pass->o->data);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, scratch[BUFFER]);
    predictor(pass->o, &tile, pass->w, t);
    predictor(pass->o, &tile, pass->direction, along);
    double here = loss_sum(loss, tile.rows, tile.y, t);
    for (size_t c = 0; c < pass->k; c++) {
      data_fetch_behind(&tile, c, pass->k);
      move(tile.rows, t, pass->step[c], along, candidate);
      sum[c] += here - loss_sum(loss, tile.rows, tile.y, candidate);
    }
  }
}

/* A multiple of 32 rows, at least 64 so that a column's part is some cache lines long. */
static size_t search_tile(const struct data *data) {
  size_t rows = (TILE_BYTES / sizeof(double) / (data_buffer(data) - 1) + 16) / 32 * 32;
  return rows < 64 ? 64 : rows > 512 ? 512 : rows;
}

/* Shorter, so that fetching and summing alternate sooner; a candidate of a search has a cost by tile, the logarithm. */
static size_t gradient_tile(const struct data *data) {
  size_t rows = search_tile(data);
  return rows > 128 ? 128 : rows;
}

/* What is read once is read in whole blocks, unless it has to be widened first. */
static size_t value_tile(const struct data_block *b) { return data_needs_tiles(b) ? gradient_tile(b->data) : b->rows; }

/* t <- Z w */
static void predictor(const struct oracle *o, const struct data_block *b, const double *w, double *t) {
  data_matvec(b, w + o->data->intercept, t);
  scale_shifted(b->rows, b->scale, o->data->intercept ? w[0] : 0, t);
}

/* g <- g + Z' weight; scaled is overwritten */
static void add_weighted_rows(const struct oracle *o, const struct data_block *b, const double *weight, double *scaled,
                              double *g) {
  double total = scale_to(b->rows, b->scale, weight, scaled);
  if (o->data->intercept) g[0] += total;
  data_matvec_t_add(b, scaled, g + o->data->intercept);
}

/* At Z w, which is left in t. */
static void curvatures(const struct pass *pass, const struct data_block *b, double *t, double *weight) {
  predictor(pass->o, b, pass->w, t);
  if (pass->curvature == ORACLE_HESSIAN) loss_eval(pass->o->loss, b->rows, b->y, t, NULL, NULL, weight);
  if (pass->curvature == ORACLE_MAJORANT) loss_majorant(pass->o->loss, b->rows, t, weight);
}

SIMD_CLONES static void move(size_t n, const double *t, double step, const double *u, double *restrict to) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) to[i] = t[i] + step * u[i];
}

SIMD_CLONES static void scale_shifted(size_t n, const double *scale, double constant, double *restrict t) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) t[i] = scale[i] * (t[i] + constant);
}

/* to <- scale * weight, and its sum */
SIMD_CLONES static double scale_to(size_t n, const double *scale, const double *weight, double *restrict to) {
  double total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) {
    to[i] = scale[i] * weight[i];
    total += to[i];
  }
  return total;
}
