# make demo: one private fit, and the cost of privacy. Rscript dev/demo.R LIBRARY PICTURE.png
#
# plot(fit) fills a page, so loss against eps has a plot of its own, PICTURE-loss.png. It uses the held-out loss without
# noise, as the example data are public.

args <- commandArgs(TRUE)
library(dpsosp, lib.loc = args[1])
picture <- args[2]

rows <- seq_len(20000) # rows are in random order
train <- covertype[rows, ]
held_out <- covertype[-rows, ]

cat("Is a forest spruce or fir? A private logistic regression of 20,000 records, at eps = 0.6:\n\n")
fit <- dp_sosp(cover ~ ., train, eps = 0.6)
print(fit)

log_loss <- function(link, y) mean(log1p(exp(-ifelse(y == levels(y)[2], link, -link))))
loss_at <- function(eps) {
  fit <- suppressMessages(dp_sosp(cover ~ ., train, eps = eps))
  log_loss(predict(fit, held_out, type = "link"), held_out$cover)
}
eps <- c(0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
loss <- vapply(eps, loss_at, numeric(1))
baseline <- log_loss(qlogis(mean(train$cover == "spruce/fir")), held_out$cover)
exact <- log_loss(predict(glm(cover ~ ., binomial, train), held_out), held_out$cover)
cat("\nWhat privacy costs: log-loss on 5,000 other records (smaller is better), one run each\n")
print(data.frame(eps = eps, log_loss = round(loss, 4)), row.names = FALSE)
cat("without privacy, glm(): ", round(exact, 4), "; a constant prediction: ", round(baseline, 4), "\n", sep = "")

png(picture, width = 1400, height = 700, res = 120)
plot(fit)
invisible(dev.off())

loss_picture <- sub("\\.png$", "-loss.png", picture)
png(loss_picture, width = 1000, height = 700, res = 120)
plot(eps, loss, log = "x", type = "b", pch = 19, ylim = range(loss, baseline),
     xlab = "eps", ylab = "held-out logistic loss", main = "Loss against privacy, one run each")
abline(h = baseline, lty = 2)
legend("right", c("private fit", "constant prediction"), lty = 1:2, pch = c(19, NA), bty = "n")
invisible(dev.off())
cat("pictures: ", picture, ", ", loss_picture, "\n", sep = "")
