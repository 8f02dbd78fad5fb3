# Smooth terms as they are shown, with all losses and from all forms of data.

# ---- what is shown ----

test_that("terms add up to the linear predictor, and smooths are centred in the masses", {
  d <- smooth_problem(8000)
  fit <- smooth_fit(y ~ s(a) + s(z, k = 4) + log(b + 1) + f + ti(a, z), d)
  new <- rbind(d[1:50, ], NA)
  terms <- predict(fit, new, type = "terms")
  expect_identical(colnames(terms), c("s(a)", "s(z, k = 4)", "log(b + 1)", "f", "ti(a, z)"))
  expect_true("and ti(a, z)" %in% capture.output(print(fit)))
  expect_equal(rowSums(terms) + attr(terms, "constant"), predict(fit, new))
  for (label in c("s(a)", "s(z)")) {
    term <- fit$design$smooth$terms[[label]]
    value <- dpsosp:::smooth_values(fit, label)
    width <- diff(term$breaks)
    at <- term$breaks[-1] - width / 2
    ends <- dpsosp:::smooth_column(c(at - width / sqrt(12), at + width / sqrt(12)), term$knots, value)
    mass <- rep(0.95 * term$mass + 0.05 / length(term$mass), 2) / 2
    expect_lt(abs(sum(mass * ends)), 1e-8 * max(abs(value)))
  }
  line <- smooth_fit(y ~ a + poly(b / 1000, 2, raw = TRUE) * f, d)
  terms <- predict(line, new, type = "terms")
  expect_identical(colnames(terms), attr(terms(formula(line)), "term.labels"))
  expect_equal(rowSums(terms) + attr(terms, "constant"), predict(line, new))
  expect_error(predict(fit, new, type = "terms", se.fit = TRUE), class = "dpsosp_error_argument")
})

test_that("smooths are shown as a table, as lines of print() and as panels", {
  skip_if_not_installed("generics")
  fit <- smooth_fit(y ~ s(a) + s(z) + f + ti(a, z), smooth_problem(8000))
  table <- generics::tidy(fit, "smooths")
  term <- fit$design$smooth$terms[["s(a)"]]
  expect_identical(table$knot[table$term == "s(a)"], term$knots)
  expect_equal(table$value[table$term == "s(a)"], as.vector(dpsosp:::smooth_values(fit, "s(a)")))
  expect_equal(sum(table$mass), 2)
  lines <- capture.output(print(fit))
  expect_match(lines, "^s\\(a\\) +[0-9]+ +[0-9]+ ", all = FALSE)
  expect_false(any(grepl("s(a).2", lines, fixed = TRUE)))
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit(unlink(file))
  expect_identical(plot(fit, "terms"), fit)
  grDevices::dev.off()
  expect_gt(file.size(file), 3000)
  line <- smooth_fit(y ~ a, smooth_problem(2000))
  expect_identical(plot(line, "terms"), line)
  expect_error(generics::tidy(line, "smooths"), "no smooth terms", class = "dpsosp_error_argument")
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::ggplot_build(ggplot2::autoplot(fit, "terms"))
  expect_length(unique(picture$data[[1]]$PANEL), 3) # two smooths and the factor
})

test_that("other packages take fits with smooths, or are told why not", {
  d <- smooth_problem(4000)
  fit <- smooth_fit(y ~ s(a) + f, d)
  grid <- data.frame(a = c(1, 2), f = c("u", "v"))
  expect_error(dp_inference(fit, d, eps = 1), "do not go with smooth terms", class = "dpsosp_error_inference")
  expect_s3_class(suppressMessages(dp_evaluate(fit, d[1:500, ], eps = 1)), "dp_evaluation")
  expect_identical(suppressMessages(dp_certify(fit, d[1:500, ], eps = 1))$n, 500L)
  again <- suppressMessages(update(fit, formula = y ~ s(a) + f, data = d, eps = 1))
  expect_true("s(a)" %in% names(coef(again)))
  expect_equal(dpsosp:::get_predict.dp_sosp(fit, grid)$estimate, predict(fit, grid, type = "response"))
  skip_if_not_installed("insight")
  expect_setequal(insight::find_predictors(fit, flatten = TRUE), c("a", "f"))
  expect_identical(nrow(insight::get_parameters(fit)), length(coef(fit)))
  skip_if_not_installed("emmeans")
  expect_error(emmeans::emmeans(fit, ~f, data = grid), "no intervals")
})

