# Random malformed arguments for all exported functions: there is a value or an error of the package's own class, and
# nothing else. The random choices are seeded; DPSOSP_FUZZ sets the number of calls of each function (default 40).

set.seed(1)
p <- problem_matrix(25)
d <- problem_frame(25)
quick <- control_opt(max_iterations = 3)
plenty <- function() dp_budget(rho = 1e6)
some_oracle <- function() dp_oracle(p$x, p$y, "logistic", plenty(), 2)
restored <- function(x) unserialize(serialize(x, NULL))
fitted_frame <- quiet_fit(y ~ a + f, d, eps = 1, delta = 1e-6, control = quick)
fitted_matrix <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, control = quick)

# ---- what may come as an argument ----

numbers <- c(0, -0, 1, -1, 0.5, 2, NA, NaN, Inf, -Inf, 1e-320, 1e-200, 1e-17, 1e17, 1e154, 1e200, 1.7e308, 2^31, 2^53,
             3L)

scramble <- function(x) {
  if (!(is.numeric(x) || is.character(x) || is.logical(x)) || length(x) == 0L) return(anything())
  at <- sample(length(x), 1L)
  switch(sample(6, 1),
    x[-at], rev(x), replace(x, at, sample(numbers, 1)), c(x, x), x[0], replace(x, seq_along(x), sample(numbers, 1))
  )
}

odd_columns <- list(
  function(n) rep_len(sample(numbers, 3, TRUE), n), function(n) as.integer(rep_len(c(NA, 2147483647L, -5L), n)),
  function(n) rep_len(c("u", NA, ""), n), function(n) rep(NA, n), function(n) as.complex(seq_len(n)),
  function(n) factor(rep_len(c("u", "v", NA), n), exclude = NULL), function(n) factor(rep(NA, n)),
  function(n) ordered(rep_len(c("v", "u"), n)), function(n) Sys.Date() + seq_len(n), function(n) as.list(seq_len(n)),
  function(n) as.raw(rep_len(0:9, n)), function(n) I(cbind(seq_len(n), 1)), function(n) rep_len(c(TRUE, FALSE, NA), n),
  function(n) structure(seq_len(n), class = "unknown"), function(n) as.POSIXlt(Sys.time() + seq_len(n)),
  function(n) rep_len(c(0, 1), n), function(n) rep_len(c(-1, 1, NA), n), function(n) numeric(n),
  function(n) rep_len(c("u", bytes, "\xe9"), n), function(n) replace(rep_len(c(0, 1), n), 3, sample(numbers, 1)),
  function(n) structure(rep_len(c(1L, 9L, -1L, NA), n), levels = c("u", "v"), class = "factor"),
  function(n) structure(rep_len(c(1L, 0L, 2L), n), levels = c("u", "v", "w"), class = "factor"),
  function(n) rep_len(c("1", latin1, strrep("9", 3000)), n),
  function(n) structure(rep_len(1:2, n), levels = c("u", bytes), class = "factor")
)
bytes <- "\xff\xfe"
Encoding(bytes) <- "bytes"
latin1 <- "\xe9"
Encoding(latin1) <- "latin1"
# A source in two chunks. The second one has a column of another type, in every pass or only in some.
odd_source <- function() {
  name <- sample(c("a", "b", "f", "y"), 1)
  odd <- replicate(sample(2, 1), sample(odd_columns, 1)[[1]](15), simplify = FALSE)
  pass <- 0
  dp_source(n = 25, types = sample(list(NULL, c(a = "numeric")), 1)[[1]], function() {
    pass <<- pass + 1
    changed <- d[11:25, ]
    changed[[name]] <- odd[[pass %% length(odd) + 1]]
    chunks <- list(d[1:10, ], changed)
    at <- 0
    function() {
      at <<- at + 1
      if (at <= 2) chunks[[at]]
    }
  })
}
odd_frame <- function() {
  x <- d
  for (i in seq_len(sample(3, 1))) {
    column <- sample(odd_columns, 1)[[1]](nrow(x))
    x[[sample(c("a", "b", "f", "y", "z"), 1)]] <- column
  }
  switch(sample(6, 1), x, x[0, ], x[1, ], x[, 0], stats::setNames(x, rep_len(c("y", "a", "a", NA, ""), length(x))),
         cbind(x, x))
}
odd_matrix <- function() {
  x <- p$x
  x[sample(length(x), 5)] <- sample(numbers, 5, TRUE)
  switch(sample(9, 1), x, x[0, ], x[, 0], x[1, , drop = FALSE], replace(x, TRUE, sample(numbers, 1)), x > 0, x + 0i,
         matrix(as.character(x), nrow(x)), array(x, c(nrow(x), 1, 2)))
}
odd_formula <- function() {
  sample(list(
    y ~ a, y ~ ., ~a, y ~ 0, y ~ a + 0, y ~ f, y ~ a:b, a ~ y, y ~ a + a, y ~ log(a), y ~ nothing, y ~ nothing(a),
    y ~ NULL, y ~ "a", cbind(y, a) ~ b, y ~ I(a^2), y ~ poly(a, 2), y ~ a | b, y ~ a %in% b, y ~ offset(a),
    y ~ stop("in a formula"), y ~ 1, y ~ -1, y ~ a + NA, y ~ mean(a), y ~ rev(a), y ~ (function(x) x)(a), y ~ a[1],
    y ~ .data$a, log(y) ~ a, factor(y) ~ a, (y == "yes") ~ a, y ~ a - a, y ~ T, ~ ., y ~ `a`, # nolint
    y ~ exp(exp(exp(a))), y ~ I(a / numbers), y ~ I(a * T), y ~ (a > run), y ~ I(a + letters), # nolint
    y ~ ifelse(b > 0, a, NA), y ~ y, y ~ as.numeric(f), y ~ as.integer(a), y ~ f %in% "u", y ~ I(f == "u"), y ~ f:b,
    y ~ ns(a, knots = 20, Boundary.knots = c(10, 30))
  ), 1)[[1]]
}

