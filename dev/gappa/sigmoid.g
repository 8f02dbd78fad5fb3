# Second derivative of the sigmoid loss, f = e q^3 (1 - e) with q = 1 / (1 + e), for a double e: 11 u relative.
@rnd = float<ieee_64, ne>;
e = rnd(e_);
q rnd= 1 / (1 + e);
f rnd= e * q * q * q * (1 - e);
Q = 1 / (1 + e);
exact = e * Q * Q * Q * (1 - e);
{ e in [1b-1021, 0x1.fffffffffffffp-1] -> f -/ exact in [-11b-53, 11b-53] }
