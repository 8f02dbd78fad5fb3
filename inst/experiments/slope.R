# The cost of a bounded slope without noise: excess logistic loss of the exact minimiser of the mean loss_logistic(slope
# = c).
#   Rscript slope.R FOLDER RESULTS.csv
# Then: Rscript slope.R --summary RESULTS.csv
# FOLDER contains <set>.rds with X (rows of norm at most one, an intercept among the columns) and y in -1, 1. All
# results are exact and NOT PRIVATE.
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

sets <- c("covertype", "adult", "ijcnn1", "bank")
slopes <- c(0.51, 0.55, 0.6, 0.75, 0.9)

# Value, negative slope, and curvature at margins m, as in the header comment of src/loss/bounded_logistic.c.
bounded_logistic <- function(c) {
  h <- c - 0.5
  k <- 1 / (4 * h)
  decay <- function(m) exp(-pmax(m, 0))
  bend <- function(m) exp(-k * abs(m))
  list(
    value = function(m) {
      decay(m) * (c - h / (1 + k) * exp(-k * pmax(m, 0))) + c * pmax(-m, 0) - h / k * (1 - exp(-k * pmax(-m, 0)))
    },
    fall = function(m) decay(m) * (c - h * bend(m)),
    curvature = function(m) ifelse(m < 0, bend(m) / 4, decay(m) * (c - (c - 0.25) * bend(m)))
  )
}

# Newton's method with step halving. The small diagonal is for collinear columns.
minimise <- function(problem, loss, w) {
  n <- nrow(problem$X)
  margin <- function(w) problem$y * as.vector(problem$X %*% w)
  value <- function(w) mean(loss$value(margin(w)))
  for (i in 1:60) {
    m <- margin(w)
    gradient <- -as.vector(crossprod(problem$X, problem$y * loss$fall(m))) / n
    if (sqrt(sum(gradient^2)) < 1e-8) return(w)
    hessian <- crossprod(problem$X * sqrt(loss$curvature(m))) / n + diag(1e-9, length(w))
    step <- solve(hessian, gradient)
    length <- 1
    while (value(w - length * step) > value(w) && length > 1e-3) length <- length / 2
    w <- w - length * step
  }
  stop("Newton's method has not arrived.")
}

run <- function(folder, path) {
  out <- results_file(path, c("set", "slope"))
  for (set in sets) {
    problem <- readRDS(file.path(folder, paste0(set, ".rds")))
    best <- NULL
    for (c in slopes) {
      row <- list(set = set, n = nrow(problem$X), d = ncol(problem$X), slope = c)
      if (out$has(row)) next
      if (is.null(best)) best <- synthetic_minimum(problem)
      w <- minimise(problem, bounded_logistic(c), best$w)
      out$add(c(row, list(least = signif(best$value, 6), excess = signif(best$excess(w), 4))))
    }
  }
}

if (identical(arguments[1], "--summary")) {
  x <- utils::read.csv(arguments[2])
  cat("excess, in units of 1e-4\n")
  print(round(1e4 * tapply(x$excess, list(x$set, x$slope), identity), 2))
} else if (length(arguments) < 2 || !all(file.exists(file.path(arguments[1], paste0(sets, ".rds"))))) {
  stop("slope.R needs a folder with ", paste0(sets, ".rds", collapse = ", "), ", and a file for the results.",
       call. = FALSE)
} else {
  run(arguments[1], arguments[2])
}
