/* Sums that are taken elsewhere: what comes from there is the sum, if it is one of n rows and finite; the rest comes in
 * chunks, if there are any. */
#include "feed.h"

/* Stands for a database: takes the sum in memory. */
struct elsewhere {
  const struct engine *memory;
  const struct sum *sum;
  double rows;  /* that it says it has */
  double spoil; /* is added to the last number */
  int status, calls;
};

static int take(void *context, const char *word, const struct task *task, size_t width, double *rows, double *answer) {
  struct elsewhere *e = context;
  e->calls++;
  CHECK(strcmp(word, e->sum->word) == 0 && width == e->sum->width(task));
  int status = e->memory->kind->sum(e->memory, e->sum, task, answer);
  *rows = e->rows;
  answer[width - 1] += e->spoil;
  return e->status != BASE_OK ? e->status : status;
}

enum { N = 300, NUMBERS = MOST * MOST };
static const char *const words[] = {"gradient", "hessian", NULL}, *const moved[] = {"gradient", NULL};
static const char *const sampled[] = {"gradient", NULL};
static const double at[MOST] = {0.5, -1, 2, 0.1, 1, -0.3};

/* Owns the chunks of the pair from then on. */
static void open_remote(struct pair *s, struct elsewhere *e) {
  static struct remote remote;
  pair_open(s, "logistic", 1, 0, N, P, 7);
  *e = (struct elsewhere){&s->memory.oracle->engine, &query_gradient.sum, N, 0, BASE_OK, 0};
  remote = (struct remote){words, moved, sampled, take, e, 0};
  struct engine chunks = s->engine;
  CHECK(engine_remote(&remote, &chunks, &s->engine) == BASE_OK);
}

static int sum_of(struct pair *s, const struct sum *sum, const struct batch *of, double *answer) {
  const struct ask ask = {.at = at};
  const struct task task = {&s->stream.model, &ask, of};
  memset(answer, 0, NUMBERS * sizeof(double));
  return s->engine.kind->sum(&s->engine, sum, &task, answer);
}

static void answers(void) {
  static const struct {
    double rows, spoil;
    int status, wanted;
  } cases[] = {{N, 0, BASE_OK, BASE_OK},
               {N + 1, 0, BASE_OK, BASE_ERR_ROWS},
               {N - 1, 0, BASE_OK, BASE_ERR_ROWS},
               {0, 0, BASE_OK, BASE_ERR_ROWS},
               {NAN, 0, BASE_OK, BASE_ERR_ROWS},
               {N, NAN, BASE_OK, BASE_ERR_SOURCE},
               {N, INFINITY, BASE_OK, BASE_ERR_SOURCE},
               {N, 0, BASE_ERR_SOURCE, BASE_ERR_SOURCE},
               {N, 0, BASE_ERR_STOPPED, BASE_ERR_STOPPED}};
  struct pair s;
  struct elsewhere e;
  open_remote(&s, &e);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double answer[NUMBERS], size = 0;
    e.rows = cases[i].rows;
    e.spoil = cases[i].spoil;
    e.status = cases[i].status;
    CHECK(sum_of(&s, &query_gradient.sum, NULL, answer) == cases[i].wanted);
    for (size_t j = 0; j < NUMBERS; j++) size += fabs(answer[j]);
    CHECK(cases[i].wanted == BASE_OK ? size > 1 : size == 0);
  }
  CHECK(e.calls == sizeof cases / sizeof *cases);
  pair_close(&s);
}

/* Sums of other words, batches of a reading and all that is asked meanwhile. */
static void others_come_in_chunks(void) {
  const struct batch of = {.count = 100, .size = 100, .next = 1};
  struct pair s;
  struct elsewhere e;
  double answer[NUMBERS], memory[NUMBERS];
  open_remote(&s, &e);
  CHECK(sum_of(&s, &query_value.sum, NULL, answer) == BASE_OK && answer[0] > 1);
  const struct task task = {&s.stream.model, &(struct ask){.at = at}, NULL};
  CHECK(e.memory->kind->sum(e.memory, &query_value.sum, &task, memory) == BASE_OK && memory[0] == answer[0]);
  CHECK(s.engine.kind->begin(&s.engine) == BASE_OK);
  CHECK(sum_of(&s, &query_gradient.sum, &of, answer) == BASE_OK && answer[0] != 0);
  CHECK(sum_of(&s, &query_gradient.sum, NULL, answer) == BASE_ERR_SOURCE);
  s.engine.kind->end(&s.engine);
  CHECK(e.calls == 0);
  CHECK(sum_of(&s, &query_gradient.sum, NULL, answer) == BASE_OK && e.calls == 1);
  pair_close(&s);
}

