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
  if (all(is_text(as.character(levels)))) return(levels)
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

# The codes of a factor, NA where a code has no level: R's own functions raise errors for such a code or leave it out.
sound_codes <- function(x) match(unclass(x), seq_along(base::levels(x)))

# The text of every value, NA where a value is not valid text: R's own functions raise errors for such a value. Whole
# numbers have the same labels as integers and as doubles.
as_labels <- function(x) {
  labels <- if (is.factor(x)) base::levels(x)[sound_codes(x)] else as.character(x)
  if (is.double(x) && !is.object(x)) {
    whole <- !is.na(x) & x == round(x) & abs(x) <= .Machine$integer.max
    labels[whole] <- as.character(as.integer(x[whole]))
  }
  labels[!is_text(labels)] <- NA
  labels
}

is_text <- function(x) Encoding(x) != "bytes" & validEnc(x)

# Text for R's conversions to numbers, NA where it is not ASCII and so no number: these conversions read the bytes as if
# they were in the encoding of the session, and raise an error, which quotes them, where they are not.
as_ascii <- function(x) {
  if (is.character(x)) x[grepl("[^\\x01-\\x7f]", x, perl = TRUE, useBytes = TRUE)] <- NA
  x
}

times <- c("Date", "POSIXct")

# NULL for other columns.
time_of <- function(x) if (inherits(x, times)) times[inherits(x, times, which = TRUE) > 0][1]

as_plain <- function(x) if (inherits(x, times)) as.double(unclass(x)) else x
