# Smooth terms, s(x) and ti(x, z), whose knots and columns are made once the masses of x in cells are known
# (R/oracle-ranges.R). Until then s(x) is the column x alone, and without further columns it stays that.
#
# A smooth is continuous, and linear between knots. Its columns are x and W_2, W_3, ..., each given by its values at the
# knots: a basis like that of Demmler and Reinsch for a random walk, orthonormal in the measure of the masses and
# orthogonal to straight lines, from smooth to wiggly. A power of its number takes the place of the degree that a
# polynomial of an ordered factor has, so that a ridge leads to the straight line and the number of knots hardly
# matters. The columns of ti(x, z) are products of those of s(x) and s(z), whose degrees are added.
#
# A design with smooths has the entry smooth, a list of
#   terms     by label, such as "s(x)": a list of x (the expression), columns (their number, with x itself; NULL: what
#             smooth_columns() says), knots (public ones, or NULL) and, once they are known, those of smooth_basis()
#   products  by label, such as "ti(x, z)": a list of two (the labels of its smooths) and columns (of each)
#   bounded   is the radius declared?
#   added     names of the columns that follow from masses, and square: the largest square of their part of a row

#' Smooth terms
#'
#' In a formula of [dp_sosp()], `s(x)` is a curve, a function of x that the fit finds, and `ti(x, z)` the interaction of
#' two such curves. The notation is that of mgcv. A fit with curves costs what one with straight lines does.
#'
#' @section Terms:
#' * `s(x)`: a curve of a numeric column or an expression of one, such as `s(log(income))`. Its straight line is the
#'   first column, with the coefficient `s(x)`; further columns, `s(x).2`, `s(x).3` and so on, add ever wigglier parts.
#' * `s(x, k = 8)`: with at most 8 columns, of 16 at most. Without `k` the number follows from n, the budget and the
#'   other terms.
#' * `s(x, knots = c(0, 20, 40, 99))`: with public knots, the least and the largest of which are the range of x.
#' * `ti(x, z)`, `ti(x, z, k = 2)`: products of the first 3, or k, columns of `s(x)` and `s(z)`, which the formula must
#'   have, too.
#' * `smooth = TRUE`, an argument of `dp_sosp()`, makes a smooth of each term that is a numeric column.
#'
#' `bounds = list(x = c(lower, upper))` declares the range of x, for `s(log(x))` also that of x. Other arguments of
#' mgcv's `s()` (`by`, `bs`, `sp` and so on), `te()`, smooths of factors and smooths in interactions are refused with
#' the reason. An intercept is needed.
#'
#' Smooth terms go with the method `"newton-ridge"`, which `"auto"` then takes, and all its losses: logistic, support
#' vector machine, squared error, Huber's, counts, several classes. There are no intervals, as these are about the
#' minimiser without a prior, and neither `start` nor `geometry_public()`, as the columns are not known before the fit.
#' Networks, [dp_plan()], [dp_curve()] and [dp_oracle()] take none.
#'
#' @section How it works:
#' 1. Five percent of the budget finds ranges, as of other numeric columns, and the noisy masses of 48 cells of each
#'    smooth's column, with breaks that follow from the counts by octaves. Many zeros are a cell of their own.
#' 2. Knots are ends of cells between which about a sixteenth of the mass lies. A value that many records share has a
#'    knot on either side, so the curve may jump there.
#' 3. A smooth is linear between its knots and constant beyond the outer ones. Its columns are x and functions that are
#'    orthonormal in the measure of the masses and orthogonal to straight lines, ordered by their variance under a
#'    random walk: from smooth to wiggly.
#' 4. A prior that falls with the column's number j, as for polynomials of the degree \eqn{j^{1.5}}{j^1.5} of ordered
#'    factors (see [geometry_public()]), shrinks the curve towards the straight line; for `ti()` these powers are added.
#'    How large the curved part of each smooth is, over all other parts, follows from the releases: the prior
#'    standard deviations of its columns have a common factor from 1/16 to 4, whose logarithm is the mean under the
#'    factors' likelihoods (with several classes it is one). So a curve is nearly straight where the truth is.
#' 5. With d coefficients of the linear model, m smooths and a budget of mu in Gaussian differential privacy, a smooth
#'    has at most floor((0.06 n mu - d) / m) columns more than its straight line (2 n mu for `"zero-out"`). With two
#'    classes, of which the second has the released fraction p, 4 p (1 - p) n mu takes the place of n mu. With few
#'    records, a rare class or a small budget that is none, and the fit is the linear one.
#'
#' All this follows from releases, n and the call: no further query reads the data. In memory, from sources, databases
#' (which compute the sums themselves, see [dp_source()]) and shards the fit is the same.
#'
#' Where the truth is linear, curves cost a little accuracy: choose them by column. The constants were compared on
#' synthetic problems (`inst/experiments/smooth-rule.R`).
#'
#' @section Looking at curves:
#' `print()` has a line for each smooth, with the standard deviations, in the measure of the masses, of its straight
#' and its curved part. `plot(fit, "terms")` and `autoplot(fit, "terms")` draw them without the outer hundredths of the
#' masses; ticks cut these into ten equal parts, and `plot()` adds an image for each `ti()`. Curves
#' are centred. `tidy(fit, "smooths")` has their values at the knots, and the mass up to the next knot.
#' `predict(fit, newdata, type = "terms")` has the part of each term in each prediction.
#' @references Wood (2017), Generalized additive models: an introduction with R, 2nd edition; Demmler and Reinsch
#'   (1975), Oscillation matrices with spline smoothing.
#' @seealso [dp_sosp()], [dp_sosp-methods], [dp_sosp-tidy].
#' @examples
#' fit <- dp_sosp(cover ~ s(elevation) + slope, covertype, eps = 2, delta = 1e-6,
#'                bounds = list(slope = c(0, 66)))
#' fit
#' plot(fit, "terms")
#' @name smooth-terms
NULL

