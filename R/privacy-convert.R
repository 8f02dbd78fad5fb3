#' Convert between privacy parameters
#'
#' Translates between the parameter `mu` of Gaussian differential privacy, the
#' parameter `rho` of zero-concentrated differential privacy and
#' (`eps`, `delta`)-differential privacy; and from the Renyi divergence at one order, in which budgets with a `plan` are
#' counted, to `eps`.
#'
#' Give two of the four, or `mu` or `rho` alone:
#'
#' | given | found |
#' |---|---|
#' | `mu` and `delta` | `eps`, exactly; `rho` = `mu`^2 / 2 |
#' | `mu` and `eps` | `delta`, exactly; `rho` = `mu`^2 / 2 |
#' | `mu` | `rho` = `mu`^2 / 2 |
#' | `rho` and `delta` | `eps`, by the zCDP conversion |
#' | `rho` and `eps` | `delta`, by the zCDP conversion |
#' | `rho` | `mu` = sqrt(2 `rho`), which holds for Gaussian releases only |
#' | `rho`, `order` and `delta` | `eps`, by the conversion at this order |
#' | `eps` and `delta` | the largest `mu` that Gaussian releases may spend, and the largest `rho` that any may spend |
#'
#' In the last row `mu` and `rho` are alternatives: Gaussian releases alone may
#' spend `mu`, which is more than `rho`, because their conversion is exact.
#' A `rho` that is given together with `eps` or `delta` may come from any releases. It then has
#' no `mu`, which is `NA` in the result.
#'
#' Every number is rounded to the safe side: the `mu` or `rho` that
#' is returned never leads to more than `delta`. The conversion is the same for each neighbour relation; all
#' parameters refer to one relation.
#'
#' @param eps Epsilon, at least 0 (`Inf` allowed).
#' @param delta Delta, between 0 and 1.
#' @param rho The zCDP parameter, at least 0 (`Inf` allowed).
#' @param mu The Gaussian DP parameter, sensitivity over standard deviation, at
#'   least 0 (`Inf` allowed). For several Gaussian releases it is
#'   `sqrt(sum(mu^2))`.
#' @param to `NULL`, or one of `"eps"`, `"delta"`, `"rho"` and `"mu"`: return this column
#'   as a plain numeric vector.
#' @param order Renyi order, above 1. `rho` is then the divergence at this order divided by the order, as in the
#'   [dp_ledger()] of a fit on batches, whose order is `fit$privacy$order`.
#' @param group `NULL`, or numbers of records, whole and at least 1: what is given holds for one record, the result for
#'   so many records of one person together. `mu` becomes `group * mu`, `rho` becomes `group^2 * rho`. From `eps` and
#'   `delta` alone follow `group * eps` and `delta` times the sum of `exp(j eps)`, j < `group`, without `mu` and `rho`.
#'   At one `order` there is no rule.
#' @param ... Not used; anything in it is an error.
#' @return A data frame of class `dpsosp_conversion` with the columns `eps`,
#'   `delta`, `rho` and `mu` and one row for each element of the arguments
#'   (those of length one are recycled), `NA` where there is no result; with
#'   `to`, a numeric vector.
#' @section Errors: `dpsosp_error_argument` when an argument is out of its
#'   range, when lengths differ, when the combination is none of those above
#'   or cannot give what `to` asks for.
#' @references
#' Balle & Wang (2018), Improving the Gaussian mechanism for differential
#' privacy, theorem 8.
#'
#' Dong, Roth & Su (2022), Gaussian differential privacy, corollary 1.
#'
#' Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential
#' privacy, corollary 13.
#' @examples
#' dp_convert(mu = 0.5, delta = 1e-6)
#' dp_convert(eps = c(0.2, 0.6, 1), delta = 1e-6)
#' # what the recipient of a fit on batches can compute: dp_convert(rho = sum(dp_ledger(fit)$rho),
#' # order = fit$privacy$order, delta = fit$privacy$delta, to = "eps") is fit$privacy$eps
#' dp_convert(rho = 0.02, order = 12, delta = 1e-6, to = "eps")
#' # standard deviation over sensitivity of one Gaussian release
#' 1 / dp_convert(eps = 0.6, delta = 1e-5, to = "mu")
#' # what a Gaussian release of eps = 1 for a record guarantees to persons with 2, 5 and 10 records
#' mu <- dp_convert(eps = 1, delta = 1e-6, to = "mu")
#' dp_convert(mu = mu, delta = 1e-6, to = "eps", group = c(2, 5, 10))
#' @export
dp_convert <- function(eps = NULL, delta = NULL, rho = NULL, mu = NULL, to = NULL, order = NULL, group = NULL, ...) {
  check_dots()
  given <- list(eps = eps, delta = delta, rho = rho, mu = mu, order = order, group = group)
  given <- given[!vapply(given, is.null, NA)]
  most <- c(delta = 1, group = 1e9)
  for (name in names(given)) given[[name]] <- check_parameter(given[[name]], name, min(most[name], Inf, na.rm = TRUE))
  if (any(given$order <= 1)) abort("argument", "`order` must be greater than 1.")
  if (!all(given$group >= 1, given$group %% 1 == 0)) abort("argument", "`group` must be whole numbers of at least 1.")
  given <- of_group(recycle_parameters(given))
  table <- conversion_table(given)
  if (is.null(to)) return(structure(table, class = c("dpsosp_conversion", "data.frame"), given = names(given)))
  to <- check_choice(to, names(table), "to")
  if (length(table[[to]]) > 0L && all(is.na(table[[to]]))) {
    abort("argument", "`to` = \"", to, "\" does not follow from ", given_text(names(given)), ".")
  }
  table[[to]]
}

