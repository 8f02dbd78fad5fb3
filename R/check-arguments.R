# Checks of arguments: check_<what>(x, arg, call) returns its argument in the
# form that the rest of the package uses, or raises dpsosp_error_argument.

#' @srrstats {G2.0, G2.1, G2.2} check_number(), check_count(), check_vector() and others assert length, type and range.
#' @srrstats {G2.3, G2.3a} check_choice() permits the listed texts only.
#' @srrstats {G2.4, G2.4a, G2.4b} They return integers and doubles, by as.integer() and as.double().
#' @noRd
NULL

check_number <- function(x, arg, lower = -Inf, upper = Inf, open = TRUE, call = sys.call(-1)) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x)) {
    abort("argument", "`", arg, "` must be one number, not ", describe(x), ".", call = call)
  }
  inside <- if (open) x > lower && x < upper else x >= lower && x <= upper
  if (!inside) {
    abort("argument", "`", arg, "` must be ", range_text(lower, upper, open), "; it is ", format(x), ".", call = call)
  }
  as.double(x)
}

# For fractions of a budget and for probabilities: each part must be large enough for its noise to be drawn.
check_share <- function(x, arg, call = sys.call(-1)) {
  x <- check_number(x, arg, 0, 1, call = call)
  if (min(x, 1 - x) >= 1e-6) return(x)
  abort("argument", "`", arg, "` must be at least 1e-6 away from 0 and 1; it is ", format(x), ".", call = call)
}

# Squares of numbers near the limits of doubles would overflow or underflow.
check_radius <- function(x, call = sys.call(-1)) check_number(x, "radius", 1e-50, 1e50, call = call)

check_count <- function(x, arg, lower = 1, call = sys.call(-1), upper = .Machine$integer.max) {
  x <- check_number(x, arg, lower, upper, open = FALSE, call = call)
  if (x != round(x)) abort("argument", "`", arg, "` must be a whole number; it is ", format(x), ".", call = call)
  as.integer(x)
}

# Significant digits to print; NULL means the default of the method.
check_digits <- function(x, call = sys.call(-1)) {
  if (is.null(x)) return(NULL)
  x <- check_count(x, "digits", call = call)
  if (x > 22L) abort("argument", "`digits` must be between 1 and 22; it is ", x, ".", call = call)
  x
}

# delta of a guarantee.
check_delta <- function(x, call = sys.call(-1)) {
  x <- check_number(x, "delta", 0, 1, call = call)
  if (x >= 0.1) {
    abort("argument", "`delta` must be below 0.1; it is ", format(x), ": with probability delta a release may be ",
          "anything, so that this is no guarantee. It should be far below 1/n.", call = call)
  }
  x
}

# Warns before anything is charged; n is public.
warn_delta <- function(delta, n, call = sys.call(-1)) {
  if (is.null(delta) || delta < 1 / n) return(invisible())
  warn("delta", "`delta` = ", format(delta, digits = 3), " is at least 1/n = ", format(1 / n, digits = 3), ": a ",
       "mechanism that publishes each record, unprotected, with probability delta keeps such a promise, and one ",
       "record or more is to be expected. Take a `delta` far below 1/n",
       if (n > 1) paste0(", such as 1/n^2 = ", format(1 / n^2, digits = 3)), ".", call = call)
}

# Limit for the iterations of a run and the points of a model: with more, each step would be mostly noise.
iteration_limit <- 1e6
check_iterations <- function(x, arg, lower = 1, call = sys.call(-1)) check_count(x, arg, lower, call, iteration_limit)

# x must be `length` finite numbers of moderate size; `what` describes them in the error.
check_vector <- function(x, arg, length, what, call = sys.call(-1)) {
  if (!is.numeric(x) || length(x) != length) {
    abort("argument", "`", arg, "` must be ", length, " numbers, ", what, ", not ", describe(x), ".", call = call)
  }
  if (!all(is.finite(x)) || any(abs(x) > vector_limit)) {
    abort("argument", "`", arg, "` must be finite and at most ", vector_limit, " in absolute value.", call = call)
  }
  as.double(x)
}

