/*
 * A pass reads all rows once. Blocks of rows are dealt out to groups, a few
 * neighbours at a time; the number of groups does not depend on the number of threads. A
 * thread takes one group at a time and adds its blocks in order; then the groups'
 * sums are added in order. So a sum depends neither on the number of
 * threads nor on how much of the data is in memory at once (stream.c).
 */
#include "engine/private.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

/* Number of groups of blocks, unless there are fewer blocks. */
#define GROUPS 64
/* Largest number of blocks dealt out at a time. A stream holds many times as many in memory, for as many threads. */
#define MOST_NEIGHBOURS 8
/* The sums of a matrix's groups use at most 32 MiB; otherwise there are two groups. */
#define MATRIX_NUMBERS ((size_t)1 << 22)

static size_t max_groups(enum sum_form form, size_t width);
static size_t dealt_out(size_t blocks, size_t groups);
static size_t quotient_up(size_t x, size_t y);
static size_t next_block(const struct pass *pass, size_t group, size_t j);
static void add_group(void *context, size_t group, int worker);
static size_t work_size(const struct pass *pass);
static void dealt(const struct data *rows, size_t most, double *longest, double *groups);

static int can(const struct engine *e, const struct sum *sum, const struct task *task) {
  (void)e;
  return sum->form != SUM_COUNTS && !(task->of && task->of->next);
}

static int sum_rows(const struct engine *e, const struct sum *sum, const struct task *task, double *answer) {
  const struct batch *persons = sum->form == SUM_PRODUCTS && !task->of ? e->rows->by_person : NULL;
  const struct task of_persons = {task->model, task->ask, persons};
  struct pass pass;
  int status = pass_open(&pass, e->rows, sum, persons ? &of_persons : task, answer);
  if (status == BASE_OK) status = pass_add(&pass, e->rows, 0);
  return pass_close(&pass, status);
}

static int move_rows(const struct engine *e, const struct coordinates *coordinates) {
  return data_move(e->own, coordinates);
}

static int set_row_weights(const struct engine *e, const double *weight, const double *offset, double most) {
  return data_set_weights(e->own, weight, offset, most);
}

static int set_row_persons(const struct engine *e, const int *person, size_t persons, size_t most) {
  return data_set_persons(e->own, person, persons, most);
}

static const struct engine_kind memory = {.can = can,
                                          .sum = sum_rows,
                                          .move = move_rows,
                                          .set_weights = set_row_weights,
                                          .set_persons = set_row_persons};

struct engine engine_memory(struct data *rows) {
  return (struct engine){.kind = &memory, .rows = rows, .own = rows};
}

void engine_free(struct engine *e) {
  if (e->kind && e->kind->free) e->kind->free(e);
}

int pass_open(struct pass *pass, const struct data *rows, const struct sum *sum, const struct task *task,
              double *answer) {
  size_t width = sum->width(task), blocks = data_blocks(rows, task->of);
  *pass = (struct pass){.rows = rows,
                        .sum = sum,
                        .task = task,
                        .width = width,
                        .stop_every = sum_has_matrix(sum->form) ? 1 : 16,
                        .groups = max_groups(sum->form, width),
                        .threads = base_threads(),
                        .answer = answer};
  pass->neighbours = dealt_out(blocks, pass->groups);
  if (blocks < pass->groups * pass->neighbours) pass->groups = quotient_up(blocks, pass->neighbours);
  memset(answer, 0, width * sizeof(double));
  pass->sums = base_alloc((pass->groups - 1) * width, sizeof(double));
  pass->work = base_alloc(work_size(pass) * (size_t)pass->threads, sizeof(double));
  return pass->sums && pass->work ? BASE_OK : BASE_ERR_MEMORY;
}

int pass_add(struct pass *pass, const struct data *part, size_t first) {
  pass->part = part;
  pass->first = first;
  if (data_blocks(pass->rows, pass->task->of) == 0) return BASE_OK;
  return base_parallel(pass->groups, pass->threads, add_group, pass);
}

int pass_close(struct pass *pass, int status) {
  size_t others = (pass->groups - 1) * pass->width;
  for (size_t at = 0; status == BASE_OK && at < others; at += pass->width) {
    la_axpy(pass->width, 1, pass->sums + at, pass->answer);
  }
  if (pass->sums) memset(pass->sums, 0, others * sizeof(double));
  if (pass->work) memset(pass->work, 0, work_size(pass) * (size_t)pass->threads * sizeof(double));
  base_free(pass->sums);
  base_free(pass->work);
  if (sum_has_matrix(pass->sum->form)) {
    size_t side = sum_side(pass->sum->form, pass->width, pass->task->model);
    la_symmetrise(side, pass->answer + (pass->width - side * side));
  }
  return status;
}

