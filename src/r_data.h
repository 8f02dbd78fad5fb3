/* What an R oracle object points to. */
#ifndef DPSOSP_R_DATA_H
#define DPSOSP_R_DATA_H

#include "glue.h"
#include "data/data.h"

struct bundle {
  struct data *data;
  struct oracle *oracle;
  SEXP keep; /* what the two point into */
};

struct bundle *arg_bundle(SEXP x);

#endif