# The core refuses points of norm above 1e100. Numbers that could lead to such a point are refused here, by argument
# name.
vector_limit <- 1e30

check_interval <- function(x, arg, call = sys.call(-1)) {
  if (!is.numeric(x) || length(x) != 2L) {
    abort("argument", "`", arg, "` must be c(lower, upper), not ", describe(x), ".", call = call)
  }
  if (!all(is.finite(x)) || x[1] >= x[2]) {
    abort("argument", "`", arg, "` must be two finite numbers, the lower below the upper.", call = call)
  }
  as.double(x)
}

check_flag <- function(x, arg, call = sys.call(-1)) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    abort("argument", "`", arg, "` must be TRUE or FALSE, not ", describe(x), ".", call = call)
  }
  as.vector(x)
}

check_choice <- function(x, choices, arg, call = sys.call(-1)) {
  if (identical(x, choices)) return(choices[1])
  if (!is.character(x) || length(x) != 1L || is.na(x) || !x %in% choices) {
    got <- if (is.character(x) && length(x) == 1L && !is.na(x)) paste0("\"", x, "\"") else describe(x)
    abort("argument", "`", arg, "` must be one of ", quote_all(choices), ", not ", got, ".", text_hint(x, choices),
          call = call)
  }
  as.vector(x)
}

# As check_choice(), for each element of a vector of text.
check_choices <- function(x, choices, arg, call) {
  if (length(x) == 1L) return(check_choice(x[[1]], choices, arg, call))
  arg <- rep_len(arg, length(x))
  for (i in which(!x %in% choices)) {
    abort("argument", "`", arg[i], "` must be one of ", quote_all(choices), ".", text_hint(x[[i]], choices),
          call = call)
  }
  as.vector(x)
}

# Suggests the known text that was probably meant; empty where x is neither one text nor something that has a name.
text_hint <- function(x, known) {
  if (is.function(x)) {
    own <- any(are_empty(formals(x)[setdiff(names(formals(x)), "...")]))
    return(if (own) " A function of your own is not taken: privacy rests on bounds that are proved for each of these."
           else " Call it: `f()` in place of `f`.")
  }
  if (inherits(x, "dp_loss")) x <- x$name
  if (is.character(x) && length(x) == 1L && is.null(dim(x))) did_you_mean(x, known, quote_all) else ""
}

# How a message names an element of a vector: the only one by its value, one of several by its place, as they may be
# data.
element_text <- function(x, i, arg) {
  if (length(x) == 1L) encodeString(x, quote = "\"") else paste0("`", arg, "[", i, "]`")
}

# An object as a function of the package made it. What was added to it could hold anything.
own <- function(x, class, fields) {
  structure(class = class, lapply(unclass(x)[intersect(fields, names(x))], function(part) {
    if (is.atomic(part)) stats::setNames(as.vector(part), names(part))
  }))
}

quote_all <- function(x) paste0("\"", x, "\"", collapse = ", ")

# The first of many names, and how many more there are.
max_shown <- 8L
first_of <- function(x) {
  if (length(x) <= max_shown) return(paste(x, collapse = ", "))
  paste0(paste(x[seq_len(max_shown)], collapse = ", "), " and ", length(x) - max_shown, " more")
}

# Describes x in an error message, never by its value.
describe <- function(x) {
  if (length(x) == 1L && is.atomic(x) && is.na(x)) return(if (is.numeric(x) && is.nan(x)) "NaN" else "NA")
  describe_column(x, sizes = TRUE)
}

# What to give in place of a choice among candidates, and what networks lack.
fit_hint <- function(x) {
  if (inherits(x, "dp_tune")) return(" The fit is its `$fit`.")
  if (inherits(x, "dp_network")) " Fits of networks do not have this."
}

