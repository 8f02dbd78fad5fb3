report_endings <- c(markdown = "[.]md$", html = "[.]html?$", json = "[.]json$")

# The format that the file's name says.
check_page <- function(file, call) {
  of <- is.character(file) && length(file) == 1L && !is.na(file)
  fits <- of & vapply(report_endings, function(ending) of && grepl(ending, file, ignore.case = TRUE), NA)
  if (any(fits)) return(names(report_endings)[fits])
  abort("argument", "`file` must be NULL or a name that ends in \".html\", \".md\" or \".json\", not ",
        describe(file), ".", call = call)
}

write_page <- function(text, file, call) {
  failed <- function(e) abort("argument", "`file` cannot be written: ", conditionMessage(e), call = call)
  tryCatch(writeLines(enc2utf8(text), file, useBytes = TRUE), error = failed, warning = failed)
}

# ---- what is said of a result and of a budget ----

result_blocks <- function(x, call) {
  privacy <- result_privacy(x, call)
  ledger <- if (inherits(x, "dp_sosp")) dp_ledger(x) else privacy$ledger
  c(
    list(heading_block("Privacy statement")),
    list(list_block(c(
      promise_items(privacy, number_text(x)),
      protection_items(), public_item(x, ledger), alarm_item(x)
    ))),
    list(heading_block("What the budget was spent on", 2), spending_block(ledger)),
    meaning_blocks(privacy, x$persons)
  )
}

result_privacy <- function(x, call) {
  privacy_parts(x, call)
  if (inherits(x, "dp_sosp")) fit_privacy(x) else checked_privacy(x$privacy)
}

budget_blocks <- function(x) {
  state <- budget_state(x)
  privacy <- budget_privacy(x, state)
  ledger <- dp_ledger(x)
  spent <- paste0("**Reserved or spent**: ", percent(state$spent / state$capacity), " of the budget; the guarantee is ",
                  "the whole budget, also where less is spent.")
  list_of_rows <- if (is.null(ledger$number)) {
    list(heading_block("What the budget was spent on", 2), spending_block(ledger, state$capacity))
  } else {
    list(heading_block("Reservations", 2), reservation_block(ledger, state$capacity))
  }
  c(list(heading_block("Privacy statement of a budget")),
    list(list_block(c(promise_items(privacy), spent, protection_items(), persons_item(ledger)))), list_of_rows,
    meaning_blocks(privacy))
}

# Of a budget in memory it is not known.
persons_item <- function(ledger) {
  text <- if (!is.null(ledger$number)) protected_text(ledger$relation)
  if (!is.null(text)) paste0("**Persons**: ", tolower(substr(text, 1, 1)), substring(text, 2), ".")
}

# In the form of a result's: a budget in mu or rho has a delta to show eps at. Where a part of a durable budget is for
# what its accountant does not count, only eps and delta hold for all of it.
budget_privacy <- function(x, state) {
  parts <- isTRUE(x$other[["eps"]] > 0)
  privacy <- list(delta = x$delta %||% 1e-6, rho = state$capacity, order = x$order,
                  accountant = if (parts) "added" else state$accountant,
                  neighbours = budget_relation(x, state), noise = "secure",
                  unit = if (is.null(x$eps)) budget_text(x))
  c(list(eps = x$eps %||% eps_of(privacy, privacy$rho)), privacy)
}

x_records <- function(x) if (inherits(x, "dp_tune")) sum(x$n) else x$n

number_text <- function(x) {
  n <- format(x_records(x), big.mark = ",")
  if (is.null(x$persons)) return(paste("n =", n, "records, a public number"))
  paste("n =", n, "persons, a public number. On this page a record is all records of a person")
}

# ---- the guarantee ----

promise_items <- function(privacy, records = NULL) {
  relation <- c("replace-one" = "one record is replaced by any other", "zero-out" = paste(
    "one record is replaced by a record that adds nothing"))[privacy$neighbours]
  if (is.na(relation)) relation <- "one record changes, in a way that the first use of the budget decides"
  c(
    doubt_item(privacy),
    paste0("**Guarantee**: ", if (!is.null(privacy$unit)) paste0(privacy$unit, ", which is "),
           "(eps, delta) = (", format(privacy$eps, digits = 4), ", ", format(privacy$delta, digits = 3), ") ",
           "differential privacy. Whatever is released has nearly the same distribution when ", relation,
           if (!is.null(records)) paste0("; ", records), "."),
    paste0("**Counted by**: ", accountant_phrases[[privacy$accountant]],
           if (!is.null(privacy$order)) paste(" at order", format(privacy$order, digits = 4)), "."),
    if (identical(privacy$noise, "reproducible")) {
      "**Not for release**: the noise was drawn by a generator whose numbers can be recomputed."
    },
    if (!is.null(privacy$shared)) paste0("**Shared budget**: it was paid for by a budget of ", privacy$shared, ".")
  )
}

doubt_item <- function(privacy) {
  text <- doubt_text(privacy)
  if (!is.null(text)) paste0("**", sub(":", "**:", text), ".")
}

accountant_phrases <- c(
  auto = "not decided yet, the first use decides", gdp = "Gaussian differential privacy, exact for Gaussian releases",
  zcdp = "zero-concentrated differential privacy", renyi = "Renyi divergences",
  perturbed = "the account of a perturbed objective", tuned = "one account of all candidates",
  added = "adding the eps and the delta of the parts"
)

protection_items <- function() {
  c(
    paste0("**Protected**: what any single record says, from everybody who sees the result, also from those who know ",
           "all other records and have any computing power."),
    paste0("**Not protected**: facts about the population that do not depend on one record; the number of records; ",
           "time and memory of the computation; the data where they are stored and computed on.")
  )
}

