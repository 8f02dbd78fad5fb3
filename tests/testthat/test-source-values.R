# The values of one record in a source: at most its row becomes a null record, and no other row, count or error depends
# on them.

d <- problem_frame(40)
d$y01 <- as.integer(d$y == "yes")
fit <- function(data, ..., formula = y01 ~ a + f + logical) {
  set.seed(4)
  quiet_fit(formula, data, ..., eps = 20, delta = 1e-6, noise = "reproducible")
}
d$logical <- d$b > 0
same <- function(x, y) {
  x$call <- y$call
  expect_equal(x, y, tolerance = 1e-12)
}

# A source whose second chunk of three is changed: the column x becomes as(x).
changing <- function(data, column, as, ...) {
  dp_source(n = nrow(data), ..., function() {
    at <- 0
    function() {
      at <<- at + 1
      if (at > 3) return(NULL)
      chunk <- data[list(1:15, 16:30, 31:40)[[at]], ]
      if (at == 2) chunk[[column]] <- as(chunk[[column]])
      chunk
    }
  })
}
with_missing <- function(column, at) {
  d[[column]][at] <- NA
  d
}

test_that("values in another type are read one by one: those of the declared type count, others are missing", {
  bytes <- "\xff\xfe"
  Encoding(bytes) <- "bytes"
  place <- function(x, value) replace(as.character(x), 3, value) # record 18
  for (value in c("no number", bytes, "\xe9", "", "0x1A", "1e", "2", NA)) {
    text <- function(x) place(format(x, digits = 17), value)
    if (!identical(value, "2")) {
      same(fit(changing(d, "a", text)), fit(with_missing("a", 18)))
      if (validUTF8(value)) same(fit(changing(d, "a", function(x) factor(text(x)))), fit(with_missing("a", 18)))
    }
    same(fit(changing(d, "logical", function(x) place(x, value))), fit(with_missing("logical", 18)))
    same(fit(changing(d, "f", function(x) place(x, value))), fit(with_missing("f", 18)))
    same(fit(changing(d, "y01", function(x) place(x, value))), fit(with_missing("y01", 18)))
  }
  # columns without any value of the declared type
  for (as in list(as.complex, function(x) as.Date("2020-01-01") + x, function(x) cbind(x, x))) {
    same(fit(changing(d, "a", as)), fit(with_missing("a", 16:30)))
  }
  same(fit(changing(d, "a", function(x) as.list(format(x, digits = 17)))), fit(d))
  # truth values and the numbers 1 and 0 are the same
  for (as in list(as.integer, as.double, function(x) ifelse(x, "T", "false"), function(x) ifelse(x, " 1.0", "0"))) {
    same(fit(changing(d, "logical", as)), fit(d))
  }
  coded <- transform(d, a = as.double(a > 20))
  same(fit(changing(coded, "a", function(x) x > 0)), fit(coded))
})

test_that("text is read by one rule each for numbers, truth values, levels, dates and times", {
  numbers <- c(" 12 ", "5.", ".5", "1E+05", "-Inf", "infinity", "T", "false", "0x1A", "1e", "1d5", "1L", "NaN", "",
               "- 1")
  expect_identical(dpsosp:::text_numbers(numbers), c(12, 5, 0.5, 1e5, -Inf, Inf, 1, 0, rep(NA, 7)))
  truths <- c("1", "0.0", "True", "F", "2", "yes", NA)
  expect_identical(dpsosp:::text_truth(truths), c(TRUE, FALSE, TRUE, FALSE, NA, NA, NA))
  times <- c("2020-01-01", "2020-1-1 10:00:00.5", "2020-01-01T10:00:00Z", "2020-01-01 10:00:00+02", "2020-02-31", "60",
             "x")
  long <- paste0("2020-01-01 10:00:00.", strrep("1", 2000)) # strptime() would raise an error
  expect_identical(as.double(dpsosp:::text_times(long, "POSIXct")), NA_real_)
  seconds <- 1577836800 + c(0, 36000.5, 36000)
  expect_identical(as.double(dpsosp:::text_times(times, "POSIXct")), c(seconds, NA, NA, 60, NA))
  expect_identical(as.double(dpsosp:::text_times(times[c(1, 3, 4, 6)], "Date")), c(18262, 18262, NA, 60))
  as_codes <- function(x, levels) as.integer(dpsosp:::conform_column(x, factor(levels = levels), length(x)))
  expect_identical(as_codes(c(100000, 3e9, 2, -0), c("1e+05", "3000000000", "2", "0")), 1:4)
  expect_identical(as_codes(c("1", "true", "0", "x"), c("FALSE", "TRUE")), c(2L, 2L, 1L, NA))
  expect_identical(as_codes(c("p", "p ", "", "NA"), c("p", "", "NA")), c(1L, 4L, 2L, 3L)) # of no level
})

