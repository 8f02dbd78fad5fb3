# Does dp_audit() contradict the package's claims? Runs many audits of fits with small n, and audits of single gradients
# whose distribution is known, which show that the audit can detect something. Prints a table and writes it to
# dev/audit.md.
#   Rscript dev/audit.R [LIBRARY [REPETITIONS]]
# Ends with "N passed, N failed": a row passes if each repetition, and all repetitions pooled, give the expected result.

args <- commandArgs(TRUE)
library(dpsosp, lib.loc = if (length(args) > 0) args[1])
for (helper in c("problems", "audit")) source(paste0("tests/testthat/helper-", helper, ".R"))

repetitions <- if (length(args) > 1) as.integer(args[2]) else 20L
eps <- 4
delta <- 1e-5
# A bound fails with probability 0.001, so 100 bounds all hold with probability at least 0.9, whatever the mechanism is.
conf <- 0.999
n <- 20
runs <- c(fit = 100, batches = 200, minimiser = 500, gradient = 2000, evaluation = 1000, tune = 10, own_row = 40)

main <- function() {
  rows <- c(lapply(c("2opt-ls", "opt", "tr", "newton", "newton-ridge", "warm-ridge", "objpert"), audit_method), list(
    audit_batches("opt-b"), audit_batches("tr-b"), audit_batches("blsgd", "logistic"), audit_fresh(),
    audit_network(), audit_minimiser(), audit_output(), audit_certificate(), audit_persons(), audit_intervals(),
    audit_damped(), audit_residuals(), audit_class_intervals(),
    audit_classes("newton", radius = 1, intercept = FALSE, control = control_newton("moment", iterations = 2)),
    audit_classes("newton-ridge", radius = 2, geometry = geometry_public(0, 1),
                  control = control_newton_ridge(iterations = 2)),
    audit_levels("squared error", loss_squared(c(-1, 1)), c(-1, 1)),
    audit_levels("counts", loss_poisson(max = 4), c(0, 4)),
    audit_masses(), audit_scores(), audit_table(),
    audit_tune("split"), audit_tune("poisson"),
    audit_pushed("one gradient, summed by a database", "sigmoid"),
    audit_pushed("one gradient of a weighted row, summed by a database", "logistic", long_rows),
    audit_own_row(),
    audit_release("one gradient", "replace-one", function(a) !a$exceeds && a$bound > 0.3 * eps),
    audit_release("one improvement", "replace-one", function(a) !a$exceeds && a$bound > 0.3 * eps, "logistic",
                  one_improvement),
    audit_release("one gradient, half the noise it needs", "zero-out", function(a) a$exceeds)
  ))
  write_page(rows)
  passed <- vapply(rows, function(row) row$kept == repetitions && row$kept_together, NA)
  cat(sum(passed), " passed, ", sum(!passed), " failed\n", sep = "")
  quit(status = if (all(passed)) 0 else 1)
}

# Few iterations, so that each release has little noise, and a target out of reach, so that a run spends its budget.
# Each repetition makes a fit of its own on other data.
audit_method <- function(method) {
  control <- switch(method, tr = control_tr(max_iterations = 10), newton = control_newton(iterations = 5),
                    `newton-ridge` = control_newton_ridge(iterations = 5),
                    `warm-ridge` = control_warm_ridge(iterations = 5, own_share = 0.5), objpert = NULL,
                    control_opt(max_iterations = 10))
  loss <- if (method %in% c("newton", "newton-ridge", "objpert")) "logistic" else "sigmoid"
  repeat_audit(paste0("`", method, "`, ", loss, " loss"), "at most eps", runs[["fit"]], function() {
    x <- matrix(stats::runif(2 * n, -1, 1), n)
    fit <- dp_sosp(x, sample(c(-1, 1), n, TRUE), eps, delta, method, loss, radius = 2, control = control,
                   target = sosp(0.01, 0.1), progress = FALSE)
    dp_audit(fit, runs = runs[["fit"]], conf = conf, progress = FALSE)
  }, function(a) !a$exceeds)
}

# Steps on batches, with one record present or null.
audit_batches <- function(method, loss = "sigmoid") {
  release <- batch_release(method, eps, delta, 1.5, loss = loss)
  repeat_audit(paste0("`", method, "`, its steps on batches"), "at most eps", runs[["batches"]], function() {
    dp_audit(release, list(NA, 1), eps, delta, runs = runs[["batches"]], conf = conf, progress = FALSE)
  }, function(a) !a$exceeds)
}