anything <- function() {
  switch(sample(12, 1),
    NULL, sample(numbers, 1), sample(numbers, sample(0:4, 1), TRUE),
    sample(c("a", "", NA, "opt", "logistic", "svt"), 1),
    sample(list(TRUE, FALSE, NA, character(), list(), list(1, "a"), quote(x), quote(x + y), function(x) x, globalenv(),
                1i, as.raw(1), factor("a"), Sys.Date(), expression(a), Matrix::Matrix(0, 2, 2), baseenv,
                "\xe9"), 1)[[1]],
    odd_frame(), odd_matrix(), odd_formula(),
    sample(list(quick, plenty(), restored(plenty()), some_oracle(), restored(some_oracle()), fitted_frame,
                loss_sigmoid(), penalty_ridge(1), sosp(0.1, 0.1)), 1)[[1]],
    sample(list(structure(list(), class = "dp_budget"), structure(list(pointer = 1), class = "dp_budget"),
                structure(list(), class = "dp_oracle"), structure("x", class = "dp_oracle"),
                structure(list(pointer = plenty()$pointer), class = "dp_oracle"),
                structure(list(pointer = some_oracle()$pointer), class = "dp_budget")), 1)[[1]],
    stats::setNames(as.list(sample(numbers, 2)), sample(c("a", "b", NA, ""), 2)),
    list(a = c(0, 1), b = sample(numbers, 2))
  )
}

# ---- what is called, with arguments that are right ----

run <- list(eps = 1, delta = 1e-6, method = "2opt-ls", loss = "sigmoid", penalty = penalty_ridge(0.1), radius = 2,
            target = sosp(0.1, 0.1), control = quick, budget = NULL, neighbours = "zero-out", start = NULL,
            noise = "reproducible", progress = FALSE)
