# Sources with one odd value, and their neighbours, where it is missing.

neighbour_frame <- local({
  d <- problem_frame(40)
  data.frame(a = round(d$a, 2), f = as.character(d$f), day = as.character(as.Date("2020-01-01") + seq_len(40)),
             time = sprintf("2020-01-01 10:00:%02d", seq_len(40)), logical = as.character(d$b > 0),
             y01 = as.integer(d$y == "yes"))
})
neighbour_types <- c(a = "numeric", day = "Date", time = "POSIXct", logical = "logical", y01 = "numeric")
neighbour_levels <- list(f = c("u", "v", "w"))
neighbour_typed <- function(data) {
  transform(data, a = as.double(a), day = as.Date(day), time = as.POSIXct(time, tz = "UTC"),
            logical = as.logical(logical), f = factor(f, neighbour_levels$f))
}
neighbour_bounds <- list(a = c(10, 30), "I(a * 2)" = c(20, 60), day = c(18262, 18302), time = c(1577872800, 1577872840))

# The conditions of making a source and of a fit to it, n and the fit.
outcome_of <- function(make, method = "gd", formula = y01 ~ a + f + day + time + logical) {
  seen <- list()
  note <- function(restart) function(condition) {
    seen[[length(seen) + 1]] <<- list(class(condition), conditionMessage(condition))
    invokeRestart(restart)
  }
  set.seed(4)
  result <- withCallingHandlers({
    source <- make()
    used <- neighbour_bounds[intersect(names(neighbour_bounds), labels(terms(formula)))]
    fit <- dp_sosp(formula, source, bounds = used, method = method, loss = "logistic", eps = 3, delta = 1e-6,
                   noise = "reproducible", progress = FALSE)
    list(n = source$n, fit = fit[names(fit) != "call"])
  }, warning = note("muffleWarning"), message = note("muffleMessage"))
  c(result, list(seen = seen))
}

# Each value in each column, in rows that change: chunks begin at 1, 16 and 31. make(column, row, value), and
# make(column, row, missing), return the function that makes the source.
expect_as_missing <- function(values, missing, make, neighbour = make, outcome = outcome_of,
                              of = names(neighbour_frame), rows = c(1, 8, 15, 16, 31, 40)) {
  known <- list()
  for (i in seq_along(values)) {
    for (k in long_values(seq_along(of), i)) {
      row <- rows[(i + k) %% length(rows) + 1]
      key <- paste(of[k], row)
      if (is.null(known[[key]])) known[[key]] <- outcome(neighbour(of[k], row, missing))
      testthat::expect_identical(outcome(make(of[k], row, values[[i]])), known[[key]], info = key)
    }
  }
}

put <- function(data, column, row, value) {
  data[[column]][row] <- value
  data
}
