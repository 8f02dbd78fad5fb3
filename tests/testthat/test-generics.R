# Every generic with every kind of fit works or gives a reason. A column is a kind of fit, a letter the reason.
skip_if_not_installed("generics")
d <- problem_frame(200)
p <- problem_matrix(200)
fit_of <- function(...) suppressWarnings(suppressMessages(dp_sosp(..., eps = 5, delta = 1e-6, progress = FALSE)))
short <- list(target = sosp(10, 10)) # it ends with the first release
quick <- function(..., method = "2opt-ls") do.call(fit_of, c(list(..., method = method), short))
fits <- list(
  formula = quick(y ~ a + b, d, bounds = frame_bounds), matrix = quick(p$x, p$y, radius = 2),
  source = quick(y ~ a + b, dp_source(in_chunks(d, 100)), bounds = frame_bounds),
  batch = quick(y ~ a + b, d, bounds = frame_bounds, method = "2opt-b"),
  nonconvex = quick(y ~ a + b, d, bounds = frame_bounds, loss = "sigmoid", penalty = penalty_nonconvex(0.01)),
  margins = fit_of(y ~ a + b, d, bounds = frame_bounds, loss = "huber_svm", method = "objpert"),
  numbers = fit_of(a ~ b, d, bounds = frame_bounds["b"], loss = loss_huber(c(10, 30)), method = "objpert"),
  classes = fit_of(f ~ a + b, d, bounds = frame_bounds),
  intervals = fit_of(y ~ a + b, d, bounds = frame_bounds, inference = "sandwich"),
  network = fit_of(p$x, p$y > 0, model = model_mlp(2), bounds = c(-1, 1), control = control_network(epochs = 1)),
  layers = fit_of(y ~ a + b, d, model = model_mlp(2), bounds = frame_bounds, control = control_network(epochs = 1))
)
fits$certificate <- suppressMessages(dp_certify(fits$formula, d, eps = 1, delta = 1e-6))

