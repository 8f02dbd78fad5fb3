/* Rows in other coordinates: no row is longer there than its length says nor much shorter, whatever its numbers, and a
 * length is a function of its row alone. */
#include "fixture.h"

enum { ROWS = 1300 }; /* two blocks */

static void lengths(size_t p, int intercept, double radius, double scale);
static void tilted(size_t p, int intercept, double radius, double tilt);
static void clipped(size_t p, int intercept, double radius, double scale);
static void extremes(void);
static void of_its_row_alone(size_t p, int intercept);
static void wherever_it_is(size_t p, int intercept);
static void refused(void);
static void mismatched(void);

void test_data_coordinates(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int intercept = 0; intercept <= 1; intercept++) {
      lengths(3, intercept, 1, 1);
      lengths(40, intercept, 1.7, 20);
      lengths(4, intercept, 1e-3, 1e-4);
      lengths(7, intercept, 300, 1e5);
      clipped(3, intercept, 1, 1);
      clipped(40, intercept, 0.4, 6);
      of_its_row_alone(3, intercept);
      of_its_row_alone(21, intercept);
      wherever_it_is(21, intercept);
    }
  }
  extremes();
  refused();
  mismatched();
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int intercept = 0; intercept <= 1; intercept++) {
      tilted(4, intercept, 3, 0.4);
      tilted(5, intercept, 3, -0.2);
    }
    tilted(8, 1, 4, 0.3);
  }
}

/* Some rows are null, some lie outside the radius. */
struct rows {
  double *x, y[ROWS];
  struct fixture_arrays arrays;
  struct data *data;
};

static void open_rows(struct rows *r, size_t p, int intercept, double radius) {
  r->x = base_alloc(ROWS * p, sizeof *r->x);
  for (size_t i = 0; i < ROWS; i++) {
    double size = radius * exp(4 * ctest_uniform() - 3) / sqrt((double)p);
    for (size_t j = 0; j < p; j++) r->x[i + j * ROWS] = i % 191 == 5 ? NAN : size * ctest_normal();
    if (fixture_storage == FIXTURE_SPARSE) r->x[i + i % p * ROWS] = 0;
    r->y[i] = i % 307 == 6 ? NAN : fixture_sign();
  }
  CHECK(fixture_data(r->x, ROWS, p, intercept, radius, r->y, &r->arrays, &r->data) == BASE_OK);
}

static void close_rows(struct rows *r) {
  data_free(r->data);
  fixture_free(&r->arrays);
  base_free(r->x);
}

/* The square of what a row of norm one can be long. */
static double most_square(const struct coordinates_spec *s) {
  double most = s->intercept ? s->constant * s->constant : 0;
  for (size_t j = 0; j < s->p; j++) most += pow(s->scale[j] * (1 + fabs(s->centre[j])), 2);
  return most;
}

static void lengths(size_t p, int intercept, double radius, double scale) {
  struct rows r;
  struct fixture_coordinates c;
  open_rows(&r, p, intercept, radius);
  CHECK(fixture_coordinates(r.data, scale, 1, 2, 0.5, &c) == BASE_OK);
  CHECK(data_move(r.data, c.made) == BASE_OK);
  double slack = 1e-13 * (double)(p + 16) * most_square(&c.spec);
  int short_ones = 0, long_ones = 0, null_ones = 0;
  for (size_t i = 0; i < ROWS; i++) {
    long double z[64], norm = fixture_moved(r.data, r.x, &c.spec, i, z), length = r.data->length[i];
    short_ones += length < norm;
    long_ones += !(length * length <= norm * norm * (1 + 1e-14L) + slack);
    null_ones += r.data->clip[i] == 0;
  }
  CHECK(short_ones == 0 && long_ones == 0 && null_ones >= 10);
  coordinates_free(c.made);
  close_rows(&r);
}

/* For two regular rows, -2 z'z~ of the columns with an end is at most the sum of their excesses; the squared length of
 * the others (proofs: tilt). */
static long double excess(const struct data *d, const struct coordinates_spec *s, const double *end,
                          const long double *z, double clip, long double *free) {
  long double sum = 0, one = s->radius * clip;
  *free = 0;
  for (size_t j = 0; j < s->p; j++) {
    long double part = z[(size_t)d->intercept + j], shift = s->scale[j] * (s->centre[j] - end[j]) * one;
    if (isnan(end[j])) *free += part * part;
    if (!isnan(end[j])) sum += (part + shift) * (part + shift) - part * part;
  }
  return sum;
}

