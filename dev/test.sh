#!/usr/bin/env bash
# Runs all checks, stage by stage in two lanes; after a failed stage the others still run. The last line is "N passed, N
# failed", summed over the stages; the exit code is zero if nothing failed. Logs are in build/log/.
#   dev/test.sh [--long]
# Without --long, R CMD check neither runs the tests nor builds the vignettes, as other stages do, the sanitizers run
# only the tests that reach most of the glue, and valgrind none of the accountants' tests, which are arithmetic.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

if [ "${1:-}" = --long ]; then
  check_options=() sanitized=() accountants=acct
else
  check_options=(--no-tests --no-vignettes)
  sanitized=('^(batch|budget|fit|huber|leak|multinomial|network|oracle|records|rows|source.*|spider)$') accountants=
fi
ctest=(make --no-print-directory -C dev/ctest)
mkdir -p build/log
rm -f build/log/*

# Two lanes run in parallel, as most stages use one processor; the lane of the core needs no built package.
main() {
  stage setup dev/setup.sh
  package &
  core
  wait $! || echo 0 1 > build/log/package.counts
  report
}

package() {
  stage build env INSTALL=1 dev/build.sh
  # So that a broken vignette does not hide what the stages below have to say
  grep -q ' 0$' build/log/build.counts || stage build-without-vignettes env INSTALL=1 dev/build.sh --no-build-vignettes
  stage rtests Rscript dev/rtests.R build/lib
  stage matrix Rscript dev/matrix.R build/lib
  stage gctorture Rscript dev/gctorture.R build/lib
  stage check dev/check.sh build/dpsosp_*.tar.gz "${check_options[@]}"
  stage rtests-asan dev/asan.sh "${sanitized[@]}"
  stage ctest-valgrind-rest "${ctest[@]}" valgrind TEST_ROOMS="base features la data loss model engine"
}

core() {
  stage lines dev/lines.sh
  stage labels dev/labels.sh
  stage docs dev/docs.sh --check
  stage lint Rscript dev/lint.R
  stage layers Rscript dev/layers.R
  stage mutants-apply dev/mutants.sh --apply
  stage rooms dev/rooms.sh
  stage rooms-selftest dev/rooms-selftest.sh
  stage analyze dev/analyze.sh
  stage fast-math dev/fast-math.sh
  stage inject dev/inject.sh
  stage ctest "${ctest[@]}" plain
  stage ctest-asan "${ctest[@]}" asan
  stage ctest-valgrind "${ctest[@]}" valgrind TEST_ROOMS="mech barrier method $accountants"
}

# stage name command ...: what the command counts in its last "N passed, N failed" is kept in build/log/name.counts. A
# command without such a line counts as one, and one that fails without counting a failure as a failure.
stage() {
  local name=$1 log=build/log/$1.log code counts good bad begin=$SECONDS
  shift
  echo 0 1 > "build/log/$name.counts" # should it not end
  timeout 2400 "$@" < /dev/null > "$log" 2>&1
  code=$?
  counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
  [ -n "$counts" ] || counts="$((code == 0)) $((code != 0))"
  read -r good bad <<< "$counts"
  if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  echo "$good $bad" > "build/log/$name.counts"
  echo "== $name: $good passed, $bad failed, exit code $code, $((SECONDS - begin)) s$(told "$log" "$bad")"
}

# The skipped tests of a log and, after a failure, the end of the log, each on lines of their own.
told() {
  echo
  grep -E '^skipped: ' "$1" | sed 's/^/   /'
  if [ "$2" -ne 0 ]; then tail -n 80 "$1" | sed 's/^/   /'; fi
}

report() {
  awk '{ good += $1; bad += $2 } END { print good + 0 " passed, " bad + 0 " failed"; exit bad > 0 }' \
    build/log/*.counts | tee build/log/total
}

main
