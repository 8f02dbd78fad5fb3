# With e wrong by 3 u e as well, whose derivative is e q^4 (1 - 4 e + e^2), the error is below 12 u max |f|.
Q = 1 / (1 + e);
part = 11 * e * Q * Q * Q * (1 - e);
moved = 3 * e * Q * Q * Q * Q * (1 - 4 * e + e * e);
{ e in [0, 1] -> part + moved in [-1.1546, 1.1546] /\ part - moved in [-1.1546, 1.1546] }
$ e in 512;
