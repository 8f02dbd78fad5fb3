/* Networks: their oracles, sizes and predictions. A network in R is list(input, bounds, type, outputs, size, stride,
 * padding, activation, classes), the six in the middle with an entry for each layer (R/model-network.R). */
#include "ffi.h"
#include "r_data.h"

#include <R.h>

static const char *const types[] = {
    [LAYER_DENSE] = "dense", [LAYER_CONVOLUTION] = "convolution", [LAYER_POOL] = "pool", NULL};
static const char *const activations[] = {
    [ACTIVATION_NONE] = "none", [ACTIVATION_TANH] = "tanh", [ACTIVATION_RELU] = "relu", NULL};

static const int *counts_of(SEXP list, const char *name, R_xlen_t length) {
  SEXP x = arg_element(list, name);
  if (TYPEOF(x) != INTSXP || XLENGTH(x) != length) Rf_error("internal: counts were expected");
  return INTEGER(x);
}

static int choice_of(SEXP list, const char *name, R_xlen_t i, const char *const *choices) {
  SEXP x = arg_element(list, name);
  if (TYPEOF(x) != STRSXP || XLENGTH(x) <= i) Rf_error("internal: names were expected");
  int choice = arg_choice(PROTECT(Rf_ScalarString(STRING_ELT(x, i))), choices);
  UNPROTECT(1);
  return choice;
}

void network_from(SEXP list, struct network **out) {
  const int *input = counts_of(list, "input", 3);
  const double *bounds = arg_doubles(arg_element(list, "bounds"), 2);
  R_xlen_t n = XLENGTH(arg_element(list, "type"));
  const int *outputs = counts_of(list, "outputs", n), *size = counts_of(list, "size", n);
  const int *stride = counts_of(list, "stride", n), *padding = counts_of(list, "padding", n);
  struct layer_spec *layer = (struct layer_spec *)R_alloc((size_t)n, sizeof *layer);
  for (R_xlen_t i = 0; i < n; i++) {
    layer[i] = (struct layer_spec){.type = (enum layer_type)choice_of(list, "type", i, types),
                                   .outputs = (size_t)outputs[i],
                                   .size = (size_t)size[i],
                                   .stride = (size_t)stride[i],
                                   .padding = (size_t)padding[i],
                                   .activation = (enum activation)choice_of(list, "activation", i, activations)};
  }
  const struct network_spec spec = {.input = {(size_t)input[2], (size_t)input[1], (size_t)input[0]},
                                    .lower = bounds[0],
                                    .upper = bounds[1],
                                    .layers = (size_t)n,
                                    .layer = layer};
  glue_check(network_create(&spec, (size_t)arg_int(arg_element(list, "classes")), out));
}

static void finalize_network(SEXP x) {
  network_free(R_ExternalPtrAddr(x));
  R_ClearExternalPtr(x);
}

/* For the duration of a call: the holder frees the network; the caller protects the holder. */
static SEXP network_held(SEXP list, struct network **out) {
  SEXP holder = PROTECT(glue_pointer("network", finalize_network));
  network_from(list, out);
  R_SetExternalPtrAddr(holder, *out);
  UNPROTECT(1);
  return holder;
}

/* x: n rows of the network's inputs. */
static const double *arg_inputs(SEXP network, SEXP x, int n) {
  const int *input = counts_of(network, "input", 3);
  return arg_doubles(x, (R_xlen_t)n * input[0] * input[1] * input[2]);
}

/* For each weight the number of inputs that a unit of its layer sums, 0 for a constant. */
SEXP ffi_network_fans(SEXP network) {
  struct network *net;
  SEXP holder = PROTECT(network_held(network, &net)),
       out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)network_dim(net)));
  network_fans(net, REAL(out));
  finalize_network(holder);
  UNPROTECT(2);
  return out;
}

/* The first weights of a network. */
SEXP ffi_network_start(SEXP network, SEXP seed) {
  struct network *net;
  uint32_t number = (uint32_t)arg_int(seed);
  SEXP holder = PROTECT(network_held(network, &net)),
       out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)network_dim(net)));
  network_start(net, number, REAL(out));
  finalize_network(holder);
  UNPROTECT(2);
  return out;
}

/* n records of x, a matrix or an array that the bundle keeps. */
static void network_fill(struct bundle *b, SEXP network, SEXP x, int n, SEXP radius, SEXP y, SEXP loss,
                         SEXP parameter) {
  const double *inputs = arg_inputs(network, x, n), *responses = arg_doubles(y, n);
  glue_limit_threads();
  network_from(network, &b->network);
  glue_check(loss_create(arg_string(loss), arg_double(parameter), &b->loss));
  glue_check(data_create(inputs, (size_t)n, (size_t)(XLENGTH(x) / n), 0, arg_double(radius), responses, &b->data));
  b->engine = engine_memory(b->data);
  b->model = model_network(b->data, b->loss, b->network);
}

/* x is kept by reference. */
SEXP ffi_network_oracle(SEXP network, SEXP x, SEXP n, SEXP radius, SEXP y, SEXP loss, SEXP parameter, SEXP ledger,
                        SEXP neighbours, SEXP reproducible) {
  struct ledger *budget = arg_ledger(ledger);
  SEXP keep = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(keep, 0, x);
  SET_VECTOR_ELT(keep, 1, ledger);
  MARK_NOT_MUTABLE(x);
  struct bundle *b;
  SEXP out = PROTECT(bundle_create("oracle", keep, &b));
  network_fill(b, network, x, arg_int(n), radius, y, loss, parameter);
  bundle_open(b, budget, neighbours, reproducible);
  UNPROTECT(2);
  return out;
}

/* Rows of a worker, as those of ffi_shard_create(). */
SEXP ffi_shard_create_network(SEXP network, SEXP x, SEXP radius, SEXP y, SEXP loss, SEXP parameter) {
  struct bundle *b;
  MARK_NOT_MUTABLE(x);
  SEXP out = PROTECT(bundle_create("shard", x, &b));
  network_fill(b, network, x, Rf_nrows(x), radius, y, loss, parameter);
  UNPROTECT(1);
  return out;
}

/* n x classes predictors, of finite inputs. */
SEXP ffi_network_predict(SEXP network, SEXP x, SEXP n, SEXP w) {
  int rows = arg_int(n), classes = arg_int(arg_element(network, "classes"));
  struct network *net;
  SEXP holder = PROTECT(network_held(network, &net)), out = PROTECT(Rf_allocMatrix(REALSXP, rows, classes));
  const double *inputs = arg_inputs(network, x, rows), *weights = arg_doubles(w, (R_xlen_t)network_dim(net));
  int status = network_predict(net, (size_t)rows, inputs, weights, REAL(out));
  finalize_network(holder);
  glue_check(status);
  UNPROTECT(2);
  return out;
}
