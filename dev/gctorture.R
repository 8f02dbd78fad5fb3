# Calls every .Call entry with a garbage collection at each allocation. An R object that the glue does not protect is
# then collected, and the result differs from that without collections (or R crashes).
#   Rscript dev/gctorture.R LIBRARY
# Ends with "N passed, N failed". The entries are called directly: R code under torture takes minutes.

library(dpsosp, lib.loc = commandArgs(TRUE)[1])
package <- asNamespace("dpsosp")
entries <- getDLLRegisteredRoutines("dpsosp")$.Call
called <- character()
passed <- 0
failed <- 0

main <- function() {
  conversions()
  events()
  design()
  for (mechanism in c("gaussian", "svt", "exponential")) oracle(mechanism)
  geometry()
  other_methods()
  ranges()
  evaluations()
  networks()
  streams()
  shards()
  errors()
  for (name in setdiff(names(entries), called)) cat("skipped: no call of ", name, "\n", sep = "")
  cat(passed, " passed, ", failed, " failed\n", sep = "")
  quit(status = if (failed > 0) 1 else 0)
}

# make() prepares new arguments for both runs, which start from the same seed. A call that the glue refuses as malformed
# compares nothing.
compare <- function(name, make) {
  called <<- union(called, name)
  run <- function(torture) {
    set.seed(1)
    arguments <- make()
    gc()
    if (torture) gctorture(TRUE)
    value <- tryCatch(do.call(.Call, c(list(entries[[name]]), arguments)), condition = conditionMessage)
    gctorture(FALSE)
    list(strip(value), lapply(arguments, strip))
  }
  answer <- run(FALSE)
  malformed <- is.character(answer[[1]]) && any(startsWith(answer[[1]], "internal: "))
  good <- identical(run(TRUE), answer) && !malformed
  if (good) passed <<- passed + 1 else failed <<- failed + 1
  if (!good) cat("gctorture: ", name, if (malformed) " is called wrongly\n" else " answers differently\n", sep = "")
}

# A random name differs from run to run.
random_name <- function() {
  called <<- union(called, "ffi_random_id")
  gctorture(TRUE)
  name <- .Call(entries$ffi_random_id)
  gctorture(FALSE)
  if (grepl("^[0-9a-f]{32}$", name)) passed <<- passed + 1 else failed <<- failed + 1
}

# Pointers and the environments of functions differ from run to run.
strip <- function(x) {
  if (typeof(x) == "externalptr") return("pointer")
  if (is.function(x)) return("function")
  if (is.list(x)) return(lapply(x, strip))
  x
}

new_ledger <- function(gdp = 1, zcdp = 1) .Call(entries$ffi_ledger_create, gdp, zcdp, "auto")
new_oracle <- function(ledger = new_ledger(), loss = "sigmoid", parameter = 0.5, y = c(-1, 1)) {
  x <- matrix(runif(60, -1, 1), 20)
  .Call(entries$ffi_oracle_create, x, TRUE, 2, rep(y, 10), loss, parameter, ledger, "replace-one", TRUE)
}

conversions <- function() {
  two <- list(c(0.5, 1, 2), c(1e-5, 0.1, 0.5))
  for (name in grep("^ffi_(gdp|zcdp)_", names(entries), value = TRUE)) compare(name, function() two)
}

events <- function() {
  plan <- list(list(
    leaves = list(kind = c("gaussian", "laplace"), a = c(0.5, 0.3), b = c(0, 0), c = c(0, 0), times = c(1, 2)),
    steps = list(leaves = c(1L, 1L), amplification = c("none", "profile"), rate = c(1, 0.1), times = c(3, 5))
  ))
  compare("ffi_rdp_curve", function() c(plan, list(c(2, 4, 8))))
  compare("ffi_rdp_epsilon", function() c(plan, list(1e-5)))
  compare("ffi_rdp_log_delta", function() c(plan, list(1)))
  compare("ffi_rdp_budget", function() list(4, 1, 1e-5))
  compare("ffi_pld_epsilon", function() c(plan, list(1e-5, FALSE)))
  compare("ffi_pld_log_delta", function() c(plan, list(1, TRUE)))
  compare("ffi_leaf_zcdp", function() plan)
  compare("ffi_arithmetic_check", list)
  compare("ffi_ledger_create_renyi", function() list(10, 1))
  compare("ffi_ledger_create_perturbed", function() list(1, 1e-5, c(1, 0.1, 0.2, 0.9)))
  compare("ffi_perturbed_mu", function() list(1, 1e-5, c(1, 0.1, 0.2, 0.9)))
  compare("ffi_perturbed_epsilon", function() list(0.2, 1e-5, c(0, 0.1, 0, 0.9)))
}

