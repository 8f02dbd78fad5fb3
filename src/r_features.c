/* Public features of images: from R arrays to a matrix. */
#include "ffi.h"
#include "glue.h"
#include "features/features.h"

static int is_side(size_t side) { return side >= FEATURES_LEAST_SIDE && side <= FEATURES_MOST_SIDE; }

/* x: doubles or integers, images down its first dimension, then pixels, by rows or by columns; map: a list of centre,
 * scale and norm. */
SEXP ffi_scattering(SEXP x, SEXP size, SEXP by_rows, SEXP bounds, SEXP order, SEXP map) {
  static const char *const orders[] = {"first", "mid", "full", NULL};
  if (TYPEOF(size) != INTSXP || XLENGTH(size) != 3) Rf_error("internal: three sizes were expected");
  const size_t n = (size_t)INTEGER(size)[0], height = (size_t)INTEGER(size)[1], width = (size_t)INTEGER(size)[2];
  if ((TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP) || (size_t)XLENGTH(x) != n * height * width) {
    Rf_error("internal: images were expected");
  }
  if (!is_side(height) || !is_side(width)) Rf_error("internal: sides of images were expected");
  const int rows = arg_flag(by_rows), real = TYPEOF(x) == REALSXP;
  const double *ends = arg_doubles(bounds, 2);
  const struct features_images images = {
      .numbers = real ? REAL(x) : NULL,
      .integers = real ? NULL : INTEGER(x),
      .missing = NA_INTEGER,
      .n = n,
      .height = height,
      .width = width,
      .down = rows ? width : 1,
      .right = rows ? 1 : height,
      .lower = ends[0],
      .upper = ends[1],
  };
  const struct features_map to = {.centre = arg_doubles(arg_element(map, "centre"), FEATURES_KINDS),
                                  .scale = arg_doubles(arg_element(map, "scale"), FEATURES_KINDS),
                                  .norm = arg_double(arg_element(map, "norm"))};
  const enum features_order which = (enum features_order)arg_choice(order, orders);
  const size_t columns = features_channels(which) * features_windows(height) * features_windows(width);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)columns));
  glue_limit_threads();
  glue_host_begin(R_NilValue);
  const int status = features_scattering(&images, which, &to, REAL(out));
  glue_host_end();
  glue_check(status);
  UNPROTECT(1);
  return out;
}
