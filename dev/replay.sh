#!/usr/bin/env bash
# Replay audit: is everything that a call does, but for its noise, the same on neighbouring data, and does no exact sum
# move by more than was paid for? A call runs on data and leaves a tape of all draws; on neighbours it runs again with
# the tape's answers in place of fresh ones (dev/replay/replay.R has the rules).
#   dev/replay.sh [pattern]          the calls whose names match (dev/replay/calls.R), or the cells of dev/matrix.R
#                                    (`cells`); in full where DPSOSP_LONG is 1
#   dev/replay.sh --floors [pattern] the same, and writes dev/replay/floors.csv
#   dev/replay.sh --call FILE        FILE defines `call`, a function(data), `data`, and `candidates`, a list of records
#                                    that take the place of record `row` (1), each a list of values of columns
#   dev/replay.sh --hook COPY        adds the hook to a copy of the package (dev/mutants.sh)
# The hook is replay.c in a copy of the sources, which the linker (GNU ld or lld) puts before the package's own
# functions; nothing of it is in the package. Ends with "N passed, N failed", counted in calls and checks of the hook.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
here=$PWD/dev/replay

main() {
  case ${1:-} in
    --hook) hook "$2"; return ;;
    --call) set -- --call "$(realpath "$2")" ;;
  esac
  work=$PWD/build/replay
  rm -rf "$work"
  mkdir -p "$work/lib" "$work/package"
  copy_sources
  hook "$work/package"
  R CMD INSTALL --no-docs --no-test-load --library="$work/lib" "$work/package" > "$work/install.log" 2>&1 ||
    { cat "$work/install.log" >&2; exit 1; }
  Rscript "$here/run.R" "$work/lib" "$@"
}

# With the objects of the last build, where it was of these sources.
copy_sources() {
  local built=build/source/dpsosp objects='*.o'
  if diff -rq -x '*.o' -x '*.so' src "$built/src" > /dev/null 2>&1; then objects=''; else built=.; fi
  tar -C "$built" --exclude="$objects" --exclude='*.so' -cf - DESCRIPTION LICENSE NAMESPACE R data src |
    tar -xf - -C "$work/package"
}

# The functions that replay.c wraps.
wrapped() {
  grep -oE '(__wrap_|^PUBLIC\()[A-Za-z][A-Za-z_]*' "$here/replay.c" | sed -E 's/^(__wrap_|PUBLIC\()//' | sort -u
}

hook() {
  local flags
  flags=$(wrapped | sed 's/^/-Wl,--wrap=/' | paste -sd ' ')
  mkdir -p "$1/src/replay"
  cp "$here/replay.c" "$1/src/replay/"
  sed -e 's|^OBJECTS = .*|&\n  replay/replay.o \\|' -e "s|^PKG_LIBS = |&$flags |" src/Makevars > "$1/src/Makevars"
}

main "$@"
