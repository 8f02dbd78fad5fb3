# Coefficients as text.

# One line per coefficient, with a column for each class where there are several classes.
estimate_lines <- function(coefficients, digits) {
  if (!is.matrix(coefficients)) coefficients <- cbind(Estimate = coefficients)
  columns <- lapply(seq_len(ncol(coefficients)), function(k) format(coefficients[, k], digits = digits))
  table_lines(rownames(coefficients), stats::setNames(columns, colnames(coefficients)))
}

# A table of text with row names; only the first rows are shown.
table_lines <- function(rows, columns) {
  padded <- Map(function(name, column) formatC(c(name, column), width = max(nchar(c(name, column)))), names(columns),
                columns)
  lines <- do.call(paste, c(list(format(c("", rows))), padded))
  more <- length(rows) - most_coefficients
  c(utils::head(lines, most_coefficients + 1L), if (more > 0L) paste("and", more, "more: see `coef()`"))
}

most_coefficients <- 30L # that are printed
