# Several records of a person.

persons_data <- function(n = 701, seed = 1, most = 20) {
  set.seed(seed)
  m <- sample.int(most, n, TRUE)
  id <- rep(seq_len(n), m)
  d <- data.frame(person = paste0("p", id), a = runif(length(id), -1, 1), b = runif(length(id), -1, 1))
  effect <- rnorm(n)[id]
  d$y <- factor(ifelse(2 * d$a - d$b + effect + rlogis(nrow(d)) > 0, "yes", "no"), levels = c("no", "yes"))
  d$z <- d$a + d$b + 0.3 * effect
  d$count <- rpois(nrow(d), exp(d$a))
  d$class <- factor(c("u", "v", "w")[1 + (d$a > 0) + (d$b > 0)], c("u", "v", "w"))
  d[sample(nrow(d)), ]
}

# Records without a response, without an id, and a person with null records only.
with_gaps <- function(d = persons_data(201)) {
  d$a[5:9] <- NA
  d$y[d$person == "p7"] <- NA
  d$person[20:22] <- NA
  d
}

persons_fit <- function(data = persons_data(), formula = y ~ a + b, id = "person", seed = 5, eps = 2,
                        bounds = list(a = I(c(-1, 1)), b = I(c(-1, 1))), ...) {
  force(data)
  set.seed(seed)
  call <- quote(dp_sosp(formula, data, eps = eps, delta = 1e-5, noise = "reproducible", bounds = bounds,
                        progress = FALSE, ...))
  if (!is.null(id)) call$id <- id
  suppressWarnings(suppressMessages(eval(call)))
}
fit_parts <- c("coefficients", "certificate", "trace", "released", "geometry", "checks", "decrease")
# The noise covers what is rounded in as many rows as persons may have, so that other limits change its last digits.
expect_same <- function(a, b, parts = fit_parts, tolerance = 0) {
  a$checks$persons <- b$checks$persons <- NULL
  for (part in parts) {
    if (tolerance == 0) expect_identical(a[[!!part]], b[[!!part]])
    else expect_equal(a[[!!part]], b[[!!part]], tolerance = tolerance)
  }
}

# All numbers of an object.
numbers_in <- function(x) {
  if (is.list(x)) return(unlist(lapply(unclass(x), numbers_in)))
  if (is.call(x)) return(numbers_in(as.list(x)))
  if (is.numeric(x)) as.double(x) else NULL
}

# Is the number, or a usual function of it, among those of a fit?
tells_number <- function(fit, number) {
  functions <- list(function(v) v, function(v) 1 / v, function(v) 2 / v, function(v) 1 / sqrt(abs(v)),
                    function(v) sqrt(2) / v, function(v) sqrt(abs(v)), function(v) v^2, function(v) exp(v))
  values <- numbers_in(unclass(fit))
  values <- values[is.finite(values) & values != 0]
  any(vapply(functions, function(f) any(abs(abs(f(values)) - number) < 1e-6 * number), NA))
}

# What a call says.
what_is_said <- function(code) {
  said <- character()
  note <- function(m) {
    said <<- c(said, conditionMessage(m))
    tryInvokeRestart("muffleMessage")
    tryInvokeRestart("muffleWarning")
  }
  shown <- utils::capture.output(withCallingHandlers(code, message = note, warning = note))
  gsub(",", "", c(said, shown))
}

# Neither the messages and prints of a fit to a source of 201 persons nor the fit tell one of these numbers of rows.
expect_rows_untold <- function(make, numbers) {
  for (arguments in list(list(bounds = "private"), list(formula = z ~ a, loss = "squared"))) {
    said <- what_is_said({
      source <- make()
      print(source)
      set.seed(1)
      fit <- do.call(dp_sosp, utils::modifyList(list(formula = y ~ a + b, data = source, eps = 1, progress = FALSE),
                                                arguments))
      print(fit)
      print(summary(fit))
    })
    expect_match(said, "201 persons at most 1000 records each", all = FALSE)
    for (number in numbers) {
      expect_no_match(said, as.character(number))
      expect_false(tells_number(fit, number))
    }
    expect_true(tells_number(fit, 201))
  }
}
