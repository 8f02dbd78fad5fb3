#' Settings of SPIDER, which reads each record once
#'
#' `method = "spider"` of [dp_sosp()] puts the records in a random order and uses each record once. Each of its
#' gradients is either computed on fresh records, or is the sum of such a gradient and of differences of gradients along
#' the way, each on further fresh records. Near a saddle point it moves along an eigenvector of a released Hessian with
#' a negative eigenvalue. Because each record is in one release, the budget is paid once, however many steps there are,
#' and the certificate is about the population from which the records were drawn. All settings are public: they must
#' not be chosen by looking at the data.
#'
#' @section What a run does:
#' 1. A plan: the accuracy alpha for which a descent from the start has enough records in the worst case, and b, the
#'    number of records of an epoch.
#' 2. An epoch begins with gradient and Hessian on b records and continues with differences between successive points,
#'    each on so many records that it is not more sensitive. It ends after `leaves` releases, when its differences have
#'    used b records, or when the gradient seems short.
#' 3. If the gradient at the beginning of an epoch is shorter than alpha and the Hessian shows no negative curvature,
#'    the point is kept. A new plan, as if the gap were an eighth, then uses the remaining records, as long as alpha
#'    falls by a tenth. If there is negative curvature, the step goes along it.
#' 4. All remaining records, at least the fraction `certificate_share`, certify the last point that was kept or, if none
#'    was kept, the last point.
#'
#' The certificate's bounds are confidence bounds for the gradient and the smallest eigenvalue of the *expected*
#' objective, with rows clipped as in the fit. They hold if the records are independent draws from one distribution;
#' privacy does not need this assumption. Only the solution is certified, by records that had no part in finding it.
#'
#' @section Escape by drift:
#' With `escape = "drift"` steps use gradients only, which have the whole budget; one Hessian is released at the end,
#' for the certificate. Where a gradient is short, a trial begins: so many further steps against gradients that, near a
#' saddle point, noise drives them away (`vignette("proofs")`, *Escape by drift*). If they lead further than the square
#' root of alpha over the Lipschitz constant of the Hessian, the descent goes on there. Otherwise the point where the
#' trial began is kept. A trial also leaves a point from which a slow descent leads far, so that runs use more of their
#' records for steps than with `"hessian"`. In `vignette("spider")` their certificates are better, except with few
#' records. For convex problems there is no difference.
#'
#' @section Data that are read once:
#' A source from [dp_source()] is read in one pass, and its records are taken in the order in which they come, not in a
#' random order (those of [dp_shards()] are in a random one). Privacy holds for any order that does not depend on the
#' values of the records: neighbours are data sets with another record in one place, but data sorted by a private column
#' would differ in more places. The certificate, too, needs an order that is unrelated to the records' values. If, for
#' example, records are sorted by class or time, the records that certify differ from those before, and the certificate
#' is not about all.
#'
#' @section Published constants:
#' With `constants = "published"`, for comparison, accuracy, numbers of records and lengths follow Liu and Talwar's
#' theorem 3.17 and algorithm 2, with all constants and logarithms that these leave open set to one. There is one plan.
#' Where the gradient is short, a few steps are made on the quadratic model, each by a noisy product with a Hessian that
#' is not released itself, and the point is kept if they do not lead far away. The noise is what privacy requires, which
#' is more than the paper states, and an epoch has so many records that a gradient's noise is as small as the accuracy.
#' A Hessian serves one escape, from the point where it was computed. The paper's algorithm uses `noise = "tree"`.
#'
#' @param constants `"tight"` or `"published"`.
#' @param escape How a point with a short gradient is left where it is a saddle point: `"hessian"`, along an
#'   eigenvector, or `"drift"`, by gradients only, see the section Escape by drift; not with published constants.
#' @param leaves Largest number of releases in an epoch; a whole number.
#' @param noise How the noise of an epoch's releases is correlated: `"sqrt"`, by the square root of the matrix of prefix
#'   sums, `"tree"`, by a binary tree, or `"independent"`.
#' @param hessian_share Fraction of the budget, in (0, 1), for the Hessian, or the products with it, where the same
#'   records give gradient and Hessian; not used for convex problems, and with `escape = "drift"` for the certificate
#'   only.
#' @param certificate_share Fraction of the records, in (0, 1), that is kept for the certificate.
#' @param value_share Fraction of the records, in (0, 1), for the loss at a start other than zero, which bounds the gap.
#' @inheritParams control_opt
#' @return An object of class `dp_control_spider`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Liu and Talwar (2024), Adaptive batch size for privately finding second-order stationary points. Fang,
#'   Li, Lin and Zhang (2018), SPIDER: near-optimal non-convex optimization via stochastic path-integrated differential
#'   estimator. Tao, Zhang, Yu, Cheng, Dressler and Wang (2025), Second-order convergence in private stochastic
#'   non-convex optimization, for escapes by drift. Except with published constants, the escape along a released
#'   eigenvector, the length and number of trials, the plan and the stages are this package's, and so is the
#'   certificate.
#' @seealso [dp_sosp()], [saddle_problem()].
#' @examples
#' control_spider(escape = "drift")
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "spider",
#'         control = control_spider(noise = "tree"),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_spider <- function(constants = c("tight", "published"), leaves = 32, noise = c("sqrt", "tree", "independent"),
                           gap = NULL, confidence = 0.95, hessian_share = 0.2, certificate_share = 0.15,
                           value_share = 0.01, escape = c("hessian", "drift"), ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  constants <- check_choice(constants, c("tight", "published"), "constants", call)
  escape <- check_choice(escape, c("hessian", "drift"), "escape", call)
  if (constants == "published" && escape == "drift") {
    abort("argument", "The published constants are of an escape by products with a Hessian: leave out `escape`.",
          call = call)
  }
  structure(class = c("dp_control_spider", "dp_control"), list(
    constants = constants, escape = escape,
    leaves = check_count(leaves, "leaves", 1, call, 4096L),
    noise = check_choice(noise, c("sqrt", "tree", "independent"), "noise", call),
    gap = if (is.null(gap)) NA_real_ else check_number(gap, "gap", 0, call = call),
    confidence = share(confidence, "confidence"), hessian_share = share(hessian_share, "hessian_share"),
    certificate_share = share(certificate_share, "certificate_share"), value_share = share(value_share, "value_share")
  ))
}

family_spider <- function() {
  new_family("spider", function(method, loss) control_spider(), options_spider, hessians = function(control) {
    if (control$constants == "published") list(setting = "`constants` = \"published\"", instead = "\"tight\" ones")
  }, pushed = function(control, method) FALSE, certifies = "population")
}

options_spider <- function(job, rho) {
  c(list(published = job$control$constants == "published"), job$control[names(job$control) != "constants"])
}