design <- function() {
  compare("ffi_design_numeric", function() list(matrix(0, 4, 2), 2L, c(1, NA, 5, Inf), c(0, 4), 2, 2))
  map <- list(centre = rep(0, 8), scale = rep(1, 8), norm = 3)
  for (x in list(matrix(c(runif(59), NA), 3), matrix(1:60, 3))) {
    compare("ffi_scattering", function() list(x, c(3L, 4L, 5L), TRUE, c(0, 60), "first", map))
  }
  compare("ffi_single_create", function() list(matrix(runif(8), 4)))
  for (column in list(c(1, NA), c(TRUE, NA), c("a", NA))) compare("ffi_column_digest", function() list(raw(8), column))
  compare("ffi_sha256", function() list(c("", "abc", NA)))
  random_name()
  compare("ffi_sparse_check", function() list(c(0L, 1L), 3L, 2, c(4L, 1L)))
  compare("ffi_design_indicator", function() list(matrix(0, 4, 2), 1L, c(1L, NA, 2L, 1L), 1L))
}

oracle <- function(mechanism) {
  w <- c(0.1, 0.2, -0.3, 0.4)
  compare("ffi_ledger_create", function() list(1, 2, "auto"))
  compare("ffi_ledger_decide", function() list(new_ledger(), "zcdp"))
  compare("ffi_ledger_close", function() list(new_ledger(), "replace-one", 0.5))
  compare("ffi_ledger_state", function() {
    ledger <- new_ledger()
    .Call(entries$ffi_ledger_close, ledger, "replace-one", 0)
    list(ledger)
  })
  compare("ffi_oracle_create", function() {
    list(matrix(0.5, 6, 2), FALSE, 1, rep(1, 6), "huber", 0.5, new_ledger(), "zero-out", TRUE)
  })
  codes <- structure(class = "dpsosp_columns", list(x = matrix(1L, 6, 2), codes = matrix(1L, 6, 1), indicators = 1L))
  sparse <- structure(class = "dpsosp_compressed", list(start = 0:1, row = 2L, value = 0.5, dim = c(6L, 1L)))
  for (rows in list(codes, sparse)) {
    compare("ffi_oracle_create", function() {
      list(rows, TRUE, 1, rep(1, 6), "huber_svm", 0.5, new_ledger(), "zero-out", TRUE)
    })
  }
  compare("ffi_oracle_facts", function() list(new_oracle()))
  compare("ffi_oracle_planned", function() list(20, 1L, 2:1, TRUE, 2, "sigmoid", 0.5, new_ledger(), "zero-out"))
  compare("ffi_oracle_sd", function() list(new_oracle(), "gradient", w, 0, 0.1))
  for (question in c("value", "gradient", "hessian", "products")) {
    compare(paste0("ffi_oracle_", question), function() list(new_oracle(), w, 0.1, TRUE))
  }
  compare("ffi_oracle_decreases", function() list(new_oracle(), w, -w, c(2, 1), 0.1, TRUE))
  svt <- mechanism == "svt"
  compare("ffi_oracle_choose", function() list(new_oracle(), w, -w, c(2, 1), c(0, 0), svt, 0.1, TRUE))
  control <- dpsosp::control_opt(line_search = mechanism, max_iterations = 5)
  method("2opt-ls", control, function() new_oracle(new_ledger(if (mechanism == "gaussian") 1 else 0)))
}

