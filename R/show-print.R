# What print() and summary() say of a fit. print() is for a reader who asks: what is wrong, which model is it, what is
# protected, how good is it compared with its start, and what are the coefficients. summary() adds the certificate, the
# intervals and what was spent.

#' @rdname dp_sosp-methods
#' @export
print.dp_sosp <- function(x, digits = 3, ...) {
  check_dots()
  digits <- check_digits(digits)
  if (lacks_coefficients(x)) {
    cat(first_lines(x), sep = "\n")
    return(invisible(x))
  }
  reason <- if (!is.matrix(x$coefficients)) x$inference$reason
  cat(first_lines(x), "", heading(x), estimate_lines(listed_coefficients(x), digits, reason),
      smooth_lines(x, digits),
      sep = "\n")
  invisible(x)
}

# All but those of columns that smooths add.
listed_coefficients <- function(x) {
  if (is.null(x$design$smooth)) return(x$coefficients)
  coefficients <- as.matrix(x$coefficients)
  coefficients <- coefficients[!rownames(coefficients) %in% x$design$smooth$added, , drop = FALSE]
  if (is.matrix(x$coefficients)) coefficients else coefficients[, 1]
}

# A line for each smooth: its columns, range and knots, and the standard deviations, in the released masses, of its
# straight and its other part.
smooth_lines <- function(x, digits) {
  terms <- x$design$smooth$terms
  if (length(terms) == 0L) return(NULL)
  own <- lapply(names(terms), function(label) smooth_coef(x, label))
  number <- function(values) format(values, digits = digits)
  size <- function(part) vapply(part, function(values) sqrt(sum(values^2) / ncol(values)), 0)
  columns <- list(
    columns = format(lengths(own) / vapply(own, ncol, 0L)), knots = format(lengths(lapply(terms, `[[`, "knots"))),
    from = number(vapply(terms, function(term) term$knots[1], 0)),
    to = number(vapply(terms, function(term) max(term$knots), 0)),
    straight = number(size(Map(function(values, term) values[1, , drop = FALSE] * term$sd, own, terms))),
    curved = number(size(lapply(own, function(values) values[-1, , drop = FALSE])))
  )
  products <- names(x$design$smooth$products)
  c("", "Smooth terms (`plot(fit, \"terms\")`), with the sizes of their straight and curved parts:",
    table_lines(names(terms), columns), if (length(products) > 0L) paste("and", paste(products, collapse = ", ")))
}

# What is wrong comes first.
first_lines <- function(x, ranges = ranges_shown) {
  wrong <- c(null_text(x$checks, x$n), missed_text(c(if (isTRUE(x$level$missed)) x$response$name, x$checks$missed)),
             ends_text(x$checks$ends, x$design), clipped_text(x$checks), single_text(x$checks$single), few_text(x))
  lines <- c(if (length(wrong) > 0L) paste("Attention:", wrong), model_line(x), privacy_text(fit_privacy(x)),
             records_line(x), batch_text(x$batch), ranges_line(x$checks$ranges, ranges), quality_text(x))
  strwrap(c(paste("<dp_sosp>", lines[1]), lines[-1]), 80, exdent = 2)
}

model_line <- function(x) {
  labels <- x$response$labels
  of <- if (length(labels) == 2L && x$response$kind != "numeric") paste0("`", x$response$name, "` = ", labels[2])
        else paste0("`", x$response$name, "`")
  paste0(of, ", ", loss_text(x$loss), " loss", penalty_text(x$penalty), ", method ", x$method,
         if (x$auto) " (taken by auto)")
}

records_line <- function(x) {
  n <- if (is.null(x$persons)) paste("Records: n =", x$n) else paste("Protected:", persons_text(x$n, x$persons))
  paste(c(n, usable_text(x$checks), class_text(x$checks, x$response)), collapse = ". ")
}

