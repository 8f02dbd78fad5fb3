#!/usr/bin/env bash
# All checks, one stage after the other; a failed stage does not stop the next. The last line is "N passed, N failed",
# summed over the stages; the exit code is zero when nothing failed. Logs are in build/log/.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

passed=0
failed=0
mkdir -p build/log
rm -f build/log/*

main() {
  stage setup dev/setup.sh
  stage build env INSTALL=1 dev/build.sh
  # So that a broken vignette does not hide what the stages below have to say
  [ "$failed" -eq 0 ] || stage build-without-vignettes env INSTALL=1 dev/build.sh --no-build-vignettes
  stage rooms dev/rooms.sh
  stage rooms-selftest dev/rooms-selftest.sh
  stage analyze dev/analyze.sh
  stage ctest-asan make --no-print-directory -C dev/ctest asan
  stage ctest-valgrind make --no-print-directory -C dev/ctest valgrind
  stage docs dev/docs.sh --check
  stage check dev/check.sh build/dpsosp_*.tar.gz
  stage rtests Rscript dev/rtests.R build/lib
  stage rtests-asan dev/asan.sh
  stage gctorture Rscript dev/gctorture.R build/lib
  echo "$passed passed, $failed failed" | tee build/log/total
  [ "$failed" -eq 0 ]
}

# stage name command ...: what the command counts in its last "N passed, N failed" is added up. A command without such a
# line counts as one, and one that fails without counting a failure as a failure.
stage() {
  local name=$1 log=build/log/$1.log code counts begin=$SECONDS
  shift
  echo "== $name"
  timeout 2400 "$@" < /dev/null > "$log" 2>&1
  code=$?
  counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
  [ -n "$counts" ] || counts="$((code == 0)) $((code != 0))"
  read -r good bad <<< "$counts"
  if [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  passed=$((passed + good))
  failed=$((failed + bad))
  if [ "$bad" -ne 0 ]; then tail -n 80 "$log" | sed 's/^/   /'; fi
  grep -E '^skipped: ' "$log" | sed 's/^/   /'
  echo "   $good passed, $bad failed, exit code $code, $((SECONDS - begin)) s"
}

main
