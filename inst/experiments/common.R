# Shared by the experiments: exact (NON-PRIVATE) quantities, data, and results
# that are written row by row, so that an interrupted run goes on where it was.

# Exact objective, gradient norm and smallest eigenvalue at w, for rows clipped
# to norm 1: to judge a run from outside, never for release.
nonprivate_problem <- function(x, y, penalty = 0) {
  rows <- x / pmax(1, sqrt(rowSums(x^2)))
  margin <- function(w) y * as.vector(rows %*% w)
  list(
    loss = function(w) {
      m <- margin(w)
      mean(log1p(exp(-abs(m))) + pmax(-m, 0)) + penalty * sum(w^2 / (1 + w^2))
    },
    gradient_norm = function(w) {
      slope <- -y * stats::plogis(-margin(w))
      sqrt(sum((as.vector(crossprod(rows, slope)) / nrow(rows) + penalty * 2 * w / (1 + w^2)^2)^2))
    },
    eigen_min = function(w) {
      s <- stats::plogis(margin(w))
      hessian <- crossprod(rows * sqrt(s * (1 - s))) / nrow(rows) + diag(penalty * (2 - 6 * w^2) / (1 + w^2)^3)
      min(eigen(hessian, symmetric = TRUE, only.values = TRUE)$values)
    }
  )
}

# The same for the sigmoid loss and a ridge penalty.
nonprivate_sigmoid <- function(x, y, penalty = 0) {
  rows <- x / pmax(1, sqrt(rowSums(x^2)))
  up <- function(w) stats::plogis(y * as.vector(rows %*% w))
  list(
    loss = function(w) mean(1 - up(w)) + penalty / 2 * sum(w^2),
    gradient_norm = function(w) {
      s <- up(w)
      sqrt(sum((as.vector(crossprod(rows, -y * s * (1 - s))) / nrow(rows) + penalty * w)^2))
    },
    eigen_min = function(w) {
      s <- up(w)
      hessian <- crossprod(rows, rows * (s * (1 - s) * (2 * s - 1))) / nrow(rows) + diag(penalty, length(w))
      min(eigen(hessian, symmetric = TRUE, only.values = TRUE)$values)
    }
  )
}

# Classes 1 and 2 of Covertype; the ten numeric columns standardised with the
# means and standard deviations printed in the data set's documentation
# (public), rows divided by 4. From the full data where there is a folder with
# covertype.rds, else from the sample in the package.
covertype_matrix <- function(folder = NULL) {
  centre <- c(2959.36, 155.65, 14.10, 269.43, 46.42, 2350.15, 212.15, 223.32, 142.53, 1980.29)
  scale <- c(279.98, 111.91, 7.49, 212.55, 58.30, 1559.25, 26.77, 19.77, 38.27, 1324.19)
  if (is.null(folder)) {
    d <- dpsosp::covertype
    y <- ifelse(d$cover == "spruce/fir", 1, -1)
    indicators <- lapply(c("wilderness", "soil"), function(name) {
      outer(as.integer(d[[name]]), seq_along(levels(d[[name]])), "==") * 1
    })
    numeric <- as.matrix(d[vapply(d, is.numeric, NA)])
    x <- cbind(numeric, do.call(cbind, indicators))
  } else {
    d <- readRDS(file.path(folder, "covertype.rds"))
    d <- d[d$cover_type <= 2, ]
    y <- ifelse(d$cover_type == 1, 1, -1)
    x <- as.matrix(d[1:54])
  }
  storage.mode(x) <- "double"
  dimnames(x) <- NULL
  x[, 1:10] <- sweep(sweep(x[, 1:10], 2, centre), 2, scale, "/")
  list(x = x / 4, y = y)
}

# A table in a file: has(key) tells whether the row is there, add(row) appends it.
results_file <- function(path, keys) {
  label <- function(row) do.call(paste, c(unname(as.list(row[keys])), sep = "|"))
  done <- if (file.exists(path)) label(utils::read.csv(path)) else character()
  list(
    has = function(row) label(row) %in% done,
    add = function(row) {
      utils::write.table(row, path, sep = ",", row.names = FALSE, col.names = !file.exists(path), append = file.exists(path))
      done <<- c(done, label(row))
    }
  )
}
