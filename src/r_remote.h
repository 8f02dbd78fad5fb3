/* Sums that an R function gets from elsewhere. */
#ifndef DPSOSP_R_REMOTE_H
#define DPSOSP_R_REMOTE_H

#include "glue.h"
#include "engine/engine.h"

#define REMOTE_WORDS 32

struct r_remote {
  SEXP function;                       /* of R/sql-push.R or R/source-shards.R */
  const char *words[REMOTE_WORDS + 1]; /* of the sums that it can get; ends with NULL */
  const char *moved[REMOTE_WORDS + 1];   /* in other coordinates */
  const char *sampled[REMOTE_WORDS + 1]; /* over batches */
  struct remote remote;
};

/* push: list(ask, words, moved, sampled, shards). Fills *r; what is returned keeps alive what it points into, and is
 * the caller's to protect. */
SEXP remote_init(struct r_remote *r, SEXP push);
/* From its name in R. */
enum curvature curvature_from(SEXP name);

#endif
