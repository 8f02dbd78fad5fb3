/*
 * A loss of several outputs behind the barrier: sums against naive ones in extended precision, the change between
 * neighbouring data sets against the sensitivities (proofs: sensitivity-several, sensitivity-clipped,
 * sensitivity-second-moments), and what is refused.
 */
#include "fixture.h"
#include "la/la.h"

#include <float.h>

enum { P = 3, K = 4, SIDE = P + 1, DIM = SIDE * K, MOST_ROWS = 12, MOST_CLASSES = 1000 };

static void sums(int broken, double w_norm);
static void attained(enum oracle_neighbours neighbours);
static void search(enum oracle_neighbours neighbours);
static void rounded_by_classes(void);
static void refused(void);
static void on_batches(void);
static void releases(void);

void test_barrier_several(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int broken = 0; broken <= 1; broken++) {
      sums(broken, 0);
      sums(broken, 3);
      sums(broken, 1e60);
    }
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      if (fixture_storage == FIXTURE_DENSE) attained(neighbours);
      search(neighbours);
    }
    on_batches();
  }
  fixture_storage = FIXTURE_DENSE;
  rounded_by_classes();
  refused();
  releases();
}

/* A response of class k, the first is one. */
static double class_of(size_t k) { return (double)k / K; }

static struct ask clipped(const double *w, double clip) { return (struct ask){.at = w, .clip = clip}; }

struct several {
  struct fixture f;
  struct loss *loss;
};

/* Takes over x and y. */
static void open_several(struct several *s, double *x, double *y, size_t n, enum oracle_neighbours neighbours) {
  CHECK(loss_create("multinomial", K, &s->loss) == BASE_OK);
  fixture_open_rows(&s->f, "logistic", x, y, n, P, 1, neighbours, 1);
  oracle_free(s->f.oracle);
  CHECK(open_oracle(s->f.data, s->loss, s->f.ledger, &ctest_entropy, neighbours, &s->f.oracle) == BASE_OK);
}

static void close_several(struct several *s) {
  fixture_close(&s->f);
  loss_free(s->loss);
}

static void random_rows(size_t n, double *x, double *y) {
  for (size_t i = 0; i < n * P; i++) x[i] = ctest_normal();
  for (size_t i = 0; i < n; i++) y[i] = class_of(1 + (size_t)(K * ctest_uniform()));
}

/* ---- sums ---- */

struct exact {
  long double value, gradient[DIM], clipped[DIM], moments[SIDE * SIDE];
};

static void reference(const struct fixture *f, const double *w, double clip, struct exact *e) {
  const struct data *d = f->data;
  memset(e, 0, sizeof *e);
  for (size_t i = 0; i < d->n; i++) {
    long double z[SIDE] = {d->clip[i]}, t[K] = {0}, most = -INFINITY, sum = 0, square = 0, size = 0;
    size_t y = (size_t)fmax(1, round(K * d->y[i])) - 1;
    for (size_t j = 0; j < P; j++) z[j + 1] = d->clip[i] > 0 ? (long double)d->clip[i] * f->x[i + j * d->n] : 0;
    for (size_t j = 0; j < SIDE; j++) square += z[j] * z[j];
    for (size_t k = 0; k < K; k++) {
      for (size_t j = 0; j < SIDE; j++) t[k] += z[j] * w[k * SIDE + j];
      most = fmaxl(most, t[k]);
    }
    for (size_t k = 0; k < K; k++) sum += expl(t[k] - most);
    e->value += (logl(sum) + most - t[y]) / d->n;
    for (size_t k = 0; k < K; k++) size += powl(expl(t[k] - most) / sum - (k == y), 2);
    long double norm = sqrtl(size * square), factor = norm > clip ? clip / norm : 1;
    for (size_t k = 0; k < K; k++) {
      long double slope = (expl(t[k] - most) / sum - (k == y)) / d->n;
      for (size_t j = 0; j < SIDE; j++) e->gradient[k * SIDE + j] += slope * z[j];
      for (size_t j = 0; j < SIDE; j++) e->clipped[k * SIDE + j] += factor * slope * z[j];
    }
    for (size_t j = 0; j < SIDE; j++)
      for (size_t l = 0; l < SIDE; l++) e->moments[j + l * SIDE] += z[j] * z[l] / d->n;
  }
}

