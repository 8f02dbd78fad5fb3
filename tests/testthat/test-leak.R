# What a fit may not hold: values of the data, environments. Data here are doubles that occur nowhere else, and
# strings that occur nowhere else; a fit is written out byte by byte and searched for both.

secret_frame <- function(n = 60) {
  set.seed(11)
  data.frame(
    a = runif(n), b = rexp(n), y = rbinom(n, 1, 0.5), unused = rnorm(n),
    note = paste0("secret-", seq_len(n), "-record"),
    row.names = paste0("person-", seq_len(n))
  )
}
secret_bounds <- list(a = c(0, 1), b = c(0, 5))

# Positions of 8-byte patterns: every double of the data is looked up in the bytes.
holds_double <- function(bytes, values) {
  n <- length(bytes)
  for (shift in 0:7) {
    whole <- (n - shift) %/% 8
    found <- readBin(bytes[shift + seq_len(8 * whole)], "double", whole, endian = .Platform$endian)
    if (any(found %in% values)) return(TRUE)
  }
  FALSE
}
holds_string <- function(bytes, text) {
  length(grepRaw(text, bytes, fixed = TRUE)) > 0L
}

environments_in <- function(x, path = "x", found = character()) {
  if (is.environment(x)) {
    known <- isNamespace(x) || any(vapply(list(baseenv(), globalenv(), emptyenv()), identical, NA, x))
    return(c(found, if (!known) path))
  }
  if (typeof(x) == "closure") found <- environments_in(environment(x), paste0(path, "()"), found)
  if (typeof(x) == "externalptr") return(c(found, paste0(path, "(pointer)")))
  if (is.recursive(x) && !is.function(x)) {
    parts <- as.list(x)
    empty <- vapply(parts, identical, NA, quote(expr = ))
    for (i in which(!empty)) found <- environments_in(parts[[i]], paste0(path, "[[", i, "]]"), found)
  }
  for (name in names(attributes(x))) found <- environments_in(attr(x, name), paste0(path, "@", name), found)
  found
}

expect_clean <- function(object, data = secret_frame()) {
  bytes <- serialize(object, NULL, xdr = FALSE)
  values <- unlist(data[c("a", "b", "unused")])
  expect_false(holds_double(bytes, values))
  expect_false(holds_string(bytes, "secret-"))
  expect_false(holds_string(bytes, "person-"))
  expect_identical(environments_in(object), character())
  expect_lt(length(bytes), 2e5)
}

test_that("the search finds what it looks for", {
  d <- secret_frame()
  bytes <- serialize(list(1L, "x", d$a), NULL, xdr = FALSE)
  expect_true(holds_double(bytes, d$a))
  expect_false(holds_double(bytes, d$b))
  expect_true(holds_double(serialize(d$b[7], NULL, xdr = FALSE), d$b))
  expect_true(holds_string(serialize(d, NULL, xdr = FALSE), "secret-"))
  expect_true(holds_string(serialize(d, NULL, xdr = FALSE), "person-"))
  inside <- (function() y ~ x)()
  expect_length(environments_in(list(1, list(inside))), 1)
  expect_length(environments_in(structure(1, hidden = list(new.env()))), 1)
  expect_length(environments_in(dp_budget(mu = 1)), 1)
})

test_that("a fit holds no data", {
  d <- secret_frame()
  expect_clean(quiet_fit(y ~ a + b, d, eps = 1, bounds = secret_bounds))
  expect_clean(quiet_fit(y ~ a + log1p(b), d, eps = 1))
  expect_clean(quiet_fit(y ~ ., d[names(d) != "note"], eps = 1))
  x <- as.matrix(d[c("a", "b")])
  expect_clean(quiet_fit(x, d$y, eps = 1, radius = 2))
  expect_clean(quiet_fit(x, d$y, eps = 1, radius = 2, loss = "sigmoid", penalty = penalty_nonconvex(0.01),
                         target = sosp(0.2, 0.05)))
  expect_clean(summary(quiet_fit(x, d$y, eps = 1, radius = 2)))
  for (curvature in c("hessian", "lazy", "direct")) {
    expect_clean(quiet_fit(x, d$y, eps = 1, radius = 2, method = "newton", control = control_newton(curvature)))
  }
})

test_that("a formula made in a function does not take its environment along", {
  fit <- local({
    d <- secret_frame()
    hidden <- d$a
    make <- function(values) {
      formula <- y ~ a + b
      quiet_fit(formula, values, eps = 1, bounds = secret_bounds)
    }
    make(d)
  })
  expect_clean(fit)
  expect_identical(environment(formula(fit)), globalenv())
  expect_clean(formula(fit))
})

