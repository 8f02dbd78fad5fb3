/*
 * Sums of clipped residuals, moments of the response, and moments and matrix of columns by weights, measured: no pair
 * of neighbours exceeds their sensitivities, however long its rows, however large its residuals and whatever its
 * weights, and the pairs of the proofs come within 0.1 % (proofs: sensitivity-response, sensitivity-residual,
 * residual-products, residual-hessian, residual-counts, row-lengths, recalibration, sensitivity-moments,
 * sensitivity-weighted). Queries of residuals have the cap of the coordinates or one of their own.
 * Their values by definition; what is refused for a slope without a bound. Counts are of damped rows, too.
 */
#include "fixture.h"

enum { P = 4, MOST = P + 1, NUMBERS = MOST * MOST, MOST_ROWS = 20, ENDS = 4 };

static const char *loss; /* of the pairs and values */

enum quantity { RESPONSE, MOMENTS, GRADIENT, MEANS, LEVEL, COUNTS, MATRIX, PRODUCTS, HESSIAN, SIZES, LENGTHS,
                QUANTITIES };

/* Two data sets that differ in their first record, and what they are asked. */
struct pair {
  size_t n;
  double row[2][P], y[2]; /* of the first record; NaN for a null record */
  double weight[2], offset[2];
  double w[MOST], along[MOST], end[ENDS], most[P], clip;
  double scale[P], centre[P], constant, cap;
  double own, within; /* the query's cap, and the residuals that have a second derivative; zero: none */
};

static void random_pairs(enum oracle_neighbours neighbours, enum quantity q);
static void worst_pairs(enum oracle_neighbours neighbours, size_t n);
static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *pair);
static void values_by_definition(int weighted, double own, double within);
static void refused(void);

void test_barrier_residual(void) {
  static const char *const losses[] = {"squared", "poisson"};
  for (int i = 0; i < 2 * FIXTURE_STORAGES; i++) {
    loss = losses[i % 2];
    fixture_storage = i / 2;
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      for (int q = RESPONSE; q < QUANTITIES; q++) random_pairs(neighbours, q);
      if (fixture_storage == FIXTURE_CODES) continue; /* half of its columns are indicators */
      for (size_t n = 3; n <= MOST_ROWS; n += 17) worst_pairs(neighbours, n);
    }
    for (int weighted = 0; weighted <= 1; weighted++) {
      values_by_definition(weighted, 0, 0);
      values_by_definition(weighted, 2, 0.5);
    }
  }
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    loss = "logistic";
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      random_pairs(neighbours, COUNTS);
      random_pairs(neighbours, SIZES);
    }
  }
  fixture_storage = FIXTURE_DENSE;
  refused();
}

/* ---- the pairs of the proofs ---- */

static int is_damped(void) { return strcmp(loss, "logistic") == 0; }
static int is_count(void) { return strcmp(loss, "poisson") == 0; }

/* Of counts of at most one, whose mean is 1/2 where the intercept alone is not zero. */
static void set_mean(struct pair *p) { p->w[0] = is_count() ? log(0.5) / p->constant : 0; }

static struct pair base_pair(size_t n, double size) {
  struct pair p = {.n = n, .y = {1, 1}, .weight = {1, 1}, .clip = 0.1, .constant = 0.5, .cap = 1.2};
  for (size_t j = 0; j < P; j++) p.scale[j] = size, p.most[j] = 1;
  for (size_t j = 0; j < ENDS; j++) p.end[j] = 0.1 * (double)(j + 1);
  set_mean(&p);
  return p;
}

static void tight(enum oracle_neighbours neighbours, enum quantity q, struct pair pair) {
  if (neighbours == ORACLE_ZERO_OUT) pair.y[1] = NAN;
  double found = share(neighbours, q, &pair);
  CHECK(found <= 1);
  CHECK_NEAR(found, 1, 1e-3);
}

/* Nearly opposite rows, far longer than the cap, whose residuals are beyond the clip on the same side. */
static void worst_gradient(enum oracle_neighbours neighbours, size_t n, double size) {
  struct pair p = base_pair(n, size);
  p.constant = 0.01;
  set_mean(&p);
  for (int side = 0; side < 2; side++) p.row[side][1] = side ? -1 : 1;
  tight(neighbours, GRADIENT, p);
  p.own = 2;
  tight(neighbours, GRADIENT, p);
}

