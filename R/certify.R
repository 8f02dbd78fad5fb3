# A certificate of the population for any fit, from records that it did not see.

#' Certify a fit for the population
#'
#' The certificate of a fit is about the mean loss on its own records (but for `method = "spider"`): its solution was
#' chosen by them, so they say less about the population that they were drawn from. Records that had no part in the fit
#' say it. `dp_certify()` asks them for the gradient and the Hessian at the solution and adds the error of sampling to
#' that of the noise, as [control_spider()] does for its own.
#'
#' Keep them out before the fit, at random: `fit <- dp_sosp(y ~ ., d[-out, ], ...)`, `dp_certify(fit, d[out, ], ...)`,
#' with `out <- sample(nrow(d), 0.15 * nrow(d))`. The two budgets do not add: a record is in one of the two data sets,
#' and who looks at both results has seen no more about it than the larger of the budgets pays for. (One [dp_budget()]
#' for both would count their sum.) With records that the fit has seen, the bounds may be wrong, and the budgets add.
#'
#' The bounds hold with probability `confidence` for the gradient and the smallest eigenvalue of the *expected*
#' objective of a record as the fit maps it, in the coordinates of the mapped rows (without `geometry`), if the records
#' are independent draws of one distribution, whatever it is. Privacy needs no such thing.
#'
#' @param fit A fit from [dp_sosp()], by any method.
#' @param data Other records with the same columns: a data frame, a source ([dp_source()]), which is read once, or for a
#'   fit to a matrix a matrix.
#' @param eps,delta,budget The privacy budget of these records, as in [dp_sosp()].
#' @param y For a fit to a matrix: the response.
#' @param confidence Of both bounds together, in (0, 1).
#' @param noise `"secure"` or `"reproducible"`, see [dp_oracle()].
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_certificate`, a list of `gradient` (`estimate` of its norm and `upper` bound),
#'   `eigenvalue` (`estimate` and `lower` bound; known from the loss where it is convex, `eigenvalue_known`), `of`,
#'   `confidence`, `n` and `privacy`, as that of a fit.
#' @section Errors: `dpsosp_error_argument` before anything is charged; `dpsosp_error_source` for a source that fails.
#' @seealso [dp_sosp()], [dp_evaluate()] for how well a fit predicts, [dp_inference()] for intervals.
#' @examples
#' set.seed(1)
#' out <- sample(nrow(covertype), 5000)
#' ranges <- list(elevation = c(1850, 3900), slope = c(0, 66))
#' fit <- dp_sosp(cover ~ elevation + slope, covertype[-out, ], eps = 1, delta = 1e-8, bounds = ranges)
#' dp_certify(fit, covertype[out, ], eps = 1, delta = 1e-8)
#' @export
dp_certify <- function(fit, data, eps = NULL, delta = NULL, budget = NULL, y = NULL, confidence = 0.95,
                       noise = c("secure", "reproducible"), ...) {
  require_given()
  call <- scrub_call(match.call(), quote(dp_certify))
  check_dots(call)
  check_fit(fit, call)
  confidence <- check_share(confidence, "confidence", call)
  check_matrix_size(design_dim(fit$design), "A certificate of the population", call)
  job <- other_job(fit, data, y, check_noise(noise, call), check_promise(eps, delta, budget, call), call)
  if (isTRUE(job$once$read)) abort("argument", "The source can be read once only, and was.", call = call)
  job <- job_claim(open_filter(job_delta(job), "auto"))
  result <- certify_point(job, fit, confidence)
  job_close(job)
  structure(class = "dp_certificate",
            c(new_certificate(result, "population", confidence), list(n = job$n, privacy = new_privacy(job))))
}

# Of the solution, in the coordinates of the mapped rows.
certify_point <- function(job, fit, confidence) {
  oracle <- plain_oracle(job)
  intercept <- fit$design$intercept
  point <- core_start(fit$design, response_start(fit$response, fit$coefficients, intercept))
  options <- list(confidence = confidence, hessian_share = control_spider()$hessian_share)
  .Call(ffi_method_run, "population", oracle$pointer, core_penalty(fit$penalty, intercept), options, job$rho, point,
        NULL, is_reproducible(oracle))$result
}

#' @export
print.dp_certificate <- function(x, ...) {
  check_dots()
  cat("<dp_certificate> of the ", x$of, ", from ", x$n, " other records\n", sep = "")
  cat(privacy_text(x$privacy), certificate_lines(x, "on the scale of the mapped rows"), sep = "\n")
  invisible(x)
}
