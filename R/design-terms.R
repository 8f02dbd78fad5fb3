# Formulas whose value in a row depends on that row alone.
#
# A record may only influence its own row of the design, as otherwise the sensitivities would be wrong. So a formula may
# use columns, single constants and the functions of R/design-row-wise.R. Functions that look at all rows (such as
# scale()) are refused; so are cut(), factor(), poly() and splines unless their breaks, levels, scale and knots are
# given.

# Functions of one column and constants, with the argument that must be given, as its default is read from the data.
declared_arguments <- c(cut = "breaks", factor = "levels")

# ---- formula ----

# An expression without attributes, of names, calls and single constants. Messages quote its parts, so it may hold no
# other object, as it would by rlang::inject() or bquote().
check_plain <- function(e, arg, call) {
  if (is_quotable(e)) return(if (is.call(e)) plain(e) else e)
  abort("argument", "`", arg, "` holds an object that is neither a name nor a single constant: use columns of the ",
        "data, by their names, single constants and names of functions.", call = call)
}

# Terms of the formula without environment; `.` is expanded.
design_terms <- function(formula, data, call) {
  if (!inherits(formula, "formula") || length(formula) != 3L) {
    abort("argument", "`formula` must have a response and predictors, as in `y ~ x`.", call = call)
  }
  environment <- environment(formula)
  formula <- structure(check_plain(formula, "formula", call), class = "formula")
  formula <- put_constants(formula, names(data), environment, call)
  # It warns of a name beside `.` that is no column, which design_columns() refuses by its name.
  terms <- tryCatch(suppressWarnings(stats::terms(formula, data = data)), error = function(e) {
    abort("argument", "`formula` is not one that terms() understands: ", conditionMessage(e), call = call)
  })
  if (deparse1(attr(terms, "variables")[[2]]) %in% attr(terms, "term.labels")) {
    abort("argument", "`formula` has its response among the predictors.", call = call)
  }
  attr(terms, ".Environment") <- NULL
  terms
}

# These act on terms, not on values. The left side of the formula has no such operators.
formula_operators <- c("~", "+", "-", "*", "/", "^", ":", "(", "%in%")

# Functions that take a vector of constants: those with declared levels or breaks, and bases with knots.
vector_functions <- function() {
  c(names(declared_arguments), names(Filter(function(basis) "knots" %in% names(formals(basis$arguments)), bases)))
}

# Replaces names of constants, such as k in I(x / k), by their values in the formula's environment: they are public
# already, and a fit keeps no environment. A column has precedence over a constant, and a bare name is a term.
put_constants <- function(formula, columns, environment, call) {
  if (is.call(formula[[2]])) formula[[2]] <- put_environment(formula[[2]], columns, environment, call)
  formula[[3]] <- put_environment(formula[[3]], columns, environment, call, formula_operators)
  formula
}

put_environment <- function(e, columns, environment, call, operators = character(), arg = "formula") {
  if (!is.call(e)) return(e)
  put_values(e, function(name, several) constant_value(name, columns, environment, several, call, arg), operators)
}

# e: a call.
put_values <- function(e, value, operators) {
  head <- function_name(e)
  parts <- as.list(e)
  inner <- which(!are_empty(parts))[-1]
  for (i in inner) {
    part <- parts[[i]]
    if (is.call(part)) {
      parts[[i]] <- put_values(part, value, if (head %in% operators) operators else character())
    } else if (is.name(part) && !head %in% operators) {
      parts[[i]] <- value(part, head %in% vector_functions())
    }
  }
  as.call(parts)
}