test_that("a call that carries the data itself is kept without them", {
  d <- secret_frame()
  x <- as.matrix(d[c("a", "b")])
  common <- list(eps = 1, delta = 1e-4, progress = FALSE)
  expect_clean(do.call(dp_sosp, c(list(y ~ a + b, data = d, bounds = secret_bounds), common)))
  expect_clean(do.call("dp_sosp", c(list(y ~ a + b, d, bounds = secret_bounds), common)))
  expect_clean(do.call(dp_sosp, c(list(x, d$y, radius = 2), common)))
  expect_clean(eval(bquote(dp_sosp(x = .(x), y = .(d$y), radius = 2, eps = 1, delta = 1e-4, progress = FALSE))))
  expect_clean(eval(bquote(dp_sosp(y ~ a, .(d), 1, 1e-4, bounds = list(a = c(0, max(1, .(d$a)))), progress = FALSE))))
  expect_clean(eval(bquote(dp_sosp(y ~ a, subset(.(d), b > 0.1), 1, 1e-4, bounds = secret_bounds["a"],
                                   start = rep(0, length(.(d$b)) / 30), progress = FALSE))))
  fit <- dp_sosp(y ~ a, d, 1, 1e-4, bounds = secret_bounds["a"], progress = FALSE,
                 control = (function(values = 3) control_opt(gap = values))())
  expect_clean(fit)
  budget <- dp_budget(eps = 1, delta = 1e-4)
  expect_clean(do.call(dp_sosp, list(x, d$y, radius = 2, budget = budget, progress = FALSE)))
})

test_that("a call with an empty index does not stop the fit at its end", {
  d <- secret_frame()
  starts <- matrix(0, 2, 2)
  ranges <- cbind(a = c(0, 1))
  fit <- dp_sosp(y ~ a, d, eps = 1, delta = 1e-4, bounds = list(a = ranges[, "a"]), start = starts[, 1])
  expect_s3_class(fit, "dp_sosp")
  expect_equal(update(fit, eps = 2, data = d)$privacy$eps, 2)
})

test_that("an oracle or a budget written to a file leaves the data behind", {
  d <- secret_frame()
  budget <- dp_budget(mu = 1)
  oracle <- dp_oracle(as.matrix(d[c("a", "b")]), d$y, "logistic", budget, 2)
  dp_gradient(oracle, c(0, 0, 0), mu = 0.1)
  for (object in list(oracle, budget)) {
    bytes <- serialize(object, NULL, xdr = FALSE)
    expect_false(holds_double(bytes, unlist(d[c("a", "b")])))
    expect_false(holds_string(bytes, "person-"))
  }
})

test_that("a fit survives saving and predicts the same", {
  d <- secret_frame()
  fit <- quiet_fit(y ~ a + b, d, eps = 1, bounds = secret_bounds)
  file <- withr::local_tempfile()
  saveRDS(fit, file)
  restored <- readRDS(file)
  expect_identical(predict(restored, d), predict(fit, d))
  expect_identical(dp_ledger(restored), dp_ledger(fit))
  expect_output(print(restored), "dp_sosp")
})

# Are the first five digits of one of the values in the text?
quotes_number <- function(text, values) {
  any(vapply(sub("(\\.[0-9]{5}).*", "\\1", format(values, digits = 15)), grepl, NA, text, fixed = TRUE))
}

test_that("errors and warnings do not quote the data", {
  d <- secret_frame()
  x <- as.matrix(d[c("a", "b")])
  expect_true(quotes_number(paste("it is", d$a[3]), d$a))
  shown <- function(expr) {
    condition <- tryCatch(expr, condition = identity)
    expect_s3_class(condition, "condition")
    expect_clean(list(conditionMessage(condition), conditionCall(condition)))
    expect_false(quotes_number(conditionMessage(condition), unlist(d[c("a", "b")])))
  }
  shown(do.call(dp_sosp, list(y ~ a, data = d, eps = -1)))
  shown(do.call(dp_sosp, list(y ~ note, data = d, eps = 1)))
  shown(do.call(dp_sosp, list(a ~ b, data = d, eps = 1)))
  shown(do.call(dp_sosp, list(x, d$y, eps = 1)))
  shown(do.call(dp_sosp, list(x, d$a, eps = 1, radius = 1)))
  shown(do.call(dp_oracle, list(x, d$a, "logistic", dp_budget(mu = 1), 1)))
  shown(suppressMessages(do.call(dp_sosp, list(y ~ a, data = d, eps = 0.001, delta = 1e-6, progress = FALSE))))
})
