# Public ranges of the numeric columns, as declared by the caller.

# A matrix of lower and upper with one row per numeric column; NA where the
# range has to be found privately.
# times: which columns are dates or times. Their ranges are dates or times, or numbers.
check_bounds <- function(bounds, numeric, factors, call = sys.call(-1), times = list()) {
  ranges <- matrix(NA_real_, length(numeric), 2L, dimnames = list(numeric, c("lower", "upper")))
  if (identical(bounds, "private")) return(ranges)
  check_bounds_names(bounds, numeric, factors, call)
  for (name in names(bounds)) {
    range <- bounds[[name]]
    arg <- paste0("bounds$", name)
    if (!is.null(time_of(range)) && !identical(time_of(range), times[[name]])) {
      abort("argument", "`", arg, "` is of class ", time_of(range), ", which the column is not.", call = call)
    }
    ranges[name, ] <- check_interval(as_plain(range), arg, call)
  }
  ranges
}

# The ranges of the columns of a matrix: rows lower and upper, one column per column; infinite where none is declared.
check_box <- function(bounds, columns, call) {
  if (is.null(bounds)) bounds <- c(-Inf, Inf)
  if (!is.numeric(bounds) || anyNA(bounds) || !(length(bounds) == 2L || identical(dim(bounds), c(2L, columns)))) {
    abort("argument", "`bounds` of a matrix must be NULL, numbers `c(lower, upper)` of all columns, or a matrix of ",
          "numbers with these two rows and ", columns, " columns, without NA; not ", describe(bounds), ".",
          call = call)
  }
  box <- matrix(rep_len(as.double(bounds), 2L * columns), 2L)
  if (any(box[1, ] > box[2, ])) {
    abort("argument", "`bounds` must not have a lower end above the upper one.", call = call)
  }
  t(box)
}

check_bounds_names <- function(bounds, numeric, factors, call) {
  if (!is.list(bounds) || is.object(bounds)) {
    abort("argument", "`bounds` must be \"private\" or a list such as list(age = c(17, 90)), not ", describe(bounds),
          ".", text_hint(bounds, "private"), call = call)
  }
  known <- names(bounds)
  if (length(bounds) > 0L && (is.null(known) || anyNA(known) || !all(nzchar(known)))) {
    abort("argument", "`bounds` must name the column of every range.", call = call)
  }
  repeated <- known[duplicated(known)]
  if (length(repeated) > 0L) abort("argument", "`bounds` names `", repeated[1], "` twice.", call = call)
  declared <- intersect(known, factors)
  if (length(declared) > 0L) {
    abort("argument", "`bounds` names `", declared[1], "`, which is a factor: only numeric columns have a range.",
          call = call)
  }
  check_known(known, numeric, "bounds", "numeric column of the model", call)
}