smooth_heavy <- 1.5      # mass of a heavy cell, over that between two knots
smooth_few <- 0.35       # least mass between a knot and a heavy cell after it, over the same
smooth_rank <- 0.75      # the random walk's time is this fraction of rank, the rest is position
smooth_even <- 0.05      # fraction of the masses that is spread evenly over the cells
smooth_degree <- 1.5     # column j has this power of j in place of the degree of a polynomial of an ordered factor
smooth_noise <- 0.06     # largest d / (n mu) to which smooths add columns (inst/experiments/smooth-rule.R)
smooth_size <- 0.16      # norm of the solution that the ridge is for, over that without curves, times the root of the
                         # noise sqrt(d) / (n mu), n mu less with rare classes

# ---- terms of a formula ----

# The entry smooth of a design, or NULL. bases: of the variables, in the order of terms(); predictors: their names.
design_smooth <- function(terms, bases, predictors, bounded, call) {
  kinds <- vapply(bases, function(basis) if (is.null(basis)) "" else basis$kind, "")
  smooths <- bases[kinds == "s"]
  products <- bases[kinds == "ti"]
  if (length(smooths) + length(products) == 0L) return(NULL)
  refuse <- function(...) abort("argument", ..., call = call)
  if (attr(terms, "intercept") == 0L) refuse("Smooth terms are centred, and need an intercept.")
  factors <- attr(terms, "factors")
  mixed <- colSums(factors[rows_used(factors)[kinds %in% c("s", "ti")], , drop = FALSE] > 0L) > 0L &
    attr(terms, "order") > 1L
  if (any(mixed)) {
    refuse("`", colnames(factors)[mixed][1], "` in `formula`: a smooth is a term of its own. Of two columns write ",
           "`s(x) + s(z) + ti(x, z)`, and `x:f` gives each level of f another slope.")
  }
  labels <- vapply(smooths, function(basis) smooth_label(basis$x), "")
  if (anyDuplicated(labels) > 0L) refuse("`formula` has `", labels[duplicated(labels)][1], "` twice.")
  straight <- intersect(vapply(smooths, function(basis) expression_text(basis$x), ""), predictors)
  if (length(straight) > 0L) {
    refuse("`formula` has `", straight[1], "` and `s(", straight[1], ")`, whose first column it is: leave out one.")
  }
  own <- grep("^(s|ti)[(].*[)]([.][0-9]+)*$", all.vars(terms), value = TRUE)
  if (length(own) > 0L) refuse("The column `", own[1], "` has the name of a smooth or of a part of one: rename it.")
  two <- lapply(products, function(basis) c(smooth_label(basis$x), smooth_label(basis$z)))
  if (any(vapply(two, anyDuplicated, 0L) > 0L)) refuse("The two columns of ti() must differ.")
  if (anyDuplicated(lapply(two, sort)) > 0L) refuse("`formula` has two products ti() of the same columns.")
  missing <- setdiff(unlist(two), labels)
  if (length(missing) > 0L) {
    refuse("`formula` has ti() without `", missing[1], "`, of whose columns it has products: write `s(x) + s(z) + ",
           "ti(x, z)`.")
  }
  list(terms = stats::setNames(lapply(smooths, `[`, c("x", "columns", "knots")), labels),
       products = stats::setNames(Map(function(two, basis) list(two = two, columns = basis$columns), two, products),
                                  vapply(products, function(basis) product_label(basis$x, basis$z), "")),
       bounded = bounded, added = character(), square = 0)
}

