# Stores in PostgreSQL: an owner, and analysts who may call one function.

claim <- list(asked = list(), call = quote(f()), neighbours = "replace-one")
charge <- function(b, rho = 1e-3) dpsosp:::reserve(b, c(rho = rho, eps = 0, delta = 0), claim, "f")

as_role <- function(owner, role, frame = parent.frame()) {
  info <- DBI::dbGetInfo(owner)
  con <- DBI::dbConnect(RPostgres::Postgres(), host = info$host, user = role, dbname = info$dbname)
  withr::defer(suppressWarnings(DBI::dbDisconnect(con)), frame)
  con
}

grant <- function(owner, role) {
  for (statement in c("CREATE ROLE %s LOGIN", "GRANT USAGE ON SCHEMA dpsosp TO %s",
                      "GRANT SELECT ON dpsosp.study, dpsosp.reservation TO %s",
                      "GRANT EXECUTE ON FUNCTION dpsosp.reserve TO %s")) {
    DBI::dbExecute(owner, sprintf(statement, role))
  }
}

postgres_store <- function(con, study = "s", eps = 1, ...) {
  suppressMessages(dp_budget(eps = eps, delta = 1e-7, store = con, study = study, ...))
}

test_that("a store in PostgreSQL works as a file does, for analysts with three grants", {
  local_stores()
  owner <- postgres_connection()
  expect_error(dp_budget(store = owner, study = "s"), class = store_error)
  expect_error(dp_budget(store = owner), "study", class = "dpsosp_error_argument")
  b <- postgres_store(owner, other = c(eps = 0.2, delta = 1e-8))
  expect_equal(dp_budget(store = owner, study = "s"), b)
  expect_error(postgres_store(owner), "other", class = "dpsosp_error_argument")
  grant(owner, "analyst")
  analyst <- as_role(owner, "analyst")
  mine <- dp_budget(store = analyst, study = "s")
  fit <- store_fit(mine, eps = 0.3, label = "main")
  perturbed <- store_fit(mine, eps = 0.2, delta = 1e-8, method = "objpert")
  ledger <- dp_ledger(b)
  expect_identical(ledger$user, c("analyst", "analyst"))
  expect_identical(ledger$hash, c(fit$privacy$receipt$hash, perturbed$privacy$receipt$hash))
  expect_identical(ledger$rho, c(dp_convert(eps = 0.3, delta = 1e-7, to = "mu")^2 / 2, 0))
  expect_identical(dpsosp:::store_row(b, 1L)$label, "main")
  expect_error(store_fit(mine, eps = 0.9), class = exhausted)
  expect_error(store_fit(mine, eps = 0.01, delta = 1e-10, method = "objpert"), class = exhausted)
  expect_error(store_fit(mine, eps = 0.1, neighbours = "zero-out"), class = "dpsosp_error_relation")
  second <- postgres_store(owner, "t")
  charge(second)
  expect_equal(c(nrow(dp_ledger(b)), nrow(dp_ledger(second))), c(2L, 1L))
  for (statement in c("DELETE FROM dpsosp.reservation", "UPDATE dpsosp.study SET capacity = '0x1p+9'",
                      "INSERT INTO dpsosp.reservation SELECT * FROM dpsosp.reservation",
                      "DROP FUNCTION dpsosp.reserve", "CREATE TABLE dpsosp.more (x text)")) {
    expect_error(DBI::dbExecute(analyst, statement), "permission denied|must be owner")
  }
  DBI::dbExecute(owner, "CREATE ROLE stranger LOGIN")
  expect_error(DBI::dbExecute(as_role(owner, "stranger"), "SELECT dpsosp.reserve('s')"), "permission denied")
  # Somebody with all rights leaves traces.
  DBI::dbExecute(owner, "UPDATE dpsosp.reservation SET rho = '0x1p-40' WHERE name = 's' AND number = 1")
  expect_error(charge(mine), "follow from each other", class = store_error)
})

# Called directly, as an analyst may.
reserve_sql <- function(con, rho, other_eps = "0x0p+0", other_delta = "0x0p+0") {
  given <- c(name = "s", host = "h", process = "1", nonce = "0", version = "v", label = "", call = "", n = "",
             unit = "record", method = "m", accountant = "gdp", rho = rho, other_eps = other_eps,
             other_delta = other_delta)
  statement <- sprintf("SELECT * FROM dpsosp.reserve(%s)", paste0("$", seq_along(given), collapse = ", "))
  suppressWarnings(DBI::dbGetQuery(con, statement, params = unname(as.list(given)))) # RPostgres', after an error
}

