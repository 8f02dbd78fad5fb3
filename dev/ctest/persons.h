/* Lists of records of persons, and what is asked about them. */
#ifndef DPSOSP_PERSONS_H
#define DPSOSP_PERSONS_H

#include "fixture.h"

enum { P = 3, SIDE = P + 1, K = 3, OTHERS = 6, PERSONS = OTHERS + 1, LONGEST = 20, MOST_ROWS = LONGEST + 3 * OTHERS };
enum { DIM = K * SIDE, NUMBERS = DIM * DIM + DIM + 1, STEPS = 2 };

enum where { MAPPED, CLIPPED, WEIGHTED, TILTED, DAMPED };

struct item {
  const struct query *query;
  const char *loss;
  enum where where;
  double least; /* of the sensitivity, the part that random pairs reach */
};

static const double steps[STEPS] = {0.5, 2}, offsets[STEPS] = {0.1, -0.1}, penalty[SIDE] = {0.3, 0.3, 0.3, 0.3};

/* Rows by person, the first person's first; m = 0: the person has one null record. */
struct lists {
  size_t rows, first;
  double x[MOST_ROWS * P], y[MOST_ROWS], weight[MOST_ROWS], offset[MOST_ROWS];
  int person[MOST_ROWS];
  int weighed;
};

static double w[DIM], along[DIM], scale[P], centre[P], end[P];

/* ---- data ---- */

static inline struct loss *open_loss(const char *name) {
  struct loss *loss;
  double parameter = strcmp(name, "multinomial") == 0 ? K : strcmp(name, "huber") == 0 ? 0.4 : 0;
  if (strcmp(name, "poisson") == 0) parameter = 20;
  CHECK(loss_create(name, parameter, &loss) == BASE_OK);
  return loss;
}

static inline double draw_response(const char *loss) {
  if (strcmp(loss, "multinomial") == 0) return (double)(1 + (int)(K * ctest_uniform())) / K;
  return strcmp(loss, "huber") == 0 || strcmp(loss, "squared") == 0 ? 2 * ctest_uniform() - 1 : fixture_sign();
}

/* Along w or against it, alike or not, some of them null. */
static inline void add_record(struct lists *l, int person, const double *like, double y, int null) {
  size_t i = l->rows++;
  l->person[i] = person;
  l->y[i] = null ? NAN : y;
  l->weight[i] = ctest_uniform() < 0.5 ? 1 : ctest_uniform();
  l->offset[i] = ctest_uniform() - 0.5;
  for (size_t j = 0; j < P; j++) l->x[i * P + j] = like[j];
}

static inline void draw_row(double *row) {
  double size = exp(3 * ctest_uniform() - 1), sign = fixture_sign();
  int extreme = ctest_uniform() < 0.6;
  for (size_t j = 0; j < P; j++) row[j] = extreme ? sign * size * w[j + 1] : size * ctest_normal();
}

static inline void draw_person(struct lists *l, const char *loss, int person, size_t m) {
  double row[P], y = draw_response(loss);
  int alike = ctest_uniform() < 0.7;
  draw_row(row);
  for (size_t k = 0; k < m; k++) {
    if (!alike) {
      draw_row(row);
      y = draw_response(loss);
    }
    add_record(l, person, row, y, 0);
  }
  if (m == 0 || ctest_uniform() < 0.3) add_record(l, person, row, y, 1);
}

/* Two data sets that differ in the records of the first person. */
static inline void draw_pair(const struct item *item, enum oracle_neighbours neighbours, struct lists *l) {
  static const size_t sizes[] = {0, 1, 1, 2, 7, LONGEST - 1};
  struct lists others = {0};
  others.weighed = ctest_uniform() < 0.3;
  for (int i = 2; i <= PERSONS; i++) draw_person(&others, item->loss, i, 1 + (size_t)(2 * ctest_uniform()));
  for (int side = 0; side < 2; side++) {
    l[side] = (struct lists){.weighed = others.weighed};
    draw_person(&l[side], item->loss, 1, side && neighbours == ORACLE_ZERO_OUT ? 0 : sizes[(int)(6 * ctest_uniform())]);
    l[side].first = l[side].rows;
    for (size_t i = 0; i < others.rows; i++) {
      size_t to = l[side].rows++;
      memcpy(l[side].x + to * P, others.x + i * P, P * sizeof(double));
      l[side].y[to] = others.y[i];
      l[side].weight[to] = others.weight[i];
      l[side].offset[to] = others.offset[i];
      l[side].person[to] = others.person[i];
    }
  }
}

