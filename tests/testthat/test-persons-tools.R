# Persons in choices, curves and plans (proofs: persons, disjoint-rows).

d <- persons_data(300)
ends <- list(a = c(-1, 1), b = c(-1, 1))

test_that("parts of the data are persons, whatever their records and the order of rows", {
  select <- function(n) held_out(n, 0.2)
  parts <- split_units(d, "person", select, NULL)
  expect_identical(parts$n, c(240L, 60L))
  expect_length(intersect(parts$rest$person, parts$out$person), 0L)
  expect_identical(nrow(parts$rest) + nrow(parts$out), nrow(d))
  expect_setequal(parts$out$person, sort(unique(d$person), method = "radix")[select(300)])
  for (who in c("p1", "p150", "p300")) {
    # other records, and more or fewer, in other places
    other <- rbind(d[rep(which(d$person == who)[1], 40), ], d[d$person != who, ])
    again <- split_units(other, "person", select, NULL)
    for (part in c("rest", "out")) {
      of <- function(x) as.list(x[x$person != who, ])
      expect_identical(of(again[[part]]), of(parts[[part]]))
    }
    expect_identical(who %in% again$out$person, who %in% parts$out$person)
  }
  odd <- transform(d, person = replace(person, c(5, 9), NA))
  lost <- split_units(odd, "person", select, NULL)
  expect_identical(nrow(lost$rest) + nrow(lost$out), nrow(d) - 2L)
  expect_identical(split_units(d[1:10, ], NULL, select, NULL)$n, c(8L, 2L))
})

candidates <- list(right = list(formula = y ~ a + b, method = "newton", bounds = ends, geometry = "none"),
                   constant = list(formula = y ~ 1, method = "newton", geometry = "none"))
tuned <- function(data = d, ..., eps = 100) {
  set.seed(3)
  suppressMessages(dp_tune(candidates, y ~ a, data, eps = eps, delta = 1e-6, noise = "reproducible", id = person, ...))
}

test_that("a choice is among fits for persons, by scores of persons", {
  for (strategy in c("split", "poisson")) {
    said <- what_is_said(print(x <- tuned(strategy = strategy)))
    expect_identical(x$n, c(training = 240L, held_out = 60L))
    expect_identical(x$fit$n, 240L)
    expect_identical(x$fit$persons, list(name = "person", most = 1000L))
    expect_match(said, "240 of 300 persons", all = FALSE)
    expect_no_match(said, as.character(nrow(d)))
    expect_false(any(numbers_in(unclass(x)) %in% c(nrow(d), nrow(split_units(d, "person", function(n) held_out(n, 0.2),
                                                                              NULL)$rest))))
  }
  expect_identical(tuned()$chosen, "right")
  expect_identical(tuned(records = 2)$fit$persons$most, 2L)
})

# Scores of both candidates for the held-out persons.
merits_of <- function(data) {
  held <- split_units(data, "person", function(n) held_out(n, 0.2), NULL)
  tune <- list(persons = list(name = "person", most = 1000L), candidates = candidates, metric = "log_loss", clip = 0.01,
               neighbours = "replace-one", noise = "reproducible", training = held$rest, held_out = held$out,
               call = quote(dp_tune()))
  tune$judges <- tune_persons(tune, tune$held_out)
  set.seed(1)
  merits(lapply(1:2, run_candidate, mu = 5, tune = tune), tune)$values
}

test_that("one held-out person moves a sum of scores by at most one, whatever the records", {
  who <- sort(unique(d$person), method = "radix")[5]
  own <- d[which(d$person == who)[1], ]
  rest <- d[d$person != who, ]
  wrong <- transform(own, a = 1, b = -1, y = factor("no", levels(d$y)))
  good <- transform(own, a = 1, b = -1, y = factor("yes", levels(d$y)))
  few <- merits_of(rbind(rest, good))
  many <- merits_of(rbind(rest, wrong[rep(1, 200), ]))
  change <- vapply(1:2, function(i) sum(few[[i]]) - sum(many[[i]]), 0)
  expect_gt(change[1], 0.3)
  expect_true(all(abs(change) <= 1 + 1e-9))
})

