# Private line searches on the data of Chen & Lee (2020), compared with plain steps on batches and Newton's method:
# held-out accuracy and objective against eps, and number of evaluations against the sampling rate. Zero-out, delta =
# 1e-8, no tuning except for what a row says.
#   Rscript chen-lee.R FOLDER RESULTS.csv [SEEDS [LIBRARY]]
# SEEDS: 3 by default.
# FOLDER contains a9a.csv.xz (Adult in Platt's binary coding) and bank.csv.xz; their README names the sources.
# Then: Rscript chen-lee.R --summary RESULTS.csv
# And the study of single settings, on Adult: Rscript chen-lee.R --study FOLDER STUDY.csv [SEEDS]
# Accuracy and objective are exact and NOT PRIVATE. gradients and values: computed per record, as the core does.
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

# Rows have an intercept and norm at most radius. The numeric columns of Bank are mapped to [0, 1] by public bounds.
# Every fifth record is held out, as the records are ordered by date.
bank_bounds <- list(age = c(18, 100), balance = c(-10000, 100000), day = c(1, 31), duration = c(0, 5000),
                    campaign = c(1, 60), pdays = c(-1, 1000), previous = c(0, 300))

read_adult <- function(folder) {
  d <- utils::read.csv(file.path(folder, "a9a.csv.xz"))
  list(x = as.matrix(d[-(1:2)]) * 1, y = d$label, train = d$split == "train", radius = sqrt(15))
}

read_bank <- function(folder) {
  d <- utils::read.csv(file.path(folder, "bank.csv.xz"), stringsAsFactors = TRUE)
  for (name in names(bank_bounds)) {
    ends <- bank_bounds[[name]]
    d[[name]] <- pmin(pmax((d[[name]] - ends[1]) / (ends[2] - ends[1]), 0), 1)
  }
  columns <- setdiff(names(d), "y")
  x <- do.call(cbind, lapply(columns, function(name) {
    if (is.factor(d[[name]])) outer(as.integer(d[[name]]), seq_len(nlevels(d[[name]])), "==") * 1 else d[[name]]
  }))
  list(x = x, y = ifelse(d$y == "yes", 1, -1), train = seq_len(nrow(d)) %% 5 != 0, radius = sqrt(length(columns) + 1))
}

huber_svm <- function(m, h = 0.5) ifelse(m >= 1 + h, 0, ifelse(m <= 1 - h, 1 - m, (1 + h - m)^2 / (4 * h)))
losses <- list(logistic = logistic_loss, huber_svm = huber_svm)

# label: method, search and, if it is not the default, the expected fraction of the records in a batch.
settings <- function(n) {
  search <- function(kind = "svt", rate = NULL, ...) {
    dpsosp::control_line_search(kind, batch = if (!is.null(rate)) rate * n, ...)
  }
  list(
    blsgd = list("blsgd", search()), "blsgd-ac" = list("blsgd-ac", search()),
    "blsgd published" = list("blsgd", search(constants = "published")),
    "blsgd gaussian" = list("blsgd", search("gaussian")),
    blgd = list("blgd", search()), agd = list("agd", search("exponential")), sgd = list("sgd", NULL),
    newton = list("newton", NULL), "blsgd 0.01" = list("blsgd", search(rate = 0.01)),
    "blsgd 0.03" = list("blsgd", search(rate = 0.03)), "blsgd 0.3" = list("blsgd", search(rate = 0.3))
  )
}

# The values of the study, each with the defaults of "blsgd" for the other settings: required decrease over the decrease
# that the gradient predicts (alpha in the paper), ratio of steps (beta), kind of noise, rate of batches (q; 1 means the
# full data), and for "blsgd-ac" the relative decrease of the clip (zeta).
study_values <- list(sufficient = c(0.1, 0.3, 0.5, 0.7, 0.9), ratio = c(0.5, 0.65, 0.8, 0.9),
                     noise = c("svt", "gaussian"), rate = c(0.01, 0.03, 0.1, 0.3, 1), decay = c(0, 0.05, 0.2))

