# A folder for stores, and another one for anchors: tests write nothing into the user's folders.
local_stores <- function(frame = parent.frame()) {
  testthat::skip_if_not_installed("RSQLite")
  folder <- withr::local_tempdir(.local_envir = frame)
  withr::local_envvar(R_USER_CONFIG_DIR = file.path(folder, "config"), .local_envir = frame)
  dir.create(file.path(folder, "stores"))
  file.path(folder, "stores", "study.dpledger")
}

new_store <- function(path, eps = 2, delta = 1e-7, ...) {
  suppressMessages(dp_budget(eps = eps, delta = delta, store = path, ...))
}

# A fit that takes little time.
store_data <- function(n = 300, seed = 1) {
  set.seed(seed)
  d <- data.frame(x = runif(n, -1, 1))
  d$y <- factor(ifelse(runif(n) < plogis(2 * d$x), "b", "a"))
  d
}

store_fit <- function(budget, ..., data = store_data()) {
  suppressWarnings(suppressMessages(
    dp_sosp(y ~ x, data, budget = budget, bounds = list(x = c(-1, 1)), progress = FALSE, ...)
  ))
}

# Statements on a store's file, as someone could send them who knows SQLite.
store_sql <- function(path, ...) {
  con <- DBI::dbConnect(RSQLite::SQLite(), path)
  on.exit(DBI::dbDisconnect(con))
  for (statement in c(...)) DBI::dbExecute(con, statement)
}

# The same, with the tables' triggers taken away and put back.
store_edit <- function(path, ...) {
  con <- DBI::dbConnect(RSQLite::SQLite(), path)
  on.exit(DBI::dbDisconnect(con))
  triggers <- DBI::dbGetQuery(con, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
  for (name in triggers$name) DBI::dbExecute(con, paste("DROP TRIGGER", name))
  for (statement in c(...)) DBI::dbExecute(con, statement)
  for (sql in triggers$sql) DBI::dbExecute(con, sql)
}

exhausted <- "dpsosp_budget_exhausted"
store_error <- "dpsosp_error_store"
