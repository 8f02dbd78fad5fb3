# The pages of the site; run by dev/site.sh.
#   Rscript dev/site.R SOURCE DESTINATION
arguments <- commandArgs(TRUE)
options(pkgdown.internet = FALSE)
pkg <- pkgdown::as_pkgdown(arguments[1], override = list(destination = arguments[2]))
# Without this folder init_site() asks a server on the internet for icons; the logo is the icon (templates/head.html).
dir.create(file.path(pkg$src_path, "pkgdown", "favicon"), showWarnings = FALSE)
pkgdown::init_site(pkg)
pkgdown::build_home(pkg, preview = FALSE)
pkgdown::build_reference(pkg, preview = FALSE, lazy = FALSE, devel = FALSE)
pkgdown::build_articles(pkg, preview = FALSE, lazy = FALSE)
pkgdown::build_news(pkg, preview = FALSE)
pkgdown::build_search(pkg)

# pkgdown gives pictures of examples, and those with a caption, an empty text.
for (page in list.files(pkg$dst_path, "[.]html$", recursive = TRUE, full.names = TRUE)) {
  text <- paste(readLines(page, encoding = "UTF-8"), collapse = "\n")
  text <- gsub('(<img src="[^"]*") alt=""([^>]*>)\\s*(<p class="caption">([^<"]*)</p>)', '\\1 alt="\\4"\\2\\3', text)
  text <- gsub('(<span class="r-plt img"><img src="[^"]*") alt=""', '\\1 alt="The picture that this code draws"', text)
  writeLines(text, page, useBytes = TRUE)
}
