# What does a gradient of the default method cost in PostgreSQL: from prepared rows, in one statement, in chunks?
#   Rscript dev/bench/push.R HOST [ROWS [LIBRARY]]       HOST: a server, or the folder of its socket
# Its user is postgres. Times of a step are differences of fits with more and with fewer steps, in turn; ratios count.
args <- commandArgs(TRUE)
n <- if (length(args) > 1) as.numeric(args[2]) else 5e5
library(dpsosp, lib.loc = if (length(args) > 2) args[3])
connect <- function() DBI::dbConnect(RPostgres::Postgres(), host = args[1], user = "postgres", dbname = "postgres")

set.seed(1)
x <- matrix(rnorm(n * 10), n, dimnames = list(NULL, paste0("x", 1:10)))
data <- data.frame(x, f = sample(letters[1:5], n, TRUE), g = sample(letters[1:4], n, TRUE),
                   y = ifelse(x[, 1] - x[, 2] + rlogis(n) > 0, "yes", "no"))
levels <- list(f = letters[1:5], g = letters[1:4], y = c("no", "yes"))
bounds <- stats::setNames(rep(list(c(-3, 3)), 10), colnames(x))
connection <- connect()
DBI::dbWriteTable(connection, "bench_push", data, overwrite = TRUE)

# A table of the name of the prepared ones makes each statement compute its rows.
taken <- connect()
DBI::dbExecute(taken, "CREATE TEMP TABLE dpsosp_rows (taken int)")
table <- function(connection, push) {
  dp_source(connection, "bench_push", levels = levels, push = push, cache = "none")
}
ways <- list(prepared = table(connection, TRUE), statement = table(taken, TRUE), chunks = table(connect(), FALSE))
seconds <- function(source, iterations) {
  system.time(suppressMessages({
    dp_sosp(y ~ ., source, eps = 1, delta = 1e-8, bounds = bounds, method = "newton-ridge", noise = "reproducible",
            control = control_newton_ridge(iterations = iterations), progress = FALSE)
  }))[["elapsed"]]
}
times <- replicate(3, vapply(ways, function(source) (seconds(source, 6) - seconds(source, 2)) / 4, 0))
step <- apply(times, 1, stats::median)
cat(sprintf("%.0f rows, a gradient: prepared rows %.2f s, one statement %.2f s, chunks %.2f s\n", n, step[1], step[2],
            step[3]))
cat(sprintf("chunks over prepared rows %.1f (wanted: 3), over one statement %.2f (wanted: 1.2)\n", step[3] / step[1],
            step[3] / step[2]))
DBI::dbExecute(connection, "DROP TABLE bench_push")
