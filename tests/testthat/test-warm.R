# The method "warm-ridge" for problems that are not convex, which "auto" takes for them.
n <- 3000
d <- problem_frame(n)
warm <- function(data = d, ..., eps = 3, method = "warm-ridge", loss = "sigmoid", formula = y ~ a + b + f, seed = 3) {
  set.seed(seed)
  quiet_fit(formula, data, eps = eps, delta = 1e-6, method = method, loss = loss, bounds = frame_bounds,
            noise = "reproducible", ...)
}
short <- control_warm_ridge(iterations = 8)

test_that("\"auto\" takes it for problems that are not convex, unless something else is asked for", {
  chosen <- function(...) suppressWarnings(warm(..., eps = 0.5, method = "auto"))$method
  expect_equal(chosen(), "warm-ridge")
  expect_equal(chosen(loss = "logistic", penalty = penalty_nonconvex(0.1)), "warm-ridge")
  expect_equal(chosen(target = sosp(0.1, 0.1)), "2opt-ls")
  expect_equal(chosen(geometry = "none"), "2opt-ls")
  expect_equal(chosen(formula = y ~ 1), "2opt-ls")
  expect_output(print(warm(method = "auto", control = NULL)), "sigmoid loss, method warm-ridge (taken by auto)",
                fixed = TRUE)
})

test_that("a run is a logistic fit, one of the loss itself and a certificate, which share moments and matrix", {
  fit <- warm()
  queries <- table(fit$trace$query, fit$trace$phase)
  expect_equal(unname(queries["gradient", 1:2]), c(70L, 70L))
  expect_equal(unname(queries["weighted matrix", ]), c(1L, 0L, 0L))
  expect_equal(unname(queries["hessian", 1:2]), c(0L, 0L))
  ledger <- dp_ledger(fit)
  expect_equal(sum(ledger$what == "moments"), 1)
  expect_lte(sum(ledger$rho), fit$privacy$rho * (1 + 1e-9))
  spent <- tapply(fit$trace$rho, fit$trace$phase, sum)
  expect_equal(unname(spent[2] / (spent[1] + spent[2])), 0.5, tolerance = 1e-6)
  expect_equal(fit$privacy$rho, sum(ledger$rho), tolerance = 1e-9) # what is not used is a row, too
  asked <- warm(control = control_warm_ridge(iterations = 5, own_share = 0.2, certificate_share = 0.2))
  spent <- tapply(asked$trace$rho, asked$trace$phase, sum)
  expect_equal(unname(spent[2] / (spent[1] + spent[2])), 0.2, tolerance = 1e-6)
  expect_equal(sum(asked$trace$query == "gradient" & asked$trace$phase == 2), 5)
})

test_that("where there is much noise the solution is that of newton-ridge", {
  noisy <- warm(eps = 0.2)
  # But for the part of the budget that tells how good it is.
  expect_equal(coef(noisy), coef(warm(eps = 0.2, method = "newton-ridge", loss = "logistic")), tolerance = 0.05)
  expect_equal(sum(noisy$trace$query == "gradient" & noisy$trace$phase == 1), 70)
  expect_lt(sum(noisy$trace$query == "gradient" & noisy$trace$phase == 2), 30) # the certificate
  all <- control_warm_ridge(own_share = 0)
  expect_equal(coef(warm(control = all, eps = 0.6)), coef(warm(method = "newton-ridge", loss = "logistic", eps = 0.6)),
               tolerance = 0.05)
})

# Sigmoid loss of the mapped rows, and its derivatives.
mapped <- function(fit) {
  z <- unit_rows(cbind((d$a - 20) / 10, d$b, d$f == "v", d$f == "w"), fit$design$radius)
  w <- dpsosp:::design_start(fit$design, coef(fit))
  y <- ifelse(d$y == "yes", 1, -1)
  list(gradient = sqrt(sum(exact_gradient(z, y, w, "sigmoid")^2)), value = exact_value(z, y, w, "sigmoid"),
       eigenvalue = min(eigen(exact_hessian(z, y, w, "sigmoid"), TRUE, TRUE)$values))
}

