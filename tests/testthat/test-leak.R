# What a fit, and every other object of the package, may not contain: values of the data or exact statistics of them,
# responses, environments. The data are doubles and strings that occur nowhere else. An object is serialized, and its
# bytes are searched for both.

test_that("the package has no recorder of exact sums, as the copy that dev/replay.sh builds has", {
  library <- getLoadedDLLs()[["dpsosp"]][["path"]]
  has <- function(symbol) length(grepRaw(symbol, readBin(library, raw(), file.size(library)), fixed = TRUE)) > 0L
  expect_true(has("R_init_dpsosp"))
  expect_false(has("replay_"))
})

secret_frame <- function(n = 60) {
  set.seed(11)
  data.frame(
    a = runif(n), b = rexp(n), y = rbinom(n, 1, 0.5) > 0, unused = rnorm(n),
    note = paste0("secret-", seq_len(n), "-record"),
    row.names = paste0("person-", seq_len(n))
  )
}
secret_bounds <- list(a = c(0, 1), b = c(0, 5))

# Is one of the values, up to rounding of its last digits, among the 8-byte patterns?
holds_double <- function(bytes, values) {
  n <- length(bytes)
  values <- sort(unique(values))
  for (shift in 0:7) {
    whole <- (n - shift) %/% 8
    found <- readBin(bytes[shift + seq_len(8 * whole)], "double", whole, endian = .Platform$endian)
    found <- found[is.finite(found)]
    below <- findInterval(found * (1 - sign(found) * 1e-12), values)
    if (any(below < findInterval(found * (1 + sign(found) * 1e-12), values))) return(TRUE)
  }
  FALSE
}

# Does the object contain the first responses, one after the other, as integers or doubles, in one of the usual codes?
holds_response <- function(bytes, y) {
  y <- y[1:24]
  for (code in list(y, 1 - y, 2 * y - 1, 1 - 2 * y, y + 1)) {
    for (type in c("integer", "double")) {
      pattern <- writeBin(as.vector(code, type), raw(), endian = .Platform$endian)
      if (length(grepRaw(pattern, bytes, fixed = TRUE)) > 0L) return(TRUE)
    }
  }
  FALSE
}

# Rows of the core's problem: for a matrix of a and b with radius 2, and for a formula with bounds.
secret_rows <- function(data) {
  list(unit_rows(cbind(data$a, data$b), 2), unit_rows(cbind(2 * data$a - 1, 2 * pmin(data$b, 5) / 5 - 1), sqrt(3)))
}

# Values, and statistics without noise.
secret_numbers <- function(data) {
  columns <- data[c("a", "b", "unused")]
  y <- 2 * data$y - 1
  rows <- secret_rows(data)
  statistics <- c(
    colMeans(columns), colSums(columns), crossprod(as.matrix(columns)), vapply(columns, stats::sd, 0),
    vapply(columns, stats::quantile, numeric(5)), mean(data$y), mean(y), sqrt(1 + data$a^2 + data$b^2),
    lapply(rows, function(z) {
      c(z, z * y, colMeans(z), crossprod(z), exact_minimum(z, y), lapply(c("logistic", "sigmoid"), function(loss) {
        c(exact_gradient(z, y, numeric(3), loss), norm(exact_gradient(z, y, numeric(3), loss), "2"),
          exact_hessian(z, y, numeric(3), loss), eigen(exact_hessian(z, y, numeric(3), loss))$values)
      }))
    })
  )
  c(unlist(columns), no_public(unlist(statistics)))
}

# Removes statistics that may equal public numbers: counts, the intercept's entries of rows and of their products, the
# loss at zero.
no_public <- function(values) {
  round_number <- function(x) abs(1024 * x - round(1024 * x)) < 1e-9
  values[!round_number(values) & !round_number(values * sqrt(3)) & !round_number(values / log(2))]
}

