#!/usr/bin/env bash
# Installs the Debian packages that the tests need, and packages from CRAN that Debian does not have, if any is missing.
# Run as root, or with sudo.
#   dev/setup.sh [--demo] [extra package ...]
# With --demo only what a fit and its pictures need.
set -euo pipefail

demo=
if [ "${1:-}" = --demo ]; then demo=1; shift; fi

for_demo=(
  r-base-core r-cran-cli                                       # R, and the only package that is imported
  make gcc gfortran libc6-dev libblas-dev liblapack-dev        # what R compiles and links with
  libopenblas0-pthread                                         # a BLAS of the speed that the timings assume
)
for_tests=(
  r-base-dev                                                   # what R packages in C++ and Fortran need, too
  r-mathlib                                                    # C tests: R's distributions without R
  valgrind binutils                                            # C tests: memory; nm for the rooms
  cppcheck                                                     # static analysis, beside gcc's
  gappa                                                        # proofs of rounding errors
  r-cran-matrix r-cran-generics r-cran-ggplot2                 # suggested
  r-cran-nloptr r-cran-nnet                                    # R tests compare with them
  r-cran-testthat r-cran-withr r-cran-roxygen2 r-cran-knitr r-cran-rmarkdown
  r-cran-rsqlite postgresql libpq-dev                          # sources: databases, and RPostgres below
  r-cran-bit64 r-cran-blob r-cran-hms r-cran-lubridate         # what RPostgres imports
  r-cran-ipred r-cran-clock r-cran-timedate r-cran-tidyr       # what workflows, emmeans and marginaleffects import
  r-cran-mvtnorm r-cran-formula
  r-cran-broom                                                 # what modelsummary asks for
  r-cran-lmtest r-cran-sandwich                                # tests of terms
  r-cran-lintr r-cran-spelling r-cran-xml2                                 # style and spelling
  pandoc qpdf tidy                                             # vignettes; R CMD check of inst/doc and the help's HTML
)
tools=(R gcc make)
if [ -n "$demo" ]; then
  packages=("${for_demo[@]}" "$@")
else
  packages=("${for_demo[@]}" "${for_tests[@]}" "$@")
  tools+=(nm valgrind pandoc)
fi

# Without them the tests of Parquet files, of PostgreSQL, of parallel curves and of other packages' methods are skipped.
cran_packages=(nanoparquet RPostgres mirai parsnip workflows recipes butcher yardstick emmeans marginaleffects
               modelsummary insight)

main() {
  command -v dpkg-query > /dev/null || { without_debian; return; }
  from_debian
  [ -n "$demo" ] || from_cran
}

from_debian() {
  local missing=()
  for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  echo "setup: installing ${missing[*]}"
  as_root apt-get -q update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "${missing[@]}" < /dev/null
}

from_cran() {
  local missing
  missing=$(not_in_r)
  if [ -z "$missing" ]; then return; fi
  echo "setup: installing" $missing
  as_root Rscript -e 'install.packages(commandArgs(TRUE), quiet = TRUE, Ncpus = 2)' $missing \
    > /dev/null 2>&1 < /dev/null || true
  missing=$(not_in_r)
  if [ -z "$missing" ]; then return; fi
  echo "setup: cannot be installed:" $missing "(the tests that need them are skipped)" >&2
}

not_in_r() {
  Rscript -e 'cat(setdiff(commandArgs(TRUE), rownames(installed.packages())))' "${cran_packages[@]}" 2> /dev/null
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Elsewhere nothing is installed; the missing packages are reported.
without_debian() {
  local missing=()
  for tool in "${tools[@]}"; do command -v "$tool" > /dev/null || missing+=("$tool"); done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  echo "setup: not a Debian system; please install: ${missing[*]}" >&2
  return 1
}

main
