/*
 * e^-a for a >= 0, without a branch or a call, so that loops over it are
 * vectorised.
 *
 * Argument reduction as in Cody and Waite (1980): with k the integer nearest to
 * a / log 2 and r = k log 2 - a, e^-a = 2^-k e^r and |r| <= 0.3466; e^r is its
 * Taylor polynomial of degree 13.
 *
 * Error, with u = 2^-53, for a <= 708; the result is then a normal number:
 *   - log 2 = LN2_HIGH + LN2_LOW within 2^-98. LN2_HIGH has 42 bits and k at
 *     most 10, so k LN2_HIGH is exact; where k > 0, a and k LN2_HIGH are
 *     multiples of 2^-54 that differ by less than 1/2, so their difference is
 *     exact as well. |k LN2_LOW| < 2^-33. So r has error at most 0.35 u: that
 *     of its own rounding and far smaller ones.
 *   - truncation: e^0.35 0.3466^14 / 14! < 0.001 u.
 *   - Horner's rule ends with 1 + r q, q = 1 + r (1/2 + ...), |r q| <= 0.4143.
 *     Let b be the relative error of q in u. The last of its additions counts
 *     for u, and before it come errors of at most 3 u in a term that is at
 *     most 0.24 q: b < 1.8. The product and the last sum then give
 *     |r q| (b + 1) + (1 + r q), relative to 1 + r q >= 0.7071:
 *     at most 0.2930 / 0.7071 * 2.8 + 1 < 2.2.
 * Together less than 2.6 u, and 3 u with the second-order terms; fused
 * multiplications only leave roundings out. Beyond 708 the result stays at
 * e^-708 < 2^-1021, which is absolutely as near.
 */
#ifndef DPSOSP_LOSS_EXP_H
#define DPSOSP_LOSS_EXP_H

#include <stdint.h>
#include <string.h>

#define LN2_INVERSE 0x1.71547652b82fep+0
#define LN2_HIGH 0x1.62e42fefa38p-1
#define LN2_LOW 0x1.ef35793c7673p-45
#define SHIFT 0x1.8p52

static inline double exp_minus(double a) {
  /* The smaller of a and 708: positive numbers have the order of their bits, and with a comparison of doubles gcc makes
   * two branches of the whole function. */
  uint64_t bits, most = 0x4086200000000000;
  memcpy(&bits, &a, sizeof bits);
  bits = bits < most ? bits : most;
  memcpy(&a, &bits, sizeof a);
  /* Doubles from 2^52 on are integers, the last bits of which are k. By way of the bits: a register may hold more. */
  double shifted = a * LN2_INVERSE + SHIFT;
  memcpy(&bits, &shifted, sizeof bits);
  memcpy(&shifted, &bits, sizeof bits);
  double k = shifted - SHIFT, r = (k * LN2_HIGH - a) + k * LN2_LOW;
  double p = 1.0 / 6227020800; /* 1 / 13! */
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  bits = ((uint64_t)1023 << 52) - (bits << 52); /* of 2^-k */
  memcpy(&a, &bits, sizeof a);
  return p * a;
}

#endif
