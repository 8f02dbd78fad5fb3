# The plot of a fit: the releases and their cost.

#' @rdname dp_sosp-methods
#' @importFrom graphics plot
#' @export
plot.dp_sosp <- function(x, ...) {
  check_dots()
  plot_fit(x)
}

#' @rdname dp_network-methods
#' @export
plot.dp_network <- function(x, ...) {
  check_dots()
  plot_fit(x)
}

plot_fit <- function(x) {
  old <- graphics::par(mfrow = c(1, 2), mar = c(4.1, 4.1, 6.1, 0.6))
  on.exit(graphics::par(old))
  plot_gradients(x)
  plot_budget(x)
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
  steps <- c("batch gradient", "clipped gradient", "gradient difference")
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

plot_gradients <- function(x) {
  all <- gradient_series(x)
  if (nrow(all) == 0L) return(graphics::plot.new())
  graphics::plot(all$at, all$value, log = "y", type = "n", xlab = "gradient, in the order of release", xaxt = "n",
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

# Above the plot, where it hides nothing.
legend_above <- function(title, keys, ...) {
  graphics::legend("bottomleft", keys, title = title, title.adj = 0, inset = c(0, 1), xpd = TRUE, bty = "n", cex = 0.8,
                   ...)
}

# Releases are counted, so ticks are whole numbers.
whole_ticks <- function(ends) {
  ticks <- pretty(c(0, ends))
  ticks[ticks == round(ticks)]
}

budget_symbols <- c(19, 1, 17, 2, 15, 0, 18, 5, 3, 4)

# The fraction of the budget spent, release by release.
budget_spent <- function(x) {
  ledger <- x$privacy$ledger
  kinds <- unique(ledger$what)
  data.frame(at = seq_len(nrow(ledger)), spent = cumsum(ledger$rho) / x$privacy$rho, what = factor(ledger$what, kinds))
}

plot_budget <- function(x) {
  spent <- budget_spent(x)
  graphics::plot(c(0, spent$at), c(0, spent$spent), type = "s", ylim = c(0, 1), xaxt = "n", col = "grey50",
                 xlab = "release, by number", ylab = "fraction spent")
  graphics::axis(1, whole_ticks(nrow(spent)))
  symbols <- rep_len(budget_symbols, nlevels(spent$what))
  graphics::points(spent$at, spent$spent, pch = symbols[spent$what], cex = point_size(nrow(spent)))
  legend_above("Budget, spent on", levels(spent$what), pch = symbols, ncol = 2L)
}
