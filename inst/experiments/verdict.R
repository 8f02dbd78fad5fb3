# Is it true what a fit says about itself? On real data the share of the intercept-only model's deviance that a fit says
# to explain (`checks$explained`), and what it explains of records that were held out. With permuted labels there is
# nothing to explain. Private ranges, delta = 1/n^2, replace-one; at most 20,000 records are used.
#   Rscript verdict.R RESULTS.csv DATA [SEEDS [METHOD ...]]     runs (DATA: see frames.R), by "auto" and these methods
#   Rscript verdict.R --summary RESULTS.csv
# share, sd, better: what the fit says; held: the share of the deviance of held-out records. No result of the held-out
# records is private.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "frames.R")) source(file.path(dirname(this_file), file))

# With a numeric response; those of frames.R are classes.
numeric_sets <- list(
  Wage = list(package = "ISLR", formula = wage ~ year + age + maritl + race + education + jobclass + health +
    health_ins),
  ames = list(package = "modeldata", formula = Sale_Price ~ Gr_Liv_Area + Lot_Area + Year_Built + Garage_Area +
    Total_Bsmt_SF + Bedroom_AbvGr + Full_Bath + Neighborhood),
  diamonds = list(package = "ggplot2", formula = price ~ carat + cut + color + clarity + depth + table),
  hours = list(package = "modeldata", data = "hpc_data", formula = input_fields ~ compounds + iterations + num_pending +
    protocol, loss = "poisson")
)
most <- 20000

read_any <- function(name, folder) {
  set <- numeric_sets[[name]]
  if (is.null(set)) return(split_classes(name, folder))
  data <- package_data(if (is.null(set$data)) name else set$data, set$package)
  if (is.null(data)) return(NULL)
  loss <- if (is.null(set$loss)) "squared" else set$loss
  split_rows(as.data.frame(data), set$formula, loss, if (loss == "squared") share_of_variance else share_of_counts)
}

split_classes <- function(name, folder) {
  data <- read_set(name, folder)
  if (!is.null(data)) split_rows(data, sets[[name]]$formula, "logistic", share_of_classes)
}

split_rows <- function(data, formula, loss, share) {
  set.seed(0)
  if (nrow(data) > most) data <- data[sample.int(nrow(data), most), ]
  held <- sample.int(nrow(data), round(0.2 * nrow(data)))
  list(formula = formula, loss = loss, share = share, train = data[-held, ], test = data[held, ])
}

share_of_classes <- function(y, p) {
  loss <- function(p) -mean(log(ifelse(y == levels(y)[2], p, 1 - p)))
  1 - loss(pmin(pmax(p, 1e-12), 1 - 1e-12)) / loss(mean(y == levels(y)[2]))
}
share_of_variance <- function(y, m) 1 - mean((y - m)^2) / mean((y - mean(y))^2)
share_of_counts <- function(y, m) {
  deviance <- function(m) mean(ifelse(y > 0, y * log(pmax(y, 1) / m), 0) - (y - m))
  1 - deviance(m) / deviance(mean(y))
}

run <- function(path, folder, seeds, methods) {
  out <- results_file(path, c("set", "eps", "method", "seed", "permuted"))
  grid <- expand.grid(permuted = c(FALSE, TRUE), eps = c(1, 0.3, 3, 0.1), seed = seq_len(seeds), method = methods,
                      stringsAsFactors = FALSE)
  for (name in c(names(sets), names(numeric_sets))) {
    set <- read_any(name, folder)
    if (is.null(set)) next
    for (i in seq_len(nrow(grid))) {
      at <- grid[i, ]
      row <- list(set = name, eps = at$eps, method = at$method, seed = at$seed, permuted = at$permuted)
      if (out$has(row) || (at$method != "auto" && set$loss != "logistic")) next
      out$add(c(row, one(set, at)))
    }
  }
}

one <- function(set, at) {
  response <- all.vars(set$formula)[1]
  set.seed(at$seed)
  train <- set$train
  if (at$permuted) train[[response]] <- sample(train[[response]])
  fit <- suppressWarnings(suppressMessages(
    dp_sosp(set$formula, train, eps = at$eps, loss = set$loss, method = at$method, noise = "reproducible",
            progress = FALSE)
  ))
  seen <- set$test[[response]]
  predicted <- suppressWarnings(predict(fit, set$test, type = "response"))
  both <- !is.na(predicted) & !is.na(seen)
  explained <- fit$checks$explained
  if (is.null(explained)) explained <- list(fraction = NA, sd = NA, better = NA)
  list(n = nrow(train), columns = length(coef(fit)) - 1, loss = set$loss, took = fit$method, status = fit$status,
       share = signif(explained$fraction, 4), sd = signif(explained$sd, 3), better = explained$better,
       held = signif(set$share(seen[both], predicted[both]), 4))
}

# seen: of the fits that explain more than .05 of held-out records, those called better. false: of fits to permuted
# labels. factor: of the fits called better, those whose share is within a factor of 1.5 of the held-out one.
summarise <- function(path) {
  x <- utils::read.csv(path)
  x$gain <- !x$permuted & x$held > 0.05
  x$near <- abs(log(pmax(x$share, 1e-9) / pmax(x$held, 1e-9))) <= log(1.5)
  show <- function(title, by) {
    cat("\n", title, "\n", sep = "")
    parts <- split(x, x[by], drop = TRUE)
    table <- do.call(rbind, lapply(parts, function(p) {
      seen <- p[p$gain, ]
      data.frame(p[1, by, drop = FALSE], gains = nrow(seen), seen = round(mean(seen$better), 3),
                 factor = round(mean(seen$near[seen$better]), 3), permuted = sum(p$permuted),
                 false = round(mean(p$better[p$permuted]), 3))
    }))
    print(table, row.names = FALSE)
  }
  show("By loss, method and eps", c("loss", "method", "eps"))
  show("By set, all eps of at least 0.3", "set")
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  seeds <- if (length(arguments) > 2L) as.integer(arguments[3]) else 3L
  run(arguments[1], arguments[2], seeds, c("auto", arguments[-(1:3)]))
}
