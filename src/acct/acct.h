/*
 * acct: accounting on plain numbers. Nothing here sees data.
 *
 * mu is the parameter of Gaussian differential privacy (sensitivity over
 * standard deviation), rho that of zero-concentrated differential privacy. A
 * Gaussian release costs rho = mu^2 / 2.
 */
#ifndef DPSOSP_ACCT_H
#define DPSOSP_ACCT_H

#include "base/base.h"

/* delta = Phi(-eps/mu + mu/2) - exp(eps) Phi(-eps/mu - mu/2), exact; its log; and the inverses. */
double acct_gdp_delta(double mu, double eps);
double acct_gdp_log_delta(double mu, double eps);
double acct_gdp_epsilon(double mu, double delta);
double acct_gdp_mu(double eps, double delta);

/* inf over alpha > 1 of exp((alpha-1)(alpha rho - eps)) / (alpha-1) (1 - 1/alpha)^alpha
 * (Canonne, Kamath & Steinke 2020, as in the design's section G). */
double acct_zcdp_delta(double rho, double eps);
double acct_zcdp_log_delta(double rho, double eps);
double acct_zcdp_epsilon(double rho, double delta);
double acct_zcdp_rho(double eps, double delta);

#endif
