/*
 * Clipped decreases between two points, measured (proofs: sensitivity-improvement): no pair of neighbours exceeds their
 * sensitivity, however long its rows, whatever its responses, weights and offsets and wherever the points are, in the
 * rows' own coordinates and for weighted rows; pairs beyond both ends come within 0.1 %. Their values by definition;
 * what is refused.
 */
#include "fixture.h"

enum { P = 3, SIDE = P + 1, K = 3, DIM = K * SIDE, MOST_ROWS = 20, LOSSES = 6 };

static const char *const losses[LOSSES] = {"squared", "poisson", "logistic", "sigmoid", "huber_svm", "multinomial"};
static const double parameters[LOSSES] = {0, 1, 0, 0, 0.4, K};
static const char *name;
static struct loss *loss;
static int moved;

/* Two data sets that differ in their first record, and what they are asked. */
struct pair {
  size_t n;
  double row[2][P], y[2]; /* of the first record; NaN for a null record */
  double weight[2], offset[2];
  double at[DIM], along[DIM], end[2], clip;
  double scale[P], centre[P];
};

static void random_pairs(enum oracle_neighbours neighbours);
static void worst_pairs(enum oracle_neighbours neighbours, size_t n);
static double share(enum oracle_neighbours neighbours, const struct pair *pair);
static void values_by_definition(int weighted);
static void refused(void);

void test_barrier_improvement(void) {
  for (int i = 0; i < LOSSES * FIXTURE_STORAGES; i++) {
    name = losses[i % LOSSES];
    fixture_storage = i / LOSSES;
    CHECK(loss_create(name, parameters[i % LOSSES], &loss) == BASE_OK);
    for (moved = 0; moved <= 1; moved++) {
      for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
        random_pairs(neighbours);
        if (fixture_storage == FIXTURE_CODES) continue; /* half of its columns are indicators */
        for (size_t n = 3; n <= MOST_ROWS; n += 17) worst_pairs(neighbours, n);
      }
      for (int weighted = 0; weighted <= 1; weighted++) values_by_definition(weighted);
    }
    loss_free(loss);
  }
  fixture_storage = FIXTURE_DENSE;
  refused();
}

static size_t outputs(void) { return loss_outputs(loss); }

static int is(const char *this) { return strcmp(name, this) == 0; }

/* ---- pairs ---- */

static struct pair base_pair(size_t n) {
  struct pair p = {.n = n, .y = {1, 1}, .weight = {1, 1}, .end = {0.05, 0.1}, .clip = 4};
  for (size_t j = 0; j < P; j++) p.scale[j] = 1;
  return p;
}

/* Rows at which the decrease is beyond one end, and the other one, or zero for a null record. */
static void worst_pairs(enum oracle_neighbours neighbours, size_t n) {
  struct pair p = base_pair(n);
  double far = is("squared") || is("poisson") ? 1 : 50;
  for (size_t j = 0; j < P; j++) p.scale[j] = 9;
  for (int side = 0; side < 2; side++) p.row[side][0] = side == 0 ? 0.8 : -0.8;
  for (size_t k = 0; k < outputs(); k++) {
    p.along[k * SIDE + 1] = (outputs() == 1 || k == K - 1 ? far : -far) / (moved ? 9 : 1);
  }
  if (far == 1) p.at[0] = -2;
  if (neighbours == ORACLE_ZERO_OUT) p.y[1] = NAN;
  double found = share(neighbours, &p);
  CHECK(found <= 1);
  CHECK_NEAR(found, 1, 1e-3);
}

static double far_number(double size) { return size * exp(2 * ctest_normal()) * fixture_sign(); }

static double any_response(void) {
  if (outputs() > 1) return (double)(1 + (int)(K * ctest_uniform())) / K;
  return is("squared") || is("poisson") ? 3 * ctest_normal() : fixture_sign();
}

static struct pair random_pair(enum oracle_neighbours neighbours) {
  struct pair p = base_pair(3 + (size_t)(17 * ctest_uniform()));
  p.clip = exp(3 * ctest_uniform() - 2);
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = exp(2 * ctest_normal());
    p.centre[j] = 2 * ctest_uniform() - 1;
    p.row[0][j] = far_number(1);
    p.row[1][j] = ctest_uniform() < 0.3 ? -p.row[0][j] : far_number(1);
  }
  for (size_t j = 0; j < DIM; j++) {
    p.at[j] = far_number(0.3);
    p.along[j] = far_number(1);
  }
  for (int k = 0; k < 2; k++) {
    p.end[k] = exp(4 * ctest_uniform() - 4);
    p.y[k] = ctest_uniform() < 0.2 ? NAN : any_response();
    p.weight[k] = ctest_uniform() < 0.5 ? 1 : ctest_uniform();
    p.offset[k] = ctest_uniform() < 0.1 ? NAN : 4 * ctest_normal();
  }
  if (neighbours == ORACLE_ZERO_OUT) p.y[1] = NAN;
  return p;
}

