#!/usr/bin/env bash
# libFuzzer on the core's public headers: runs every harness dev/fuzz/fuzz-<what>.c for a part of the time, with the
# address and undefined-behaviour sanitizers.
#   dev/fuzz.sh [seconds in all [what ...]]
# Inputs that reach new code are kept in build/fuzz/corpus and used again; those that found a mistake are in
# dev/fuzz/found and run first. Ends with "N passed, N failed", one for each harness.
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh

seconds=${1:-600}
shift $(($# > 0))
out=$PWD/build/fuzz
passed=0
failed=0

main() {
  local names=("$@") name
  if [ ${#names[@]} -eq 0 ]; then
    for file in dev/fuzz/fuzz-*.c; do name=${file##*/fuzz-} && names+=("${name%.c}"); done
  fi
  build "${names[@]}" || { echo "0 passed, ${#names[@]} failed"; exit 1; }
  for name in "${names[@]}"; do fuzz "$name" $((seconds / ${#names[@]})); done
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

build() {
  local flags headers name
  # -isystem: R's headers need not be free of warnings. Shifting into the sign of an __int128 is not done by the core.
  read -ra headers <<< "$(R CMD config --cppflags | sed 's/-I/-isystem /g')"
  flags=(-std=gnu99 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
    -Wall -Wextra -Isrc -Idev/ctest -Idev/fuzz -DMATHLIB_STANDALONE -DUSE_FC_LEN_T -DSTRICT_R_HEADERS)
  mkdir -p "$out/objects"
  rm -f "$out/objects"/*
  for file in src/*/*.c dev/ctest/alloc.c dev/ctest/entropy.c; do
    clang "${flags[@]}" "${headers[@]}" -c "$file" -o "$out/objects/$(echo "${file%.c}" | tr / -).o" || return 1
  done
  for name in "$@"; do
    clang "${flags[@]}" "${headers[@]}" -Wconversion -Wpedantic -Wstrict-prototypes -fsanitize=fuzzer \
      -Wl,--wrap=base_alloc,--wrap=base_free,--wrap=getrandom -o "$out/$name" "dev/fuzz/fuzz-$name.c" \
      "$out/objects"/*.o -lRmath -llapack -lblas -lm || return 1
  done
}

# The sanitizers' reports go to the log, the harness's summary to standard output.
fuzz() {
  local name=$1 log=$out/$1.log found=()
  mkdir -p "$out/corpus/$name"
  if [ -d "dev/fuzz/found/$name" ]; then found=("dev/fuzz/found/$name"); fi
  ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    "$out/$name" -max_total_time="$2" -timeout=60 -rss_limit_mb=2048 -max_len=400 -print_final_stats=1 \
    -artifact_prefix="$out/$name-" "$out/corpus/$name" "${found[@]}" > "$log" 2>&1
  if [ $? -eq 0 ]; then
    passed=$((passed + 1))
    echo "fuzz: $name: $(sed -nE 's/^stat::number_of_executed_units: //p' "$log") inputs in $2 s," \
      "$(ls "$out/corpus/$name" | wc -l) kept"
  else
    failed=$((failed + 1))
    echo "fuzz: $name: failed, see $log:"
    grep -E 'violated|ERROR|runtime error|Test unit written|^    #[0-9] ' "$log" | head -n 12 | sed 's/^/  /'
  fi
}

main "$@"
