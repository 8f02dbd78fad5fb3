# Private choice: its cost, what it must not reveal, and its success.

tune_frame <- function(n = 600, seed = 1) {
  set.seed(seed)
  data <- data.frame(a = runif(n, -1, 1), b = runif(n, -1, 1), z = runif(n, -1, 1))
  data$y <- factor(ifelse(4 * data$a - 2 * data$b + rlogis(n) > 0, "yes", "no"), levels = c("no", "yes"))
  data
}
unit <- list(a = c(-1, 1), b = c(-1, 1), z = c(-1, 1))

# The right predictors and wrong ones.
contenders <- list(
  wrong = list(formula = y ~ z, method = "newton", bounds = unit["z"], geometry = "none"),
  right = list(method = "newton", bounds = unit[c("a", "b")], geometry = "none"),
  constant = list(formula = y ~ 1, method = "newton", geometry = "none")
)

tuned <- function(..., candidates = contenders, data = tune_frame(), eps = 50, delta = 1e-6, noise = "reproducible") {
  dp_tune(candidates, y ~ a + b, data, eps = eps, delta = delta, noise = noise, ...)
}

# The arguments of dp_tune() after all checks and before any run.
job_of <- function(eps = 2, delta = 1e-6, candidates = contenders, neighbours = "replace-one") {
  data <- tune_frame()
  held_out <- held_out_units(nrow(data), 0.2, NULL)
  list(candidates = tune_candidates(candidates, y ~ a + b, NULL), n = nrow(data), eps = eps, delta = delta,
       mu = dp_convert(eps = eps, delta = delta, to = "mu"), metric = "log_loss", clip = 0.01, neighbours = neighbours,
       noise = "reproducible", training = data[!held_out, ], held_out = data[held_out, ], sizes = c(480L, 120L),
       call = quote(dp_tune()))
}

test_that("every strategy finds the candidate that is right, where it is run", {
  for (score in long_values(c("log_loss", "accuracy"))) {
    x <- tuned(strategy = "split", score = score)
    expect_s3_class(x$fit, "dp_sosp")
    expect_equal(x$chosen, "right", info = score)
    expect_equal(x$n, c(training = 480, held_out = 120))
  }
  data <- tune_frame()
  for (strategy in long_values(c("poisson", "geometric"))) {
    set.seed(2)
    right <- replicate(8, tuned(strategy = strategy, data = data, candidates = contenders[1:2])$chosen == "right")
    # each with probability 0.9
    expect_gte(sum(right), 5)
  }
})

test_that("candidates are compared in the units of the score, whatever the bounds of their responses", {
  set.seed(3)
  data <- data.frame(a = runif(1500, -1, 1), b = runif(1500, -1, 1))
  data$y <- 5 + 2 * data$a + rnorm(1500)
  candidates <- list(
    right = list(loss = loss_squared(c(0, 10)), formula = y ~ a, bounds = unit["a"]),
    wide = list(loss = loss_squared(c(-95, 105)), formula = y ~ b, bounds = unit["b"])
  )
  x <- tuned(candidates = candidates, data = data, eps = 1e4, strategy = "split")
  expect_identical(x$score$metric, "squared_error")
  expect_identical(x$chosen, "right")
})

test_that("the time of what is done by default does not tell a secret number of runs", {
  expect_equal(tuned(eps = 2)$strategy, "split")
  plan <- function(k, law) choose_plan(list(candidates = seq_len(k), strategy = law, eps = 1, delta = 1e-9))
  expect_null(plan(50, "split"))
  expect_equal(plan(9, "geometric")$law, "geometric")
  expect_equal(plan(3, "poisson")$mean, 7)
})

test_that("with much noise any candidate may be chosen", {
  set.seed(6)
  job <- job_of(eps = 0.05, candidates = contenders[1:2])
  chosen <- replicate(16, tune_split(job)$run$name)
  # both are nearly equally likely: one is missing with probability 3e-5
  expect_setequal(chosen, names(contenders)[1:2])
})

