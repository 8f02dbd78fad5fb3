# Several records of a person (proofs: persons): what the core computes is tested in dev/ctest/test-barrier-persons.c.

d <- persons_data()
ends <- list(a = c(-1, 1), b = c(-1, 1))

test_that("a fit to one record each is the fit without an id, bit for bit", {
  one <- d[!duplicated(d$person), ]
  fit <- function(...) persons_fit(..., records = 1)
  for (method in c("newton-ridge", "newton", "gd", "tr", "cubic", "damped-newton")) {
    expect_same(fit(one, method = method), fit(one, id = NULL, method = method))
  }
  for (formula in list(z ~ a + b, count ~ a + b, class ~ a + b)) {
    loss <- if (formula[[2]] == "z") loss_squared(c(-3, 3)) else if (formula[[2]] == "count") loss_poisson(20)
    expect_same(fit(one, formula, loss = loss), fit(one, formula, id = NULL, loss = loss))
  }
  expect_same(fit(one, bounds = "private"), fit(one, id = NULL, bounds = "private"))
  # Values are summed in another way.
  for (method in c("2opt-ls", "blgd", "agd", "outpert")) {
    expect_equal(coef(fit(one, method = method)), coef(fit(one, id = NULL, method = method)),
                 tolerance = 1e-9)
  }
})

test_that("copies of a record count once", {
  one <- d[!duplicated(d$person), ]
  many <- one[rep(seq_len(nrow(one)), 2^(seq_len(nrow(one)) %% 4)), ]
  for (formula in list(y ~ a + b, z ~ a + b, class ~ a + b)) {
    loss <- if (formula[[2]] == "z") loss_squared(c(-3, 3))
    expect_equal(coef(persons_fit(many, formula, loss = loss)), coef(persons_fit(one, formula, loss = loss)),
                 tolerance = 1e-7)
  }
  expect_equal(coef(persons_fit(many, bounds = "private")), coef(persons_fit(one, bounds = "private")),
               tolerance = 1e-7)
})

test_that("where noise is small the coefficients are those of weights 1/m", {
  big <- persons_data(4000)
  m <- table(big$person)[big$person]
  exact <- coef(suppressWarnings(glm(y ~ a + b, binomial, big, weights = 1 / as.vector(m))))
  expect_equal(coef(persons_fit(big, eps = 500, method = "newton")), exact, tolerance = 0.02)
  exact <- coef(lm(z ~ a + b, big, weights = 1 / as.vector(m)))
  expect_equal(coef(persons_fit(big, z ~ a + b, eps = 500, loss = loss_squared(c(-4, 4)))), exact, tolerance = 0.02)
})

test_that("the first records of a person are used, at most so many", {
  first <- d[!duplicated(d$person), ]
  expect_same(persons_fit(records = 1), persons_fit(first, records = 1))
  turn <- ave(seq_len(nrow(d)), d$person, FUN = seq_along)
  expect_same(persons_fit(records = 3), persons_fit(d[turn <= 3, ], records = 3))
  expect_false(identical(coef(persons_fit(records = 3)), coef(persons_fit(records = 4))))
})

test_that("records without an id are not used, and null records are not counted", {
  odd <- d
  odd$person[c(3, 50, 51)] <- NA
  expect_same(persons_fit(odd), persons_fit(odd[!is.na(odd$person), ]))
  longer <- rbind(d, transform(d, y = NA)) # each person's list is twice as long
  expect_same(persons_fit(longer), persons_fit())
  longer <- rbind(d, transform(d, a = NA))
  # How good it is depends on the constant prediction, to which records without `a` belong.
  expect_same(persons_fit(longer, method = "cubic"), persons_fit(method = "cubic"), setdiff(fit_parts, "checks"))
  set.seed(5)
  part <- suppressMessages(dp_sosp(y ~ a, rbind(d, transform(d, b = 2)), eps = 2, delta = 1e-5, id = person,
                                   bounds = lapply(ends, I), subset = b < 2, method = "cubic", noise = "reproducible"))
  expect_identical(nobs(part), 701L)
  expect_identical(coef(part), coef(persons_fit(formula = y ~ a, method = "cubic")))
})

test_that("ids may be of any type; invalid text is missing", {
  number <- as.integer(factor(d$person, unique(d$person)))
  text <- as.character(number)
  Encoding(text) <- "bytes"
  for (id in list(number, as.double(number) / 7, factor(number), as.Date("2020-01-01") + number)) {
    expect_same(persons_fit(transform(d, person = id)), persons_fit())
  }
  odd <- transform(d, person = replace(person, 5, "\xff"))
  expect_same(persons_fit(odd), persons_fit(d[-5, ]))
  expect_error(persons_fit(transform(d, person = NA)), "no persons", class = "dpsosp_error_argument")
  expect_error(persons_fit(transform(d, person = I(as.list(person)))), "must be numbers, text or a factor")
})

