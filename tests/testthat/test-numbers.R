# A numeric response: its type is public, and what its numbers are only the caller can say.

numbers_frame <- function(n = 200) {
  set.seed(4)
  d <- data.frame(a = runif(n, -1, 1))
  d$died <- as.integer(d$a + rlogis(n) > 0)
  d
}
a_range <- list(a = c(-1, 1))
two_classes <- c("2opt-ls", "2opt", "opt-ls", "opt", "tr", "warm-ridge", "opt-b", "2opt-b", "tr-b", "damped-newton",
                 "cubic")

refused <- function(...) {
  conditionMessage(expect_error(suppressMessages(dp_sosp(..., progress = FALSE)), "is numeric, and its values",
                                class = "dpsosp_error_argument"))
}

test_that("a method for several kinds of response needs a loss, in words that no value decides", {
  d <- numbers_frame()
  budget <- dp_budget(rho = 1)
  expect_setequal(two_classes, methods_without("nonsmooth"))
  for (method in c("auto", setdiff(method_names(), two_classes))) {
    said <- refused(died ~ a, d, bounds = a_range, budget = budget, method = method)
    for (died in list(d$died + 1, rnorm(200), NA_real_)) {
      expect_identical(refused(died ~ a, transform(d, died = died), budget = budget, method = method), said)
    }
  }
  expect_equal(nrow(dp_ledger(budget)), 0)
  lines <- trimws(sub("#.*", "", strsplit(said, "\n")[[1]][-1]))
  expect_identical(lines, c("loss = \"logistic\"", "loss = \"squared\"", "loss = \"poisson\""))
  expect_match(said, "`died`", fixed = TRUE)
})

test_that("each line that the error prints gives a fit", {
  d <- numbers_frame()
  said <- refused(died ~ a, d, eps = 1)
  lines <- strsplit(said, "\n")[[1]][-1]
  for (line in lines) {
    loss <- eval(str2lang(sub("loss = ", "", sub("#.*", "", line), fixed = TRUE)))
    expect_s3_class(quiet_fit(died ~ a, d, eps = 1, bounds = a_range, loss = loss, method = "auto"), "dp_sosp")
  }
})

test_that("so it is in matrices, sources, networks, oracles, curves and candidates", {
  d <- numbers_frame()
  x <- as.matrix(d["a"])
  budget <- dp_budget(eps = 1, delta = 1e-6)
  source <- dp_source(in_chunks(d, 70), n = 200)
  refused(x, d$died, radius = 2, budget = budget)
  refused(died ~ a, source, budget = budget)
  refused(died + 1 ~ a, d, budget = budget)
  refused(x, d$died, model = model_mlp(2), bounds = c(-1, 1), eps = 1)
  refused(died ~ a, d, model = model_mlp(2), bounds = a_range, eps = 1)
  refused(died ~ a, d, bounds = a_range, eps = 1, inference = "sandwich")
  other <- function(call) {
    expect_error(suppressMessages(call), "is numeric, and its values", class = "dpsosp_error_argument")
  }
  other(dp_oracle(x, d$died, budget = budget, radius = 2))
  other(dp_oracle(dp_source(in_chunks(d, 70), n = 200), "died", budget = budget, radius = 2))
  other(dp_curve(died ~ a, d, eps = 1, reps = 1, budget = budget))
  other(dp_tune(list(one = list(), two = list(method = "newton")), died ~ a, d, eps = 1, delta = 1e-6))
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("a method that knows two classes implies its loss, and says how numbers are coded", {
  d <- numbers_frame()
  for (method in setdiff(two_classes, "warm-ridge")) { # which refuses the implied loss
    expect_message(fit <- suppressWarnings(dp_sosp(died ~ a, d, eps = 0.6, delta = 1e-6, bounds = a_range,
                                                   method = method, progress = FALSE)),
                   "`died` is numeric: 1 is one class", class = "dpsosp_message_response")
    expect_identical(fit$loss$name, "logistic")
  }
  expect_error(dp_sosp(died ~ a, d, eps = 1, method = "2opt-lss"), "must be one of", class = "dpsosp_error_argument")
})

test_that("a logical response and a factor have a default", {
  d <- transform(numbers_frame(), died = died == 1, f = factor(died, 0:1))
  for (formula in c(died ~ a, f ~ a)) {
    expect_identical(quiet_fit(formula, d, eps = 1, bounds = a_range, method = "auto")$loss$name, "logistic")
  }
  expect_s3_class(dp_oracle(as.matrix(d["a"]), d$died, budget = dp_budget(mu = 1), radius = 2), "dp_oracle")
})
