# Test accuracy of networks on the images of Fashion-MNIST, 60,000 records of 28 x 28 bytes in ten classes, delta
# 1e-5, by the defaults of control_network(), which synthetic images chose (network-rule.R). The seed is that of the
# first weights and of the noise.
#   Rscript networks.R FOLDER RESULTS.csv [MODEL [NEIGHBOURS [EPS [SEED]]]]
# FOLDER holds the four files fashion-{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz. Accuracies are of released fits
# but are themselves exact: NOT PRIVATE, for study. A row that the results have is not computed again.
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

models <- list(mlp = dpsosp::model_mlp(256), cnn = dpsosp::model_cnn())

read_bytes <- function(path, header) {
  file <- gzfile(path, "rb")
  on.exit(close(file))
  readBin(file, "integer", header, size = 4L, endian = "big")
  as.double(readBin(file, "integer", 6e7, size = 1L, signed = FALSE))
}

# images: records x height x width.
read_images <- function(folder, part) {
  name <- function(what) file.path(folder, paste0("fashion-", part, "-", what, "-ubyte.gz"))
  y <- read_bytes(name("labels-idx1"), 2L)
  x <- aperm(array(read_bytes(name("images-idx3"), 4L), c(28L, 28L, length(y))), c(3L, 2L, 1L))
  list(x = x, y = factor(y, levels = 0:9))
}

run <- function(folder, path, model = "mlp", neighbours = "zero-out", eps = 3, seed = 1) {
  out <- results_file(path, c("model", "neighbours", "eps", "seed"))
  row <- list(model = model, neighbours = neighbours, eps = as.numeric(eps), seed = as.integer(seed))
  if (out$has(row)) return(invisible())
  train <- read_images(folder, "train")
  test <- read_images(folder, "t10k")
  set.seed(row$seed)
  time <- system.time(fit <- dpsosp::dp_sosp(train$x, train$y, model = models[[model]], eps = row$eps, delta = 1e-5,
                                             bounds = c(0, 255), neighbours = neighbours, noise = "reproducible",
                                             control = dpsosp::control_network(seed = row$seed)))
  accuracy <- mean(predict(fit, test$x, type = "class") == test$y)
  out$add(c(row, list(weights = length(fit$weights), steps = nrow(fit$trace), accuracy = accuracy,
                      seconds = round(time[["elapsed"]]))))
}

do.call(run, as.list(arguments))
