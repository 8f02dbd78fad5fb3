# The path of a file in the folder of shared data; skips the test where that folder is absent. The folder is named by
# the environment variable DPSOSP_SHARED, or lies beside the repository.
shared_file <- function(path) {
  folder <- Sys.getenv("DPSOSP_SHARED", unset = file.path("..", "..", "..", "shared"))
  file <- file.path(folder, path)
  if (!file.exists(file)) testthat::skip(paste0("no shared data (DPSOSP_SHARED): ", path))
  normalizePath(file)
}
