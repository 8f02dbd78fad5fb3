# The evaluation: what was released about held-out records, and what follows from it.

# Metrics that follow from several means. Of these the first is a metric itself.
means_of <- list(r_squared = c("squared_error", "response", "response_square"),
                 deviance_explained = c("deviance", "level_deviance"))

# claim: after release_evaluation(). No other part of it is kept.
new_evaluation <- function(claim) {
  table <- if (!is.null(claim$table)) read_table(claim$table, claim$cells)
  structure(class = "dp_evaluation", list(
    estimates = new_estimates(claim, table), mean_sd = claim$mean_sd,
    table = table, table_sd = claim$table$sd,
    confusion = if (!is.null(table)) confusion(table, claim$labels),
    confusion_se = if (!is.null(table)) claim$table$sd * sqrt(claim$cells / 2),
    n = claim$n, persons = claim$persons["most"], clip = claim$clip, labels = claim$labels, privacy = new_privacy(claim)
  ))
}

new_estimates <- function(claim, table) {
  estimates <- claim$means
  if (!is.null(estimates)) {
    estimates$sampling <- vapply(estimates$metric, sampling_error, 0, estimates = estimates, table = table,
                                 clip = claim$clip, n = claim$n, USE.NAMES = FALSE)
  }
  rbind(if (!is.null(estimates)) with_explained(estimates), if (!is.null(table)) table_auc(table, claim$table$sd))
}

with_explained <- function(estimates) {
  for (metric in names(means_of)) {
    parts <- estimates[match(means_of[[metric]], estimates$metric), ]
    if (!anyNA(parts$metric)) {
      estimates <- rbind(estimates[!estimates$metric %in% parts$metric[-1], ], explained(metric, parts))
    }
  }
  estimates
}

# 1 - e / v for the released means e, of the error, and v, of that of the constant prediction: for R squared q - m^2,
# with m and q the means of the response and of its square.
explained <- function(metric, parts) {
  e <- parts$estimate[1]
  m <- parts$estimate[2]
  squared <- nrow(parts) == 3L
  v <- if (squared) parts$estimate[3] - m^2 else m
  slopes <- if (squared) c(-2 * m, 1) else 1 # of v
  shown <- v > cell_threshold * sqrt(sum((parts$se[-1] * slopes)^2))
  se <- sqrt(sum((parts$se * c(-1 / v, slopes * e / v^2))^2))
  data.frame(metric = metric, estimate = if (shown) 1 - e / v else NA_real_, se = if (shown) se else NA_real_,
             sampling = NA_real_)
}

# ---- the table ----

# Codes of the table. For the other response they are the cells of the predictor; the cells of the modelled response
# follow. An edge belongs to the cell below it, as a predictor of zero belongs to the class of negative ones.
table_edges <- function(cells) (seq_len(cells - 1L) - cells / 2) * 8 / max(cells - 2, 1)

table_codes <- function(records, cells) {
  cell <- findInterval(records$link, table_edges(cells), left.open = TRUE) + 1
  as.double(cell + cells * (records$y > 0))
}

# The fraction of a cell is shown if its count exceeds this many standard deviations of the noise.
cell_threshold <- 4

read_table <- function(counts, cells) {
  ends <- stats::plogis(c(-Inf, table_edges(cells), Inf))
  table <- data.frame(lower = ends[-length(ends)], upper = ends[-1], other = counts$other, modelled = counts$modelled)
  total <- table$other + table$modelled
  shown <- total > cell_threshold * sqrt(2) * counts$sd
  fraction <- pmin(pmax(table$modelled / total, 0), 1)
  table$fraction <- ifelse(shown, fraction, NA)
  table$se <- ifelse(shown, counts$sd * sqrt(fraction^2 + (1 - fraction)^2) / total, NA)
  table
}

# Predictions at the centres of the cells, in log-odds. For the first and last cell, half a cell beyond their edge.
cell_predictions <- function(cells) {
  edges <- table_edges(cells)
  half <- 4 / max(cells - 2, 1)
  stats::plogis(c(edges[1] - half, edges + half))
}

confusion <- function(table, labels) {
  positive <- table$lower >= 0.5
  counts <- rbind(table$other, table$modelled)
  matrix(c(rowSums(counts[, !positive, drop = FALSE]), rowSums(counts[, positive, drop = FALSE])), 2L,
         dimnames = list(response = labels, predicted = labels))
}

