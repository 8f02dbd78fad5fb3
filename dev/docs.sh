#!/usr/bin/env bash
# Writes man/ and NAMESPACE from the roxygen comments; with --check it only reports whether they are up to date.
#   dev/docs.sh [--check]
# It works on a copy, whose R code is sourced: what it documents needs nothing of the compiled core.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

copy=build/docs/dpsosp
rm -rf build/docs
mkdir -p "$copy"
tar -cf - --exclude=./build --exclude=./.git --exclude=./vignettes --exclude=./src . | tar -xf - -C "$copy"
find "$copy/man" -name '*.Rd' -delete
# The tags of rOpenSci's standards, which dev/srr.R checks, are text that no help page shows.
cat > build/docs/roxygen.R << 'END'
path <- commandArgs(TRUE)
for (tag in c("srrstats", "srrstatsNA")) {
  registerS3method("roxy_tag_parse", paste0("roxy_tag_", tag), function(x) x, asNamespace("roxygen2"))
}
load_code <- function(path) {
  code <- roxygen2::load_source(path)
  for (file in list.files(file.path(path, "data"), full.names = TRUE)) load(file, code)
  code
}
roxygen2::roxygenise(path, load_code = load_code)
END
Rscript build/docs/roxygen.R "$copy" > build/docs/roxygen.log 2>&1 || { cat build/docs/roxygen.log >&2; exit 1; }
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