static void random_pairs(enum oracle_neighbours neighbours) {
  double worst = 0;
  for (int i = 0; i < ctest_size(500, 100); i++) {
    struct pair p = random_pair(neighbours);
    double found = share(neighbours, &p);
    worst = isnan(found) ? INFINITY : fmax(worst, found);
  }
  CHECK(worst <= 1);
  CHECK(worst > 0.5);
}

/* ---- change over sensitivity ---- */

static struct ask ask_of(const struct pair *p) {
  return (struct ask){.at = p->at, .along = p->along, .k = 2, .step = p->end, .clip = p->clip};
}

static struct coordinates_spec spec_of(const struct pair *p) {
  return (struct coordinates_spec){.p = P,
                                   .intercept = 1,
                                   .weighted = 1,
                                   .radius = 1.5,
                                   .constant = 0.5,
                                   .cap = 1.2,
                                   .bound = 1.5,
                                   .tilt = is("logistic") ? 0.2 : 0,
                                   .shortest = 0.75,
                                   .scale = p->scale,
                                   .prior = p->scale,
                                   .spread = p->scale,
                                   .centre = p->centre,
                                   .end = is("logistic") ? p->centre : NULL,
                                   .outputs = outputs() > 1 ? outputs() : 0};
}

/* The mean and its sensitivity; zero where something is refused. */
static double ask(struct oracle *o, const struct pair *p, const struct coordinates *c, const double *weight,
                  const double *offset, double *answer) {
  const struct ask what = ask_of(p);
  struct scope *s = oracle_all(o);
  int status = oracle_set_weights(o, weight, outputs() > 1 ? NULL : offset, outputs() > 1 ? 0 : 6);
  if (status == BASE_OK && moved) status = oracle_move(o, c);
  if (status == BASE_OK) status = release_check(s, &query_improvement, &what);
  if (status == BASE_OK) status = mean_of(s, &query_improvement, &what, answer);
  return status == BASE_OK ? query_improvement.sensitivity(s, &what, 0) : 0;
}

static double share(enum oracle_neighbours neighbours, const struct pair *p) {
  double x[MOST_ROWS * P], y[MOST_ROWS], weight[MOST_ROWS], offset[MOST_ROWS], answer[2] = {0}, sensitivity = 0;
  for (int k = 0; k < 2; k++) {
    const struct coordinates_spec spec = spec_of(p);
    struct data *d = NULL;
    struct coordinates *c;
    struct fixture_arrays arrays;
    struct oracle *o;
    for (size_t i = 0; i < p->n; i++) {
      for (size_t j = 0; j < P; j++) x[i + j * p->n] = i == 0 ? p->row[k][j] : (double)((i + j) % 3) - 1;
      y[i] = i == 0 ? p->y[k] : outputs() > 1 ? 1.0 / K : i % 2 ? 1 : -1;
      weight[i] = i == 0 ? p->weight[k] : 1;
      offset[i] = i == 0 ? p->offset[k] : (double)(i % 3) - 1;
    }
    if (fixture_data(x, p->n, P, 1, 1.5, y, &arrays, &d) != BASE_OK) return INFINITY;
    if (coordinates_create(&spec, &c) != BASE_OK) return INFINITY;
    if (open_oracle(d, loss, NULL, &ctest_entropy, neighbours, &o) != BASE_OK) return INFINITY;
    sensitivity = ask(o, p, c, weight, offset, &answer[k]);
    oracle_free(o);
    coordinates_free(c);
    data_free(d);
    fixture_free(&arrays);
  }
  return sensitivity > 0 ? fabs(answer[0] - answer[1]) / sensitivity : 0;
}

/* ---- values ---- */

