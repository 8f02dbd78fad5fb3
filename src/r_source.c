/* Chunks: the core requests the next one, and an R function (R/source-stream.R) returns it. */
#include "r_source.h"

enum { OPEN, READ, CLOSE };
static const char *const requests[] = {[OPEN] = "open", [READ] = "read", [CLOSE] = "close"};

struct asked {
  struct r_source *source;
  int what, status;
  struct data_chunk *chunk;
};

static void ask(void *argument);
static int read_chunk(struct r_source *s, SEXP value, struct data_chunk *chunk);
static int ask_for(void *context, int what, struct data_chunk *chunk);
static int open_pass(void *context) { return ask_for(context, OPEN, NULL); }
static int next_chunk(void *context, struct data_chunk *chunk) { return ask_for(context, READ, chunk); }
static void close_pass(void *context) { ask_for(context, CLOSE, NULL); }

SEXP source_init(struct r_source *source, SEXP function, size_t dense, size_t factors, int responses) {
  if (!Rf_isFunction(function)) Rf_error("internal: a function was expected");
  SEXP keep = PROTECT(Rf_allocVector(VECSXP, 4));
  for (int what = OPEN; what <= CLOSE; what++) {
    SEXP request = PROTECT(Rf_mkString(requests[what]));
    SET_VECTOR_ELT(keep, what, Rf_lang2(function, request));
    source->call[what] = VECTOR_ELT(keep, what);
    UNPROTECT(1);
  }
  source->held = Rf_allocVector(VECSXP, 1);
  SET_VECTOR_ELT(keep, 3, source->held);
  source->dense = dense;
  source->factors = factors;
  source->responses = responses;
  source->weights = source->offsets = source->persons = 0;
  source->feed = (struct data_feed){open_pass, next_chunk, close_pass, source};
  UNPROTECT(1);
  return keep;
}

/* The function handles errors and interrupts; any other jump out of it stops the run. */
static int ask_for(void *context, int what, struct data_chunk *chunk) {
  struct asked asked = {context, what, BASE_ERR_SOURCE, chunk};
  return glue_run(ask, &asked) ? asked.status : BASE_ERR_STOPPED;
}

static void ask(void *argument) {
  struct asked *asked = argument;
  struct r_source *s = asked->source;
  SET_VECTOR_ELT(s->held, 0, R_NilValue);
  SEXP value = PROTECT(Rf_eval(s->call[asked->what], R_GlobalEnv));
  if (TYPEOF(value) == LGLSXP && XLENGTH(value) == 1) {
    /* TRUE: done; FALSE: failed; NA: interrupted */
    int done = LOGICAL(value)[0];
    asked->status = done == TRUE ? BASE_OK : done == FALSE ? BASE_ERR_SOURCE : BASE_ERR_STOPPED;
    if (asked->chunk) asked->chunk->rows = 0;
  } else if (asked->what == READ) {
    asked->status = read_chunk(s, value, asked->chunk);
  }
  UNPROTECT(1);
}

/* From the chunk's list a number for each row if they are wanted; otherwise NULL. */
static int read_numbers(SEXP value, const char *name, int wanted, int rows, const double **out) {
  SEXP x = glue_element(value, name);
  if (wanted && (TYPEOF(x) != REALSXP || XLENGTH(x) != rows)) return BASE_ERR_SOURCE;
  *out = wanted ? REAL(x) : NULL;
  return BASE_OK;
}

static int read_persons(SEXP value, int wanted, int rows, const int **out) {
  SEXP x = glue_element(value, "person");
  if (wanted && (TYPEOF(x) != INTSXP || XLENGTH(x) != rows)) return BASE_ERR_SOURCE;
  *out = wanted ? INTEGER(x) : NULL;
  return BASE_OK;
}

/* The list has rows (R/design-rows.R), as a matrix or with codes of factors, and responses y, weights, offsets and
 * persons. */
static int read_chunk(struct r_source *s, SEXP value, struct data_chunk *chunk) {
  SEXP rows_of = glue_element(value, "rows");
  SEXP x = TYPEOF(rows_of) == VECSXP ? glue_element(rows_of, "x") : rows_of, codes = glue_element(rows_of, "codes");
  if (TYPEOF(x) != REALSXP || !Rf_isMatrix(x) || (size_t)Rf_ncols(x) != s->dense) return BASE_ERR_SOURCE;
  int rows = Rf_nrows(x);
  if (s->factors > 0 && (TYPEOF(codes) != INTSXP || !Rf_isMatrix(codes) || Rf_nrows(codes) != rows ||
                         (size_t)Rf_ncols(codes) != s->factors)) {
    return BASE_ERR_SOURCE;
  }
  int status = read_numbers(value, "y", s->responses, rows, &chunk->y);
  if (status == BASE_OK) status = read_numbers(value, "weight", s->weights, rows, &chunk->weight);
  if (status == BASE_OK) status = read_numbers(value, "offset", s->offsets, rows, &chunk->offset);
  if (status == BASE_OK) status = read_persons(value, s->persons, rows, &chunk->person);
  if (status != BASE_OK) return status;
  SET_VECTOR_ELT(s->held, 0, value);
  chunk->rows = (size_t)rows;
  chunk->x = REAL(x);
  chunk->codes = s->factors > 0 ? INTEGER(codes) : NULL;
  return BASE_OK;
}
