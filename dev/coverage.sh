#!/usr/bin/env bash
# Which lines of R/ and src/ do the tests reach? R tests run in a copy that covr has instrumented, C tests in a build
# with gcov's counters; a line of C counts if either reaches it. An hour.
#   dev/coverage.sh [pattern of groups of R test files: of the first words of their names]
# Writes dev/coverage.md, and the lines that are not reached into build/coverage/lines.txt; with a pattern only these.
# Ends with "N passed, N failed", one for each language: at least 95 % of its lines must be reached. A third is for the
# other lines: each must have a reason in dev/coverage-why.csv.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

groups=$(cd tests/testthat && printf '%s\n' test-*.R | sed 's/^test-//; s/[-.].*//' | sort -u | grep -E "${1:-.}") ||
  { echo "no group of tests is named $1" >&2; exit 1; }
work=$PWD/build/coverage
rm -rf "$work"
mkdir -p "$work/source/dpsosp" "$work/lib"
tar -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.so' . | tar -xf - -C "$work/source/dpsosp"

counts_of() { (cd "$1" && find "$2" -name '*.gcda' -exec gcov -t {} +) 2> /dev/null; }

make --no-print-directory -C dev/ctest coverage BUILD="$work/ctest" > "$work/ctest.log" 2>&1 ||
  { tail -20 "$work/ctest.log"; exit 1; }
counts_of dev/ctest "$work/ctest" > "$work/c.gcov"

# A process for each group of test files, as many as there are processors: to load the copy takes half a minute. Counts
# are written when it ends, so one that fails keeps those of the others.
tests_of() {
  R_LIBS="$work/lib" R_COVR=true Rscript dev/rtests.R "$work/lib" "^$1(-|\$)" > "$work/rtests-$1.log" 2>&1 ||
    echo "tests of $1: $(tail -1 "$work/rtests-$1.log")"
}
export -f tests_of
export work
Rscript dev/coverage.R install "$work" > "$work/install.log" 2>&1 || { tail -20 "$work/install.log"; exit 1; }
xargs -P "$(nproc)" -I '{}' bash -c 'tests_of "{}"' <<< "$groups"
counts_of "$work/source/dpsosp/src" "$work/source/dpsosp/src" > "$work/r.gcov"

Rscript dev/coverage.R report "$work" "$@"