# A network's steps on batches, with one record present or null: the score is how far the weights move in the direction
# of a fit with almost no noise.
audit_network <- function() {
  x <- matrix(c(1, rep(0, n - 1)), n)
  plan <- event_repeat(event_subsample(event_gaussian(1, "zero-out"), 0.5), 4)
  fit <- function(label, eps) {
    dp_sosp(x, factor(c(label, rep(NA, n - 1)), levels = c("a", "b")), model = model_mlp(2), bounds = c(-1, 1),
            neighbours = "zero-out", budget = dp_budget(eps = eps, delta = delta, plan = plan), progress = FALSE,
            control = control_network(epochs = 2, batch = n / 2, momentum = 0, step = 0.1))$weights
  }
  start <- fit(NA, 1e4)
  along <- fit("b", 1e4) - start
  repeat_audit("`sgd` on a network, its steps on batches", "at most eps", runs[["fit"]], function() {
    dp_audit(function(label) sum((fit(label, eps) - start) * along), list(NA, "b"), eps, delta, runs = runs[["fit"]],
             conf = conf, progress = FALSE)
  }, function(a) !a$exceeds)
}

# A fit that uses each record once. Most records are for its last gradient, as its norm is all that the fit shows of it.
# One record is present or null, the others are null.
audit_fresh <- function() {
  release <- function(label) {
    fit <- suppressWarnings(dp_sosp(matrix(1, n, 1), c(label, rep(NA, n - 1)), eps, delta, "spider", "sigmoid",
                                    radius = 1, intercept = FALSE, neighbours = "zero-out", progress = FALSE,
                                    control = control_spider(certificate_share = 0.9)))
    fit$certificate$gradient[["estimate"]]
  }
  repeat_pair("`spider`, fresh records", "at most eps", release, list(NA, 1))
}

# A record that contradicts the others, so that its derivative is near the Lipschitz constant, against a null record.
audit_minimiser <- function() {
  release <- function(label) {
    fit <- dp_sosp(matrix(1, n, 1), c(label, rep(-1, n - 1)), eps, delta, "objpert", "logistic", radius = 1,
                   intercept = FALSE, neighbours = "zero-out", progress = FALSE)
    coef(fit)[[1]]
  }
  repeat_pair("one perturbed minimiser", "at most eps", release, list(NA, 1))
}

# A record of either class, with a ridge that keeps the minimiser short.
audit_output <- function() {
  release <- function(label) {
    labels <- c(label, rep(c(-1, 1), length.out = n - 1))
    fit <- suppressWarnings(dp_sosp(matrix(1, n, 1), labels, eps, delta, "outpert", "logistic", radius = 1,
                                    intercept = FALSE, progress = FALSE, penalty = penalty_ridge(4),
                                    control = control_perturbation(lambda = 0)))
    coef(fit)[[1]]
  }
  repeat_pair("`outpert`, logistic loss", "at most eps", release, list(-1, 1))
}

# A gradient on fresh records at a point near zero, by its norm: the other records keep it away from zero.
audit_certificate <- function() {
  of_labels <- function(y) data.frame(x = 1, y = factor(ifelse(y > 0, "b", "a"), levels = c("a", "b")))
  fit <- suppressWarnings(dp_sosp(y ~ 0 + x, of_labels(rep(c(-1, 1), 500)), 100, delta, "newton", progress = FALSE,
                                  bounds = list(x = c(-1, 1)), geometry = "none"))
  release <- function(label) {
    dp_certify(fit, of_labels(c(label, rep(1, n - 1))), eps, delta)$gradient[["estimate"]]
  }
  repeat_pair("`dp_certify()`, the gradient", "at most eps", release, list(-1, 1))
}

# A person with 20 records against one with a single record that contradicts them. Slopes of the loss are one near zero,
# where the penalty keeps the minimiser.
audit_persons <- function() {
  release <- function(records) {
    label <- if (records > 1) 1 else -1
    labels <- c(rep(label, records), rep(c(-1, 1), length.out = n - 1))
    fit <- suppressWarnings(dp_sosp(matrix(1, length(labels), 1), labels, eps, delta, "outpert", "huber_svm",
                                    radius = 1, intercept = FALSE, progress = FALSE, penalty = penalty_ridge(1),
                                    control = control_perturbation(lambda = 0),
                                    id = c(rep(1, records), seq_len(n)[-1])))
    coef(fit)[[1]]
  }
  what <- "`outpert`, a person with 1 record or with 20"
  repeat_pair(what, "at most eps, all above 0.1 eps", release, list(1, 20),
              kept = function(a) !a$exceeds && a$bound > 0.1 * eps)
}

