#!/usr/bin/env bash
# Which comments cite a document that is not in the repository? Its name, privacy.md, and its labels such as A7, J1.
#   dev/labels.sh
# Prints "label: files", and last how many citations of how many labels there are.
set -euo pipefail
cd "$(dirname "$0")/.."
label='[A-K][1-9][0-9]?'
list="$label((, | and | to |-)[A-K][1-9]?[0-9]?\\>)*"

# "file text" for each citation: after the document's name, before it, or alone in brackets.
citations() {
  grep -rlE "privacy\.md|\($list\)" src R dev vignettes tests --include='*.[chR]' --include='*.Rmd' --include='*.sh' |
    grep -vx 'dev/labels.sh' | sort | while read -r file; do
    sed -E 's/^ *(\*|#.?|\/\*) ?//' "$file" | tr '\n' ' ' |
      grep -oE \
        "(section [A-K][1-9]? of )?privacy\.md( ($list|[A-K]\>( and [A-K]\>)*))*(, $list)*|\(($list)(\)|; )" |
      sed "s|^|$file |"
  done
}

citations | awk '
  { file = $1; $1 = ""; total++; text = $0; gsub(/privacy\.md|section|and|of|[(),;]/, " ", text)
    gsub(/ to |-/, " ", text)
    count = split(text, label, " ")
    if (count == 0) { count = 1; label[1] = "(none)" }
    for (i = 1; i <= count; i++) if (!seen[label[i], file]++) {
      files[label[i]] = files[label[i]] " " file
    } }
  END {
    for (name in files) { print name ":" files[name] | "sort -V"; labels++ }
    close("sort -V")
    print total + 0 " citations of " labels + 0 " labels"
  }'
