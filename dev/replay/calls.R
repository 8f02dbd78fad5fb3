# The calls that are audited, and with which neighbours. Of dev/matrix.R's cells cells.R takes some more.
#
# Mistakes of dev/mutants/list that neighbours show only in a call made for them:
#   the smallest step's sensitivity in a sparse vector   steps far apart, and a record that moves the largest: oracle
#   the number of a batch's rows as a divisor            a record of the smallest Poisson batch: blsgd, zero-out-sgd
#   noise for one leaf of several                        an epoch with all its leaves, a record of its first one: spider
#   the whole cost for gradient and Hessian of an epoch  a Hessian that is not zero, far from the start: spider-sigmoid
# and one that they cannot show: rounding errors of 1e-13 (barrier_units). The third and the fourth leave sums within
# what is paid and are found because floors.csv says how far they moved before.

d <- make_audited()
ab <- list(a = I(c(-1, 1)), b = I(c(-1, 1)))

# A call of dp_sosp() as a function of the data; arguments are not evaluated before.
fit <- function(formula, ...) {
  given <- c(list(formula = formula, data = quote(data)), eval(substitute(alist(...))))
  defaults <- list(eps = 2, delta = 1e-6, bounds = quote(ab), progress = FALSE)
  call <- as.call(c(quote(dp_sosp), given, defaults[setdiff(names(defaults), names(given))]))
  function(data) eval(call, list(data = data), globalenv())
}

calls <- list()
# data, sets: as of audit(). In the short form calls with quick = FALSE are left out.
add <- function(name, call, sets, data = d, null = NULL, quick = TRUE) {
  if (quick || long) calls[[name]] <<- list(call = call, data = data, sets = sets, null = null)
}

ends <- list(y = c("no", "yes"), z = c(-3, 3), k = c(0, 8), m = c("low", "high"))
# Neighbours in one record with this response: corners or only a few of them, and in full also every odd value of these
# columns, in the first record and in the last.
with_records <- function(response, more = list(), data = d, columns = c("a", "b", "f", response), few = FALSE,
                         rows = NULL) {
  records <- corners(response, ends[[response]], more, all = long && !few)
  if (few) records <- records[c(1, 8, 13, 20, seq(21, length(records)))]
  function(log) {
    c(lapply(if (is.null(rows)) rows_of_tape(log) else rows, function(row) replaced(data, row, records)),
      if (long && !few) lapply(c(1, nrow(data)), function(row) replaced(data, row, odd_values(data, columns))))
  }
}
on <- function(name, call, response, ..., quick = TRUE, null = NULL) {
  add(name, call, with_records(response, ...), null = null, quick = quick)
}

# ---- losses and methods, in memory ----

on("newton-ridge", fit(y ~ a + b + f, method = "newton-ridge"), "y")
on("squared", fit(z ~ a + b + f, loss = loss_squared(c(-3, 3)), inference = "sandwich", eps = 20), "z",
   list(far = list(z = 1e300), missing = list(z = NA)))
on("multinomial", fit(m ~ a + b + f, method = "newton-ridge"), "m")
on("poisson", fit(k ~ a + b + f, method = "newton-ridge", loss = loss_poisson(8)), "k")
on("huber", fit(z ~ a + b + f, method = "newton-ridge", loss = loss_huber(c(-3, 3))), "z", quick = FALSE)
on("tr-sigmoid", fit(y ~ a + b + f, method = "tr", loss = "sigmoid"), "y")
on("tr", fit(y ~ a + b + f, method = "tr"), "y")
on("2opt-ls", fit(y ~ a + b + f, method = "2opt-ls", loss = "sigmoid"), "y")
on("2opt", fit(y ~ a + b + f, method = "2opt", loss = "sigmoid"), "y", quick = FALSE)
on("warm-ridge", fit(y ~ a + b + f, method = "warm-ridge", loss = "sigmoid"), "y", quick = FALSE)
on("newton", fit(y ~ a + b + f, method = "newton", control = control_newton("lazy", iterations = 5)), "y")
on("classes-inference", fit(m ~ a + b + f, inference = "sandwich", eps = 20), "m")
# Two classes that are equally likely everywhere, and a third without records: the largest second derivatives.
equal <- transform(d, m = factor(rep_len(c("low", "high"), nrow(d)), levels(d$m)))
add("classes-inference-equal", fit(m ~ a + b + f, inference = "sandwich", eps = 20), with_records("m", data = equal),
    data = equal, quick = FALSE)