# ---- groups of records (proofs: groups) ----

# What is given for one record, for `group` records. From (eps, delta) no mu or rho of a group follows, so these get
# other names.
of_group <- function(given, call = sys.call(-1)) {
  k <- given$group
  given$group <- NULL
  if (is.null(k) || all(k == 1)) return(given)
  if (!is.null(given$order)) {
    abort("argument", "There is no rule for a `group` at one Renyi `order`: convert to `eps` first, then give `eps` ",
          "and `delta` with `group`.", call = call)
  }
  if (setequal(names(given), c("eps", "delta"))) {
    given$delta <- group_delta(given$eps, given$delta, k)
    given$eps <- k * given$eps
    return(stats::setNames(given, c("group eps", "group delta")))
  }
  if (!is.null(given$mu)) given$mu <- k * given$mu
  if (!is.null(given$rho)) given$rho <- k^2 * given$rho
  given
}

# delta (1 + e^eps + ... + e^((k - 1) eps)), at most 1.
group_delta <- function(eps, delta, k) {
  sum <- ifelse(eps == 0, k, expm1(k * eps) / expm1(eps)) * (1 + 8 * .Machine$double.eps)
  pmin(1, ifelse(delta == 0, 0, delta * ifelse(is.finite(sum), sum, Inf)))
}

conversion_table <- function(given, call = sys.call(-1)) {
  x <- data.frame(eps = NA_real_, delta = NA_real_, rho = NA_real_, mu = NA_real_)
  x <- x[rep(1L, length(given[[1]])), , drop = FALSE]
  rownames(x) <- NULL
  x[sub("group ", "", names(given))] <- given
  switch(paste(names(given), collapse = " "),
    "group eps group delta" = NULL,
    "eps delta" = {
      x$rho <- .Call(ffi_zcdp_rho, x$eps, x$delta)
      x$mu <- .Call(ffi_gdp_mu, x$eps, x$delta)
    },
    "delta mu" = x$eps <- .Call(ffi_gdp_epsilon, x$mu, x$delta),
    "eps mu" = x$delta <- .Call(ffi_gdp_delta, x$mu, x$eps),
    "delta rho" = x$eps <- .Call(ffi_zcdp_epsilon, x$rho, x$delta),
    "delta rho order" = x$eps <- renyi_eps(x$order, x$order * x$rho, x$delta),
    "eps rho" = x$delta <- .Call(ffi_zcdp_delta, x$rho, x$eps),
    "rho" = x$mu <- sqrt(2 * x$rho),
    "mu" = NULL,
    abort("argument", "give `eps` and `delta`, or one of `mu` and `rho` with at most one of `eps` and `delta`; not ",
          given_text(names(given)), ".", call = call)
  )
  if ("mu" %in% names(given)) x$rho <- x$mu^2 / 2
  x
}