test_that("an oracle on a source reads a later chunk's response and columns in the declared types", {
  p <- problem_matrix(40)
  gradient <- function(x, y) {
    set.seed(1)
    as.vector(dp_gradient(dp_oracle(x, y, "logistic", dp_budget(mu = 1), 2, noise = "reproducible"), 1:3, mu = 0.1))
  }
  expected <- function(y, x = p$x) suppressMessages(gradient(x, y))
  ask <- function(y, column, as) suppressMessages(gradient(changing(data.frame(p$x, y = y), column, as), "y"))
  zero <- (p$y + 1) / 2
  expect_identical(ask(zero, "y", as.character), expected(zero))
  expect_identical(ask(zero, "y", function(y) factor(y, 0:1, c("no", "yes"))), expected(replace(zero, 16:30, NA)))
  expect_identical(ask(p$y > 0, "y", as.numeric), expected(p$y > 0))
  x <- p$x
  x[20, 2] <- NA
  expect_identical(ask(zero, "x2", function(x) replace(format(x, digits = 17), 5, "word")), expected(zero, x))
})

test_that("levels that a later chunk has of its own are matched by label, others are missing", {
  for (levels in list(c("w", "v", "u"), c("u", "v", "w", "x"), c("x", "u"))) {
    known <- factor(as.character(d$f), levels)
    lost <- which(is.na(known[16:30])) + 15
    same(fit(changing(d, "f", function(x) factor(as.character(x), levels))), fit(with_missing("f", lost)))
  }
  # Codes in a formula are those of the declared levels.
  turned <- changing(d, "f", function(x) factor(x, rev(levels(x))))
  same(fit(turned, formula = y01 ~ a + as.integer(f)), fit(d, formula = y01 ~ a + as.integer(f)))
  broken <- function(x) structure(replace(as.integer(x), 3, 9L), levels = levels(x), class = "factor")
  same(fit(changing(d, "f", broken)), fit(with_missing("f", 18)))
})

test_that("types that the first chunk does not show can be declared, of any source", {
  late <- transform(d, a = replace(a, 1:15, NA))
  hidden <- transform(d, a = replace(as.character(a), 1:15, "none"))
  hidden$a <- I(hidden$a)
  chunks <- in_chunks(transform(late, a = as.character(a)), 15)
  same(fit(dp_source(chunks, types = c(a = "numeric"))), fit(transform(late, a = as.double(as.character(a)))))
  same(fit(dp_source(in_chunks(hidden, 15), types = c(a = "numeric"))),
       fit(transform(late, a = as.double(as.character(a)))))
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(late, file, row.names = FALSE)
  levels <- levels_of(d)
  same(fit(dp_source(file, chunk = 15, levels = levels, types = c(a = "numeric"))), fit(late))
  # without them the column is logical and contains no number
  expect_output(print(dp_source(file, chunk = 15, levels = levels)), "logical: a, logical")
  coded <- transform(d, f = c(u = "01", v = "02", w = "03")[as.character(f)])
  utils::write.csv(coded, file, row.names = FALSE)
  same(fit(dp_source(file, chunk = 10, levels = list(f = c("01", "02", "03")))), fit(transform(coded, f = factor(f))))
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", transform(late, logical = as.integer(logical)))
  known <- dp_source(connection, "people", chunk = 15, levels = levels, types = c(a = "numeric"))
  same(fit(known, formula = y01 ~ a + f), fit(late, formula = y01 ~ a + f))
})

test_that("text that R's own functions refuse is missing in memory and in new data as well", {
  bytes <- "\xff\xfe"
  Encoding(bytes) <- "bytes"
  none <- c(bytes, if (l10n_info()[["UTF-8"]]) "\xe9") # in a locale of single bytes this is a letter
  text <- transform(d, s = replace(rep_len(c("p", "q"), 40), 3, NA))
  formulas <- list(y ~ I(s == "p"), y ~ (s < "q"), y ~ as.numeric(s), y ~ I(s %in% c("p", "z")), y ~ pmin(s, "q") > "p")
  for (formula in formulas) {
    for (value in none) {
      odd <- transform(text, s = replace(s, 3, value))
      same(fit(odd, formula = formula), fit(text, formula = formula))
      same(fit(dp_source(in_chunks(odd, 15)), formula = formula), fit(text, formula = formula))
    }
  }
  of_factor <- fit(d, formula = y ~ f)
  expect_identical(is.na(predict(of_factor, data.frame(f = c("u", bytes, "\xe9")))), c(FALSE, TRUE, TRUE))
  for (bad in none) {
    declared <- transform(d, f = structure(as.integer(f), levels = c("u", "v", bad), class = "factor"))
    expect_error(fit(declared), "no text", class = "dpsosp_error_argument")
    expect_error(dp_source(in_chunks(d, 9), levels = list(f = c("u", bad))), "levels", class = "dpsosp_error_argument")
  }
})

# ---- CSV: n is the number of lines ----

csv <- function(lines, frame = parent.frame()) {
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = frame)
  writeLines(lines, file)
  file
}
records <- function(source) {
  reader <- source$open(names(source$schema))
  on.exit(reader$close())
  parts <- list()
  while (!is.null(part <- reader$read())) parts <- c(parts, list(part))
  do.call(rbind, parts)
}

