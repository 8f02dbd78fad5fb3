/* The privacy profile of a perturbed minimiser by quadrature, in one dimension and in the plane, against the ledger's.
 */
#include "acct/acct.h"
#include "fixture.h"

static void on_the_line(void);
static void in_the_plane(void);

void test_barrier_profile(void) {
  on_the_line();
  in_the_plane();
}

/* In one dimension w has the density phi(v(w) / s) / s |v'(w)|, v(w) = -(sum of gradients + n lambda w). */
struct line {
  int records;
  double x[3], y[3], offset[3], times[3], n_lambda, s;
};

static double log_density(const struct line *l, double w) {
  double slope = l->n_lambda * w, curve = l->n_lambda;
  for (int i = 0; i < l->records; i++) {
    double p = 1 / (1 + exp(l->y[i] * (l->x[i] * w + l->offset[i])));
    slope -= l->times[i] * l->y[i] * l->x[i] * p;
    curve += l->times[i] * l->x[i] * l->x[i] * p * (1 - p);
  }
  return log(curve / l->s) - slope * slope / (2 * l->s * l->s);
}

static double hockey_stick(const struct line *p, const struct line *q, double eps) {
  double reach = 14 * (p->s + 8) / p->n_lambda, total = 0;
  int steps = ctest_size(40000, 16000);
  for (int i = 0; i < steps; i++) {
    double w = reach * (2 * (i + 0.5) / steps - 1);
    /* finer near zero, where the losses bend */
    double u = w * fabs(w) / reach, jacobian = 2 * fabs(w) / reach, lp = log_density(p, u), lq = log_density(q, u);
    if (lp > lq + eps) total += (exp(lp) - exp(lq + eps)) * jacobian;
  }
  return total * 2 * reach / steps / sqrt(2 * M_PI);
}

static double either_way(const struct line *a, const struct line *b, double eps) {
  return fmax(hockey_stick(a, b, eps), hockey_stick(b, a, eps));
}

/* The scale of the noise whose ledger allows this delta at eps, for a ridge n lambda, of the best of three tilts. */
static double noise_for(double eps, double delta, double n_lambda, double change) {
  double most = 0;
  for (int k = 0; k <= 2; k++) {
    double tilt = k / 2.0 / n_lambda;
    const struct acct_perturbed how = {1, loss_determinant(loss_find("logistic"), n_lambda, tilt), tilt, 1};
    struct ledger *ledger;
    if (ledger_create_perturbed(eps, delta, &how, &ledger) != BASE_OK) continue;
    most = fmax(most, sqrt(2 * ledger_capacity(ledger)));
    ledger_free(ledger);
  }
  return change / most;
}

/*
 * The true delta never exceeds the budget's. In one dimension opposite records without offsets, whose slopes are never
 * both near L, are far from it. A record against a null one, with the noise of zero-out, is not, once others pull w to
 * where its slope is near L or its curvature is large; nor are opposite records whose offsets keep both slopes near L:
 * they have the bound for slopes that never change, hardly more than that of a Gaussian release.
 */
static void on_the_line(void) {
  static const double eps[] = {0.2, 1, 4}, delta[] = {1e-8, 1e-3}, share[] = {0.02, 0.1, 0.4};
  double closest[2] = {0, 0}, error = ctest_size(1, 0) ? 2e-3 : 5e-2; /* of the quadrature, at its kink */
  for (int k = 0; k < 54; k++) {
    double e = eps[k % 3], d = delta[k / 3 % 2], n_lambda = 0.25 / expm1(e * share[k / 6 % 3]);
    struct line a = {.records = k < 18 ? 1 : 3, .x = {1, 0.9, 1}, .y = {1, 1, -1}, .times = {1, 1, 1e5}}, b;
    if (k >= 36) a.offset[0] = -2 * a.times[2] / n_lambda;
    a.n_lambda = n_lambda;
    a.s = noise_for(e, d, n_lambda, 2);
    b = a;
    b.y[0] = -1;
    double opposite = either_way(&a, &b, e);
    if (k >= 36) b.offset[0] = -a.offset[0];
    double steep = either_way(&a, &b, e);
    a.s = b.s = noise_for(e, d, n_lambda, 1);
    b.x[0] = 0;
    double null = either_way(&a, &b, e);
    CHECK(fmax(opposite, fmax(steep, null)) <= d * (1 + error));
    closest[0] = fmax(closest[0], steep / d);
    closest[1] = fmax(closest[1], null / d);
  }
  CHECK(closest[0] > 0.9 && closest[1] > 0.9);
}

/* ---- the same in the plane, where rows have angles: a record, and others that both data sets have ---- */

struct plane {
  double z[2][2], y[2], offset[2], times[2], n_lambda, s;
};

static double log_density_at(const struct plane *d, double u, double v) {
  double g[2] = {d->n_lambda * u, d->n_lambda * v}, a = d->n_lambda, b = 0, c = d->n_lambda;
  for (int i = 0; i < 2; i++) {
    const double *z = d->z[i];
    double p = 1 / (1 + exp(d->y[i] * (z[0] * u + z[1] * v + d->offset[i]))), bend = d->times[i] * p * (1 - p);
    for (int j = 0; j < 2; j++) g[j] -= d->times[i] * d->y[i] * z[j] * p;
    a += bend * z[0] * z[0], b += bend * z[0] * z[1], c += bend * z[1] * z[1];
  }
  return log((a * c - b * b) / (d->s * d->s)) - (g[0] * g[0] + g[1] * g[1]) / (2 * d->s * d->s);
}

static double apart(const struct plane *p, const struct plane *q, double eps) {
  double reach = (6 * p->s + 2 + p->times[1]) / p->n_lambda, total = 0;
  int steps = ctest_size(400, 100);
  for (int i = 0; i < steps * steps; i++) {
    double u = reach * (2 * (i % steps + 0.5) / steps - 1), v = reach * (2 * (i / steps + 0.5) / steps - 1);
    double lp = log_density_at(p, u, v), lq = log_density_at(q, u, v);
    if (lp > lq + eps) total += exp(lp) - exp(lq + eps);
  }
  return total * pow(2 * reach / steps, 2) / (2 * M_PI);
}

static void in_the_plane(void) {
  double d = 1e-3, closest = 0;
  for (int k = 0; k < 24; k++) {
    double angle = M_PI * (k % 4) / 3, e = k / 4 % 2 ? 4 : 1, n_lambda = 0.25 / expm1(e * (k / 8 % 2 ? 0.3 : 0.05));
    struct plane a = {{{1, 0}, {0.6, 0.8}}, {1, 1}, {0, 0}, {1, k < 16 ? 0 : 3}, n_lambda, 0}, b;
    if (k % 8 < 4) a.offset[0] = -6 * sqrt(n_lambda) - 20 / n_lambda; /* steep */
    a.s = noise_for(e, d, n_lambda, 2);
    b = a;
    b.z[0][0] = cos(angle), b.z[0][1] = sin(angle);
    double found = fmax(apart(&a, &b, e), apart(&b, &a, e));
    CHECK(found <= d * (ctest_size(1, 0) ? 1.01 : 1.1));
    closest = fmax(closest, found / d);
  }
  CHECK(closest > 0.9);
}
