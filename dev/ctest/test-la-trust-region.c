/*
 * The trust-region subproblem against problems whose answer is known by
 * construction, against brute force in two and three dimensions, and against
 * the conditions that only a global minimum meets; by eigen-decomposition and by
 * Lanczos.
 */
#include "ctest.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

struct problem {
  size_t d;
  double *h, *g;
  double radius;
  double scale; /* of |H| r + |g| */
};

struct answer {
  double *step;
  double dual, eigen_min;
};

typedef double spectrum(size_t i, size_t d);

static void constructed(size_t d, spectrum *eigenvalue, double dual, double along, double radius);
static void random_problems(size_t d);
static void hard_cases(size_t d);
static void nearly_hard(size_t d, double along);
static void special(void);
static void brute_force(size_t d, int kind);
static void refusals(void);

static double psd(size_t i, size_t d) { return (double)i / (double)d; }
static double definite(size_t i, size_t d) { return 0.2 + (double)i / (double)d; }
static double saddle(size_t i, size_t d) { return -0.5 + 2 * (double)i / (double)d; }
static double concave(size_t i, size_t d) { return -3 + (double)i / (double)d; }
static double pairs(size_t i, size_t d) { return -1 + (double)(i / 2) / (double)d; }
static double flat(size_t i, size_t d) { return (void)i, (void)d, -1; }
static double wide(size_t i, size_t d) { return -1e-3 + pow(10, 6 * (double)i / (double)d - 3); }

static spectrum *const spectra[] = {psd, definite, saddle, concave, pairs, flat, wide};
enum { SPECTRA = sizeof spectra / sizeof *spectra };

void test_la_trust_region(void) {
  static const size_t dims[] = {1, 2, 3, 7, 20, 55, 120, 501};
  for (int k = 0; k < ctest_size(8, 6); k++) {
    const size_t d = dims[k];
    for (int i = 0; i < SPECTRA; i++) {
      for (double radius = 0.01; radius < 200; radius *= 100) {
        const double least = fmax(0, -spectra[i](0, d));
        constructed(d, spectra[i], least + 1e-6, 1, radius);
        constructed(d, spectra[i], least + 0.3, 1, radius);
        constructed(d, spectra[i], least + 50, 1, radius);
      }
    }
    constructed(d, definite, 0, 1, 0.7); /* the interior minimum lies inside, or on the boundary */
    constructed(d, definite, 0, 0.5, 0.7);
    random_problems(d);
    hard_cases(d);
    for (double along = 1e-3; along > 1e-16; along *= 1e-4) nearly_hard(d, along);
  }
  constructed(LA_DENSE_LIMIT + 1, saddle, 0.8, 1, 0.7); /* in the quick form, too */
  special();
  for (int kind = 0; kind < ctest_size(40, 5); kind++) {
    brute_force(2, kind);
    brute_force(3, kind);
  }
  refusals();
}

static void open_problem(struct problem *p, size_t d, double radius) {
  *p = (struct problem){d, base_alloc(d * d, sizeof(double)), base_alloc(d, sizeof(double)), radius, 0};
}

static void close_problem(struct problem *p) {
  base_free(p->h);
  base_free(p->g);
}

static double value(const struct problem *p, const double *s) {
  double *hs = base_alloc(p->d, sizeof *hs);
  la_matvec(p->d, p->d, p->h, p->d, s, hs);
  const double q = la_dot(p->d, p->g, s) + la_dot(p->d, s, hs) / 2;
  base_free(hs);
  return q;
}

static void apply(const struct linop *self, const double *x, double *y) {
  la_matvec(self->dim, self->dim, self->context, self->dim, x, y);
}

/* Only a global minimum passes. */
static void check_conditions(const struct problem *p, const struct answer *a) {
  double *residual = base_alloc(p->d, sizeof *residual), *v = base_alloc(p->d, sizeof *v), smallest = NAN;
  la_matvec(p->d, p->d, p->h, p->d, a->step, residual);
  la_axpy(p->d, a->dual, a->step, residual);
  la_axpy(p->d, 1, p->g, residual);
  const double norm = la_norm(p->d, a->step);
  CHECK(la_norm(p->d, residual) <= 1e-10 * p->scale);
  CHECK(norm <= p->radius * (1 + 1e-12));
  CHECK(a->dual >= 0 && a->dual * (p->radius - norm) <= 1e-9 * p->scale);
  CHECK(la_eigen_min(p->d, p->h, &smallest, v) == BASE_OK);
  CHECK_NEAR(a->eigen_min, smallest, 1e-10 * p->scale / p->radius);
  CHECK(smallest + a->dual >= -1e-10 * p->scale / p->radius);
  base_free(v);
  base_free(residual);
}

