# What is read how: values of every type from every source, and in the statements of databases.
#   Rscript dev/types.R LIBRARY [--write]
# A row of the table is a kind of values, as they are stored and declared; a cell is one fit to them. It must end in one
# of two ways:
#   w  works: with the coefficients of the same fit to a data frame. These differ by at most 1e-10 (of the largest, or
#      of one if that is more), or 1e-4 where a database computes the sums, whose rows are rounded
#   r  refused: an error of the package, when the source is made or with nothing charged. Where it advises
#      `push = FALSE`, the cell of the same rows in chunks works
#   -  the source cannot hold such values
# Anything else fails. The results must be those of inst/extdata/what-is-read.csv, which --write writes;
# vignettes/what-works.Rmd shows them. With --write, and where DPSOSP_LONG is 1, all rows are made, otherwise every
# fifth. Databases that are not installed are left out, and with --write keep their cells. With --show it prints the
# table and reasons of refusals. Ends with "N passed, N failed".

arguments <- commandArgs(TRUE)
.libPaths(c(normalizePath(arguments[1]), .libPaths()))
library(dpsosp)
table_file <- "inst/extdata/what-is-read.csv"
write <- "--write" %in% arguments

passed <- 0
failures <- character()
fail <- function(...) {
  failures <<- c(failures, paste0(...))
  cat("FAILED ", ..., "\n", sep = "")
}
`%||%` <- function(x, y) if (is.null(x)) y else x

# ---- values ----

n <- 240
set.seed(1)
numbers <- round(256 * stats::runif(n, -2, 2)) / 256
noise <- stats::rnorm(n) / 4
of <- function(...) rep_len(c(...), n)[order(order(stats::runif(n)))]
flags <- of(TRUE, FALSE, FALSE, NA)
words <- of("p", "q", "r")
codes <- of(1, 2, 3)
levels_pqr <- c("p", "q", "r")
heavy <- replace(round(stats::rnorm(n), 2), 1:60, of(Inf, -Inf, NaN, NA)[1:60])
days <- as.Date("2020-01-01") + of(0:99)
times <- as.POSIXct("2020-01-01", tz = "UTC") + 3600 * of(0:99)

# x: the values in a data frame; stored: those in the source, where they differ; types, levels: what is declared of x;
# formula, bounds, subset: of the fit; sql: the column's type in a database, by its name; only: sources that can hold
# such values; effect: what the response adds.
kind <- function(x, stored = x, ..., formula = z ~ a + x, effect = NULL) {
  list(x = x, stored = stored, formula = formula, effect = effect, ...)
}
expression_kind <- function(formula, ...) kind(heavy, formula = formula, effect = heavy > 0, ...)
files <- c("csv", "parquet")
servers <- c("postgres", "duckdb")

