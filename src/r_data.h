/* What an R oracle object points to. */
#ifndef DPSOSP_R_DATA_H
#define DPSOSP_R_DATA_H

#include "glue.h"
#include "engine/engine.h"
#include "r_source.h"

struct bundle {
  struct loss *loss;
  struct data *data; /* in memory, or NULL */
  struct engine engine;
  struct model model;
  struct coordinates *coordinates; /* or NULL */
  struct oracle *oracle;
  SEXP keep; /* what the two point into */
  struct r_source source; /* of data that come in chunks */
};

struct bundle *arg_bundle(SEXP x);

#endif