test_that("a store of a choice says that it is for persons", {
  skip_if_not_installed("RSQLite")
  store <- withr::local_tempfile()
  budget <- suppressMessages(dp_budget(eps = 2, delta = 1e-5, store = store, other = c(eps = 1, delta = 1e-6)))
  suppressMessages(dp_tune(candidates, y ~ a, d, eps = 0.5, delta = 1e-7, budget = budget, id = person))
  suppressMessages(dp_curve(y ~ a, d, eps = 0.1, bounds = ends["a"], budget = budget, delta = 1e-6, id = person))
  expect_match(dp_ledger(budget)$relation, "of persons")
})

test_that("a private curve fits and judges persons", {
  said <- what_is_said({
    set.seed(2)
    print(x <- dp_curve(y ~ a + b, d, eps = c(1, 20), bounds = ends, budget = dp_budget(eps = 40, delta = 1e-6),
                        id = person, metric = "accuracy", noise = "reproducible"))
  })
  expect_identical(x$n, 240L)
  expect_identical(x$tested, 60L)
  expect_match(said, "60 held-out persons of fits to 240", all = FALSE)
  expect_no_match(said, as.character(nrow(d)))
  budget <- dp_budget(eps = 40, delta = 1e-6)
  set.seed(2)
  suppressMessages(dp_curve(y ~ a + b, d, eps = 20, bounds = ends, budget = budget, id = person, methods = "gd",
                            noise = "reproducible"))
  gradients <- dp_ledger(budget)$sensitivity[dp_ledger(budget)$what == "gradient"]
  expect_equal(240 * gradients[1], 1, tolerance = 1e-4) # at w = 0
  expect_true(all(240 * gradients < 2 * (1 + 1e-4)))
})

test_that("the values of a public curve are means over persons, and its lines weigh records by 1/m", {
  set.seed(2)
  x <- suppressMessages(dp_curve(y ~ a + b, d, eps = 1e4, methods = "newton", bounds = ends, public = TRUE, reps = 1,
                                 metric = "accuracy", noise = "reproducible", id = person))
  parts <- split_units(d, "person", function(n) held_out(n, 0.2), NULL)
  m <- as.vector(table(parts$rest$person)[parts$rest$person])
  exact <- suppressWarnings(glm(y ~ a + b, binomial, parts$rest, weights = 1 / m))
  hit <- (predict(exact, parts$out) > 0) == (parts$out$y == "yes")
  of_persons <- mean(tapply(hit, parts$out$person, mean))
  expect_equal(x$lines[["non-private"]], of_persons)
  expect_equal(x$points$value, of_persons, tolerance = 0.02)
  expect_gt(abs(of_persons - mean(hit)), 1e-4)
  expect_identical(c(x$n, x$tested), c(240L, 60L))
  x <- suppressMessages(dp_curve(class ~ a, d, eps = 10, bounds = ends["a"], public = TRUE, reps = 1, id = person))
  expect_length(x$lines, 1L)
})

test_that("arguments about persons are checked before anything is charged", {
  expect_error(tuned(data = d[names(d) != "person"]), "`person`", class = "dpsosp_error_argument")
  expect_error(tuned(records = 0), "`records`", class = "dpsosp_error_argument")
  e <- expect_error(tuned(data = d[d$person == "p1", ]), "persons, 1", class = "dpsosp_error_argument")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(dp_curve(y ~ a, d, eps = 0.5, newdata = d[names(d) != "person"], budget = budget, id = person),
               "`person`", class = "dpsosp_error_argument")
  expect_identical(nrow(dp_ledger(budget)), 0L)
})

test_that("a plan for n records is one for n persons", {
  plan <- dp_plan(300, numeric = 2, eps = 2, delta = 1e-5, method = "newton", inference = TRUE)
  fit <- persons_fit(d, method = "newton", inference = "sandwich")
  expect_equal(plan$mu, dp_convert(eps = 2, delta = 1e-5, to = "mu"), tolerance = 1e-9)
  found <- fit$privacy$ledger
  one <- persons_fit(d[!duplicated(d$person), ], id = NULL, method = "newton", inference = "sandwich")$privacy$ledger
  expect_identical(found$what, one$what)
  run <- c(1, 2, which(found$what == "hessian")) # the noise of others depends on the points
  expect_equal(found$scale[run], one$scale[run], tolerance = 1e-8)
})
