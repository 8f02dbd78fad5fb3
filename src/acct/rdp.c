/* Renyi accounting over real orders (Mironov 2017): the curves of a plan's steps add. */
#include "acct/private.h"

struct plan {
  const struct acct_step *step;
  size_t steps;
};

static int plan_curve(const void *context, size_t n, const double *order, double *rdp) {
  const struct plan *plan = context;
  return acct_rdp_curve(plan->step, plan->steps, n, order, rdp);
}

int acct_rdp_epsilon(const struct acct_step *step, size_t steps, double delta, double *eps, double *order) {
  const struct plan plan = {step, steps};
  return acct_curve_epsilon(&(struct acct_curve){plan_curve, &plan}, delta, eps, order);
}

int acct_rdp_log_delta(const struct acct_step *step, size_t steps, double eps, double *log_delta, double *order) {
  const struct plan plan = {step, steps};
  return acct_curve_log_delta(&(struct acct_curve){plan_curve, &plan}, eps, log_delta, order);
}

int acct_rdp_curve(const struct acct_step *step, size_t steps, size_t n, const double *order, double *rdp) {
  double *one = base_alloc(n, sizeof *one);
  if (!one) return BASE_ERR_MEMORY;
  for (size_t i = 0; i < n; i++) rdp[i] = 0.0;
  int status = BASE_OK;
  for (size_t s = 0; s < steps && !status; s++) {
    for (size_t i = 0; i < n; i++) one[i] = acct_leaves_rdp(step[s].leaf, step[s].leaves, order[i]);
    if (step[s].amplification != ACCT_PLAIN) status = acct_subsample_rdp(&step[s], n, order, one);
    for (size_t i = 0; i < n; i++) rdp[i] += step[s].times * one[i];
  }
  base_free(one);
  return status;
}
