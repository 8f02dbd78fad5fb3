# The plot of an audit, and what it shows; autoplot() (R/autoplot.R) shows the same.

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
                 ylab = "false negatives", main = audit_title(audit))
  graphics::polygon(c(0, rates$least$positive), c(0, rates$least$negative), col = "grey85", border = NA)
  graphics::lines(rates$least, lty = 2)
  graphics::segments(at[1], at[2], c(rates$limit[1], at[1]), c(at[2], rates$limit[2]))
  graphics::points(at[1], at[2], pch = 19)
  graphics::mtext(errors_caption, cex = 0.8)
}

plot_guesses <- function(audit) {
  graphics::plot(guess_curve(audit), type = "l", ylab = guesses_axis, main = audit_title(audit))
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
  least$negative <- least_error(audit, least$positive)
  list(at = errors / counts[["runs"]], least = least,
       limit = clopper_pearson_upper(errors, counts[["runs"]], (1 - audit$conf) / 2))
}

# The smallest false negative rate that the claim allows, as in audit_bound().
least_error <- function(audit, positive) {
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
