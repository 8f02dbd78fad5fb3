# Terms of positive factors, for e = exp_minus(a) with a relative error of 3 u: derivatives of the logistic loss, slope and
# value of the sigmoid loss within 12 u relative, a factor of the logistic loss' product within 2.5 u and, with the
# multiplication by it, 3.5 u.
@rnd = float<ieee_64, ne>;
e = rnd(e_);
q rnd= 1 / (1 + e);
slope rnd= e / (1 + e);
curvature rnd= e * q * q;
factor rnd= 1 + e;
product rnd= before * factor;
Q = 1 / (1 + E);
{ e in [1b-1021, 1] /\ E in [1b-1021, 1] /\ before in [1, 1b500] /\ e -/ E in [-3b-53, 3b-53] ->
  q -/ Q in [-12b-53, 12b-53] /\ slope -/ (E / (1 + E)) in [-12b-53, 12b-53] /\
  curvature -/ (E * Q * Q) in [-12b-53, 12b-53] /\ factor -/ (1 + E) in [-0x2.8p-53, 0x2.8p-53] /\
  product -/ (before * (1 + E)) in [-0x3.88p-53, 0x3.88p-53] }
$ E in 32;
