#!/usr/bin/env bash
# Push-down to DuckDB: compiles its package from CRAN into build/duckdb, once and without optimisation, which takes the
# better part of an hour on two processors, and runs the tests that are skipped without it. With another library that
# has it: DUCKDB_LIB=folder dev/duckdb.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
lib=${DUCKDB_LIB:-$PWD/build/duckdb}
mkdir -p "$lib"
if [ ! -d "$lib/duckdb" ]; then
  flags=$(mktemp)
  trap 'rm -f "$flags"' EXIT
  printf '%s=-O0 -g0 -w -fPIC\n' CXX17FLAGS CXXFLAGS CFLAGS > "$flags"
  R_MAKEVARS_USER=$flags MAKEFLAGS=-j$(nproc) Rscript -e 'install.packages("duckdb", commandArgs(TRUE),
    "https://cloud.r-project.org", INSTALL_opts = "--no-docs")' "$lib"
fi
INSTALL=1 dev/build.sh --no-build-vignettes
R_LIBS=$lib Rscript dev/rtests.R build/lib '^push-duckdb$'