# Coordinates, and a method that needs them.
geometry <- function() {
  moved <- list(weighted = TRUE, damped = FALSE, scale = c(1, 2, 3), prior = c(1, 1, 2), spread = c(1, 1, 2),
                centre = c(0, 0.1, -0.1), constant = 1, cap = 1, bound = 0.5, tilt = 0.2, shortest = 1,
                end = c(0, NaN, 0.5))
  oracle <- function() new_oracle(loss = "logistic")
  there <- function() {
    it <- oracle()
    .Call(entries$ffi_oracle_move, it, moved)
    it
  }
  compare("ffi_oracle_moments", function() list(oracle(), rep(1, 3), FALSE, 0.1, TRUE))
  compare("ffi_oracle_usable", function() list(oracle(), 0.1, TRUE))
  classes <- function() new_oracle(loss = "multinomial", parameter = 2, y = c(0.5, 1))
  compare("ffi_oracle_class_counts", function() list(classes(), 0.1, TRUE))
  compare("ffi_oracle_response", function() list(oracle(), 0.1, TRUE))
  residuals <- function() {
    it <- new_oracle(loss = "squared", y = c(0, 1))
    .Call(entries$ffi_oracle_move, it, replace(moved, c("tilt", "end"), list(0, rep(NaN, 3))))
    it
  }
  for (name in c("gradient", "products", "hessian")) {
    compare(paste0("ffi_oracle_residual_", name), function() {
      c(list(residuals(), numeric(4), 0.5, 0), if (name == "hessian") 0, list(0.1, TRUE))
    })
  }
  compare("ffi_oracle_residual_counts", function() list(residuals(), numeric(4), c(0.1, 0.5, 2), 0, 0, 0.1, TRUE))
  compare("ffi_oracle_row_lengths", function() list(residuals(), c(0.1, 0.5, 2), 0.1, TRUE))
  compare("ffi_residual_scale", function() list(c(0.1, 0.5, 2), c(0.2, 0.5, 0.3), 0.01, 1))
  compare("ffi_oracle_move", function() list(oracle(), moved))
  compare("ffi_oracle_set_weights", function() list(oracle(), rep(0.5, 20), rep(0.1, 20), 0.2))
  compare("ffi_oracle_set_persons", function() list(oracle(), list(code = rep(1:5, 4), n = 5L, most = 4L)))
  method("newton-ridge", dpsosp::control_newton_ridge(iterations = 3), there, NULL, none,
         list(geometry = moved, loss = dpsosp::loss_logistic(), n = 20, dim = 4))
  compare("ffi_oracle_kept", function() {
    it <- oracle()
    .Call(entries$ffi_oracle_gradient, it, c(0.1, 0.2, -0.3, 0.4), 0.1, TRUE)
    list(it)
  })
}

# Of four coefficients.
nonconvex <- package$core_penalty(dpsosp::penalty_nonconvex(0.01), TRUE, 4)
none <- package$core_penalty(dpsosp::penalty_none(), TRUE, 4)
strong <- package$core_penalty(dpsosp::penalty_ridge(0.1), FALSE, 4)

# The two entries of a method.
method <- function(name, control, oracle, batch = NULL, penalty = nonconvex, more = list()) {
  w <- c(0.1, 0.2, -0.3, 0.4)
  row <- package$methods()[[name]]
  job <- c(list(method = row, control = control, batch = batch, lambda = 0.1), more)
  options <- c(row$family$options(job, 1), list(eps_g = 1e-3, eps_h = 1e-2))
  core <- row$family$core(control)
  compare("ffi_method_alpha", function() list(core, oracle(), penalty, options, 1, w))
  for (bar in list(NULL, progress)) {
    compare("ffi_method_run", function() list(core, oracle(), penalty, options, 1, w, bar, TRUE))
  }
}

progress <- function(done, total) if (done > 2) stop("a progress bar that fails") else c(done, total)

other_methods <- function() {
  batch <- list(size = 2, scheme = "wor", share = 0.5)
  renyi <- function() .Call(entries$ffi_ledger_create_renyi, 8, 1)
  perturbed <- function() .Call(entries$ffi_ledger_create_perturbed, 9, 1e-3, c(1, 1, 0, 1e-9))
  convex <- function(ledger = new_ledger()) new_oracle(ledger, "logistic")
  method("tr", dpsosp::control_tr(max_iterations = 5), new_oracle)
  method("gd", dpsosp::control_gd(max_iterations = 5), new_oracle)
  method("opt-b", dpsosp::control_opt(max_iterations = 3), function() new_oracle(renyi()), batch)
  method("tr-b", dpsosp::control_tr(max_iterations = 3), function() new_oracle(renyi()), batch)
  method("sgd", dpsosp::control_gd(max_iterations = 3), function() new_oracle(renyi()), batch)
  method("newton", dpsosp::control_newton(iterations = 3), convex, NULL, none)
  method("newton-b", dpsosp::control_newton("qu", iterations = 3), function() convex(renyi()), batch, none)
  method("cubic", dpsosp::control_cubic("inner", 2, 3, 10), convex, NULL, strong)
  method("blsgd", dpsosp::control_line_search(attempts = 3), function() convex(renyi()), batch, none)
  method("objpert", dpsosp::control_perturbation(), function() convex(perturbed()), NULL, none)
  compare("ffi_trust_region", function() list(c(1, 2), matrix(c(-1, 0.5, 0.5, 1), 2), 1))
  compare("ffi_loss_bounds", function() list("huber", 0.5))
  compare("ffi_loss_at", function() list("sigmoid", 0, 1, c(-1, 0, 2), TRUE))
  compare("ffi_loss_determinant", function() list("logistic", 0, 2, 0.1))
  compare("ffi_penalty_bounds", function() list(nonconvex))
}

