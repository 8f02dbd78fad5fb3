# The picture of a fit's coefficients, on the scale of the mapped columns, with intervals where there are any.
#
# A numeric column is mapped from its range to [-1, 1], so its standardised coefficient is the change of the linear
# predictor from the middle of the range to its end. Ranges are public or released, which standard deviations are not
# for every fit. An indicator is one or zero: its coefficient is the change from the first level. Columns of a matrix
# have no range, and are taken as they are.

# One row for each coefficient and class: term, class, estimate, lower and upper (NA without intervals), and resolved.
# Smooths are left out, as their coefficients say nothing one by one; so is the intercept, unless it is alone.
standard_coefficients <- function(fit) {
  design <- fit$design
  estimate <- as.matrix(fit$coefficients)
  unit <- c(if (design$intercept) 1, column_scale(design)[, 2])
  names <- rownames(estimate)
  shown <- which(!names %in% smooth_columns(design) & !(design$intercept & seq_along(names) == 1L))
  if (length(shown) == 0L) shown <- seq_len(design$intercept)
  estimate <- estimate[shown, , drop = FALSE] * unit[shown]
  half <- if (is.null(fit$inference)) NA_real_ else
    stats::qnorm(0.975) * sqrt(diag(shown_vcov(fit$inference)))[shown] * unit[shown]
  out <- data.frame(
    term = rep(names[shown], ncol(estimate)), class = rep(colnames(estimate) %||% "", each = length(shown)),
    estimate = as.vector(estimate), lower = as.vector(estimate) - half, upper = as.vector(estimate) + half,
    resolved = is.null(fit$inference) | !is.na(half)
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
