# Intervals of contrasts between classes.

sample_of <- function(n, seed = 1, rare = 0) {
  set.seed(seed)
  d <- data.frame(a = stats::rnorm(n), b = stats::runif(n, -2, 2),
                  f = factor(sample(c("p", "q"), n, TRUE), c("p", "q")))
  t <- cbind(u = 0, v = 0.3 + 0.8 * d$a - 0.4 * d$b, w = -0.3 - rare + 0.3 * d$a + 0.5 * (d$f == "q"))
  t <- t - log(-log(matrix(stats::runif(3 * n), n)))
  d$y <- factor(colnames(t)[max.col(t)], colnames(t))
  d
}
ends <- list(a = c(-5, 5), b = c(-2, 2))
infer <- function(data, eps, seed = 1, formula = y ~ a + b + f, ...) {
  set.seed(seed)
  quiet_fit(formula, data, eps = eps, delta = 1e-6, bounds = ends, inference = "sandwich", noise = "reproducible",
            method = "newton-ridge", ...)
}
# Estimates and sandwich errors without privacy, in the order of confint().
reference <- function(data) {
  x <- stats::model.matrix(~ a + b + f, data)
  labels <- levels(data$y)
  y <- outer(as.integer(data$y), seq_along(labels), "==") + 0
  others <- seq_along(labels)[-1]
  w <- matrix(0, ncol(x), length(others))
  for (i in 1:30) {
    p <- exp(cbind(0, x %*% w))
    p <- p / rowSums(p)
    h <- do.call(rbind, lapply(others, function(k) {
      do.call(cbind, lapply(others, function(l) crossprod(x, p[, k] * ((k == l) - p[, l]) * x)))
    }))
    scores <- do.call(cbind, lapply(others, function(k) (p - y)[, k] * x))
    w <- w - matrix(solve(h, colSums(scores)), ncol(x))
  }
  list(estimate = as.vector(w), vcov = solve(h) %*% crossprod(scores) %*% solve(h))
}
d <- sample_of(4000)
exact <- reference(d)
names <- paste(rep(c("v", "w"), each = 4), c("(Intercept)", "a", "b", "fq"), sep = ":")

test_that("with little noise contrasts and their covariance are those without privacy", {
  fit <- infer(d, 1e4)
  expect_identical(rownames(vcov(fit)), names)
  expect_equal(rowMeans(confint(fit)), stats::setNames(exact$estimate, names), tolerance = 0.02)
  expect_equal(unname(vcov(fit)), unname(exact$vcov), tolerance = 0.03)
  expect_equal(unname(coef(fit)[, "v"] - coef(fit)[, "u"]), exact$estimate[1:4], tolerance = 0.02)
  expect_equal(unname(rowSums(coef(fit))), numeric(4), tolerance = 1e-9)
})

test_that("intervals cover the contrasts without privacy, and are resolved", {
  runs <- lapply(seq_len(long_size(200, 40)), function(seed) {
    ends <- confint(infer(d, 2, seed))
    data.frame(covered = ends[, 1] <= exact$estimate & exact$estimate <= ends[, 2], half = (ends[, 2] - ends[, 1]) / 2)
  })
  covered <- vapply(runs, function(run) mean(run$covered, na.rm = TRUE), 0)
  # 95 % of what noise and sampling may do, where the records are the same: at least 93 %, by three standard errors.
  expect_gt(mean(covered), 0.95 - 3 * stats::sd(covered) / sqrt(length(covered)))
  expect_lt(mean(is.na(unlist(lapply(runs, `[[`, "half")))), 0.02)
  half <- apply(sapply(runs, `[[`, "half"), 1, stats::median, na.rm = TRUE)
  expect_lt(max(half / (1.96 * sqrt(diag(exact$vcov)))), 2.5)
})