/* Both ways, each with its conditions; the answers agree in value. The dense one is left in *a. */
static void solve(struct problem *p, struct answer *a) {
  double norm = 0;
  for (size_t j = 0; j < p->d; j++) norm = fmax(norm, la_norm(p->d, p->h + j * p->d));
  p->scale = norm * p->radius + la_norm(p->d, p->g) + 1e-300;
  struct answer b = {base_alloc(p->d, sizeof(double)), NAN, NAN};
  *a = (struct answer){base_alloc(p->d, sizeof(double)), NAN, NAN};
  const struct linop op = {p->d, apply, p->h};
  CHECK(la_trust_region(p->d, p->h, p->g, p->radius, a->step, &a->dual, &a->eigen_min) == BASE_OK);
  CHECK(la_trust_region_lanczos(&op, p->g, p->radius, b.step, &b.dual, &b.eigen_min) == BASE_OK);
  check_conditions(p, a);
  check_conditions(p, &b);
  CHECK_NEAR(value(p, a->step), value(p, b.step), 1e-10 * p->scale * p->radius);
  base_free(b.step);
}

/* H <- P H P and x <- P x with P = I - 2 u u', u random. */
static void turn(size_t d, double *h, double *x) {
  double *u = base_alloc(d, sizeof *u), *hu = base_alloc(d, sizeof *hu);
  for (size_t i = 0; i < d; i++) u[i] = ctest_normal();
  la_scale(d, 1 / la_norm(d, u), u);
  la_matvec(d, d, h, d, u, hu);
  la_axpy(d, -la_dot(d, u, hu), u, hu);
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < d; i++) h[i + j * d] -= 2 * (u[i] * hu[j] + hu[i] * u[j]);
  la_axpy(d, -2 * la_dot(d, u, x), u, x);
  base_free(hu);
  base_free(u);
}

/* From the answer to the problem: g = -(H + dual I) s with |s| = along times the radius. */
static void constructed(size_t d, spectrum *eigenvalue, double dual, double along, double radius) {
  struct problem p;
  struct answer a;
  open_problem(&p, d, radius);
  double *s = base_alloc(d, sizeof *s);
  for (size_t i = 0; i < d; i++) {
    p.h[i + i * d] = eigenvalue(i, d);
    s[i] = ctest_normal();
  }
  la_scale(d, along * radius / la_norm(d, s), s);
  turn(d, p.h, s);
  turn(d, p.h, s);
  la_matvec(d, d, p.h, d, s, p.g);
  la_axpy(d, dual, s, p.g);
  la_scale(d, -1, p.g);
  solve(&p, &a);
  const double gap = dual + eigenvalue(0, d); /* of H + dual I: it amplifies what was rounded in g */
  la_axpy(d, -1, s, a.step);
  CHECK(la_norm(d, a.step) <= 1e-8 * radius * fmax(1, 1e-5 / gap) * (eigenvalue == wide ? 100 : 1));
  CHECK_NEAR(a.dual, dual, 1e-8 * fmax(1, dual) * (eigenvalue == wide ? 100 : 1));
  base_free(a.step);
  base_free(s);
  close_problem(&p);
}

static void random_symmetric(size_t d, double *h, double shift) {
  for (size_t j = 0; j < d; j++)
    for (size_t i = j; i < d; i++) h[i + j * d] = ctest_normal() * (i == j ? 1 : sqrt(0.5)) + (i == j ? shift : 0);
  la_symmetrise(d, h);
}

static void random_problems(size_t d) {
  for (int k = 0; k < 12; k++) {
    struct problem p;
    struct answer a;
    open_problem(&p, d, pow(10, (double)(k % 4) - 2));
    random_symmetric(d, p.h, (k / 4 - 1) * 2 * sqrt((double)d));
    for (size_t i = 0; i < d; i++) p.g[i] = ctest_normal();
    solve(&p, &a);
    base_free(a.step);
    close_problem(&p);
  }
}

/* g has no part along the eigenvectors of the smallest eigenvalue, one or two of them, and the rest of the answer ends
 * inside: dual = -smallest and |s| = r. */
