# Plain Gaussian and Laplace releases of 0 or 1, whose privacy is known exactly.
bits <- list(0, 1)
gaussian <- function(mu) function(bit) bit + rnorm(1, sd = 1 / mu)
laplace <- function(eps) function(bit) bit + rexp(1, eps) * sample(c(-1, 1), 1)
eps_of_mu <- function(mu, delta) dp_convert(mu = mu, delta = delta, to = "eps")
audit <- function(...) dp_audit(..., progress = FALSE)

# The gradient of the sigmoid loss at zero, with the whole budget: the label of one record is 1 or -1, the others are
# null. Both slopes have the largest size, so the sensitivity is attained.
gradient_pipeline <- function(mu, neighbours = "replace-one", n = 20) {
  x <- matrix(1, n, 1)
  function(label) {
    oracle <- dp_oracle(x, c(label, rep(NA, n - 1)), "sigmoid", dp_budget(mu = mu * (1 + 1e-9)), 1, FALSE, neighbours,
                        "reproducible")
    as.vector(dp_gradient(oracle, 0, mu = mu))
  }
}
labels <- list(-1, 1)

test_that("Clopper-Pearson bounds are those of the binomial law", {
  for (n in c(1, 7, 40)) {
    for (alpha in c(0.05, 0.001)) {
      upper <- dpsosp:::clopper_pearson_upper(0:n, n, alpha)
      expect_equal(upper[n + 1], 1)
      # At the bound, this many or fewer successes have probability alpha.
      at <- vapply(seq_len(n), function(k) sum(dbinom(0:(k - 1), n, upper[k])), 0)
      expect_equal(at, rep(alpha, n), tolerance = 1e-9)
      # For every true rate, the bound fails with at most this probability.
      missed <- vapply(seq(0.001, 0.999, 0.002), function(p) sum(dbinom(0:n, n, p)[upper < p]), 0)
      expect_lte(max(missed), alpha + 1e-12)
    }
  }
})

test_that("error rates become bounds by the inequalities of privacy", {
  upper <- function(k) binom.test(k, 200, alternative = "less", conf.level = 0.975)$conf.int[2]
  claim <- function(tradeoff, delta = 0.01) list(eps = 1, delta = delta, tradeoff = tradeoff)
  for (k in list(c(3, 120), c(120, 3), c(0, 0), c(200, 7), c(100, 100))) {
    fp <- upper(k[1])
    fn <- upper(k[2])
    direct <- suppressWarnings(max(log((1 - 0.01 - fp) / fn), log((1 - 0.01 - fn) / fp), na.rm = TRUE))
    expect_equal(max(dpsosp:::audit_bound(k[1], k[2], 200, claim("dp"), 0.05), -99), max(direct, -99))
    mu <- dpsosp:::audit_bound(k[1], k[2], 200, claim("gdp"), 0.05)
    # Some mu-GDP mechanism attains these two rates, and no mechanism with a smaller mu does.
    if (is.finite(mu)) expect_equal(pnorm(qnorm(1 - fp) - mu), fn)
  }
  # For randomised response the bound at the true rates, without their uncertainty, equals its epsilon.
  many <- 1e12
  wrong <- many * plogis(-1)
  expect_equal(dpsosp:::audit_bound(wrong, wrong, many, claim("dp", 0), 0.05), 1, tolerance = 1e-4)
})

test_that("the threshold is the best of all thresholds, on either side", {
  set.seed(1)
  scores <- cbind(round(rnorm(60), 1), round(rnorm(60, 1), 1))
  claim <- list(eps = 1, delta = 0.01, tradeoff = "dp")
  for (turned in c(1, -1)) {
    s <- turned * scores
    best <- -Inf
    for (t in c(sort(unique(c(s))), Inf)) {
      fp <- sum(s[, 1] >= t)
      fn <- sum(s[, 2] < t)
      both <- list(c(fp, fn), 60 - c(fp, fn))
      best <- max(best, vapply(both, function(k) dpsosp:::audit_bound(k[1], k[2], 60, claim, 0.1), 0))
    }
    test <- dpsosp:::audit_threshold(s, claim, 0.1)
    errors <- dpsosp:::audit_errors(s, test$threshold, test$sign)
    guess <- test$sign * ifelse(s >= test$threshold, 1, -1) == 1
    expect_equal(errors, list(false_positives = sum(guess[, 1]), false_negatives = sum(!guess[, 2])))
    expect_equal(dpsosp:::audit_bound(errors[[1]], errors[[2]], 60, claim, 0.1), best)
  }
})