test_that("contrasts with another class are differences of those with the first one", {
  fit <- infer(d, 5)
  by <- rbind(cbind(-diag(4), 0 * diag(4)), cbind(-diag(4), diag(4)))
  expect_equal(unname(vcov(fit, reference = "v")), unname(by %*% vcov(fit) %*% t(by)), tolerance = 1e-8)
  expect_equal(unname(rowMeans(confint(fit, reference = "v"))), drop(by %*% rowMeans(confint(fit))), tolerance = 1e-8)
  expect_identical(rownames(confint(fit, reference = "v"))[c(1, 5)], c("u:(Intercept)", "w:(Intercept)"))
  expect_identical(confint(fit, "w:a"), confint(fit)["w:a", , drop = FALSE])
  tidied <- generics::tidy(fit, conf.int = TRUE, reference = "w")
  expect_equal(tidied$estimate, unname(rowMeans(confint(fit, reference = "w"))), tolerance = 1e-8)
  expect_identical(tidied$y.level, rep(c("u", "v"), each = 4))
  expect_error(confint(fit, reference = "x"), "reference", class = "dpsosp_error_argument")
  expect_error(vcov(infer(transform(d, y = y == "u"), 5), reference = "u"), "one predictor")
})

test_that("tests of terms are about all classes, and do not depend on the one they are compared with", {
  fit <- infer(d, 5)
  table <- anova(fit)
  expect_identical(table$Df, c(2L, 2L, 2L))
  inference <- dpsosp:::inference_of(fit, NULL, "w")
  expect_equal(dpsosp:::wald_test(inference, rep(c(FALSE, TRUE, FALSE, FALSE), 2))$Chisq, table$Chisq[1],
               tolerance = 1e-6)
  skip_if_not_installed("lmtest")
  expect_equal(unclass(lmtest::coeftest(fit))[, 2], sqrt(diag(vcov(fit))), tolerance = 1e-12)
  expect_equal(lmtest::waldtest(fit, "a")$Chisq[2], table$Chisq[1])
})

test_that("what is shown says what intervals are about", {
  fit <- infer(d, 5)
  shown <- utils::capture.output(print(summary(fit)))
  expect_match(paste(shown, collapse = " "), "nnet::multinom()`: log-odds of each class against `u`", fixed = TRUE)
  expect_match(shown, "^w:fq +[0-9.]+ +[0-9.]+", all = FALSE)
  expect_match(shown, "sandwich intervals for 8 of 8", all = FALSE)
  expect_match(utils::capture.output(print(fit)), "`summary()` compares classes", fixed = TRUE, all = FALSE)
  expect_error(predict(fit, d[1:3, ], se.fit = TRUE), class = "dpsosp_error_several")
  expect_silent(grDevices::pdf(NULL))
  expect_no_error(plot(fit, "coefficients"))
  expect_no_error(plot(fit, "terms"))
  grDevices::dev.off()
  expect_true(dp_verify(fit)$agrees)
  expect_equal(predict(fit, d[1:3, ]), predict(infer(d, 5), d[1:3, ]))
})

test_that("a class with few records or none loses its own contrasts alone", {
  few <- sample_of(4000, rare = 7)
  expect_lt(sum(few$y == "w"), 20)
  none <- d
  none$y <- factor(as.character(d$y), c("u", "v", "w", "x"))
  for (data in list(few, none)) {
    fit <- infer(data, 3)
    lost <- utils::tail(levels(data$y), 1)
    ends <- confint(fit)
    mine <- startsWith(rownames(ends), lost)
    expect_true(all(is.na(ends[mine, ])))
    expect_false(anyNA(ends[!mine, ]))
    expect_true(all(is.finite(confint(fit, unresolved = "wide"))))
    expect_identical(unique(fit$inference$reason[mine]), "too few records of the class")
    expect_true(all(is.na(confint(fit, reference = lost))))
  }
  half <- confint(infer(none, 3))[2:4, ]
  expect_lt(max((half[, 2] - half[, 1]) / 2 / (1.96 * sqrt(diag(exact$vcov)))[2:4]), 2.5)
})