static void hard_cases(size_t d) {
  for (size_t multiple = 1; multiple <= 2 && multiple < d; multiple++) {
    for (int turned = 0; turned <= 1; turned++) {
      struct problem p;
      struct answer a;
      open_problem(&p, d, 2);
      double *s = base_alloc(d, sizeof *s), rest;
      for (size_t i = 0; i < d; i++) {
        p.h[i + i * d] = i < multiple ? -1 : (double)i / (double)d;
        s[i] = i < multiple ? 0 : ctest_normal();
      }
      la_scale(d, 1 / la_norm(d, s), s);
      if (turned) turn(d, p.h, s);
      la_matvec(d, d, p.h, d, s, p.g);
      la_axpy(d, 1, s, p.g);
      la_scale(d, -1, p.g);
      solve(&p, &a);
      CHECK_NEAR(a.dual, 1, 1e-12);
      CHECK_NEAR(la_norm(d, a.step), 2, 1e-12);
      la_axpy(d, -1, s, a.step); /* what is left is along the eigenvectors: sqrt(r^2 - 1) long */
      CHECK_NEAR(la_norm(d, a.step), sqrt(3), 1e-9);
      rest = la_dot(d, a.step, s);
      CHECK_NEAR(rest, 0, 1e-9);
      base_free(a.step);
      base_free(s);
      close_problem(&p);
    }
  }
}

/* A small part of g decides on which side the answer lies, unless it drowns in the rounding of the eigenvector. */
static void nearly_hard(size_t d, double along) {
  for (int sign = -1; d > 1 && sign <= 1; sign += 2) {
    struct problem p;
    struct answer a;
    open_problem(&p, d, 2);
    for (size_t i = 0; i < d; i++) {
      p.h[i + i * d] = i == 0 ? -1 : (double)i / (double)d;
      p.g[i] = i == 0 ? sign * along : i == 1 ? 1 : 0;
    }
    solve(&p, &a);
    /* s_1 = -along / mu, s_2 = -1 / (2 - ... + mu), mu = dual - 1 */
    const double second = 1 / (1 + 1 / (double)d), first = sqrt(4 - second * second);
    if (along < 1e-6 && along > 1e-12) CHECK_NEAR(a.step[0], -sign * first, 1e-5);
    CHECK_NEAR(a.dual - 1, along / fabs(a.step[0]), 1e-9 * along + 1e-13); /* rounding in the eigenvalue */
    base_free(a.step);
    close_problem(&p);
  }
}

/* No gradient; a singular matrix; no matrix at all; extreme sizes. */
static void special(void) {
  const double sizes[] = {1e-100, 1, 1e100};
  for (int k = 0; k < 3; k++) {
    struct problem p;
    struct answer a;
    open_problem(&p, 3, 2);
    for (size_t i = 0; i < 3; i++) p.h[i + i * 3] = ((double)i - 1) * sizes[k];
    solve(&p, &a); /* g = 0: along the eigenvector of -1 */
    CHECK_NEAR(fabs(a.step[0]), 2, 1e-14);
    CHECK_NEAR(a.dual / sizes[k], 1, 1e-14);
    base_free(a.step);
    p.h[0] = 0; /* diag(0, 0, 1): nothing to gain */
    solve(&p, &a);
    CHECK_NEAR(value(&p, a.step), 0, 1e-14 * sizes[k]);
    CHECK_NEAR(a.dual, 0, 1e-14 * sizes[k]);
    base_free(a.step);
    p.h[8] = 0; /* linear */
    p.g[1] = sizes[k];
    solve(&p, &a);
    CHECK_NEAR(a.step[1], -2, 1e-14);
    CHECK_NEAR(a.dual / sizes[k], 0.5, 1e-14);
    base_free(a.step);
    p.h[0] = sizes[k]; /* singular, and g lies in its range: the answer is inside */
    p.g[0] = sizes[k];
    p.g[1] = 0;
    solve(&p, &a);
    CHECK_NEAR(a.step[0], -1, 1e-14);
    CHECK_NEAR(value(&p, a.step) / sizes[k], -0.5, 1e-14);
    base_free(a.step);
    close_problem(&p);
  }
}