reasons <- c(
  d = "keeps no training data", t = "no terms with an environment", l = "no deviance or likelihood",
  i = "has no intervals", s = "losses of one predictor", m = "no one minimiser", f = "has no formula",
  w = "a matrix for each layer", c = "is a certificate, not the fit", p = "no probabilities", n = "is numeric",
  q = "releases no scale of residuals",
  x = "would be another fit", g = "^[Nn]o .*method", a = "not supported by autoplot"
)
table <- utils::read.table(row.names = 1, header = TRUE, text = "
  generic     formula matrix source batch nonconvex margins numbers classes intervals network layers certificate
  print       .       .      .      .     .         .       .       .       .         .       .      .
  summary     .       .      .      .     .         .       .       .       .         .       .      .
  coef        .       .      .      .     .         .       .       .       .         .       .      c
  nobs        .       .      .      .     .         .       .       .       .         .       .      c
  formula     .       f      .      .     .         .       .       .       .         f       .      c
  predict     .       .      .      .     .         .       .       .       .         .       .      c
  probability .       .      .      .     .         p       .       .       .         .       .      c
  class       .       .      .      .     .         .       n       .       .         .       .      c
  old         d       d      d      d     d         d       d       d       d         d       d      c
  vcov        i       i      i      i     i         i       i       i       .         m       m      c
  confint     i       i      i      i     i         i       i       i       .         m       m      c
  plot        .       .      .      .     .         .       .       .       .         .       .      c
  tidy        .       .      .      .     .         .       .       .       .         w       w      g
  glance      .       .      .      .     .         .       .       .       .         .       .      g
  augment     .       .      .      .     .         .       .       .       .         .       .      g
  autoplot    .       .      .      .     .         .       .       .       .         .       .      a
  dp_ledger   .       .      .      .     .         .       .       .       .         .       .      .
  terms       t       t      t      t     t         t       t       t       t         t       t      c
  model.frame t       t      t      t     t         t       t       t       t         t       t      c
  model.matrix t      t      t      t     t         t       t       t       t         t       t      c
  fitted      d       d      d      d     d         d       d       d       d         d       d      c
  residuals   d       d      d      d     d         d       d       d       d         d       d      c
  simulate    d       d      d      d     d         d       d       d       d         d       d      c
  weights     d       d      d      d     d         d       d       d       d         d       d      c
  influence   d       d      d      d     d         d       d       d       d         d       d      c
  hatvalues   d       d      d      d     d         d       d       d       d         d       d      c
  cooks.distance d    d      d      d     d         d       d       d       d         d       d      c
  rstandard   d       d      d      d     d         d       d       d       d         d       d      c
  rstudent    d       d      d      d     d         d       d       d       d         d       d      c
  deviance    l       l      l      l     l         l       l       l       l         l       l      c
  logLik      l       l      l      l     l         l       l       l       l         l       l      c
  AIC         l       l      l      l     l         l       l       l       l         l       l      c
  BIC         l       l      l      l     l         l       l       l       l         l       l      c
  extractAIC  l       l      l      l     l         l       l       l       l         l       l      c
  add1        x       x      x      x     x         x       x       x       x         l       l      c
  drop1       x       x      x      x     x         x       x       x       x         l       l      c
  anova       i       i      i      i     i         i       i       i       .         l       l      c
  profile     l       l      l      l     l         l       l       l       l         l       l      c
  sigma       q       q      q      q     q         q       q       q       q         l       l      c
  step        t       t      t      t     t         t       t       t       t         t       t      c
")

new_data <- function(kind) if (kind %in% c("matrix", "network")) p$x[1:3, ] else d[1:3, ]
run <- function(generic, kind) {
  fit <- fits[[kind]]
  new <- new_data(kind)
  switch(generic,
    predict = predict(fit, new), probability = predict(fit, new, type = "response"),
    class = predict(fit, new, type = "class"), old = predict(fit), augment = generics::augment(fit, newdata = new),
    tidy = generics::tidy(fit), glance = generics::glance(fit), autoplot = ggplot2::autoplot(fit),
    step = stats::step(fit, trace = 0), get(generic)(fit)
  )
}

test_that("every generic works on every kind of fit, or says why not", {
  if (!requireNamespace("ggplot2", quietly = TRUE)) table <- table[rownames(table) != "autoplot", ]
  withr::local_pdf(NULL)
  expect_setequal(names(fits), names(table))
  for (generic in rownames(table)) for (kind in names(table)) {
    code <- table[generic, kind]
    what <- paste0(generic, "() of a fit of kind ", kind)
    utils::capture.output(got <- tryCatch(run(generic, kind), error = identity))
    if (code == ".") {
      expect_false(inherits(got, "condition") || is.null(got), info = paste(what, "fails:", conditionMessage(got)))
      next
    }
    expect_s3_class(got, "error")
    expect_match(conditionMessage(got), reasons[[code]], info = what)
    if (!code %in% c("g", "a")) expect_s3_class(got, "dpsosp_error_argument")
  }
})

test_that("family() is that of glm() with the same mean", {
  d <- problem_frame(100)
  d$count <- 1:100 %% 4
  made <- function(formula, ...) {
    quiet_fit(formula, d, eps = 9, delta = 1e-4, bounds = frame_bounds, method = "auto", ...)
  }
  expect_identical(stats::family(made(y ~ a))$family, "binomial")
  expect_identical(stats::family(made(count ~ a, loss = loss_poisson(4)))$link, "log")
  expect_identical(stats::family(made(a ~ b, loss = loss_squared(c(10, 30))))$family, "gaussian")
  expect_error(stats::family(made(y ~ a, loss = "sigmoid")), "no family", class = "dpsosp_error_absent")
  expect_error(stats::family(made(f ~ a)), "no family", class = "dpsosp_error_absent")
})