public_item <- function(x, ledger) {
  formula <- tryCatch(deparse1(stats::formula(x)), error = function(e) NULL)
  paste0("**Assumed to be public**: the number of records; ",
         if (!is.null(formula)) paste0("the formula `", formula, "`; "),
         "names and types of columns, levels of factors and of the response; ranges that were declared",
         if ("ranges" %in% ledger$what) " (others were released)", "; every argument of the call.")
}

# Released numbers about the records as a whole.
alarm_item <- function(x) {
  if (is.null(x$checks)) return(NULL)
  text <- sub("[.]$", "", c(null_text(x$checks, x$n), usable_text(x$checks)))
  if (length(text) > 0L) paste0("**Released about the records**: ", paste(text, collapse = ". "), ".")
}

spending_block <- function(ledger, total = sum(ledger$rho)) {
  spent <- rowsum(cbind(charges = as.numeric(is_release(ledger)), share = ledger$rho / total), ledger$what,
                  reorder = FALSE)
  spent <- spent[order(-spent[, "share"]), , drop = FALSE]
  table_block(c("spent on", "releases", "share"),
              cbind(rownames(spent), spent[, "charges"], vapply(spent[, "share"], percent, "")))
}

reservation_block <- function(ledger, capacity) {
  text <- function(name) ifelse(is.na(ledger[[name]]), "", as.character(ledger[[name]]))
  who <- paste(text("user"), text("host"), sep = " on ")
  share <- ifelse(ledger$rho > 0, percent(ledger$rho / capacity),
                  paste(guarantee_text(ledger$other_eps, ledger$other_delta), "of the other part"))
  table_block(c("number", "time (UTC)", "who", "label", "n", "relation", "method", "share"),
              cbind(text("number"), text("time"), who, text("label"), text("n"), text("relation"), text("method"),
                    share))
}

# ---- what it means ----

# persons: those of a result with an id, or NULL.
meaning_blocks <- function(privacy, persons = NULL) {
  gaussian <- privacy$accountant == "gdp"
  kind <- if (gaussian) "Gaussian releases, counted exactly" else "any releases with this eps and delta"
  power <- attack_power(privacy)
  c(list(
    heading_block("What it means", 2),
    text_block(paste0(
      "Somebody who must decide between two values of one record, and accepts a false alarm in 5 of 100 cases, finds ",
      "a true suspicion with probability **", percent(power(0.05)), "** at most (guessing: 5.0 %; ", kind, "). With ",
      "even odds before, at most **", percent(right_guesses(privacy)), "** of the decisions are right (guessing: ",
      "50.0 %). ",
      "Odds of 1:1 become at most ", odds_text(privacy$eps), ":1, apart from a part of what may be released that has ",
      "the probability ", format(privacy$delta, digits = 3), ".")),
    power_block(power, if (gaussian) any_power(privacy))
  ), group_blocks(privacy, persons))
}

# other: a curve to compare with, or NULL.
power_block <- function(power, other) {
  levels <- c(0.01, 0.05, 0.1, 0.2, 0.5)
  columns <- list("false alarms" = levels, "greatest power" = power(levels))
  if (!is.null(other)) columns[["by eps and delta alone"]] <- other(levels)
  figure_block(power, other, vapply(columns, function(x) percent(x), character(length(levels))), names(columns))
}

# Functions of the level: the best attacker's power (proofs: attack).
attack_power <- function(privacy) {
  mu <- sqrt(2 * privacy$rho)
  if (privacy$accountant == "gdp") function(level) stats::pnorm(stats::qnorm(level) + mu) else any_power(privacy)
}

any_power <- function(privacy) {
  grow <- exp(min(privacy$eps, 700))
  function(level) pmin(1, grow * level + privacy$delta, 1 - (1 - privacy$delta - level) / grow)
}

# At even odds, the largest mean of 1 - level and power.
right_guesses <- function(privacy) {
  if (privacy$accountant == "gdp") return(stats::pnorm(sqrt(2 * privacy$rho) / 2))
  grow <- exp(min(privacy$eps, 700))
  min(1, (grow + privacy$delta) / (1 + grow))
}

odds_text <- function(eps) if (eps > 700) "any number" else format(exp(eps), digits = 3)

# The entries eps and delta for k records, of the entry `privacy` of a result.
group_guarantee <- function(privacy, k) {
  if (privacy$accountant %in% c("gdp", "zcdp")) {
    return(list(eps = eps_of(privacy, k^2 * privacy$rho), delta = privacy$delta))
  }
  list(eps = k * privacy$eps, delta = group_delta(privacy$eps, privacy$delta, k))
}

group_blocks <- function(privacy, persons) {
  if (is.null(persons)) {
    return(list(
      heading_block("Persons with several records", 2),
      text_block("The guarantee is for one record. For several records of one person together it is:"),
      group_block(privacy, "records")
    ))
  }
  list(
    heading_block("Several persons together", 2),
    text_block("The guarantee is for all records of one person. For several persons together it is:"),
    group_block(privacy, "persons")
  )
}

group_block <- function(privacy, several) {
  k <- c(2, 5, 10)
  of <- lapply(k, group_guarantee, privacy = privacy)
  says <- vapply(of, function(one) {
    if (one$delta >= 1) c("no guarantee", "") else c(format(one$eps, digits = 3), format(one$delta, digits = 3))
  }, c("", ""))
  table_block(c(several, "eps", "delta"), cbind(format(k), says[1, ], says[2, ]))
}

percent <- function(x) paste0(formatC(100 * x, format = "f", digits = 1), " %")

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