# The labels of smooths whose knots, and so their range, the formula declares.
names_with_knots <- function(design) {
  names(Filter(function(term) !is.null(term$knots), design$smooth$terms))
}

# The design, for functions that need all columns in advance.
refuse_smooths <- function(design, what, call) {
  if (is.null(design$smooth)) return(design)
  abort("argument", what, " takes no smooth terms, whose columns are found by a fit: write `ns(x, knots = c(...), ",
        "Boundary.knots = c(lower, upper))`.", call = call)
}

# The formula with `smooth = TRUE`: terms that are a numeric column become smooths of it.
smooth_formula <- function(formula, data, call) {
  terms <- design_terms(formula, data, call)
  labels <- attr(terms, "term.labels")
  numeric <- vapply(data, function(column) identical(column_kind(column), "numeric"), NA)
  names <- names(data)[numeric]
  names <- names[vapply(names, backquote, "") %in% labels]
  if (length(names) == 0L) abort("argument", "`smooth`: the formula has no term that is a numeric column.", call = call)
  change <- Reduce(function(sum, name) call("+", call("-", sum, as.name(name)), call("s", as.name(name))), names,
                   quote(.))
  stats::update(stats::formula(terms), call("~", quote(.), change))
}

# The name as code: log(b) in backticks, a without.
backquote <- function(name) deparse(as.name(name), backtick = TRUE)

# ---- numbers of columns ----

# The design with the number of columns of each smooth: what the noise allows, unless the call says it. In total there
# are d + m q of them for d columns of the linear model and m smooths. records: n mu, less with rare classes.
size_smooths <- function(design, records) {
  if (is.null(design$smooth)) return(design)
  terms <- design$smooth$terms
  open <- vapply(terms, function(term) is.null(term$columns), NA)
  declared <- sum(vapply(terms[!open], function(term) term$columns - 1L, 0L))
  d <- nrow(design$columns) + design$intercept + declared
  q <- floor((smooth_noise * records - d) / max(sum(open), 1L))
  columns <- 1L + as.integer(min(max(q, 0), smooth_knots - 1L))
  design$smooth$terms[open] <- lapply(terms[open], function(term) {
    term$columns <- columns
    term
  })
  design
}

# The largest number of columns that a design may get.
max_columns <- function(design) {
  if (is.null(design$smooth)) return(nrow(design$columns))
  more <- vapply(design$smooth$terms, function(term) (term$columns %||% smooth_knots) - 1L, 0L)
  pairs <- vapply(design$smooth$products, function(product) product$columns^2, 0)
  nrow(design$columns) + sum(more) + sum(pairs)
}

