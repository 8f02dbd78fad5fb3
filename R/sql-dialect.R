# SQL dialects of the supported databases.

# The position among the levels, without arrays and joins.
case_code <- function(x, levels, as) {
  list(code = paste("CASE", x, paste("WHEN", levels, "THEN", seq_along(levels), collapse = " "), "END"))
}
case_at <- function(k, values) {
  paste("CASE", k, paste("WHEN", seq_along(values) - 1L, "THEN", values, collapse = " "), "END")
}

# What DuckDB and Spark have in common. text: the format of a cast to text.
double_dialect <- function(text, known, int, total, quotient, begin, end) {
  double <- function(e) sprintf("CAST(%s AS DOUBLE)", e)
  list(
    class = NULL, log = "LN", float = "DOUBLE", fence = "", infinite = "CAST('Infinity' AS DOUBLE)",
    number = function(x) double(sprintf("%.16e", x)),
    int = function(e) sprintf("CAST(%s(%s) AS BIGINT)", int, e), quotient = quotient,
    total = function(e) double(sprintf("SUM(%s)", total(e))),
    known = known, times = c("Date", "POSIXct"), untyped = FALSE, double = function(x, type) double(x),
    text = function(x, type) sprintf(text, x), bytes = identity, code = case_code, at = case_at,
    guard = function(x, e) e, begin = begin, end = end, most = 1600, characters = 5e7, greatest = "GREATEST"
  )
}

# What sql-sum.R and sql-push.R need to know of a dialect:
#
#   class       of its DBI connection; NULL where only the text of statements was tested
#   log         the logarithm, of any base
#   fence       ends a SELECT that must be computed once per row, before the SELECT around it
#   float       the type of doubles; number(x); infinite: the number beyond all others
#   int(e)      the double e, rounded to an integer
#   quotient    the operator between two integers that gives their quotient, cut towards zero
#   total(e)    the sum of an integer e of at most 60 bits: computed exactly, then converted to a double
#   known       types of columns that are numbers, text, truth values, dates and times; times: all types of these two,
#               which may be infinite; casts: of numbers that the driver would not read as they are
#               (the least integer is R's NA)
#   untyped     do only values have types? Then known has names for what is read (R/sql-read.R)
#   double(x, type)  a numeric column as a double; no value may cause an error
#   text(x, type)    a column that is text or an integer, as text; bytes(x): such a text, which is equal to another one
#                    only if its bytes are
#   code(x, levels, as)  the position of the text x among quoted levels, counted from one: an expression `code` and, if
#                        it needs one, `join`, a table with the alias `as` and at most one row per record
#   at(k, values)    the k-th of some numbers, counted from zero
#   guard(x, e)      e, an expression of the number x; missing where x is not a number
#   begin, end  of one read-only snapshot; probe(connection, fails): is there a transaction already? Needed where a
#               second begin is no error, or ends it; fails(): of R/sql-push.R
#   temp, write  the schema of temporary tables; statements before and after one is written in a snapshot, if needed
#   sampled     from(table): of a table of rows, those with numbers that are a parameter of the statement; text(rows):
#               this parameter; NULL where batches are refused
#   most        items of a SELECT; characters: of a statement
#   page        asks for the bytes of a page, in which a row of a table of numbers must fit; NULL: it need not
#   limits      names the limits of time and disk that are set; NULL where there are none to ask for
dialects <- list(
  postgres = list(
    class = "PqConnection", log = "LN", float = "double precision", fence = "OFFSET 0",
    infinite = "CAST('Infinity' AS double precision)",
    number = function(x) sprintf("CAST(%.16e AS double precision)", x),
    int = function(e) paste0("CAST(", e, " AS bigint)"), quotient = "/",
    total = function(e) paste0("CAST(SUM(", e, ") AS double precision)"),
    known = list(number = c("float8", "float4", "int2", "int4", "int8", "numeric"),
                 text = c("text", "varchar", "int2", "int4", "int8"), truth = "bool", Date = "date",
                 POSIXct = "timestamptz"),
    times = c("date", "timestamp", "timestamptz"), untyped = FALSE,
    casts = c(money = "numeric", float4 = "float8", int4 = "float8"),
    # Differences of infinite times are undefined.
    double = function(x, type) {
      switch(type, float8 = x, numeric = sprintf(postgres_numeric, x),
             date = sprintf("CASE WHEN isfinite(%1$s) THEN CAST(%1$s - DATE '1970-01-01' AS double precision) END", x),
             timestamptz = sprintf("CASE WHEN isfinite(%1$s) THEN date_part('epoch', %1$s) END", x),
             sprintf("CAST(%s AS double precision)", x))
    },
    text = function(x, type) if (type == "text") x else sprintf("CAST(%s AS text)", x),
    # A collation could make two levels equal.
    bytes = function(x) sprintf("(%s) COLLATE \"C\"", x),
    code = function(x, levels, as) {
      rows <- toString(sprintf("(CAST(%s AS text), %d)", levels, seq_along(levels)))
      list(code = paste0(as, ".code"),
           join = sprintf("LEFT JOIN (VALUES %s) AS %s(level, code) ON (%s) COLLATE \"C\" = %2$s.level", rows, as, x))
    },
    at = function(k, values) sprintf("(CAST(ARRAY[%s] AS double precision[]))[%s + 1]", toString(values), k),
    guard = function(x, e) e,
    probe = function(connection, fails) !fails(DBI::dbExecute(connection, "SAVEPOINT dpsosp")),
    begin = c("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET LOCAL jit = off",
              "SET LOCAL extra_float_digits = 3", "SET LOCAL synchronize_seqscans = off"),
    end = "ROLLBACK", greatest = "GREATEST", temp = "pg_temp", most = 1600, characters = 5e7,
    page = "SELECT current_setting('block_size')",
    limits = paste("SELECT name FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout',",
                   "'temp_file_limit') AND setting NOT IN ('0', '-1') ORDER BY name"),
    sampled = list(
      from = function(table) {
        paste("(SELECT t.* FROM unnest(CAST($1 AS integer[])) AS b(id) JOIN", table, "AS t ON t.id = b.id) AS t")
      },
      text = function(rows) paste0("{", paste(rows, collapse = ","), "}")
    )
  ),
  sqlite = list(
    class = "SQLiteConnection", log = "LOG", float = "REAL", fence = "LIMIT -1",
    infinite = "9e999",
    number = function(x) sprintf("%.16e", x),
    int = function(e) paste0("CAST(ROUND(", e, ") AS INTEGER)"), quotient = "/",
    # Sums have 63 bits and raise an error beyond that. Two digits of 30 bits are safe for up to 2^31 rows.
    total = function(e) {
      sprintf("(CAST(SUM((%1$s) >> 30) AS REAL) * 1073741824e0 + CAST(SUM((%1$s) & 1073741823) AS REAL))", e)
    },
    known = list(number = "number", text = "text", truth = "truth"), untyped = TRUE,
    double = function(x, type) x,
    text = function(x, type) {
      sprintf("(CASE WHEN typeof(%1$s) IN ('text', 'integer') THEN CAST(%1$s AS TEXT) END) COLLATE BINARY", x)
    },
    bytes = function(x) paste0("(", x, ") COLLATE BINARY"), code = case_code, at = case_at, greatest = "MAX",
    guard = function(x, e) sprintf("CASE WHEN typeof(%s) IN ('integer', 'real') THEN %s END", x, e),
    begin = c("BEGIN", "PRAGMA query_only = 1"), end = c("ROLLBACK", "PRAGMA query_only = 0"), temp = "temp",
    write = list(begin = "PRAGMA query_only = 0", end = "PRAGMA query_only = 1"), most = 1800,
    characters = 9e5,
    # A cross join is read from left to right.
    sampled = list(
      from = function(table) {
        paste("(SELECT t.* FROM json_each(?) AS b CROSS JOIN", table, "AS t ON t.id = b.value) AS t")
      },
      text = function(rows) paste0("[", paste(rows, collapse = ","), "]")
    )
  ),
  # A collation, of the column or by default, could make two levels equal. Temporary tables can be written in a
  # transaction that only reads. A second BEGIN would end the user's transaction; outside of one each statement has a
  # number of its own.
  duckdb = utils::modifyList(double_dialect(
    "CAST(%s AS VARCHAR) COLLATE C",
    list(number = c("numeric", "integer"), text = c("character", "integer", "factor"), truth = "logical"),
    int = "ROUND", total = identity, quotient = "//", begin = "BEGIN TRANSACTION READ ONLY", end = "ROLLBACK"
  ), list(class = "duckdb_connection", temp = "temp", casts = c(integer = "DOUBLE"),
          probe = function(connection, fails) {
    number <- function() DBI::dbGetQuery(connection, "SELECT CAST(txid_current() AS VARCHAR) AS id")
    identical(number(), number())
  })),
  spark = double_dialect(
    "CAST(%s AS STRING)",
    list(number = c("double", "float", "int", "bigint"), text = c("string", "int", "bigint"), truth = "boolean"),
    int = "RINT", total = function(e) sprintf("CAST(%s AS DECIMAL(38, 0))", e), quotient = "DIV",
    begin = NULL, end = NULL
  )
)

