# What takes long is tested in full where DPSOSP_LONG is 1, as in continuous integration, and in part elsewhere.
long_form <- function() Sys.getenv("DPSOSP_LONG") == "1"
long_size <- function(full, short) if (long_form()) full else short
skip_unless_long <- function() skip_if_not(long_form(), "only where DPSOSP_LONG is 1")

# In part these are a third of the values, at least one; with the next turn, the next third.
long_values <- function(values, turn = 0) {
  values[long_form() | (seq_along(values) + turn) %% min(3, length(values)) == 0]
}
