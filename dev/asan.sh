#!/usr/bin/env bash
# Runs the package's tests with a shared object built with the address and undefined-behaviour sanitizers. This checks
# the glue, which the C tests cannot reach. R itself is not instrumented, so leaks are not reported (R's own would be).
# Tests that take long are skipped, as in R CMD check; other tests call the same functions.
#   dev/asan.sh [filter of test files]
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

mkdir -p build/asan/lib
cat > build/asan/Makevars << 'END'
CFLAGS = -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
LDFLAGS = -fsanitize=address,undefined
END
R_MAKEVARS_USER=$PWD/build/asan/Makevars R CMD INSTALL --no-docs --no-test-load --library=build/asan/lib \
  build/dpsosp_*.tar.gz > build/asan/install.log 2>&1 || { cat build/asan/install.log >&2; exit 1; }

export NOT_CRAN=false
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
  Rscript dev/rtests.R build/asan/lib "$@"
