#!/usr/bin/env bash
# Builds the site in build/site from the package installed in build/lib. It needs no network once its tools are
# installed: pkgdown and chromium (Debian), scripts (npm, kept in build/site-scripts). dev/site-look.sh checks the
# result.
set -euo pipefail
cd "$(dirname "$0")/.."
. dev/env.sh
dev/setup.sh r-cran-pkgdown chromium curl python3-minimal

scripts=build/site-scripts
registry=https://registry.npmjs.org

# package version folder-in-the-archive: its files into $scripts
fetch() {
  local archive
  archive=$(mktemp)
  curl -sSf "$registry/$1/-/${1##*/}-$2.tgz" -o "$archive"
  mkdir -p "$scripts/$4"
  tar xzf "$archive" -C "$scripts/$4" --strip-components="$(tr -cd / <<< "package/$3" | wc -c)" --wildcards "package/$3"
  rm -f "$archive"
}

if [ ! -f "$scripts/complete" ]; then
  fetch fuse.js 6.4.6 dist/fuse.min.js .
  fetch autocomplete.js 0.38.0 dist/autocomplete.jquery.min.js .
  fetch mark.js 8.11.1 dist/mark.min.js .
  fetch clipboard 2.0.6 dist/clipboard.min.js .
  fetch headroom.js 0.11.0 'dist/*eadroom.min.js' .
  fetch katex 0.16.11 'dist/katex.min.*' katex
  fetch katex 0.16.11 'dist/fonts/*.woff2' katex/fonts
  fetch katex 0.16.11 dist/contrib/auto-render.min.js katex/contrib
  fetch @fortawesome/fontawesome-free 5.12.1 'css/*.min.css' fontawesome/css
  fetch @fortawesome/fontawesome-free 5.12.1 'webfonts/*.woff2' fontawesome/webfonts
  touch "$scripts/complete"
fi

INSTALL=1 dev/build.sh --no-build-vignettes > /dev/null
rm -rf build/site build/source/dpsosp/vignettes/*.html
R_LIBS=$PWD/build/lib Rscript dev/site.R build/source/dpsosp "$PWD/build/site" > build/log-site 2>&1 ||
  { tail -20 build/log-site >&2; exit 1; }
mkdir -p build/site/scripts
cp -r "$scripts"/. pkgdown/scripts/. build/site/scripts/
cp LICENSE build/site/ # README.md links to it
rm -f build/site/scripts/complete
dev/site-look.sh
