# Does a guarantee follow from its ledger? The entry `privacy` of a result (privacy-claim.R) states eps, and holds the
# charges that eps was computed from; both are recomputed here (proofs: ledger-rows).

same <- function(x, y, tolerance = 1e-9) abs(x / y - 1) <= tolerance

# Numbers that were edited may be missing, or none that the accountants take: NA.
computed <- function(code) {
  x <- tryCatch(code, error = function(e) NULL)
  if (length(x) > 0L) x else NA_real_
}

# ---- eps ----

# A budget of its own is closed in full. Of a shared budget the result may spend rho, also where it spends less.
charged <- function(privacy) {
  total <- sum(privacy$ledger$rho)
  if (is_closed(privacy)) total else max(total, privacy$rho)
}

is_closed <- function(privacy) is.null(privacy$shared) || !all(is_release(privacy$ledger))

# NA where the accountant is unknown, or its numbers are missing or none that it takes.
ledger_eps <- function(privacy, rho = charged(privacy)) {
  computed(if (privacy$accountant == "tuned") tuned_eps(privacy, rho) else eps_of(privacy, rho))
}

# A random number of runs is one Renyi release. Otherwise each record is either in the Gaussian fits or in the choice
# (proofs: split-tuning).
tuned_eps <- function(privacy, rho) {
  tuning <- privacy$tuning
  if (is.null(tuning$choice)) return(renyi_eps(tuning$order, tuning$order * rho, privacy$delta))
  max(.Call(ffi_gdp_epsilon, sqrt(2 * rho), privacy$delta), sqrt(8 * tuning$choice$rho))
}

# At a tiny eps, or a large delta, a difference of rho in its last bits is a large one of eps: then rho is compared.
is_stated <- function(privacy, eps = ledger_eps(privacy)) {
  isTRUE(same(eps, privacy$eps)) ||
    !is.na(eps) && isTRUE(same(computed(rho_of(privacy, privacy$eps)), charged(privacy)))
}

# With the eps of its ledger, and the other one as `stated`, where they differ: for those who print it.
checked_privacy <- function(privacy) {
  eps <- ledger_eps(privacy)
  if (is_stated(privacy, eps)) return(privacy)
  privacy$stated <- privacy$eps
  privacy[c("eps", "rho")] <- list(eps, charged(privacy))
  privacy
}

doubt_text <- function(privacy) {
  if (is.null(privacy$stated)) return(NULL)
  paste0("Attention: the stated eps = ", format(privacy$stated, digits = 4), " does not follow from its ledger",
         if (is.na(privacy$eps)) ", and no other does")
}

# ---- rows ----

# What a row costs by its sensitivity over scale (r) and its number of values (k), by its mechanism. of: a list of what
# else is needed: for batches rate, scheme, neighbours and order, for a tuned fit tuning, for a minimiser n and loss.
row_costs <- list(
  gaussian = function(r, k, of) k * r^2 / 2,
  "objective perturbation" = function(r, k, of) k * r^2 / 2,
  "sparse vector" = function(r, k, of) ifelse(k <= 20, 0.11, 0.5) * (4 * r)^2,
  exponential = function(r, k, of) (r + 2^-30)^2 / 8,
  "gaussian on a batch" = function(r, k, of) sampled_costs(k * r^2 / 2, of),
  "sparse vector on a batch" = function(r, k, of) {
    eps <- log1p(of$rate * expm1(4 * r))
    pmin(eps^2 / 2, eps / of$order)
  },
  "random runs" = function(r, k, of) {
    rep(.Call(ffi_selection_cost, of$tuning$law, of$tuning$mean, of$tuning$mu, of$tuning$order), length(r))
  }
)

# Mechanisms that an accountant takes; Renyi filters take all. A row without a mechanism is what is left.
mechanisms_of <- list(
  gdp = c("gaussian", "none"), perturbed = c("gaussian", "objective perturbation", "none"),
  zcdp = c("gaussian", "sparse vector", "exponential", "none"), renyi = c(names(row_costs), "none"),
  tuned = c("gaussian", "random runs", "none")
)

# Steps of a run mostly have the same noise, up to rounding.
sampled_costs <- function(rho, of) {
  key <- signif(rho, 11)
  one <- function(rho) {
    step <- event_subsample(event_gaussian(1 / sqrt(2 * rho), of$neighbours), of$rate, of$scheme)
    .Call(ffi_rdp_curve, event_plan(step), of$order) / of$order
  }
  vapply(unique(key), one, 0)[match(key, unique(key))]
}