on("newton-multinomial", fit(m ~ a + b + f, method = "newton", control = control_newton("moment", iterations = 5)), "m")
on("gd", fit(y ~ a + b + f, method = "gd"), "y", quick = FALSE)
on("blgd", fit(y ~ a + b + f, method = "blgd", control = control_line_search(attempts = 5)), "y", quick = FALSE)
on("agd", fit(y ~ a + b + f, method = "agd", control = control_line_search("exponential", attempts = 5)), "y")
on("sgd", fit(y ~ a + b + f, method = "sgd"), "y", quick = FALSE)
on("blsgd", fit(y ~ a + b + f, method = "blsgd"), "y")
on("spider-few", fit(y ~ a + b + f, method = "spider", loss = "sigmoid", eps = 20), "y", quick = FALSE)
on("objpert", fit(y ~ a + b + f, method = "objpert"), "y")
on("outpert", fit(y ~ a + b + f, method = "outpert", penalty = penalty_ridge(0.1)), "y")
# Beside records whose offsets put them where the loss is flat, which neither move nor bend anything, one that is where
# it is steep
flat <- d
flat$o <- 20
flat$y[] <- "yes"
corner <- list(a = 1, b = 1, f = "w")
steep <- list(up = c(corner, o = 20, y = "no"), down = c(corner, o = -20, y = "yes"))
on_flat <- function(name, call) add(name, call, list(replaced(flat, audited, steep)), data = flat)
on_flat("objpert-flat", fit(y ~ a + b + f + offset(o), method = "objpert", bounds = c(ab, list(o = c(-20, 20)))))
on_flat("outpert-flat", fit(y ~ a + b + f + offset(o), method = "outpert", bounds = c(ab, list(o = c(-20, 20)))))
on("network", fit(y ~ a + b, model = model_mlp(3)), "y", few = TRUE)

# ---- options ----

weights <- list("no weight" = list(w = 0), heavy = list(w = 9, a = 1, b = 1, f = "u"),
                full = list(w = 1, a = -1, b = -1), "missing weight" = list(w = NA), negative = list(w = -3))
on("weights", fit(y ~ a + b + f, weights = w, method = "newton-ridge"), "y", weights)
on("weights-squared", fit(z ~ a + b + f, weights = w, loss = loss_squared(c(-3, 3))), "z",
   c(weights, list(high = list(w = 1, a = 1, z = 3), low = list(w = 1, a = -1, z = -3))))
on("offset", fit(y ~ a + b + f + offset(o), method = "newton-ridge", bounds = c(ab, list(o = c(-1, 1)))), "y",
   list(up = list(o = 50, y = "no"), down = list(o = -50, y = "yes"), "missing offset" = list(o = NA)))
on("ranges", fit(y ~ a + b + f, method = "newton-ridge", bounds = "private", eps = 10), "y")
on("limits", fit(y ~ a + b + f, method = "newton-ridge", bounds = list(a = c(-50, 50), b = c(-9, 90)), eps = 10), "y")
on("ranges-far", function(data) {
  data$a <- 1000 + data$a # narrow and far from zero: its range is looked for a second time
  dp_sosp(z ~ a + b, data, eps = 20, delta = 1e-6, bounds = "private", progress = FALSE, loss = loss_squared(c(-3, 3)))
}, "z")
gaps <- list(gap = list(a = NA), "gap of a level" = list(f = NA_integer_), gaps = list(a = NA, b = NA, f = NA_integer_),
             "gap and infinite" = list(a = NA, b = Inf), "gap and response" = list(a = NA, y = NA_integer_))
on("gaps", fit(y ~ a + b + f, method = "newton-ridge", bounds = "private", eps = 10, missing = "indicate"), "y", gaps)
on("gaps-inference", fit(y ~ log(a + 2) * f + b, missing = "fill", inference = "sandwich", eps = 20), "y", gaps,
   quick = FALSE)