static double distance(size_t n, const double *got, const long double *want) {
  long double square = 0;
  for (size_t i = 0; i < n; i++) square += (got[i] - want[i]) * (got[i] - want[i]);
  return (double)sqrtl(square);
}

/* Half of what a sensitivity has beyond the exact formula: no more than that may the sum be off. */
static double half_beyond(double sensitivity, double change, size_t n) {
  return (sensitivity - change / (double)n) / 2 + 1e-17;
}

/* Blocks with null records and without; those far out have predictors of which rounding leaves little. */
static void sums(int broken, double w_norm) {
  static struct exact exact;
  struct several s;
  size_t n = 2 * DATA_BLOCK + 77;
  double *x = base_alloc(n * P, sizeof *x), *y = base_alloc(n, sizeof *y), w[DIM], norm = 0;
  double value, gradient[DIM], moments[SIDE * SIDE], clip = 0.4, most;
  random_rows(n, x, y);
  for (size_t i = 2; broken && i < n; i += 97) x[i + (i % P) * n] = i % 2 ? NAN : INFINITY;
  if (broken) y[1] = NAN;
  for (size_t j = 0; j < DIM; j++) norm = hypot(norm, w[j] = ctest_normal());
  for (size_t j = 0; j < DIM; j++) w[j] *= w_norm / norm;
  open_several(&s, x, y, n, ORACLE_REPLACE_ONE);
  for (size_t i = 0; i < n; i++) s.f.data->clip[i] *= ctest_uniform(); /* rows of all lengths */
  const struct scope *all = oracle_all(s.f.oracle);
  const struct ask at = clipped(w, clip);
  most = model_slope_within(&s.f.oracle->model, w_norm);
  reference(&s.f, w, clip, &exact);
  CHECK(mean_of(all, &query_value, &at, &value) == BASE_OK);
  CHECK_NEAR((double)(value - exact.value), 0,
             half_beyond(query_value.sensitivity(all, &at, 0), loss_range(s.loss, w_norm), n));
  CHECK(mean_of(all, &query_gradient, &at, gradient) == BASE_OK);
  CHECK_NEAR(distance(DIM, gradient, exact.gradient), 0,
             half_beyond(query_gradient.sensitivity(all, &at, 0), 2 * most, n));
  CHECK(mean_of(all, &query_clipped_gradient, &at, gradient) == BASE_OK);
  CHECK_NEAR(distance(DIM, gradient, exact.clipped), 0,
             half_beyond(query_clipped_gradient.sensitivity(all, &at, 0), 2 * clip, n));
  CHECK(mean_of(all, &query_second_moments, &at, moments) == BASE_OK);
  CHECK_NEAR(distance(SIDE * SIDE, moments, exact.moments), 0,
             half_beyond(query_second_moments.sensitivity(all, &at, 0), sqrt(2), n));
  close_several(&s);
}

/* ---- sensitivities ---- */

enum quantity { VALUE, GRADIENT, CLIPPED, MOMENTS, QUANTITIES };
static const struct query *const asked[] = {&query_value, &query_gradient, &query_clipped_gradient,
                                            &query_second_moments};

/* Two data sets that differ in their first record; class 0 is a null record. */
struct pair {
  size_t n, y[2];
  double row[2][P], w[DIM], clip;
};

