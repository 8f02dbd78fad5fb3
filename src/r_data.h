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
  SEXP keep;              /* objects that the members point into */
  struct r_source source; /* for data in chunks */
  struct r_remote remote; /* for sums that are computed elsewhere */
};

struct bundle *arg_bundle(SEXP x);

/* A pointer of this kind, which holds kept; and an oracle for the rows and model of its engine. */
SEXP bundle_create(const char *tag, SEXP kept, struct bundle **out);
/* The object that must be kept for these rows: compressed rows are copied. */
SEXP bundle_keeps(SEXP rows);
/* Loss, data in memory (R/design-rows.R), engine and model. */
void bundle_fill(struct bundle *b, SEXP rows, SEXP intercept, SEXP radius, SEXP y, SEXP loss, SEXP parameter);
/* list(weighted, scale, centre, constant, cap, bound), once. */
void bundle_coordinates(struct bundle *b, SEXP coordinates);
/* A path, or NULL. */
const char *arg_folder(SEXP x);
/* A number for each record in memory, or NULL. */
const double *bundle_records(const struct bundle *b, SEXP x);

/* list(code, n, most): a person's number for each of n rows, the number of persons, and that of a person's rows. */
struct persons {
  const int *code;
  size_t n, most;
};
struct persons arg_persons(SEXP persons, size_t rows);

void bundle_open(struct bundle *b, struct ledger *budget, SEXP neighbours, SEXP reproducible);

#endif
