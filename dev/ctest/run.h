/* Options, exact quantities and checks that hold for every run, for tests of the methods. */
#ifndef DPSOSP_RUN_H
#define DPSOSP_RUN_H

#include "fixture.h"
#include "la/la.h"
#include "method/method.h"
#include "method/newton.h"

#define RUN_MOST 8 /* dimension */

static const struct penalty run_no_penalty = {PENALTY_NONE, 0, 0, 0};

static inline struct opt_options run_options(enum opt_line_search search, int two_phase) {
  struct opt_options o = {.two_phase = two_phase,
                          .search = search,
                          .eps_g = 0.05,
                          .eps_h = 0.1,
                          .confidence = 0.95,
                          .gap = NAN,
                          .gap_share = 0.02,
                          .phase1_share = 0.75,
                          .search_share = 0.5,
                          .hessian_share = 0.25,
                          .max_iterations = 300,
                          .mult_g = 64,
                          .mult_h = 8,
                          .back_g = 0.5,
                          .back_h = 0.5};
  return o;
}

static inline struct opt_options run_options_published(enum opt_line_search search, int two_phase) {
  struct opt_options o = run_options(search, two_phase);
  o.published = 1;
  o.gap = 0.5;
  o.mult_g = o.mult_h = 20;
  o.back_g = 0.6;
  return o;
}

static inline struct tr_options run_options_tr(int explicit_test, int published) {
  struct tr_options o = {.published = published,
                         .explicit_test = explicit_test,
                         .eps_g = 0.05,
                         .eps_h = 0.1,
                         .confidence = 0.95,
                         .gap = published ? 0.5 : NAN,
                         .gap_share = 0.02,
                         .max_iterations = 300};
  return o;
}

static inline struct gd_options run_options_gd(void) {
  struct gd_options o = {.eps_g = 0.05,
                         .eps_h = 0.1,
                         .confidence = 0.95,
                         .gap = NAN,
                         .gap_share = 0.02,
                         .hessian_share = 0.25,
                         .max_iterations = 300};
  return o;
}

static inline struct newton_options run_options_newton(enum newton_curvature curvature) {
  struct newton_options o = {.curvature = curvature,
                             .spend_all = 1,
                             .iterations = curvature == NEWTON_LAZY ? 40 : 12,
                             .eps_g = 0.02,
                             .confidence = 0.95,
                             .curvature_share = 0.4,
                             .trace_share = 0.2,
                             .search_share = 0.3,
                             .certificate_share = 0.1,
                             .lambda0 = NAN,
                             .lambda_scale = curvature == NEWTON_LAZY ? 0.01 : 1};
  return o;
}

static inline struct ridge_options run_options_ridge(void) {
  struct ridge_options o = {.iterations = 160,
                            .eps_g = 0.05,
                            .confidence = 0.95,
                            .certificate_share = 0.05,
                            .matrix_share = 0.06,
                            .curvature = 0.3,
                            .size = 16,
                            .intercept = 1,
                            .signal = 0.05,
                            .signals = 7,
                            .usual = 2,
                            .start_curvature = 0.25,
                            .present = 1,
                            .reach = 2,
                            .iterate_variance = 0.06,
                            .least = 0.4,
                            .tail = 0.85};
  return o;
}

/* The sparse vector and the exponential mechanism need zCDP from the first charge on. */
static inline void run_decide(const struct fixture *f, enum opt_line_search search) {
  if (search == OPT_SVT || search == OPT_EXPONENTIAL) CHECK(ledger_decide(f->ledger, LEDGER_ZCDP) == BASE_OK);
}

/* Norm of the objective's exact gradient at w. */
static inline double run_exact_gradient(const struct fixture *f, const struct penalty *p, const double *w) {
  double g[RUN_MOST] = {0};
  CHECK(sums_gradient(oracle_all(f->oracle), w, g) == BASE_OK);
  penalty_add_gradient(p, data_dim(f->data), w, g);
  return la_norm(data_dim(f->data), g);
}

