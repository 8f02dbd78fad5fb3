# Thirty ways to get a call wrong, on three data frames: what does the user see? How often is a warning without need?
# nothing is wrong?
#   Rscript nonsense.R RESULTS.csv FOLDER                the wrong calls; FOLDER as in raw.R
#   Rscript nonsense.R --alarms RESULTS.csv FOLDER       fits without a mistake; those that are not in the file yet
#   Rscript nonsense.R --summary NONSENSE.csv ALARMS.csv
# A call is seen as
#   error     before anything is charged
#   warning   also of a condition that names the mistake, and the status is not "sosp" where nothing can be learned
#   message   that names what was assumed
#   note      in the lines of print() that come before the coefficients
#   status    of a fit that says itself that it says nothing
#   right     the fit is what the user wanted
#   silent    none of these: this must not happen
# Results on these data are exact and NOT PRIVATE.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "frames.R", "synthetic.R")) source(file.path(dirname(this_file), file))

# The response, a numeric column with public bounds and a factor of each data frame. Only complete records.
studies <- list(
  bank = list(y = "y", x = "age", bounds = c(17, 95), f = "housing", others = c("balance", "marital")),
  adult = list(y = "income", x = "age", bounds = c(17, 90), f = "sex", others = c("hours_per_week", "relationship")),
  mlc_churn = list(y = "churn", x = "total_day_minutes", bounds = c(0, 400), f = "international_plan",
                   others = c("total_eve_minutes", "voice_mail_plan"))
)

# d: columns y, x, f and two others. Each returns a fit, or an error. `bounds` are those of x.
mistakes <- list(
  "response: levels misspelt" = function(d, b) fit(y ~ ., replaced(d, "y", factor(d$y, paste0(levels(d$y), "_")))),
  "response: coded 1 and 2" = function(d, b) fit(y ~ ., replaced(d, "y", as.integer(d$y))),
  "response: coded 0 and 1" = function(d, b) fit(y ~ ., replaced(d, "y", as.integer(d$y) - 1L)),
  "response: coded 1 and 2, logistic" = function(d, b) {
    fit(y ~ ., replaced(d, "y", as.integer(d$y) + 1L), loss = "logistic")
  },
  "response: text" = function(d, b) fit(y ~ ., replaced(d, "y", as.character(d$y))),
  "response: a quantity" = function(d, b) fit(x ~ f, d),
  "response: a quantity with two levels" = function(d, b) fit(x ~ f, d, method = "2opt-ls"),
  "response: one class only" = function(d, b) fit(y ~ ., replaced(d, "y", factor(levels(d$y)[1], levels(d$y)))),
  "response: all missing" = function(d, b) fit(y ~ ., replaced(d, "y", factor(NA, levels(d$y)))),
  "factor: levels misspelt" = function(d, b) fit(y ~ ., replaced(d, "f", factor(d$f, paste0(levels(d$f), "_")))),
  "factor: levels misspelt in the formula" = function(d, b) fit(y ~ x + factor(f, levels = c("U", "V")), d),
  "factor: codes for levels" = function(d, b) fit(y ~ ., replaced(d, "f", factor(as.character(d$f), 1:2))),
  "factor: text" = function(d, b) fit(y ~ ., replaced(d, "f", as.character(d$f))),
  "column: all missing" = function(d, b) fit(y ~ ., replaced(d, "x", NA_real_)),
  "column: infinite" = function(d, b) fit(y ~ ., replaced(d, "x", Inf)),
  "column: text of numbers" = function(d, b) fit(y ~ ., replaced(d, "x", as.character(d$x))),
  "column: does not exist" = function(d, b) fit(y ~ x + agee, d),
  "bounds: of another unit" = function(d, b) fit(y ~ ., d, bounds = list(x = b * 1e4)),
  "bounds: below all values" = function(d, b) fit(y ~ ., d, bounds = list(x = c(-1e4, -1e3))),
  "bounds: in the wrong order" = function(d, b) fit(y ~ ., d, bounds = list(x = rev(b))),
  "bounds: of a misspelt column" = function(d, b) fit(y ~ ., d, bounds = list(X = b)),
  "subset: undeclared level" = function(d, b) fit(y ~ x, d, subset = f == "nobody"),
  "subset: true for nobody" = function(d, b) fit(y ~ ., d, subset = x > 1e9),
  "weights: from 0 to 10" = function(d, b) {
    fit(y ~ x + f, replaced(d, "w", seq(1.5, 10, length.out = nrow(d))), weights = w)
  },
  "matrix: a column of ones" = function(d, b) fit_matrix(stats::model.matrix(~ x + f, d), d$y),
  "matrix: a column of ones, bounds" = function(d, b) {
    x <- stats::model.matrix(~ x + f, d)
    fit_matrix(unname(x), d$y, bounds = rbind(c(1, b[1], 0), c(1, b[2], 1)))
  },
  "matrix: all missing" = function(d, b) fit_matrix(cbind(d$x, NA_real_), d$y),
  "matrix: radius far too small" = function(d, b) fit_matrix(stats::model.matrix(~ x + f, d)[, -1], d$y, radius = 1e-3),
  "eps: missing" = function(d, b) dp_sosp(y ~ ., d, progress = FALSE),
  "eps: tiny" = function(d, b) fit(y ~ ., d, eps = 1e-4),
  "delta: above 1/n" = function(d, b) fit(y ~ ., d, delta = 0.01),
  "data: ten records" = function(d, b) fit(y ~ x, d[1:10, ])
)