test_that("a Gaussian release is seen nearly as it is, and never worse", {
  set.seed(2)
  for (mu in long_values(c(0.5, 2))) {
    eps <- eps_of_mu(mu, 1e-5)
    a <- audit(gaussian(mu), bits, eps, 1e-5, runs = 20000, conf = 0.999, tradeoff = "gdp")
    expect_lte(a$mu, mu)
    expect_gt(a$mu, mu - 0.2)
    expect_equal(a$bound, eps_of_mu(a$mu, 1e-5))
    expect_false(a$exceeds)
  }
  # With a large delta the direct bound detects it, too.
  a <- audit(gaussian(1), bits, eps_of_mu(1, 0.01), 0.01, runs = 20000, conf = 0.999)
  expect_lte(a$bound, eps_of_mu(1, 0.01))
  expect_gt(a$bound, 0.5 * eps_of_mu(1, 0.01))
  expect_null(a$mu)
})

test_that("a Laplace release is seen nearly as it is, whichever data set comes first", {
  set.seed(3)
  for (pair in list(bits, rev(bits))) {
    a <- audit(laplace(1), pair, 1, 0, runs = 8000, conf = 0.999)
    expect_lte(a$bound, 1)
    expect_gt(a$bound, 0.75)
  }
})

test_that("bounds fail no more often than their confidence says", {
  # Randomised response has the most favourable rates. More than `limit` failures of 300 have probability below 1e-6.
  set.seed(4)
  response <- function(bit) if (runif(1) < plogis(1)) bit else 1 - bit
  limit <- qbinom(1e-6, 300, 0.1, lower.tail = FALSE)
  pairs <- replicate(300, audit(response, bits, 1, 0, runs = 60, conf = 0.9)$exceeds)
  expect_lte(sum(pairs), limit)
  responses <- function(signs) signs * ifelse(runif(40) < plogis(1), 1, -1) + runif(40) / 10
  one_run <- replicate(300, audit(responses, eps = 1, delta = 0, method = "one-run", canaries = 40, guesses = 40,
                                  conf = 0.9)$exceeds)
  expect_lte(sum(one_run), limit)
})

test_that("the oracle's Gaussian pipeline keeps its claim, and the audit sees it", {
  set.seed(5)
  mu <- dp_convert(eps = 8, delta = 1e-6, to = "mu")
  a <- audit(gradient_pipeline(mu), labels, 8, 1e-6, runs = 400, tradeoff = "gdp")
  expect_lte(a$bound, 8)
  expect_gt(a$bound, 0.3 * 8)
})

test_that("broken mechanisms exceed their claim", {
  skip_on_cran() # it takes long
  # With twice the claimed mu, this large, bounds of 400 runs are 12 with a standard deviation of 1.
  set.seed(6)
  mu <- dp_convert(eps = 8, delta = 1e-6, to = "mu")
  broken <- function(...) audit(..., pair = labels, eps = 8, delta = 1e-6, conf = 0.999, tradeoff = "gdp", runs = 400)
  # The gradient with half the noise, in plain R: slope 1 / 4 of one record in 20, sensitivity 1 / 40.
  half <- function(label) -label / 80 + rnorm(1, sd = 1 / 40 / mu / 2)
  expect_true(broken(half)$exceeds)
  right <- function(label) -label / 80 + rnorm(1, sd = 1 / 40 / mu)
  expect_false(broken(right)$exceeds)
  # Noise for the wrong relation: half of what replacing a record requires.
  expect_true(broken(gradient_pipeline(mu, "zero-out"))$exceeds)
  # A budget that is spent four times.
  four <- gradient_pipeline(mu)
  expect_true(broken(function(label) mean(replicate(4, four(label))))$exceeds)
  # Pure epsilon-privacy, without the Gaussian trade-off.
  expect_true(audit(laplace(2), bits, 1, 0, runs = 3000, conf = 0.999)$exceeds)
})

