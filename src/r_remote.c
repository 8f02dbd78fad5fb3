/* Sums from elsewhere: the core requests a sum, and an R function (R/sql-push.R, R/source-shards.R) gets it. */
#include "r_remote.h"

#include <string.h>

struct asked {
  struct r_remote *r;
  const char *word;
  const struct task *task;
  size_t width;
  double *rows, *answer;
  int status;
};

static void take_words(SEXP words, const char **to);
static void ask(void *argument);
static SEXP what(const struct asked *asked);
static SEXP numbers(size_t n, const double *x);
static SEXP rows_of(const struct batch *of);

static int sum(void *context, const char *word, const struct task *task, size_t width, double *rows, double *answer) {
  struct asked asked = {context, word, task, width, rows, answer, BASE_ERR_SOURCE};
  return glue_run(ask, &asked) ? asked.status : BASE_ERR_STOPPED;
}

SEXP remote_init(struct r_remote *r, SEXP push) {
  SEXP function = arg_element(push, "ask");
  if (!Rf_isFunction(function)) Rf_error("internal: a function was expected");
  r->function = function;
  take_words(arg_element(push, "words"), r->words);
  take_words(arg_element(push, "moved"), r->moved);
  take_words(arg_element(push, "sampled"), r->sampled);
  r->remote = (struct remote){r->words, r->moved, r->sampled, sum, r, (size_t)arg_int(arg_element(push, "shards"))};
  return push;
}

static void take_words(SEXP words, const char **to) {
  if (TYPEOF(words) != STRSXP || XLENGTH(words) > REMOTE_WORDS) Rf_error("internal: words were expected");
  for (R_xlen_t i = 0; i < XLENGTH(words); i++) to[i] = CHAR(STRING_ELT(words, i));
  to[XLENGTH(words)] = NULL;
}

/* The function handles errors and interrupts. It returns the number of rows and the sum, FALSE if it failed, or
 * NA if it was interrupted. */
static void ask(void *argument) {
  struct asked *asked = argument;
  SEXP call = PROTECT(Rf_lang2(asked->r->function, PROTECT(what(asked))));
  SEXP value = PROTECT(Rf_eval(call, R_GlobalEnv));
  if (TYPEOF(value) == REALSXP && (size_t)XLENGTH(value) == asked->width + 1) {
    *asked->rows = REAL(value)[0];
    memcpy(asked->answer, REAL(value) + 1, asked->width * sizeof(double));
    asked->status = BASE_OK;
  } else if (TYPEOF(value) == LGLSXP && XLENGTH(value) == 1 && LOGICAL(value)[0] == NA_LOGICAL) {
    asked->status = BASE_ERR_STOPPED;
  }
  UNPROTECT(3);
}

static const char *const curvatures[] = {[CURVATURE_HESSIAN] = "hessian", [CURVATURE_MAJORANT] = "majorant", NULL};

enum curvature curvature_from(SEXP name) { return (enum curvature)arg_choice(name, curvatures); }

/* The curvature of a direction or a trace is that of a Hessian or of a majorant. Counts need no model. scale: of the
 * columns in other coordinates; rows: the numbers of a batch's rows, from one on, or NULL for all rows. */
static SEXP what(const struct asked *asked) {
  static const char *const names[] = {"word", "curvature", "at", "along", "steps", "clip", "most", "scale",
                                      "rows", "cap",       "within"};
  const struct ask *a = asked->task->ask;
  const struct model *m = asked->task->model;
  size_t dim = m ? m->dim : 0;
  SEXP out = PROTECT(glue_list(11, names));
  SET_VECTOR_ELT(out, 0, Rf_mkString(asked->word));
  SET_VECTOR_ELT(out, 1, Rf_mkString(curvatures[a->curvature]));
  SET_VECTOR_ELT(out, 2, numbers(dim, a->at));
  SET_VECTOR_ELT(out, 3, numbers(dim, a->along));
  SET_VECTOR_ELT(out, 4, numbers(a->k, a->step));
  SET_VECTOR_ELT(out, 5, Rf_ScalarReal(a->clip));
  SET_VECTOR_ELT(out, 6, numbers(m ? m->columns : 0, a->most));
  SET_VECTOR_ELT(out, 7, numbers(m ? m->columns : 0, m && m->coordinates ? m->coordinates->spec.scale : NULL));
  SET_VECTOR_ELT(out, 8, rows_of(asked->task->of));
  SET_VECTOR_ELT(out, 9, Rf_ScalarReal(a->cap));
  SET_VECTOR_ELT(out, 10, Rf_ScalarReal(a->within));
  UNPROTECT(1);
  return out;
}

static SEXP numbers(size_t n, const double *x) {
  SEXP out = PROTECT(Rf_allocVector(REALSXP, x ? (R_xlen_t)n : 0));
  if (x && n > 0) memcpy(REAL(out), x, n * sizeof(double));
  UNPROTECT(1);
  return out;
}

static SEXP rows_of(const struct batch *of) {
  if (!of) return R_NilValue;
  SEXP out = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)of->count));
  for (size_t i = 0; i < of->count; i++) INTEGER(out)[i] = (int)of->row[i] + 1;
  UNPROTECT(1);
  return out;
}