# A feed (R/source-stream.R) of four chunks of five rows.
feed <- function(p) {
  at <- 0
  function(what) {
    if (what == "open") at <<- 0
    if (what == "read") at <<- at + 1
    if (what != "read" || at > 4) return(TRUE)
    rows <- list(x = matrix(runif(5 * p, -1, 1), 5), codes = matrix(c(0:2, 0:1), 5), indicators = 2L)
    list(rows = rows, y = rep_len(c(-1, 1), 5), person = c(1L, 1L, 2L, 2L, 2L))
  }
}

evaluations <- function() {
  scores <- function() list(runif(30), runif(30))
  compare("ffi_scores_release", function() list(new_ledger(), scores(), 0.1, "replace-one", TRUE))
  compare("ffi_scores_choose", function() list(new_ledger(), scores(), 0.1, "zero-out", TRUE))
  compare("ffi_table_release", function() {
    persons <- list(code = rep(1:15, each = 2L), n = 15L, most = 2L)
    list(new_ledger(), rep(c(1, 2, NA), 10), 2L, persons, 0.1, "replace-one", TRUE)
  })
  compare("ffi_person_shares", function() list(list(code = rep(1:15, each = 2L), n = 15L, most = 2L)))
  compare("ffi_selection_cost", function() list("poisson", 5L, 0.1, 8))
  compare("ffi_selection_draw", function() {
    list(.Call(entries$ffi_ledger_create_renyi, 8, 1), "geometric", 5L, 3L, 0.1, "replace-one", TRUE)
  })
}

networks <- function() {
  network <- list(input = c(1L, 1L, 3L), bounds = c(0, 1), classes = 1L, type = "dense", outputs = 2L, size = 0L,
                  stride = 0L, padding = 0L, activation = "tanh")
  x <- matrix(runif(60), 20)
  compare("ffi_network_fans", function() list(network))
  compare("ffi_network_oracle", function() {
    list(network, x, 20L, 2, rep(c(-1, 1), 10), "logistic", 0, new_ledger(), "replace-one", TRUE)
  })
  compare("ffi_oracle_create_stream", function() {
    list(feed(3), NULL, 20, 3L, integer(), FALSE, 2, "logistic", 0, new_ledger(), "replace-one", TRUE, TRUE, NULL,
         network)
  })
  compare("ffi_shard_create_network", function() list(network, x, 2, rep(c(-1, 1), 10), "logistic", 0))
  compare("ffi_network_predict", function() list(network, x, 20L, rnorm(11)))
  compare("ffi_network_start", function() list(network, 7L))
}

