# Variables of a formula that become several columns: polynomials, splines and factors with contrasts. Each is split
# into expressions of one column, so that designs, interactions and predictions handle columns only.
#
# A variable is a list of
#   expression
#   levels    those of a factor, else NULL
#   parts     expressions of its columns, named as glm() names coefficients; NULL for a factor with indicators
#   of        the column whose range determines the ranges of the parts; none for parts of a known size
#   together  does the vector of all mapped parts of a row have norm at most one?
#
# Powers have ranges of their own. B-splines are nonnegative and sum to one, so the norm of a row of them is at most
# one; natural splines are an orthogonal map of B-splines without two columns (proofs: basis-norms). The parts of a
# contrast are divided by the norm of its longest row.

# The name of the basis that e calls, also as in stats::poly(), or NULL.
basis_name <- function(e) {
  name <- function_name(e)
  if (name %in% names(bases)) name
}

# The basis that an expression declares, with checked arguments; NULL for any other expression.
declared_basis <- function(e, term, call) {
  kind <- basis_name(e)
  if (is.null(kind)) return(NULL)
  refuse <- function(...) abort("argument", "`", term, "` in `formula`: ", ..., call = call)
  given <- tryCatch(as.list(match.call(bases[[kind]]$arguments, e))[-1],
                    error = function(e) refuse(conditionMessage(e), "."))
  if (is.null(given$x) || are_empty(given["x"])) refuse("there is no column.")
  if (!is.null(bases[[kind]]$before)) bases[[kind]]$before(e, given, refuse)
  constants <- given[!names(given) %in% c("x", "z")]
  for (name in names(constants)) if (!is_constants(constants[[name]])) refuse("`", name, "` must be constants.")
  columns <- given[names(given) %in% c("x", "z")]
  bases[[kind]]$check(c(list(kind = kind), columns, lapply(constants, eval, row_wise)), refuse)
}

# In poly(x, z) the second column has no name.
check_one_column <- function(e, given, refuse) {
  arguments <- as.list(e)[-1]
  unnamed <- if (is.null(names(arguments))) arguments else arguments[names(arguments) == ""]
  if (all(vapply(unnamed[-1], is_constants, NA))) return(invisible())
  refuse("poly() may have one column only. Write polynomials of each and the products, as in x * z + I(x^2) + I(z^2).")
}

check_poly <- function(basis, refuse) {
  if (!isTRUE(basis$raw) || any(c("coefs", "simple") %in% names(basis))) {
    refuse("poly() finds its columns in the data. Write ", bases$poly$form, ".")
  }
  degree <- if (is.null(basis$degree)) 1 else basis$degree
  if (!is.numeric(degree) || !isTRUE(degree %in% 1:20)) refuse("`degree` must be a whole number from 1 to 20.")
  list(kind = "poly", x = basis$x, columns = as.integer(degree))
}

check_spline <- function(basis, refuse) {
  kind <- basis$kind
  if (is.null(basis$knots) || is.null(basis$Boundary.knots) || !is.null(basis$df)) {
    refuse(kind, "() places its knots by the data. Write ", bases[[kind]]$form, ", and no `df`.")
  }
  intercept <- if (is.null(basis$intercept)) FALSE else basis$intercept
  degree <- if (is.null(basis$degree)) 3 else basis$degree
  boundary <- basis$Boundary.knots
  if (!is.numeric(boundary) || length(boundary) != 2L || !is.numeric(basis$knots) ||
        !all(is.finite(c(boundary, basis$knots))) || boundary[1] >= boundary[2] ||
        any(basis$knots <= boundary[1] | basis$knots >= boundary[2])) {
    refuse("`Boundary.knots` must be c(lower, upper), and `knots` numbers between them.")
  }
  if (!is.logical(intercept) || length(intercept) != 1L) refuse("`intercept` must be TRUE or FALSE.")
  if (!is.numeric(degree) || !isTRUE(degree %in% 1:20)) refuse("`degree` must be a whole number from 1 to 20.")
  list(kind = kind, x = basis$x, knots = sort(as.double(basis$knots)), boundary = as.double(boundary),
       degree = as.integer(degree), intercept = intercept,
       columns = length(basis$knots) + as.integer(if (kind == "bs") degree else 1) + intercept)
}

# ---- variables ----

# empty: the argument, evaluated on zero rows.
basis_variable <- function(e, name, basis, empty, call) {
  if (!is.numeric(empty)) {
    abort("argument", "`", name, "` in `formula` must be of numbers, not of ", describe_column(empty), ".", call = call)
  }
  variable <- bases[[basis$kind]]$variable(basis)
  k <- seq_along(variable$parts)
  numbered <- if (length(k) == 1L) name else paste0(name, k, recycle0 = TRUE)
  if (is.null(names(variable$parts))) names(variable$parts) <- numbered
  if (!variable$together) variable$of <- utils::head(names(variable$parts), 1L)
  c(list(expression = e), variable)
}