/* In other coordinates the words are others, points are not mapped, nor are the sums. */
static void coordinates_are_known(void) {
  struct pair s;
  struct elsewhere e;
  struct fixture_coordinates c;
  double answer[NUMBERS], memory[NUMBERS];
  open_remote(&s, &e);
  const struct ask ask = {.at = at};
  const struct task task = {&s.stream.model, &ask, NULL};
  CHECK(!s.engine.kind->inside(&s.engine, &query_gradient.sum, &task));
  CHECK(fixture_coordinates(s.memory.data, 1, 1, 1.3, 0.6, &c) == BASE_OK);
  CHECK(data_move(s.memory.data, c.made) == BASE_OK && s.engine.kind->move(&s.engine, c.made) == BASE_OK);
  CHECK(model_move(&s.stream.model, c.made) == BASE_OK);
  CHECK(s.engine.kind->inside(&s.engine, &query_gradient.sum, &task));
  CHECK(!s.engine.kind->inside(&s.engine, &query_hessian.sum, &task));
  s.stream.engine = s.engine;
  CHECK(scope_mean(oracle_all(&s.stream), &query_gradient.sum, &ask, answer) == BASE_OK && e.calls == 1);
  CHECK(e.memory->kind->sum(e.memory, &query_gradient.sum, &task, memory) == BASE_OK);
  for (size_t j = 0; j < MOST; j++) CHECK(fabs(answer[j] - memory[j] / N) <= 1e-15);
  coordinates_free(c.made);
  pair_close(&s);
}

/* The error of a database's sum is that of terms as large as a record's bound. */
static void rounding_in_coordinates(void) {
  struct pair s;
  struct elsewhere e;
  struct fixture_coordinates c;
  pair_open(&s, "logistic", 1, 0, N, P, 7);
  struct engine chunks = s.engine;
  CHECK(fixture_coordinates(s.memory.data, 1e-3, 1, 40, 20, &c) == BASE_OK);
  CHECK(chunks.kind->move(&chunks, c.made) == BASE_OK && model_move(&s.stream.model, c.made) == BASE_OK);
  s.stream.engine = chunks;
  double here = bounds_rounding(oracle_all(&s.stream), 0, 0, 1);
  e = (struct elsewhere){&s.memory.oracle->engine, &query_gradient.sum, N, 0, BASE_OK, 0};
  const struct remote remote = {words, moved, sampled, take, &e, 0};
  CHECK(engine_remote(&remote, &chunks, &s.engine) == BASE_OK);
  s.stream.engine = s.engine;
  double away = bounds_rounding(oracle_all(&s.stream), 0, 0, 1);
  CHECK(fabs(away / here - 80 / model_stretch(&s.stream.model)) < 1e-9 * away / here);
  CHECK(away >= (1000 + 32) * 0x1p-53 * 20);
  coordinates_free(c.made);
  pair_close(&s);
}

static void what_is_known(void) {
  struct pair s;
  struct elsewhere e;
  open_remote(&s, &e);
  const struct ask many = {.k = REMOTE_STEPS + 1};
  const struct batch of = {.count = 1};
  const struct task all = {&s.stream.model, NULL, NULL}, batch = {&s.stream.model, NULL, &of};
  CHECK(s.engine.kind->can(&s.engine, &query_gradient.sum, &all));
  CHECK(s.engine.kind->can(&s.engine, &query_gradient.sum, &batch));
  CHECK(!s.engine.kind->can(&s.engine, &query_gradient.sum, &(struct task){&s.stream.model, &many, &of}));
  CHECK(!s.engine.kind->can(&s.engine, &query_hessian.sum, &batch));
  CHECK(!s.engine.kind->can(&s.engine, &query_value.sum, &batch));
  CHECK(!s.engine.kind->can(&s.engine, &query_counts.sum, &all));
  CHECK(strcmp(query_best_step.sum.word, query_first_step.sum.word) != 0);
  pair_close(&s);
}

/* Every second row, and a batch without rows. */
static void batches(void) {
  enum { HALF = N / 2 };
  size_t row[HALF];
  struct pair s;
  struct elsewhere e;
  double answer[NUMBERS], memory[NUMBERS], size = 0;
  for (size_t i = 0; i < HALF; i++) row[i] = 2 * i + 1;
  struct batch of = {.count = HALF, .row = row, .size = HALF}, none = {.count = 0, .row = row, .size = 10};
  open_remote(&s, &e);
  const struct task task = {&s.memory.oracle->model, &(struct ask){.at = at}, &of};
  e.rows = HALF;
  CHECK(sum_of(&s, &query_gradient.sum, &of, answer) == BASE_OK && e.calls == 1);
  CHECK(e.memory->kind->sum(e.memory, &query_gradient.sum, &task, memory) == BASE_OK);
  for (size_t j = 0; j < MOST; j++) CHECK(answer[j] == memory[j]);
  for (int wrong = -1; wrong <= 1; wrong += 2) {
    e.rows = HALF + wrong;
    CHECK(sum_of(&s, &query_gradient.sum, &of, answer) == BASE_ERR_ROWS);
    for (size_t j = 0; j < MOST; j++) size += fabs(answer[j]);
  }
  e.rows = N;
  CHECK(sum_of(&s, &query_gradient.sum, &of, answer) == BASE_ERR_ROWS && size == 0);
  e.rows = 0;
  CHECK(sum_of(&s, &query_gradient.sum, &none, answer) == BASE_OK && answer[0] == 0);
  CHECK(e.calls == 5 && sum_of(&s, &query_value.sum, &of, answer) == BASE_ERR_ARGUMENT && e.calls == 5);
  CHECK(s.rows.opened == 0);
  pair_close(&s);
}