kinds <- list(
  "numbers, some infinite or missing" = kind(heavy, bounds = c(-3, 3)),
  "whole numbers" = kind(as.integer(codes), bounds = c(0, 4)),
  "whole numbers, some the least of 32 bits" = kind(
    replace(codes, 1:12, -2^31), bounds = c(0, 4), sql = list(postgres = "int4", duckdb = "INTEGER")
  ),
  "whole numbers of 64 bits" = kind(codes * 2^40, bounds = c(0, 2^42),
                                    sql = list(postgres = "int8", duckdb = "BIGINT")),
  "decimal numbers" = kind(round(numbers, 2), bounds = c(-2, 2),
                           sql = list(postgres = "numeric(8, 4)", duckdb = "DECIMAL(8, 4)", sqlite = "NUMERIC")),
  "numbers of single precision" = kind(numbers, bounds = c(-2, 2), only = servers,
                                       sql = list(postgres = "float4", duckdb = "FLOAT")),
  "amounts of money" = kind(round(codes * 1.25, 2), bounds = c(0, 4), types = "numeric", only = "postgres",
                            sql = list(postgres = "money")),
  "text, declared as numbers" = kind(
    replace(codes, 1:12, rep(c(NA, NA, 1, NA, 12, 0.5), 2)), types = "numeric", bounds = c(0, 4),
    stored = replace(as.character(codes), 1:12, rep(c("0x1A", "1e", "1.0E0", "", " 12 ", ".5"), 2))
  ),
  "text, of a response" = kind(words, formula = zt ~ a, types_of = c(zt = "numeric")),
  "truth values" = kind(flags, types = "logical"),
  "whole numbers 0 and 1, declared as truth values" = kind(flags, as.integer(flags), types = "logical"),
  "numbers 0 and 1, declared as truth values" = kind(flags, as.double(flags), types = "logical"),
  "text such as true, T, 1, declared as truth values" = kind(
    flags, ifelse(flags, of("true", "T", "TRUE", "1"), of("false", "F", "FALSE", "0")), types = "logical"
  ),
  "truth values, declared as numbers" = kind(as.double(flags), flags, types = "numeric", bounds = c(0, 1)),
  "truth values, with levels FALSE and TRUE" = kind(factor(flags), flags, levels = c("FALSE", "TRUE")),
  "truth values, with other levels" = kind(factor(flags), flags, levels = c("no", "yes"), only = c("parquet", servers)),
  "numbers 0 and 1, with levels FALSE and TRUE" = kind(factor(flags), as.double(flags), levels = c("FALSE", "TRUE")),
  "text with levels" = kind(factor(words), words, levels = levels_pqr),
  "factors" = kind(factor(words), levels = levels_pqr, only = c("function", "shards", "parquet")),
  "text with levels that are empty or have spaces" = kind(
    factor(of("", " p", "p", "p ")), levels = c("", " p", "p", "p ")
  ),
  "the level NA" = kind(factor(of("p", "q", "NA"), c("p", "q", "NA")), levels = c("p", "q", "NA")),
  "whole numbers with levels" = kind(factor(codes), as.integer(codes), levels = c("1", "2", "3")),
  "numbers with levels" = kind(factor(codes), codes, levels = c("1", "2", "3")),
  "numbers with levels that are not whole" = kind(factor(codes / 2), codes / 2, levels = c("0.5", "1", "1.5")),
  "numbers with large levels" = kind(factor(codes * 1e5), codes * 1e5, levels = c("100000", "200000", "300000")),
  "decimal numbers with levels" = kind(factor(codes), codes, levels = c("1", "2", "3"),
                                       sql = list(postgres = "numeric(8, 2)", duckdb = "DECIMAL(8, 2)",
                                                  sqlite = "NUMERIC")),
  "text of numbers with levels" = kind(factor(codes), as.character(codes), levels = c("1", "2", "3")),
  "factor(x, levels = 1:3) of whole numbers" = kind(as.integer(codes), formula = z ~ a + factor(x, levels = 1:3)),
  "factor(x, levels = 1:3) of numbers" = kind(codes, formula = z ~ a + factor(x, levels = 1:3)),
  "factor(x, levels = 1:3) of text" = kind(as.character(codes), formula = z ~ a + factor(x, levels = 1:3),
                                           types = "character"),
  "enum" = kind(factor(words), words, levels = levels_pqr, only = servers,
                sql = list(postgres = "kind", duckdb = "ENUM('p', 'q', 'r')")),
  "enum, not declared" = kind(words, formula = z ~ a + factor(x, levels = c("p", "q", "r")), only = "postgres",
                              sql = list(postgres = "kind")),
  "domain of text" = kind(factor(words), words, levels = levels_pqr, only = "postgres",
                          sql = list(postgres = "word")),
  "domain of enum" = kind(factor(words), words, levels = levels_pqr, only = "postgres",
                          sql = list(postgres = "kinds")),
  "char(n)" = kind(factor(words), words, levels = levels_pqr, only = "postgres", sql = list(postgres = "char(4)")),
  "varchar(n)" = kind(factor(words), words, levels = levels_pqr, only = servers,
                      sql = list(postgres = "varchar(4)", duckdb = "VARCHAR")),
  "infinite numbers in comparisons" = expression_kind(z ~ a + I(x > 0)),
  "infinite numbers in cut()" = expression_kind(z ~ a + cut(x, c(-Inf, 0, Inf))),
  "infinite numbers in pmin() and pmax()" = expression_kind(z ~ a + pmin(x, 3) + pmax(x, -3)),
  "infinite numbers in ifelse() and is.na()" = expression_kind(z ~ a + ifelse(x > 1, 1, x) + is.na(x)),
  "infinite numbers in arithmetic" = expression_kind(z ~ a + I(1 / x) + I(2 * x - 1 > 0) + I(-x^2 < 0)),
  "infinite numbers in functions" = expression_kind(z ~ a + I(log(abs(x)) > 0) + exp(-abs(x)) + I(sqrt(abs(x)) > 1) +
                                                      sign(x)),
  "infinite numbers in subset" = expression_kind(z ~ a, subset = quote(x > 0)),
  "infinite numbers in splines" = expression_kind(z ~ a + splines::ns(x, knots = 0, Boundary.knots = c(-2, 2))),
  "dates" = kind(days, bounds = c(18262, 18361), types = "Date"),
  "text, declared as dates" = kind(days, as.character(days), bounds = c(18262, 18361), types = "Date"),
  "numbers of days, declared as dates" = kind(days, as.double(days), bounds = c(18262, 18361), types = "Date"),
  "times" = kind(times, bounds = 1577836800 + c(0, 356400), types = "POSIXct"),
  "text, declared as times" = kind(times, format(times, "%Y-%m-%dT%H:%M:%SZ"), bounds = 1577836800 + c(0, 356400),
                                   types = "POSIXct"),
  "dates, declared as numbers" = kind(days, types = "numeric", bounds = c(18262, 18361), only = c("parquet", servers)),
  "a quote that is not closed" = kind(factor(words), replace(words, 9, "12\" pipe"), levels = levels_pqr, only = "csv",
                                      quote = FALSE)
)

