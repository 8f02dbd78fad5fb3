methods <- c("opt", "opt-ls", "2opt", "2opt-ls")
searches <- c("gaussian", "svt", "exponential")
sharp <- sosp(2e-5, 0.5)

# ---- every way to run ----

test_that("every method, set of constants and line search runs and accounts for itself", {
  p <- problem_matrix(200)
  for (constants in c("tight", "published")) {
    for (method in methods) {
      for (search in searches) {
        set.seed(5)
        fit <- quiet_fit(p$x, p$y, eps = 2, radius = 2, method = method, loss = "sigmoid", noise = "reproducible",
                         control = control_opt(constants, search, max_iterations = 100), target = sosp(0.1, 0.05))
        expect_true(fit$status %in% c("sosp", "budget", "iterations", "start", "noise"))
        expect_true(all(is.finite(coef(fit))))
        # One row of the trace per release, in the order of the ledger.
        ledger <- dp_ledger(fit)
        answers <- without_values(ledger)
        expect_equal(fit$trace$query, answers$what)
        expect_equal(fit$trace$rho, answers$rho)
        released <- !(fit$trace$query == "line search" & search != "gaussian") # these release a choice only
        gradient <- fit$trace$query == "gradient"
        expect_true(all(fit$trace$estimate[gradient] <= fit$trace$bound[gradient]))
        expect_true(all(fit$trace$sd[gradient | fit$trace$query == "hessian"] > 0))
        expect_true(all(is.na(fit$trace$estimate[!released])))
        expect_equal(max(fit$trace$phase), if (startsWith(method, "2")) max(fit$trace$phase) else 1)
        expect_equal("line search" %in% fit$trace$query, endsWith(method, "-ls") && "line search" %in% ledger$what)
        expect_equal(fit$iterations[["done"]], sum(gradient & fit$trace$phase == max(fit$trace$phase)))
        if (fit$status == "sosp" && constants == "tight") {
          expect_lte(fit$certificate$gradient[["upper"]], 0.1)
          expect_gte(fit$certificate$eigenvalue[["lower"]], -0.05)
        }
      }
    }
  }
})

test_that("line searches are made, and by the mechanism asked for", {
  p <- problem_matrix(500)
  mechanism <- c(gaussian = "gaussian", svt = "sparse vector", exponential = "exponential")
  for (constants in c("tight", "published")) {
    for (search in searches) {
      fit <- quiet_fit(p$x, p$y, eps = 100, delta = 1e-6, radius = 2, method = "opt-ls", target = sosp(0.01, 0.5),
                       control = control_opt(constants, search, max_iterations = 100))
      rows <- dp_ledger(fit)$what == "line search"
      expect_true(any(rows))
      expect_equal(unique(dp_ledger(fit)$mechanism[rows]), mechanism[[search]])
      # No step length is negative, and the steps taken are in the trace.
      expect_true(any(fit$trace$step > 0))
    }
  }
})

test_that("statuses say how a run ended", {
  p <- problem_matrix(500)
  fit <- function(...) quiet_fit(p$x, p$y, delta = 1e-6, radius = 2, ...)
  easy <- fit(eps = 5, target = sosp(0.3, 0.5))
  expect_equal(easy$status, "start") # which meets the target
  expect_lte(easy$certificate$gradient[["upper"]], 0.3)
  expect_true(easy$certificate$eigenvalue_known)
  expect_equal(easy$certificate$eigenvalue[["lower"]], 0)
  hard <- fit(eps = 0.5, target = sosp(1e-9, 0.5))
  expect_equal(hard$status, "budget")
  expect_equal(sum(dp_ledger(hard)$rho), hard$privacy$rho, tolerance = 1e-9)
  # A start has no improvement to release.
  expect_equal(sum(dp_ledger(hard)$rho[dp_ledger(hard)$what == "unused"]),
               if (hard$checks$explained$sd == 0) 0.03 * hard$privacy$rho else 0)
  few <- fit(eps = 5, target = sosp(1e-4, 0.5), method = "opt", control = control_opt("published", max_iterations = 3))
  expect_equal(few$status, "iterations")
  expect_equal(few$iterations, c(done = 3, planned = 3))
  # Two phases: the first one has the square root of the number of iterations.
  two <- fit(eps = 0.5, target = sosp(1e-9, 0.5), method = "2opt", control = control_opt(max_iterations = 100))
  expect_equal(sum(two$trace$phase == 1), 10)
  expect_equal(share_of_first(two), 0.75, tolerance = 1e-6)
})

