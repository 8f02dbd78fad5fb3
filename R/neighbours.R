# The neighbour relation that a guarantee is stated for.

neighbour_codes <- c("replace-one", "zero-out")

check_neighbours <- function(neighbours, call = sys.call(-1)) {
  check_choice(neighbours, neighbour_codes, "neighbours", call)
}
