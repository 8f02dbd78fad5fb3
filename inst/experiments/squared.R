# Linear regression by squared error: test R^2 of loss_squared() against lm() and the best of other private methods
# (peers.R), on data sets of the packages AER, modeldata, mlbench and ggplot2 and on synthetic problems. A cell is the
# mean of some runs, and its least value; "level" is that of the mean of the response, private at the same budget.
#   Rscript inst/experiments/squared.R [CELLS] [EPS] [RUNS] [FILE]
#   Rscript inst/experiments/squared.R huber [CELLS] [EPS] [RUNS]
#   Rscript inst/experiments/squared.R level [RUNS]
# The second form is for loss_huber(): test R^2 of MASS::rlm(), which is not private, and of fits with the bounds of the
# first form, with bounds ten times as wide and with none, and for comparison of loss_squared(); in brackets the least
# value. A constant has about zero. A tenth of the training records of the cells "outliers" have errors of ten standard
# deviations, all in one direction; the records that were held out have none.
# The third form compares, where there is much noise, what residual_hopeless (R/method-residual.R) and response_unsure
# (R/job-start.R) decide: only the level, or slopes too; and declared bounds as they are, or narrowed. Test R^2 on
# synthetic problems with other records in each run, by noise = d / (n mu) and the R^2 of the truth. The mean of
# five runs, with slopes / with the level only, both with narrower bounds:
#   noise         R^2 of .05      .1            .2            .5
#   below .03    .031 / .000   .082 / .000   .183 / .000   .490 / .000
#   .03 to .06   .008 / .000   .048 / .000   .142 / .000   .437 / .000
#   .06 to .09  -.025 / .000  -.001 / .000   .054 / .000   .256 / .000
#   .09 to .12  -.008 / .000   .011 / .000   .053 / .000   .232 / .000
#   .12 to .25  -.035 /-.002  -.025 /-.002  -.002 /-.002   .079 /-.002
#   above       -.055 /-.005  -.054 /-.006  -.050 /-.006  -.036 /-.006
# Bounds as they are, of which the response takes an eighth: -.149 to .002 / -.013 with noise from .12 to .25. Larger
# prior odds of no slopes, from 10 to 100, change the mean by less than .003. CELLS: names below, separated by commas,
# or "data", "synthetic" or "all"; EPS and RUNS: 0.1,0.5,1,3 and 6. With FILE peers are tried, and the table is written
# there. The folder that AER_DATA names may have the .rda files of AER. Noise is reproducible: no result is for release.

suppressMessages(library(dpsosp))
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("columns.R", "peers.R")) source(file.path(dirname(this_file), file))

# The data with the ends of numeric columns; text becomes factors with all of their values declared.
problem <- function(data, response, ends) {
  data <- declared(data)
  numeric <- setdiff(names(data)[vapply(data, is.numeric, NA)], response)
  list(data = data, response = response, ends = ends, bounds = lapply(data[numeric], round_range), held_out = NULL)
}

of_columns <- function(name, package, response, columns, ends, change = identity) {
  data <- change(package_data(name, package))
  problem(data[c(response, columns)], response, ends)
}

sets <- list(
  CPS1988 = function() of_columns("CPS1988", "AER", "lw",
    c("education", "experience", "square", "ethnicity", "smsa", "region", "parttime"), c(3, 10),
    function(d) transform(d, lw = log(wage), square = experience^2)),
  ames = function() of_columns("ames", "modeldata", "lp",
    c("Lot_Area", "Year_Built", "Gr_Liv_Area", "Total_Bsmt_SF", "Garage_Area", "Full_Bath", "Bedroom_AbvGr",
      "Overall_Cond", "Bldg_Type", "Central_Air"), c(4, 6), function(d) transform(d, lp = log10(Sale_Price))),
  NMES = function() of_columns("NMES1988", "AER", "lv",
    c("health", "chronic", "adl", "region", "age", "afam", "gender", "married", "school", "income", "employed",
      "insurance", "medicaid"), c(0, 5), function(d) transform(d, lv = log1p(visits))),
  Chicago = function() of_columns("Chicago", "modeldata", "ridership",
    c("Austin", "Quincy_Wells", "Belmont", "Archer_35th", "Clark_Lake", "temp", "dew", "humidity", "wind",
      "weather_rain"), c(0, 30)),
  CollegeDist = function() of_columns("CollegeDistance", "AER", "score",
    c("gender", "ethnicity", "fcollege", "mcollege", "home", "urban", "unemp", "wage", "distance", "tuition",
      "education", "income", "region"), c(0, 100)),
  PSID7682 = function() of_columns("PSID7682", "AER", "lw",
    c("experience", "square", "weeks", "occupation", "industry", "south", "smsa", "married", "gender", "union",
      "education", "ethnicity"), c(4, 9), function(d) transform(d, lw = log(wage), square = experience^2)),
  Boston = function() {
    d <- package_data("BostonHousing", "mlbench")
    problem(d, "medv", c(0, 60))
  },
  diamonds = function() of_columns("diamonds", "ggplot2", "price",
    c("carat", "cut", "color", "clarity", "depth", "table", "x", "y", "z"), c(0, 20000))
)

