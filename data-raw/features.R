# Prints scattering_constants of R/model-features.R: mean and standard deviation of the square root of a feature, by the
# kind of its channel, over synthetic images of random ellipses and boxes that cover each other. Run at the top of the
# repository, after INSTALL=1 dev/build.sh:
#   Rscript data-raw/features.R

library(dpsosp, lib.loc = "build/lib")
package <- asNamespace("dpsosp")

RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20260102)
side <- 28L
row <- matrix(seq_len(side), side, side)
column <- t(row)
field <- (row - 14.5)^2 + (column - 14.5)^2 < 13.5^2 # no direction is preferred

# Two to six shapes in black, white, or some grey; half of them are boxes.
image <- function() {
  out <- matrix(0, side, side)
  for (shape in seq_len(sample(2:6, 1))) {
    middle <- runif(2, 5, 25)
    radius <- runif(2, 2, 12)
    angle <- runif(1, 0, pi)
    u <- ((column - middle[1]) * cos(angle) + (row - middle[2]) * sin(angle)) / radius[1]
    v <- ((row - middle[2]) * cos(angle) - (column - middle[1]) * sin(angle)) / radius[2]
    inside <- if (runif(1) < 0.5) abs(u) < 1 & abs(v) < 1 else u^2 + v^2 < 1
    out[inside] <- sample(c(0, runif(2), 1), 1)
  }
  as.vector(out * field)
}
images <- t(replicate(4000, image()))

as_they_are <- list(centre = rep(0, 8), scale = rep(1, 8), norm = 0)
features <- package$scattering(images, c(side, side), c(0, 1), "full", as_they_are)
channels <- package$scattering_channels("full")
turn <- abs(channels$coarse - channels$fine)
turn <- pmin(turn, 8 - turn)
kind <- ifelse(is.na(channels$coarse), ifelse(is.na(channels$fine), 1, 2), ifelse(is.na(turn), 3, 4 + turn))
kind <- rep(kind, each = ncol(features) / nrow(channels))
constants <- vapply(split(seq_along(kind), kind), function(j) c(mean(features[, j]), sd(features[, j])), c(0, 0))

numbers <- function(x) paste(formatC(x, digits = 4, format = "f"), collapse = ", ")
writeLines(c(
  "scattering_constants <- list(",
  paste0("  centre = c(", numbers(constants[1, ]), "),"),
  paste0("  scale = c(", numbers(constants[2, ]), ")"),
  ")"
))