test_that("a Hessian is asked for only where curvature is not known", {
  p <- problem_matrix(2000)
  fit <- function(...) quiet_fit(p$x, p$y, eps = 20, delta = 1e-6, radius = 2, method = "opt", ...)
  expect_false("hessian" %in% fit(target = sosp(0.1, 0.01))$trace$query) # the logistic loss is convex
  known <- fit(loss = "sigmoid", target = sosp(0.1, 0.0963)) # 1 / (6 sqrt(3)) = 0.09623
  expect_false("hessian" %in% known$trace$query)
  expect_equal(known$certificate$eigenvalue[["lower"]], -1 / (6 * sqrt(3)), tolerance = 1e-4)
  asked <- fit(loss = "sigmoid", target = sosp(0.1, 0.05))
  expect_true("hessian" %in% asked$trace$query)
  expect_false(isTRUE(asked$certificate$eigenvalue_known))
  expect_lte(asked$certificate$eigenvalue[["lower"]], asked$certificate$eigenvalue[["estimate"]])
  # The curvature of the nonconvex penalty, 2 lambda (1 - 3 w^2) / (1 + w^2)^3, is at least -lambda / 2.
  expect_true("hessian" %in% fit(target = sosp(0.1, 0.04), penalty = penalty_nonconvex(0.1))$trace$query)
  expect_false("hessian" %in% fit(target = sosp(0.1, 0.06), penalty = penalty_nonconvex(0.1))$trace$query)
})

test_that("the target's eps_h follows from the third derivatives of loss and penalty", {
  p <- problem_matrix(200)
  fit <- quiet_fit(p$x, p$y, eps = 2, radius = 2, penalty = penalty_nonconvex(0.02), target = sosp(alpha = 0.1))
  of_penalty <- optimise(function(w) 24 * w * (1 - w^2) / (1 + w^2)^4, c(0, 1), maximum = TRUE)$objective
  expect_equal(fit$target$eps_h, sqrt((1 / (6 * sqrt(3)) + 0.02 * of_penalty) * 0.1), tolerance = 1e-3)
})

test_that("an estimated gap is a released value", {
  p <- problem_matrix(500)
  fit <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, start = c(0.1, 0, 0), target = sosp(0.3, 0.5),
                   control = control_opt(gap_share = 0.1))
  expect_equal(fit$trace$query[1], "value")
  expect_equal(fit$trace$rho[1] / fit$privacy$rho, 0.1 * (1 - 0.032), tolerance = 1e-9) # the rest is for checks
  given <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, start = c(0.1, 0, 0), target = sosp(0.3, 0.5),
                     control = control_opt(gap = 1))
  expect_false("value" %in% given$trace$query)
})

# ---- randomness ----

test_that("reproducible fits follow set.seed(), secure ones do not, and leave it alone", {
  d <- problem_frame(200)
  run <- function(noise, seed = 3) {
    set.seed(seed)
    quiet_fit(y ~ a + f, d, eps = 20, delta = 1e-6, noise = noise)
  }
  expect_identical(run("reproducible"), run("reproducible"))
  expect_false(identical(coef(run("reproducible")), coef(run("reproducible", 4))))
  first <- run("secure")
  set.seed(3)
  expect_identical(runif(1), {
    run("secure")
    runif(1)
  })
  second <- run("secure")
  expect_false(identical(first$trace$estimate, second$trace$estimate))
  expect_false(any(coef(first) == coef(second)))
  if (exists(".Random.seed", globalenv())) rm(".Random.seed", envir = globalenv())
  quiet_fit(y ~ a, d, eps = 1)
  expect_false(exists(".Random.seed", globalenv()))
  expect_output(print(run("reproducible")), "NOT FOR RELEASE")
  expect_false(any(grepl("STUDY", capture.output(print(first)))))
})

# ---- correctness in the limit of little noise ----

near <- function(x, y, tolerance = 0.03) {
  expect_equal(names(x), names(y))
  expect_lt(max(abs(x - y)), tolerance)
}

test_that("with a huge budget a fit to a matrix is the minimum of the clipped problem", {
  p <- problem_matrix(1000, 3)
  for (radius in c(1, 2)) { # almost all rows clipped, none
    for (intercept in c(TRUE, FALSE)) {
      w <- exact_minimum(unit_rows(p$x, radius, intercept), p$y)
      fit <- quiet_fit(p$x, p$y, eps = 1e6, delta = 1e-6, radius = radius, intercept = intercept, target = sharp)
      near(coef(fit), setNames(w / radius, c(if (intercept) "(Intercept)", colnames(p$x))))
      at_fit <- exact_gradient(unit_rows(p$x, radius, intercept), p$y, coef(fit) * radius)
      expect_lt(sqrt(sum(at_fit^2)), 2e-4)
    }
  }
  for (method in methods) {
    # In a geometry long rows are clipped.
    fit <- quiet_fit(p$x, p$y, eps = 1e4, delta = 1e-6, radius = 2, method = method, geometry = "none")
    near(unname(coef(fit)), unname(coef(glm(p$y > 0 ~ p$x, family = binomial))), 0.06)
  }
})

