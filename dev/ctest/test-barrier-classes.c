/*
 * Sums of several outputs over weighted rows, measured: no pair of neighbours exceeds their sensitivities, however long
 * its rows and whatever its classes, and the pairs of the proofs come within 0.1 % (proofs: sensitivity-classes,
 * row-slopes, sensitivity-weighted, sensitivity-moments). Their values by definition; what is refused.
 */
#include "fixture.h"

#include <string.h>

enum { P = 3, SIDE = P + 1, K = 4, DIM = K * SIDE, MOST_ROWS = 20 };

enum quantity { COUNTS, MOMENTS, GRADIENT, PLAIN, MATRIX, QUANTITIES };

/* Two data sets that differ in their first record, and what they are asked. */
struct pair {
  size_t n;
  double row[2][P], y[2]; /* of the first record; NaN for a null record */
  double weight[2];
  double w[DIM], clip;
  double scale[P], centre[P], constant, cap;
  double own; /* cap of the gradient; zero: that one */
};

static void random_pairs(enum oracle_neighbours neighbours, enum quantity q);
static void worst_pairs(enum oracle_neighbours neighbours, size_t n);
static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *pair);
static void values_by_definition(int weighted);
static void two_classes(enum oracle_neighbours neighbours);
static void refused(void);

void test_barrier_classes(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      for (int q = COUNTS; q < QUANTITIES; q++) random_pairs(neighbours, q);
      if (fixture_storage == FIXTURE_CODES) continue; /* half of its columns are indicators */
      for (size_t n = 3; n <= MOST_ROWS; n += 17) worst_pairs(neighbours, n);
    }
    for (int weighted = 0; weighted <= 1; weighted++) values_by_definition(weighted);
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) two_classes(neighbours);
  }
  fixture_storage = FIXTURE_DENSE;
  refused();
}

static double class_of(size_t k) { return (double)(k + 1) / K; }

/* ---- the pairs of the proofs ---- */

static struct pair base_pair(size_t n, double size) {
  struct pair p = {.n = n, .y = {class_of(0), class_of(0)}, .weight = {1, 1}, .clip = 1, .constant = 0.01, .cap = 1.2};
  for (size_t j = 0; j < P; j++) p.scale[j] = size;
  return p;
}

static void tight(enum oracle_neighbours neighbours, enum quantity q, struct pair pair) {
  if (neighbours == ORACLE_ZERO_OUT) pair.y[1] = NAN;
  double found = share(neighbours, q, &pair);
  CHECK(found <= 1);
  CHECK_NEAR(found, 1, 1e-3);
}

/* Nearly opposite rows, far longer than the cap. The predictors of both are large for another class than theirs, so
 * that slopes are e_k - e_y: the same for both. */
static void worst_gradient(enum oracle_neighbours neighbours, size_t n, double size, double clip) {
  struct pair p = base_pair(n, size);
  p.clip = clip;
  p.own = clip < 1 ? 0.6 : 0;
  p.w[SIDE] = 3e3;
  for (int side = 0; side < 2; side++) p.row[side][1] = side ? -1 : 1;
  tight(neighbours, GRADIENT, p);
  tight(neighbours, PLAIN, p);
}

static void worst_pairs(enum oracle_neighbours neighbours, size_t n) {
  struct pair counts = base_pair(n, 1), matrix = base_pair(n, 300), moments = base_pair(n, 1);
  moments.row[0][0] = 1e6;
  moments.row[1][0] = -1e6;
  tight(neighbours, MOMENTS, moments);
  counts.y[1] = class_of(2);
  tight(neighbours, COUNTS, counts);
  for (double clip = 0.2; clip < 8; clip *= 5) {
    worst_gradient(neighbours, n, 12, clip);
    worst_gradient(neighbours, n, 300, clip);
  }
  matrix.row[0][0] = matrix.row[1][1] = 1;
  tight(neighbours, MATRIX, matrix);
}

/* ---- any pair ---- */

static double far_number(double size) { return size * exp(2 * ctest_normal()) * fixture_sign(); }

static double any_class(void) { return class_of((size_t)(K * ctest_uniform())); }

