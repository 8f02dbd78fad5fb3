/* Rows in chunks: a feed of a matrix' rows, and a problem in memory beside the same as a stream. */
#ifndef DPSOSP_FEED_H
#define DPSOSP_FEED_H

#include "fixture.h"

/* Five columns: dense ones, or two and a factor with three indicators. */
enum { P = 5, MOST = P + 1, INDICATORS = 3 };

/* Rows of a matrix, so many at a time, and what goes wrong in which pass. */
struct rows {
  const double *x, *y;
  const double *weight, *offset; /* both, or NULL */
  const int *codes;
  const int *person; /* of each row, or NULL */
  size_t n, dense, factors, chunk;
  double *copy; /* of the chunk's rows: it is gone when the next one comes */
  int *copy_codes;
  size_t at;
  int opened, closed;
  int shut;     /* does it fail to open? */
  int fails_in; /* pass; 0: none */
  int failure;
  size_t fails_at; /* row */
  size_t more;     /* rows that come twice, at the end of each pass */
  struct oracle *nested;
};

/* ---- a feed of the rows ---- */

static inline int rows_open(void *context) {
  struct rows *r = context;
  r->opened++;
  r->at = 0;
  return r->shut ? BASE_ERR_SOURCE : BASE_OK;
}

static inline int rows_next(void *context, struct data_chunk *chunk) {
  struct rows *r = context;
  size_t end = r->n + r->more, rows = end - r->at < r->chunk ? end - r->at : r->chunk;
  if (r->fails_in == r->opened && r->at >= r->fails_at) return r->failure;
  if (r->nested && r->at > 0) {
    double w[MOST] = {0}, value;
    CHECK(sums_value(oracle_all(r->nested), w, &value) == BASE_ERR_SOURCE);
  }
  base_free(r->copy);
  base_free(r->copy_codes);
  r->copy = base_alloc(rows * (r->dense + 3), sizeof(double));
  r->copy_codes = base_alloc(rows * (r->factors + 1), sizeof(int));
  if (!r->copy || !r->copy_codes) return BASE_ERR_MEMORY;
  for (size_t i = 0; i < rows; i++) {
    size_t from = (r->at + i) % r->n;
    for (size_t j = 0; j < r->dense; j++) r->copy[i + j * rows] = r->x[from + j * r->n];
    for (size_t f = 0; f < r->factors; f++) r->copy_codes[i + f * rows] = r->codes[from + f * r->n];
    r->copy_codes[i + r->factors * rows] = r->person ? r->person[from] : 0;
    r->copy[i + r->dense * rows] = r->y ? r->y[from] : 0;
    r->copy[i + (r->dense + 1) * rows] = r->weight ? r->weight[from] : NAN;
    r->copy[i + (r->dense + 2) * rows] = r->weight ? r->offset[from] : NAN;
  }
  chunk->rows = rows;
  chunk->x = r->copy;
  chunk->codes = r->copy_codes;
  chunk->person = r->copy_codes + r->factors * rows;
  chunk->y = r->copy + r->dense * rows;
  chunk->weight = chunk->y + rows;
  chunk->offset = chunk->weight + rows;
  r->at += rows;
  return BASE_OK;
}

static inline void rows_close(void *context) {
  struct rows *r = context;
  r->closed++;
  base_free(r->copy);
  base_free(r->copy_codes);
  r->copy = NULL;
  r->copy_codes = NULL;
}

static inline struct data_feed feed_of(struct rows *r) {
  struct data_feed feed = {rows_open, rows_next, rows_close, r};
  return feed;
}

/* ---- a problem in memory, and the same as a stream ---- */

struct pair {
  struct fixture memory;
  struct rows rows;
  struct engine engine;
  struct oracle stream; /* on the stream's data; the fixture's otherwise */
};

/* Are the rows of the next stream kept: 0: no, 1: in memory, 2: in a file? */
static int feed_keeps;

