# The start of a run if none is given.
rare <- function(n = 800, d = 30, share = 0.05) {
  set.seed(2)
  list(x = matrix(runif(n * d, -1, 1), n, dimnames = list(NULL, paste0("x", seq_len(d)))),
       y = ifelse(seq_len(n) <= share * n, 1, -1))
}
p <- rare()
study <- function(..., x = p$x, y = p$y, eps = 1, method = "auto", loss = "logistic", radius = sqrt(ncol(x) + 1)) {
  set.seed(1)
  suppressMessages(suppressWarnings(dp_sosp(x, y, eps = eps, delta = 1e-6, method = method, loss = loss,
                                            radius = radius, noise = "reproducible", progress = FALSE, ...),
                                    "dpsosp_warning"))
}
asked <- function(...) dp_ledger(study(...))$what
mean_loss <- function(fit, y = p$y) mean(log1p(exp(-y * predict(fit, p$x))))

test_that("columns that say nothing, and a rare class: nearly the loss of the constant prediction", {
  constant <- -0.05 * log(0.05) - 0.95 * log(0.95)
  expect_lt(mean_loss(study()), constant + 0.03)
  expect_gt(mean_loss(study(start = numeric(31), method = "newton")), constant + 0.1)
})

# Of the weights of both classes: its noise is that of the fraction times sqrt(2), where all records are used.
of_classes <- function(fit) dp_ledger(fit)[dp_ledger(fit)$what == "class counts", ][1, ]

test_that("the release of the classes' weights has its sensitivity and costs no more than it needs", {
  for (neighbours in c("replace-one", "zero-out")) {
    fit <- study(neighbours = neighbours)
    first <- of_classes(fit)
    expect_equal(first$sensitivity * 800, if (neighbours == "zero-out") 1 else sqrt(2), tolerance = 1e-6)
    expect_equal(first$rho / fit$privacy$rho, 0.05, tolerance = 1e-9)
    expect_equal(fit$checks$class$sd, first$scale / sqrt(2), tolerance = 1e-9)
  }
  # More than is needed only where it is a hundredth of the budget.
  enough <- study(eps = 8, method = "newton")
  expect_lte(enough$checks$class$sd, 0.01)
  expect_equal(of_classes(enough)$rho, max(0.01 * enough$privacy$rho, 1 / (2 * (800 * 0.01)^2)), tolerance = 1e-6)
})

test_that("the fraction of the second class follows from the weights of both", {
  of <- function(...) dpsosp:::fraction_of_second(list(counts = c(...), sd = 0.01))
  # All records are used, as far as the noise tells: from the difference.
  expect_equal(of(0.74, 0.25), list(fraction = (1 + 0.25 - 0.74) / 2, sd = 0.01 / sqrt(2)))
  p <- 0.15 / 0.5
  expect_equal(of(0.35, 0.15), list(fraction = p, sd = 0.01 * sqrt(p^2 + (1 - p)^2) / 0.5))
  expect_equal(of(0.35, -0.01)$fraction, 0)
})

test_that("the start is the log-odds of the expected fraction, which noise moves to neither end", {
  expect_equal(dpsosp:::log_odds(0.25, 0.01), log(1 / 3))
  for (case in list(c(0.02, 0.05), c(0.9, 0.2), c(-0.1, 0.1), c(0.3, 7))) {
    at <- seq(0, 1, 1e-5)
    weight <- dnorm(at, case[1], case[2])
    expect_equal(dpsosp:::log_odds(case[1], case[2]), qlogis(sum(at * weight) / sum(weight)), tolerance = 1e-3)
  }
  # Farther away than noise may be.
  expect_equal(dpsosp:::log_odds(-3, 0.1), dpsosp:::log_odds(-0.3, 0.1))
  expect_equal(dpsosp:::log_odds(2, 0.1), -dpsosp:::log_odds(-1, 0.1))
})

of_start <- function(fit) dp_ledger(fit)[dp_ledger(fit)$what != "usable records", ]

test_that("methods that may end at their start release the share for up to a tenth, and pay for the gap from there", {
  for (method in c("2opt-ls", "2opt", "opt-ls", "opt")) {
    fit <- study(method = method, eps = 4)
    first <- of_start(fit)[1:3, ]
    expect_equal(first$what, c("class counts", "moments", "value"))
    expect_equal(first$rho / fit$privacy$rho, c(0.1, 0.09, (0.81 - 0.002 - 0.03) * 0.02), tolerance = 1e-9)
    expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
  }
  expect_equal(study(eps = 60, method = "opt")$checks$class$sd, 0.002, tolerance = 1e-6)
  # The columns are uninformative: the start is returned, and it is about as good as the constant prediction.
  fit <- study(method = "2opt-ls", eps = 4)
  constant <- -0.05 * log(0.05) - 0.95 * log(0.95)
  expect_lt(mean_loss(fit), constant + 0.01)
  expect_gt(mean_loss(study(method = "2opt-ls", eps = 1, start = numeric(31), geometry = "none")), constant + 0.1)
})