static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *p) {
  double x[MOST_ROWS * P], y[MOST_ROWS], answer[2][DIM], change = 0, sensitivity = 0;
  const struct ask ask = clipped(p->w, p->clip);
  size_t width = q == VALUE ? 1 : q == MOMENTS ? SIDE * SIDE : DIM;
  struct loss *loss;
  CHECK(loss_create("multinomial", K, &loss) == BASE_OK);
  for (int k = 0; k < 2; k++) {
    struct data *d;
    struct fixture_arrays arrays;
    for (size_t i = 0; i < p->n; i++) {
      for (size_t j = 0; j < P; j++) x[i + j * p->n] = i == 0 ? p->row[k][j] : (double)((i + j) % 3) - 1;
      y[i] = class_of(i % K + 1);
    }
    y[0] = p->y[k] == 0 ? NAN : class_of(p->y[k]);
    if (fixture_data(x, p->n, P, 1, 1, y, &arrays, &d) != BASE_OK) return INFINITY;
    struct oracle o = {.engine = engine_memory(d), .model = model_linear(d, loss), .neighbours = neighbours};
    o.all.oracle = &o;
    CHECK(mean_of(&o.all, asked[q], &ask, answer[k]) == BASE_OK);
    sensitivity = asked[q]->sensitivity(&o.all, &ask, 0);
    data_free(d);
    fixture_free(&arrays);
  }
  loss_free(loss);
  for (size_t i = 0; i < width; i++) change = hypot(change, answer[0][i] - answer[1][i]);
  return change / sensitivity;
}

/* Far out all is one class's that neither record has; rows are nearly opposite but for the intercept, or orthogonal. */
static void attained(enum oracle_neighbours neighbours) {
  struct pair p = {.n = 7, .y = {1, 1}, .clip = 0.3};
  int replaced = neighbours == ORACLE_REPLACE_ONE;
  for (int k = 0; k < 2; k++) p.row[k][0] = k ? -1e4 : 1e4;
  /* Predictors of the second class exceed the first's for both. */
  p.row[0][1] = p.row[1][1] = 100;
  p.w[1 * SIDE + 2] = 1e6;
  if (!replaced) p.y[1] = 0;
  CHECK_NEAR(share(neighbours, GRADIENT, &p), 1, 0.02);
  CHECK_NEAR(share(neighbours, CLIPPED, &p), 1, 0.02);
  p.clip = 50; /* more than any gradient has */
  CHECK_NEAR(share(neighbours, CLIPPED, &p), 1, 0.02);
  p.row[1][0] = 0;
  p.row[1][1] = 1e4;
  CHECK_NEAR(share(neighbours, MOMENTS, &p), 1, 0.02);
}

static void random_pair(enum oracle_neighbours neighbours, struct pair *p) {
  *p = (struct pair){.n = 3 + (size_t)(9 * ctest_uniform()), .clip = exp(4 * ctest_uniform() - 3)};
  double scale = exp(10 * ctest_uniform() - 3);
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < P; j++) p->row[k][j] = (ctest_uniform() < 0.2 ? 0.3 : 5) * ctest_normal();
    p->y[k] = 1 + (size_t)(K * ctest_uniform());
  }
  if (neighbours == ORACLE_ZERO_OUT) p->y[1] = 0;
  for (int j = 0; j < DIM; j++) p->w[j] = scale * ctest_normal();
}

static struct pair moved(const struct pair *from, double by) {
  struct pair p = *from;
  double scale = exp(by * ctest_normal()), w_by = by * fabs(p.w[0]);
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < P; j++) p.row[k][j] += by * ctest_normal();
    if (p.y[k] && ctest_uniform() < 0.1) p.y[k] = 1 + (size_t)(K * ctest_uniform());
  }
  for (int j = 0; j < DIM; j++) p.w[j] = scale * (p.w[j] + w_by * ctest_normal());
  return p;
}

static void search(enum oracle_neighbours neighbours) {
  int dense = fixture_storage == FIXTURE_DENSE;
  for (enum quantity q = VALUE; q < QUANTITIES; q++) {
    double worst = 0;
    for (int restart = 0; restart < ctest_size(dense ? 16 : 4, 1); restart++) {
      struct pair best;
      random_pair(neighbours, &best);
      double found = share(neighbours, q, &best);
      worst = fmax(worst, found);
      for (int i = 0, steps = ctest_size(250, 20); i < steps; i++) {
        struct pair next = moved(&best, exp(-5.0 * i / steps));
        double at = share(neighbours, q, &next);
        worst = isnan(at) ? INFINITY : fmax(worst, at);
        if (!(at > found)) continue;
        found = at;
        best = next;
      }
    }
    CHECK(worst <= 1);
    CHECK(worst > (dense && ctest_size(1, 0) ? 0.8 : 0));
  }
}

