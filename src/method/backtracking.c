/*
 * Gradient descent with private backtracking (BLSGD: Chen & Lee 2020, algorithm 2; on the full data, with an
 * exponential mechanism for the search, DP-AGD: Lee & Kifer 2018, algorithm 2):
 *
 *   repeat until the next attempt cannot be paid for:
 *     fresh <- gradient at w
 *     if the last attempt did not move: adapt the costs of attempts; g <- mean of the gradients at w
 *     step <- the first of longest * ratio^i, i < k, with f(w) - f(w - step g) >= sufficient * step * |g|^2
 *     if there is one: w <- w - step g; after every tenth: longest <- min(1.2 * longest of the ten, longest)
 *   release the gradient at w with the rest of the budget: the certificate
 *
 * Costs are adapted by the angle between the fresh gradient and those released at the same w. If it is wider than
 * usual between gradients of successive points, the cost of gradients is raised; if it is far narrower, the
 * search failed, and the cost of searches is raised. After an exponential mechanism, which chose to stay, it is always
 * that of gradients. If gradients are clipped (BLSGD-AC there), their clip falls the first time that their cost
 * is raised at a point. All of this uses releases only (proofs: post-processing). Searches compare the loss
 * unclipped: its decrease is bounded by the length of a step. For a network there is no such bound, so each record's
 * decrease is clipped to the clip of gradients times that length; nothing is certified there.
 *
 * An attempt on batches draws a batch for its gradient. A sparse vector has a batch of its own; noisy decreases use
 * the gradient's batch and are paid for with it (proofs: pure-batches, steps-on-batches). The published run charges
 * both on one batch with its lemma 4, divides by the random number of rows, and stops when no order has budget left,
 * which is private at no order; here the order is fixed before the run (proofs: renyi-filter).
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

#define RAISE 1.3  /* factor of a cost */
#define WIDE 1.1   /* a wide angle, relative to the usual one */
#define NARROW 0.5 /* a narrow angle */
#define USUAL 0.8  /* weight of earlier angles in the usual one */
#define WINDOW 10  /* steps after which the longest candidate is adapted */
#define LONGER 1.2 /* largest ratio of the longest candidate to the longest of these steps */

struct costs {
  double gradient, search;
};

struct descent {
  struct objective *f; /* on batches, or on the full data */
  const struct backtracking_options *o;
  struct opt_result *result;
  int attempt, steps;
  struct costs next;                    /* of the next attempt */
  int cut;                              /* was the clip cut since the last step? */
  double longest, taken;                /* longest candidate; longest step since it was adapted */
  double usual;                         /* angle between gradients of successive points, in degrees */
  double *w, *fresh, *last, *direction; /* last: the gradient of the last step */
  double *scratch;
  struct pool here;                      /* gradients at w */
  size_t k;                              /* number of candidates */
  double *step, *offset, *decrease, *sd; /* k each */
};

/* What certifies() needs to find the default target. */
struct wish {
  const struct objective *f;
  double rho, error;
};

static int init(struct opt_result *result, const struct backtracking_options *o, struct oracle *oracle,
                const struct penalty *penalty, struct objective *f);
static int can_search(struct descent *s);
static int iterate(struct descent *s, double end);
static int attempt(struct descent *s, struct costs cost);
static int measure(struct descent *s, struct costs cost);
static void adapt(struct descent *s);
static int search(struct descent *s, double rho, double *step);
static int find(struct descent *s, double rho, size_t *index);
static void set_candidates(struct descent *s);
static struct ask ask_of(const struct descent *s);
static void move(struct descent *s, double step);
static int certify(struct descent *s, double rho);
static int certifies(const void *wish, double alpha);

static int by_decreases(const struct descent *s) { return s->o->search == OPT_GAUSSIAN; }
/* An exponential mechanism has staying among its candidates. */
static int may_stay(const struct backtracking_options *o) { return o->search == OPT_EXPONENTIAL; }

/* A network has no bound on gradients. */
static int of_network(const struct objective *f) { return isinf(f->steepest); }

/* In degrees. */
static double angle(size_t n, const double *a, const double *b) {
  double cosine = la_dot(n, a, b) / (la_norm(n, a) * la_norm(n, b));
  return acos(fmax(-1, fmin(cosine, 1))) * 180 / M_PI;
}