/* Nearly orthogonal rows, far longer than the cap, with residuals beyond the clip, and with means of counts. */
static void worst_matrix(enum oracle_neighbours neighbours, enum quantity q, size_t n) {
  struct pair p = base_pair(n, 12);
  p.constant = 0.01;
  set_mean(&p);
  for (int side = 0; side < 2; side++) p.row[side][side] = 1;
  tight(neighbours, q, p);
  p.own = 0.7;
  tight(neighbours, q, p);
}

static void worst_pairs(enum oracle_neighbours neighbours, size_t n) {
  struct pair response = base_pair(n, 1), means = base_pair(n, 10), counts = response, moments = response;
  struct pair matrix = base_pair(n, 30), lengths = matrix;
  response.y[1] = -1;
  tight(neighbours, RESPONSE, response);
  moments.row[0][0] = 700;
  moments.row[1][0] = -700;
  tight(neighbours, MOMENTS, moments);
  matrix.constant = 0.01;
  matrix.row[0][0] = matrix.row[1][1] = 3;
  tight(neighbours, MATRIX, matrix);
  worst_gradient(neighbours, n, 12);
  worst_gradient(neighbours, n, 300);
  worst_matrix(neighbours, PRODUCTS, n);
  worst_matrix(neighbours, HESSIAN, n);
  means.y[1] = -1; /* residuals of both signs beyond the clip, predictions f far to the same side */
  means.row[0][0] = means.row[1][0] = means.along[1] = 1;
  tight(neighbours, LEVEL, means);
  tight(neighbours, MEANS, means);
  counts.w[1] = 0;
  counts.y[0] = is_count() ? 0.4 : 0.1; /* at the first end, and beyond the last */
  tight(neighbours, COUNTS, counts);
  counts.clip = counts.end[ENDS - 1];
  counts.own = 0.1; /* less than the constant */
  tight(neighbours, SIZES, counts);
  lengths.row[1][0] = 1; /* far beyond the last end, and at the first, the constant */
  for (size_t j = 0; j < ENDS; j++) lengths.end[j] = 0.5 * (double)(j + 1);
  tight(neighbours, LENGTHS, lengths);
}

/* ---- any pair ---- */

static double far_number(double size) { return size * exp(2 * ctest_normal()) * fixture_sign(); }

