# The plot of a fit: what was released, and what it cost.

#' @rdname dp_sosp-methods
#' @importFrom graphics plot
#' @export
plot.dp_sosp <- function(x, ...) {
  check_dots()
  old <- graphics::par(mfrow = c(1, 2))
  on.exit(graphics::par(old))
  plot_gradients(x)
  plot_budget(x)
  invisible(x)
}

# More points than these would cover each other.
plot_many <- 60L

plot_gradients <- function(x) {
  steps <- c("batch gradient", "clipped gradient", "gradient difference")
  rows <- x$trace[x$trace$query %in% c("gradient", steps, "minimiser"), ]
  if (nrow(rows) == 0L) return(graphics::plot.new())
  many <- nrow(rows) > plot_many
  at <- seq_len(nrow(rows))
  bars <- if (many) nrow(rows) else at
  colour <- ifelse(rows$query %in% steps, "grey60", "black")
  # Room for the legend
  low <- if (many) 0.4 else 0.9
  graphics::plot(at, rows$estimate, log = "y", type = if (many) "n" else "c", xlab = "gradient released", ylab = "norm",
                 xlim = c(0.5, nrow(rows) + 0.5), xaxt = "n",
                 ylim = range(rows$estimate, rows$bound, x$target$eps_g, finite = TRUE) * c(low, 1.1),
                 main = "Gradient norm")
  whole_axis(nrow(rows))
  if (many) plot_medians(at, rows)
  graphics::segments(bars, rows$estimate[bars], bars, rows$bound[bars], col = "grey60")
  graphics::points(bars, rows$bound[bars], pch = ifelse(is.na(rows$estimate[bars]), 6, 45), cex = 1.5, col = "grey40")
  graphics::points(bars, rows$estimate[bars], pch = 19, col = colour[bars])
  graphics::abline(h = x$target$eps_g, lty = 2)
}

# Single norms are dots; lines show the course of norms and of their bounds.
plot_medians <- function(at, rows) {
  graphics::points(at, rows$estimate, pch = 20, cex = 0.5, col = "grey60")
  width <- 2L * (length(at) %/% 20L) + 1L
  graphics::lines(at, stats::runmed(rows$estimate, width, "constant"), lwd = 2)
  graphics::lines(at, stats::runmed(rows$bound, width, "constant"), lwd = 2, col = "grey40", lty = 3)
  graphics::legend("bottomleft", c("norm, running median", "upper bound, running median"), lwd = 2, lty = c(1, 3),
                   col = c("black", "grey40"), bty = "n")
}

# Answers are counted: no tick lies between two.
whole_axis <- function(most) {
  ticks <- pretty(c(0, most))
  graphics::axis(1, ticks[ticks == round(ticks)])
}

plot_budget <- function(x) {
  ledger <- x$privacy$ledger
  kinds <- unique(ledger$what)
  colours <- stats::setNames(grDevices::hcl.colors(length(kinds), "Dark 3"), kinds)
  at <- seq_len(nrow(ledger))
  graphics::plot(c(0, at), c(0, cumsum(ledger$rho)) / x$privacy$rho, type = "s", ylim = c(0, 1), xaxt = "n",
                 xlab = "answer", ylab = "share of the budget", main = "Budget")
  whole_axis(nrow(ledger))
  graphics::points(at, cumsum(ledger$rho) / x$privacy$rho, pch = 19, cex = if (length(at) > plot_many) 0.4 else 1,
                   col = colours[ledger$what])
  graphics::legend("topleft", kinds, pch = 19, col = colours, bty = "n")
}
