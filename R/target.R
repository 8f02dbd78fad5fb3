# The accuracy that a run aims at.

# Returns the target with eps_g and eps_h, and with trivial = TRUE where every point meets it. alpha(): computes the
# default target; third: as for target_resolve().
settle_target <- function(target, oracle, alpha, third, call) {
  if (!is.null(target)) return(target_resolve(target, third))
  alpha <- alpha()
  if (is.nan(alpha)) return(NULL) # there is no certificate
  target <- target_resolve(sosp(alpha = alpha), third)
  if (alpha < oracle_facts(oracle)$lipschitz) return(target)
  warn("target", "The budget is too small to certify anything: every point meets the target.", call = call)
  target$trivial <- TRUE
  target
}
