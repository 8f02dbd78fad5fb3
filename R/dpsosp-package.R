#' @section Threads:
#' Sums over the data use the threads that OpenMP offers: as many as there are processors,
#' or `OMP_NUM_THREADS`, at most `OMP_THREAD_LIMIT`. `options(dpsosp.threads = 1)` sets another upper
#' limit, from the next release on. At most 64 are used, two under `R CMD check`, and one in a
#' process forked by `parallel::mclapply()` and similar functions. Releases with `noise = "reproducible"` do not depend
#' on the number of threads.
#' @section Time and memory:
#' A fit passes over the records a number of times that follows from public numbers. So its time is proportional to the
#' number n of records, and for d columns between d and \eqn{d^2}{d^2}. Processor seconds of whole fits of logistic
#' models, one thread of an Intel Xeon (`dev/bench/scaling.R` in the sources):
#'
#' | n | d | `"newton-ridge"` | `"newton"` | `"2opt-ls"` | `"gd"` |
#' | ---: | ---: | ---: | ---: | ---: | ---: |
#' | 25,000 | 20 | 0.10 | 0.16 | 0.07 | 0.14 |
#' | 50,000 | 20 | 0.17 | 0.29 | 0.12 | 0.39 |
#' | 100,000 | 20 | 0.37 | 0.50 | 0.22 | 1.5 |
#' | 200,000 | 20 | 0.80 | 0.88 | 0.43 | 3.2 |
#' | 50,000 | 10 | 0.16 | 0.15 | 0.08 | 0.27 |
#' | 50,000 | 40 | 0.35 | 0.39 | 0.17 | 0.67 |
#' | 50,000 | 80 | 0.69 | 0.81 | 0.30 | 1.1 |
#'
#' `"gd"` takes more steps where more records leave less noise. The records are copied once, 8 bytes for each value of a
#' numeric column and 4 for a factor, half with `storage = "single"`; a source ([dp_source()]) is read in chunks
#' instead.
#' @section What is new: The methods of Gao and Wright, Wang and Xu, Ganesh et al., Chen and Lee, and Liu and Talwar
#' have, as far as we know, no other implementation in R. `"newton-ridge"` and `"warm-ridge"` are this package's own.
#' Each help page of a method names its paper, and what differs from it.
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

# ---- rOpenSci's standards for statistical software (dev/srr.R) ----