# Returns name, or the single value that it has in the environment. Where several values are allowed they become a call
# of c(); a negative number becomes a call of `-`, as the parser would have it.
constant_value <- function(name, columns, environment, several, call, arg) {
  text <- as.character(name)
  if (text %in% c(columns, ".", "pi") || is.null(environment)) return(name)
  found <- tryCatch(get0(text, environment), error = function(e) NULL)
  if (is.null(found) || is.function(found)) return(name)
  found <- as_plain(found)
  sound <- if (several) length(found) > 0L else length(found) == 1L
  if (!is.atomic(found) || !sound || is.object(found) || !is.null(dim(found))) {
    abort("argument", "`", text, "` in `", arg, "` is not a column of the data, and in the formula's environment ",
          "it is ", describe_column(found), ": only columns of the data, by their names, and single constants may be ",
          "used.", did_you_mean(text, columns), call = call)
  }
  values <- lapply(as.vector(found), function(one) if (is.numeric(one) && isTRUE(one < 0)) call("-", -one) else one)
  if (length(values) == 1L) values[[1]] else as.call(c(quote(c), unname(values)))
}

# The expression of every predictor, named as the term; a column has its own name.
term_expressions <- function(terms, call) {
  variables <- as.list(attr(terms, "variables"))[-1]
  factors <- attr(terms, "factors")
  expressions <- variables[rows_used(factors)]
  names(expressions) <- vapply(expressions, function(e) if (is.name(e)) as.character(e) else deparse1(e), "")
  repeated <- anyDuplicated(names(expressions))
  if (repeated > 0L) {
    abort("argument", "`formula` has a column and an expression that are both called `", names(expressions)[repeated],
          "`: rename the column.", call = call)
  }
  expressions
}

# The variables that occur in some term, by their rows in the factors matrix of terms().
rows_used <- function(factors) if (length(factors) == 0L) integer() else which(rowSums(factors) > 0L)

# ---- schema ----

# Kinds and declared levels of the columns that the expressions use.
row_wise_schema <- function(expressions, data, call) {
  known <- vapply(expressions, function(e) is.name(e) && as.character(e) %in% names(data), NA)
  for (e in expressions[!known]) check_row_wise(e, names(data), deparse1(e), call)
  used <- intersect(unique(unlist(lapply(expressions, all.vars))), names(data))
  schema <- lapply(stats::setNames(nm = used), function(name) column_schema(data[[name]], name, call))
  for (e in expressions[!known]) check_compared(e, schema, call)
  schema
}

column_schema <- function(column, name, call) {
  column <- unlabelled(column)
  kind <- column_kind(column)
  if (is.na(kind)) refuse_kind(column, name, call)
  list(kind = kind, levels = if (is.factor(column)) check_labels(levels(column), name, call),
       ordered = is.ordered(column), time = if (is.object(column)) time_of(column))
}

# Refuses comparisons of a factor with text that is none of its declared levels, which hold for no record, or for all.
check_compared <- function(e, schema, call) {
  if (!is.call(e)) return(invisible())
  for (part in as.list(e)[-1]) check_compared(part, schema, call)
  if (function_name(e) == "factor") return(check_relevelled(e, schema, call))
  parts <- as.list(e)[-1]
  constant <- vapply(parts, is_constants, NA)
  if (!function_name(e) %in% comparisons || sum(constant) != 1L || length(parts) != 2L) return(invisible())
  factor <- parts[[which(!constant)]]
  levels <- tryCatch(levels(row_wise_empty(factor, schema, call)), dpsosp_error = function(error) NULL)
  if (is.null(levels)) return(invisible())
  values <- tryCatch(as.character(eval(parts[[which(constant)]], row_wise)), error = function(error) NULL)
  unknown <- setdiff(values, c(levels, NA))
  if (length(unknown) == 0L) return(invisible())
  fault <- paste0(" compares with \"", unknown[1], "\", which is no declared level of ")
  refuse_level(e, fault, factor, levels, unknown[1], call)
}

refuse_level <- function(e, fault, factor, levels, wanted, call) {
  abort("argument", "`", deparse1(e), "`", fault, "`", deparse1(factor), "`: ", quote_all(utils::head(levels, 10)),
        if (length(levels) > 10L) " and others", ".", did_you_mean(wanted, levels, quote_all), call = call)
}

