# Pictures of coefficients and effects, by plot() and autoplot().

d <- problem_frame(400)
study <- function(..., eps = 8) {
  set.seed(1)
  quiet_fit(..., eps = eps, delta = 1e-6, noise = "reproducible", method = "auto")
}
line <- study(y ~ a + b + f, d, bounds = frame_bounds)
large <- problem_frame(20000)
sure <- study(y ~ a + b * f, large, bounds = frame_bounds, inference = "sandwich")

test_that("coefficients are on the scale of half of a range", {
  shown <- standard_coefficients(line)
  expect_identical(levels(shown$term), rev(names(coef(line))[-1]))
  expect_equal(shown$estimate, unname(coef(line)[-1] * c(10, 1, 1, 1)))
  expect_true(all(is.na(shown$lower)) && all(shown$resolved))
  shown <- standard_coefficients(sure)
  interval <- confint(sure)[-1, ] * c(10, 1, 1, 1, 1, 1)
  expect_equal(cbind(shown$lower, shown$upper), unname(interval))
  sure$inference$reason[3] <- "not resolved by this budget"
  expect_identical(standard_coefficients(sure)$resolved, c(TRUE, FALSE, TRUE, TRUE, TRUE, TRUE))
  p <- problem_matrix(300)
  expect_equal(standard_coefficients(study(p$x, p$y > 0, radius = 2))$estimate,
               unname(coef(study(p$x, p$y > 0, radius = 2))[-1]))
  alone <- standard_coefficients(study(y ~ 1, d))
  expect_identical(levels(alone$term), "(Intercept)")
})

test_that("of many coefficients the largest are shown, in the order of the model", {
  many <- line
  many$coefficients <- c("(Intercept)" = 0, stats::setNames((1:40) * (-1)^(1:40), paste0("c", 1:40)))
  many$design$columns <- data.frame(name = paste0("c", 1:40), variable = paste0("c", 1:40), kind = "indicator",
                                    level = "x")
  many$design$ranges <- NULL
  many$design$term <- stats::setNames(paste0("c", 1:40), paste0("c", 1:40))
  shown <- standard_coefficients(many)
  expect_identical(rev(levels(shown$term)), paste0("c", 11:40))
  expect_identical(coefficients_note(shown), "The 30 largest of 40 coefficients")
})

test_that("effects are differences of predictions", {
  panels <- effect_panels(line, quote(plot()))
  expect_identical(vapply(panels, `[[`, "", "name"), c("a", "b", "f"))
  base <- data.frame(a = 20, b = 0, f = factor("u", levels(d$f)))
  change <- function(model, ...) predict(model, transform(base, ...)) - predict(model, base)
  expect_equal(range(panels[[1]]$data$at), c(10, 30))
  expect_equal(panels[[1]]$data$value[41], change(line, a = 30))
  expect_equal(panels[[1]]$data$value[21], 0)
  to <- function(level) {
    there <- base
    there$f[] <- level
    predict(line, there) - predict(line, base)
  }
  expect_equal(panels[[3]]$data$value, c(0, to("v"), to("w")))
})

test_that("bands are those of a difference, and others of an interaction are held", {
  panels <- effect_panels(sure, quote(plot()))
  b <- panels[[2]]$data
  expect_equal(b$value[41], coef(sure)[["b"]])
  expect_equal(b$upper[41] - b$value[41], stats::qnorm(0.975) * sqrt(vcov(sure)["b", "b"]))
  expect_equal(b$upper[21], 0)
  f <- panels[[3]]$data
  expect_equal(f$lower[2], confint(sure)["fv", 1], ignore_attr = TRUE) # b is held at zero
  sure$inference$reason[match("b", names(coef(sure)))] <- "not resolved by this budget"
  expect_true(all(is.na(effect_panels(sure, quote(plot()))[[2]]$data$upper[-21])))
})

test_that("expressions, splines, contrasts, logical columns and dates have axes", {
  d$day <- as.Date("2020-01-01") + seq_len(400) %% 100
  d$old <- d$a > 20
  d$o <- factor(sample(1:4, 400, TRUE), ordered = TRUE)
  d$g <- as.character(d$f)
  fit <- study(y ~ log(a) + poly(b, 2, raw = TRUE) + splines::ns(b, knots = 0, Boundary.knots = c(-1, 1)) + old + o +
                 day + factor(g, levels = c("u", "v", "w")) + cut(b, breaks = c(-1, 0, 1)), d,
               bounds = list("log(a)" = c(2, 4), b = c(-1, 1), day = as.Date(c("2020-01-01", "2020-05-01"))))
  panels <- effect_panels(fit, quote(plot()))
  names <- vapply(panels, `[[`, "", "name")
  expect_setequal(names, c("log(a)", "b", "old", "o", "day", "factor(g, levels = c(\"u\", \"v\", \"w\"))"))
  slope <- coef(fit)[["log(a)"]]
  expect_equal(diff(range(panels[[match("log(a)", names)]]$data$value)), abs(2 * slope))
  expect_equal(panels[[match("old", names)]]$data$value, c(0, coef(fit)[["oldTRUE"]]))
  contrast <- stats::contr.poly(4) %*% coef(fit)[c("o.L", "o.Q", "o.C")]
  expect_equal(panels[[match("o", names)]]$data$value, as.vector(contrast - contrast[1]))
})