test_that("with a huge budget a penalised fit is the minimum of the penalised problem", {
  p <- problem_matrix(1000, 3)
  z <- unit_rows(p$x, 2)
  w <- exact_minimum(z, p$y, lambda = 0.02)
  fit <- quiet_fit(p$x, p$y, eps = 1e6, delta = 1e-6, radius = 2, target = sharp, penalty = penalty_ridge(0.02))
  near(unname(coef(fit)) * 2, w)
  bent <- quiet_fit(p$x, p$y, eps = 1e6, delta = 1e-6, radius = 2, target = sosp(2e-5, 0.2),
                    penalty = penalty_nonconvex(0.02))
  at <- unname(coef(bent)) * 2
  expect_lt(max(abs(exact_gradient(z, p$y, at) + c(0, 0.02 * 2 * at[-1] / (1 + at[-1]^2)^2))), 2e-4)
})

test_that("with a huge budget a fit of a formula is that of glm()", {
  d <- problem_frame(1000)
  fit <- function(formula) {
    bounds <- frame_bounds[intersect(all.vars(formula), names(frame_bounds))]
    quiet_fit(formula, d, eps = 1e6, delta = 1e-6, bounds = bounds, target = sharp)
  }
  reference <- function(formula) coef(glm(formula, binomial, d))
  near(coef(fit(y ~ a + b + f)), reference(y ~ a + b + f))
  near(coef(fit(y ~ b + f - 1)), reference(y ~ b + f - 1))
  near(coef(fit(y ~ b - 1)), reference(y ~ b - 1))
  near(coef(fit(y ~ 1)), reference(y ~ 1))
  near(coef(fit(y == "yes" ~ b)), reference(y ~ b))
  wide <- list(a = c(0, 40), b = c(-1, 3))
  near(coef(quiet_fit(y ~ a + b, d, eps = 1e6, delta = 1e-6, bounds = wide, target = sharp)), reference(y ~ a + b))
  log_b <- list(`log(b + 2)` = c(0, log(3)))
  near(coef(quiet_fit(y ~ log(b + 2), d, eps = 1e6, delta = 1e-6, bounds = log_b, target = sharp)),
       reference(y ~ log(b + 2)))
})

test_that("values outside the bounds count as the bounds", {
  d <- problem_frame(1000)
  clipped <- transform(d, a = pmin(pmax(a, 15), 25))
  fit <- quiet_fit(y ~ a, d, eps = 1e6, delta = 1e-6, bounds = list(a = c(15, 25)), target = sharp)
  near(coef(fit), coef(glm(y ~ a, binomial, clipped)))
})

test_that("rows with missing values do not move the minimum", {
  d <- problem_frame(1000)
  broken <- rbind(d, transform(d[1:300, ], a = NA), transform(d[1:50, ], y = NA), transform(d[1:50, ], f = NA))
  fit <- quiet_fit(y ~ a + f, broken, eps = 1e6, delta = 1e-6, bounds = frame_bounds["a"], target = sharp)
  near(coef(fit), coef(glm(y ~ a + f, binomial, d)))
  expect_equal(nobs(fit), 1400)
})