# ---- between eps and the cost rho of one accountant ----

# A Gaussian or zCDP cost of rho is a Renyi divergence of order * rho.
rho_of <- function(job, eps) {
  switch(job$accountant,
    gdp = .Call(ffi_gdp_mu, eps, job$delta)^2 / 2,
    perturbed = .Call(ffi_perturbed_mu, eps, job$delta, job$perturbed)^2 / 2,
    zcdp = .Call(ffi_zcdp_rho, eps, job$delta),
    renyi = .Call(ffi_rdp_budget, order_of(job), eps, job$delta) / order_of(job)
  )
}

eps_of <- function(job, rho) {
  switch(job$accountant,
    gdp = .Call(ffi_gdp_epsilon, sqrt(2 * rho), job$delta),
    perturbed = .Call(ffi_perturbed_epsilon, sqrt(2 * rho), job$delta, job$perturbed),
    zcdp = .Call(ffi_zcdp_epsilon, rho, job$delta),
    renyi = renyi_eps(order_of(job), order_of(job) * rho, job$delta)
  )
}

# Of a claim, or of the entry `privacy` of a result.
order_of <- function(job) job$order %||% job$budget$order

# Canonne, Kamath & Steinke (2020), proposition 12, at one order.
renyi_eps <- function(order, divergence, delta) {
  x <- order - 1
  pmax(0, divergence - log1p(1 / x) - (log(delta) + log1p(x)) / x)
}

check_parameter <- function(x, arg, upper, call = sys.call(-1)) {
  if (!is.numeric(x) || length(x) == 0L || anyNA(x)) {
    abort("argument", "`", arg, "` must be numbers without missing values, not ", describe(x), ".", call = call)
  }
  bad <- !(x >= 0 & x <= upper)
  if (any(bad)) {
    range <- if (is.finite(upper)) paste("between 0 and", upper) else "at least 0"
    it_is <- if (length(x) == 1L) paste0("; it is ", format(x))
    abort("argument", "`", arg, "` must be ", range, it_is, ".", call = call)
  }
  as.double(x)
}

recycle_parameters <- function(given, call = sys.call(-1)) {
  if (length(given) == 0L) abort("argument", "give `eps` and `delta`, `mu` or `rho`.", call = call)
  sizes <- lengths(given)
  if (any(sizes != 1L & sizes != max(sizes))) {
    abort("argument", "lengths must be 1 or equal: ", paste0("`", names(given), "` has ", sizes, collapse = ", "), ".",
          call = call)
  }
  lapply(given, rep_len, max(sizes))
}

given_text <- function(names) paste0("`", names, "`", collapse = " and ")

#' @export
print.dpsosp_conversion <- function(x, digits = max(3L, getOption("digits") - 1L), ...) {
  check_dots()
  digits <- check_digits(digits)
  given <- attr(x, "given")
  cat("Privacy parameters", if (!is.null(given)) paste0(", from ", paste(given, collapse = " and ")), "\n", sep = "")
  print.data.frame(x, digits = digits, row.names = FALSE)
  if (setequal(given, c("eps", "delta"))) {
    cat("mu: Gaussian releases only, exact; rho: any releases. One or the other, not both.\n")
  }
  invisible(x)
}

# Budgets, guarantees and accountants as text.

budget_text <- function(x) {
  place <- if (!is.null(x$store)) paste(" in", basename(x$store$text))
  if (!is.null(x$eps)) return(paste0("eps = ", format(x$eps), ", delta = ", format(x$delta, digits = 3), place))
  if (!is.null(x$rho)) return(paste0("rho = ", format(x$rho), " (zCDP)"))
  paste0("mu = ", format(x$mu), " (Gaussian DP)")
}

guarantee_text <- function(eps, delta) {
  paste0("eps = ", format(eps, digits = 4), ", delta = ", format(delta, digits = 3))
}

format_share <- function(x, digits = 3) paste0(format(100 * x, digits = digits), " %")

accountant_texts <- c(gdp = "Gaussian DP, exact", zcdp = "zCDP", renyi = "Renyi", perturbed = "objective perturbation",
                      tuned = "of all candidates together", added = "eps and delta added")
