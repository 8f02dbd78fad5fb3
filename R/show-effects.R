# The picture of a fit's effects: how the linear predictor changes with one predictor, from the middle of its range or
# its first level.
#
# A panel has an *axis*: an expression whose values are known to the public, by its range or its levels, so a panel
# needs no data. That is a column where its range is known, else the smallest expression with a known range that takes
# the column's place in all predictors, such as log(x). Of predictors that the axis does not enter the effect does not
# depend; other columns of those that it enters, in interactions, are at the middle of their range or their first level.

effect_points <- 41L

# A list of panels in the order of the model, smooths first. A panel is a list of
#   name    of its axis
#   data    at (number or code of a level), class, value, lower and upper (NA without intervals)
#   levels  of a factor, else NULL
#   time    of a numeric column that is a date or a time
#   ticks   of a smooth: where its masses are cut into tenths
effect_panels <- function(fit, call) {
  if (is_matrix_design(fit$design)) {
    abort("argument", "The columns of a matrix have no ranges, over which effects could be drawn: `\"coefficients\"` ",
          "shows them.", call = call)
  }
  fit$design <- as_written(fit$design)
  panels <- c(lapply(names(fit$design$smooth$terms), smooth_panel, fit = fit),
              lapply(effect_axes(fit$design), effect_panel, fit = fit))
  if (length(panels) > 0L) return(panels)
  abort("argument", "This fit has no predictor whose effect could be drawn.", call = call)
}

smooth_panel <- function(label, fit) {
  curve <- smooth_curve(fit, label)
  term <- fit$design$smooth$terms[[label]]
  class <- rep(colnames(fit$coefficients) %||% "", each = nrow(curve))
  x <- without_gaps(term$x)
  time <- if (is.name(x)) fit$design$schema[[as.character(x)]]$time
  list(name = label, time = time, ticks = smooth_tenths(term), data = data.frame(
    at = curve[, 1], class = class, value = as.vector(curve[, -1]), lower = NA_real_, upper = NA_real_))
}

# ---- axes ----

# The axes of all columns that have one, each a list of expression and range or levels.
effect_axes <- function(design) {
  predictors <- plain_predictors(design)
  columns <- intersect(unique(unlist(lapply(predictors, all.vars))), names(design$schema))
  known <- known_axes(design, predictors)
  axes <- lapply(columns, function(column) {
    of_column <- predictors[vapply(predictors, function(e) column %in% all.vars(e), NA)]
    replaces <- function(axis) {
      !any(vapply(of_column, function(e) column %in% all.vars(put_axis(e, axis$expression)), NA))
    }
    Find(function(axis) column %in% all.vars(axis$expression) && replaces(axis), known)
  })
  axes <- Filter(function(axis) !is.null(axis) && is_drawable(axis, predictors, known), axes)
  axes[!duplicated(lapply(axes, `[[`, "expression"))]
}

# All but those of smooths.
plain_predictors <- function(design) design$predictors[setdiff(unique(design$columns$variable), smooth_columns(design))]

# Columns first, but factors with a level of gaps, then expressions.
known_axes <- function(design, predictors) {
  ranges <- known_ranges(design)
  columns <- lapply(names(design$schema), function(name) {
    known <- design$schema[[name]]
    levels <- switch(known$kind, factor = known$levels, logical = c(FALSE, TRUE))
    list(expression = as.name(name), range = if (known$kind == "numeric") ranges[[name]], levels = levels,
         time = known$time)
  })
  others <- lapply(names(predictors), function(name) {
    list(expression = predictors[[name]], range = ranges[[name]], levels = design$levels[[name]])
  })
  with_levels <- vapply(others, function(axis) is_with_gaps(axis$expression), NA)
  axes <- c(others[with_levels], columns, lapply(predictors, basis_axis), others[!with_levels])
  Filter(function(axis) !is.null(axis$range) || length(axis$levels) > 0L, axes)
}

# That of a spline or of a contrast.
basis_axis <- function(e) {
  switch(function_name(e), spline_column = list(expression = e[[2]], range = e[[6]]),
         contrast_column = list(expression = e[[2]], levels = e[[3]]))
}

axis_name <- ".axis"

put_axis <- function(e, expression) {
  if (identical(e, expression)) return(as.name(axis_name))
  if (!is.call(e)) return(e)
  e[-1] <- lapply(as.list(e)[-1], put_axis, expression = expression)
  e
}

