#' Account for an event
#'
#' The privacy profile of an event: epsilon as a function of delta and delta as a function of
#' epsilon, before any data are touched.
#'
#' | accountant | takes | result |
#' |---|---|---|
#' | `"gdp"` | compositions of Gaussians and trees | exact |
#' | `"pld"` | everything | an upper bound, and a lower bound on request |
#' | `"rdp"` | everything; a batch that mixes Gaussian with other noise is not amplified | an upper bound |
#' | `"zcdp"` | events without subsampling and without Gaussian sparse vector | an upper bound |
#' | `"auto"` | everything | the smallest of the valid ones, and which it was |
#'
#' @param event An event; see [events].
#' @param accountant One of the accountants above.
#' @param neighbours The neighbour relation that the result is for. It
#'   must be the event's own, which is also the default.
#' @return `dp_account()`: an object of class `dpsosp_profile`. `epsilon()` and
#'   `delta()`: a numeric vector, with the accountants used as attribute
#'   `"accountant"`; `Inf` (or 1 for delta) means that nothing was proven. `plot()` and `autoplot()` show delta
#'   against eps, as claimed and by each accountant.
#' @section Errors: `dpsosp_error_relation` when `neighbours` is not the event's,
#'   `dpsosp_error_unsupported` when the accountant cannot take the event, with
#'   the reason, `dpsosp_error_argument` otherwise.
#' @references Mironov (2017); Canonne, Kamath & Steinke (2020); Balle, Barthe &
#'   Gaboardi (2018); Zhu, Dong & Wang (2022); Doroshenko et al. (2022). See
#'   `vignette("proofs", "dpsosp")`.
#' @examples
#' p <- dp_account(event_repeat(event_subsample(event_gaussian(1, "zero-out"), 0.01), 100))
#' epsilon(p, 1e-5)
#' delta(p, 1)
#' @export
dp_account <- function(event, accountant = c("auto", "gdp", "pld", "rdp", "zcdp"), neighbours = NULL, ...) {
  check_dots()
  require_given()
  check_event(event)
  accountant <- check_choice(accountant, c("auto", "gdp", "pld", "rdp", "zcdp"), "accountant")
  if (!is.null(neighbours) && check_neighbours(neighbours, sys.call()) != event$neighbours) {
    abort("relation", "the event's noise is in units of its sensitivity under \"", event$neighbours,
          "\" and says nothing about \"", neighbours, "\"; make the event with `neighbours = \"", neighbours, "\"`.")
  }
  plan <- event_plan(event)
  reasons <- lapply(c(gdp = "gdp", zcdp = "zcdp"), refusal, plan = plan)
  if (!is.null(reasons[[accountant]])) abort("unsupported", reasons[[accountant]])
  valid <- if (accountant != "auto") accountant
           else if (is.null(reasons$gdp)) "gdp"
           else c("pld", "rdp", if (is.null(reasons$zcdp)) "zcdp")
  structure(list(event = own_event(event), neighbours = event$neighbours, accountant = accountant, valid = valid,
                 plan = plan), class = "dpsosp_profile")
}

# The reason why an accountant cannot take a plan, or NULL.
refusal <- function(accountant, plan) {
  kind <- plan$leaves$kind
  sampled <- any(plan$steps$amplification != "none")
  switch(accountant,
    gdp = if (sampled) "the \"gdp\" accountant is exact for Gaussians only: a subsampled one is not Gaussian DP."
          else if (any(kind != "gaussian")) "the \"gdp\" accountant takes Gaussian releases only.",
    zcdp = if (sampled) paste("the \"zcdp\" accountant cannot take a subsampled event: its divergence is not linear in",
                              "the order.")
           else if (any(kind == "svt_gaussian")) "no zCDP constant of Gaussian sparse vector is known here."
  )
}

#' @rdname dp_account
#' @param p A profile from `dp_account()`.
#' @param delta Numbers in (0, 1).
#' @param eps Numbers, at least 0.
#' @param bound `"pessimistic"`, the guarantee, or `"optimistic"`: a lower bound on what any accountant could
#'   prove, by the PLD of a pair of neighbouring data sets that attains the sensitivity.
#' @param ... Not used; anything in it is an error.
#' @export
epsilon <- function(p, ...) {
  require_given()
  UseMethod("epsilon")
}

#' @rdname dp_account
#' @export
delta <- function(p, ...) {
  require_given()
  UseMethod("delta")
}

#' @export
epsilon.default <- function(p, ...) no_profile(p, sys.call(-1))

#' @export
delta.default <- function(p, ...) no_profile(p, sys.call(-1))

no_profile <- function(p, call) {
  abort("argument", "`p` must come from `dp_account()`, not ", describe(p), ".", call = call)
}

