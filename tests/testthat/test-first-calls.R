# What a new user types first: it works, or the error names what does.

d <- problem_frame(400)
quiet <- function(code) suppressWarnings(suppressMessages(code))
refused <- function(code, text, ...) expect_error(code, text, ..., class = "dpsosp_error_argument")
said <- function(code, class) {
  texts <- character()
  suppressWarnings(withCallingHandlers(code, message = function(m) {
    if (inherits(m, paste0("dpsosp_message_", class))) texts <<- c(texts, conditionMessage(m))
    invokeRestart("muffleMessage")
  }))
  texts
}

test_that("data of other kinds lead to dp_source()", {
  refused(dp_sosp(y ~ a, "file.csv", eps = 1), "dp_source(\"file.csv\")", fixed = TRUE)
  refused(dp_sosp(y ~ a, as.matrix(d["a"]), eps = 1), "as.data.frame()", fixed = TRUE)
  skip_if_not_installed("RSQLite")
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "t", d)
  refused(dp_sosp(y ~ a, connection, eps = 1), "dp_source(connection, \"table\")", fixed = TRUE)
  refused(dp_plan(y ~ a, connection, eps = 1), "dp_source(connection, \"table\")", fixed = TRUE)
  skip_if_not_installed("dbplyr")
  table <- dplyr::tbl(connection, "t")
  refused(dp_sosp(y ~ a, table, eps = 1), "remote_con(tbl)", fixed = TRUE)
  # As it says.
  source <- dp_source(dbplyr::remote_con(table), dbplyr::sql_render(table), levels = list(y = levels(d$y)))
  expect_identical(source$n, nrow(d))
})

test_that("dp_plan() takes a formula and a data frame, or a source", {
  wanted <- dp_plan(nrow(d), formula = y ~ a + b, schema = d[0, ], eps = 1)
  facts <- c("n", "d", "radius", "excess", "target")
  expect_identical(dp_plan(y ~ a + b, d, eps = 1)[facts], wanted[facts])
  expect_identical(dp_plan(formula = y ~ a + b, data = d, eps = 1)[facts], wanted[facts])
  expect_identical(dp_plan(y ~ a + b, data = d, eps = 1)[facts], wanted[facts])
  source <- dp_source(in_chunks(d, 100))
  expect_identical(dp_plan(y ~ a + b, source, eps = 1)[facts], wanted[facts])
  refused(dp_plan(a ~ b, d, eps = 1), "say what they are by `loss`")
  expect_identical(dp_plan(a ~ b, d, eps = 1, loss = "squared")$n, nrow(d))
  expect_equal(dp_plan(f ~ a, transform(d, f = factor(a > 1, c("TRUE", "FALSE", "other"))), eps = 1)$classes, 3)
  refused(dp_plan(y ~ a, eps = 1), "must be a data frame, not NULL")
  # Values take no part.
  expect_identical(dp_plan(y ~ a + b, transform(d, a = NA_real_, b = rev(b)), eps = 1)[facts], wanted[facts])
})

test_that("inference may be TRUE or FALSE", {
  fit <- function(inference) {
    set.seed(1)
    quiet(dp_sosp(y ~ a, d, eps = 1, delta = 1e-6, bounds = frame_bounds["a"], inference = inference,
                  noise = "reproducible"))
  }
  expect_identical(coef(fit(TRUE)), coef(fit("sandwich")))
  expect_identical(vcov(fit(TRUE)), vcov(fit("sandwich")))
  expect_null(fit(FALSE)$inference)
  refused(fit(NA), "must be one of")
})

