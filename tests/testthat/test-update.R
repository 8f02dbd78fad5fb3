# update(): the sum of both fits is told. What a fit of a shared budget takes.
d <- problem_frame(300)
fit_of <- function(...) {
  suppressWarnings(suppressMessages(dp_sosp(y ~ a, d, bounds = frame_bounds["a"], progress = FALSE, ...)))
}
said <- function(code, class) {
  texts <- character()
  withCallingHandlers(code, message = function(m) {
    if (inherits(m, paste0("dpsosp_message_", class))) texts <<- c(texts, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  texts
}
sum_of <- function(..., delta) {
  format(dp_convert(mu = sqrt(sum(c(...)^2)), delta = delta, to = "eps"), digits = 4)
}
mu <- function(eps, delta = 1e-6) dp_convert(eps = eps, delta = delta, to = "mu")

test_that("update() says what the fit spends anew and what both have in sum", {
  first <- fit_of(eps = 1, delta = 1e-6, method = "gd")
  text <- said(update(first, eps = 2), "update")
  expect_length(text, 1L)
  expect_match(text, "spends eps = 2, delta = 1e-06 anew", fixed = TRUE)
  expect_match(text, paste0("have eps = ", sum_of(mu(1), mu(2), delta = 1e-6), ", delta = 1e-06 in sum"), fixed = TRUE)
  # Not only Gaussian releases: they add.
  text <- said(update(first, method = "objpert"), "update")
  expect_match(text, "have eps = 2, delta = 2e-06 in sum", fixed = TRUE)
  expect_match(said(update(first, neighbours = "zero-out"), "update"), "no sum of both is known")
  expect_length(said(update(first, evaluate = FALSE), "update"), 0L)
  expect_true(is.call(update(first, evaluate = FALSE)))
  later <- suppressMessages(dp_inference(update(first, method = "newton-ridge"), d, eps = 1.5, delta = 1e-6))
  expect_match(said(update(later, eps = 2), "update"),
               paste0("have eps = ", sum_of(mu(1), mu(1.5), mu(2), delta = 1e-6)), fixed = TRUE)
})

test_that("update() of a network says it, too", {
  x <- as.matrix(d[c("a", "b")])
  y <- d$y
  network <- suppressMessages(dp_sosp(x, y, eps = 5, delta = 1e-6, model = model_mlp(2), bounds = c(-1, 30),
                                      control = control_network(epochs = 1), progress = FALSE))
  expect_match(said(update(network), "update"), "have eps = 10, delta = 2e-06 in sum", fixed = TRUE)
})

test_that("a call without eps says what is left of the budget and taken, a call with eps does not", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  part <- mu(0.4)
  expect_length(said(dp_sosp(y ~ a, d, eps = 0.4, budget = budget, bounds = frame_bounds["a"], method = "gd",
                             progress = FALSE), "budget"), 0L)
  rest <- format(dp_convert(mu = sqrt(mu(1)^2 - part^2), delta = 1e-6, to = "eps"), digits = 4)
  text <- said(fit <- dp_sosp(y ~ a, d, budget = budget, bounds = frame_bounds["a"], method = "gd", progress = FALSE),
               "budget")
  expect_length(text, 1L)
  expect_match(text, paste0("all that is left of `budget`: eps = ", rest, ", delta = 1e-06"), fixed = TRUE)
  expect_equal(format(fit$privacy$eps, digits = 4), rest)
  text <- said(dp_evaluate(fit, d, budget = dp_budget(mu = 0.1)), "budget")
  expect_match(text, paste0("eps = ", sum_of(0.1, delta = 1 / 300^2)), fixed = TRUE)
})

test_that("a fit that asks for more than is left says what it takes", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  taken <- function(eps) {
    said(dp_sosp(y ~ a, d, eps = eps, budget = budget, bounds = frame_bounds["a"], method = "gd", progress = FALSE),
         "budget")
  }
  expect_length(taken(0.4), 0L)
  rest <- format(dp_convert(mu = sqrt(mu(1)^2 - mu(0.4)^2), delta = 1e-6, to = "eps"), digits = 4)
  text <- taken(0.95)
  expect_match(text, paste0("less left than `eps` = 0.95: this takes all of it, eps = ", rest), fixed = TRUE)
})

test_that("update() of a fit of persons says what the same persons have", {
  d$person <- rep(1:150, 2)
  told <- function(fit) suppressWarnings(said(update(fit), "update"), "dpsosp_warning") # of released numbers
  first <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ a, d, bounds = frame_bounds["a"], eps = 1, delta = 1e-6, id = person, records = 2, progress = FALSE
  )), "dpsosp_warning")
  expect_match(told(first), "the same persons have eps")
  expect_match(told(fit_of(eps = 1, delta = 1e-6)), "the same records have eps")
})