# Correlated normal columns, a third of them indicators, with this R^2 and standardised noise. The response is about an
# eighth as wide as its bounds.
synthetic <- function(n, d, r2, noise = "normal", seed = 1) {
  set.seed(seed)
  p <- d - 1
  rows <- n + 5000
  columns <- mixed_columns(rows, p)
  data <- columns$data
  f <- columns$predictor * sqrt(r2)
  e <- switch(noise, normal = , outliers = rnorm(rows), t3 = rt(rows, 3) / sqrt(3), skew = rexp(rows) - 1)
  if (noise == "outliers") e[seq_len(n)] <- e[seq_len(n)] + 10 * (runif(n) < 0.1)
  data$y <- f + sqrt(1 - r2) * e
  made <- problem(data, "y", c(-1, 1) / 0.24)
  made$bounds <- lapply(made$bounds, function(b) c(-5, 5))
  made$held_out <- seq(rows - 4999, rows)
  made
}

synthetic_cells <- list(
  small = function() synthetic(500, 5, 0.5), weak = function() synthetic(2000, 20, 0.05),
  medium = function() synthetic(2000, 20, 0.5), strong = function() synthetic(2000, 20, 0.95),
  t3 = function() synthetic(10000, 50, 0.5, "t3"), skew = function() synthetic(20000, 6, 0.3, "skew"),
  wide = function() synthetic(20000, 100, 0.5), many = function() synthetic(100000, 20, 0.95)
)

outlier_cells <- list(
  outliers = function() synthetic(2000, 8, 0.5, "outliers"),
  outliers_more = function() synthetic(20000, 20, 0.5, "outliers"),
  outliers_weak = function() synthetic(5000, 8, 0.1, "outliers")
)

# Test R^2, of predictions from records that were not held out.
r2 <- function(made, predicted, out) {
  y <- made$data[[made$response]]
  1 - mean((y[out] - predicted)^2) / mean((y[out] - mean(y[-out]))^2)
}

delta_of <- function(made, out) 1 / (nrow(made$data) - length(out))^2

one_run <- function(made, formula, eps, out, seed, loss = loss_squared(made$ends)) {
  set.seed(seed)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    formula, made$data[-out, ], eps = eps, delta = delta_of(made, out), bounds = made$bounds,
    loss = loss, noise = "reproducible", progress = FALSE
  )))
  r2(made, predict(fit, made$data[out, ], type = "response"), out)
}

# The mean of the response with the whole budget.
level_run <- function(made, mu, out, seed) {
  set.seed(seed)
  y <- made$data[[made$response]][-out]
  r2(made, mean(y) + rnorm(1, 0, diff(made$ends) / length(y) / mu), out)
}

peer_scores <- function(made, formula, mu, out, runs) {
  x <- model.matrix(formula, made$data)[, -1]
  for (name in names(made$bounds)) x[, name] <- pmin(pmax(x[, name], made$bounds[[name]][1]), made$bounds[[name]][2])
  train <- setdiff(seq_len(nrow(x)), out)
  vapply(peers, best_peer, 0, x = peer_rows(x, train), y = made$data[[made$response]], train = train, ends = made$ends,
         mu = mu, runs = runs, score = function(predicted) r2(made, predicted, out))
}

# Numbers of the records that are not for fits.
left_out <- function(made) {
  set.seed(0)
  sort(if (is.null(made$held_out)) sample(nrow(made$data), 0.2 * nrow(made$data)) else made$held_out)
}

huber_cell <- function(name, make, eps, runs) {
  made <- make()
  out <- left_out(made)
  formula <- stats::reformulate(".", made$response)
  best <- r2(made, predict(MASS::rlm(formula, made$data[-out, ]), made$data[out, ]), out)
  cat(sprintf("%-13s n %6d  rlm() %.3f\n", name, nrow(made$data) - length(out), best))
  wide <- mean(made$ends) + 5 * diff(made$ends) * c(-1, 1)
  losses <- list(bounds = loss_huber(made$ends), "ten times" = loss_huber(wide), none = loss_huber(),
                 squared = loss_squared(made$ends))
  for (e in eps) {
    cat(sprintf("  eps %-3g", e))
    for (loss in names(losses)) {
      found <- vapply(seq_len(runs), function(seed) one_run(made, formula, e, out, seed, losses[[loss]]), 0)
      cat(sprintf("  %s %.3f (%.3f)", loss, mean(found), min(found)))
    }
    cat("\n")
  }
}