# The masses that give smooths their knots, of a record on either side of a break. Half of the others are in each cell.
audit_masses <- function() {
  range <- cbind(lower = 0, upper = 48)
  rownames(range) <- "x"
  release <- function(x) {
    budget <- dp_budget(eps = eps, delta = delta)
    columns <- list(x = c(x, rep(c(0.5, 1.5), length.out = n - 1)))
    found <- dpsosp:::private_ranges(columns, budget, dpsosp:::budget_state(budget)$left, "replace-one", FALSE,
                                     known = range)
    -diff(attr(found, "cells")$x$mass[1:2])
  }
  repeat_pair("masses of a smooth, at a break", "at most eps, and above 0.2 eps", release, list(1 - 1e-12, 1),
              runs[["gradient"]], kept = function(a) !a$exceeds && a$bound > 0.2 * eps)
}

# A record's contribution to the gradient, the Hessian and the gradient products for intervals, compared with their
# noise; all other records are null.
audit_intervals <- function() {
  x <- matrix(1, n, 1)
  release <- function(label) {
    fit <- suppressWarnings(dp_sosp(x, c(label, rep(NA, n - 1)), eps, delta, "newton", "logistic", radius = 1,
                                    intercept = FALSE, control = control_newton(iterations = 5), inference = "sandwich",
                                    neighbours = "zero-out", progress = FALSE), "dpsosp_warning")
    released <- fit$inference$released
    slope <- stats::plogis(-released$point)
    answers <- released[c("gradient", "hessian", "products")]
    change <- c(-slope, slope * (1 - slope), slope^2)
    sum(change * unlist(answers) / vapply(answers, attr, 0, "sd")^2)
  }
  repeat_pair("what intervals rest on", "at most eps", release, list(NA, 1))
}

# The same in the coordinates of a geometry, where the record's row is eight times as long as the length from which on
# it weighs less, and its slope is clipped.
audit_damped <- function() {
  x <- matrix(1, n, 1)
  release <- function(label) {
    fit <- suppressWarnings(dp_sosp(x, c(label, rep(NA, n - 1)), eps, delta, "newton-ridge", "logistic", radius = 1,
                                    intercept = FALSE, geometry = geometry_public(0, 0.1), inference = "sandwich",
                                    control = control_newton_ridge(iterations = 2), neighbours = "zero-out",
                                    progress = FALSE), "dpsosp_warning")
    released <- fit$inference$released
    row <- fit$geometry$scale
    slope <- stats::plogis(-row * released$point)
    gradient <- min(slope * row, released$longest)
    weight <- min(1, (released$longest / row)^2)
    answers <- released[c("gradient", "hessian", "products")]
    change <- c(-gradient, weight * slope * (1 - slope) * row^2, gradient^2)
    sum(change * unlist(answers) / vapply(answers, attr, 0, "sd")^2)
  }
  repeat_pair("what intervals in a geometry rest on", "at most eps", release, list(NA, 1))
}

# The same of a fit by squared error, whose record has a large residual.
audit_residuals <- function() {
  x <- matrix(0.5, n, 1)
  release <- function(label) {
    fit <- suppressWarnings(suppressMessages(dp_sosp(
      x, as.numeric(c(label, rep(NA, n - 1))), eps, delta, "newton-ridge", loss_squared(c(-1, 1)), radius = 2,
      geometry = geometry_public(0, 0.5), control = control_newton_ridge(iterations = 4), inference = "sandwich",
      neighbours = "zero-out", progress = FALSE
    )), "dpsosp_warning")
    released <- fit$inference$released
    row <- c(fit$geometry$constant, fit$level$factor * fit$geometry$scale * 0.25)
    length <- sqrt(sum(row^2))
    most <- released$clip / length # the clip is one of |z r|
    residual <- max(-most, min(sum(row * released$point) - 1, most))
    change <- c(residual * row, min(1, (released$longest / length)^2) * row %o% row, residual^2 * row %o% row)
    answers <- released[c("gradient", "hessian", "products")]
    sum(change * unlist(answers) / rep(vapply(answers, attr, 0, "sd")^2, lengths(answers)))
  }
  repeat_pair("what intervals of residuals rest on", "at most eps", release, list(NA, 1))
}