# Describes x without looking at its values, for arguments that may be data of one record. sizes: with its length or
# dimensions? The number of records is private where they belong to persons (proofs: persons).
describe_column <- function(x, sizes = FALSE) {
  if (is.null(x)) return("NULL")
  if (is.function(x)) return("a function")
  if (is.environment(x)) return("an environment")
  if (inherits(x, "AsIs")) oldClass(x) <- setdiff(oldClass(x), c("AsIs", "matrix", "array"))
  if (length(dim(x)) > 0L) {
    return(paste0(with_article(array_kind(x)), if (sizes) paste0(" (", paste(dim(x), collapse = " x "), ")")))
  }
  kind <- if (is.object(x)) class(x)[1] else vector_kind(x)
  if (!sizes) return(with_article(kind))
  single <- c("character vector" = "a string", "numeric vector" = "one number", "logical vector" = "a logical value")
  if (length(x) == 1L && kind %in% names(single)) return(single[[kind]])
  paste0(with_article(kind), " of length ", length(x))
}

with_article <- function(kind) paste0(if (grepl("^[aeiouAEIOU]", kind)) "an " else "a ", kind)

array_kind <- function(x) {
  if (is.data.frame(x)) return("data frame")
  if (is.object(x)) return(class(x)[1])
  sub("vector$", if (length(dim(x)) == 2L) "matrix" else "array", vector_kind(x))
}

vector_kind <- function(x) {
  switch(typeof(x),
    integer = , double = "numeric vector",
    logical = , character = , complex = , raw = paste(typeof(x), "vector"),
    typeof(x)
  )
}

range_text <- function(lower, upper, open) {
  if (is.finite(lower) && is.finite(upper)) {
    if (open) return(paste0("between ", lower, " and ", upper, " (exclusive)"))
    return(paste0("between ", lower, " and ", upper))
  }
  if (is.finite(lower)) return(paste0(if (open) "greater than " else "at least ", lower, " and finite"))
  if (is.finite(upper)) return(paste0(if (open) "less than " else "at most ", upper, " and finite"))
  "finite"
}

neighbour_relations <- c("replace-one", "zero-out")

# How many values of a record a change of one record changes: its own, and that of the one in its place.
changes_of <- function(neighbours) if (neighbours == "replace-one") 2 else 1

check_neighbours <- function(neighbours, call = sys.call(-1)) {
  if (is.character(neighbours) && length(neighbours) == 1L && grepl("^add[-/_ ]?remove$", neighbours)) {
    abort("argument", "`neighbours` = \"", neighbours, "\" is not offered: it would have to hide the number of ",
          "records, which is public here. \"zero-out\", where a null record takes the place of one record, has the ",
          "same noise; only n is not hidden.", call = call)
  }
  check_choice(neighbours, neighbour_relations, "neighbours", call)
}

# Kinds and labels of columns, as far as they are public, and the text of their values.

#' @srrstats {G2.4c, G2.4e} as_labels() takes labels by as.character(), factors by their levels.
#' @srrstatsNA {G2.4d} as.factor() would take the levels from the records: users declare them, and the error about a
#'   character column shows how.
#' @srrstats {G2.6} column_kind(): classes that are not known are refused, I(), dates and times are unclassed.
#' @srrstats {G2.8} All forms of data become columns of these kinds before anything else sees them.
#' @srrstats {G2.9} Nothing is converted with loss but numeric codes of two classes, which a message says.
#' @noRd
NULL

# Declared levels are public, so an error may mention them.
check_labels <- function(levels, name, call) {
  levels <- as.character(levels) # without attributes, which may be anything
  if (all(is_text(levels))) return(levels)
  abort("argument", "`", name, "` has a declared level that is no text in its encoding: convert it with `iconv()`.",
        call = call)
}

# NA for columns that a design cannot use: matrices, lists, foreign classes.
column_kind <- function(x) {
  if (!is.null(dim(x))) return(NA_character_)
  if (is.factor(x)) return("factor")
  if (inherits(x, times)) return(if (is.numeric(unclass(x))) "numeric" else NA_character_)
  if (is.object(x) && !identical(class(x), "AsIs")) return(NA_character_)
  switch(typeof(x), integer = , double = "numeric", logical = "logical", character = "character", NA_character_)
}