#' @rdname dp_account
#' @export
epsilon.dpsosp_profile <- function(p, delta, bound = c("pessimistic", "optimistic"), ...) {
  check_dots()
  bound <- check_choice(bound, c("pessimistic", "optimistic"), "bound")
  delta <- check_parameter(delta, "delta", 1)
  if (any(delta == 0)) abort("argument", "`delta` must be greater than 0.")
  tightest(p, delta, epsilon_by, bound)
}

#' @rdname dp_account
#' @export
delta.dpsosp_profile <- function(p, eps, bound = c("pessimistic", "optimistic"), ...) {
  check_dots()
  bound <- check_choice(bound, c("pessimistic", "optimistic"), "bound")
  eps <- check_parameter(eps, "eps", Inf)
  tightest(p, eps, delta_by, bound)
}

tightest <- function(p, x, by, bound) {
  if (bound == "optimistic") {
    accountant <- if ("gdp" %in% p$valid) "gdp" else "pld"
    return(vapply(x, function(at) by(p$plan, accountant, at, TRUE), 0))
  }
  answers <- vapply(x, function(at) {
    all <- vapply(p$valid, function(a) by(p$plan, a, at, FALSE), 0)
    c(min(all), which.min(all))
  }, c(0, 0))
  structure(answers[1, ], accountant = p$valid[answers[2, ]])
}

epsilon_by <- function(plan, accountant, delta, optimistic) {
  if (delta == 1) return(0)
  switch(accountant,
    gdp = .Call(ffi_gdp_epsilon, plan_mu(plan), delta),
    pld = .Call(ffi_pld_epsilon, plan, delta, optimistic),
    rdp = .Call(ffi_rdp_epsilon, plan, delta)[["eps"]],
    zcdp = .Call(ffi_zcdp_epsilon, .Call(ffi_leaf_zcdp, plan), delta)
  )
}

delta_by <- function(plan, accountant, eps, optimistic) {
  if (eps == Inf) return(0)
  switch(accountant,
    gdp = .Call(ffi_gdp_delta, plan_mu(plan), eps),
    pld = exp(.Call(ffi_pld_log_delta, plan, eps, optimistic)),
    rdp = exp(.Call(ffi_rdp_log_delta, plan, eps)[["log_delta"]]),
    zcdp = .Call(ffi_zcdp_delta, .Call(ffi_leaf_zcdp, plan), eps)
  )
}

# The plan must consist of Gaussian leaves, each in a step of its own.
plan_mu <- function(plan) sqrt(sum(plan$leaves$times * plan$steps$times * plan$leaves$a^2))

#' @rdname dp_account
#' @param order Orders greater than 1.
#' @return `dp_rdp()`: the Renyi divergence of the event at these orders.
#' @export
dp_rdp <- function(event, order, ...) {
  check_dots()
  require_given()
  check_event(event)
  if (!is.numeric(order) || length(order) == 0L || anyNA(order) || any(order <= 1)) {
    abort("argument", "`order` must be numbers greater than 1.")
  }
  by_size <- order(order)
  value <- numeric(length(order))
  value[by_size] <- .Call(ffi_rdp_curve, event_plan(event), as.double(order[by_size]))
  value
}

#' The order of a Renyi filter
#'
#' Adaptive mini-batch runs are stopped by a filter on the sum of Renyi
#' divergences at one order. The order must be fixed before the run, from the
#' planned public schedule: a run that stops when no order has budget left has no such guarantee.
#'
#' @param event The planned schedule; see [events].
#' @param eps,delta The budget.
#' @param ... Not used; anything in it is an error.
#' @return A list: `order`; `budget`, the divergence that (`eps`, `delta`)
#'   allows at this order; `cost`, that of the planned schedule; `fits`: is the cost at most the budget?
#' @section Errors: `dpsosp_error_argument` for an argument out of its range.
#' @references Feldman & Zrnic (2021) for the filter; Canonne, Kamath & Steinke
#'   (2020) for the budget.
#' @examples
#' plan <- event_repeat(event_subsample(event_gaussian(2), 0.01), 500)
#' dp_filter_order(plan, eps = 1, delta = 1e-6)
#' @export
dp_filter_order <- function(event, eps, delta, ...) {
  check_dots()
  require_given()
  check_event(event)
  eps <- check_number(eps, "eps", 0)
  delta <- check_delta(delta)
  plan <- event_plan(event)
  filter <- filter_order(plan, eps, delta)
  cost <- .Call(ffi_rdp_curve, plan, filter$order)
  c(filter, list(cost = cost, fits = cost <= filter$budget))
}

filter_order <- function(plan, eps, delta) {
  order <- .Call(ffi_rdp_epsilon, plan, delta)[["order"]]
  list(order = order, budget = .Call(ffi_rdp_budget, order, eps, delta))
}

