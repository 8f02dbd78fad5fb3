/*
 * Sensitivities of moments and of weighted rows, measured: no pair of neighbours exceeds them, however long its rows,
 * and the pairs of the proofs come within 0.1 % (proofs: sensitivity-moments, row-slopes, tilt, sensitivity-weighted,
 * damped-rows).
 * And the rounding errors of sums that are mapped to other coordinates (proofs: rounding).
 */
#include "fixture.h"

enum { P = 4, MOST = P + 1, MOST_ROWS = 20 };

enum quantity { MOMENTS, GRADIENT, MATRIX, DAMPED_GRADIENT, HESSIAN, PRODUCTS, QUANTITIES };

/* Two data sets that differ in their first record, and what they are asked. */
struct pair {
  const char *loss;
  size_t n;
  int intercept;
  double row[2][P], y[2]; /* of the first record; y = 0 for a null record */
  double w[MOST], most[P];
  double scale[P], centre[P], end[P], constant, cap, bound, radius, tilt, shortest;
};

static void random_pairs(enum oracle_neighbours neighbours, enum quantity q, int intercept);
static void worst_pairs(enum oracle_neighbours neighbours, size_t n);
static void tilted_pairs(enum oracle_neighbours neighbours, size_t n);
static void damped_pairs(enum oracle_neighbours neighbours, size_t n);
static void rounding(void);
static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *pair);

void test_barrier_weighted(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      for (int q = MOMENTS; q < QUANTITIES; q++) {
        random_pairs(neighbours, q, 0);
        random_pairs(neighbours, q, 1);
      }
      tilted_pairs(neighbours, 9);
      if (fixture_storage == FIXTURE_CODES) continue; /* half of its columns are indicators */
      for (size_t n = 3; n <= MOST_ROWS; n += 17) {
        worst_pairs(neighbours, n);
        damped_pairs(neighbours, n);
      }
    }
  }
  rounding();
}

/* ---- the pairs of the proofs ---- */

static struct pair base_pair(size_t n, double size) {
  struct pair p = {.loss = "logistic", .n = n, .y = {1, 1}, .cap = 1.2, .bound = 0.6};
  p.constant = p.radius = p.shortest = 1;
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = size;
    p.most[j] = 1;
    p.end[j] = NAN;
  }
  return p;
}

static void tight(enum oracle_neighbours neighbours, enum quantity q, struct pair pair) {
  if (neighbours == ORACLE_ZERO_OUT) pair.y[1] = 0;
  double found = share(neighbours, q, &pair);
  CHECK(found <= 1);
  CHECK_NEAR(found, 1, 1e-3);
}

/* Rows outside the radius among them: what counts is the clipped row. */
static void worst_pairs(enum oracle_neighbours neighbours, size_t n) {
  static const double sizes[] = {1.6, 30, 150}; /* of rows in the coordinates */
  struct pair moments = base_pair(n, 1);
  moments.row[0][0] = 7;
  moments.row[1][0] = -7; /* the mean moves by 2 / n, the second moment not at all */
  tight(neighbours, MOMENTS, moments);
  for (int k = 0; k < 3; k++) {
    struct pair slopes = base_pair(n, sizes[k]), matrix = slopes;
    double c = 0.01, s = sqrt(1 - c * c);
    for (int side = 0; side < 2; side++) { /* both margins far on the steep side, rows nearly opposite */
      slopes.row[side][0] = -5 * c;
      slopes.row[side][1] = (side ? -5 : 5) * s;
    }
    slopes.w[0] = 1e4 / sizes[k];
    tight(neighbours, GRADIENT, slopes);
    slopes.loss = "sigmoid"; /* its slope is steepest at zero: .25, so that short rows do not reach the bound */
    slopes.w[0] = 0;
    if (k > 0) tight(neighbours, GRADIENT, slopes);
    matrix.row[0][0] = matrix.row[1][1] = 3;
    tight(neighbours, MATRIX, matrix);
    matrix.cap = 0.5;
    tight(neighbours, MATRIX, matrix);
  }
}

/* Rows of length 150 in the coordinates: nearly opposite, or orthogonal, with margins far on the steep side, and for
 * the Hessian rows of length 90, whose terms are as large as those of shorter ones. */
static void damped_pairs(enum oracle_neighbours neighbours, size_t n) {
  struct pair slopes = base_pair(n, 30), squares, curved;
  double c = 0.01, s = sqrt(1 - c * c);
  slopes.bound = 30;
  slopes.w[0] = 1e3;
  squares = curved = slopes;
  for (int side = 0; side < 2; side++) {
    slopes.row[side][0] = squares.row[side][0] = -5 * c;
    slopes.row[side][1] = (side ? -5 : 5) * s;
  }
  squares.row[0][1] = squares.row[1][2] = 5 * s;
  tight(neighbours, DAMPED_GRADIENT, slopes);
  tight(neighbours, PRODUCTS, squares);
  for (int k = 0; k < 3; k++) {
    curved.w[0] = 0; /* the second derivative is largest there */
    curved.row[0][1] = curved.row[1][2] = 3;
    curved.cap = (double[]){0.3, 4, 30}[k];
    tight(neighbours, HESSIAN, curved);
  }
}

