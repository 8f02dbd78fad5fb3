# Draws man/figures/logo.png: contour lines of a saddle, and a noisy descent that leaves it. Rscript dev/logo.R
set.seed(3)
dark <- "#1b3a4b"
light <- "#f4f1e8"
warm <- "#c8452d"

hexagon <- function(radius, colour) {
  angle <- pi / 2 + 2 * pi * (0:5) / 6
  polygon(radius * cos(angle), radius * sin(angle), col = colour, border = NA)
}
in_hexagon <- function(x, y, radius) {
  inner <- radius * sqrt(3) / 2
  abs(x) <= inner & abs(x) / 2 + sqrt(3) / 2 * abs(y) <= inner
}

# A saddle at (0, 0.2), turned by an angle: convex in its first coordinate u, concave in its second one v.
middle <- 0.2
tilt <- pi / 8
from_saddle <- function(u, v) {
  list(x = cos(tilt) * u - sin(tilt) * v, y = middle + sin(tilt) * u + cos(tilt) * v)
}
height <- function(x, y) {
  u <- cos(tilt) * x + sin(tilt) * (y - middle)
  v <- cos(tilt) * (y - middle) - sin(tilt) * x
  u^2 - v^2
}

# It comes along the convex direction, almost stops, and leaves along the concave one.
descent <- function(steps = 27, rate = 0.11, noise = 0.014) {
  u <- -0.75
  v <- -0.012
  for (i in seq_len(steps)) {
    u[i + 1] <- u[i] - rate * 2 * u[i] + rnorm(1, sd = noise)
    v[i + 1] <- v[i] + rate * 1.5 * v[i] + rnorm(1, sd = noise) * (i > 2)
  }
  u <- u[abs(v) < 0.55]
  from_saddle(u, v[seq_along(u)])
}

contours <- function(levels, colours) {
  grid <- seq(-1, 1, length.out = 201)
  z <- outer(grid, grid, height)
  for (i in seq_along(levels)) {
    for (line in contourLines(grid, grid, z, levels = levels[i])) {
      line$x[!in_hexagon(line$x, line$y, 0.92) | line$y < -0.4] <- NA
      lines(line$x, line$y, col = colours[i], lwd = 3.5)
    }
  }
}

# Without smoothing the file is small; pages show it at a third of this size.
png("man/figures/logo.png", 624, 720, bg = "transparent", type = "cairo", antialias = "none")
par(mar = numeric(4), xaxs = "i", yaxs = "i")
plot.new()
plot.window(c(-sqrt(3) / 2, sqrt(3) / 2), c(-1, 1), asp = 1)
hexagon(1, dark)
hexagon(0.96, light)
levels <- c(-1, -0.7, -0.48, -0.31, -0.18, -0.08, -0.015, 0.015, 0.08, 0.18, 0.31, 0.48, 0.7)
contours(levels, hcl.colors(length(levels), "Teal"))
path <- descent()
last <- length(path$x)
lines(path, col = warm, lwd = 9)
points(path$x[1], path$y[1], pch = 21, bg = light, col = warm, lwd = 6, cex = 3)
points(path$x[last], path$y[last], pch = 19, col = warm, cex = 4)
text(0, -0.6, "dpsosp", cex = 7, font = 2, col = dark)
invisible(dev.off())