# What is in the place of gaps.
gaps_line <- function(gaps) {
  if (is.null(gaps)) return(NULL)
  values <- unique(gaps$at)
  with <- if (is.null(names(gaps$at))) format_each(values, 6) else paste(names(gaps$at), format_each(gaps$at, 6))
  strwrap(paste(c(if (length(with) > 0L) paste("Gaps filled with:", toString(with)),
                  if (!is.null(names(gaps$at))) paste("Gaps of factors: a level of their own,", gap_label),
                  if (gaps$missing == "indicate") "An indicator for each column of numbers"), collapse = ". "),
          80, exdent = 2)
}

ranges_shown <- 3L # in print()

# The private ranges, those first that clip most of the values. A fraction that is not told may be as large as the noise
# hides, which summary() says.
ranges_line <- function(ranges, most) {
  if (is.null(ranges)) return(NULL)
  some <- utils::head(sorted_by_clipped(ranges), most)
  beyond <- beyond_text(some, nrow(ranges))
  texts <- paste0(rownames(some), " ", interval_text(some), ifelse(nzchar(beyond), paste0(" (", beyond, ")"), ""))
  left <- nrow(ranges) - nrow(some)
  hidden <- two_digits(2 * max(ranges[, c("below_sd", "above_sd")]))
  paste0("Ranges (private): ", paste(texts, collapse = ", "),
         if (left > 0L) paste0(" and ", left, " more (`summary()`)"),
         if (is.infinite(most)) paste0(". The noise may hide ", hidden, " of the values beyond an end"))
}

# As many digits as tell the ends apart.
interval_text <- function(ranges) {
  digits <- pmin(3 + pmax(floor(log10(pmax(abs(ranges[, "lower"]), abs(ranges[, "upper"])) /
                                        (ranges[, "upper"] - ranges[, "lower"]))), 0), 15)
  number <- function(end) {
    vapply(seq_along(digits), function(i) format(signif(ranges[i, end], digits[i]), digits = 15), "")
  }
  paste0("[", number("lower"), ", ", number("upper"), "]")
}

penalty_text <- function(penalty) {
  if (penalty$name == "none") "" else paste0(", ", penalty$name, " penalty ", format(penalty$lambda))
}

answer_names <- list(
  "batch gradient" = c("gradient on a batch", "gradients on batches"),
  "batch hessian" = c("Hessian on a batch", "Hessians on batches"),
  "batch trace" = c("trace on a batch", "traces on batches"),
  "batch line search" = c("line search on a batch", "line searches on batches"),
  "batch direction" = c("direction on a batch", "directions on batches"),
  gradient = c("gradient", "gradients"),
  "gradient difference" = c("gradient difference", "gradient differences"),
  "line search" = c("line search", "line searches"),
  hessian = c("Hessian", "Hessians"), majorant = c("majorant", "majorants"), trace = c("trace", "traces"),
  "hessian product" = c("product with a Hessian", "products with Hessians"),
  direction = c("direction", "directions"), minimiser = c("minimiser", "minimisers"),
  "model gradient" = c("model gradient", "model gradients"),
  "weighted matrix" = c("weighted matrix", "weighted matrices"),
  "clipped gradient" = c("clipped gradient", "clipped gradients"),
  "class gradient" = c("gradient of clipped slopes", "gradients of clipped slopes"),
  "residual gradient" = c("gradient of clipped residuals", "gradients of clipped residuals"),
  "residual counts" = c("count of residuals", "counts of residuals"),
  "row lengths" = c("count of rows' lengths", "counts of rows' lengths"),
  recalibration = c("recalibration", "recalibrations"),
  "second moments" = c("matrix of second moments", "matrices of second moments")
)

# How good the solution is compared with the start, as far as was paid for; then whether it is certified.
quality_text <- function(x) {
  paste("How good:", switch(x$status,
    null = "it says nothing, as no records seem to be used, and so has no coefficients",
    start = ended_text(x, start_text(x), "nothing better exceeded the noise"),
    paste(stats::na.omit(c(better_text(x), cut_text(x), certified_text(x))), collapse = "; ")
  ))
}

