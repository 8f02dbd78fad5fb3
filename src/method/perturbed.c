/*
 * Output and objective perturbation: one private minimiser of loss + penalty + lambda |w|^2 / 2; the whole
 * minimisation is inside the barrier (barrier/perturbed.c).
 *
 * The certificate is free. At the minimiser w* the gradient without the added quadratic part is
 * -(lambda w* + v / n), with v = 0 for output perturbation, and the returned point differs from w* by the output noise
 * e and the solver's error tau. With G the gradient's Lipschitz constant,
 *
 *   |gradient at w| <= lambda |w| + |v| / n + (G + lambda) (|e| + tau),
 *
 * where v and e are Gaussian with known standard deviations, for all data.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>

static int ask_minimiser(const struct objective *f, const struct perturbed_options *o, double rho,
                         const double *quadratic, double *w, struct oracle_perturbation *how, double *tau);
static double gradient_bound(const struct objective *f, const struct perturbed_options *o,
                             const struct oracle_perturbation *how, double tau, double norm);

int perturbed_run(struct oracle *oracle, const struct penalty *penalty, const struct perturbed_options *options,
                  double rho, double *w, struct opt_result *result) {
  struct objective f;
  int status = result_init_convex(result, 1, oracle, penalty, &f);
  if (status != BASE_OK) return status;
  double *quadratic = base_alloc(f.dim, sizeof(double)), tau;
  if (!quadratic) return BASE_ERR_MEMORY;
  for (size_t j = 0; j < f.dim; j++) quadratic[j] = options->lambda;
  penalty_add_diagonal(penalty, f.dim, w, quadratic);
  struct oracle_perturbation how = {0, 0};
  status = ask_minimiser(&f, options, rho, quadratic, w, &how, &tau);
  base_free(quadratic);
  if (status != BASE_OK) return status;
  result->gradient_upper = gradient_bound(&f, options, &how, tau, la_norm(f.dim, w));
  if (result->gradient_upper <= options->eps_g) result->status = OPT_SOSP;
  struct trace_row row = {1, 1, "minimiser", NAN, result->gradient_upper, how.sd_output, rho, la_norm(f.dim, w)};
  return trace_add(&result->trace, &row);
}

double perturbed_default_alpha(struct oracle *oracle, const struct penalty *penalty,
                               const struct perturbed_options *options, double rho, const double *w) {
  (void)w;
  double n = (double)oracle_rows(oracle), dim = (double)oracle_dim(oracle), lambda = options->lambda;
  double noise = 2 * oracle_lipschitz(oracle) / (n * sqrt(2 * rho)) * sqrt(dim);
  if (options->output) noise = noise * oracle_smoothness(oracle) / fmax(lambda, penalty->lambda) + 10 * lambda;
  return 3 * noise;
}

static int ask_minimiser(const struct objective *f, const struct perturbed_options *o, double rho,
                         const double *quadratic, double *w, struct oracle_perturbation *how, double *tau) {
  double almost = rho * ALMOST, rho_output = o->output ? almost : o->output_share * almost;
  int status = o->output ? oracle_minimiser(f->oracle, quadratic, almost, w, &how->sd_output)
                         : oracle_perturbed_minimiser(f->oracle, quadratic, almost - rho_output, rho_output, w, how);
  *tau = how->sd_output * sqrt(2 * rho_output) / 2; /* half the sensitivity */
  return status;
}

/* The bounds on the two noises have half of the error probability each. */
static double gradient_bound(const struct objective *f, const struct perturbed_options *o,
                             const struct oracle_perturbation *how, double tau, double norm) {
  double beta = (1 - o->confidence) / 2, n = (double)oracle_rows(f->oracle);
  double objective = how->sd_objective / n, reach = tau + confidence_length(how->sd_output, f->dim, beta);
  return o->lambda * norm + confidence_length(objective, f->dim, beta) + (f->smooth + o->lambda) * reach;
}

static const struct field perturbed_fields[] = {
    FIELD(perturbed_options, FLAG, output),         FIELD(perturbed_options, NUMBER, eps_g),
    FIELD(perturbed_options, NUMBER, confidence),   FIELD(perturbed_options, NUMBER, lambda),
    FIELD(perturbed_options, NUMBER, output_share), {NULL, FIELD_FLAG, 0, NULL},
};
METHOD(perturbed)