test_that("the cost of the best of runs is the closed form, and no more than the published bounds", {
  mu <- 0.2
  for (order in c(1.3, 5, 40)) {
    m <- 12
    hockey <- dp_convert(mu = mu, eps = log1p(1 / (order - 1)), to = "delta")
    expect_equal(order * .Call(ffi_selection_cost, "poisson", 12L, mu, order),
                 order * mu^2 / 2 + m * hockey + log(m / (1 - exp(-m))) / (order - 1))
    m <- 27
    found <- order * .Call(ffi_selection_cost, "geometric", 27L, mu, order)
    expect_equal(found, order * mu^2 / 2 + log(m) / (order - 1) + 2 * log(m * pnorm(qnorm(1 / m) + mu)))
    second <- seq(1, 300, 0.5)
    published <- order * mu^2 / 2 + log(m) / (order - 1) + min((second - 1) * mu^2 + 2 * log(m) / second)
    expect_lt(found, published)
  }
})

test_that("a plan spends (eps, delta), and no more", {
  for (law in selection_laws) {
    for (eps in c(0.2, 1, 5)) {
      plan <- selection_plan(law, 5L, eps, 1e-8)
      spent <- plan$order * .Call(ffi_selection_cost, law, plan$mean, plan$mu, plan$order)
      expect_lte(renyi_eps(plan$order, spent, 1e-8), eps)
      expect_gt(renyi_eps(plan$order, spent, 1e-8), eps * 0.999)
      # near the best order
      for (order in plan$order * c(0.8, 1.25)) {
        expect_lte(selection_mu(law, plan$mean, order, eps, 1e-8), plan$mu * (1 + 1e-6))
      }
    }
  }
  whole <- dp_convert(eps = 1, delta = 1 / 50000^2, to = "mu")
  ratio <- function(law, k) selection_plan(law, k, 1, 1 / 50000^2)$mu / whole
  # As on the help page.
  expect_equal(round(vapply(c(2L, 5L, 20L), ratio, 0, law = "poisson"), 2), c(0.73, 0.56, 0.28))
  expect_equal(round(vapply(c(2L, 5L, 20L), ratio, 0, law = "geometric"), 2), c(0.59, 0.52, 0.46))
})

test_that("fits and scores have the noise that the plan pays for", {
  job <- job_of()
  job$plan <- selection_plan("poisson", 3L, job$eps, job$delta)
  set.seed(3)
  best <- tune_random(job)
  expect_equal(best$run$fit$privacy$rho, job$plan$mu^2 / 2)
  score <- best$run$score
  expect_equal(best$run$se * length(score$values) / score$width, 1 / job$plan$mu, tolerance = 1e-9)
  ledger <- best$ledger
  expect_equal(ledger$what[1], "best of runs")
  expect_equal(ledger$rho[1], .Call(ffi_selection_cost, "poisson", job$plan$mean, job$plan$mu, job$plan$order))
  split <- tune_split(job)
  expect_equal(split$run$fit$privacy$rho, job$mu^2 / 6)
  expect_equal(split$choice[c("what", "rho", "sensitivity")],
               data.frame(what = "best score", rho = job$eps^2 / 8, sensitivity = 2))
  expect_equal(split$choice$scale, 2 / job$eps, tolerance = 1e-8)
  expect_equal(split$resolution, log(99) * 2 / (120 * job$eps) * log(60))
  expect_equal(tune_split(job_of(neighbours = "zero-out"))$resolution, split$resolution / 2)
})

test_that("the fit says what all of it cost", {
  for (strategy in c("split", "poisson")) {
    x <- tuned(strategy = strategy, eps = 2)
    expect_equal(x$fit$privacy[c("eps", "delta", "accountant")], list(eps = 2, delta = 1e-6, accountant = "tuned"))
    expect_equal(sum(x$fit$privacy$ledger$rho) / x$fit$privacy$rho, 1, tolerance = 1e-9)
    expect_output(print(x$fit), "eps = 2, delta = 1e-06 .*all candidates together")
    expect_output(print(x), "Cost: .* times .*480 of 600 records\nGain: .*log_loss")
    expect_error(dp_audit(x$fit), "dp_tune", class = "dpsosp_error_argument")
  }
})

