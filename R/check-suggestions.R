# Suggestions for unknown names. Names of arguments, choices and columns are public.

# The element of `known` that is nearest to `name`; NULL if none is near.
nearest <- function(name, known) {
  if (length(known) == 0L) return(NULL)
  # Invalid text becomes NA, which is not near anything.
  plain <- function(x) tolower(gsub("[-_. ]", "", iconv(enc2utf8(as.vector(x)), "UTF-8", "UTF-8")))
  a <- plain(name)
  b <- plain(known)
  size <- pmax(nchar(a), nchar(b))
  # Swapped letters are one edit. For short names no other edits are allowed.
  swapped <- swaps(a)
  edits <- apply(rbind(utils::adist(a, b), 1 + utils::adist(swapped, b)), 2L, min)
  distance <- ifelse(size > 3L | a == b | b %in% swapped, edits / size, 1)
  least <- pmin(nchar(a), nchar(b))
  # One name is the beginning of the other: epsilon and eps.
  begins <- least >= 3L & (startsWith(a, b) | startsWith(b, a))
  distance[which(begins)] <- pmin(distance[which(begins)], 0.4)
  # One name is the end of the other: data and newdata.
  last <- function(x) substring(x, nchar(x) - least + 1L)
  ends <- least >= 4L & last(a) == last(b)
  distance[which(ends)] <- pmin(distance[which(ends)], 0.3)
  near <- which(distance <= 0.4)
  if (length(near) > 0L) known[near[which.min(distance[near])]]
}

# All variants with two neighbouring letters swapped; none for NA.
swaps <- function(text) {
  letters <- if (is.na(text)) character() else strsplit(text, "")[[1]]
  vapply(seq_along(letters)[-1], function(i) {
    letters[c(i - 1L, i)] <- letters[c(i, i - 1L)]
    paste(letters, collapse = "")
  }, "")
}

# Text to append to a message; empty if nothing is near.
did_you_mean <- function(name, known, show = quote_names) {
  near <- nearest(name, known)
  if (is.null(near)) "" else paste0(" Did you mean ", show(near), "?")
}

# Refuses names in the argument arg that are not known.
check_known <- function(names, known, arg, what, call) {
  unknown <- setdiff(names, known)
  if (length(unknown) == 0L) return(invisible())
  abort("argument", "`", arg, "` names `", unknown[1], "`, which is no ", what, ".", did_you_mean(unknown[1], known),
        call = call)
}

quote_names_each <- function(x) paste0("`", x, "`", recycle0 = TRUE)

quote_names <- function(x) paste0("`", x, "`", collapse = ", ")

# For a function with `...` that accepts only the names in `also`; anything else is an error. The arguments are not
# evaluated: in `weights = w`, w may be a column, which is not visible here.
check_dots <- function(call = sys.call(-1), also = character()) {
  dots <- eval(quote(substitute(list(...))), parent.frame())
  given <- if (is.null(names(dots))) character(length(dots) - 1L) else names(dots)[-1]
  unknown <- setdiff(given, also)
  if (length(unknown) == 0L) return(invisible())
  known <- setdiff(names(formals(sys.function(sys.parent()))), "...")
  if (!nzchar(unknown[1])) {
    abort("argument", "Unknown argument: an argument without a name.", list_arguments(known), call = call)
  }
  hint <- argument_hint(unknown[1], known)
  if ("formula" %in% known && unknown[1] == "offset") hint <- " Did you mean `offset()` in `formula`?"
  abort("argument", "Unknown argument: `", unknown[1], "`.",
        if (nzchar(hint)) hint else list_arguments(known), call = call)
}

list_arguments <- function(known) {
  if (length(known) == 0L) return(" There are no arguments.")
  paste0(if (length(known) == 1L) " The only argument is " else " The arguments are ", quote_names(known), ".")
}

# The functions that make objects for an argument.
makers <- function() {
  exported <- sort(getNamespaceExports("dpsosp"))
  list(
    penalty = c("penalty_ridge", "penalty_nonconvex"), target = "sosp", loss = grep("^loss_", exported, value = TRUE),
    control = grep("^control_", exported, value = TRUE), budget = "dp_budget", geometry = "geometry_public"
  )
}

# What takes the place of arguments of glm(), glmnet() and other functions.
other_names <- c(family = "loss", wt = "weights", cluster = "id", clusters = "id", group = "id", groups = "id",
                 person = "id", persons = "id", user = "id", ids = "id", epsilon = "eps", privacy_budget = "eps",
                 data_norm = "radius", clipping = "radius", ranges = "bounds", limits = "bounds", lower = "bounds",
                 upper = "bounds", sensitivity = "bounds", knots = "smooth", standardize = "geometry",
                 verbose = "progress", trace = "progress", maxit = "control", conf.int = "inference = \"sandwich\"",
                 conf.level = "inference = \"sandwich\"", vcov = "inference = \"sandwich\"",
                 se = "inference = \"sandwich\"", se.fit = "inference = \"sandwich\"",
                 seed = "noise = \"reproducible\"", random_state = "noise = \"reproducible\"")

# The argument may belong to a maker, such as `lambda` of penalty_ridge().
argument_hint <- function(name, known) {
  instead <- if (name %in% names(other_names)) other_names[[name]]
  if (!is.null(instead) && sub(" .*", "", instead) %in% known) return(paste0(" Did you mean `", instead, "`?"))
  makers <- makers()
  of_makers <- lapply(makers[intersect(names(makers), known)], function(functions) {
    lapply(stats::setNames(nm = functions), function(f) setdiff(names(formals(get(f))), "..."))
  })
  if (!name %in% unlist(of_makers)) {
    own <- did_you_mean(name, known)
    if (nzchar(own)) return(own)
    name <- nearest(name, unique(unlist(of_makers)))
    if (is.null(name)) return("")
  }
  for (argument in names(of_makers)) {
    takes <- names(Filter(function(arguments) name %in% arguments, of_makers[[argument]]))
    if (length(takes) > 0L) return(maker_hint(argument, name, takes))
  }
}

maker_hint <- function(argument, name, takes) {
  others <- if (length(takes) > 1L) paste0(" (", quote_names(paste0(takes[-1], "()")), " as well)")
  paste0(" Did you mean `", argument, " = ", takes[1], "(", name, " = )`", others, "?")
}