test_that("a matrix has an id, too", {
  x <- as.matrix(d[c("a", "b")])
  run <- function(x, rows = TRUE, ...) {
    set.seed(4)
    quiet_fit(x[rows, ], d$y[rows], eps = 2, delta = 1e-5, radius = sqrt(3), bounds = c(-1, 1), noise = "reproducible",
              method = "newton-ridge", ...)
  }
  first <- !duplicated(d$person)
  expect_same(run(x, id = d$person, records = 1), run(x, first, id = d$person[first], records = 1))
  expect_same(run(x, first, id = d$person[first], records = 1), run(x, first))
  skip_if_not_installed("Matrix")
  expect_equal(coef(run(as_sparse(x), id = d$person)), coef(run(x, id = d$person)), tolerance = 1e-8)
  fit <- run(x, id = d$person)
  expect_identical(fit$call$id, quote(id))
  expect_identical(fit$persons, list(most = 1000L))
  for (id in list(d$person[-1], as.list(d$person))) {
    e <- expect_error(run(x, id = id), class = "dpsosp_error_argument")
    expect_no_match(conditionMessage(e), as.character(nrow(d)))
  }
  e <- expect_error(run(x, id = d$person, weights = 1), "entry per row", class = "dpsosp_error_argument")
  expect_no_match(conditionMessage(e), as.character(nrow(d)))
})

test_that("the number of rows is in no part of a fit, and no message", {
  n <- 701
  rows <- nrow(d)
  for (arguments in list(list(bounds = "private"), list(method = "2opt-ls"), list(inference = "sandwich"),
                         list(formula = quote(z ~ a + b), loss = "squared"), list(formula = quote(class ~ a + b)))) {
    set.seed(5)
    shown <- what_is_said({
      call <- quote(dp_sosp(formula = y ~ a + b, data = d, eps = 2, id = person, bounds = ends, progress = FALSE))
      call[names(arguments)] <- arguments
      fit <- eval(call)
      print(fit)
      print(summary(fit))
    })
    expect_true(tells_number(fit, n)) # the walk finds what is there
    expect_false(tells_number(fit, rows))
    expect_no_match(shown, as.character(rows))
    expect_match(shown, "701 persons at most 1000 records each", all = FALSE)
    expect_identical(nobs(fit), 701L)
    expect_lt(length(serialize(fit, NULL)), 3e5)
  }
})

test_that("no error about the type of data tells the number of rows", {
  x <- as.matrix(d[c("a", "b")])
  run <- function(...) dp_sosp(..., eps = 1, radius = 2, id = d$person)
  errors <- list(
    function() dp_sosp(y ~ a, transform(d, a = I(as.list(a))), eps = 1, id = person),
    function() dp_sosp(y ~ a, transform(d, a = I(cbind(a, 1))), eps = 1, id = person),
    function() dp_sosp(y ~ a, transform(d, y = I(as.list(y))), eps = 1, id = person),
    function() dp_sosp(y ~ a, transform(d, y = as.Date("2020-01-01") + a), eps = 1, id = person),
    function() dp_sosp(y ~ a, transform(d, y = a), eps = 1, id = person, loss = "multinomial"),
    function() dp_sosp(y ~ a, d, eps = 1, id = person, loss = "squared"),
    function() dp_sosp(y ~ a, x, eps = 1, id = person),
    function() run(x, as.list(d$y)), function() run(x[, 1], d$y), function() run(d[c("a", "b")], d$y),
    function() run(x, d$y, weights = cbind(d$a)), function() run(x, d$y, loss = "poisson")
  )
  for (error in errors) {
    e <- expect_error(error(), class = "dpsosp_error_argument")
    expect_no_match(conditionMessage(e), as.character(nrow(d)))
  }
})

test_that("a report's guarantee for several is for several persons", {
  shown <- capture.output(dp_report(persons_fit()))
  expect_match(shown, "For several persons together", fixed = TRUE, all = FALSE)
  expect_no_match(shown, "records of one person together", fixed = TRUE)
  shown <- capture.output(dp_report(persons_fit(id = NULL)))
  expect_match(shown, "For several records of one person together", fixed = TRUE, all = FALSE)
})