poly_variable <- function(basis) {
  powers <- as.double(seq_len(basis$columns))
  list(parts = lapply(powers, function(j) if (j == 1) basis$x else call("^", basis$x, j)), together = FALSE)
}

spline_variable <- function(basis) {
  parts <- lapply(seq_len(basis$columns), function(j) {
    call("spline_column", basis$x, j, basis$kind, basis$knots, basis$boundary, basis$degree, basis$intercept)
  })
  list(parts = parts, of = character(), together = TRUE)
}

# levels: those that are declared, and perhaps that of gaps after them; contrast: as declared, or NULL.
factor_variable <- function(e, name, levels, declared, ordered, contrast, call) {
  variable <- list(expression = e, levels = levels)
  if (is.null(contrast)) contrast <- if (ordered) "contr.poly" else "contr.treatment"
  if (identical(contrast, "contr.treatment") || length(declared) < 2L) return(variable)
  values <- contrast_matrix(contrast, declared, name, call)
  labels <- if (is.null(colnames(values))) seq_len(ncol(values)) else colnames(values)
  # The level of gaps is in no contrast of the others, and has an indicator.
  if (length(levels) > length(declared)) {
    values <- rbind(cbind(values, 0), c(rep(0, ncol(values)), 1))
    labels <- c(labels, gap_label)
  }
  size <- sqrt(max(rowSums(values^2)))
  variable$parts <- lapply(seq_len(ncol(values)), function(j) {
    call("contrast_column", e, levels, unname(values[, j]), size = size)
  })
  names(variable$parts) <- paste0(name, labels)
  c(variable, list(of = character(), together = TRUE))
}

contrast_names <- c("contr.treatment", "contr.sum", "contr.helmert", "contr.poly", "contr.SAS")

# One row per level, numbers that follow from the declared levels alone. A function is asked for them here and not kept:
# its environment may hold the data, and its own messages may quote them.
contrast_matrix <- function(contrast, levels, name, call) {
  arg <- paste0("contrasts$", name)
  if (is.character(contrast)) contrast <- get(check_choice(contrast, contrast_names, arg, call), asNamespace("stats"))
  if (is.function(contrast)) {
    contrast <- tryCatch(muted(contrast(levels)), error = function(e) {
      abort("argument", "`", arg, "` is a function that fails on the declared levels: call it with them to see why.",
            call = call)
    })
  }
  if (!is.matrix(contrast) || !is.numeric(contrast) || nrow(contrast) != length(levels) || ncol(contrast) == 0L ||
        !all(is.finite(contrast)) || all(contrast == 0)) {
    abort("argument", "`", arg, "` must be one of ", quote_all(contrast_names), ", or a matrix of numbers with ",
          length(levels), " rows, one per declared level, or a function of the levels that gives one, not ",
          describe(contrast), ".", call = call)
  }
  contrast
}

# The degree of the polynomial of an ordered factor or the column of a smooth that an expression is, one for others. In
# products degrees multiply, those of smooths are added.
degree_of <- function(e) {
  if (!is.call(e)) return(1)
  if (is_smooth_part(e)) return(e[[5]])
  if (identical(e[[1]], quote(`*`))) {
    combine <- if (is_smooth_part(e[[2]]) && is_smooth_part(e[[3]])) `+` else `*`
    return(combine(degree_of(e[[2]]), degree_of(e[[3]])))
  }
  values <- if (identical(e[[1]], quote(contrast_column))) e[[4]][!is_with_gaps(e[[2]]) | e[[3]] != gap_label]
  if (length(values) < 3L || length(values) > 95L) return(1) # contr.poly() has no more levels
  same <- colSums(abs(stats::contr.poly(length(values)) - values)) < 1e-8
  if (any(same)) which(same) else 1
}

# contrasts: as glm() takes them; factors: the names of the factors in the formula.
check_contrasts <- function(contrasts, factors, call) {
  if (is.null(contrasts)) return(invisible())
  named <- names(contrasts)
  if (!is.list(contrasts) || is.object(contrasts) || is.null(named) || !all(nzchar(named)) || anyDuplicated(named)) {
    abort("argument", "`contrasts` must be a list such as list(f = \"contr.sum\"), each factor once, not ",
          describe(contrasts), ".", call = call)
  }
  check_known(named, factors, "contrasts", "factor of the formula", call)
}

# The argument in the call that a fit keeps: of a list that came as a value, which columns have contrasts and the names
# of these, but no function or matrix. Names of columns are public, others may be data.
contrasts_call <- function(given, contrasts, columns) {
  if (!is_kind_name(given) || !is.list(contrasts) || is.object(contrasts)) return(given)
  if (is.null(names(contrasts)) || !all(names(contrasts) %in% columns)) return(given)
  as.call(c(quote(list), lapply(contrasts, function(x) if (is_single(x)) as.vector(x) else kind_name(x))))
}

# Rows of the table of columns of a design.
column_rows <- function(name, variable, kind, level) {
  k <- length(name)
  data.frame(name = name, variable = rep_len(variable, k), kind = rep_len(kind, k), level = level)
}

