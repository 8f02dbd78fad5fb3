# How often do intervals of contrasts between classes cover? 95 % intervals, replace-one, delta = 1/n^2, private ranges.
#   Rscript inference-classes.R RESULTS.csv [RUNS]
# makes RUNS (40) runs of every data set at eps 1 and 3; a row is one data set and eps:
#   classes, d     number of classes, and of coefficients of one class
#   shown          fraction of the slopes' contrasts with the first class whose interval is shown
#   covered, least mean over the contrasts of the fraction of the runs whose interval covers nnet::multinom() on the
#                  same records, among those that are shown, and the least of a contrast shown in half of the runs
#   truth          the same for the coefficients that made the records (SYNTHETIC sets only, drawn anew for each run)
#   wide           covered, among all runs, with widened intervals
#   ratio          median width over that without privacy (sandwich), of those that are shown
#   plan           the same by dp_plan(), of these columns
#   half           median half width of a contrast for one standard deviation of its column
# Rows are written one by one; a script that was interrupted continues.
library(dpsosp)

# ---- data: draw(seed) gives a data frame with the response y, the last column, and for synthetic sets the truth ----

softmax <- function(t) {
  e <- exp(t - do.call(pmax, as.data.frame(t)))
  e / rowSums(e)
}

drawn <- function(x, size, levels, intercepts = rep(0, levels - 1L), quadratic = 0) {
  model <- stats::model.matrix(~ ., x)
  spread <- c(1, apply(model, 2, stats::sd)[-1])
  # The same coefficients in all runs.
  beta <- outer(seq_len(ncol(model)), seq_len(levels - 1L), function(j, k) cos(2.3 * j + 1.7 * k + j * k))
  beta <- size * beta / spread
  beta[1, ] <- intercepts - colMeans(model[, -1, drop = FALSE]) %*% beta[-1, , drop = FALSE]
  predictors <- cbind(0, model %*% beta)
  if (quadratic != 0) predictors[, 2] <- predictors[, 2] + quadratic * (scale(x[[1]])[, 1]^2 - 1)
  p <- softmax(predictors)
  x$y <- factor(rowSums(stats::runif(nrow(x)) > t(apply(p, 1, cumsum))[, -levels, drop = FALSE]), seq_len(levels) - 1L,
                LETTERS[seq_len(levels)])
  list(data = x, truth = if (quadratic == 0) as.vector(beta), drawn = TRUE)
}

mixed <- function(n, p) {
  as.data.frame(lapply(stats::setNames(seq_len(p), paste0("x", seq_len(p))), function(j) {
    switch(j %% 3 + 1L, stats::rnorm(n), stats::runif(n), as.numeric(stats::runif(n) < 0.3))
  }))
}

framed <- function(n) {
  data.frame(age = pmin(pmax(round(stats::rgamma(n, 6, 0.15)), 17), 90),
             hours = pmin(pmax(round(stats::rnorm(n, 40, 12)), 1), 99), income = round(stats::rlnorm(n, 7, 0.6)),
             sex = factor(sample(c("f", "m"), n, TRUE)),
             region = factor(sample(c("n", "e", "s", "w"), n, TRUE, c(0.4, 0.3, 0.2, 0.1))))
}

synthetic <- function(draw) function(seed) {
  set.seed(seed)
  draw()
}
lazy <- function(package, name, use) function(seed) {
  there <- new.env()
  utils::data(list = name, package = package, envir = there)
  list(data = stats::na.omit(droplevels(use(there[[name]]))), drawn = FALSE)
}
with_response <- function(d, columns, y) data.frame(d[columns], y = factor(as.character(d[[y]])))

sets <- list(
  "3 classes, 20,000 x 5" = synthetic(function() drawn(mixed(20000, 5), 0.5, 3)),
  "3 classes, 5,000 x 5" = synthetic(function() drawn(mixed(5000, 5), 0.5, 3)),
  "5 classes, 20,000 x 8" = synthetic(function() drawn(mixed(20000, 8), 0.4, 5)),
  "strong, 4 classes, 20,000 x 4" = synthetic(function() drawn(mixed(20000, 4), 1.2, 4)),
  "rare classes, 20,000 x 4" = synthetic(function() drawn(mixed(20000, 4), 0.5, 4, c(-1, -2.5, -4))),
  "misspecified, 3 classes, 20,000 x 3" = synthetic(function() drawn(mixed(20000, 3), 0.5, 3, quadratic = 0.7)),
  "frame, 3 classes, 20,000" = synthetic(function() drawn(framed(20000), 0.4, 3, c(-0.5, 0.3))),
  "carData WVS, poverty" = lazy("carData", "WVS", function(d) {
    with_response(d, c("religion", "degree", "country", "age", "gender"), "poverty")
  }),
  "wooldridge happiness" = lazy("wooldridge", "happiness", function(d) {
    with_response(d, c("educ", "prestige", "babies", "teens", "black", "female", "unem10"), "happy")
  }),
  "AER NMES1988, health" = lazy("AER", "NMES1988", function(d) {
    with_response(d, c("visits", "chronic", "age", "afam", "gender", "school", "income", "insurance"), "health")
  }),
  "AER CPSSW8, region" = lazy("AER", "CPSSW8", function(d) {
    with_response(d, c("earnings", "gender", "age", "education"), "region")
  }),
  "mlbench letters A to E" = lazy("mlbench", "LetterRecognition", function(d) {
    with_response(d[d$lettr %in% LETTERS[1:5], ], c("x.box", "y.box", "width", "high", "onpix"), "lettr")
  })
)

