#!/usr/bin/env bash
# Does an addition to the package touch few files? Each patch in dev/touch/ adds something: a loss, a query, a method, a
# basis of a formula.
# It is applied to a copy of the tree, which must then build, satisfy the rules of rooms, layers and lines, and pass the
# tests in the patch and those that use the tables. The files touched in src/ and R/ are counted; tests, NAMESPACE and
# dev/ are not.
#   dev/touch.sh [loss|query|method|basis ...]      all when left out; some minutes
# Names each patch's files, and the output of failed checks; ends with "N passed, N failed", counted in checks. If a
# patch does not apply after a change: apply it by hand, add the new files with git add -N and write the patch again
# with git diff -U1.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
patches=$PWD/dev/touch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

main() {
  local kind
  [ $# -gt 0 ] || set -- loss query method basis
  for kind in "$@"; do
    case $kind in
      loss) try loss 4 "loss-savage loss-table" 'loss-savage|input' ;;
      query) try query 3 "barrier-slopes" '' ;;
      method) try method 5 "method-table" 'heavy-ball|input|manners|leak|source|audit' ;;
      basis) try basis 3 '' 'hinges|basis|design' ;;
      *) echo "touch: no patch $kind"; exit 2 ;;
    esac
  done
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# try patch most "C tests" "R tests"
try() {
  local files count
  files=$(sed -nE 's#^diff --git a/((src|R)/[^ ]*) .*#\1#p' "$patches/$1.patch")
  count=$(wc -l <<< "$files")
  echo "$1: $count files of at most $2:" $files
  check "$1: few files" test "$count" -le "$2"
  rm -rf "$work/tree"
  mkdir "$work/tree"
  tar -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.so' . | tar -xf - -C "$work/tree"
  check "$1: applies" in_tree git apply "$patches/$1.patch" || return
  check "$1: builds" in_tree env INSTALL=1 dev/build.sh --no-build-vignettes || return
  check "$1: rooms" in_tree dev/rooms.sh
  check "$1: layers" in_tree Rscript dev/layers.R
  check "$1: lines" in_tree dev/lines.sh
  [ -z "$3" ] || check "$1: C tests" in_tree c_tests "$3"
  [ -z "$4" ] || check "$1: R tests" in_tree Rscript dev/rtests.R build/lib "$4"
}

# check "text" command ...: shows the output of the command if it fails.
check() {
  local text=$1
  shift
  if "$@" > "$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "touch: $text:"
    tail -n 30 "$work/log" | sed 's/^/  /'
    return 1
  fi
}

in_tree() { (cd "$work/tree" && "$@"); }

# Runs these tests only, with the whole core.
c_tests() {
  # shellcheck disable=SC2086
  make -C dev/ctest plain CC="$(R CMD config CC)" TEST_FILES="$(printf 'test-%s.c ' $1)"
}

main "$@"