# Value and derivatives of the loss at the solution of a fit to the matrix of a and b. If its slopes are zero, the
# predictor of every row that is not clipped is the released intercept.
solution_numbers <- function(fit, data) {
  z <- secret_rows(data)[[1]]
  y <- 2 * data$y - 1
  w <- unname(2 * coef(fit))
  gradient <- exact_gradient(z, y, w, fit$loss$name)
  hessian <- exact_hessian(z, y, w, fit$loss$name)
  value <- exact_value(z, y, w, fit$loss$name)
  predictor <- as.vector(z %*% w)
  if (all(w[-1] == 0)) predictor <- predictor[abs(predictor - coef(fit)[[1]]) > 1e-9]
  no_public(c(value, gradient, norm(gradient, "2"), hessian, eigen(hessian)$values, predictor))
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
    empty <- vapply(parts, identical, NA, quote(expr = )) # nolint
    for (i in which(!empty)) found <- environments_in(parts[[i]], paste0(path, "[[", i, "]]"), found)
  }
  for (name in names(attributes(x))) found <- environments_in(attr(x, name), paste0(path, "@", name), found)
  found
}

expect_no_data <- function(object, data = secret_frame(), values = NULL) {
  bytes <- serialize(object, NULL, xdr = FALSE)
  expect_false(holds_double(bytes, c(secret_numbers(data), values)))
  expect_false(holds_response(bytes, data$y))
  expect_false(holds_string(bytes, "secret-"))
  expect_false(holds_string(bytes, "person-"))
  expect_lt(length(bytes), 2e5)
}

expect_clean <- function(object, data = secret_frame(), values = NULL) {
  expect_no_data(object, data, values)
  expect_identical(environments_in(object), character())
}

test_that("the search finds what it looks for", {
  d <- secret_frame()
  bytes <- serialize(list(1L, "x", d$a), NULL, xdr = FALSE)
  expect_true(holds_double(bytes, d$a))
  expect_false(holds_double(bytes, d$b))
  expect_true(holds_double(serialize(d$b[7], NULL, xdr = FALSE), d$b))
  expect_true(holds_double(serialize(c(x = d$a[3] * (1 + 1e-15)), NULL, xdr = FALSE), d$a))
  expect_true(holds_double(serialize(-d$b[7], NULL, xdr = FALSE), -d$b))
  expect_false(holds_double(serialize(d$a * (1 + 1e-9), NULL, xdr = FALSE), d$a))
  gradient <- exact_gradient(secret_rows(d)[[1]], 2 * d$y - 1, numeric(3))
  expect_true(holds_double(serialize(list("x", gradient[2]), NULL, xdr = FALSE), secret_numbers(d)))
  expect_false(any(c(0, 1, 0.5, 0.25, log(2), 1 / sqrt(3), 20) %in% secret_numbers(d)))
  for (y in list(d$y, 2 * d$y - 1, d$y == 1, factor(d$y))) {
    expect_true(holds_response(serialize(list("x", y), NULL, xdr = FALSE), d$y))
    expect_false(holds_response(serialize(list("x", rev(y)), NULL, xdr = FALSE), d$y))
  }
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
  expect_clean(quiet_fit(unused ~ a + b, d, eps = 1, method = "newton", loss = loss_huber(c(-4, 4)),
                         bounds = secret_bounds))
})

test_that("a fit to a source holds no data, nor does its error, nor an oracle that is written to a file", {
  d <- secret_frame()
  data <- d[c("a", "b", "y")]
  source <- dp_source(in_chunks(data, 13))
  expect_clean(quiet_fit(y ~ a + b, source, eps = 1, bounds = secret_bounds), d)
  expect_clean(quiet_fit(y ~ a + log1p(b), source, eps = 1), d)
  expect_clean(eval(bquote(dp_sosp(y ~ a, .(source), 1, 1e-4, bounds = secret_bounds["a"], progress = FALSE))), d)
  oracle <- dp_oracle(source, "y", "logistic", dp_budget(mu = 1), 2)
  expect_clean(dp_gradient(oracle, numeric(3), mu = 0.1), d)
  expect_no_data(oracle, d)
  pass <- 0
  failing <- dp_source(n = 60, function() {
    pass <<- pass + 1
    in_chunks(data, 13, function(at) if (pass == 3 && at == 26) stop("a is ", paste(d$a, collapse = " ")))()
  })
  error <- tryCatch(quiet_fit(y ~ a, failing, eps = 1, bounds = secret_bounds["a"]), error = identity)
  expect_s3_class(error, "dpsosp_error_source")
  expect_clean(list(conditionMessage(error), conditionCall(error)), d)
  expect_no_match(conditionMessage(error), substr(as.character(d$a[1]), 1, 6), fixed = TRUE)
})

