#!/usr/bin/env bash
# Static analysis of the C sources by cppcheck, and by gcc with all warnings and -fanalyzer. A finding is a failure
# unless dev/analyze/*.suppress lists it with a reason. Both tools must first find a planted mistake.
#   dev/analyze.sh [src directory]
# Ends with "N passed, N failed": one for each file that gcc reads, one for cppcheck, two for the planted mistake.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

src=${1:-src}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

main() {
  gcc_flags
  planted
  for file in "$src"/*.c "$src"/*/*.c; do
    verdict "gcc" "$file" "$(run_gcc "$file" | unsuppressed "${file#"$src"/}")"
  done
  verdict "cppcheck" "$src" "$(run_cppcheck "$src")"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# As -isystem: R's headers need not be free of warnings.
gcc_flags() {
  read -ra headers <<< "$(R CMD config --cppflags | sed 's/-I/-isystem /g')"
  warnings=(-Wall -Wextra -Wconversion -Wpedantic -Wstrict-prototypes)
}

run_gcc() {
  gcc -std=gnu99 -O1 -fanalyzer -include dev/analyze/alloc.h "${warnings[@]}" -I"$src" "${headers[@]}" \
    -DUSE_FC_LEN_T -DSTRICT_R_HEADERS -fno-diagnostics-show-caret -fdiagnostics-path-format=none \
    -c "$1" -o /dev/null 2>&1 | grep -E '(warning|error): '
}

run_cppcheck() {
  cppcheck --quiet --std=c99 --enable=warning,performance,portability,style --library=dev/analyze/base.cfg \
    --suppressions-list=dev/analyze/cppcheck.suppress --template='{file}:{line}: {severity}: {message} [{id}]' \
    -D__SIZEOF_INT128__=16 -D'NORET=__attribute__((noreturn))' -I"$src" "$1" 2>&1 |
    grep -E ': (error|warning|performance|portability|style): '
}

# Drops the warnings of this file that dev/analyze/gcc.suppress names.
unsuppressed() {
  local known
  known=$(sed -nE "s|^$1 (-W[a-z-]+)$|\[\1\]|p" dev/analyze/gcc.suppress)
  if [ -z "$known" ]; then cat; else grep -vF "$known"; fi
}

verdict() {
  if [ -z "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: %s:\n%s\n' "$1" "$2" "$3" | sed '2,$s/^/  /'
  fi
}

# A leak of memory from base_alloc(), which shows that the declaration of base_alloc() is understood.
planted() {
  mkdir -p "$work/base"
  cp "$src/base/base.h" "$work/base"
  cat > "$work/planted.c" << 'END'
#include "base/base.h"

int planted(size_t n);
int planted(size_t n) {
  double *p = base_alloc(n, sizeof *p);
  if (!p) return BASE_ERR_MEMORY;
  p[0] = 1;
  if (n > 3) return BASE_ERR_ARGUMENT;
  base_free(p);
  return BASE_OK;
}
END
  finds "gcc" "$(src=$work run_gcc "$work/planted.c")" 'malloc-leak'
  finds "cppcheck" "$(src=$work run_cppcheck "$work/planted.c")" 'memleak'
}

finds() {
  if grep -q "$3" <<< "$2"; then passed=$((passed + 1)); else verdict "$1" "planted leak" "not found"; fi
}

main
