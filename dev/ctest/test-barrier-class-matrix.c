/*
 * What intervals of several classes release of damped rows, measured: no pair of neighbours exceeds their
 * sensitivities, however long its rows and whatever its classes, and the pairs of the proofs come within 0.1 % (proofs:
 * sensitivity-class-matrices, damped-rows). Their values by definition; what is refused.
 */
#include "fixture.h"

enum { P = 3, SIDE = P + 1, K = 4, DIM = K * SIDE, MOST_ROWS = 20, NUMBERS = DIM * DIM, ENDS = 4 };

enum quantity { GRADIENT, HESSIAN, PRODUCTS, SIZES, QUANTITIES };

static const struct query *const queries[] = {&query_gradient, &query_class_hessian, &query_class_products,
                                              &query_residual_counts};
static const size_t numbers[] = {DIM, NUMBERS, NUMBERS, ENDS};
static const double ends[ENDS] = {0.1, 0.3, 0.7, 1.1};

/* Two data sets that differ in their first record, and what they are asked. */
struct pair {
  size_t n;
  double row[2][P], y[2]; /* of the first record; NaN for a null record */
  double weight[2];
  double w[DIM];
  double scale[P], centre[P], constant, cap, bound;
};

static void random_pairs(enum oracle_neighbours neighbours, enum quantity q);
static void worst_pairs(enum oracle_neighbours neighbours, size_t n);
static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *pair);
static void values_by_definition(int weighted);
static void refused(void);

void test_barrier_class_matrix(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      for (int q = GRADIENT; q < QUANTITIES; q++) random_pairs(neighbours, q);
      if (fixture_storage == FIXTURE_CODES) continue; /* half of its columns are indicators */
      for (size_t n = 3; n <= MOST_ROWS; n += 17) worst_pairs(neighbours, n);
    }
    for (int weighted = 0; weighted <= 1; weighted++) values_by_definition(weighted);
  }
  fixture_storage = FIXTURE_DENSE;
  refused();
}

static double class_of(size_t k) { return (double)(k + 1) / K; }

static struct pair base_pair(size_t n, double size) {
  struct pair p = {
      .n = n, .y = {class_of(0), class_of(0)}, .weight = {1, 1}, .constant = 0.1, .cap = 1.2, .bound = 0.9};
  for (size_t j = 0; j < P; j++) p.scale[j] = size;
  return p;
}

/* ---- worst pairs: rows far longer than the cap ---- */

static void tight(enum oracle_neighbours neighbours, enum quantity q, struct pair pair) {
  if (neighbours == ORACLE_ZERO_OUT) pair.y[1] = NAN;
  double found = share(neighbours, q, &pair);
  CHECK(found <= 1);
  CHECK_NEAR(found, 1, 1e-3);
}

/* Slopes are e_k - e_y, for opposite rows and for orthogonal ones; two classes have the probability one half each. */
static void worst_pairs(enum oracle_neighbours neighbours, size_t n) {
  struct pair opposite = base_pair(n, 12), orthogonal = base_pair(n, 12), half = base_pair(n, 12);
  opposite.w[SIDE] = 400;
  opposite.row[0][1] = 1;
  opposite.row[1][1] = -1;
  tight(neighbours, GRADIENT, opposite);
  orthogonal.w[SIDE] = 400;
  orthogonal.row[0][0] = orthogonal.row[1][1] = 1;
  tight(neighbours, PRODUCTS, orthogonal);
  half.w[SIDE] = half.w[2 * SIDE] = 400;
  half.row[0][0] = half.row[1][1] = 1;
  tight(neighbours, HESSIAN, half);
}

/* ---- any pair ---- */

static double far_number(double size) { return size * exp(2 * ctest_normal()) * fixture_sign(); }

static double any_class(void) { return class_of((size_t)(K * ctest_uniform())); }

static struct pair random_pair(enum oracle_neighbours neighbours) {
  struct pair p = base_pair(3 + (size_t)(17 * ctest_uniform()), 1);
  p.cap = exp(2 * ctest_uniform() - 1);
  p.bound = exp(2 * ctest_uniform() - 1);
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
  CHECK(worst > 0.4);
}

/* ---- change over sensitivity ---- */

static struct ask ask_of(const double *w) {
  return (struct ask){.at = w, .k = ENDS, .step = ends, .clip = 1.3, .cap = 1.1};
}

static struct coordinates_spec spec_of(const struct pair *p) {
  return (struct coordinates_spec){.p = P,
                                   .intercept = 1,
                                   .weighted = 1,
                                   .damped = 1,
                                   .radius = 1.5,
                                   .constant = p->constant,
                                   .cap = p->cap,
                                   .bound = p->bound,
                                   .scale = p->scale,
                                   .prior = p->scale,
                                   .spread = p->scale,
                                   .centre = p->centre,
                                   .outputs = K};
}

/* The sum over n and its sensitivity; zero where something is refused. */
static double ask(struct oracle *o, enum quantity q, const struct pair *p, const struct coordinates *c,
                  const double *weight, double *answer) {
  const struct ask what = ask_of(p->w);
  struct scope *s = oracle_all(o);
  int status = oracle_set_weights(o, weight, NULL, 0);
  if (status == BASE_OK) status = oracle_move(o, c);
  if (status == BASE_OK) status = release_check(s, queries[q], &what);
  if (status == BASE_OK) status = mean_of(s, queries[q], &what, answer);
  return status == BASE_OK ? queries[q]->sensitivity(s, &what, 0) : 0;
}