fit <- function(formula, data, ..., eps = 1) {
  call <- substitute(dp_sosp(formula, data, eps = eps, progress = FALSE, ...))
  eval(call, list(formula = formula, data = data, eps = eps), parent.frame())
}

fit_matrix <- function(x, y, ..., radius = 100) dp_sosp(x, y, eps = 1, radius = radius, progress = FALSE, ...)

replaced <- function(d, name, value) {
  d[[name]] <- value
  d
}

read_study <- function(name, folder) {
  study <- studies[[name]]
  d <- read_set(name, folder)
  if (is.null(d)) return(NULL)
  d <- d[c(study$y, study$x, study$f, study$others)]
  names(d)[1:3] <- c("y", "x", "f")
  d$f <- factor(d$f)
  d[stats::complete.cases(d), ]
}

# The messages that every fit has say nothing about a mistake.
usual <- c("dpsosp_message_delta", "dpsosp_message_ranges", "dpsosp_message_geometry")

# What the user sees: conditions, status, and the log-loss of the fit beside that of the constant prediction.
see <- function(mistake, d, bounds) {
  seen <- list()
  note <- function(kind) {
    function(condition) {
      if (!inherits(condition, usual)) seen[[length(seen) + 1L]] <<- paste0(kind, ": ", conditionMessage(condition))
      invokeRestart(if (kind == "warning") "muffleWarning" else "muffleMessage")
    }
  }
  fit <- tryCatch(
    withCallingHandlers(mistake(d, bounds), warning = note("warning"), message = note("message")),
    error = function(e) {
      seen[[length(seen) + 1L]] <<- paste0("error: ", conditionMessage(e))
      NULL
    }
  )
  list(kinds = sub(":.*", "", unlist(seen)), text = gsub("\\s+", " ", paste(unlist(seen), collapse = " | ")),
       status = if (is.null(fit)) "" else fit$status, fit = fit)
}

outcome <- function(seen, right) {
  kind <- c("error", "warning", "message")[c("error", "warning", "message") %in% seen$kinds][1]
  if (!is.na(kind)) return(kind)
  if (!is.null(seen$fit) && any(grepl("one class only", utils::capture.output(print(seen$fit))))) return("note")
  if (right) "right" else if (seen$status %in% c("noise", "null", "start")) "status" else "silent"
}

# Calls that are right as they are: 0/1 codes are not among them, as the loss must be named.
right <- c("column: text of numbers", "matrix: radius far too small")

