#!/usr/bin/env bash
# A claim that needs a proof cites its paragraph of vignettes/proofs.Rmd by the anchor: "(proofs: laplace, slack)",
# "(Karney 2016; proofs: lattice-gaussian)". A fault is
#   - a citation in another form, or of an anchor that is not defined exactly once;
#   - a document (x.md) that is not in the repository, or a label from one: "(A7)", "section F1";
#   - code that the vignette names and that does not exist;
#   - a word of dev/retired-words, for which there is another term, in src/ or R/.
#   dev/labels.sh
# Ends with "N passed, N failed", counted in files; the last checks test the check itself on small examples.
set -uo pipefail
cd "$(dirname "$0")/.."
proofs=vignettes/proofs.Rmd
retired=$(cat dev/retired-words)
passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
  local found
  found=$(faults)
  [ -z "$found" ] || sed 's/^/labels: /' <<< "$found"
  failed=$(cut -d: -f1 <<< "$found" | sort -u | grep -c .)
  passed=$(($(texts | wc -l) - failed))
  check_the_check
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# Prints a line "file: fault" for each fault.
faults() {
  local anchors
  anchors=$(grep -oE '\{#[a-z0-9-]+\}' "$proofs" | tr -d '{#}' | sort)
  uniq -d <<< "$anchors" | sed "s|.*|$proofs: the anchor & is defined twice|"
  grep -oE '`[A-Za-z_][A-Za-z0-9_./-]*(\(\))?`' "$proofs" | tr -d '`()' | sort -u | while read -r name; do
    exists "$name" || echo "$proofs: no code is called $name"
  done
  while IFS=$'\t' read -r old new; do
    grep -rowE --include='*.[chR]' -- "$old" src R | sort -u | sed "s|$| is retired: $new|"
  done <<< "$retired"
  texts | xargs awk -v anchors="$(tr '\n' ' ' <<< "$anchors")" -v names="$(documents | tr '\n' ' ')" '
    BEGIN {
      for (i = split(anchors, name, " "); i > 0; i--) anchor[name[i]]
      for (i = split(names, name, " "); i > 0; i--) document[name[i]]
      label = "[A-K][1-9][0-9]?"
    }
    # The next match in what is left of the text, or "".
    function next_match(pattern,   found) {
      if (!match(left, pattern)) return ""
      found = substr(left, RSTART, RLENGTH)
      left = substr(left, RSTART + RLENGTH)
      return found
    }
    function citations(   found, name, i) {
      left = text
      while ((found = next_match("(\\(|; )?proofs( vignette|:[^)]*\\)?)")) != "") {
        if (found !~ /^(\(|; )proofs: [a-z0-9-]+(, [a-z0-9-]+)*\)$/) {
          print file ": not \"(proofs: anchor)\": " found
          continue
        }
        gsub(/^.*: |\)/, "", found)
        for (i = split(found, name, ", "); i > 0; i--) if (!(name[i] in anchor)) print file ": no anchor " name[i]
      }
    }
    function documents(   found) {
      left = text
      while ((found = next_match("[A-Za-z0-9_-]+\\.md")) != "")
        if (!(found in document)) print file ": no document " found
    }
    function labels(   found) {
      left = text
      while ((found = next_match(" \\(" label "((, | and | to |-)" label ")*[);]")) != "") print file ": a label" found
      left = text
      while ((found = next_match(" section [A-K][1-9]?[^.a-z0-9]")) != "") print file ": a label" found
    }
    function close_file() {
      citations()
      documents()
      labels()
    }
    FNR == 1 { close_file(); file = FILENAME; text = "" }
    { sub(/^[ \t]*(\/?\*+|#+.?|\/\/)?[ \t]*/, ""); text = text " " $0 }
    END { close_file() }'
}

texts() {
  find src R dev inst tests vignettes ./*.md -type f \
    \( -name '*.[chR]' -o -name '*.Rmd' -o -name '*.sh' -o -name '*.md' \) ! -path dev/labels.sh | sort
}

documents() { find . -name '*.md' ! -path './build/*' ! -path './tests/*' -exec basename {} \;; }

# A file, or a word of the sources.
exists() {
  case $1 in
    *.*) [ -f "$1" ] || [ -n "$(find src R -name "$1")" ] ;;
    *) grep -rqw -- "$1" src R ;;
  esac
}

# Each example is a comment of C with one fault or none.
check_the_check() {
  mkdir -p "$work"/{src,R,dev,inst,tests,vignettes}
  cd "$work" || exit 1
  touch NEWS.md
  example '' '(proofs: one,' 'two) and (Author 2020; proofs: one) as NEWS.md says, section 5 of (A), section B.5'
  printf '[]{#one}\n' >> "$proofs"
  faults_are 'the anchor one is defined twice'
  printf '[]{#one}\n[]{#two}\n`gone.c`\n' > "$proofs"
  faults_are 'no code is called gone.c'
  example 'no anchor three' '(proofs: one, three)'
  example 'not "(proofs: anchor)"' 'as proofs: one shows (here)'
  example 'not "(proofs: anchor)"' 'see the proofs' 'vignette'
  example 'no document other.md' 'as in other.md'
  example 'wandered is retired' 'how far they wandered'
  example 'a label (A7)' 'its bound' '(A7)'
  example 'a label (A7, B2;' 'its bound (A7, B2; with noise)'
  example 'a label section F1' 'by section F1 of that'
}

# example "fault" line ...
example() {
  local fault=$1
  shift
  printf '[]{#one}\n[]{#two}\n`example()` of `example.c`\n' > "$proofs"
  { echo '/*'; printf ' * %s\n' "$@"; echo ' */ int example;'; } > src/example.c
  faults_are "$fault"
}

faults_are() {
  local found
  found=$(faults)
  if [ "$(grep -c . <<< "$found")" -eq "$([ -z "$1" ]; echo $?)" ] && [[ $found == *"$1"* ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "labels: of the check: wanted \"$1\", found \"$found\""
  fi
}

main
