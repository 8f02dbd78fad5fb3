#!/usr/bin/env bash
# Which lines of R/ and src/ do the tests reach? R tests run in a copy that covr has instrumented, C tests in a build
# with gcov's counters; a line of C counts if either reaches it. Half an hour.
#   dev/coverage.sh [pattern of R test files]
# Writes dev/coverage.md, and the lines that are not reached into build/coverage/lines.txt; with a pattern only these.
# Ends with "N passed, N failed", one for each language: at least 95 % of its lines must be reached.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

work=$PWD/build/coverage
rm -rf "$work"
mkdir -p "$work/source/dpsosp" "$work/lib"
tar -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.so' . | tar -xf - -C "$work/source/dpsosp"

make --no-print-directory -C dev/ctest coverage BUILD="$work/ctest" > "$work/ctest.log" 2>&1 ||
  { tail -20 "$work/ctest.log"; exit 1; }
(cd dev/ctest && find "$work/ctest" -name '*.gcda' -exec gcov -t {} +) > "$work/ctest.gcov" 2> /dev/null

Rscript dev/coverage.R "$work" "$@"
