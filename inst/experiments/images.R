# Classification of images by a linear model of public features: test accuracy of dp_sosp() with its defaults on
# features_scattering(), compared with pixels and with gradient descent. Nothing is tuned. delta is 1e-5.
#   Rscript images.R FOLDER RESULTS.csv [SEEDS [SET]]
# FOLDER contains the four files SET-{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz of Fashion-MNIST, 60,000 records,
# and of MNIST, whose training records are the first 10,000 ("mnist-train10k-..."). SEEDS (3) is the number of seeds for
# "mid" features with the default method; all else has one seed. Accuracies of released fits are themselves exact: NOT
# PRIVATE, for study only. A row that is already in the results is not computed again.
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

sets <- c(mnist = "train10k", fashion = "train")

# A row of pixels is divided by a third of its norm, a function of this record alone: with the intercept its norm is
# sqrt(10), as for features.
maps <- list(
  mid = function(x) dpsosp::features_scattering(x, bounds = c(0, 255)),
  pixels = function(x) 3 * x / pmax(sqrt(rowSums(x^2)), 1)
)

runs <- function(seeds) {
  main <- expand.grid(neighbours = c("zero-out", "replace-one"), eps = c(3, 1), method = "auto", features = "mid",
                      seed = seq_len(seeds), stringsAsFactors = FALSE)
  others <- data.frame(neighbours = "zero-out", eps = 3, method = c("gd", "auto"), features = c("mid", "pixels"),
                       seed = 1)
  rbind(main, others)[c("features", "method", "eps", "neighbours", "seed")]
}

read_images <- function(folder, set, part) {
  file <- function(what) file.path(folder, paste0(set, "-", part, "-", what, "-ubyte.gz"))
  list(x = matrix(as.double(read_idx(file("images-idx3"))), ncol = 784, byrow = TRUE),
       y = factor(read_idx(file("labels-idx1")), levels = 0:9))
}

run <- function(folder, path, seeds = 3, wanted = names(sets)) {
  out <- results_file(path, c("set", "features", "method", "eps", "neighbours", "seed"))
  for (set in wanted) for (features in names(maps)) {
    all <- runs(seeds)
    rows <- lapply(which(all$features == features), function(i) c(list(set = set), as.list(all[i, ])))
    rows <- Filter(function(row) !out$has(row), rows)
    if (length(rows) == 0L) next
    map <- function(data) list(x = maps[[features]](data$x), y = data$y)
    train <- map(read_images(folder, set, sets[[set]]))
    test <- map(read_images(folder, set, "t10k"))
    for (row in rows) out$add(c(row, list(n = nrow(train$x)), result(row, train, test)))
  }
}

result <- function(row, train, test) {
  set.seed(row$seed)
  time <- system.time(fit <- dpsosp::dp_sosp(train$x, train$y, row$eps, 1e-5, row$method, radius = sqrt(10),
                                             neighbours = row$neighbours, noise = "reproducible", progress = FALSE))
  list(accuracy = mean(predict(fit, test$x, "class") == test$y), seconds = round(time[["elapsed"]]))
}

run(arguments[1], arguments[2], if (length(arguments) > 2) as.integer(arguments[3]) else 3L,
    if (length(arguments) > 3) arguments[4] else names(sets))
