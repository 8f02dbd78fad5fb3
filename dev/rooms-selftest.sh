#!/usr/bin/env bash
# Tests dev/rooms.sh: it must pass on the sources. On a copy with many violations, each in a file of its own, it must
# name each of these files under the rule that is expected.
#   dev/rooms-selftest.sh [src directory]
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
src=${1:-$here/../src}
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rules=()
names=()

main() {
  clean
  plant
  check
  for i in "${!rules[@]}"; do
    if named "${rules[i]}" "${names[i]}"; then ok; else ko "\"${rules[i]}\" did not see the leak in ${names[i]}"; fi
  done
  [ "$failed" -eq 0 ] || sed 's/^/  /' "$work/log"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

plant() {
  leak "methods call no data" method/LEAK.c <<< '#include "base/base.h"
struct data;
size_t data_rows(const struct data *data);
size_t method_LEAK(const struct data *d);
size_t method_LEAK(const struct data *d) { return data_rows(d); }'
  leak "methods call no data" method/LEAK.c <<< 'double loss_range(const void *loss, double t);
double method_LEAK(const void *l);
double method_LEAK(const void *l) { return loss_range(l, 1); }'
  leak "methods call no data" method/LEAK.c <<< 'int mech_gaussian(void *e, unsigned long n, double sd, double *x);
int method_LEAK(double *x);
int method_LEAK(double *x) { return mech_gaussian(0, 1, 0, x); }'
  leak "methods call no data" method/LEAK.c <<< 'double acct_gdp_mu(double eps, double delta);
double method_LEAK(void);
double method_LEAK(void) { return acct_gdp_mu(1, 1e-6); }'
  leak "methods do not charge" method/LEAK.c <<< '#include "barrier/barrier.h"
int method_LEAK(struct ledger *l);
int method_LEAK(struct ledger *l) { return ledger_charge(l, 0, 1, 0); }'
  leak "method includes only" method/LEAK.c <<< '#include "data/data.h"'
  leak "private.h stays inside" method/LEAK.c <<< '#include "data/private.h"'
  leak "private.h stays inside" method/LEAK.c <<< '#include "barrier/private.h"'
  leak "methods see no private struct" method/LEAK.c <<< '#include "barrier/private.h"'
  leak "written" method/LEAK.c <<< '#include "../data/data.h"'
  leak "written" method/LEAK.c <<< '#include <data/data.h>'
  leak "written" method/LEAK.c <<< '#define HIDDEN "data/data.h"
#include HIDDEN'
  leak "barrier.h declares" method/LEAK.c barrier/hidden.c <<< 'int oracle_hidden(void);
#ifdef SECOND_FILE
int oracle_hidden(void) { return 0; }
#else
int method_LEAK(void);
int method_LEAK(void) { return oracle_hidden(); }
#endif'
  leak "perturbed minimisers draw" barrier/LEAK.c <<< 'int mech_point_value(const void *e, double *x);
int barrier_LEAK(double *x);
int barrier_LEAK(double *x) { return mech_point_value(0, x); }'
  leak "perturbed minimisers charge" barrier/LEAK.c <<< '#include "barrier/barrier.h"
int barrier_LEAK(struct ledger *l);
int barrier_LEAK(struct ledger *l) { return ledger_charge(l, 0, 1, 0); }'
  leak "in the table of methods" method/LEAK.c <<< '#define METHOD(name) extern int method_##name
METHOD(LEAK)
;'
  leak "model includes only" model/LEAK.c <<< '#include "engine/ask.h"'
  leak "engine includes only" engine/LEAK.c <<< '#include "barrier/barrier.h"'
  leak "loss includes only" loss/LEAK.c <<< '#include "barrier/barrier.h"'
  leak "mech includes only" mech/LEAK.c <<< '#include "la/la.h"'
  leak "base includes only" base/LEAK.c <<< '#include "la/la.h"'
  leak "private.h stays inside" mech/LEAK.c <<< '#include "loss/private.h"'
  leak "private.h stays inside" r_LEAK.c <<< '#include "data/private.h"'
  leak "SEXP only" la/LEAK.c <<< 'typedef void *SEXP;'
  leak "no R header" la/LEAK.c <<< '#include <Rinternals.h>'
  leak "no R header" data/LEAK.c <<< ' # include <R.h>'
  leak "no R header" acct/LEAK.c <<< '#include <Rmath.h>'
  leak "BLAS and LAPACK only" la/LEAK.c <<< 'int F77_CALL(x);'
  leak "no Fortran symbol" barrier/LEAK.c <<< 'void dgemm_(void);
void barrier_LEAK(void);
void barrier_LEAK(void) { dgemm_(); }'
  leak "no symbol of R" mech/LEAK.c <<< 'double norm_rand(void);
double mech_LEAK(void);
double mech_LEAK(void) { return norm_rand(); }'
  leak "fixed number of operations" barrier/LEAK.c <<< '#include "la/la.h"
int barrier_LEAK(double *a, double *values);
int barrier_LEAK(double *a, double *values) { return la_eigen_all(3, a, values); }'
  leak "in a circle" mech/LEAK.c mech/second.c <<< 'int mech_LEAK(int n);
int mech_second(int n);
#ifdef SECOND_FILE
int mech_second(int n) { return mech_LEAK(n); }
#else
int mech_LEAK(int n) { return n > 0 ? mech_second(n - 1) : 0; }
#endif'
  leak "how rows are kept" barrier/LEAK.c <<< 'struct rows { int sparse; };
int barrier_LEAK(const struct rows *rows);
int barrier_LEAK(const struct rows *rows) { return rows->sparse; }'
  leak "how rows are kept" r_LEAK.c <<< 'struct rows { float *single; };
int r_LEAK(struct rows rows);
int r_LEAK(struct rows rows) { return rows.single != 0; }'
  leak "compiles" base/LEAK.c <<< 'this is no C'
}

clean() {
  cp -Rp "$src" "$work/src"
  if check; then ok; else ko "the clean sources fail"; fi
}

# leak "rule" file [second file] <<< text: plants the text, for which rooms.sh must name the rule. LEAK stands for a
# name that is another for each leak. The second file gets the text with SECOND_FILE defined.
leak() {
  local text name=leak${#rules[@]}
  rules+=("$1")
  text=$(sed "s/LEAK/$name/g")
  set -- "${@//LEAK/$name}"
  names+=("${2%.c}")
  mkdir -p "$work/src/$(dirname "$2")"
  printf '%s\n' "$text" > "$work/src/$2"
  [ $# -lt 3 ] || printf '#define SECOND_FILE\n%s\n' "$text" > "$work/src/$3"
}

# Does the rule's part of the log name the file, its object or its function?
named() {
  awk -v rule="$1" -v name="${2/\//[/_]}[^0-9]" '
    /^rooms: / { inside = index($0, rule) }
    !/^rooms: / && inside && $0 " " ~ name { found = 1 }
    END { exit !found }' "$work/log"
}

check() { bash "$here/rooms.sh" "$work/src" "$work/objects" > "$work/log"; }

ok() { passed=$((passed + 1)); }
ko() {
  failed=$((failed + 1))
  echo "rooms-selftest: $1"
}

main
