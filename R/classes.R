# Fits of several outputs, one for each class: their predictions.

# Of a matrix of predictors, one a column: the shares of e^t, the largest shifted to zero.
class_probabilities <- function(link) {
  shares <- exp(link - link[cbind(seq_len(nrow(link)), largest(link))])
  shares / rowSums(shares)
}

# The number of each row's largest predictor, the first of equal ones; one where a predictor is missing, whose row is.
largest <- function(link) {
  found <- rep(1L, nrow(link))
  for (k in seq_len(ncol(link))[-1]) {
    larger <- link[, k] > link[cbind(seq_len(nrow(link)), found)]
    found[!is.na(larger) & larger] <- k
  }
  found
}

class_labels <- function(link, labels) {
  found <- largest(link)
  found[is.na(link[, 1])] <- NA
  factor(labels[found], levels = labels)
}
