#!/usr/bin/env bash
# Limits that keep files readable: lines of R, C and shell scripts have at most 120 characters, test files fewer than
# 400 lines, files of R/ at most 450.
#   dev/lines.sh
# Lists the violations; ends with "N passed, N failed", counted in files.
set -uo pipefail
cd "$(dirname "$0")/.."
most_columns=120
most_lines=399
most_lines_of_r=450

find R src dev tests inst/experiments -name '*.[RChc]' -o -name '*.sh' | sort | xargs awk \
  -v columns="$most_columns" -v lines="$most_lines" -v of_r="$most_lines_of_r" '
  function close_file() {
    if (name == "") return
    if (name ~ /^R\// && count > of_r) say(name ": " count " lines")
    if (name ~ /^(tests\/testthat|dev\/ctest)\// && count > lines) say(name ": " count " lines")
    if (bad) failed++; else passed++
  }
  function say(text) { print "lines: " text; bad = 1 }
  FNR == 1 { close_file(); name = FILENAME; bad = 0 }
  { count = FNR }
  length($0) > columns { say(FILENAME ":" FNR ": " length($0) " characters") }
  END { close_file(); print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || passed == 0 }'