test_that("with little noise the solution is a point of second order of the loss itself, and mostly certified", {
  certified <- 0
  for (run in data.frame(t(cbind(eps = c(30, rep(3000, 5)), seed = 1:6)))) {
    fit <- warm(eps = run[1], seed = run[2])
    at <- mapped(fit)
    expect_lte(at$gradient, fit$certificate$gradient[["upper"]])
    if (fit$status == "sosp") {
      certified <- certified + 1
      expect_gte(at$eigenvalue, fit$certificate$eigenvalue[["lower"]])
      expect_lte(fit$certificate$gradient[["upper"]], fit$target$eps_g)
    }
    expect_lt(at$value, mapped(warm(eps = run[1], method = "newton-ridge", loss = "logistic", seed = run[2]))$value)
  }
  expect_gte(certified, 4) # others spend all on steps
  expect_lt(at$gradient, 0.002)
})

test_that("certificates hold", {
  holds <- vapply(seq_len(long_values(100, 6)), function(seed) {
    fit <- warm(eps = 2, seed = seed, control = short)
    at <- mapped(fit)
    eigenvalue <- fit$certificate$eigenvalue[["lower"]]
    gradient <- fit$certificate$gradient[["upper"]]
    (is.na(gradient) || at$gradient <= gradient) && (is.na(eigenvalue) || at$eigenvalue >= eigenvalue)
  }, NA)
  expect_gte(sum(holds), stats::qbinom(1e-4, length(holds), 0.95))
})

test_that("a saddle point is left", {
  for (seed in seq_len(long_values(20, 2))) {
    set.seed(seed)
    p <- saddle_problem(10000)
    for (start in list(NULL, p$start)) {
      fit <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 1, intercept = FALSE, loss = "sigmoid", start = start,
                       method = "warm-ridge", noise = "reproducible")
      expect_lt(exact_value(p$x, p$y, coef(fit), "sigmoid"), 0.36) # 0.45 at the saddle
      expect_equal(fit$status, "sosp")
      expect_equal(min(fit$trace$phase), 1)
    }
  }
})

test_that("wrong labels far from the boundary mislead the logistic loss more", {
  set.seed(9)
  x <- matrix(stats::rnorm(20000 * 4), 20000)
  x <- pmin(pmax(x / 3, -1), 1)
  eta <- drop(x %*% c(6, -4, 2, 0))
  y <- stats::runif(20000) < stats::plogis(eta)
  far <- order(-x[, 1])[1:1500]
  wrong <- replace(y, far, FALSE)
  right <- function(...) {
    fit <- quiet_fit(x, wrong, eps = 2, delta = 1e-8, radius = sqrt(5), method = "auto", noise = "reproducible", ...)
    mean((predict(fit, x)[-far] > 0) == y[-far])
  }
  set.seed(10)
  expect_gt(right(loss = "sigmoid"), right(loss = "logistic") + 0.01)
})

test_that("the curvature for the posterior mean is that of labels which follow the logistic model", {
  job <- function(loss) list(design = list(intercept = TRUE), geometry = list(constant = 0.5), side = 3, loss = loss)
  curvature <- function(loss, w, matrix) dpsosp:::warm_curvature(job(loss), w, matrix)
  t <- 1.2 # the intercept's coordinate is 0.5; no slopes, the least variance
  near <- function(f) stats::integrate(function(x) f(x) * stats::dnorm(x, t, 0.1), t - 1, t + 1)$value
  second <- function(x) tanh(x / 2) * stats::plogis(x) * stats::plogis(-x) * tanh(x / 2)
  none <- matrix(0, 3, 3)
  expect_equal(curvature(loss_sigmoid(), c(2.4, 0, 0), none), near(second), tolerance = 0.01)
  expect_equal(curvature(loss_logistic(), c(2.4, 0, 0), none), near(function(x) stats::plogis(x) * stats::plogis(-x)),
               tolerance = 0.01)
  spread <- curvature(loss_logistic(), c(0, 1, 1), diag(3))
  expect_equal(spread, stats::integrate(function(x) stats::plogis(x) * stats::plogis(-x) * stats::dnorm(x, 0, sqrt(2)),
                                        -20, 20)$value, tolerance = 0.02)
  expect_equal(spread, curvature(loss_logistic(), c(0, sqrt(3), sqrt(3)), NULL)) # rows of norm about one
})

