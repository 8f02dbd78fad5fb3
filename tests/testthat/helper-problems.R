# Small data sets, and exact results in plain R to compare with.

# n records with d numeric columns in [-1, 1] and a response in -1, 1.
problem_matrix <- function(n = 300, d = 2, seed = 1, w = (-1)^seq_len(d)) {
  set.seed(seed)
  x <- matrix(runif(n * d, -1, 1), n, d, dimnames = list(NULL, paste0("x", seq_len(d))))
  y <- ifelse(drop(x %*% w) + 0.3 + rlogis(n, scale = 0.5) > 0, 1, -1)
  list(x = x, y = y)
}

# Two numeric columns, a factor, a response with two levels.
# How far two records' logistic gradients may be apart at a point of this norm, by a search (proofs:
# sensitivity-gradient); under zero-out the largest of one.
logistic_change <- function(norm, relation = "replace-one") {
  if (relation == "zero-out") return(stats::plogis(norm))
  max(1, 2 * stats::plogis(norm * (0:1e5) / 1e5) * sqrt(1 - ((0:1e5) / 1e5)^2))
}

problem_frame <- function(n = 300, seed = 1) {
  set.seed(seed)
  data <- data.frame(a = runif(n, 10, 30), b = runif(n, -1, 1), f = factor(sample(c("u", "v", "w"), n, TRUE)))
  t <- (data$a - 20) / 5 - data$b + c(u = 0, v = 1, w = -1)[as.character(data$f)]
  data$y <- factor(ifelse(t + rlogis(n) > 0, "yes", "no"), levels = c("no", "yes"))
  data
}
frame_bounds <- list(a = I(c(10, 30)), b = I(c(-1, 1)))

# An oracle on x for each way to store rows, with x as the storage rounds it.
storages <- c("dense", "single", "sparse")
stored_oracle <- function(storage, x, ...) {
  if (storage == "sparse") testthat::skip_if_not_installed("Matrix")
  switch(storage, dense = dp_oracle(x, ...), single = dp_oracle(x, ..., storage = "single"),
         sparse = dp_oracle(as_sparse(x), ...))
}
as_sparse <- function(x) methods::as(methods::as(x, "CsparseMatrix"), "generalMatrix")
rounded <- function(storage, x) {
  if (storage == "single") x[] <- readBin(writeBin(as.vector(x), raw(), 4), "double", length(x), 4)
  x
}

# Rows as the oracle sees them: with intercept, divided by the larger of norm and radius; zero when not finite.
unit_rows <- function(x, radius, intercept = TRUE) {
  z <- if (intercept) cbind(1, x) else x
  norm <- sqrt(rowSums(z^2))
  z <- z / pmax(norm, radius)
  z[!is.finite(norm), ] <- 0
  unname(z)
}

exact <- list(
  logistic = list(
    value = function(m) log1p(exp(-m)), slope = function(m) -plogis(-m), curvature = function(m) plogis(m) * plogis(-m)
  ),
  sigmoid = list(
    value = function(m) plogis(-m), slope = function(m) -plogis(m) * plogis(-m),
    curvature = function(m) plogis(m) * plogis(-m) * (plogis(m) - plogis(-m))
  )
)

# Mean loss and its derivatives at w; a row whose y is NA counts as a row of zeros.
exact_value <- function(z, y, w, loss = "logistic") mean(exact[[loss]]$value(margin(z, y, w)))
exact_gradient <- function(z, y, w, loss = "logistic") {
  z[is.na(y), ] <- 0
  colMeans(z * (exact[[loss]]$slope(margin(z, y, w)) * ifelse(is.na(y), 1, y)))
}
exact_hessian <- function(z, y, w, loss = "logistic") {
  z[is.na(y), ] <- 0
  crossprod(z, z * exact[[loss]]$curvature(margin(z, y, w))) / nrow(z)
}
margin <- function(z, y, w) ifelse(is.na(y), 0, y * drop(z %*% w))

# The minimiser of the mean loss plus lambda / 2 |w|^2 without the intercept, by Newton's method.
exact_minimum <- function(z, y, lambda = 0, free = 1) {
  w <- numeric(ncol(z))
  penalty <- rep(lambda, ncol(z))
  penalty[free] <- 0
  for (i in 1:50) w <- w - solve(exact_hessian(z, y, w) + diag(penalty), exact_gradient(z, y, w) + penalty * w)
  w
}

