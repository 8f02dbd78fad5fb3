# Classes of images by their pixels: test accuracy of the multinomial loss, with the defaults of dp_sosp() and with
# gradient descent, which takes the same budget. One run each; nothing is tuned.
#   Rscript images.R RESULTS.csv FOLDER [SET ...]     adds the runs that RESULTS.csv does not have; all sets by default
# FOLDER has the files of MNIST (its first 10,000 training images) and of Fashion-MNIST, in the format idx. delta is
# 1e-5. An image is divided by a third of its norm, which depends on this record alone: with the intercept it then has
# the norm sqrt(10), the radius.
library(dpsosp)

sets <- c("mnist", "fashion")
runs <- merge(data.frame(method = c("newton", "newton", "newton", "newton", "gd"), eps = c(3, 3, 1, 1, 3),
                         neighbours = c("zero-out", "replace-one", "zero-out", "replace-one", "zero-out")),
              data.frame(set = sets))

main <- function(file, folder, wanted = sets) {
  done <- if (file.exists(file)) utils::read.csv(file)
  key <- function(run) paste(run$set, run$method, run$eps, run$neighbours)
  for (set in wanted) {
    open <- runs[runs$set == set & !key(runs) %in% key(done), ]
    if (nrow(open) == 0L) next
    data <- list(train = images(folder, set, "train"), test = images(folder, set, "test"))
    for (i in seq_len(nrow(open))) {
      done <- rbind(done, result(open[i, ], data))
      utils::write.csv(done, file, row.names = FALSE, quote = FALSE)
    }
  }
}

images <- function(folder, set, part) {
  name <- if (part == "test") "t10k" else if (set == "mnist") "train10k" else "train"
  x <- read_idx(file.path(folder, paste0(set, "-", name, "-images-idx3-ubyte.gz")))
  y <- read_idx(file.path(folder, paste0(set, "-", name, "-labels-idx1-ubyte.gz")))
  x <- matrix(as.double(x), ncol = 784, byrow = TRUE)
  list(x = 3 * x / pmax(sqrt(rowSums(x^2)), 1), y = factor(y, levels = 0:9))
}

# The numbers of a file: after two zeros, their type and the number of sizes come the sizes.
read_idx <- function(file) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  head <- readBin(connection, "integer", 4, 1, signed = FALSE)
  size <- readBin(connection, "integer", head[4], 4, endian = "big")
  readBin(connection, "integer", prod(size), 1, signed = FALSE)
}

result <- function(run, data) {
  fit <- dp_sosp(data$train$x, data$train$y, run$eps, 1e-5, run$method, radius = sqrt(10), neighbours = run$neighbours,
                 progress = FALSE)
  right <- predict(fit, data$test$x, "class") == data$test$y
  data.frame(set = run$set, n = nrow(data$train$x), method = run$method, eps = run$eps, neighbours = run$neighbours,
             accuracy = round(mean(right), 4))
}

do.call(main, as.list(c(commandArgs(TRUE)[1:2], if (length(commandArgs(TRUE)) > 2) list(commandArgs(TRUE)[-(1:2)]))))
