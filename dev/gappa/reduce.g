# exp_minus(), the argument's reduction for k >= 1, where a >= 0.25: k high - a is exact, and r has an error below 0.36 u.
@rnd = float<ieee_64, ne>;
a = rnd(a_);
k = int<ne>(k_);
s rnd= k * high - a;
t rnd= k * low;
r rnd= s + t;
exact = (k * high - a) + k * low;
{ k in [1, 1022] /\ a in [0.25, 708] /\ k * high - a in [-0.347, 0.347] /\ r in [-0.347, 0.347] ->
  s - (k * high - a) in [0, 0] /\ r - exact in [-0x0.5cp-53, 0x0.5cp-53] }