/* Smallest eigenvalue of its exact Hessian. */
static inline double run_exact_eigen(const struct fixture *f, const struct penalty *p, const double *w) {
  double h[RUN_MOST * RUN_MOST], vector[RUN_MOST], value = NAN;
  CHECK(sums_hessian(oracle_all(f->oracle), w, h) == BASE_OK);
  penalty_add_hessian(p, data_dim(f->data), w, h);
  CHECK(la_eigen_min(data_dim(f->data), h, &value, vector) == BASE_OK);
  return value;
}

/*
 * The sd of an average at one point, weighted by precision, follows from the
 * noise that the ledger says was drawn. After a Hessian there, or in a new
 * phase, an average of gradients may begin anew; so may one of Hessians in a later phase.
 */
static inline int run_pooled_sd_is_right(const struct fixture *f, const struct opt_result *r) {
  double precision[2] = {0, 0};
  int phase = 0;
  for (size_t i = 0; i < r->trace.length; i++) {
    const struct trace_row *row = &r->trace.rows[i];
    int gradient = strcmp(row->query, "gradient") == 0;
    if (gradient || strcmp(row->query, "hessian") == 0) {
      double scale = ledger_at(f->ledger, i)->scale, newest = 1 / (scale * scale);
      int may = gradient ? precision[0] > 0 || row->phase != phase : row->phase > 1;
      int anew = may && fabs(row->sd / scale - 1) < 1e-9;
      precision[gradient] = anew ? newest : precision[gradient] + newest;
      if (!(fabs(row->sd * sqrt(precision[gradient]) - 1) < 1e-9)) return 0;
    }
    phase = row->phase;
    if (row->step > 0) precision[0] = precision[1] = 0;
  }
  return 1;
}

/* The trace is the ledger, row by row; no more than rho is spent; the point is finite. */
static inline void run_check(const struct fixture *f, const struct opt_result *r, const double *w, double rho) {
  double total = 0;
  int same = r->trace.length == ledger_length(f->ledger);
  for (size_t i = 0; same && i < r->trace.length; i++) {
    const struct trace_row *row = &r->trace.rows[i];
    const struct ledger_entry *entry = ledger_at(f->ledger, i);
    total += row->rho;
    same = row->rho == entry->rho && strcmp(row->query, entry->what) == 0;
  }
  CHECK(same);
  CHECK(same && run_pooled_sd_is_right(f, r));
  CHECK_NEAR(total, ledger_spent(f->ledger), 1e-12 * rho);
  CHECK(ledger_spent(f->ledger) <= rho * (1 + 1e-12));
  CHECK(fixture_all_finite(data_dim(f->data), w));
}

/* What a run spent on one kind of query. */
static inline double run_spent_on(const struct opt_result *r, const char *query) {
  double total = 0;
  for (size_t i = 0; i < r->trace.length; i++) {
    if (strcmp(r->trace.rows[i].query, query) == 0) total += r->trace.rows[i].rho;
  }
  return total;
}

/*
 * Sigmoid loss with a strict saddle at (2, 0): records (0.9, 0) with y = 1 and
 * (0.3, +-0.95) with y = -1 in such numbers that the gradient along the first
 * coordinate vanishes there; the second direction has curvature -0.037, and
 * the gradient along it vanishes by symmetry.
 */
static inline void run_open_saddle(struct fixture *f, double rho) {
  size_t n = (size_t)ctest_size(20000, 2000);
  double *x = base_alloc(2 * n, sizeof *x), *y = base_alloc(n, sizeof *y);
  for (size_t i = 0; i < n; i++) {
    int first = i % 1000 < 384;
    x[i] = first ? 0.9 : 0.3;
    x[i + n] = first ? 0 : i % 2 ? 0.95 : -0.95;
    y[i] = first ? 1 : -1;
  }
  fixture_open_rows(f, "sigmoid", x, y, n, 2, 0, ORACLE_REPLACE_ONE, rho);
}

#endif