static int is_regular(const struct rows *r, const struct coordinates_spec *s, const double *end, size_t i) {
  double most = (1 - (double)(s->p + 8) * 0x1p-52) / s->radius; /* the clip of a row inside the radius */
  if (r->data->clip[i] != most) return 0;
  for (size_t j = 0; j < s->p; j++) {
    double x = r->x[i + j * ROWS], at = end[j] * s->radius;
    if (end[j] < s->centre[j] || (end[j] == s->centre[j] && end[j] <= 0) ? x < at : x > at) return 0;
  }
  return 1;
}

/* The length of a row with a tilt, by its definition. */
static long double tilted_length(const struct rows *r, const struct coordinates_spec *s, const double *end, size_t i) {
  long double z[64], norm = fixture_moved(r->data, r->x, s, i, z), least = s->shortest;
  long double b = (1 + fabsl((long double)s->tilt)) / 2, needed = norm * b / (1 - b);
  if (is_regular(r, s, end, i)) {
    long double free, part = b * b * fmaxl(excess(r->data, s, end, z, r->data->clip[i], &free), 0) / least;
    needed = part + sqrtl(part * part + 2 * b * b * (norm * norm + free));
  }
  return fmaxl(fmaxl(least, norm), needed);
}

static void tilted(size_t p, int intercept, double radius, double tilt) {
  struct rows r;
  struct fixture_coordinates c;
  int small = 0, large = 0, regular = 0, cut = 0;
  open_rows(&r, p, intercept, radius);
  CHECK(fixture_coordinates(r.data, 1, 1, 2, 0.5, &c) == BASE_OK);
  CHECK(fixture_tilt(r.data, tilt, 0.3, &c) == BASE_OK);
  CHECK(data_move(r.data, c.made) == BASE_OK);
  double slack = 1e-11 * (double)(p + 16) * most_square(&c.spec);
  for (size_t i = 0; i < ROWS; i++) {
    long double length = r.data->length[i], want = tilted_length(&r, &c.spec, c.end, i);
    small += length < want;
    large += !(length * length <= want * want * (1 + 1e-13L) + slack * (1 + want));
    regular += is_regular(&r, &c.spec, c.end, i);
    cut += r.data->clip[i] > 0 && r.data->clip[i] * radius < 1 - 1e-9;
  }
  CHECK(small == 0 && large == 0 && regular >= 20 && cut >= 20);
  coordinates_free(c.made);
  close_rows(&r);
}

/* To norm one, and no others. */
static void clipped(size_t p, int intercept, double radius, double scale) {
  struct rows r;
  struct fixture_coordinates c;
  open_rows(&r, p, intercept, radius);
  CHECK(fixture_coordinates(r.data, scale, 0, 1, 0.5, &c) == BASE_OK);
  double *before = base_alloc(ROWS, sizeof *before);
  memcpy(before, r.data->clip, ROWS * sizeof *before);
  struct data unclipped = *r.data;
  unclipped.clip = before;
  CHECK(data_move(r.data, c.made) == BASE_OK);
  double slack = 1e-13 * (double)(p + 16) * most_square(&c.spec);
  int wrong = 0, cut = 0;
  for (size_t i = 0; i < ROWS; i++) {
    long double z[64], norm = fixture_moved(r.data, r.x, &c.spec, i, z);
    long double was = fixture_moved(&unclipped, r.x, &c.spec, i, z);
    wrong += !(norm <= 1) || !(fabsl(norm - fminl(was, 1)) <= slack);
    cut += r.data->clip[i] < before[i];
  }
  CHECK(wrong == 0 && cut > 20 && cut < ROWS);
  base_free(before);
  coordinates_free(c.made);
  close_rows(&r);
}

/* Numbers at the ends of what is allowed: finite or infinite, never too small, never NaN. */
static void extremes(void) {
  static const double sizes[] = {1e-160, 1e-130, 1e-60, 1e-50, 1, 1e50, 1e100, 1e153}, ends[] = {1e-50, 1, 1e50};
  enum { N = 8, P = 2 };
  double x[N * P], y[N];
  fixture_storage = FIXTURE_DENSE;
  for (size_t i = 0; i < N; i++) {
    x[i] = sizes[i];
    x[i + N] = -sizes[N - 1 - i];
    y[i] = 1;
  }
  for (int k = 0; k < 54; k++) {
    double radius = ends[k % 3], scale[P] = {ends[k / 3 % 3], ends[k / 9 % 3]}, centre[P] = {k / 27, -k / 27};
    const double constant = ends[k / 3 % 3];
    const struct coordinates_spec spec = {P,     k / 27, 1,     0,     radius, constant, 1, 1e-50,
                                          scale, centre, scale, scale, 0,      0,        NULL, 1};
    struct coordinates *c;
    struct data *d;
    CHECK(data_create(x, N, P, k / 27, radius, y, &d) == BASE_OK);
    CHECK(coordinates_create(&spec, &c) == BASE_OK);
    CHECK(data_move(d, c) == BASE_OK);
    for (size_t i = 0; i < N; i++) {
      long double z[P + 1], norm = fixture_moved(d, x, &spec, i, z);
      CHECK(d->length[i] > 0 && d->length[i] >= norm);
    }
    coordinates_free(c);
    data_free(d);
  }
}

