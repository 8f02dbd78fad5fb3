d <- problem_frame(60)
p <- problem_matrix(60)
study <- function(...) {
  set.seed(1)
  quiet_fit(..., noise = "reproducible")
}
fit <- study(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = frame_bounds)
message_of <- function(call) conditionMessage(expect_error(call, class = "dpsosp_error_argument"))

# ---- arguments ----

# One object of each class, for the methods in NAMESPACE.
objects <- function() {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  event <- event_gaussian(2)
  chunks <- list(function() {
    unread <- TRUE
    function() if (unread) {
      unread <<- FALSE
      d
    }
  })
  list(
    dp_sosp = fit, summary.dp_sosp = summary(fit), dp_budget = budget,
    dp_oracle = dp_oracle(p$x, p$y, "logistic", budget, 2), dp_control = control_opt(), dp_control = control_newton(),
    dp_loss = loss_huber(c(0, 1 / 3)), dp_penalty = penalty_ridge(1 / 3), dp_target = sosp(alpha = 1 / 3),
    dp_source = dp_source(chunks[[1]]), dpsosp_event = event, dpsosp_profile = dp_account(event),
    dpsosp_conversion = dp_convert(mu = 1, delta = 1e-6),
    dpsosp_audit = dp_audit(function(bit) bit + stats::rnorm(1), list(0, 1), 4, 1e-5, runs = 20, progress = FALSE)
  )
}

# Methods whose `...` is documented to refuse everything. The others refuse every call, or are called by packages that
# pass arguments for other methods.
methods_of_package <- function() {
  table <- getNamespaceInfo("dpsosp", "S3methods")
  table <- table[!table[, 4] %in% c("emmeans", "insight", "marginaleffects", "car", "lmtest", "sandwich", "parameters"),
                 ]
  found <- data.frame(generic = table[, 1], class = table[, 2], method = table[, 3])
  found <- found[found$class %in% names(objects()), ]
  found[found$generic != "dp_ledger", ]
}

test_that("no method of the package ignores an argument that it does not know", {
  things <- objects()
  tried <- methods_of_package()
  expect_gt(nrow(tried), 30)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  for (i in seq_len(nrow(tried))) {
    method <- get(tried$method[i], asNamespace("dpsosp"))
    needed <- switch(tried$generic[i], predict = list(newdata = d), epsilon = list(delta = 1e-6), delta = list(eps = 1))
    for (thing in things[names(things) == tried$class[i]]) {
      call <- c(list(thing), needed, list(surprise = quote(not_there)))
      suppressWarnings(utils::capture.output(refused <- expect_error(do.call(method, call), info = tried$method[i])))
      expect_s3_class(refused, "dpsosp_error_argument")
      if (inherits(refused, "dpsosp_error_absent")) next
      expect_match(conditionMessage(refused), "Unknown argument: `surprise`", fixed = TRUE, info = tried$method[i])
    }
  }
})

test_that("every exported function refuses an argument that it does not know, before it asks for others", {
  exported <- mget(getNamespaceExports("dpsosp"), asNamespace("dpsosp"), inherits = TRUE)
  dispatches <- function(f) any(c("UseMethod", "standardGeneric") %in% all.names(body(f)))
  ours <- Filter(function(f) is.function(f) && length(formals(f)) > 0L && !dispatches(f), exported)
  # These take events, and arguments of dp_sosp().
  ours[c("event_compose", "dp_curve", "dp_sosp_engine")] <- NULL
  expect_gt(length(ours), 50)
  for (name in names(ours)) {
    expect_match(message_of(ours[[name]](surprise = not_there)), "Unknown argument: `surprise`", fixed = TRUE,
                 info = name)
  }
})

test_that("functions that take settings refuse an argument that they do not know", {
  for (f in list(dp_budget, dp_oracle, dp_convert, control_opt, control_tr, control_gd, control_newton,
                 control_perturbation, control_cubic, control_spider)) {
    expect_match(message_of(f(surprise = not_there)), "Unknown argument: `surprise`. The arguments are", fixed = TRUE)
    expect_match(message_of(do.call(f, as.list(rep(0.5, 30)))), "an argument without a name", fixed = TRUE)
  }
})