on("inference", fit(y ~ a + b + f, inference = "sandwich", eps = 20), "y")
on("subset", fit(y ~ a + b + f, method = "newton-ridge", subset = a > -0.5), "y")
on("population", fit(y ~ a + b + f, method = "newton-ridge", certificate = "population", eps = 20), "y", quick = FALSE)
on("expressions", fit(y ~ log(abs(a) + 1) + I(a * b) + poly(b, 2, raw = TRUE), method = "newton-ridge",
                      bounds = "private", eps = 20), "y", quick = FALSE)
on("smooth", fit(y ~ s(a) + b + f, method = "newton-ridge", eps = 20), "y", quick = FALSE)
on("smooth-product", fit(y ~ s(a) + s(b) + ti(a, b), method = "newton-ridge", eps = 50), "y", quick = FALSE)
on("auto", fit(y ~ a + b + f), "y", quick = FALSE)
on("levels", fit(m ~ a, method = "newton-ridge"), "m", quick = FALSE)

# Without weights of its own a null record differs from any other by one term: only these pairs.
on("zero-out", fit(y ~ a + b + f, method = "newton-ridge", neighbours = "zero-out"), "y", null = "null")
on("zero-out-sgd", fit(y ~ a + b + f, method = "sgd", neighbours = "zero-out"), "y", null = "null")

# ---- matrices ----

long_rows <- list(long = list(a = 1e6, b = -1e6, y = "no"), longer = list(a = -1e6, b = 1e200, y = "yes"))
of_matrix <- function(form = identity, ...) function(data) {
  dp_sosp(form(as.matrix(data[c("a", "b")])), data$y, eps = 2, delta = 1e-6, radius = sqrt(3), progress = FALSE, ...)
}
sparse <- function(x) methods::as(methods::as(x, "CsparseMatrix"), "generalMatrix")
invisible(requireNamespace("Matrix")) # defines sparse()
on("matrix", of_matrix(method = "tr", loss = "sigmoid"), "y", long_rows)
on("matrix-default", of_matrix(), "y", long_rows, quick = FALSE)
on("single", of_matrix(storage = "single"), "y", long_rows, few = TRUE)
on("sparse", of_matrix(sparse), "y", long_rows, few = TRUE)
on("sparse-gaps", of_matrix(sparse, missing = "indicate"), "y", c(long_rows, list(gap = list(a = NA, b = NaN))),
   few = TRUE, quick = FALSE)

# ---- leaves, blocks ----

many <- make_audited(3000)
of_leaves <- function(name, call, ...) {
  add(name, call, with_records("y", data = many, columns = "a", few = !long), data = many, ...)
}
of_leaves("spider", fit(y ~ a + b, method = "spider", eps = 20, control = control_spider(leaves = 4)))
of_leaves("spider-sigmoid", fit(y ~ a + b, method = "spider", loss = "sigmoid", eps = 50,
                                control = control_spider(leaves = 4)))
blocks <- make_audited(2049)
for (row in c(1, 1024, 1025, 2049)) local({
  row <- row
  add(paste0("block-", row), fit(y ~ a + b + f, method = "newton-ridge"), data = blocks, quick = FALSE,
      sets = list(replaced(blocks, row, corners("y", ends$y))))
})
exact <- blocks[1:1024, ]
add("block-exact", fit(z ~ a + b, loss = loss_squared(c(-3, 3)), inference = "sandwich", eps = 20), data = exact,
    sets = list(replaced(exact, 1024, corners("z", ends$z))), quick = FALSE)

# ---- persons ----

people <- of_person(d)
of_persons <- function(name, call, quick = FALSE) add(name, call, list(people), quick = quick)
of_persons("persons", fit(y ~ a + b + f, id = person, eps = 10, method = "newton-ridge"), quick = TRUE)
of_persons("persons-usable", fit(y ~ a + b, id = person, method = "gd", geometry = "none"), quick = TRUE)
of_persons("persons-squared", quick = TRUE,
           fit(z ~ a + b, id = person, loss = loss_squared(c(-3, 3)), inference = "sandwich", eps = 50))