# The same of three classes.
audit_class_intervals <- function() {
  x <- matrix(0.5, n, 1)
  release <- function(label) {
    y <- factor(c(label, rep(NA, n - 1)), levels = c("a", "b", "c"))
    fit <- suppressWarnings(suppressMessages(dp_sosp(
      x, y, eps, delta, "newton-ridge", radius = 2, geometry = geometry_public(0, 0.5), inference = "sandwich",
      control = control_newton_ridge(iterations = 2), neighbours = "zero-out", progress = FALSE
    )), "dpsosp_warning")
    released <- fit$inference$released
    row <- c(fit$geometry$constant, fit$geometry$scale * 0.25)
    length <- sqrt(sum(row^2))
    t <- drop(row %*% matrix(released$point, 2))
    p <- exp(t - max(t)) / sum(exp(t - max(t)))
    slope <- p - c(1, 0, 0)
    slope <- slope * min(1, sqrt(2) * released$longest / length / sqrt(sum(slope^2)))
    gradient <- as.vector(row %o% slope)
    weight <- min(1, (released$longest / length)^2)
    change <- c(gradient, weight * kronecker(diag(p) - p %o% p, row %o% row), gradient %o% gradient)
    answers <- released[c("gradient", "hessian", "products")]
    sum(change * unlist(answers) / rep(vapply(answers, attr, 0, "sd")^2, lengths(answers)))
  }
  repeat_pair("what intervals of classes rest on", "at most eps", release, list(NA, "a"))
}

# Three classes: a record with a large effect, against a null record; all others are null. The record moves each step of
# a fit, and with `newton-ridge` its start, too, towards its class.
audit_classes <- function(method, ...) {
  x <- matrix(1, n, 1)
  release <- function(label) {
    y <- factor(c(label, rep(NA, n - 1)), levels = c("a", "b", "c"))
    fit <- suppressWarnings(dp_sosp(x, y, eps, delta, method, neighbours = "zero-out", progress = FALSE, ...))
    coef(fit)[[1]]
  }
  repeat_pair(paste0("`", method, "`, multinomial loss"), "at most eps", release, list(NA, "a"))
}

# The largest response against the smallest, which all others have. It moves the level, with which a fit begins, every
# step, and the recalibration.
audit_levels <- function(what, loss, ends) {
  x <- matrix(c(1, rep(-1, n - 1)), n)
  release <- function(value) {
    fit <- suppressWarnings(dp_sosp(x, c(value, rep(ends[1], n - 1)), eps, delta, "newton-ridge", loss, radius = 2,
                                    progress = FALSE, geometry = geometry_public(0, 1),
                                    control = control_newton_ridge(iterations = 4)))
    sum(coef(fit)) + fit$level$start
  }
  repeat_pair(paste0("`newton-ridge`, ", what), "at most eps", release, as.list(ends))
}

# The same gradient where a database computes the sum: two tables that differ in one record, all others null.
# long_rows: rows of length three, whose slopes and weights are bounded by half of their norm.
long_rows <- list(scale = 3, centre = 0, prior = 1, spread = 1, constant = 1, radius = 1, intercept = FALSE,
                  weighted = TRUE, damped = FALSE, cap = 1, bound = 0.5, tilt = 0, shortest = 0.75, end = NaN)

audit_pushed <- function(what, loss, geometry = NULL) {
  mu <- dp_convert(eps = eps, delta = delta, to = "mu")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(connection))
  labels <- c("no", "yes")
  sources <- lapply(stats::setNames(nm = labels), function(label) {
    DBI::dbWriteTable(connection, label, data.frame(a = 1, y = c(label, rep(NA, n - 1))))
    dp_source(connection, label, levels = list(y = labels), push = TRUE)
  })
  release <- function(label) {
    problem <- dpsosp:::problem_source(y ~ a - 1, sources[[label]], loss, list(a = c(-1, 1)), 1, NULL, NULL)
    oracle <- dpsosp:::new_oracle(problem$records(problem), problem$loss, dp_budget(mu = mu * (1 + 1e-9)), 1, FALSE,
                                  "replace-one", "secure")
    if (!is.null(geometry)) dpsosp:::move_oracle(oracle, geometry)
    as.vector(dp_gradient(oracle, 0, mu = mu))
  }
  repeat_pair(what, "at most eps, all above 0.1 eps", release, as.list(labels), least = 0.1 * eps)
}