/* With a tilt, for rows of length 5 whose last two columns have their end at zero. */
static struct pair tilted_pair(size_t n, double tilt) {
  struct pair p = base_pair(n, 10);
  p.radius = 2;
  p.tilt = tilt;
  p.w[0] = 1e7; /* the first column moves all margins far to the steep side */
  p.row[0][0] = p.row[1][0] = -1e-3;
  p.end[2] = p.end[3] = 0;
  return p;
}

static void set_level(double *row, int level) {
  int codes = fixture_storage == FIXTURE_CODES;
  row[2] = codes ? (level + 0.5) / 7 : level == 1;
  row[3] = level == 2;
}

/* Two rows of the heavier class with different levels; two of different classes with one level; opposite rows of
 * the heavier class in a column without an end; and one row that lies beyond an end. */
static void tilted_pairs(enum oracle_neighbours neighbours, size_t n) {
  struct pair levels = tilted_pair(n, M_SQRT2 - 1), classes = tilted_pair(n, 0.4), numeric = classes, beyond = classes;
  set_level(levels.row[0], 1);
  set_level(levels.row[1], 2);
  tight(neighbours, GRADIENT, levels);
  if (neighbours == ORACLE_ZERO_OUT) return;
  for (int k = 0; k < 2; k++) set_level(classes.row[k], 1);
  classes.y[1] = -1;
  classes.row[1][0] = 1e-3;
  tight(neighbours, GRADIENT, classes);
  numeric.row[0][1] = 1;
  numeric.row[1][1] = -1;
  tight(neighbours, GRADIENT, numeric);
  if (fixture_storage == FIXTURE_CODES) return;
  beyond.row[0][2] = 1;
  beyond.row[1][2] = -1;
  tight(neighbours, GRADIENT, beyond);
}

/* ---- any pair ---- */

static struct pair random_pair(enum oracle_neighbours neighbours, int intercept) {
  struct pair p = base_pair(3 + (size_t)(17 * ctest_uniform()), 1);
  double size = exp(6 * ctest_uniform() - 3), far = exp(4 * ctest_uniform() - 2);
  p.intercept = intercept;
  p.radius = ctest_uniform() < 0.5 ? 1 : exp(2 * ctest_uniform() - 1);
  p.cap = exp(2 * ctest_uniform() - 1);
  p.bound = exp(4 * ctest_uniform() - 3);
  p.constant = exp(2 * ctest_uniform() - 1);
  p.tilt = ctest_uniform() < 0.5 ? 0 : ctest_uniform() - 0.5;
  p.shortest = size * exp(2 * ctest_uniform() - 1);
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = size * exp(2 * ctest_normal());
    p.centre[j] = intercept ? 2 * ctest_uniform() - 1 : 0;
    p.end[j] = fixture_end(p.centre[j], intercept);
    p.most[j] = ctest_uniform() < 0.5 ? pow(ctest_uniform(), 4) : ctest_uniform() < 0.5;
    p.row[0][j] = far * ctest_normal();
    p.row[1][j] = ctest_uniform() < 0.3 ? -p.row[0][j] : far * ctest_normal();
  }
  for (size_t j = 0; j < MOST; j++) p.w[j] = exp(6 * ctest_uniform() - 3) * ctest_normal();
  for (int k = 0; k < 2; k++) p.y[k] = fixture_sign();
  if (neighbours == ORACLE_ZERO_OUT) p.y[1] = 0;
  return p;
}

static void random_pairs(enum oracle_neighbours neighbours, enum quantity q, int intercept) {
  double worst = 0;
  for (int i = 0; i < ctest_size(1500, 300); i++) {
    struct pair p = random_pair(neighbours, intercept);
    if (q >= DAMPED_GRADIENT) p.tilt = 0;
    if (p.tilt == 0 && i % 2) p.loss = "sigmoid";
    if (q == HESSIAN && i % 4 < 2) p.w[0] = p.w[1] = p.w[2] = p.w[3] = p.w[4] = 0;
    double found = share(neighbours, q, &p);
    worst = isnan(found) ? INFINITY : fmax(worst, found);
  }
  CHECK(worst <= 1);
  CHECK(worst > 0.5);
}

/* ---- change over sensitivity ---- */

static int build(const struct pair *p, int which, double *x, double *y, struct fixture_arrays *arrays,
                 struct data **out) {
  for (size_t i = 0; i < p->n; i++) {
    for (size_t j = 0; j < P; j++) x[i + j * p->n] = i == 0 ? p->row[which][j] : (double)((i + j) % 3) - 1;
    y[i] = i % 2 ? 1 : -1;
  }
  y[0] = p->y[which] == 0 ? NAN : p->y[which];
  return fixture_data(x, p->n, P, p->intercept, p->radius, y, arrays, out);
}