static struct pair random_pair(enum oracle_neighbours neighbours) {
  struct pair p = base_pair(3 + (size_t)(17 * ctest_uniform()), 1);
  p.cap = exp(2 * ctest_uniform() - 1);
  p.clip = exp(3 * ctest_uniform() - 2);
  p.own = ctest_uniform() < 0.5 ? 0 : ctest_uniform() * p.cap;
  p.constant = exp(2 * ctest_uniform() - 1);
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = exp(2 * ctest_normal());
    p.centre[j] = 2 * ctest_uniform() - 1;
    p.row[0][j] = far_number(1);
    p.row[1][j] = ctest_uniform() < 0.3 ? -p.row[0][j] : far_number(1);
  }
  for (size_t j = 0; j < DIM; j++) p.w[j] = far_number(0.3);
  for (int k = 0; k < 2; k++) {
    p.y[k] = ctest_uniform() < 0.2 ? NAN : any_class();
    p.weight[k] = ctest_uniform() < 0.5 ? 1 : ctest_uniform();
  }
  if (neighbours == ORACLE_ZERO_OUT) p.y[1] = NAN;
  return p;
}

static void random_pairs(enum oracle_neighbours neighbours, enum quantity q) {
  double worst = 0;
  for (int i = 0; i < ctest_size(1000, 100); i++) {
    struct pair p = random_pair(neighbours);
    double found = share(neighbours, q, &p);
    worst = isnan(found) ? INFINITY : fmax(worst, found);
  }
  CHECK(worst <= 1);
  CHECK(worst > 0.5);
}

/* ---- change over sensitivity ---- */

static const struct query *const queries[] = {&query_class_counts, &query_moments, &query_class_gradient,
                                              &query_gradient, &query_weighted};

static struct ask ask_of(enum quantity q, const struct pair *p) {
  static const double ones[P] = {1, 1, 1};
  const double *at = q < GRADIENT ? NULL : p->w;
  return (struct ask){.at = at, .clip = p->clip, .cap = q == GRADIENT ? p->own : 0, .most = ones};
}

static size_t numbers_of(enum quantity q) {
  static const size_t numbers[] = {
      [COUNTS] = K, [MOMENTS] = 2 * P + 1, [GRADIENT] = DIM, [PLAIN] = DIM, [MATRIX] = SIDE * SIDE};
  return numbers[q];
}

static struct coordinates_spec spec_of(const struct pair *p) {
  return (struct coordinates_spec){.p = P,
                                   .intercept = 1,
                                   .weighted = 1,
                                   .radius = 1.5,
                                   .constant = p->constant,
                                   .cap = p->cap,
                                   .bound = sqrt(2) * p->cap,
                                   .scale = p->scale,
                                   .prior = p->scale,
                                   .spread = p->scale,
                                   .centre = p->centre,
                                   .outputs = K};
}

/* The sum over n and its sensitivity; zero where something is refused. */
static double ask(struct oracle *o, enum quantity q, const struct pair *p, const struct coordinates *c,
                  const double *weight, double *answer) {
  const struct ask what = ask_of(q, p);
  struct scope *s = oracle_all(o);
  int status = oracle_set_weights(o, weight, NULL, 0);
  if (status == BASE_OK && q >= GRADIENT) status = oracle_move(o, c);
  if (status == BASE_OK) status = release_check(s, queries[q], &what);
  if (status == BASE_OK) status = mean_of(s, queries[q], &what, answer);
  return status == BASE_OK ? queries[q]->sensitivity(s, &what, 0) : 0;
}

static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *p) {
  double x[MOST_ROWS * P], y[MOST_ROWS], weight[MOST_ROWS], answers[2][DIM] = {{0}}, change = 0, sensitivity = 0;
  struct loss *loss;
  if (loss_create("multinomial", K, &loss) != BASE_OK) return INFINITY;
  for (int k = 0; k < 2; k++) {
    const struct coordinates_spec spec = spec_of(p);
    struct data *d = NULL;
    struct coordinates *c;
    struct fixture_arrays arrays;
    struct oracle *o;
    for (size_t i = 0; i < p->n; i++) {
      for (size_t j = 0; j < P; j++) x[i + j * p->n] = i == 0 ? p->row[k][j] : (double)((i + j) % 3) - 1;
      y[i] = i == 0 ? p->y[k] : class_of(i % K);
      weight[i] = i == 0 ? p->weight[k] : 1;
    }
    if (fixture_data(x, p->n, P, 1, 1.5, y, &arrays, &d) != BASE_OK) return INFINITY;
    if (coordinates_create(&spec, &c) != BASE_OK) return INFINITY;
    if (open_oracle(d, loss, NULL, &ctest_entropy, neighbours, &o) != BASE_OK) return INFINITY;
    sensitivity = ask(o, q, p, c, weight, answers[k]);
    oracle_free(o);
    coordinates_free(c);
    data_free(d);
    fixture_free(&arrays);
  }
  loss_free(loss);
  for (size_t i = 0; i < numbers_of(q); i++) change = hypot(change, answers[0][i] - answers[1][i]);
  return change / sensitivity;
}

