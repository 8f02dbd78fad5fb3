#' Privacy events
#'
#' Describes what a mechanism releases in numbers, separately from the accounting.
#' Noise is stated as "noise over sensitivity", where the sensitivity is the
#' one under the neighbour relation that `neighbours` names. An event carries
#' its relation; relations do not mix in a composition, and [dp_account()]
#' refuses an event under another relation. So no factor of two is lost or gained.
#'
#' @param sigma Standard deviation of the Gaussian noise over the L2
#'   sensitivity. For `event_tree()`: of the noise over the L2 sensitivity of
#'   one leaf.
#' @param scale Scale of the Laplace noise over the L1 sensitivity.
#' @param eps Epsilon of a pure mechanism.
#' @param range Bounded range of the exponential mechanism: the range over
#'   candidates of the change of scores between neighbours, over the temperature.
#' @param k Largest number of queries; sparse vector stops at its first
#'   positive answer.
#' @param threshold,query For sparse vector with Gaussian noise: standard
#'   deviations of the threshold's and of the queries' noise over the sensitivity.
#' @param leaves Number of leaves; every record is in one of them.
#' @param factorisation `"binary"`: the binary tree, its root included, where a
#'   record touches `floor(log2(leaves)) + 1` nodes. `"sqrt"`: the square root
#'   of the matrix of ones, with coefficients choose(2j, j) / 4^j.
#' @param event An event.
#' @param rate Sampling rate in (0, 1]: each record's probability (Poisson) or
#'   the batch size over n (without replacement).
#' @param scheme `"poisson"` or `"wor"` (without replacement).
#' @param times How often the event is repeated. Inside `event_subsample()` the
#'   repetitions share one batch; outside, each draws its own batch.
#' @param ... For `event_compose()` the events, composed (adaptively); for the others not used: anything in it is an
#'   error.
#' @param neighbours `"replace-one"`: one record is changed. `"zero-out"`: one record is replaced by a null record. n is
#'   public under both, so `"add-remove"` is refused.
#' @return An object of class `dpsosp_event`.
#' @section Errors: `dpsosp_error_argument` for an argument out of its range,
#'   `dpsosp_error_relation` when relations are mixed, `dpsosp_error_unsupported`
#'   for what cannot be accounted for, with the reason.
#' @references Chen & Lee (2020), sections III and IV; Honaker (2015), Denisov et
#'   al. (2022) for the tree and its square root.
#' @examples
#' batch <- event_compose(event_gaussian(4), event_gaussian(8))
#' event_repeat(event_subsample(batch, rate = 0.01), 1000)
#' @name events
NULL

new_event <- function(type, ..., neighbours, call = sys.call(-1)) {
  neighbours <- check_neighbours(neighbours, call)
  own_event(list(type = type, ..., neighbours = neighbours))
}

leaf_event <- function(label, leaf, neighbours, call = sys.call(-1)) {
  new_event("leaf", label = label, leaf = leaf, neighbours = neighbours, call = call)
}

# A leaf is a row of a matrix, and its kind a position in this vector. A plan has the kinds in this order.
leaf_kinds <- c("gaussian", "laplace", "pure", "exponential", "svt_laplace", "svt_gaussian")

leaf_row <- function(kind, a, b = 0, c = 0) c(kind = match(kind, leaf_kinds), a = a, b = b, c = c, times = 1)

#' @rdname events
#' @export
event_gaussian <- function(sigma, neighbours = "replace-one", ...) {
  check_dots()
  require_given()
  sigma <- check_number(sigma, "sigma", 0)
  leaf_event(paste0("Gaussian, sigma ", format(sigma)), leaf_row("gaussian", 1 / sigma), neighbours)
}

#' @rdname events
#' @export
event_laplace <- function(scale, neighbours = "replace-one", ...) {
  check_dots()
  require_given()
  scale <- check_number(scale, "scale", 0)
  leaf_event(paste0("Laplace, scale ", format(scale)), leaf_row("laplace", 1 / scale), neighbours)
}

#' @rdname events
#' @export
event_pure <- function(eps, neighbours = "replace-one", ...) {
  check_dots()
  require_given()
  eps <- check_number(eps, "eps", 0)
  leaf_event(paste0("pure, eps ", format(eps)), leaf_row("pure", eps), neighbours)
}

#' @rdname events
#' @export
event_exponential <- function(range, neighbours = "replace-one", ...) {
  check_dots()
  require_given()
  range <- check_number(range, "range", 0)
  leaf_event(paste0("exponential, range ", format(range)), leaf_row("exponential", range), neighbours)
}

