# Population certificates from records that were not used in the fit.

set.seed(1)
truth <- saddle_problem(2e5, 3) # represents the population
records <- function(n) {
  problem <- saddle_problem(n, 3)
  data.frame(problem$x, y = problem$y)
}
d <- records(8000)
columns <- paste0("X", 1:3)
ranges <- stats::setNames(rep(list(c(-1, 1)), 3), columns)
fit_of <- function(data, ..., method = "opt") {
  quiet_fit(y ~ . - 1, data, eps = 2, delta = 1e-6, loss = "sigmoid", method = method, bounds = ranges, radius = 1, ...)
}
certify <- function(fit, data, eps = 1, ...) {
  suppressMessages(dp_certify(fit, data, eps = eps, delta = if (!is.null(eps)) 1e-6, ...))
}
population <- function(w) {
  p <- stats::plogis(truth$y * (truth$x %*% w))
  slope <- as.vector(-truth$y * p * (1 - p))
  curvature <- as.vector(p * (1 - p) * (2 * p - 1))
  list(gradient = sqrt(sum(colMeans(slope * truth$x)^2)),
       eigenvalue = min(eigen(crossprod(truth$x * curvature, truth$x) / 2e5)$values))
}
fit <- fit_of(d[1:4000, ])
others <- d[4001:8000, ]

test_that("the bounds are of the population's gradient and eigenvalue, and hold as often as they say", {
  there <- population(coef(fit))
  held <- replicate(20, {
    certificate <- certify(fit, records(4000))
    c(certificate$gradient[["upper"]] >= there$gradient, certificate$eigenvalue[["lower"]] <= there$eigenvalue)
  })
  expect_gte(sum(held[1, ] & held[2, ]), 17) # of 20, each with probability at least .95: fewer occur once in 3000 times
  # neither bound is trivial, and more records or budget make both tighter
  few <- certify(fit, others[1:400, ])
  many <- certify(fit, records(40000))
  expect_lt(many$gradient[["upper"]], few$gradient[["upper"]])
  expect_gt(many$eigenvalue[["lower"]], few$eigenvalue[["lower"]])
  expect_lt(many$gradient[["upper"]] - there$gradient, 0.02)
  expect_gt(many$eigenvalue[["lower"]], there$eigenvalue - 0.03)
  expect_lt(certify(fit, others, eps = 8)$gradient[["upper"]], certify(fit, others, eps = 0.1)$gradient[["upper"]])
})

test_that("it is paid for once, from a budget of its own or a shared one", {
  certificate <- certify(fit, others)
  expect_s3_class(certificate, "dp_certificate")
  expect_identical(certificate$of, "population")
  expect_identical(certificate$n, 4000L)
  expect_identical(certificate$privacy$ledger$what[1], "fresh records")
  expect_equal(sum(certificate$privacy$ledger$rho), dp_convert(eps = 1, delta = 1e-6, to = "mu")^2 / 2)
  budget <- dp_budget(eps = 3, delta = 1e-6)
  certify(fit, others, budget = budget)
  expect_identical(dp_ledger(budget)$what, "fresh records")
  certify(fit, others, eps = NULL, budget = budget)
  expect_error(certify(fit, others, budget = budget), class = "dpsosp_budget_exhausted")
})

test_that("a source's records are read once, and are those of a data frame", {
  types <- c(stats::setNames(rep("numeric", 3), columns), y = "numeric")
  calls <- 0
  open <- in_chunks(others, 700)
  source <- dp_source(function() {
    calls <<- calls + 1
    open()
  }, n = 4000, types = types, once = TRUE)
  certificate <- certify(fit, source, eps = 20)
  expect_identical(calls, 1)
  expect_near(certificate$gradient[["upper"]], certify(fit, others, eps = 20)$gradient[["upper"]], 0.02)
  expect_error(certify(fit, source), "once only, and was", class = "dpsosp_error_argument")
  expect_error(certify(fit, dp_source(open, n = 5000)), class = "dpsosp_error_source")
})