test_that("digits work where numbers are printed", {
  printed <- function(x, ...) paste(utils::capture.output(print(x, ...)), collapse = "\n")
  things <- objects()
  for (x in things[c("dp_loss", "dp_penalty", "dp_target")]) {
    expect_match(printed(x), "0.3333333", fixed = TRUE)
    expect_match(printed(x, digits = 2), "0.33\\b")
  }
  for (x in list(fit, summary(fit))) {
    expect_match(printed(x, digits = 7), format(coef(fit), digits = 7)[[1]], fixed = TRUE)
    expect_identical(printed(x, digits = 3), printed(x))
    expect_match(printed(x, digits = 1), "eps = 1, delta = 1e-06", fixed = TRUE)
  }
  half <- control_gd(gap = 1 / 3)
  expect_match(printed(half, digits = 2), "gap: 0.33\n", fixed = TRUE)
  oracle <- dp_oracle(p$x, p$y, "logistic", dp_budget(rho = 3), radius = 4 / 3)
  dp_value(oracle, numeric(3), rho = 1)
  expect_match(printed(oracle, digits = 2), "radius 1.3,.*Spent: 33 %")
  expect_match(printed(oracle), "radius 1.333333,.*Spent: 33.3 %")
  expect_match(printed(dp_convert(mu = 1), digits = 2), "0.5", fixed = TRUE)
  expect_match(printed(dp_account(event_gaussian(3)), digits = 2), "[ -][0-9][.][0-9] ")
  for (x in things) {
    if (inherits(x, c("dp_source", "dpsosp_event"))) next
    for (digits in list("a", 0, 23, 1.5, NA, c(1, 2))) {
      expect_error(utils::capture.output(print(x, digits = digits)), "`digits`", class = "dpsosp_error_argument")
    }
  }
})

test_that("a lower bound does not grow by being printed with few digits", {
  expect_identical(format_below(1.2999, 2), "1.2")
  expect_identical(format_below(0.0199, 1), "0.01")
  expect_identical(format_below(0), "0")
  expect_identical(format_below(0, 3), "0")
  for (x in c(exp(-3:3), 1, 10, 0.1)) {
    for (digits in 1:15) expect_lte(as.numeric(format_below(x, digits)), x)
  }
})

test_that("standard errors that were not bought are refused, and FALSE is not", {
  expect_error(predict(fit, d, se.fit = TRUE), "no intervals", class = "dpsosp_error_absent")
  expect_identical(predict(fit, d, se.fit = FALSE), predict(fit, d))
  expect_error(predict(fit, d, se.fit = NA), "`se.fit` must be TRUE or FALSE", class = "dpsosp_error_argument")
  skip_if_not_installed("generics")
  expect_error(generics::tidy(fit, conf.int = TRUE), "has no intervals", class = "dpsosp_error_absent")
  expect_identical(generics::tidy(fit, conf.int = FALSE), generics::tidy(fit))
  expect_equal(generics::tidy(fit, exponentiate = TRUE)$estimate, unname(exp(coef(fit))))
  expect_error(generics::tidy(fit, exponentiate = 1), "`exponentiate`", class = "dpsosp_error_argument")
})

# ---- near-misses ----

