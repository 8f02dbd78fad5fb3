# A value that cannot be used, in any place of a source, is missing, and that is all: conditions, n, and every bit of
# the fit are those of the neighbour whose value is missing.

d <- neighbour_frame
types <- neighbour_types
levels <- neighbour_levels
typed <- neighbour_typed
columns <- names(d)
bytes <- "\xff\xfe"
Encoding(bytes) <- "bytes"
latin <- "5\xe9" # as.double() would raise an error
Encoding(latin) <- "latin1"
odd_texts <- list(bytes, latin, "\xe9", "no value", strrep("2020-01-01 10:00:00 ", 100), strrep("1", 2000), "Inf", "",
                  "\u00fc", "1e999", "99999-99-99", "-")

# ---- values of any class, in a column of any declared type ----

test_that("a value of a column of any class changes no other row and raises nothing", {
  sizes <- c(1.5, 2, 1e10, 0.1234567890123, 3)
  columns <- list(
    sizes, as.integer(c(1, 2, 3, 0, 1)), sizes > 2, as.character(sizes),
    c(bytes, latin, "\xe9", strrep("1", 2000), "2"),
    factor(c("u", "v", "w", "u", "v")), structure(c(1L, 9L, -1L, NA, 2L), levels = c("u", "v"), class = "factor"),
    as.Date("2020-01-01") + c(0, 1, 0.5, 1e9, 2), .Date(c(Inf, -Inf, NaN, 1e300, 0)),
    .POSIXct(c(0, 86400, 1.5, NA, 0), "UTC"),
    .POSIXct(c(0, 86400, 1.5, 1e300, Inf), "UTC"), .POSIXct(c(0, 0.25, 3601, -1, 0), "Europe/Berlin"),
    structure(sizes, class = c("hms", "difftime"), units = "secs"), as.difftime(sizes, units = "mins"),
    structure(sizes, class = "unknown"), I(sizes), I(as.character(sizes)), as.complex(sizes), as.raw(1:5),
    list(1, "a", c(1, 2), NULL, factor("u")), list(bytes, latin, list(1), mean, quote(x)),
    structure(list(as.raw(0), NULL, as.raw(1:3), raw(), as.raw(65)), class = "blob"), as.list(sizes),
    structure(as.list(c(bytes, "a", "b", "1", "2")), class = "unknown"), as.POSIXlt(.POSIXct(sizes, "UTC")),
    list(.Date(1), .POSIXct(1), structure(1, class = "unknown"), structure(list(1), class = "unknown"), 1i)
  )
  if (requireNamespace("bit64", quietly = TRUE)) columns <- c(columns, list(bit64::as.integer64(c(1, NA, 2^40, -3, 2))))
  if (requireNamespace("hms", quietly = TRUE)) columns <- c(columns, list(hms::hms(c(1, 2.5, 3, NA, 1e7))))
  kinds <- list(double(), logical(), character(), factor(levels = c("u", "v", "1")), .Date(double()),
                .POSIXct(double(), "UTC"))
  turn <- 0
  for (x in columns) {
    turn <- turn + 1
    for (known in long_values(kinds, turn)) {
      read <- function(x) dpsosp:::conform_column(x, known, 5L)
      whole <- suppressWarnings(read(x))
      expect_identical(dpsosp:::column_kind(whole), dpsosp:::column_kind(known))
      if (is.raw(x) || inherits(x, "POSIXlt")) next
      same <- vapply(1:5, function(i) {
        others <- lapply(c(list(if (is.list(x)) list(NULL) else NA), as.list(seq_along(x))), function(other) {
          changed <- x
          changed[i] <- if (is.integer(other)) x[other] else other
          suppressWarnings(read(changed))[-i]
        })
        all(vapply(others, identical, NA, whole[-i]))
      }, NA)
      expect_true(all(same), info = paste(toString(class(x)), "as", class(known)[1]))
    }
  }
})

