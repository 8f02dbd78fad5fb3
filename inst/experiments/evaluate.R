# How accurate are private evaluations, and does a private choice among settings help?
#   Rscript evaluate.R RESULTS.csv         errors of dp_evaluate() on records of a known model
#   Rscript evaluate.R --tune RESULTS.csv  held-out log-loss of the choice of dp_tune(), on covertype
# Errors are relative to the records themselves, and losses are for public test records: NOT PRIVATE.
library(dpsosp)
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

quietly <- function(code) suppressWarnings(suppressMessages(code))

# ---- evaluations ----

runs <- 200

# Log-odds -1 + 1.6 x; the fit has these coefficients.
known_fit <- function() {
  x <- matrix(seq(-1, 1, length.out = 40), 40, 1)
  fit <- quietly(dp_sosp(x, rep(c(FALSE, TRUE), 20), eps = 1, radius = 50, method = "newton"))
  fit$coefficients[] <- c(-1, 1.6)
  fit
}

known_records <- function(n) {
  x <- rnorm(n)
  p <- plogis(-1 + 1.6 * x)
  list(x = matrix(x), p = p, y = runif(n) < p)
}

exact <- function(d) {
  came <- ifelse(d$y, d$p, 1 - d$p)
  ranks <- rank(d$p)
  ones <- sum(d$y)
  c(log_loss = mean(-log(pmin(pmax(came, 0.01), 0.99))), brier = mean((1 - came)^2), accuracy = mean(came > 0.5),
    auc = (sum(ranks[d$y]) - ones * (ones + 1) / 2) / (ones * (length(d$y) - ones)))
}

# For one evaluation: errors, released standard errors, released sampling errors; for the cells that are shown the
# squared error of the fraction over its standard error.
evaluate_once <- function(fit, n, eps) {
  d <- known_records(n)
  e <- dp_evaluate(fit, d$x, eps, 1 / n^2, y = d$y)
  cell <- findInterval(qlogis(d$p), qlogis(e$table$upper), left.open = TRUE) + 1
  share <- tapply(d$y, factor(cell, 1:20), mean)
  calibration <- sqrt(mean((e$table$fraction - share)^2, na.rm = TRUE))
  cbind(error = c(e$estimates$estimate - exact(d), calibration = calibration),
        se = c(e$estimates$se, sqrt(mean(e$table$se^2, na.rm = TRUE))),
        sampling = c(e$estimates$sampling, NA), shown = c(!is.na(e$estimates$estimate), mean(!is.na(e$table$fraction))))
}

evaluations <- function(path) {
  out <- results_file(path, c("n", "eps", "metric"))
  fit <- known_fit()
  for (n in c(1000, 5000, 20000)) for (eps in c(0.5, 1)) {
    set.seed(n)
    all <- replicate(runs, evaluate_once(fit, n, eps))
    for (metric in rownames(all)) {
      mean_of <- function(column) signif(sqrt(mean(all[metric, column, ]^2, na.rm = TRUE)), 3)
      out$add(list(n = n, eps = eps, metric = metric, rms = mean_of("error"), se = mean_of("se"),
                   sampling = mean_of("sampling"), shown = signif(mean(all[metric, "shown", ]), 3)))
    }
  }
}

# ---- choices ----

repetitions <- 6

public_bounds <- list(
  elevation = c(1850, 3900), aspect = c(0, 360), slope = c(0, 66), horizontal_distance_to_hydrology = c(0, 1400),
  vertical_distance_to_hydrology = c(-180, 610), horizontal_distance_to_roadways = c(0, 7200),
  hillshade_9am = c(0, 255), hillshade_noon = c(0, 255), hillshade_3pm = c(0, 255),
  horizontal_distance_to_fire_points = c(0, 7200)
)
formulas <- list(all = cover ~ ., few = cover ~ elevation + wilderness, elevation = cover ~ elevation,
                 no_soil = stats::reformulate(c(names(public_bounds), "wilderness"), "cover"))
candidate <- function(formula, ...) {
  used <- intersect(all.vars(formula), names(public_bounds))
  if ("." %in% all.vars(formula)) used <- names(public_bounds)
  list(formula = formula, bounds = public_bounds[used], ...)
}
plain <- lapply(formulas, candidate)
bent <- lapply(stats::setNames(formulas, paste0(names(formulas), "_0.6")), candidate, loss = loss_logistic(0.6))
sets <- list(plain[1:2], plain, c(plain, bent))

test_loss <- function(fit, test) {
  p <- predict(fit, test, type = "response")
  came <- ifelse(test$cover == levels(test$cover)[2], p, 1 - p)
  mean(-log(pmin(pmax(came, 0.01), 0.99)))
}

# Test loss of the first candidate and of the best one, each with the whole budget and all records, and of the choice.
tuned_loss <- function(k, eps, strategy, train, test) {
  candidates <- sets[[match(k, lengths(sets))]]
  delta <- 1 / nrow(train)^2
  fit_of <- function(settings) quietly(do.call(dp_sosp, c(settings, list(data = train, eps = eps, delta = delta))))
  if (strategy == "first") return(test_loss(fit_of(candidates[[1]]), test))
  if (strategy == "best") return(min(vapply(candidates, function(settings) test_loss(fit_of(settings), test), 0)))
  tuned <- quietly(dp_tune(candidates, cover ~ ., train, eps, delta, strategy = strategy))
  test_loss(tuned$fit, test)
}

choices <- function(path) {
  out <- results_file(path, c("eps", "k", "strategy"))
  train <- covertype[1:10000, ]
  test <- covertype[20001:25000, ]
  strategies <- c("first", "best", "split", "poisson", "geometric")
  for (eps in c(0.2, 1)) for (k in lengths(sets)) for (strategy in strategies) {
    row <- list(eps = eps, k = k, strategy = strategy)
    if (out$has(row)) next
    losses <- replicate(repetitions, tuned_loss(k, eps, strategy, train, test))
    se <- sd(losses) / sqrt(repetitions)
    out$add(c(row, list(n = nrow(train), loss = signif(mean(losses), 4), se = signif(se, 2))))
  }
}

if (arguments[1] == "--tune") choices(arguments[2]) else evaluations(arguments[1])
