#!/usr/bin/env bash
# Tests the glue when R is out of memory: a copy of the package whose glue fails at a chosen place
# (dev/inject/inject.h), with the leak checker of the address sanitizer. Only memory from base_alloc() is checked, not
# R's own. Ends with "N passed, N failed"; a leak is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

work=$PWD/build/inject
rm -rf "$work"
mkdir -p "$work/lib" "$work/package"
cp -r DESCRIPTION LICENSE NAMESPACE R data src "$work/package"
find "$work/package/src" -name '*.o' -delete
cp dev/inject/inject.h "$work/package/src/"
sed -i 's|#define R_NO_REMAP|#include "inject.h"|' "$work/package/src/glue.h"
cat > "$work/Makevars" << 'END'
CFLAGS = -g -O1 -fno-omit-frame-pointer -fsanitize=address
LDFLAGS = -fsanitize=address
END
R_MAKEVARS_USER=$work/Makevars R CMD INSTALL --no-docs --no-test-load --library="$work/lib" "$work/package" \
  > "$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 1; }

# The sanitizer's exit code includes R's leaks, too.
ASAN_OPTIONS=detect_leaks=1:exitcode=0 LD_PRELOAD=$(gcc -print-file-name=libasan.so) \
  Rscript dev/inject.R "$work/lib" > "$work/log" 2>&1 || true
grep -E '^(inject|skipped): |^Error: ' "$work/log" | grep -v '^Error: injected$' || true
counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/log" || echo '0 passed, 1 failed')
leaks=$(grep -c ' in base_alloc ' "$work/log" || true)
if [ "$leaks" -gt 0 ]; then grep -A 6 ' in base_alloc ' "$work/log"; fi
read -r passed _ failed _ <<< "$counts"
failed=$((failed + leaks))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