test_that("fits to matrices, by other methods and of convex losses are certified, too", {
  x <- as.matrix(d[columns])
  by_matrix <- quiet_fit(x[1:4000, ], d$y[1:4000] > 0, eps = 2, method = "gd", radius = 1, intercept = FALSE)
  certificate <- certify(by_matrix, x[-(1:4000), ], y = d$y[-(1:4000)] > 0)
  expect_true(certificate$eigenvalue_known)
  expect_identical(certificate$eigenvalue[["lower"]], 0)
  expect_lt(certificate$gradient[["upper"]], 0.2)
  huber <- quiet_fit(X1 ~ X2, d[1:4000, ], eps = 2, method = "newton", loss = loss_huber(c(-1, 1)),
                     bounds = ranges["X2"])
  expect_lt(certify(huber, others)$gradient[["upper"]], 0.2)
})

test_that("printing says of what it is, and that it is private", {
  certificate <- certify(fit, others)
  printed <- utils::capture.output(print(certificate))
  expect_identical(printed[1:2], c("<dp_certificate> of the population, from 4000 other records",
                                   "Private: eps = 1, delta = 1e-06 (replace-one, Gaussian DP, exact)"))
  expect_match(printed[3], "Gradient norm <= ")
  expect_identical(printed[5], "Both with confidence 0.95; on the scale of the mapped rows")
})

test_that("a fit keeps records out for its certificate, by their numbers alone", {
  whole <- fit_of(d, certificate = "population")
  expect_identical(nobs(whole), 6800L)
  expect_identical(whole$population$n, 1200L)
  expect_identical(whole$population$privacy[c("eps", "delta")], whole$privacy[c("eps", "delta")])
  expect_identical(whole$certificate$of, "sample")
  expect_output(print(summary(whole)), "Of the population, by 1200 other records: gradient norm <= ")
  there <- population(coef(whole))
  expect_gte(whole$population$gradient[["upper"]], there$gradient)
  expect_lte(whole$population$eigenvalue[["lower"]], there$eigenvalue)
  # held-out records do not affect the fit, and the others do not affect the certificate
  out <- held_out(8000, 0.15)
  same <- function(data) fit_of(data, certificate = "population", noise = "reproducible")
  changed <- list(d, d)
  changed[[1]][out, "y"] <- -d$y[out]
  changed[[2]][!out, ] <- d[!out, ][6800:1, ]
  set.seed(5)
  first <- same(d)
  set.seed(5)
  expect_identical(coef(same(changed[[1]])), coef(first))
  again <- certify(first, changed[[2]][out, ], eps = 2, noise = "reproducible")
  expect_near(again$gradient[["upper"]], first$population$gradient[["upper"]], 0.02)
  # for a matrix, and for a method whose certificate is for the population anyway
  x <- as.matrix(d[columns])
  by_matrix <- quiet_fit(x, d$y > 0, eps = 2, method = "gd", radius = 1, certificate = "population")
  expect_identical(by_matrix$population$n, 1200L)
  expect_null(fit_of(d, method = "spider", certificate = "population")$population)
})

# ---- persons (proofs: persons) ----

# Lists of 1 to 8 records of persons, who have something in common.
persons_of <- function(n, first = 0, copies = NULL) {
  one <- records(n)
  m <- if (is.null(copies)) sample.int(8, n, TRUE) else rep(copies, n)
  rows <- one[rep(seq_len(n), m), ]
  if (is.null(copies)) rows[columns] <- 0.8 * rows[columns] + 0.2 * records(nrow(rows))[columns]
  cbind(rows, person = first + rep(seq_len(n), m))
}
persons_formula <- y ~ X1 + X2 + X3 - 1

