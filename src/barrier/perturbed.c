/*
 * Releases of whole minimisers of a strongly convex problem on the data (minimise.c).
 *
 * Output perturbation: w* + noise. For n records of norm at most one, two neighbours' gradients differ by at most
 * 2 L / n (zero-out: L / n), and by less in the ball that has every minimiser; so their minimisers differ by at most
 * that over m, and the computed minimisers are within the distance that minimise.c bounds, in both data sets (proofs:
 * minimisers).
 *
 * Objective perturbation (Kifer, Smith & Thakurta 2012; Chaudhuri, Monteleoni & Sarwate 2011): the minimiser w* of
 *
 *   sum_i l(y_i, z_i'w) + n sum_j q_j w_j^2 / 2 + v'w,   v ~ N(0, s^2 I).
 *
 * w* determines v. Between neighbours the density of w* changes by a ratio of determinants, at most 1 + l'' / (n q_j),
 * and by a Gaussian factor whose v is shifted by the difference of two slopes times their rows, at most 2 L (zero-out:
 * L). The shift depends on v, but together the two are at most the largest of a few Gaussian privacy losses
 * (proofs: objective-perturbation), from whose tails the ledger's capacity follows (ledger_create_perturbed). mu is
 * charged here.
 *
 * The computed point is not exactly w*, and v is rounded to its lattice, which shifts the gradient by at most
 * sqrt(d) h / 2. Given w*, and so v, the computed point is a function of the data within tau of w*; with noise it is
 * one more Gaussian release, of sensitivity 2 tau (approximate minima: Iyengar et al. 2019).
 */
#include "acct/acct.h"
#include "barrier/private.h"
#include "la/la.h"
#include "mech/mech.h"

#include <math.h>
#include <string.h>

/* P(|v| > s (sqrt(d) + 40)) <= e^-800, below the smallest double, because the norm is 1-Lipschitz: such a draw means a
 * broken generator. So the linear part of a perturbed objective has a public bound. */
#define LONGEST 40

static int minimise(struct oracle *o, const struct strong *problem, double sd, double *w);
static int is_covered(const struct oracle *o, const struct strong *problem, double rho);
static double record_change(const struct oracle *o);
static double change_within(const struct oracle *o, double ball);

int oracle_minimiser(struct oracle *o, const double *quadratic, double rho, double *w, double *sd) {
  size_t dim = o->model.dim;
  memset(w, 0, dim * sizeof(double));
  double *linear = base_alloc(dim, sizeof(double));
  if (!linear) return BASE_ERR_MEMORY;
  struct strong problem;
  int status = strong_init(&o->all, quadratic, linear, 0, &problem);
  if (status == BASE_OK) {
    double change = change_within(o, problem.ball) / ((double)data_persons(o->engine.rows) * problem.least);
    struct ledger_entry entry = {"minimiser", "gaussian", rho, change + 2 * strong_distance(&problem), 0, 1};
    status = gaussian_scale(entry.sensitivity, rho, dim, sd);
    entry.scale = *sd;
    if (status == BASE_OK) status = ledger_charge(o->ledger, o->neighbours, 1, &entry);
  }
  if (status == BASE_OK) status = minimise(o, &problem, *sd, w);
  base_free(linear);
  return status;
}

int oracle_perturbed_minimiser(struct oracle *o, const double *quadratic, double rho, double rho_output, double *w,
                               struct oracle_perturbation *how) {
  size_t dim = o->model.dim;
  double n = (double)data_rows(o->engine.rows), change = record_change(o);
  memset(w, 0, dim * sizeof(double));
  *how = (struct oracle_perturbation){0, 0};
  if (o->engine.rows->share) return BASE_ERR_ARGUMENT; /* a person's Hessian has any rank (proofs: persons) */
  double *v = base_alloc(dim, sizeof(double));
  if (!v) return BASE_ERR_MEMORY;
  struct strong problem = {0};
  int status = gaussian_scale(change, rho, dim, &how->sd_objective);
  double s = how->sd_objective, longest = s * (sqrt((double)dim) + LONGEST);
  if (status == BASE_OK) status = strong_init(&o->all, quadratic, v, longest / n, &problem);
  if (status == BASE_OK && !ledger_perturbed(o->ledger)) status = BASE_ERR_ACCOUNTANT;
  if (status == BASE_OK && !is_covered(o, &problem, rho)) status = BASE_ERR_ARGUMENT;
  if (status == BASE_OK) {
    double rounded = sqrt((double)dim) * mech_lattice(s) / 2;
    double tau = strong_distance(&problem) + rounded / (n * problem.least);
    status = gaussian_scale(2 * tau, rho_output, dim, &how->sd_output);
    struct ledger_entry objective = {"perturbed minimiser", "objective perturbation", rho, change, s, 1};
    struct ledger_entry output = {"rounding", "gaussian", rho_output, 2 * tau, how->sd_output, 1};
    if (status == BASE_OK) {
      ledger_take_perturbed(o->ledger);
      status = ledger_charge(o->ledger, o->neighbours, 1, &objective);
    }
    if (status == BASE_OK) status = ledger_charge(o->ledger, o->neighbours, 1, &output);
  }
  if (status == BASE_OK) status = mech_gaussian(o->entropy, dim, s, v);
  if (status == BASE_OK && !(la_norm(dim, v) <= longest)) status = BASE_ERR_ENTROPY;
  if (status == BASE_OK) {
    la_scale(dim, 1 / n, v);
    status = minimise(o, &problem, how->sd_output, w);
  }
  memset(v, 0, dim * sizeof(double));
  base_free(v);
  return status;
}

static int minimise(struct oracle *o, const struct strong *problem, double sd, double *w) {
  size_t dim = o->model.dim;
  int status = strong_minimise(&o->all, problem, w);
  if (status == BASE_OK) status = mech_gaussian(o->entropy, dim, sd, w);
  if (status != BASE_OK) memset(w, 0, dim * sizeof(double));
  return status;
}

/* Does the ledger's capacity hold for this loss, this ridge and this cost? */
static int is_covered(const struct oracle *o, const struct strong *problem, double rho) {
  const struct acct_perturbed *how = ledger_perturbed(o->ledger);
  double strong = (double)data_rows(o->engine.rows) * problem->least * (1 - 1e-14);
  if (how->one_sign && !loss_has_one_sign(o->model.loss)) return 0;
  return loss_determinant(o->model.loss, strong, how->tilt) <= how->top &&
         rho >= how->share * ledger_capacity(o->ledger);
}

/* Change of the sum of the gradients by one record. */
static double record_change(const struct oracle *o) {
  return bounds_terms(&o->all) * model_bounds(&o->model)->lipschitz;
}

/* The same at points of at most this norm, which has a few roundings. */
static double change_within(const struct oracle *o, double ball) {
  double reach = o->engine.kind->inside ? INFINITY : ball * (1 + 0x1p-40);
  return model_gradient_change(&o->model, reach, scope_replaces(&o->all));
}
