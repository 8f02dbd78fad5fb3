# How a response with two values becomes -1 and 1.
#
# A factor with two declared levels: the second is 1. Logical: TRUE is 1.
# Numeric: 0 and 1, or -1 and 1; 1 is 1. A missing response makes its row a
# null record.

# kind and labels (of -1 and of 1). Nothing else is kept of y.
response_template <- function(y, name, call = sys.call(-1)) {
  kind <- column_kind(y)
  labels <- switch(if (is.na(kind)) "other" else kind,
    factor = levels(y),
    logical = c(FALSE, TRUE),
    numeric = numeric_labels(y, name, call),
    character = abort("argument", "`", name, "` is a character response: declare `factor(", name,
                      ", levels = c(...))`; the second level is coded 1.", call = call),
    abort("argument", "`", name, "` must be a factor with two levels, logical, or numeric with values 0 and 1 or -1 ",
          "and 1, not ", describe(y), ".", call = call)
  )
  if (length(labels) != 2L) {
    abort("argument", "`", name, "` has ", length(labels), " declared levels; the response needs exactly two.",
          call = call)
  }
  structure(class = "dp_response", list(name = name, kind = kind, labels = labels))
}

# The coding of a numeric response is part of what the caller declares: values
# in {0, 1} or in {-1, 1}. Of two data sets that keep to the second one only
# the one with nothing but 1 is taken for the first; who minds declares a
# factor.
numeric_labels <- function(y, name, call) {
  labels <- if (any(y == -1, na.rm = TRUE)) c(-1, 1) else c(0, 1)
  if (all(is.na(y) | y %in% labels)) return(labels)
  abort("argument", "`", name, "` is numeric and has values other than 0 and 1, or other than -1 and 1: code it so, ",
        "or declare a factor with two levels.", call = call)
}

# -1, 1 or NA; what is neither label is NA.
response_code <- function(template, y) {
  labels <- as.character(template$labels)
  if (template$kind == "numeric") {
    c(-1, 1)[match(as.double(y), template$labels)]
  } else {
    c(-1, 1)[match(as.character(y), labels)]
  }
}

# The inverse: labels from -1, 1 or NA.
response_decode <- function(template, code) {
  index <- match(code, c(-1, 1))
  if (template$kind == "factor") factor(template$labels[index], levels = template$labels) else template$labels[index]
}