test_that("all kinds of fits are drawn at 9 cm, and the device is put back", {
  withr::local_pdf(NULL, width = 9 / 2.54, height = 9 / 2.54)
  before <- graphics::par(c("mfrow", "mar", "oma"))
  species <- study(Species ~ ., iris, eps = 20)
  number <- study(a ~ b + f, d, loss = loss_squared(c(10, 30)), bounds = frame_bounds)
  d$count <- stats::rpois(400, 2)
  count <- study(count ~ b + f, d, loss = loss_poisson(20), bounds = frame_bounds)
  smooth <- study(y ~ s(a) + s(b) + ti(a, b) + f, large, bounds = frame_bounds)
  only <- study(y ~ s(a), large, bounds = frame_bounds["a"])
  for (fit in long_values(list(line, sure, species, number, count, smooth, only))) {
    for (what in c("coefficients", "terms", "run", "budget")) expect_identical(plot(fit, what), fit)
  }
  expect_identical(plot(line, "gradients"), line)
  expect_error(plot(number, "gradients"), "no gradients whose norms", class = "dpsosp_error_absent")
  expect_identical(graphics::par(c("mfrow", "mar", "oma")), before)
  expect_identical(vapply(effect_panels(smooth, quote(plot())), `[[`, "", "name"), c("s(a)", "s(b)", "f"))
  skip_if_not_installed("ggplot2")
  for (fit in long_values(list(line, sure, species, number, count, smooth, only), 2)) {
    for (what in c("coefficients", "terms", "gradients", "budget")) {
      expect_s3_class(picture <- ggplot2::autoplot(fit, what), "ggplot")
      expect_silent(print(picture))
    }
  }
})

test_that("a matrix has no effects, a network only a run", {
  p <- problem_matrix(200)
  fit <- study(p$x, p$y > 0, radius = 2)
  expect_error(plot(fit, "terms"), "no ranges", class = "dpsosp_error_argument")
  network <- study(p$x, p$y > 0, model = model_mlp(2), bounds = c(-1, 1))
  expect_error(plot(network, "terms"), "say nothing one by one", class = "dpsosp_error_absent")
  expect_error(plot(network, "coefficients"), class = "dpsosp_error_absent")
  expect_error(plot(line, "gradient"), "`what`", class = "dpsosp_error_argument")
  withr::local_pdf(NULL)
  for (what in c("run", "gradients", "budget")) expect_identical(plot(network, what), network)
  skip_if_not_installed("ggplot2")
  expect_error(ggplot2::autoplot(network, "terms"), class = "dpsosp_error_absent")
})

test_that("names that begin alike stay different when they are short", {
  long <- paste0("region_of_residenceDepartment ", LETTERS)
  for (most in c(10L, 12L, 16L, 26L)) {
    short <- short_text(long, most)
    expect_identical(nchar(short), rep(most, 26))
    expect_identical(anyDuplicated(short), 0L)
  }
  expect_identical(short_text("name", 10L), "name")
})

test_that("dates and times have dates and times on their axis", {
  d$day <- as.Date("2020-01-01") + seq_len(400) %% 100
  noon <- as.POSIXct("2020-03-01 12:00", tz = "UTC")
  d$at <- noon + 60 * seq_len(400)
  fit <- study(y ~ day + b + at + f, d, bounds = list(
    b = c(-1, 1), day = as.Date(c("2020-01-01", "2020-05-01")), at = noon + c(0, 24000)
  ))
  withr::local_pdf(NULL)
  labels <- list()
  axis <- effect_axis
  withr::defer(utils::assignInNamespace("effect_axis", axis, "dpsosp"))
  utils::assignInNamespace("effect_axis", function(ends, time) {
    labels <<- c(labels, list(time))
    axis(ends, time)
  }, "dpsosp")
  plot(fit, "terms")
  expect_identical(labels, list("Date", NULL, "POSIXct"))
  skip_if_not_installed("ggplot2")
  built <- ggplot2::ggplot_build(ggplot2::autoplot(fit, "terms"))
  shown <- lapply(built$layout$panel_params, function(panel) stats::na.omit(panel$x$get_labels()))
  of <- function(name) shown[[match(name, built$layout$layout$panel)]]
  expect_true(all(startsWith(of("day"), "2020-0")))
  expect_true(all(startsWith(of("at"), "2020-03-01 1")))
  expect_setequal(of("f"), c("u", "v", "w"))
  expect_true(all(as.numeric(of("b")) >= -1))
})

