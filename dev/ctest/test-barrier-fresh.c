/* Fresh records: paid once, each in one leaf; an epoch's prefix sums, how sensitive they are and how noisy. */
#include "fixture.h"
#include "la/la.h"
#include "statistics.h"

#include <sys/wait.h>
#include <unistd.h>

enum { N = 600, P = 3 };
static const struct epoch simple = {.records = 50, .leaves = 8, .factor = FACTOR_SQUARE_ROOT, .curvature_share = 0.2};

static void factors(void);
static void paid_once(enum oracle_neighbours neighbours);
static void in_one_leaf(void);
static void refusals(void);
static void leaves_are_means(void);
static void neighbours_move(enum factor factor, enum oracle_neighbours neighbours);
static void noise_is_that(enum factor factor);
static void forked(void);

void test_barrier_fresh(void) {
  factors();
  paid_once(ORACLE_REPLACE_ONE);
  paid_once(ORACLE_ZERO_OUT);
  in_one_leaf();
  refusals();
  leaves_are_means();
  for (enum factor factor = FACTOR_SQUARE_ROOT; factor <= FACTOR_INDEPENDENT; factor++) {
    neighbours_move(factor, ORACLE_REPLACE_ONE);
    neighbours_move(factor, ORACLE_ZERO_OUT);
    noise_is_that(factor);
  }
  forked();
}

/* No column of C is longer than factor_column(), and a row of B is as long as factor_row(). */
static void longest_column(void) {
  for (enum factor factor = FACTOR_SQUARE_ROOT; factor <= FACTOR_INDEPENDENT; factor++) {
    for (size_t leaves = 1; leaves <= 70; leaves++) {
      double longest = 0, row = 0;
      for (size_t j = 0; j < leaves; j++) {
        double square = 0, last = factor_decode(factor, leaves - 1, j);
        for (size_t t = 0; t < leaves; t++) square += factor_encode(factor, t, j) * factor_encode(factor, t, j);
        longest = fmax(longest, sqrt(square));
        row += last * last;
      }
      CHECK(factor_column(factor, leaves) >= longest);
      CHECK_NEAR(factor_column(factor, leaves), longest, 1e-11);
      CHECK_NEAR(factor_row(factor, leaves - 1), sqrt(row), 1e-14);
    }
  }
}

/* B C is the lower triangle of ones; a column of C has the norm that is known in closed form. */
static void factors(void) {
  enum { MOST = 33 };
  for (enum factor factor = FACTOR_SQUARE_ROOT; factor <= FACTOR_INDEPENDENT; factor++) {
    for (size_t t = 0; t < MOST; t++) {
      for (size_t j = 0; j < MOST; j++) {
        double sum = 0;
        for (size_t k = 0; k < MOST; k++) sum += factor_decode(factor, t, k) * factor_encode(factor, k, j);
        CHECK_NEAR(sum, j <= t, 1e-14);
      }
    }
  }
  for (size_t leaves = 1; leaves <= 64; leaves++) {
    double square = 0, c = 1, levels = floor(log2((double)leaves) + 1e-9) + 1;
    for (size_t k = 0; k < leaves; k++, c *= ((double)k - 0.5) / (double)k) square += c * c;
    CHECK_NEAR(factor_column(FACTOR_SQUARE_ROOT, leaves), sqrt(square), 1e-11);
    CHECK_NEAR(factor_column(FACTOR_TREE, leaves), sqrt(levels), 1e-11);
    CHECK_NEAR(factor_column(FACTOR_INDEPENDENT, leaves), 1, 1e-11);
  }
  longest_column();
}

