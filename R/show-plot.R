# Plots of a fit: the run, its releases and their cost, and the coefficients; show-effects.R has the effects.

#' @rdname dp_sosp-methods
#' @importFrom graphics plot
#' @export
plot.dp_sosp <- function(x, what = c("coefficients", "terms", "run", "gradients", "budget"), ...) {
  check_dots()
  what <- check_choice(what, c("coefficients", "terms", names(run_panels)), "what")
  refuse_effects(x, what, sys.call())
  switch(what, coefficients = plot_coefficients(x), terms = plot_terms(x, sys.call()),
         plot_run(x, run_panels[[what]]))
}

#' @rdname dp_network-methods
#' @export
plot.dp_network <- function(x, what = c("run", "gradients", "budget"), ...) {
  check_dots()
  refuse_weights(what, sys.call())
  plot_run(x, run_panels[[check_choice(what, names(run_panels), "what")]])
}

run_panels <- list(run = c("gradients", "budget"), gradients = "gradients", budget = "budget")

# Gradients of residuals, whose clips differ, are not among those of gradient_series().
plot_run <- function(x, names) {
  if (nrow(gradient_series(x)) == 0L) names <- setdiff(names, "gradients")
  if (length(names) == 0L) absent("The run has no gradients whose norms could be compared.", call = sys.call(-1))
  panels <- list(gradients = plot_gradients, budget = plot_budget)[names]
  columns <- if (graphics::par("din")[1] < 6) 1L else 2L # of the keys of a budget
  keys <- ceiling(length(unique(x$privacy$ledger$what)) / columns)
  old <- graphics::par(mfrow = c(1, length(panels)), mar = c(4.1, 4.1, max(6.1, 2.1 + 0.8 * keys), 0.6))
  on.exit(graphics::par(old))
  graphics::par(cex = text_size())
  for (panel in panels) panel(x, columns)
  invisible(x)
}

# More points than this would overlap.
plot_many <- 60L

# Each series is drawn by a symbol or a line. They can be told apart without colours.
gradient_styles <- data.frame(
  row.names = c("norm, all records", "norm, batch or difference", "upper confidence bound", "median of norms nearby",
                "median of bounds nearby", "target"),
  symbol = c(19, 1, 6, NA, NA, NA), line = c(NA, NA, NA, 1, 3, 2),
  colour = c("black", "grey50", "grey40", "black", "grey40", "black")
)

# The series in long format. Long series are shown by running medians and the last bound only. A released minimiser has
# a bound but no norm.
gradient_series <- function(x) {
  steps <- c("batch gradient", "clipped gradient", "class gradient", "gradient difference")
  rows <- x$trace[x$trace$query %in% c("gradient", steps, "minimiser"), ]
  at <- seq_len(nrow(rows))
  many <- nrow(rows) > plot_many
  step <- rows$query %in% steps
  series <- function(i, value, shown = TRUE) {
    all <- data.frame(at = at, value = value, series = rep(rownames(gradient_styles)[i], length(at)))
    all[is.finite(value) & shown, ]
  }
  rbind(series(1, rows$estimate, !step), series(2, rows$estimate, step),
        series(3, rows$bound, !many | at == nrow(rows)),
        if (many) rbind(series(4, running_median(rows$estimate)), series(5, running_median(rows$bound))))
}

# The rows with both a norm and its bound, which are joined by a line.
norms_with_bounds <- function(series) {
  points <- series[!is.na(gradient_styles[series$series, "symbol"]), ]
  points[points$at %in% points$at[duplicated(points$at)], ]
}

running_median <- function(value) stats::runmed(value, 2L * (length(value) %/% 20L) + 1L, "constant")

plot_gradients <- function(x, columns) {
  all <- gradient_series(x)
  graphics::plot(all$at, all$value, log = "y", type = "n", xlab = "gradient, by number", xaxt = "n",
                 ylab = "norm", xlim = c(0.5, max(all$at) + 0.5), ylim = range(all$value, x$target$eps_g))
  graphics::axis(1, whole_ticks(max(all$at)))
  parts <- split(all, factor(all$series, unique(all$series)))
  joined <- norms_with_bounds(all)
  ends <- vapply(split(joined$value, joined$at), range, c(0, 0))
  graphics::segments(as.numeric(colnames(ends)), ends[1, ], y1 = ends[2, ], col = "grey70")
  for (name in names(parts)) {
    style <- gradient_styles[name, ]
    if (is.na(style$line)) {
      graphics::points(parts[[name]]$at, parts[[name]]$value, pch = style$symbol, col = style$colour,
                       cex = point_size(max(all$at)))
    } else {
      graphics::lines(parts[[name]]$at, parts[[name]]$value, lty = style$line, col = style$colour, lwd = 2)
    }
  }
  graphics::abline(h = x$target$eps_g, lty = gradient_styles["target", "line"])
  shown <- gradient_styles[c(names(parts), if (!is.null(x$target)) "target"), ]
  legend_above("Gradients", rownames(shown), pch = shown$symbol, lty = no_line(shown$line), col = shown$colour)
}

