# What works with what: every model with every method on every form of data, options of a fit one at a time, and what
# is asked of other data after a fit.
#   Rscript dev/matrix.R LIBRARY [--write]
# A cell is one fit to 300 records, or one call after it. It must end in one of three ways:
#   w  works: with the coefficients, or the numbers, of the same call on data in memory
#   r  refused: an error of the package, with nothing charged
#   f  works, but a database that should compute the sums had its rows fetched, and a message said so
# Anything else fails: another error, warning or message, other coefficients, a charge before a refusal, rows that are
# fetched silently, a message about rows without any. The results must be those of inst/extdata/what-works.csv, which
# --write writes; vignettes/what-works.Rmd shows them. With --write, and where DPSOSP_LONG is 1, all rows of the table
# are made, otherwise every ninth. Ends with "N passed, N failed".

arguments <- commandArgs(TRUE)
.libPaths(c(normalizePath(arguments[1]), .libPaths()))
library(dpsosp)
table_file <- "inst/extdata/what-works.csv"

main <- function() {
  workers <- start_workers()
  on.exit(stop_workers(workers))
  watch_budgets()
  remember_plans()
  rows <- wanted(rbind(default_rows(), option_rows(), later_rows()))
  found <- made(rows)
  if ("--write" %in% arguments && length(failures) == 0L) {
    utils::write.csv(found, table_file, row.names = FALSE, quote = FALSE, na = "")
  }
  if (length(failures) == 0L) compare(found, wanted(utils::read.csv(table_file, colClasses = "character")))
  cat(passed, " passed, ", length(failures), " failed\n", sep = "")
  length(failures) == 0L
}

passed <- 0
failures <- character()
fail <- function(...) {
  failures <<- c(failures, paste0(...))
  cat("FAILED ", ..., "\n", sep = "")
}

# ---- the records ----

# All numbers are multiples of 1 / 256, so that they are the same in single precision.
make_records <- function(n = 300) {
  RNGkind("Mersenne-Twister") # a worker has another generator
  set.seed(1)
  number <- function() round(256 * stats::runif(n, -1, 1)) / 256
  data <- data.frame(a = number(), b = number(), f = factor(sample(c("u", "v", "w"), n, TRUE)), o = number())
  data$w <- abs(number())
  t <- 2 * data$a - data$b + (data$f == "v") + stats::rlogis(n, scale = 0.5)
  data$y <- factor(ifelse(t > 0, "yes", "no"))
  data$z <- round(256 * pmin(pmax(t, -3), 3)) / 256
  data$k <- as.numeric(findInterval(t, c(-1, 0, 1, 2)))
  data$m <- cut(t, c(-Inf, -0.5, 0.5, Inf), labels = c("low", "mid", "high"))
  data$a[c(20, 77)] <- NA
  data$person <- (7 * seq_len(n)^2) %% 120
  data
}

records <- make_records()
numbers <- as.matrix(records[c("a", "b")])
declared_levels <- lapply(Filter(is.factor, records), levels)
declared_types <- c(a = "numeric", b = "numeric", o = "numeric", w = "numeric", z = "numeric", k = "numeric")

# ---- forms of data ----

# like: the form in memory that has the same records. Without it the fit is compared with none.
forms <- list(
  frame = list(),
  codes = list(),
  dense = list(like = "frame", exact = FALSE),
  single = list(like = "dense", exact = TRUE),
  sparse = list(like = "dense", exact = FALSE),
  chunks = list(like = "codes", exact = TRUE),
  once = list(), # it has one release less than the same rows in memory, that of usable records
  push = list(like = "codes", exact = FALSE),
  shards = list(like = "codes", exact = FALSE)
)
matrices <- c("dense", "single", "sparse")

in_chunks <- function() {
  at <- 0
  function() {
    rows <- seq_len(nrow(records))
    rows <- rows[rows > at & rows <= at + 170]
    at <<- at + 170
    if (length(rows) > 0L) records[rows, ]
  }
}