# ---- runs ----

# Without privacy: coefficients against the first class, one class after the other, and their sandwich errors.
reference <- function(data) {
  fit <- nnet::multinom(y ~ ., data, trace = FALSE, maxit = 2000, reltol = 1e-12)
  b <- rbind(stats::coef(fit))
  x <- stats::model.matrix(fit)
  p <- as.matrix(stats::fitted(fit))
  slopes <- p - stats::model.matrix(~ y - 1, data)
  others <- seq_len(nrow(b)) + 1L
  scores <- do.call(cbind, lapply(others, function(k) slopes[, k] * x))
  hessian <- do.call(rbind, lapply(others, function(k) {
    do.call(cbind, lapply(others, function(l) crossprod(x, p[, k] * ((k == l) - p[, l]) * x)))
  }))
  inverse <- solve(hessian)
  list(estimate = as.vector(t(b)), error = sqrt(diag(inverse %*% crossprod(scores) %*% inverse)),
       spread = rep(c(NA, apply(x, 2, stats::sd)[-1]), nrow(b)))
}

one_run <- function(made, eps, seed, known) {
  data <- made$data
  known <- if (is.null(known)) reference(data) else known
  set.seed(seed)
  fit <- suppressMessages(suppressWarnings(dp_sosp(y ~ ., data, eps = eps, delta = 1 / nrow(data)^2,
                                                   inference = "sandwich", noise = "reproducible")))
  ends <- stats::confint(fit, unresolved = "wide")
  shown <- !is.na(stats::confint(fit)[, 1])
  inside <- function(x) ends[, 1] <= x & x <= ends[, 2]
  half <- (ends[, 2] - ends[, 1]) / 2
  list(known = known, shown = shown, covered = inside(known$estimate),
       truth = if (is.null(made$truth)) rep(NA, length(shown)) else inside(made$truth),
       ratio = half / (stats::qnorm(0.975) * known$error), half = half * known$spread)
}

planned <- function(data, eps) {
  stats::median(dp_plan(y ~ ., data, eps = eps, delta = 1 / nrow(data)^2, inference = TRUE)$intervals$ratio)
}

study <- function(name, eps, runs) {
  known <- NULL
  all <- lapply(seq_len(runs), function(seed) {
    made <- sets[[name]](seed)
    run <- one_run(made, eps, seed, known)
    if (!made$drawn) known <<- run$known
    c(run, list(n = nrow(made$data), classes = nlevels(made$data$y), plan = planned(made$data, eps)))
  })
  get <- function(what) do.call(rbind, lapply(all, `[[`, what))
  shown <- get("shown")
  among <- function(x) colMeans(ifelse(shown, x, NA), na.rm = TRUE)
  slopes <- !is.na(all[[1]]$known$spread)
  often <- colMeans(shown) >= 0.5
  data.frame(data = name, n = all[[1]]$n, classes = all[[1]]$classes, d = ncol(shown) / (all[[1]]$classes - 1),
             eps = eps, runs = runs, shown = mean(shown[, slopes]), covered = mean(among(get("covered")), na.rm = TRUE),
             least = if (any(often)) min(among(get("covered"))[often]) else NA,
             truth = mean(among(get("truth")), na.rm = TRUE), wide = mean(get("covered")),
             ratio = stats::median(get("ratio")[shown]), plan = all[[1]]$plan,
             half = stats::median(get("half")[shown & !is.na(get("half"))]))
}

arguments <- commandArgs(TRUE)
file <- arguments[1]
runs <- if (length(arguments) > 1L) as.integer(arguments[2]) else 40L
for (name in names(sets)) {
  for (eps in c(1, 3)) {
    done <- if (file.exists(file)) utils::read.csv(file)
    if (any(done$data == name & done$eps == eps)) next
    row <- study(name, eps, runs)
    row[-(1:2)] <- lapply(row[-(1:2)], signif, 3)
    print(row)
    utils::write.table(row, file, sep = ",", row.names = FALSE, append = !is.null(done), col.names = is.null(done))
  }
}
