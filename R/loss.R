#' Losses
#'
#' The loss of one record, as a function of the linear predictor t and the
#' response y in -1, 1. Each comes with the public bounds from which the
#' sensitivities, and so the noise, are computed.
#'
#' * `loss_logistic()`: log(1 + exp(-y t)), convex; \eqn{|l'| \le 1},
#'   \eqn{0 \le l'' \le 1/4}.
#' * `loss_sigmoid()`: 1 / (1 + exp(y t)), bounded and non-convex;
#'   \eqn{|l'| \le 1/4}, \eqn{|l''| \le 1/(6\sqrt{3})}{|l''| <= 1/(6 sqrt 3)}.
#'
#' @return An object of class `dp_loss`. Where a loss is an argument its name,
#'   such as `"logistic"`, stands for the object.
#' @references Gao and Wright (2023), section 4 and appendix E.
#' @examples
#' loss_logistic()
#' @name losses
NULL

#' @rdname losses
#' @export
loss_logistic <- function() new_loss("logistic", "log(1 + exp(-y t))")

#' @rdname losses
#' @export
loss_sigmoid <- function() new_loss("sigmoid", "1 / (1 + exp(y t))")

new_loss <- function(name, formula) structure(class = "dp_loss", list(name = name, formula = formula))

check_loss <- function(loss, arg = "loss", call = sys.call(-1)) {
  if (inherits(loss, "dp_loss")) return(loss)
  name <- check_choice(loss, c("logistic", "sigmoid"), arg, call)
  switch(name, logistic = loss_logistic(), sigmoid = loss_sigmoid())
}

#' @export
print.dp_loss <- function(x, ...) {
  cat("<dp_loss> ", x$name, ": ", x$formula, "\n", sep = "")
  invisible(x)
}
