#!/usr/bin/env bash
# Rounding errors that src/barrier/bounds.c counts on, proved by gappa (proofs: by-machine): of the exponential, whose
# constants and polynomial are read from src/loss/exp.h, and of the losses' terms. Without gappa all is skipped. The
# last check is that a wrong coefficient is found.
set -uo pipefail
cd "$(dirname "$0")/.."

main() {
  command -v gappa > /dev/null || { echo "skipped: gappa is not installed"; echo "0 passed, 0 failed"; return; }
  local script passed=0 failed=0
  for script in dev/gappa/*.g; do
    if proves "$script" cat; then passed=$((passed + 1)); continue; fi
    echo "gappa: $script: no proof"
    failed=$((failed + 1))
  done
  if wrong_is_found; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# proves script filter ...: with the source as the filter leaves it
proves() { { "${@:2}" < src/loss/exp.h | given "$(basename "$1" .g)"; cat "$1"; } | run; }

wrong_is_found() {
  ! proves dev/gappa/horner.g sed 's|1.0 / 5040|1.0 / 5041|' > /dev/null && return
  echo "gappa: a wrong coefficient is not found"
  return 1
}

run() { timeout 120 gappa 2>&1 | grep -v '^Warning' | tail -n 3; [ "${PIPESTATUS[0]}" -eq 0 ]; }

# What a script takes from the text of exp_minus(), on standard input.
given() {
  case $1 in
    reduce) sed -nE 's/^#define LN2_(HIGH|LOW) (\S+)$/\L\1\E = \2;/p' ;;
    horner) polynomial ;;
  esac
}

# p = p * r + 1.0 / 120; and so on, with roundings.
polynomial() {
  echo '@rnd = float<ieee_64, ne>; r = rnd(r_);'
  sed -nE 's/^ *(double )?p = (p \* r \+ )?([0-9.]+( \/ [0-9]+)?);.*/\3/p' | awk '
    { c = /\// ? "rnd(" $0 ")" : $0 }
    { print "p" NR (NR > 1 ? " rnd= p" NR - 1 " * r + " : " = ") c ";" }
    END { print "p = p" NR ";" }'
}

main
