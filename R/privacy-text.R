# Budgets, guarantees and accountants as text.

budget_text <- function(x) {
  place <- if (!is.null(x$store)) paste(" in", basename(x$store$text))
  if (!is.null(x$eps)) return(paste0("eps = ", format(x$eps), ", delta = ", format(x$delta, digits = 3), place))
  if (!is.null(x$rho)) return(paste0("rho = ", format(x$rho), " (zCDP)"))
  paste0("mu = ", format(x$mu), " (Gaussian DP)")
}

guarantee_text <- function(eps, delta) {
  paste0("eps = ", format(eps, digits = 4), ", delta = ", format(delta, digits = 3))
}

format_share <- function(x, digits = 3) paste0(format(100 * x, digits = digits), " %")

accountant_texts <- c(gdp = "Gaussian DP, exact", zcdp = "zCDP", renyi = "Renyi", perturbed = "objective perturbation",
                      tuned = "of all candidates together", added = "eps and delta added")