of_persons("persons-ranges", fit(y ~ a + b, id = person, bounds = "private", eps = 20), quick = TRUE)
of_persons("persons-inference", fit(y ~ a + b, id = person, inference = "sandwich", eps = 50))
of_persons("persons-2opt-ls", fit(y ~ a + b + f, id = person, method = "2opt-ls", loss = "sigmoid"))
of_persons("persons-poisson", fit(k ~ a + b, id = person, loss = loss_poisson(8), eps = 10))

# ---- tools ----

delayedAssign("other", suppressWarnings(suppressMessages({
  dp_sosp(y ~ a + b + f, make_audited(400), eps = 5, delta = 1e-6, bounds = ab, progress = FALSE)
})))
on("evaluate", function(data) dp_evaluate(other, data, 5, 1e-6), "y")
on("certify", function(data) dp_certify(other, data, 5, 1e-6), "y", quick = FALSE)
on("infer", function(data) dp_inference(other, data, 20, 1e-6), "y", quick = FALSE)

# What a caller of the oracle may ask
on("oracle", function(data) {
  budget <- dp_budget(rho = 10)
  oracle <- dp_oracle(y ~ a + b, data, "sigmoid", budget, bounds = ab)
  w <- c(0, 0, 0)
  search <- function(mechanism) {
    dp_line_search(oracle, w, c(0.5, -1, 0.5), c(4, 2, 1, 0.01), rho = 0.1, mechanism = mechanism)
  }
  list(dp_gradient(oracle, w, mu = 0.1), dp_value(oracle, w + 3, mu = 0.1), dp_hessian(oracle, c(2, 1, 0), mu = 0.1),
       lapply(c("svt", "exponential", "gaussian"), search), dp_ledger(budget))
}, "y")

candidates <- list(one = list(method = "newton", bounds = ab, geometry = "none"),
                   two = list(formula = y ~ a, method = "gd", bounds = ab["a"], geometry = "none"),
                   three = list(formula = y ~ 1, method = "newton", geometry = "none"))
for (strategy in c("split", "poisson", "geometric")) local({
  strategy <- strategy
  tune <- function(data) dp_tune(candidates, y ~ a + b, data, eps = 10, delta = 1e-6, strategy = strategy)
  on(paste0("tune-", strategy), tune, "y", few = TRUE, quick = FALSE, rows = audited + 0:1) # one for the choice
})
# A record that one candidate predicts rightly and the other wrongly, and the reverse
on("tune-accuracy", function(data) {
  by_one <- list(one = list(formula = y ~ a, bounds = ab["a"]), two = list(formula = y ~ b, bounds = ab["b"]))
  dp_tune(by_one, y ~ a + b, data, eps = 20, delta = 1e-6, score = "accuracy")
}, "y", quick = FALSE, rows = audited + 0:3)
on("curve", function(data) {
  dp_curve(y ~ a + b, data, eps = c(0.5, 2), bounds = ab, budget = dp_budget(eps = 20, delta = 1e-5), progress = FALSE)
}, "y", few = TRUE, quick = FALSE, rows = audited + 0:1)
on("shared", function(data) {
  budget <- dp_budget(eps = 10, delta = 1e-6)
  first <- dp_sosp(y ~ a + b, data, budget = budget, eps = 3, bounds = "private", progress = FALSE)
  second <- tryCatch(dp_certify(first, data, budget = budget), error = conditionMessage)
  list(first, second, dp_ledger(budget))
}, "y", quick = FALSE)

# The rows of a store but for what depends on the clock and on random names
on("store", function(data) {
  folder <- tempfile("store")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  Sys.setenv(R_USER_CONFIG_DIR = file.path(folder, "config"))
  path <- file.path(folder, "budget.dpledger")
  budget <- suppressMessages(dp_budget(eps = 10, delta = 1e-6, store = path))
  fit <- dp_sosp(y ~ a + b + f, data, budget = budget, eps = 2, bounds = ab, progress = FALSE)
  connection <- DBI::dbConnect(RSQLite::SQLite(), path)
  on.exit(DBI::dbDisconnect(connection), add = TRUE, after = FALSE)
  rows <- lapply(DBI::dbListTables(connection), DBI::dbReadTable, conn = connection)
  rows <- lapply(rows, function(table) table[setdiff(names(table), c("time", "at", "when", "hash", "chain", "id"))])
  list(coef(fit), rows)
}, "y", few = TRUE, quick = FALSE)
