# Which settings are good for networks, whatever the data are? Accuracies on SYNTHETIC images, which determine the
# defaults of control_network(). Each image is one of its class's templates (smooth random fields), shifted by some
# pixels, with random contrast and noise.
#   Rscript network-rule.R RESULTS.csv
# Then: Rscript network-rule.R --summary RESULTS.csv
# To choose settings of control_line_search() for networks, compared with the default of "sgd":
#   Rscript network-rule.R --searches SEARCHES.csv
# Accuracies are exact and on new records: NOT PRIVATE, for study only. A row that is in the results is not computed
# again.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

side <- 14
classes <- 10
templates_each <- 4
models <- list(mlp = model_mlp(64), cnn = model_cnn(channels = c(8, 16), kernel = c(4, 3), stride = c(2, 1),
                                                    padding = c(1, 0), pool = 2, hidden = 16))

# Random fields that are smooth over a few pixels, with a border so that they may be shifted.
template <- function(border = 2) {
  size <- side + 2 * border
  waves <- outer(seq_len(size), 0:4, function(at, k) cos(pi * (at - 0.5) * k / size))
  field <- waves %*% (matrix(stats::rnorm(25), 5) / outer(0:4, 0:4, function(i, j) 1 + i + j)) %*% t(waves)
  (field - min(field)) / diff(range(field))
}

draw <- function(n, templates) {
  class <- sample(classes, n, TRUE)
  which <- sample(templates_each, n, TRUE)
  x <- array(0, c(n, side, side))
  for (i in seq_len(n)) {
    move <- sample(0:4, 2, TRUE)
    image <- templates[[class[i]]][[which[i]]][move[1] + seq_len(side), move[2] + seq_len(side)]
    x[i, , ] <- stats::runif(1, 0.5, 1) * image + stats::rnorm(side^2, 0, 0.15)
  }
  list(x = x, y = factor(class, levels = seq_len(classes)))
}

problem <- function(n, seed) {
  set.seed(seed)
  templates <- lapply(seq_len(classes), function(k) lapply(seq_len(templates_each), function(j) template()))
  list(train = draw(n, templates), test = draw(4000, templates))
}

# batch: a fraction of n. For sgd only the product of clip and step matters, the largest possible step.
settings <- function() {
  grid <- function(method, clip, step, epochs = 20, batch = 30) {
    expand.grid(method = method, clip = clip, step = step, epochs = epochs, batch = batch)
  }
  at_most <- c(0.5, 1, 2, 4, 8)
  rbind(
    grid("sgd", 0.5, at_most / 0.5), grid("sgd", 0.1, at_most / 0.1), grid("sgd", 1, 4),
    grid("adam", 0.5, c(0.001, 0.002, 0.005, 0.01, 0.02)), grid("adam", c(0.1, 1), 0.005),
    grid("sgd", 0.5, 8, c(10, 40)), grid("adam", 0.5, 0.005, c(10, 40)), grid("sgd", 0.5, 8, 20, c(15, 60))
  )
}

accuracy_of <- function(p, model, method, eps, control) {
  set.seed(1)
  fit <- dp_sosp(p$train$x, p$train$y, model = models[[model]], method = method, eps = eps, delta = 1e-5,
                 bounds = c(0, 1), control = control, neighbours = "zero-out", noise = "reproducible", progress = FALSE)
  mean(predict(fit, p$test$x) == p$test$y)
}

simulate <- function(path) {
  out <- results_file(path, c("model", "n", "eps", "method", "clip", "step", "epochs", "batch"))
  all <- settings()
  for (case in list(list(n = 6000, eps = 10))) {
    p <- problem(case$n, 1)
    for (i in seq_len(nrow(all))) for (model in names(models)) {
      row <- c(list(model = model), case, as.list(all[i, ]))
      row$method <- as.character(row$method)
      if (out$has(row)) next
      control <- control_network(epochs = row$epochs, batch = case$n / row$batch, clip = row$clip, step = row$step)
      out$add(c(row, list(accuracy = accuracy_of(p, model, row$method, case$eps, control))))
    }
  }
}

# For the dense network, at the same n and eps.
searches <- function(path) {
  out <- results_file(path, c("search", "attempts", "sufficient", "gradient_share", "clip"))
  p <- problem(6000, 1)
  grid <- function(...) expand.grid(..., stringsAsFactors = FALSE)
  all <- rbind(
    grid(search = "svt", attempts = c(100, 300), sufficient = c(0.001, 0.1, 0.5), gradient_share = 0.75, clip = 0.5),
    grid(search = c("svt", "gaussian"), attempts = c(300, 600, 1200), sufficient = 0.001, gradient_share = 0.9,
         clip = 0.5),
    grid(search = c("svt", "gaussian"), attempts = 600, sufficient = 0.001, gradient_share = 0.9, clip = c(0.1, 3))
  )
  sgd <- list(search = "none", attempts = 600, sufficient = 0, gradient_share = 1, clip = 0.5)
  if (!out$has(sgd)) out$add(c(sgd, list(accuracy = accuracy_of(p, "mlp", "sgd", 10, control_network()))))
  for (i in seq_len(nrow(all))) {
    row <- as.list(all[i, ])
    if (out$has(row)) next
    control <- control_line_search(row$search, attempts = row$attempts, candidates = 8, first = 32, ratio = 0.5,
                                   sufficient = row$sufficient, gradient_share = row$gradient_share, clip = row$clip)
    out$add(c(row, list(accuracy = accuracy_of(p, "mlp", "blsgd", 10, control))))
  }
}

# Accuracy minus that of the best setting of the same problem, on average over problems, best first.
summarise <- function(path) {
  x <- utils::read.csv(path)
  x$less <- x$accuracy - stats::ave(x$accuracy, x$model, x$n, x$eps, FUN = max)
  print(stats::aggregate(accuracy ~ model + n + eps, x, max))
  for (model in names(models)) {
    part <- x[x$model == model, ]
    wide <- stats::reshape(part[c("method", "clip", "step", "epochs", "batch", "eps", "less")], direction = "wide",
                           idvar = c("method", "clip", "step", "epochs", "batch"), timevar = "eps")
    cat("\n", model, "\n", sep = "")
    print(wide[order(-rowMeans(wide[-(1:5)])), ], digits = 2, row.names = FALSE)
  }
}

if (arguments[1] == "--summary") {
  summarise(arguments[2])
} else if (arguments[1] == "--searches") {
  searches(arguments[2])
} else {
  simulate(arguments[1])
}