run_mistakes <- function(path, folder) {
  out <- results_file(path, c("data", "mistake"))
  for (name in names(studies)) {
    d <- read_study(name, folder)
    if (is.null(d)) next
    for (mistake in names(mistakes)) {
      row <- list(data = name, mistake = mistake)
      if (out$has(row)) next
      seen <- see(mistakes[[mistake]], d, studies[[name]]$bounds)
      out$add(c(row, list(seen = outcome(seen, mistake %in% right), status = seen$status,
                          text = substr(seen$text, 1, 160))))
    }
  }
}

# ---- alarms where nothing is wrong ----

# alarms: warnings of null records or of values at an end; partly: that some records are missing, which is false where
# `complete`, the fraction of records without a missing value, is at least 0.9.
alarm_of <- function(formula, data, ...) {
  alarms <- partly <- 0L
  fit <- withCallingHandlers(suppressMessages(dp_sosp(formula, data, progress = FALSE, ...)), warning = function(w) {
    if (inherits(w, "dpsosp_warning_checks")) {
      if (grepl("^Only about", conditionMessage(w))) partly <<- partly + 1L else alarms <<- alarms + 1L
    }
    invokeRestart("muffleWarning")
  })
  usable <- fit$checks$usable
  used <- stats::model.frame(formula, data, na.action = stats::na.pass)
  list(alarms = alarms, partly = partly, complete = round(mean(stats::complete.cases(used)), 3), status = fit$status,
       usable = signif(usable$fraction, 4), sd = signif(usable$sd, 4))
}

# One row for each fit. Synthetic: n, number of columns, eps, method; the frames of the newcomer's table: eps.
run_alarms <- function(path, folder) {
  out <- results_file(path, c("data", "n", "columns", "eps", "method", "seed"))
  grid <- expand.grid(n = c(500, 2000, 10000), columns = c(3, 12, 30), eps = c(0.1, 0.3, 1, 3),
                      method = c("auto", "newton", "2opt-ls"), seed = 1:10, stringsAsFactors = FALSE)
  for (i in seq_len(nrow(grid))) {
    row <- c(list(data = "synthetic"), grid[i, ])
    if (out$has(row)) next
    set.seed(grid$seed[i] + 100 * i)
    d <- as.data.frame(matrix(stats::rnorm(grid$n[i] * grid$columns[i]), grid$n[i]))
    d$y <- factor(ifelse(d$V1 - 0.5 * d$V2 + stats::rlogis(grid$n[i]) > 1, "yes", "no"), c("no", "yes"))
    bounds <- stats::setNames(rep(list(c(-4, 4)), grid$columns[i]), paste0("V", seq_len(grid$columns[i])))
    out$add(c(row, alarm_of(y ~ ., d, eps = grid$eps[i], method = grid$method[i], bounds = bounds)))
  }
  for (name in names(sets)) {
    data <- read_set(name, folder)
    if (is.null(data)) next
    for (eps in c(0.1, 0.3, 1, 3)) {
      for (seed in 1:5) {
        row <- list(data = name, n = nrow(data), columns = ncol(data) - 1L, eps = eps, method = "auto", seed = seed)
        if (!out$has(row)) out$add(c(row, alarm_of(sets[[name]]$formula, data, eps = eps)))
      }
    }
  }
}

summarise <- function(nonsense, alarms) {
  x <- utils::read.csv(nonsense)
  print(table(x$mistake, x$seen))
  cat("\nsilently wrong:", sum(x$seen == "silent"), "of", nrow(x), "\n")
  a <- utils::read.csv(alarms)
  a$partly <- a$partly > 0 & a$complete >= 0.9
  cat("\nfalse alarms:", sum(a$alarms > 0 | a$partly), "in", nrow(a), "fits; called null:", sum(a$status == "null"),
      "\n")
  print(stats::aggregate(cbind(fits = 1, alarms = alarms > 0) ~ data, a, sum))
}

switch(arguments[1],
  "--alarms" = run_alarms(arguments[2], arguments[3]),
  "--summary" = summarise(arguments[2], arguments[3]),
  run_mistakes(arguments[1], arguments[2])
)
