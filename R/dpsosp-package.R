#' @section Threads:
#' Sums over the data use the threads that OpenMP offers: as many as there are processors,
#' or `OMP_NUM_THREADS`, at most `OMP_THREAD_LIMIT`. `options(dpsosp.threads = 1)` sets another upper
#' limit, from the next release on. At most 64 are used, two under `R CMD check`, and one in a
#' process forked by `parallel::mclapply()` and similar functions. Releases with `noise = "reproducible"` do not depend
#' on the number of threads.
#' @keywords internal
#' @useDynLib dpsosp, .registration = TRUE
"_PACKAGE"

# ---- data ----

#' Forest cover in the Roosevelt National Forest
#'
#' 25,000 cells of 30 m by 30 m in northern Colorado, each either spruce/fir or lodgepole pine, with cartographic
#' features: a random sample without replacement of the 495,141 cells of these two classes in the Covertype data.
#' Rows are in random order.
#'
#' @format A data frame with 25,000 rows and 13 columns. The public range, known from the description of the full
#'   data and not from the rows here, is what to declare as bounds.
#'
#' | column | type | unit | public range |
#' | --- | --- | --- | --- |
#' | `elevation` | integer | m | 1850 to 3900 |
#' | `aspect` | integer | degrees azimuth | 0 to 360 |
#' | `slope` | integer | degrees | 0 to 66 |
#' | `horizontal_distance_to_hydrology` | integer | m | 0 to 1400 |
#' | `vertical_distance_to_hydrology` | integer | m | -180 to 610 |
#' | `horizontal_distance_to_roadways` | integer | m | 0 to 7200 |
#' | `hillshade_9am` | integer | index, summer solstice | 0 to 255 |
#' | `hillshade_noon` | integer | index, summer solstice | 0 to 255 |
#' | `hillshade_3pm` | integer | index, summer solstice | 0 to 255 |
#' | `horizontal_distance_to_fire_points` | integer | m | 0 to 7200 |
#' | `wilderness` | factor | wilderness area | 4 levels: Rawah, Neota, Comanche Peak, Cache la Poudre |
#' | `soil` | factor | soil type, by its number in the source | 40 levels: 1 to 40 |
#' | `cover` | factor | forest cover | 2 levels: lodgepole pine, spruce/fir |
#'
#'   A binary model describes the probability of the second level of `cover`, spruce/fir. All levels of the
#'   source are declared, including soil types that no row has: which ones occur is a property of the rows.
#'
#' @section Licence:
#' The data are not covered by the package's own licence. Copyright Jock A. Blackard and Colorado State University;
#' reuse is unlimited with retention of this copyright notice. The UCI repository distributes them under CC BY 4.0
#' (<https://creativecommons.org/licenses/by/4.0/>). Changed here: two of seven classes, a sample of their rows, and
#' indicator columns put together as factors.
#'
#' @source Blackard, J. A. (1998). Covertype. UCI Machine Learning Repository. \doi{10.24432/C50K5N}.
#' @references Blackard, J. A. and Dean, D. J. (1999). Comparative accuracies of artificial neural networks and
#'   discriminant analysis in predicting forest cover types from cartographic variables. *Computers and Electronics in
#'   Agriculture* 24(3), 131-151. \doi{10.1016/S0168-1699(99)00046-0}.
#' @examples
#' table(covertype$wilderness, covertype$cover)
"covertype"

# ---- when the package is loaded ----

# What happens when the package is loaded.

.onLoad <- function(libname, pkgname) {
  check_arithmetic(.Call(ffi_arithmetic_check))
  register_absent()
  when_loaded("parsnip", register_engines)
  when_loaded("marginaleffects", register_class)
}

# Calls register() now, or when the package is loaded later.
when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), function(...) register())
}