test_that("what is nearly right is answered with what is right", {
  run <- function(...) dp_sosp(y ~ a, d, eps = 1, bounds = frame_bounds["a"], ...)
  expect_errors(
    dp_sosp(y ~ a, d, epsilon = 1),
    run(neighbors = "zero-out"),
    run(lambda = 0.1),
    run(lamda = 0.1),
    run(line_search = "svt"),
    run(alpha = 0.1),
    run(rho = 1),
    run(weights = 1),
    dp_budget(epsilon = 1),
    dp_oracle(p$x, p$y, neighbors = "zero-out"),
    control_opt(iterations = 3),
    delta(dp_account(event_gaussian(1)), epsilon = 1),
    run(method = "newtom"),
    run(method = "2OPT_LS"),
    run(method = "dpsgd"),
    run(method = "adam"),
    run(loss = "logit"),
    run(penalty = "Ridge"),
    run(penalty = 0.1),
    run(penalty = "lasso"),
    dp_sosp(y ~ I(AA^2), d, eps = 1),
    dp_sosp(y ~ a, stats::setNames(d, c("alpha", "b", "f", "y")), eps = 1),
    dp_sosp(y ~ a, d, eps = 1, bounds = list(A = c(10, 30)))
  )
})

test_that("what is misspelt is named as it was probably meant, wherever it is", {
  fit <- function(..., formula = y ~ a) dp_sosp(formula, d, eps = 1, ...)
  near <- function(code, text) expect_error(code, text, fixed = TRUE, class = "dpsosp_error_argument")
  near(loss_huber(bound = c(0, 1)), "Unknown argument: `bound`")
  near(fit(family = binomial()), "Did you mean `loss`?")
  near(fit(loss = binomial()), 'Did you mean "logistic"?')
  near(fit(loss = stats::binomial), 'Did you mean "logistic"?')
  near(fit(loss = "binomial"), 'Did you mean "logistic"?')
  near(fit(loss = stats::gaussian()), "Did you mean \"squared\"?")
  near(fit(loss = stats::poisson), "Did you mean \"poisson\"?")
  near(fit(loss = "softmax"), 'Did you mean "multinomial"?')
  near(fit(loss = "mse"), "Did you mean \"squared\"?")
  near(fit(verbose = TRUE), "Did you mean `progress`?")
  near(fit(maxit = 9), "Did you mean `control`?")
  near(fit(conf.int = TRUE), 'Did you mean `inference = "sandwich"`?')
  near(fit(seed = 1), 'Did you mean `noise = "reproducible"`?')
  near(fit(target = 0.1), "Did you mean `sosp(alpha)`?")
  near(fit(formula = "y ~ a"), "a formula has no quotes")
  near(loss_huber(respones = c(0, 1)), "Did you mean `response`?")
  near(loss_logistic(solpe = 0.6), "Did you mean `slope`?")
  near(loss_poisson(mxa = 3), "Did you mean `max`?")
  near(loss_huber_svm(H = 0.5), "Did you mean `h`?")
  near(penalty_ridge(lamda = 1), "Did you mean `lambda`?")
  near(penalty_nonconvex(lamda = 1), "Did you mean `lambda`?")
  near(sosp(aplha = 0.1), "Did you mean `alpha`?")
  near(fit(loss = "hubber"), "Did you mean \"huber\"?")
  near(fit(loss = "possion"), "Did you mean \"poisson\"?")
  near(fit(bounds = "privat"), "Did you mean \"private\"?")
  near(fit(geometry = "non"), "Did you mean \"none\"?")
  near(fit(offset = a), "Did you mean `offset()` in `formula`?")
  near(fit(formula = y ~ lgo(a)), "Did you mean `log()`?")
  near(fit(formula = y ~ poyl(a, 2)), "Did you mean `poly()`?")
  near(fit(weights = AA), "`AA` in `weights` is not a column of the data, and must be made one.")
  near(fit(subset = aa > 3), "`aa` in `subset` is not a column of the data, and must be made one.")
  near(dp_budget(eps = 1, delta = 1e-6, accountant = "zcpd"), "Did you mean \"zcdp\"?")
  near(dp_curve(y ~ a, d, epss = 1), "Did you mean `eps`?")
  near(dp_evaluate(list(), data = d), "Did you mean `newdata`?")
  near(dp_gradient(orcale = 1), "Did you mean `oracle`?")
  near(dp_line_search(stpes = 1), "Did you mean `steps`?")
  near(dp_calibrate(toleranec = 1), "Did you mean `tolerance`?")
  near(event_gaussian(2, neighbors = "zero-out"), "Did you mean `neighbours`?")
  near(geometry_public(means = 0), "Did you mean `mean`?")
  near(fit(sd = 1), "Did you mean `geometry = geometry_public(sd = )`?")
  near(fit(geometry = geometry_public(c(A = 20), c(A = 5))), "Did you mean \"a\"?")
  near(dp_source(in_chunks(d, 30), types = c(a = "numreic")), "Did you mean \"numeric\"?")
  near(dp_source(in_chunks(d, 30), types = c(A = "numeric")), "Did you mean `a`?")
})

