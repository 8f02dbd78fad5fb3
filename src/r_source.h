/* Rows that an R function yields in chunks. */
#ifndef DPSOSP_R_SOURCE_H
#define DPSOSP_R_SOURCE_H

#include "glue.h"
#include "data/data.h"

struct r_source {
  SEXP call[3];          /* calls of the R function (R/source-stream.R), one for each task */
  SEXP held;             /* a list with one element: the chunk that the core reads */
  size_t dense, factors; /* columns of a chunk */
  int responses;         /* does a chunk have responses? */
  int weights, offsets;  /* or these? */
  int persons;           /* or numbers of the rows' persons? */
  struct data_feed feed;
};

/* Fills *source; the caller must protect the result, which keeps the objects alive that *source points into. */
SEXP source_init(struct r_source *source, SEXP function, size_t dense, size_t factors, int responses);

#endif