# No line is 0 in graphics.
no_line <- function(type) ifelse(is.na(type), 0, type)

point_size <- function(n) if (n > plot_many) 0.5 else 1

# Releases are counted, so ticks are whole numbers.
whole_ticks <- function(ends) {
  ticks <- pretty(c(0, ends))
  ticks[ticks == round(ticks)]
}

# The fraction of the budget spent, release by release.
budget_spent <- function(x) {
  ledger <- x$privacy$ledger
  kinds <- unique(ledger$what)
  data.frame(at = seq_len(nrow(ledger)), spent = cumsum(ledger$rho) / x$privacy$rho, what = factor(ledger$what, kinds))
}

plot_budget <- function(x, columns) {
  spent <- budget_spent(x)
  graphics::plot(c(0, spent$at), c(0, spent$spent), type = "s", ylim = c(0, 1), xaxt = "n", col = "grey50",
                 xlab = "release, by number", ylab = "fraction spent")
  graphics::axis(1, whole_ticks(nrow(spent)))
  symbols <- rep_len(plot_symbols, nlevels(spent$what))
  graphics::points(spent$at, spent$spent, pch = symbols[spent$what], cex = point_size(nrow(spent)))
  legend_above("Budget, spent on", levels(spent$what), pch = symbols, ncol = columns)
}

# ---- with ggplot2, which is an optional package ----

#' @rdname dp_sosp-methods
#' @param what Which picture: `"coefficients"` or `"terms"`; of the run `"gradients"` or `"budget"`, or with `plot()`
#'   `"run"`, which is both. See the section Pictures.
#' @exportS3Method ggplot2::autoplot
autoplot.dp_sosp <- function(object, what = c("coefficients", "terms", "gradients", "budget"), ...) {
  check_dots()
  call <- sys.call()
  what <- check_choice(what, c("coefficients", "terms", names(run_pictures)), "what", call)
  refuse_effects(object, what, call)
  switch(what, coefficients = autoplot_coefficients(object, call), terms = autoplot_terms(object, call),
         run_pictures[[what]](object))
}

#' @rdname dp_network-methods
#' @param what `"gradients"` or `"budget"`, or with `plot()` `"run"`, which is both. The weights of a network say
#'   nothing one by one, so there are no pictures of them.
#' @exportS3Method ggplot2::autoplot
autoplot.dp_network <- function(object, what = c("gradients", "budget"), ...) {
  check_dots()
  refuse_weights(what, sys.call())
  run_pictures[[check_choice(what, names(run_pictures), "what")]](object)
}

refuse_effects <- function(fit, what, call) {
  if (lacks_coefficients(fit) && what %in% c("coefficients", "terms")) absent(no_coefficients, call)
}

refuse_weights <- function(what, call) {
  if (identical(what, "coefficients") || identical(what, "terms")) absent(no_weight, call)
}

run_pictures <- list(gradients = function(fit) autoplot_gradients(fit), budget = function(fit) autoplot_budget(fit))

autoplot_gradients <- function(fit) {
  all <- gradient_series(fit)
  at <- value <- series <- NULL # columns, for codetools
  target <- data.frame(value = as.double(fit$target$eps_g), series = rep("target", length(fit$target$eps_g)))
  names <- c(unique(all$series), target$series)
  styles <- gradient_styles[names, ]
  drawn <- !is.na(gradient_styles[all$series, "symbol"])
  size <- 1.5 * point_size(max(all$at, 0))
  ggplot2::ggplot(all, ggplot2::aes(at, value, colour = series, linetype = series, shape = series)) +
    ggplot2::geom_line(ggplot2::aes(group = at), norms_with_bounds(all), colour = "grey70", linetype = 1,
                       show.legend = FALSE) +
    ggplot2::geom_point(size = size, na.rm = TRUE) +
    ggplot2::geom_line(data = all[!drawn, ]) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = value, linetype = series, colour = series), target) +
    ggplot2::scale_shape_manual(values = styles$symbol, limits = names) +
    ggplot2::scale_linetype_manual(values = no_line(styles$line), limits = names) +
    ggplot2::scale_colour_manual(values = styles$colour, limits = names) +
    ggplot2::scale_y_log10() + ggplot2::scale_x_continuous(breaks = whole_ticks) +
    ggplot2::guides(colour = key_rows(), linetype = key_rows(), shape = key_rows()) +
    ggplot2::labs(x = "gradient, by number", y = "norm") + in_column()
}