# Does one record's missing value change other rows? At this eps the slope of the other records jumps with the last bit
# of a column of ns() at their value. If the record changed this bit in thousands of rows, as products by some BLAS
# would (the Makefile asks OpenBLAS for such products), the first gradient would show it: the bound would be above 10.
audit_own_row <- function() {
  others <- rep(c(7.2348425539860832, 1), 10000)
  y <- factor(c("no", rep(c("yes", "no"), 10000)))
  release <- function(first) {
    fit <- suppressWarnings(dp_sosp(
      y ~ splines::ns(z, knots = c(2, 5), Boundary.knots = c(0, 10)), data.frame(z = c(first, others), y = y), 1,
      1e-6, "newton-ridge", geometry = geometry_public(mean = c(.3, .1, -.1), sd = rep(.5, 3)),
      start = c(-3, 0, 0, 0), control = control_newton_ridge(iterations = 1), progress = FALSE
    ), "dpsosp_warning")
    fit$trace$estimate[fit$trace$query == "gradient"][1]
  }
  repeat_pair("rows beside a missing value, splines", "at most eps", release, list(NA, 5), runs[["own_row"]])
}

# The whole budget for one release, by default the gradient at zero, with a record and with its opposite, the others
# null: the largest change under "replace-one", and twice the largest under "zero-out", which has half the noise.
audit_release <- function(what, neighbours, expected, loss = "sigmoid",
                          ask = function(oracle, mu) as.vector(dp_gradient(oracle, 0, mu = mu))) {
  mu <- dp_convert(eps = eps, delta = delta, to = "mu")
  x <- matrix(1, n, 1)
  release <- function(label) {
    ask(dp_oracle(x, c(label, rep(NA, n - 1)), loss, dp_budget(mu = mu * (1 + 1e-9)), 1, FALSE, neighbours), mu)
  }
  wanted <- if (neighbours == "zero-out") "above eps" else "above 0.3 eps, at most eps"
  repeat_pair(what, wanted, release, list(-1, 1), runs[["gradient"]], kept = expected)
}

# From one point to another: the decreases of both labels are beyond the ends.
one_improvement <- function(oracle, mu) {
  .Call(dpsosp:::ffi_oracle_improvement, oracle$pointer, 0, 2, c(0.1, 0.3), 0, mu^2 / 2, FALSE)$value
}

# Held-out records that are all null but one, whose prediction is certain and either right or wrong.
audit_evaluation <- function(what, metrics, statistic) {
  x <- matrix(c(1, rep(NA, n - 1)), n)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    matrix(1, n, 1), rep(c(-1, 1), n / 2), eps, delta, "newton", "logistic", radius = 20, intercept = FALSE,
    progress = FALSE
  )))
  fit$coefficients[] <- 20
  release <- function(label) {
    statistic(dp_evaluate(fit, x, eps, delta, y = c(label, rep(NA, n - 1)), metrics = metrics))
  }
  repeat_pair(what, "at most eps, all above 0.1 eps", release, list(-1, 1), runs[["evaluation"]], least = 0.1 * eps)
}

# Sums the three means with equal weights.
audit_scores <- function() {
  audit_evaluation("`dp_evaluate()`, means", c("log_loss", "brier", "accuracy"),
                   function(e) sum(c(-1, -1, 1) * e$estimates$estimate / c(log(99), 1, 1)))
}

audit_table <- function() {
  audit_evaluation("`dp_evaluate()`, table", "table", function(e) e$table$modelled[20] - e$table$other[20])
}

# Held-out records that are all null but one, for which the candidates predict opposite classes: in the training data
# the columns agree, in this record they do not. The statistic is the chosen candidate plus a random number to break
# ties, as an audit takes equal values for a fixed seed.
audit_tune <- function(strategy) {
  candidate <- function(column) {
    list(formula = stats::reformulate(column, "y"), method = "newton", bounds = stats::setNames(list(c(-1, 1)), column))
  }
  candidates <- list(right = candidate("a"), wrong = candidate("b"))
  sign <- rep(c(-1, 1), 50)
  data <- data.frame(y = sign > 0, a = sign, b = sign)
  data[seq(5, 100, 5), ] <- NA
  release <- function(label) {
    data[5, ] <- list(label, 1, -1)
    dp_tune(candidates, y ~ a, data, eps, delta, "accuracy", strategy = strategy)$chosen == "right"
  }
  repeat_audit(paste0("`dp_tune()`, ", strategy), "at most eps", runs[["tune"]], function() {
    dp_audit(function(label) release(label) + stats::runif(1) / 2, list(FALSE, TRUE), eps, delta, runs = runs[["tune"]],
             conf = conf, progress = FALSE)
  }, function(a) !a$exceeds)
}