calls <- list(
  list(dp_sosp, function() c(list(y ~ a + f, data = d, bounds = list(a = c(10, 30))), run)),
  list(dp_sosp, function() c(list(p$x, y = p$y, intercept = TRUE), run)),
  list(dp_sosp, function() c(list(y ~ a + f, data = odd_source(), bounds = list(a = c(10, 30))), run)),
  list(dp_oracle, function() list(p$x, p$y, "logistic", plenty(), 2, TRUE, "replace-one", "secure")),
  list(dp_value, function() list(some_oracle(), c(0, 1, 0), mu = 1, rho = NULL)),
  list(dp_gradient, function() list(some_oracle(), c(0, 1, 0), mu = NULL, rho = 1)),
  list(dp_hessian, function() list(some_oracle(), c(0, 1, 0), mu = 1, rho = NULL)),
  list(dp_line_search, function() {
    list(some_oracle(), w = c(0, 1, 0), direction = c(1, 0, 0), steps = c(2, 1), mu = 1,
         mechanism = sample(c("gaussian", "svt", "exponential"), 1), sufficient = 0.1)
  }),
  list(dp_budget, function() list(eps = 1, delta = 1e-6, rho = NULL, mu = NULL, accountant = "auto")),
  list(dp_convert, function() list(eps = c(1, 2), delta = 1e-6, rho = NULL, mu = NULL, to = NULL, order = NULL)),
  list(dp_ledger, function() list(plenty())),
  list(control_opt, function() unclass(quick)),
  list(sosp, function() list(eps_g = 0.1, eps_h = 0.1, alpha = NULL)),
  list(penalty_ridge, function() list(0.1)),
  list(penalty_nonconvex, function() list(0.1)),
  list(function(...) predict(fitted_frame, ...), function() list(d, type = "class")),
  list(function(...) predict(fitted_matrix, ...), function() list(p$x, type = "link", se.fit = FALSE)),
  list(function(...) print(summary(fitted_frame), ...), function() list(digits = 4)),
  list(function(...) print(quick, ...), function() list(digits = 4)),
  list(function(...) tidy.dp_sosp(fitted_frame, ...), function() list(conf.int = FALSE, exponentiate = TRUE))
)

# Leaves out, adds, distorts or replaces one to three arguments.
malform <- function(arguments) {
  for (i in seq_len(sample(c(1, 1, 2, 3), 1))) {
    if (length(arguments) == 0L) break
    at <- sample(length(arguments), 1L)
    arguments <- switch(sample(4, 1),
      arguments[-at],
      c(arguments, stats::setNames(list(anything()), sample(c("eps", "epsilon", "lambda", "digits", "other", ""), 1))),
      replace(arguments, at, list(scramble(arguments[[at]]))),
      replace(arguments, at, list(anything()))
    )
  }
  arguments
}

# "answer", "refused", or an unexpected condition. R's own errors about matching arguments are not the package's.
outcome <- function(f, arguments) {
  result <- "answer"
  note <- function(condition) {
    matching <- "unused argument|matched by multiple|argument matches|formal argument"
    result <<- if (grepl(matching, conditionMessage(condition))) "refused" else condition
  }
  tryCatch(
    withCallingHandlers(
      utils::capture.output(print(do.call(f, arguments, quote = TRUE))),
      warning = function(w) {
        if (!inherits(w, "dpsosp_warning")) note(w)
        invokeRestart("muffleWarning")
      },
      message = function(m) {
        if (!inherits(m, "dpsosp_message")) note(m)
        invokeRestart("muffleMessage")
      }
    ),
    dpsosp_error = function(e) result <<- "refused",
    error = note
  )
  result
}

test_that("malformed arguments end in an answer or in an error of the package", {
  skip_if_not_installed("Matrix")
  times <- as.integer(Sys.getenv("DPSOSP_FUZZ", long_size("40", "15")))
  set.seed(as.integer(Sys.getenv("DPSOSP_FUZZ_SEED", "7")))
  count <- c(answer = 0, refused = 0)
  for (call in calls) {
    for (i in seq_len(times)) {
      arguments <- malform(call[[2]]())
      result <- outcome(call[[1]], arguments)
      if (is.character(result)) {
        count[result] <- count[result] + 1
      } else {
        shown <- paste(utils::capture.output(utils::str(arguments, give.attr = FALSE)), collapse = "\n")
        fail(paste0(class(result)[1], ": ", conditionMessage(result), "\nin ", deparse(conditionCall(result))[1],
                    "\narguments:\n", shown))
      }
    }
  }
  # Both outcomes are frequent.
  expect_gt(min(count), 0.05 * times * length(calls))
})
