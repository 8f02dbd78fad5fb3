/*
 * Two neighbouring data sets with any values, asked the same questions at any
 * point: exact answers differ by at most the sensitivity that the noise is made
 * for, and whether and why a question fails does not depend on the data.
 */
#include "fuzz.h"

#include "la/la.h"
#include "shorthand.h"

enum { ROWS = 6, COLUMNS = 3, DIM = COLUMNS + 1, STEPS = 3 };

/* The two data sets, one block or two of repeated rows. */
struct pair {
  size_t n, p, copies;
  double radius, *x[2], *y[2];
  int intercept;
  enum oracle_neighbours relation;
  struct data *data[2];
  struct ledger *ledger[2];
  struct oracle *oracle[2];
  struct coordinates *coordinates[2]; /* or NULL */
  int weighted;
};

struct question {
  double w[DIM], direction[DIM], step[STEPS], offset[STEPS], most[COLUMNS], rho;
  size_t k;
};

static int open_pair(struct fuzz *f, struct pair *p);
static void close_pair(struct pair *p);
static void move_pair(struct fuzz *f, struct pair *p);
static void read_question(struct fuzz *f, struct question *q);
static void exact_moments(const struct pair *p, const struct question *q);
static void exact_answers(const struct pair *p, const struct question *q);
static void noisy_answers(struct fuzz *f, const struct pair *p, const struct question *q);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  struct pair p;
  struct question q;
  if (open_pair(&f, &p)) {
    ctest_fail_allocation(0); /* only while the two are made: what fails then would be charged to one of them */
    read_question(&f, &q);
    exact_moments(&p, &q);
    if (fuzz_below(&f, 2)) move_pair(&f, &p);
    exact_answers(&p, &q);
    for (int i = 0; i < 3; i++) noisy_answers(&f, &p, &q);
  }
  close_pair(&p);
  fuzz_end();
  return 0;
}

/* A response is -1, 1 or missing: the glue makes it so. */
/* What is not in [-1, 1] is clipped. */
static double response(struct fuzz *f) {
  static const double y[] = {-1, 1, NAN, INFINITY};
  uint32_t kind = fuzz_below(f, 5);
  return kind < 4 ? y[kind] : fuzz_double(f);
}

static int open_pair(struct fuzz *f, struct pair *p) {
  memset(p, 0, sizeof *p);
  size_t rows = 1 + fuzz_below(f, ROWS);
  p->p = fuzz_below(f, COLUMNS + 1);
  p->copies = fuzz_below(f, 8) ? 1 : 400;
  p->n = rows * p->copies;
  p->intercept = (int)fuzz_below(f, 2);
  p->relation = fuzz_below(f, 2) ? ORACLE_ZERO_OUT : ORACLE_REPLACE_ONE;
  p->radius = fuzz_double(f);
  for (int side = 0; side < 2; side++) {
    p->x[side] = calloc(p->n * p->p + 1, sizeof(double));
    p->y[side] = calloc(p->n, sizeof(double));
    REQUIRE(p->x[side] && p->y[side]);
  }
  if (p->p + (size_t)p->intercept == 0) return 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j <= p->p; j++) {
      double value = j < p->p ? fuzz_double(f) : response(f);
      for (size_t c = 0; c < p->copies; c++)
        for (int side = 0; side < 2; side++) {
          if (j < p->p) p->x[side][c * rows + i + p->n * j] = value;
          if (j == p->p) p->y[side][c * rows + i] = value;
        }
    }
  size_t changed = fuzz_below(f, (uint32_t)p->n);
  for (size_t j = 0; j < p->p; j++) p->x[1][changed + p->n * j] = fuzz_double(f);
  p->y[1][changed] = p->relation == ORACLE_ZERO_OUT ? NAN : response(f);
  static const char *const losses[] = {"logistic", "sigmoid", "huber_svm", "huber", "bounded_logistic", "poisson"};
  const struct loss *loss = loss_find(losses[fuzz_below(f, 6)]);
  int status = BASE_OK;
  for (int side = 0; side < 2 && status == BASE_OK; side++) {
    status = data_create(p->x[side], p->n, p->p, p->intercept, p->radius, p->y[side], &p->data[side]);
    if (status == BASE_OK) status = ledger_create(1, 1, LEDGER_OPEN, &p->ledger[side]);
    if (status == BASE_OK) {
      status = open_oracle(p->data[side], loss, p->ledger[side], &ctest_entropy, p->relation, &p->oracle[side]);
    }
  }
  return status == BASE_OK;
}