test_that("methods that may end at their start know the fraction up to .02, for at most 80 percent of the budget", {
  first <- function(...) {
    fit <- study(..., x = p$x[, 1:2], method = "2opt-ls")
    ledger <- dp_ledger(fit)
    expect_equal(sum(ledger$rho), fit$privacy$rho, tolerance = 1e-9)
    c(sd = fit$checks$class$sd, share = ledger$rho[1] / fit$privacy$rho)
  }
  # The rule for much noise does not apply, with so few coefficients.
  at <- function(mu) dp_convert(mu = mu, delta = 1e-6, to = "eps")
  expect_lt(3 / 800 / 0.05, 0.1)
  expect_equal(first(eps = at(0.05))[["share"]], 0.8, tolerance = 1e-6)
  expect_equal(first(eps = at(0.1)), c(sd = 0.02, share = 1 / (800 * 0.1 * 0.02)^2), tolerance = 1e-6)
  expect_equal(first(eps = at(0.3))[["share"]], 0.1, tolerance = 1e-6)
  expect_equal(first(eps = at(2)), c(sd = 0.002, share = 1 / (800 * 2 * 0.002)^2), tolerance = 1e-6)
  # Methods that correct the intercept by their steps pay no more.
  coarse <- study(x = p$x[, 1:2], method = "newton", eps = at(0.05))
  expect_equal(dp_ledger(coarse)$rho[1] / coarse$privacy$rho, 0.05, tolerance = 1e-6)
})

test_that("where noise hides what steps could gain half of the budget finds the start, or most if gradients are lost", {
  shares <- function(...) {
    fit <- study(..., method = "2opt-ls")
    list(what = of_start(fit)$what[1:2], share = dp_ledger(fit)$rho[1] / fit$privacy$rho)
  }
  noise <- 31 / 800 / dp_convert(eps = 1, delta = 1e-6, to = "mu")
  expect_gt(noise, 0.1)
  expect_equal(shares(), list(what = c("class counts", "moments"), share = 0.5), tolerance = 1e-9)
  expect_equal(shares(geometry = "none"), list(what = c("class counts", "value"), share = 0.8), tolerance = 1e-9)
  # Up to .02, if this takes no more than 80 percent.
  mu <- 0.075
  expect_equal(shares(eps = dp_convert(mu = mu, delta = 1e-6, to = "eps"))$share, 1 / (800 * mu * 0.02)^2,
               tolerance = 1e-6)
  expect_equal(shares(eps = 0.1)$share, 0.8, tolerance = 1e-9)
  expect_equal(shares(target = sosp(0.1, 0.1)), list(what = c("class counts", "value"), share = 0.1), tolerance = 1e-9)
  # On either side of the limit.
  at <- function(limit) dp_convert(mu = 31 / 800 / limit, delta = 1e-6, to = "eps")
  expect_equal(shares(eps = at(0.1 * 1.001))$share, 0.5, tolerance = 1e-9)
  expect_lt(shares(eps = at(0.1 * 0.999))$share, 0.11)
  expect_equal(shares(eps = at(0.1 * 0.999))$what, c("class counts", "moments"))
})

test_that("on batches the share is released once, on all records, and the run keeps to its budget", {
  for (method in c("opt-b", "2opt-b")) {
    fit <- study(method = method)
    ledger <- dp_ledger(fit)
    expect_equal(ledger$what[1], "class counts")
    expect_equal(ledger$rho[1] / fit$privacy$rho, 0.8, tolerance = 1e-9)
    expect_lte(sum(ledger$rho), fit$privacy$rho * (1 + 1e-9))
  }
})

test_that("nothing is spent on a start where there is no constant prediction, or the start is given", {
  before <- function(...) { # the run
    what <- asked(...)
    utils::head(what, match(TRUE, grepl("gradient|majorant|search", what)) - 1)
  }
  expect_equal(asked()[1:2], c("usable records", "class counts"))
  expect_false("class counts" %in% before(start = numeric(31)))
  expect_false("class counts" %in% before(intercept = FALSE))
  expect_false("class counts" %in% before(loss = "huber_svm"))
  expect_false("class counts" %in% before(method = "newton", control = control_newton("qu", iterations = 3)))
  expect_false("class counts" %in% before(method = "gd"))
  expect_false("class counts" %in% before(method = "2opt-ls", start = numeric(31)))
  expect_false("class counts" %in% before(method = "2opt-ls", loss = "sigmoid"))
  expect_false("class counts" %in% before(method = "2opt", control = control_opt("published")))
})