/* Whatever is asked: the ledger has one entry, of the cost. */
static void paid_once(enum oracle_neighbours neighbours) {
  struct fixture f;
  double w[P] = {0.2}, g[P], h[P * P], value, sd;
  struct epoch_sd both;
  fixture_open(&f, "sigmoid", N, P, 0, neighbours, 1);
  CHECK(fresh_left(f.oracle) == 0);
  CHECK(fresh_open(f.oracle, 1.1) == BASE_ERR_BUDGET && fresh_left(f.oracle) == 0);
  CHECK(fresh_open(f.oracle, 0.4) == BASE_OK && fresh_left(f.oracle) == N);
  for (int epoch = 0; epoch < 3; epoch++) {
    CHECK(epoch_open(f.oracle, &simple, w, g, h, &both) == BASE_OK);
    w[1] += 0.3;
    CHECK(epoch_leaf(f.oracle, w, 50, g, &sd) == BASE_OK);
    const struct ask ask = {.at = w};
    CHECK(fresh_release(f.oracle, &query_value, &ask, 20, (struct answer){.value = &value, .sd = &sd}) == BASE_OK);
    CHECK_NEAR(sd, fresh_sd(f.oracle, &query_value, &ask, 20), 1e-12 * sd);
  }
  CHECK(ledger_length(f.ledger) == 1 && ledger_spent(f.ledger) == 0.4);
  CHECK_NEAR(ledger_at(f.ledger, 0)->sensitivity / ledger_at(f.ledger, 0)->scale, sqrt(2 * 0.4), 1e-12);
  CHECK(fresh_left(f.oracle) == N - 360);
  /* Gradient and Hessian of one record: their squares add up to the cost. */
  double terms = neighbours == ORACLE_REPLACE_ONE ? 2 : 1, e = exp(-hypot(0.2, 0.6));
  double b = e * (1 - e) / pow(1 + e, 3); /* the curvature where the last epoch began */
  double mu_g = terms * 0.25 / 50 * factor_column(simple.factor, simple.leaves) / both.gradient;
  double mu_h = terms * b / 50 / both.hessian;
  CHECK_NEAR((mu_g * mu_g + mu_h * mu_h) / 2, 0.4, 1e-6);
  CHECK_NEAR(mu_h * mu_h / 2, 0.2 * 0.4, 1e-6);
  /* A second schedule is paid anew, a third one has nothing left. */
  CHECK(fresh_open(f.oracle, 0.6) == BASE_OK && fresh_left(f.oracle) == N);
  CHECK(fresh_open(f.oracle, 0.1) == BASE_ERR_BUDGET && fresh_left(f.oracle) == 0);
  CHECK(epoch_open(f.oracle, &simple, w, g, h, &both) == BASE_ERR_ARGUMENT);
  fixture_close(&f);
}