static void close_pair(struct pair *p) {
  for (int side = 0; side < 2; side++) {
    oracle_free(p->oracle[side]);
    ledger_free(p->ledger[side]);
    data_free(p->data[side]);
    coordinates_free(p->coordinates[side]);
    free(p->x[side]);
    free(p->y[side]);
  }
}

/* Both or neither: what is refused does not depend on the data. */
static void move_pair(struct fuzz *f, struct pair *p) {
  double scale[COLUMNS] = {1}, centre[COLUMNS] = {0};
  for (size_t j = 0; j < p->p; j++) {
    scale[j] = fabs(fuzz_double(f));
    centre[j] = p->intercept ? fmod(fuzz_double(f), 1) : 0;
  }
  p->weighted = (int)fuzz_below(f, 2);
  const struct coordinates_spec spec = {p->p,
                                        p->intercept,
                                        p->weighted,
                                        p->radius,
                                        fabs(fuzz_double(f)),
                                        p->weighted ? fabs(fuzz_double(f)) : 1,
                                        fabs(fuzz_double(f)),
                                        scale,
                                        centre,
                                        scale,
                                        scale};
  if (coordinates_create(&spec, &p->coordinates[0]) != BASE_OK) return;
  REQUIRE(coordinates_create(&spec, &p->coordinates[1]) == BASE_OK);
  int status = oracle_move(p->oracle[0], p->coordinates[0]);
  REQUIRE(oracle_move(p->oracle[1], p->coordinates[1]) == status);
  p->weighted = p->weighted && status == BASE_OK;
  REQUIRE(model_weighted(&p->oracle[0]->model) == p->weighted);
}

static void read_question(struct fuzz *f, struct question *q) {
  fuzz_doubles(f, DIM, q->w);
  fuzz_doubles(f, DIM, q->direction);
  q->k = 1 + fuzz_below(f, STEPS);
  fuzz_doubles(f, STEPS, q->step);
  for (size_t i = 0; i < STEPS; i++) q->offset[i] = 0;
  for (size_t j = 0; j < COLUMNS; j++) q->most[j] = fuzz_below(f, 2) ? fuzz_share(f) : fuzz_below(f, 2);
  q->rho = fuzz_below(f, 2) ? 0.1 : fuzz_double(f);
}

/* The norm's own rounding; the sensitivity includes that of the sums. */
static int within(double change, double sensitivity) { return change <= sensitivity * (1 + 1e-12); }

static double distance(size_t n, const double *a, const double *b) {
  double d[DIM * DIM];
  for (size_t i = 0; i < n; i++) d[i] = a[i] - b[i];
  return la_norm(n, d);
}

static void exact_moments(const struct pair *p, const struct question *q) {
  struct oracle *o = p->oracle[0], *other = p->oracle[1];
  double a[2 * COLUMNS], b[2 * COLUMNS];
  if (p->p == 0) return;
  REQUIRE(sums_moments(oracle_all(o), q->most, a) == BASE_OK && sums_moments(oracle_all(other), q->most, b) == BASE_OK);
  REQUIRE(within(distance(2 * p->p, a, b), sensitivity_moments(oracle_all(o))));
}

