# Two hundred small runs with noise from R's generator, printed as text to compare with those of another source tree:
#   Rscript dev/golden.R LIBRARY > FILE
# A line is "run: part | numbers". Numbers are written with all their bits (%a), an error as its class. Only exported
# functions are used, so that older and newer trees can run it. dev/golden.sh compares two trees.

library(dpsosp, lib.loc = commandArgs(TRUE)[1])

methods_all <- c("2opt-ls", "2opt", "opt-ls", "opt", "tr", "gd", "cubic", "newton", "damped-newton", "objpert",
                 "outpert", "opt-b", "2opt-b", "tr-b", "sgd", "newton-b", "blsgd", "blsgd-ac", "blgd", "agd", "spider")
methods_nonconvex <- c("2opt-ls", "2opt", "opt-ls", "opt", "tr", "gd", "opt-b", "2opt-b", "tr-b", "sgd", "spider")
methods_nonsmooth <- c("newton", "newton-b", "objpert", "outpert", "gd", "sgd")
runs <- 0
errors <- 0

main <- function() {
  all_methods()
  published()
  searches()
  newton_settings()
  other_settings()
  storages()
  relations()
  losses()
  penalties()
  ranges()
  sources()
  sizes()
  oracles()
  budgets()
  plans()
  networks()
  accounting()
  message(runs, " runs, of which ", errors, " are errors")
}

# ---- what is printed ----

# The parts of the value of code, and the state of R's generator after it; code is a promise and evaluated once.
run <- function(name, code) {
  set.seed(1)
  runs <<- runs + 1
  parts <- tryCatch(suppressWarnings(suppressMessages(code)), error = function(e) {
    errors <<- errors + 1
    list(error = class(e))
  })
  parts$next_draw <- stats::runif(1)
  for (part in names(parts)) show(paste0(name, ": ", part), parts[[part]])
}

# A list is printed by its members, a data frame by its columns.
show <- function(name, x) {
  if (is.list(x)) {
    for (i in seq_along(x)) show(paste0(name, "$", if (is.null(names(x))) i else names(x)[i]), x[[i]])
  } else {
    cat(name, " | ", paste(if (is.double(x)) sprintf("%a", x) else as.character(x), collapse = " "), "\n", sep = "")
  }
}

parts_of <- function(fit) {
  list(coefficients = coef(fit), status = fit$status, certificate = fit$certificate, target = unclass(fit$target),
       iterations = fit$iterations, trace = fit$trace, ledger = dp_ledger(fit))
}

# ---- problems ----

# Rows, responses with two values and numeric ones; the response of record 7 is missing, a number of record 8 infinite.
problem <- function(n = 300, d = 3) {
  set.seed(7)
  x <- matrix(stats::runif(n * d, -1, 1), n, d, dimnames = list(NULL, paste0("x", seq_len(d))))
  t <- drop(x %*% (-1)^seq_len(d)) + 0.3
  y <- ifelse(t + stats::rlogis(n, scale = 0.5) > 0, 1, -1)
  y[7] <- NA
  x[8, 1] <- Inf
  list(x = x, y = y, response = t + stats::rnorm(n, sd = 0.3))
}

# Two numeric columns, two factors, a response with two levels; a missing value in each.
problem_frame <- function(n = 300) {
  set.seed(8)
  data <- data.frame(a = stats::runif(n, 10, 30), b = stats::rnorm(n),
                     f = factor(sample(c("u", "v", "w"), n, TRUE)), g = factor(sample(letters[1:5], n, TRUE)))
  t <- (data$a - 20) / 5 - data$b + c(u = 0, v = 1, w = -1)[as.character(data$f)]
  data$y <- factor(ifelse(t + stats::rlogis(n) > 0, "yes", "no"), levels = c("no", "yes"))
  data$a[3] <- data$b[4] <- data$f[5] <- data$y[6] <- NA
  data
}

small <- problem()
frame <- problem_frame()
declared <- list(a = I(c(10, 30)), b = I(c(-3, 3)))
sparse <- function(x) {
  requireNamespace("Matrix")
  methods::as(methods::as(replace(x, abs(x) < 0.4, 0), "CsparseMatrix"), "generalMatrix")
}

# Defaults, which the arguments of a run replace; `budget` also replaces eps and delta.
with_defaults <- function(defaults, given) {
  if ("budget" %in% names(given)) defaults[c("eps", "delta")] <- NULL
  c(given, defaults[setdiff(names(defaults), names(given))])
}

fit <- function(name, ..., x = small$x, y = small$y) {
  settings <- with_defaults(list(eps = 2, delta = 1e-6, loss = "logistic", radius = 2, noise = "reproducible",
                                 progress = FALSE),
                            list(...))
  run(name, parts_of(do.call(dp_sosp, c(list(x, y), settings))))
}