static size_t ask(struct oracle *o, enum quantity q, const struct pair *p, const struct coordinates *c, double *answer,
                  double *sensitivity) {
  struct scope *s = oracle_all(o);
  size_t dim = data_dim(o->engine.rows);
  int status = q == MOMENTS ? BASE_OK : oracle_move(o, c);
  if (status == BASE_OK && q == MOMENTS) status = sums_moments(s, p->most, answer);
  if (status == BASE_OK && (q == GRADIENT || q == DAMPED_GRADIENT)) status = sums_gradient(s, p->w, answer);
  if (status == BASE_OK && q == HESSIAN) status = sums_hessian(s, p->w, answer);
  if (status == BASE_OK && q == PRODUCTS) status = sums_products(s, p->w, answer);
  if (status == BASE_OK && q == MATRIX) status = sums_weighted(s, answer);
  *sensitivity = q == MOMENTS    ? sensitivity_moments(s)
                 : q == MATRIX   ? sensitivity_weighted(s)
                 : q == HESSIAN  ? sensitivity_hessian(s, p->w)
                 : q == PRODUCTS ? sensitivity_products(s, p->w)
                                 : sensitivity_gradient(s, p->w);
  if (status != BASE_OK) *sensitivity = 0;
  return q == MOMENTS ? 2 * P + (size_t)p->intercept : q == GRADIENT || q == DAMPED_GRADIENT ? dim : dim * dim;
}

static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *p) {
  double x[MOST_ROWS * P], y[MOST_ROWS], answers[2][MOST * MOST], change = 0, sensitivity = 0;
  size_t numbers = 0;
  for (int k = 0; k < 2; k++) {
    const struct coordinates_spec spec = {.p = P,
                                          .intercept = p->intercept,
                                          .weighted = 1,
                                          .damped = q >= DAMPED_GRADIENT,
                                          .radius = p->radius,
                                          .constant = p->constant,
                                          .cap = p->cap,
                                          .bound = p->bound,
                                          .scale = p->scale,
                                          .prior = p->scale,
                                          .spread = p->scale,
                                          .centre = p->centre,
                                          .tilt = p->tilt,
                                          .shortest = p->shortest,
                                          .end = p->end};
    struct data *d = NULL;
    struct coordinates *c;
    struct fixture_arrays arrays;
    struct oracle *o;
    if (build(p, k, x, y, &arrays, &d) != BASE_OK || coordinates_create(&spec, &c) != BASE_OK) return INFINITY;
    if (open_oracle(d, loss_find(p->loss), NULL, &ctest_entropy, neighbours, &o) != BASE_OK) return INFINITY;
    numbers = ask(o, q, p, c, answers[k], &sensitivity);
    oracle_free(o);
    coordinates_free(c);
    data_free(d);
    fixture_free(&arrays);
  }
  for (size_t i = 0; i < numbers; i++) change = hypot(change, answers[0][i] - answers[1][i]);
  return change / sensitivity;
}

/* ---- rounding ---- */

/* Rows that nearly cancel with their centres: what is rounded in a sum of rows is blown up by the map. The error is
 * within its bound, and would not be within one that forgets the map. */
static void rounding(void) {
  enum { N = 3000 };
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y), w[MOST] = {0}, g[MOST];
  long double want[MOST] = {0}, z[MOST];
  struct fixture_coordinates c;
  struct fixture f = {.x = x, .y = y};
  fixture_storage = FIXTURE_DENSE;
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < P; j++) x[i + j * N] = 2 * (0.3 + 1e-8 * ctest_normal());
    y[i] = fixture_sign();
  }
  CHECK(data_create(x, N, P, 1, 2, y, &f.data) == BASE_OK);
  CHECK(open_oracle(f.data, loss_find("logistic"), NULL, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) == BASE_OK);
  CHECK(fixture_coordinates(f.data, 3e7, 0, 1, 1, &c) == BASE_OK);
  coordinates_free(c.made);
  for (size_t j = 0; j < P; j++) c.centre[j] = 0.3;
  CHECK(coordinates_create(&c.spec, &c.made) == BASE_OK);
  CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
  CHECK(sums_gradient(oracle_all(f.oracle), w, g) == BASE_OK);
  for (size_t i = 0; i < N; i++) {
    fixture_moved(f.data, x, &c.spec, i, z);
    for (size_t j = 0; j < MOST; j++) want[j] -= y[i] * z[j] / (2 * N);
  }
  double error = 0, bound = (sensitivity_gradient(oracle_all(f.oracle), w) - 1.0 / N) / 2; /* w = 0 */
  for (size_t j = 0; j < MOST; j++) error = hypot(error, (double)(g[j] - want[j]));
  CHECK(error <= bound);
  CHECK(!ctest_extended() || error > bound / model_stretch(&f.oracle->model));
  fixture_close(&f);
  coordinates_free(c.made);
}