/* ---- values ---- */

/* Of one record with this weight, class and row. */
static void add_expected(const struct pair *p, long double v, size_t y, const long double *z, long double length,
                         long double want[QUANTITIES][DIM]) {
  long double slope[K], total = 0, norm = 0, limit = fminl(1, p->cap / length);
  for (size_t k = 0; k < K; k++) {
    slope[k] = 0;
    for (size_t j = 0; j < SIDE; j++) slope[k] += p->w[j + k * SIDE] * z[j];
    total += slope[k] = expl(slope[k]);
  }
  for (size_t k = 0; k < K; k++) {
    slope[k] = slope[k] / total - (k == y);
    norm += slope[k] * slope[k];
  }
  long double clip = fminl(1, p->clip / sqrtl(norm));
  for (size_t k = 0; k < K; k++) {
    for (size_t j = 0; j < SIDE; j++) {
      want[GRADIENT][j + k * SIDE] += v * z[j] * slope[k] * clip * limit;
      want[PLAIN][j + k * SIDE] += v * z[j] * slope[k] * limit;
    }
  }
  for (size_t i = 0; i < SIDE; i++) {
    for (size_t j = 0; j < SIDE; j++) want[MATRIX][i + j * SIDE] += z[i] * z[j] * limit * limit;
  }
  want[COUNTS][y] += v;
}

/* Some records are null, some without a class, and some rows long. */
static void values_by_definition(int weighted) {
  enum { N = 1500 };
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y), *weight = base_alloc(N, sizeof *weight);
  long double want[QUANTITIES][DIM] = {{0}}, z[SIDE];
  struct pair p = base_pair(N, 1);
  struct fixture f = {.x = x, .y = y};
  struct coordinates *c;
  struct loss *loss;
  double answer[DIM];
  p.constant = 0.5;
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = 1 + (double)j;
    p.centre[j] = 0.1 * (double)j;
  }
  for (size_t j = 0; j < DIM; j++) p.w[j] = 0.3 * (double)(j % 5) - 0.5;
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < P; j++) x[i + j * N] = ctest_normal();
    y[i] = i % 50 == 4 ? NAN : any_class();
    weight[i] = ctest_uniform();
  }
  x[7] = NAN;
  CHECK(loss_create("multinomial", K, &loss) == BASE_OK);
  CHECK(fixture_data(x, N, P, 1, 1.5, y, &f.arrays, &f.data) == BASE_OK);
  CHECK(open_oracle(f.data, loss, NULL, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) == BASE_OK);
  const struct coordinates_spec spec = spec_of(&p);
  CHECK(coordinates_create(&spec, &c) == BASE_OK);
  CHECK(oracle_set_weights(f.oracle, weighted ? weight : NULL, NULL, 0) == BASE_OK);
  for (size_t i = 0; i < N; i++) {
    if (!(f.data->clip[i] > 0)) continue;
    long double length = fixture_moved(f.data, x, &spec, i, z);
    add_expected(&p, weighted ? weight[i] : 1, (size_t)(K * y[i] - 0.5), z, length, want);
  }
  for (int q = COUNTS; q < QUANTITIES; q++) {
    const struct ask what = ask_of(q, &p);
    if (q == MOMENTS) continue; /* test_barrier_weighted() */
    if (q == GRADIENT) CHECK(oracle_move(f.oracle, c) == BASE_OK);
    CHECK(mean_of(oracle_all(f.oracle), queries[q], &what, answer) == BASE_OK);
    for (size_t j = 0; j < numbers_of(q); j++) CHECK_NEAR(answer[j], (double)(want[q][j] / N), 1e-12);
  }
  fixture_close(&f);
  coordinates_free(c);
  loss_free(loss);
  base_free(weight);
}

/* ---- one output ---- */