streams <- function() {
  w <- c(0.1, 0.2, -0.3, 0.4)
  create <- function(n = 20) list(feed(1), NULL, n, 1L, 2L, TRUE, 2, "sigmoid", 0, new_ledger(), "replace-one", TRUE,
                                   FALSE, NULL, NULL)
  oracle <- function(...) do.call(.Call, c(list(entries$ffi_oracle_create_stream), create(...)))
  compare("ffi_oracle_create_stream", create)
  compare("ffi_oracle_create_stream", function() replace(create(), 13:14, list(TRUE, tempdir())))
  compare("ffi_oracle_close", function() list(oracle()))
  for (question in c("value", "gradient", "hessian", "products")) {
    compare(paste0("ffi_oracle_", question), function() list(oracle(), w, 0.1, TRUE))
  }
  compare("ffi_oracle_value", function() list(oracle(21), w, 0.1, TRUE))
  compare("ffi_oracle_improvement", function() list(oracle(), w, w, c(0.1, 0.2), 0, 0.1, TRUE))
  pushed <- function() {
    ask <- function(what) c(20, rep(0.5, if (what$word == "value") 1 else 4))
    push <- list(ask = ask, words = c("value", "gradient"), moved = "gradient", sampled = "gradient",
                 shards = 0L)
    do.call(.Call, c(list(entries$ffi_oracle_create_stream), replace(create(), 2, list(push))))
  }
  for (question in c("value", "gradient", "hessian")) {
    compare(paste0("ffi_oracle_", question), function() list(pushed(), w, 0.1, TRUE))
  }
  compare("ffi_ranges_release_remote", function() {
    remote <- list(ask = function(what) c(20, 1:5), words = character(), moved = character(), sampled = character(),
                   shards = 2L)
    list(new_ledger(), remote, 20L, list(c(0, 0.5, 1), c(-4, 0, 1, 4)), 0.1, "replace-one", TRUE)
  })
  for (used in list(NULL, c(8L, 12L))) {
    compare("ffi_ranges_release_stream", function() {
      list(new_ledger(), feed(2), 20, used, list(c(0, 0.5, 1), c(-4, 0, 1, 4)), 0.1, "replace-one", TRUE)
    })
  }
  of_persons <- function() {
    made <- oracle()
    .Call(entries$ffi_oracle_set_persons, made, list(code = integer(), n = 3L, most = 8L))
    made
  }
  compare("ffi_oracle_gradient", function() list(of_persons(), w, 0.1, TRUE))
}

shards <- function() {
  x <- matrix(runif(60, -1, 1), 20)
  y <- rep(c(-1, 1), 10)
  create <- function() list(x, TRUE, 2, y, "logistic", 0)
  shard <- function() do.call(.Call, c(list(entries$ffi_shard_create), create()))
  what <- list(word = "gradient", curvature = "hessian", at = c(0.1, 0.2, -0.3, 0.4), along = numeric(),
               steps = numeric(), clip = 0, most = numeric(), scale = numeric(), cap = 0, within = 0)
  geometry <- list(weighted = FALSE, damped = FALSE, scale = c(1, 2, 1), prior = c(1, 1, 2),
                   spread = c(1, 1, 2), centre = c(0, 0.1, 0), constant = 1, cap = 1, bound = 1, tilt = 0,
                   shortest = 1, end = rep(NaN, 3))
  compare("ffi_shard_create", create)
  compare("ffi_shard_sum", function() list(shard(), what))
  compare("ffi_shard_sum", function() list(shard(), replace(what, "word", "moments")))
  compare("ffi_shard_sum", function() list(shard(), c(what, list(rows = c(2L, 5L, 20L)))))
  moved <- function() {
    made <- shard()
    .Call(entries$ffi_shard_move, made, geometry)
    made
  }
  compare("ffi_shard_sum", function() list(moved(), replace(what, "scale", list(c(2, 4, 2)))))
  compare("ffi_shard_move", function() list(shard(), geometry))
  compare("ffi_shard_set_persons", function() list(shard(), list(code = rep(1:5, 4), n = 5L, most = 4L)))
  compare("ffi_shard_set_weights", function() list(shard(), rep(0.5, 20), rep(0.1, 20), 0.2))
}

ranges <- function() {
  compare("ffi_ranges_release", function() {
    list(new_ledger(), list(runif(20), rnorm(20)), list(c(0, 0.5, 1), c(-4, 0, 1, 4)),
         list(code = rep(1:10, 2), n = 10L, most = 2L), 0.1, "replace-one", TRUE)
  })
}

# Conditions are raised by R code that C calls.
errors <- function() {
  w <- c(0.1, 0.2, -0.3, 0.4)
  compare("ffi_oracle_value", function() list(new_oracle(), w, 2, TRUE))
  compare("ffi_oracle_value", function() list(new_oracle(), w * 1e200, 0.1, TRUE))
  compare("ffi_oracle_value", function() list(unserialize(serialize(new_oracle(), NULL)), w, 0.1, TRUE))
  compare("ffi_ledger_decide", function() list(new_ledger(gdp = 0), "gdp"))
}

# dev/inject.R makes the same calls with a compare() of its own.
if (sys.nframe() == 0L) main()