# id: of the option persons, which a source must know; else NULL.
data_of <- function(form, id = NULL) {
  switch(form,
    frame = , codes = records,
    dense = , single = numbers,
    sparse = sparse_numbers,
    chunks = dp_source(in_chunks, id = id),
    once = dp_source(in_chunks, n = nrow(records), levels = declared_levels, types = declared_types, once = TRUE,
                     id = id),
    push = if (is.null(id) || is.null(pushed)) pushed else dp_source(pushed$push$connection, "records", push = TRUE,
                                                                     levels = declared_levels, id = id),
    shards = if (is.null(id)) shards else person_shards
  )
}

sparse_numbers <- if (requireNamespace("Matrix", quietly = TRUE)) {
  methods::as(methods::as(numbers, "CsparseMatrix"), "generalMatrix")
}

# A table whose database counts how often its rows are fetched.
fetched <- 0
make_pushed <- function() {
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(connection, "records", records)
  source <- dp_source(connection, "records", levels = declared_levels, push = TRUE)
  open <- source$open
  source$open <- function(columns) {
    fetched <<- fetched + 1
    open(columns)
  }
  source
}
pushed <- if (requireNamespace("RSQLite", quietly = TRUE)) make_pushed()

worker_names <- c("one", "two")
shards <- NULL
person_shards <- NULL
start_workers <- function() {
  if (!requireNamespace("mirai", quietly = TRUE)) return(character())
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), OMP_NUM_THREADS = "1")
  for (name in worker_names) mirai::daemons(1, .compute = name)
  make <- make_records
  environment(make) <- globalenv()
  part <- function(first, last) eval(bquote(function() .(make)()[.(first):.(last), ]), globalenv())
  shards <<- dp_shards(list(part(1, 120), part(121, 300)), compute = worker_names)
  of_persons <- function(odd) {
    eval(bquote(function() {
      data <- .(make)()
      data[data$person %% 2 == .(odd), ]
    }), globalenv())
  }
  person_shards <<- dp_shards(list(of_persons(0), of_persons(1)), compute = worker_names, id = "person")
  worker_names
}
stop_workers <- function(names) for (name in names) mirai::daemons(0, .compute = name)

absent <- function(form) is.null(data_of(form))

# ---- models, methods and options ----

models <- list(
  logistic = list(response = "y"),
  sigmoid = list(response = "y", loss = "sigmoid"),
  huber = list(response = "z", loss = quote(loss_huber(c(-3, 3)))),
  huber_svm = list(response = "y", loss = "huber_svm"),
  squared = list(response = "z", loss = quote(loss_squared(c(-3, 3)))),
  poisson = list(response = "k", loss = quote(loss_poisson(8))),
  multinomial = list(response = "m"),
  network = list(response = "y", model = quote(model_mlp(3)))
)
methods_known <- dpsosp:::method_names()
methods_of <- function(model) c("auto", methods_known, if (model == "network") "adam")

# For options: one method of each family.
some_methods <- list(
  logistic = c("newton-ridge", "newton", "2opt-ls", "gd", "objpert", "blgd", "sgd", "spider"),
  squared = "newton-ridge",
  poisson = "newton-ridge",
  network = "sgd"
)

# Fewer steps than by default, where these take long. "auto" takes no control.
few_steps <- function(model, method) {
  if (model == "network") return(NULL)
  switch(method, newton = bquote(control_newton(.(if (model == "multinomial") "moment" else "lazy"), iterations = 5)),
         blgd = quote(control_line_search(attempts = 5)),
         agd = quote(control_line_search("exponential", attempts = 5)),
         "newton-ridge" = quote(control_newton_ridge(iterations = 5)))
}

public_geometry <- function(form) {
  if (form %in% c("frame", matrices)) return(quote(geometry_public(c(0, 0), c(0.6, 0.6))))
  quote(geometry_public(c(0, 0, 0.3, 0.3), c(0.6, 0.6, 0.5, 0.5)))
}

