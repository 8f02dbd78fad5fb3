#' @keywords internal
#' @useDynLib dpsosp, .registration = TRUE
"_PACKAGE"
