# Test accuracy of networks on images of 28 x 28 bytes in ten classes, delta 1e-5, with the defaults of the methods,
# which were chosen on synthetic images (network-rule.R): Fashion-MNIST, 60,000 records, and the first 10,000 of MNIST.
# The seed determines the initial weights and the noise.
#   Rscript networks.R FOLDER RESULTS.csv [MODEL [NEIGHBOURS [EPS [SEED [SET [METHOD]]]]]]
# FOLDER contains the four files SET-{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz of "fashion" and of "mnist", whose
# training files are "mnist-train10k-...". Accuracies of released fits are themselves exact: NOT PRIVATE, for study
# only. A row that is in the results is not computed again.
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

models <- list(mlp = dpsosp::model_mlp(256), cnn = dpsosp::model_cnn())

train_files <- c(fashion = "train", mnist = "train10k")

# images: records x height x width.
read_images <- function(folder, set, part) {
  file <- function(what) file.path(folder, paste0(set, "-", part, "-", what, "-ubyte.gz"))
  y <- read_idx(file("labels-idx1"))
  x <- aperm(array(as.double(read_idx(file("images-idx3"))), c(28L, 28L, length(y))), c(3L, 2L, 1L))
  list(x = x, y = factor(y, levels = 0:9))
}

control_of <- list(
  sgd = function(seed) dpsosp::control_network(seed = seed),
  blsgd = function(seed) {
    dpsosp::control_line_search(attempts = 600, candidates = 8, first = 32, ratio = 0.5, sufficient = 0.001,
                                gradient_share = 0.9, seed = seed)
  }
)

run <- function(folder, path, model = "mlp", neighbours = "zero-out", eps = 3, seed = 1, set = "fashion",
                method = "sgd") {
  out <- results_file(path, c("set", "method", "model", "neighbours", "eps", "seed"))
  row <- list(set = set, method = method, model = model, neighbours = neighbours, eps = as.numeric(eps),
              seed = as.integer(seed))
  if (out$has(row)) return(invisible())
  train <- read_images(folder, set, train_files[[set]])
  test <- read_images(folder, set, "t10k")
  set.seed(row$seed)
  time <- system.time(fit <- dpsosp::dp_sosp(train$x, train$y, model = models[[model]], eps = row$eps, delta = 1e-5,
                                             method = method, bounds = c(0, 255), neighbours = neighbours,
                                             noise = "reproducible", control = control_of[[method]](row$seed)))
  accuracy <- mean(predict(fit, test$x, type = "class") == test$y)
  out$add(c(row, list(weights = length(fit$weights), steps = sum(grepl("gradient", fit$trace$query)),
                      accuracy = accuracy, seconds = round(time[["elapsed"]]))))
}

do.call(run, as.list(arguments))