# release: a function of either element of a pair; its number is that of a Gaussian mechanism.
repeat_pair <- function(what, wanted, release, pair, times = runs[["minimiser"]], kept = function(a) !a$exceeds, ...) {
  repeat_audit(what, wanted, times, function() {
    dp_audit(release, pair, eps, delta, runs = times, tradeoff = "gdp", conf = conf, progress = FALSE)
  }, kept, ...)
}

# least: the value that the pooled bound must exceed.
repeat_audit <- function(what, wanted, runs, audit, expected, least = -Inf) {
  used <- system.time(audits <- lapply(seq_len(repetitions), function(i) audit()))
  bounds <- vapply(audits, `[[`, 0, "bound")
  together <- bound_together(audits)
  kept_together <- expected(list(bound = together, exceeds = together > eps)) && together > least
  row <- list(what = what, wanted = wanted, runs = runs, kept = sum(vapply(audits, expected, NA)), bounds = bounds,
              together = together, kept_together = kept_together,
              seconds = used[["user.self"]] + used[["sys.self"]])
  cat(format_row(row), "\n", sep = "")
  row
}

# The audits of a row are for one mechanism and one pair, as a fit is audited on data made from public facts. Each
# threshold is independent of the runs that test it. Mean error rates satisfy the trade-off that each pair of rates
# satisfies, as it is convex or linear. Clopper-Pearson bounds hold for successes with unequal probabilities, too
# (Hoeffding 1956, theorem 4).
bound_together <- function(audits) {
  counts <- rowSums(vapply(audits, function(a) unlist(a$counts), numeric(3)))
  claim <- list(delta = delta, tradeoff = audits[[1]]$tradeoff)
  bound <- dpsosp:::audit_bound(counts[["false_positives"]], counts[["false_negatives"]], counts[["runs"]], claim,
                                1 - conf)
  if (claim$tradeoff == "gdp") dpsosp:::gdp_epsilon(bound, delta) else max(0, bound)
}

# Bounds are rounded down, as a bound must not grow by being printed.
format_row <- function(row) {
  bounds <- c(min(row$bounds), stats::median(row$bounds), max(row$bounds), row$together)
  shown <- formatC(floor(100 * bounds) / 100, 2, format = "f")
  sprintf("| %s | 2 x %d | %s | %s | %s | %d of %d | %.0f |", row$what, row$runs, row$wanted,
          paste(shown[1:3], collapse = " / "), shown[4], row$kept, repetitions, row$seconds)
}

write_page <- function(rows) {
  writeLines(c(
    "# Audits", "",
    "Written by `make audit` (`dev/audit.R`), which fails when a repetition, or all as one, does not keep its row.", "",
    sprintf(paste("Claim: eps = %g, delta = %g, secure noise; n = %d, \"replace-one\" and Gaussian accounting but for",
                  "the steps on"), eps, delta, n),
    "batches, which have n = 80, \"zero-out\" and Renyi accounting, and are audited against (eps, delta) itself.",
    sprintf("%d repetitions, each with a bound of confidence %g.", repetitions, conf),
    sprintf("%s, dpsosp %s.", R.version.string, utils::packageVersion("dpsosp")), "",
    "| mechanism | runs | bound on eps, wanted | least / median / largest | all as one | kept | s |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    vapply(rows, format_row, ""), "",
    "\"All as one\": the bound from the runs of all repetitions together. A fit spreads its budget over several",
    "answers, and the audit looks at one projection of the coefficients: with so few runs its bound is far from the",
    "claim, and only a gross mistake would show. The two rows of one gradient say what the audit can see: much of a",
    "sound release's eps, and noise that is too small by half.",
    sprintf("All took %.0f s of one core.", sum(vapply(rows, `[[`, 0, "seconds")))
  ), "dev/audit.md")
}

main()