test_that("the server itself adds up, refuses and hashes", {
  local_stores()
  owner <- postgres_connection()
  b <- postgres_store(owner, other = c(eps = 0.2, delta = 1e-8))
  grant(owner, "analyst")
  analyst <- as_role(owner, "analyst")
  capacity <- as.numeric(dpsosp:::stored_state(b)$study$capacity)
  half <- sprintf("%a", capacity / 2)
  for (wrong in c("NaN", "Infinity", "-0x1p-9", "0x0p+0", "x", "0x1p+9")) {
    expect_error(reserve_sql(analyst, wrong), "no cost|exhausted|invalid input")
    expect_error(reserve_sql(analyst, half, wrong, "0x1p-60"), if (wrong == "0x0p+0") NA else
      "no cost|exhausted|invalid input")
    if (wrong != "0x0p+0") expect_error(reserve_sql(analyst, half, "0x1p-60", wrong), "no cost|exhausted|invalid")
  }
  expect_equal(nrow(dp_ledger(b)), 1L)
  reserve_sql(analyst, half)
  expect_error(reserve_sql(analyst, sprintf("%a", capacity * 1e-12)), "exhausted")
  expect_error(reserve_sql(analyst, "0x0p+0", sprintf("%a", 0.2001)), "exhausted")
  expect_equal(sum(dp_ledger(b)$rho), capacity)
  above <- DBI::dbGetQuery(owner, "SELECT dpsosp.add_above(1, 1e-30) > 1 AS more, dpsosp.add_above(1, 2) = 3 AS same")
  expect_true(above$more && above$same)
})

test_that("a reservation that may be lost is no reservation", {
  local_stores()
  owner <- postgres_connection()
  b <- postgres_store(owner)
  DBI::dbExecute(owner, "SET synchronous_commit = off")
  expect_error(charge(b), "synchronous_commit", class = store_error)
  suppressWarnings(DBI::dbExecute(owner, "SET synchronous_commit = on")) # RPostgres', after an error
  DBI::dbExecute(owner, "BEGIN")
  expect_error(charge(b), "transaction", class = store_error)
  DBI::dbExecute(owner, "ROLLBACK")
  expect_equal(nrow(dp_ledger(b)), 0L)
  expect_identical(charge(b)$number, 1L)
  if (.Platform$OS.type == "unix") {
    job <- parallel::mcparallel(tryCatch(charge(b), error = class), silent = TRUE)
    expect_true("dpsosp_error_fork" %in% unlist(parallel::mccollect(job)))
  }
  restored <- unserialize(serialize(b, NULL))
  expect_error(charge(restored), class = store_error)
  expect_equal(nrow(dp_ledger(b)), 1L)
})

test_that("the function waits for the study's row before it adds up", {
  skip_unless_long()
  local_stores()
  owner <- postgres_connection()
  b <- postgres_store(owner)
  other <- as_role(owner, "postgres")
  DBI::dbExecute(owner, "BEGIN")
  reserve_sql(owner, "0x1p-10")
  DBI::dbExecute(other, "SET lock_timeout = '200ms'")
  expect_error(reserve_sql(other, "0x1p-10"), "FOR UPDATE")
  DBI::dbExecute(owner, "COMMIT")
  suppressWarnings(reserve_sql(other, "0x1p-10"))
  expect_equal(nrow(dp_ledger(b)), 2L)
})

test_that("two analysts at the same time do not exceed the capacity", {
  local_stores()
  owner <- postgres_connection()
  b <- postgres_store(owner)
  times <- floor(as.numeric(dpsosp:::stored_state(b)$study$capacity) / 1e-3)
  roles <- c("one", "two")
  for (role in roles) grant(owner, role)
  info <- DBI::dbGetInfo(owner)
  jobs <- lapply(roles, function(role) {
    parallel::mcparallel({
      con <- DBI::dbConnect(RPostgres::Postgres(), host = info$host, user = role, dbname = info$dbname)
      mine <- dp_budget(store = con, study = "s")
      accepted <- integer()
      repeat {
        receipt <- tryCatch(charge(mine), dpsosp_budget_exhausted = function(e) NULL)
        if (is.null(receipt)) break
        accepted <- c(accepted, receipt$number)
      }
      DBI::dbDisconnect(con)
      accepted
    }, silent = TRUE)
  })
  accepted <- unlist(parallel::mccollect(jobs))
  expect_identical(sort(unname(accepted)), seq_len(times))
  expect_setequal(dp_ledger(b)$user, roles)
})
