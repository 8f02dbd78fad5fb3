# A chain in one file cannot know its own past: a copy of an older file is a good chain, with budget regained. So each
# user keeps an anchor for each store elsewhere: number and hash of the last row that this user wrote, and where the
# store was. It is checked at each reservation.

anchor_folder <- function() tools::R_user_dir("dpsosp", "config")

anchor_file <- function(id) file.path(anchor_folder(), paste0(id, ".anchor"))

# number, hash and place, or NULL.
read_anchor <- function(id) {
  file <- anchor_file(id)
  if (!file.exists(file)) return(NULL)
  lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
  if (length(lines) != 3L || !grepl("^[0-9]+$", lines[1])) {
    abort("store", "The anchor ", file, " is damaged: compare the store with the receipts of fits, then delete it.",
          call = NULL)
  }
  list(number = as.integer(lines[1]), hash = lines[2], place = lines[3])
}

# Is the row of the anchor still there? The anchor must be read before the state, or another process could have written
# both in between.
check_anchor <- function(state, name, anchor) {
  if (is.null(anchor)) return(invisible())
  hashes <- c(state$study$hash, state$rows$hash)
  if (identical(hashes[anchor$number + 1L], anchor$hash)) return(invisible())
  abort("store", "The store ", name, " lacks row ", anchor$number, ", which ", anchor_file(state$study$id),
        " remembers: the store was set back to an older state, or replaced. Nothing was reserved or released. Find ",
        "the newest copy.", call = NULL)
}

# A script that makes a budget, run again after its file was lost, would begin a second budget for the same data.
check_no_anchor <- function(place) {
  for (file in Sys.glob(file.path(anchor_folder(), "*.anchor"))) {
    if (identical(read_anchor(sub("[.]anchor$", "", basename(file)))$place, place)) {
      abort("store", "There was another budget at ", place, ", which ", file, " remembers, and a new one would not ",
            "count what it spent. Find its file; or delete that one, if the old budget protected other data.",
            call = NULL)
    }
  }
}

# After the row is committed, so that a failure in between leaves an anchor that is true. A later row of another process
# stays.
write_anchor <- function(id, row, place) {
  failed <- function(e) {
    warn("store", "No anchor could be written to ", anchor_folder(), ": a store that is set back to an older state ",
         "would not be noticed.", call = NULL)
  }
  tryCatch({
    before <- read_anchor(id)
    if (!is.null(before) && before$number >= row$number) return(invisible())
    dir.create(anchor_folder(), recursive = TRUE, showWarnings = FALSE)
    new <- paste0(anchor_file(id), ".", Sys.getpid())
    writeLines(enc2utf8(c(as.character(row$number), row$hash, place)), new, useBytes = TRUE)
    if (!file.rename(new, anchor_file(id))) stop("not renamed")
  }, error = failed, warning = failed)
  invisible()
}
