# No object of the package holds what stood in an unused column, in whatever form the call came: written out, by
# do.call(), with values in it (rlang::inject(), bquote()), in functions whose frame holds the data, with source
# references, compiled, with functions as values. An object is serialized and its bytes are searched for the mark.
withr::local_options(keep.source = TRUE)

marked <- function(n = 200) {
  d <- problem_frame(n)
  d$note <- c("record-0001", rep("", n - 1))
  d$person <- rep(seq_len(n / 2), 2)
  d
}
holds_mark <- function(object) length(grepRaw("record-0001", serialize(object, NULL), fixed = TRUE)) > 0L
expect_unmarked <- function(object, info = NULL) expect_false(holds_mark(object), info = info)
quietly <- function(code) suppressWarnings(suppressMessages(code), "dpsosp_warning")
contrasts_of <- function(f) list(f = compiler::cmpfun(f))
settings <- list(eps = 4, delta = 1e-4, bounds = frame_bounds, progress = FALSE)

# Each form makes a call of a function with data that hold the mark, and a function that sees them.
forms <- list(
  written = function(d, mine) {
    bounds <- frame_bounds
    dp_sosp(y ~ a + f, d, eps = 4, delta = 1e-4, bounds = bounds, contrasts = list(f = mine), progress = FALSE)
  },
  literal = function(d, mine) {
    dp_sosp(y ~ a + f, d, eps = 4, delta = 1e-4, bounds = frame_bounds, progress = FALSE,
            contrasts = list(f = function(levels, seen = d) contr.sum(length(levels))))
  },
  do.call = function(d, mine) do.call(dp_sosp, c(list(y ~ a + f, d, contrasts = list(f = mine)), settings)),
  by_name = function(d, mine) {
    do.call("dp_sosp", c(list(y ~ a + f, data = d, contrasts = contrasts_of(mine)), settings))
  },
  bquote = function(d, mine) {
    eval(bquote(dp_sosp(.(y ~ a + f), .(d), eps = 4, delta = 1e-4, bounds = .(frame_bounds), progress = FALSE,
                        contrasts = .(contrasts_of(mine)), weights = ifelse(a > 0, 1, .(0.5)))))
  },
  match.call = function(d, mine) {
    outer <- function(formula, data, ...) {
      call <- match.call()
      call[[1]] <- dp_sosp
      eval(call, list(d = data), parent.frame())
    }
    outer(y ~ a + f, d, eps = 4, delta = 1e-4, bounds = frame_bounds, contrasts = list(f = mine), progress = FALSE)
  },
  dots = function(d, mine) {
    pass <- function(...) dp_sosp(...)
    pass(y ~ a + f, d, eps = 4, delta = 1e-4, bounds = frame_bounds, contrasts = list(f = mine), progress = FALSE)
  },
  attribute = function(d, mine) {
    attr(d$f, "contrasts") <- mine
    attr(d$f, "label") <- attr(d$a, "label") <- attr(d$y, "label") <- d$note
    levels <- levels(d$f)
    attr(levels, "seen") <- d
    attr(d$f, "levels") <- levels
    dp_sosp(y ~ a + f, d, eps = 4, delta = 1e-4, bounds = frame_bounds, progress = FALSE)
  },
  terms = function(d, mine) {
    numbers <- structure(contr.sum(nlevels(d$f)), seen = d)
    frame <- structure(model.frame(y ~ a + f, d), note = d$note)
    dp_sosp(structure(terms(y ~ a + f, data = d), seen = d), frame, eps = 4, delta = 1e-4, bounds = frame_bounds["a"],
            contrasts = structure(list(f = numbers), seen = d), progress = FALSE)
  },
  objects = function(d, mine) {
    add <- function(x) {
      if (is.list(x)) x[c("seen", "note")] <- list(mine, d$note)
      structure(x, seen = d, note = d$note)
    }
    do.call(dp_sosp, list(
      add(y ~ a + f), d, eps = add(4), delta = add(1e-4), method = add("newton"), loss = add(loss_logistic()),
      penalty = add(penalty_none()), control = add(control_newton()), neighbours = add("zero-out"),
      bounds = lapply(frame_bounds, add), noise = add("secure"), storage = add("single"), smooth = add(FALSE),
      progress = add(FALSE), label = add("a fit"), contrasts = list(f = add("contr.sum")), id = add("person")
    ))
  },
  inject = function(d, mine) {
    skip_if_not_installed("rlang")
    rlang::inject(dp_sosp(!!(y ~ a + f), !!d, eps = 4, delta = 1e-4, bounds = !!frame_bounds, progress = FALSE,
                          contrasts = !!list(f = mine)))
  }
)
fits <- lapply(forms, function(form) {
  d <- marked()
  mine <- function(levels) contr.sum(length(levels))
  tryCatch(quietly(form(d, mine)), skip = function(e) NULL)
})
fits <- Filter(Negate(is.null), fits)

test_that("the search finds the mark", {
  d <- marked()
  expect_true(holds_mark(d))
  expect_true(holds_mark(function() 1)) # its environment
  expect_true(holds_mark(y ~ x))
})

