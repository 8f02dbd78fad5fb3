# Loss against eps on Covertype (public): dp_curve() on the sample in the package and, if there is a folder with
# covertype.rds, on all records of its two classes.
#   Rscript curve.R RESULTS.csv [FOLDER [REPS]]
# A row is one fit (10 repetitions of each point by default, 3 on all records): log-loss on the held-out fifth of the
# rows. constant, nonprivate: the log-loss of the best constant prediction and of glm().
library(dpsosp)

arguments <- commandArgs(TRUE)
folder <- if (length(arguments) > 1) arguments[2]
reps <- if (length(arguments) > 2) as.integer(arguments[3]) else 10L

run <- function(name, formula, data, methods, reps) {
  set.seed(1)
  curve <- dp_curve(formula, data, methods = methods, reps = reps, public = TRUE, noise = "reproducible")
  print(curve)
  points <- as.data.frame(curve)
  points$value <- signif(points$value, 5)
  cbind(data = name, points[c("method", "chosen", "eps", "rep", "value")],
        constant = signif(curve$lines[["constant"]], 5), nonprivate = signif(curve$lines[["non-private"]], 5),
        n = curve$n, tested = curve$tested)
}

rows <- run("sample", cover ~ ., covertype, c("auto", "newton", "objpert", "2opt-ls"), reps)
path <- file.path(folder, "covertype.rds")
if (length(path) > 0 && file.exists(path)) {
  all <- readRDS(path)
  all <- all[all$cover_type <= 2, ]
  all$cover_type <- factor(all$cover_type, 2:1)
  rows <- rbind(rows, run("all", cover_type ~ ., all, "auto", min(reps, 3L)))
}
utils::write.csv(rows, arguments[1], row.names = FALSE)
