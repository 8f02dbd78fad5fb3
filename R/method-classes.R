# Losses with several outputs with the method "newton-ridge" (src/method/classes.c): one matrix of rows, and one of the
# classes' fractions, which are released first. Constants were chosen on synthetic problems:
# inst/experiments/multinomial.R.

classes_counts <- 0.03         # fraction of the budget for the fractions of the classes
classes_matrix <- 0.06         # for the weighted matrix
classes_steps <- 60L
classes_clip <- 1              # of a record's slopes, whose norm is at most sqrt(2)
classes_reach <- 8             # time constants of the slowest direction, over those that the noise of one step allows
classes_least <- 0.6           # least term added to a matrix, over the norm of its noise
classes_iterate_variance <- 0.5 # largest variance of the predictors of a direction caused by the noise of the iterates,
classes_iterate_loss <- 0.03   # and largest product of this variance and the curvature of the direction
classes_tail <- 0.85           # fraction of the iterates whose mean is taken
classes_trust <- 0.5           # smallest part of a distance that this mean is taken to have gone
classes_signal <- 2^-5         # smallest standard deviation of the predictors that the solution is shrunk for
classes_signals <- 9L          # number of such values, each twice the one before

for_classes <- function(method, job) {
  if (has_classes(job$loss) && !is.null(method$family$weighted)) method$family <- family_classes()
  method
}

family_classes <- function() {
  new_family("newton_ridge", function(method, loss) control_newton_ridge(), classes_options,
             core = function(control) "classes", check_problem = check_classes,
             weighted = function(job) classes_gradients(job) / (1 - geometry_share))
}

# Fractions of a job's budget.
classes_left <- function() 1 - classes_counts - geometry_share
classes_gradients <- function(job) {
  (classes_left() - classes_matrix_share(job)) * (1 - job$control$certificate_share)
}

classes_matrix_share <- function(job) {
  if (is.na(job$control$matrix_share)) classes_matrix else job$control$matrix_share * classes_left()
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

classes_options <- function(job, rho) {
  control <- job$control
  list(iterations = if (is.na(control$iterations)) classes_steps else control$iterations,
       matrix_share = classes_matrix_share(job) / classes_left(), certificate_share = control$certificate_share,
       confidence = control$confidence, clip = classes_clip, reach = classes_reach, least = classes_least,
       iterate_variance = classes_iterate_variance,
       iterate_loss = classes_iterate_loss, tail = classes_tail, trust = classes_trust, signal = classes_signal,
       signals = classes_signals)
}