static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *p) {
  static double answers[2][NUMBERS];
  double x[MOST_ROWS * P], y[MOST_ROWS], weight[MOST_ROWS], change = 0, sensitivity = 0;
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
  for (size_t i = 0; i < numbers[q]; i++) change = hypot(change, answers[0][i] - answers[1][i]);
  return change / sensitivity;
}

/* ---- values ---- */

static void add_sizes(long double size, long double v, long double *want) {
  for (size_t j = 0; j < ENDS; j++) {
    long double below = j == 0 ? (size <= ends[0]) : (size - ends[j - 1]) / (ends[j] - ends[j - 1]);
    long double above = j == ENDS - 1 ? (size >= ends[j]) : (ends[j + 1] - size) / (ends[j + 1] - ends[j]);
    if (j > 0 && size < ends[j - 1]) below = 0;
    if (j < ENDS - 1 && size > ends[j + 1]) above = 0;
    want[j] += v * (size < ends[j] ? fminl(1, below) : fminl(1, above));
  }
}

/* Of one record with this weight, class and row. */
static void add_expected(const struct pair *p, long double v, size_t y, const long double *z, long double length,
                         long double (*want)[NUMBERS]) {
  long double part[K], slope[K], total = 0, norm = 0, damp = powl(fminl(1, p->cap / length), 2);
  for (size_t k = 0; k < K; k++) {
    part[k] = 0;
    for (size_t j = 0; j < SIDE; j++) part[k] += p->w[j + k * SIDE] * z[j];
    total += part[k] = expl(part[k]);
  }
  for (size_t k = 0; k < K; k++) {
    part[k] /= total;
    slope[k] = part[k] - (k == y);
    norm += slope[k] * slope[k];
  }
  long double clip = v * fminl(1, p->bound / length / sqrtl(norm));
  const struct ask what = ask_of(NULL);
  add_sizes(fminl(sqrtl(norm), what.clip) * fminl(1, length / what.cap), v, want[SIZES]);
  for (size_t a = 0; a < DIM; a++) {
    size_t k = a / SIDE, i = a % SIDE;
    want[GRADIENT][a] += clip * slope[k] * z[i];
    for (size_t b = 0; b < DIM; b++) {
      size_t l = b / SIDE, j = b % SIDE;
      want[HESSIAN][a + b * DIM] += v * damp * part[k] * ((k == l) - part[l]) * z[i] * z[j];
      want[PRODUCTS][a + b * DIM] += clip * clip * slope[k] * slope[l] * z[i] * z[j];
    }
  }
}

/* Some records are null, some without a class, some rows long and some slopes clipped. */
static void values_by_definition(int weighted) {
  enum { N = 1500 };
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y), *weight = base_alloc(N, sizeof *weight);
  long double(*want)[NUMBERS] = base_alloc(QUANTITIES, sizeof *want), z[SIDE];
  double *answer = base_alloc(NUMBERS, sizeof *answer);
  struct pair p = base_pair(N, 1);
  struct fixture f = {.x = x, .y = y};
  struct coordinates *c;
  struct loss *loss;
  for (size_t q = 0; q < QUANTITIES; q++) {
    for (size_t j = 0; j < NUMBERS; j++) want[q][j] = 0;
  }
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
  CHECK(oracle_move(f.oracle, c) == BASE_OK);
  for (int q = GRADIENT; q < QUANTITIES; q++) {
    const struct ask what = ask_of(p.w);
    CHECK(mean_of(oracle_all(f.oracle), queries[q], &what, answer) == BASE_OK);
    for (size_t j = 0; j < numbers[q]; j++) CHECK_NEAR(answer[j], (double)(want[q][j] / N), 1e-12);
  }
  fixture_close(&f);
  coordinates_free(c);
  loss_free(loss);
  base_free(weight);
  base_free(want);
  base_free(answer);
}

/* ---- refusals ---- */

/* Matrices of rows that are not moved, or not damped, or of one output; those of one output of several. Nothing is
 * charged. */
static void refused(void) {
  static double answer[NUMBERS];
  double sd;
  for (int k = 0; k < 4; k++) { /* damped, not moved, not damped, one output */
    struct pair p = base_pair(20, 1);
    struct coordinates_spec spec = spec_of(&p);
    struct fixture f;
    struct coordinates *c;
    struct loss *loss;
    const struct ask what = {.at = p.w};
    const struct answer to = {answer, &sd, NULL};
    fixture_open(&f, "logistic", 20, P, 1, ORACLE_REPLACE_ONE, 1);
    CHECK(loss_create("multinomial", K, &loss) == BASE_OK);
    if (k != 3) {
      oracle_free(f.oracle);
      CHECK(open_oracle(f.data, loss, f.ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) == BASE_OK);
    }
    spec.radius = 1;
    if (k == 2) spec.damped = 0;
    if (k == 3) spec.outputs = 0;
    CHECK(coordinates_create(&spec, &c) == BASE_OK);
    if (k != 1) CHECK(oracle_move(f.oracle, c) == BASE_OK);
    for (int q = HESSIAN; q <= PRODUCTS && k > 0; q++) {
      CHECK(release(oracle_all(f.oracle), queries[q], &what, 0.1, to) == BASE_ERR_ARGUMENT);
    }
    if (k != 3) {
      CHECK(release(oracle_all(f.oracle), &query_hessian, &what, 0.1, to) == BASE_ERR_ARGUMENT);
      CHECK(release(oracle_all(f.oracle), &query_products, &what, 0.1, to) == BASE_ERR_ARGUMENT);
    }
    CHECK(ledger_length(f.ledger) == 0);
    fixture_close(&f);
    coordinates_free(c);
    loss_free(loss);
  }
}