test_that("of persons the bounds are of a person's mean loss, and hold as often as they say", {
  fit <- quiet_fit(persons_formula, persons_of(4000), eps = 2, delta = 1e-6, loss = "sigmoid", method = "opt",
                   bounds = ranges, radius = 1, id = person)
  all <- persons_of(1e5)
  p <- stats::plogis(all$y * (as.matrix(all[columns]) %*% coef(fit)))
  share <- 1 / as.vector(table(all$person)[as.character(all$person)]) / 1e5
  slope <- colSums(as.vector(-all$y * p * (1 - p)) * share * all[columns])
  curvature <- as.vector(p * (1 - p) * (2 * p - 1)) * share
  there <- list(gradient = sqrt(sum(slope^2)),
                eigenvalue = min(eigen(crossprod(as.matrix(all[columns]) * curvature, as.matrix(all[columns])))$values))
  held <- replicate(long_size(20, 7), {
    certificate <- certify(fit, persons_of(2000, 1e6), eps = 4)
    c(certificate$gradient[["upper"]] >= there$gradient, certificate$eigenvalue[["lower"]] <= there$eigenvalue)
  })
  expect_gte(sum(held[1, ] & held[2, ]), long_size(17, 5))
  many <- certify(fit, persons_of(20000, 1e6), eps = 20)
  expect_lt(many$gradient[["upper"]] - there$gradient, 0.02)
  expect_gt(many$eigenvalue[["lower"]], there$eigenvalue - 0.03)
  expect_equal(many$gradient[["estimate"]], there$gradient, tolerance = 0.1)
})

test_that("of persons it is what persons tell, not their records, by releases of all persons for one budget", {
  fit <- quiet_fit(persons_formula, persons_of(3000), eps = 2, delta = 1e-6, loss = "sigmoid", method = "gd",
                   bounds = ranges, radius = 1, id = person)
  see <- function(data, noise = "reproducible") {
    set.seed(4)
    certify(fit, data, noise = noise)
  }
  set.seed(9)
  once <- persons_of(2000, copies = 1)
  set.seed(9)
  often <- persons_of(2000, copies = 16)
  certificate <- see(often)
  expect_identical(certificate[c("gradient", "eigenvalue")], see(once)[c("gradient", "eigenvalue")])
  expect_identical(certificate$n, 2000L)
  expect_identical(certificate$persons, list(name = "person", most = 1000L))
  expect_false(any(numbers_in(unclass(certificate)) == nrow(often), na.rm = TRUE))
  expect_identical(dp_ledger(certificate)$what, c("gradient products", "gradient", "hessian"))
  expect_equal(sum(dp_ledger(certificate)$rho), dp_convert(eps = 1, delta = 1e-6, to = "mu")^2 / 2, tolerance = 1e-6)
  expect_identical(utils::capture.output(print(certificate))[1],
                   "<dp_certificate> of the population, from 2,000 other persons, at most 1,000 records each")
  expect_error(certify(fit, records(100)), "`person`", class = "dpsosp_error_argument")
  expect_error(certify(fit, dp_source(in_chunks(once, 500))), "is of records", class = "dpsosp_error_persons")
  expect_error(dp_sosp(persons_formula, often, eps = 1, loss = "sigmoid", bounds = ranges, id = person,
                       certificate = "population"), "keep some out with all of their records",
               class = "dpsosp_error_argument")
  x <- as.matrix(often[columns])
  by_matrix <- quiet_fit(x, often$y > 0, eps = 2, method = "gd", radius = 1, id = often$person)
  expect_error(certify(by_matrix, x, y = often$y > 0), "for a formula only", class = "dpsosp_error_persons")
})