#' @rdname events
#' @export
event_svt <- function(eps, k, neighbours = "replace-one", ...) {
  check_dots()
  require_given()
  eps <- check_number(eps, "eps", 0)
  k <- check_count(k, "k")
  leaf_event(paste0("sparse vector, eps ", format(eps), ", k ", k), leaf_row("svt_laplace", eps, k), neighbours)
}

#' @rdname events
#' @export
event_svt_gaussian <- function(threshold, query, k, neighbours = "replace-one", ...) {
  check_dots()
  require_given()
  threshold <- check_number(threshold, "threshold", 0)
  query <- check_number(query, "query", 0)
  k <- check_count(k, "k")
  leaf_event(paste0("Gaussian sparse vector, sd ", format(threshold), " and ", format(query), ", k ", k),
             leaf_row("svt_gaussian", 1 / threshold, k, 1 / query), neighbours)
}

#' @rdname events
#' @export
event_tree <- function(sigma, leaves, factorisation = c("binary", "sqrt"), neighbours = "replace-one", ...) {
  check_dots()
  require_given()
  sigma <- check_number(sigma, "sigma", 0)
  leaves <- check_count(leaves, "leaves")
  factorisation <- check_choice(factorisation, c("binary", "sqrt"), "factorisation")
  touched <- if (factorisation == "binary") {
    ceiling(log2(leaves + 1)) # floor(log2(leaves)) + 1
  } else {
    sqrt_tree_square(leaves)
  }
  leaf_event(paste0(factorisation, " tree, sigma ", format(sigma), ", ", leaves, " leaves"),
             leaf_row("gaussian", sqrt(touched) / sigma), neighbours)
}

# Sum of the squares of choose(2j, j) / 4^j, j < leaves. Beyond a million terms a vector of them would use too much
# memory, so an upper bound is added instead: the square is below 1 / (pi (j + 1/4)), which is convex in j and therefore
# below its mean over (j - 1/2, j + 1/2).
sqrt_tree_square <- function(leaves, exact = 1e6) {
  j <- seq_len(min(leaves, exact)) - 1
  beyond <- if (leaves > exact) log((leaves - 0.25) / (exact - 0.25)) / pi else 0
  sum(exp(2 * (lchoose(2 * j, j) - j * log(4)))) + beyond
}

#' @rdname events
#' @export
event_subsample <- function(event, rate, scheme = c("poisson", "wor"), ...) {
  check_dots()
  require_given()
  check_event(event)
  scheme <- check_choice(scheme, c("poisson", "wor"), "scheme")
  rate <- check_number(rate, "rate", 0, 1, open = FALSE)
  if (rate == 0) abort("argument", "`rate` must be greater than 0.")
  if (holds_subsample(event)) {
    abort("unsupported", "a subsample of a subsample cannot be accounted for; use one rate, the product of both.")
  }
  if (scheme == "wor" && event$neighbours == "zero-out" && rate < 1) {
    abort("unsupported", "sampling without replacement is accounted for under \"replace-one\" only: with a null ",
          "record in the batch another record is missing from it, so neighbouring batches differ in two.")
  }
  new_event("subsample", event = event, rate = rate, scheme = scheme, neighbours = event$neighbours)
}

#' @rdname events
#' @export
event_compose <- function(...) {
  events <- list(...)
  if (length(events) == 0L) abort("argument", "give at least one event.")
  for (event in events) check_event(event, what = "Every argument")
  relations <- unique(vapply(events, `[[`, "", "neighbours"))
  if (length(relations) > 1L) {
    abort("relation", "events of different neighbour relations cannot be composed: ", quote_all(relations), ".")
  }
  new_event("compose", events = events, neighbours = relations)
}

#' @rdname events
#' @export
event_repeat <- function(event, times, ...) {
  check_dots()
  require_given()
  check_event(event)
  times <- check_number(times, "times", 1, 2^53, open = FALSE)
  if (times != round(times)) abort("argument", "`times` must be a whole number; it is ", format(times), ".")
  new_event("repeat", event = event, times = times, neighbours = event$neighbours)
}

check_event <- function(x, call = sys.call(-1), what = "`event`") {
  if (!inherits(x, "dpsosp_event")) abort("argument", what, " must be an event, not ", describe(x), ".", call = call)
}

event_fields <- c("type", "label", "leaf", "rate", "scheme", "times", "neighbours")

# As the makers of events made it, see own().
own_event <- function(x) {
  made <- own(x, c(paste0("dpsosp_event_", x$type), "dpsosp_event"), event_fields)
  if (!is.null(x[["event"]])) made$event <- own_event(x[["event"]])
  if (!is.null(x$events)) made$events <- lapply(unname(x$events), own_event)
  made
}

holds_subsample <- function(event) {
  switch(event$type,
    leaf = FALSE,
    subsample = event$rate < 1,
    compose = any(vapply(event$events, holds_subsample, NA)),
    "repeat" = holds_subsample(event$event)
  )
}