# function(form, method): the arguments that the option adds.
options_known <- list(
  weights = function(form, method) list(weights = if (form %in% matrices) quote(records$w) else quote(w)),
  offset = function(form, method) {
    if (form %in% matrices) list(offset = quote(records$o), offset_range = c(-1, 1)) else list(offset = TRUE)
  },
  "no intercept" = function(form, method) {
    if (form %in% matrices) list(intercept = FALSE, radius = sqrt(2)) else list(origin = TRUE)
  },
  subset = function(form, method) list(subset = quote(a > -0.5)),
  smooth = function(form, method) list(smooth = TRUE),
  ranges = function(form, method) list(bounds = if (form %in% matrices) NULL else "private"),
  "geometry private" = function(form, method) list(geometry = "private"),
  "geometry public" = function(form, method) list(geometry = public_geometry(form)),
  "geometry none" = function(form, method) list(geometry = "none"),
  inference = function(form, method) list(inference = "sandwich"),
  penalty = function(form, method) list(penalty = quote(penalty_ridge(0.1))),
  budget = function(form, method) list(budget = quote(shared), eps = NULL, delta = NULL),
  "zero-out" = function(form, method) list(neighbours = "zero-out"),
  "population" = function(form, method) list(certificate = "population"),
  persons = function(form, method) list(id = if (form %in% matrices) quote(records$person) else quote(person)),
  missing = function(form, method) c(list(missing = "indicate"), if (form %in% matrices) list(radius = sqrt(5)))
)

# What is asked of each form of data after a fit by "newton-ridge" to data in memory, and the numbers that result.
later_models <- c("logistic", "squared", "huber", "poisson", "multinomial")
later_numbers <- list(
  dp_certify = function(result) c(result$gradient, result$eigenvalue),
  dp_inference = function(result) c(result$coefficients, result$inference$vcov),
  dp_evaluate = function(result) result$estimates$estimate
)

shared_budget <- function(method) {
  batch <- method %in% c(dpsosp:::methods_with("batch"), "adam")
  if (!batch) return(dp_budget(eps = 20, delta = 1e-6))
  dp_budget(eps = 20, delta = 1e-6, plan = event_repeat(event_subsample(event_gaussian(1), 0.1), 20))
}

call_of <- function(form, model, method, option) {
  if (option %in% names(later_numbers)) return(later_call(form, model, option))
  control <- few_steps(model, method)
  model <- models[[model]]
  given <- c(list(method = method, eps = 20, delta = 1e-6, noise = "reproducible"), model[names(model) != "response"],
             if (!is.null(control)) list(control = control),
             if (form %in% matrices) matrix_part(form, model) else formula_part(form, model))
  if (form == "single") given$storage <- "single"
  added <- if (option != "") options_known[[option]](form, method)
  if (isTRUE(added$offset)) {
    given$formula[[3]] <- call("+", given$formula[[3]], quote(offset(o)))
    added <- list(bounds = c(given$bounds, list(o = c(-1, 1))))
  }
  if (isTRUE(added$origin)) {
    given$formula[[3]] <- call("+", 0, given$formula[[3]])
    added <- NULL
  }
  given[names(added)] <- added
  as.call(c(quote(dp_sosp), given))
}

later_call <- function(form, model, verb) {
  of_matrix <- form %in% matrices
  fit <- later_fit(if (of_matrix) "dense" else if (form == "frame") form else "codes", model)
  y <- if (of_matrix) bquote(records[[.(models[[model]]$response)]])
  as.call(c(as.name(verb), list(fit, quote(data), y = y, eps = 20, delta = 1e-6, noise = "reproducible")))
}

later_fits <- list()
later_fit <- function(form, model) {
  key <- paste(form, model)
  if (is.null(later_fits[[key]])) {
    later_fits[[key]] <<- observe(call_of(form, model, "newton-ridge", ""), form, "newton-ridge", "")$fit
  }
  later_fits[[key]]
}

matrix_part <- function(form, model) {
  c(list(x = quote(data), y = bquote(records[[.(model$response)]]), bounds = c(-1, 1)),
    if (is.null(model$model)) list(radius = sqrt(3)))
}