test_that("delta, noise and sensitivities are those of n persons", {
  set.seed(1)
  fit <- dp_sosp(y ~ a + b, d, eps = 1, id = person, bounds = ends, method = "gd", progress = FALSE) |>
    suppressMessages()
  expect_equal(fit$privacy$delta, 1 / 701^2)
  gradients <- fit$privacy$ledger[fit$privacy$ledger$what == "gradient", ]
  expect_equal(701 * gradients$sensitivity[1], 1, tolerance = 1e-4) # at w = 0
  expect_true(all(701 * gradients$sensitivity < 2 * (1 + 1e-4)))
})

test_that("one person moves counts for ranges by one, whatever the records", {
  base <- data.frame(id = 1:500, a = runif(500), y = factor(rep(c("u", "v"), 250)))
  more <- rbind(base, data.frame(id = 1, a = rep(1e6, 400), y = factor("u", c("u", "v"))))
  read <- function(data) {
    job <- list(design = design_template(y ~ a, data[c("a", "y")]), response = NULL)
    persons <- new_persons(data$id, 1000, NULL)
    problem <- of_persons(list(n = 0, columns = function(job) list(a = data$a[persons$rows])), persons)
    set.seed(1)
    release_counts(problem$columns(job), list(c(-1, 1, 1e3, 1e7)), dp_budget(mu = 1e7), 1e12, "replace-one", TRUE)
  }
  expect_equal(read(base)$counts$a, c(500, 0, 0), tolerance = 1e-4)
  expect_equal(read(more)$counts$a, c(499, 0, 1), tolerance = 2e-3)
  expect_equal(read(more)$sd, read(base)$sd)
})

chunks <- dp_source(in_chunks(d, 1000))

test_that("what is for records only is refused, with what to use, before anything is charged", {
  for (method in c("sgd", "opt-b", "newton-b", "blsgd", "spider", "objpert")) {
    budget <- dp_budget(eps = 1, delta = 1e-6)
    expect_error(dp_sosp(y ~ a, d, eps = 1, id = person, method = method), "\"newton-ridge\"",
                 class = "dpsosp_error_persons")
    expect_identical(nrow(dp_ledger(budget)), 0L)
  }
  expect_error(dp_sosp(y ~ a, d, eps = 1, id = person, certificate = "population"), "no persons are kept out")
  expect_error(dp_sosp(y ~ a, d, eps = 1, id = person, model = model_mlp(3), method = "sgd"),
               "draws batches of records.*The method \"blgd\" takes an `id`", class = "dpsosp_error_persons")
  expect_error(dp_sosp(as.matrix(d["a"]), d$y, eps = 1, id = d$person, model = model_mlp(3), bounds = c(-1, 1)),
               "for a formula only", class = "dpsosp_error_persons")
  expect_error(dp_sosp(y ~ a, chunks, eps = 1, id = person), "make it with", class = "dpsosp_error_persons")
  expect_error(dp_sosp(y ~ a, d, eps = 1, id = person + 1), "must be a column")
  expect_error(dp_sosp(y ~ a, d, eps = 1, id = persn), "`person`")
  expect_error(dp_sosp(y ~ a, d, eps = 1, id = person, records = 0), "`records`")
  expect_error(dp_sosp(y ~ a, d, eps = 1, id = person, records = 2^21), "`records`")
  expect_error(dp_sosp(y ~ person, d, eps = 1, id = person), "`person` in `formula`")
  expect_error(dp_tune(list(a = list(id = "person"), b = list()), y ~ a, d, eps = 1), "sets \"id\"")
})

test_that("auto takes a method for persons where it would perturb the objective", {
  quiet <- function(id) {
    set.seed(1)
    persons_fit(formula = y ~ a, eps = 1000, penalty = penalty_ridge(0.01), id = id)$method
  }
  expect_identical(quiet(NULL), "objpert")
  expect_identical(quiet("person"), "newton")
})