static struct pair random_pair(enum oracle_neighbours neighbours) {
  struct pair p = base_pair(3 + (size_t)(17 * ctest_uniform()), 1);
  p.cap = exp(2 * ctest_uniform() - 1);
  p.clip = exp(3 * ctest_uniform() - 3);
  if (ctest_uniform() < 0.5) p.own = exp(4 * ctest_uniform() - 2);
  if (ctest_uniform() < 0.2) p.within = ctest_uniform();
  p.constant = exp(2 * ctest_uniform() - 1);
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = exp(2 * ctest_normal());
    p.most[j] = ctest_uniform();
    p.centre[j] = 2 * ctest_uniform() - 1;
    p.row[0][j] = far_number(1);
    p.row[1][j] = ctest_uniform() < 0.3 ? -p.row[0][j] : far_number(1);
  }
  for (size_t j = 0; j < MOST; j++) {
    p.w[j] = far_number(0.3);
    p.along[j] = far_number(1);
  }
  for (size_t j = 0; j < ENDS; j++) p.end[j] = (j > 0 ? p.end[j - 1] : 0) + exp(4 * ctest_uniform() - 4);
  for (int k = 0; k < 2; k++) {
    p.y[k] = ctest_uniform() < 0.2 ? NAN : is_damped() ? fixture_sign() : 3 * ctest_normal();
    p.weight[k] = ctest_uniform() < 0.5 ? 1 : ctest_uniform();
    p.offset[k] = ctest_uniform() < 0.1 ? NAN : ctest_uniform() < 0.1 ? (double)INFINITY : 4 * ctest_normal();
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

static const struct query *const queries[] = {
    &query_response,        &query_weighted_moments, &query_residual_gradient,
    &query_recalibration,   &query_recalibration,    &query_residual_counts,
    &query_weighted,        &query_residual_products, &query_residual_hessian,
    &query_residual_counts, &query_row_lengths};

static double cap_of(const struct pair *p) { return p->own > 0 ? p->own : p->cap; }

static struct ask ask_of(enum quantity q, const struct pair *p) {
  struct ask ask = {.at = p->w, .clip = p->clip, .k = ENDS, .step = p->end, .most = p->most};
  if (q == RESPONSE || q == MOMENTS || q == LENGTHS) ask.at = NULL;
  if (q == COUNTS) ask.clip = 0;
  if (q == GRADIENT || q == PRODUCTS || q == HESSIAN) ask.cap = p->own;
  if (q == SIZES) ask.cap = cap_of(p);
  if (q == HESSIAN) ask.within = p->within;
  if (q == MEANS) ask.along = p->along;
  return ask;
}

static size_t numbers_of(enum quantity q) {
  static const size_t numbers[] = {[RESPONSE] = 3,       [MOMENTS] = 2 * P + 1, [GRADIENT] = MOST,
                                   [MEANS] = 2,          [LEVEL] = 1,           [COUNTS] = ENDS,
                                   [MATRIX] = NUMBERS,   [PRODUCTS] = NUMBERS,  [HESSIAN] = NUMBERS,
                                   [SIZES] = ENDS,       [LENGTHS] = ENDS};
  return numbers[q];
}

static struct coordinates_spec spec_of(const struct pair *p) {
  return (struct coordinates_spec){.p = P,
                                   .intercept = 1,
                                   .weighted = 1,
                                   .damped = is_damped(),
                                   .radius = 1.5,
                                   .constant = p->constant,
                                   .cap = p->cap,
                                   .bound = 1,
                                   .scale = p->scale,
                                   .prior = p->scale,
                                   .spread = p->scale,
                                   .centre = p->centre};
}

/* The sum over n and its sensitivity; infinite where something is refused. */
static double ask(struct oracle *o, enum quantity q, const struct pair *p, const struct coordinates *c,
                  const double *weight, const double *offset, double *answer) {
  const struct ask what = ask_of(q, p);
  struct scope *s = oracle_all(o);
  int status = oracle_set_weights(o, weight, offset, 6);
  if (status == BASE_OK && q >= GRADIENT) status = oracle_move(o, c);
  if (status == BASE_OK) status = release_check(s, queries[q], &what);
  if (status == BASE_OK) status = mean_of(s, queries[q], &what, answer);
  return status == BASE_OK ? queries[q]->sensitivity(s, &what, 0) : 0;
}

static double share(enum oracle_neighbours neighbours, enum quantity q, const struct pair *p) {
  double x[MOST_ROWS * P], y[MOST_ROWS], weight[MOST_ROWS], offset[MOST_ROWS];
  double answers[2][NUMBERS] = {{0}}, change = 0, sensitivity = 0;
  for (int k = 0; k < 2; k++) {
    const struct coordinates_spec spec = spec_of(p);
    struct data *d = NULL;
    struct coordinates *c;
    struct fixture_arrays arrays;
    struct oracle *o;
    for (size_t i = 0; i < p->n; i++) {
      for (size_t j = 0; j < P; j++) x[i + j * p->n] = i == 0 ? p->row[k][j] : (double)((i + j) % 3) - 1;
      y[i] = i == 0 ? p->y[k] : i % 2 ? 1 : -0.3;
      weight[i] = i == 0 ? p->weight[k] : 1;
      offset[i] = i == 0 ? p->offset[k] : (double)(i % 3) - 1;
    }
    if (fixture_data(x, p->n, P, 1, 1.5, y, &arrays, &d) != BASE_OK) return INFINITY;
    if (coordinates_create(&spec, &c) != BASE_OK) return INFINITY;
    if (open_oracle(d, loss_find(loss), NULL, &ctest_entropy, neighbours, &o) != BASE_OK) return INFINITY;
    sensitivity = ask(o, q, p, c, weight, offset, answers[k]);
    oracle_free(o);
    coordinates_free(c);
    data_free(d);
    fixture_free(&arrays);
  }
  for (size_t i = 0; i < numbers_of(q); i++) change = hypot(change, answers[0][i] - answers[1][i]);
  return change / sensitivity;
}

/* ---- values ---- */

static long double clipped(long double x, long double limit) { return fminl(fmaxl(x, -limit), limit); }

static long double hat(const struct pair *p, size_t j, long double size) {
  long double low = j > 0 ? p->end[j - 1] : 0, at = p->end[j], high = j + 1 < ENDS ? p->end[j + 1] : INFINITY;
  if (size <= at) return j == 0 ? 1 : fmaxl(0, (size - low) / (at - low));
  return j + 1 == ENDS ? 1 : fmaxl(0, (high - size) / (high - at));
}

/* Of the mapped row, which z determines; and of the matrix, whose rows have weights for a bounded slope, too. */
static void add_expected_columns(const struct pair *p, long double v, const long double *z, long double length,
                                 long double want[QUANTITIES][NUMBERS]) {
  long double one = z[0] / p->constant, part = fminl(1, p->cap / length * (p->cap / length));
  if (is_count()) part = fminl(part, 1 / length);
  for (size_t j = 0; j < P; j++) {
    long double x = z[j + 1] / p->scale[j] + p->centre[j] * one, f = fminl(fabsl(x), p->most[j]);
    want[MOMENTS][j] += v * x;
    want[MOMENTS][P + j] += v * f * f / (2 * p->most[j]);
  }
  want[MOMENTS][2 * P] += v * one / 1.5;
  for (size_t k = 0; k < NUMBERS; k++) want[MATRIX][k] += v * part * z[k / MOST] * z[k % MOST];
}

/* Of one record with this weight, response and row. */
static void add_expected(const struct pair *p, long double v, long double y, const long double *z, long double length,
                         long double want[QUANTITIES][NUMBERS]) {
  long double t = 0, f = 0;
  for (size_t j = 0; j < MOST; j++) t += p->w[j] * z[j], f += p->along[j] * z[j];
  long double r = is_count() ? fminl(expl(t), 1) - fmaxl(y, 0) : t - y;
  long double cap = cap_of(p), limit = p->clip * fminl(1, cap / length), means = v * clipped(r, p->clip);
  for (size_t j = 0; j < 3; j++) want[RESPONSE][j] += v * (j == 0 ? 1 : j == 1 ? y : y * y / 2);
  long double ramp = p->within > 0 ? fmaxl(0, fminl(1, (1.25L * p->within - fabsl(r)) / (0.5L * p->within))) : 1;
  long double curvature = is_count() ? r + fmaxl(y, 0) : ramp, longer = fminl(1, 1.3L * cap / length);
  for (size_t j = 0; j < MOST; j++) want[GRADIENT][j] += v * z[j] * clipped(r, limit);
  for (size_t j = 0; j < NUMBERS; j++) {
    long double product = z[j / MOST] * z[j % MOST], slope = v * clipped(r, limit);
    want[PRODUCTS][j] += slope * slope * product;
    want[HESSIAN][j] += v * fminl(curvature, p->clip) * longer * longer * product;
  }
  want[LEVEL][0] += means;
  want[MEANS][0] += means;
  want[MEANS][1] += means * clipped(f, 2) / 2;
  for (size_t j = 0; j < ENDS; j++) {
    want[COUNTS][j] += v * hat(p, j, fabsl(r));
    want[SIZES][j] += v * hat(p, j, fminl(fabsl(r), p->clip) * fminl(1, length / cap));
    want[LENGTHS][j] += v * hat(p, j, length);
  }
  add_expected_columns(p, v, z, length, want);
}

/* Some records are null, some responses infinite or beyond their bounds, and some rows long. */
static void values_by_definition(int weighted, double own, double within) {
  enum { N = 1500 };
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y), *weight = base_alloc(N, sizeof *weight);
  long double want[QUANTITIES][NUMBERS] = {{0}}, z[MOST];
  struct pair p = base_pair(N, 1);
  p.own = own;
  p.within = within;
  p.clip = own > 0 ? 0.3 : p.clip;
  struct fixture f = {.x = x, .y = y};
  struct coordinates *c;
  double answer[NUMBERS];
  for (size_t j = 0; j < P; j++) {
    p.scale[j] = 1 + (double)j;
    p.most[j] = 0.5;
    p.centre[j] = 0.1 * (double)j;
  }
  for (size_t j = 0; j < MOST; j++) p.w[j] = 0.1 * (double)j, p.along[j] = 1 - 0.5 * (double)j;
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < P; j++) x[i + j * N] = ctest_normal();
    y[i] = i % 50 == 3 ? INFINITY : i % 50 == 4 ? NAN : 0.7 * ctest_normal();
    weight[i] = ctest_uniform();
  }
  x[7] = NAN;
  CHECK(fixture_data(x, N, P, 1, 1.5, y, &f.arrays, &f.data) == BASE_OK);
  CHECK(open_oracle(f.data, loss_find(loss), NULL, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) == BASE_OK);
  const struct coordinates_spec spec = spec_of(&p);
  CHECK(coordinates_create(&spec, &c) == BASE_OK);
  CHECK(oracle_set_weights(f.oracle, weighted ? weight : NULL, NULL, 0) == BASE_OK);
  for (size_t i = 0; i < N; i++) {
    if (!(f.data->clip[i] > 0)) continue;
    long double length = fixture_moved(f.data, x, &spec, i, z);
    add_expected(&p, weighted ? weight[i] : 1, fmax(-1, fmin(y[i], 1)), z, length, want);
  }
  for (int q = RESPONSE; q < QUANTITIES; q++) {
    const struct ask what = ask_of(q, &p);
    if (q == GRADIENT) CHECK(oracle_move(f.oracle, c) == BASE_OK);
    CHECK(mean_of(oracle_all(f.oracle), queries[q], &what, answer) == BASE_OK);
    for (size_t j = 0; j < numbers_of(q); j++) CHECK_NEAR(answer[j], (double)(want[q][j] / N), 1e-12);
  }
  fixture_close(&f);
  coordinates_free(c);
  base_free(weight);
}

