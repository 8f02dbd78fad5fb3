# Sums that PostgreSQL takes against the same rows in chunks, of the same table on the same machine: seconds of a
# gradient and of a matrix, bytes that the server sends, and what both answer.
#   DPSOSP_SHARED=... Rscript dev/bench/push-down.R [ROWS]       of Covertype, classes 1 and 2; 495141 by default
# `wide` has 54 numbers a row, `raw` ten numbers and two factors. The server is one of its own, with two processes for a
# SELECT. Bytes are those of the fields' texts and their lengths in the protocol.
library(dpsosp)
source("tests/testthat/helper-source.R")

args <- commandArgs(TRUE)
rows <- if (length(args) > 0) as.numeric(args[1]) else 495141

main <- function() {
  Sys.setenv(NOT_CRAN = "true")
  connection <- postgres_connection()
  d <- utils::head(covertype_rows(), rows)
  for (what in names(tables)) measure(connection, what, tables[[what]](d))
}

covertype_rows <- function() {
  d <- readRDS(file.path(Sys.getenv("DPSOSP_SHARED", "../shared"), "data", "covertype.rds"))
  d <- d[d$cover_type <= 2, ]
  d$y <- factor(ifelse(d$cover_type == 1, "spruce", "lodgepole"), c("lodgepole", "spruce"))
  d$cover_type <- NULL
  names(d)[1:54] <- paste0("x", 1:54)
  d[1:54] <- lapply(d[1:54], as.double)
  d
}

tables <- list(
  wide = identity,
  raw = function(d) {
    code <- function(columns) factor(max.col(d[columns], "first"), seq_along(columns))
    data.frame(d[1:10], wild = code(11:14), soil = code(15:54), y = d$y)
  }
)

measure <- function(connection, what, d) {
  DBI::dbWriteTable(connection, what, d, overwrite = TRUE)
  DBI::dbExecute(connection, paste("VACUUM ANALYZE", what))
  numeric <- names(d)[vapply(d, is.numeric, NA)]
  bounds <- lapply(d[numeric], function(x) range(x) + c(0, max(x) == min(x)))
  levels <- lapply(Filter(is.factor, d), levels)
  oracles <- lapply(c(push = TRUE, chunks = FALSE), function(push) {
    source <- dp_source(connection, what, n = nrow(d), levels = levels, push = push)
    problem <- dpsosp:::problem_source(y ~ ., source, "logistic", bounds, NULL, NULL)
    dpsosp:::new_oracle(problem$records(problem), problem$loss, dp_budget(mu = 1e9), problem$design$radius, TRUE,
                        "replace-one", "reproducible")
  })
  w <- cos(seq_len(55 - 2 * (what == "raw")))
  seconds <- sapply(oracles, function(oracle) {
    min(replicate(3, system.time(dp_gradient(oracle, w, mu = 1e5))[["elapsed"]]))
  })
  answers <- sapply(oracles, function(oracle) {
    set.seed(1)
    dp_gradient(oracle, w, mu = 1e6)
  })
  sent <- DBI::dbGetQuery(connection, sprintf("SELECT SUM(octet_length(t::text)) FROM %s AS t", what))[[1]]
  chunk_bytes <- as.double(sent) + nrow(d) * (7 + 3 * ncol(d))
  sums <- if (what == "raw") 11 * 67 + 67 * 3 else 56
  cat(sprintf("%s, %d rows: gradient %.2f s pushed down, %.2f s in chunks: %.2f times faster; %.0f times fewer bytes\n",
              what, nrow(d), seconds[["push"]], seconds[["chunks"]], seconds[["chunks"]] / seconds[["push"]],
              chunk_bytes / (sums * 24)))
  cat(sprintf("  answers differ by at most %.1e\n", max(abs(answers[, 1] - answers[, 2]))))
}

main()