test_that("a fit holds no mark, whatever the form of its call", {
  for (form in names(fits)) {
    expect_s3_class(fits[[form]], "dp_sosp")
    expect_unmarked(fits[[form]], form)
    expect_unmarked(summary(fits[[form]]), form)
    expect_true(all(all.names(fits[[form]]$call) != "function") || form == "literal", info = form)
  }
  # Contrasts as functions, attributes or names are the same numbers.
  columns <- lapply(fits[names(fits) != "objects"], function(fit) fit$design$columns)
  for (form in names(columns)) expect_identical(columns[[form]], columns$written, info = form)
})

test_that("a call keeps names and single constants, and says what else there was", {
  expect_identical(fits$written$call, quote(
    dp_sosp(formula = y ~ a + f, data = d, eps = 4, delta = 1e-4, bounds = bounds, progress = FALSE,
            contrasts = list(f = mine))
  ))
  call <- fits$do.call$call
  expect_identical(call[[1]], quote(dp_sosp))
  expect_identical(as.list(call)[c("data", "contrasts", "bounds")],
                   list(data = quote(data), contrasts = quote(list(f = `<function>`)), bounds = quote(`<list>`)))
  expect_error(update(fits$do.call, eps = 2), "`bounds`.*pass them to `update\\(\\)`", class = "dpsosp_error_argument")
  d <- marked()
  again <- quietly(update(fits$do.call, eps = 2, data = d, bounds = frame_bounds, contrasts = NULL))
  expect_identical(again$privacy$eps, 2)
  bounds <- frame_bounds
  mine <- function(levels) contr.sum(length(levels))
  again <- quietly(update(fits$written, eps = 2))
  expect_identical(again$privacy$eps, 2)
  expect_unmarked(again)
})

test_that("nothing else that the package returns holds a mark", {
  objects <- (function() {
    d <- marked()
    mine <- function(levels) contr.sum(length(levels))
    x <- as.matrix(d[c("a", "b")])
    of <- function(...) list(contrasts = list(f = mine), ...)
    call <- function(f, ...) quietly(do.call(f, list(...)))
    fit <- call(dp_sosp, y ~ a + f, d, eps = 4, delta = 1e-4, contrasts = list(f = mine))
    persons <- call(dp_sosp, y ~ a + f, d, eps = 4, delta = 1e-4, contrasts = list(f = mine), id = "person",
                    records = 2)
    smooth <- call(dp_sosp, y ~ s(a) + f, d, eps = 4, delta = 1e-4, bounds = frame_bounds["a"],
                   contrasts = list(f = mine))
    chunks <- dp_source(in_chunks(d, 100))
    study <- dp_budget(eps = 9, delta = 1e-4)
    network <- call(dp_sosp, x, d$y, eps = 4, delta = 1e-4, model = structure(model_mlp(2), seen = d),
                    bounds = c(-1, 30), control = structure(control_network(epochs = 1), seen = d))
    list(
      fit = fit, persons = persons, smooth = smooth, network = network,
      intervals = call(dp_inference, call(dp_sosp, y ~ a + f, d, eps = 4, delta = 1e-4, bounds = frame_bounds["a"],
                                          contrasts = list(f = mine)), d, eps = 4),
      classes = call(dp_sosp, f ~ a + b, d, eps = 4, delta = 1e-4, bounds = frame_bounds),
      matrix = call(dp_sosp, x, d$y, eps = 4, delta = 1e-4, radius = 30, weights = rep(1, 200)),
      split = call(dp_sosp, y ~ a + f, d, eps = 4, delta = 1e-4, bounds = frame_bounds["a"],
                   certificate = "population"),
      source = call(dp_sosp, y ~ a + f, chunks, eps = 4, delta = 1e-4, contrasts = list(f = mine)),
      tune = call(dp_tune, list(one = of(radius = 2), two = of(radius = 3)), y ~ a + f, d, eps = 4, delta = 1e-4),
      curve = call(dp_curve, y ~ a + f, d, eps = 4, delta = 1e-4, reps = 1, public = TRUE, progress = FALSE,
                   bounds = frame_bounds["a"], methods = list(own = function(oracle) c(0, 0, d$a[1], 0), "gd")),
      evaluation = call(dp_evaluate, fit, d, eps = 4, delta = 1e-4),
      certificate = call(dp_certify, fit, d, eps = 4, delta = 1e-4),
      plan = call(dp_plan, 200, formula = y ~ a + f, schema = d[0, ], eps = 4),
      report = capture.output(print(dp_report(fit))), verified = dp_verify(fit), ledger = dp_ledger(persons),
      event = event_repeat(event_compose(structure(event_gaussian(10), seen = d)), 2),
      profile = dp_account(structure(c(event_gaussian(10), list(seen = d)), class = class(event_gaussian(10)))),
      budget = study, spent = call(dp_sosp, y ~ a, d, budget = study, bounds = frame_bounds["a"]),
      tidied = list(generics::tidy(fit), generics::glance(fit), formula(fit), family(fit)),
      audit = call(dp_audit, function(data) sum(nchar(d$note)) + data[[1]] + stats::rnorm(1), list(0, 1), eps = 1,
                   delta = 1e-4, runs = 10, progress = FALSE)
    )
  })()
  for (name in names(objects)) expect_unmarked(objects[[name]], name)
})
