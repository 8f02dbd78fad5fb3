#!/usr/bin/env bash
# Compiles with flags that violate IEEE 754, one set at a time. No C file of the package may compile with flags that
# compilers announce by a macro. For the others, the self-test of base/arithmetic.c must detect them.
#   dev/fast-math.sh [src directory]
# Ends with "N passed, N failed": one for each file, one for each set of flags without a macro, one for no flags.
set -uo pipefail
cd "$(dirname "$0")/.."

src=${1:-src}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

main() {
  read -ra headers <<< "$(R CMD config --cppflags)"
  for file in "$src"/*.c "$src"/*/*.c; do
    verdict "$file is refused under -ffast-math" refused "$file"
  done
  printf '#include "base/base.h"\nint main(void) { return base_arithmetic_fault() != 0; }\n' > "$work/main.c"
  verdict "the self-test passes without flags" passes -O2
  hidden "-ffast-math" -O2 -ffast-math
  hidden "NaN and infinity" -O1 -ffinite-math-only
  hidden "signs of zero" -O1 -fno-signed-zeros
  hidden "order of sums" -O1 -fassociative-math -fno-signed-zeros -fno-trapping-math
  hidden "reciprocals" -O1 -freciprocal-math
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# verdict "text" command ...
verdict() {
  local text=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "fast-math: not so: $text"
  fi
}

hidden() {
  local text=$1
  shift
  verdict "the self-test finds hidden flags: $text" finds "$@"
}

refused() {
  local said
  said=$(gcc -E -ffast-math -I"$src" "${headers[@]}" -DUSE_FC_LEN_T -DSTRICT_R_HEADERS "$1" 2>&1 > /dev/null)
  grep -q 'error.*dpsosp needs IEEE 754' <<< "$said"
}

run() {
  gcc -std=gnu99 -I"$src" -U__FAST_MATH__ -U__FINITE_MATH_ONLY__ -U__ASSOCIATIVE_MATH__ -U__RECIPROCAL_MATH__ \
    -U__NO_SIGNED_ZEROS__ "$@" "$work/main.c" "$src/base/arithmetic.c" -o "$work/self-test" -lm || return 2
  "$work/self-test"
}
passes() { run "$@"; }
finds() { run "$@"; [ $? -eq 1 ]; }

main