/* Batches of all sizes have no row twice and, together, all of them; each one's rows rise. */
static void in_one_leaf(void) {
  struct fixture f;
  int seen[N] = {0}, ascending = 1, once = 1, moved = 0;
  size_t total = 0;
  fixture_open(&f, "logistic", N, P, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(fresh_open(f.oracle, 0.5) == BASE_OK);
  for (size_t count = 1; total < N; count += 3) {
    struct batch batch = {.count = count < N - total ? count : N - total};
    CHECK(fresh_take(f.oracle, &batch) == BASE_OK && !batch.next);
    for (size_t i = 0; i < batch.count; i++) {
      once = once && !seen[batch.row[i]]++;
      ascending = ascending && (i == 0 || batch.row[i - 1] < batch.row[i]);
      moved += batch.row[i] != total + i;
    }
    total += batch.count;
  }
  CHECK(once && ascending && moved > N / 2 && fresh_left(f.oracle) == 0);
  struct batch batch = {.count = 1};
  CHECK(fresh_take(f.oracle, &batch) == BASE_ERR_RECORDS);
  fixture_close(&f);
}

/* Nothing that is refused is read or costs records. */
static void refusals(void) {
  struct fixture f;
  double w[P] = {0}, g[P] = {1, 1, 1}, h[P * P], sd;
  struct epoch_sd both;
  fixture_open(&f, "sigmoid", N, P, 0, ORACLE_REPLACE_ONE, 1);
  struct oracle *o = f.oracle;
  CHECK(fresh_open(o, 0.5) == BASE_OK);
  CHECK(epoch_leaf(o, w, 10, g, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(P, g));
  CHECK(epoch_records(o, w) == SIZE_MAX);
  struct epoch how = simple;
  how.records = N + 1;
  CHECK(epoch_open(o, &how, w, g, h, &both) == BASE_ERR_RECORDS);
  how.records = 0;
  CHECK(epoch_open(o, &how, w, g, h, &both) == BASE_ERR_ARGUMENT);
  CHECK(epoch_open(o, &simple, w, g, NULL, &both) == BASE_ERR_ARGUMENT);
  CHECK(fresh_release(o, &query_best_step, &(struct ask){.at = w}, 1, (struct answer){0}) == BASE_ERR_ARGUMENT);
  CHECK(fresh_left(o) == N);
  CHECK(epoch_open(o, &simple, w, g, h, &both) == BASE_OK);
  w[0] = 1.7;
  size_t least = epoch_records(o, w);
  double exact = 50 * oracle_smoothness(o) * 1.7 / 0.25;
  CHECK(least >= (size_t)exact && least <= (size_t)exact + 2);
  CHECK(epoch_leaf(o, w, least - 1, g, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(P, g));
  CHECK(fresh_left(o) == N - 50);
  CHECK(epoch_leaf(o, w, least, g, &sd) == BASE_OK && fresh_left(o) == N - 50 - least);
  CHECK(epoch_records(o, w) == 1);
  for (size_t leaf = 2; leaf < simple.leaves; leaf++) CHECK(epoch_leaf(o, w, 1, g, &sd) == BASE_OK);
  CHECK(epoch_leaf(o, w, 1, g, &sd) == BASE_ERR_ARGUMENT); /* behind the last */
  CHECK(epoch_open(o, &simple, w, g, h, &both) == BASE_OK);
  w[0] = 1e3;
  CHECK(epoch_leaf(o, w, epoch_records(o, w), g, &sd) == BASE_ERR_RECORDS);
  w[0] = 1.7;
  CHECK(epoch_leaf(o, w, 1, g, &sd) == BASE_OK); /* the epoch goes on */
  fixture_close(&f);
}

/* Hardly any noise: the gradient is that of the leaves' records, by the definition. */
static void leaves_are_means(void) {
  struct fixture f;
  double w[P] = {0.3, -0.2, 0.5}, before[P], g[P], h[P * P], sd, want[P], part[P], wanted[P * P];
  struct epoch_sd both;
  fixture_open(&f, "sigmoid", N, P, 0, ORACLE_REPLACE_ONE, 1e12);
  struct oracle *o = f.oracle;
  CHECK(fresh_open(o, 1e12) == BASE_OK);
  CHECK(epoch_open(o, &simple, w, g, h, &both) == BASE_OK);
  struct batch batch = {.count = 50, .row = o->fresh->order, .size = 50};
  const struct scope s = {.oracle = o, .of = &batch};
  CHECK(sums_gradient(&s, w, want) == BASE_OK && sums_hessian(&s, w, wanted) == BASE_OK);
  for (size_t j = 0; j < P; j++) CHECK_NEAR(g[j], want[j], 1e-6);
  for (size_t j = 0; j < P * P; j++) CHECK_NEAR(h[j], wanted[j], 1e-6);
  for (int leaf = 1; leaf < 8; leaf++) {
    memcpy(before, w, sizeof w);
    for (size_t j = 0; j < P; j++) w[j] += 0.2 * ctest_normal();
    batch.row += batch.count;
    batch.count = epoch_records(o, w);
    batch.size = (double)batch.count;
    CHECK(epoch_leaf(o, w, batch.count, g, &sd) == BASE_OK);
    CHECK(sums_gradient(&s, w, part) == BASE_OK);
    la_axpy(P, 1, part, want);
    CHECK(sums_gradient(&s, before, part) == BASE_OK);
    la_axpy(P, -1, part, want);
    for (size_t j = 0; j < P; j++) CHECK_NEAR(g[j], want[j], 1e-6);
  }
  fixture_close(&f);
}

/* ---- neighbours ---- */

struct trail {
  double leaves[4][P], sd, leaf;
  size_t last[4]; /* place of the last record of each leaf */
};

/* Four leaves along the same points, with the same order of the rows; then the encoded sums. */
static void follow(const double *x, const double *y, enum factor factor, enum oracle_neighbours neighbours,
                   struct trail *trail, size_t *order) {
  struct fixture f;
  double *rows = base_alloc(N * P, sizeof *rows), *labels = base_alloc(N, sizeof *labels), g[P], sd;
  double w[P] = {0.4, 0, 0};
  memcpy(rows, x, N * P * sizeof *rows);
  memcpy(labels, y, N * sizeof *labels);
  fixture_open_rows(&f, "sigmoid", rows, labels, N, P, 0, neighbours, 1);
  ctest_seed(17);
  CHECK(fresh_open(f.oracle, 0.5) == BASE_OK);
  const struct epoch how = {.records = 40, .leaves = 4, .factor = factor};
  struct epoch_sd both;
  CHECK(epoch_open(f.oracle, &how, w, g, NULL, &both) == BASE_OK);
  trail->last[0] = how.records - 1;
  for (int leaf = 1; leaf < 4; leaf++) {
    w[0] -= 0.4;
    CHECK(epoch_leaf(f.oracle, w, epoch_records(f.oracle, w), g, &sd) == BASE_OK);
    trail->last[leaf] = f.oracle->fresh->used - 1;
  }
  memcpy(trail->leaves, f.oracle->fresh->epoch.leaves, sizeof trail->leaves);
  trail->sd = f.oracle->fresh->epoch.sd;
  trail->leaf = f.oracle->fresh->epoch.leaf;
  memcpy(order, f.oracle->fresh->order, N * sizeof *order);
  fixture_close(&f);
}

/* The encoded sums' change over the noise: mu. */
static double moved(const struct trail *a, const struct trail *b, enum factor factor) {
  double square = 0;
  for (size_t t = 0; t < 4; t++) {
    for (size_t j = 0; j < P; j++) {
      double change = 0;
      for (size_t k = 0; k <= t; k++) change += factor_encode(factor, t, k) * (a->leaves[k][j] - b->leaves[k][j]);
      square += change * change;
    }
  }
  return sqrt(square) / a->sd;
}

/* The worst record in each leaf, and in none: only its leaf moves, by no more than the first could, and all releases
 * together by no more than mu. */
static void neighbours_move(enum factor factor, enum oracle_neighbours neighbours) {
  int replaced = neighbours == ORACLE_REPLACE_ONE;
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y), mu = 1, worst = 0;
  size_t order[N];
  struct trail here, there;
  for (size_t i = 0; i < N * P; i++) x[i] = 0.5 * ctest_normal();
  for (size_t i = 0; i < N; i++) y[i] = fixture_sign();
  follow(x, y, factor, neighbours, &here, order);
  size_t places[] = {3, here.last[1], here.last[2], here.last[3], N - 1}; /* in leaves 0, 1, 2, 3; in none */
  for (size_t k = 0; k < 5; k++) {
    size_t i = order[places[k]];
    double row[P] = {x[i], x[i + N], x[i + 2 * N]}, label = y[i];
    for (int sign = -1; sign <= 1; sign += 2) {
      for (size_t j = 0; j < P; j++) x[i + j * N] = j == 0;
      y[i] = sign;
      follow(x, y, factor, neighbours, &here, order);
      x[i] = -1;
      y[i] = replaced ? (double)sign : (double)NAN;
      if (replaced && k > 0) x[i] = 1, y[i] = -sign; /* of a difference: curvatures of opposite signs */
      follow(x, y, factor, neighbours, &there, order);
      for (size_t leaf = 0; leaf < 4; leaf++) {
        double change = 0;
        for (size_t j = 0; j < P; j++) change = hypot(change, here.leaves[leaf][j] - there.leaves[leaf][j]);
        CHECK(leaf == k || change == 0);
        CHECK(change <= here.leaf);
      }
      double found = moved(&here, &there, factor);
      CHECK(found <= mu && (k < 4 || found == 0));
      if (k == 0) worst = fmax(worst, found);
    }
    for (size_t j = 0; j < P; j++) x[i + j * N] = row[j];
    y[i] = label;
  }
  CHECK(worst > 0.9); /* the first leaf's is reached nearly: |l'(0.4)| = 0.96 / 4 */
  base_free(x);
  base_free(y);
}

/* ---- noise ---- */

static double normal_cdf(double x) { return base_pnorm(x); }

/* Of null records: what is released is noise. Each answer's has the sd that it is given with; the increments' are those
 * of the encoded sums, that of a root among them, and epochs' are independent. */
static void noise_is_that(enum factor factor) {
  enum { LEAVES = 8, EPOCHS = 1500, ROWS = LEAVES * EPOCHS };
  struct fixture f;
  double *x = base_alloc(ROWS, sizeof *x), *y = base_alloc(ROWS, sizeof *y);
  double *z = base_alloc(LEAVES * EPOCHS, sizeof *z), *steps = base_alloc(LEAVES * EPOCHS, sizeof *steps);
  double w[1] = {0}, g, sd, last = 0;
  struct epoch_sd both;
  for (size_t i = 0; i < ROWS; i++) y[i] = NAN;
  fixture_open_rows(&f, "sigmoid", x, y, ROWS, 1, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(fresh_open(f.oracle, 1) == BASE_OK);
  const struct epoch how = {.records = 1, .leaves = LEAVES, .factor = factor};
  for (size_t e = 0; e < EPOCHS; e++) {
    for (size_t t = 0; t < LEAVES; t++) {
      int status = t == 0 ? epoch_open(f.oracle, &how, w, &g, NULL, &both) : epoch_leaf(f.oracle, w, 1, &g, &sd);
      if (status != BASE_OK) g = NAN;
      if (t == 0) sd = both.gradient;
      double variance = 0, unit = f.oracle->fresh->epoch.sd;
      for (size_t k = 0; k <= t; k++) {
        variance += pow(factor_decode(factor, t, k) - (t > 0 ? factor_decode(factor, t - 1, k) : 0), 2);
      }
      z[t * EPOCHS + e] = g / sd;
      steps[t * EPOCHS + e] = (g - (t > 0 ? last : 0)) / (unit * sqrt(variance));
      last = g;
    }
  }
  for (size_t t = 0; t < LEAVES; t++) {
    CHECK(ks_test(EPOCHS, z + t * EPOCHS, normal_cdf) > STATISTICS_LEVEL);
    CHECK(ks_test(EPOCHS, steps + t * EPOCHS, normal_cdf) > STATISTICS_LEVEL);
  }
  CHECK_NEAR(epoch_noise(f.oracle, 1, &how, w).gradient, sd, 1e-12 * sd);
  CHECK_NEAR(f.oracle->fresh->epoch.sd, 2 * 0.25 * factor_column(factor, LEAVES) / sqrt(2), 1e-6);
  fixture_close(&f);
  base_free(z);
  base_free(steps);
}

/* A child would draw other noise for the same records. */
static void forked(void) {
  struct fixture f;
  double w[P] = {0}, g[P];
  struct epoch_sd both;
  const struct epoch how = {.records = 1, .leaves = 1};
  fixture_open(&f, "logistic", N, P, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(fresh_open(f.oracle, 1) == BASE_OK);
  pid_t child = fork();
  if (child == 0) {
    int refused = epoch_open(f.oracle, &how, w, g, NULL, &both) == BASE_ERR_FORK;
    fixture_close(&f);
    _exit(refused ? 0 : 1);
  }
  int status = 1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  CHECK(epoch_open(f.oracle, &how, w, g, NULL, &both) == BASE_OK);
  fixture_close(&f);
}
