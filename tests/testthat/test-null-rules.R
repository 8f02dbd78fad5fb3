# Null records make no difference: with four for each used record a fit is as good as without them, whatever makes them
# null, as rules follow the number of used records. Noise is reproducible and the same in relation to the used records.

frame_of <- function(n, seed) {
  set.seed(seed)
  d <- data.frame(a = rnorm(n), b = rexp(n, 1 / 40), c = rnorm(n, 50, 9),
                  g = factor(sample(letters[1:4], n, TRUE, c(0.4, 0.3, 0.2, 0.1)), letters[1:4]))
  eta <- with(d, 0.8 * a + 0.02 * b - 0.06 * (c - 50) + 0.5 * (g == "b") - 0.7 * (g == "d"))
  d$two <- factor(runif(n) < plogis(eta))
  d$rare <- factor(runif(n) < plogis(eta - 3))
  d$number <- 20 * eta + 100 + rnorm(n, 0, 20)
  d$count <- rpois(n, exp(0.5 * eta + 0.3))
  d$three <- factor(max.col(cbind(eta, -eta, 0.5) - log(-log(matrix(runif(3 * n), n)))))
  d
}

# The mean loss of predictions, and of the constant prediction.
loss_of_fit <- function(fit, y, test) {
  y <- test[[y]]
  link <- function() suppressWarnings(predict(fit, test, type = "link"))
  if (is.factor(y) && nlevels(y) > 2L) {
    p <- predict(fit, test, type = "response")
    return(-mean(log(p[cbind(seq_along(y), as.integer(y))])))
  }
  if (is.factor(y)) return(mean(log1p(exp(-ifelse(y == "TRUE", 1, -1) * link()))))
  if (fit$loss$name == "poisson") return(mean(exp(link()) - y * link()))
  mean((y - predict(fit, test))^2)
}
constant_of <- function(y) {
  if (is.factor(y)) return(-sum(prop.table(table(y)) * log(prop.table(table(y)))))
  if (is.integer(y)) return(mean(y) - mean(y) * log(mean(y)))
  var(y)
}

# The same records alone; with gaps in all columns of the others, outside `subset`, and with weights of zero.
ways <- function(d, more) {
  gaps <- more
  gaps[] <- lapply(gaps, function(x) replace(x, seq_along(x), NA))
  both <- rbind(d, more)
  both$used <- rep(c(1, 0), c(nrow(d), nrow(more)))
  list(alone = list(data = d), gaps = list(data = rbind(d, gaps)), subset = list(data = both, subset = quote(used > 0)),
       weights = list(data = both, weights = quote(used)))
}

expect_null_is_nothing <- function(y, loss, n = 3000, eps = 1, seeds = 1:3, k = 4, as = identity, ...) {
  test <- frame_of(5000, 99)
  got <- rowMeans(sapply(seeds, function(seed) {
    cases <- ways(frame_of(n, seed), frame_of(k * n, seed + 1000))
    vapply(cases, function(case) {
      set.seed(seed)
      fit <- suppressWarnings(suppressMessages(do.call(dp_sosp, c(
        list(reformulate(c("a", "b", "c", "g"), y)), replace(case, "data", list(as(case$data))),
        list(eps = eps, delta = 1e-6, loss = loss, noise = "reproducible", progress = FALSE, ...)
      ))))
      loss_of_fit(fit, y, test)
    }, 0)
  }))
  gain <- constant_of(test[[y]]) - got[["alone"]]
  expect_gt(gain, 0)
  change <- (got - got[["alone"]]) / gain
  expect_lt(max(change), 0.03)
  expect_gt(change[["gaps"]], -0.03) # values of records of weight zero tell of ranges
}

test_that("four null records for each used one change a fit's loss by less than 3 percent of its gain", {
  expect_null_is_nothing("two", "logistic")
  expect_null_is_nothing("number", "squared")
  expect_null_is_nothing("count", "poisson")
  expect_null_is_nothing("three", "multinomial")
  skip_unless_long()
  expect_null_is_nothing("rare", "logistic", n = 6000, seeds = 1:6)
  expect_null_is_nothing("number", "huber", seeds = 1:6)
  expect_null_is_nothing("two", "logistic", k = 1, seeds = 1:6)
  expect_null_is_nothing("number", "squared", eps = 0.5, seeds = 1:6)
  expect_null_is_nothing("two", "logistic", as = function(data) dp_source(in_chunks(data, 5000)))
  limits <- list(a = c(-40, 40), b = c(0, 5000), c = c(-500, 500))
  expect_null_is_nothing("two", "logistic", seeds = 1:6, bounds = limits)
  expect_null_is_nothing("number", "squared", seeds = 1:6, bounds = limits)
})

test_that("the number of used records is released first, and is the sum of the weights where there are some", {
  d <- frame_of(3000, 1)
  d$w <- rep(c(0.5, 0, 1), 1000)
  study <- function(...) {
    suppressWarnings(suppressMessages(dp_sosp(number ~ a + b, d, eps = 2, delta = 1e-6, loss = "squared",
                                              noise = "reproducible", progress = FALSE, ...)))
  }
  expect_identical(dp_ledger(study())$what[1], "usable records")
  expect_identical(dp_ledger(study(weights = w))$what[1:2], c("usable records", "class counts"))
  expect_lte(sum(dp_ledger(study(weights = w))$rho[1:2]) / study()$privacy$rho, 0.02 + 1e-9)
  of <- function(fraction, sd) dpsosp:::present_of(fraction, sd)
  expect_identical(of(0.9, 0.05), 1) # not surely less
  expect_identical(of(0.8, 0.05), 0.8)
  expect_identical(of(-0.3, 0.05), 0.125)
})

test_that("the fraction of the second class is that of the used records, by their weights", {
  d <- frame_of(20000, 1)
  d$w <- ifelse(d$two == "TRUE", 0.9, 0.3)
  d$a[d$two == "TRUE" & d$g == "a"] <- NA
  of <- function(...) {
    suppressWarnings(suppressMessages(dp_sosp(two ~ a + b + c, d, eps = 3, delta = 1e-6, noise = "reproducible",
                                              progress = FALSE, ...)))$checks$class
  }
  there <- !is.na(d$a)
  class <- of()
  expect_lt(abs(class$fraction - mean(d$two[there] == "TRUE")), 5 * class$sd)
  class <- of(weights = w)
  expect_lt(abs(class$fraction - weighted.mean(d$two[there] == "TRUE", d$w[there])), 5 * class$sd)
})