# Have the columns beside the axis values to be held at?
is_drawable <- function(axis, predictors, known) {
  entered <- lapply(predictors, put_axis, expression = axis$expression)
  beside <- unlist(lapply(Filter(function(e) axis_name %in% all.vars(e), entered), all.vars))
  all(setdiff(beside, axis_name) %in% vapply(known, function(one) expression_text(one$expression), ""))
}

# ---- values ----

effect_panel <- function(axis, fit) {
  changes <- effect_changes(axis, fit$design)
  slope <- as.matrix(fit$coefficients)[changes$columns, , drop = FALSE]
  value <- changes$rows %*% slope
  half <- stats::qnorm(0.975) * effect_errors(changes, fit$inference)
  at <- if (is.null(axis$levels)) changes$at else seq_along(axis$levels)
  list(name = expression_text(without_gaps(axis$expression)), levels = axis$levels, time = axis$time, data = data.frame(
    at = at, class = rep(colnames(fit$coefficients) %||% "", each = length(at)), value = as.vector(value),
    lower = as.vector(value) - half, upper = as.vector(value) + half))
}

# NA without intervals, and where a coefficient takes part that is not resolved.
effect_errors <- function(changes, inference) {
  if (is.null(inference) || is.matrix(inference$solution)) return(NA_real_)
  among <- seq_len(nrow(inference$vcov))[match(changes$columns, rownames(inference$vcov))]
  hidden <- rowSums(changes$rows[, !is.na(inference$reason[among]), drop = FALSE] != 0) > 0
  covariance <- inference$vcov[among, among, drop = FALSE]
  ifelse(hidden, NA, sqrt(pmax(rowSums((changes$rows %*% covariance) * changes$rows), 0)))
}

# The columns that the axis enters, and for each point of it how far they are from their values at the middle of the
# range or at the first level.
effect_changes <- function(axis, design) {
  at <- if (!is.null(axis$levels)) axis$levels else
    axis$range[1] + (axis$range[2] - axis$range[1]) * seq(0, 1, length.out = effect_points)
  entered <- lapply(plain_predictors(design), put_axis, expression = axis$expression)
  entered <- Filter(function(e) axis_name %in% all.vars(e), entered)
  of_axis <- design$columns$variable %in% names(entered)
  part <- list(predictors = entered, columns = design$columns[of_axis, ], levels = design$levels,
               ranges = design$ranges, intercept = design$intercept, schema = c(design$schema, axis_schema(axis)))
  frame <- held_columns(setdiff(unlist(lapply(entered, all.vars)), axis_name), design, length(at))
  frame[[axis_name]] <- axis_values(at, axis)
  rows <- design_matrix(part, frame)
  half <- design_scale(part)[, "half"]
  first <- if (is.null(axis$levels)) (effect_points + 1L) / 2L else 1L
  list(at = at, columns = part$columns$name, rows = t((t(rows) - rows[first, ]) * half))
}

axis_schema <- function(axis) {
  kind <- if (is.null(axis$levels)) "numeric" else if (is.logical(axis$levels)) "logical" else "factor"
  stats::setNames(list(list(kind = kind, levels = axis$levels, ordered = FALSE)), axis_name)
}

axis_values <- function(at, axis) if (is.character(axis$levels)) factor(at, axis$levels, exclude = NULL) else at

# Columns beside the axis, at the middle of their ranges or at their first levels.
held_columns <- function(names, design, n) {
  ranges <- known_ranges(design)
  columns <- lapply(stats::setNames(nm = intersect(names, names(design$schema))), function(name) {
    known <- design$schema[[name]]
    rep(switch(known$kind, numeric = as_time(mean(ranges[[name]]), known$time), logical = FALSE,
               factor = factor(known$levels[1], known$levels, exclude = NULL, ordered = known$ordered)), n)
  })
  as.data.frame(columns, optional = TRUE, row.names = seq_len(n))
}

as_time <- function(x, time) {
  switch(time %||% "number", Date = structure(x, class = "Date"), POSIXct = as.POSIXct(x, "UTC", origin = "1970-01-01"),
         number = x)
}

# ---- pictures ----

panel_inches <- 1.1 # least width and height of a panel that can be read
letters_an_inch <- 16 # of a panel's name

effects_axis <- function(fit) paste0("change of ", predictor_text(fit))

# As many panels as can be read, those with the largest effects, in the order of the model.
largest_panels <- function(panels, most) {
  size <- vapply(panels, function(panel) diff(range(panel$data$value)), 0)
  panels[sort(utils::head(order(-size), most))]
}

