# A curve as a table and as plots.

# For each method and eps: the middle of the points and the ends of a band.
curve_bands <- function(x) {
  points <- x$points
  key <- interaction(points$eps, factor(points$method, unique(points$method)), drop = TRUE)
  first <- !duplicated(key)
  middle <- tapply(points$value, key, stats::median)[key[first]]
  ends <- if (x$public) {
    vapply(c(0.1, 0.9), function(q) tapply(points$value, key, stats::quantile, q)[key[first]], numeric(sum(first)))
  } else {
    points$value + 2 * outer(points$se, c(-1, 1))
  }
  ends <- matrix(ends, ncol = 2)
  data.frame(method = points$method[first], eps = points$eps[first], value = as.vector(middle), lower = ends[, 1],
             upper = ends[, 2])
}

line_names <- c(constant = "constant prediction", "non-private" = "without privacy")
line_types <- c(3L, 5L)
metric_names <- c(log_loss = "log-loss", brier = "Brier score", accuracy = "accuracy",
                  absolute_error = "absolute error", squared_error = "squared error", r_squared = "R squared",
                  deviance = "deviance", deviance_explained = "deviance explained")

#' @rdname dp_curve
#' @export
print.dp_curve <- function(x, digits = 3, ...) {
  check_dots()
  digits <- check_digits(digits) %||% 3
  cat("<dp_curve> ", metric_names[[x$metric]], " of ", x$tested, " held-out ",
      if (is.null(x$persons)) "records" else "persons", ", of fits to ", x$n, " at delta = ",
      format(x$delta, digits = 3), "\n", sep = "")
  if (x$public) {
    cat("Free of charge, and not private: the data must be public or simulated\n")
    cat("Medians of ", max(x$points$rep), " repetitions, and 10 to 90 percent of them\n\n", sep = "")
  } else {
    cat("Private: cost ", amount_text(x$cost), "\n", sep = "")
    if (x$noise == "reproducible") cat(study_text, "\n", sep = "")
    cat("Bands are two standard errors of the evaluation, not of the fit\n\n")
  }
  print(format_bands(curve_bands(x), digits), row.names = FALSE)
  chosen <- unique(x$points$chosen[x$points$method == "auto"])
  if (length(chosen) > 0L) cat("\n\"auto\" took ", quote_all(chosen), "\n", sep = "")
  if (x$public) {
    shown <- paste(line_names[names(x$lines)], format_each(x$lines, digits), collapse = ", ")
    cat("C", substring(shown, 2), "\n", sep = "") # the first one is the constant prediction
  }
  invisible(x)
}

format_bands <- function(bands, digits) {
  numbers <- c("value", "lower", "upper")
  bands[numbers] <- lapply(bands[numbers], signif, digits)
  bands
}

#' @rdname dp_curve
#' @export
as.data.frame.dp_curve <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots()
  x$points
}

# Colours of different lightness can be told apart in a grey print; lines and symbols differ as well.
curve_colours <- function(k) grDevices::hcl.colors(k + 1L, "viridis")[seq_len(k)]

#' @rdname dp_curve
#' @export
plot.dp_curve <- function(x, ...) {
  check_dots()
  bands <- curve_bands(x)
  names <- unique(bands$method)
  colours <- curve_colours(length(names))
  keys <- c(names, line_names[names(x$lines)])
  old <- graphics::par(mar = c(4.1, 4.1, 1.1 + ceiling(length(keys) / 2), 1.1))
  on.exit(graphics::par(old))
  graphics::plot(range(bands$eps), range(unlist(bands[c("value", "lower", "upper")]), x$lines), type = "n",
                 log = "x", xlab = "eps", ylab = metric_names[[x$metric]])
  parts <- split(bands, factor(bands$method, names))
  for (i in seq_along(parts)) plot_band(parts[[i]], colours[i])
  for (i in seq_along(parts)) {
    graphics::lines(parts[[i]]$eps, parts[[i]]$value, lty = i, lwd = 2, col = colours[i])
    graphics::points(parts[[i]]$eps, parts[[i]]$value, pch = 14L + i, col = colours[i])
  }
  graphics::abline(h = x$lines, lty = line_types[seq_along(x$lines)], col = "grey30")
  more <- length(x$lines)
  # The legend is above the plot, where it hides nothing.
  graphics::legend("bottom", keys, ncol = 2L, inset = c(0, 1), xpd = TRUE, bty = "n", seg.len = 3,
                   lty = c(seq_along(names), line_types[seq_len(more)]), lwd = rep(2:1, c(length(names), more)),
                   pch = c(14L + seq_along(names), rep(NA, more)), col = c(colours, rep("grey30", more)))
  invisible(x)
}