# Refuses factor(x, levels = ) with levels none of which x has: all values would be missing.
check_relevelled <- function(e, schema, call) {
  e <- match.call(row_wise$factor, e)
  levels <- tryCatch(levels(row_wise_empty(e$x, schema, call)), dpsosp_error = function(error) NULL)
  wanted <- as_labels(eval(e$levels, row_wise))
  if (is.null(levels) || any(wanted %in% levels)) return(invisible())
  refuse_level(e, " has no declared level of ", e$x, levels, wanted[1], call)
}

comparisons <- c("==", "!=", "<", ">", "<=", ">=", "%in%")

# The factors among the predictors' columns that have other levels in newdata than the declared ones. This depends on
# the values of newdata, so it is for predict() alone, which shows all predictions to its caller.
undeclared_levels <- function(design, newdata) {
  used <- unlist(lapply(c(design$predictors, design$offset), all.vars))
  factors <- Filter(function(column) column$kind == "factor", design$schema[names(design$schema) %in% used])
  names(Filter(isTRUE, Map(function(column, name) {
    known <- c(column$levels, NA, if (isTRUE(column$gaps)) gap_texts(column$levels))
    !all(as_labels(unique(unlabelled(newdata[[name]]))) %in% known)
  }, factors, names(factors))))
}

check_row_wise <- function(e, columns, term, call) {
  if (is.name(e)) return(check_name(as.character(e), columns, call))
  if (!is.call(e)) return(check_constant(e, term, call))
  if (is.name(e[[1]]) && as.character(e[[1]]) %in% names(declared_arguments)) {
    return(check_declared(e, columns, term, call))
  }
  if (function_name(e) %in% names(bases)) {
    abort("argument", "`", term, "` in `formula`: ", function_name(e), "() gives several columns, so it must be a ",
          "term of its own.", call = call)
  }
  if (!is.name(e[[1]]) || !as.character(e[[1]]) %in% c(row_wise_names, "I", "ifelse")) {
    refuse_function(e, term, call)
  }
  check_arguments(e, term, call)
  set <- as.character(e[[1]]) == "%in%"
  if (set) check_set(e[[3]], term, call)
  for (argument in as.list(e)[if (set) 2L else -1L]) check_row_wise(argument, columns, term, call)
}

# What to write for functions of all rows that have a form with public values; %s is their first argument.
row_wise_forms <- c(
  as.factor = "factor(%s, levels = c(...))",
  ordered = "factor(%s, levels = c(...), ordered = TRUE)",
  as.ordered = "factor(%s, levels = c(...), ordered = TRUE)",
  relevel = "factor(%s, levels = c(...)), the reference level first",
  C = "%s itself, and its contrasts in the argument `contrasts`, as in list(f = \"contr.sum\")",
  scale = "I((%s - centre) / scale), with a public centre and scale",
  findInterval = "cut(%s, breaks = c(...))",
  te = "s(%s), s() of the other column, and ti() of both",
  t2 = "s(%s), s() of the other column, and ti() of both",
  lo = "s(%s)"
)

# Responses of models that there are not.
unknown_responses <- c(
  cbind = " For counts of events and others, give each record a row of its own, with a response of two values.",
  Surv = " There are no models of survival times."
)

refuse_function <- function(e, term, call) {
  name <- function_name(e)
  plain <- sub("^.*::", "", deparse1(e[[1]]))
  constant <- length(e) > 1L && all(vapply(as.list(e)[-1], is_constants, NA))
  advice <- if (constant) {
    paste0(" Its arguments are constants: compute it before, as in `k <- ", deparse1(e), "`, and write `k`.")
  } else if (name %in% names(row_wise_forms) && length(e) > 1L) {
    paste0(" Write ", sprintf(row_wise_forms[[name]], deparse1(e[[2]])), ".")
  } else if (plain %in% names(unknown_responses)) {
    unknown_responses[[plain]]
  } else {
    paste0(" Make the result a column of the data, each value computed from its own row and public numbers only.",
           did_you_mean(deparse1(e[[1]]), row_wise_known(), quote_calls))
  }
  abort("argument", "`", term, "` in `formula` uses ", deparse1(e[[1]]), "(), which is not known to work row by row: ",
        "a function that looks at all rows lets one record change the others.", advice, call = call)
}

