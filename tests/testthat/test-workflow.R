# Workflows: what the engine says about steps that learn, and about further fits; a workflow without its records.
skip_if_not_installed("parsnip")
skip_if_not_installed("workflows")
d <- problem_frame(300)
spec <- function(...) {
  parsnip::set_engine(parsnip::logistic_reg(), "dpsosp", eps = 5, delta = 1e-6, progress = FALSE,
                      noise = "reproducible", ...)
}
flow_of <- function(preprocessor, data = d, ...) {
  set.seed(1)
  suppressMessages(parsnip::fit(workflows::workflow(preprocessor, spec(...)), data))
}

test_that("a recipe that learns from the records is warned of, once a fit, and one that does not is not", {
  skip_if_not_installed("recipes")
  plain <- recipes::recipe(y ~ a + b, d)
  scaled <- recipes::step_normalize(plain, "a")
  warned <- character()
  withCallingHandlers(flow_of(scaled, bounds = frame_bounds), warning = function(w) {
    if (inherits(w, "dpsosp_warning_recipe")) warned <<- c(warned, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_length(warned, 1L)
  expect_match(warned, "learn from the records.*: step_normalize\\..*`bounds` must be those of the columns after")
  expect_no_warning(flow_of(recipes::step_mutate(plain, a = 2 * a), bounds = "private"),
                    class = "dpsosp_warning_recipe")
  expect_no_warning(flow_of(y ~ a + b, bounds = frame_bounds), class = "dpsosp_warning_recipe")
  # A workflow of someone else's is not looked at.
  other <- function(workflow) suppressMessages(parsnip::fit(spec(bounds = frame_bounds), y ~ a, d))
  expect_no_warning(other(workflows::workflow(scaled, spec())), class = "dpsosp_warning_recipe")
})

test_that("the first fit of a session says that each fit spends anew, and what ten cost", {
  told <- dpsosp:::told
  before <- told$engine
  withr::defer(told$engine <- before)
  said <- function(...) {
    texts <- character()
    withCallingHandlers(parsnip::fit(spec(bounds = frame_bounds["a"], ...), y ~ a, d), message = function(m) {
      if (inherits(m, "dpsosp_message_parsnip")) texts <<- c(texts, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
    texts
  }
  told$engine <- NULL
  first <- said()
  expect_length(first, 1L)
  sum <- dp_convert(mu = sqrt(10) * dp_convert(eps = 5, delta = 1e-6, to = "mu"), delta = 1e-6, to = "eps")
  expect_match(first, paste0("10 fits to the same records as this one have eps = ", format(sum, digits = 4),
                             ", delta = 1e-06 in sum"), fixed = TRUE)
  expect_match(first, "`dp_tune()`", fixed = TRUE)
  expect_length(said(), 0L)
  # Objective perturbation is not Gaussian DP: its costs add.
  told$engine <- NULL
  added <- said(method = "objpert")
  expect_match(added, "have eps = 50, delta = 1e-05 in sum", fixed = TRUE)
  # A shared budget counts the fits itself.
  told$engine <- NULL
  budget <- dp_budget(eps = 10, delta = 1e-6)
  expect_length(said(budget = budget), 0L)
})

# Is one of the values, or a part of the text, among the bytes of the object?
holds <- function(object, values, text) {
  bytes <- serialize(object, NULL, xdr = FALSE)
  patterns <- c(lapply(values, writeBin, raw(), endian = .Platform$endian), list(charToRaw(text)))
  any(vapply(patterns, function(pattern) length(grepRaw(pattern, bytes, fixed = TRUE)) > 0L, NA))
}
# In a function, so that environments that are kept hold its data.
hidden <- function(make) {
  secret <- transform(d, c = paste0("secret-", seq_len(nrow(d))))
  top <- c(10, 30)
  set.seed(1)
  suppressWarnings(suppressMessages(parsnip::fit(make(secret, spec(bounds = list(a = top, b = c(-1, 1)))), secret)),
                   "dpsosp_warning")
}
makers <- list(
  formula = function(data, spec) workflows::workflow(y ~ a + b, spec),
  variables = function(data, spec) {
    flow <- workflows::add_variables(workflows::workflow(), "y", c("a", "b"))
    workflows::add_model(flow, spec)
  },
  recipe = function(data, spec) {
    recipe <- recipes::recipe(y ~ a + b, data)
    workflows::workflow(recipes::step_mutate(recipe, b = b / 2), spec)
  }
)

test_that("a workflow holds records; its engine's fit does not, nor does a workflow as the help page strips it", {
  skip_if_not_installed("recipes")
  skip_if_not_installed("butcher")
  for (make in makers) {
    flow <- hidden(make)
    expect_true(holds(flow, d$a, "secret-"))
    expect_false(holds(workflows::extract_fit_engine(flow), d$a, "secret-"))
    published <- butcher::butcher(flow)
    published$fit$actions$model$spec <- NULL
    published$fit$fit$spec[["eng_args"]] <- published$fit$fit$spec$method$fit["args"] <- NULL
    expect_false(holds(published, d$a, "secret-"))
    for (type in c("class", "prob")) {
      expect_identical(predict(published, d[1:9, ], type = type), predict(flow, d[1:9, ], type = type))
    }
  }
})

test_that("the help page has the lines of the test above", {
  help <- paste(unlist(tools::Rd_db("dpsosp")[["dp_sosp-parsnip.Rd"]]), collapse = "")
  skip_if(help == "", "installed without help pages")
  for (line in c("published <- butcher::butcher(flow)", "published$fit$actions$model$spec <- NULL",
                 "published$fit$fit$spec[[\"eng_args\"]] <- published$fit$fit$spec$method$fit[\"args\"] <- NULL")) {
    expect_match(help, line, fixed = TRUE)
  }
})

test_that("a fit names its package, for workers and bundles", {
  skip_if_not_installed("generics")
  fit <- workflows::extract_fit_engine(flow_of(y ~ a + b, bounds = frame_bounds))
  expect_identical(generics::required_pkgs(fit), "dpsosp")
  expect_identical(generics::required_pkgs(structure(list(), class = "dp_network")), "dpsosp")
})