static size_t max_groups(enum sum_form form, size_t width) {
  if (!sum_has_matrix(form)) return GROUPS;
  size_t groups = MATRIX_NUMBERS / (width + 1);
  return groups < 2 ? 2 : groups > GROUPS ? GROUPS : groups;
}

static size_t dealt_out(size_t blocks, size_t groups) {
  size_t neighbours = quotient_up(blocks, groups);
  return neighbours > MOST_NEIGHBOURS ? MOST_NEIGHBOURS : neighbours;
}

/* x / y, rounded up; at least one. */
static size_t quotient_up(size_t x, size_t y) {
  size_t quotient = (x + y - 1) / y;
  return quotient > 0 ? quotient : 1;
}

/* Adds the group's blocks that are in memory. */
static void add_group(void *context, size_t group, int worker) {
  const struct pass *pass = context;
  const struct batch *of = pass->task->of;
  size_t rows = data_block_rows(pass->rows, of);
  double *work[WORKS], *sum = group == 0 ? pass->answer : pass->sums + (group - 1) * pass->width;
  work[BUFFER] = pass->work + (size_t)worker * work_size(pass);
  work[T] = work[BUFFER] + rows * data_buffer(pass->rows);
  for (int i = U; i < PERSON; i++) work[i] = work[i - 1] + rows * pass->task->model->outputs;
  work[PERSON] = work[LEFT] + 4 * MATRIX_TILE;
  work[TAPE] = work[PERSON] + pass->task->model->outputs * pass->task->model->side;
  size_t end = pass->first + data_blocks(pass->part, of), done = 0;
  for (size_t j = next_block(pass, group, pass->first); j < end; j = next_block(pass, group, j + 1)) {
    if (done++ % pass->stop_every == 0 && base_parallel_stopped(worker)) return;
    struct data_block b = data_block_at(pass->part, of, j - pass->first, work[BUFFER]);
    pass->sum->add(pass->task, &b, work, sum);
  }
}

/* The group's first block from j on. */
static size_t next_block(const struct pass *pass, size_t group, size_t j) {
  size_t deal = j / pass->neighbours, skip = (group + pass->groups - deal % pass->groups) % pass->groups;
  return skip == 0 ? j : (deal + skip) * pass->neighbours;
}

/* LEFT holds the four columns of data_crossprod_add(). */
static size_t work_size(const struct pass *pass) {
  const struct batch *of = pass->task->of;
  size_t vectors = (LEFT - T) * pass->task->model->outputs;
  return data_block_rows(pass->rows, of) * (data_buffer(pass->rows) + vectors) + 4 * MATRIX_TILE +
         pass->task->model->outputs * pass->task->model->side + pass->task->model->tape;
}

/*
 * A term takes part in at most one addition for each row of the tile, one for each tile of the group, and one for each
 * group. Dealt out k at a time, where k is the smaller of 8 and m / G rounded up, one of G groups of m blocks has at
 * most M = k ceil(ceil(m / k) / G) <= m / G + 12 blocks, and one block when m <= G. With tiles of 64 to 512 rows and G
 * = 64 that is 512 + 16 (m / 64 + 9) + 64 or, when m < 64, 512 + 16 + m; for a matrix, tiles of 256 rows and G >=
 * min(m, 2), 256 + 4 (m / G + 12) + 64. None exceeds DATA_BLOCK + 2 m. With sparse rows and factors a row's term is
 * added directly to its group's sum: one addition for each row of the group and one for each group.
 *
 * All of these numbers grow with m: a shard's terms take part in no more additions than if all rows were in one place,
 * and in one more for each shard. Where the number of rows is private, as that of persons' rows, a bound takes its
 * place.
 */
double engine_additions(const struct engine *e, enum sum_form form, size_t width) {
  double longest, groups;
  dealt(e->rows, max_groups(form, width), &longest, &groups);
  return data_additions(e->rows, longest, groups) + (double)e->shards;
}

double engine_additions_any(const struct engine *e) {
  double longest, groups;
  dealt(e->rows, GROUPS, &longest, &groups);
  return DATA_BLOCK * longest + groups + (double)e->shards;
}

/* The number of blocks in the longest group, and the number of groups. */
static void dealt(const struct data *rows, size_t most, double *longest, double *groups) {
  size_t m = data_max_blocks(rows);
  double blocks = (double)m, neighbours = (double)dealt_out(m, most);
  *longest = neighbours * ceil(ceil(blocks / neighbours) / (double)most);
  *groups = fmin(blocks, (double)most);
}
