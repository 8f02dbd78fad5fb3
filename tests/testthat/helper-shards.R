# Workers on this machine, and shards for them.

# One daemon for each name; url: how it is reached. Those of the same machine serve later tests, too, unless they were
# changed.
changed_workers <- new.env()
change_worker <- function(name) assign(name, TRUE, changed_workers)

shard_workers <- function(names, url = NULL, frame = parent.frame()) {
  testthat::skip_if_not_installed("mirai")
  testthat::skip_on_cran()
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), OMP_NUM_THREADS = "1")
  # Where lines are counted (dev/coverage.sh) a daemon ends only after it has written its counts.
  exit <- if (Sys.getenv("R_COVR") == "") TRUE else NA
  for (name in names) {
    if (is.null(url)) {
      if (mirai::status(.compute = name)$connections == 1) next
      mirai::daemons(1, .compute = name, autoexit = exit)
      if (testthat::is_testing()) withr::defer(mirai::daemons(0, .compute = name), testthat::teardown_env())
    } else {
      mirai::daemons(url = url(), .compute = name)
      mirai::launch_local(1, .compute = name, autoexit = exit)
    }
  }
  withr::defer({
    changed <- intersect(names, ls(changed_workers))
    for (name in if (is.null(url)) changed else names) mirai::daemons(0, .compute = name)
    rm(list = changed, envir = changed_workers)
  }, frame)
  # A launched daemon needs time to connect.
  for (name in names) mirai::call_mirai(mirai::mirai(1, .compute = name))
}

# A shard as a function that makes its rows on the worker, so that they are in no environment of the shard.
frame_shards <- function(n, parts) {
  ends <- round(seq(0, n, length.out = parts + 1))
  make <- problem_frame
  environment(make) <- globalenv()
  lapply(seq_len(parts), function(i) {
    rows <- seq(ends[i] + 1, ends[i + 1])
    eval(bquote(function() {
      RNGkind("Mersenne-Twister") # a daemon has another generator
      .(make)(.(n))[.(rows), ]
    }), globalenv())
  })
}

shard_fit <- function(data, ..., method = "gd", budget = dp_budget(eps = 1, delta = 1e-6)) {
  set.seed(4)
  quiet_fit(y ~ a + b + f, data, method = method, bounds = frame_bounds, noise = "reproducible", budget = budget, ...)
}

# From its k-th sum on, the worker returns the value of code, an expression of answer and request.
spoil_worker <- function(name, code, at = 1) {
  change_worker(name)
  mirai::call_mirai(mirai::everywhere({
    if (!exists("honest", globalenv())) honest <<- dpsosp:::worker_answer
    asked <<- 0
    utils::assignInNamespace("worker_answer", function(request) {
      answer <- honest(request)
      if (request$step != "sum") return(answer)
      asked <<- asked + 1
      if (asked < at) answer else eval(code)
    }, "dpsosp")
  }, code = code, at = at, .compute = name)[[1]])
}

# Shards that end at these rows, as functions that read files: a worker knows none of the test's.
file_shards <- function(data, ends, frame = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = frame)
  lapply(seq_along(ends), function(i) {
    file <- file.path(folder, i)
    saveRDS(data[seq(c(0, ends)[i] + 1, ends[i]), ], file)
    eval(bquote(function() readRDS(.(file))), globalenv())
  })
}
