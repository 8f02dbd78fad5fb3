# No condition quotes an element of a vector, whichever exported function is called, and whichever argument holds the
# vector. The calls are made of NAMESPACE and of formal arguments, each with a vector as a value (do.call()) in the
# place of one argument; a new export is called, or must have its other arguments here.

text <- paste0("secret-", 1:4, "-record")
numbers <- c(0.73128461931, 0.29182736451, 0.56473829101, 0.84736251909)
vectors <- list(
  text = text, numbers = numbers, large = round(numbers * 1e9), negative = -numbers,
  named = stats::setNames(numbers, text),
  factor = factor(text), frame = data.frame(a = numbers, y = factor(text)), list = as.list(text),
  pairs = list(a = numbers[1:2], b = numbers[4:3]), matrix = cbind(numbers, rev(numbers)),
  date = as.Date("1970-01-01") + numbers, formula = eval(bquote(y ~ I(a > .(numbers)))),
  made = (function(hidden) function(...) stop(paste(hidden, collapse = " ")))(text),
  call = call("c", numbers), pairlist = as.pairlist(as.list(text)), empty = text[0], flags = c(TRUE, NA, FALSE)
)

# Digits as they may be formatted, and the bytes.
digits <- "0?[.]731[0-9]*|0?[.]29[12][0-9]*|0?[.]56[45][0-9]*|0?[.]847[0-9]*|7312846|2918273|5647382|8473625"
quotes_secret <- function(condition) {
  shown <- paste(c(conditionMessage(condition), deparse(conditionCall(condition))), collapse = " ")
  bytes <- serialize(condition, NULL, xdr = FALSE)
  held <- vapply(c(numbers, -numbers, round(numbers * 1e9)), function(value) {
    length(grepRaw(writeBin(value, raw(), endian = .Platform$endian), bytes, fixed = TRUE)) > 0L
  }, NA)
  grepl(paste0("secret-|", digits), shown) || length(grepRaw("secret-", bytes, fixed = TRUE)) > 0L || any(held)
}

# Functions of the caller that speak for themselves: they get no records, or are the reader of a source, which is asked
# when the source is made (see SECURITY.md).
own_words <- c("dp_calibrate family", "dp_source x")

# All conditions that leave the call.
conditions_of <- function(f, arguments) {
  seen <- list()
  note <- function(condition) seen[[length(seen) + 1L]] <<- condition
  utils::capture.output(tryCatch(withCallingHandlers(
    do.call(f, arguments, quote = TRUE),
    warning = function(w) {
      note(w)
      invokeRestart("muffleWarning")
    },
    message = function(m) {
      note(m)
      invokeRestart("muffleMessage")
    }
  ), error = note))
  seen
}

d <- problem_frame(40)
d$person <- rep(1:20, 2)
x <- as.matrix(d[c("a", "b")])
fit_of <- function(...) quiet_fit(y ~ a + f, d, eps = 5, delta = 1e-4, bounds = frame_bounds["a"], ...)
fit <- fit_of(inference = "sandwich", method = "newton-ridge")
oracle <- function() {
  suppressMessages(dp_oracle(x, ifelse(d$y == "yes", 1, -1), "logistic", dp_budget(rho = 1e6), 30))
}
event <- event_gaussian(10)

