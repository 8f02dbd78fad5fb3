/* From raw columns to noisy counts, sums or a choice: private ranges, and scores and tables of held-out records. */
#include "ffi.h"
#include "glue.h"
#include "barrier/barrier.h"
#include "engine/engine.h"
#include "r_data.h"

#include <R_ext/Memory.h>

/* columns: a list of doubles of one length. */
static struct raw arg_columns(SEXP columns) {
  if (TYPEOF(columns) != VECSXP || XLENGTH(columns) == 0) Rf_error("internal: a list of columns was expected");
  R_xlen_t k = XLENGTH(columns), n = XLENGTH(VECTOR_ELT(columns, 0));
  const double **values = (const double **)R_alloc((size_t)k, sizeof *values);
  for (R_xlen_t j = 0; j < k; j++) values[j] = arg_doubles(VECTOR_ELT(columns, j), n);
  return (struct raw){.n = (size_t)n, .columns = (size_t)k, .values = values};
}

/* persons: NULL, or list(code, n, most) of the columns' records. */
static void set_shares(SEXP persons, size_t n, double *share) {
  struct persons who = arg_persons(persons, n);
  glue_check(data_shares(n, who.code, who.n, who.most, NULL, share));
}

static const double *arg_shares(SEXP persons, size_t n) {
  if (persons == R_NilValue) return NULL;
  double *share = (double *)R_alloc(n, sizeof *share);
  set_shares(persons, n, share);
  return share;
}

/* Those of rows of which none is null yet, for sums that R makes. */
SEXP ffi_person_shares(SEXP persons) {
  R_xlen_t n = XLENGTH(arg_element(persons, "code"));
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
  set_shares(persons, (size_t)n, REAL(out));
  UNPROTECT(1);
  return out;
}

/* breaks: a list of doubles. Sets the total number of cells. */
static struct histogram *arg_histograms(SEXP breaks, R_xlen_t *cells) {
  if (TYPEOF(breaks) != VECSXP || XLENGTH(breaks) == 0) Rf_error("internal: a list of breaks was expected");
  R_xlen_t m = XLENGTH(breaks);
  struct histogram *out = (struct histogram *)R_alloc((size_t)m, sizeof *out);
  *cells = 0;
  for (R_xlen_t j = 0; j < m; j++) {
    SEXP these = VECTOR_ELT(breaks, j);
    if (XLENGTH(these) < 2) Rf_error("internal: two breaks were expected");
    out[j] = (struct histogram){arg_doubles(these, -1), (size_t)XLENGTH(these) - 1};
    *cells += XLENGTH(these) - 1;
  }
  return out;
}

static void release_raw(const struct raw *raw, const struct query *query, const struct histogram *histogram,
                        SEXP budget, SEXP rho, SEXP neighbours, SEXP reproducible, struct answer out) {
  const struct engine engine = engine_raw(raw);
  const struct ask ask = {.k = raw->columns, .histogram = histogram};
  double cost = arg_double(rho);
  struct ledger *ledger = arg_ledger(budget);
  const struct base_entropy *entropy = arg_entropy(reproducible);
  enum oracle_neighbours relation = arg_neighbours(neighbours);
  glue_answer_begin(reproducible, R_NilValue);
  struct oracle *oracle;
  int status = oracle_create(&engine, NULL, ledger, entropy, relation, &oracle);
  if (status == BASE_OK) status = release(oracle_all(oracle), query, &ask, cost, out);
  oracle_free(oracle);
  glue_answer_end(reproducible, status);
}

/* value and sd, with as many numbers as the query has */
static SEXP release_numbers(const struct raw *raw, const struct query *query, const struct histogram *histogram,
                            R_xlen_t numbers, SEXP budget, SEXP rho, SEXP neighbours, SEXP reproducible) {
  static const char *const names[] = {"value", "sd"};
  double sd;
  SEXP out = PROTECT(glue_list(2, names));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, numbers));
  const struct answer to = {.value = REAL(VECTOR_ELT(out, 0)), .sd = &sd};
  release_raw(raw, query, histogram, budget, rho, neighbours, reproducible, to);
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal(sd));
  UNPROTECT(1);
  return out;
}

