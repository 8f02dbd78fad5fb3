/* What an R oracle object points to. */
#ifndef DPSOSP_R_DATA_H
#define DPSOSP_R_DATA_H

#include "glue.h"
#include "engine/engine.h"
#include "model/network.h"
#include "r_remote.h"
#include "r_source.h"

struct bundle {
  struct loss *loss;
  struct data *data; /* in memory, or NULL */
  struct engine engine;
  struct model model;
  struct network *network;         /* or NULL */
  struct coordinates *coordinates; /* or NULL */
  struct oracle *oracle;
  SEXP keep;              /* what the two point into */
  struct r_source source; /* of data that come in chunks */
  struct r_remote remote; /* and of those whose sums are taken elsewhere */
};

struct bundle *arg_bundle(SEXP x);

/* An oracle's pointer, which holds kept; and the oracle of its engine's rows and model. */
SEXP bundle_create(SEXP kept, struct bundle **out);
void bundle_open(struct bundle *b, struct ledger *budget, SEXP neighbours, SEXP reproducible);

#endif