test_that("units, order and the name of the classes do not matter", {
  d <- problem_frame(400)
  run <- function(formula, data, bounds, ...) {
    force(data)
    set.seed(8)
    quiet_fit(formula, data, eps = 1, delta = 1e-6, bounds = bounds, noise = "reproducible", ...)
  }
  first <- run(y ~ a + b + f, d, frame_bounds)
  kilo <- run(y ~ a + b + f, transform(d, a = 1000 * a), list(a = c(10, 30) * 1000, b = c(-1, 1)))
  expect_equal(coef(kilo)[-2], coef(first)[-2], tolerance = 1e-5)
  expect_equal(coef(kilo)[["a"]] * 1000, coef(first)[["a"]], tolerance = 1e-5)
  shifted <- run(y ~ a + b + f, transform(d, a = a - 20), list(a = c(-10, 10), b = c(-1, 1)))
  expect_equal(coef(shifted)[-1], coef(first)[-1], tolerance = 1e-5)
  expect_equal(coef(shifted)[[1]], coef(first)[[1]] + 20 * coef(first)[["a"]], tolerance = 1e-5)
  expect_equal(predict(shifted, transform(d, a = a - 20)), predict(first, d), tolerance = 1e-5)
  expect_equal(coef(run(y ~ a + b + f, d[sample(nrow(d)), ], frame_bounds)), coef(first), tolerance = 1e-5)
  rownames(d) <- rev(rownames(d))
  expect_equal(coef(run(y ~ a + b + f, d, frame_bounds)), coef(first), tolerance = 1e-5)
  expect_equal(coef(run(y ~ a + b + f, transform(d, y = as.integer(y) - 1L), frame_bounds)), coef(first),
               tolerance = 1e-5)
  expect_equal(coef(run(y ~ ., d, frame_bounds))[names(coef(first))], coef(first), tolerance = 1e-5)
  expect_equal(coef(run(y ~ a + b + f, structure(d, class = c("tbl_df", "tbl", "data.frame")), frame_bounds)),
               coef(first), tolerance = 1e-5)
})

test_that("a formula and the matrix that it stands for give the same fit", {
  d <- problem_frame(300)
  run <- function(...) {
    set.seed(8)
    quiet_fit(..., eps = 1, delta = 1e-6, noise = "reproducible")
  }
  formula <- run(y ~ b, d, bounds = list(b = c(-1, 1)), radius = 1.2)
  matrix <- run(cbind(b = d$b), d$y, bounds = c(-1, 1), radius = 1.2)
  expect_equal(coef(formula), coef(matrix), tolerance = 1e-9)
  expect_equal(formula$trace, matrix$trace)
})

test_that("integer matrices, and columns without names, are taken", {
  set.seed(2)
  x <- matrix(sample(-3:3, 200, TRUE), 100)
  y <- rep(0:1, 50)
  expect_equal(names(coef(quiet_fit(x, y, eps = 1, radius = 4))), c("(Intercept)", "x1", "x2"))
  expect_equal(names(coef(quiet_fit(x, y, eps = 1, radius = 4, intercept = FALSE))), c("x1", "x2"))
  set.seed(1)
  first <- quiet_fit(x, y, eps = 1, radius = 4, noise = "reproducible")
  set.seed(1)
  expect_identical(coef(quiet_fit(x + 0, y, eps = 1, radius = 4, noise = "reproducible")), coef(first))
})

# ---- certificates ----

# Coverage of confidence bounds: fewer than expected with probability below 1e-4.
expect_covered <- function(hits, confidence) {
  expect_gte(sum(hits), qbinom(1e-4, length(hits), confidence))
}

test_that("the bound on one gradient covers as often as it says, not more", {
  skip_on_cran()
  p <- problem_matrix(300, 4)
  truth <- sqrt(sum(exact_gradient(unit_rows(p$x, 2), p$y, numeric(5))^2))
  set.seed(20)
  times <- long_size(600, 200)
  fits <- replicate(times, simplify = FALSE, quiet_fit(
    p$x, p$y, eps = 10, delta = 1e-6, radius = 2, method = "opt", noise = "reproducible", target = sosp(1e-6, 1),
    start = numeric(5), control = control_opt(max_iterations = 1, confidence = 0.8)
  ))
  expect_true(all(vapply(fits, function(fit) nrow(fit$trace), 0L) == 1L))
  covered <- sum(vapply(fits, function(fit) truth <= fit$certificate$gradient[["upper"]], NA))
  first <- 1 - 0.2 * 6 / pi^2 # the error probability spent on the first look at a point; later looks were possible
  expect_gte(covered, qbinom(1e-4, times, first))
  expect_lte(covered, qbinom(1e-4, times, first, lower.tail = FALSE))
})

test_that("certificates of whole runs hold with their confidence", {
  skip_on_cran()
  p <- problem_matrix(500)
  z <- unit_rows(p$x, 2)
  set.seed(21)
  for (method in long_values(c("opt", "2opt-ls"))) {
    upper <- measured <- logical(100)
    for (i in 1:100) {
      fit <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, method = method, noise = "reproducible",
                       control = control_opt(max_iterations = 100))
      truth <- sqrt(sum(exact_gradient(z, p$y, coef(fit) * 2)^2))
      measured[i] <- !is.na(fit$certificate$gradient[["upper"]])
      upper[i] <- measured[i] && truth <= fit$certificate$gradient[["upper"]]
    }
    expect_gt(mean(measured), 0.5)
    expect_covered(upper[measured], 0.95)
  }
})

