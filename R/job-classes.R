# The stage of a job that decides where a run with several classes starts: job_begin() (job-start.R) has it for a method
# in a geometry. The fractions of the classes are released (proofs: sensitivity-classes); the start is the constant
# prediction of these fractions.

starts_at_fractions <- function(job) has_classes(job$loss) && !is.null(job$method$family$weighted)

begin_at_fractions <- function(job) {
  oracle <- new_oracle(job$responses(job), job$loss, job$budget, 1, TRUE, job$neighbours, job$noise)
  answer <- .Call(ffi_oracle_class_counts, oracle$pointer, classes_counts * job$rho, is_reproducible(oracle))
  constant <- log(pmax(answer$counts, answer$sd / 2))
  add_entries(job, start = as.vector(rbind(constant - mean(constant), matrix(0, job$side - 1, length(constant)))))
}
