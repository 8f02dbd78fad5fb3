# Widths of private intervals of logistic regression over those of glm(), on two data sets of the package survival as
# they come: death on age, sex, light chains and creatinine (flchain), and on what is known at the operation
# (rotterdam). Ranges are found privately; delta = 1/n^2, replace-one. No constant was chosen on these data.
#   Rscript interval-width.R RESULTS.csv [RUNS]        9 runs
# A row is the median over the runs for a coefficient: ratio, the width over the non-private one, where intervals that
# are not resolved are widened; shown, the fraction of the runs in which it is resolved; inside, that in which the
# interval has glm()'s estimate. Noise is reproducible: no result is for release.
library(dpsosp)

complete <- function(data, columns) {
  data <- data[stats::complete.cases(data[columns]), columns]
  data$death <- factor(data$death)
  data
}

sets <- list(
  flchain = function() complete(survival::flchain, c("death", "age", "sex", "kappa", "lambda", "creatinine")),
  rotterdam = function() {
    data <- complete(survival::rotterdam, c("death", "age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon"))
    data[c("meno", "grade", "hormon")] <- lapply(data[c("meno", "grade", "hormon")], factor)
    data
  }
)

widths <- function(name, eps, runs) {
  data <- sets[[name]]()
  exact <- stats::glm(death ~ ., stats::binomial(), data)
  usual <- stats::confint.default(exact)
  one <- function(seed) {
    set.seed(seed)
    fit <- suppressWarnings(suppressMessages(
      dp_sosp(death ~ ., data, eps = eps, delta = 1 / nrow(data)^2, inference = "sandwich", noise = "reproducible",
              progress = FALSE)
    ))
    wide <- stats::confint(fit, unresolved = "wide")
    cbind(ratio = (wide[, 2] - wide[, 1]) / (usual[, 2] - usual[, 1]), shown = !is.na(stats::confint(fit)[, 1]),
          inside = wide[, 1] <= stats::coef(exact) & stats::coef(exact) <= wide[, 2])
  }
  all <- simplify2array(lapply(seq_len(runs), one))
  data.frame(set = name, n = nrow(data), eps = eps, coefficient = names(stats::coef(exact)),
             ratio = signif(apply(all[, "ratio", ], 1, stats::median), 3),
             shown = signif(rowMeans(all[, "shown", ]), 2), inside = signif(rowMeans(all[, "inside", ]), 2))[-1, ]
}

arguments <- commandArgs(TRUE)
runs <- if (length(arguments) > 1) as.integer(arguments[2]) else 9L
cells <- expand.grid(eps = c(1, 3), set = names(sets), stringsAsFactors = FALSE)
table <- do.call(rbind, Map(widths, cells$set, cells$eps, runs))
utils::write.csv(table, arguments[1], row.names = FALSE)
print(table, row.names = FALSE)