test_that("the nearest name is a near one", {
  known <- c("eps", "delta", "neighbours", "max_iterations", "2opt-ls", "")
  near <- c(epsilon = "eps", neighbors = "neighbours", MAXITER = "max_iterations", Delta = "delta",
            "2optls" = "2opt-ls", esp = "eps", detla = "delta", iterations = "max_iterations")
  for (name in names(near)) expect_identical(nearest(name, known), near[[name]])
  for (name in c("weights", "x", "", "ep", "lambda", NA, "\xff")) expect_null(nearest(name, known))
  bytes <- "eps\xff"
  Encoding(bytes) <- "bytes"
  expect_null(nearest(bytes, known))
  expect_identical(nearest("eps", c(bytes, "epsi")), "epsi")
  expect_null(nearest("eps", character()))
  expect_null(nearest("eps", NULL))
})

# ---- levels ----

test_that("all columns of text are named at once, with code that declares their levels and does not look at the data", {
  frame <- transform(d, s = "secret-value", `odd name` = "other", y = as.character(y), check.names = FALSE)
  text <- message_of(dp_sosp(y ~ a + s + `odd name`, frame, eps = 1))
  expect_match(text, "`y`, `s`, `odd name` are character columns", fixed = TRUE)
  expect_false(grepl("secret-value|other|unique|levels\\(", text))
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]][-1]
  expect_identical(trimws(lines), c(
    "frame$y <- factor(frame$y, levels = c(...))", "frame$s <- factor(frame$s, levels = c(...))",
    "frame$`odd name` <- factor(frame$`odd name`, levels = c(...))"
  ))
  # Pasted without changes they stop with an error; with levels filled in they work.
  for (line in lines) expect_error(eval(str2lang(line)))
  levels <- list(c("no", "yes"), c("secret-value", "x"), c("other", "z"))
  for (i in 1:3) eval(str2lang(sub("c(...)", deparse(levels[[i]]), lines[i], fixed = TRUE)))
  filled <- study(y ~ a + s + `odd name`, frame, eps = 1, delta = 1e-6, bounds = frame_bounds["a"])
  expect_named(coef(filled), c("(Intercept)", "a", "sx", "odd namez"))
  expect_match(message_of(dp_sosp(y ~ s, transform(d, s = "u"), eps = 1)),
               "`s` is a character column.*data[$]s <- factor")
  expect_match(message_of(dp_sosp(y ~ ifelse(a > 1, "u", "v"), d, eps = 1)), "gives text")
  expect_s3_class(study(y ~ (s == "u"), transform(d, s = "u"), eps = 1), "dp_sosp")
})

test_that("of a source, the levels of all columns of text are declared where it is made", {
  frame <- transform(d, f = as.character(f), y = as.character(y))
  source <- dp_source(in_chunks(frame, 30))
  lines <- strsplit(message_of(dp_sosp(y ~ a + f, source, eps = 1)), "\n", fixed = TRUE)[[1]][-1]
  expect_identical(lines, "  dp_source(..., levels = list(y = c(...), f = c(...)))")
  source <- dp_source(in_chunks(frame, 30), levels = list(y = c("no", "yes"), f = c("u", "v", "w")))
  expect_s3_class(quiet_fit(y ~ a + f, source, eps = 1), "dp_sosp")
})

# ---- constants ----