# What other arguments a call needs, beside those with a default. Several calls of one function have suffixes.
needed <- list(
  "dp_sosp" = list(y ~ a + f, data = d, eps = 1, delta = 1e-4, progress = FALSE),
  "dp_sosp matrix" = list(x, d$y, eps = 1, delta = 1e-4, radius = 30, progress = FALSE),
  "dp_sosp persons" = list(y ~ a + f, data = d, eps = 1, delta = 1e-4, id = "person", records = 2, progress = FALSE),
  "dp_sosp network" = list(x, d$y, eps = 1, delta = 1e-4, model = model_mlp(2), bounds = c(-1, 30), progress = FALSE,
                           control = control_network(epochs = 1)),
  "dp_sosp_engine" = list(y ~ a, d, eps = 1, delta = 1e-4, progress = FALSE),
  "dp_oracle" = list(x, d$y, budget = dp_budget(rho = 1), radius = 30),
  "dp_oracle formula" = list(y ~ a + f, d, budget = dp_budget(rho = 1), bounds = frame_bounds["a"]),
  "dp_value" = list(oracle(), c(0, 0, 0), mu = 1), "dp_gradient" = list(oracle(), c(0, 0, 0), mu = 1),
  "dp_hessian" = list(oracle(), c(0, 0, 0), mu = 1),
  "dp_line_search" = list(oracle(), w = c(0, 0, 0), direction = c(1, 0, 0), steps = c(2, 1), mu = 1),
  "dp_tune" = list(list(one = list(method = "gd"), two = list(method = "newton")), y ~ a, d, eps = 1, delta = 1e-4),
  "dp_curve" = list(y ~ a, d, eps = 1, delta = 1e-4, methods = "gd", reps = 2, public = TRUE, progress = FALSE),
  "dp_evaluate" = list(fit, d, eps = 1, delta = 1e-4), "dp_certify" = list(fit, d, eps = 1, delta = 1e-4),
  "dp_inference" = list(fit_of(), d, eps = 1, delta = 1e-4),
  "dp_plan" = list(1000, numeric = 2, eps = 1), "dp_source" = list(function() function() NULL),
  "dp_source paths" = list("none.csv"), "dp_shards" = list(list("none.csv")), "dp_report" = list(fit),
  "dp_verify" = list(fit), "dp_ledger" = list(fit), "dp_reserve" = list(dp_budget(mu = 1), eps = 1),
  "dp_audit" = list(fit, runs = 4, progress = FALSE),
  "dp_audit function" = list(function(data) data[1] + stats::rnorm(1), list(0, 1), eps = 1, delta = 1e-4, runs = 4,
                             progress = FALSE),
  "dp_budget" = list(eps = 1, delta = 1e-4), "dp_convert" = list(mu = 1, delta = 1e-4, to = "eps"),
  "dp_account" = list(event), "dp_rdp" = list(event, 2), "dp_filter_order" = list(event, 1, 1e-4),
  "dp_calibrate" = list(event_gaussian, 1, 1e-4, c(1, 100)), "delta" = list(dp_account(event), 1),
  "epsilon" = list(dp_account(event), 1e-4), "event_exponential" = list(1), "event_gaussian" = list(1),
  "event_laplace" = list(1), "event_pure" = list(1), "event_repeat" = list(event, 2),
  "event_subsample" = list(event, 0.1), "event_svt" = list(1), "event_svt_gaussian" = list(1, 1, 1),
  "event_tree" = list(1, 4), "features_scattering" = list(array(0, c(1, 8, 8)), c(0, 1)),
  "geometry_public" = list(c(a = 1), c(a = 1)), "penalty_ridge" = list(1), "penalty_nonconvex" = list(1),
  "planned_iterations" = list("gd", 0.1, gap = 1), "required_rows" = list("opt", 0.1, 0.1, 10, 1, 1e-6, gap = 1),
  "sufficient_batch" = list(0.1, 0.1, 10, 10), "saddle_problem" = list(10),
  "trust_region_step" = list(c(1, 2), diag(2), 1), "sosp" = list(0.1, 0.1)
)

# Arguments of the generic and of its methods, and one too many, with a name and without.
arguments_of <- function(name) {
  f <- get(name, asNamespace("dpsosp"))
  methods <- ls(asNamespace("dpsosp"), pattern = paste0("^", name, "[.](default|formula|function|character|dp|DBI)"))
  formal <- unlist(lapply(c(list(f), mget(methods, envir = asNamespace("dpsosp"))), function(f) names(formals(f))))
  c(setdiff(unique(formal), "..."), "unknown", "")
}

# The arguments with the vector in the place of one.
with_vector <- function(name, arguments, argument, vector) {
  if (!nzchar(argument)) return(c(arguments, list(vector)))
  positions <- setdiff(arguments_of(name), c("unknown", ""))
  at <- match(argument, names(arguments))
  unnamed <- which(if (is.null(names(arguments))) rep(TRUE, length(arguments)) else !nzchar(names(arguments)))
  if (is.na(at)) at <- unnamed[match(argument, setdiff(positions, names(arguments))[seq_along(unnamed)])]
  if (is.na(at)) return(c(arguments, stats::setNames(list(vector), argument)))
  replace(arguments, at, list(vector))
}

expect_unquoted <- function(f, arguments, where) {
  for (condition in conditions_of(f, arguments)) {
    if (!quotes_secret(condition)) next
    fail(paste0(where, ": ", conditionMessage(condition), "\nin ", deparse1(conditionCall(condition))))
  }
}