test_that("certificates of curvature hold with their confidence", {
  skip_on_cran()
  p <- problem_matrix(3000)
  z <- unit_rows(p$x, 2)
  set.seed(22)
  gradient <- eigen_lower <- certified <- logical(100)
  for (i in 1:100) {
    fit <- quiet_fit(p$x, p$y, eps = 3, delta = 1e-6, radius = 2, loss = "sigmoid", noise = "reproducible",
                     method = if (i %% 2) "opt" else "2opt-ls", target = sosp(0.05, 0.06))
    w <- coef(fit) * 2
    certified[i] <- fit$status %in% c("sosp", "start", "noise")
    gradient[i] <- sqrt(sum(exact_gradient(z, p$y, w, "sigmoid")^2)) <= fit$certificate$gradient[["upper"]]
    smallest <- min(eigen(exact_hessian(z, p$y, w, "sigmoid"), TRUE, TRUE)$values)
    eigen_lower[i] <- smallest >= fit$certificate$eigenvalue[["lower"]]
  }
  expect_gt(mean(certified), 0.5)
  expect_covered(gradient[!is.na(gradient)], 0.95)
  expect_gt(sum(!is.na(eigen_lower)), 50)
  expect_covered(eigen_lower[!is.na(eigen_lower)], 0.95)
})

test_that("where the gradient is small and the curvature negative, the step is along the curvature", {
  # All records are badly classified at the start, where the sigmoid loss has its most negative curvature.
  x <- rbind(c(0.6, 0.6), c(0.6, -0.6))[rep(1:2, 1000), ]
  y <- rep(1, 2000)
  z <- unit_rows(x, 1, FALSE)
  start <- c(-2.2, 0)
  eigenvalues <- function(w) eigen(exact_hessian(z, y, w, "sigmoid"), TRUE, TRUE)$values
  expect_lt(sqrt(sum(exact_gradient(z, y, start, "sigmoid")^2)), 0.11)
  expect_lt(max(eigenvalues(start)), -0.03)
  set.seed(23)
  for (method in methods) {
    fit <- quiet_fit(x, y, eps = 50, delta = 1e-6, radius = 1, intercept = FALSE, loss = "sigmoid", start = start,
                     target = sosp(0.15, 0.02), method = method, noise = "reproducible")
    expect_true(fit$status %in% c("sosp", "noise")) # certified, if no better than a constant
    hessians <- fit$trace[fit$trace$query == "hessian", ]
    expect_lt(hessians$estimate[1], -0.02)
    expect_true(any(fit$trace$step > 0))
    expect_gte(min(eigenvalues(coef(fit))), -0.02)
  }
})

# ---- what is said on the way ----

test_that("what is decided for the user is said in messages with classes", {
  d <- problem_frame(100)
  expect_message(dp_sosp(y ~ b, d, eps = 1, bounds = frame_bounds["b"]), class = "dpsosp_message_delta")
  expect_message(suppressWarnings(dp_sosp(y ~ b, d, eps = 1, delta = 1e-6)), class = "dpsosp_message_ranges")
  # One hundred records are too few to find a range at this budget.
  set.seed(1)
  expect_warning(
    expect_warning(suppressMessages(dp_sosp(y ~ b, d, eps = 0.1, noise = "reproducible")),
                   class = "dpsosp_warning_ranges"),
    class = "dpsosp_warning_target"
  )
  expect_message(dp_sosp(y ~ f, d, eps = 20, delta = 1e-6), class = "dpsosp_message_geometry")
  expect_silent(dp_sosp(y ~ b, d, eps = 20, delta = 1e-6, bounds = frame_bounds["b"], geometry = "none"))
  expect_silent(dp_sosp(y ~ f, d, eps = 20, delta = 1e-6, geometry = "none"))
  fit <- quiet_fit(y ~ b, d, eps = 1)
  expect_equal(fit$privacy$delta, 1e-4)
  ledger <- dp_ledger(fit)
  share <- sum(ledger$rho[ledger$what == "ranges"]) / fit$privacy$rho
  expect_gt(share, 0)
  expect_lte(share, 0.05 * (1 + 1e-12))
})

test_that("a progress bar changes nothing", {
  p <- problem_matrix(200)
  run <- function(progress) {
    set.seed(1)
    dp_sosp(p$x, p$y > 0, eps = 1, delta = 1e-6, radius = 2, noise = "reproducible", progress = progress)
  }
  capture.output(suppressMessages(with <- run(TRUE)), type = "message")
  without <- run(FALSE)
  with$call <- without$call
  expect_identical(with, without)
})