/* With one output there are two classes. The first record changes its class, or becomes null. */
static void two_classes(enum oracle_neighbours neighbours) {
  enum { N = 40 };
  double x[N * P], y[N], weight[N], answer[2][2], change = 0;
  for (int k = 0; k < 2; k++) {
    double want[2] = {0};
    struct fixture f = {.x = base_alloc(N * P, sizeof *x), .y = base_alloc(N, sizeof *y)};
    struct loss *loss;
    for (size_t i = 0; i < N; i++) {
      for (size_t j = 0; j < P; j++) x[i + j * N] = (double)((i * (j + 3)) % 7) / 7;
      y[i] = i % 3 == 0 ? 1 : -1;
      weight[i] = i == 0 ? 1 : (double)(i % 5) / 4;
    }
    if (k == 1) y[0] = neighbours == ORACLE_ZERO_OUT ? NAN : -1;
    x[7] = NAN;
    memcpy(f.x, x, sizeof x);
    memcpy(f.y, y, sizeof y);
    CHECK(loss_create("logistic", 0, &loss) == BASE_OK);
    CHECK(fixture_data(f.x, N, P, 1, 1.5, f.y, &f.arrays, &f.data) == BASE_OK);
    CHECK(open_oracle(f.data, loss, NULL, &ctest_entropy, neighbours, &f.oracle) == BASE_OK);
    CHECK(oracle_set_weights(f.oracle, weight, NULL, 0) == BASE_OK);
    for (size_t i = 0; i < N; i++) {
      if (i != 7 && !isnan(y[i])) want[y[i] > 0] += weight[i] / N;
    }
    const struct ask what = {.at = NULL};
    CHECK(release_check(oracle_all(f.oracle), &query_class_counts, &what) == BASE_OK);
    CHECK(mean_of(oracle_all(f.oracle), &query_class_counts, &what, answer[k]) == BASE_OK);
    for (size_t j = 0; j < 2; j++) CHECK_NEAR(answer[k][j], want[j], 1e-12);
    double sensitivity = query_class_counts.sensitivity(oracle_all(f.oracle), &what, 0);
    CHECK_NEAR(sensitivity, (neighbours == ORACLE_ZERO_OUT ? 1 : sqrt(2)) / N, 1e-9);
    fixture_close(&f);
    loss_free(loss);
  }
  for (size_t j = 0; j < 2; j++) change = hypot(change, answer[0][j] - answer[1][j]);
  CHECK_NEAR(change * N, neighbours == ORACLE_ZERO_OUT ? 1 : sqrt(2), 1e-9);
}

/* ---- refusals ---- */

/* Coordinates of another number of outputs, or of rows that are clipped; slopes in the rows' own coordinates; clips
 * that are no use. Nothing is charged. */
static void refused(void) {
  double answer[DIM], sd[DIM];
  for (int k = 0; k < 5; k++) { /* not moved, moved, for other outputs, one output, for clipped rows */
    struct pair p = base_pair(20, 1);
    struct coordinates_spec spec = spec_of(&p);
    struct fixture f;
    struct coordinates *c;
    struct loss *loss;
    fixture_open(&f, "logistic", 20, P, 1, ORACLE_REPLACE_ONE, 1);
    CHECK(loss_create("multinomial", K, &loss) == BASE_OK);
    if (k != 3) {
      oracle_free(f.oracle);
      CHECK(open_oracle(f.data, loss, f.ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) == BASE_OK);
    }
    spec.radius = 1;
    if (k == 2) spec.outputs = K - 1;
    if (k == 3) spec.outputs = 0;
    if (k == 4) spec.weighted = 0, spec.cap = 1;
    CHECK(coordinates_create(&spec, &c) == BASE_OK);
    if (k > 0) CHECK((oracle_move(f.oracle, c) == BASE_OK) == (k == 1 || k == 3));
    for (int fault = 0; fault < 6; fault++) {
      const double caps[] = {0, 0, 0, -1, NAN, 1.01 * p.cap};
      const struct ask what = {.at = p.w, .clip = fault == 1 ? 0 : fault == 2 ? NAN : 1, .cap = caps[fault]};
      const struct answer to = {answer, sd, NULL};
      if (k != 1 || fault > 0) {
        CHECK(release(oracle_all(f.oracle), &query_class_gradient, &what, 0.1, to) == BASE_ERR_ARGUMENT);
      }
    }
    CHECK(ledger_length(f.ledger) == 0);
    fixture_close(&f);
    coordinates_free(c);
    loss_free(loss);
  }
}