test_that("a level without records is not shown, and others are", {
  data <- d
  data$f <- factor(as.character(d$f), c("p", "q", "r"))
  ends <- confint(infer(data, 5))
  expect_identical(rownames(ends)[is.na(ends[, 1])], c("v:fr", "w:fr"))
})

# ---- what the step rests on ----

test_that("the noise of a projected matrix times a vector is that of its free numbers", {
  side <- 2
  q <- 2
  p <- side * q
  v <- c(1, -2, 0.5, 3)
  total <- matrix(0, p, p)
  for (i in 1:p) for (j in 1:i) {
    e <- matrix(0, p, p)
    e[i, j] <- e[j, i] <- if (i == j) 1 else sqrt(1 / 2)
    total <- total + tcrossprod(drop(dpsosp:::tidy_blocks(e, q) %*% v))
  }
  expect_equal(dpsosp:::block_noise(matrix(v, side), 3), 9 * total, tolerance = 1e-12)
  basis <- dpsosp:::class_basis(c(TRUE, FALSE, TRUE, TRUE))
  expect_equal(crossprod(basis), diag(2))
  expect_equal(unname(rbind(colSums(basis), basis[2, ])), matrix(0, 2, 2))
})

test_that("the curvature of normal rows is that of many of them", {
  set.seed(2)
  geometry <- list(intercept = TRUE, constant = 0.5, spread = c(1, 3))
  u <- cbind(c(1, 0.4, -1), c(-1, 2, 1), c(0, -2.4, 0))
  basis <- dpsosp:::class_basis(rep(TRUE, 3))
  z <- cbind(0.5, matrix(stats::rnorm(2e5), ncol = 2) %*% diag(c(1, 3) / sqrt(10)))
  p <- dpsosp:::softmax_rows(z %*% u)
  want <- matrix(0, 6, 6)
  for (k in 1:2) for (l in 1:2) {
    c <- drop(p %*% (basis[, k] * basis[, l])) - drop(p %*% basis[, k]) * drop(p %*% basis[, l])
    want[(k - 1) * 3 + 1:3, (l - 1) * 3 + 1:3] <- crossprod(z, c * z) / nrow(z)
  }
  found <- dpsosp:::class_curvature(u, basis, geometry, dpsosp:::normal_draws(2))
  expect_equal(found, want, tolerance = 0.02)
  zero <- dpsosp:::class_curvature(0 * u, basis, geometry, dpsosp:::normal_draws(2))
  expect_equal(zero, kronecker(diag(2) / 3, diag(c(0.25, 0.1, 0.9))), tolerance = 1e-10)
})

test_that("a long step reaches the minimiser, which Newton's does not", {
  fit <- infer(d, 1e4)
  n <- 20000
  set.seed(4)
  geometry <- list(intercept = TRUE, constant = 0.75, spread = rep(2, 3))
  z <- cbind(0.75, matrix(stats::rnorm(3 * n, sd = sqrt(1 / 3)), n))
  best <- cbind(c(1, 2, -2, 0), c(0, -3, 1, 1), c(-1, 1, 1, -1))
  best <- best - rowMeans(best)
  basis <- dpsosp:::class_basis(rep(TRUE, 3))
  p <- dpsosp:::softmax_rows(z %*% best)
  at <- 0.5 * best
  here <- dpsosp:::softmax_rows(z %*% at)
  hessian <- matrix(0, 8, 8)
  for (k in 1:2) for (l in 1:2) {
    c <- drop(here %*% (basis[, k] * basis[, l])) - drop(here %*% basis[, k]) * drop(here %*% basis[, l])
    hessian[(k - 1) * 4 + 1:4, (l - 1) * 4 + 1:4] <- crossprod(z, c * z) / n
  }
  gradient <- as.vector(crossprod(z, (here - p) %*% basis)) / n
  newton <- dpsosp:::seen_step(list(point = as.vector(at %*% basis), gradient = gradient, hessian = hessian, sd = 1e-6,
                                    gradient_sd = 1e-6, products = hessian, n = n), 2, logical(8), logical(8))
  bent <- dpsosp:::bent_classes(c(newton, list(basis = basis, at = at, unseen = logical(4))), geometry)
  far <- function(w) max(abs(w - as.vector(best %*% basis)))
  expect_lt(far(bent$w), 0.25 * far(newton$w))
})