test_that("a statistic reads the release", {
  set.seed(7)
  release <- function(bit) list(useless = 1, answer = gaussian(3)(bit))
  a <- audit(release, bits, 20, 1e-5, runs = 400, statistic = function(r) -r$answer, tradeoff = "gdp")
  expect_gt(a$mu, 1.5)
  expect_error(audit(release, bits, 20, 1e-5, runs = 400), "give `statistic`", class = "dpsosp_error_argument")
})

test_that("runs without fresh noise are refused; a release that says nothing has bound zero", {
  fixed <- function(bit) {
    set.seed(8)
    gaussian(1)(bit)
  }
  expect_error(audit(fixed, bits, 1, 1e-6, runs = 20), "fresh noise", class = "dpsosp_error_argument")
  expect_error(audit(identity, bits, 1, 1e-6, runs = 20), "fresh noise", class = "dpsosp_error_argument")
  nothing <- audit(function(bit) 7, bits, 1, 1e-6, runs = 20)
  expect_identical(nothing$bound, 0)
  expect_identical(audit(function(bit) 7, bits, 1, 1e-6, runs = 20, tradeoff = "gdp")$bound, 0)
  # If all runs use one budget, the first ones spend it.
  budget <- dp_budget(mu = 1)
  shared <- function(label) {
    as.vector(dp_gradient(dp_oracle(matrix(1), label, "sigmoid", budget, 1, FALSE), 0, mu = 0.5))
  }
  expect_error(audit(shared, labels, 1, 1e-6, runs = 20), class = "dpsosp_budget_exhausted")
})

# ---- one run ----

test_that("the p-value of one run is that of enumerated binomials", {
  guesses <- 12
  for (eps in c(0, 0.5, 2)) {
    q <- exp(eps) / (1 + exp(eps))
    mass <- vapply(0:guesses, function(k) choose(guesses, k) * q^k * (1 - q)^(guesses - k), 0)
    for (correct in c(0, 1, 7, 12)) {
      tail <- sum(mass[0:guesses >= correct])
      expect_equal(dpsosp:::one_run_p_value(correct, guesses, 30, eps, 0), min(1, tail))
      worst <- 0
      for (i in seq_len(correct)) {
        between <- sum(mass[0:guesses < correct & 0:guesses >= correct - i])
        worst <- max(worst, between / i)
      }
      expect_equal(dpsosp:::one_run_p_value(correct, guesses, 30, eps, 0.01), min(1, tail + 2 * 30 * 0.01 * worst))
    }
  }
})

test_that("the p-value covers mechanisms that use their delta", {
  m <- 30
  delta <- 0.01
  p_values <- vapply(0:m, function(v) dpsosp:::one_run_p_value(v, m, m, 0.5, delta), 0)
  q <- plogis(0.5)
  # Each bit is revealed with probability delta, else released by randomised response; or all bits are revealed at once
  # with probability delta.
  each <- dbinom(0:m, m, delta + (1 - delta) * q)
  all_at_once <- (1 - delta) * dbinom(0:m, m, q) + delta * (0:m == m)
  for (law in list(each, all_at_once)) {
    for (alpha in c(0.01, 0.05, 0.2)) expect_lte(sum(law[p_values <= alpha]), alpha)
  }
  expect_false(is.unsorted(rev(p_values)))
})

test_that("the bound of one run is where the p-value crosses", {
  for (correct in c(20, 35, 39, 40)) {
    for (delta in c(0, 1e-3)) {
      bound <- dpsosp:::one_run_bound(correct, 40, 100, delta, 0.05)
      at <- function(eps) dpsosp:::one_run_p_value(correct, 40, 100, eps, delta)
      if (bound == 0) expect_gte(at(0), 0.05) else {
        expect_lt(at(bound), 0.05)
        expect_gt(at(bound + 1e-5), 0.05)
      }
    }
  }
  # All guesses correct, delta = 0: q^r = alpha.
  expect_equal(plogis(dpsosp:::one_run_bound(40, 40, 100, 0, 0.05))^40, 0.05, tolerance = 1e-5)
})

