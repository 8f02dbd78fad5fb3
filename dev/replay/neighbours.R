# Data and their neighbours.

# The records of dev/matrix.R, and null records, weights of zero, and a level with one record, which a neighbour lacks:
# without these an answer that hangs on the presence of others could hide.
audited <- 150
make_audited <- function(n = 300) {
  data <- make_records(n)
  data$f <- factor(data$f, c("u", "v", "w", "x"))
  data$f[audited] <- "x"
  data$w[c(5, 90)] <- 0
  data
}

# The data with other values of one record, or of several.
put <- function(data, row, values) {
  for (name in names(values)) {
    value <- values[[name]]
    if (is.factor(data[[name]])) {
      codes <- as.integer(data[[name]])
      codes[row] <- if (is.character(value)) match(value, levels(data[[name]])) else value
      data[[name]] <- structure(codes, levels = levels(data[[name]]), class = class(data[[name]]))
    } else {
      data[[name]][row] <- value
    }
  }
  data
}

# Records at the corners and in the middle of the ranges, for all pairs.
corners <- function(response, ends, more = list(), all = long) {
  points <- if (all) expand.grid(a = c(-1, 0, 1), b = c(-1, 0, 1)) else {
    data.frame(a = c(-1, -1, 0, 1, 1), b = c(-1, 1, 0, -1, 1))
  }
  grid <- merge(points, expand.grid(f = c("u", "w"), response = ends, stringsAsFactors = FALSE))
  names(grid)[4] <- response
  records <- lapply(seq_len(nrow(grid)), function(i) as.list(grid[i, ]))
  names(records) <- paste("corner", seq_along(records))
  c(records, more, odd_records, list(null = list(a = NA)))
}
odd_records <- list(infinite = list(a = Inf), huge = list(a = 1e300, b = -1e300), code = list(f = 99L))

# Every odd value of every one of these columns, one at a time.
odd_values <- function(data, columns) {
  unlist(recursive = FALSE, lapply(columns, function(column) {
    x <- data[[column]]
    values <- if (is.factor(x)) list(NA_integer_, 0L, 99L, -1L, 1L, nlevels(x)) else {
      list(NA, NaN, Inf, -Inf, 1e300, -1e300, 0, 1e-320, -5)
    }
    records <- lapply(values, function(value) stats::setNames(list(value), column))
    names(records) <- vapply(values, function(value) paste0(column, "=", format(value)), "")
    records
  }))
}

replaced <- function(data, row, records) lapply(records, function(record) put(data, row, record))

# Rows for which a record is replaced: those that a tape's batches and leaves have, else the audited one.
rows_of_tape <- function(log) {
  if (any(log$kind == "take")) return(rows_of_leaves(log))
  drawn <- log$kind == "public draw" & log$name %in% c("subset", "poisson subset")
  batches <- Map(function(x, name) x[-seq_len(if (name == "subset") 1 else 2)] + 1, log$same[drawn], log$name[drawn])
  batches <- batches[lengths(batches) > 0]
  if (!length(batches)) return(audited)
  # Of the smallest batch, whose number of rows must not be the divisor; and one that is in many
  small <- batches[[which.min(lengths(batches))]]
  unique(c(small[ceiling(length(small) / 2)], as.integer(names(which.max(table(unlist(batches)))))))
}

# A record of the first leaf of the longest epoch, which moves most sums, and of a leaf without an epoch; in full also
# of the epoch's last leaf and of the last of all.
rows_of_leaves <- function(log) {
  takes <- which(log$kind == "take")
  before <- log$name[takes - 1L]
  epoch <- cumsum(before == "open")
  longest <- which(epoch == which.max(tabulate(epoch)))
  single <- which(log$kind[takes + 1L] == "ask")
  chosen <- c(longest[1], single[1], if (long) c(utils::tail(longest, 1), length(takes)))
  chosen <- unique(chosen[!is.na(chosen)])
  counts <- vapply(log$same[takes], `[`, 0, 1L)
  row <- function(k) {
    rows <- log$same[[takes[k]]][-1] + 1
    if (!length(rows)) rows <- sum(counts[seq_len(k - 1L)]) + seq_len(counts[k]) # the next rows of a stream
    rows[ceiling(length(rows) / 2)]
  }
  unique(vapply(chosen, row, 0))
}

# ---- persons ----

# All records of one person are others, in number, too.
of_person <- function(data, person = data$person[audited]) {
  mine <- data[data$person == person, ]
  rest <- data[data$person != person, ]
  many <- function(n, ...) put(mine[rep(1, n), ], seq_len(n), list(...))
  people <- list(
    one = rbind(mine[1, ], rest),
    last = rbind(rest, mine[1, ]),
    long = rbind(many(700, a = 1, b = 1, f = "u", y = "yes", z = 3), rest),
    opposite = rbind(rest, many(3, a = -1, b = -1, f = "w", y = "no", z = -3)),
    odd = rbind(many(700, a = rep(c(NA, 1), 350), y = "no", z = rep(c(3, NA), 350)), rest),
    other = rbind(many(1, a = 1, b = -1, f = "u", y = "no", z = -3), rest),
    apart = rbind(mine[1, ], rest[1:100, ], many(50, a = 1, b = 1, f = "u", y = "no", z = 3), rest[-(1:100), ]),
    null = rbind(many(1, a = NA, y = NA_integer_, z = NA), rest)
  )
  lapply(people, function(data) {
    rownames(data) <- NULL
    data
  })
}

# ---- databases ----

texts <- function(data) {
  data[] <- lapply(data, function(x) if (is.factor(x)) levels(x)[match(as.integer(x), seq_along(levels(x)))] else x)
  data
}

# What a column without a type may hold.
odd_in_sqlite <- c("null", "'abc'", "''", "'1e999'", "x'ff00'", "'0.5'", "' 0.5 '", "9e999", "-9e999", "1e300",
                   "9223372036854775807", "'\u00fc'", "char(0)")
odd_cells <- function(data, columns, row = audited) {
  cells <- expand.grid(value = odd_in_sqlite, column = columns, stringsAsFactors = FALSE)
  sets <- Map(function(column, value) {
    structure(data, update = sprintf("update records set %s = %s where rowid = %d", column, value, row))
  }, cells$column, cells$value)
  names(sets) <- paste0(cells$column, "=", cells$value)
  sets
}