frame_of <- function(one, x, memory = FALSE) {
  data <- data.frame(a = numbers)
  effect <- one$effect %||% (as.integer(factor(as.character(one$x))) %% 3)
  data$z <- 1 + numbers + ifelse(is.na(effect), 0, effect) / 2 + noise
  data$zt <- if (memory) data$z else format(data$z, digits = 17)
  data$x <- x
  data
}

declared <- function(one, what) {
  x <- one[[what]]
  c(if (!is.null(x)) if (what == "types") c(x = x) else list(x = x), if (what == "types") one$types_of)
}

fit_to <- function(one, data, budget) {
  wanted <- one$bounds
  arguments <- list(formula = one$formula, data = data, budget = budget, loss = loss_squared(response = c(-4, 6)),
                    bounds = c(list(a = c(-2, 2)), if (!is.null(wanted)) list(x = wanted)), noise = "reproducible",
                    progress = FALSE)
  if (!is.null(one$subset)) arguments$subset <- one$subset
  set.seed(4)
  suppressWarnings(suppressMessages(do.call(dp_sosp, arguments)))
}

# ---- sources ----

in_chunks <- function(data) {
  function() {
    at <- 0
    function() {
      rows <- seq_len(nrow(data))
      rows <- rows[rows > at & rows <= at + 100]
      at <<- at + 100
      if (length(rows) > 0L) data[rows, , drop = FALSE]
    }
  }
}

installed <- function(package) requireNamespace(package, quietly = TRUE)
connections <- new.env()
at_end <- list()