# Coefficients with intervals are one step from where the run ended (one_step() in R/job-intervals.R).
ended_text <- function(x, where, why) {
  if (is.null(x$inference)) return(paste0("it is ", where, ", as ", why))
  paste0("the run ended at ", where, ", as ", why, "; the coefficients are one Newton step from there")
}

# The released constant prediction is a start.
start_text <- function(x) {
  if (is.null(x$checks$class) && is.null(x$level$start)) "the start" else "the constant prediction"
}

better_text <- function(x) {
  if (isTRUE(x$level$missed)) return("it says nothing of the level of the response, whose range was not found")
  if (by_residuals(x) && columns_of(x) == 0L) return("it is the constant prediction, as there are no columns")
  if (by_residuals(x) && nrow(x$trace) == 0L) {
    return(ended_text(x, "the constant prediction", "the noise is too large for anything else"))
  }
  explained <- x$checks$explained
  if (!is.null(explained)) return(explained_text(explained, x))
  if (isTRUE(x$decrease > 0)) {
    return(paste0("better than ", start_text(x), ", objective at least ", signif(x$decrease, 3), " lower"))
  }
  "not measured, as no release compares it with the intercept-only model"
}

# Of what: the name that the field has for it; a loss that is not that of a likelihood has no deviance.
explained_text <- function(explained, x) {
  percent <- function(share) paste(max(signif(100 * share, 2), 0.1), "%")
  what <- if (x$response$kind == "bounded") "variance" else if (is_risky(x$loss) || is_logistic(x$loss)) "deviance" else
    "mean loss"
  error <- paste("+-", percent(2 * explained$sd))
  if (explained$better) {
    # The number alone may not show it.
    by_intervals <- isTRUE(explained$wald <= explained_wald) && explained$fraction < explained_z * explained$sd
    shown <- if (by_intervals) {
      paste0("its intervals show that the response follows the predictors (Wald test, p ",
             if (explained$wald < 1e-4) "< 1e-04" else paste("=", signif(explained$wald, 1)), "); ")
    }
    share <- if (explained$fraction > 0) percent(explained$fraction) else "0 %"
    return(paste0(shown, "explains about ", share, " of the ", what, " (", error, ")"))
  }
  about <- paste(signif(100 * explained$fraction, 2), "%")
  paste0("not surely better than the intercept-only model, as far as this budget can tell (explains ", about,
         " of the ", what, ", ", error, ")")
}

# Larger counts may be there all the same, and make the mean larger.
cut_text <- function(x) {
  clip <- x$level$clip
  if (is.null(clip) || clip >= x$loss$response[2]) return(NULL)
  paste0("its level is the mean of counts cut at ", format(clip), ", as no larger ones exceed the noise")
}

certified_text <- function(x) {
  if (by_residuals(x)) return(NULL)
  if (isTRUE(x$target$trivial)) return("not certified, as every point meets the target")
  upper <- x$certificate$gradient[["upper"]]
  norm <- if (!is.na(upper)) paste0(" (gradient norm at most ", signif(upper, 2), ")")
  c(sosp = paste0("converged", norm), ranges = paste0("converged in ranges that do not fit", norm), noise = NA,
    budget = "not certified, as the budget is spent",
    iterations = "not certified, as the planned iterations are done",
    records = "not certified at the target, as all records were read")[[x$status]]
}

# What has to be known before coefficients are read.
heading <- function(x) {
  if (is.matrix(x$inference$solution)) {
    return("Coefficients, whose sums over the classes are zero; `summary()` compares classes:")
  }
  if (!is.null(x$inference)) {
    hidden <- sum(!is.na(x$inference$reason))
    if (hidden == 0L) return("Coefficients; `summary()` has their standard errors:")
    return(paste0("Coefficients, of which ", hidden, " of ", length(x$inference$reason),
                  " are not resolved by this budget and say\n  little; `summary()` tells why:"))
  }
  paste0("Coefficients", if (!is.na(x$ridge)) ", shrunk by a ridge", ", without standard errors",
         if (may_have_intervals(x)) " (`?dp_inference` adds them)", ":")
}

