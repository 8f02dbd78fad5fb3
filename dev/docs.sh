#!/usr/bin/env bash
# Writes man/ and NAMESPACE from the roxygen comments; with --check it only reports whether they are up to date.
#   dev/docs.sh [--check]
# It works on a copy, installed with a NAMESPACE that exports nothing, so that an outdated export causes no error.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

copy=build/docs/dpsosp
library=build/docs/lib
rm -rf build/docs
mkdir -p "$copy" "$library"
tar -cf - --exclude=./build --exclude=./.git --exclude=./vignettes --exclude='*.o' --exclude='*.so' . |
  tar -xf - -C "$copy"
grep -E '^(#|useDynLib|import)' NAMESPACE > "$copy/NAMESPACE"
R CMD INSTALL --no-docs --no-test-load --library="$library" "$copy" > build/docs/install.log 2>&1 ||
  { cat build/docs/install.log >&2; exit 1; }
find "$copy/src" -name '*.o' -delete
find "$copy/man" -name '*.Rd' -delete
Rscript -e ".libPaths(c('$library', .libPaths())); roxygen2::roxygenise('$copy', load_code = 'installed')" \
  > build/docs/roxygen.log 2>&1 || { cat build/docs/roxygen.log >&2; exit 1; }
# roxygen2 omits what it cannot parse, with a warning of the form "x file.R:line: ..."
if grep -nE '\.R:[0-9]+' build/docs/roxygen.log; then problems=1; else problems=0; fi

if [ "${1:-}" = --check ]; then
  mkdir -p man
  if diff -r man "$copy/man" && diff NAMESPACE "$copy/NAMESPACE" && [ $problems = 0 ]; then
    echo "1 passed, 0 failed"
  else
    echo "docs: man/ or NAMESPACE do not follow from the roxygen comments; run make docs"
    echo "0 passed, 1 failed"
    exit 1
  fi
else
  cp "$copy/NAMESPACE" NAMESPACE
  rm -rf man
  cp -R "$copy/man" man
fi
