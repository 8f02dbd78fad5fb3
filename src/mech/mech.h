/*
 * mech: the noise. Every function takes exact (un-noised) values and a
 * scale that the barrier computed, and returns what may be released.
 *
 * Released numbers lie on the public lattice h Z with h = mech_lattice(scale),
 * a power of two at most scale / 2^30. They have exactly the distribution of
 * "x + noise, rounded to the nearest lattice point". Rounding is
 * post-processing, so privacy is that of the continuous mechanism. Before the
 * draw x is rounded to a multiple of 2^-52 h; the barrier's slack covers this
 * (SLACK in barrier/mechanism.c).
 */
#ifndef DPSOSP_MECH_H
#define DPSOSP_MECH_H

#include "base/base.h"

/* Lattice spacing for noise of this scale: a power of two. Zero for a scale that cannot be drawn: one that is not
 * positive, not finite, or below 2^-1044, where the spacing would be below the smallest double. */
double mech_lattice(double scale);

/* x[i] <- x[i] + N(0, sd^2), i < n. */
int mech_gaussian(const struct base_entropy *e, size_t n, double sd, double *x);

/* x[i] <- x[i] + N(0, sd[i]^2), i < n. */
int mech_gaussian_each(const struct base_entropy *e, size_t n, const double *sd, double *x);

/* h (d x d, symmetric, column-major; the lower triangle is read) <- h + E with
 * E symmetric, N(0, sd^2) on and N(0, sd^2 / 2) off the diagonal. Both
 * triangles are written. */
int mech_symmetric(const struct base_entropy *e, size_t d, double sd, double *h);

/* Sparse vector (AboveThreshold) against threshold zero: the first i with
 * q[i] + Lap(4 s / eps) >= Lap(2 s / eps), s the sensitivity of each query;
 * *index = k when none passes. eps-DP as a whole. */
int mech_sparse_vector(const struct base_entropy *e, size_t k, const double *q, double sensitivity, double eps,
                       size_t *index);

/* Exponential mechanism: *index = i with probability proportional to
 * exp(u[i] / temperature). */
int mech_exponential(const struct base_entropy *e, size_t k, const double *u, double temperature, size_t *index);

/* Random subsets of 0, ..., n - 1, n < 2^32, in ascending order. Fixed: m numbers, all subsets equally likely; row has
 * room for m. */
int mech_subset_fixed(const struct base_entropy *e, size_t n, size_t m, size_t *row);
/* Poisson: each number independently with the same probability, at most rate and less than 2^-31 below it, where
 * 0 < rate < 1. *row is allocated and holds *count numbers; the caller wipes and frees it. */
int mech_subset_poisson(const struct base_entropy *e, size_t n, double rate, size_t **row, size_t *count);

/* 0, ..., n - 1 in a random order, all with equal probability; n < 2^32. */
int mech_permutation(const struct base_entropy *e, size_t n, size_t *order);

/* Random numbers of runs. Poisson distribution with this mean. */
int mech_poisson(const struct base_entropy *e, uint32_t mean, size_t *count);
/* Geometric distribution: number of trials up to the first success, with this mean. */
int mech_geometric(const struct base_entropy *e, uint32_t mean, size_t *count);
/* Uniform on 0, ..., n - 1. */
int mech_uniform(const struct base_entropy *e, uint32_t n, size_t *index);

#endif
