# A population certificate for any fit, from records that the fit did not use.

#' Certify a fit for the population
#'
#' The certificate of a fit refers to the mean loss on its own records (except for `method = "spider"`). The solution
#' was chosen by these records, so they tell less about the population from which they were drawn. `dp_certify()` uses
#' records that had no part in the fit: it releases their gradient and Hessian at the solution, and adds the error of
#' sampling to that of the noise, as [control_spider()] does for its own fit.
#'
#' Keep such records out before the fit, at random: `out <- sample(nrow(d), 0.15 * nrow(d))`,
#' `fit <- dp_sosp(y ~ ., d[-out, ], ...)`, `dp_certify(fit, d[out, ], ...)`; or let
#' `dp_sosp(certificate = "population")` keep a fixed fraction of them out. The two budgets do not add: a record is in
#' one of the two data sets, so both results together tell about it only what the larger of the two budgets allows. (One
#' [dp_budget()] for both would count their sum.) If records of the fit are used again, the bounds may be wrong, and
#' the budgets add.
#'
#' The bounds hold together with probability `confidence` for the gradient and the smallest eigenvalue of the *expected*
#' objective of a record as the fit maps it, in the coordinates of the mapped rows (without `geometry`), if the records
#' are independent draws from one distribution, whatever it is. Privacy does not need this assumption.
#'
#' After a fit with `id` these are records of other persons, with that column, and n is the number of persons. They need
#' to be independent draws from a distribution of lists of records, and the objective is expected of a person: the mean
#' of the person's losses. Gradient, Hessian and second moments of the gradients are then each of all persons, at parts
#' of the budget, so a source is read several times, and a database computes them.
#'
#' @param fit A fit from [dp_sosp()], by any method, with a loss of one predictor whose slope is bounded: not
#'   [loss_squared()] or [loss_multinomial()]. One with `id` must have a formula.
#' @param data Other records with the same columns: a data frame, a source ([dp_source()]), which is read once, or
#'   shards ([dp_shards()]); for a fit to a matrix, a matrix.
#' @param eps,delta,budget The privacy budget of these records, as in [dp_sosp()].
#' @param y,weights,offset For a fit to a matrix: the response and, if the fit had them, weights and offset of the
#'   rows. A fit with a formula finds them in the data.
#' @param confidence Probability of both bounds together, in (0, 1).
#' @param noise `"secure"` or `"reproducible"`, see [dp_oracle()].
#' @param label For a `budget` with a `store`: a text that it keeps, of at most 200 characters, see [budget-stores].
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_certificate`, a list of `gradient` (`estimate` of its norm and `upper` bound),
#'   `eigenvalue` (`estimate` and `lower` bound), `eigenvalue_known` (is the bound known from a convex loss?), `of`,
#'   `confidence`, `n`, with `id` `persons` as in a fit, and `privacy` as in a fit.
#' @section Errors: `dpsosp_error_argument` before anything is charged, for a network `dpsosp_error_network` and for a
#'   loss of several predictors `dpsosp_error_several` as well; `dpsosp_error_source` for a source that fails.
#' @references The bounds are proved in `vignette("proofs")`, "Certificate of the population".
#' @seealso [dp_sosp()], [dp_evaluate()] for how well a fit predicts, [dp_inference()] for intervals.
#' @examples
#' set.seed(1)
#' out <- sample(nrow(covertype), 5000)
#' ranges <- list(elevation = c(1850, 3900), slope = c(0, 66))
#' fit <- dp_sosp(cover ~ elevation + slope, covertype[-out, ], eps = 1, delta = 1e-8, bounds = ranges)
#' dp_certify(fit, covertype[out, ], eps = 1, delta = 1e-8)
#' @export
dp_certify <- function(fit, data, eps = NULL, delta = NULL, budget = NULL, y = NULL, confidence = 0.95,
                       noise = c("secure", "reproducible"), weights = NULL, offset = NULL, label = NULL, ...) {
  call <- scrub_call(match.call(), quote(dp_certify))
  check_dots(call)
  require_given()
  if (inherits(fit, "dp_network")) {
    abort("argument", "A network cannot be certified: its gradients and second derivatives have no public bounds.",
          call = call, class = "dpsosp_error_network")
  }
  check_fit(fit, call)
  confidence <- check_share(confidence, "confidence", call)
  check_certifiable(fit$loss, fit$design, call)
  claim <- again_claim(fit, data, list(y = y, weights = weights, offset = offset), check_noise(noise, call),
                       list(eps = eps, delta = delta, budget = budget, label = label), call)
  if (isTRUE(claim$linked) && is.null(claim$persons)) {
    abort("argument", "A certificate of the population asks for sums that a database does not compute, and no rows of ",
          "these shards are fetched: give `data` as a data frame, a source in chunks or shards that are read.",
          call = call)
  }
  if (isTRUE(claim$once$read)) abort("argument", "The source can be read once only, and was.", call = call)
  end <- claim$hold()
  on.exit(end())
  claim <- open_claim(claim)
  result <- certify_point(claim, fit, confidence)
  close_claim(claim)
  structure(class = "dp_certificate",
            c(new_certificate(result, "population", confidence),
              list(n = claim$n, persons = claim$persons, privacy = new_privacy(claim))))
}

check_certifiable <- function(loss, design, call) {
  check_bounded_slope(loss, "A certificate of the population needs", call, FALSE)
  if (loss_outputs(loss) > 1L) {
    abort("argument", "A certificate of the population is for losses of one predictor; the ", loss$name, " loss has ",
          "one for each class.", call = call, class = "dpsosp_error_several")
  }
  check_matrix_size(design_dim(design), "A certificate of the population", call)
}

# The solution in the coordinates of the mapped rows.
certify_point <- function(claim, fit, confidence) {
  oracle <- plain_oracle(claim)
  intercept <- fit$design$intercept
  point <- core_start(fit$design, response_start(fit$response, fit$coefficients, intercept))
  options <- list(confidence = confidence, hessian_share = control_spider()$hessian_share,
                  persons = !is.null(claim$persons))
  .Call(ffi_method_run, "population", oracle$pointer, core_penalty(fit$penalty, intercept), options, claim$rho, point,
        NULL, oracle$noise == "reproducible")$result
}

# ---- a fit that holds records out for its certificate: dp_sosp(certificate = "population") ----

# The problem of the rows to fit (rest), and what dp_certify() needs of those that are held out by their numbers, which
# are public (out); NULL when none are.
split_problem <- function(problem, asked) {
  certificate <- check_choice(asked$certificate, c("own", "population"), "certificate", problem$call)
  if (certificate == "own" || isTRUE(asked$method %in% methods_with("fresh"))) return(list(rest = problem))
  refuse <- function(...) abort("argument", ..., call = problem$call)
  if (!is.null(problem$persons)) {
    refuse("With `id` no persons are kept out of the fit for `certificate` = \"population\": keep some out with all ",
           "of their records, and give these to `dp_certify()`.")
  }
  if (!is.null(asked$budget)) {
    refuse("`certificate` = \"population\" takes `eps` and `delta`, not a `budget`, which would count what fit and ",
           "certificate cost as if they had records in common: keep rows out of the fit and give them to ",
           "`dp_certify()`.")
  }
  if (is.null(problem$split)) {
    refuse("A source cannot be split for `certificate` = \"population\": take `method` = \"spider\", or give ",
           "`dp_certify()` a source of other records.")
  }
  check_certifiable(problem$loss, problem$design, problem$call)
  out <- held_out(problem$n, control_spider()$certificate_share)
  if (!any(out)) {
    refuse("There are too few records, ", problem$n, ", to keep some out of the fit for `certificate` = ",
           "\"population\".")
  }
  problem$split(out)
}

# out: data and, for a matrix, response, weights and offset.
certify_out <- function(fit, out, asked) {
  fit$population <- suppressMessages( # the messages of the fit said everything
    dp_certify(fit, out$data, asked$eps, fit$privacy$delta, y = out$y, confidence = fit$certificate$confidence,
               noise = fit$privacy$noise, weights = out$weights, offset = out$offset)
  )
  fit
}

#' @export
dp_ledger.dp_certificate <- function(x, ...) x$privacy$ledger

#' @export
print.dp_certificate <- function(x, ...) {
  check_dots()
  from <- if (is.null(x$persons)) paste(x$n, "other records")
          else sub("persons", "other persons", persons_text(x$n, x$persons), fixed = TRUE)
  cat("<dp_certificate> of the ", x$of, ", from ", from, "\n", sep = "")
  cat(privacy_text(checked_privacy(x$privacy)), certificate_lines(x, "on the scale of the mapped rows"), sep = "\n")
  invisible(x)
}