# The leaves of an event. Equal leaves are merged, and so are all Gaussian ones.
event_leaves <- function(event, times = 1) {
  rows <- switch(event$type,
    leaf = t(replace(event$leaf, "times", times)),
    subsample = event_leaves(event$event, times),
    compose = do.call(rbind, lapply(event$events, event_leaves, times)),
    "repeat" = event_leaves(event$event, times * event$times)
  )
  merge_leaves(rows)
}

merge_leaves <- function(rows) {
  gaussian <- leaf_kinds[rows[, "kind"]] == "gaussian"
  others <- rows[!gaussian, , drop = FALSE]
  key <- apply(others[, c("kind", "a", "b", "c"), drop = FALSE], 1, exact_key)
  times <- tapply(others[, "times"], factor(key, unique(key)), sum)
  others <- others[!duplicated(key), , drop = FALSE]
  others[, "times"] <- times
  if (any(gaussian)) {
    others <- rbind(leaf_row("gaussian", sqrt(sum(rows[gaussian, "times"] * rows[gaussian, "a"]^2))), others)
  }
  others[order(others[, "kind"], others[, "a"], others[, "b"], others[, "c"]), , drop = FALSE]
}

# Keys are equal only for equal numbers.
exact_key <- function(x) paste(format(x, digits = 17), collapse = " ")
step_key <- function(s) exact_key(c(match(s$amplification, amplifications), s$rate, s$leaves))

# The amplification by sampling: "none" (every record is in the batch), or the form of the privacy loss of a pair of
# neighbours under "zero-out" ("mixture") and "replace-one" ("profile"). A plan has its steps in this order.
amplifications <- c("none", "mixture", "profile")

# Steps (leaves, amplification, rate, times), in the order of the event.
event_steps <- function(event, times = 1) {
  switch(event$type,
    leaf = list(plain_step(event, times)),
    subsample = if (event$rate == 1) event_steps(event$event, times) else list(list(
      leaves = event_leaves(event$event), rate = event$rate, times = times,
      amplification = if (event$neighbours == "zero-out") "mixture" else "profile")),
    compose = do.call(c, lapply(event$events, event_steps, times)),
    "repeat" = event_steps(event$event, times * event$times)
  )
}

plain_step <- function(event, times) {
  list(leaves = event_leaves(event, times), amplification = "none", rate = 1, times = 1)
}

# A plan in the form of the core: columns of all leaves, those of the first step first, and columns of the steps with
# the number of leaves of each. Equal steps are adjacent.
event_plan <- function(event) {
  steps <- event_steps(event)
  plain <- vapply(steps, function(s) s$amplification == "none", NA)
  leaves <- if (any(plain)) merge_leaves(do.call(rbind, lapply(steps[plain], `[[`, "leaves")))
  ours <- lapply(seq_len(NROW(leaves)), function(i) {
    row <- leaves[i, ]
    list(leaves = t(replace(row, "times", 1)), amplification = "none", rate = 1, times = row[["times"]])
  })
  sampled <- steps[!plain]
  key <- vapply(sampled, step_key, "")
  for (k in unique(key)) {
    same <- sampled[key == k]
    same[[1]]$times <- sum(vapply(same, `[[`, 0, "times"))
    ours <- c(ours, same[1])
  }
  ours <- ours[order(vapply(ours, step_key, ""))]
  list(
    leaves = leaf_columns(do.call(rbind, lapply(ours, `[[`, "leaves"))),
    steps = list(
      leaves = vapply(ours, function(s) nrow(s$leaves), 0L),
      amplification = vapply(ours, `[[`, "", "amplification"),
      rate = vapply(ours, `[[`, 0, "rate"),
      times = vapply(ours, `[[`, 0, "times")
    )
  )
}

leaf_columns <- function(leaves) {
  number <- function(name) unname(leaves[, name])
  list(kind = leaf_kinds[number("kind")], a = number("a"), b = number("b"), c = number("c"), times = number("times"))
}

#' @export
format.dpsosp_event <- function(x, ...) {
  check_dots()
  switch(x$type,
    leaf = x$label,
    subsample = paste0("[", format(x$event), "] on a ", if (x$scheme == "wor") "without-replacement" else "Poisson",
                       " batch of rate ", format(x$rate)),
    compose = paste(vapply(x$events, format, ""), collapse = " + "),
    "repeat" = paste0(format(x$times), " x (", format(x$event), ")")
  )
}

#' @export
print.dpsosp_event <- function(x, ...) {
  check_dots()
  cat("Privacy event (", x$neighbours, "): ", format(x), "\n", sep = "")
  invisible(x)
}