/* All sums that have a word, also on batches; each shard's sum is one addition more. */
static void shards(void) {
  enum { SHARDS = 3 };
  size_t row[] = {0, 7, N - 1};
  const struct batch of = {.count = 3, .row = row, .size = 3}, next = {.count = 3, .size = 3, .next = 1};
  struct pair s;
  struct elsewhere e;
  pair_open(&s, "logistic", 1, 0, N, P, 7);
  e = (struct elsewhere){&s.memory.oracle->engine, &query_value.sum, N, 0, BASE_OK, 0};
  const struct remote remote = {NULL, NULL, NULL, take, &e, SHARDS};
  struct engine chunks = s.engine;
  double here = engine_additions(&chunks, SUM_VECTOR, 1), any = engine_additions_any(&chunks), answer[NUMBERS];
  CHECK(engine_remote(&remote, &chunks, &s.engine) == BASE_OK);
  CHECK(engine_additions(&s.engine, SUM_VECTOR, 1) == here + SHARDS);
  CHECK(engine_additions_any(&s.engine) == any + SHARDS);
  CHECK(sum_of(&s, &query_value.sum, NULL, answer) == BASE_OK && answer[0] > 1 && e.calls == 1);
  CHECK(sum_of(&s, &query_value.sum, &next, answer) == BASE_ERR_ARGUMENT);
  struct sum nameless = query_value.sum;
  nameless.word = NULL;
  CHECK(sum_of(&s, &nameless, NULL, answer) == BASE_ERR_ARGUMENT);
  e.rows = N - 1;
  CHECK(sum_of(&s, &query_value.sum, NULL, answer) == BASE_ERR_ROWS && answer[0] == 0);
  e.rows = 3;
  CHECK(sum_of(&s, &query_value.sum, &of, answer) == BASE_OK && answer[0] > 0.1);
  e.rows = 4;
  CHECK(sum_of(&s, &query_value.sum, &of, answer) == BASE_ERR_ROWS && answer[0] == 0);
  CHECK(e.calls == 4 && s.rows.opened == 0);
  const struct task batch = {&s.stream.model, NULL, &of}, all = {&s.stream.model, NULL, NULL};
  CHECK(s.engine.kind->can(&s.engine, &query_gradient.sum, &batch));
  CHECK(s.engine.kind->can(&s.engine, &query_moments.sum, &all));
  pair_close(&s);
}

/* A word is that of a sum of this name's query. */
static void words_of_sums(void) {
  CHECK(sum_of_word("gradient")->add == query_gradient.sum.add && sum_of_word("value")->add == query_value.sum.add);
  CHECK(sum_of_word("exact decreases")->add == query_first_step.sum.add);
  CHECK(sum_of_word("gradient difference")->add == sum_difference.add);
  CHECK(sum_of_word("gradient and hessian")->add == sum_epoch_start.add);
  CHECK(sum_of_word("counts") == NULL && sum_of_word("") == NULL);
}

/* No rows in one place take part in fewer additions than some of them: a shard's sum is as good as the bound says. */
static void additions_grow(void) {
  static const double x[1 << 17];
  double before[3] = {0, 0, 0};
  for (size_t n = 1; n <= sizeof x / sizeof *x; n += n < 5000 ? 61 : 4999) {
    struct data *data;
    CHECK(data_create(x, n, 1, 0, 1, x, &data) == BASE_OK);
    const struct engine e = engine_memory(data);
    const double now[] = {engine_additions(&e, SUM_VECTOR, 1), engine_additions(&e, SUM_MATRIX, 1 << 20),
                          engine_additions_any(&e)};
    for (int i = 0; i < 3; i++) CHECK(now[i] >= before[i]);
    memcpy(before, now, sizeof now);
    data_free(data);
  }
}

void test_barrier_remote(void) {
  shards();
  batches();
  words_of_sums();
  additions_grow();
  answers();
  others_come_in_chunks();
  coordinates_are_known();
  rounding_in_coordinates();
  what_is_known();
}
