# Plots with ggplot2, which is an optional package; those of curves and plans are in R/curve-plot.R and R/plan.R. They
# are made for one column of a page (9 cm) and for grey prints: symbols and line types differ, and the legend is below.

in_column <- function() {
  ggplot2::theme(legend.position = "bottom", legend.title = ggplot2::element_blank(),
                 legend.key.height = ggplot2::unit(0.8, "lines"), legend.key.width = ggplot2::unit(1, "lines"),
                 legend.margin = ggplot2::margin(), legend.spacing.x = ggplot2::unit(2, "pt"),
                 text = ggplot2::element_text(size = 9), legend.text = ggplot2::element_text(size = 6.5))
}

# The legend has one key per entry, in two columns.
key_rows <- function() ggplot2::guide_legend(ncol = 2L)

#' @rdname dp_sosp-methods
#' @param what Of `autoplot()`, which picture: `"gradients"` or `"budget"`.
#' @exportS3Method ggplot2::autoplot
autoplot.dp_sosp <- function(object, what = c("gradients", "budget"), ...) {
  check_dots()
  autoplot_fit(object, what)
}

#' @rdname dp_network-methods
#' @param what Of `autoplot()`, which picture: `"gradients"` or `"budget"`.
#' @exportS3Method ggplot2::autoplot
autoplot.dp_network <- function(object, what = c("gradients", "budget"), ...) {
  check_dots()
  autoplot_fit(object, what)
}

autoplot_fit <- function(fit, what, call = sys.call(-1)) {
  what <- check_choice(what, c("gradients", "budget"), "what", call)
  if (what == "gradients") autoplot_gradients(fit) else autoplot_budget(fit)
}

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
    ggplot2::labs(x = "gradient, in the order of release", y = "norm") + in_column()
}

autoplot_budget <- function(fit) {
  spent <- budget_spent(fit)
  at <- what <- NULL # columns, for codetools
  ggplot2::ggplot(spent, ggplot2::aes(at, spent)) +
    ggplot2::geom_step(colour = "grey50") +
    ggplot2::geom_point(ggplot2::aes(shape = what), size = 1.5 * point_size(nrow(spent))) +
    ggplot2::scale_shape_manual(values = rep_len(budget_symbols, nlevels(spent$what)), guide = key_rows()) +
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
