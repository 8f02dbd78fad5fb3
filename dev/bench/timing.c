/* Time of the solvers of Newton directions by what the matrix holds, 300 x 300, and of an eigen-decomposition. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "la/la.h"

enum { D = 300, KINDS = 7, TIMES = 7 };

static const char *const kind_name[KINDS] = {"zero",   "identity",        "rank one", "clustered",
                                             "graded", "below underflow", "random"};

static double entry(int kind, size_t i, size_t j) {
  double random = rand() / (double)RAND_MAX - 0.5, same = i == j;
  switch (kind) {
  case 0:
    return 0;
  case 1:
    return same;
  case 2:
    return 1.0 / D;
  case 3:
    return same * (i % 2 ? 1 : 1e-5) + 1e-9 * random;
  case 4:
    return pow(10, -0.05 * (double)(i + j)) * (same ? 1 : 0.1 * random);
  case 5:
    return 1e-310 * random;
  default:
    return (same ? 1 : random / D);
  }
}

/* As barrier/query_direction.c has it: with a multiple of the identity, and rounded. */
static void make(int kind, double shift, double *a) {
  srand(1);
  for (size_t j = 0; j < D; j++) {
    for (size_t i = j; i < D; i++) {
      double x = entry(kind, i, j) + (i == j ? shift : 0);
      a[i + j * D] = a[j + i * D] = (x + 8) - 8;
    }
  }
}

static int solve(int solver, double *a, double *x) {
  if (solver == 0) return la_solve_definite(D, a, x);
  if (solver == 1) return la_solve_clipped(D, a, 0.01, x);
  return la_eigen_all(D, a, x);
}

int main(void) {
  static const char *const solver_name[] = {"add", "clip", "eigen"};
  static double a[D * D], x[D];
  for (int solver = 0; solver < 3; solver++) {
    double least = INFINITY, most = 0;
    printf("%-5s", solver_name[solver]);
    for (int kind = 0; kind < KINDS; kind++) {
      double best = INFINITY;
      for (int i = 0; i < TIMES; i++) {
        make(kind, solver == 0 ? 0.01 : 0, a);
        for (size_t j = 0; j < D; j++) x[j] = 1;
        clock_t start = clock();
        if (solve(solver, a, x) != BASE_OK) return 1;
        best = fmin(best, (double)(clock() - start) / CLOCKS_PER_SEC);
      }
      printf(" %s %.2f ms,", kind_name[kind], 1e3 * best);
      least = fmin(least, best);
      most = fmax(most, best);
    }
    printf(" worst ratio %.2f\n", most / least);
  }
  return 0;
}
