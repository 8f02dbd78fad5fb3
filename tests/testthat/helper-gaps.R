# Records with gaps.

gap_frame <- function(n = 400, seed = 1, rate = 0.15) {
  set.seed(seed)
  d <- data.frame(a = runif(n, 0.5, 20), b = rnorm(n), f = factor(sample(c("u", "v", "w"), n, TRUE)),
                  o = factor(sample(c("lo", "mid", "hi"), n, TRUE), c("lo", "mid", "hi"), ordered = TRUE),
                  l = runif(n) < 0.4)
  t <- (d$a - 10) / 5 + d$b - (d$f == "v") + d$l
  d$y <- factor(ifelse(t + rlogis(n) > 0, "yes", "no"), c("no", "yes"))
  d$z <- t + rnorm(n)
  for (name in c("a", "b", "f", "o", "l")) d[[name]][runif(n) < rate] <- NA
  d
}
gap_bounds <- list(a = I(c(0.5, 20)), b = I(c(-3, 3)))

# The data frame that a fit with these bounds makes of them.
filled_frame <- function(d, at = c(a = 10.25, b = 0)) {
  for (name in c("f", "o", "l")) {
    if (is.null(d[[name]])) next
    levels <- if (is.factor(d[[name]])) levels(d[[name]]) else c("FALSE", "TRUE")
    label <- replace(as.character(d[[name]]), is.na(d[[name]]), "(missing)")
    d[[name]] <- factor(label, c(levels, "(missing)"))
  }
  for (name in names(at)) {
    d[[paste0(name, "(missing)")]] <- as.numeric(is.na(d[[name]]))
    d[[name]][is.na(d[[name]])] <- at[[name]]
  }
  d
}

gap_fit <- function(formula, data, missing = "drop", ..., bounds = gap_bounds, eps = 20, method = "newton-ridge") {
  set.seed(3)
  quiet_fit(formula, data, eps = eps, delta = 1e-5, noise = "reproducible", missing = missing, bounds = bounds,
            method = method, ...)
}

# A database reads gaps as R does, in all expressions.
expect_gap_expressions <- function(connection, turn = 0) {
  source <- push_pair(connection, expression_rows())$push
  all <- list(a = c(-5, 12), b = c(-5, 12), c = c(0, 4))
  of_y <- Filter(function(formula) identical(formula[[2]], quote(y)), expression_formulas)
  for (formula in long_values(of_y, turn)) {
    terms <- stats::terms(formula)
    labels <- grep(":.*[<>]|[<>].*:", attr(terms, "term.labels"), value = TRUE, invert = TRUE) # have lost parentheses
    for (some in split(labels, (seq_along(labels) - 1) %/% 4)) { # a statement has few combinations of levels
      sum <- Reduce(function(x, y) call("+", x, y), lapply(some, function(label) {
        if (grepl("::", label)) str2lang(label) else call("(", str2lang(label))
      }))
      part <- stats::as.formula(call("~", formula[[2]], if (attr(terms, "intercept") == 1) sum else call("-", sum, 1)))
      bounds <- expression_bounds(part, source)
      expect_mapped(source, part, c(bounds, all[setdiff(names(all), names(bounds))]), missing = "indicate")
    }
  }
}

gap_fit_said <- function(formula, data, missing) {
  dp_sosp(formula, data, eps = 20, delta = 1e-5, bounds = gap_bounds, missing = missing)
}
