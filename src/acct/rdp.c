/* Renyi accounting over real orders (Mironov 2017): the curves of a composition's rounds add. */
#include "acct/private.h"

struct composition {
  const struct acct_round *round;
  size_t rounds;
};

static int composition_curve(const void *context, size_t n, const double *order, double *rdp) {
  const struct composition *composition = context;
  return acct_rdp_curve(composition->round, composition->rounds, n, order, rdp);
}

int acct_rdp_epsilon(const struct acct_round *round, size_t rounds, double delta, double *eps, double *order) {
  const struct composition composition = {round, rounds};
  return acct_curve_epsilon(&(struct acct_curve){composition_curve, &composition}, delta, eps, order);
}

int acct_rdp_log_delta(const struct acct_round *round, size_t rounds, double eps, double *log_delta, double *order) {
  const struct composition composition = {round, rounds};
  return acct_curve_log_delta(&(struct acct_curve){composition_curve, &composition}, eps, log_delta, order);
}

int acct_rdp_curve(const struct acct_round *round, size_t rounds, size_t n, const double *order, double *rdp) {
  double *one = base_alloc(n, sizeof *one);
  if (!one) return BASE_ERR_MEMORY;
  for (size_t i = 0; i < n; i++) rdp[i] = 0.0;
  int status = BASE_OK;
  for (size_t s = 0; s < rounds && !status; s++) {
    for (size_t i = 0; i < n; i++) one[i] = acct_leaves_rdp(round[s].leaf, round[s].leaves, order[i]);
    if (round[s].amplification != ACCT_PLAIN) status = acct_subsample_rdp(&round[s], n, order, one);
    for (size_t i = 0; i < n; i++) rdp[i] += round[s].times * one[i];
  }
  base_free(one);
  return status;
}
