# What comes as data, and what its columns look like by their names and types alone.

check_data <- function(data, arg, call) {
  if (!is.data.frame(data)) {
    abort("argument", "`", arg, "` must be a data frame, not ", describe_column(data), ".", data_hint(data),
          call = call)
  }
  repeated <- unique(names(data)[duplicated(names(data))])
  if (length(repeated) > 0L) {
    abort("argument", "`", arg, "` has more than one column named ", quote_all(repeated), ".", call = call)
  }
}

# What makes data of other kinds a source, by their class alone.
data_hint <- function(data) {
  if (is.function(data)) return(" A fit does not keep data without a name: pass them to `update()` as `data`.")
  if (inherits(data, "DBIConnection")) {
    return(" A table of a database is a source: `dp_source(connection, \"table\")`, and `push = TRUE` sums inside it.")
  }
  if (inherits(data, "tbl_sql")) {
    return(paste(" A table of a database is a source: `dp_source(dbplyr::remote_con(tbl), dbplyr::sql_render(tbl))`.",
                 "`push = TRUE` sums inside the database."))
  }
  if (is.matrix(data)) return(" Take `as.data.frame()`, or for a matrix of numbers `dp_sosp(x, y, radius = )`.")
  if (is.character(data)) return(" Files are a source: `dp_source(\"file.csv\")`, also several and Parquet files.")
  if (inherits(data, c("ArrowObject", "arrow_dplyr_query"))) {
    return(" Files are a source: `dp_source(\"file.parquet\")`. `as.data.frame()` takes the rows into memory.")
  }
}

# A number or text that `.` takes in, and whose name looks like that of an id. Names and types alone decide.
tell_ids <- function(formula, data) {
  if (!inherits(formula, "formula") || !"." %in% all.vars(formula[-2])) return(invisible())
  plain <- vapply(data, function(column) column_kind(column) %in% c("numeric", "character"), NA)
  ids <- Filter(looks_like_id, setdiff(names(data)[plain], all.vars(formula)))
  if (length(ids) == 0L) return(invisible())
  which <- if (length(ids) > 1L) " are predictors, whose names look " else " is a predictor, whose name looks "
  inform("id", "By `.` ", first_of(quote_names_each(ids)), which, "like that of an id: leave it out, `. - ", ids[1],
         "`, or, where it says whose record a row is, give `id = ", ids[1], "`")
}

looks_like_id <- function(name) {
  grepl("^(ids?|row_?ids?|row_?names?|row_?num(ber)?|uuid|guid|\\.\\.\\.1|unnamed.*)$", name, ignore.case = TRUE) ||
    grepl("[_. ](id|ID|Id|uuid)$|[a-z](ID|Id)$", name)
}

# Value labels are declared levels.
tell_labelled <- function(data) {
  found <- names(data)[vapply(data, is_labelled, NA)]
  if (length(found) == 0L) return(invisible())
  several <- length(found) > 1L
  inform("labels", first_of(quote_names_each(found)), if (several) " are factors" else " is a factor",
         ", whose levels are the value labels, and other codes are missing values; `haven::zap_labels()` makes ",
         if (several) "them numbers" else "it a number")
}
