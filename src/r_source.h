/* Rows that an R function yields in chunks. */
#ifndef DPSOSP_R_SOURCE_H
#define DPSOSP_R_SOURCE_H

#include "glue.h"
#include "data/data.h"

struct r_source {
  SEXP call[3];          /* of the R function (R/stream.R), with what it is to do */
  SEXP held;             /* a list of one: the chunk that the core reads */
  size_t dense, factors; /* columns of a chunk */
  int responses;         /* does it have them? */
  int weights, offsets;  /* and these? */
  struct data_feed feed;
};

/* Fills *source; what is returned keeps alive what it points into, and is the caller's to protect. */
SEXP source_init(struct r_source *source, SEXP function, size_t dense, size_t factors, int responses);

#endif
