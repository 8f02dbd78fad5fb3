#!/usr/bin/env bash
# What other compilers, C libraries, processors and settings of R make of the package. What is not installed here is
# skipped, with a line that says so. Fifteen minutes; needs build/lib's tools, not its package.
#   dev/portability.sh [part ...]      all parts without names: compilers others r
# Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

work=$PWD/build/portability
mkdir -p "$work"
passed=0
failed=0
defines=(-Isrc -DUSE_FC_LEN_T -DSTRICT_R_HEADERS)
# As system headers: R's need not be free of warnings.
headers=$(R CMD config --cppflags | sed 's/-I/-isystem /g')

try() {
  local name=$1
  shift
  if "$@" > "$work/log" 2>&1; then
    passed=$((passed + 1)) && echo "portability: $name: passed"
  else
    failed=$((failed + 1)) && echo "portability: $name: FAILED" && tail -n 12 "$work/log" | sed 's/^/   /'
  fi
}
missing() { # command, what it is for
  command -v "$1" > /dev/null && return 1
  echo "portability: $2: skipped, no $1"
}

# Every file on its own, without a warning. R registers functions by a cast that -Wextra would report.
compiles() {
  local file bad=0
  for file in src/*.c src/*/*.c; do
    "$@" -pedantic -Wall -Wextra -Wno-cast-function-type -Werror -fsyntax-only "${defines[@]}" $headers "$file" || bad=1
  done
  return $bad
}

# These rooms are arithmetic of the core alone: no BLAS and, with the stub, no library of R, so that they run anywhere.
runs_alone() { # rooms, build folder, compiler and its options, ":", command that runs a program
  local rooms=$1 folder=$work/$2 sources=() test room names=()
  shift 2
  local compiler=()
  while [ "$1" != : ]; do compiler+=("$1") && shift; done
  shift
  mkdir -p "$folder"
  for room in $rooms; do
    sources+=(src/"$room"/*.c)
    for test in dev/ctest/test-"$room"-*.c; do
      if grep -qE 'base_p?q?n(orm|chisq)|include .(data|la|loss)/' "$test"; then continue; fi
      sources+=("$test") && test=${test#dev/ctest/test-} && test=${test%.c} && names+=("${test//-/_}")
    done
  done
  printf 'ENTRY(%s)\n' "${names[@]}" > "$folder/entries.h"
  cat > "$folder/Rmath.h" << 'END'
/* A stand-in: the tests that are run here need no distribution. */
static inline double pnorm5(double x, double m, double s, int l, int g) { return 0 * (x + m + s + l + g); }
static inline double qnorm5(double x, double m, double s, int l, int g) { return 0 * (x + m + s + l + g); }
static inline double pnchisq(double x, double m, double s, int l, int g) { return 0 * (x + m + s + l + g); }
END
  "${compiler[@]}" -std=gnu99 -O1 -I"$folder" -Idev/ctest "${defines[@]}" \
    -Wl,--wrap=base_alloc,--wrap=base_free,--wrap=getrandom "${sources[@]}" dev/ctest/{main,entropy,alloc}.c \
    -static -o "$folder/ctest" -lm && CTEST_QUICK=1 "$@" "$folder/ctest"
}

compilers() {
  try "gcc, C99" compiles gcc -std=c99
  try "gcc, C11" compiles gcc -std=gnu11 -fopenmp
  try "gcc, C23" compiles gcc -std=gnu2x
  missing clang "clang" || try "clang" compiles clang -std=gnu99 -Wstrict-prototypes
  missing musl-gcc "musl" || try "musl" compiles musl-gcc -std=gnu99
}

# Conversions between sizes and numbers that lose bits where a size has 32.
sizes() {
  local file bad=0
  for file in src/*/*.c; do
    case $file in src/mech/*) continue ;; esac
    "$@" -std=gnu99 -fsyntax-only -Wall -Wextra -Wconversion -Wshift-count-overflow -Werror "${defines[@]}" \
      $headers "$file" || bad=1
  done
  return $bad
}

# A row has the same bits in registers of any width.
width() { # instruction set
  make -C dev/ctest plain TESTS="data_coordinates data_data data_storage" BUILD="$work/$1" \
    FLAGS_plain="-O2 -g1 -fopenmp -march=$1 -DSIMD_CLONES="
}

others() {
  local set
  for set in x86-64 x86-64-v2 x86-64-v3 x86-64-v4; do
    if /lib64/ld-linux-x86-64.so.2 --help 2> /dev/null | grep -qE "$set( \(supported|$)" || [ "$set" = x86-64 ]; then
      try "registers of $set" width "$set"
    else
      echo "portability: registers of $set: skipped, not this processor"
    fi
  done
  missing musl-gcc "tests with musl" || try "tests with musl" runs_alone "base mech" musl musl-gcc : env
  missing i686-linux-gnu-gcc "32 bits" || {
    # The room mech needs integers of 128 bits, which 64-bit platforms have.
    try "sizes of 32 bits" sizes i686-linux-gnu-gcc
    try "tests with 32 bits" runs_alone base i686 i686-linux-gnu-gcc -msse2 -mfpmath=sse : env
  }
  missing s390x-linux-gnu-gcc "tests, big-endian" || missing qemu-s390x "tests, big-endian" ||
    try "tests, big-endian" runs_alone "base mech" s390x s390x-linux-gnu-gcc -ffp-contract=off : qemu-s390x
}

# In one run: without OpenMP, in the C locale, with R's strictest conditions and the reference BLAS.
r() {
  local folder=$work/lib reference=/usr/lib/$(gcc -print-multiarch)
  [ -e "$reference/blas" ] || echo "portability: reference BLAS: skipped, it is not installed"
  mkdir -p "$folder"
  INSTALL='' dev/build.sh --no-build-vignettes > /dev/null
  printf 'SHLIB_OPENMP_CFLAGS =\n' > "$work/Makevars"
  try "installs without OpenMP" env R_MAKEVARS_USER="$work/Makevars" \
    R CMD INSTALL --library="$folder" build/dpsosp_*.tar.gz
  try "tests without OpenMP, in the C locale, strict conditions, reference BLAS" env LC_ALL=C \
    _R_CHECK_LENGTH_1_CONDITION_=true _R_CHECK_LENGTH_1_LOGIC2_=true _R_CHECK_LENGTH_COLON_=true \
    LD_LIBRARY_PATH="$reference/blas:$reference/lapack" Rscript dev/rtests.R "$folder" \
    '^(account|basis|design|fit|input|levels|oracle|push-rows|rows|source-(digest|values)|standards|store|threads)$'
}

for part in ${@:-compilers others r}; do "$part"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