test_that("single constants of the formula's environment are taken as values, and the environment is not kept", {
  fits <- local({
    unused <- "secret-string-of-the-environment"
    k <- 7
    power <- -2L
    level <- "v"
    on <- TRUE
    named <- c(first = 0.5)
    bounds <- list("I(a/7)" = c(1, 5), "I((b + 2)^-2L)" = c(0, 1), "pmin(b, 0.5)" = c(-1, 1))
    list(study(y ~ I(a / k) + I((b + 2)^power) + pmin(b, named) + I(f == level & on), d, eps = 1, delta = 1e-6,
               bounds = bounds),
         study(y ~ I(a / 7) + I((b + 2)^-2L) + pmin(b, 0.5) + I(f == "v" & TRUE), d, eps = 1, delta = 1e-6,
               bounds = bounds))
  })
  expect_identical(unname(coef(fits[[1]])), unname(coef(fits[[2]])))
  expect_identical(names(coef(fits[[1]]))[2:4], c("I(a/7)", "I((b + 2)^-2L)", "pmin(b, 0.5)"))
  expect_identical(predict(fits[[1]], d), predict(fits[[2]], d))
  bytes <- serialize(fits[[1]], NULL)
  expect_length(grepRaw("secret-string", bytes, fixed = TRUE), 0)
  expect_null(attr(fits[[1]]$design$terms, ".Environment"))
  expect_identical(all.vars(formula(fits[[1]])), c("y", "a", "b", "f"))
})

test_that("predict() of a fit with constants works in a fresh session", {
  k <- 7
  scaled <- study(y ~ I(a / k), d, eps = 1, delta = 1e-6, bounds = list("I(a/7)" = c(1, 5)))
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(list(scaled, d), file)
  out <- child(sprintf("x <- readRDS('%s'); cat(format(sum(predict(x[[1]], x[[2]])), digits = 15))", file))
  expect_equal(as.numeric(out), sum(predict(scaled, d)), tolerance = 1e-12)
})

test_that("a column goes before a constant, a bare name is a column, and what is no single constant is named", {
  b <- 100
  k <- 1
  expect_identical(coef(study(y ~ I(b * 2), d, eps = 1)), coef(study(y ~ I(2 * b), d, eps = 1)) |>
                     stats::setNames(c("(Intercept)", "I(b * 2)")))
  # The term 1 is the intercept, but not where a name replaces it.
  expect_match(message_of(dp_sosp(y ~ a + k, d, eps = 1)), "`k` in `formula` is not a column of the data", fixed = TRUE)
  expect_match(message_of(dp_sosp(k ~ a, d, eps = 1)), "`k` in `formula` is not a column of the data", fixed = TRUE)
  several <- 1:3
  frame <- d
  time <- as.POSIXlt(Sys.time())
  for (name in c("several", "frame", "time")) {
    formula <- stats::as.formula(paste0("y ~ I(a / ", name, ")"))
    expect_match(message_of(dp_sosp(formula, d, eps = 1)), paste0("`", name, "` in `formula` .* environment it is a "))
  }
  lazy <- function(x) message_of(dp_sosp(y ~ I(a / x), d, eps = 1))
  expect_match(lazy(), "`x` in `formula` is not a column")
  expect_match(lazy(stop("raw")), "`x` in `formula` is not a column")
  response <- 20
  expect_s3_class(study(I(a > response) ~ b, d, eps = 1, delta = 1e-6), "dp_sosp")
})

# ---- delta ----