test_that("a penalty that is not convex belongs to the loss itself", {
  light <- warm(loss = "logistic", penalty = penalty_nonconvex(1e-6), eps = 300)
  heavy <- warm(loss = "logistic", penalty = penalty_nonconvex(3), eps = 300)
  expect_lt(sum(abs(coef(heavy)[-1])), 0.2 * sum(abs(coef(light)[-1])))
  expect_output(print(summary(light)), "nonconvex penalty 1e-06", fixed = TRUE)
})

test_that("weights, offsets, no intercept and both relations", {
  d$w <- rep(c(1, 0.5), length.out = n)
  d$o <- d$b
  for (fit in list(warm(d, weights = w, control = short), warm(d, formula = y ~ a + f + offset(b), control = short),
                   warm(d, formula = y ~ 0 + a + b, control = short), warm(d, neighbours = "zero-out", control = short),
                   warm(d, geometry = geometry_public(0, 0.5), formula = y ~ b, control = short))) {
    expect_true(all(is.finite(coef(fit))))
    expect_equal(fit$privacy$rho, sum(dp_ledger(fit)$rho), tolerance = 1e-9)
  }
})

test_that("fits to sources and shards are those in memory", {
  skip_unless_long()
  same <- function(source, tolerance) {
    ours <- warm(control = short)
    theirs <- warm(source, control = short)
    expect_equal(coef(theirs), coef(ours), tolerance = tolerance)
    expect_equal(as.data.frame(dp_ledger(theirs)), as.data.frame(dp_ledger(ours)), tolerance = 1e-9)
  }
  same(dp_source(in_chunks(d, 1300)), 0)
  same(source_csv(d, 1300), 0)
  shard_workers(c("one", "two"))
  same(dp_shards(frame_shards(n, 3), c("one", "two")), 1e-8)
})

test_that("no record decides between a result and an error, or about a message", {
  said <- function(data) {
    found <- character()
    set.seed(1)
    withCallingHandlers(
      dp_sosp(y ~ a + b + f, data, eps = 1, delta = 1e-6, loss = "sigmoid", bounds = frame_bounds, control = short,
              method = "warm-ridge", progress = FALSE, noise = "reproducible"),
      condition = function(c) {
        found <<- c(found, class(c)[1])
        if (inherits(c, "message")) invokeRestart("muffleMessage")
        if (inherits(c, "warning")) invokeRestart("muffleWarning")
      }
    )
    found
  }
  usual <- said(d)
  expect_gt(length(usual), 0)
  for (hostile in list(NA, Inf, -1e308, 1e308)) expect_identical(said(replace(d, "a", replace(d$a, 1, hostile))), usual)
  expect_identical(said(replace(d, "y", replace(d$y, 1, NA))), usual)
})

test_that("what it does not take is refused before a charge", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(pattern, ..., formula = y ~ a + b, loss = "sigmoid") {
    expect_error(dp_sosp(formula, d, budget = budget, method = "warm-ridge", bounds = frame_bounds, loss = loss, ...),
                 pattern, class = "dpsosp_error_argument")
  }
  refused("is for problems that are not convex.*newton-ridge", loss = "logistic")
  refused("logistic loss with this penalty is", loss = "logistic", penalty = penalty_ridge(0.1))
  refused("needs columns beside the intercept", formula = y ~ 1)
  refused("needs a geometry", geometry = "none")
  refused("is for losses of one predictor", formula = f ~ a, loss = "multinomial")
  refused("jumps", formula = a ~ b, loss = loss_huber(c(10, 30), c = 2))
  refused("Intervals are for convex losses", inference = "sandwich")
  refused("come from `control_warm_ridge\\(\\)`", control = control_newton_ridge())
  expect_error(control_warm_ridge(own_share = 1.5), "own_share", class = "dpsosp_error_argument")
  expect_error(dp_plan(n = 1000, eps = 1, numeric = 3, method = "warm-ridge"), "not convex",
               class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
})
