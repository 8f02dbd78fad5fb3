# Columns of the experiments with numbers and counts: data of packages, and synthetic ones.

# Ends of a column or a response, as an analyst would declare them.
round_range <- function(x) range(pretty(range(x), 4))

# A data set of a package. The folder that AER_DATA names may have the .rda files of AER.
package_data <- function(name, package) {
  room <- new.env()
  file <- file.path(Sys.getenv("AER_DATA"), paste0(name, ".rda"))
  if (package == "AER" && file.exists(file)) load(file, room) else utils::data(list = name, package = package,
                                                                               envir = room)
  as.data.frame(room[[name]])
}

# Text becomes factors with all of their values declared.
declared <- function(data) {
  data[] <- lapply(data, function(x) if (is.character(x) || is.factor(x)) factor(x, ordered = FALSE) else x)
  data
}

# p correlated normal columns, a third of them indicators, and a standardised linear predictor of them.
mixed_columns <- function(rows, p) {
  shared <- matrix(rnorm(rows * 2), rows)
  x <- matrix(rnorm(rows * p), rows) + 0.5 * shared %*% matrix(rnorm(2 * p), 2)
  indicator <- seq_len(p) %% 3 == 0
  for (j in which(indicator)) x[, j] <- x[, j] > quantile(x[, j], runif(1, 0.5, 0.95))
  data <- as.data.frame(x)
  data[!indicator] <- lapply(data[!indicator], function(x) pmin(pmax(x, -5), 5))
  data[indicator] <- lapply(data[indicator], factor)
  list(data = data, predictor = drop(scale(x %*% (rnorm(p) / apply(x, 2, sd)))))
}