test_that("a delta of 1/n is warned of, one of a tenth is refused, wherever a guarantee is stated", {
  warned <- function(call, n) {
    condition <- expect_warning(suppressMessages(call), class = "dpsosp_warning_delta")
    expect_match(conditionMessage(condition), paste0("1/n = ", format(1 / n, digits = 3)), fixed = TRUE)
  }
  run <- function(...) dp_sosp(p$x, p$y > 0, radius = 2, progress = FALSE, target = sosp(10, 10), ...)
  warned(run(eps = 1, delta = 1 / 60), 60)
  warned(run(budget = dp_budget(eps = 1, delta = 0.05)), 60)
  warned(run(eps = 0.5, delta = 1e-6, budget = dp_budget(eps = 1, delta = 0.05)), 60)
  warned(dp_oracle(p$x, p$y, "logistic", dp_budget(eps = 1, delta = 0.05), radius = 2), 60)
  warned(dp_sosp(y ~ 1, dp_source(in_chunks(d, 30)), eps = 1, delta = 0.02, progress = FALSE), 60)
  quiet <- function(call) expect_no_warning(suppressMessages(call), class = "dpsosp_warning_delta")
  quiet(run(eps = 1, delta = 0.99 / 60))
  quiet(run(eps = 1))
  quiet(run(budget = dp_budget(rho = 1)))
  quiet(dp_oracle(p$x, p$y, "logistic", dp_budget(mu = 1), radius = 2))
  quiet(dp_budget(eps = 1, delta = 0.0999))
  for (delta in c(0.1, 0.5, 0.999)) {
    expect_match(message_of(run(eps = 1, delta = delta)), "`delta` must be below 0.1", fixed = TRUE)
    expect_match(message_of(dp_budget(eps = 1, delta = delta)), "`delta` must be below 0.1", fixed = TRUE)
    expect_error(dp_filter_order(event_gaussian(1), 1, delta), "below 0.1", class = "dpsosp_error_argument")
    expect_error(dp_calibrate(event_gaussian, 1, delta), "below 0.1", class = "dpsosp_error_argument")
    expect_error(required_rows("tr", 0.1, d = 5, eps = 1, delta = delta), "below 0.1", class = "dpsosp_error_argument")
  }
})

# ---- what a private fit has not ----

test_that("what would hold data is refused with a reason, and step() too", {
  refused <- function(call, reason) {
    expect_error(call, reason, class = "dpsosp_error_absent")
  }
  for (f in list(stats::fitted, stats::residuals)) refused(f(fit), "keeps no training data: use `predict")
  for (f in list(stats::terms, stats::model.frame, stats::model.matrix)) {
    refused(f(fit), "`formula\\(\\)` is its formula")
  }
  for (f in list(stats::deviance, stats::logLik, stats::AIC, stats::BIC, stats::extractAIC)) {
    refused(f(fit), "no deviance or likelihood")
  }
  refused(stats::drop1(fit), "would be another fit")
  refused(stats::add1(fit, ~ . + f), "would be another fit")
  refused(stats::anova(fit), "has no intervals")
  ridge <- study(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = frame_bounds, method = "newton-ridge")
  for (f in list(stats::vcov, stats::confint)) refused(f(ridge), "has no intervals: .*`dp_inference")
  refused(stats::step(fit, trace = 0), "A private fit")
  refused(stats::residuals(fit, type = "response"), "keeps no training data")
  refused(stats::confint(fit, "a", level = 0.9), "has no intervals")
  expect_error(update(fit, epsilon = 2), "Did you mean `eps`?", fixed = TRUE, class = "dpsosp_error_argument")
})

# ---- plots ----

# The number of bars that plot() draws before its legend.
bars <- function(fit) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  grDevices::dev.control("enable")
  plot(fit, "run")
  calls <- lapply(grDevices::recordPlot()[[1]], function(call) as.list(call[[2]]))
  drawn <- Filter(function(call) identical(call[[1]]$name, "C_segments"), calls)
  length(drawn[[1]][[2]])
}

test_that("a plot of many gradients draws the bound of the last alone", {
  many <- study(p$x, p$y > 0, eps = 1, delta = 1e-6, radius = 2, method = "newton")
  expect_gt(nrow(many$trace), 200)
  expect_identical(bars(many), 1L)
  few <- study(p$x, p$y > 0, eps = 1, delta = 1e-6, radius = 2, method = "gd", control = control_gd(max_iterations = 5))
  expect_identical(bars(few), sum(few$trace$query == "gradient"))
  one <- study(p$x, p$y > 0, eps = 1, delta = 1e-6, radius = 2, method = "objpert")
  expect_identical(bars(one), 0L)
})