#' About the package as a whole. Other tags are at the code and the tests that they are about.
#'
#' @srrstats {G1.0} DESCRIPTION and the help page of each method (control_opt() and others) name its paper.
#' @srrstats {G1.1} The package's help page, "What is new"; the table of methods in README.
#' @srrstats {G1.2} CONTRIBUTING.md, "Life cycle".
#' @srrstats {G1.3} vignette("ten-minutes") explains the terms of differential privacy, "Conventions" of
#'   vignette("proofs") defines them, the help page of dp_sosp() the status, the target and the certificate.
#' @srrstats {G1.4} All exported functions have roxygen blocks; `make docs` makes man/ and NAMESPACE.
#' @srrstatsNA {G1.4a} Internal functions have plain comments, where their name does not say what they do. Blocks that
#'   make no help page would be thousands of lines that nobody checks.
#' @srrstats {G1.5} inst/experiments/ has the script and the results of each study that a vignette or README shows.
#' @srrstats {G1.6} inst/experiments/peers.R, squared.R and dev/bench/ compare with other packages.
#' @srrstats {G2.0a, G2.1a} Help pages give type, length and range of each argument.
#' @srrstats {G2.3b} The help page of dp_sosp() says that names of methods, losses and options are case-sensitive; the
#'   error suggests the one that was probably meant.
#' @srrstats {G3.0} Numbers are compared for equality only with constants that they have exactly, such as 0, 1 or an end
#'   of a range, or where two computations must agree in every bit.
#' @srrstatsNA {G3.1, G3.1a} Covariances are of noisy sums, whose sensitivity must be proven: no other function can take
#'   their place. `inference` has two of them, "sandwich" and "model".
#' @srrstats {G4.0} Only dp_report() and stores of budgets write files, to the path as it is given, after they have
#'   checked it; dp_report() asks for a suffix, which decides between HTML and Markdown.
#' @srrstats {G5.0} Tests fit covertype, a data set of the UCI repository, and iris.
#' @srrstats {G5.1} `covertype` and saddle_problem() are exported; tests simulate all others with a fixed seed.
#' @srrstats {G5.2, G5.2b} Tests expect conditions by class and text; dev/coverage.md counts the lines that they reach.
#' @srrstatsNA {G5.2a} One fact has one message, whichever function finds it, with the call as its context: the checks
#'   of arguments are shared.
#' @srrstats {G5.3} tests/testthat/test-extremes.R and dev/fuzz/: results are finite, or NA with the reason.
#' @srrstats {G5.4, G5.4a, G5.4b} With a large eps fits agree with glm(), nnet::multinom() and nloptr (test-fit.R,
#'   test-weights.R, test-trust-region.R), the core's sums with plain R (test-oracle.R), accountants with closed forms.
#' @srrstats {G5.4c} dev/ctest/ and test-account.R have values of published tables; the articles repeat experiments.
#' @srrstats {G5.5} Tests set a seed and take noise = "reproducible".
#' @srrstats {G5.10} Tests in full run with DPSOSP_LONG=1 (tests/testthat/helper-long.R).
#' @srrstats {G5.11, G5.11a} Data larger than the package are in the folder that DPSOSP_SHARED names; where it is
#'   absent, tests that need it are skipped, with a message. data-raw/ says where the data come from.
#' @srrstats {G5.12} CONTRIBUTING.md, "Test", says what each level needs and how long it takes.
#' @srrstats {RE3.0} A fit whose certificate does not meet the target has a status, which print() explains, and warns
#'   where the budget cannot certify anything.
#' @srrstats {RE3.1} Warnings have classes, and `status`, `certificate` and `trace` of the fit say the same.
#' @srrstats {RE3.2, RE3.3} The argument `target` is sosp(); without it the noise decides which target can be certified.
#' @srrstats {RE4.0} Classes dp_sosp and dp_network.
#' @srrstats {RE4.1} dp_plan() says what a fit would give, from public numbers and without data.
#' @srrstats {RE4.2, RE4.3, RE4.4, RE4.5, RE4.6} coef(), confint(), formula(), nobs(), vcov(), the second and the last
#'   for fits that have paid for intervals.
#' @srrstats {RE4.7} `certificate`, `status` and `trace` of the fit.
#' @srrstatsNA {RE4.8} The fit keeps no response, which is private, but its name, kind and levels.
#' @srrstatsNA {RE4.9} fitted() would be a function of the records: it raises an error that says to use predict() on
#'   data that one has.
#' @srrstatsNA {RE4.10} residuals() would be a function of the records, without noise; sigma() is their released scale.
#' @srrstats {RE4.11} dp_evaluate() releases scores on held-out records; `decrease` of the fit bounds the gain.
#' @srrstats {RE4.12} `design` and `geometry` of the fit have the public transformations; coefficients are on the
#'   original scale.
#' @srrstatsNA {RE4.13} The fit keeps no predictors, which are private, but their names, kinds, levels and ranges.
#' @srrstats {RE4.16} predict() gives NA for levels that were not declared, with a warning: no other level has an
#'   effect.
#' @srrstats {RE4.17, RE4.18} print.dp_sosp() and summary.dp_sosp().
#' @srrstats {RE5.0} The package's help page, "Time and memory"; dev/bench/scaling.R
#'   and growth.R.
#' @srrstats {RE6.0} plot.dp_sosp() and autoplot.dp_sosp().
#' @srrstatsNA {RE6.1} The default plot method is plot.dp_sosp(), an S3 method.
#' @srrstatsNA {RE6.2} Fitted values are private; plot() shows what was released.
#' @srrstatsNA {RE6.3} Predictions do not extrapolate: values beyond a column's range are moved to its end.
#' @noRd
NULL

# ---- when the package is loaded ----

# What happens when the package is loaded.

.onLoad <- function(libname, pkgname) {
  check_arithmetic(.Call(ffi_arithmetic_check))
  methods()
  register_absent()
  when_loaded("parsnip", register_engines)
  when_loaded("marginaleffects", register_class)
}

# Calls register() now, or when the package is loaded later.
when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), function(...) register())
}