# Arguments such as na.rm take one value for all rows, so it could be that of the first row.
check_arguments <- function(e, term, call) {
  arguments <- as.list(e)[-1]
  named <- setdiff(names(arguments), c("", "x", "base", "digits", "test", "yes", "no"))
  set <- as.character(e[[1]]) == "%in%"
  misused <- set && (length(arguments) != 2L || !is.null(names(arguments)))
  if (any(are_empty(arguments)) || length(named) > 0L || misused) {
    abort("argument", "`", term, "` in `formula`: these arguments of ", deparse1(e[[1]]), "() do not work row by row.",
          call = call)
  }
}

# All arguments but the first must be constants.
check_declared <- function(e, columns, term, call) {
  name <- as.character(e[[1]])
  refuse <- function(...) abort("argument", "`", term, "` in `formula`: ", ..., call = call)
  arguments <- tryCatch(as.list(match.call(row_wise[[name]], e))[-1],
                        error = function(e) refuse(conditionMessage(e), "."))
  needed <- arguments[[declared_arguments[[name]]]]
  # cut() would take a single number as the number of breaks.
  if (is.null(needed) || (name == "cut" && is_constants(needed) && length(eval(needed, row_wise)) < 2L)) {
    refuse("the ", declared_arguments[[name]], " would be read from the data. Write them down, without looking at the ",
           "data, as in ", name, "(x, ", declared_arguments[[name]], " = c(...)).")
  }
  check_row_wise(arguments$x, columns, term, call)
  constant <- vapply(arguments[names(arguments) != "x"], is_constants, NA)
  if (!all(constant)) refuse("`", names(constant)[!constant][1], "` must be constants.")
}

# With a column to the right of %in%, every row would depend on all others.
check_set <- function(set, term, call) {
  if (!is_constants(set)) {
    abort("argument", "`", term, "` in `formula`: to the right of %in% there may only be constants.", call = call)
  }
}

check_name <- function(name, columns, call, arg = "formula") {
  if (name %in% columns || name == "pi") return(invisible())
  abort("argument", "`", name, "` in `", arg, "` is not a column of the data",
        if (arg != "formula") ", and must be made one", ".", did_you_mean(name, columns), call = call)
}

# The allowed functions whose names are words, for error messages.
row_wise_known <- function() {
  c(grep("^[a-z]", row_wise_names, value = TRUE), "ifelse", names(declared_arguments), names(bases))
}

quote_calls <- function(x) paste0("`", x, "()`")

check_constant <- function(e, term, call) {
  if (is_constant(e)) return(invisible())
  abort("argument", "`", term, "` in `formula` holds an object that is not a single constant.", call = call)
}

refuse_kind <- function(column, name, call) {
  abort("argument", "`", name, "` is ", describe_column(column), ": columns must be numeric, logical, factors, dates ",
        "(Date) or times (POSIXct). ", if (inherits(column, "haven_labelled")) "`haven::zap_labels()` makes it numeric."
        else "Convert it, for example with as.numeric(), and drop dimensions and other classes.", call = call)
}

# ---- evaluation ----

# The value of an expression in each row, as a function of this row alone (proofs: own-row).
row_wise_evaluate <- function(e, data, schema, arg, call) {
  used <- intersect(all.vars(e), names(schema))
  columns <- lapply(stats::setNames(nm = used), function(name) read_column(data, name, schema[[name]], arg, call))
  # A warning such as "NaNs produced" would reveal something about the values. No value causes an error; one that is
  # raised all the same, for example without memory, may not quote any.
  value <- tryCatch(suppressWarnings(eval(e, columns, row_wise)), error = function(condition) {
    abort("argument", "`", deparse1(e), "` in `formula` cannot be computed.", call = call)
  })
  if (length(value) != nrow(data)) {
    abort("argument", "`", deparse1(e), "` in `formula` must have one value per row.", call = call)
  }
  value
}

