# Output and pictures of README.md: Rscript dev/readme.R, with the package installed. Writes man/figures/.
library(dpsosp)
options(width = 100)
set.seed(2)
fit <- dp_sosp(cover ~ ., covertype, eps = 2, noise = "reproducible")
fit$status
round(unlist(fit$checks$explained[c("fraction", "sd")]), 3)
round(coef(fit)[c("elevation", "slope", "wildernessNeota")], 4)
head(dp_ledger(fit), 4)
mean(predict(fit, covertype, type = "class") == covertype$cover)
for (what in c("coefficients", "terms")) {
  file <- c(coefficients = "README-fit.png", terms = "README-terms.png")[[what]]
  png(file.path("man/figures", file), 10, 10, units = "cm", res = 120, pointsize = 10, antialias = "none")
  plot(fit, what)
  invisible(dev.off())
}

# The curve of inst/experiments/curve.R
saved <- read.csv("inst/experiments/results/curve.csv")
saved <- saved[saved$data == "sample", ]
curve <- structure(class = "dp_curve", list(
  points = cbind(saved[c("method", "chosen", "eps", "rep", "value")], se = NA_real_), metric = "log_loss",
  lines = c(constant = saved$constant[1], "non-private" = saved$nonprivate[1]), public = TRUE
))
png("man/figures/README-curve.png", 9, 8, units = "cm", res = 160, pointsize = 8, antialias = "none")
plot(curve)
invisible(dev.off())
