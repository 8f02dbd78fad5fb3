# Functions for all experiments: exact (NON-PRIVATE) quantities, data, and results that are written row by row, so that
# an interrupted script continues where it stopped.

# The value after --name on the command line.
option <- function(name, default = NULL) {
  arguments <- commandArgs(TRUE)
  at <- match(paste0("--", name), arguments)
  if (is.na(at)) default else arguments[at + 1]
}

# The logistic loss of a margin y t, without overflow.
logistic_loss <- function(margin) log1p(exp(-abs(margin))) + pmax(-margin, 0)

# Mean logistic loss of the best constant prediction, for a fraction of the second class.
constant_loss <- function(share) -share * log(share) - (1 - share) * log(1 - share)

# Area under the ROC curve, accuracy and mean logistic loss of predictions on the link's scale. positive: which rows are
# of the second class. Rows where either is missing are omitted.
judge <- function(link, positive) {
  there <- !is.na(link) & !is.na(positive)
  link <- link[there]
  positive <- positive[there]
  ones <- as.double(sum(positive))
  margin <- ifelse(positive, link, -link)
  list(auc = (sum(rank(link)[positive]) - ones * (ones + 1) / 2) / (ones * (length(link) - ones)),
       accuracy = mean(margin > 0), loss = mean(logistic_loss(margin)))
}

# Exact objective, gradient norm, smallest eigenvalue and accuracy at w, for rows clipped to norm 1. They judge a run
# from outside and must never be released. loss: "logistic", with the penalty sum w^2 / (1 + w^2), or "sigmoid", with
# |w|^2 / 2.
nonprivate_problem <- function(x, y, penalty = 0, loss = "logistic") {
  rows <- x / pmax(1, sqrt(rowSums(x^2)))
  n <- nrow(rows)
  margin <- function(w) y * as.vector(rows %*% w)
  if (loss == "logistic") {
    value <- logistic_loss
    slope <- function(m) -stats::plogis(-m)
    curvature <- function(m) stats::plogis(m) * stats::plogis(-m)
    r <- list(value = function(w) sum(w^2 / (1 + w^2)), gradient = function(w) 2 * w / (1 + w^2)^2,
              diagonal = function(w) (2 - 6 * w^2) / (1 + w^2)^3)
  } else {
    value <- function(m) stats::plogis(-m)
    slope <- function(m) -stats::plogis(m) * stats::plogis(-m)
    curvature <- function(m) -slope(m) * (stats::plogis(m) - stats::plogis(-m))
    r <- list(value = function(w) sum(w^2) / 2, gradient = function(w) w, diagonal = function(w) 1 + 0 * w)
  }
  gradient <- function(w) as.vector(crossprod(rows, y * slope(margin(w)))) / n + penalty * r$gradient(w)
  hessian <- function(w) {
    # crossprod() of one matrix is symmetric and twice as fast, so roots of the weights are used.
    s <- curvature(margin(w))
    part <- function(s) crossprod(rows * sqrt(s)) / n
    h <- if (any(s < 0)) part(pmax(s, 0)) - part(pmax(-s, 0)) else part(s)
    h + diag(penalty * r$diagonal(w), length(w))
  }
  list(
    loss = function(w) mean(value(margin(w))) + penalty * r$value(w),
    gradient = gradient,
    gradient_norm = function(w) sqrt(sum(gradient(w)^2)),
    hessian = hessian,
    eigen_min = function(w) min(eigen(hessian(w), symmetric = TRUE, only.values = TRUE)$values),
    accuracy = function(w) mean(margin(w) > 0)
  )
}

# The smallest loss that an exact trust-region method finds from several starts; NON-PRIVATE.
nonprivate_minimum <- function(problem, starts, steps = 100) {
  best <- list(value = Inf)
  for (w in starts) {
    radius <- 1
    value <- problem$loss(w)
    for (i in seq_len(steps)) {
      g <- problem$gradient(w)
      if (sqrt(sum(g^2)) < 1e-9) break
      h <- problem$hessian(w)
      step <- trust_region_step(g, h, radius)$step
      there <- problem$loss(w + step)
      ratio <- (value - there) / -(sum(g * step) + sum(step * (h %*% step)) / 2)
      radius <- radius * if (ratio < 0.25) 1 / 4 else if (ratio > 0.75) 2 else 1
      if (!(ratio > 0)) next
      w <- w + step
      value <- there
    }
    if (value < best$value) best <- list(value = value, w = w)
  }
  best
}