# Converts a number of any length that PostgreSQL's numeric has without the errors of a cast: very large numbers stay
# very large, beyond those of doubles they are infinite, and numbers near zero are rounded to a multiple of 10^-200.
postgres_numeric <- paste(
  "CASE WHEN CAST(%1$s AS text) = 'NaN' THEN NULL WHEN %1$s > 1e150 THEN CASE WHEN %1$s < 1e308 THEN",
  "CAST(1e151 AS double precision) ELSE CAST('Infinity' AS double precision) END",
  "WHEN %1$s < -1e150 THEN CASE WHEN %1$s > -1e308 THEN CAST(-1e151 AS double precision)",
  "ELSE CAST('-Infinity' AS double precision) END",
  "ELSE CAST(ROUND(%1$s, 200) AS double precision) END"
)

# ---- columns of a table whose database computes sums ----

# The quoted name with the table's alias, as SQLite would take an unknown quoted name for a text.
push_column <- function(push, e) paste0("t.", DBI::dbQuoteIdentifier(push$connection, enc2utf8(as.character(e))))

# The position of a column's values among the levels, with the table to be joined as `as` if the dialect needs one.
column_code <- function(push, column, type, levels, as) {
  if (is_truth(push, type)) return(list(code = truth_code(column)))
  levels <- DBI::dbQuoteString(push$connection, enc2utf8(plain_labels(levels)))
  push$dialect$code(push$dialect$text(column, type), levels, as)
}

is_truth <- function(push, type) !is.na(type) && type == push$dialect$known$truth

truth_code <- function(x) sprintf("CASE WHEN %1$s THEN 2 WHEN NOT %1$s THEN 1 END", x)
