#' @section Threads:
#' Sums over the data use the threads that OpenMP offers: as many as there are processors,
#' or `OMP_NUM_THREADS`, at most `OMP_THREAD_LIMIT`. `options(dpsosp.threads = 1)` sets another upper
#' limit, from the next release on. At most 64 are used, two under `R CMD check`, and one in a
#' process forked by `parallel::mclapply()` and similar functions. Releases with `noise = "reproducible"` do not depend
#' on the number of threads.
#' @keywords internal
#' @useDynLib dpsosp, .registration = TRUE
"_PACKAGE"
