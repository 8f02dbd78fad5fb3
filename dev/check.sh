#!/usr/bin/env bash
# R CMD check --as-cran of a built package. Expected: no error, no warning, and no note except that for new submissions.
#   dev/check.sh tarball [options of R CMD check]
# Ends with "N passed, N failed", one for each item of the check's log.
set -uo pipefail
. "$(dirname "$0")/env.sh"

tarball=$(realpath "$1") || exit 2
shift
out=$(dirname "$tarball")
log=$out/dpsosp.Rcheck/00check.log

rm -rf "$out/dpsosp.Rcheck"
(cd "$out" && R CMD check --as-cran --no-manual "$@" "$tarball") < /dev/null > "$out/check.out" 2>&1
code=$?

# Items start with "* "; the lines that follow belong to them. The note on a new submission has only the maintainer's
# line.
awk -v code="$code" '
  function judge(   text) {
    if (item == "") return
    text = body
    if (item ~ /^\* checking CRAN incoming feasibility \.\.\. NOTE$/) {
      sub(/Maintainer: [^\n]*\n/, "", text)
      sub(/New submission\n/, "", text)
      gsub(/[ \n]/, "", text)
      if (text == "" ) { passed++; return }
    } else if (item ~ / \.\.\. (\[[^]]*\] ?)?(OK|INFO|SKIPPED)$/ || body ~ /^( *(\[[^]]*\] ?)?OK\n)$/) {
      passed++
      return
    } else if (item !~ /(NOTE|WARNING|ERROR)$/ && body !~ /(NOTE|WARNING|ERROR)\n/) {
      return
    }
    failed++
    printf "check: %s\n%s", item, body
  }
  /^\* / { judge(); item = $0; body = ""; next }
  /^Status: / { judge(); item = ""; status = $0; next }
  { body = body $0 "\n" }
  END {
    judge()
    if (status == "") { print "check: the log has no status line"; failed++ }
    if (status ~ /ERROR|WARNING/ || code != 0) { print "check: exit code " code ", " status; if (!failed) failed++ }
    if (!passed) failed++
    printf "%d passed, %d failed\n", passed, failed
    exit failed != 0
  }' "$log"
