/* Runs by residuals on rows in coordinates of their own. */
#ifndef RESIDUAL_H
#define RESIDUAL_H

#include "run.h"

#include "method/private.h"

enum { DIM = 4, COLUMNS = DIM - 1, ENDS = 25 };

static inline struct residual_options run_options_residual(void) {
  return (struct residual_options){.iterations = 75,
                                   .level_correction = 0.3,
                                   .slope_correction = 0.1,
                                   .matrix_share = 0.07,
                                   .counts_share = 0.02,
                                   .recalibration_share = 0.06,
                                   .slopes = 1,
                                   .present = 1,
                                   .curvature = 1,
                                   .most = 2,
                                   .level = 0.01,
                                   .spread = 0.5,
                                   .centre = 0.001,
                                   .clip = 4,
                                   .first = 1.5,
                                   .reach = 8,
                                   .least = 1.2,
                                   .iterate_sd = 0.7,
                                   .tail = 0.85,
                                   .signal = 1 / 64.0,
                                   .signals = 8,
                                   .usual = 0.7,
                                   .first_doubt = 3,
                                   .phase_doubt = 0.7};
}

static inline double *normal_rows(size_t n) {
  double *x = base_alloc(n * COLUMNS, sizeof *x);
  for (size_t i = 0; i < n * COLUMNS; i++) x[i] = 0.3 * ctest_normal();
  return x;
}

static inline void open_rows(struct fixture *f, struct fixture_coordinates *c, const char *loss, double *x, double *y,
                      size_t n, double scale, double cap, double capacity) {
  fixture_storage = FIXTURE_DENSE;
  fixture_open_rows(f, loss, x, y, n, COLUMNS, 1, ORACLE_REPLACE_ONE, capacity);
  for (size_t j = 0; j < COLUMNS; j++) {
    c->scale[j] = scale * (1 + 0.3 * (double)j);
    c->prior[j] = c->spread[j] = 0.5;
    c->centre[j] = 0.02 * (double)j;
  }
  c->spec = (struct coordinates_spec){.p = COLUMNS,
                                      .intercept = 1,
                                      .weighted = 1,
                                      .radius = 1,
                                      .constant = 0.4,
                                      .cap = cap,
                                      .bound = 1,
                                      .scale = c->scale,
                                      .prior = c->prior,
                                      .spread = c->spread,
                                      .centre = c->centre};
  CHECK(coordinates_create(&c->spec, &c->made) == BASE_OK);
  CHECK(oracle_move(f->oracle, c->made) == BASE_OK);
}

static inline void close_numbers(struct fixture *f, struct fixture_coordinates *c) {
  fixture_close(f);
  coordinates_free(c->made);
}

/* Norm of the gradient of squared error, which no residual is clipped in. The coefficients are of coordinates that the
 * run rescaled. */
static inline double exact_gradient(const struct fixture *f, const struct fixture_coordinates *c, const double *w) {
  double g[DIM], here[DIM];
  here[0] = w[0];
  for (size_t j = 0; j < COLUMNS; j++) here[j + 1] = w[j + 1] * c->scale[j] / oracle_scale(f->oracle)[j];
  const struct ask ask = {.at = here, .clip = 100};
  CHECK(mean_of(oracle_all(f->oracle), &query_residual_gradient, &ask, g) == BASE_OK);
  return la_norm(DIM, g);
}

#endif