test_that("sources of persons are certified as data frames are, also where a database computes the sums", {
  convex <- quiet_fit(X1 ~ X2 + X3, persons_of(2000), eps = 2, delta = 1e-6, loss = loss_huber(c(-1, 1)),
                      bounds = ranges[-1], method = "newton", id = person, records = 8)
  saddle <- quiet_fit(persons_formula, persons_of(2000), eps = 2, delta = 1e-6, loss = "sigmoid", method = "gd",
                      bounds = ranges, radius = 1, id = person, records = 8)
  data <- rbind(persons_of(300), cbind(records(5), person = NA))
  data$X2[c(3, 9)] <- NA
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "d", data)
  sources <- list(chunks = dp_source(in_chunks(data, 100), id = "person"),
                  again = dp_source(in_chunks(data, 100), id = "person", cache = "none"),
                  pushed = dp_source(connection, "d", push = TRUE, id = "person"))
  for (fit in list(convex, saddle)) {
    see <- function(data) {
      set.seed(4)
      expect_silent(x <- dp_certify(fit, data, eps = 1, delta = 1e-6, noise = "reproducible"))
      list(x$gradient, x$eigenvalue, dp_ledger(x)$scale, x$n, x$persons)
    }
    memory <- see(data)
    expect_identical(see(sources$chunks), memory)
    # Second moments of rows that are not in memory are those of records, which are at least as large.
    again <- see(sources$again)
    expect_identical(again[-1], memory[-1])
    expect_gt(again[[1]][["upper"]], memory[[1]][["upper"]])
    expect_equal(see(sources$pushed), again, tolerance = 1e-4)
  }
})

test_that("bounds allow for what a database cuts from matrices of persons with many records", {
  fit <- quiet_fit(persons_formula, persons_of(2000), eps = 2, delta = 1e-6, loss = "sigmoid", method = "gd",
                   bounds = ranges, radius = 1, id = person, records = 300)
  data <- persons_of(60, copies = 300)
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "d", data)
  see <- function(data) {
    set.seed(4)
    x <- dp_certify(fit, data, eps = 1e6, delta = 1e-6, noise = "reproducible")
    list(upper = x$gradient[["upper"]], lower = x$eigenvalue[["lower"]])
  }
  memory <- see(data)
  pushed <- see(dp_source(connection, "d", push = TRUE, id = "person"))
  expect_gte(pushed$upper, memory$upper)
  expect_lte(pushed$lower, memory$lower)
  expect_equal(pushed, memory, tolerance = 5e-3)
  # The certificate of a fit itself, too
  own_lower <- function(data, ...) {
    set.seed(4)
    fit <- quiet_fit(persons_formula, data, eps = 1e6, delta = 1e-6, loss = "sigmoid", method = "gd", bounds = ranges,
                     radius = 1, records = 300, noise = "reproducible", control = control_gd(max_iterations = 2), ...)
    fit$certificate$eigenvalue[["lower"]]
  }
  lower <- own_lower(data, id = person) - own_lower(dp_source(connection, "d", push = TRUE, id = "person"))
  unit <- 301 / 2^20 * max(loss_bounds(fit$loss)[c("curv_lower", "curv_upper")])
  expect_gte(lower, unit / 2)
  expect_lte(lower, 2 * unit)
})

test_that("wrong arguments are errors that name them", {
  several <- quiet_fit(as.matrix(d[1:300, columns]), factor(rep(c("a", "b", "c"), 100)), eps = 4, radius = 2,
                       method = "gd")
  expect_error(dp_certify(several, as.matrix(d[columns]), eps = 1, y = d$y), class = "dpsosp_error_several")
  expect_errors(
    fit_of(d, certificate = "mine"),
    fit_of(d[1:6, ], certificate = "population"),
    quiet_fit(y ~ . - 1, d, budget = dp_budget(eps = 1, delta = 1e-6), certificate = "population"),
    quiet_fit(y ~ . - 1, dp_source(in_chunks(d, 700), n = 8000), eps = 1, certificate = "population"),
    quiet_fit(as.matrix(d[columns]), d$y[-1], eps = 1, radius = 1, certificate = "population"),
    quiet_fit(as.matrix(d[1:99, columns]), factor(rep(1:3, 33)), eps = 1, method = "gd", radius = 1,
              certificate = "population"),
    dp_certify(),
    dp_certify(1, d, eps = 1),
    dp_certify(fit),
    certify(fit, d[1]),
    certify(fit, others, confidence = 1),
    certify(fit, others, y = d$y),
    certify(fit, others, eps = NULL),
    certify(fit, others, epsilon = 1)
  )
})