# Which rows of a ledger cost what they say? The cost of a batch at a large Renyi order is exact to a few 1e-8. Where
# what a cost depends on is missing, none does.
rows_agree <- function(ledger, of) {
  agree <- ledger$mechanism == "none"
  for (mechanism in intersect(unique(ledger$mechanism), names(row_costs))) {
    rows <- ledger$mechanism == mechanism
    cost <- computed(row_costs[[mechanism]](ledger$sensitivity[rows] / ledger$scale[rows], ledger$values[rows], of))
    agree[rows] <- same(cost, ledger$rho[rows], 1e-7)
  }
  agree & !is.na(agree)
}

# ---- checks ----

# The checks of one guarantee, as a data frame of check, agrees and says. of: see row_costs.
privacy_checks <- function(privacy, of) {
  ledger <- privacy$ledger
  eps <- ledger_eps(privacy)
  all_rows <- rbind(ledger, privacy$tuning$choice)
  rows <- rows_agree(all_rows, of)
  relations <- unique(c(privacy$neighbours, all_rows$neighbours))
  taken <- ledger$mechanism %in% mechanisms_of[[privacy$accountant]]
  total <- sum(ledger$rho)
  paid <- if (is_closed(privacy)) same(total, privacy$rho) else total <= privacy$rho * (1 + 1e-9)
  count <- function(ok) if (all(ok)) paste("all", length(ok), "rows") else paste(sum(!ok), "of", length(ok), "rows")
  rbind(
    new_check("eps", is_stated(privacy, eps), format(eps, digits = 10), " by the ledger, ",
              format(privacy$eps, digits = 10), " stated, delta = ", format(privacy$delta, digits = 4)),
    new_check("total", paid, "rho = ", format(total, digits = 10), " by the rows, ",
              format(privacy$rho, digits = 10), if (is_closed(privacy)) " stated" else " at most"),
    new_check("rows", all(rows), count(rows), if (all(rows)) " follow" else " do not follow",
              " from sensitivity, scale and values"),
    new_check("relation", length(relations) == 1L, paste(relations, collapse = " and ")),
    new_check("accountant", all(taken), count(taken), if (all(taken)) " have" else " do not have",
              " a mechanism that it takes: ", privacy$accountant),
    if (!is.na(eps) && privacy$accountant == "perturbed") minimiser_check(privacy, of)
  )
}

# What the accounting of a perturbed minimiser supposes of its ridge, its loss and its part of the budget (proofs:
# objective-perturbation).
minimiser_check <- function(privacy, of) {
  how <- privacy$perturbed
  strong <- of$n * privacy$lambda * (1 - 1e-14)
  found <- .Call(ffi_loss_determinant, of$loss$name, of$loss$parameter, strong, how[["tilt"]])
  own <- sum(privacy$ledger$rho[privacy$ledger$mechanism == "objective perturbation"])
  covered <- found[["top"]] <= how[["top"]] && found[["one_sign"]] >= how[["one_sign"]] &&
    own >= how[["share"]] * privacy$rho
  new_check("minimiser", covered, if (covered) "loss, ridge and part of the budget are" else
    "loss, ridge or part of the budget is not", " what its accounting supposes")
}

new_check <- function(check, agrees, ...) data.frame(check = check, agrees = isTRUE(agrees), says = paste0(...))

# row: the ledger's row of this number, a list, or NULL. The hash covers all fields of a row and the rows before it.
receipt_check <- function(privacy, row) {
  receipt <- privacy$receipt
  if (is.null(receipt)) return(new_check("receipt", FALSE, "it has none, so it did not reserve its budget there"))
  if (is.null(row)) return(new_check("receipt", FALSE, "the budget has no reservation ", toString(receipt$number)))
  ours <- identical(as.character(row$hash), as.character(receipt$hash)) &&
    (is.null(row$study) || identical(as.character(row$study), as.character(receipt$study)))
  if (!ours) return(new_check("receipt", FALSE, "reservation ", receipt$number, " of the budget is another one"))
  if (!identical(row$relation, privacy$neighbours)) {
    return(new_check("receipt", FALSE, "reservation ", receipt$number, " of the budget is for ", row$relation))
  }
  paid <- is_reserved(privacy, row)
  new_check("receipt", paid, "reservation ", receipt$number, " of the budget", if (!paid) " is for less")
}

# Without rho, the other part of the budget paid, in eps and delta.
is_reserved <- function(privacy, row) {
  if (!is.null(row$rho)) return(sum(privacy$ledger$rho) <= row$rho * (1 + 1e-9))
  privacy$eps <= row$other_eps * (1 + 1e-9) && privacy$delta <= row$other_delta * (1 + 1e-9)
}
