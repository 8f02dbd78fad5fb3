# Written by data-raw/features.R: mean and standard deviation of the square root of a feature on synthetic images: of
# the local mean, of fine and of coarse wavelets, of two of them with angles of 0, 22.5, 45, 67.5 and 90 degrees.
scattering_constants <- list(
  centre = c(0.3410, 0.1045, 0.1369, 0.0629, 0.0590, 0.0509, 0.0435, 0.0401),
  scale = c(0.3336, 0.0861, 0.0956, 0.0434, 0.0395, 0.0317, 0.0254, 0.0231)
)
