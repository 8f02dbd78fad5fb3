# Follows every link of the site: files and anchors on it, and lists the addresses elsewhere, which it does not ask.
# Also: pictures have a text in their place, pages have a language and a title, and names in the reference index are
# without markup.
#   Rscript dev/site-links.R SITE
# Ends with "N passed, N failed", counted in links, pictures and pages.
site <- normalizePath(commandArgs(TRUE)[1])
pages <- list.files(site, "[.]html$", recursive = TRUE, full.names = TRUE)
documents <- stats::setNames(lapply(pages, xml2::read_html, encoding = "UTF-8"), pages)
values <- function(page, path) xml2::xml_text(xml2::xml_find_all(documents[[page]], path))
anchors <- lapply(stats::setNames(pages, pages), values, "//@id | //a/@name")
passed <- 0
failed <- 0
check <- function(good, ...) {
  if (good) passed <<- passed + 1 else {
    failed <<- failed + 1
    cat("site: ", ..., "\n", sep = "")
  }
}

follow <- function(page, link) {
  file <- sub("[#?].*", "", link)
  anchor <- utils::URLdecode(if (grepl("#", link)) sub(".*#", "", link) else "")
  folder <- if (startsWith(file, "/")) site else dirname(page)
  target <- if (file == "") page else file.path(folder, utils::URLdecode(file))
  if (dir.exists(target)) target <- file.path(target, "index.html")
  if (!file.exists(target)) return(FALSE)
  known <- anchors[[normalizePath(target)]]
  anchor %in% c("", "top") || is.null(known) || anchor %in% known
}

elsewhere <- character()
for (page in pages) {
  name <- substring(page, nchar(site) + 2)
  links <- unique(values(page, "//*[not(self::link[@rel='canonical'])]/@href | //@src"))
  away <- grepl("^([a-z]+:|//)", links)
  elsewhere <- union(elsewhere, grep("^(https?:)?//", links[away], value = TRUE))
  for (link in links[!away]) check(follow(page, link), name, " has a broken link: ", link)
  silent <- xml2::xml_find_all(documents[[page]], "//img[not(@alt) or (@alt='' and not(contains(@src, 'logo')))]/@src")
  for (picture in xml2::xml_text(silent)) check(FALSE, name, " has a picture without a text: ", substr(picture, 1, 60))
  passed <- passed + length(values(page, "//img/@alt"))
  check(all(nzchar(c(values(page, "/html/@lang"), values(page, "//title")))), name, " has no language or no title")
}
index <- file.path(site, "reference", "index.html")
names <- values(index, "//dt | //td")
marked <- grep("[`*{}\\\\]|&[a-z]+;", names, value = TRUE)
check(length(marked) == 0 && length(names) > 0,
      "the reference index shows markup: ", paste(utils::head(marked, 3), collapse = "; "))

cat(length(elsewhere), "addresses elsewhere, which are not followed:\n", sort(elsewhere), sep = "\n  ", fill = FALSE)
cat("\n", passed, " passed, ", failed, " failed\n", sep = "")
quit("no", status = min(failed, 1))