start <- function() {
  if (installed("RSQLite")) connections$sqlite <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  if (installed("RPostgres") && length(Sys.glob("/usr/lib/postgresql/*/bin")) > 0L) start_postgres()
  if (installed("duckdb")) {
    driver <- getExportedValue("duckdb", "duckdb")
    connections$duckdb <- DBI::dbConnect(driver(shared_home = FALSE), ":memory:")
  }
  if (installed("mirai")) {
    Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), OMP_NUM_THREADS = "1")
    for (name in c("one", "two")) mirai::daemons(1, .compute = name)
    at_end <<- c(at_end, function() for (name in c("one", "two")) mirai::daemons(0, .compute = name))
  }
}

start_postgres <- function() {
  Sys.setenv(TZ = "UTC", NOT_CRAN = "true")
  helper <- new.env()
  sys.source("tests/testthat/helper-source.R", helper)
  held <- new.env()
  connections$postgres <- helper$postgres_connection(held)
  at_end <<- c(at_end, function() withr::deferred_run(held))
  run <- function(sql) DBI::dbExecute(connections$postgres, sql)
  run("CREATE TYPE kind AS ENUM ('p', 'q', 'r')")
  run("CREATE DOMAIN word AS text")
  run("CREATE DOMAIN kinds AS kind")
}

table_of <- function(database, one, data) {
  connection <- connections[[database]]
  DBI::dbExecute(connection, "DROP TABLE IF EXISTS t")
  type <- one$sql[[database]]
  if (database == "sqlite" && !is.null(type)) {
    DBI::dbWriteTable(connection, "t", data, field.types = c(x = type))
  } else {
    DBI::dbWriteTable(connection, "t", data)
    if (!is.null(type)) {
      using <- if (database == "postgres") sprintf(if (type == "money") "USING x::numeric::%s" else "USING x::%s", type)
      DBI::dbExecute(connection, paste("ALTER TABLE t ALTER COLUMN x TYPE", type, using))
    }
  }
  connection
}

database_source <- function(database, push) {
  list(there = function() !is.null(connections[[database]]), push = push, make = function(one, data, types, levels) {
    dp_source(table_of(database, one, data), "t", types = types, levels = levels, push = push, chunk = 100)
  })
}

sources <- list(
  "function" = list(there = function() TRUE, make = function(one, data, types, levels) {
    dp_source(in_chunks(data), types = types, levels = levels)
  }),
  csv = list(there = function() TRUE, make = function(one, data, types, levels) {
    file <- tempfile(fileext = ".csv")
    utils::write.csv(data, file, row.names = FALSE, quote = one$quote %||% TRUE)
    dp_source(file, types = types, levels = levels, chunk = 100)
  }),
  parquet = list(there = function() installed("nanoparquet"), make = function(one, data, types, levels) {
    folder <- tempfile()
    dir.create(folder)
    for (i in 1:2) {
      rows <- seq_len(n) %in% (100 * i - 99):(100 * i + 40 * (i - 1))
      nanoparquet::write_parquet(data[rows, ], file.path(folder, paste0(i, ".parquet")))
    }
    dp_source(folder, types = types, levels = levels)
  }),
  shards = list(there = function() installed("mirai"), make = function(one, data, types, levels) {
    part <- function(rows) eval(bquote(function() .(data)[.(rows), ]), baseenv())
    dp_shards(list(part(1:100), part(101:n)), compute = c("one", "two"), types = types, levels = levels)
  }),
  sqlite = database_source("sqlite", FALSE), sqlite_push = database_source("sqlite", TRUE),
  postgres = database_source("postgres", FALSE), postgres_push = database_source("postgres", TRUE),
  duckdb = database_source("duckdb", FALSE), duckdb_push = database_source("duckdb", TRUE)
)
here <- function() names(Filter(function(source) source$there(), sources))

# ---- cells ----