panels_note <- function(shown, all) if (shown < all) paste("The", shown, "largest of", all, "effects")

# A panel for each predictor, with one scale for all: lines with bands, or levels with intervals; for each class another
# type. Smooths have no outer hundredths, and at the bottom ticks that cut the range into ten parts of about equal mass.
# Products of smooths follow as images.
plot_terms <- function(x, call = sys.call(-1)) {
  panels <- effect_panels(x, call)
  products <- if (!is.matrix(x$coefficients)) names(x$design$smooth$products)
  most <- max(4L, prod(floor(graphics::par("din") / panel_inches))) - length(products)
  shown <- largest_panels(panels, max(1L, most))
  classes <- colnames(x$coefficients)
  note <- panels_note(length(shown), length(panels))
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(shown) + length(products)), mgp = c(2, 0.6, 0),
                       mar = c(2.1, 2.1, 1.4, 0.5),
                       oma = c(0, 1.4, 1.2 * length(note) + 1.6 * ceiling(length(classes) / 2), 0))
  on.exit(graphics::par(old))
  graphics::par(cex = text_size())
  limits <- range(lapply(shown, function(panel) panel$data[c("value", "lower", "upper")]), na.rm = TRUE)
  for (panel in shown) plot_panel(panel, limits)
  for (label in products) plot_product(x, label)
  graphics::mtext(effects_axis(x), side = 2, line = 0.2, outer = TRUE, cex = 0.75)
  graphics::mtext(note, side = 3, outer = TRUE, adj = 1, cex = 0.7)
  if (!is.null(classes)) key_of_classes(classes)
  invisible(x)
}

# Above all panels, in two columns.
key_of_classes <- function(classes) {
  graphics::par(fig = c(0, 1, 0, 1), oma = numeric(4), mar = numeric(4), cex = 0.6, new = TRUE)
  graphics::plot.new()
  graphics::legend("topleft", short_text(classes, 16L), lty = seq_along(classes), bty = "n", ncol = 2L,
                   pch = rep_len(plot_symbols, length(classes)))
}

plot_panel <- function(panel, limits) {
  data <- panel$data
  levels <- panel$levels
  parts <- split(data, factor(data$class, unique(data$class)))
  old <- graphics::par("mar")
  on.exit(graphics::par(mar = old))
  # A letter is about 0.4 lines wide.
  if (!is.null(levels)) graphics::par(mar = old + c(0.4 * max(nchar(panel_levels(levels))) - 0.6, 0, 0, 0))
  graphics::plot(range(data$at) + if (is.null(levels)) 0 else c(-0.5, 0.5), limits, type = "n",
                 xaxt = "n", xlab = "", ylab = "")
  if (is.null(levels)) effect_axis(range(data$at), panel$time)
  graphics::mtext(short_text(panel$name, floor(graphics::par("fin")[1] * letters_an_inch)), line = 0.2, cex = 0.7)
  graphics::abline(h = 0, lty = 3, col = "grey40")
  for (k in seq_along(parts)) plot_effect(parts[[k]], k, is.null(levels))
  if (!is.null(panel$ticks)) graphics::rug(panel$ticks)
  if (!is.null(levels)) label_levels(panel_levels(levels))
}

effect_axis <- function(ends, time) {
  if (is.null(time)) return(graphics::Axis(ends, side = 1))
  at <- pretty(as_time(ends, time), 3)
  graphics::axis(1, as.numeric(at), time_labels(at))
}

plot_effect <- function(part, k, line) {
  if (!line) {
    graphics::segments(part$at, part$lower, y1 = part$upper, lwd = 2, col = "grey50")
    graphics::points(part$at, part$value, pch = rep_len(plot_symbols, k)[k], cex = 0.9)
    return(invisible())
  }
  inside <- !is.na(part$lower)
  graphics::polygon(c(part$at[inside], rev(part$at[inside])), c(part$lower[inside], rev(part$upper[inside])),
                    col = "grey85", border = NA)
  graphics::lines(part$at, part$value, lty = k)
}

# Of many levels every second, third, ... is named, as there is room.
label_levels <- function(levels) {
  room <- max(1, floor(graphics::par("pin")[1] / (0.8 * graphics::par("cin")[2] * graphics::par("cex"))))
  at <- seq(1L, length(levels), by = ceiling(length(levels) / room))
  graphics::axis(1, at, levels[at], las = 2, cex.axis = 0.8)
}