int backtracking_run(struct oracle *oracle, const struct penalty *penalty, const struct backtracking_options *options,
                     double rho, double *w, struct opt_result *result) {
  const struct backtracking_options *o = options;
  struct objective f, of_steps;
  int status = init(result, o, oracle, penalty, &f), network = of_network(&f);
  if (status != BASE_OK) return status;
  of_steps = f;
  if (o->batch.size > 0) of_steps.batch = &o->batch;
  of_steps.clip = o->clip * (network ? 1 : f.steepest);
  size_t dim = f.dim, k = (size_t)o->candidates + (size_t)may_stay(o);
  double *memory = base_alloc(5 * dim + 4 * k, sizeof(double));
  if (!memory) return BASE_ERR_MEMORY;
  struct descent s = {.f = &of_steps, .o = o, .result = result, .w = w, .k = k};
  s.fresh = memory;
  s.last = memory + dim;
  s.direction = memory + 2 * dim;
  s.scratch = memory + 3 * dim;
  s.here = (struct pool){.mean = memory + 4 * dim, .length = dim};
  s.step = memory + 5 * dim;
  s.offset = s.step + k;
  s.decrease = s.offset + k;
  s.sd = s.decrease + k;
  double end = fmax(oracle_left(oracle) - rho, 0), last = o->certificate_share * rho;
  double each = (rho - last) / o->attempts * ALMOST;
  s.next = (struct costs){o->gradient_share * each, (1 - o->gradient_share) * each};
  s.longest = o->first / (network ? 1 : f.smooth);
  s.usual = 90;
  status = can_search(&s) ? iterate(&s, end + last) : BASE_ERR_ARGUMENT;
  s.f = &f;
  if (status == BASE_OK && !network) status = certify(&s, (oracle_left(oracle) - end) * ALMOST);
  base_free(memory);
  return status;
}

static int init(struct opt_result *result, const struct backtracking_options *o, struct oracle *oracle,
                const struct penalty *penalty, struct objective *f) {
  int status = result_init_convex(result, o->attempts, oracle, penalty, f), network = of_network(f);
  result->status = OPT_BUDGET;
  if (o->candidates < 1 || (may_stay(o) && (o->batch.size > 0 || network))) return BASE_ERR_ARGUMENT;
  if (!network) return status;
  result->eigen_known = 0;
  result_forget(result);
  return penalty->kind == PENALTY_NONE && o->clip > 0 && o->certificate_share == 0 ? BASE_OK : BASE_ERR_ARGUMENT;
}

double backtracking_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                                  const struct backtracking_options *options, double rho, const double *w) {
  (void)w;
  struct objective f;
  objective_init(&f, oracle, penalty);
  const struct wish wish = {&f, options->certificate_share * rho, 1 - options->confidence};
  return plan_smallest_alpha(certifies, &wish, f.steepest);
}

/* Assumes a point with |g| = alpha / 2 and the mean of |g~|^2. */
static int certifies(const void *wish, double alpha) {
  const struct wish *c = wish;
  double sd = objective_sd_all(c->f, &query_gradient, NULL, c->rho);
  double seen = sqrt(alpha * alpha / 4 + (double)c->f->dim * sd * sd);
  return confidence_norm(seen, sd, c->f->dim, c->error) <= alpha;
}

/* end: what must stay in the ledger. */
static int iterate(struct descent *s, double end) {
  int status = BASE_OK;
  while (status == BASE_OK && s->next.gradient + s->next.search <= oracle_left(s->f->oracle) - end) {
    base_progress(++s->attempt, s->o->attempts + 1);
    status = attempt(s, s->next);
  }
  return status;
}

static int attempt(struct descent *s, struct costs cost) {
  double step = 0, together = cost.gradient + (by_decreases(s) ? cost.search : 0);
  int status = objective_step_open_search(s->f, s->w, together, 1 - cost.gradient / together);
  if (status == BASE_OK) status = measure(s, cost);
  if (!by_decreases(s)) objective_step_close(s->f);
  if (status == BASE_OK) status = search(s, cost.search, &step);
  objective_step_close(s->f);
  if (status == BASE_OK && step > 0) move(s, step);
  return status;
}

static int measure(struct descent *s, struct costs cost) {
  size_t dim = s->f->dim;
  double sd, paid = cost.gradient + (s->f->batch && by_decreases(s) ? cost.search : 0);
  int status = objective_step_gradient(s->f, s->w, cost.gradient, s->fresh, &sd);
  if (status != BASE_OK) return status;
  if (s->here.count > 0) adapt(s);
  pool_add(&s->here, s->fresh, sd, cost.gradient);
  double norm = la_norm(dim, s->fresh);
  double upper = s->f->clip > 0 ? NAN : confidence_norm(norm, sd, dim, 1 - s->o->confidence);
  struct trace_row row = {1, s->attempt, objective_gradient_name(s->f), norm, upper, sd, paid, 0};
  return trace_add(&s->result->trace, &row);
}

/* Sets the costs of the next attempts; this one is paid for as planned. */
static void adapt(struct descent *s) {
  double between = angle(s->f->dim, s->fresh, s->here.mean);
  if (may_stay(s->o) || between > fmin(WIDE * s->usual, 90)) {
    s->next.gradient *= RAISE;
    if (!s->cut) s->f->clip *= 1 - s->o->clip_decay;
    s->cut = 1;
  } else if (between < NARROW * s->usual) {
    s->next.search *= RAISE;
  }
}