fit_frame <- function(name, ..., data = frame, formula = y ~ a + b + f + g) {
  settings <- with_defaults(list(eps = 2, delta = 1e-6, bounds = declared, noise = "reproducible", progress = FALSE),
                            list(...))
  run(name, parts_of(do.call(dp_sosp, c(list(formula, data), settings))))
}

# ---- runs ----

all_methods <- function() {
  for (method in c(methods_all, "auto")) fit(paste(method, "default"), method = method)
  for (method in methods_all) fit(paste(method, "target"), method = method, target = sosp(0.15, 0.1), eps = 5)
  for (method in methods_nonconvex) fit(paste(method, "sigmoid"), method = method, loss = "sigmoid", eps = 5)
}

published <- function() {
  target <- sosp(0.5, 0.3)
  opt <- control_opt("published", max_iterations = 20)
  for (method in c("2opt-ls", "2opt", "opt-ls", "opt", "opt-b", "2opt-b")) {
    fit(paste(method, "published"), method = method, control = opt, target = target, loss = "sigmoid", eps = 10)
  }
  for (method in c("tr", "tr-b")) {
    fit(paste(method, "published"), method = method, control = control_tr("published", max_iterations = 20),
        target = target, loss = "sigmoid", eps = 10)
  }
  fit("tr published explicit", method = "tr", control = control_tr("published", "explicit", max_iterations = 20),
      target = target, eps = 10)
  fit("spider published", method = "spider", control = control_spider("published", noise = "tree"), loss = "sigmoid",
      eps = 10)
  fit("spider by drift", method = "spider", control = control_spider(escape = "drift"), loss = "sigmoid", eps = 10)
}

searches <- function() {
  for (search in c("svt", "exponential")) for (method in c("2opt-ls", "opt-ls")) {
    fit(paste(method, search), method = method, control = control_opt(line_search = search), loss = "sigmoid", eps = 5)
  }
  for (method in c("blsgd", "blgd")) {
    fit(paste(method, "gaussian"), method = method, control = control_line_search("gaussian"), eps = 5)
  }
  fit("2opt-ls shares", method = "2opt-ls", eps = 5, loss = "sigmoid",
      control = control_opt(gap = 0.7, gap_share = 0.1, phase1_share = 0.5, search_share = 0.3, hessian_share = 0.4,
                            b_g = 16, b_H = 4, beta_g = 0.6, beta_H = 0.7))
}

newton_settings <- function() {
  for (curvature in c("hessian", "qu", "lazy", "direct")) for (modify in c("add", "clip")) {
    control <- control_newton(curvature, modify, iterations = 8)
    fit(paste("newton", curvature, modify), method = "newton", control = control)
    fit(paste("newton-b", curvature, modify), method = "newton-b", control = control)
  }
  for (type in c("sandwich", "model")) fit(paste("intervals", type), method = "newton", inference = type)
  fit("newton fixed", method = "newton", control = control_newton("hessian", adaptive = FALSE, lambda0 = 0.1))
  fit("damped-newton clip", method = "damped-newton", control = control_newton("direct", "clip"))
}

other_settings <- function() {
  ridge <- penalty_ridge(0.05)
  fit("cubic inner", method = "cubic", control = control_cubic("inner"), penalty = ridge, intercept = FALSE)
  fit("tr explicit", method = "tr", control = control_tr(stop = "explicit"), loss = "sigmoid", eps = 5)
  fit("gd shares", method = "gd", control = control_gd(gap = 1, hessian_share = 0.5), loss = "sigmoid")
  fit("objpert lambda", method = "objpert", control = control_perturbation(lambda = 0.1))
  fit("outpert size", method = "outpert", control = control_perturbation(size = 5), penalty = ridge)
  fit("opt-b poisson", method = "opt-b", control = control_opt(batch = 20, sampling = "poisson"))
  fit("tr-b wor", method = "tr-b", control = control_tr(batch = 30, sampling = "wor", batch_share = 0.7))
  fit("start", start = c(0.5, -1, 1, -1))
  fit("no intercept", intercept = FALSE)
}

storages <- function() {
  for (method in c("2opt-ls", "newton", "cubic", "tr-b", "sgd")) {
    fit(paste(method, "single"), method = method, storage = "single")
    fit(paste(method, "sparse"), method = method, x = sparse(small$x))
    fit_frame(paste(method, "codes"), method = method)
    fit_frame(paste(method, "single codes"), method = method, storage = "single")
  }
}

relations <- function() {
  for (method in c("2opt-ls", "tr", "gd", "cubic", "newton", "objpert", "opt-b", "newton-b")) {
    fit(paste(method, "zero-out"), method = method, neighbours = "zero-out")
  }
}

