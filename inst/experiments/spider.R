# SPIDER at a strict saddle point, and on Covertype: the certificate, the exact values, and the number of records read.
#   Rscript spider.R --part saddle|covertype|drift [--folder FOLDER] RESULTS.csv
# Then: Rscript spider.R --summary RESULTS.csv [--means MEANS.csv]
# Part "saddle": saddle_problem(n, 20) at mu = 0.5, with each kind of noise and with published constants, compared with
# 2opt-ls on all records. alpha is the larger one of the gradient's norm and the squared negative curvature over the
# Hessian's Lipschitz constant; its population value is computed from 200,000 records and their mirror images. Part
# "covertype": sigmoid loss at eps = 1, compared with methods that read all records repeatedly; "true" refers to the
# sample there. Part "drift" compares the two escapes of control_spider(): saddle_problem(n, 12), the same with a ridge
# penalty, which has a minimiser, and Covertype as above. Exact values are NOT PRIVATE. target: the alpha of the plan.
# seconds: processor time.
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))
suppressPackageStartupMessages(library(dpsosp))

dimensions <- 20
mu <- 0.5
third <- 0.125 # of the sigmoid loss
sizes <- c(1e4, 3e4, 1e5, 3e5, 1e6)
drift_dimensions <- 12
ridge_strength <- 0.002

alpha_of <- function(gradient, eigenvalue) max(gradient, max(-eigenvalue, 0)^2 / third)

# Signed rows y x of a large sample, each with its mirror image, so that the origin is exactly a saddle point.
population <- function(d = dimensions, ridge = 0) {
  set.seed(99)
  p <- saddle_problem(2e5, d)
  z <- p$y * p$x
  mirrored <- z
  mirrored[, -1] <- -mirrored[, -1]
  nonprivate_problem(rbind(z, mirrored), 1, ridge, "sigmoid")
}

measured <- function(fit, exact, seconds) {
  w <- unname(coef(fit))
  certificate <- fit$certificate
  data.frame(certified = alpha_of(certificate$gradient[["upper"]], certificate$eigenvalue[["lower"]]),
             true = alpha_of(exact$gradient_norm(w), exact$eigen_min(w)), loss = exact$loss(w), status = fit$status,
             target = fit$target$eps_g, passes = passes(fit), seconds = seconds)
}

fitted_in <- function(x, y, method, ...) {
  used <- system.time(fit <- suppressWarnings(suppressMessages(
    dp_sosp(x, y, delta = 1e-7, method = method, loss = "sigmoid", radius = 1, intercept = FALSE, geometry = "none",
            progress = FALSE, ...)
  )))
  list(fit = fit, seconds = processor_seconds(used))
}

# ---- the saddle ----

# 20 runs for the settings where the coverage of the certificate is counted.
saddle_runs <- function(results) {
  grid <- rbind(
    data.frame(method = "spider", noise = "sqrt", n = sizes, seeds = c(6, 6, 20, 10, 10)),
    data.frame(method = "2opt-ls", noise = "", n = sizes, seeds = c(3, 3, 3, 3, 2)),
    expand.grid(method = "spider", noise = c("tree", "independent"), n = sizes[2:4], seeds = 4,
                stringsAsFactors = FALSE),
    data.frame(method = "spider, published", noise = "tree", n = sizes, seeds = c(6, 6, 20, 10, 10))
  )
  exact <- population()
  for (row in split(grid, seq_len(nrow(grid)))) {
    for (seed in seq_len(row$seeds)) saddle_run(row, seed, exact, results)
  }
}

saddle_run <- function(row, seed, exact, results) {
  key <- data.frame(problem = "saddle", method = row$method, noise = row$noise, n = row$n, seed = seed)
  if (results$has(key)) return(invisible())
  set.seed(seed)
  p <- saddle_problem(row$n, dimensions)
  published <- row$method == "spider, published"
  control <- if (row$method != "2opt-ls") control_spider(if (published) "published" else "tight", noise = row$noise)
  run <- fitted_in(p$x, p$y, if (published) "spider" else row$method, start = p$start, control = control,
                   eps = dp_convert(mu = mu, delta = 1e-7, to = "eps"))
  results$add(cbind(key, escaped = abs(coef(run$fit)[[2]]) > 0.9, measured(run$fit, exact, run$seconds)))
}

