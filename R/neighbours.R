# The neighbour relation that a guarantee is stated for.

neighbour_relations <- c("replace-one", "zero-out")

check_neighbours <- function(neighbours, call = sys.call(-1)) {
  if (is.character(neighbours) && length(neighbours) == 1L && grepl("^add[-/_ ]?remove$", neighbours)) {
    abort("argument", "`neighbours` = \"", neighbours, "\" is not offered: it would have to hide the number of ",
          "records, which is public here. \"zero-out\" protects what one record says: a null record takes its place, ",
          "and n stays.", call = call)
  }
  check_choice(neighbours, neighbour_relations, "neighbours", call)
}
