# SPIDER from a formula to a fit: costs, printed output and errors. C tests and experiments test its accuracy.

saddle <- function(n = 20000, ..., seed = 1) {
  set.seed(seed)
  p <- saddle_problem(n, 5)
  quiet_fit(p$x, p$y, eps = 4, delta = 1e-6, method = "spider", loss = "sigmoid", radius = 1, intercept = FALSE,
            start = p$start, noise = "reproducible", ...)
}

test_that("the budget is paid once, for all records", {
  fit <- saddle()
  fresh <- fit$privacy$ledger[2, ]
  expect_equal(fresh$what, "fresh records")
  expect_equal(fresh$rho, (1 - 0.002 - 0.03) * fit$privacy$rho)
  expect_lte(sum(fit$privacy$ledger$rho), fit$privacy$rho * (1 + 1e-9))
  expect_equal(fit$privacy$accountant, "gdp")
  expect_gt(sum(fit$trace$query == "gradient difference"), 5)
  expect_equal(sum(fit$trace$rho), fresh$rho)
  gradients <- sum(fit$trace$query %in% c("gradient", "gradient difference"))
  expect_equal(fit$iterations[["done"]], gradients - 1) # the last one is for the certificate
  expect_true(is.na(fit$iterations[["planned"]])) # the number depends on the records
})

test_that("it leaves a saddle, and says that the population is certified", {
  fit <- saddle()
  expect_gt(abs(coef(fit)[[2]]), 0.9)
  expect_equal(fit$status, "sosp")
  expect_equal(fit$certificate$of, "population")
  expect_output(print(summary(fit)), "how flat the population's objective is")
  expect_output(print(summary(fit)), "fresh records")
  expect_equal(generics::glance(fit)$gradient.upper, fit$certificate$gradient[["upper"]])
  hard <- saddle(target = sosp(1e-4, 1e-4))
  expect_equal(hard$status, "records")
  printed <- gsub("\\s+", " ", paste(capture.output(print(hard)), collapse = " "))
  expect_match(printed, "not certified at the target, as all records were read", fixed = TRUE)
  other <- quiet_fit(matrix(1, 9), rep(TRUE, 9), eps = 1, delta = 1e-6, method = "gd", radius = 1)
  expect_equal(other$certificate$of, "sample")
})

test_that("each kind of noise, relation and geometry leads to a fit", {
  for (noise in c("tree", "independent")) {
    expect_s3_class(saddle(5000, control = control_spider(noise = noise)), "dp_sosp")
  }
  expect_s3_class(saddle(5000, neighbours = "zero-out"), "dp_sosp")
  framed <- function(formula = y ~ a + f, ...) {
    quiet_fit(formula, problem_frame(2000), eps = 2, delta = 1e-6, method = "spider", bounds = frame_bounds["a"], ...)
  }
  expect_s3_class(framed(), "dp_sosp")
  expect_s3_class(framed(geometry = "private", penalty = penalty_ridge(0.1)), "dp_sosp")
  expect_s3_class(framed(y ~ a, loss = "huber_svm"), "dp_sosp")
})

test_that("published constants pay once, too, and ask for products with a Hessian", {
  fit <- saddle(control = control_spider("published", noise = "tree"))
  expect_lte(sum(fit$privacy$ledger$rho), fit$privacy$rho * (1 + 1e-9))
  products <- fit$trace$query == "hessian product"
  expect_gt(sum(products), 0)
  expect_equal(sum(fit$trace$query == "hessian"), 1) # for the certificate
  # the published constants guarantee less than the tight ones
  expect_gt(fit$target$eps_g, saddle()$target$eps_g)
  expect_output(print(summary(fit)), "products? with (a Hessian|Hessians)")
  convex <- quiet_fit(y ~ a, problem_frame(2000), eps = 2, delta = 1e-6, method = "spider", bounds = frame_bounds["a"],
                      control = control_spider("published"))
  expect_false("hessian product" %in% convex$trace$query)
  expect_error(quiet_fit(y ~ a, problem_frame(200), eps = 2, method = "spider", loss = "huber_svm",
                         control = control_spider("published")), class = "dpsosp_error_nonsmooth")
})

test_that("an escape by drift asks for no Hessian but that of the certificate", {
  fit <- saddle(control = control_spider(escape = "drift"))
  expect_gt(abs(coef(fit)[[2]]), 0.9)
  expect_equal(fit$status, "sosp")
  expect_equal(sum(fit$trace$query == "hessian"), 1)
  expect_lte(sum(fit$privacy$ledger$rho), fit$privacy$rho * (1 + 1e-9))
  expect_lt(fit$target$eps_g, saddle()$target$eps_g) # gradients have the whole budget
  for (noise in c("tree", "independent")) {
    expect_gt(abs(coef(saddle(control = control_spider(escape = "drift", noise = noise)))[[2]]), 0.9)
  }
  convex <- lapply(c("hessian", "drift"), function(escape) {
    set.seed(3)
    quiet_fit(y ~ a, problem_frame(2000), eps = 2, delta = 1e-6, method = "spider", bounds = frame_bounds["a"],
              noise = "reproducible", control = control_spider(escape = escape))
  })
  expect_identical(coef(convex[[1]]), coef(convex[[2]]))
})

test_that("settings out of their range are refused", {
  expect_error(control_spider("published", escape = "drift"), "leave out `escape`", class = "dpsosp_error_argument")
  expect_error(control_spider(escape = "noise"), class = "dpsosp_error_argument")
  expect_error(control_spider("practical"), class = "dpsosp_error_argument")
  expect_error(control_spider(leaves = 0), class = "dpsosp_error_argument")
  expect_error(control_spider(leaves = 5000), class = "dpsosp_error_argument")
  expect_error(control_spider(noise = "white"), class = "dpsosp_error_argument")
  expect_error(control_spider(certificate_share = 1), class = "dpsosp_error_argument")
  expect_error(saddle_problem(10, 1), class = "dpsosp_error_argument")
})

test_that("the saddle problem has the saddle that it says", {
  set.seed(1)
  p <- saddle_problem(2e5, 4)
  expect_lte(max(rowSums(p$x^2)), 1)
  z <- rbind(p$y * p$x, p$y * p$x %*% diag(c(1, -1, -1, -1)))
  t <- drop(z %*% p$start)
  expect_equal(colMeans(-stats::plogis(t) * stats::plogis(-t) * z), numeric(4), tolerance = 5e-4)
  curvature <- stats::plogis(t) * stats::plogis(-t) * (1 - 2 * stats::plogis(-t))
  expect_equal(min(eigen(crossprod(z, curvature * z) / nrow(z))$values), -0.0295, tolerance = 0.02)
})