/* The least value on a grid in polar coordinates, and on ever finer ones around the best point. */
static double grid_minimum(const struct problem *p) {
  enum { LEVELS = 14 };
  const int n0 = p->d == 2 ? 40 : 14, n1 = p->d == 2 ? 360 : 48, n2 = p->d == 2 ? 0 : 24;
  const double pi = 3.141592653589793;
  double centre[3] = {p->radius / 2, 0, pi / 2}, width[3] = {p->radius / 2, pi, pi / 2}, best = INFINITY, at[3] = {0};
  for (int level = 0; level < LEVELS; level++) {
    const int size[3] = {level ? 8 : n0, level ? 8 : n1, n2 == 0 ? 0 : level ? 8 : n2};
    for (int i = -size[0]; i <= size[0]; i++)
      for (int j = -size[1]; j <= size[1]; j++)
        for (int k = -size[2]; k <= size[2]; k++) {
          const double r = fmin(fmax(centre[0] + width[0] * i / size[0], 0), p->radius);
          const double a = centre[1] + width[1] * j / size[1];
          const double b = size[2] ? centre[2] + width[2] * k / size[2] : pi / 2;
          const double s[3] = {r * cos(a) * sin(b), r * sin(a) * sin(b), r * cos(b)};
          double q = 0;
          for (size_t x = 0; x < p->d; x++) {
            q += p->g[x] * s[x];
            for (size_t y = 0; y < p->d; y++) q += p->h[x + y * p->d] * s[x] * s[y] / 2;
          }
          if (q < best) {
            best = q;
            at[0] = r;
            at[1] = a;
            at[2] = b;
          }
        }
    memcpy(centre, at, sizeof centre);
    for (int i = 0; i < 3; i++) width[i] *= level == 0 ? 2.0 / (i == 0 ? n0 : i == 1 ? n1 : fmax(n2, 1)) : 0.35;
  }
  return best;
}

static void brute_force(size_t d, int kind) {
  struct problem p;
  struct answer a;
  open_problem(&p, d, 1);
  random_symmetric(d, p.h, kind % 4 == 1 ? 3 : kind % 4 == 2 ? -3 : 0);
  for (size_t i = 0; i < d; i++) p.g[i] = ctest_normal();
  if (kind % 4 == 3) { /* hard: diag(-1, ...) and g across its first vector */
    memset(p.h, 0, d * d * sizeof *p.h);
    for (size_t i = 0; i < d; i++) {
      p.h[i + i * d] = i == 0 ? -1 : ctest_uniform();
      p.g[i] = i == 0 ? 0 : ctest_uniform() - 0.5;
    }
    turn(d, p.h, p.g);
  }
  solve(&p, &a);
  CHECK_NEAR(value(&p, a.step), grid_minimum(&p), 1e-8);
  base_free(a.step);
  close_problem(&p);
}

static int always(void) { return 1; }

static void refusals(void) {
  double h[4] = {1, 0, 0, 1}, g[2] = {1, 1}, s[2], dual, smallest;
  const double bad[] = {NAN, INFINITY};
  const struct linop op = {2, apply, h}, empty = {0, apply, h};
  for (int k = 0; k < 2; k++) {
    double broken[4] = {1, 0, 0, bad[k]}, steep[2] = {1, bad[k]};
    CHECK(la_trust_region(2, broken, g, 1, s, &dual, &smallest) == BASE_ERR_NUMERIC);
    CHECK(la_trust_region(2, h, steep, 1, s, &dual, &smallest) == BASE_ERR_NUMERIC);
    CHECK(la_trust_region(2, h, g, bad[k], s, &dual, &smallest) == BASE_ERR_ARGUMENT);
    CHECK(la_trust_region_lanczos(&op, g, bad[k], s, &dual, &smallest) == BASE_ERR_ARGUMENT);
  }
  CHECK(la_trust_region(2, h, g, 0, s, &dual, &smallest) == BASE_ERR_ARGUMENT);
  CHECK(la_trust_region(0, h, g, 1, s, &dual, &smallest) == BASE_ERR_ARGUMENT);
  CHECK(la_trust_region_lanczos(&empty, g, 1, s, &dual, &smallest) == BASE_ERR_ARGUMENT);
  const struct base_host host = {always, NULL};
  base_set_host(&host);
  CHECK(la_trust_region_lanczos(&op, g, 1, s, &dual, &smallest) == BASE_ERR_STOPPED);
  base_set_host(NULL);
  /* Each allocation that fails is said, and nothing stays. */
  for (int which = 1, status = BASE_ERR_MEMORY; status != BASE_OK; which++) {
    const long before = ctest_live_allocations();
    ctest_fail_allocation(which);
    status = which % 2 ? la_trust_region(2, h, g, 1, s, &dual, &smallest)
                       : la_trust_region_lanczos(&op, g, 1, s, &dual, &smallest);
    CHECK(status == BASE_OK || status == BASE_ERR_MEMORY);
    CHECK(ctest_live_allocations() == before);
    ctest_fail_allocation(0);
  }
}