row_of <- function(name) {
  one <- kinds[[name]]
  expected <- tryCatch(coef(fit_to(one, frame_of(one, one$x, TRUE), dp_budget(eps = 1e3, delta = 1e-6))),
                       error = function(e) e)
  cells <- stats::setNames(rep("-", length(sources)), names(sources))
  advice <- character()
  for (source in here()) {
    if (!is.null(one$only) && !sub("_push", "", source) %in% one$only) next
    found <- cell_of(one, source, expected)
    cells[source] <- found$result
    advice[source] <- found$text
    if (startsWith(found$result, "!")) fail(name, ", ", source, ": ", substring(found$result, 3))
    else passed <<- passed + 1
    if (found$result == "r" && grepl("push = FALSE", found$text) && cells[sub("_push", "", source)] != "w") {
      fail(name, ", ", source, ": the advice does not work: ", found$text)
    }
    if (found$result == "r" && "--show" %in% arguments) cat(name, ", ", source, ": ", found$text, "\n", sep = "")
  }
  data.frame(values = name, as.list(cells), check.names = FALSE)
}

cell_of <- function(one, source, expected) {
  budget <- dp_budget(eps = 1e3, delta = 1e-6)
  x <- one$stored
  if (!source %in% c("function", "shards", "parquet") && is.factor(x)) x <- as.character(x)
  fit <- tryCatch({
    data <- suppressWarnings(suppressMessages(
      sources[[source]]$make(one, frame_of(one, x), declared(one, "types"), declared(one, "levels"))
    ))
    fit_to(one, data, budget)
  }, error = function(e) e)
  if (inherits(fit, "error")) {
    text <- conditionMessage(fit)
    # a source that fails is no refusal, but for a CSV file that is none
    if (!inherits(fit, "dpsosp_error_argument") && source != "csv") {
      return(list(result = paste("! another error:", text), text = text))
    }
    if (nrow(dp_ledger(budget)) > 0L) return(list(result = paste("! charged, then refused:", text), text = text))
    return(list(result = "r", text = text))
  }
  if (inherits(expected, "error")) {
    return(list(result = paste("! refused in memory:", conditionMessage(expected)), text = ""))
  }
  exact <- is.null(sources[[source]]$push) || !sources[[source]]$push
  far <- max(abs(coef(fit) - expected)) / max(1, abs(expected))
  good <- far <= if (exact) 1e-10 else 1e-4
  list(result = if (good) "w" else paste("! other coefficients:", toString(signif(coef(fit), 4)), "not",
                                         toString(signif(expected, 4))), text = "")
}

# ---- the table ----

wanted <- function(rows) if (write || Sys.getenv("DPSOSP_LONG") == "1") rows else rows[seq_along(rows) %% 5 == 0]

main <- function() {
  on.exit(for (end in at_end) end())
  start()
  only <- grep("^--only=", arguments, value = TRUE)
  names <- if (length(only) > 0L) grep(sub("--only=", "", only), names(kinds), value = TRUE) else wanted(names(kinds))
  found <- do.call(rbind, lapply(names, row_of))
  absent <- setdiff(names(sources), here())
  for (source in absent) cat("skipped: ", source, ", which is not installed\n", sep = "")
  known <- if (file.exists(table_file)) utils::read.csv(table_file, colClasses = "character", check.names = FALSE)
  known <- known[match(found$values, known$values), ]
  if (write && length(failures) == 0L) {
    for (source in absent) found[[source]] <- known[[source]] %||% "-"
    utils::write.csv(found, table_file, row.names = FALSE, quote = 1, na = "-")
  } else if (length(failures) == 0L) {
    columns <- c("values", here())
    if (identical(unname(as.list(found[columns])), unname(as.list(known[columns])))) passed <<- passed + 1
    else fail("the committed table differs (", table_file, "; --write writes it)")
  }
  if ("--show" %in% arguments) print(found, right = FALSE)
  cat(passed, " passed, ", length(failures), " failed\n", sep = "")
  length(failures) == 0L
}

good <- main()
quit("no", status = if (good) 0 else 1)
