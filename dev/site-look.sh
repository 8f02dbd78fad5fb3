#!/usr/bin/env bash
# Checks the site in build/site in headless Chromium, at the widths of a desktop and of a phone: pages are not empty,
# formulas are typeset, colours have contrast, links and texts of pictures are there (dev/site-links.R), and the
# search finds a page. Screenshots of the pages are in build/site-look.
# Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
site=build/site
looks=build/site-look
port=8731
passed=0
failed=0

verdict() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "site: $2"; fi; }

chrome() {
  timeout 60 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
    --virtual-time-budget=8000 "$@" 2> /dev/null
}

# A screenshot with text does not compress to almost nothing.
picture() {
  chrome --screenshot="$looks/$3.png" --window-size="$2" \
    "http://localhost:$port/$1" > /dev/null
  [ "$(stat -c %s "$looks/$3.png" 2> /dev/null || echo 0)" -gt 15000 ]
  verdict $? "$1 is empty at $2"
}

# A copy of a page beside it, with the script that measures contrasts.
contrast() {
  local copy=${1%.html}-contrast.html text
  { cat "$site/$1"; echo "<script>"; cat dev/site-contrast.js; echo "</script>"; } > "$site/$copy"
  text=$(chrome --dump-dom --window-size=1280,1600 "http://localhost:$port/$copy" | grep -o 'contrast of [^<]*')
  rm -f "$site/$copy"
  [[ $text == contrast* && $text != *LOW* ]]
  verdict $? "$1: ${text:-no contrasts measured}"
}

mkdir -p "$looks"
profile=$(mktemp -d)
python3 -m http.server "$port" --bind 127.0.0.1 --directory "$site" > /dev/null 2>&1 &
server=$!
trap 'kill $server; rm -rf "$profile"' EXIT
sleep 1

for page in index reference/index reference/dp_sosp articles/dpsosp articles/proofs articles/five-papers \
  articles/gao-wright articles/wang-xu; do
  name=${page//\//-}
  picture "$page.html" 1280,1600 "$name"
  picture "$page.html" 390,844 "$name-phone"
done

formulas=$(chrome --dump-dom "http://localhost:$port/articles/proofs.html")
[ "$(grep -o 'class="katex"' <<< "$formulas" | wc -l)" -gt 100 ]
verdict $? "formulas of the proofs are not typeset"
! grep -q 'katex-error' <<< "$formulas"
verdict $? "a formula of the proofs has an error: $(grep -o 'katex-error" title="[^"]*' <<< "$formulas" | head -1)"

for page in index reference/index reference/dp_sosp articles/dpsosp articles/evaluation news/index; do
  contrast "$page.html"
done

Rscript dev/site-links.R "$site" > build/log-site-links 2>&1
verdict $? "links and pictures: $(grep '^site:' build/log-site-links | head -5)"

remote=$(grep -rlE '(<script[^>]*src|<link[^>]*href)="https?:' --include='*.html' "$site")
[ -z "$remote" ]
verdict $? "scripts or styles from elsewhere: $(head -3 <<< "$remote")"

grep -q '"path"' "$site/search.json" && grep -q 'certificate' "$site/search.json"
verdict $? "the search index is empty"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