may_have_intervals <- function(x) {
  is.null(x$design$smooth) && has_intervals(x$loss, x$penalty, by_residuals(x)) &&
    (loss_outputs(x$loss) == 1L || isTRUE(x$geometry$weighted)) && (!by_residuals(x) || columns_of(x) > 0L)
}

# The queries of the run.
queries_text <- function(x) {
  times <- table(factor(x$trace$query, names(answer_names)))
  one <- vapply(answer_names, `[`, "", 1)
  many <- vapply(answer_names, `[`, "", 2)
  asked <- paste(times, ifelse(times == 1L, one, many))[times > 0L]
  paste0("Run: ", if (length(asked) > 0L) paste(asked, collapse = ", ") else "no releases")
}

certificate_text <- function(x) {
  if (lacks_coefficients(x)) return("No certificate: there are no coefficients")
  if (by_residuals(x) && nrow(x$trace) == 0L) return("No certificate: the fit is its level alone")
  if (by_residuals(x)) return("No certificate: residuals are clipped closer in each phase")
  scale <- paste0(certificate_scale(x), if (is_numeric_response(x$response)) " and response")
  certificate_lines(x$certificate, scale, x$target)
}

residual_text <- function(x, digits) {
  if (!has_scale(x)) return(NULL)
  paste0("Residuals: 68 % are below sigma = ", signif(stats::sigma(x), digits))
}

population_text <- function(certificate) {
  if (is.null(certificate)) return(NULL)
  paste0("Of the population, by ", certificate$n, " other records: gradient norm <= ",
         signif(certificate$gradient[["upper"]], 3), ", smallest eigenvalue >= ",
         signif(certificate$eigenvalue[["lower"]], 3))
}

# The problem whose gradient the certificate bounds.
certificate_scale <- function(x) {
  if (is.null(x$geometry)) return("on the scale of the mapped rows")
  paste0("on the scale of the centred and scaled rows", if (x$geometry$weighted) ", with their weights",
         if (!is.na(x$ridge)) " and the ridge")
}

#' @rdname dp_sosp-methods
#' @export
summary.dp_sosp <- function(object, ...) {
  check_dots()
  structure(class = "summary.dp_sosp", list(fit = object, coefficients = if (!is.null(object$inference))
    coefficient_table(object$inference)))
}

#' @export
print.summary.dp_sosp <- function(x, digits = 3, ...) {
  check_dots()
  digits <- check_digits(digits)
  fit <- x$fit
  cat(first_lines(fit, Inf), gaps_line(fit$design$gaps), "", queries_text(fit), certificate_text(fit),
      residual_text(fit, digits), population_text(fit$population), intervals_text(fit), "", sep = "\n")
  if (lacks_coefficients(fit)) {
    cat("No coefficients.\n")
  } else if (is.null(x$coefficients)) {
    cat(heading(fit), estimate_lines(listed_coefficients(fit), digits), smooth_lines(fit, digits), sep = "\n")
  } else {
    cat(strwrap(estimand_text(fit), 81), coefficient_lines(fit, digits), strwrap(unresolved_text(fit), 81), sep = "\n")
  }
  print_spent(fit, digits)
  invisible(x)
}

print_spent <- function(fit, digits) {
  ledger <- fit$privacy$ledger
  cat("\nSpent by query:\n")
  parts <- cbind(releases = is_release(ledger), fraction = ledger$rho / fit$privacy$rho)
  spent <- rowsum(parts, ledger$what, reorder = FALSE)
  print(data.frame(releases = spent[, "releases"], fraction = format_share(round(spent[, "fraction"], 4), digits),
                   row.names = rownames(spent)))
  cat("The guarantee is the whole budget.\n")
}
