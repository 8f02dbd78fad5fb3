# How a response becomes a number in [-1, 1]; a response with two values becomes -1 or 1.
#
# Of a factor with two declared levels the second is 1. Logical: TRUE is 1. Numeric: 1 is 1, 0 and -1 are -1. Any other
# value is missing, and a missing response makes its row a null record. So the kind of y determines its coding, and no
# value of y does. For a loss with bounds of the response ("bounded") numbers are clipped to the bounds and mapped by
# the loss (scale_loss()). So are counts ("count"), where the linear predictor is the logarithm of the mean. For the
# multinomial loss ("classes") the k-th of K declared levels is k / K.

# Only kind and labels (of -1 and of 1) are kept of y; its values are not read.
response_template <- function(y, name, call = sys.call(-1), loss = NULL) {
  refuse_time(y, name, call)
  if (!is.null(loss$response_kind)) return(bounded_response(y, name, loss, call))
  if (has_classes(loss)) return(classes_response(y, name, call))
  kind <- column_kind(y)
  labels <- switch(if (is.na(kind)) "other" else kind,
    factor = check_labels(levels(y), name, call),
    logical = c(FALSE, TRUE),
    numeric = numeric_labels(name),
    character = abort("argument", "`", name, "` is a character response: declare `factor(", name,
                      ", levels = c(...))`; the second level is coded 1.", call = call),
    abort("argument", "`", name, "` must be a factor with two levels, logical, or numeric with values 0 and 1 or -1 ",
          "and 1, not ", describe_column(y), ".", call = call)
  )
  if (length(labels) != 2L) {
    abort("argument", "`", name, "` has ", length(labels), " declared level", if (length(labels) != 1L) "s",
          "; the response needs exactly two",
          if (length(labels) > 2L) ", or `loss_multinomial()`", ".", call = call)
  }
  structure(class = "dp_response", list(name = name, kind = kind, labels = labels))
}

refuse_time <- function(y, name, call) {
  if (is.null(time_of(y))) return(invisible())
  abort("argument", "`", name, "` is ", describe_column(y), ": a response must be numbers, which `as.numeric()` makes ",
        "of it, logical or a factor.", call = call)
}

# The labels are 0 and 1 even if the codes are -1 and 1, as no value is read to find out.
numeric_labels <- function(name) {
  inform("response", "`", name, "` is numeric: 1 is one class, 0 and -1 are the other, and any other value makes its ",
         "row a null record. For other codes use a factor or a logical response, for a regression `loss_squared()`, ",
         "`loss_huber()` or `loss_poisson()`")
  c(0, 1)
}

# As in the core (src/loss/multinomial.c).
max_classes <- 1000L

classes_response <- function(y, name, call) {
  if (!is.factor(y)) {
    abort("argument", "`", name, "` must be a factor for the multinomial loss, with all classes as declared levels: ",
          "`factor(", name, ", levels = c(...))`; it is ", describe_column(y), ".", call = call)
  }
  labels <- check_labels(levels(y), name, call)
  if (length(labels) < 2L || length(labels) > max_classes) {
    abort("argument", "`", name, "` has ", length(labels), " declared level", if (length(labels) != 1L) "s",
          "; the multinomial loss takes from 2 to ", max_classes, ".", call = call)
  }
  structure(class = "dp_response", list(name = name, kind = "classes", labels = labels))
}

bounded_response <- function(y, name, loss, call) {
  if (!identical(column_kind(y), "numeric")) {
    abort("argument", "`", name, "` must be numeric for the ", loss$name, " loss, not ", describe_column(y), ".",
          call = call)
  }
  template <- structure(class = "dp_response", list(name = name, kind = loss$response_kind, bounds = loss$response,
                                                    centre = loss$centre, half = loss$half))
  if (has_unbounded_slope(loss)) template$ends <- loss$response
  template
}

# The same response with the bounds of a loss, which predictions are clipped to.
with_bounds <- function(template, loss) {
  template[c("bounds", "centre", "half", "ends")] <- list(loss$response, loss$centre, loss$half, loss$response)
  template
}

# The same with numbers clipped this many times farther from the centre; predictions stay where they were.
reaching <- function(template, times) {
  template$half <- times * template$half
  template$bounds <- template$centre + c(-1, 1) * template$half
  template
}

