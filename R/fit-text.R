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
  more <- length(rows) - max_coefficients
  c(utils::head(lines, max_coefficients + 1L), if (more > 0L) paste("and", more, "more: see `coef()`"))
}

max_coefficients <- 30L # that are printed

privacy_text <- function(privacy) {
  c(
    paste0("Private: ", guarantee_text(privacy$eps, privacy$delta), " (",
           privacy$neighbours, ", ", accountant_texts[[privacy$accountant]],
           if (!is.null(privacy$order)) paste(" at order", format(privacy$order, digits = 4)), ")"),
    privacy$parts,
    if (!is.null(privacy$shared)) paste0("From a shared budget of ", privacy$shared),
    if (privacy$noise == "reproducible") study_text
  )
}

accountant_texts <- c(gdp = "Gaussian DP, exact", zcdp = "zCDP", renyi = "Renyi", perturbed = "objective perturbation",
                      tuned = "of all candidates together", added = "eps and delta added")

certificate_lines <- function(certificate, scale, target = NULL) {
  bound <- function(value, symbol) if (is.na(value)) "not measured at the solution" else paste(symbol, signif(value, 3))
  wanted <- function(value, more = NULL) if (!is.null(target)) paste0(" (target ", signif(value, 3), more, ")")
  c(
    paste0("Gradient norm ", bound(certificate$gradient[["upper"]], "<="),
           wanted(target$eps_g, if (isTRUE(target$trivial)) ", met by every point")),
    paste0("Smallest eigenvalue ", bound(certificate$eigenvalue[["lower"]], ">="), wanted(-target$eps_h),
           if (isTRUE(certificate$eigenvalue_known)) ", known from the loss"),
    paste0("Both with confidence ", format(certificate$confidence), "; ", scale),
    paste0("They say how flat the ", if (certificate$of == "population") "population's ", "objective is there, ",
           "not how small it is")
  )
}