# The area under the ROC curve, where pairs in the same cell count one half: U / (A B), with U bilinear in the counts a
# and b. Its error is that of U, A and B to first order, plus the products of noise in U.
table_auc <- function(table, sd) {
  a <- table$modelled
  b <- table$other
  most <- c(sum(a), sum(b))
  estimate <- se <- sampling <- NA_real_
  if (min(most) > cell_threshold * sd * sqrt(nrow(table))) {
    below <- (cumsum(b) - b / 2) / most[2]
    above <- (rev(cumsum(rev(a))) - a / 2) / most[1]
    estimate <- sum(a * below) / most[1]
    slopes <- c((below - estimate) / most[1], (above - estimate) / most[2])
    products <- sd^2 * sqrt(nrow(table) * (nrow(table) - 0.5) / 2) / prod(most)
    se <- sqrt(sum((sd * slopes)^2) + products^2)
    sampling <- hanley_mcneil(min(max(estimate, 0), 1), most)
  }
  data.frame(metric = "auc", estimate = estimate, se = se, sampling = sampling)
}

# Hanley and McNeil (1982), equation (1).
hanley_mcneil <- function(area, counts) {
  q1 <- area / (2 - area)
  q2 <- 2 * area^2 / (1 + area)
  sqrt((area * (1 - area) + (counts[1] - 1) * (q1 - area^2) + (counts[2] - 1) * (q2 - area^2)) / prod(counts))
}

# ---- sampling ----

# Standard deviation of a metric over samples of records, from released numbers: for accuracy from itself, for the
# absolute error from both metrics of a numeric response, for log-loss and Brier score from the table.
sampling_error <- function(metric, estimates, table, clip, n) {
  value <- stats::setNames(estimates$estimate, estimates$metric)
  variance <- switch(metric,
    accuracy = value[["accuracy"]] * (1 - value[["accuracy"]]),
    absolute_error = if ("squared_error" %in% names(value)) value[["squared_error"]] - value[["absolute_error"]]^2,
    log_loss = table_variance(table, function(p) -log(pmin(pmax(p, clip), 1 - clip))),
    brier = table_variance(table, function(p) (1 - p)^2)
  )
  # Below zero, as of an accuracy above one, the noise leaves nothing to say.
  if (is.null(variance) || is.na(variance) || variance < 0) NA_real_ else sqrt(variance / n)
}

# loss: a function of the predicted probability of the observed response.
table_variance <- function(table, loss) {
  if (is.null(table)) return(NULL)
  p <- cell_predictions(nrow(table))
  weights <- c(table$modelled, table$other)
  values <- loss(c(p, 1 - p))
  mean <- sum(weights * values) / sum(weights)
  sum(weights * (values - mean)^2) / sum(weights)
}

# The methods of a curve: names, and functions of the caller.

as_methods <- function(methods) if (is.function(methods)) list(own = methods) else as.list(methods)

method_labels <- function(methods, call) {
  methods <- as_methods(methods)
  own <- vapply(methods, is.function, NA)
  labels <- names(methods) %||% character(length(methods))
  named <- vapply(methods[!own], function(method) if (is_label(method)) method else NA_character_, "")
  labels[!own] <- named
  if (length(labels) == 0L || anyNA(labels) || !all(nzchar(labels)) || anyDuplicated(labels) > 0L) {
    abort("argument", "`methods` must be different names, or a list of names and of functions with names, not ",
          describe(methods), ".", call = call)
  }
  check_choices(named, c("auto", method_names()), "methods", call)
  if (any(labels[own] %in% c("auto", method_names()))) {
    abort("argument", "A function in `methods` must have a name that no method has.", call = call)
  }
  labels
}

is_label <- function(x) is.character(x) && length(x) == 1L

own_methods <- function(methods, public, persons, call) {
  own <- Filter(is.function, as_methods(methods))
  if (length(own) > 0L && !is.null(persons)) {
    abort("argument", "Functions in `methods` do not go with `id`: `dp_oracle()` has no persons.", call = call)
  }
  if (length(own) == 0L || public) return(own)
  abort("argument", "Functions in `methods` are for public data: on private data give your algorithm an oracle, ",
        "`dp_oracle()`, once.", call = call)
}

# What an evaluation needs of the fit by a function of the caller.
own_fit <- function(curve, method, eps) {
  given <- curve$settings
  oracle <- as_curve_error(curve, "", dp_oracle(
    curve$formula, curve$train, given$loss, dp_budget(eps = eps, delta = curve$delta), given$radius,
    neighbours = given$neighbours %||% "replace-one", noise = curve$noise, bounds = given$bounds
  ))
  coefficients <- as_curve_error(curve, paste0("The function \"", method, "\" in `methods` failed: "),
                                 stats::coef(oracle, curve$own[[method]](oracle)))
  structure(class = "dp_sosp", list(
    coefficients = coefficients, design = oracle$problem$design, response = oracle$problem$response,
    loss = oracle$loss, method = method
  ))
}

# Errors show the call of the curve, the only one that the caller wrote; their classes stay.
as_curve_error <- function(curve, before, code) {
  tryCatch(code, error = function(e) {
    classes <- grep("^dpsosp_", class(e), value = TRUE)
    abort("argument", before, conditionMessage(e), call = curve$call, class = classes)
  })
}