# A column of haven_labelled codes (haven, labelled) as a factor of its value labels, which are declared: a code without
# a label is missing. Other columns as they are.
unlabelled <- function(x) {
  if (!is_labelled(x)) return(x)
  codes <- attr(x, "labels")
  levels <- unique(names(codes))
  structure(match(names(codes), levels)[match(as.vector(unclass(x)), as.vector(codes))], levels = levels,
            class = "factor")
}

# With fewer than two labels these are names of missing values, and the column has no other levels.
is_labelled <- function(x) {
  inherits(x, "haven_labelled") && is.null(dim(x)) && length(unique(names(attr(x, "labels")))) >= 2L
}

# The codes of a factor, NA where a code has no level: R's own functions raise errors for such a code or leave it out.
sound_codes <- function(x) match(unclass(x), seq_along(base::levels(x)))

# The text of every value, NA where a value is not valid text: R's own functions raise errors for such a value. Whole
# numbers have the same labels as integers and as doubles.
as_labels <- function(x) {
  labels <- if (is.factor(x)) base::levels(x)[sound_codes(x)] else as.character(x)
  if (is.double(x) && !is.object(x)) {
    whole <- !is.na(x) & x == round(x) & abs(x) <= 1e15
    labels[whole] <- sprintf("%.0f", x[whole] + 0) # no negative zero
  }
  labels[!is_text(labels)] <- NA
  labels
}

# Labels of whole numbers in one form: R and other programs write 100000 as 1e+05, too.
plain_labels <- function(x) {
  number <- which(grepl("^[+-]?[0-9]+([.][0-9]+)?[eE][+]?[0-9]+$", x, useBytes = TRUE))
  x[number] <- as_labels(as.double(x[number]))
  x
}

is_text <- function(x) Encoding(x) != "bytes" & validEnc(x)

# Text for R's conversions to numbers, NA where it is not ASCII and so no number: these conversions read the bytes as if
# they were in the encoding of the session, and raise an error, which quotes them, where they are not.
as_ascii <- function(x) {
  if (is.character(x)) x[grepl("[^\\x01-\\x7f]", x, perl = TRUE, useBytes = TRUE)] <- NA
  x
}

# The texts of as.logical().
true_texts <- c("T", "TRUE", "True", "true")
false_texts <- c("F", "FALSE", "False", "false")

# Levels that are truth values are read as these: databases store TRUE as 1.
of_truth <- function(levels) length(levels) > 0L && all(levels %in% c("FALSE", "TRUE"))

times <- c("Date", "POSIXct")

# NULL for other columns.
time_of <- function(x) if (inherits(x, times)) times[inherits(x, times, which = TRUE) > 0][1]

as_plain <- function(x) if (inherits(x, times)) as.double(unclass(x)) else x

# A function(done, total), or NULL. An error while showing progress must not end a run that was paid for, but an
# interrupt may.
progress_bar <- function(show, method) {
  if (!show) return(NULL)
  frame <- parent.frame()
  id <- NULL
  of <- 0L
  function(done, total) {
    tryCatch(error = function(e) NULL, {
      if (total != of) id <<- cli::cli_progress_bar(method, total = total, .envir = frame)
      of <<- total
      cli::cli_progress_update(set = done, id = id, .envir = frame)
    })
  }
}

# ---- threads ----

# Upper limit for the threads of the core: the option, and two under R CMD check. The core itself respects
# OMP_NUM_THREADS and OMP_THREAD_LIMIT. Called from C.
max_threads <- function(option) {
  most <- if (is.null(option)) .Machine$integer.max else check_count(option, "options(dpsosp.threads)", call = NULL)
  checked <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  if (checked %in% c("", "false")) most else min(most, 2L)
}