# Classes 1 and 2 of Covertype. The ten numeric columns are standardised with the public means and standard deviations
# in the data set's documentation, and rows are divided by 4. Uses the full data if folder contains covertype.rds, else
# the sample in the package.
covertype_matrix <- function(folder = NULL) {
  centre <- c(2959.36, 155.65, 14.10, 269.43, 46.42, 2350.15, 212.15, 223.32, 142.53, 1980.29)
  scale <- c(279.98, 111.91, 7.49, 212.55, 58.30, 1559.25, 26.77, 19.77, 38.27, 1324.19)
  if (is.null(folder)) {
    d <- dpsosp::covertype
    y <- ifelse(d$cover == "spruce/fir", 1, -1)
    indicators <- lapply(c("wilderness", "soil"), function(name) {
      outer(as.integer(d[[name]]), seq_along(levels(d[[name]])), "==") * 1
    })
    numeric <- as.matrix(d[vapply(d, is.numeric, NA)])
    x <- cbind(numeric, do.call(cbind, indicators))
  } else {
    d <- readRDS(file.path(folder, "covertype.rds"))
    d <- d[d$cover_type <= 2, ]
    y <- ifelse(d$cover_type == 1, 1, -1)
    x <- as.matrix(d[1:54])
  }
  storage.mode(x) <- "double"
  dimnames(x) <- NULL
  x[, 1:10] <- sweep(sweep(x[, 1:10], 2, centre), 2, scale, "/")
  list(x = x / 4, y = y)
}

# A number of records of IJCNN, the same in every run, with rows divided by 3.
ijcnn1_matrix <- function(folder, n) {
  d <- utils::read.csv(file.path(folder, "ijcnn1.csv.xz"))
  d <- d[d$split == "train", ]
  set.seed(98)
  d <- d[sample(nrow(d), n), ]
  list(x = unname(as.matrix(d[, -(1:2)])) / 3, y = d$label)
}

# Standard errors of a value of glm() by the sandwich.
sandwich_errors <- function(fit) {
  x <- stats::model.matrix(fit)
  inverse <- chol2inv(chol(crossprod(x * sqrt(fit$family$mu.eta(fit$linear.predictors)))))
  sqrt(diag(inverse %*% crossprod(x * (fit$y - fit$fitted.values)) %*% inverse))
}

# The processor time from a value of system.time().
processor_seconds <- function(used) used[["user.self"]] + used[["sys.self"]]

# The number of passes of a fit: one for a release on the full data, the fraction of the records for one on a batch.
passes <- function(fit) {
  if (any(fit$trace$query == "fresh records")) return(1)
  batch <- grepl("^batch", fit$trace$query)
  sum(!batch) + sum(batch) * (if (is.null(fit$batch)) 0 else fit$batch$rate)
}

# The numbers in a file of the format idx. It begins with two zeros, the type of the numbers (a byte), the number of
# dimensions, and the dimensions.
read_idx <- function(file) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  head <- readBin(connection, "integer", 4, 1, signed = FALSE)
  size <- readBin(connection, "integer", head[4], 4, endian = "big")
  readBin(connection, "integer", prod(size), 1, signed = FALSE)
}

# A data set of a package; NULL, with a message, if the package is not installed.
package_data <- function(name, package) {
  if (!requireNamespace(package, quietly = TRUE)) {
    message(name, " is skipped: it comes with the package ", package, ", which is not installed.")
    return(NULL)
  }
  frame <- new.env()
  utils::data(list = name, package = package, envir = frame)
  as.data.frame(frame[[name]])
}

# A table in a file: has(key) tells whether the row exists, add(row) appends it.
results_file <- function(path, keys) {
  label <- function(row) do.call(paste, c(unname(as.list(row[keys])), sep = "|"))
  done <- if (file.exists(path)) label(utils::read.csv(path)) else character()
  list(
    has = function(row) label(row) %in% done,
    add = function(row) {
      if (file.exists(path)) stopifnot(identical(names(row), names(utils::read.csv(path, nrows = 1))))
      utils::write.table(row, path, sep = ",", row.names = FALSE, col.names = !file.exists(path),
                         append = file.exists(path))
      done <<- c(done, label(row))
    }
  )
}

# Evaluates code while the package has other values of its internal constants.
with_constants <- function(constants, code) {
  package <- asNamespace("dpsosp")
  set <- function(values) {
    for (name in names(values)) {
      unlockBinding(name, package)
      assign(name, values[[name]], package)
    }
  }
  old <- mget(as.character(names(constants)), package)
  on.exit(set(old))
  set(constants)
  code
}

# The gains gain(row, setting, seed) with the constants of each setting and each row of `problems`: their mean and least
# over the seeds, in a file that is continued, and as a table. arguments: the file, and the number of seeds if it is not
# the usual one.
compare_gains <- function(arguments, usual, settings, problems, gain) {
  out <- results_file(arguments[1], c("setting", names(problems)))
  seeds <- seq_len(if (length(arguments) > 1) as.integer(arguments[2]) else usual)
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    row <- c(list(setting = setting), as.list(problems[i, ]))
    if (out$has(row)) next
    gains <- vapply(seeds, function(seed) with_constants(settings[[setting]], gain(row, setting, seed)), 0)
    out$add(c(row, gain = signif(mean(gains), 3), least = signif(min(gains), 3)))
  }
  utils::read.csv(arguments[1])
}
