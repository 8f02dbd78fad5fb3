# Ranges of columns that follow from the ranges of others, by interval arithmetic: a range declared for `income` gives
# one for log(income), and the ranges of two columns give one for their product. This costs nothing, as the ranges are
# public or were released. A range that is wider than necessary costs accuracy only.

# Fills in the ranges that follow from known ones.
fill_ranges <- function(design) {
  missing <- intersect(rownames(design$ranges)[is.na(design$ranges[, "lower"])], names(design$predictors))
  if (length(missing) == 0L) return(design)
  known <- known_ranges(design)
  for (name in missing) design$ranges[name, ] <- interval(design$predictors[[name]], known)
  design
}

# The known ranges by the text of their expressions, in an environment, as there may be many.
known_ranges <- function(design) {
  have <- rownames(design$ranges)[!is.na(design$ranges[, "lower"])]
  known <- new.env(parent = emptyenv())
  for (name in have) {
    known[[name]] <- unname(design$ranges[name, ])
    e <- design$predictors[[name]]
    if (!is.null(e)) known[[expression_text(e)]] <- known[[name]]
  }
  for (column in names(design$gaps$at)) {
    range <- known[[column]]
    if (!is.null(range)) known[[expression_text(call("filled", as.name(column), design$gaps$at[[column]]))]] <- range
  }
  known
}

expression_text <- function(e) if (is.name(e)) as.character(e) else deparse1(e)

# Will the ranges follow from those of columns whose ranges are found privately? So for interactions and polynomials.
follow_from <- function(design, names) {
  vapply(design$products[names], function(of) !is.null(of) && all(of %in% names(design$predictors)), NA)
}

# ---- arithmetic ----

unknown_range <- c(NA_real_, NA_real_)

# A range that contains all values of e; NA where none follows.
interval <- function(e, known) {
  declared <- if (is.language(e)) known[[expression_text(e)]]
  if (!is.null(declared)) return(declared)
  if (is.numeric(e)) return(rep(as.double(e), 2L))
  if (!is.call(e)) return(if (identical(e, quote(pi))) rep(pi, 2L) else unknown_range)
  rule <- interval_rules[[as.character(e[[1]])]]
  if (is.numeric(rule)) return(rule)
  if (identical(e[[1]], quote(contrast_column))) return(c(-1, 1) * e$size)
  if (is_smooth_part(e)) return(range(e[[4]]))
  if (is_filled(e)) return(interval(e[[2]], known)) # its value lies within
  # Calls with named arguments, such as base and digits, have no rule.
  if (is.null(rule) || !is.null(names(e))) return(unknown_range)
  # The value of ifelse() is one of its second and third arguments.
  arguments <- lapply(as.list(e)[if (identical(e[[1]], quote(ifelse))) 3:4 else -1L], interval, known)
  if (anyNA(unlist(arguments)) || length(arguments) > length(formals(rule))) return(unknown_range)
  range <- suppressWarnings(range(tryCatch(do.call(rule, arguments), error = function(e) NA_real_)))
  range <- pmin(pmax(range, -.Machine$double.xmax), .Machine$double.xmax)
  if (anyNA(range)) unknown_range else range
}

# Is this the range of all such columns, whatever the values are?
has_known_size <- function(e) {
  if (is_filled(e)) return(has_known_size(e[[2]]))
  is.call(e) && (is.numeric(interval_rules[[function_name(e)]]) || function_name(e) == "contrast_column" ||
                   is_smooth_part(e))
}

# The rule of a function of one number that is nondecreasing on [least, Inf]. Infinite ends give no range.
rising <- function(f, least = -Inf) {
  function(x) if (x[1] >= least && all(is.finite(f(x)))) f(x) else NA_real_
}

# Functions of ranges, or a fixed range for any arguments.
interval_rules <- list(
  "(" = function(x) x,
  I = function(x) x,
  as.numeric = function(x) x,
  "+" = function(x, y = c(0, 0)) x + y,
  "-" = function(x, y) if (missing(y)) -x else x - rev(y),
  "*" = function(x, y) outer(x, y),
  "/" = function(x, y) if (y[1] > 0 || y[2] < 0) outer(x, y, "/") else NA_real_,
  "^" = function(x, y) power_range(x, y),
  abs = function(x) c(if (x[1] <= 0 && x[2] >= 0) 0, abs(x)),
  sqrt = rising(sqrt, 0), exp = rising(exp), expm1 = rising(expm1), log = rising(log, 0), log2 = rising(log2, 0),
  log10 = rising(log10, 0), log1p = rising(log1p, -1), sign = rising(sign), floor = rising(floor),
  ceiling = rising(ceiling), trunc = rising(trunc), round = rising(round), atan = rising(atan), tanh = rising(tanh),
  sin = c(-1, 1), cos = c(-1, 1), spline_column = c(-1, 1), gap_column = c(-1, 1), # mapped to 0 and 1
  ifelse = function(yes, no) c(yes, no),
  pmin = function(x, y) pmin(x, y),
  pmax = function(x, y) pmax(x, y),
  "==" = c(0, 1), "!=" = c(0, 1), "<" = c(0, 1), ">" = c(0, 1), "<=" = c(0, 1), ">=" = c(0, 1), "!" = c(0, 1),
  "&" = c(0, 1), "|" = c(0, 1), xor = c(0, 1), is.na = c(0, 1), "%in%" = c(0, 1)
)

power_range <- function(x, power) {
  if (power[1] != power[2]) return(NA_real_)
  power <- power[1]
  if (power == round(power) && power > 0) return(c(if (power %% 2 == 0 && x[1] <= 0 && x[2] >= 0) 0, x^power))
  if (x[1] > 0 || (x[1] == 0 && power > 0)) x^power else NA_real_
}

# ---- ranges that the caller declares ----

no_ranges <- matrix(double(), 0L, 2L, dimnames = list(NULL, c("lower", "upper")))

# A matrix of lower and upper with a row for each range.
# times: which columns are dates or times. Their ranges are dates or times, or numbers.
check_bounds <- function(bounds, numeric, factors, call = sys.call(-1), times = list()) {
  check_bounds_names(bounds, numeric, factors, call)
  ranges <- matrix(NA_real_, length(bounds), 2L, dimnames = list(names(bounds), c("lower", "upper")))
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