# ---- data and refusals ----

test_that("chunks, a database and shards have the intervals of a frame", {
  skip_if_not_installed("RSQLite")
  few <- sample_of(1500, 3)
  fits <- list(infer(few, 20))
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(few, file, row.names = FALSE)
  expect_equal(confint(infer(dp_source(file, levels = levels_of(few)), 20)), confint(fits[[1]]), tolerance = 1e-7)
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  DBI::dbWriteTable(connection, "people", few)
  pushed <- dp_source(connection, "people", levels = levels_of(few), push = TRUE)
  both <- lapply(list(pushed, few), infer, eps = 1e4)
  expect_equal(confint(both[[1]]), confint(both[[2]]), tolerance = 1e-6)
  # The gradient of weighted rows, which certifies the run, is computed in the database.
  expect_equal(both[[1]]$certificate, both[[2]]$certificate, tolerance = 1e-4)
  shard_workers("one")
  shards <- dp_shards(lapply(list(few[1:800, ], few[801:1500, ]), function(rows) {
    eval(bquote(function() .(rows)), globalenv())
  }), "one")
  expect_equal(confint(infer(shards, 20)), confint(fits[[1]]), tolerance = 1e-7)
})

test_that("a later charge has the same intervals as one in the fit, up to noise", {
  set.seed(1)
  fit <- quiet_fit(y ~ a + b + f, d, eps = 20, delta = 1e-6, bounds = ends, noise = "reproducible",
                   method = "newton-ridge")
  later <- dp_inference(fit, d, eps = 20, delta = 1e-6, noise = "reproducible")
  expect_equal(rowMeans(confint(later)), stats::setNames(exact$estimate, names), tolerance = 0.2)
  expect_identical(predict(later, d[1:5, ]), predict(fit, d[1:5, ]))
  expect_error(dp_inference(later, d, eps = 1), class = "dpsosp_error_inference")
  ledger <- dp_ledger(later)
  expect_true(all(c("class hessian", "class products") %in% ledger$what))
})

test_that("weights and persons count in the intervals", {
  set.seed(3)
  data <- cbind(d, weight = 0.5, person = rep(seq_len(2000), 2))
  half <- infer(data, 1e4, weights = weight)
  expect_equal(rowMeans(confint(half)), stats::setNames(exact$estimate, names), tolerance = 0.03)
  twice <- rbind(d[1:2000, ], d[1:2000, ])
  twice$person <- rep(seq_len(2000), 2)
  fits <- list(infer(twice, 1e4, id = person, records = 2), infer(d[1:2000, ], 1e4))
  expect_equal(vcov(fits[[1]]), vcov(fits[[2]]), tolerance = 0.02)
})

test_that("classes of other sizes are no sign that the response follows the predictors", {
  none <- d
  set.seed(4)
  none$y <- factor(sample(c("u", "v", "w"), nrow(d), TRUE, c(0.6, 0.3, 0.1)), levels(d$y))
  better <- vapply(1:4, function(seed) infer(none, 1, seed, y ~ a + b)$checks$explained$better, NA)
  expect_lte(sum(better), 1)
  expect_true(infer(d, 2)$checks$explained$better)
})