test_that("the search finds what it looks for", {
  quoting <- function(x) stop("it is ", x)
  for (name in setdiff(names(vectors), c("empty", "flags", "made", "call", "formula"))) {
    conditions <- conditions_of(quoting, list(vectors[[name]][1]))
    expect_true(quotes_secret(conditions[[1]]), info = name)
  }
  expect_true(quotes_secret(conditions_of(function(x) stop("no"), list(numbers))[[1]]))
  expect_true(quotes_secret(conditions_of(function(x) stop("no"), list(vectors$made))[[1]]))
  expect_false(quotes_secret(simpleError("no", call = quote(f(x, 1, "a")))))
})

test_that("no condition quotes what stands inside an argument", {
  d$note <- text[rep(1:4, 10)]
  fit_with <- function(...) list(dp_sosp, list(y ~ a + f, d, eps = 1, delta = 1e-4, progress = FALSE, ...))
  warns <- function(levels) {
    warning(text[1])
    message(text[2])
    contr.sum(length(levels))
  }
  marked_formula <- function(e) as.formula(call("~", quote(y), e))
  levels <- list(f = structure(1:2, names = text[1:2]), g = text)
  calls <- list(
    fit_with(contrasts = list(f = vectors$made)), fit_with(contrasts = list(f = warns)),
    fit_with(contrasts = list(f = numbers)), fit_with(contrasts = stats::setNames(list(numbers), "f")),
    fit_with(bounds = list(a = numbers[2:1])), fit_with(bounds = list(a = numbers)),
    fit_with(start = as.list(numbers)), fit_with(weights = call("*", quote(a), numbers)),
    fit_with(subset = call("%in%", quote(note), text)), fit_with(id = text), fit_with(id = call("[", text, 1:2)),
    fit_with(control = list(numbers)), fit_with(loss = stats::binomial), fit_with(numbers, text),
    list(dp_sosp, list(marked_formula(call("I", call(">", quote(a), numbers))), d, eps = 1)),
    list(dp_sosp, list(marked_formula(call("s", quote(a), knots = numbers)), d, eps = 1)),
    list(dp_sosp, list(marked_formula(as.call(list(vectors$made, quote(a)))), d, eps = 1)),
    list(dp_sosp, list(marked_formula(call("factor", quote(note), levels = text)), d, eps = 1)),
    list(dp_sosp, list(y ~ note, d, eps = 1)), list(dp_sosp, list(note ~ a, d, eps = 1)),
    list(dp_tune, list(list(a = list(start = numbers), b = list(bounds = list(a = numbers))), y ~ a, d, eps = 1)),
    list(dp_tune, list(list(a = list(contrasts = list(f = vectors$made)), b = list()), y ~ a + f, d, eps = 1)),
    list(dp_source, list(text)), list(dp_source, list(function() function() NULL, types = c(a = text[1], b = text[2]))),
    list(dp_evaluate, list(fit, d, eps = 1, metrics = text)), list(predict, list(fit, d, type = text)),
    list(predict, list(fit, transform(d, a = as.character(numbers)))), list(confint, list(fit, text)),
    list(summary, list(fit, numbers)), list(update, list(fit, eps = numbers)), list(coef, list(fit, text)),
    list(features_scattering, list(array(0, c(1, 8, 8)), c(0, 1), size = numbers[1:2])),
    list(print, list(fit, digits = numbers)), list(plot, list(fit, text)), list(vcov, list(fit, text))
  )
  for (call in calls) expect_unquoted(call[[1]], call[[2]], deparse1(names(call[[2]])))
  succeed()
})

test_that("hypotheses that car does not understand are not quoted", {
  skip_if_not_installed("car")
  expect_error(car::linearHypothesis(fit, text), "must have hypotheses about `\\(Intercept\\)`, `a`",
               class = "dpsosp_error_argument")
  expect_unquoted(car::linearHypothesis, list(fit, text), "linearHypothesis()")
  expect_unquoted(car::linearHypothesis, list(fit, matrix(text, 2)), "linearHypothesis()")
})