# The smooths whose values are to be counted in cells.
counted_smooths <- function(design) {
  names(Filter(function(term) is.null(term$knots) && !identical(term$columns, 1L), design$smooth$terms))
}

# Public knots are the range.
declare_smooth_ranges <- function(design, call) {
  for (label in names(design$smooth$terms)) {
    knots <- design$smooth$terms[[label]]$knots
    if (!is.null(knots)) design$ranges[label, ] <- range(knots)
    range <- design$ranges[label, ]
    if (!anyNA(range) && (!are_apart(range) || max(abs(range)) > smooth_largest)) {
      abort("argument", "The range of `", label, "` must have a width, of at least ", smooth_apart[["relative"]],
            " of its larger end, and lie within ", smooth_largest, " of zero.", call = call)
    }
  }
  design
}

# ---- knots and columns ----

# The design with all columns. cells: by label, a list of breaks and mass; none where no range was found.
complete_smooths <- function(design, cells) {
  for (label in names(design$smooth$terms)) {
    term <- design$smooth$terms[[label]]
    known <- if (is.null(term$knots)) cells[[label]] else even_cells(term$knots)
    if (is.null(known)) known <- even_cells(design$ranges[label, ])
    basis <- smooth_basis(known, term$knots %||% pick_knots(known), term$columns - 1L)
    design$smooth$terms[[label]] <- c(term[c("x", "columns")], basis)
    parts <- lapply(seq_len(ncol(basis$values)), function(j) smooth_part(term$x, basis$knots, basis$values[, j], j + 1))
    design <- add_parts(design, label, design$term[[label]], paste0(label, ".", seq_along(parts) + 1L, recycle0 = TRUE),
                        parts, longest_part(basis$values))
  }
  for (label in names(design$smooth$products)) design <- add_product(design, label)
  if (!design$smooth$bounded) design$radius <- sqrt(design$radius^2 + design$smooth$square)
  fill_ranges(design)
}

# column: its number; of a product of smooths, see degree_of().
smooth_part <- function(x, knots, values, column) call("smooth_column", x, knots, values, column^smooth_degree)

even_cells <- function(knots) {
  knots <- unique(knots)
  list(breaks = knots, mass = rep(1 / (length(knots) - 1), length(knots) - 1L))
}

# The columns of a term follow that of its label, or come last. square: the largest sum of squares of their mapped
# values in a row.
add_parts <- function(design, after, term, names, parts, square) {
  if (length(parts) == 0L) return(design)
  names(parts) <- names
  at <- match(after, names(design$predictors), nomatch = length(design$predictors))
  design$predictors <- append(design$predictors, parts, at)
  rows <- column_rows(names, names, "numeric", NA_character_)
  at <- match(after, design$columns$name, nomatch = nrow(design$columns))
  kept <- seq_len(nrow(design$columns)) <= at
  design$columns <- rbind(design$columns[kept, ], rows, design$columns[!kept, ])
  rownames(design$columns) <- NULL
  design$ranges <- rbind(design$ranges, matrix(NA_real_, length(names), 2L, dimnames = list(names, NULL)))
  design$term[names] <- term
  design$smooth$added <- c(design$smooth$added, names)
  design$smooth$square <- design$smooth$square + square
  design
}

# The largest sum of squares of columns, each mapped to [-1, 1]: between knots a row is a mean of those at knots.
longest_part <- function(values) {
  if (ncol(values) == 0L) return(0)
  ends <- apply(values, 2L, range)
  max(colSums(((t(values) - colSums(ends) / 2) / ((ends[2, ] - ends[1, ]) / 2))^2))
}