test_that("nothing is said of runs, and nothing kept but the chosen one", {
  data <- tune_frame()
  set.seed(5)
  # A fit warns about ranges that are not found, and its releases give messages.
  candidates <- list(list(method = "newton"), list(), list(formula = y ~ z))
  names(candidates) <- c("one", "two", "three")
  for (i in 1:3) {
    expect_silent(x <- tuned(candidates = candidates, eps = 0.5, strategy = "poisson", data = data))
    expect_named(x, c("fit", "chosen", "candidates", "strategy", "plan", "score", "resolution", "choice",
                      "cost", "n", "persons", "privacy"))
    expect_named(x$plan, c("law", "mean", "candidates", "order", "mu"))
    expect_length(x$score$estimate, 1)
  }
  bytes <- serialize(x, NULL)
  for (column in c("a", "b", "z")) {
    for (row in c(1, 5, 600)) {
      expect_length(grepRaw(writeBin(data[row, column], raw(), endian = "big"), bytes, fixed = TRUE), 0)
    }
  }
})

test_that("a null record says the same of all candidates", {
  job <- job_of()
  job$held_out[1:3, ] <- NA
  merits <- merits(lapply(1:3, run_candidate, mu = 1, tune = job), job)$values
  expect_identical(merits[[1]][1:3], merits[[2]][1:3])
  expect_identical(merits[[1]][1:3], merits[[3]][1:3])
  expect_true(all(unlist(merits) >= 0 & unlist(merits) <= 1))
})

test_that("rows are held out by their numbers", {
  expect_equal(which(held_out_units(20, 0.2, NULL)), c(5, 10, 15, 20))
  for (holdout in c(0.01, 0.3, 0.9)) expect_equal(mean(held_out_units(1000, holdout, NULL)), holdout)
})

test_that("errors name the candidate, and come before anything is run", {
  d <- tune_frame(60)
  two <- function(...) list(one = list(), two = list(...))
  expect_errors(
    dp_tune(two(), y ~ a, d),
    dp_tune(list(one = list()), y ~ a, d, 1),
    dp_tune(list(list(), list()), y ~ a, d, 1),
    dp_tune(list(one = list(), two = 3), y ~ a, d, 1),
    dp_tune(two(eps = 3), y ~ a, d, 1),
    dp_tune(two(method = "newton", method = "gd"), y ~ a, d, 1),
    dp_tune(two(method = "newtom"), y ~ a, d, 1),
    dp_tune(two(formula = y ~ c), y ~ a, d, 1),
    dp_tune(two(method = "opt-b"), y ~ a, d, 1),
    dp_tune(two(method = "objpert"), y ~ a, d, 1),
    dp_tune(two(method = "opt-ls", control = control_opt(line_search = "svt")), y ~ a, d, 1),
    dp_tune(two(loss = "huber_svm", method = "newton"), y ~ a, d, 1, score = "log_loss"),
    dp_tune(two(), y ~ a, d, 1, bounds = list(a = c(0, 1))),
    dp_tune(two(), "y", d, 1),
    dp_tune(two(method = quote(x)), y ~ a, d, 1),
    dp_tune(two(), y ~ a, d, 1, score = "auc"),
    dp_tune(two(), y ~ a, d, 1, holdout = 1),
    dp_tune(two(), y ~ a, d[1:3, ], 1),
    dp_tune(two(), y ~ a, as.list(d), 1),
    dp_tune(two(), y ~ a, d, 1, strategy = "grid")
  )
})

test_that("what is asked of a choice instead of its fit says where the fit is", {
  choice <- structure(list(fit = 1), class = "dp_tune")
  absent <- function(call) expect_error(call, "its `\\$fit`", class = "dpsosp_error_absent")
  for (generic in list(coef, predict, plot, confint, nobs)) absent(generic(choice))
  expect_error(dp_ledger(choice), "The fit is its `\\$fit`", class = "dpsosp_error_argument")
  expect_error(dp_evaluate(choice, d, eps = 1), "The fit is its `\\$fit`", class = "dpsosp_error_argument")
})