test_that("data frames, sources and rows in single precision start alike, whatever the response is called", {
  data <- problem_frame(400)
  names(data)[names(data) == "y"] <- "answer"
  fit <- function(data, ..., method = "newton", control = control_newton(iterations = 3)) {
    set.seed(1)
    suppressMessages(dp_sosp(answer == "yes" ~ a + f, data, eps = 2, delta = 1e-6, bounds = list(a = I(c(10, 30))),
                             method = method, control = control, noise = "reproducible", progress = FALSE, ...))
  }
  whole <- fit(data)
  expect_equal(of_start(whole)$what[1:2], c("class counts", "majorant"))
  expect_identical(coef(fit(dp_source(in_chunks(data, 150)))), coef(whole))
  expect_equal(coef(fit(data, storage = "single")), coef(whole), tolerance = 1e-3)
  stays <- function(...) coef(fit(..., method = "2opt-ls", control = NULL))
  expect_identical(stays(dp_source(in_chunks(data, 150))), stays(data))
})

# One iteration: the only gradient is at the start. coordinates: of the solution, in the geometry.
left <- function(...) study(..., method = "opt", control = control_opt(max_iterations = 1))
coordinates <- function(fit) {
  radius <- fit$design$radius
  slopes <- unname(coef(fit)[-1]) * radius
  g <- fit$geometry
  list(intercept = (unname(coef(fit)[1]) + sum(g$centre * slopes)) / g$constant, slopes = slopes / g$scale)
}

test_that("a run without a step ends at the mean of its minimiser given the gradient at the start", {
  for (eps in c(0.5, 2, 6)) {
    fit <- left(eps = eps)
    at <- coordinates(fit)
    gradient <- fit$released$gradient
    expect_equal(at$intercept, gradient$at[1], tolerance = 1e-9)
    share <- plogis(fit$geometry$constant * gradient$at[1])
    h <- share * (1 - share) / sqrt(31)
    t <- 0.05 * 2^(0:3)
    variance <- gradient$sd^2 + h^2 * t^2
    density <- vapply(variance, function(v) sum(dnorm(gradient$value[-1], sd = sqrt(v), log = TRUE)), 0)
    weight <- exp(density - max(density))
    expect_equal(at$slopes, -sum(weight * h * t^2 / variance) / sum(weight) * gradient$value[-1], tolerance = 1e-9)
  }
})

test_that("such a run claims nothing that was measured at its start", {
  fit <- left()
  expect_equal(fit$status, "budget")
  expect_true(all(is.na(fit$certificate$gradient)))
  printed <- paste(capture.output(summary(fit)), collapse = "\n")
  expect_match(printed, "Gradient norm not measured at the solution")
  expect_no_match(printed, "it is the ")
  expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
})

test_that("other runs without a step end at their start", {
  stays <- function(..., method = "opt-ls") study(..., eps = 0.02, method = method)$status
  expect_equal(stays(), "budget")
  expect_equal(stays(geometry = "none"), "start")
  expect_equal(stays(loss = "sigmoid"), "start")
  expect_equal(stays(start = numeric(31)), "start")
  expect_equal(stays(penalty = penalty_ridge(0.1), geometry = "private"), "start")
  expect_equal(stays(method = "2opt-b"), "start")
})

test_that("gradients that do not exceed the noise level one by one are of use together", {
  set.seed(5)
  x <- matrix(runif(1500 * 12, -1, 1), 1500)
  y <- ifelse(runif(1500) < plogis(as.vector(x %*% rep(c(1, -1), 6)) - 1), 1, -1)
  share <- mean(y > 0)
  constant <- -share * log(share) - (1 - share) * log(1 - share)
  over <- vapply(1:8, function(seed) {
    set.seed(seed)
    fit <- suppressMessages(suppressWarnings(dp_sosp(x, y, eps = 0.4, delta = 1e-6, method = "opt", radius = 4,
                                                     control = control_opt(max_iterations = 1),
                                                     noise = "reproducible", progress = FALSE)))
    mean(log1p(exp(-y * predict(fit, x)))) - constant
  }, 0)
  expect_lt(mean(over), 0)
})