static long double loss_at(const struct pair *p, double y, const long double *t) {
  long double total = 0, r = t[0] - y, clip = p->clip;
  if (is("squared")) return powl(fminl(fabsl(r), clip), 2) / 2;
  if (is("poisson")) return expl(fminl(t[0], 0)) + fmaxl(t[0], 0) - fmaxl(y, 0) * t[0];
  if (is("logistic")) return log1pl(expl(-y * t[0]));
  if (is("sigmoid")) return 1 / (1 + expl(y * t[0]));
  if (outputs() > 1) {
    for (size_t k = 0; k < K; k++) total += expl(t[k]);
    return logl(total) - t[(size_t)(K * y - 0.5)];
  }
  long double h = 0.4L, v = 1 - y * t[0], s = fminl(1, fmaxl(0, (v + h) / (2 * h)));
  return h * s * s + fmaxl(0, v - h);
}

/* Some records are null, and some rows long. */
static void values_by_definition(int weighted) {
  enum { N = 700 };
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y), *weight = base_alloc(N, sizeof *weight);
  struct pair p = base_pair(N);
  struct fixture f = {.x = x, .y = y};
  struct coordinates *c;
  long double want = 0, z[SIDE];
  double answer;
  p.clip = 0.9;
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = moved ? 1 + (double)j : 1;
    p.centre[j] = moved ? 0.1 * (double)j : 0;
  }
  for (size_t j = 0; j < DIM; j++) p.at[j] = 0.1 * (double)(j % 5), p.along[j] = 1 - 0.5 * (double)(j % 4);
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < P; j++) x[i + j * N] = ctest_normal();
    y[i] = i % 50 == 4 ? NAN : any_response();
    weight[i] = ctest_uniform();
  }
  x[7] = NAN;
  CHECK(fixture_data(x, N, P, 1, 1.5, y, &f.arrays, &f.data) == BASE_OK);
  CHECK(open_oracle(f.data, loss, NULL, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) == BASE_OK);
  struct coordinates_spec spec = spec_of(&p);
  CHECK(coordinates_create(&spec, &c) == BASE_OK);
  CHECK(oracle_set_weights(f.oracle, weighted ? weight : NULL, NULL, 0) == BASE_OK);
  if (moved) CHECK(oracle_move(f.oracle, c) == BASE_OK);
  if (!moved) spec.constant = 1 / spec.radius;
  for (size_t i = 0; i < N; i++) {
    long double here[K] = {0}, there[K] = {0};
    if (!(f.data->clip[i] > 0)) continue;
    fixture_moved(f.data, x, &spec, i, z);
    for (size_t k = 0; k < outputs(); k++) {
      for (size_t j = 0; j < SIDE; j++) {
        here[k] += p.at[j + k * SIDE] * z[j];
        there[k] += (p.at[j + k * SIDE] + p.along[j + k * SIDE]) * z[j];
      }
    }
    double seen = outputs() > 1 ? y[i] : fmax(-1, fmin(y[i], 1));
    long double decrease = loss_at(&p, seen, here) - loss_at(&p, seen, there);
    want += (weighted ? weight[i] : 1) * fmaxl(-p.end[0], fminl(decrease, p.end[1]));
  }
  const struct ask what = ask_of(&p);
  CHECK(mean_of(oracle_all(f.oracle), &query_improvement, &what, &answer) == BASE_OK);
  CHECK_NEAR(answer, (double)(want / N), 1e-12);
  fixture_close(&f);
  coordinates_free(c);
  base_free(weight);
}

/* ---- refusals ---- */

/* Ends that are no use, one end, no point or direction, and no clip where slopes have no bound. Nothing is charged. */
static void refused(void) {
  struct fixture f;
  double answer, sd;
  const double ends[2] = {0.1, 0.2}, bad[4][2] = {{0, 0.1}, {0.1, NAN}, {-0.1, 0.1}, {0.1, INFINITY}};
  struct pair p = base_pair(20);
  const struct answer to = {&answer, &sd, NULL};
  fixture_open(&f, "squared", 20, P, 1, ORACLE_REPLACE_ONE, 1);
  for (int fault = 0; fault < 9; fault++) {
    struct ask what = ask_of(&p);
    what.step = fault < 4 ? bad[fault] : ends;
    if (fault == 4) what.k = 1;
    if (fault == 5) what.at = NULL;
    if (fault == 6) what.along = NULL;
    if (fault > 6) what.clip = fault == 7 ? 0 : NAN;
    CHECK(release(oracle_all(f.oracle), &query_improvement, &what, 0.1, to) == BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_length(f.ledger) == 0);
  const struct ask what = ask_of(&p);
  CHECK(release(oracle_all(f.oracle), &query_improvement, &what, 0.1, to) == BASE_OK);
  CHECK(ledger_length(f.ledger) == 1);
  fixture_close(&f);
}