static double sensitivity_of_gradient(size_t classes) {
  static const double w[SIDE * MOST_CLASSES], x[P], y = 1;
  const struct ask ask = {.at = w};
  struct loss *loss;
  struct data *d;
  CHECK(loss_create("multinomial", (double)classes, &loss) == BASE_OK && data_create(x, 1, P, 1, 1, &y, &d) == BASE_OK);
  struct oracle o = {.engine = engine_memory(d), .model = model_linear(d, loss), .neighbours = ORACLE_REPLACE_ONE};
  o.all.oracle = &o;
  double sensitivity = query_gradient.sensitivity(&o.all, &ask, 0);
  data_free(d);
  loss_free(loss);
  return sensitivity;
}

/*
 * Sums stay far below their proven error. What each class adds to it (loss/multinomial.c) is therefore compared with
 * the proof: 2 u times the bound sqrt(2) of a gradient, in both of two neighbouring sums.
 */
static void rounded_by_classes(void) {
  double error = 2 * (DBL_EPSILON / 2) * sqrt(2) * (MOST_CLASSES - K);
  CHECK(sensitivity_of_gradient(MOST_CLASSES) - sensitivity_of_gradient(K) >= 2 * error);
}

/* ---- what is asked ---- */

/* Whatever reads second derivatives, compares values along a line or minimises is for one output. */
static void refused(void) {
  struct several s;
  struct oracle_newton how = {CURVATURE_MAJORANT, MODIFY_ADD, 1, (double[DIM]){0}};
  double w[DIM] = {0}, out[DIM * DIM], sd, step = 1, *x = base_alloc(40 * P, sizeof *x), *y = base_alloc(40, sizeof *y);
  double quadratic[DIM];
  size_t index;
  for (size_t j = 0; j < DIM; j++) quadratic[j] = 1;
  random_rows(40, x, y);
  open_several(&s, x, y, 40, ORACLE_REPLACE_ONE);
  struct oracle *o = s.f.oracle;
  CHECK(oracle_dim(o) == DIM && oracle_outputs(o) == K && oracle_columns(o) == P);
  CHECK(oracle_hessian(o, w, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_majorant(o, w, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_products(o, w, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_weighted(o, w, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_model_gradient(o, w, w, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_trace(o, w, CURVATURE_MAJORANT, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_newton_direction(o, w, w, &how, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_decreases(o, w, quadratic, 1, &step, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_first_step(o, w, quadratic, 1, &step, w, 1, 0.01, &index) == BASE_ERR_ARGUMENT);
  CHECK(oracle_best_step(o, w, quadratic, 1, &step, w, 0.01, &index) == BASE_ERR_ARGUMENT);
  CHECK(oracle_minimiser(o, quadratic, 0.01, out, &sd) == BASE_ERR_ARGUMENT);
  CHECK(fresh_open(o, 0.01) == BASE_ERR_ARGUMENT);
  struct fixture_coordinates c;
  CHECK(fixture_coordinates(s.f.data, 1, 0, 1, 1, &c) == BASE_OK);
  CHECK(oracle_move(o, c.made) == BASE_ERR_ARGUMENT);
  coordinates_free(c.made);
  for (int k = 0; k < 3; k++) {
    const struct ask ask = clipped(w, (double[]){0, -1, NAN}[k]);
    CHECK(release(oracle_all(o), &query_clipped_gradient, &ask, 0.01, (struct answer){out, &sd, NULL}) ==
          BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_length(s.f.ledger) == 0);
  close_several(&s);
}

/* Those are charged, with noise of the sensitivity over sqrt(2 rho); the same for any number of threads. */
static void releases(void) {
  struct several s;
  size_t n = 5000;
  double w[DIM], answers[2][3 * DIM + 1], sd, rho = 0.01, *x = base_alloc(n * P, sizeof *x),
                                              *y = base_alloc(n, sizeof *y);
  static const size_t at[QUANTITIES] = {0, 1, 1 + DIM, 1 + 2 * DIM};
  memset(answers, 0, sizeof answers);
  random_rows(n, x, y);
  for (size_t j = 0; j < DIM; j++) w[j] = ctest_normal();
  open_several(&s, x, y, n, ORACLE_ZERO_OUT);
  const struct ask ask = clipped(w, 0.5);
  for (int k = 0; k < 2; k++) {
    base_limit_threads(1 + k);
    for (enum quantity q = VALUE; q < QUANTITIES; q++) {
      CHECK(mean_of(oracle_all(s.f.oracle), asked[q], &ask, answers[k] + at[q]) == BASE_OK);
    }
  }
  CHECK(memcmp(answers[0], answers[1], sizeof answers[0]) == 0);
  base_limit_threads(64);
  ctest_unwiped();
  double most = model_slope_within(&s.f.oracle->model, la_norm(DIM, w));
  for (enum quantity q = VALUE; q < QUANTITIES; q++) {
    double noisy[DIM], change = (double[]){sqrt(2) * 1e9, most, 0.5, 1}[q] / (double)n;
    CHECK(release(oracle_all(s.f.oracle), asked[q], &ask, rho, (struct answer){noisy, &sd, NULL}) == BASE_OK);
    if (q != VALUE) CHECK_NEAR(sd, change / sqrt(2 * rho), 1e-8 * sd);
    CHECK(ledger_length(s.f.ledger) == q + 1 && ledger_at(s.f.ledger, q)->rho == rho);
    CHECK(strcmp(ledger_at(s.f.ledger, q)->what, asked[q]->name) == 0);
    CHECK(fabs(noisy[0] - answers[0][at[q]]) < 8 * sd);
  }
  CHECK(ctest_unwiped() == 0);
  close_several(&s);
}

/* A batch's gradient is that of a data set of its rows. */
static void on_batches(void) {
  enum { N = DATA_BLOCK + 300, EVERY = 3, COUNT = (N + EVERY - 1) / EVERY };
  struct several all, part;
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y), w[DIM], got[DIM], want[DIM];
  double *some = base_alloc(COUNT * P, sizeof *some), *classes = base_alloc(COUNT, sizeof *classes);
  size_t *row = base_alloc(COUNT, sizeof *row);
  random_rows(N, x, y);
  x[EVERY] = y[2 * EVERY] = NAN;
  for (size_t j = 0; j < DIM; j++) w[j] = ctest_normal();
  for (size_t k = 0; k < COUNT; k++) {
    row[k] = EVERY * k;
    classes[k] = y[row[k]];
    for (size_t j = 0; j < P; j++) some[k + j * COUNT] = x[row[k] + j * N];
  }
  open_several(&all, x, y, N, ORACLE_REPLACE_ONE);
  open_several(&part, some, classes, COUNT, ORACLE_REPLACE_ONE);
  struct batch batch = {.count = COUNT, .row = row, .size = 2.5 * COUNT};
  const struct scope on_batch = {.oracle = all.f.oracle, .of = &batch};
  const struct ask ask = clipped(w, 0.5);
  for (enum quantity q = GRADIENT; q <= CLIPPED; q++) {
    CHECK(mean_of(&on_batch, asked[q], &ask, got) == BASE_OK);
    CHECK(mean_of(oracle_all(part.f.oracle), asked[q], &ask, want) == BASE_OK);
    for (size_t j = 0; j < DIM; j++) CHECK_NEAR(got[j], want[j] / 2.5, 1e-13);
    double change = q == CLIPPED ? 1 : 2 * model_slope_within(&all.f.oracle->model, la_norm(DIM, w));
    CHECK(asked[q]->sensitivity(&on_batch, &ask, 0) > change / batch.size);
  }
  close_several(&part);
  close_several(&all);
  base_free(row);
}