test_that("ids as values of a call are in no condition, so two numbers of rows of a person give the same one", {
  ids <- data.frame(person = c("p1", "p1", "p2", "p3"), x = c(.1, .2, .3, .4), y = factor(c("a", "b", "a", "b")))
  calls <- list(
    function(d) do.call(dp_sosp, list(y ~ x, data = d, eps = 1, id = d$person, bounds = list(x = c(0, 1)))),
    function(d) do.call(dp_tune, list(list(a = list(), b = list()), y ~ x, data = d, eps = 1, id = d$person)),
    function(d) do.call(dp_curve, list(y ~ x, data = d, eps = 1, id = d$person)),
    function(d) do.call(features_scattering, list(d$x)),
    function(d) {
      skip_if_not_installed("parsnip")
      person <- d$person
      parsnip::fit(parsnip::set_engine(parsnip::logistic_reg(), "dpsosp", eps = 1, id = person), y ~ x, d)
    }
  )
  for (call in calls) {
    errors <- lapply(list(ids, ids[-2, ]), function(d) tryCatch(suppressMessages(call(d)), error = identity))
    expect_s3_class(errors[[1]], "dpsosp_error_argument")
    expect_identical(deparse(conditionCall(errors[[1]])), deparse(conditionCall(errors[[2]])))
    expect_no_match(deparse1(conditionCall(errors[[1]])), "p1|0[.]1")
  }
})

turn <- 0
test_that("no condition of an exported function quotes an element of a vector", {
  exports <- sort(getNamespaceExports("dpsosp"))
  exports <- exports[vapply(exports, function(name) is.function(get(name, asNamespace("dpsosp"))), NA)]
  base <- sub(" .*", "", names(needed))
  expect_identical(setdiff(base, exports), character())
  for (name in exports) {
    calls <- if (name %in% base) needed[base == name] else list(list())
    # An export whose arguments have no defaults needs a line above.
    required <- formals(get(name, asNamespace("dpsosp")))
    required <- names(required)[vapply(required, identical, NA, quote(expr = ))] # nolint
    expect_true(name %in% base || length(setdiff(required, "...")) == 0L, info = paste("arguments of", name))
    for (arguments in calls) {
      for (argument in arguments_of(name)) {
        turn <<- turn + 1
        for (kind in if (long_form()) names(vectors) else names(vectors)[(turn * c(1, 7)) %% length(vectors) + 1]) {
          if (kind == "made" && paste(name, argument) %in% own_words) next
          expect_unquoted(get(name, asNamespace("dpsosp")), with_vector(name, arguments, argument, vectors[[kind]]),
                          paste0(name, "(", argument, " = <", kind, ">)"))
        }
      }
    }
  }
})

# Methods of generics, for an object of each class.
objects <- function() {
  network <- suppressWarnings(suppressMessages(dp_sosp(x, d$y, eps = 1, delta = 1e-4, model = model_mlp(2),
                                                       bounds = c(-1, 30), control = control_network(epochs = 1))))
  curve <- suppressMessages(dp_curve(y ~ a, d, eps = 1, delta = 1e-4, methods = "gd", reps = 1, public = TRUE,
                                     bounds = frame_bounds["a"], progress = FALSE))
  list(dp_sosp = fit, dp_network = network, dp_curve = curve,
       dp_evaluation = dp_evaluate(fit, d, eps = 1, delta = 1e-4), dp_oracle = oracle(),
       dp_plan = suppressMessages(dp_plan(1000, numeric = 2, eps = 1)),
       dpsosp_profile = dp_account(event), dpsosp_event = event, dp_budget = dp_budget(mu = 1),
       dp_release = dp_gradient(oracle(), c(0, 0, 0), mu = 1), dp_verification = dp_verify(fit), dp_loss = loss_huber(),
       dp_control = control_opt(), dp_penalty = penalty_none(), dp_target = sosp(0.1, 0.1), dp_model = model_mlp(2))
}

test_that("no condition of a method for an object of the package quotes an element of a vector", {
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  for (class in names(objects <- objects())) {
    methods <- ls(asNamespace("dpsosp"), pattern = paste0("[.]", class, "$"))
    # R calls Ops with two arguments; audits take long, and are among the exports.
    for (name in grep("^(Ops|dp_audit)[.]", methods, value = TRUE, invert = TRUE)) {
      f <- get(name, asNamespace("dpsosp"))
      for (argument in c(setdiff(names(formals(f))[-1], "..."), "unknown", "")) {
        turn <<- turn + 1
        for (kind in if (long_form()) names(vectors) else names(vectors)[(turn * 3) %% length(vectors) + 1]) {
          given <- stats::setNames(list(objects[[class]], vectors[[kind]]), c("", argument))
          expect_unquoted(f, given, paste0(name, "(", argument, " = <", kind, ">)"))
        }
      }
    }
  }
  succeed()
})