test_that("values of other classes are read for what they are", {
  read <- function(x, known) suppressWarnings(dpsosp:::conform_column(x, known, length(x)))
  expect_identical(read(list(1.5, "2", NULL, c(1, 2), "x"), double()), c(1.5, 2, NA, NA, NA))
  expect_identical(read(.POSIXct(c(0, 86401), "Asia/Tokyo"), .Date(double())), .Date(c(0, 1)))
  of_times <- read(.POSIXct(c(0, 5, NA), "UTC"), factor(levels = c("1970-01-01 00:00:00", "b")))
  expect_identical(as.integer(of_times), c(1L, 3L, NA)) # what is no level has a code without one
  expect_identical(read(as.difftime(c(1, 2), units = "secs"), double()), c(1, 2))
  expect_identical(read("2020-01-01 10:00:00.5", .POSIXct(double(), "UTC")), .POSIXct(1577872800.5, "UTC"))
  skip_if_not_installed("bit64")
  expect_identical(read(bit64::as.integer64(c(5e9, NA)), double()), c(5e9, NA))
  whole <- dp_source(in_chunks(data.frame(a = 1:2, b = I(bit64::as.integer64(1:2))), 1))
  expect_identical(class(dp_source(in_chunks(list2DF(list(b = bit64::as.integer64(1:2))), 1))$schema$b), "numeric")
})

# ---- files ----

# A CSV file with one field of these bytes.
csv_with <- function(column, row, value, frame = parent.frame()) {
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = frame)
  before <- vapply(d, as.character, character(40))
  lines <- apply(before, 1, paste, collapse = ",")
  fields <- before[row, ]
  at <- match(column, columns)
  comma <- charToRaw(",")
  line <- c(charToRaw(paste0(fields[seq_len(at - 1)], ",", recycle0 = TRUE, collapse = "")), value,
            charToRaw(paste0(",", fields[-seq_len(at)], recycle0 = TRUE, collapse = "")))
  out <- lapply(c(paste(columns, collapse = ","), lines), charToRaw)
  out[[row + 1]] <- line
  writeBin(unlist(lapply(out, c, charToRaw("\n"))), file)
  file
}

test_that("in a CSV file a field of any bytes is a missing value", {
  fields <- list(as.raw(0xe9), as.raw(c(0xff, 0xfe)), as.raw(c(0x61, 0, 0x62)), as.raw(0), charToRaw("\u00fc"),
                 charToRaw(strrep("2020-01-01 10:00:00 ", 100)), charToRaw(strrep("x", 1e5)), charToRaw("no value"),
                 charToRaw("\"a, \xe9\nb\""), as.raw(c(0x1a, 0x1b)), charToRaw("\"\""))
  frame <- environment()
  make <- function(column, row, value) {
    file <- csv_with(column, row, value, frame)
    function() dp_source(file, chunk = 15, types = types, levels = levels)
  }
  expect_as_missing(fields, raw(), make)
})

test_that("bytes that are no text do not decide the types of a CSV file, and are not quoted", {
  for (value in list(as.raw(0xe9), as.raw(c(0xff, 0xfe)))) {
    expect_silent(source <- dp_source(csv_with("a", 3, value)))
    expect_identical(lapply(source$schema, class), lapply(dp_source(csv_with("a", 3, raw()))$schema, class))
  }
  open_quote <- csv_with("f", 39, charToRaw("\"u"))
  expect_error(dp_source(open_quote, types = types), "not closed", class = "dpsosp_error_source")
})

test_that("in a Parquet file an odd text is a missing value", {
  skip_if_not_installed("nanoparquet")
  folder <- withr::local_tempdir()
  files <- file.path(folder, paste0(1:3, ".parquet"))
  make <- function(column, row, value) function() {
    data <- put(list2DF(lapply(d, as.character)), column, row, value)
    Map(function(rows, file) nanoparquet::write_parquet(data[rows, ], file), list(1:15, 16:30, 31:40), files)
    dp_source(files, types = types, levels = levels)
  }
  expect_as_missing(long_values(setdiff(odd_texts, list(bytes))), NA, make)
})

test_that("a text with a nul byte in a Parquet file, which R cannot hold, is an error that does not quote it", {
  skip_if_not_installed("nanoparquet")
  file <- withr::local_tempfile(fileext = ".parquet")
  nanoparquet::write_parquet(data.frame(s = c("x", "secQret", "y")), file, compression = "uncompressed")
  content <- readBin(file, "raw", 1e5)
  for (at in grepRaw("secQret", content, all = TRUE)) content[at + 3] <- as.raw(0)
  writeBin(content, file)
  error <- expect_error(dp_source(file), basename(file), class = "dpsosp_error_source")
  expect_no_match(conditionMessage(error), "sec")
})
