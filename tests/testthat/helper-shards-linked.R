# Shards that are tables of SQLite files, each with half of the rows.

sqlite_shards <- function(data, frame = parent.frame()) {
  testthat::skip_if_not_installed("RSQLite")
  folder <- withr::local_tempdir(.local_envir = frame)
  half <- seq_len(nrow(data)) <= 0.4 * nrow(data)
  files <- file.path(folder, c("one.sqlite", "two.sqlite"))
  for (i in 1:2) {
    connection <- DBI::dbConnect(RSQLite::SQLite(), files[i])
    DBI::dbWriteTable(connection, "people", data[half == (i == 1), ])
    DBI::dbDisconnect(connection)
  }
  levels <- levels_of(data)
  list(files = files, functions = lapply(files, function(file) {
    eval(bquote(function() {
      connection <- DBI::dbConnect(RSQLite::SQLite(), .(file))
      dpsosp::dp_source(connection, "people", levels = .(levels), push = TRUE)
    }), globalenv())
  }))
}