static inline void swap_records(struct lists *l, size_t i, size_t k) {
  const struct lists was = *l;
  memcpy(l->x + i * P, was.x + k * P, P * sizeof(double));
  memcpy(l->x + k * P, was.x + i * P, P * sizeof(double));
  l->y[i] = was.y[k], l->y[k] = was.y[i];
  l->weight[i] = was.weight[k], l->weight[k] = was.weight[i];
  l->offset[i] = was.offset[k], l->offset[k] = was.offset[i];
  l->person[i] = was.person[k], l->person[k] = was.person[i];
}

/* Puts the records in a random order. */
static inline void scatter(struct lists *l) {
  for (size_t i = l->rows; i > 1; i--) swap_records(l, i - 1, (size_t)((double)i * ctest_uniform()));
}

static inline void draw_point(int outputs) {
  double size = exp(3 * ctest_uniform() - 1);
  for (size_t j = 0; j < DIM; j++) {
    w[j] = (size_t)outputs * SIDE > j ? size * ctest_normal() : 0;
    along[j] = ctest_normal();
  }
  for (size_t j = 0; j < P; j++) {
    scale[j] = exp(ctest_normal());
    centre[j] = ctest_uniform() - 0.5;
    end[j] = fixture_end(centre[j], 1);
  }
}

/* ---- sums ---- */

struct problem {
  struct fixture f;
  struct loss *loss;
  struct coordinates *coordinates;
};

static inline void open_problem(struct problem *p, const struct item *item, const struct lists *l,
                                enum oracle_neighbours neighbours, int persons) {
  double *x = base_alloc(l->rows * P, sizeof *x), *y = base_alloc(l->rows, sizeof *y);
  for (size_t i = 0; i < l->rows; i++) {
    y[i] = l->y[i];
    for (size_t j = 0; j < P; j++) x[i + j * l->rows] = l->x[i * P + j];
  }
  *p = (struct problem){.f = {.x = x, .y = y}, .loss = open_loss(item->loss)};
  if (fixture_storage == FIXTURE_SPARSE) {
    for (size_t i = 0; i < l->rows * P; i++) x[i] = fmod(fabs(x[i]) * 1e4, 3) > 1.5 ? 0 : x[i];
  }
  CHECK(fixture_data(x, l->rows, P, 1, 1, y, &p->f.arrays, &p->f.data) == BASE_OK);
  CHECK(open_oracle(p->f.data, p->loss, NULL, &ctest_entropy, neighbours, &p->f.oracle) == BASE_OK);
  if (l->weighed) {
    const double *offset = loss_outputs(p->loss) > 1 ? NULL : l->offset;
    CHECK(oracle_set_weights(p->f.oracle, l->weight, offset, 0.5) == BASE_OK);
  }
  if (persons) CHECK(oracle_set_persons(p->f.oracle, l->person, PERSONS, LONGEST) == BASE_OK);
  const struct coordinates_spec spec = {.p = P,
                                        .intercept = 1,
                                        .weighted = item->where >= WEIGHTED,
                                        .damped = item->where == DAMPED,
                                        .radius = 1,
                                        .constant = 0.5,
                                        .cap = item->where >= WEIGHTED ? 1.2 : 1,
                                        .bound = 0.6,
                                        .tilt = item->where == TILTED ? 0.3 : 0,
                                        .shortest = 0.75,
                                        .end = end,
                                        .prior = scale,
                                        .spread = scale,
                                        .scale = scale,
                                        .centre = centre,
                                        .outputs = loss_outputs(p->loss)};
  if (item->where == MAPPED) return;
  CHECK(coordinates_create(&spec, &p->coordinates) == BASE_OK);
  CHECK(oracle_move(p->f.oracle, p->coordinates) == BASE_OK);
}

static inline void close_problem(struct problem *p) {
  fixture_close(&p->f);
  coordinates_free(p->coordinates);
  loss_free(p->loss);
}

static const double most[P] = {1, 0.5, 0};
static const struct modified matrix = {MODIFY_ADD, 0.5, penalty};
static const struct ask asked = {.at = w,
                                 .along = along,
                                 .k = STEPS,
                                 .step = steps,
                                 .offset = offsets,
                                 .curvature = CURVATURE_MAJORANT,
                                 .matrix = &matrix,
                                 .clip = 0.4,
                                 .most = most};

#endif