autoplot_budget <- function(fit) {
  spent <- budget_spent(fit)
  at <- what <- NULL # columns, for codetools
  ggplot2::ggplot(spent, ggplot2::aes(at, spent)) +
    ggplot2::geom_step(colour = "grey50") +
    ggplot2::geom_point(ggplot2::aes(shape = what), size = 1.5 * point_size(nrow(spent))) +
    ggplot2::scale_shape_manual(values = rep_len(plot_symbols, nlevels(spent$what)), guide = key_rows()) +
    ggplot2::scale_y_continuous(limits = c(0, 1)) + ggplot2::scale_x_continuous(breaks = whole_ticks) +
    ggplot2::labs(x = "release, by number", y = "fraction spent") + in_column()
}

#' @rdname dp_account
#' @exportS3Method ggplot2::autoplot
autoplot.dpsosp_profile <- function(object, eps = NULL, ...) {
  check_dots()
  curves <- profile_curves(object, eps)
  each <- data.frame(eps = curves$eps, utils::stack(curves[-(1:2)]))
  claimed <- values <- ind <- NULL # columns, for codetools
  ggplot2::ggplot(curves, ggplot2::aes(eps)) +
    ggplot2::geom_line(ggplot2::aes(y = claimed), linewidth = 2.5, colour = "grey80", na.rm = TRUE) +
    ggplot2::geom_line(ggplot2::aes(y = values, linetype = ind), each, na.rm = TRUE) +
    ggplot2::scale_y_log10() + in_column() +
    ggplot2::labs(y = "delta", caption = "Grey: the guarantee; lines: what each accountant shows")
}

#' @rdname dp_audit
#' @exportS3Method ggplot2::autoplot
autoplot.dpsosp_audit <- function(object, ...) {
  check_dots()
  picture <- if (object$method == "pairs") autoplot_errors(object) else autoplot_guesses(object)
  picture + in_column() + ggplot2::labs(subtitle = audit_title(object))
}

autoplot_errors <- function(audit) {
  rates <- error_rates(audit)
  at <- rates$at
  positive <- negative <- NULL # columns, for codetools
  ggplot2::ggplot(rates$least, ggplot2::aes(positive, negative)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = 0, ymax = negative), fill = "grey85") +
    ggplot2::geom_line(linetype = 2) +
    ggplot2::annotate("segment", at[1], at[2], xend = c(rates$limit[1], at[1]), yend = c(at[2], rates$limit[2])) +
    ggplot2::annotate("point", at[1], at[2]) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(x = "false positives", y = "false negatives", caption = errors_caption)
}

autoplot_guesses <- function(audit) {
  eps <- value <- NULL # columns, for codetools
  ggplot2::ggplot(guess_curve(audit), ggplot2::aes(eps, value)) + ggplot2::geom_line() +
    ggplot2::geom_hline(yintercept = 1 - audit$conf, linetype = 3) +
    ggplot2::geom_vline(xintercept = audit$eps, linetype = 2) +
    ggplot2::labs(y = guesses_axis, caption = guesses_caption)
}

# ---- of an audit ----

#' @rdname dp_audit
#' @export
plot.dpsosp_audit <- function(x, ...) {
  check_dots()
  if (x$method == "pairs") plot_errors(x) else plot_guesses(x)
  invisible(x)
}

plot_errors <- function(audit) {
  rates <- error_rates(audit)
  at <- rates$at
  graphics::plot(rates$least, type = "n", xlim = c(0, 1), ylim = c(0, 1), xlab = "false positives",
                 ylab = "false negatives")
  graphics::title(audit_title(audit), line = 2.2)
  graphics::polygon(c(0, rates$least$positive), c(0, rates$least$negative), col = "grey85", border = NA)
  graphics::lines(rates$least, lty = 2)
  graphics::segments(at[1], at[2], c(rates$limit[1], at[1]), c(at[2], rates$limit[2]))
  graphics::points(at[1], at[2], pch = 19)
  graphics::mtext(errors_caption, cex = 0.8)
}