static inline void pair_open(struct pair *s, const char *loss, int intercept, size_t factors, size_t n, size_t p,
                             size_t chunk) {
  static const int indicators[] = {INDICATORS};
  size_t dense = p - factors * INDICATORS;
  double *x = base_alloc(n * dense, sizeof *x), *y = base_alloc(n, sizeof *y);
  int *codes = base_alloc(n * factors, sizeof *codes);
  for (size_t i = 0; i < n * dense; i++) x[i] = i % 3001 == 1 ? NAN : 2 * ctest_normal();
  for (size_t i = 0; i < n; i++) y[i] = i % 5003 == 2 ? NAN : fixture_sign();
  for (size_t i = 0; i < n * factors; i++) codes[i] = (int)(ctest_uniform() * (INDICATORS + 1.01));
  memset(s, 0, sizeof *s);
  const struct data_columns columns = {
      .x = x, .dense = dense, .codes = codes, .factors = factors, .indicators = indicators};
  s->memory.x = x;
  s->memory.y = y;
  CHECK(data_create_columns(&columns, n, intercept, 1, y, &s->memory.data) == BASE_OK);
  CHECK(ledger_create(10, 10, LEDGER_OPEN, &s->memory.ledger) == BASE_OK);
  CHECK(open_oracle(s->memory.data, loss_find(loss), s->memory.ledger, &ctest_entropy, ORACLE_REPLACE_ONE,
                    &s->memory.oracle) == BASE_OK);
  s->rows = (struct rows){.x = x, .y = y, .codes = codes, .n = n, .dense = dense, .factors = factors, .chunk = chunk};
  struct data_feed feed = feed_of(&s->rows);
  CHECK(engine_stream(&feed, &columns, n, intercept, 1, feed_keeps, feed_keeps == 2 ? "/tmp" : NULL, &s->engine) ==
        BASE_OK);
  CHECK(data_rows(s->engine.rows) == n && data_dim(s->engine.rows) == p + (size_t)intercept);
  s->stream = *s->memory.oracle;
  s->stream.engine = s->engine;
  s->stream.all.oracle = s->stream.step.oracle = &s->stream;
  s->stream.step.of = &s->stream.batch;
}

static inline void pair_close(struct pair *s) {
  int *codes = (int *)s->rows.codes;
  journal_free(&s->stream);
  engine_free(&s->engine);
  fixture_close(&s->memory);
  base_free(codes);
}

/* Gradients and matrices are the same bits after both have been given the same coordinates. */
static inline void pair_same_moved(struct pair *s, int weighted, const double *w) {
  size_t dim = data_dim(s->engine.rows);
  double answer[2][MOST * MOST];
  for (int k = 0; k < 2; k++) {
    struct oracle *o = k == 0 ? s->memory.oracle : &s->stream;
    CHECK(sums_gradient(oracle_all(o), w, answer[k]) == BASE_OK);
  }
  CHECK(memcmp(answer[0], answer[1], dim * sizeof(double)) == 0);
  for (int k = 0; k < 2; k++) {
    struct scope *all = oracle_all(k == 0 ? s->memory.oracle : &s->stream);
    CHECK((weighted ? sums_weighted(all, answer[k]) : sums_hessian(all, w, answer[k])) == BASE_OK);
  }
  CHECK(memcmp(answer[0], answer[1], dim * dim * sizeof(double)) == 0);
}

/* A query of the stream is charged, not answered, ended. */
static inline void check_failed(struct pair *s, int failure) {
  double w[MOST] = {1, 1, 1}, answer[MOST], sd, spent = ledger_spent(s->memory.ledger);
  for (size_t j = 0; j < MOST; j++) answer[j] = 1;
  CHECK(oracle_gradient(&s->stream, w, 0.1, answer, &sd) == failure);
  CHECK(fixture_all_zero(data_dim(s->engine.rows), answer));
  CHECK_NEAR(ledger_spent(s->memory.ledger) - spent, 0.1, 1e-12);
  CHECK(s->rows.opened == s->rows.closed);
}

#endif