formula_part <- function(form, model) {
  columns <- if (form == "frame") quote(a + b) else quote(a + b + f)
  list(formula = call("~", as.name(model$response), columns), data = quote(data),
       bounds = list(a = I(c(-1, 1)), b = I(c(-1, 1))))
}

# ---- a cell ----

# The budget that each fit draws on, as the stage that opens it sees it.
claimed <- NULL
watch_budgets <- function() {
  original <- dpsosp:::claim_part
  utils::assignInNamespace("claim_part", function(claim) {
    claimed <<- claim$budget
    original(claim)
  }, "dpsosp")
}

# The plans of steps on batches depend on public numbers only and take most of the time.
remember_plans <- function() {
  original <- dpsosp:::batch_plan
  known <- list()
  utils::assignInNamespace("batch_plan", function(batch, rho, eps, delta, neighbours) {
    key <- paste(deparse(list(batch, rho, eps, delta, neighbours), control = "digits17"), collapse = "")
    if (is.null(known[[key]])) known[[key]] <<- original(batch, rho, eps, delta, neighbours)
    known[[key]]
  }, "dpsosp")
}
charges <- function() if (is.null(claimed)) 0 else nrow(dp_ledger(claimed))

# The fit, or the error, of a call; what it said; how many passes fetched rows; how many charges there are.
observe <- function(call, form, method, option) {
  force(call) # may make a fit
  claimed <<- NULL
  fetched <<- 0
  said <- list()
  hear <- function(restart) {
    function(condition) {
      said <<- c(said, list(class(condition)))
      invokeRestart(restart)
    }
  }
  where <- new.env(parent = globalenv())
  delayedAssign("data", data_of(form, if (option == "persons") "person"), assign.env = where)
  delayedAssign("shared", shared_budget(method), assign.env = where)
  set.seed(1)
  fit <- tryCatch(
    withCallingHandlers(eval(call, where), message = hear("muffleMessage"), warning = hear("muffleWarning")),
    error = identity
  )
  list(fit = fit, said = said, fetched = fetched, charges = charges())
}

# A database has the sensitivities of points far away, which are larger than those in memory for rows that are only
# clipped (proofs: sensitivity-gradient): is the first noise that differs larger? A certificate's bound tells it, as its
# releases are of one leaf, which the ledger has in units.
has_more_noise <- function(fit, like) {
  if (inherits(fit, "dp_certificate")) return(diff(fit$gradient) > diff(like$gradient))
  scales <- lapply(list(fit, like), function(fit) dp_ledger(fit)$scale)
  common <- seq_len(min(lengths(scales)))
  other <- which(abs(scales[[1]][common] / scales[[2]][common] - 1) > 1e-4)
  length(other) > 0L && scales[[1]][other[1]] > scales[[2]][other[1]]
}

# "w", "r" or "f"; or what is wrong, which begins with "!".
judge <- function(seen, form, like, option) {
  foreign <- Filter(function(class) !any(c("dpsosp_message", "dpsosp_warning") %in% class), seen$said)
  if (length(foreign) > 0L) return(paste("! a condition of class", foreign[[1]][1]))
  if (inherits(seen$fit, "error")) return(judge_error(seen))
  announced <- sum(vapply(seen$said, function(class) "dpsosp_message_rows" %in% class, NA))
  if (form == "push" && announced != (seen$fetched > 0)) {
    return(paste("! rows were fetched in", seen$fetched, "passes, with", announced, "messages"))
  }
  apart <- if (form == "push" && has_more_noise(seen$fit, like)) 0 else difference(seen$fit, like, option)
  if (apart > if (isTRUE(forms[[form]]$exact)) 0 else 1e-4) return(paste("! coefficients differ by", signif(apart, 2)))
  if (form == "push" && seen$fetched > 0) "f" else "w"
}

judge_error <- function(seen) {
  if (!inherits(seen$fit, "dpsosp_error")) return(paste("! a foreign error:", conditionMessage(seen$fit)))
  if (seen$charges > 0) return(paste("! charged, then refused:", conditionMessage(seen$fit)))
  "r"
}