test_that("a fit of no method, by no line search or curvature, holds data or exact statistics at its solution", {
  d <- secret_frame()
  x <- as.matrix(d[c("a", "b")])
  check <- function(...) {
    fit <- quiet_fit(x, d$y, eps = 1, radius = 2, ...)
    expect_clean(fit, d, solution_numbers(fit, d))
    expect_clean(summary(fit), d, solution_numbers(fit, d))
    expect_clean(dp_ledger(fit), d)
  }
  batched <- dpsosp:::methods_with("batch") # they take long
  others <- setdiff(dpsosp:::methods_without("nonconvex"), batched)
  for (method in c(long_values(others), long_values(batched))) check(method = method)
  for (search in c("gaussian", "svt", "exponential")) check(control = control_opt(line_search = search))
  for (method in c("2opt-ls", "tr")) {
    control <- if (method == "tr") control_tr("published") else control_opt("published", max_iterations = 20)
    check(method = method, loss = "sigmoid", target = sosp(0.2, 0.05), control = control)
  }
  for (curvature in c("hessian", "qu", "lazy", "direct")) check(method = "newton", control = control_newton(curvature))
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
  common <- list(eps = 20, delta = 1e-4, progress = FALSE)
  expect_clean(do.call(dp_sosp, c(list(y ~ a + b, data = d, bounds = secret_bounds), common)))
  expect_clean(do.call("dp_sosp", c(list(y ~ a + b, d, bounds = secret_bounds), common)))
  expect_clean(do.call(dp_sosp, c(list(x, d$y, radius = 2), common)))
  expect_clean(eval(bquote(dp_sosp(x = .(x), y = .(d$y), radius = 2, eps = 20, delta = 1e-4, progress = FALSE))))
  expect_clean(eval(bquote(dp_sosp(y ~ a, .(d), 20, 1e-4, bounds = list(a = c(0, max(1, .(d$a)))), progress = FALSE))))
  expect_clean(eval(bquote(dp_sosp(y ~ a, subset(.(d), b > 0.1), 20, 1e-4, bounds = secret_bounds["a"],
                                   start = rep(0, length(.(d$b)) / 30), progress = FALSE))))
  fit <- dp_sosp(y ~ a, d, 4, 1e-4, bounds = secret_bounds["a"], progress = FALSE, method = "opt",
                 control = (function(values = 3) control_opt(gap = values))())
  expect_clean(fit)
  budget <- dp_budget(eps = 20, delta = 1e-4)
  expect_clean(do.call(dp_sosp, list(x, d$y, radius = 2, budget = budget, progress = FALSE)))
})

test_that("a call with an empty index does not stop the fit at its end", {
  d <- secret_frame()
  starts <- matrix(0, 2, 2)
  ranges <- cbind(a = c(0, 1))
  fit <- dp_sosp(y ~ a, d, eps = 20, delta = 1e-4, bounds = list(a = ranges[, "a"]), start = starts[, 1])
  expect_s3_class(fit, "dp_sosp")
  expect_equal(update(fit, eps = 30, data = d)$privacy$eps, 30)
  fit$call$data <- quote(utils::data)
  expect_error(update(fit, eps = 2), "pass them to `update()` as `data`", fixed = TRUE)
})