/* ---- refusals ---- */

/* Queries that need a bound of the slope, in any coordinates; residuals of other losses and of rows that are not
 * weighted; ends and clips that are no use. Nothing is charged. */
static void refused(void) {
  loss = "squared";
  const struct query *const bounded[] = {&query_gradient, &query_clipped_gradient, &query_products, &query_decreases};
  struct pair p = base_pair(20, 1);
  const struct coordinates_spec spec = spec_of(&p);
  double answer[MOST * MOST], sd[MOST], step[1] = {1}, bad[ENDS] = {0.1, 0.3, 0.3, 0.4};
  for (int k = 0; k < 4; k++) { /* not moved, moved, moved twice, another loss */
    struct fixture f;
    struct coordinates *c;
    fixture_open(&f, k == 3 ? "huber" : "squared", 20, P, 1, ORACLE_REPLACE_ONE, 1);
    struct coordinates_spec here = spec;
    here.radius = 1;
    CHECK(coordinates_create(&here, &c) == BASE_OK);
    if (k > 0) CHECK(oracle_move(f.oracle, c) == BASE_OK);
    if (k == 2) CHECK(oracle_rescale(f.oracle, 1.5) == BASE_OK);
    CHECK(oracle_clips(f.oracle) == (k == 1 || k == 2));
    CHECK(isinf(oracle_lipschitz(f.oracle)) == (k < 3));
    struct ask what = {.at = p.w, .along = p.along, .k = 1, .step = step, .clip = INFINITY};
    for (size_t q = 0; q < sizeof bounded / sizeof *bounded; q++) {
      if (k == 3 && q == 0) continue;
      CHECK(release(oracle_all(f.oracle), bounded[q], &what, 0.1, (struct answer){answer, sd, NULL}) != BASE_OK);
    }
    for (int q = GRADIENT; q <= COUNTS; q++) {
      for (int fault = 0; fault < 3; fault++) {
        what = ask_of(q, &p);
        if (fault == 1) what.clip = q == COUNTS ? 1 : NAN;
        if (fault == 1 && q == COUNTS) what.step = bad;
        if (fault == 2) what.clip = 0, what.k = 1;
        if (fault == 0 && (k == 1 || k == 2)) continue;
        CHECK(release(oracle_all(f.oracle), queries[q], &what, 0.1, (struct answer){answer, sd, NULL}) ==
              BASE_ERR_ARGUMENT);
      }
    }
    CHECK(ledger_length(f.ledger) == 0);
    fixture_close(&f);
    coordinates_free(c);
  }
}