# With a single eps the band is a line.
plot_band <- function(at, colour) {
  graphics::polygon(c(at$eps, rev(at$eps)), c(at$lower, rev(at$upper)), col = grDevices::adjustcolor(colour, 0.25),
                    border = if (nrow(at) > 1L) NA else colour)
}

#' @rdname dp_curve
#' @exportS3Method ggplot2::autoplot
autoplot.dp_curve <- function(object, ...) {
  check_dots()
  bands <- curve_bands(object)
  bands$method <- factor(bands$method, unique(bands$method))
  method <- eps <- value <- lower <- upper <- line <- NULL # columns, for codetools
  lines <- data.frame(line = as.double(object$lines))
  colours <- curve_colours(nlevels(bands$method))
  ggplot2::ggplot(bands, ggplot2::aes(eps, value, colour = method, fill = method, linetype = method, shape = method)) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = line), lines, linetype = line_types[seq_len(nrow(lines))],
                        colour = "grey30") +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = lower, ymax = upper), alpha = 0.25, colour = NA) +
    ggplot2::geom_line() + ggplot2::geom_point() + ggplot2::scale_x_log10() +
    ggplot2::scale_colour_manual(values = colours) + ggplot2::scale_fill_manual(values = colours) +
    ggplot2::guides(colour = key_rows(), fill = key_rows(), linetype = key_rows(), shape = key_rows()) +
    ggplot2::labs(y = metric_names[[object$metric]], caption = lines_text(object$lines)) + in_column()
}

lines_text <- function(lines) {
  if (length(lines) == 0L) return(NULL)
  paste0("Lines: ", paste0(line_names[names(lines)], c(" (dotted)", " (dashed)"), collapse = ", "))
}

# The plan at other values of eps, in long format for plots.
plan_grid <- function(x) {
  eps <- x$eps * 10^seq(-1, 1, length.out = 21)
  settings <- lapply(eps, function(e) plan_setting(x$setting, eps = e))
  panel <- function(what, f, here, floor = NA_real_, ceiling = NA_real_) {
    data.frame(eps = eps, what = what, value = vapply(settings, f, 0), floor = floor, ceiling = ceiling, here = here)
  }
  first <- if (is.na(x$excess)) panel("target", plan_target, x$target) else
    panel("excess loss", plan_excess, x$excess, x$sampling, if (x$constant > 0) x$constant else NA_real_)
  if (is.null(x$intervals)) return(first)
  rbind(first, panel("median width, times the non-private", function(s) stats::median(interval_ratios(s)),
                     stats::median(x$intervals$ratio), 1))
}

#' @rdname dp_plan
#' @export
plot.dp_plan <- function(x, ...) {
  check_dots()
  grid <- plan_grid(x)
  panels <- split(grid, factor(grid$what, unique(grid$what)))
  old <- graphics::par(mfrow = c(1, length(panels)), mar = c(4.1, 5.1, 5.1, 0.6))
  on.exit(graphics::par(old))
  for (panel in panels) {
    graphics::plot(panel$eps, panel$value, log = "xy", type = "l", lwd = 2, xlab = "eps",
                   ylab = sub(", times", ",\ntimes", panel$what[1]),
                   ylim = range(panel$value, panel$floor, panel$ceiling, na.rm = TRUE))
    graphics::abline(h = c(panel$floor[1], panel$ceiling[1]), lty = 2:3)
    graphics::points(x$eps, panel$here[1], pch = 19)
    shown <- c(TRUE, TRUE, !is.na(panel$floor[1]), !is.na(panel$ceiling[1]))
    legend_above(NULL, c("with privacy", "this plan", "without privacy", "constant prediction")[shown],
                 lty = c(1, NA, 2, 3)[shown], lwd = c(2, NA, 1, 1)[shown], pch = c(NA, 19, NA, NA)[shown])
  }
  invisible(x)
}

#' @rdname dp_plan
#' @exportS3Method ggplot2::autoplot
autoplot.dp_plan <- function(object, ...) {
  check_dots()
  grid <- plan_grid(object)
  eps <- value <- floor <- ceiling <- here <- NULL # columns, for codetools
  ggplot2::ggplot(grid, ggplot2::aes(x = eps)) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = floor), linetype = 2, na.rm = TRUE) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = ceiling), linetype = 3, na.rm = TRUE) +
    ggplot2::geom_line(ggplot2::aes(y = value)) +
    ggplot2::geom_point(ggplot2::aes(x = object$eps, y = here)) +
    ggplot2::facet_wrap("what", ncol = 1L, scales = "free_y") + ggplot2::scale_x_log10() + ggplot2::scale_y_log10() +
    ggplot2::labs(y = NULL, caption = "Point: this plan; dashed: without privacy; dotted: constant prediction") +
    in_column()
}