#' Calibrate an event
#'
#' Finds the least noise with which an event is (`eps`, `delta`)-differentially private.
#'
#' @param family A function of one number (a noise scale) that returns an event, which must be more private
#'   the larger the number is.
#' @param eps,delta The guarantee wanted.
#' @param range Interval that is searched for the number.
#' @param accountant See [dp_account()].
#' @param tolerance Relative tolerance of the number found.
#' @param ... Not used; anything in it is an error.
#' @return The smallest number, up to the tolerance and never smaller than
#'   allowed, whose event is (`eps`, `delta`)-differentially private.
#' @section Errors: `dpsosp_error_unreachable` when the largest number in `range`
#'   is not enough; `dpsosp_error_argument` for an argument out of its range.
#' @examples
#' dp_calibrate(function(s) event_repeat(event_gaussian(s), 10), eps = 1, delta = 1e-6)
#' @export
dp_calibrate <- function(family, eps, delta, range = c(1e-3, 1e6), accountant = "auto", tolerance = 1e-6, ...) {
  check_dots()
  require_given()
  if (!is.function(family)) abort("argument", "`family` must be a function that gives an event.")
  eps <- check_number(eps, "eps", 0)
  delta <- check_delta(delta)
  if (!is.numeric(range) || length(range) != 2L || anyNA(range) || !(range[1] > 0 && range[1] < range[2])) {
    abort("argument", "`range` must be two positive numbers, the smaller one first.")
  }
  tolerance <- check_number(tolerance, "tolerance", 0, 1)
  call <- sys.call()
  eps_at <- function(x) {
    event <- family(x)
    check_event(event, call, "What `family` gives")
    as.numeric(epsilon(dp_account(event, accountant), delta))
  }
  min_noise(eps_at, eps, range, tolerance, call)
}

# eps_at: function(number), the eps of an event with this noise.
min_noise <- function(eps_at, eps, range, tolerance, call = sys.call(-1)) {
  excess <- function(x) log(eps_at(x) / eps)
  at <- log(range)
  value <- c(excess(range[1]), excess(range[2]))
  if (!(value[2] <= 0)) {
    abort("unreachable", "(eps, delta) is not reached in `range`, that is up to ", format(range[2]), ".",
          call = call)
  }
  if (value[1] <= 0) return(range[1])
  # Bisects the logarithm far from the root and in every third iteration, and takes secant steps in between. The upper
  # end always satisfies (eps, delta).
  for (i in 1:200) {
    if (at[2] - at[1] <= log1p(tolerance)) break
    share <- 0.5
    if (i %% 3 != 0 && at[2] - at[1] < 1.4 && all(is.finite(value)) && value[2] < value[1]) {
      share <- value[1] / (value[1] - value[2])
      share <- if (i %% 3 == 1) share * (1 + 1e-3) + tolerance / 4 else share * (1 - 1e-3) - tolerance / 4
      share <- min(max(share, 1e-3), 1 - 1e-3)
    }
    x <- at[1] + share * (at[2] - at[1])
    new <- excess(exp(x))
    side <- if (new <= 0) 2L else 1L
    at[side] <- x
    value[side] <- new
  }
  exp(at[2])
}

#' @export
print.dpsosp_profile <- function(x, delta = c(1e-5, 1e-6, 1e-8), digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  eps <- epsilon(x, delta)
  cat("Privacy profile (", x$neighbours, ") of ", format(x$event), "\n", sep = "")
  print(data.frame(delta = delta, eps = as.numeric(eps), accountant = attr(eps, "accountant")), row.names = FALSE,
        digits = digits)
  invisible(x)
}

#' @rdname dp_account
#' @param x,object A profile.
#' @export
plot.dpsosp_profile <- function(x, eps = NULL, ...) {
  check_dots(also = c("main", "sub", "xlim", "ylim", "cex", "las", "bty"))
  curves <- profile_curves(x, eps)
  shown <- curves[-1]
  lines <- c(1, seq_along(shown)[-1])
  graphics::matplot(curves$eps, shown, type = "l", log = "y", lty = lines, col = seq_along(shown),
                    lwd = c(3, rep(1, ncol(shown) - 1)), xlab = "eps", ylab = "delta", ...)
  graphics::legend("topright", names(shown), lty = lines, lwd = c(3, rep(1, ncol(shown) - 1)), col = seq_along(shown),
                   bty = "n")
  invisible(x)
}

# delta at each eps, as claimed and by each accountant that supports the event; NA where delta is zero.
profile_curves <- function(x, eps, call = sys.call(-1)) {
  eps <- if (is.null(eps)) seq(0, epsilon(x, 1e-8), length.out = 25) else check_parameter(eps, "eps", Inf, call)
  others <- c("pld", "rdp", if (is.null(refusal("zcdp", x$plan))) "zcdp", if (is.null(refusal("gdp", x$plan))) "gdp")
  curves <- lapply(stats::setNames(nm = others), function(a) {
    vapply(eps, function(e) delta_by(x$plan, a, e, FALSE), 0)
  })
  curves <- data.frame(claimed = as.numeric(delta(x, eps)), curves)
  curves[curves <= 0] <- NA
  data.frame(eps = eps, curves)
}
