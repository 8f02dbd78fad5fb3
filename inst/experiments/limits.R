# What declared ranges are worth, and what wide ones cost: fits without declared ranges (none), with those from the 1 %
# to the 99 % quantile (quantiles), with the least and the largest value (limits), the same taken as they are,
# `I(c(lower, upper))` (exactly), and twice and ten times as wide limits (twice, tenfold). Mean log-loss, or squared
# error relative to the variance, of a fifth of the records; means of three splits, delta = 1e-6. Ranges are taken from
# the data, so results are exact and NOT PRIVATE.
#   Rscript limits.R RESULTS.csv [SET ...]
library(dpsosp)

this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))
arguments <- commandArgs(TRUE)

from <- function(package, name) {
  where <- new.env()
  utils::data(list = name, package = package, envir = where)
  as.data.frame(where[[name]])
}

# A data frame with the response first, whose type decides the loss.
sets <- list(
  churn = function() {
    d <- from("modeldata", "mlc_churn")
    d[c("churn", setdiff(names(d), c("churn", "state")))]
  },
  diamonds = function() from("ggplot2", "diamonds")[c(7, 1:6)],
  ames = function() {
    from("modeldata", "ames")[c("Sale_Price", "Lot_Area", "Year_Built", "Gr_Liv_Area", "Garage_Area", "Total_Bsmt_SF",
                                "Mas_Vnr_Area", "Latitude", "Longitude", "Central_Air")]
  },
  spam = function() from("kernlab", "spam")[c(58, 1:57)],
  doctor = function() {
    d <- from("AER", "DoctorVisits")
    d[c("health", setdiff(names(d), "health"))]
  },
  visits = function() {
    from("AER", "NMES1988")[c("visits", "hospital", "chronic", "age", "school", "income", "gender", "insurance")]
  },
  credit = function() stats::na.omit(from("modeldata", "credit_data"))[c(1, 2:14)],
  wages = function() from("AER", "CPS1988"),
  default = function() from("ISLR", "Default")
)

ranges_of <- function(d, widths) {
  numeric <- names(Filter(is.numeric, d[-1]))
  lapply(d[numeric], function(x) {
    ends <- if (widths == "quantiles") stats::quantile(x, c(0.01, 0.99), names = FALSE) else as.double(range(x))
    times <- switch(widths, twice = 2, tenfold = 10, 1)
    ends <- mean(ends) + times / 2 * c(-1, 1) * diff(ends)
    if (ends[1] == ends[2]) ends <- as.double(range(x)) + c(0, 1)
    if (widths == "exactly") I(ends) else ends
  })
}

loss_on <- function(d, test, widths, eps) {
  name <- names(d)[1]
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    stats::reformulate(".", name), d[!test, ], eps = eps, delta = 1e-6, loss = if (is.numeric(d[[1]])) "squared",
    bounds = if (widths == "none") "private" else ranges_of(d, widths), noise = "reproducible", progress = FALSE
  )))
  y <- d[[1]][test]
  if (is.numeric(y)) return(mean((y - predict(fit, d[test, ], type = "response"))^2) / stats::var(y))
  link <- predict(fit, d[test, ], type = "link")
  mean(logistic_loss(ifelse(y == levels(y)[2], link, -link)))
}

out <- results_file(arguments[1], c("set", "eps", "ranges"))
chosen <- if (length(arguments) > 1) arguments[-1] else names(sets)
for (set in chosen) {
  d <- tryCatch(sets[[set]](), error = function(e) NULL)
  if (is.null(d)) next
  d[vapply(d, is.integer, NA)] <- lapply(d[vapply(d, is.integer, NA)], as.double)
  for (eps in c(0.1, 0.5, 1, 3)) for (widths in c("none", "quantiles", "limits", "twice", "tenfold", "exactly")) {
    row <- list(set = set, eps = eps, ranges = widths)
    if (out$has(row)) next
    losses <- vapply(1:3, function(seed) {
      set.seed(seed)
      test <- seq_len(nrow(d)) %in% sample(nrow(d), nrow(d) %/% 5)
      loss_on(d, test, widths, eps)
    }, 0)
    out$add(c(row, n = nrow(d) - nrow(d) %/% 5, loss = signif(mean(losses), 4)))
  }
}
