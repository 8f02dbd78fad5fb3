/*
 * SPIDER (Liu & Talwar 2024; Fang et al. 2018), each record in one leaf:
 *
 *   plan       the number b of records of an epoch, and the accuracy alpha that they allow, from the gap and the
 *              remaining records
 *   epoch      gradient and Hessian on b fresh records. If |gradient| <= alpha, the point is kept if no eigenvalue is
 *              below -sqrt(M alpha) / 2 up to the noise; otherwise the step is along its eigenvector, against the
 *              gradient. If the gradient is longer, w <- w - gradient / G
 *   steps      the gradient follows w: differences on b G |step| / L further records, as sensitive as b gradients
 *   new epoch  when the differences have used b records, because b new ones cost no more then; after `leaves` releases;
 *              or when the gradient is below 3/4 alpha
 *   trial      with `escape` drift no Hessian is used: from a short gradient on, a fixed number of steps as before. If
 *              they lead far the descent goes on there, otherwise the point where they began is kept (Tao et al. 2025;
 *              proofs: drift)
 *   kept       a new plan for the remaining records, as if the gap were an eighth of what it was
 *   end        the remaining records, at least a fraction of all, certify the last point that was kept or, if none was,
 *              the last point (population.c)
 *
 * With published constants (spider_published.c) there is one plan, and an epoch ends when the norms of gradients along
 * the way add up to a bound. Where the gradient is short, a few steps are made on the quadratic model there, by noisy
 * products with its Hessian; if they lead far enough the point is left, otherwise it is kept.
 *
 * L, G and M bound slopes, curvatures and third derivatives. Alpha and b only steer the steps: the certificate at the
 * end needs none of this.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define STOP 0.75      /* of alpha: below it the gradient is measured again, in a new epoch */
#define STAGE 8        /* the gap is divided by this at a kept point */
#define WORTHWHILE 0.9 /* largest ratio of a new plan's alpha to the old one */
#define MOST_STEPS 100000
/* Largest probability of a trial that does not drift far where it should. */
#define TRIAL_FAILS 0.05

struct run {
  const struct objective *f;
  const struct spider_options *o;
  struct opt_result *result;
  double rho, gap;
  size_t reserve; /* records for the certificate */
  struct epoch epoch;
  double alpha; /* of the plan */
  struct spider_published published;
  double drift;  /* number of records in the epoch's differences */
  double moved;  /* length of the last step */
  size_t leaves; /* number of leaves in the epoch */
  int stage, steps;
  int fresh; /* must an epoch begin? */
  int done, kept_any;
  size_t trial; /* number of steps that are left of a trial, or zero */
  double *w, *kept, *gradient, *vector, *slope, *product, *hessian;
  double *from; /* the point where a trial began */
};

static int start(struct run *r);
static int find_gap(struct run *r);
static void settings(struct run *r);
static void plan(struct run *r, double records);
static void plan_published(struct run *r, double records);
static double records_left(const struct run *r);
static double trial_limit(const struct run *r);
static int walk(struct run *r);
static int first_leaf(struct run *r);
static int next_leaf(struct run *r);
static size_t next_records(struct run *r);
static int look_at_curvature(struct run *r, const struct epoch_sd *sd);
static int walk_on_model(struct run *r);
static void step(struct run *r);
static void keep(struct run *r);
static void move(struct run *r, double length, const double *along);
static int note(struct run *r, const char *query, double estimate, double sd);

