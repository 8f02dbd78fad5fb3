skip_if_not_installed("ggplot2")
d <- problem_frame(200)
p <- problem_matrix(200)
study <- function(..., method = "2opt-ls") {
  set.seed(1)
  quiet_fit(..., eps = 2, delta = 1e-6, noise = "reproducible", method = method)
}

# The geometries of a plot's layers.
drawn <- function(picture) {
  expect_s3_class(picture, "ggplot")
  withr::with_pdf(NULL, built <- expect_silent(ggplot2::ggplot_build(picture)))
  layers <- ggplot2::ggplot_build(picture)$data
  stats::setNames(layers, vapply(picture$layers, function(layer) class(layer$geom)[1], ""))
}

test_that("gradients: every norm and bound once, the target as a line", {
  fits <- list(
    study(y ~ a + b, d, bounds = frame_bounds, target = sosp(alpha = 0.3)),
    study(y ~ a + b, d, bounds = frame_bounds, method = "2opt-b"),
    study(y ~ b, d, bounds = frame_bounds["b"], method = "objpert")
  )
  for (fit in fits) {
    layers <- drawn(ggplot2::autoplot(fit, "gradients"))
    norms <- fit$trace[fit$trace$query %in% c("gradient", "batch gradient", "minimiser"), ]
    values <- c(norms$estimate, norms$bound)
    expect_equal(sort(10^layers$GeomPoint$y), sort(values[is.finite(values)]))
    expect_equal(10^layers$GeomHline$yintercept, fit$target$eps_g)
  }
})

test_that("many gradients are shown by running medians, batches by other symbols", {
  long <- study(y ~ a + b, d, bounds = frame_bounds, method = "newton")
  expect_gt(sum(long$trace$query == "gradient"), 200)
  series <- gradient_series(long)
  norm <- long$trace$estimate[long$trace$query == "gradient"]
  medians <- series$value[series$series == "median of norms nearby"]
  expect_length(medians, length(norm))
  expect_equal(medians[101], stats::median(norm[101 + -(length(norm) %/% 20):(length(norm) %/% 20)]))
  expect_equal(sum(series$series == "upper confidence bound"), 1)
  network <- quiet_fit(p$x, p$y > 0, eps = 2, model = model_mlp(2), bounds = c(-1, 1), method = "sgd")
  expect_setequal(gradient_series(network)$series, c("norm, batch or difference", "median of norms nearby"))
  expect_length(drawn(ggplot2::autoplot(network))$GeomHline$yintercept, 0)
})

test_that("the longest legend is as wide as the panel of a picture of 9 cm, at most", {
  fit <- study(y ~ a + b, d, bounds = frame_bounds, method = "2opt-b", target = sosp(alpha = 0.3))
  fit$trace <- fit$trace[rep(seq_len(nrow(fit$trace)), length.out = 400), ] # medians are shown of many gradients
  picture <- ggplot2::autoplot(fit, "gradients")
  expect_length(unique(picture$data$series), 5)
  withr::local_pdf(NULL, width = 9 / 2.54, height = 7 / 2.54)
  drawn <- ggplot2::ggplotGrob(picture)
  legend <- drawn$grobs[[which(drawn$layout$name == "guide-box")]]
  expect_lt(grid::convertWidth(sum(legend$widths), "cm", valueOnly = TRUE), 7)
})

test_that("the budget rises from release to release, to all of it", {
  fit <- study(y ~ a + b, d, bounds = frame_bounds)
  spent <- drawn(ggplot2::autoplot(fit, what = "budget"))$GeomPoint
  expect_equal(spent$y, cumsum(dp_ledger(fit)$rho) / fit$privacy$rho)
  expect_equal(max(spent$y), 1)
  expect_error(ggplot2::autoplot(fit, what = "money"), "`what`", class = "dpsosp_error_argument")
})

test_that("an account: delta as claimed and by each accountant", {
  profile <- dp_account(event_repeat(event_gaussian(5), 3))
  layers <- drawn(ggplot2::autoplot(profile, eps = c(0.5, 1, 2)))
  expect_equal(10^layers[[1]]$y, as.numeric(delta(profile, c(0.5, 1, 2))))
  expect_length(unique(layers[[2]]$linetype), 4)
  expect_error(ggplot2::autoplot(profile, eps = -1), "`eps`", class = "dpsosp_error_argument")
})

test_that("an audit of pairs: the errors, and those that the claim excludes", {
  release <- function(bit) bit + stats::rnorm(1, sd = 2)
  set.seed(1)
  audit <- dp_audit(release, list(0, 1), eps = 1, delta = 1e-5, runs = 100, progress = FALSE)
  layers <- drawn(ggplot2::autoplot(audit))
  expect_equal(c(layers$GeomPoint$x, layers$GeomPoint$y) * 50, as.numeric(unlist(audit$counts)[1:2]))
  region <- layers$GeomRibbon
  expect_equal(pmax(0, 1 - 1e-5 - exp(1) * region$x, exp(-1) * (1 - 1e-5 - region$x)), region$ymax)
  gaussian <- dp_audit(release, list(0, 1), eps = dp_convert(mu = 0.5, delta = 1e-5, to = "eps"), delta = 1e-5,
                       tradeoff = "gdp", runs = 100, progress = FALSE)
  region <- drawn(ggplot2::autoplot(gaussian))$GeomRibbon
  region <- region[region$x > 0 & region$x < 1, ]
  expect_equal(stats::qnorm(1 - region$x) - stats::qnorm(region$ymax), rep(0.5, nrow(region)), tolerance = 1e-6)
})

test_that("plot() of an audit shows what autoplot() does", {
  noisy <- function(x) x + stats::rnorm(1, sd = 2)
  audit <- dp_audit(noisy, list(0, 1), eps = 1, delta = 1e-5, runs = 100, progress = FALSE)
  withr::local_pdf(NULL)
  expect_identical(withVisible(plot(audit)), list(value = audit, visible = FALSE))
  expect_equal(graphics::par("usr"), c(-0.04, 1.04, -0.04, 1.04))
  rates <- error_rates(audit)
  expect_equal(rates$at * 50, as.numeric(unlist(audit$counts)[1:2]))
  expect_true(all(rates$limit > rates$at))
  expect_error(plot(audit, lwd = 2), "Unknown argument", class = "dpsosp_error_argument")
})

test_that("an audit in one run: its bound is where the curve reaches 1 - confidence", {
  set.seed(1)
  noisy <- function(signs) signs + stats::rnorm(200)
  audit <- dp_audit(noisy, eps = 3, delta = 1e-5, method = "one-run", canaries = 200)
  layers <- drawn(ggplot2::autoplot(audit))
  curve <- layers$GeomLine
  expect_gt(audit$bound, 0)
  expect_equal(stats::approx(curve$y, curve$x, 0.05)$y, audit$bound, tolerance = 0.02)
  expect_equal(c(layers$GeomHline$yintercept, layers$GeomVline$xintercept), c(0.05, 3))
  withr::local_pdf(NULL)
  expect_identical(withVisible(plot(audit)), list(value = audit, visible = FALSE))
  ends <- range(guess_curve(audit)$eps)
  expect_equal(graphics::par("usr")[1:2], ends + c(-0.04, 0.04) * diff(ends)) # the axis is that of the curve
})

test_that("in grey the series of a picture differ", {
  styles <- gradient_styles[c("symbol", "line")]
  expect_identical(anyDuplicated(styles), 0L)
})
