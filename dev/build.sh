#!/usr/bin/env bash
# Builds the source package into build/ and prints its path. Options go to R CMD build.
# It builds a copy, so nothing is written into the sources. With INSTALL=1 it also installs the package into build/lib,
# from the copy and first, as R CMD build then has the objects that its vignettes need, and leaves them out.
# INSTALL=only ends there, and INSTALL=done builds what it left.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

copy() {
  mkdir -p build/source
  rm -rf build/source/dpsosp build/dpsosp_*.tar.gz
  mkdir build/source/dpsosp
  tar -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.so' . | tar -xf - -C build/source/dpsosp
}

install() {
  mkdir -p build/lib
  R CMD INSTALL --library=build/lib build/source/dpsosp > build/install.log 2>&1 ||
    { cat build/install.log >&2; exit 1; }
}

tarball() {
  (cd build && R CMD build "$@" source/dpsosp) > build/build.log 2>&1 || { cat build/build.log >&2; exit 1; }
  echo build/dpsosp_*.tar.gz
}

case ${INSTALL:-} in
  '') copy; tarball "$@" ;;
  only) copy; install ;;
  done) tarball "$@" ;;
  *) copy; install; tarball "$@" ;;
esac