int spider_run(struct oracle *oracle, const struct penalty *penalty, const struct spider_options *options, double rho,
               double *w, struct opt_result *result) {
  struct objective f;
  objective_init(&f, oracle, penalty);
  result_init(result);
  result->status = OPT_RECORDS;
  result->gap = NAN;
  size_t dim = f.dim;
  double *memory = base_alloc(dim * (6 + dim), sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  struct run r = {.f = &f, .o = options, .result = result, .rho = rho * ALMOST, .w = w, .kept = memory};
  r.gradient = memory + dim;
  r.vector = memory + 2 * dim;
  r.slope = memory + 3 * dim;
  r.product = memory + 4 * dim;
  r.from = memory + 5 * dim;
  r.hessian = memory + 6 * dim;
  int status = start(&r);
  if (status == BASE_OK) status = walk(&r);
  if (r.kept_any) memcpy(w, r.kept, dim * sizeof(double));
  double share = f.lower > 0 ? options->hessian_share : 0;
  if (status == BASE_OK) status = population_certify(&f, w, share, 1 - options->confidence, result);
  fresh_close(oracle);
  base_free(memory);
  if (result->gradient_upper <= options->eps_g && result->eigen_lower >= -options->eps_h) result->status = OPT_SOSP;
  return status == BASE_ERR_RECORDS ? BASE_OK : status;
}

double spider_default_alpha(struct oracle *oracle, const struct penalty *penalty, const struct spider_options *options,
                            double rho, const double *w) {
  struct objective f;
  objective_init(&f, oracle, penalty);
  struct run r = {.f = &f, .o = options, .rho = rho, .w = (double *)w};
  r.gap = isnan(options->gap) ? gap_public(&f, w) : options->gap;
  settings(&r);
  plan(&r, (1 - options->certificate_share) * (double)oracle_rows(oracle));
  return r.alpha;
}

static int start(struct run *r) {
  const struct spider_options *o = r->o;
  int status = fresh_open(r->f->oracle, r->rho);
  if (status != BASE_OK) return status;
  struct trace_row row = {0, 0, "fresh records", NAN, NAN, 1, r->rho, 0};
  status = trace_add(&r->result->trace, &row);
  if (status == BASE_OK) status = find_gap(r);
  r->reserve = (size_t)ceil(o->certificate_share * (double)oracle_rows(r->f->oracle));
  r->fresh = 1;
  settings(r);
  plan(r, records_left(r));
  r->result->gap = r->gap;
  return status;
}

/* The caller's gap, a public one at zero, or the smaller of a public one and a value on a few records. */
static int find_gap(struct run *r) {
  const struct objective *f = r->f;
  double rest = penalty_value(f->penalty, f->dim, r->w) - oracle_floor(f->oracle), value, sd;
  size_t records = (size_t)ceil(r->o->value_share * (double)oracle_rows(f->oracle));
  r->gap = isnan(r->o->gap) ? gap_public(f, r->w) : r->o->gap;
  if (!isnan(r->o->gap) || la_norm(f->dim, r->w) == 0) return BASE_OK;
  const struct answer to = {.value = &value, .sd = &sd};
  int status = fresh_release(f->oracle, &query_value, &(struct ask){.at = r->w}, records, to);
  if (status != BASE_OK) return status;
  r->gap = fmin(r->gap, fmax(value + sd + rest, 0));
  return note(r, "value", value, sd);
}

static void settings(struct run *r) {
  const struct spider_options *o = r->o;
  double share = r->f->lower > 0 && o->escape == ESCAPE_HESSIAN ? o->hessian_share : 0;
  r->epoch = (struct epoch){.leaves = (size_t)o->leaves, .factor = o->noise, .curvature_share = share};
}

static double records_left(const struct run *r) {
  size_t left = fresh_left(r->f->oracle);
  return left > r->reserve ? (double)(left - r->reserve) : 0;
}

/*
 * A descent by the gap with gradients above alpha / 2 has length at most 4 gap / alpha, and each unit of length needs
 * b G / L records; two epochs' first leaves come in addition. alpha is twice the error of a gradient on b records.
 * Solved by damped iteration, whose result is public whether it converged or not.
 */
static void plan(struct run *r, double m) {
  const struct objective *f = r->f;
  if (r->o->published) {
    plan_published(r, m);
    return;
  }
  struct epoch *e = &r->epoch;
  double dim = (double)f->dim, shrunk = r->gap * pow(STAGE, -r->stage);
  double alpha = f->steepest;
  for (int i = 0; i < 100; i++) {
    double b = floor(m / (2 + 4 * f->smooth * shrunk / (f->steepest * alpha)));
    e->records = (size_t)fmax(b, 1);
    double sd = epoch_noise(f->oracle, r->rho, e, r->w).gradient;
    alpha = (alpha + 2 * (f->steepest / sqrt((double)e->records) + sd * sqrt(dim))) / 2;
  }
  r->alpha = alpha;
}

/* The error of gradients is as large as alpha, so a gradient of norm at most twice alpha counts as short. */
static void plan_published(struct run *r, double m) {
  struct epoch *e = &r->epoch;
  e->records = 1;
  double sd = epoch_noise(r->f->oracle, r->rho, e, r->w).gradient, mu = sqrt(2 * r->rho * (1 - e->curvature_share));
  r->published = spider_published(r->f, r->gap, mu, sd, fmax(m, 1));
  r->alpha = 2 * r->published.alpha;
  e->records = (size_t)fmax(fmin(ceil(r->published.records), (double)oracle_rows(r->f->oracle) + 1), 1);
  e->products = e->curvature_share > 0 ? (size_t)fmin(r->published.products, MOST_STEPS) : 0;
}

static int walk(struct run *r) {
  int status = BASE_OK;
  while (status == BASE_OK && !r->done && r->steps < MOST_STEPS) {
    base_progress(100 - (int)(100 * records_left(r) / (double)oracle_rows(r->f->oracle)), 100);
    status = r->fresh ? first_leaf(r) : next_leaf(r);
  }
  return status;
}

static int first_leaf(struct run *r) {
  const struct objective *f = r->f;
  const struct epoch *e = &r->epoch;
  struct epoch_sd sd;
  r->done = (double)e->records > records_left(r);
  if (r->done) return BASE_OK;
  int released = e->curvature_share > 0 && e->products == 0;
  int status = epoch_open(f->oracle, e, r->w, r->gradient, released ? r->hessian : NULL, &sd);
  if (status != BASE_OK) return status;
  r->fresh = 0;
  r->leaves = 1;
  r->drift = 0;
  r->steps++;
  penalty_add_gradient(f->penalty, f->dim, r->w, r->gradient);
  double norm = la_norm(f->dim, r->gradient);
  status = note(r, "gradient", norm, sd.gradient);
  if (status != BASE_OK) return status;
  if (r->trial == 0 && norm <= r->alpha) return look_at_curvature(r, &sd);
  step(r);
  return BASE_OK;
}

static int next_leaf(struct run *r) {
  const struct objective *f = r->f;
  size_t records = next_records(r);
  double sd;
  r->fresh = r->drift > (double)r->epoch.records || r->leaves == r->epoch.leaves;
  if (r->fresh) return BASE_OK;
  r->done = (double)records > records_left(r);
  if (r->done) return BASE_OK;
  int status = epoch_leaf(f->oracle, r->w, records, r->gradient, &sd);
  if (status != BASE_OK) return status;
  r->leaves++;
  r->steps++;
  penalty_add_gradient(f->penalty, f->dim, r->w, r->gradient);
  double norm = la_norm(f->dim, r->gradient);
  r->fresh = r->trial == 0 && norm <= STOP * r->alpha;
  status = note(r, "gradient difference", norm, sd);
  if (status == BASE_OK && !r->fresh) step(r);
  return status;
}

/* Number of records of the next leaf; the drift grows by it or, with published constants, proportionally to the
 * gradient. */
static size_t next_records(struct run *r) {
  size_t least = epoch_records(r->f->oracle, r->w);
  double gradient = r->f->smooth * r->moved;
  r->drift += r->o->published ? gradient / r->published.drift * (double)r->epoch.records : (double)least;
  double wanted = r->o->published ? ceil(gradient * r->published.batch) : 0;
  return wanted > (double)least ? (size_t)fmin(wanted, (double)(SIZE_MAX / 2)) : least;
}

/* The shortest step along an eigenvector that is as negative. */
static double trial_limit(const struct run *r) { return sqrt(r->alpha / r->f->third); }

/* How many steps a trial has: so many that the noise of its first gradient alone drives it further than the limit,
 * along an eigenvector of curvature -sqrt(M alpha), with probability 1 - TRIAL_FAILS (proofs: drift). */
static size_t trial_steps(const struct run *r, double sd) {
  const struct objective *f = r->f;
  double enough = trial_limit(r) / (TRIAL_FAILS * sqrt(acos(-1) / 2));
  double steps = log(fmax(f->smooth * enough / sd, 1)) / log1p(sqrt(f->third * r->alpha) / f->smooth);
  return 1 + (size_t)ceil(fmin(steps, MOST_STEPS));
}

/* If the gradient is short: the point is kept, or left. */
static int look_at_curvature(struct run *r, const struct epoch_sd *sds) {
  const struct objective *f = r->f;
  double value = -f->lower, sd = sds->hessian;
  if (r->epoch.products > 0) return walk_on_model(r);
  if (r->o->escape == ESCAPE_DRIFT && f->lower > 0) {
    memcpy(r->from, r->w, f->dim * sizeof(double));
    r->trial = trial_steps(r, sds->gradient);
    step(r);
    return BASE_OK;
  }
  if (r->epoch.curvature_share > 0) {
    penalty_add_hessian(f->penalty, f->dim, r->w, r->hessian);
    int status = la_eigen_min(f->dim, r->hessian, &value, r->vector);
    if (status == BASE_OK) status = note(r, "hessian", value, sd);
    if (status != BASE_OK) return status;
  }
  if (value >= -sqrt(f->third * r->alpha) / 2 - sqrt(2 * (double)f->dim) * sd) {
    keep(r);
    return BASE_OK;
  }
  double uphill = la_dot(f->dim, r->vector, r->gradient) > 0 ? -1 : 1;
  move(r, uphill * 2 * fabs(value) / f->third, r->vector);
  return BASE_OK;
}

/* Liu & Talwar, algorithm 2, at the start of an epoch. The first step is along the gradient, whose noise suffices. */
static int walk_on_model(struct run *r) {
  const struct objective *f = r->f;
  size_t dim = f->dim;
  double *v = r->vector, *slope = r->slope, *product = r->product, *diagonal = r->hessian, sd;
  memset(v, 0, dim * sizeof *v);
  memset(diagonal, 0, dim * sizeof *diagonal);
  penalty_add_diagonal(f->penalty, dim, r->w, diagonal);
  for (size_t i = 0; i <= r->epoch.products; i++) {
    memcpy(slope, r->gradient, dim * sizeof *slope);
    if (i > 0) {
      int status = epoch_product(f->oracle, v, product, &sd);
      if (status == BASE_OK) status = note(r, "hessian product", la_norm(dim, product), sd);
      if (status != BASE_OK) return status;
      la_axpy(dim, 1, product, slope);
      for (size_t j = 0; j < dim; j++) slope[j] += diagonal[j] * v[j];
    }
    la_axpy(dim, -1 / f->smooth, slope, v);
    if (la_norm(dim, v) >= r->published.length) {
      r->fresh = 1;
      move(r, 1, v);
      return BASE_OK;
    }
  }
  keep(r);
  return BASE_OK;
}

/* Against the gradient. A trial that drifts far has left its start; one that has no step left returns there. */
static void step(struct run *r) {
  size_t dim = r->f->dim;
  move(r, -1 / r->f->smooth, r->gradient);
  if (r->trial == 0) return;
  for (size_t j = 0; j < dim; j++) r->product[j] = r->w[j] - r->from[j];
  int far = la_norm(dim, r->product) >= trial_limit(r);
  r->trial = far ? 0 : r->trial - 1;
  if (far || r->trial > 0) return;
  memcpy(r->w, r->from, dim * sizeof(double));
  keep(r);
}

static void keep(struct run *r) {
  double alpha = r->alpha;
  memcpy(r->kept, r->w, r->f->dim * sizeof(double));
  r->kept_any = 1;
  r->stage++;
  r->fresh = 1;
  plan(r, records_left(r));
  r->done = r->alpha > WORTHWHILE * alpha;
}

static void move(struct run *r, double length, const double *along) {
  la_axpy(r->f->dim, length, along, r->w);
  r->moved = fabs(length) * la_norm(r->f->dim, along);
  trace_last(&r->result->trace)->step = r->moved;
}

static int note(struct run *r, const char *query, double estimate, double sd) {
  struct trace_row row = {r->stage + 1, r->steps, query, estimate, NAN, sd, 0, 0};
  return trace_add(&r->result->trace, &row);
}

static const char *const factors[] = {"sqrt", "tree", "independent", NULL};
static const char *const escapes[] = {[ESCAPE_HESSIAN] = "hessian", [ESCAPE_DRIFT] = "drift", NULL};

static const struct field spider_fields[] = {
    FIELD(spider_options, FLAG, published),
    {"noise", FIELD_CHOICE, offsetof(struct spider_options, noise), factors},
    {"escape", FIELD_CHOICE, offsetof(struct spider_options, escape), escapes},
    FIELD(spider_options, COUNT, leaves),
    FIELD(spider_options, NUMBER, eps_g),
    FIELD(spider_options, NUMBER, eps_h),
    FIELD(spider_options, NUMBER, confidence),
    FIELD(spider_options, NUMBER, hessian_share),
    FIELD(spider_options, NUMBER, certificate_share),
    FIELD(spider_options, NUMBER, value_share),
    FIELD(spider_options, NUMBER, gap),
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(spider)
