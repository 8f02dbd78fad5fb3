#!/usr/bin/env bash
# Runs all checks, stage by stage in two lanes; after a failed stage the others still run. The last line is "N passed, N
# failed", summed over the stages; the exit code is zero if nothing failed. Logs are in build/log/.
#   dev/test.sh [--ci | --long]
# Without these it is the short form: tests that take long are shorter (DPSOSP_LONG, in tests/testthat/helper-long.R and
# dev/matrix.R), so are C tests (CTEST_QUICK), and the package's examples stand for R CMD check and the vignettes. It
# makes no help anew and has no style, no static analysis, no sanitizer, no valgrind, no gctorture and no R whose memory
# fails. With --ci the sanitizers run the R tests that reach most of the glue, valgrind all C tests but those of the
# accountants, which are arithmetic; R CMD check neither runs the tests nor builds the vignettes, as other stages do.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

long=1 first=() check_options=() sanitized=() accountants=acct
case ${1:-} in
  --long) ;;
  --ci)
    check_options=(--no-tests --no-vignettes)
    sanitized=('^(batch|budget|counts-level|fit|huber|leak|multinomial|network|oracle|records|rows|source.*|spider)$')
    accountants=
    ;;
  *) long='' first=('^([^ps]|s[^h])') ;;
esac
unset DPSOSP_LONG CTEST_QUICK
if [ -n "$long" ]; then export DPSOSP_LONG=1; else export CTEST_QUICK=1; fi
ctest=(make --no-print-directory -C dev/ctest)
mkdir -p build/log
rm -f build/log/*

# Two lanes run in parallel, as most stages use one processor. The second begins with what needs no installed package,
# and in the short form ends with the R tests of files that begin with p and sh.
main() {
  stage setup dev/setup.sh
  install &
  installed=$!
  second_lane &
  second=$!
  wait "$installed" || echo 0 1 > build/log/installed.counts
  first_lane
  wait "$second" || echo 0 1 > build/log/second.counts
  report
}

install() { stage install env INSTALL=only dev/build.sh; }

first_lane() {
  stage rtests Rscript dev/rtests.R build/lib "${first[@]}"
  if_long gctorture Rscript dev/gctorture.R build/lib
  if_long rtests-asan dev/asan.sh "${sanitized[@]}"
}

second_lane() {
  stage lines dev/lines.sh
  stage labels dev/labels.sh
  if_long docs dev/docs.sh --check
  if_long lint Rscript dev/lint.R
  stage layers Rscript dev/layers.R
  stage srr Rscript dev/srr.R
  stage proofs Rscript dev/proofs.R
  stage mutants-apply dev/mutants.sh --apply
  stage rooms dev/rooms.sh
  if_long rooms-selftest dev/rooms-selftest.sh
  if_long analyze dev/analyze.sh
  stage fast-math dev/fast-math.sh
  stage gappa dev/gappa.sh
  if_long inject dev/inject.sh
  stage ctest "${ctest[@]}" plain
  if_long ctest-asan "${ctest[@]}" asan
  tail --pid="$installed" -f /dev/null # waits for the package
  if [ -n "$long" ]; then build_and_check; else examples_and_tests; fi
  stage matrix Rscript dev/matrix.R build/lib
  stage types Rscript dev/types.R build/lib
  stage replay dev/replay.sh
  if_long ctest-valgrind-runs "${ctest[@]}" valgrind TEST_ROOMS="mech barrier method"
  if_long ctest-valgrind-rest "${ctest[@]}" valgrind TEST_ROOMS="base features la data loss model engine $accountants"
}

examples_and_tests() {
  stage examples Rscript dev/examples.R build/lib
  stage rtests-2 Rscript dev/rtests.R build/lib '^(p|sh)'
}

build_and_check() {
  stage build env INSTALL=done dev/build.sh
  # So that a broken vignette does not hide what the stages below have to say
  if ! grep -q ' 0$' build/log/build.counts; then
    stage build-without-vignettes env INSTALL=done dev/build.sh --no-build-vignettes
  fi
  stage check dev/check.sh build/dpsosp_*.tar.gz "${check_options[@]}"
}

if_long() { [ -z "$long" ] || stage "$@"; }

# stage name command ...: what the command counts in its last "N passed, N failed" is kept in build/log/name.counts. A
# command without such a line counts as one, and one that fails without counting a failure as a failure. It also says
# how long the command took, and how much of a processor's time, which depends less on what else the machine does.
stage() {
  local name=$1 log=build/log/$1.log cpu=build/log/$1.cpu code counts good bad begin=$SECONDS
  shift
  echo 0 1 > "build/log/$name.counts" # should it not end
  { TIMEFORMAT='%U %S' && time timeout 2400 "$@" < /dev/null > "$log" 2>&1; } 2> "$cpu"
  code=$?
  counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
  [ -n "$counts" ] || counts="$((code == 0)) $((code != 0))"
  read -r good bad <<< "$counts"
  if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  echo "$good $bad" > "build/log/$name.counts"
  echo "== $name: $good passed, $bad failed, exit code $code, $((SECONDS - begin)) s," \
    "cpu $(seconds "$cpu") s$(told "$log" "$bad")"
}

# The skipped tests of a log and, after a failure, the end of the log, each on lines of their own.
told() {
  echo
  grep -E '^skipped: ' "$1" | sed 's/^/   /'
  if [ "$2" -ne 0 ]; then tail -n 80 "$1" | sed 's/^/   /'; fi
}

seconds() { awk '{ sum += $1 + $2 } END { printf "%.0f", sum }' "$@"; }

report() {
  echo "== cpu $(seconds build/log/*.cpu) s"
  awk '{ good += $1; bad += $2 } END { print good + 0 " passed, " bad + 0 " failed"; exit bad > 0 }' \
    build/log/*.counts | tee build/log/total
}

main
