# exp_minus(), the polynomial: p, as it is computed, has a relative error below 2.21 u to the Taylor polynomial m of e^r.
m12 = 1 / 6227020800 * r + 1 / 479001600;
m11 = m12 * r + 1 / 39916800;
m10 = m11 * r + 1 / 3628800;
m9 = m10 * r + 1 / 362880;
m8 = m9 * r + 1 / 40320;
m7 = m8 * r + 1 / 5040;
m6 = m7 * r + 1 / 720;
m5 = m6 * r + 1 / 120;
m4 = m5 * r + 1 / 24;
m3 = m4 * r + 1 / 6;
m2 = m3 * r + 1 / 2;
m1 = m2 * r + 1;
m0 = m1 * r + 1;
{ r in [-0.347, 0.347] -> (p - m0) / m0 in [-0x2.34p-53, 0x2.34p-53] }
$ r in 8;