test_that("all losses with a geometry find shapes", {
  d <- smooth_problem(20000)
  eta <- qlogis(d$truth)
  d$number <- eta + rnorm(nrow(d))
  d$count <- rpois(nrow(d), exp(eta / 4))
  d$class <- cut(eta + rlogis(nrow(d)), c(-Inf, -1, 1, Inf), c("low", "middle", "high"))
  probability <- function(fit) predict(fit, d, type = "response")[cbind(seq_len(nrow(d)), as.integer(d$class))]
  error <- list(
    number = function(fit) mean((predict(fit, d) - eta)^2), count = function(fit) mean((predict(fit, d) - eta / 4)^2),
    class = function(fit) -mean(log(probability(fit)))
  )
  losses <- list(list("number", loss_squared()), list("number", loss_huber()), list("count", loss_poisson()),
                 list("class", loss_multinomial()))
  for (case in long_values(losses, 2)) {
    formula <- function(terms) stats::reformulate(terms, case[[1]])
    smooth <- smooth_fit(formula(c("s(a)", "s(b)", "s(z)", "f")), d, loss = case[[2]])
    line <- smooth_fit(formula(c("a", "b", "z", "f")), d, loss = case[[2]])
    expect_lt(error[[case[[1]]]](smooth), 0.9 * error[[case[[1]]]](line))
    expect_equal(sum(dp_ledger(smooth)$rho), sum(dp_ledger(line)$rho))
  }
  several <- generics::tidy(smooth, "smooths")
  expect_setequal(several$y.level, levels(d$class))
  expect_error(predict(smooth, d, type = "terms"), "one predictor", class = "dpsosp_error_argument")
  expect_output(print(smooth), "Smooth terms")
  expect_s3_class(ggplot2::autoplot(smooth, "terms"), "ggplot")
})

# ---- forms of data ----

test_that("chunks, files, databases and shards give the knots and the fit of data in memory", {
  skip_if_not_installed("mirai")
  skip_if_not_installed("RSQLite")
  d <- smooth_problem(3000)[c("y", "a", "z", "f")]
  d$y <- factor(ifelse(d$y, "yes", "no"), c("no", "yes"))
  d$z[5] <- NA
  d$a[6] <- Inf
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  write.csv(d, file, row.names = FALSE)
  levels <- list(y = c("no", "yes"), f = c("u", "v", "w"))
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(connection), add = TRUE)
  DBI::dbWriteTable(connection, "d", transform(d, y = as.character(y), f = as.character(f)))
  worker <- "smooth"
  mirai::daemons(1, .compute = worker)
  on.exit(mirai::daemons(0, .compute = worker), add = TRUE)
  paths <- .libPaths()
  mirai::call_mirai(mirai::mirai(.libPaths(paths), paths = paths, .compute = worker))
  parts <- list(d[1:1000, ], d[1001:3000, ])
  shard <- function(part) {
    force(part)
    function() part
  }
  sources <- list(
    chunks = dp_source(function() {
      left <- parts
      function() {
        if (length(left) == 0L) return(NULL)
        part <- left[[1]]
        left <<- left[-1]
        part
      }
    }),
    file = dp_source(file, levels = levels), table = dp_source(connection, "d", levels = levels),
    summed = dp_source(connection, "d", levels = levels, push = TRUE),
    shards = dp_shards(lapply(parts, shard), compute = worker)
  )
  formula <- y ~ s(a) + s(z, k = 3) + f
  memory <- smooth_fit(formula, d, eps = 5, subset = f != "v")
  for (name in long_values(names(sources))) {
    other <- smooth_fit(formula, sources[[name]], eps = 5, subset = f != "v")
    expect_equal(other$design$smooth, memory$design$smooth, label = name)
    expect_equal(coef(other), coef(memory), tolerance = if (name == "summed") 2e-5 else 1e-6, label = name)
  }
})