plot_guesses <- function(audit) {
  graphics::plot(guess_curve(audit), type = "l", ylab = guesses_axis)
  graphics::title(audit_title(audit), line = 2.2)
  graphics::abline(h = 1 - audit$conf, lty = 3)
  graphics::abline(v = audit$eps, lty = 2)
  graphics::mtext(guesses_caption, cex = 0.8)
}

audit_title <- function(audit) {
  paste0("eps >= ", format_below(audit$bound, 3), ", claimed: eps = ", format(audit$eps, digits = 3))
}

errors_caption <- "Grey: error rates that the claim excludes\nLines: to the upper confidence limits"
guesses_caption <- "Dashed: the claim; dotted: 1 - confidence\nThe bound is where the curve crosses it"
guesses_axis <- "p-value of the guesses, at most"

# The error rates of the test (false positives, false negatives), their upper confidence limits, and the smallest rates
# that the claim allows.
error_rates <- function(audit) {
  counts <- audit$counts
  errors <- c(counts[["false_positives"]], counts[["false_negatives"]])
  least <- data.frame(positive = seq(0, 1, length.out = 401))
  least$negative <- min_error(audit, least$positive)
  list(at = errors / counts[["runs"]], least = least,
       limit = clopper_pearson_upper(errors, counts[["runs"]], (1 - audit$conf) / 2))
}

# The smallest false negative rate that the claim allows, as in audit_bound().
min_error <- function(audit, positive) {
  if (audit$tradeoff == "gdp") {
    return(stats::pnorm(stats::qnorm(1 - positive) - .Call(ffi_gdp_mu, audit$eps, audit$delta)))
  }
  rest <- 1 - audit$delta - positive
  pmax(0, rest - (exp(audit$eps) - 1) * positive, exp(-audit$eps) * rest)
}

# The upper bound on the probability of this many correct guesses, as a function of the true epsilon.
guess_curve <- function(audit) {
  counts <- audit$counts
  curve <- data.frame(eps = seq(0, 2 * max(audit$eps, audit$bound), length.out = 101))
  curve$value <- vapply(curve$eps, one_run_p_value, 0, correct = counts[["correct"]], guesses = counts[["guesses"]],
                        canaries = counts[["canaries"]], delta = audit$delta)
  curve
}

# The picture of a fit's coefficients, on the scale of the mapped columns, with intervals where there are any.
#
# A numeric column is mapped from its range to [-1, 1], so its standardised coefficient is the change of the linear
# predictor from the middle of the range to its end. Ranges are public or released, which standard deviations are not
# for every fit. An indicator is one or zero: its coefficient is the change from the first level. Columns of a matrix
# have no range, and are taken as they are.

# One row for each coefficient and class: term, class, estimate, lower and upper (NA without intervals), and resolved.
# Smooths are left out, as their coefficients say nothing one by one; so is the intercept, unless it is alone.
standard_coefficients <- function(fit) {
  design <- as_written(fit$design)
  estimate <- as.matrix(fit$coefficients)
  unit <- c(if (design$intercept) 1, column_scale(design)[, 2])
  names <- rownames(estimate)
  shown <- which(!names %in% smooth_columns(design) & !(design$intercept & seq_along(names) == 1L))
  if (length(shown) == 0L) shown <- seq_len(design$intercept)
  estimate <- estimate[shown, , drop = FALSE] * unit[shown]
  contrasts <- is.null(fit$inference) || is.matrix(fit$inference$solution) # these have intervals, not coefficients
  half <- if (contrasts) NA_real_ else
    stats::qnorm(0.975) * sqrt(diag(shown_vcov(fit$inference)))[shown] * unit[shown]
  out <- data.frame(
    term = rep(names[shown], ncol(estimate)), class = rep(colnames(estimate) %||% "", each = length(shown)),
    estimate = as.vector(estimate), lower = as.vector(estimate) - half, upper = as.vector(estimate) + half,
    resolved = contrasts | !is.na(half)
  )
  largest_terms(out)
}

# The terms with the largest estimates, as many as can be read, in the order of the model; the attribute `all` is the
# number of terms.
largest_terms <- function(coefficients) {
  terms <- unique(coefficients$term)
  size <- vapply(terms, function(term) max(abs(coefficients$estimate[coefficients$term == term])), 0)
  kept <- terms[sort(utils::head(order(-size), max_coefficients))]
  out <- coefficients[coefficients$term %in% kept, ]
  out$term <- factor(out$term, rev(kept))
  structure(out, all = length(terms))
}

# The names of the standard scale and of what is left out.
coefficients_axis <- function(fit) {
  paste0("change of ", predictor_text(fit), if (!is_matrix_design(fit$design))
    "\nover half of a range, or by a level")
}

