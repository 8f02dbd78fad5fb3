# Sources of every kind with the rows of a data frame.

# A function for dp_source() that returns chunks of a given size; each(at) is called before the chunk that begins after
# row at.
in_chunks <- function(data, chunk, each = function(at) NULL) {
  force(data)
  function() {
    at <- 0
    function() {
      each(at)
      if (at >= nrow(data)) return(NULL)
      rows <- (at + 1):min(at + chunk, nrow(data))
      at <<- max(rows)
      data[rows, , drop = FALSE]
    }
  }
}

# Without the call, which names the data.
expect_same_fit <- function(x, y) {
  x$call <- y$call
  testthat::expect_equal(x, y, tolerance = 1e-12)
}

# The levels of all factors, which files and databases do not store.
levels_of <- function(data) lapply(Filter(is.factor, data), levels)

source_parquet <- function(data, chunk, frame = parent.frame(), ...) {
  testthat::skip_if_not_installed("nanoparquet")
  parts <- split(data, (seq_len(nrow(data)) - 1L) %/% chunk)
  folder <- withr::local_tempdir(.local_envir = frame)
  files <- file.path(folder, sprintf("part-%03d.parquet", seq_along(parts)))
  Map(nanoparquet::write_parquet, parts, files)
  dp_source(files, levels = levels_of(data), ...)
}

source_csv <- function(data, chunk, frame = parent.frame(), ...) {
  folder <- withr::local_tempdir(.local_envir = frame)
  half <- seq_len(nrow(data)) <= nrow(data) / 2
  files <- file.path(folder, c("1.csv", "2.csv"))
  utils::write.csv(data[half, ], files[1], row.names = FALSE)
  utils::write.csv(data[!half, ], files[2], row.names = FALSE)
  dp_source(files, levels = levels_of(data), chunk = chunk, ...)
}

sqlite_connection <- function(frame = parent.frame()) {
  testthat::skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection), frame)
  connection
}

# A connection to a temporary PostgreSQL server, which listens on a socket in a temporary folder and stops with the
# test.
postgres_connection <- function(frame = parent.frame()) {
  testthat::skip_on_cran()
  withr::local_envvar(TZ = "UTC") # lubridate, which RPostgres loads, asks the system for it
  testthat::skip_if_not_installed("RPostgres")
  programs <- Sys.glob("/usr/lib/postgresql/*/bin")
  if (length(programs) == 0L) testthat::skip("no PostgreSQL server in /usr/lib/postgresql")
  programs <- programs[length(programs)]
  # The server refuses to run as root, and its user must own the folder.
  as_server <- if (Sys.info()[["user"]] == "root") c("runuser", "-u", "postgres", "--") else character()
  run <- function(...) {
    # A sanitizer loaded into R must not be loaded into the server, which would hang.
    words <- c("env", "-u", "LD_PRELOAD", as_server, ...)
    system2(words[1], shQuote(words[-1]), stdout = TRUE, stderr = TRUE)
  }
  folder <- withr::with_dir("/tmp", run("mktemp", "-d", "/tmp/dpsosp-XXXXXX"))
  withr::defer(run("rm", "-rf", folder), frame)
  withr::local_dir("/tmp")
  run(file.path(programs, "initdb"), "-D", file.path(folder, "data"), "-A", "trust", "-U", "postgres", "--no-sync",
      "--encoding=UTF8", "--locale=C")
  control <- function(...) run(file.path(programs, "pg_ctl"), "-D", file.path(folder, "data"), "-w", ...)
  control("-l", file.path(folder, "log"), "-o", paste("-F -h '' -k", folder), "start")
  withr::defer(control("-m", "immediate", "stop"), frame)
  connection <- DBI::dbConnect(RPostgres::Postgres(), host = folder, user = "postgres", dbname = "postgres")
  withr::defer(DBI::dbDisconnect(connection), frame)
  connection
}

# The package has another value of an internal constant or function until the test ends.
local_value <- function(name, value, frame = parent.frame()) {
  before <- get(name, asNamespace("dpsosp"))
  withr::defer(utils::assignInNamespace(name, before, "dpsosp"), frame)
  utils::assignInNamespace(name, value, "dpsosp")
}
