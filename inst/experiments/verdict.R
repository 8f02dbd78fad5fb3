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

# Those of frames.R have two classes.
more_sets <- list(
  HMDA = list(package = "AER", formula = deny ~ ., loss = "logistic"),
  credit_data = list(package = "modeldata", formula = Status ~ ., loss = "logistic"),
  spam = list(package = "kernlab", formula = type ~ ., loss = "logistic"),
  flchain = list(package = "survival", formula = factor(death) ~ age + sex + kappa + lambda + flc.grp + mgus,
                 loss = "logistic"),
  OJ = list(package = "ISLR", formula = Purchase ~ PriceCH + PriceMM + DiscCH + DiscMM + LoyalCH + STORE,
            loss = "logistic"),
  Affairs = list(package = "AER", formula = (affairs > 0) ~ gender + age + yearsmarried + children + religiousness +
    education + rating, loss = "logistic"),
  Satellite = list(package = "mlbench", formula = classes ~ ., loss = "multinomial"),
  hpc_class = list(package = "modeldata", data = "hpc_data", formula = class ~ compounds + input_fields + iterations +
    num_pending + hour + day, loss = "multinomial"),
  CPSSW8 = list(package = "AER", formula = earnings ~ gender + age + region + education),
  flight_delay = list(package = "nycflights13", data = "flights", formula = arr_delay ~ dep_delay + distance + origin +
    month + hour),
  InstEval = list(package = "lme4", formula = as.numeric(y) ~ studage + lectage + service + dept),
  DoctorVisits = list(package = "AER", formula = visits ~ gender + age + income + illness + reduced + health +
    private, loss = "poisson"),
  NMES1988 = list(package = "AER", formula = visits ~ health + chronic + age + gender + married + school + income +
    insurance + hospital, loss = "poisson"),
  crime1 = list(package = "wooldridge", formula = narr86 ~ pcnv + avgsen + tottime + ptime86 + qemp86 + inc86 + black +
    hispan, loss = "poisson"),
  bioChemists = list(package = "pscl", formula = art ~ fem + mar + kid5 + phd + ment, loss = "poisson"),
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
  set <- more_sets[[name]]
  if (is.null(set)) return(split_classes(name, folder))
  data <- package_data(if (is.null(set$data)) name else set$data, set$package)
  if (is.null(data)) return(NULL)
  loss <- if (is.null(set$loss)) "squared" else set$loss
  data <- as.data.frame(data)
  if (name == "flchain") data$mgus <- factor(data$mgus)
  if (name == "flight_delay") data$origin <- factor(data$origin, c("EWR", "JFK", "LGA"))
  formula <- set$formula
  formula[[2]] <- quote(response)
  split_rows(with_response(data, set$formula), formula, loss, shares[[loss]])
}

# As a column, because labels are permuted.
with_response <- function(data, formula) {
  data$response <- eval(formula[[2]], data)
  data <- data[!is.na(data$response), ]
  if (is.logical(data$response)) data$response <- factor(data$response)
  data[setdiff(names(data), setdiff(all.vars(formula[[2]]), all.vars(formula[[3]])))] # not as a predictor
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

share_of_levels <- function(y, p) {
  q <- table(y) / length(y)
  1 - mean(log(pmax(p[cbind(seq_along(y), as.integer(y))], 1e-12))) / sum(q * log(q))
}
shares <- list(logistic = share_of_classes, squared = share_of_variance, poisson = share_of_counts,
               multinomial = share_of_levels)

run <- function(path, folder, seeds, methods) {
  out <- results_file(path, c("set", "eps", "method", "seed", "permuted"))
  grid <- expand.grid(permuted = c(FALSE, TRUE), eps = c(1, 0.3, 3, 0.1), seed = seq_len(seeds), method = methods,
                      stringsAsFactors = FALSE)
  for (name in c(names(sets), names(more_sets))) {
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
  both <- stats::complete.cases(predicted) & !is.na(seen)
  explained <- fit$checks$explained
  if (is.null(explained)) explained <- list(fraction = NA, sd = NA, better = NA)
  list(n = nrow(train), columns = length(coef(fit)) - 1, loss = set$loss, took = fit$method, status = fit$status,
       share = signif(explained$fraction, 4), sd = signif(explained$sd, 3), better = explained$better,
       held = signif(set$share(seen[both], if (is.matrix(predicted)) predicted[both, ] else predicted[both]), 4))
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
