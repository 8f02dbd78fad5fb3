#' Settings of SPIDER, which reads each record once
#'
#' `method = "spider"` of [dp_sosp()] puts the records in a random order and never looks at one twice. Each of its
#' gradients is one on fresh records or the sum of such a one and of differences of gradients along the way, on further
#' fresh records; negative curvature is left along an eigenvector of a released Hessian. As each record is in one
#' answer, the budget is paid once, however many steps there are, and the certificate is about the population that the
#' records were drawn from, not about these records. All settings are public: they must not be chosen by looking at the
#' data.
#'
#' @section What a run does:
#' 1. A plan: the accuracy alpha for which a descent from the start, by the gap at worst, has enough records, and b,
#'    the records of an epoch.
#' 2. An epoch begins with gradient and Hessian on b records and goes on with differences between successive points,
#'    each on as many records as make it no more sensitive. It ends after `leaves` releases, or when its differences had
#'    b records, or when the gradient seems short.
#' 3. Where the gradient at the beginning of an epoch is shorter than alpha and the Hessian shows no negative curvature,
#'    the point is kept, and a new plan, as if the gap were an eighth, uses what is left, as long as alpha falls by a
#'    tenth. Where there is negative curvature the step goes along it.
#' 4. All records left, at least `certificate_share` of them, certify the last point that was kept or, if none was, the
#'    last one.
#'
#' The certificate's bounds are confidence bounds for the gradient and the smallest eigenvalue of the *expected*
#' objective, with rows clipped as they are. They hold if the records are independent draws of one distribution;
#' privacy needs no such thing. Only the solution is certified, by records that had no part in finding it.
#'
#' @section Data that are read once:
#' A source from [dp_source()] is read in one pass, and its records are taken in the order in which they come, not in a
#' random one. For the guarantee of privacy any order will do that does not depend on what the records say: neighbours
#' are data sets with another record in one place. Sorted by a private column they would differ in more places than one.
#' The certificate, too, needs records in an order that tells nothing about them. Where a class or a time comes first,
#' those that certify are of another kind than those before, and the certificate is not about all.
#'
#' @section Published constants:
#' With `constants = "published"`, for comparison, accuracy, records and lengths follow Liu and Talwar's theorem 3.17
#' and algorithm 2, with all constants and logarithms that these leave open taken as one: there is one plan; where the
#' gradient is short a few steps are made on the quadratic model, each by a noisy product with a Hessian that is not
#' itself released, and the point is kept when they do not lead far away. The noise is what privacy takes, which is more
#' than the paper says, and an epoch has the records that bring a gradient's noise down to the accuracy. A Hessian
#' serves one escape, from where it was taken. The paper's algorithm uses `noise = "tree"`.
#'
#' @param constants `"tight"` or `"published"`.
#' @param leaves Answers of an epoch, at most; a whole number.
#' @param noise How the noise of an epoch's releases is correlated: `"sqrt"`, by the square root of the matrix of prefix
#'   sums, `"tree"`, by a binary tree, or `"independent"`.
#' @param hessian_share Share of the budget, in (0, 1), for the Hessian, or the products with it, where records give
#'   both; convex problems have none.
#' @param certificate_share Share of the records, in (0, 1), that is kept for the certificate.
#' @param value_share Share of the records, in (0, 1), for the loss at a start other than zero, which bounds the gap.
#' @inheritParams control_opt
#' @return An object of class `dp_control_spider`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Liu and Talwar (2024), Adaptive batch size for privately finding second-order stationary points. Fang,
#'   Li, Lin and Zhang (2018), SPIDER: near-optimal non-convex optimization via stochastic path-integrated differential
#'   estimator. But with published constants, the escape along a released eigenvector, the plan and the stages are this
#'   package's, and so is the certificate.
#' @seealso [dp_sosp()], [saddle_problem()].
#' @examples
#' control_spider(noise = "tree")
#' @export
control_spider <- function(constants = c("tight", "published"), leaves = 32, noise = c("sqrt", "tree", "independent"),
                           gap = NULL, confidence = 0.95, hessian_share = 0.2, certificate_share = 0.15,
                           value_share = 0.01, ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  structure(class = c("dp_control_spider", "dp_control"), list(
    constants = check_choice(constants, c("tight", "published"), "constants", call),
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
  }, certifies = "population")
}

options_spider <- function(job, rho) {
  c(list(published = job$control$constants == "published"), job$control[names(job$control) != "constants"])
}