difference <- function(fit, like, option) {
  if (is.null(like) || inherits(like, "error")) return(0)
  numbers <- lapply(list(fit, like), numbers_of, option)
  known <- lapply(numbers, is.finite)
  if (!identical(known[[1]], known[[2]])) return(Inf)
  numbers <- lapply(numbers, `[`, known[[1]])
  max(abs(numbers[[1]] - numbers[[2]])) / max(1, abs(numbers[[2]]))
}

numbers_of <- function(result, option) as.numeric(unlist((later_numbers[[option]] %||% coef)(result)))

# The results of one call on every form of data; absent forms are "-".
row_of <- function(model, method, option = "") {
  fits <- list()
  result <- character()
  for (form in names(forms)) {
    result[form] <- "-"
    if (absent(form)) next
    seen <- observe(call_of(form, model, method, option), form, method, option)
    result[form] <- judge(seen, form, fit_like(seen$fit, fits, like_of(form, method, option), model, option), option)
    fits[[form]] <- seen$fit
    note(result[[form]], paste(c(model, method, if (option != "") option, form), collapse = ", "))
  }
  data.frame(model = model, method = method, option = option, as.list(result))
}

# The fit to compare with. "auto" may take another method where a form of data lacks something, which then decides.
fit_like <- function(fit, fits, like, model, option) {
  other <- fits[[like]]
  if (is.null(other) || inherits(fit, "error") || identical(fit$method, other$method)) return(other)
  same <- call_of(like, model, fit$method, option)
  same$control <- NULL # as for "auto"
  observe(same, like, fit$method, option)$fit
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# The form that a fit is compared with, "" for none. Ranges are found of a data frame's columns, while those of a matrix
# are used as they are. In memory a method that uses each record once puts the records in a random order.
like_of <- function(form, method, option) {
  if (form == "dense" && option == "ranges") return("")
  once <- method %in% dpsosp:::methods_with("fresh") || option == "dp_certify"
  if (once && !form %in% c(matrices, "shards")) {
    return(if (form == "push") "chunks" else "")
  }
  forms[[form]]$like %||% ""
}

note <- function(result, name) {
  if (startsWith(result, "!")) fail(name, ": ", substring(result, 3)) else passed <<- passed + 1
}

# ---- the table ----

default_rows <- function() {
  do.call(rbind, lapply(names(models), function(model) data.frame(model, method = methods_of(model), option = "")))
}

option_rows <- function() {
  do.call(rbind, lapply(names(some_methods), function(model) {
    rows <- expand.grid(method = some_methods[[model]], option = names(options_known), stringsAsFactors = FALSE)
    data.frame(model, rows)
  }))
}

later_rows <- function() {
  rows <- expand.grid(option = names(later_numbers), model = later_models, stringsAsFactors = FALSE)
  data.frame(model = rows$model, method = "newton-ridge", option = rows$option)
}

every_row <- "--write" %in% arguments || Sys.getenv("DPSOSP_LONG") == "1"
wanted <- function(rows) if (every_row) rows else rows[seq_len(nrow(rows)) %% 9 == 0, ]
made <- function(rows) do.call(rbind, Map(row_of, rows$model, rows$method, rows$option, USE.NAMES = FALSE))

# Forms that are absent on this machine are left out.
compare <- function(found, committed) {
  here <- Filter(function(form) !absent(form), names(forms))
  for (form in setdiff(names(forms), here)) cat("skipped: ", form, ", whose package is not installed\n", sep = "")
  columns <- c("model", "method", "option", here)
  lines <- lapply(list(found, committed), function(table) do.call(paste, table[columns]))
  if (identical(lines[[1]], lines[[2]])) {
    passed <<- passed + 1
  } else {
    fail("the committed table differs (", table_file, "; --write writes it):\n",
         paste(c(setdiff(lines[[1]], lines[[2]]), "instead of", setdiff(lines[[2]], lines[[1]])), collapse = "\n"))
  }
}

good <- main()
quit("no", status = if (good) 0 else 1)
