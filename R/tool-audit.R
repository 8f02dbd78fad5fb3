#' An empirical lower bound on epsilon
#'
#' A proof bounds epsilon from above. An audit bounds it from below: it plays the game that defines differential
#' privacy, guesses from the releases of a mechanism which data it was given, and turns the guesses into a lower bound
#' that holds with the stated confidence. A bound above the claim shows a mistake in the proof or in the code. A bound
#' below the claim shows only that this attack did not find one.
#'
#' @section Pairs:
#' The mechanism runs `runs` times on each of two neighbouring data sets; each release becomes one number. Half of the
#' runs choose the threshold that tells the data sets apart best, the other half count its errors. Clopper-Pearson
#' upper bounds on false positives (FP) and false negatives (FN), which hold together with confidence `conf`, give
#' \deqn{\epsilon \ge \log\frac{1 - \delta - FP}{FN}, \quad \epsilon \ge \log\frac{1 - \delta - FN}{FP}}{%
#'       eps >= log((1 - delta - FP) / FN) and eps >= log((1 - delta - FN) / FP)}
#' (`tradeoff = "dp"`). When delta is small this needs very many runs. For a mechanism that claims Gaussian differential
#' privacy, \eqn{\mu \ge \Phi^{-1}(1 - FP) - \Phi^{-1}(FN)}{mu >= qnorm(1 - FP) - qnorm(FN)} needs few
#' (`tradeoff = "gdp"`). The bound on mu is then stated as the epsilon that it implies at `delta`; a bound above
#' the claim disproves the claim of Gaussian privacy.
#'
#' @section One run:
#' Canaries are records put into the data for the audit. A fair coin decides for each of `canaries` canaries which of
#' two versions goes into the data; the mechanism must not reveal it. The mechanism runs once and gives each canary a
#' score. The `guesses` highest and lowest scores are guessed, the others not. If the mechanism is (eps, delta)-private,
#' so many right guesses have at most the probability of theorem 5.2 of Steinke, Nasr and Jagielski (2023); the bound
#' is the least epsilon for which this probability is at least `1 - conf`. The test is strong only with many canaries
#' that are nearly orthogonal, and so do not interfere; this needs many columns.
#'
#' @section Fits:
#' The audit of a fit runs [dp_sosp()] again with the fit's settings, on matrices made from public facts: n records, of
#' which all but one are null records. The other has the largest norm, along the first column, and its label is 1 or -1
#' (`"replace-one"`), or it is or is not a null record (`"zero-out"`). The statistic is the projection of the released
#' coefficients on that record. In one run, canary j lies along column j in the same two versions. The user's data are
#' neither needed nor touched. Runs start at zero, use columns as mapped, pay for the moments of a geometry where the
#' fit has one, and spend on the optimisation what private ranges would have taken. The claim of a fit with Gaussian
#' accounting is Gaussian differential privacy. Networks, fits with [loss_multinomial()] and those that [dp_tune()]
#' chose are refused: audit a function that makes them.
#'
#' @section What an audit cannot see:
#' Other pairs of data sets than the one given, other functions of the release than the statistic, running time and
#' memory, the low-order bits of the numbers, and whatever was chosen by looking at the data before the call.
#'
#' @param x,object A fit of class `dp_sosp`, or a function; of `plot()` and `autoplot()` an audit. For `"pairs"`: a
#'   function of a data set that returns the release. For `"one-run"`: a function of a vector of `canaries` signs, 1
#'   or -1, which say which version of each canary to use; it returns a score for each canary, higher where 1 is
#'   likelier. The function must draw fresh noise in every run, from a budget of its own.
#' @param pair A list of two data sets, neighbours in the relation of the claim, in any form that `x` takes.
#' @param eps,delta The claim, `eps >= 0`, `0 <= delta < 1`. In one run `delta` is at most 1 / (2 canaries).
#' @param method `"pairs"` or `"one-run"`.
#' @param runs Runs on each data set of the pair, at least 10. For a fit the default is 200: in a quarter of a minute to
#'   some minutes, as a message says after the first run (`dpsosp_message_audit`), they can show a `mu` of up to 3.4,
#'   and of 1000 runs one of up to 4.7.
#' @param statistic A function of a release, returning one number.
#' @param tradeoff `"dp"` or `"gdp"` (pairs only, `delta > 0`): the kind of claim, see the section Pairs.
#' @param canaries Number of canaries, for a fit at most n (`NULL`: one per column).
#' @param guesses Even number of guesses, at most `canaries`; fixed beforehand. `NULL` is a quarter of them.
#' @param conf Confidence of the bound, in (0, 1).
#' @param progress Show a progress bar (pairs only)?
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dpsosp_audit`, a list with `bound` (the lower bound on epsilon), `exceeds` (is it above
#'   the claim?), `eps`, `delta`, `conf`, `method`, `tradeoff`, `mu` (lower bound, for `"gdp"`) and `counts`: false
#'   positives and negatives in the testing half of the runs (pairs), or right guesses, guesses and canaries (one run).
#'
#'   `plot()` and `autoplot()` show the test's error rates and the region that the claim excludes (pairs), or the
#'   largest possible probability of so many right guesses against epsilon (one run).
#' @section Errors: `dpsosp_error_argument` for wrong arguments, and when all runs on each data set return the
#'   same value although the data sets differ: then there is no noise, or its seed is fixed in `x`.
#' @references
#' Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning: how private is private SGD?
#'
#' Nasr, Hayes, Steinke, Balle, Tramer, Jagielski, Carlini and Terzis (2023), Tight auditing of differentially
#' private machine learning, section 4.
#'
#' Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run, theorem 5.2.
#'
#' Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
#' @examples
#' # One gradient of the sigmoid loss at zero, on a record and on its opposite
#' x <- rbind(1, matrix(0, 19, 1))
#' pair <- list(c(FALSE, rep(NA, 19)), c(TRUE, rep(NA, 19)))
#' gradient <- function(y) {
#'   oracle <- dp_oracle(x, y, "sigmoid", dp_budget(mu = 2), radius = 1, intercept = FALSE)
#'   dp_gradient(oracle, 0, mu = 1.999)
#' }
#' eps <- dp_convert(mu = 2, delta = 1e-5, to = "eps")
#' dp_audit(gradient, pair, eps, 1e-5, runs = 300, tradeoff = "gdp")
#'
#' # One run with 500 canaries
#' noisy <- function(signs) signs + rnorm(500, sd = 2 / 1.5)
#' dp_audit(noisy, eps = dp_convert(mu = 1.5, delta = 1e-5, to = "eps"), delta = 1e-5,
#'          method = "one-run", canaries = 500)
#' @export
dp_audit <- function(x, ...) {
  require_given()
  UseMethod("dp_audit")
}

#' @export
dp_audit.default <- function(x, ...) {
  abort("argument", "`x` must be a fit or a function, not ", describe(x), ".", call = audit_call)
}

#' @rdname dp_audit
#' @export
dp_audit.function <- function(x, pair = NULL, eps, delta, method = c("pairs", "one-run"), runs = 1000, statistic = NULL,
                              tradeoff = c("dp", "gdp"), canaries = NULL, guesses = NULL, conf = 0.95,
                              progress = interactive(), ...) {
  check_dots(audit_call)
  if (missing(eps) || missing(delta)) abort("argument", "Give the claim, `eps` and `delta`.", call = audit_call)
  claim <- audit_claim(eps, delta, check_choice(tradeoff, c("dp", "gdp"), "tradeoff", audit_call))
  method <- check_choice(method, c("pairs", "one-run"), "method", audit_call)
  if (method == "one-run") {
    if (is.null(canaries)) abort("argument", "`canaries` is missing: how many signs `x` takes.", call = audit_call)
    return(audit_one_run(x, claim, canaries, guesses, conf))
  }
  if (!is.list(pair) || length(pair) != 2L) {
    abort("argument", "`pair` must be a list of two data sets, not ", describe(pair), ".", call = audit_call)
  }
  if (!is.null(statistic) && !is.function(statistic)) {
    abort("argument", "`statistic` must be a function of what `x` returns, not ", describe(statistic), ".",
          call = audit_call)
  }
  score <- if (is.null(statistic)) x else function(data) statistic(x(data))
  audit_pairs(score, pair, claim, runs, conf, progress, told = FALSE)
}

#' @rdname dp_audit
#' @export
dp_audit.dp_sosp <- function(x, method = c("pairs", "one-run"), runs = 200, canaries = NULL, guesses = NULL,
                             conf = 0.95, progress = interactive(), ...) {
  check_dots(audit_call)
  method <- check_choice(method, c("pairs", "one-run"), "method", audit_call)
  if (x$privacy$accountant == "tuned") {
    abort("argument", "`x` was chosen by `dp_tune()`, whose other runs an audit of the fit would leave out: audit a ",
          "function that calls `dp_tune()`.", call = audit_call)
  }
  check_one_output(x$loss, "Audits of a fit, and not of a function, are", audit_call)
  if (method == "pairs") {
    claim <- audit_claim(x$privacy$eps, x$privacy$delta, if (x$privacy$accountant == "gdp") "gdp" else "dp")
    pair <- list(audit_data(x, -1), audit_data(x, 1))
    return(audit_pairs(function(data) audit_scores(x, data, 1L), pair, claim, runs, conf, progress, told = TRUE))
  }
  claim <- audit_claim(x$privacy$eps, x$privacy$delta, "dp")
  canaries <- check_count(canaries %||% min(x$n, max(columns_of(x), 2L)), "canaries", 2, call = audit_call)
  if (canaries > x$n) {
    abort("argument", "`canaries` must be at most n = ", x$n, "; it is ", canaries, ".", call = audit_call)
  }
  audit_one_run(function(signs) audit_scores(x, audit_data(x, signs), canaries), claim, canaries, guesses, conf)
}

#' @export
dp_audit.dp_network <- function(x, ...) {
  abort("argument", "`x` is a fit of a network: which record its weights show best is not known, as it is for linear ",
        "models. Audit a function of a data set that calls `dp_sosp()`, with a `statistic` and a `pair` of your own.",
        call = audit_call)
}

# Every error shows this call, as the arguments may be data.
audit_call <- quote(dp_audit())

audit_claim <- function(eps, delta, tradeoff) {
  eps <- check_number(eps, "eps", 0, open = FALSE, call = audit_call)
  delta <- check_number(delta, "delta", 0, 1, open = FALSE, call = audit_call)
  if (delta == 1 || (delta == 0 && tradeoff == "gdp")) {
    abort("argument", "`delta` must be below 1, and above 0 for a Gaussian claim; it is ", delta, ".",
          call = audit_call)
  }
  list(eps = eps, delta = delta, tradeoff = tradeoff)
}

new_audit <- function(claim, method, bound, conf, counts, mu = NULL) {
  structure(class = "dpsosp_audit", c(
    list(bound = bound, exceeds = bound > claim$eps), claim[c("eps", "delta")],
    list(conf = conf, method = method, tradeoff = claim$tradeoff, mu = mu, counts = counts)
  ))
}

# ---- pairs ----

# score: a function of a data set that returns one number; told: is it said how long all runs will take?
audit_pairs <- function(score, pair, claim, runs, conf, progress, told) {
  runs <- check_count(runs, "runs", 10, call = audit_call)
  conf <- check_number(conf, "conf", 0, 1, call = audit_call)
  bar <- progress_bar(check_flag(progress, "progress", audit_call), "audit")
  scores <- matrix(0, runs, 2L)
  begun <- proc.time()[["elapsed"]]
  for (i in seq_len(runs)) {
    for (side in 1:2) scores[i, side] <- check_score(quietly(score(pair[[side]])))
    if (told && i == 1L) tell_duration(runs, proc.time()[["elapsed"]] - begun)
    if (!is.null(bar)) bar(i, runs)
  }
  check_fresh(scores)
  select <- seq_len(runs %/% 2L)
  test <- audit_threshold(scores[select, , drop = FALSE], claim, 1 - conf)
  counts <- audit_errors(scores[-select, , drop = FALSE], test$threshold, test$sign)
  bound <- max(0, audit_bound(counts[["false_positives"]], counts[["false_negatives"]], runs - length(select), claim,
                              1 - conf))
  counts <- c(counts, runs = runs - length(select))
  if (claim$tradeoff == "dp") return(new_audit(claim, "pairs", bound, conf, counts))
  new_audit(claim, "pairs", gdp_epsilon(bound, claim$delta), conf, counts, mu = bound)
}

# The runs use no data of the user.
tell_duration <- function(runs, seconds) {
  left <- (runs - 1) * seconds
  inform("audit", "The audit makes ", 2 * runs, " fits, which takes about ",
         if (left < 90) paste(max(2, round(left)), "seconds") else paste(round(left / 60), "minutes"),
         ": `runs` sets their number")
}

# The messages of a fit or an oracle would be the same in every run.
quietly <- function(code) suppressMessages(code, "dpsosp_message")

check_score <- function(score) {
  if (!is.numeric(score) || length(score) != 1L || is.na(score)) {
    abort("argument", "The statistic of a run must be one number, not ", describe(score), ": give `statistic`.",
          call = audit_call)
  }
  as.double(score)
}

# Without noise every pair could be told apart. A seed set in every run would have the same effect.
check_fresh <- function(scores) {
  constant <- all(scores[, 1] == scores[1, 1]) && all(scores[, 2] == scores[1, 2])
  if (constant && scores[1, 1] != scores[1, 2]) {
    abort("argument", "All runs on the same data returned the same: `x` draws no noise, or fixes its seed in every ",
          "run. An audit needs fresh noise.", call = audit_call)
  }
}

# Chooses the threshold among the scores, and which side of it is taken for the second data set.
audit_threshold <- function(scores, claim, alpha) {
  values <- sort(unique(as.vector(scores)))
  thresholds <- c(values, Inf)
  bounds <- vapply(c(1, -1), function(sign) {
    errors <- audit_errors(scores, thresholds, sign)
    audit_bound(errors$false_positives, errors$false_negatives, nrow(scores), claim, alpha)
  }, thresholds)
  best <- arrayInd(which.max(bounds), dim(bounds))
  list(threshold = thresholds[best[1]], sign = c(1, -1)[best[2]])
}

# With sign 1 a score of at least the threshold is taken for the second data set, with sign -1 a score below it.
audit_errors <- function(scores, threshold, sign) {
  below <- lapply(1:2, function(side) findInterval(threshold, sort(scores[, side]), left.open = TRUE))
  n <- nrow(scores)
  if (sign == 1) return(list(false_positives = n - below[[1]], false_negatives = below[[2]]))
  list(false_positives = below[[1]], false_negatives = n - below[[2]])
}

# Lower bound on eps, or on mu for a Gaussian claim; negative where nothing is shown. Each error rate uses half of
# alpha.
#
# (eps, delta): FP + e^eps FN >= 1 - delta, and with FP and FN exchanged (Kairouz, Oh and Viswanath 2015, theorem 2.1).
# mu-GDP: FN >= pnorm(qnorm(1 - FP) - mu) (Dong, Roth and Su 2022, equation (6)).
audit_bound <- function(false_positives, false_negatives, n, claim, alpha) {
  fp <- clopper_pearson_upper(false_positives, n, alpha / 2)
  fn <- clopper_pearson_upper(false_negatives, n, alpha / 2)
  if (claim$tradeoff == "gdp") return(-stats::qnorm(fp) - stats::qnorm(fn))
  pmax(log(pmax(1 - claim$delta - fp, 0) / fn), log(pmax(1 - claim$delta - fn, 0) / fp))
}

clopper_pearson_upper <- function(k, n, alpha) ifelse(k == n, 1, stats::qbeta(1 - alpha, k + 1, pmax(n - k, 1)))

gdp_epsilon <- function(mu, delta) if (mu > 0) .Call(ffi_gdp_epsilon, mu, delta) else 0

# ---- one run ----

# score: a function of signs, one per canary, that returns one number per canary.
audit_one_run <- function(score, claim, canaries, guesses, conf) {
  canaries <- check_count(canaries, "canaries", 2, call = audit_call)
  guesses <- check_guesses(guesses, canaries)
  conf <- check_number(conf, "conf", 0, 1, call = audit_call)
  if (claim$tradeoff == "gdp") abort("argument", "`tradeoff` = \"gdp\" needs `method` = \"pairs\".", call = audit_call)
  if (2 * canaries * claim$delta > 1) {
    abort("argument", "`delta` must be at most 1 / (2 canaries) = ", format(1 / (2 * canaries), digits = 3), "; it is ",
          format(claim$delta, digits = 3), ".", call = audit_call)
  }
  signs <- sample(c(-1, 1), canaries, replace = TRUE)
  scores <- quietly(score(signs))
  if (!is.numeric(scores) || length(scores) != canaries || anyNA(scores)) {
    abort("argument", "`x` must return ", canaries, " numbers, not ", describe(scores), ".", call = audit_call)
  }
  ranked <- signs[order(scores)]
  correct <- sum(utils::head(ranked, guesses / 2) == -1) + sum(utils::tail(ranked, guesses / 2) == 1)
  bound <- one_run_bound(correct, guesses, canaries, claim$delta, 1 - conf)
  new_audit(claim, "one-run", bound, conf, c(correct = correct, guesses = guesses, canaries = canaries))
}

check_guesses <- function(guesses, canaries) {
  if (is.null(guesses)) return(2L * max(canaries %/% 8L, 1L))
  guesses <- check_count(guesses, "guesses", 2, call = audit_call)
  if (guesses > canaries || guesses %% 2L != 0L) {
    abort("argument", "`guesses` must be even and at most `canaries`; it is ", guesses, ".", call = audit_call)
  }
  guesses
}

# The largest probability of at least this many correct guesses under (eps, delta)-privacy: P(B >= v) + 2 m delta max_i
# P(v - i <= B < v) / i, where B is binomial in the guesses with the success probability of randomised response
# (Steinke, Nasr and Jagielski 2023, theorem 5.2).
one_run_p_value <- function(correct, guesses, canaries, eps, delta) {
  at_least <- function(v) stats::pbinom(v - 1, guesses, stats::plogis(eps), lower.tail = FALSE)
  i <- seq_len(correct)
  slip <- max(0, (at_least(correct - i) - at_least(correct)) / i)
  min(1, at_least(correct) + 2 * canaries * delta * slip)
}

# As 2 m delta <= 1, the p-value is a weighted mean of probabilities that increase with eps, so there is one crossing.
one_run_bound <- function(correct, guesses, canaries, delta, alpha) {
  excess <- function(eps) one_run_p_value(correct, guesses, canaries, eps, delta) - alpha
  if (excess(0) >= 0) return(0)
  crossing <- stats::uniroot(excess, c(0, 50), tol = 1e-9)
  max(0, crossing$root - 1e-6)
}

# ---- fits ----

# One record per sign; the other records are null. Record j has the largest norm and lies along column j (columns are
# reused in turn). Sign -1 gives the opposite of the record: its label is flipped, which changes a gradient at zero
# most, or the record is null.
audit_data <- function(fit, signs) {
  x <- matrix(0, fit$n, columns_of(fit))
  records <- seq_along(signs)
  x[records, ] <- audit_records(fit, length(signs))
  labels <- if (is_numeric_response(fit$response)) fit$response$bounds else c(FALSE, TRUE)
  y <- rep(labels[NA_integer_], fit$n)
  if (fit$privacy$neighbours != "replace-one") labels[1] <- NA
  y[records] <- labels[1 + (signs == 1)]
  list(x = x, y = y)
}

audit_records <- function(fit, count) {
  width <- columns_of(fit)
  length <- sqrt(max(fit$design$radius^2 - fit$design$intercept, 0))
  x <- matrix(0, count, width)
  if (width > 0L) x[cbind(seq_len(count), (seq_len(count) - 1L) %% width + 1L)] <- length
  x
}

# Linear predictors of the records under a new fit.
audit_scores <- function(fit, data, count) {
  z <- audit_records(fit, count)
  if (fit$design$intercept) z <- cbind(1, z)
  as.vector(z %*% audit_refit(fit, data)$coefficients)
}

audit_refit <- function(fit, data) {
  # A target that was not given was derived from the budget, and the run continued beyond it.
  target <- if (!is.null(fit$call$target)) fit$target
  # Intervals that were released later are not part of the fit's claim.
  inference <- if (is.null(fit$inference$privacy)) fit$inference$type
  problem <- problem_matrix(data$x, data$y, fit$loss, "double", fit$design$intercept, fit$design$radius, NULL, NULL,
                            NULL, NULL, quote(dp_audit()), TRUE)
  asked <- list(eps = fit$privacy$eps, delta = fit$privacy$delta, method = fit$method, control = fit$control,
                penalty = fit$penalty, target = target, geometry = if (is.null(fit$geometry)) "none" else "private",
                inference = inference %||% "none", certificate = "own", neighbours = fit$privacy$neighbours,
                noise = fit$privacy$noise, storage = "double", progress = FALSE)
  # Nearly all of these records are null, and what is audited comes after the release that says so.
  suppressWarnings(fit_job(new_job(problem, asked), stops = FALSE), classes = "dpsosp_warning")
}

# ---- print ----

#' @export
print.dpsosp_audit <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<dpsosp_audit> ", audit_text(x), "\n", sep = "")
  cat("eps >= ", format_below(x$bound, digits), " with confidence ", format(x$conf), "; claimed: eps = ",
      format(x$eps, digits = digits %||% 4), ", delta = ", format(x$delta, digits = digits %||% 3), "\n", sep = "")
  if (x$tradeoff == "gdp") cat("(mu >= ", format_below(x$mu, digits), ": the claim is a Gaussian one)\n", sep = "")
  cat(if (x$exceeds) "ABOVE THE CLAIM, which at this confidence does not hold.\n" else
    "This does not contradict the claim, and does not prove it.\n")
  cat("Not seen: other data, other statistics of the release, low bits, time, memory.\n")
  invisible(x)
}

audit_text <- function(x) {
  n <- x$counts
  if (x$method == "one-run") {
    return(paste0("one run, ", n[["canaries"]], " canaries, ", n[["correct"]], " of ", n[["guesses"]],
                  " guesses right"))
  }
  paste0("pairs, 2 x ", n[["runs"]], " test runs, ", n[["false_positives"]], " false positives, ",
         n[["false_negatives"]], " false negatives")
}

# Rounded down: a bound must not grow by being printed.
format_below <- function(x, digits = NULL) {
  unit <- if (is.null(digits) || x <= 0) 1e-3 else 10^(floor(log10(x)) + 1 - digits)
  format(floor(x / unit) * unit, digits = digits)
}