# The response in the bounds that predictions are clipped to.
within_ends <- function(template) {
  found <- template$kind == "bounded" && !is.null(template$ends) && !identical(template$ends, template$bounds)
  if (!found) return(template)
  template$bounds <- template$ends
  with_range(template, template$ends[1], template$ends[2])
}

# Numbers as they are.
raw_bounds <- function(template) {
  template[c("bounds", "centre", "half")] <- list(c(-Inf, Inf), 0, 1)
  template
}

# The map of numbers in this range to [-1, 1].
with_range <- function(template, lower, upper) {
  utils::modifyList(template, list(centre = lower / 2 + upper / 2, half = upper / 2 - lower / 2))
}

# In place of the response: the response less the record's offset; or 2 e^(o - most) - 1, o the offset, of the records
# that have a response.
less_offset <- function(template) utils::modifyList(template, list(less = TRUE))
as_exposure <- function(template, most) utils::modifyList(template, list(exposure = most))

# Does the code of a record depend on its offset?
uses_offset <- function(template) isTRUE(template$less) || !is.null(template$exposure)

is_numeric_response <- function(template) template$kind %in% c("bounded", "count")

# -1, 1 or NA, for classes k / K or NA; any other value than a label is NA. offset: of the records, for templates that
# use it.
response_code <- function(template, y, offset = NULL) {
  switch(template$kind,
    bounded = , count = bounded_code(template, y, offset),
    classes = match(as_labels(y), template$labels) / length(template$labels),
    numeric = c(-1, -1, 1)[match(as.double(y), c(-1, 0, 1))],
    c(-1, 1)[match(as_labels(y), as.character(template$labels))]
  )
}

bounded_code <- function(template, y, offset) {
  y <- as.double(y)
  y[!is.finite(y)] <- NA
  if (!is.null(template$exposure)) return(exposure_code(template, y, offset))
  y <- pmin(pmax(y, template$bounds[1]), template$bounds[2])
  if (isTRUE(template$less)) y <- y - offset
  (y - template$centre) / template$half
}

exposure_code <- function(template, y, offset) {
  code <- 2 * exp(pmin(offset - template$exposure, 0)) - 1
  code[is.na(y)] <- NA
  code
}

# Maps coefficients for the mapped response to those for the original response.
response_coef <- function(template, coefficients, intercept) {
  if (template$kind != "bounded") return(coefficients)
  coefficients <- coefficients * template$half
  if (intercept) coefficients[1] <- coefficients[1] + template$centre
  coefficients
}

# The inverse of response_coef().
response_start <- function(template, coefficients, intercept) {
  if (template$kind != "bounded") return(coefficients)
  if (intercept) coefficients[1] <- coefficients[1] - template$centre
  coefficients / template$half
}

# The linear predictor on the scale of the response.
response_link <- function(template, link) {
  if (template$kind == "bounded") template$centre + template$half * link else link
}

# The mean of a numeric response, from the linear predictor in the units of response_link().
response_mean <- function(template, link) {
  mean <- if (template$kind == "count") exp(link) else link
  if (is.null(template$ends)) mean else pmin(pmax(mean, template$ends[1]), template$ends[2])
}

# The inverse of response_code(): labels from -1, 1 or NA.
response_decode <- function(template, code) {
  index <- match(code, c(-1, 1))
  if (template$kind == "factor") factor(template$labels[index], levels = template$labels) else template$labels[index]
}

# ---- predictions of several classes ----

# The softmax of each row of a matrix with one predictor per column. The largest is shifted to zero to avoid overflow.
class_probabilities <- function(link) {
  shares <- exp(link - link[cbind(seq_len(nrow(link)), largest(link))])
  shares / rowSums(shares)
}

# The column of each row's largest predictor, the first of equal ones; 1 where a predictor is missing, as then the whole
# row is.
largest <- function(link) {
  found <- rep(1L, nrow(link))
  for (k in seq_len(ncol(link))[-1]) {
    larger <- link[, k] > link[cbind(seq_len(nrow(link)), found)]
    found[!is.na(larger) & larger] <- k
  }
  found
}

class_labels <- function(link, labels) {
  found <- largest(link)
  found[is.na(link[, 1])] <- NA
  factor(labels[found], levels = labels)
}