# The value on zero rows shows the class of an expression without looking at any data. Some functions accept any type of
# column there, so they are asked with a row of missing values, too.
row_wise_empty <- function(e, schema, call) {
  data <- lapply(schema[intersect(all.vars(e), names(schema))], function(s) {
    switch(s$kind, numeric = double(), logical = logical(), character = character(),
           factor = factor(character(), levels = s$levels, exclude = NULL, ordered = s$ordered))
  })
  if (is.name(e) && length(data) == 1L) return(data[[1]])
  refuse <- function(condition) {
    advice <- if (function_name(e) == "|") " `|` is a logical `or` here: there are no random effects."
    abort("argument", "`", deparse1(e), "` in `formula` cannot be computed: ", conditionMessage(condition), ".", advice,
          call = call)
  }
  compute <- function(data) tryCatch(eval(e, data, row_wise), error = refuse, warning = refuse)
  value <- compute(data)
  compute(lapply(data, `[`, NA_integer_))
  if (length(value) != 0L || is.na(column_kind(value))) {
    abort("argument", "`", deparse1(e), "` in `formula` must have one value per row.", call = call)
  }
  value
}

# A column as the schema describes it, without other attributes: because of a class of its own, or of names, a function
# could treat all rows in another way. Values that nothing can be computed from become missing here, once: text that is
# none in its encoding, a factor's code without a level. Only new data may differ in type, as chunks are converted when
# read (R/source-stream.R).
read_column <- function(data, name, known, arg, call) {
  if (!name %in% names(data)) abort("argument", "`", arg, "` has no column `", name, "`.", call = call)
  column <- unlabelled(data[[name]])
  kind <- column_kind(column)
  # A column with only NA is logical, whatever its type was.
  accepted <- switch(known$kind, numeric = c("numeric", "logical"), factor = c("factor", "character", "logical"),
                     character = c("character", "factor", "logical"), logical = "logical")
  of_time <- kind == "numeric" && (is.object(column) || !is.null(known$time))
  if (!kind %in% accepted || (of_time && !identical(time_of(column), known$time))) {
    if (is.na(kind)) refuse_kind(column, name, call)
    abort("argument", "`", name, "` in `", arg, "` must be ", if (is.null(known$time)) known$kind else known$time,
          " as in the fit, not ", if (is.null(time_of(column))) kind else time_of(column), ".", call = call)
  }
  switch(known$kind,
    # Never integers, whose products overflow: one record that is no whole number makes a reader's whole chunk doubles,
    # and the rows of the others must stay as they are (proofs: own-row).
    numeric = as.double(unclass(column)),
    logical = as.vector(unclass(column)),
    character = mark_gaps(as_labels(column), column, known),
    factor = mark_gaps(as_declared(column, known$levels, known$ordered), column, known)
  )
}

# Text is a gap if it is missing, or empty and no declared level. One that is no level is none.
mark_gaps <- function(value, column, known) {
  if (!isTRUE(known$gaps)) return(value)
  codes <- if (is.factor(column)) unclass(column) else column
  structure(value, gap = is.na(codes) | as_labels(column) %in% gap_texts(known$levels))
}

gap_texts <- function(levels) setdiff(c("", gap_label), levels)

# A factor with these levels. NA is a level where it is declared as one, for example by addNA().
as_declared <- function(x, levels, ordered) {
  codes <- if (is.factor(x) && identical(base::levels(x), levels)) sound_codes(x)
           else match(plain_labels(as_labels(x)), plain_labels(levels))
  structure(codes, levels = as.character(levels), class = c(if (ordered) "ordered", "factor"))
}
