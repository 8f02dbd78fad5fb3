#!/usr/bin/env bash
# Do the C tests notice mistakes? Each mutant of dev/mutants/list changes one place of a copy of src/; the tests named
# with it must then fail.
#   dev/mutants.sh [pattern]     only mutants whose text matches
# Prints "mutant | caught by"; ends with "N passed, N failed". A mutant fails when no test fails, when its sed script
# changes nothing, or when it does not compile.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
root=$PWD
pattern=${1:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ctest=$work/build/plain/ctest
passed=0
failed=0

main() {
  mkdir -p "$work/dev"
  cp -r src "$work/src"
  cp -r dev/ctest "$work/dev/ctest"
  build || { cat "$work/log"; exit 2; }
  check_unchanged || exit 2
  printf '%-58s | caught by\n' mutant
  while read -r name && read -r file && read -r script && read -r tests; do
    if grep -qE "$pattern" <<< "$name"; then try "$name" "$file" "$script" "$tests"; fi
  done < <(lines)
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

lines() { grep -vE '^(#|$)' dev/mutants/list; }

build() { make -C "$work/dev/ctest" BUILD="$work/build" WARN= "$ctest" > "$work/log" 2>&1; }

# A test that fails anyway would catch everything, and so would one that does not exist.
check_unchanged() {
  local tests test
  tests=$(lines | sed -n '0~4p' | tr ' ' '\n' | sort -u)
  for test in $tests; do
    grep -qx "ENTRY($test)" "$work/build/entries.h" || { echo "mutants: no test $test"; return 1; }
  done
  # shellcheck disable=SC2086
  "$ctest" $tests > "$work/log" 2>&1 && return
  echo "mutants: the tests fail without any mutant:"
  cat "$work/log"
  return 1
}

try() {
  local name=$1 file=$2 script=$3 tests=$4 verdict
  sed "$script" "$root/src/$file" > "$work/src/$file"
  if cmp -s "$root/src/$file" "$work/src/$file"; then
    verdict='FAILED: the script changes nothing'
  elif ! build; then
    verdict="FAILED: does not compile: $(grep -m 1 'error' "$work/log")"
  else
    verdict=$(caught_by "$tests")
  fi
  cp "$root/src/$file" "$work/src/$file"
  case $verdict in FAILED*) failed=$((failed + 1)) ;; *) passed=$((passed + 1)) ;; esac
  printf '%-58s | %s\n' "$name" "$verdict"
}

# The first test that fails, and the first of its checks that does.
caught_by() {
  local test code
  for test in $1; do
    # Processor time, so that a busy machine does not matter; a signal of the limit is above 128.
    (ulimit -t 60; "$ctest" "$test") > "$work/log" 2>&1
    code=$?
    if [ "$code" -eq 137 ] || [ "$code" -eq 152 ]; then
      echo "FAILED: no end of $test"
      return
    elif [ "$code" -ne 0 ]; then
      echo "$test: $(grep -m 1 ': failed: ' "$work/log" | cut -c 1-100 | grep . || echo "exit code $code")"
      return
    fi
  done
  echo 'FAILED: survives'
}

main
