# The names of the methods, by what they take and ask for.

methods_opt <- c("2opt-ls", "2opt", "opt-ls", "opt", "tr", "gd", setdiff(methods_batch, methods_newton))
# Ask for gradients only where nothing else is needed.
methods_gradient <- setdiff(methods_opt, c("tr", "tr-b"))
gradient_advice <- paste0(" For a convex problem the methods ", quote_all(methods_gradient), " ask for gradients only.")
methods_convex <- c(methods_newton, methods_perturbation, "cubic")
methods_known <- c(methods_opt, methods_convex)

methods_nonsmooth <- c("newton", "newton-b", "objpert", "outpert", "gd", "sgd")