# ---- smooth terms, of which a fit finds the columns (R/design-smooth.R) ----

smooth_knots <- 16L      # gaps between knots of about equal mass; a heavy cell has both its ends
smooth_products <- 3L    # columns of each smooth in ti()
smooth_largest <- 1e150  # knots, as in a database (R/sql-expression.R)
smooth_apart <- c(relative = 1e-9, absolute = 1e-150) # least distances of knots, and widths of ranges, for 48 cells

# Before arguments are evaluated; given: by name.
check_smooth_call <- function(e, given, refuse) {
  others <- setdiff(names(given), c("x", "z", "k", "knots"))
  if ("by" %in% others) {
    refuse("there is no `by`: the smooth is the same for all groups. `x:f` gives each level of f another slope.")
  }
  if (length(others) > 0L) {
    refuse("there is no `", others[1], "`: a smooth is linear between knots, and the prior finds how smooth it is.")
  }
  if (!all(vapply(given[setdiff(names(given), c("x", "z"))], is_constants, NA))) {
    refuse("`k` and `knots` must be constants. A smooth of two columns is s(x) + s(z) + ti(x, z).")
  }
}

check_smooth <- function(basis, refuse) {
  knots <- basis$knots
  sound <- is.null(knots) || (is.numeric(knots) && length(knots) > 1L && all(is.finite(knots)) &&
                                max(abs(knots)) <= smooth_largest && are_apart(sort(knots)))
  if (!sound) {
    refuse("`knots` must be two or more different numbers, not nearer than ", smooth_apart[["relative"]],
           " times the largest; the least and the largest are the range of x.")
  }
  list(kind = basis$kind, x = without_parentheses(basis$x), columns = check_smooth_size(basis[["k"]], refuse),
       knots = if (!is.null(knots)) sort(as.double(knots)))
}

check_product <- function(basis, refuse) {
  if (is.null(basis$z)) refuse("ti() needs two columns.")
  columns <- check_smooth_size(basis[["k"]], refuse) %||% smooth_products
  list(kind = basis$kind, x = without_parentheses(basis$x), z = without_parentheses(basis$z), columns = columns)
}

without_parentheses <- function(e) if (is.call(e) && identical(e[[1]], quote(`(`))) without_parentheses(e[[2]]) else e

check_smooth_size <- function(k, refuse) {
  if (is.null(k)) return(NULL)
  if (is.numeric(k) && length(k) == 1L && k %in% seq_len(smooth_knots)) return(as.integer(k))
  refuse("`k`, the largest number of columns, must be a whole number from 1 to ", smooth_knots, ".")
}

# Are these numbers, which rise, far enough apart for numbers of double precision between them?
are_apart <- function(x) min(diff(x)) > max(smooth_apart[["relative"]] * max(abs(x)), smooth_apart[["absolute"]])

# The labels are without k and knots, as those of mgcv.
smooth_label <- function(x) paste0("s(", expression_text(x), ")")
product_label <- function(x, z) paste0("ti(", expression_text(x), ", ", expression_text(z), ")")

smooth_variable <- function(basis) {
  list(parts = stats::setNames(list(basis$x), smooth_label(basis$x)), of = smooth_label(basis$x), together = FALSE)
}

# Its columns come with the masses.
product_variable <- function(basis) list(parts = list(), of = character(), together = FALSE)

# ---- the table of bases ----

# form       how to write it with public values: each basis reads something from the data unless it is given
# arguments  those of the function of this name
# before     function(e, given, refuse): refuses arguments before they are evaluated, if there is something to refuse
# check      function(basis, refuse): the checked arguments, with the kind and x
# variable   function(basis): parts, of and together, as above
bases <- list(
  poly = list(
    form = "poly((x - centre) / scale, degree, raw = TRUE), with a public centre and scale",
    arguments = function(x, degree = 1, coefs, raw = FALSE, simple) NULL, before = check_one_column,
    check = check_poly, variable = poly_variable
  ),
  bs = list(
    form = "bs(x, knots = c(...), Boundary.knots = c(lower, upper)), with public knots",
    arguments = function(x, df, knots, degree = 3, intercept = FALSE, Boundary.knots) NULL,
    check = check_spline, variable = spline_variable
  ),
  ns = list(
    form = "ns(x, knots = c(...), Boundary.knots = c(lower, upper)), with public knots",
    arguments = function(x, df, knots, intercept = FALSE, Boundary.knots) NULL,
    check = check_spline, variable = spline_variable
  ),
  s = list(
    form = "s(x)", arguments = function(x, k, knots, bs, by, m, fx, xt, id, sp, pc) NULL, before = check_smooth_call,
    check = check_smooth, variable = smooth_variable
  ),
  ti = list(
    form = "ti(x, z)", arguments = function(x, z, k, bs, by, m, d, fx, np, xt, id, sp, mc, pc) NULL,
    before = check_smooth_call, check = check_product, variable = product_variable
  )
)
