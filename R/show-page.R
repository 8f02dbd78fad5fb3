# Pages of a few kinds of blocks, as Markdown or as HTML without other files. In a text, **bold** and `code` are marks.
# A block is a list whose first entry, kind, is one of those of `block_writers`.

heading_block <- function(text, level = 1) list(kind = "heading", text = text, level = level)
text_block <- function(text) list(kind = "text", text = text)
list_block <- function(items) list(kind = "list", items = items)
table_block <- function(head, rows) list(kind = "table", head = head, rows = rows)
# curve, other: functions of a level, other may be NULL; rows, head: the table of the same numbers.
figure_block <- function(curve, other, rows, head) {
  list(kind = "figure", curve = curve, other = other, rows = rows, head = head)
}

page_markdown <- function(blocks) {
  unlist(lapply(blocks, function(block) c(block_writers[[block$kind]]$markdown(block), "")))
}

page_html <- function(blocks) {
  c("<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
    paste0("<title>", escape_html(blocks[[1]]$text), "</title>"),
    "<style>", page_style, "</style>", "</head>", "<body>",
    unlist(lapply(blocks, function(block) block_writers[[block$kind]]$html(block))), "</body>", "</html>")
}

page_style <- c(
  "body { font: 15px/1.45 system-ui, sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222; }",
  "h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 1.4em; } li { margin: 0.35em 0; }",
  "table { border-collapse: collapse; } th, td { padding: 0.2em 0.9em 0.2em 0; text-align: left; }",
  "th { border-bottom: 1px solid #888; } code { font-size: 0.92em; overflow-wrap: anywhere; }"
)

block_writers <- list(
  heading = list(
    markdown = function(block) paste(strrep("#", block$level), block$text),
    html = function(block) paste0("<h", block$level, ">", marks_html(block$text), "</h", block$level, ">")
  ),
  text = list(
    markdown = function(block) block$text,
    html = function(block) paste0("<p>", marks_html(block$text), "</p>")
  ),
  list = list(
    markdown = function(block) paste("-", block$items),
    html = function(block) c("<ul>", paste0("<li>", marks_html(block$items), "</li>"), "</ul>")
  ),
  table = list(markdown = function(block) table_markdown(block), html = function(block) table_html(block)),
  figure = list(
    markdown = function(block) table_markdown(block),
    html = function(block) c(figure_svg(block), table_html(block))
  )
)

table_markdown <- function(block) {
  # A cell may be a label, which somebody else wrote: readers of Markdown take "<" for the begin of HTML.
  line <- function(cells) paste0("| ", paste(gsub("([|<])", "\\\\\\1", cells), collapse = " | "), " |")
  c(line(block$head), line(rep("---", length(block$head))),
    vapply(seq_len(nrow(block$rows)), function(i) line(block$rows[i, ]), ""))
}

table_html <- function(block) {
  row <- function(cells, tag) {
    paste0("<tr>", paste0("<", tag, ">", marks_html(cells), "</", tag, ">", collapse = ""), "</tr>")
  }
  c("<table>", row(block$head, "th"), vapply(seq_len(nrow(block$rows)), function(i) row(block$rows[i, ], "td"), ""),
    "</table>")
}

escape_html <- function(text) {
  for (pair in list(c("&", "&amp;"), c("<", "&lt;"), c(">", "&gt;"), c("\"", "&quot;"))) {
    text <- gsub(pair[1], pair[2], text, fixed = TRUE)
  }
  text
}

marks_html <- function(text) {
  gsub("`([^`]*)`", "<code>\\1</code>", gsub("[*][*](.*?)[*][*]", "<b>\\1</b>", escape_html(text), perl = TRUE))
}

# ---- the picture: power against false alarms ----

figure_size <- 300 # of the square, in pixels; a margin is around it

figure_svg <- function(block) {
  level <- c(0, 10^seq(-4, -2, length.out = 21), seq(0.02, 1, by = 0.01))
  x <- function(value) 50 + figure_size * value
  y <- function(value) 10 + figure_size * (1 - value)
  line <- function(values, style) {
    points <- paste(formatC(x(level), format = "f", digits = 1), formatC(y(values), format = "f", digits = 1),
                    sep = ",", collapse = " ")
    paste0("<polyline fill=\"none\" ", style, " points=\"", points, "\"/>")
  }
  label <- function(at, to, text, anchor = "middle") {
    paste0("<text x=\"", at, "\" y=\"", to, "\" text-anchor=\"", anchor, "\">", text, "</text>")
  }
  ticks <- c(0, 0.5, 1)
  c(
    paste0("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"380\" height=\"365\" viewBox=\"0 0 380 365\" ",
           "font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"Power against false alarms\">"),
    paste0("<rect x=\"50\" y=\"10\" width=\"", figure_size, "\" height=\"", figure_size,
           "\" fill=\"none\" stroke=\"#888\"/>"),
    line(level, "stroke=\"#bbb\""),
    if (!is.null(block$other)) line(block$other(level), "stroke=\"#1f4e79\" stroke-dasharray=\"5 4\""),
    line(block$curve(level), "stroke=\"#1f4e79\" stroke-width=\"2\""),
    paste0("<circle cx=\"", x(0.05), "\" cy=\"", formatC(y(block$curve(0.05)), format = "f", digits = 1),
           "\" r=\"4\" fill=\"#1f4e79\"/>"),
    label(x(ticks), y(0) + 16, ticks), label(44, y(ticks) + 4, ticks, "end"),
    label(x(0.5), y(0) + 36, "probability of a false alarm"),
    paste0("<text transform=\"translate(14 ", y(0.5), ") rotate(-90)\" text-anchor=\"middle\">greatest power</text>"),
    "</svg>",
    paste0("<p>Solid: this result; grey: guessing; the point: 5 % false alarms.",
           if (!is.null(block$other)) " Dashed: what eps and delta alone would allow.", "</p>")
  )
}