test_that("one run sees much noise and little noise", {
  set.seed(9)
  release <- function(mu) function(signs) signs + rnorm(length(signs), sd = 2 / mu)
  one <- function(x, eps, ...) audit(x, eps = eps, delta = 1e-6, method = "one-run", canaries = 1000, ...)
  right <- one(release(2), eps_of_mu(2, 1e-6), conf = 0.999)
  expect_false(right$exceeds)
  expect_gt(right$bound, 1.5)
  expect_true(one(release(4), 1, conf = 0.999)$exceeds)
  expect_equal(one(release(0.001), 1)$bound, 0)
  expect_true(one(identity, 3)$exceeds)
  expect_equal(unname(one(identity, 3, guesses = 100)$counts), c(100, 100, 1000))
})

# ---- fits ----

study_fit <- function(...) {
  set.seed(10)
  quiet_fit(..., noise = "reproducible")
}

test_that("the pair of a fit is one of neighbours at the radius", {
  p <- problem_matrix(30, 3)
  for (neighbours in c("replace-one", "zero-out")) {
    for (intercept in c(TRUE, FALSE)) {
      fit <- study_fit(p$x, p$y, eps = 1, radius = 2, neighbours = neighbours, intercept = intercept)
      low <- dpsosp:::audit_data(fit, -1)
      high <- dpsosp:::audit_data(fit, 1)
      expect_equal(dim(high$x), dim(p$x))
      expect_identical(low$x, high$x)
      expect_identical(which(!(low$y %in% high$y)), if (neighbours == "replace-one") 1L else integer())
      expect_identical(which(!is.na(high$y)), 1L)
      expect_identical(low$y[1], if (neighbours == "replace-one") FALSE else NA)
      expect_equal(sum(high$x[1, ]^2) + intercept, 4)
      many <- dpsosp:::audit_data(fit, c(1, -1, 1, 1))
      expect_equal(many$x[4, ], high$x[1, ])
      expect_equal(crossprod(t(many$x[1:3, ])), diag(4 - intercept, 3))
    }
  }
})

test_that("fits of every method keep their claim", {
  skip_on_cran()
  p <- problem_matrix(40)
  d <- problem_frame(40)
  batched <- dpsosp:::methods_with("batch") # they take long
  for (method in c(long_values(setdiff(dpsosp:::method_names(), batched)), long_size(batched, batched[1]))) {
    loss <- if (method %in% dpsosp:::methods_with("convex")) "logistic" else "sigmoid"
    fit <- study_fit(p$x, p$y, eps = 1, delta = 1e-5, radius = 2, method = method, loss = loss)
    a <- audit(fit, runs = 10, conf = 0.999)
    expect_false(a$exceeds)
    others <- c("objpert", "blgd", "agd", batched)
    expect_equal(a$tradeoff, if (method %in% others) "dp" else "gdp")
    expect_equal(c(a$eps, a$delta), c(1, 1e-5))
  }
  by_formula <- study_fit(y ~ a + f, d, eps = 1, delta = 1e-5)
  expect_false(audit(by_formula, runs = 10)$exceeds)
  svt <- study_fit(p$x, p$y, eps = 1, delta = 1e-5, radius = 2, control = control_opt(line_search = "svt"))
  expect_equal(audit(svt, runs = 10)$tradeoff, "dp")
  expect_false(audit(study_fit(p$x, p$y, eps = 1, radius = 2), "one-run")$exceeds)
  constant <- study_fit(y ~ 1, d, eps = 1, delta = 1e-5)
  expect_false(audit(constant, runs = 10)$exceeds)
})

