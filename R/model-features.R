#' Public features of images
#'
#' Describes grey images by a fixed wavelet scattering transform of two scales and eight directions. A linear model
#' classifies images much better on these features than on pixels. Nothing in the transform is learned from data, and it
#' costs no budget: a row of the result is a function of the same row of `x` alone, so data sets which differ in one
#' image have features which differ in one row.
#'
#' # The transform
#' Pixels are clipped to `bounds` and mapped to \[0, 1\]. The image u that this gives is convolved with Morlet wavelets
#' of scales j = 0, 1 and directions \eqn{\theta = 0, 22.5, \ldots, 157.5} degrees, from the right towards the bottom,
#' \deqn{\psi(r) = (e^{i \xi r_1} - \kappa) e^{-(r_1^2 + r_2^2 / 4) / (2 s^2)} / (4 \pi s^2), \quad s = 0.8 \cdot 2^j,
#' \; \xi = 3 \pi / 4 / 2^j,}{psi(r) = (exp(i xi r1) - kappa) exp(-(r1^2 + r2^2 / 4) / (2 s^2)) / (4 pi s^2), with
#' s = 0.8 2^j and xi = (3 pi / 4) / 2^j,}
#' where the pixel r lies r_1 along \eqn{\theta} and r_2 across it, at most \eqn{6.4 \cdot 2^j}{6.4 2^j} away, and kappa
#' makes the sum zero. Beyond its borders an image is continued by its mirror image. The channels are
#' * `low`: u;
#' * `fine1` to `fine8` and `coarse1` to `coarse8`: moduli of the convolutions of u, by direction;
#' * `fine1coarse1` to `fine8coarse8`: moduli of the convolutions of the fine moduli with the coarse wavelets; of these
#'   `"mid"` has the pairs with angles of 0, 45 and 90 degrees from the first to the second direction.
#'
#' Coarse channels are computed at every second pixel. Each channel is averaged by Gaussian windows of standard
#' deviation 1.6 pixels whose centres are 4 pixels apart: 7 x 7 windows for 28 x 28 pixels. The square roots of the
#' averages are centred and scaled by public constants, which come from synthetic images (random ellipses and boxes),
#' and the features of each image are scaled to length 3.
#'
#' # In a fit
#' With the intercept's 1 a row has norm \eqn{\sqrt{10}}{sqrt(10)}: `radius = sqrt(10)` clips no row, and the intercept
#' has a tenth of the squared length. Without an intercept the radius is 3. With `geometry = "none"` no budget is spent
#' on centring and scaling the columns again. Features of new images, which must have the same size and `bounds`, are
#' computed by the same call. Many images may be computed in parts, such as the chunks of a [dp_source()]: for 60,000
#' images of 28 x 28 pixels the `"mid"` matrix has 1 GB.
#'
#' @param x Images, one per row: a numeric matrix, pixels row by row from the top left, or an array n x height x width.
#' @param bounds Public range `c(lower, upper)` of a pixel, such as `c(0, 255)`, with 0 for black; values outside are
#'   clipped to it.
#' @param order Which channels: `"first"` has 17, `"mid"` 41, `"full"` 81. For 28 x 28 pixels these are 833, 2009 and
#'   3969 columns.
#' @param size `c(height, width)` of an image, between 4 and 256 pixels each; needed where `x` is a matrix whose images
#'   are not square.
#' @param ... Not used; anything in it is an error.
#' @return A matrix of doubles, a row for each image: channels in the order above, each with its windows row by row.
#'   Column names are such as `"fine3[1,2]"`, for the first row and second column of windows. An image with a missing or
#'   infinite pixel has `NaN` in all columns, which [dp_sosp()] treats as a null record.
#' @section Errors: `dpsosp_error_argument` for a missing argument, a size that does not match the images, or bounds
#'   that are not two numbers. No value of a pixel is an error.
#' @references Bruna and Mallat (2013), Invariant scattering convolution networks. *IEEE Transactions on Pattern
#'   Analysis and Machine Intelligence* 35(8), 1872-1886. Tramer and Boneh (2021), Differentially private learning needs
#'   better features (or much more data). *International Conference on Learning Representations*.
#' @examples
#' # Discs against boxes of the same area, at any place, with noise
#' set.seed(1)
#' side <- 16
#' draw <- function(disc) {
#'   middle <- runif(2, 6, 11)
#'   radius <- runif(1, 3, 5)
#'   down <- abs(row(diag(side)) - middle[1])
#'   right <- abs(col(diag(side)) - middle[2])
#'   inside <- if (disc) down^2 + right^2 < radius^2 else pmax(down, right) < radius * sqrt(pi) / 2
#'   as.vector(t(inside * runif(1, 0.3, 1) + rnorm(side^2, sd = 0.1)))
#' }
#' disc <- runif(4000) < 0.5
#' pixels <- t(vapply(disc, draw, numeric(side^2)))
#' features <- features_scattering(pixels, bounds = c(0, 1), order = "first")
#' accuracy <- function(x, radius) {
#'   train <- 1:3000
#'   fit <- dp_sosp(x[train, ], disc[train], eps = 2, delta = 1e-6, method = "objpert",
#'                  radius = radius)
#'   mean(predict(fit, x[-train, ], type = "class") == disc[-train])
#' }
#' c(features = accuracy(features, sqrt(10)), pixels = accuracy(pixels, 10))
#' @export
features_scattering <- function(x, bounds, order = c("mid", "first", "full"), size = NULL, ...) {
  check_dots()
  call <- sys.call()
  if (missing(x)) abort("argument", "`x` is missing: give images, one per row.", call = call)
  size <- image_size(x, size, call)
  if (missing(bounds)) {
    abort("argument", "`bounds` is missing: give the public range of a pixel, such as c(0, 255).", call = call)
  }
  bounds <- check_interval(bounds, "bounds", call)
  order <- check_choice(order, c("mid", "first", "full"), "order", call)
  out <- scattering(x, size, bounds, order, c(scattering_constants, norm = 3))
  colnames(out) <- scattering_names(scattering_channels(order), size)
  out
}

