# What methods with the same control object and the same method of the core have in common. The table of methods is in
# method-table.R.
#
# name        control_<name>() makes the control object
# core        function(control): the name in the core's table (src/method/methods.c)
# control     function(method, loss): the control object that is used where none is given; loss: NULL but for one of
#             several outputs
# options     function(job, rho): the options of the core's method, by their names there, except for the target
# check       function(control, method, call): refuses settings that do not fit the method
# complete    function(control, method, n): the control object with what it leaves open
# check_problem  function(job): refuses settings that do not fit the problem, whose number of coefficients is known
# matrices    function(control): does the method need matrices of dim^2 numbers for every problem?
# hessians    function(control): what needs Hessians, which not every loss has, and what to take instead; or NULL
# accountant  function(job): "auto", or "zcdp" when there are releases that are not Gaussian
# steps       function(job): planned number of steps on batches
# min_batches, max_batches  functions(control): a default batch has at most n / min_batches records, and at least
#             n / max_batches
# chosen      function(control): fraction of the cost of a step on batches for a sparse vector with a batch of its own
# constant    function(job): for a run that starts at the constant prediction if no start is given, how precisely this
#             is released (job-start.R): start_coarse, start_fine, start_alone or start_shared, below; else
#             NULL
# weighted    function(job): for a method whose rows have weights of their own in a geometry (job-geometry.R), the
#             fraction of its budget for gradients; else NULL
# any_noise   function(job): does a default geometry help even where is_noisy()? (job-geometry.R)
# planned     function(a, eps_h): number of iterations that its paper plans (method-papers.R), if any
# needed      function(method, a, eps_h): number of rows that its paper needs, if any
# pushed      function(control, method): can a database compute all its sums (sql-push.R)?
# certifies   "sample": the objective on these records; "population": its expectation
# because     why the method needs a convex problem, as the end of a sentence
new_family <- function(name, control, options, core = function(control) name, check = function(...) NULL,
                       complete = function(control, ...) control, check_problem = function(...) NULL,
                       matrices = function(control) TRUE,
                       hessians = function(control) NULL, accountant = function(job) "auto", steps = gradient_steps,
                       min_batches = function(control) 20, max_batches = function(control) 200,
                       chosen = function(control) 0, constant = function(job) NULL, weighted = NULL,
                       any_noise = function(job) !is.null(weighted), planned = NULL, needed = NULL,
                       pushed = function(control, method) TRUE, certifies = "sample", because = "") {
  list(name = name, core = core, control = control, options = options, check = check, complete = complete,
       check_problem = check_problem, matrices = matrices, hessians = hessians, accountant = accountant, steps = steps,
       min_batches = min_batches, max_batches = max_batches, chosen = chosen, constant = constant,
       weighted = weighted, any_noise = any_noise, planned = planned, needed = needed, pushed = pushed,
       certifies = certifies,
       because = because)
}

# For the released fraction of the second class: wishes for the standard deviation that it should have, each with the
# largest fraction of a job's budget for it, among the best of those tried in inst/experiments/start-rule.R and, for
# start_shared, leave-rule.R.
# start_coarse is for methods whose first step corrects the intercept, start_fine for those that may end at their start,
# and, where noise hides what a step could gain, start_shared for those that use the gradients at their start in any
# case, and start_alone for others.
start_coarse <- list(c(sd = 0.01, fraction = 0.05), c(sd = 0, fraction = 0.01)) # a rare class needs more
start_hopeless <- list(c(sd = 0.03, fraction = 0.6)) # above ridge_hopeless
start_fine <- list(c(sd = 0.002, fraction = 0.1), c(sd = 0.02, fraction = 0.8))
start_alone <- list(c(sd = 0.002, fraction = 0.8))
start_shared <- list(c(sd = 0.002, fraction = 0.5), c(sd = 0.02, fraction = 0.8))

# Fraction for the method, of the budget that a fit has left when its method begins.
path_share <- function(job) if (job$inference == "none") 1 else inference_path

inference_path <- 0.25
