/*
 * Constants of Liu & Talwar (2024), theorem 3.17: its orders, with constants and logarithms set to one, and mu for
 * their epsilon. One exception is the noise of gradients, which privacy determines: an epoch has so many records that
 * its norm is alpha. Their tau, how often a Hessian serves for an escape, is below one where alpha is, so each escape
 * has a fresh Hessian.
 */
#include "method/private.h"

#include <math.h>

struct spider_published spider_published(const struct objective *f, double gap, double mu, double first_sd,
                                         double records) {
  double B = gap, G = f->steepest, M = f->smooth, R = f->third, d = (double)f->dim, n = records;
  double private = sqrt(d) / mu, a = cbrt(B * G * M);
  struct spider_published p;
  p.alpha = (a + sqrt(B * M)) * sqrt(private / n) +
            (pow(B * M, 2.0 / 9) * pow(G, 5.0 / 9) + pow(B * M, 4.0 / 9) * pow(G, 1.0 / 9)) / cbrt(n) +
            (sqrt(B * M) + sqrt(B) * M / R + cbrt(B) * pow(M, 4.0 / 3) / (pow(G, 1.0 / 6) * sqrt(R)) +
             pow(B, 2.0 / 3) * pow(G, 1.0 / 6) * sqrt(R) / cbrt(M)) /
                sqrt(n) +
            B * R * private / (M * n);
  p.drift = fmax(p.alpha * private, a);
  p.records = first_sd * sqrt(d) / p.alpha + G * G / (p.alpha * p.alpha) + M * private / R + M * M / (R * p.alpha);
  p.batch = fmax(private / p.alpha, p.drift * fmax(1 / (p.alpha * p.alpha), R / (M * M * p.alpha)));
  p.products = ceil(M / sqrt(R * p.alpha));
  p.length = sqrt(p.alpha / R);
  return p;
}