test_that("where noise is small the audit of a fit sees the record", {
  p <- problem_matrix(20)
  fit <- study_fit(p$x, p$y, eps = 500, delta = 1e-5, radius = 2, method = "opt", loss = "sigmoid",
                   neighbours = "zero-out", control = control_opt(max_iterations = 20))
  expect_gt(audit(fit, runs = 80)$mu, 1)
  wide <- matrix(runif(40 * 40, -1, 1), 40)
  fit <- study_fit(wide, rep(0:1, 20), eps = 2000, delta = 1e-5, radius = 1, intercept = FALSE, method = "opt",
                   loss = "sigmoid", control = control_opt(max_iterations = 20))
  expect_gt(audit(fit, "one-run", guesses = 20)$bound, 0.5)
})

# ---- manners ----

test_that("an audit is printed in few words, and holds numbers only", {
  set.seed(11)
  one <- audit(gaussian(1), bits, eps_of_mu(1, 1e-5), 1e-5, runs = 200, tradeoff = "gdp")
  two <- audit(laplace(3), bits, 1, 0, runs = 400)
  three <- audit(function(s) s, eps = 1, delta = 1e-5, method = "one-run", canaries = 80)
  expect_snapshot(print(one))
  expect_snapshot(print(two))
  expect_snapshot(print(three))
  expect_true(all(nchar(unlist(lapply(list(one, two, three), function(a) capture.output(print(a))))) <= 80))
  expect_lt(length(serialize(one, NULL)), 1500)
})

test_that("a bound is not rounded up", {
  expect_equal(dpsosp:::format_below(1.9999), "1.999")
  expect_equal(dpsosp:::format_below(0), "0")
})

test_that("a progress bar can be had", {
  set.seed(12)
  expect_s3_class(suppressMessages(dp_audit(laplace(1), bits, 1, 0, runs = 20, progress = TRUE)), "dpsosp_audit")
})

test_that("wrong arguments are refused", {
  p <- problem_matrix(20)
  fit <- study_fit(p$x, p$y, eps = 1, delta = 1e-5, radius = 2)
  expect_errors(
    dp_audit(3),
    dp_audit(rnorm),
    dp_audit(rnorm, bits, -1, 0),
    dp_audit(rnorm, bits, 1, 1),
    dp_audit(rnorm, bits, 1, 0, tradeoff = "gdp"),
    dp_audit(rnorm, 1:2, 1, 0),
    dp_audit(rnorm, bits, 1, 0, runs = 5),
    dp_audit(rnorm, bits, 1, 0, conf = 1),
    dp_audit(rnorm, bits, 1, 0, statistic = "mean"),
    dp_audit(rnorm, bits, 1, 0, mu = 1),
    dp_audit(function(x) "a", bits, 1, 0),
    dp_audit(rnorm, eps = 1, delta = 0, method = "one-run"),
    dp_audit(rnorm, eps = 1, delta = 0.1, method = "one-run", canaries = 100),
    dp_audit(rnorm, eps = 1, delta = 0, method = "one-run", canaries = 100, guesses = 3),
    dp_audit(rnorm, eps = 1, delta = 0, method = "one-run", canaries = 100, guesses = 102),
    dp_audit(identity, eps = 1, delta = 0.1, method = "one-run", canaries = 4, tradeoff = "gdp"),
    dp_audit(sum, eps = 1, delta = 0, method = "one-run", canaries = 100),
    dp_audit(fit, "one-run", canaries = 21),
    dp_audit(fit, pairs = 3)
  )
})

test_that("an audit of a fit says how long it takes, and that of a function does not", {
  fit <- quiet_fit(y ~ a, problem_frame(50), eps = 5, delta = 1e-4, bounds = frame_bounds["a"], method = "gd",
                   control = control_gd(max_iterations = 3))
  expect_message(audit <- dp_audit(fit, runs = 10, progress = FALSE), "makes 20 fits, which takes about 2 seconds",
                 class = "dpsosp_message_audit")
  expect_identical(eval(formals(getS3method("dp_audit", "dp_sosp"))$runs), 200)
  expect_message(tell_duration(200, 2), "400 fits, which takes about 7 minutes")
  expect_silent(dp_audit(function(bit) bit + stats::rnorm(1), list(0, 1), eps = 5, delta = 1e-4, runs = 10,
                         progress = FALSE))
})