test_that("an oracle or a budget written to a file leaves the data behind", {
  d <- secret_frame()
  x <- as.matrix(d[c("a", "b")])
  w <- numeric(3)
  plan <- event_repeat(event_gaussian(20), 10)
  for (budget in list(dp_budget(mu = 1), dp_budget(rho = 1), dp_budget(eps = 1, delta = 1e-5),
                      dp_budget(eps = 1, delta = 1e-5, plan = plan))) {
    for (loss in long_values(c("logistic", "sigmoid"))) {
      oracle <- dp_oracle(x, d$y, loss, budget, 2)
      answers <- list(
        dp_value(oracle, w + 0.1, mu = 0.05), dp_gradient(oracle, w, mu = 0.05), dp_hessian(oracle, w, mu = 0.05),
        dp_line_search(oracle, w, c(1, 0, 0), c(2, 1), mu = 0.05)
      )
      for (answer in answers) expect_clean(answer, d)
      expect_no_data(oracle, d)
    }
    expect_no_data(budget, d)
    expect_clean(dp_ledger(budget), d)
  }
  oracle <- dp_oracle(x, d$y, "logistic", dp_budget(rho = 1), 2)
  for (mechanism in c("svt", "exponential")) {
    expect_clean(dp_line_search(oracle, w, c(1, 0, 0), c(2, 1), rho = 0.1, mechanism = mechanism), d)
  }
  expect_no_data(oracle, d)
})

# Made in a scope with the data, so that an environment kept by mistake would contain them.
test_that("objects that need no data hold none", {
  d <- secret_frame()
  x <- as.matrix(d[c("a", "b")])
  event <- event_compose(event_gaussian(4), event_laplace(30), event_exponential(0.1), event_pure(0.1),
                         event_svt(0.1, 5), event_tree(20, 8))
  sampled <- event_repeat(event_subsample(event_gaussian(2), 0.01), 100)
  fit <- quiet_fit(x, d$y, eps = 1, radius = 2, method = "tr")
  release <- function(label) {
    oracle <- dp_oracle(x, c(label, d$y[-1]), "logistic", dp_budget(mu = 1), 2)
    dp_gradient(oracle, numeric(3), mu = 0.9)[2]
  }
  objects <- list(
    event, sampled, event_svt_gaussian(10, 20, 5), dp_account(event), dp_account(sampled), dp_account(sampled, "rdp"),
    dp_convert(mu = 1, delta = 1e-5, to = "eps"), dp_filter_order(sampled, 1, 1e-5),
    dp_rdp(event_gaussian(2), c(2, 8)),
    control_opt(), control_tr(), control_gd(), control_newton(), control_spider(),
    loss_logistic(), loss_logistic(0.6), loss_sigmoid(),
    loss_huber(c(-1, 9)), penalty_none(), penalty_ridge(0.1), penalty_nonconvex(0.1), sosp(0.1, 0.2),
    saddle_problem(1000), planned_iterations("gd", 0.1, gap = 1), trust_region_step(c(1, 2), diag(2), 1),
    dp_audit(fit, runs = 10, progress = FALSE), dp_audit(release, list(0, 1), 1, 1e-5, runs = 20, progress = FALSE),
    dp_audit(function(s) s + d$b[1:40], eps = 1, delta = 1e-5, method = "one-run", canaries = 40)
  )
  for (object in objects) expect_clean(object, d)
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

# Does the text contain the first five digits of one of the values?
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
  shown(do.call(dp_sosp, list(y ~ a, data = d, eps = 1, start = d)))
  shown(do.call(dp_sosp, list(y ~ a, data = d, eps = 1, control = list(d))))
  shown(do.call(dp_sosp, list(y ~ a, data = d, eps = 1, subset = d$a > 0, bound = 1)))
  shown(do.call(dp_tune, list(list(one = list(start = d), two = list()), y ~ a, data = d, eps = 1, loss = 1)))
  shown(do.call(dp_sosp, list(a ~ b, data = d, eps = 1)))
  shown(do.call(dp_sosp, list(a ~ b, data = transform(d, a = as.complex(a)), eps = 1)))
  shown(do.call(dp_sosp, list(x, d$y, eps = 1)))
  shown(do.call(dp_sosp, list(x, d$a, eps = 1, radius = 1)))
  shown(do.call(dp_oracle, list(x, d$a, "logistic", dp_budget(mu = 1), 1)))
  shown(do.call(dp_oracle, list(x, as.complex(d$a), "logistic", dp_budget(mu = 1), 1)))
  shown(suppressMessages(do.call(dp_sosp, list(y ~ a, data = d, eps = 0.001, delta = 1e-6, progress = FALSE))))
})
