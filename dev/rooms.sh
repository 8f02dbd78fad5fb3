#!/usr/bin/env bash
# The rule of the rooms: who may include, call and name what (ARCHITECTURE.md, "Rooms").
#   dev/rooms.sh [src directory [object directory]]
# Two levels: the text of the sources, and the symbols of the compiled objects, which also catch a call that needs no
# include. Ends with "N passed, N failed"; each line of the table of rules below is one check. An object directory
# that is named keeps its objects for the next run, which then compiles new sources only (it looks at no header).
set -uo pipefail

src=$(cd "${1:-$(dirname "$0")/../src}" && pwd) || exit 2
rooms=(base features la data loss model engine mech acct barrier method)
any_room='base|features|la|data|loss|model|engine|mech|acct|barrier|method'
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
objects=${2:-$work/objects}

# What each room may include besides its own headers.
allowed_rooms() {
  case $1 in
    base) echo "" ;;
    features | la | loss | mech | acct) echo "base" ;;
    data) echo "base la" ;;
    model) echo "base la data loss" ;;
    engine) echo "base la data loss model" ;;
    barrier) echo "base la data loss model engine mech acct" ;;
    method) echo "base la barrier" ;; # and engine/ask.h, by way of barrier.h
  esac
}

main() {
  compile
  list_includes
  list_symbols
  rule "the core compiles without R" compile_errors
  for room in "${rooms[@]}"; do rule "$room includes only the rooms it may" foreign_includes "$room"; done
  rule "includes in rooms are written \"room/file.h\"" odd_includes
  rule "private.h stays inside" private_includes
  rule "no R header in a room" r_headers
  rule "SEXP only in the glue" names_in_rooms '\bSEXP\b'
  rule "BLAS and LAPACK only in la/blas.c" names_in_rooms '\bF77_(CALL|NAME|SUB)\b' 'la/blas.c'
  rule "no Fortran symbol but in la/blas.o" fortran_symbols
  rule "no symbol of R but in base/dist.o" r_symbols
  rule "no files of a room use each other in a circle" circles
  rule "no flag says how rows are kept: a storage has its functions" storage_flags
  rule "where data are, la is called for a fixed number of operations only" iterations_on_data
  rule "only mechanisms, schedules, selections and perturbed minimisers draw" callers mech_ \
    "mechanism|schedule|fresh|epoch|selection|perturbed"
  rule "only releases, schedules, selections and perturbed minimisers charge" callers 'ledger_charge$' \
    'release|schedule|fresh|selection|perturbed'
  rule "each C method is in the table of methods" methods_not_in_table
  rule "methods see no private struct" method_headers
  rule "methods call no data, loss, model, engine, noise or accounting" method_calls
  rule "methods do not charge or make ledgers" method_ledger
  rule "methods call of the barrier only what barrier.h declares" method_barrier
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# rule "text" command ...: the command prints each violation, and nothing when the rule holds.
rule() {
  local text=$1 found
  shift
  found=$("$@" 2>&1)
  if [ -z "$found" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'rooms: %s:\n%s\n' "$text" "$found" | sed '2,$s/^/  /'
  fi
}

# ---- text ----

room_files() { find "${rooms[@]/#/$src/}" -name '*.[ch]' 2> /dev/null | sort; }

# "path: target" for every include, target with its quotes or brackets
list_includes() {
  { room_files; find "$src" -maxdepth 1 -name '*.[ch]'; } |
    xargs grep -HE '^[[:space:]]*#[[:space:]]*include\b' |
    sed -E "s|^$src/||; s|:[[:space:]]*#[[:space:]]*include[[:space:]]*|: |" > "$work/includes"
}
includes_of() { grep -E "^($1)/" "$work/includes"; }

foreign_includes() {
  local own
  own=$(echo "$1 $(allowed_rooms "$1")" | tr ' ' '|')
  includes_of "$1" | grep -E ": \"[a-z]+/" | grep -vE ": \"(${own%|})/[^/]+\.h\""
}

# A quoted include is "room/file.h"; no bracketed one leads into a room; no macro hides one.
odd_includes() {
  includes_of "$any_room" | grep -vE ": \"($any_room)/[a-z_0-9]+\.h\"( */[/*].*)?$" |
    grep -vE ": <[A-Za-z_0-9/]+\.h>( */[/*].*)?$"
  includes_of "$any_room" | grep -E ": <($any_room)/"
}

# A room has its own private.h; where rows are summed data's is open.
private_includes() {
  grep -E ': "([^"]*/)?private\.h"' "$work/includes" | while IFS=': ' read -r file target; do
    case "$file $target" in
      model/*\ \"data/private.h\"* | engine/*\ \"data/private.h\"*) ;;
      */*\ \""${file%%/*}"/private.h\"*) ;;
      *) echo "$file: $target" ;;
    esac
  done
}

# No header of C or POSIX begins with a capital R.
r_headers() {
  includes_of "$any_room" | grep -E ': [<"](R[A-Za-z_]*(\.h|/)|S\.h)' |
    grep -vE '^base/dist\.c: <Rmath\.h>' | grep -vE '^la/blas\.c: <R_ext/(BLAS|Lapack)\.h>'
}

# names_in_rooms pattern [exempt file]
names_in_rooms() { room_files | grep -vxF "$src/${2:-}" | xargs grep -HnE "$1" | sed "s|^$src/||"; }

storage_flags() {
  grep -rnE '(->|\.)(sparse|single)\b|\bdata_is_(sparse|single|dense)\b' --include='*.[ch]' "$src" | sed "s|^$src/||"
}

# ---- symbols ----

compile() {
  local flags room file object
  flags=$(R CMD config --cppflags)
  : > "$work/errors"
  for room in "${rooms[@]}"; do
    mkdir -p "$objects/$room"
    for file in "$src/$room"/*.c; do
      object=$objects/$room/$(basename "$file" .c).o
      if [ ! -f "$file" ] || [ "$object" -nt "$file" ]; then continue; fi
      # -O0: nothing is inlined or dropped, so every call stays a symbol
      # shellcheck disable=SC2086
      gcc -std=gnu99 -O0 -w -I"$src" $flags -DUSE_FC_LEN_T -DSTRICT_R_HEADERS -MMD -c "$file" -o "$object" \
        2>> "$work/errors"
    done
  done
}

# "room/file.o: symbol", undefined ones and those with a definition
list_symbols() {
  find "$objects" -name '*.o' | sort > "$work/all_objects"
  xargs -r nm -A -u < "$work/all_objects" | sed -E "s|^$objects/||; s|:.* |: |" > "$work/undefined"
  xargs -r nm -A -g --defined-only < "$work/all_objects" | sed -E "s|^$objects/||; s|:.* |: |" > "$work/defined"
}
undefined_in() { grep -E "^($1)/" "$work/undefined"; }

compile_errors() { cat "$work/errors"; }

fortran_symbols() { grep -E ': [a-z][a-z0-9]*_$' "$work/undefined" | grep -v '^la/blas\.o: '; }

r_symbols() {
  grep -E ': (R_|Rf_|Rprintf|REprintf|Rvprintf|SET_|GetRNGstate|PutRNGstate|(unif|norm|exp)_rand)' "$work/undefined" |
    grep -vE '^base/dist\.o: Rf_' | grep -vE '^la/blas\.o: R_'
}

# Who calls whom inside of each room; tsort names those that it cannot put in an order.
circles() {
  local room
  for room in "${rooms[@]}"; do
    awk 'NR == FNR { of[$2] = $1; next } ($2 in of) && of[$2] != $1 { print $1, of[$2] }' \
      <(grep "^$room/" "$work/defined") <(undefined_in "$room") |
      tr -d : | sort -u | tsort 2>&1 > /dev/null | sed 's/^tsort: -: .*/a circle:/; s/^tsort: //'
  done
}

# Of la, what takes a time that depends on sizes alone: no eigen-decomposition of what has no noise yet (SECURITY.md).
iterations_on_data() {
  undefined_in 'barrier|engine|model|data' | grep -E ': la_' |
    grep -vE ': la_(dot|norm|axpy|scale|matvec|matvec_tile|matvec_t_add|crossprod_add|symmetrise|lanes_add)$' |
    grep -vE ': la_multiply(_t_add)?$' |
    grep -vE ': la_solve_(definite|clipped)$'
}

# callers symbol files: who else calls it
callers() { grep -E ": $1" "$work/undefined" | grep -vE "^barrier/($2)\.o: |^mech/"; }

# Entries are data symbols method_<name>; the table names each.
methods_not_in_table() {
  sed -nE 's/^METHOD\((.*)\)$/method_\1/p' "$src"/method/*.c | while read -r entry; do
    grep -q "&$entry\b" "$src/method/methods.c" || echo "$entry"
  done
}

# From the compiler's list of the headers that a method really reads, through whatever chain
method_headers() {
  find "$objects/method" -name '*.d' | while read -r deps; do
    tr -d '\\' < "$deps" | tr ' ' '\n' | sed -n "s|^$src/||p" |
      grep -vE '^(base|la|method)/[a-z_0-9]+\.[ch]$|^barrier/barrier\.h$|^engine/ask\.h$' |
      sed "s|^|method/$(basename "$deps" .d).c sees |"
  done
}

method_calls() {
  undefined_in method | grep -E ': (data|loss|model|engine|mech|acct)_'
  called_by_methods 'data|loss|model|engine|mech|acct'
}

# Symbols of the methods that these rooms define, whatever they are called
called_by_methods() {
  undefined_in method | awk 'NR == FNR { of_room[$2]; next } $2 in of_room' <(grep -E "^($1)/" "$work/defined") -
}

# The ledger may be read: what is left, what was spent.
method_ledger() {
  undefined_in method | grep -E ': ledger_' | grep -vE ': ledger_(left|spent|capacity|accountant_of|length|at)$'
}

method_barrier() {
  called_by_methods barrier | while IFS=': ' read -r object symbol; do
    grep -qE "\b$symbol(\(|;)" "$src/barrier/barrier.h" || echo "$object: $symbol"
  done
}

main
