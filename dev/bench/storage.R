# What do rows cost that are kept as codes of factors, as sparse rows, or in single precision? Through the package, so
# with the noise. Memory is that of the rows and of what the core adds to each, a scale and a response.
source("dev/bench/common.R")
bench_open()
library(dpsosp)
folder <- file.path(Sys.getenv("DPSOSP_SHARED", "shared"), "data")
options(dpsosp.threads = 1)

oracle <- function(rows, y, radius, intercept = TRUE) {
  dpsosp:::new_oracle(list(rows = rows, y = y), loss_logistic(), dp_budget(mu = 1e6), radius, intercept, "replace-one",
                      "secure")
}
bytes <- function(rows, n) as.numeric(object.size(rows)) + 16 * n

# Two kinds of rows of the same problem, in turn.
compare <- function(what, dense, other, y, radius, targets, repetitions = 21, intercept = TRUE) {
  # By their slots where they are sparse
  core <- if (is.list(other) && !is.null(other$core)) other$core else other
  n <- length(y)
  one <- oracle(dense, y, radius, intercept)
  two <- oracle(core, y, radius, intercept)
  w <- rep(c(0.5, -0.5), length.out = dpsosp:::oracle_facts(one)$dim)
  ask <- function(o) {
    list(value = function() dp_value(o, w, mu = 1), gradient = function() dp_gradient(o, w, mu = 1),
         search = function() dp_line_search(o, w, -w, 2^(0:-13), mu = 1), hessian = function() dp_hessian(o, w, mu = 1))
  }
  bench_head(what, ", ", n, " rows, ", length(w), " coefficients")
  bench_say("memory: dense over this", sprintf("%.2f", bytes(dense, n) / bytes(core, n)), targets[["memory"]])
  for (name in names(ask(one))) {
    a <- ask(one)[[name]]
    b <- ask(two)[[name]]
    t <- bench_times(if (name == "hessian") 5 else repetitions, dense = a(), this = b())
    target <- if (name %in% names(targets)) targets[[name]]
    bench_ratio(paste0(name, ": dense over this"), t, "dense", "this", target)
    bench_milliseconds(t, "this")
  }
  t <- bench_times(5, dense = oracle(dense, y, radius, intercept), this = oracle(core, y, radius, intercept))
  bench_ratio("making the oracle: dense over this", t, "dense", "this")
}

# ---- Covertype as a data frame with two factors ----

covertype_frame <- function() {
  d <- readRDS(file.path(folder, "covertype.rds"))
  d <- d[d$cover_type <= 2, ]
  code <- function(prefix) {
    columns <- as.matrix(d[grep(prefix, names(d))])
    factor(max.col(columns, "first"), levels = seq_len(ncol(columns)))
  }
  frame <- d[1:10]
  frame$wilderness <- code("^wilderness_area")
  frame$soil <- code("^soil_type")
  frame$y <- d$cover_type == 2
  frame
}

if (file.exists(file.path(folder, "covertype.rds"))) {
  frame <- covertype_frame()
  ranges <- lapply(frame[1:10], range) # public data, and no fit
  design <- dpsosp:::design_template(y ~ ., frame, ranges)
  dense <- dpsosp:::design_matrix(design, frame)
  rows <- dpsosp:::design_rows(design, frame, "double")
  single <- dpsosp:::design_rows(design, frame, "single")
  y <- ifelse(frame$y, 1, -1)
  compare("Factors as codes", dense, rows, y, design$radius,
          c(memory = ">= 3", gradient = ">= 2", value = ">= 2", hessian = ">= 2"))
  compare("Factors as codes, numbers in single precision", dense, single, y, design$radius, c(memory = ">= 3"))
  compare("All columns in single precision", dense, dpsosp:::matrix_rows(dense, "single", "x"), y, design$radius,
          c(memory = "1.9"))
  t <- bench_times(3, dense = dpsosp:::design_matrix(design, frame),
                   codes = dpsosp:::design_rows(design, frame, "double"))
  bench_ratio("making the design: dense over codes", t, "dense", "codes")
}

# ---- w8a: 3.9 % of the entries are not zero ----

if (file.exists(file.path(folder, "w8a.csv.xz"))) {
  d <- utils::read.csv(file.path(folder, "w8a.csv.xz"), colClasses = "integer")
  dense <- as.matrix(d[-1])
  storage.mode(dense) <- "double"
  sparse <- Matrix::Matrix(dense, sparse = TRUE)
  compare("w8a as dgCMatrix", dense, dpsosp:::matrix_rows(sparse, "double", "x"), as.double(d$label), 5,
          c(memory = ">= 3", gradient = ">= 5", value = ">= 5"))
  bench_head("Exact sums of w8a and of parts of its entries: ms for all records, and ns an entry more")
  open_sparse <- function(x) .Call("bench_open_sparse", x@p, x@i, x@x, x@Dim, as.double(d$label), "logistic")
  w <- rep(c(0.5, -0.5), length.out = 300)
  set.seed(1)
  part <- function(share) {
    sparse@x[runif(length(sparse@x)) > share] <- 0
    Matrix::drop0(sparse)
  }
  parts <- lapply(c(0.25, 0.5, 0.75, 1), part)
  oracles <- lapply(parts, open_sparse)
  whole <- .Call("bench_open", dense, as.double(d$label), "logistic")
  times <- function(entry) {
    t <- bench_times(41, quarter = .Call(entry, oracles[[1]], w), half = .Call(entry, oracles[[2]], w),
                     most = .Call(entry, oracles[[3]], w), all = .Call(entry, oracles[[4]], w))
    apply(t$cpu, 2, min)
  }
  entries <- vapply(parts, function(x) length(x@x), 0)
  for (entry in c("bench_value", "bench_value_gradient", "bench_hessian")) {
    t <- times(entry)
    line <- stats::lm(t ~ entries)
    bench_say(sub("bench_", "", entry), sprintf("%.2f; %.2f", 1e3 * coef(line)[1], 1e9 * coef(line)[2]))
    bench_say("  largest deviation from this line", sprintf("%.0f %%", 100 * max(abs(residuals(line) / t))))
    reference <- bench_times(5, dense = .Call(entry, whole, w), sparse = .Call(entry, oracles[[4]], w))
    bench_ratio("  dense over sparse", reference, "dense", "sparse", ">= 5")
  }
}

# ---- Reuters: 8,315 columns ----

if (file.exists(file.path(folder, "reuters-lasvm.csv.xz"))) {
  s <- utils::read.csv(file.path(folder, "reuters-lasvm.csv.xz"))
  s <- s[s$split == "train", ]
  x <- with(s[s$col > 0, ], Matrix::sparseMatrix(row, col, x = value, dims = c(7770, 8315)))
  y <- s$value[s$col == 0]
  bench_head("Reuters as dgCMatrix, 7770 x 8315, ", length(x@x), " entries")
  for (method in c("gd", "opt", "2opt-ls")) {
    run <- function() suppressMessages(suppressWarnings(dp_sosp(x, y > 0, eps = 4, radius = sqrt(2), method = method)))
    t <- bench_times(3, fit = fit <- run())
    bench_say(paste0("fit of ", method, ", seconds (", nrow(dp_ledger(fit)), " answers)"),
              sprintf("%.2f (%.2f)", median(t$wall), min(t$wall)))
  }
  o <- dp_oracle(x, y, "logistic", dp_budget(mu = 1), 2)
  refused <- tryCatch(dp_hessian(o, numeric(8316), mu = 0.5), error = identity)
  cat("  ", class(refused)[1], ": ", conditionMessage(refused), "\n", sep = "")
}
