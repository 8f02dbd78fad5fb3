#!/usr/bin/env bash
# Does a change leave all numbers unchanged? Builds the commit BASE and the working tree, runs dev/golden.R with both
# and compares their output, byte for byte.
#   dev/golden.sh [BASE]      HEAD when left out: what is not committed yet
# Names the parts of runs that differ; ends with "N passed, N failed", counted in parts. The outputs are kept in
# build/golden/. None is committed, as the last bits depend on the processor.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh # one thread of OpenBLAS: more change bits, those of OpenMP do not
base=$(git rev-parse --verify "${1:-HEAD}^{commit}")
out=build/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
parts=(DESCRIPTION LICENSE NAMESPACE R data src)

main() {
  rm -rf "$out"
  mkdir -p "$out" "$work/base" "$work/tree"
  git archive "$base" "${parts[@]}" | tar -xf - -C "$work/base"
  cp -r "${parts[@]}" "$work/tree"
  find "$work/tree" -name '*.o' -delete
  answers base &
  local other=$!
  answers tree
  wait "$other"
  compare
}

# Builds a tree and writes the output of its runs.
answers() {
  mkdir "$work/$1.lib"
  R CMD INSTALL --no-docs --no-test-load --no-byte-compile --no-multiarch --library="$work/$1.lib" "$work/$1" \
    > "$out/$1.log" 2>&1 || { cat "$out/$1.log"; return 1; }
  Rscript dev/golden.R "$work/$1.lib" > "$out/$1" 2>> "$out/$1.log" || { tail -n 5 "$out/$1.log"; return 1; }
  echo "$1: $(tail -n 1 "$out/$1.log")"
}

compare() {
  awk -F ' [|] ' '
    NR == FNR { base[$1] = $0; next }
    $1 in base && base[$1] == $0 { same++ }
    $1 in base && base[$1] != $0 { differ++; print "differs: " $1 }
    !($1 in base) { differ++; print "new: " $1 }
    { delete base[$1] }
    END {
      for (part in base) { differ++; print "missing: " part }
      print same + 0 " passed, " differ + 0 " failed"
      exit differ > 0 || same == 0
    }' "$out/base" "$out/tree"
}

main
