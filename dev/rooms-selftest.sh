#!/usr/bin/env bash
# Tests dev/rooms.sh: it must pass on the sources, and fail for the expected reason on copies with one violation each.
#   dev/rooms-selftest.sh [src directory]
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
src=${1:-$here/../src}
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
  clean
  leak "methods call no data" method/leak.c <<< '#include "base/base.h"
struct data;
size_t data_rows(const struct data *data);
size_t method_leak(const struct data *d);
size_t method_leak(const struct data *d) { return data_rows(d); }'
  leak "methods call no data" method/leak.c <<< 'double loss_range(const void *loss, double t);
double method_leak(const void *l);
double method_leak(const void *l) { return loss_range(l, 1); }'
  leak "methods call no data" method/leak.c <<< 'int mech_gaussian(void *e, unsigned long n, double sd, double *x);
int method_leak(double *x);
int method_leak(double *x) { return mech_gaussian(0, 1, 0, x); }'
  leak "methods call no data" method/leak.c <<< 'double acct_gdp_mu(double eps, double delta);
double method_leak(void);
double method_leak(void) { return acct_gdp_mu(1, 1e-6); }'
  leak "methods do not charge" method/leak.c <<< '#include "barrier/barrier.h"
int method_leak(struct ledger *l);
int method_leak(struct ledger *l) { return ledger_charge(l, 0, 1, 0); }'
  leak "method includes only" method/leak.c <<< '#include "data/data.h"'
  leak "private.h stays inside" method/leak.c <<< '#include "data/private.h"'
  leak "private.h stays inside" method/leak.c <<< '#include "barrier/private.h"'
  leak "methods see no private struct" method/leak.c <<< '#include "barrier/private.h"'
  leak "written" method/leak.c <<< '#include "../data/data.h"'
  leak "written" method/leak.c <<< '#include <data/data.h>'
  leak "written" method/leak.c <<< '#define HIDDEN "data/data.h"
#include HIDDEN'
  leak "barrier.h declares" method/leak.c barrier/hidden.c <<< 'int oracle_hidden(void);
#ifdef SECOND_FILE
int oracle_hidden(void) { return 0; }
#else
int method_leak(void);
int method_leak(void) { return oracle_hidden(); }
#endif'
  leak "perturbed minimisers draw" barrier/leak.c <<< 'int mech_point_value(const void *e, double *x);
int barrier_leak(double *x);
int barrier_leak(double *x) { return mech_point_value(0, x); }'
  leak "perturbed minimisers charge" barrier/leak.c <<< '#include "barrier/barrier.h"
int barrier_leak(struct ledger *l);
int barrier_leak(struct ledger *l) { return ledger_charge(l, 0, 1, 0); }'
  leak "in the table of methods" method/leak.c <<< '#define METHOD(name) extern int method_##name
METHOD(leak)
;'
  leak "model includes only" model/leak.c <<< '#include "engine/ask.h"'
  leak "engine includes only" engine/leak.c <<< '#include "barrier/barrier.h"'
  leak "loss includes only" loss/leak.c <<< '#include "barrier/barrier.h"'
  leak "mech includes only" mech/leak.c <<< '#include "la/la.h"'
  leak "base includes only" base/leak.c <<< '#include "la/la.h"'
  leak "private.h stays inside" mech/leak.c <<< '#include "loss/private.h"'
  leak "private.h stays inside" r_leak.c <<< '#include "data/private.h"'
  leak "SEXP only" la/leak.c <<< 'typedef void *SEXP;'
  leak "no R header" la/leak.c <<< '#include <Rinternals.h>'
  leak "no R header" data/leak.c <<< ' # include <R.h>'
  leak "no R header" acct/leak.c <<< '#include <Rmath.h>'
  leak "BLAS and LAPACK only" la/leak.c <<< 'int F77_CALL(x);'
  leak "no Fortran symbol" barrier/leak.c <<< 'void dgemm_(void);
void barrier_leak(void);
void barrier_leak(void) { dgemm_(); }'
  leak "no symbol of R" mech/leak.c <<< 'double norm_rand(void);
double mech_leak(void);
double mech_leak(void) { return norm_rand(); }'
  leak "fixed number of operations" barrier/leak.c <<< '#include "la/la.h"
int barrier_leak(double *a, double *values);
int barrier_leak(double *a, double *values) { return la_eigen_all(3, a, values); }'
  leak "in a circle" mech/leak.c mech/second.c <<< 'int mech_leak(int n);
int mech_second(int n);
#ifdef SECOND_FILE
int mech_second(int n) { return mech_leak(n); }
#else
int mech_leak(int n) { return n > 0 ? mech_second(n - 1) : 0; }
#endif'
  leak "how rows are kept" barrier/leak.c <<< 'struct rows { int sparse; };
int barrier_leak(const struct rows *rows);
int barrier_leak(const struct rows *rows) { return rows->sparse; }'
  leak "how rows are kept" r_leak.c <<< 'struct rows { float *single; };
int r_leak(struct rows rows);
int r_leak(struct rows rows) { return rows.single != 0; }'
  leak "compiles" base/leak.c <<< 'this is no C'
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

clean() {
  cp -Rp "$src" "$work/src"
  if check; then ok; else ko "the clean sources fail:"; fi
}

# leak "rule" file [second file] <<< text: plants the text and wants rooms.sh to name the rule. The second file gets
# the text with SECOND_FILE defined.
leak() {
  local rule=$1 text
  text=$(cat)
  shift
  mkdir -p "$work/src/$(dirname "$1")"
  printf '%s\n' "$text" > "$work/src/$1"
  [ $# -lt 2 ] || printf '#define SECOND_FILE\n%s\n' "$text" > "$work/src/$2"
  if check; then
    ko "\"$rule\" did not see the leak in $1:"
  elif ! grep -q "^rooms: .*$rule" "$work/log"; then
    ko "the leak in $1 was seen by another rule than \"$rule\":"
  else
    ok
  fi
  local file
  for file in "$@"; do rm -f "$work/src/$file" "$work/objects/${file%.c}".[do]; done
}

check() { bash "$here/rooms.sh" "$work/src" "$work/objects" > "$work/log"; }

ok() { passed=$((passed + 1)); }
ko() {
  failed=$((failed + 1))
  echo "rooms-selftest: $1"
  sed 's/^/  /' "$work/log"
}

main