test_that("what has no intervals is refused before a charge, with the reason", {
  refused <- function(reason, ...) {
    budget <- dp_budget(eps = 1, delta = 1e-6)
    expect_error(quiet_fit(y ~ a + b, d, budget = budget, bounds = ends, inference = "sandwich", ...), reason,
                 class = "dpsosp_error_several")
    expect_identical(nrow(dp_ledger(budget)), 0L)
  }
  for (method in c("newton", "gd")) refused("newton-ridge", method = method)
  shard_workers("one")
  linked <- dp_shards(sqlite_shards(d[1:400, ])$functions, "one")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(quiet_fit(y ~ a + b, linked, budget = budget, bounds = ends, inference = "sandwich",
                         method = "newton-ridge"), "a database does not compute", class = "dpsosp_error_several")
  fit <- quiet_fit(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = ends, method = "newton-ridge")
  plain <- quiet_fit(y ~ a + b, linked, eps = 1, delta = 1e-6, bounds = ends, method = "newton-ridge")
  expect_error(dp_inference(plain, linked, budget = budget), "a database does not compute",
               class = "dpsosp_error_several")
  testthat::skip_if_not_installed("RSQLite")
  persons <- transform(d[1:400, ], who = rep(1:200, 2))
  rows <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(rows))
  DBI::dbWriteTable(rows, "d", transform(persons, y = as.character(y), f = as.character(f)))
  pushed <- dp_source(rows, "SELECT * FROM d ORDER BY who", n = 200, push = TRUE, id = "who",
                      levels = list(y = levels(d$y), f = levels(d$f)))
  whose <- quiet_fit(y ~ a + b, persons, eps = 1, delta = 1e-6, bounds = ends, method = "newton-ridge", id = who)
  expect_error(dp_inference(whose, pushed, budget = budget), "a database does not compute",
               class = "dpsosp_error_several")
  expect_identical(nrow(dp_ledger(budget)), 0L)
  expect_error(confint(fit), "adds them when fitting", class = "dpsosp_error_absent")
})

test_that("a plan has the widths of fits, and grows with noise and classes", {
  plan <- dp_plan(y ~ a + b + f, d, eps = 2, delta = 1e-6, inference = TRUE, want = list(width = 2))
  fit <- infer(d, 2)
  half <- (confint(fit)[, 2] - confint(fit)[, 1]) / 2
  ratio <- stats::median((half / (1.96 * sqrt(diag(exact$vcov))))[c(2:4, 6:8)])
  expect_lt(abs(log(stats::median(plan$intervals$ratio) / ratio)), log(1.3))
  expect_true(all(plan$intervals$resolved))
  expect_identical(c(plan$classes, plan$d), c(3L, 4L))
  ratio_of <- function(...) dp_plan(..., loss = "multinomial", inference = TRUE)$intervals$ratio[1]
  expect_gt(ratio_of(5000, 4, eps = 1, classes = 3), 1.2 * ratio_of(20000, 4, eps = 1, classes = 3))
  expect_gt(ratio_of(20000, 4, eps = 1, classes = 9), 1.2 * ratio_of(20000, 4, eps = 1, classes = 3))
  enough <- dp_plan(plan$want$n, formula = y ~ a + b + f, schema = d, eps = 2, delta = 1e-6, inference = TRUE,
                    loss = "multinomial")
  expect_equal(stats::median(enough$intervals$ratio), 2, tolerance = 0.02)
  expect_match(utils::capture.output(print(plan)), "for each of 3 classes", fixed = TRUE, all = FALSE)
  expect_true(is.na(plan$excess) && plan$target > 0)
  wrong <- function(pattern, ...) expect_error(dp_plan(100, ..., eps = 1), pattern, class = "dpsosp_error_argument")
  wrong("`classes`", numeric = 1, loss = "multinomial")
  wrong("`classes`", numeric = 1, loss = "multinomial", classes = 2)
  wrong("`classes` is for", numeric = 1, classes = 3)
  wrong("newton-ridge", numeric = 1, loss = "multinomial", classes = 3, method = "newton")
  wrong("columns beside", loss = "multinomial", classes = 3)
  expect_false(any(dp_plan(200, 6, eps = 0.5, loss = "multinomial", classes = 4, inference = TRUE)$intervals$resolved))
})