/* A null record in the same block changes no other length by a bit. */
static void of_its_row_alone(size_t p, int intercept) {
  enum { ONE = 700, OTHER = 1298 };
  double *lengths_of[2];
  for (int k = 0; k < 2; k++) {
    double *x = base_alloc(ROWS * p, sizeof *x), y[ROWS];
    struct fixture_arrays arrays;
    struct fixture_coordinates c;
    struct data *d;
    ctest_seed(7);
    for (size_t i = 0; i < ROWS * p; i++) x[i] = ctest_normal() / sqrt((double)p);
    for (size_t i = 0; i < ROWS; i++) y[i] = k == 1 && (i == ONE || i == OTHER) ? NAN : 1;
    CHECK(fixture_data(x, ROWS, p, intercept, 1, y, &arrays, &d) == BASE_OK);
    CHECK(fixture_coordinates(d, 1, 1, 1, 1, &c) == BASE_OK);
    CHECK(data_move(d, c.made) == BASE_OK);
    CHECK(d->broken[0] == k && d->broken[1] == k);
    lengths_of[k] = base_alloc(ROWS, sizeof(double));
    memcpy(lengths_of[k], d->length, ROWS * sizeof(double));
    data_free(d);
    coordinates_free(c.made);
    fixture_free(&arrays);
    base_free(x);
  }
  lengths_of[0][ONE] = lengths_of[1][ONE];
  lengths_of[0][OTHER] = lengths_of[1][OTHER];
  CHECK(memcmp(lengths_of[0], lengths_of[1], ROWS * sizeof(double)) == 0);
  base_free(lengths_of[0]);
  base_free(lengths_of[1]);
}

/* A record has the clip and the length that it has alone, among any number of others, wherever it stands: with persons
 * its place depends on how many rows others have. */
static void wherever_it_is(size_t p, int intercept) {
  static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 11, ROWS};
  double clip = 0, length = 0, row[64];
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    size_t n = sizes[k];
    struct rows r;
    struct fixture_coordinates c;
    r.x = base_alloc(n * p, sizeof *r.x);
    ctest_seed(8);
    for (size_t j = 0; j < p; j++) row[j] = ctest_normal();
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < p; j++) r.x[i + j * n] = i % 5 == 4 && j == i % p ? NAN : row[j];
      r.y[i] = 1;
    }
    CHECK(fixture_data(r.x, n, p, intercept, 1, r.y, &r.arrays, &r.data) == BASE_OK);
    CHECK(fixture_coordinates(r.data, 1, 1, 1, 1, &c) == BASE_OK);
    CHECK(data_move(r.data, c.made) == BASE_OK);
    if (k == 0) clip = r.data->clip[0], length = r.data->length[0];
    for (size_t i = 0; i < n; i++) {
      if (!(r.data->clip[i] > 0)) continue;
      CHECK(r.data->clip[i] == clip);
      CHECK(r.data->length[i] == length);
    }
    coordinates_free(c.made);
    close_rows(&r);
  }
}

/* ---- what is refused ---- */

static int created(const struct coordinates_spec *spec) {
  struct coordinates *c;
  int status = coordinates_create(spec, &c);
  CHECK((status == BASE_OK) == (c != NULL));
  CHECK(status == BASE_OK || status == BASE_ERR_ARGUMENT);
  coordinates_free(c);
  return status == BASE_OK;
}

static struct coordinates_spec tilted_spec(const struct coordinates_spec *good, double tilt, double shortest,
                                           const double *end) {
  struct coordinates_spec spec = *good;
  spec.tilt = tilt;
  spec.shortest = shortest;
  spec.end = end;
  return spec;
}