# Levels are shown shorter than other names, as they stand upright below an axis.
panel_levels <- function(levels) {
  short_text(ifelse(is.na(levels), "NA", as.character(levels)), 10L)
}

max_panels <- 9L # of autoplot(), which does not know the size of its picture
max_ticks <- 10L # levels of a factor that have a name there

# Facets have one kind of axis, so levels and times are numbers beyond all others there, with their names as labels.
autoplot_terms <- function(fit, call) {
  panels <- effect_panels(fit, call)
  shown <- largest_panels(panels, max_panels)
  beyond <- panel_positions(shown)
  all <- do.call(rbind, Map(function(panel, start) {
    cbind(panel$data[-1], at = panel$data$at + start, panel = panel$name, factor = !is.null(panel$levels))
  }, shown, beyond$start))
  all$panel <- factor(all$panel, unique(all$panel))
  ticks <- do.call(rbind, Map(function(panel, start) {
    if (!is.null(panel$ticks)) data.frame(at = panel$ticks + start, panel = factor(panel$name, levels(all$panel)))
  }, shown, beyond$start))
  at <- value <- lower <- upper <- class <- NULL # columns, for codetools
  lines <- all[!all$factor, ]
  points <- all[all$factor, ]
  ggplot2::ggplot(all, ggplot2::aes(at, value)) +
    ggplot2::geom_hline(yintercept = 0, linetype = 3, colour = "grey40") +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = lower, ymax = upper, group = class), lines[!is.na(lines$lower), ],
                         fill = "grey80") +
    ggplot2::geom_line(ggplot2::aes(linetype = class), lines, show.legend = is.matrix(fit$coefficients)) +
    ggplot2::geom_segment(ggplot2::aes(y = lower, yend = upper, xend = at), points[!is.na(points$lower), ],
                          colour = "grey50", linewidth = 0.8) +
    ggplot2::geom_point(ggplot2::aes(shape = class), points, show.legend = is.matrix(fit$coefficients)) +
    (if (!is.null(ticks)) ggplot2::geom_rug(ggplot2::aes(at, NULL), ticks, sides = "b")) +
    ggplot2::scale_shape_manual(values = rep_len(plot_symbols, length(unique(all$class)))) +
    ggplot2::scale_x_continuous(breaks = beyond$breaks, labels = beyond$labels, minor_breaks = NULL) +
    ggplot2::facet_wrap("panel", scales = "free_x", labeller = ggplot2::as_labeller(function(x) short_text(x, 16L))) +
    ggplot2::labs(x = NULL, y = effects_axis(fit), caption = panels_note(length(shown), length(panels))) +
    in_column() + ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 40, hjust = 1))
}

# start: for each panel what is added to its numbers; breaks, labels: functions for the axis. The levels of panel k are
# at `far` (1 + k / 4) + 1, 2, ..., and its times begin there; numbers of others are below far / 2.
panel_positions <- function(panels) {
  plain <- vapply(panels, function(panel) is.null(panel$levels) && is.null(panel$time), NA)
  least <- vapply(panels, function(panel) if (is.null(panel$time)) 0 else min(panel$data$at), 0)
  size <- unlist(Map(function(panel, least) max(abs(panel$data$at - least)), panels, least))
  far <- 2^ceiling(log2(4 * max(size, 1000)))
  start <- ifelse(plain, 0, far * (1 + seq_along(panels) / 4) - least)
  middle <- unlist(Map(function(panel, start) mean(range(panel$data$at)) + start, panels, start))
  panel_of <- function(x) if (x < far / 2) 0L else which.min(ifelse(plain, Inf, abs(x - middle)))
  list(
    start = start,
    breaks = function(limits) {
      k <- panel_of(mean(limits))
      if (k == 0L) return(pretty(limits, 3))
      panel <- panels[[k]]
      at <- start[k] + if (is.null(panel$time)) seq_along(panel$levels) else
        as.numeric(pretty(as_time(limits - start[k], panel$time), 3))
      inside <- at[at >= limits[1] & at <= limits[2]]
      inside[(seq_along(inside) - 1L) %% max(1, ceiling(length(inside) / max_ticks)) == 0]
    },
    labels = function(x) {
      k <- if (all(is.na(x))) 0L else panel_of(mean(x, na.rm = TRUE))
      if (k == 0L) return(replace(format(x, trim = TRUE, drop0trailing = TRUE), is.na(x), NA))
      panel <- panels[[k]]
      at <- x - start[k]
      if (is.null(panel$time)) panel_levels(panel$levels)[at] else time_labels(as_time(at, panel$time))
    }
  )
}