losses <- function() {
  huber <- loss_huber(response = c(-3, 3))
  for (method in methods_nonsmooth) {
    fit(paste(method, "huber_svm"), method = method, loss = loss_huber_svm(0.3))
    fit(paste(method, "huber"), method = method, loss = huber, y = small$response)
  }
  fit("huber qu", method = "newton", loss = huber, y = small$response, control = control_newton("qu"))
  counts <- round(exp(small$response))
  fit("counts", method = "newton-ridge", loss = "poisson", y = counts)
  fit("counts alone", method = "newton-ridge", loss = loss_poisson(50), y = counts, eps = 0.1)
  fit("squared", method = "newton-ridge", loss = "squared", y = small$response)
  classes <- factor(cut(small$response, 3), labels = c("a", "b", "c"))
  for (method in c("newton", "newton-ridge", "gd", "sgd")) {
    fit(paste(method, "multinomial"), method = method, loss = NULL, y = classes)
  }
  fit("refused: multinomial tr", method = "tr", loss = "multinomial", y = classes)
  fit("refused: huber tr", method = "tr", loss = huber, y = small$response)
  fit("refused: sigmoid newton", method = "newton", loss = "sigmoid")
}

penalties <- function() {
  for (penalty in list(penalty_ridge(0.1), penalty_nonconvex(0.1))) for (method in c("2opt-ls", "tr", "gd", "opt-b")) {
    fit(paste(method, penalty$name), method = method, penalty = penalty, eps = 5)
  }
  for (method in c("newton", "cubic", "objpert")) {
    fit(paste(method, "ridge"), method = method, penalty = penalty_ridge(0.1))
  }
}

ranges <- function() {
  for (neighbours in c("replace-one", "zero-out")) {
    fit_frame(paste("private ranges", neighbours), bounds = "private", neighbours = neighbours, eps = 20)
  }
  fit_frame("private ranges, a batch", bounds = "private", method = "sgd", eps = 20)
  fit_frame("private ranges, little budget", bounds = list(a = c(10, 30)), eps = 0.1)
  fit_frame("limits", bounds = list(a = c(0, 1000), b = c(-50, 90)), eps = 20)
  fit_frame("radius", radius = 1)
}

# A function for dp_source() that returns chunks of a given size.
in_chunks <- function(data, chunk) {
  force(data)
  function() {
    at <- 0
    function() {
      if (at >= nrow(data)) return(NULL)
      rows <- (at + 1):min(at + chunk, nrow(data))
      at <<- max(rows)
      data[rows, , drop = FALSE]
    }
  }
}

sources <- function() {
  for (chunk in c(1, 64, 1000)) {
    fit_frame(paste("source", chunk), data = dp_source(in_chunks(frame, chunk)), method = "2opt-ls", bounds = "private",
              eps = 20)
  }
  for (method in c("tr", "gd", "cubic", "newton", "objpert")) {
    fit_frame(paste("source", method), data = dp_source(in_chunks(frame, 64)), method = method)
  }
  file <- tempfile(fileext = ".csv")
  utils::write.csv(frame, file, row.names = FALSE)
  source <- dp_source(file, levels = lapply(Filter(is.factor, frame), levels), chunk = 100)
  fit_frame("source csv", data = source, method = "2opt-ls")
}

# More rows than a block and a group of blocks hold, more columns than a tile holds and than are decomposed at once.
sizes <- function() {
  many <- problem(30000, 4)
  for (method in c("2opt-ls", "tr", "newton", "sgd", "newton-b")) {
    fit(paste(method, "many rows"), method = method, x = many$x, y = many$y)
  }
  fit("many rows sparse", x = sparse(many$x), y = many$y)
  fit_frame("many rows codes", data = problem_frame(20000), bounds = "private")
  wide <- problem(600, 70)
  for (method in c("tr", "newton", "cubic")) fit(paste(method, "wide"), method = method, x = wide$x, y = wide$y)
  widest <- problem(600, 505)
  fit("tr Lanczos", method = "tr", x = widest$x, y = widest$y, control = control_tr(max_iterations = 3),
      loss = "sigmoid", radius = 15)
}

oracles <- function() {
  stored <- list(dense = small$x, single = small$x, sparse = sparse(small$x))
  for (loss in c("logistic", "sigmoid")) for (kind in names(stored)) for (neighbours in c("replace-one", "zero-out")) {
    oracle <- dp_oracle(stored[[kind]], small$y, loss, dp_budget(rho = 10), 2, neighbours = neighbours,
                        noise = "reproducible", storage = if (kind == "single") "single" else "double")
    run(paste("oracle", loss, kind, neighbours), answers(oracle))
  }
  data <- data.frame(small$x, y = small$y)
  run("oracle source", answers(dp_oracle(dp_source(in_chunks(data, 64)), "y", "sigmoid", dp_budget(rho = 10), 2,
                                         noise = "reproducible")))
  run("oracle huber", {
    oracle <- dp_oracle(small$x, small$response, loss_huber(response = c(-3, 3)), dp_budget(mu = 3), 2,
                        noise = "reproducible")
    list(gradient = dp_gradient(oracle, 1:4, mu = 1), value = dp_value(oracle, 1:4, mu = 1))
  })
}