test_that("intervals and evaluations are of persons, too", {
  d <- persons_data(4000)
  fit <- persons_fit(d, method = "newton")
  set.seed(2)
  again <- suppressMessages(dp_inference(fit, d, eps = 1000, delta = 1e-5, noise = "reproducible"))
  expect_identical(again$inference$released$n, 4000L)
  m <- as.vector(table(d$person)[d$person])
  exact <- suppressWarnings(glm(y ~ a + b, binomial, d, weights = 1 / m))
  expect_equal(coef(again), coef(exact), tolerance = 0.02)
  # The meat is that of the persons' sums of gradients, by `records` with more than a block holds that of records.
  z <- model.matrix(exact)
  slope <- stats::plogis(drop(z %*% coef(exact))) - (d$y == "yes")
  bread <- solve(crossprod(z, z * (exp(stats::dlogis(drop(z %*% coef(exact)), log = TRUE)) / m)))
  errors <- function(meat) sqrt(diag(bread %*% meat %*% bread))
  sums <- errors(crossprod(rowsum(z * slope / m, d$person)))
  expect_equal(sqrt(diag(vcov(again))), sums, tolerance = 0.05)
  wide <- persons_fit(d, method = "newton", eps = 1000, records = 1025, inference = "sandwich")
  expect_equal(sqrt(diag(vcov(wide))), errors(crossprod(z, z * (slope^2 / m))), tolerance = 0.05)
  expect_true(all(diag(vcov(wide)) > 2 * sums^2))

  set.seed(3)
  e <- suppressMessages(dp_evaluate(fit, d, eps = 500, delta = 1e-5, noise = "reproducible"))
  hit <- (predict(fit, d, type = "link") > 0) == (d$y == "yes")
  expect_equal(e$estimates$estimate[e$estimates$metric == "accuracy"], mean(tapply(hit, d$person, mean)),
               tolerance = 0.01)
  expect_equal(sum(e$confusion), 4000, tolerance = 0.01)
  expect_output(print(e), "4,000 persons, at most 1,000 records each")
  expect_false(any(numbers_in(unclass(e)) == nrow(d), na.rm = TRUE))
  for (wrong in list(dp_source(in_chunks(d, 500), id = "person"), dp_source(in_chunks(d, 500)), 1, as.list(d))) {
    expect_error(dp_evaluate(fit, wrong, eps = 1), "`newdata` must be", class = "dpsosp_error_argument")
  }
  expect_error(dp_inference(fit, d[names(d) != "person"], eps = 1), "`person`")
  expect_error(dp_inference(fit, chunks, eps = 1), "is of records", class = "dpsosp_error_persons")
})

test_that("shares in R are those of the core: multiples of 2^-20 that sum to at most one", {
  persons <- list(code = c(1L, 2L, 2L, 3L, 3L, 3L), n = 4L, most = 3L)
  expect_identical(raw_shares(persons), c(1, 0.5, 0.5, rep(floor(2^20 / 3) / 2^20, 3)))
  expect_identical(raw_shares(list(code = integer(), n = 1L, most = 1L)), numeric())
})

# ---- networks, by the method that uses all records ----

network_search <- control_line_search(attempts = 12, candidates = 8, first = 32, ratio = 0.5, sufficient = 0.001)
network_persons <- function(data, ..., eps = 50) {
  persons_fit(data, model = model_mlp(3), control = network_search, eps = eps, ...)
}

test_that("a network counts each person once, in memory and in chunks", {
  d <- with_gaps()
  for (noise in long_values(list("replace-one", "zero-out"))) {
    fit <- network_persons(d, neighbours = noise)
    expect_identical(fit$method, "blgd")
    expect_identical(fit[c("n", "persons")], list(n = 201L, persons = list(name = "person", most = 1000L)))
    expect_false(tells_number(fit, nrow(d)))
    expect_false(tells_number(fit, sum(!is.na(d$person))))
    one <- d[!duplicated(d$person) & !is.na(d$person), ]
    expect_identical(network_persons(one[rep(seq_len(nrow(one)), 16), ], neighbours = noise)$weights,
                     network_persons(one, neighbours = noise)$weights)
    expect_gt(max(abs(network_persons(d, id = NULL, method = "blgd", neighbours = noise)$weights - fit$weights)), 1e-3)
    for (cache in c("memory", "none")) {
      source <- dp_source(in_chunks(d, 300), id = "person", cache = cache)
      expect_identical(network_persons(source, neighbours = noise)$weights, fit$weights)
    }
  }
  expect_gt(max(abs(network_persons(d, records = 2)$weights - network_persons(d)$weights)), 1e-3)
  found <- network_persons(d, bounds = "private")
  expect_identical(network_persons(dp_source(in_chunks(d, 300), id = "person"), bounds = "private")$weights,
                   found$weights)
  expect_output(print(found), "201 persons, at most 1,000 records each")
  expect_output(print(found), "Usable:|too large to tell")
  of_gradient <- function(data, ...) dp_ledger(network_persons(data, ...))$sensitivity[1]
  expect_equal(of_gradient(d), of_gradient(d[!duplicated(d$person) & !is.na(d$person), ], id = NULL, method = "blgd"),
               tolerance = 1e-6)
})

test_that("one person is no plural", {
  expect_identical(dpsosp:::persons_text(1, list(most = 5)), "1 person, at most 5 records each")
})