scattering <- function(x, size, bounds, order, map) {
  .Call(ffi_scattering, x, c(nrow(x), size), is.matrix(x), bounds, order, map)
}

# Height and width of the images; an error unless x holds images of this size.
image_size <- function(x, size, call) {
  if (!is.numeric(x) || !length(dim(x)) %in% 2:3) {
    advice <- if (is.data.frame(x)) "; make a data frame one with `as.matrix()`"
    abort("argument", "`x` must be a numeric matrix, or an array n x height x width, not ",
          describe_column(x, sizes = TRUE), advice, ".", call = call)
  }
  pixels <- prod(dim(x)[-1])
  found <- if (length(dim(x)) == 3L) dim(x)[-1] else rep(as.integer(sqrt(pixels)), 2)
  size <- if (is.null(size)) found else check_sides(size, call)
  if (prod(size) != pixels || (length(dim(x)) == 3L && any(size != found))) {
    abort("argument", "`size` must be c(height, width) of the images; those of `x` have ",
          if (length(dim(x)) == 3L) paste(found, collapse = " x ") else pixels, " pixels.", call = call)
  }
  if (any(size < 4L | size > 256L)) {
    abort("argument", "Images must be between 4 and 256 pixels high and wide; those of `x` are ",
          paste(size, collapse = " x "), ".", call = call)
  }
  size
}

check_sides <- function(size, call) {
  if (!is.numeric(size) || length(size) != 2L || !all(size %in% 1:1000)) {
    abort("argument", "`size` must be c(height, width), two whole numbers of pixels, not ", describe(size), ".",
          call = call)
  }
  as.integer(size)
}

# The channels of the core: the direction, 1 to 8, of the fine and of the coarse wavelet, NA where there is none.
scattering_channels <- function(order) {
  pairs <- expand.grid(coarse = 1:8, fine = 1:8)[2:1]
  turn <- (pairs$coarse - pairs$fine) %% 8
  kept <- switch(order, first = integer(), mid = c(0, 2, 4), full = 0:7)
  one <- data.frame(fine = c(NA, 1:8, rep(NA, 8)), coarse = c(rep(NA, 9), 1:8))
  rbind(one, pairs[turn %in% kept, ], make.row.names = FALSE)
}

scattering_names <- function(channels, size) {
  part <- function(scale) ifelse(is.na(channels[[scale]]), "", paste0(scale, channels[[scale]]))
  name <- paste0(part("fine"), part("coarse"))
  name[name == ""] <- "low"
  windows <- size %/% 4L
  place <- paste0("[", rep(seq_len(windows[1]), each = windows[2]), ",", seq_len(windows[2]), "]")
  paste0(rep(name, each = length(place)), place)
}

# Computed by data-raw/features.R: mean and standard deviation of the square root of a feature on synthetic images: of
# the local mean, of fine and of coarse wavelets, of two of them with angles of 0, 22.5, 45, 67.5 and 90 degrees.
scattering_constants <- list(
  centre = c(0.3410, 0.1045, 0.1369, 0.0629, 0.0590, 0.0509, 0.0435, 0.0401),
  scale = c(0.3336, 0.0861, 0.0956, 0.0434, 0.0395, 0.0317, 0.0254, 0.0231)
)