test_that("labelled columns are factors of their value labels, in all sources, and others are refused", {
  labelled <- function(x, labels) structure(x, labels = labels, class = c("haven_labelled", "vctrs_vctr", "double"))
  code <- rep_len(c(1, 2, 9, NA), nrow(d))
  d$l <- labelled(code, c(no = 1, yes = 2, maybe = 3, perhaps = 3))
  plain <- transform(d, l = factor(c("no", "yes")[code], c("no", "yes", "maybe", "perhaps")))
  same <- function(data, formula = y ~ l, ...) {
    set.seed(1)
    coef(quiet(dp_sosp(formula, data, eps = 10, delta = 1e-6, noise = "reproducible", ...)))
  }
  expect_identical(same(d), same(plain))
  expect_identical(same(d, l ~ a, bounds = frame_bounds["a"]), same(plain, l ~ a, bounds = frame_bounds["a"]))
  expect_identical(same(dp_source(in_chunks(d, 90))), same(dp_source(in_chunks(plain, 90))))
  fit <- quiet(dp_sosp(y ~ l, d, eps = 10, delta = 1e-6))
  expect_identical(predict(fit, d), predict(fit, plain))
  told <- said(try(dp_sosp(y ~ l, d, eps = 1, method = "none"), silent = TRUE), "labels")
  expect_match(told, "`l` is a factor, whose levels are the value labels")
  d$one <- labelled(code, c(unknown = 9))
  refused(dp_sosp(y ~ one, d, eps = 1), "haven::zap_labels()", fixed = TRUE)
  skip_if_not_installed("haven")
  d$l <- haven::labelled(code, c(no = 1, yes = 2, maybe = 3, perhaps = 4))
  expect_identical(same(d), same(plain))
})

test_that("near misses of arguments name the one that does it", {
  lead <- function(..., to) refused(dp_sosp(y ~ a, d, ...), paste0("Did you mean `", to), fixed = TRUE)
  lead(eps = 1, cluster = b, to = "id`")
  lead(eps = 1, groups = b, to = "id`")
  lead(epsilon = 1, to = "eps`")
  lead(eps = 1, family = binomial, to = "loss`")
  lead(eps = 1, wt = b, to = "weights`")
  lead(eps = 1, lambda = 1, to = "penalty = penalty_ridge(lambda = )")
  lead(eps = 1, conf.int = TRUE, to = "inference = \"sandwich\"`")
  lead(eps = 1, sensitivity = 1, to = "bounds`")
  own <- function(t, y) log1p(exp(-y * t))
  refused(dp_sosp(y ~ a, d, eps = 1, loss = own), "A function of your own is not taken")
  refused(dp_sosp(y ~ a, d, eps = 1, loss = loss_logistic), "Call it")
})

test_that("`.` with a column that is called like an id says so, by names and types", {
  of <- function(name, column = seq_len(nrow(d)), formula = y ~ ., ...) {
    d[[name]] <- column
    # It is said before the method is refused.
    said(try(dp_sosp(formula, d, eps = 1, method = "none", ...), silent = TRUE), "id")
  }
  for (name in c("person_id", "patientID", "ROWID", "Unnamed: 0")) {
    expect_match(of(name), paste0("`", name, "` is a predictor, whose name looks like that of an id"), fixed = TRUE)
  }
  expect_match(of("id", as.character(seq_len(nrow(d)))), "`. - id`", fixed = TRUE)
  for (name in c("paid", "x", "Id_type")) expect_length(of(name), 0L)
  expect_length(of("id", formula = y ~ a), 0L)
  expect_length(of("id", formula = y ~ . - id), 0L)
  expect_length(of("id", rep_len(1:50, nrow(d)), id = id), 0L)
  expect_length(of("id", factor(rep_len(1:3, nrow(d)))), 0L)
  expect_length(of("id", smooth = TRUE), 1L)
})

test_that("networks predict for no rows", {
  d$g <- factor(rep_len(c("p", "q", "r"), nrow(d)))
  for (formula in list(y ~ a, g ~ a)) {
    fit <- quiet(dp_sosp(formula, d, eps = 5, delta = 1e-6, model = model_mlp(hidden = 2)))
    for (type in c("link", "response")) expect_identical(NROW(predict(fit, d[0, ], type = type)), 0L)
    expect_identical(predict(fit, d[0, ], type = "class"), d[[all.vars(formula)[1]]][0])
    expect_identical(nrow(generics::augment(fit, newdata = d[0, ])), 0L)
  }
})