# As short as they can be.
time_labels <- function(x) {
  forms <- c("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")
  rest <- c("-01-01 00:00:00", "-01 00:00:00", " 00:00:00", ":00", "")
  whole <- format(x, "%Y-%m-%d %H:%M:%S")[!is.na(x)]
  format(x, forms[vapply(rest, function(end) all(grepl(paste0(end, "$"), whole)), NA)][1])
}

# ---- smooth terms ----

smooth_tenths <- function(term) smooth_quantiles(term, 1:9 / 10)

smooth_quantiles <- function(term, at) stats::approx(c(0, cumsum(term$mass)), term$breaks, at, ties = "ordered")$y

# The values at the knots between the outer hundredths of the masses, and at their ends.
smooth_curve <- function(x, label) {
  term <- x$design$smooth$terms[[label]]
  ends <- smooth_quantiles(term, c(0.01, 0.99))
  at <- sort(unique(c(ends, term$knots[term$knots > ends[1] & term$knots < ends[2]])))
  values <- apply(smooth_values(x, label), 2L, function(values) smooth_column(at, term$knots, values))
  cbind(at, values)
}

product_grid <- 40L # points of an image, on each axis

plot_product <- function(x, label) {
  design <- x$design
  product <- design$smooth$products[[label]]
  terms <- design$smooth$terms[product$two]
  at <- lapply(terms, function(term) seq(term$knots[1], max(term$knots), length.out = product_grid))
  columns <- names(design$term)[design$term == label]
  grid <- expand.grid(at)
  value <- lapply(columns, function(name) {
    e <- design$predictors[[name]]
    part <- function(e, x) smooth_column(x, e[[3]], e[[4]], e[[5]])
    x$coefficients[[name]] * part(e[[2]], grid[[1]]) * part(e[[3]], grid[[2]])
  })
  z <- matrix(Reduce(`+`, value), product_grid)
  text <- vapply(terms, function(term) expression_text(without_gaps(term$x)), "")
  graphics::image(at[[1]], at[[2]], z, col = grDevices::grey.colors(32), xlab = "", ylab = "")
  graphics::mtext(paste0(text[2], " (upright) and ", text[1]), line = 0.2, cex = 0.7)
  graphics::contour(at[[1]], at[[2]], z, add = TRUE)
}

# The columns of the design that belong to smooths and their products.
smooth_columns <- function(design) {
  terms <- c(design$term[names(design$smooth$terms)], names(design$smooth$products))
  names(design$term)[design$term %in% terms]
}

# What pictures have in common. They are made for one column of a page (9 cm) and for grey prints: symbols and line
# types differ, and the legend is beside the panel.

plot_symbols <- c(19, 1, 17, 2, 15, 0, 18, 5, 3, 4)

# Above the plot, where it hides nothing.
legend_above <- function(title, keys, ...) {
  graphics::legend("bottomleft", keys, title = title, title.adj = 0, inset = c(0, 1), xpd = TRUE, bty = "n", cex = 0.8,
                   ...)
}

# What the linear predictor is.
predictor_text <- function(fit) {
  response <- fit$response
  switch(fit_link(fit)$name,
    logit = if (length(response$labels) == 2L) paste("the log-odds of", short_text(response$labels[2])) else
      "the linear predictor",
    log = "the log of the mean",
    if (response$kind == "bounded") short_text(response$name) else "the linear predictor"
  )
}

# Names of columns often differ in their ends only.
short_text <- function(x, most = 26L) {
  n <- nchar(x)
  end <- most %/% 2L - 1L
  ifelse(n > most, paste0(substr(x, 1L, most - 2L - end), "..", substr(x, n - end + 1L, n)), x)
}

# Text of base graphics is smaller where a picture is small.
text_size <- function() min(graphics::par("cex"), max(0.6, min(graphics::par("din") / 6)))

# ---- with ggplot2, which is an optional package ----

in_column <- function() {
  ggplot2::theme(legend.position = "bottom", legend.title = ggplot2::element_blank(),
                 legend.key.height = ggplot2::unit(0.8, "lines"), legend.key.width = ggplot2::unit(1, "lines"),
                 legend.margin = ggplot2::margin(), legend.spacing.x = ggplot2::unit(2, "pt"),
                 text = ggplot2::element_text(size = 9), legend.text = ggplot2::element_text(size = 6.5))
}

# The legend has one key per entry, in two columns.
key_rows <- function() ggplot2::guide_legend(ncol = 2L)