static void refused(void) {
  static const double bad[] = {0, -1, 1e-51, 1e51, 1e-200, INFINITY, NAN};
  static const double end[2] = {0, 0}, ends[][2] = {{0, NAN},  {-1, 1},   {NAN, NAN}, {0.6, -0.6},  {0.4, 0},
                                                    {0, -0.4}, {-1.1, 0}, {0, 1.1},   {INFINITY, 0}};
  double scale[2] = {1, 2}, prior[2] = {1, 2}, spread[2] = {1, 2}, centre[2] = {0.5, -0.5};
  const struct coordinates_spec good = {2, 1, 1, 0, 1.5, 1, 2, 0.5, scale, centre, prior, spread, 0, 0, NULL, 1};
  CHECK(created(&good));
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    struct coordinates_spec spec = good;
    spec.radius = bad[k];
    CHECK(!created(&spec));
    spec = good;
    spec.constant = bad[k];
    CHECK(!created(&spec));
    spec = good;
    spec.cap = bad[k];
    CHECK(!created(&spec));
    spec = good;
    spec.bound = bad[k];
    CHECK(!created(&spec));
    scale[1] = bad[k];
    CHECK(!created(&good));
    scale[1] = 2;
    prior[1] = bad[k];
    CHECK(!created(&good));
    prior[1] = 2;
    spread[1] = bad[k];
    CHECK(!created(&good));
    spread[1] = 2;
    centre[0] = k < 3 ? 1.01 : bad[k];
    CHECK(created(&good) == (k == 4)); /* a small centre is one */
    centre[0] = 0.5;
  }
  struct coordinates_spec spec = good;
  spec.intercept = 0;
  CHECK(!created(&spec)); /* centres without an intercept */
  spec = good;
  spec.weighted = 0;
  CHECK(!created(&spec)); /* sensitivities are of rows that are clipped to one */
  spec.cap = 0.5;
  CHECK(!created(&spec));
  spec.cap = 1;
  CHECK(created(&spec));
  spec = tilted_spec(&good, 0.3, 1, end);
  spec.weighted = 0;
  spec.cap = 1;
  CHECK(!created(&spec));
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    spec = tilted_spec(&good, k < 3 ? 0.51 - (double)k : bad[k], 1, end);
    CHECK(created(&spec) == (fabs(spec.tilt) < 0.5));
    spec = tilted_spec(&good, 0.3, bad[k], end);
    CHECK(!created(&spec));
  }
  spec = tilted_spec(&good, 0.3, 1, NULL);
  CHECK(!created(&spec));
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) { /* the centres are 0.5 and -0.5 */
    spec = tilted_spec(&good, 0.3, 1, ends[k]);
    CHECK(created(&spec) == (k < 4));
  }
  centre[0] = centre[1] = 0;
  spec = tilted_spec(&good, 0.3, 1, ends[3]);
  spec.intercept = 0;
  CHECK(!created(&spec));
  spec.end = ends[0];
  CHECK(created(&spec));
}

/* Second coordinates: weighted rows have the lengths that they would have without the first ones, to the last bit;
 * clips are computed once. */
static void second_lengths(void) {
  static const double x[4] = {0.1, 0.2, 0.3, 0.4}, y[2] = {1, -1}, one[2] = {1, 1}, two[2] = {0.3, 7}, none[2] = {0};
  for (int k = 0; k < 4; k++) { /* are the first and the second ones of weighted rows? */
    struct coordinates_spec spec = {2, 1, k % 2, 0, 1.5, 1, 1, 0.5, one, none, one, one, 0, 0, NULL, 1}, next = spec;
    struct coordinates *first, *second;
    struct data *d, *direct;
    next.weighted = k / 2;
    next.scale = two;
    CHECK(data_create(x, 2, 2, 1, 1.5, y, &d) == BASE_OK && data_create(x, 2, 2, 1, 1.5, y, &direct) == BASE_OK);
    CHECK(coordinates_create(&spec, &first) == BASE_OK && coordinates_create(&next, &second) == BASE_OK);
    CHECK(data_move(d, first) == BASE_OK && data_move(direct, second) == BASE_OK);
    CHECK(data_move(d, second) == (k == 3 ? BASE_OK : BASE_ERR_ARGUMENT));
    if (k == 3) CHECK(memcmp(d->length, direct->length, 2 * sizeof(double)) == 0);
    data_free(d);
    data_free(direct);
    coordinates_free(first);
    coordinates_free(second);
  }
}

/* Coordinates of other rows. */
static void mismatched(void) {
  static const double x[4] = {0.1, 0.2, 0.3, 0.4}, y[2] = {1, -1}, scale[3] = {1, 1, 1}, centre[3] = {0};
  const struct coordinates_spec good = {2, 1, 1, 0, 1.5, 1, 2, 0.5, scale, centre, scale, scale, 0, 0, NULL, 1};
  for (int k = 0; k < 5; k++) {
    struct coordinates_spec spec = good;
    struct coordinates *c;
    struct data *d;
    if (k == 0) spec.p = 3;
    if (k == 1) spec.p = 1;
    if (k == 2) spec.intercept = 0;
    if (k == 3) spec.radius = 1.6;
    CHECK(data_create(x, 2, 2, 1, 1.5, y, &d) == BASE_OK);
    CHECK(coordinates_create(&spec, &c) == BASE_OK);
    CHECK(data_move(d, c) == (k == 4 ? BASE_OK : BASE_ERR_ARGUMENT));
    data_free(d);
    coordinates_free(c);
  }
  second_lengths();
}