static SEXP release_ranges(const struct raw *raw, SEXP breaks, SEXP budget, SEXP rho, SEXP neighbours,
                           SEXP reproducible) {
  R_xlen_t cells;
  const struct histogram *histogram = arg_histograms(breaks, &cells);
  return release_numbers(raw, &query_counts, histogram, cells, budget, rho, neighbours, reproducible);
}

/* columns, breaks: lists of doubles, all columns of the same length; persons: see arg_shares(). */
SEXP ffi_ranges_release(SEXP budget, SEXP columns, SEXP breaks, SEXP persons, SEXP rho, SEXP neighbours,
                        SEXP reproducible) {
  struct raw raw = arg_columns(columns);
  raw.share = arg_shares(persons, raw.n);
  if (XLENGTH(columns) != XLENGTH(breaks)) Rf_error("internal: breaks of every column were expected");
  return release_ranges(&raw, breaks, budget, rho, neighbours, reproducible);
}

/* feed: a function of R/source-stream.R, which yields n rows of as many columns as there are breaks, n a double. used:
 * NULL, or the number of rows of each person. */
SEXP ffi_ranges_release_stream(SEXP budget, SEXP feed, SEXP n, SEXP used, SEXP breaks, SEXP rho, SEXP neighbours,
                               SEXP reproducible) {
  struct r_source source;
  size_t m = (size_t)XLENGTH(breaks);
  PROTECT(source_init(&source, feed, m, 0, 0));
  source.persons = used != R_NilValue;
  if (source.persons && TYPEOF(used) != INTSXP) Rf_error("internal: numbers of rows were expected");
  const struct raw raw = {.n = arg_size(n),
                          .columns = m,
                          .feed = &source.feed,
                          .used = source.persons ? INTEGER(used) : NULL,
                          .persons = source.persons ? (size_t)XLENGTH(used) : 0};
  SEXP out = release_ranges(&raw, breaks, budget, rho, neighbours, reproducible);
  UNPROTECT(1);
  return out;
}

/* remote: the list of R/source-shards.R, which returns the counts of n rows in these cells. */
SEXP ffi_ranges_release_remote(SEXP budget, SEXP remote, SEXP n, SEXP breaks, SEXP rho, SEXP neighbours,
                               SEXP reproducible) {
  struct r_remote away;
  remote_init(&away, remote);
  const struct raw raw = {.n = (size_t)arg_int(n), .columns = (size_t)XLENGTH(breaks), .remote = &away.remote};
  return release_ranges(&raw, breaks, budget, rho, neighbours, reproducible);
}

/* Noisy sums of the columns, which are scores in [0, 1]. */
SEXP ffi_scores_release(SEXP budget, SEXP columns, SEXP rho, SEXP neighbours, SEXP reproducible) {
  const struct raw raw = arg_columns(columns);
  return release_numbers(&raw, &query_scores, NULL, (R_xlen_t)raw.columns, budget, rho, neighbours, reproducible);
}

/* The index of a column with a large sum. */
SEXP ffi_scores_choose(SEXP budget, SEXP columns, SEXP rho, SEXP neighbours, SEXP reproducible) {
  const struct raw raw = arg_columns(columns);
  size_t index = 0;
  release_raw(&raw, &query_best_score, NULL, budget, rho, neighbours, reproducible, (struct answer){.index = &index});
  return Rf_ScalarInteger((int)index + 1);
}

/* The number of records with each code from 1 to cells; another code, or NA, is not counted. persons: see arg_shares().
 */
SEXP ffi_table_release(SEXP budget, SEXP codes, SEXP cells, SEXP persons, SEXP rho, SEXP neighbours,
                       SEXP reproducible) {
  int m = arg_int(cells);
  if (m < 1) Rf_error("internal: cells were expected");
  double *breaks = (double *)R_alloc((size_t)m + 1, sizeof *breaks);
  for (int i = 0; i <= m; i++) breaks[i] = i + 0.5;
  const double *values = arg_doubles(codes, -1);
  struct raw raw = {.n = (size_t)XLENGTH(codes), .columns = 1, .values = &values};
  raw.share = arg_shares(persons, raw.n);
  const struct histogram histogram = {breaks, (size_t)m};
  return release_numbers(&raw, &query_table, &histogram, m, budget, rho, neighbours, reproducible);
}