test_that("every line of a CSV file is a record, whatever is on it", {
  for (chunk in c(1, 2, 100)) {
    # one column: an empty value is an empty line
    one <- dp_source(csv(c("a", "1", "", "3", "")), chunk = chunk, types = c(a = "numeric"))
    expect_identical(one$n, 4L)
    expect_identical(records(one)$a, c("1", "", "3", ""))
    lines <- c("a,b", "1,u", "", "2", ",", "3,v,9,9,9", "\"4\",\"w, \"\"x\"\"\"", "5,\"two", "lines\"", "6,z")
    two <- dp_source(csv(lines), chunk = chunk)
    expect_identical(two$n, 8L)
    expect_identical(records(two)$a, c("1", "", "2", "", "3", "4", "5", "6"))
    expect_identical(records(two)$b, c("u", "", "", "", "v", "w, \"x\"", "two\nlines", "z"))
    reader <- two$open("b") # a column that is not the first
    expect_identical(reader$read()$b[1], "u")
    reader$close()
  }
})

test_that("a record's value in a CSV file changes neither n nor another record", {
  values <- list("", "NA", "abc", "1,2,3", "\"a\nb\"", "\"\"\"\"", "Inf", "-")
  for (chunk in c(1, 3, 100)) {
    for (value in values) {
      lines <- c("a,y", paste0(1:3, ",", c(0, 1, 0)), paste0("5,", value), "7,1")
      source <- dp_source(csv(lines), chunk = chunk, types = c(a = "numeric", y = "numeric"))
      expect_identical(source$n, 5L)
      expect_identical(records(source)$a, c("1", "2", "3", "5", "7"))
      expect_identical(records(source)$y[-4], c("0", "1", "0", "1"))
    }
  }
})

test_that("NA is a level of a CSV file where it is declared, else missing", {
  file <- csv(c("f,a,y01", paste(rep(c("u", "NA", "v", ""), 10), 1:40, rep(0:1, 20), sep = ",")))
  as_factor <- function(levels) {
    factor(rep(c("u", "NA", "v", ""), 10), levels)
  }
  for (levels in list(c("u", "v", "NA"), c("u", "v"))) {
    read <- dp_source(file, levels = list(f = levels), types = c(a = "numeric", y01 = "numeric"), chunk = 15)
    same(fit(read, formula = y01 ~ a + f), fit(data.frame(f = as_factor(levels), a = 1:40, y01 = rep(0:1, 20)),
                                                formula = y01 ~ a + f))
  }
})

test_that("a CSV file with a quote that is not one around a field is refused before a row is read", {
  for (line in c("12\" pipe", "\"a", "a\"b\"", "\"a\"b", " \"a\"", "\"a\"\"")) {
    error <- expect_error(dp_source(csv(c("a,b", "1,u", paste0("2,", line), "3,w"))), "a quote within a field",
                          class = "dpsosp_error_source")
    expect_no_match(conditionMessage(error), "pipe", fixed = TRUE)
  }
  for (line in c("\"12\"\" pipe\"", "\"\"", "\"\"\"a\"\"\"", "\"x\ny, z\"")) {
    expect_identical(dp_source(csv(c("a,b", "1,u", paste0("2,", line), "3,w")))$n, 3L)
  }
})

test_that("a declared type that no value of a column can have is refused by the column's own type", {
  skip_if_not_installed("nanoparquet")
  file <- withr::local_tempfile(fileext = ".parquet")
  nanoparquet::write_parquet(data.frame(day = as.Date("2020-01-01") + 0:3, flag = c(TRUE, FALSE, NA, TRUE)), file)
  refused <- function(reason, ...) expect_error(dp_source(file, ...), reason, class = "dpsosp_error_argument")
  refused("`day` has dates or times.*\"Date\"", types = c(day = "numeric"))
  refused("`flag` has truth values.*\"logical\"", types = c(flag = "Date"))
  refused("`flag` has truth values.*levels", levels = list(flag = c("0", "1")))
  expect_identical(levels(dp_source(file, levels = list(flag = c("FALSE", "TRUE")))$schema$flag), c("FALSE", "TRUE"))
})

test_that("a fit to CSV files whose records have odd values is the one in memory with these missing", {
  odd <- transform(d, a = replace(as.character(a), c(3, 33), c("word", "")), b = replace(b, 1:40, NA))
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(odd, file, row.names = FALSE, na = "")
  expected <- fit(with_missing("a", c(3, 33)))
  for (chunk in c(1, 7, 100)) {
    source <- dp_source(file, chunk = chunk, levels = levels_of(d), types = c(a = "numeric", logical = "logical"))
    same(fit(source), expected)
  }
})

test_that("the numbers of a column that one value makes a list are those of the others", {
  numbers <- c(pi, 1e-300, 1 / 3, -0)
  conform <- function(x) dpsosp:::conform_column(x, double(), length(x))
  expect_identical(conform(as.list(numbers)), numbers)
  expect_identical(conform(c(as.list(numbers), "x", list(NULL), list(list(1)), TRUE, "2.5"))[1:4], numbers)
  expect_identical(conform(list(1L, "x", NULL, c(1, 2), "2.5", factor("3"))), c(1, NA, NA, NA, 2.5, 3))
})