cell <- function(name, make, eps, runs, compared) {
  made <- make()
  out <- left_out(made)
  formula <- stats::reformulate(".", made$response)
  fit <- lm(formula, made$data[-out, ])
  best <- r2(made, suppressWarnings(predict(fit, made$data[out, ])), out)
  cat(sprintf("%-12s n %6d  lm() %.3f", name, nrow(made$data) - length(out), best))
  rows <- lapply(eps, function(e) {
    found <- vapply(seq_len(runs), function(seed) one_run(made, formula, e, out, seed), 0)
    cat(sprintf("  eps %g: %.3f (%.3f)", e, mean(found), min(found)))
    mu <- dp_convert(eps = e, delta = delta_of(made, out), to = "mu")
    level <- mean(vapply(1:50, function(seed) level_run(made, mu, out, seed), 0))
    row <- data.frame(set = name, n = nrow(made$data) - length(out), d = fit$rank, eps = e, lm = best,
                      dpsosp = mean(found), least = min(found), level = level)
    if (compared) cbind(row, t(peer_scores(made, formula, mu, out, min(runs, 4L)))) else row
  })
  cat("\n")
  do.call(rbind, rows)
}

# Of the excess of the test error over that of lm(), relative to that of a peer, where the peer is not there yet.
summarise <- function(table) {
  table$best <- do.call(pmax, table[names(peers)])
  for (peer in c(names(peers), "best")) {
    cells <- table$lm - table[[peer]] > 0.0015
    ratio <- ((table$lm - table$dpsosp) / (table$lm - table[[peer]]))[cells]
    by_eps <- tapply(ratio, table$eps[cells], median)
    cat(sprintf("%-8s %d cells: median %.2f, <= .5 in %d, <= 1 in %d; by eps %s\n", peer, sum(cells), median(ratio),
                sum(ratio <= 0.5), sum(ratio <= 1), paste(names(by_eps), round(by_eps, 2), collapse = ", ")))
  }
}

decisions <- list("slopes" = c(Inf, 0), "slopes, narrowed" = c(Inf, 400), "level" = c(0, 0),
                  "level, narrowed" = c(0, 400), "as it is" = c(0.25, 400))

decide <- function(values) {
  room <- asNamespace("dpsosp")
  for (i in 1:2) {
    name <- c("residual_hopeless", "response_unsure")[i]
    unlockBinding(name, room)
    assign(name, values[i], room)
  }
}

level_rule <- function(runs) {
  cells <- expand.grid(eps = c(0.1, 0.2, 0.5), r2 = c(0.05, 0.1, 0.2, 0.5), d = c(4, 8, 20), n = c(1000, 2000, 4000))
  options(width = 140)
  for (i in seq_len(nrow(cells))) {
    cell <- cells[i, ]
    scores <- vapply(seq_len(runs), function(seed) {
      made <- synthetic(cell$n, cell$d, cell$r2, seed = seed)
      vapply(decisions, function(values) {
        decide(values)
        one_run(made, stats::reformulate(".", "y"), cell$eps, made$held_out, seed)
      }, 0)
    }, numeric(length(decisions)))
    mu <- .Call(dpsosp:::ffi_gdp_mu, cell$eps, 1 / cell$n^2)
    cat(sprintf("n %4d  d %2d  R^2 %.2f  eps %.1f  noise %.3f ", cell$n, cell$d, cell$r2, cell$eps,
                cell$d / cell$n / mu),
        sprintf(" %s %6.3f", names(decisions), rowMeans(scores)), "\n")
  }
}

main <- function() {
  args <- commandArgs(TRUE)
  if (identical(args[1], "level")) return(level_rule(if (length(args) > 1) as.integer(args[2]) else 20L))
  huber <- identical(args[1], "huber")
  if (huber) args <- args[-1]
  if (huber) synthetic_cells <- c(synthetic_cells, outlier_cells)
  cells <- c(sets, synthetic_cells)
  chosen <- if (length(args) > 0) args[1] else "all"
  names <- switch(chosen, all = names(cells), data = names(sets), synthetic = names(synthetic_cells),
                  strsplit(chosen, ",")[[1]])
  eps <- if (length(args) > 1) as.numeric(strsplit(args[2], ",")[[1]]) else c(0.1, 0.5, 1, 3)
  runs <- if (length(args) > 2) as.integer(args[3]) else 6L
  if (huber) {
    for (name in names) huber_cell(name, cells[[name]], eps, runs)
    return(invisible())
  }
  table <- do.call(rbind, lapply(names, function(name) cell(name, cells[[name]], eps, runs, length(args) > 3)))
  if (length(args) < 4) return(invisible())
  utils::write.csv(format(table, digits = 4), args[4], row.names = FALSE, quote = FALSE)
  summarise(table)
}

main()
