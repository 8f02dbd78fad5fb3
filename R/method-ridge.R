#' Settings of Newton's method with a ridge that it chooses itself
#'
#' For `method = "newton-ridge"` of [dp_sosp()], which `method = "auto"` takes for the logistic loss and the support
#' vector machine without a penalty, for squared error, for Huber's loss, for counts and, unless there is much noise,
#' for several classes.
#' All settings are public: they must not be chosen by looking at the data.
#'
#' The method always works in a geometry (see [geometry_public()]), in which the columns have similar variances, and it
#' does not clip rows that are long there. With B the bound on the norm of a record's gradient, a row z of norm |z| has
#' the loss of [loss_logistic()] with the slope B/|z| (but at least 0.51 and at most 1) and, if necessary, the weight
#' B/(0.51 |z|). So no record's gradient has a norm above B, and a correct model is still estimated without bias,
#' because the minimiser of each of these losses is the true log-odds. With little noise B is large, and most rows have
#' the logistic loss itself.
#'
#' If one class is rarer and B has its smallest value, the losses of its records have the weight 1 + k, those of the
#' other class the weight 1 - k, and the predictor is shifted so that the minimiser still is the true log-odds. Near
#' the constant prediction a gradient then has up to (1 + k)^2, at most twice, the information, with the same
#' sensitivity: rows of one class cannot be opposite where no number lies on the other side of an end of its column's
#' range, as with indicators. k is at most 0.41, and follows from the released fraction of the second class and the
#' released or public moments. Other columns make it smaller. It is zero with `neighbours = "zero-out"` and where
#' `start` is given. A record with a number beyond such an end, which `bounds` of a matrix may declare wrongly, has a
#' smaller weight.
#'
#' Every fit begins with a release of how many records are used, with at most 1 percent of the budget (twice with
#' `weights`, whose sum is then released, too): records that are null make no difference to what follows. Then a fit
#' proceeds as follows.
#' 1. The fraction `matrix_share` of the budget pays for one release of the matrix of second moments of the weighted
#'    rows. With the factor c, roughly the curvature of the loss, it becomes the matrix M of the quadratic model. c is
#'    0.3, or less where there is little noise: at least 0.15 and at least 0.3 / cap^2, where cap is B divided by its
#'    smallest possible value.
#' 2. The budget that remains, except for the certificate, is divided equally among `iterations` gradients. The steps
#'    start at the constant prediction (see `start` of [dp_sosp()]) and minimise the mean loss plus a ridge penalty
#'    around that start,
#'    \deqn{f(w) + \frac12 \sum_j \kappa_j (w_j - s_j)^2,}{f(w) + sum_j kappa_j (w_j - s_j)^2 / 2,}
#'    with s the start. \eqn{\kappa_j}{kappa_j} is proportional to the noise of a gradient and to the power 1.5 of the
#'    inverse standard deviation of the column; this is a compromise between equal shrinkage of coefficients per unit
#'    and per standard deviation. For a polynomial of an ordered factor it is also proportional to the power 1.5 of the
#'    degree, since effects of ordered levels are mostly smooth. Columns that hardly vary, such as indicators of rare
#'    levels, do not change the \eqn{\kappa_j}{kappa_j} of others much. With smooth terms, which have many columns,
#'    they are smaller, the more so the less noise there is. A step is -(M + D)^-1 times the gradient. The diagonal
#'    matrix D makes steps long enough to reach the minimum in `iterations` steps and short enough for the noise of each
#'    of them. So more steps cost time, not accuracy.
#' 3. The mean of the last 85 percent of the iterates and of their gradients, without the ridge penalty, are one noisy
#'    linear equation H a = v for the distance a from the start to the minimiser. H is a shrunk version of M, with the
#'    curvature p (1 - p) of the loss at the start for c, p the released fraction of the second class. What the noise
#'    adds to the diagonal of M is removed as far as columns are shorter, like polynomials of ordered factors. The
#'    solution is the start plus the posterior mean of a. Its prior distribution is normal, with variances proportional
#'    to 1 / \eqn{\kappa_j}{kappa_j} and such that the predictors have the standard deviation t. t = 0.05, 0.1, ...,
#'    12.8 have prior probabilities proportional to 1 / (1 + (t / 2)^4), and the releases decide between them:
#'    coefficients that do not exceed the noise level are shrunk to zero, others hardly. If large t were as likely as
#'    others, noise would more often be taken for large coefficients where n mu is small. The curved part of each smooth
#'    has a factor of its own on these variances ([smooth-terms]). This uses releases only and costs no budget.
#' 4. A last gradient, with a quarter of the fraction `certificate_share` of the budget, certifies the solution. The
#'    certificate refers to the weighted loss with the ridge penalty, in the coordinates of the geometry.
#' 5. The rest of `certificate_share` pays for the release of how much lower the loss of the solution is than that of
#'    the constant prediction (`explained` in the section Value of [dp_sosp()]). With `inference` that has a part of its
#'    own, and the certificate all of `certificate_share`.
#'
#' All releases are Gaussian. The script `inst/experiments/ridge-rule.R` compares the constants with others on synthetic
#' problems. The method takes convex losses without a penalty. If the slope of a loss cannot be chosen, long rows have
#' smaller weights instead.
#'
#' @section Squared error:
#' With [loss_squared()] a fit proceeds as follows.
#' 1. The means of the mapped response and of its square are released (2 percent of the budget, more with few records).
#'    The run starts at this mean. With an `offset()` it is that of the response less the offset. Where n mu is from 30
#'    to 400, with mu the budget in Gaussian differential privacy, it is that of responses clipped to narrower bounds
#'    than the declared ones, because the noise of the mean is in proportion to their width. These, and bounds where
#'    none are declared, are found from noisy counts, with 3 to 25 percent of the budget: what leaves them an n mu of
#'    30. Where the counts show nothing, more are added, up to 60 percent in all.
#' 2. The moments of the geometry (9 percent) and the matrix (`matrix_share`; `NULL`: 6 percent of the whole budget) are
#'    released. The columns are rescaled so that rows have a norm of about one, and the matrix is shrunk towards the
#'    variances that the geometry knows.
#' 3. In each of four phases, noisy counts of residuals (1.5 percent) give their scale; where they say little it follows
#'    from that of the phase before, or from the spread of the response. The gradients of the phase, with 5, 10, 25 and
#'    60 percent of what is left, clip residuals at a multiple q of this scale, from 0.6 with much noise to 4 with
#'    little; a row longer than B has a smaller clip. The mean iterate and the mean gradient of each phase give an
#'    equation as above, and all equations so far give the posterior mean, where the next phase starts. The intercept's
#'    prior variance is that of the noise in the first release.
#' 4. Small clips estimate medians rather than means. The mean residual with a wider clip, and its product with the
#'    prediction (5 percent), correct the level and one factor for all slopes; with few records only the level (8
#'    percent).
#'
#' With `weights` all sums are weighted, those of the first two steps, too, and the solution is shrunk as if there were
#' as many records as the weights sum to: let the largest possible weight be one. Without an intercept the run starts at
#' zero, columns are not centred, and the recalibration is of the slopes only, or left out with few records.
#'
#' A fit without columns is a level, and so is one where d / (n mu) exceeds 0.25, with d coefficients: the noise is then
#' too large for anything else, and the status is `"noise"`. 20 percent of the budget find a first one, 10 percent a
#' range of the distances from it, by noisy counts, and the rest pays for the mean of responses clipped to this range.
#'
#' There is no certificate, and `certificate_share` is not used. `matrix_share` is at most 0.6. `iterations` is the
#' number of steps of all phases (`NULL`: 75). The decrease of the loss from the level (`explained` in the section Value
#' of [dp_sosp()]) has 3 percent of the budget, 1 with `inference`; the status is `"noise"` where it is not surely above
#' zero.
#'
#' With [loss_huber()] a fit proceeds in the same way, but all phases clip residuals at k times their scale, in the
#' first phase at least at 1.5 times it, or all but the first one at `c`, if it is given. The last step corrects the
#' level only, and with the same clip, since a wider one would estimate the mean.
#'
#' @section Counts:
#' With [loss_poisson()] a fit proceeds in the same way, with residuals \eqn{e^t - y} relative to the mean count, and
#' with these differences.
#' 1. The level comes first, with the part of the budget that leaves it an n mu of 50 of its own, but at least 5 and at
#'    most 50 percent. 60 percent of that pay for noisy counts of the response by octaves, 0, 1, 2, 3 to 4, 5 to 8 and
#'    so on, in the release called `ranges`. The mean is that of counts clipped at the end of the outermost octave that
#'    exceeds the noise, so its noise depends on this clip and not on `max`. With an offset o, 30 percent of the rest
#'    pay for the mean of \eqn{e^o}, by which this mean is divided. If `max` is larger than 16 times the clip, it is
#'    replaced by that. Where zeros alone seem to be there, the level gets more of the budget, for an n mu of 300 or
#'    for half of it, and the octaves are released again: a few large counts may be most of the mean.
#' 2. Where d / (n mu) exceeds 0.08, with d coefficients and mu the budget in Gaussian differential privacy, or n mu is
#'    below 100, the noise is too large for anything but the level. It then has the whole budget but for the geometry,
#'    and the fit is the constant prediction, with the status `"noise"`. A fit without columns has the same level.
#' 3. Clips are at least 1.5 times the scale of residuals, as counts are skewed, and at least one event.
#' 4. The prior mean of the intercept is the level less half the variance of the prediction.
#' 5. The recalibration also corrects for the dependence of the curvature on the prediction, and corrections are
#'    shrunk as if they were about a fifth of the residuals' scale and of the slopes.
#'
#' @section Several classes:
#' With [loss_multinomial()], d coefficients for each of K classes and the prior and the geometry as above, a fit
#' proceeds as follows.
#' 1. The fractions q of the classes are released, with the part of the budget that leaves them an n mu of 30 of their
#'    own, but at least 3 and at most 50 percent. The run starts at the constant prediction of these.
#' 2. The moments of the geometry (9 percent) and the matrix M of weighted rows (`matrix_share`; `NULL`: 6 percent of
#'    the whole budget) are released.
#' 3. `iterations` rounds (`NULL`: 10, or 20 where d / (n mu) is below 0.015, with mu the budget in Gaussian
#'    differential privacy) follow. Each releases a gradient at the point that all releases so far make the most of:
#'    the posterior mean of the minimiser. A row longer than R has the weight R/|z|, with R = 2/3 or, where there is
#'    little noise, more. A record's slopes are clipped to the norm 0.85, or more where there is little noise, from at
#'    most \eqn{\sqrt 2}{sqrt(2)}. Later rounds have more of the budget, each 1.1 (1.15) times that of the one before.
#' 4. For the posterior mean the Hessian is taken for \eqn{C \otimes M}{C (x) M}, with C the mean of
#'    diag(p) - pp' over predictors that vary as those of the current point do, p the probabilities of the classes. The
#'    gradients are then one noisy linear equation for the minimiser; with 20 rounds each leaves at most 0.9 of
#'    the weight of those before. The prior is that of predictors of the standard deviation t = 1/32, 1/16, ..., 8, with
#'    probabilities in proportion to 1 / (1 + (t / 2)^4); the releases decide between them. No round changes the
#'    predictors of a class by a standard deviation of more than 0.35.
#' 5. A last gradient, not clipped, with a quarter of the fraction `certificate_share` of the budget, certifies the
#'    solution. As slopes were clipped it need not be small where there is little noise. The rest of `certificate_share`
#'    is for `explained`, as above.
#'
#' An intercept and columns are needed, and there is no `start`. Sources of all kinds and weights are possible. The
#' script `inst/experiments/rounds-rule.R` compares the constants with others on synthetic problems,
#' `inst/experiments/multinomial.R` the method with `"newton"` and with one logistic fit for each class.
#'
#' @param iterations Number of steps, a whole number of at least 1; `NULL`: 70 for at most 10,000 records, unless
#'   smooth terms have columns beyond straight lines, else 160; other numbers for numbers, counts and several classes.
#'   Each is a pass over the data; fewer lose accuracy, above all where a class is rare and the signal strong.
#' @param matrix_share Fraction of the budget for the matrix, in (0, 1); `NULL`: 0.06 for at most 10,000 records, else
#'   0.03. The budget here is what the releases of ranges, start and geometry leave, without the fraction for the
#'   certificate.
#' @param certificate_share Fraction of the budget for the gradient at the solution and for how much lower its loss is
#'   than that of the constant prediction, in (0, 1). The budget here is what the releases of ranges, start and geometry
#'   leave.
#' @param confidence Confidence of the certificate, in (0, 1).
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_newton_ridge`, a list of these settings, for the argument `control` of
#'   [dp_sosp()].
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take, for a `penalty`, for `geometry = "none"`, for a model without columns (but with
#'   squared error, Huber's loss and counts) and for counts and several classes without an intercept.
#' @references Ganesh, Haghifam, Steinke and Thakurta (2023), Faster differentially private convex optimization via
#'   second-order methods, for the quadratic upper bound. The slopes and weights of rows and classes, the geometry, the
#'   ridge penalty and the posterior mean are this package's; proofs are in `vignette("proofs")`.
#' @seealso [dp_sosp()], [geometry_public()], [control_newton()].
#' @examples
#' control_newton_ridge(iterations = 40)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6,
#'         method = "newton-ridge", control = control_newton_ridge(iterations = 40),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_newton_ridge <- function(iterations = NULL, matrix_share = NULL, certificate_share = 0.05, confidence = 0.95,
                                 ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  structure(class = c("dp_control_newton_ridge", "dp_control"), list(
    iterations = if (is.null(iterations)) NA_integer_ else check_iterations(iterations, "iterations", call = call),
    matrix_share = if (is.null(matrix_share)) NA_real_ else share(matrix_share, "matrix_share"),
    certificate_share = share(certificate_share, "certificate_share"), confidence = share(confidence, "confidence")
  ))
}

family_newton_ridge <- function() {
  new_family("newton_ridge", function(method, loss) control_newton_ridge(), ridge_options,
             core = function(control) "ridge", check_problem = check_ridge, constant = ridge_start,
             weighted = function(job) (1 - job$control$certificate_share) * (1 - ridge_control(job)$matrix_share),
             because = ", where Newton's method may increase the objective")
}

# Where steps gain little the level is nearly all of the fit.
ridge_start <- function(job) if (relative_noise(job, job$rho) > ridge_hopeless) start_hopeless else start_coarse

check_ridge <- function(job) {
  if (columns_of(job) == 0L) {
    abort("argument", "The method \"", job$method$name, "\" needs columns beside the intercept: take the method ",
          "\"newton\".", call = job$call)
  }
  if (job$penalty$name == "none") return(invisible())
  abort("argument", "The method \"", job$method$name, "\" chooses a ridge of its own: leave out `penalty`, or take ",
        "the method \"newton\".", call = job$call)
}

# inst/experiments/ridge-rule.R compares size, intercept, signals, usual, iterate_variance, few and matrix with others
# on synthetic problems. The heads of src/method/ridge.c and src/method/posterior.c explain how they are used.
ridge_curvature <- 0.3  # mean curvature of the logistic loss, and of those with a smaller slope, with balanced classes
ridge_curvature_factor <- 0.5 # smallest factor of this curvature for the steps, where there is little noise
ridge_size <- 24        # norm of the solution that the ridge is made for, with rows of norm one
ridge_intercept <- 0.25 # ridge of the intercept over that of a column with the scale of most: its coordinate is short
ridge_signal <- 0.05    # smallest standard deviation of the predictors that the solution is shrunk for
ridge_signals <- 9L     # number of such values, each twice the one before
ridge_usual <- 2        # larger ones are less likely, so that much noise is not taken for strong effects
ridge_reach <- 2        # number of time constants of the slowest direction
ridge_iterate_variance <- 0.02 # variance of the predictors caused by the noise of the iterates, over sqrt(d)
ridge_floor <- 0.4      # least term added to the matrix, over the norm of its noise
ridge_tail <- 0.85      # fraction of the iterates whose mean is the solution
ridge_hopeless <- 0.2   # d / (n mu) from which on the level has more of the budget
ridge_few <- 10000      # with at most so many records fewer steps, 80 passes in all, and half of that variance, suffice
ridge_matrix <- 0.03    # fraction of the budget for the matrix; twice as much with few records

# The settings, with those that the caller left to the package.
ridge_control <- function(job) {
  control <- unclass(job$control)
  few <- used_number(job) <= ridge_few
  if (is.na(control$iterations)) control$iterations <- if (has_fewer_steps(job)) 70L else 160L
  if (is.na(control$matrix_share)) control$matrix_share <- if (few) 2 * ridge_matrix else ridge_matrix
  control
}

ridge_options <- function(job, rho, loss = path_loss(job)) {
  slopes <- has_slopes(loss)
  most <- if (slopes) ridge_curvature else loss_bounds(loss)[["curv_upper"]]
  # Where there is little noise longer steps reach coefficients far away, such as those of levels that occur with one
  # class only, where the loss has little curvature.
  factor <- if (slopes) max(ridge_curvature_factor, job$geometry$cap^-2) else 1
  present <- present_weight(job)
  variance <- ridge_iterate_variance * if (has_fewer_steps(job)) 0.5 else 1
  c(list(curvature = most * factor, start_curvature = start_curvature(job, most),
         size = ridge_norm(job) * job$geometry$cap, intercept = ridge_intercept, signal = ridge_signal,
         signals = ridge_signals, usual = ridge_usual, reach = ridge_reach,
         iterate_variance = variance * sqrt(job$dim) * present, present = present, least = ridge_floor,
         tail = ridge_tail, matrix = NULL, matrix_sd = 0,
         smooth = curved_parts(job$design), few = job$geometry$few),
    ridge_control(job))
}

# Curves have many columns, most of which matter little: a ridge for a norm of the solution as without them would hold
# back those that matter, the more so the less noise there is.
ridge_norm <- function(job) {
  if (!has_curves(job)) return(ridge_size)
  noise <- sqrt(job$side) / records_for_smooths(job, job$class_fraction %||% 0.5)
  ridge_size * max(1, smooth_size / sqrt(noise))
}

has_fewer_steps <- function(job) used_number(job) <= ridge_few && !has_curves(job)

# Has the design columns of smooths beyond straight lines?
has_curves <- function(job) length(job$design$smooth$added) > 0L

# Curvature of the loss at the constant prediction, if its fraction of the second class was released. Columns of smooths
# may be where the rare class is, with more curvature: a smaller one would take the solution beyond the minimum.
start_curvature <- function(job, most) {
  fraction <- job$class_fraction
  if (is.null(fraction) || has_curves(job)) most else min(most, fraction * (1 - fraction))
}

# Losses with several outputs with the method "newton-ridge" (src/method/rounds.c): rounds at the posterior mean, from
# the fractions of the classes, which are released first. inst/experiments/rounds-rule.R compares the constants with
# others on synthetic problems.

classes_counts <- c(0.03, 0.5) # least and largest fraction of the budget for the fractions of the classes,
classes_precise <- 30          # which have this n mu of their own in between
classes_matrix <- 0.06         # for the weighted matrix
classes_rounds <- 10L
classes_growth <- 1.1          # of the rounds' budgets
classes_kept <- 1              # part of the weights of earlier rounds that a round leaves them
classes_quiet <- list(noise = 0.015, rounds = 20L, growth = 1.15, # the same where d / (n mu) is smaller than `noise`;
                      kept = 0.9, least = 5e-4, power = 0.25)    # below `least` kept falls with this power of it
classes_longer <- 1.5          # the length that rows may have elsewhere, over that from which on they weigh less
classes_clip <- 0.85           # least norm to which a record's slopes, of at most sqrt(2), are clipped; it grows with
classes_clip_noise <- 0.012    # this power of n mu / d times this
classes_clip_growth <- 0.25    # so that without noise no slope is clipped
classes_reach <- 0.35           # largest standard deviation of a change of an output's predictors
classes_signal <- 2^-5         # smallest standard deviation of the predictors that the solution is shrunk for
classes_signals <- 9L          # number of such values, each twice the one before
classes_usual <- 2             # larger ones are less likely

for_classes <- function(method, job) {
  if (!has_classes(job$loss)) return(method)
  if (!is.null(method$family$weighted)) method$family <- family_classes()
  method$default <- method$family$control(method, job$loss)
  method
}

family_classes <- function() {
  new_family("newton_ridge", function(method, loss) control_newton_ridge(), classes_options,
             core = function(control) "rounds", check_problem = check_classes,
             weighted = function(job) classes_gradients(job) / (1 - geometry_share))
}

# Fractions of a job's budget.
classes_share <- function(job) precise_share(job, classes_precise, classes_counts)
classes_left <- function(job) 1 - present_share(job) - classes_share(job) - geometry_share
classes_gradients <- function(job) {
  (classes_left(job) - classes_matrix_share(job)) * (1 - job$control$certificate_share)
}

classes_matrix_share <- function(job) {
  if (is.na(job$control$matrix_share)) classes_matrix else job$control$matrix_share * classes_left(job)
}

check_classes <- function(job) {
  refuse <- function(...) {
    abort("argument", "With the ", job$loss$name, " loss the method \"", job$method$name, "\" ", ...,
          ": take the method \"newton\".", call = job$call)
  }
  if (columns_of(job) == 0L) refuse("needs columns beside the intercept")
  if (!job$design$intercept) refuse("needs an intercept, which holds the fractions of the classes")
  if (job$penalty$name != "none") refuse("takes no `penalty`")
  if (!is.null(job$asked$start)) refuse("starts at the fractions of the classes, which it releases, and has no `start`")
}

# From public facts, as are the rounds.
classes_clip_at <- function(job) {
  more <- (classes_clip_noise / relative_noise(job, job$rho))^classes_clip_growth
  min(sqrt(2), classes_clip * max(1, more))
}

# With little noise what limits a fit are errors of the quadratic model: earlier rounds count less.
classes_rounds_of <- function(job) {
  noise <- relative_noise(job, job$rho)
  quiet <- classes_quiet
  if (noise >= quiet$noise) return(list(rounds = classes_rounds, growth = classes_growth, kept = classes_kept))
  list(rounds = quiet$rounds, growth = quiet$growth, kept = quiet$kept * min(1, noise / quiet$least)^quiet$power)
}

classes_options <- function(job, rho) {
  control <- job$control
  of <- classes_rounds_of(job)
  list(iterations = if (is.na(control$iterations)) of$rounds else control$iterations,
       matrix_share = classes_matrix_share(job) / classes_left(job), certificate_share = control$certificate_share,
       confidence = control$confidence, clip = classes_clip_at(job), cap = job$geometry$cap / classes_longer,
       growth = of$growth, kept = of$kept, present = present_weight(job), reach = classes_reach,
       signal = classes_signal, signals = classes_signals,
       usual = classes_usual)
}

#' Settings of the warm ridge
#'
#' For `method = "warm-ridge"` of [dp_sosp()], which `method = "auto"` takes for problems that are not convex: the
#' sigmoid loss, and logistic losses with [penalty_nonconvex()]. All settings are public: they must not be chosen by
#' looking at the data.
#'
#' From the constant prediction a loss like the sigmoid is nearly flat, because its slope falls where a record is badly
#' wrong; early gradients say little for their noise. So a run has three parts.
#' 1. **Start.** `"newton-ridge"` fits the logistic loss, without the penalty, in a geometry, with the rest of the
#'    budget ([control_newton_ridge()]). A given `start` takes the place of this part.
#' 2. **Own loss.** With the fraction `own_share` the same method fits the loss itself, from there and in the same
#'    coordinates: moments and weighted matrix are not released again, the ridge penalty draws towards the start, and
#'    the quadratic model has the mean second derivative that the loss has for labels which follow the logistic fit. So
#'    what does not exceed the noise level stays as the logistic fit has it.
#' 3. **Certificate.** With the fraction `certificate_share` the method `"opt"` ([control_opt()]) begins at this point:
#'    it certifies a stationary point of second order, or leaves a saddle point along an eigenvector whose eigenvalue
#'    is surely negative, and goes on from there. The certificate refers to the loss of the mapped rows, without
#'    weights; with a penalty, which is in the coordinates of the geometry, to rows clipped there.
#'
#' All releases are Gaussian. `own_share` is by default 0.5, and less where there is much noise:
#' see `inst/experiments/warm-rule.R`, which compares the constants with others on synthetic problems.
#'
#' @inheritParams control_newton_ridge
#' @param iterations Number of steps of each of the first two parts, a whole number of at least 1; `NULL`: 70 for at
#'   most 10,000 records, else 160.
#' @param own_share Fraction of the budget of the first two parts for the second, from 0 to 1; `NULL`: by the noise.
#' @param matrix_share Fraction of the first part's budget for the matrix, in (0, 1); `NULL`: 0.06 for at most 10,000
#'   records, else 0.03.
#' @param certificate_share Fraction of the budget for the third part, in (0, 1).
#' @return An object of class `dp_control_warm_ridge`, a list of these settings, for the argument `control` of
#'   [dp_sosp()].
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take, for a convex problem, for `geometry = "none"` and for a model without columns.
#' @references Lowy, Ullman and Wright (2024), How to make the gradients small privately, for the warm start; Gao and
#'   Wright (2023) for the last part.
#' @seealso [dp_sosp()], [control_newton_ridge()], [control_opt()].
#' @examples
#' control_warm_ridge(own_share = 0.3)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, loss = "sigmoid",
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_warm_ridge <- function(iterations = NULL, own_share = NULL, matrix_share = NULL, certificate_share = 0.05,
                               confidence = 0.95, ...) {
  call <- sys.call()
  check_dots(call)
  ridge <- control_newton_ridge(iterations, matrix_share, certificate_share, confidence)
  own <- if (is.null(own_share)) NA_real_ else check_number(own_share, "own_share", 0, 1, open = FALSE, call = call)
  structure(class = c("dp_control_warm_ridge", "dp_control"), c(unclass(ridge), list(own_share = own)))
}

family_warm_ridge <- function() {
  new_family("warm_ridge", function(method, loss) control_warm_ridge(), ridge_options,
             check_problem = check_warm, constant = function(job) start_coarse,
             weighted = function(job) (1 - job$control$certificate_share) * (1 - ridge_control(job)$matrix_share))
}

is_warm <- function(method) method$family$name == "warm_ridge"

check_warm <- function(job) {
  if (columns_of(job) > 0L) return(invisible())
  abort("argument", "The method \"", job$method$name, "\" needs columns beside the intercept: take the method ",
        "\"2opt-ls\".", call = job$call)
}

# inst/experiments/warm-rule.R compares these with others on synthetic problems.
warm_share <- 0.5     # fraction of the budget of both runs for that on the own loss,
warm_noise <- 0.03    # if d / (n mu) is at most this, else none
warm_signals <- 6L    # number of standard deviations of the predictors that its solution is shrunk for
warm_weight <- 0.3    # part of the way from the first solution to the second
warm_looks <- 20      # most iterations of the run that certifies the solution
warm_variance <- 0.01 # smallest variance of the predictors for the mean curvature