test_that("labels of times are as short as they can be", {
  day <- as.Date(c("2019-01-01", NA, "2020-01-01"))
  expect_identical(time_labels(day), c("2019", NA, "2020"))
  expect_identical(time_labels(day[1] + c(0, 31)), c("2019-01", "2019-02"))
  expect_identical(time_labels(day[1] + 0:1), c("2019-01-01", "2019-01-02"))
  expect_identical(time_labels(as.POSIXct("2019-01-01 00:30", tz = "UTC") + c(0, 1800)),
                   c("2019-01-01 00:30", "2019-01-01 01:00"))
  expect_identical(time_labels(as.POSIXct("2019-01-01", tz = "UTC") + 0:1),
                   c("2019-01-01 00:00:00", "2019-01-01 00:00:01"))
})

test_that("a panel knows whether it is of a date", {
  d$day <- as.Date("2020-01-01") + seq_len(400) %% 100
  fit <- study(y ~ day + b, d, bounds = list(b = c(-1, 1), day = as.Date(c("2020-01-01", "2020-05-01"))))
  panels <- effect_panels(fit, quote(plot()))
  expect_identical(panels[[1]]$time, "Date")
  expect_s3_class(as_time(range(panels[[1]]$data$at), panels[[1]]$time), "Date")
  expect_null(panels[[2]]$time)
})

test_that("a run without gradients has the budget alone, and its keys have room", {
  withr::local_pdf(NULL, width = 9 / 2.54, height = 8 / 2.54)
  made <- 0
  hook <- function() made <<- made + 1
  setHook("plot.new", hook)
  withr::defer(setHook("plot.new", NULL, "replace"))
  plot(study(a ~ b + f, d, loss = loss_squared(c(10, 30)), bounds = frame_bounds), "run")
  expect_identical(made, 1)
  plot(line, "run")
  expect_identical(made, 3)
})

test_that("levels have places of their own on the axis of facets", {
  panels <- list(list(data = data.frame(at = c(-5000, 2e6))), list(data = data.frame(at = 1:2), levels = c("u", "v")),
                 list(data = data.frame(at = 1:2), levels = c(FALSE, TRUE)))
  places <- panel_positions(panels)
  expect_identical(places$start[1], 0)
  second <- places$breaks(places$start[2] + c(0.4, 2.6))
  expect_identical(places$labels(second), c("u", "v"))
  expect_identical(places$labels(places$breaks(places$start[3] + c(0.4, 2.6))), c("FALSE", "TRUE"))
  expect_gt(min(places$start[2:3]), 2 * 2e6)
  expect_identical(places$labels(places$breaks(c(0, 10)))[1], "0")
  panels[[2]] <- list(time = "Date", data = data.frame(at = c(-400, 800))) # before 1970 as after
  places <- panel_positions(panels)
  days <- places$breaks(places$start[2] + c(-420, 820))
  expect_identical(places$labels(days), c("1970", "1972"))
  expect_identical(places$labels(c(NA, days[1])), c(NA, "1970"))
})

test_that("shortened names keep both ends", {
  names <- paste0("horizontal_distance_to_", c("roadways", "hydrology", "fire_points"))
  shown <- dpsosp:::short_text(names, 19L)
  expect_identical(nchar(shown), rep(19L, 3))
  expect_identical(shown, c("horizonta..roadways", "horizonta..ydrology", "horizonta..e_points"))
  expect_identical(dpsosp:::short_text(c("age", NA), 5L), c("age", NA))
})

test_that("a fit without predictors has no terms to draw, and each kind of predictor has its name", {
  alone <- study(y ~ 1, d)
  expect_error(plot(alone, "terms"), "no predictor whose effect", class = "dpsosp_error_argument")
  d$count <- stats::rpois(400, 2)
  texts <- vapply(list(line, study(count ~ b, d, loss = loss_poisson(20), bounds = frame_bounds),
                       study(a ~ b, d, loss = loss_squared(c(10, 30)), bounds = frame_bounds),
                       study(f ~ a, d, bounds = frame_bounds)), predictor_text, "")
  expect_identical(texts, c("the log-odds of yes", "the log of the mean", "a", "the linear predictor"))
})

test_that("a coefficient that is not resolved has these words in its place", {
  words <- function(fit) {
    file <- withr::local_tempfile()
    grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
    plot(fit, "coefficients")
    grDevices::dev.off()
    length(grep("not resolved", readLines(file, warn = FALSE), fixed = TRUE, useBytes = TRUE))
  }
  expect_identical(words(sure), 0L)
  sure$inference$reason[3:4] <- "not resolved by this budget"
  expect_identical(words(sure), 2L)
})