/* *step: zero where none was found. */
static int search(struct descent *s, double rho, double *step) {
  size_t index = s->k;
  memcpy(s->direction, s->here.mean, s->f->dim * sizeof(double));
  la_scale(s->f->dim, -1, s->direction);
  set_candidates(s);
  int status = find(s, rho, &index);
  if (status != BASE_OK) return status;
  *step = index < s->k ? s->step[index] : 0;
  double length = *step * la_norm(s->f->dim, s->direction), paid = s->f->batch && by_decreases(s) ? 0 : rho;
  struct trace_row row = {1, s->attempt, objective_search_name(s->f), NAN, NAN, NAN, paid, length};
  return trace_add(&s->result->trace, &row);
}

/* The offset is added to a decrease of the loss: the penalty's decrease, minus the required decrease. */
static void set_candidates(struct descent *s) {
  double required = may_stay(s->o) ? 0 : s->o->sufficient * pow(la_norm(s->f->dim, s->direction), 2);
  for (size_t i = 0; i < s->k; i++) {
    s->step[i] = s->longest * pow(s->o->ratio, (double)i);
    if (may_stay(s->o) && i + 1 == s->k) s->step[i] = 0;
    double penalty = objective_penalty_decrease(s->f, s->w, s->direction, s->step[i], s->scratch);
    s->offset[i] = penalty - required * s->step[i];
  }
}

static struct ask ask_of(const struct descent *s) {
  return (struct ask){.at = s->w,
                      .along = s->direction,
                      .k = s->k,
                      .step = s->step,
                      .offset = s->offset,
                      .clip = s->f->clip,
                      .scale_free = s->o->search == OPT_SVT};
}

/* Before anything is charged: is the budget of a sparse vector large enough to draw its noise? */
static int can_search(struct descent *s) {
  set_candidates(s);
  const struct ask ask = ask_of(s);
  return s->o->search != OPT_SVT || isfinite(objective_scale_first(s->f, &ask, s->next.search));
}

static int find(struct descent *s, double rho, size_t *index) {
  const struct ask ask = ask_of(s);
  if (s->o->search == OPT_SVT) return objective_first_step(s->f, &ask, rho, index);
  if (may_stay(s->o)) {
    return release(oracle_all(s->f->oracle), &query_best_step, &ask, rho, (struct answer){.index = index});
  }
  int status = objective_step_decreases(s->f, &ask, rho, s->decrease, s->sd);
  for (*index = 0; *index < s->k && s->decrease[*index] + s->offset[*index] < 0;) ++*index;
  return status;
}

static void move(struct descent *s, double step) {
  size_t dim = s->f->dim;
  la_axpy(dim, step, s->direction, s->w);
  if (s->steps > 0) s->usual = USUAL * s->usual + (1 - USUAL) * angle(dim, s->here.mean, s->last);
  memcpy(s->last, s->here.mean, dim * sizeof(double));
  pool_reset(&s->here);
  s->cut = 0;
  s->taken = fmax(s->taken, step);
  if (++s->steps % WINDOW > 0) return;
  s->longest = fmin(LONGER * s->taken, s->longest);
  s->taken = 0;
}

static int certify(struct descent *s, double rho) {
  struct opt_result *r = s->result;
  double sd;
  int status = objective_gradient(s->f, s->w, rho, s->fresh, &sd);
  if (status != BASE_OK) return status;
  r->gradient_norm = la_norm(s->f->dim, s->fresh);
  r->gradient_upper = confidence_norm(r->gradient_norm, sd, s->f->dim, 1 - s->o->confidence);
  if (r->gradient_upper <= s->o->eps_g) r->status = OPT_SOSP;
  struct trace_row row = {2, 1, "gradient", r->gradient_norm, r->gradient_upper, sd, rho, 0};
  return trace_add(&r->trace, &row);
}

static const struct field backtracking_fields[] = {
    {"search", FIELD_CHOICE, offsetof(struct backtracking_options, search), line_searches},
    FIELD(backtracking_options, COUNT, attempts),
    FIELD(backtracking_options, COUNT, candidates),
    FIELD(backtracking_options, NUMBER, first),
    FIELD(backtracking_options, NUMBER, ratio),
    FIELD(backtracking_options, NUMBER, sufficient),
    FIELD(backtracking_options, NUMBER, eps_g),
    FIELD(backtracking_options, NUMBER, confidence),
    FIELD(backtracking_options, NUMBER, gradient_share),
    FIELD(backtracking_options, NUMBER, certificate_share),
    FIELD(backtracking_options, NUMBER, clip),
    FIELD(backtracking_options, NUMBER, clip_decay),
    {"batch_size", FIELD_NUMBER, offsetof(struct backtracking_options, batch.size), NULL},
    {"batch_scheme", FIELD_CHOICE, offsetof(struct backtracking_options, batch.scheme), batch_schemes},
    {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(backtracking)
