# Predictions of fits with several outputs, one for each class.

# The softmax of each row of a matrix with one predictor per column. The largest is shifted to zero to avoid overflow.
class_probabilities <- function(link) {
  shares <- exp(link - link[cbind(seq_len(nrow(link)), largest(link))])
  shares / rowSums(shares)
}

# The column of each row's largest predictor, the first of equal ones; 1 where a predictor is missing, as then the whole
# row is.
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