coefficients_note <- function(coefficients) {
  all <- attr(coefficients, "all")
  if (all > nlevels(coefficients$term)) paste("The", nlevels(coefficients$term), "largest of", all, "coefficients")
}

# Classes lie beside each other within the row of their coefficient.
beside <- function(class) {
  classes <- unique(class)
  if (length(classes) == 1L) return(numeric(length(class)))
  seq(0.3, -0.3, length.out = length(classes))[match(class, classes)]
}

unresolved_note <- "not resolved"

shown_range <- function(all) range(0, unlist(all[all$resolved, c("estimate", "lower", "upper")]), na.rm = TRUE)

plot_coefficients <- function(x) {
  all <- standard_coefficients(x)
  if (nrow(all) == 0L) return(plot_terms(x))
  classes <- unique(all$class)
  several <- length(classes) > 1L
  labels <- short_text(levels(all$term))
  lines <- graphics::par("din") / graphics::par("csi")
  wide <- 0.45 * max(nchar(labels)) # a letter is about 0.45 lines wide
  size <- max(0.4, min(1, (lines[2] - 8) / length(labels), 0.45 * lines[1] / wide))
  old <- graphics::par(mar = c(2.1, 1.3 + size * wide, 1.1 + if (several) ceiling(length(classes) / 2) else 0, 0.6),
                       oma = c(2.2, 0, 0, 0))
  on.exit(graphics::par(old))
  at <- as.integer(all$term) + beside(all$class)
  graphics::plot(shown_range(all), c(0.5, length(labels) + 0.5), type = "n", yaxt = "n", xlab = "", ylab = "")
  graphics::mtext(coefficients_axis(x), side = 1, line = 1, outer = TRUE, cex = 0.8)
  graphics::axis(2, seq_along(labels), labels, las = 1, cex.axis = size)
  graphics::abline(v = 0, lty = 3, col = "grey40")
  drawn <- all$resolved
  graphics::segments(all$lower[drawn], at[drawn], all$upper[drawn], lwd = 2, col = "grey50")
  symbols <- rep_len(plot_symbols, length(classes))
  graphics::points(all$estimate[drawn], at[drawn], pch = symbols[match(all$class, classes)][drawn], cex = 0.9)
  if (!all(drawn)) {
    graphics::text(mean(graphics::par("usr")[1:2]), at[!drawn], unresolved_note, cex = 0.8 * size, col = "grey30",
                   font = 3)
  }
  graphics::mtext(coefficients_note(all), side = 3, adj = 1, cex = 0.7)
  if (several) legend_above(NULL, short_text(classes, 16L), pch = symbols, ncol = 2L)
  invisible(x)
}

autoplot_coefficients <- function(fit, call) {
  all <- standard_coefficients(fit)
  if (nrow(all) == 0L) return(autoplot_terms(fit, call))
  classes <- unique(all$class)
  all$at <- as.integer(all$term) + beside(all$class)
  labels <- short_text(levels(all$term))
  all$class <- factor(all$class, classes)
  at <- estimate <- lower <- upper <- class <- NULL # columns, for codetools
  drawn <- all[all$resolved, ]
  middle <- mean(shown_range(all))
  ggplot2::ggplot(drawn, ggplot2::aes(estimate, at)) +
    ggplot2::geom_vline(xintercept = 0, linetype = 3, colour = "grey40") +
    ggplot2::geom_segment(ggplot2::aes(x = lower, xend = upper, yend = at), drawn[!is.na(drawn$lower), ],
                          colour = "grey50", linewidth = 0.8) +
    ggplot2::geom_point(ggplot2::aes(shape = class), show.legend = length(classes) > 1L) +
    ggplot2::geom_text(ggplot2::aes(x = middle), all[!all$resolved, ], label = unresolved_note,
                       size = min(2.3, 45 / length(labels)),
                       colour = "grey30", fontface = 3) +
    ggplot2::scale_shape_manual(values = rep_len(plot_symbols, length(classes)), guide = key_rows()) +
    ggplot2::scale_y_continuous(breaks = seq_along(labels), labels = labels, minor_breaks = NULL,
                                limits = c(0.5, length(labels) + 0.5)) +
    ggplot2::labs(x = coefficients_axis(fit), y = NULL, caption = coefficients_note(all)) + in_column() +
    ggplot2::theme(axis.title.x = ggplot2::element_text(hjust = 1),
                   axis.text.y = ggplot2::element_text(size = min(7.2, 130 / length(labels))))
}