# Products of the columns of both, that of x itself centred and scaled.
add_product <- function(design, label) {
  product <- design$smooth$products[[label]]
  sides <- lapply(design$smooth$terms[product$two], function(term) {
    values <- cbind((term$knots - term$mean) / term$sd, term$values)
    columns <- seq_len(min(product$columns, ncol(values)))
    lapply(columns, function(j) smooth_part(term$x, term$knots, values[, j], j))
  })
  cells <- expand.grid(i = seq_along(sides[[1]]), j = seq_along(sides[[2]]))
  parts <- Map(function(i, j) call("*", sides[[1]][[i]], sides[[2]][[j]]), cells$i, cells$j)
  names <- if (length(parts) == 1L) label else paste(label, cells$i, cells$j, sep = ".")
  add_parts(design, "", label, names, unname(parts), length(parts))
}

# Ends of cells between which there is about the same mass. A cell with more has both its ends.
pick_knots <- function(cells) {
  mass <- cells$mass
  breaks <- cells$breaks
  heavy <- mass >= smooth_heavy / smooth_knots
  gap <- sum(mass[!heavy]) / max(1, smooth_knots - sum(heavy))
  at <- 1L
  since <- 0
  for (i in seq_along(mass)) {
    if (heavy[i]) {
      if (since <= smooth_few * gap && length(at) > 1L) at <- at[-length(at)]
      at <- c(at, i, i + 1L)
      since <- 0
    } else {
      since <- since + mass[i]
      if (gap == 0 || since < gap * (1 - 1e-9)) next
      at <- c(at, i + 1L)
      since <- 0
    }
  }
  at <- unique(at)
  if (since < smooth_few * gap && length(at) > 2L && !heavy[length(mass)] && !heavy[max(at) - 1L]) at <- at[-length(at)]
  breaks[unique(c(at, length(breaks)))]
}

# knots, values (see above), at most `most` columns, and mean and standard deviation of x, centre and mass (of the
# masses between knots). A hat is a function that is one at a knot, zero at the others, and linear between them. The
# measure has the mass of each cell at two points, which is exact for products of hats if it is even in the cell.
smooth_basis <- function(cells, knots, most) {
  mass <- (1 - smooth_even) * cells$mass + smooth_even / length(cells$mass)
  width <- diff(cells$breaks)
  middle <- cells$breaks[-1] - width / 2
  at <- c(middle - width / sqrt(12), middle + width / sqrt(12))
  share <- c(mass, mass) / 2
  reach <- knots[length(knots)] - knots[1]
  place <- (knots - knots[1]) / reach
  mean <- sum(share * (at - knots[1]) / reach)
  sd <- sqrt(sum(share * ((at - knots[1]) / reach - mean)^2))
  rank <- stats::approx(cells$breaks, c(0, cumsum(mass)), knots, rule = 2)$y
  basis <- list(knots = knots, values = matrix(0, length(knots), 0L), mean = knots[1] + mean * reach, sd = sd * reach,
                breaks = cells$breaks, mass = cells$mass)
  if (length(knots) < 3L || most < 1L) return(basis)
  hats <- vapply(seq_along(knots), function(j) smooth_column(at, knots, as.double(seq_along(knots) == j)),
                 numeric(length(at)))
  gram <- crossprod(hats, share * hats)
  basis$values <- wiggly(gram, place - mean, smooth_rank * rank + (1 - smooth_rank) * place, most)
  basis
}

# The eigenvectors of the covariance of a random walk at these times without its straight part, relative to the gram
# matrix of the hats, by falling variance.
wiggly <- function(gram, straight, time, most) {
  size <- length(time)
  null <- cbind(1, straight)
  project <- diag(size) - null %*% solve(crossprod(null, gram %*% null), crossprod(null, gram))
  root <- chol(gram)
  prior <- project %*% outer(time, time, pmin) %*% t(project)
  vectors <- eigen(root %*% prior %*% t(root), symmetric = TRUE)$vectors
  values <- backsolve(root, vectors[, seq_len(min(most, size - 2L)), drop = FALSE])
  apply(values, 2L, function(column) column * sign(column[which.max(abs(column))]))
}