# ---- the two escapes ----

drift_runs <- function(results, folder) {
  for (ridge in c(0, ridge_strength)) {
    exact <- population(drift_dimensions, ridge)
    for (n in sizes) for (seed in seq_len(if (n < 1e6) 20 else 10)) for (escape in c("hessian", "drift")) {
      key <- data.frame(problem = if (ridge == 0) "saddle" else "with a ridge", method = escape, noise = "sqrt", n = n,
                        seed = seed)
      if (results$has(key)) next
      set.seed(seed)
      p <- saddle_problem(n, drift_dimensions)
      run <- fitted_in(p$x, p$y, "spider", start = p$start, control = control_spider(escape = escape),
                       penalty = if (ridge > 0) penalty_ridge(ridge) else penalty_none(),
                       eps = dp_convert(mu = mu, delta = 1e-7, to = "eps"))
      results$add(cbind(key, escaped = abs(coef(run$fit)[[2]]) > 0.9, measured(run$fit, exact, run$seconds)))
    }
  }
  p <- covertype_matrix(folder)
  exact <- nonprivate_problem(p$x, p$y, loss = "sigmoid")
  for (seed in 1:6) for (escape in c("hessian", "drift")) {
    key <- data.frame(problem = "covertype", method = escape, noise = "sqrt", n = nrow(p$x), seed = seed)
    if (results$has(key)) next
    set.seed(seed)
    run <- fitted_in(p$x, p$y, "spider", eps = 1, control = control_spider(escape = escape))
    results$add(cbind(key, escaped = NA, measured(run$fit, exact, run$seconds)))
  }
}

# ---- Covertype ----

covertype_runs <- function(results, folder) {
  p <- covertype_matrix(folder)
  exact <- nonprivate_problem(p$x, p$y, loss = "sigmoid")
  seeds <- c(spider = 6, "2opt-ls" = 6, tr = 6, "opt-b" = 2)
  for (method in names(seeds)) {
    for (seed in seq_len(seeds[[method]])) {
      key <- data.frame(problem = "covertype", method = method, noise = if (method == "spider") "sqrt" else "",
                        n = nrow(p$x), seed = seed)
      if (results$has(key)) next
      run <- fitted_in(p$x, p$y, method, eps = 1)
      results$add(cbind(key, escaped = NA, measured(run$fit, exact, run$seconds)))
    }
  }
}

# ---- summary ----

# The means go to a file, if one is given.
summarise <- function(path, to) {
  d <- utils::read.csv(path)
  d$covered <- d$true <= d$certified
  by <- list(problem = d$problem, method = d$method, noise = d$noise, n = d$n)
  means <- stats::aggregate(d[c("certified", "true", "loss", "covered", "escaped", "target", "seconds")], by, mean)
  means$runs <- stats::aggregate(d$seed, by, length)$x
  means <- means[order(means$problem, means$method, means$noise, means$n), ]
  print(means, digits = 3, row.names = FALSE)
  for (part in split(d[d$problem != "covertype", ], paste(d$problem, d$method, d$noise)[d$problem != "covertype"])) {
    cat(part$problem[1], part$method[1], part$noise[1], "slope of log(certified alpha) in log(n):",
        format(stats::coef(stats::lm(log(certified) ~ log(n), part))[[2]], digits = 3), "\n")
  }
  if (is.null(to)) return(invisible())
  means[c("certified", "true", "loss", "target", "seconds")] <- signif(means[c("certified", "true", "loss", "target",
                                                                               "seconds")], 4)
  utils::write.csv(means, to, row.names = FALSE, quote = FALSE)
}

if (!is.null(option("summary"))) {
  summarise(option("summary"), option("means"))
} else {
  results <- results_file(arguments[length(arguments)], c("problem", "method", "noise", "n", "seed"))
  switch(option("part"), saddle = saddle_runs(results), drift = drift_runs(results, option("folder")),
         covertype_runs(results, option("folder")))
}
