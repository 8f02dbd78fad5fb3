#!/usr/bin/env bash
# Do the tests notice mistakes? Each mutant of dev/mutants/list changes one thing in a copy of the package; the tests
# named with it must then fail.
#   dev/mutants.sh [pattern]     only mutants whose text matches
#   dev/mutants.sh --apply       do all scripts still change their files, and are there the tests? Nothing is built
# Prints "mutant | caught by"; ends with "N passed, N failed". A mutant fails when no test fails, when its sed script
# leaves one of its files as it is, or when it does not compile. There are two workers for each processor, as tests of
# shards mostly wait, each with a copy of its own. Tests run in their short form, and in full only on what survives it.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
root=$PWD
apply=
if [ "${1:-}" = --apply ]; then apply=1; shift; fi
pattern=${1:-.}
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT
workers=$((2 * $(nproc)))
passed=0
failed=0

main() {
  if [ -n "$apply" ]; then all_apply; return; fi
  local worker
  use_copy 0
  mkdir -p "$work/dev" "$work/lib"
  cp -r DESCRIPTION LICENSE NAMESPACE R data src "$work"
  find "$work/src" -name '*.o' -delete
  cp -r dev/ctest "$work/dev/ctest"
  check_unchanged || exit 2
  for ((worker = 1; worker < workers; worker++)); do cp -a "$work" "$copies/$worker"; done
  printf '%-58s | caught by\n' mutant
  for ((worker = 0; worker < workers; worker++)); do share "$worker" | tee "$copies/$worker.out" & done
  wait
  failed=$(cat "$copies"/*.out | grep -c '| FAILED: ')
  echo "$(($(cat "$copies"/*.out | wc -l) - failed)) passed, $failed failed"
  [ "$failed" -eq 0 ]
}

use_copy() { work=$copies/$1 ctest=$copies/$1/build/plain/ctest; }

# The mutants of one worker: neighbours in the list often change the same file.
share() {
  local place=0
  use_copy "$1"
  while read -r name && read -r files && read -r script && read -r tests; do
    grep -qE "$pattern" <<< "$name" || continue
    if [ $((place++ / 8 % workers)) -eq "$1" ]; then try "$name" "$files" "$script" "$tests"; fi
  done < <(lines)
}

all_apply() {
  while read -r name && read -r files && read -r script && read -r tests; do
    local fault
    fault=$(applies "$files" "$script" "$tests")
    if [ -z "$fault" ]; then passed=$((passed + 1)); continue; fi
    failed=$((failed + 1))
    printf '%s | FAILED: %s\n' "$name" "$fault"
  done < <(lines)
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# What is wrong with a mutant, without building it.
applies() {
  local file test
  for file in $1; do
    file=$(path "$file")
    [ -f "$file" ] || { echo "no file $file"; return; }
    cmp -s "$file" <(sed "$2" "$file") && { echo "the script changes nothing in $file"; return; }
  done
  for test in $3; do
    case $test in
      gctorture) ;;
      R:*) [ -f "tests/testthat/test-${test#R:}.R" ] || echo "no test $test" ;;
      replay:*) replayed "$test" || echo "no test $test" ;;
      *) grep -qsE "^void test_$test\\(" dev/ctest/test-"${test%%_*}"-*.c || echo "no test $test" ;;
    esac
  done
}

lines() { grep -vE '^(#|$)' dev/mutants/list; }

# Files in R/ are named with the folder, those in src/ without.
path() { case $1 in R/*) echo "$1" ;; *) echo "src/$1" ;; esac; }

# Tests that need the package installed: R:<file>, and gctorture; the calls of dev/replay.sh need it with the hook.
needs_r() { grep -qE '(^| )(R:|gctorture)' <<< "$1"; }
needs_hook() { grep -qE '(^| )replay:' <<< "$1"; }
needs_c() { grep -qvE '^(R:.*|gctorture|replay:.*)$' <(tr ' ' '\n' <<< "$1"); }
replayed() { replay_calls | grep -qE "${1#replay:}"; }
replay_calls() { grep -ohE '^[a-z_]+\("[^"]+' dev/replay/calls.R dev/replay/sources.R | sed 's/.*"//'; }

# build "tests": what these tests need
build() {
  if needs_c "$1"; then
    make -C "$work/dev/ctest" BUILD="$work/build" WARN= "$ctest" > "$work/log" 2>&1 || return 1
  fi
  if needs_r "$1"; then
    R CMD INSTALL --no-docs --no-test-load --no-byte-compile --no-multiarch --library="$work/lib" "$work" \
      > "$work/log" 2>&1 || return 1
  fi
  if needs_hook "$1"; then
    mkdir -p "$work/hooked/lib"
    (cd "$work" && cp -rup DESCRIPTION LICENSE NAMESPACE R data src hooked/) && dev/replay.sh --hook "$work/hooked"
    R CMD INSTALL --no-docs --no-test-load --no-byte-compile --no-multiarch --library="$work/hooked/lib" \
      "$work/hooked" > "$work/log" 2>&1 || return 1
  fi
}

# A test that fails without a mutant would catch everything, and so would a test that does not exist. In full they are
# checked by make test-long.
check_unchanged() {
  local tests test
  tests=$(selected_tests)
  build "$tests" || { cat "$work/log"; return 1; }
  for test in $tests; do
    case $test in
      gctorture) ;;
      R:*) [ -f "tests/testthat/test-${test#R:}.R" ] || { echo "mutants: no test $test"; return 1; } ;;
      replay:*) replayed "$test" || { echo "mutants: no test $test"; return 1; } ;;
      *) grep -qx "ENTRY($test)" "$work/build/entries.h" || { echo "mutants: no test $test"; return 1; } ;;
    esac
    run short "$test" && continue
    echo "mutants: $test fails without any mutant:"
    tail -n 40 "$work/log"
    return 1
  done
}

selected_tests() {
  while read -r name && read -r _ && read -r _ && read -r tests; do
    if grep -qE "$pattern" <<< "$name"; then tr ' ' '\n' <<< "$tests"; fi
  done < <(lines) | sort -u | paste -sd ' '
}

try() {
  local name=$1 files=$2 script=$3 tests=$4 verdict='' file
  for file in $files; do
    file=$(path "$file")
    sed "$script" "$root/$file" > "$work/$file"
    if cmp -s "$root/$file" "$work/$file"; then verdict="FAILED: the script changes nothing in $file"; fi
  done
  if [ -z "$verdict" ]; then
    if build "$tests"; then
      verdict=$(caught_by "$tests")
    else
      verdict="FAILED: does not compile: $(grep -m 1 -i 'error' "$work/log")"
    fi
  fi
  for file in $files; do file=$(path "$file") && cp "$root/$file" "$work/$file"; done
  printf '%-58s | %s\n' "$name" "$verdict"
}

# run form test: processor time is limited, so a busy machine has no effect. An exit code above 128 is a signal of the
# limit.
run() {
  local -x DPSOSP_LONG=1 CTEST_QUICK=
  if [ "$1" = short ]; then DPSOSP_LONG='' CTEST_QUICK=1; fi
  case $2 in
    gctorture) (ulimit -t 300; Rscript dev/gctorture.R "$work/lib") > "$work/log" 2>&1 ;;
    replay:*) (ulimit -t 300; Rscript dev/replay/run.R "$work/hooked/lib" "${2#replay:}") > "$work/log" 2>&1 ;;
    R:*) (ulimit -t 300; Rscript dev/rtests.R "$work/lib" "^${2#R:}\$" first) > "$work/log" 2>&1 ;;
    *) (ulimit -t 60; "$ctest" "$2") > "$work/log" 2>&1 ;;
  esac
}

# The first test that fails, and its first check that fails.
caught_by() {
  local form test code
  for form in short full; do
    for test in $1; do
      run "$form" "$test"
      code=$?
      if [ "$code" -eq 137 ] || [ "$code" -eq 152 ]; then
        echo "FAILED: no end of $test"
        return
      elif [ "$code" -ne 0 ]; then
        echo "$test: $(first_failure | cut -c 1-100 | grep . || echo "exit code $code")"
        return
      fi
    done
  done
  echo 'FAILED: survives'
}

first_failure() {
  grep -m 1 -E ': failed: |answers differently|^── (Failure|Error) ' "$work/log" |
    sed -E 's/^── (Failure|Error) //; s/ ─+$//'
  grep -m 1 -A 1 '^FAILED ' "$work/log" | sed 's/^FAILED //' | paste -sd ' ' | tr -s ' ' || true
}

main