static void exact_answers(const struct pair *p, const struct question *q) {
  struct oracle *o = p->oracle[0], *other = p->oracle[1];
  size_t d = oracle_dim(o);
  double a[DIM * DIM], b[DIM * DIM];
  if (!(la_norm(d, q->w) <= 1e100) || !(la_norm(d, q->direction) <= 1e100)) return;
  REQUIRE(sums_gradient(oracle_all(o), q->w, a) == BASE_OK && sums_gradient(oracle_all(other), q->w, b) == BASE_OK);
  REQUIRE(within(distance(d, a, b), sensitivity_gradient(oracle_all(o), q->w)));
  if (p->weighted) {
    REQUIRE(sums_weighted(oracle_all(o), a) == BASE_OK && sums_weighted(oracle_all(other), b) == BASE_OK);
    REQUIRE(within(distance(d * d, a, b), sensitivity_weighted(oracle_all(o))));
    return;
  }
  REQUIRE(sums_value(oracle_all(o), q->w, a) == BASE_OK && sums_value(oracle_all(other), q->w, b) == BASE_OK);
  REQUIRE(within(fabs(a[0] - b[0]), sensitivity_value(oracle_all(o), q->w)));
  REQUIRE(sums_hessian(oracle_all(o), q->w, a) == BASE_OK && sums_hessian(oracle_all(other), q->w, b) == BASE_OK);
  REQUIRE(within(distance(d * d, a, b), sensitivity_hessian(oracle_all(o), q->w)));
  for (size_t i = 0; i < q->k; i++)
    if (!(q->step[i] > 0 && q->step[i] <= 1e50)) return;
  REQUIRE(sums_decreases(oracle_all(o), q->w, q->direction, q->k, q->step, a) == BASE_OK);
  REQUIRE(sums_decreases(oracle_all(other), q->w, q->direction, q->k, q->step, b) == BASE_OK);
  for (size_t i = 0; i < q->k; i++) {
    double change = a[i] - b[i];
    REQUIRE(within(fabs(change), sensitivity_decrease(oracle_all(o), q->w, q->direction, q->step[i])));
    for (size_t j = 0; j < i; j++) {
      const double steps[2] = {q->step[i], q->step[j]};
      double spread = fabs(change - (a[j] - b[j]));
      REQUIRE(within(spread, sensitivity_spread(oracle_all(o), q->w, q->direction, steps)));
    }
  }
}

/* A question that is asked of one side; what it answered with, n numbers, is zero after an error. */
static int ask(uint32_t kind, const struct pair *p, int side, const struct question *q) {
  struct oracle *o = p->oracle[side];
  size_t d = oracle_dim(o), index = 0, n = 0;
  double answer[DIM * DIM] = {0}, sd[STEPS] = {0};
  int status = BASE_OK;
  switch (kind) {
  case 0:
    status = oracle_value(o, q->w, q->rho, answer, sd), n = 1;
    break;
  case 1:
    status = oracle_gradient(o, q->w, q->rho, answer, sd), n = d;
    break;
  case 2:
    status = oracle_hessian(o, q->w, q->rho, answer, sd), n = d * d;
    break;
  case 3:
    status = oracle_decreases(o, q->w, q->direction, q->k, q->step, q->rho, answer, sd), n = q->k;
    break;
  case 4:
    status = oracle_first_step(o, q->w, q->direction, q->k, q->step, q->offset, 1, q->rho, &index);
    break;
  case 5:
    status = oracle_best_step(o, q->w, q->direction, q->k, q->step, q->offset, q->rho, &index);
    break;
  case 6:
    status = oracle_moments(o, q->most, q->rho, answer, sd), n = p->p + d;
    break;
  case 7:
    status = oracle_weighted(o, q->w, q->rho, answer, sd), n = d * d;
    break;
  }
  REQUIRE(index <= q->k);
  REQUIRE(status == BASE_OK ? fuzz_all_finite(n, answer) : fuzz_all_zero(n, answer));
  return status;
}

static void noisy_answers(struct fuzz *f, const struct pair *p, const struct question *q) {
  uint32_t kind = fuzz_below(f, 8);
  int first = ask(kind, p, 0, q), second = ask(kind, p, 1, q);
  REQUIRE(first == second);
  size_t length = ledger_length(p->ledger[0]);
  REQUIRE(ledger_length(p->ledger[1]) == length);
  for (size_t i = 0; i < length; i++) {
    const struct ledger_entry *a = ledger_at(p->ledger[0], i), *b = ledger_at(p->ledger[1], i);
    REQUIRE(a->rho == b->rho && a->sensitivity == b->sensitivity && a->scale == b->scale);
  }
}