answers <- function(oracle) {
  w <- c(0.5, -1, 1, -0.3)
  search <- function(mechanism) {
    dp_line_search(oracle, w, -w, 2^(3:0), rho = 0.5, mechanism = mechanism, sufficient = 0.01)
  }
  with_sd <- function(answer) list(answer = as.vector(answer), sd = attr(answer, "sd"))
  list(value = with_sd(dp_value(oracle, w, rho = 0.5)), gradient = with_sd(dp_gradient(oracle, w, rho = 0.5)),
       hessian = with_sd(dp_hessian(oracle, w, rho = 0.5)), gaussian = search("gaussian"), svt = search("svt"),
       exponential = search("exponential"), ledger = dp_ledger(oracle))
}

plans <- function() {
  shown <- c("mu", "noise", "excess", "sampling", "constant", "target", "bound", "intervals", "want")
  plan <- function(name, ...) run(paste("plan", name), dp_plan(3000, numeric = 2, levels = 3, eps = 1, ...)[shown])
  for (method in methods_all) plan(method, method = method)
  plan("newton-ridge", want = list(target = 0.01))
  plan("intervals", inference = TRUE, want = list(width = 2))
}

networks <- function() {
  set.seed(4)
  x <- array(runif(300 * 7 * 7), c(300, 7, 7))
  y <- factor(sample(c("a", "b", "c"), 300, TRUE), levels = c("a", "b", "c"))
  network <- function(model, method, neighbours, control) {
    run(paste("network", model$name, method, neighbours), {
      fit <- dp_sosp(x, y, model = model, method = method, bounds = c(0, 1), eps = 2, delta = 1e-6,
                     noise = "reproducible", neighbours = neighbours, control = control)
      list(weights = fit$weights, ledger = dp_ledger(fit), link = predict(fit, x, type = "link"))
    })
  }
  cnn <- model_cnn(channels = c(3, 2), kernel = c(3, 2), stride = c(2, 1), padding = c(1, 0), pool = c(2, 1),
                   hidden = 4)
  for (neighbours in c("replace-one", "zero-out")) {
    for (method in c("sgd", "adam")) network(cnn, method, neighbours, control_network(epochs = 3))
    network(model_mlp(c(6, 4)), "sgd", neighbours, control_network(epochs = 3))
    network(model_mlp(5), "blsgd", neighbours, control_line_search(attempts = 10))
  }
}

# Two fits with one budget, of which the second takes the rest, and its ledger.
budgets <- function() {
  plan <- event_repeat(event_subsample(event_gaussian(2), 0.1), 100)
  kinds <- list(gdp = dp_budget(2, 1e-6), zcdp = dp_budget(2, 1e-6, accountant = "zcdp"), rho = dp_budget(rho = 0.2),
                mu = dp_budget(mu = 0.7), renyi = dp_budget(2, 1e-6, plan = plan))
  for (kind in names(kinds)) {
    budget <- kinds[[kind]]
    methods <- if (kind == "renyi") c("opt-b", "sgd") else c("newton", "2opt-ls")
    fit(paste("shared", kind, "first"), budget = budget, eps = 1.6, delta = 1e-6, method = methods[1])
    fit(paste("shared", kind, "second"), budget = budget, method = methods[2])
    run(paste("shared", kind, "ledger"), list(ledger = dp_ledger(budget)))
    fit(paste("refused: shared", kind, "third"), budget = budget)
  }
  fit("shared svt", budget = dp_budget(rho = 0.2), method = "2opt-ls", control = control_opt(line_search = "svt"))
}

accounting <- function() {
  step <- event_subsample(event_compose(event_gaussian(1.5), event_laplace(3)), 0.02)
  event <- event_compose(event_repeat(step, 50), event_gaussian(4), event_svt(0.3, 2))
  run("accounting", {
    profile <- dp_account(event)
    list(eps = as.vector(epsilon(profile, c(1e-5, 1e-8))), delta = as.vector(delta(profile, c(0.5, 2))),
         rdp = dp_rdp(event, c(1.5, 2, 8)), gdp = as.vector(epsilon(dp_account(event_gaussian(2)), 1e-6)),
         converted = as.list(dp_convert(eps = 1, delta = 1e-6)))
  })
}

main()