# A fit without the messages about delta and ranges, and without the warning about ranges that were not found. The
# default method takes any problem and needs few records.
# Declared ranges are taken as they are: looks within them have tests of their own.
quiet_fit <- function(..., method = "2opt-ls", bounds) {
  quietly <- function(code) suppressWarnings(suppressMessages(code), "dpsosp_warning")
  if (missing(bounds)) return(quietly(dp_sosp(..., method = method, progress = FALSE)))
  quietly(dp_sosp(..., method = method, progress = FALSE, bounds = if (is.list(bounds)) lapply(bounds, I) else bounds))
}

# The messages and warnings of a call, but for those that follow from released numbers.
said_by <- function(code) {
  said <- character()
  released <- c("dpsosp_warning_checks", "dpsosp_warning_ranges", "dpsosp_message_null")
  note <- function(restart) function(condition) {
    # How many records are used decides how much of the budget looks for ranges.
    of_number <- grepl("budget finds (where in its bounds|the range of|the ranges)", conditionMessage(condition))
    if (!inherits(condition, released) && !of_number) said <<- c(said, conditionMessage(condition))
    invokeRestart(restart)
  }
  withCallingHandlers(code, warning = note("muffleWarning"), message = note("muffleMessage"))
  said
}

# What a run released, without the releases that tell how many records it uses and how much better it is.
run_ledger <- function(fit) {
  ledger <- dp_ledger(fit)
  ledger[!ledger$what %in% c("usable records", "class counts", "value", "improvement"), ]
}

# Lists of what is said and whether the fit ended, as no records are used: it then says less than another one.
expect_said <- function(fit, usual) {
  testthat::expect_identical(fit$said, if (fit$ended) utils::head(usual$said, length(fit$said)) else usual$said)
}

# Coefficients are numbers, but of a fit whose released fraction of used records says that there are none.
expect_coefficients <- function(fit, none = TRUE) {
  stopped <- identical(fit$status, "null")
  testthat::expect_true(if (stopped) none && all(is.na(coef(fit))) else all(is.finite(coef(fit))))
}

# The rows of a ledger without what comes before and after the run: its usable records, and the values at the end.
without_values <- function(ledger) {
  ledger <- ledger[!ledger$what %in% c("usable records", "unused"), ]
  ledger[seq_len(max(which(!ledger$what %in% c("class counts", "value", "improvement")))), ]
}

# A noisy release is within eight standard deviations of the exact value (plus rounding).
expect_near <- function(answer, exact, sd = attr(answer, "sd")) {
  testthat::expect_true(all(abs(as.vector(answer) - as.vector(exact)) <= 8 * sd + 1e-12))
}

# A snapshot of error messages, each after its call.
expect_errors <- function(...) {
  frame <- parent.frame()
  lines <- vapply(eval(substitute(alist(...))), function(call) {
    message <- tryCatch(
      {
        suppressMessages(eval(call, frame))
        "no error"
      },
      dpsosp_error = conditionMessage
    )
    paste0("> ", paste(deparse(call, width.cutoff = 500), collapse = " "), "\n", message)
  }, "")
  testthat::expect_snapshot_output(writeLines(lines))
}

# Runs R code in a new process with the package attached and returns the printed output. It has one thread, as on a busy
# machine the threads of OpenBLAS wait for each other.
child <- function(code, env = character()) {
  home <- find.package("dpsosp")
  if (!file.exists(file.path(home, "Meta", "package.rds"))) testthat::skip("the package is not installed")
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c(sprintf(".libPaths(c(%s, .libPaths()))", deparse(dirname(home))), "library(dpsosp)", code), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = TRUE,
          env = c("OPENBLAS_NUM_THREADS=1", env))
}

# The fraction that a run's first phase uses, of the budget that the start and the gap leave.
share_of_first <- function(fit) {
  ledger <- dp_ledger(fit)
  beside <- sum(ledger$rho[ledger$what %in% c("class counts", "value", "usable records")])
  sum(fit$trace$rho[fit$trace$phase == 1]) / ((1 - 0.03) * fit$privacy$rho - beside) # 0.03 for the improvement
}