study_setting <- function(name, value, n) {
  control <- function(...) dpsosp::control_line_search(...)
  switch(name, sufficient = list("blsgd", control(sufficient = value)), ratio = list("blsgd", control(ratio = value)),
         noise = list("blsgd", control(value)), decay = list("blsgd-ac", control(clip_decay = value)),
         rate = if (value == 1) list("blgd", control()) else list("blsgd", control(batch = value * n)))
}

fit <- function(problem, setting, eps, loss) {
  suppressWarnings(suppressMessages(dpsosp::dp_sosp(
    problem$x[problem$train, ], problem$y[problem$train], eps = eps, delta = 1e-8, method = setting[[1]], loss = loss,
    radius = problem$radius, control = setting[[2]], neighbours = "zero-out", noise = "reproducible", progress = FALSE
  )))
}

# A search computes the values at w and at all its steps; a batch has n times rate records on average.
evaluations <- function(fit) {
  on_batch <- startsWith(fit$trace$query, "batch")
  records <- ifelse(on_batch, fit$batch$size %||% NA, fit$n)
  gradient <- grepl("gradient", fit$trace$query)
  search <- grepl("line search", fit$trace$query)
  c(gradients = sum(records[gradient]), values = sum(records[search]) * (1 + (fit$control$candidates %||% 0)))
}

`%||%` <- function(x, y) if (is.null(x)) y else x

judged <- function(problem, setting, eps, loss, seed) {
  set.seed(seed)
  made <- fit(problem, setting, eps, loss)
  margin <- problem$y * drop(cbind(1, problem$x) %*% stats::coef(made))
  c(list(accuracy = signif(mean(margin[!problem$train] > 0), 4),
         objective = signif(mean(losses[[loss]](margin[problem$train])), 4)),
    as.list(signif(evaluations(made) / sum(problem$train), 4)))
}

run <- function(folder, path, seeds) {
  out <- results_file(path, c("set", "loss", "eps", "label", "seed"))
  for (set in c("adult", "bank")) {
    problem <- list(adult = read_adult, bank = read_bank)[[set]](folder)
    dimnames(problem$x) <- NULL
    n <- sum(problem$train)
    for (loss in names(losses)) for (eps in c(0.1, 0.4, 1.6)) for (label in names(settings(n))) {
      if (grepl("[0-9]", label) && eps != 0.4) next
      for (seed in seq_len(seeds)) {
        row <- list(set = set, loss = loss, eps = eps, label = label, seed = seed)
        if (!out$has(row)) out$add(c(row, judged(problem, settings(n)[[label]], eps, loss, seed)))
      }
    }
  }
}

study <- function(folder, path, seeds) {
  out <- results_file(path, c("setting", "value", "eps", "seed"))
  problem <- read_adult(folder)
  dimnames(problem$x) <- NULL
  for (name in names(study_values)) for (value in study_values[[name]]) for (eps in c(0.05, 0.2)) {
    for (seed in seq_len(seeds)) {
      row <- list(setting = name, value = value, eps = eps, seed = seed)
      setting <- study_setting(name, value, sum(problem$train))
      if (!out$has(row)) out$add(c(row, judged(problem, setting, eps, "logistic", seed)))
    }
  }
}

# Means over seeds.
summary_of <- function(path) {
  d <- utils::read.csv(path)
  numbers <- c("accuracy", "objective", "gradients", "values")
  d$label <- factor(d$label, unique(d$label))
  means <- stats::aggregate(d[numbers], d[c("label", "eps", "loss", "set")], mean)
  means[numbers] <- lapply(means[numbers], signif, 4)
  means[c("set", "loss", "eps", "label", numbers)]
}

if (arguments[1] == "--summary") {
  print(summary_of(arguments[2]), row.names = FALSE)
} else if (arguments[1] == "--study") {
  study(arguments[2], arguments[3], if (length(arguments) > 3) as.integer(arguments[4]) else 3L)
} else {
  if (length(arguments) > 3) .libPaths(c(arguments[4], .libPaths()))
  run(arguments[1], arguments[2], if (length(arguments) > 2) as.integer(arguments[3]) else 3L)
}
