/* A network: its layers, and the clipped gradients of a block of rows. */
#include "base/simd.h"
#include "loss/exp.h"
#include "model/private.h"

#include <math.h>
#include <string.h>

/* Largest number of doubles of a tile, which should stay in the second-level cache. */
#define TILE_NUMBERS ((size_t)1 << 17)
#define MOST_LAYERS 64
#define MOST_WEIGHTS ((size_t)1 << 30)
/* Numbers are clipped to this absolute value. */
#define MOST 1e30

struct network {
  size_t layers;
  double lower, upper;
  size_t dim;
  size_t rows;    /* of a tile */
  size_t numbers; /* of a tile: one row of activations and one of slopes for each layer, and work */
  struct layer layer[];
};

/* Where the numbers of a tile are; entry i is before layer i. */
struct tape {
  double *a[MOST_LAYERS + 1], *slope[MOST_LAYERS + 1], *work;
};

static int open_layer(const struct layer_spec *spec, struct shape in, struct layer *l);
static void lay_out(struct network *net);

/* ---- layers ---- */

int network_create(const struct network_spec *spec, size_t outputs, struct network **out) {
  const struct layer_spec last = {.type = LAYER_DENSE, .outputs = outputs};
  *out = NULL;
  if (spec->layers >= MOST_LAYERS || !(spec->lower < spec->upper) || shape_size(spec->input) == 0) {
    return BASE_ERR_ARGUMENT;
  }
  struct network *net = base_alloc(1, sizeof *net + (spec->layers + 1) * sizeof net->layer[0]);
  if (!net) return BASE_ERR_MEMORY;
  net->layers = spec->layers + 1;
  net->lower = spec->lower;
  net->upper = spec->upper;
  struct shape in = spec->input;
  int status = BASE_OK;
  for (size_t k = 0; k < net->layers && status == BASE_OK; k++) {
    status = open_layer(k < spec->layers ? &spec->layer[k] : &last, in, &net->layer[k]);
    net->layer[k].first = net->dim;
    net->dim += net->layer[k].weights;
    in = net->layer[k].out;
    if (net->dim > MOST_WEIGHTS) status = BASE_ERR_ARGUMENT;
  }
  if (status == BASE_OK) {
    lay_out(net);
    *out = net;
  } else {
    base_free(net);
  }
  return status;
}

void network_free(struct network *network) { base_free(network); }

size_t network_dim(const struct network *network) { return network->dim; }

/* Number of pixels of the output; 0: the window does not fit. */
static size_t pixels_out(const struct layer_spec *spec, size_t in) {
  size_t across = in + 2 * spec->padding;
  if (spec->size == 0 || spec->stride == 0 || spec->padding >= spec->size || spec->size > across) return 0;
  return (across - spec->size) / spec->stride + 1;
}

static int open_layer(const struct layer_spec *spec, struct shape in, struct layer *l) {
  static const struct layer_kind *const kinds[] = {
      [LAYER_DENSE] = &layer_dense, [LAYER_CONVOLUTION] = &layer_convolution, [LAYER_POOL] = &layer_pool};
  int pool = spec->type == LAYER_POOL, windows = pool || spec->type == LAYER_CONVOLUTION;
  size_t sums = windows ? in.channels * spec->size * spec->size : shape_size(in);
  *l = (struct layer){.kind = kinds[spec->type],
                      .in = in,
                      .out = {pool ? in.channels : spec->outputs, windows ? pixels_out(spec, in.height) : 1,
                              windows ? pixels_out(spec, in.width) : 1},
                      .size = spec->size,
                      .stride = spec->stride,
                      .padding = spec->padding,
                      .activation = spec->activation};
  if (shape_size(l->out) == 0 || (pool && spec->padding > 0) || sums > MOST_WEIGHTS) return BASE_ERR_ARGUMENT;
  if (l->out.channels > MOST_WEIGHTS / (sums + 1) || shape_size(l->out) > MOST_WEIGHTS) return BASE_ERR_ARGUMENT;
  l->weights = pool ? 0 : (sums + 1) * l->out.channels;
  return BASE_OK;
}

void network_fans(const struct network *network, double *fan) {
  for (size_t k = 0; k < network->layers; k++) {
    const struct layer *l = &network->layer[k];
    size_t inputs = l->weights / l->out.channels;
    for (size_t j = 0; j < l->weights; j++) *fan++ = j / l->out.channels + 1 < inputs ? (double)(inputs - 1) : 0;
  }
}

/* ---- the numbers of a tile ---- */

/* Features before each layer: its inputs and the constant. */
static size_t features_at(const struct network *net, size_t k) {
  return (k < net->layers ? shape_size(net->layer[k].in) : shape_size(net->layer[k - 1].out)) + 1;
}

static size_t work_of(const struct network *net, size_t rows) {
  size_t most = 0;
  for (size_t k = 0; k < net->layers; k++) {
    size_t needed = net->layer[k].kind->work(&net->layer[k], rows);
    if (needed > most) most = needed;
  }
  return most;
}

static void lay_out(struct network *net) {
  size_t features = 0;
  for (size_t k = 0; k <= net->layers; k++) features += 2 * features_at(net, k);
  net->rows = TILE_NUMBERS / features / LA_LANES * LA_LANES;
  if (net->rows < LA_LANES) net->rows = LA_LANES;
  if (net->rows > NETWORK_MOST_ROWS) net->rows = NETWORK_MOST_ROWS;
  net->numbers = features * net->rows + work_of(net, net->rows);
}

static struct tape tape_of(const struct network *net, double *memory) {
  struct tape tape;
  for (size_t k = 0; k <= net->layers; k++) {
    size_t numbers = features_at(net, k) * net->rows;
    tape.a[k] = memory;
    tape.slope[k] = memory + numbers;
    memory += 2 * numbers;
  }
  tape.work = memory;
  return tape;
}

/* ---- forward ---- */

SIMD_INLINE double clamped(double x, double lower, double upper) { return x > lower ? (x < upper ? x : upper) : lower; }

/* A NaN is clipped, too. */
SIMD_CLONES static void load_column(size_t rows, const double *x, const double *scale, double lower, double upper,
                                    double *restrict a) {
  double centre = lower / 2 + upper / 2, unit = 1 / (upper - lower);
  for (size_t i = 0; i < rows; i++) a[i] = (clamped(x[i] * scale[i], lower, upper) - centre) * unit;
}

/* Rows of the tile that do not exist are filled with zeros. */
static void load(const struct network *net, size_t rows, const double *x, size_t ld, const double *scale, double *a) {
  size_t inputs = shape_size(net->layer[0].in);
  memset(a, 0, inputs * net->rows * sizeof *a);
  for (size_t j = 0; j < inputs; j++) {
    load_column(rows, x + j * ld, scale, net->lower, net->upper, a + j * net->rows);
  }
}

/* (1 - e^-2|z|) / (1 + e^-2|z|) */
SIMD_CLONES static void activate_tanh(size_t n, double *z) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double size = z[i] < 0 ? -z[i] : z[i], e = exp_minus(2 * size), value = (1 - e) / (1 + e);
    z[i] = z[i] < 0 ? -value : value;
  }
}

SIMD_CLONES static void activate_relu(size_t n, double *z) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) z[i] = z[i] > 0 ? z[i] : 0;
}

SIMD_CLONES static void clamp(size_t n, double *x) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) x[i] = clamped(x[i], -MOST, MOST);
}

static void forward(const struct network *net, const double *w, const struct tape *tape) {
  for (size_t k = 0; k < net->layers; k++) {
    const struct layer *l = &net->layer[k];
    double *constant = tape->a[k] + shape_size(l->in) * net->rows, *z = tape->a[k + 1];
    size_t numbers = shape_size(l->out) * net->rows;
    for (size_t i = 0; i < net->rows; i++) constant[i] = 1;
    l->kind->forward(l, net->rows, w + l->first, tape->a[k], tape->work, z);
    clamp(numbers, z);
    if (l->activation == ACTIVATION_TANH) activate_tanh(numbers, z);
    if (l->activation == ACTIVATION_RELU) activate_relu(numbers, z);
  }
}

/* ---- backward ---- */

SIMD_CLONES static void slopes_tanh(size_t n, const double *a, double *restrict slope) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) slope[i] *= 1 - a[i] * a[i];
}

SIMD_CLONES static void slopes_relu(size_t n, const double *a, double *restrict slope) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) slope[i] = a[i] > 0 ? slope[i] : 0;
}

/* From the slopes with respect to the outputs to those with respect to each layer's sums, and the squared norms of
 * gradients. */
static void backward(const struct network *net, const double *w, const struct tape *tape, double *square) {
  memset(square, 0, net->rows * sizeof *square);
  for (size_t k = net->layers; k-- > 0;) {
    const struct layer *l = &net->layer[k];
    const double *a = tape->a[k], *z = tape->a[k + 1];
    double *slope = tape->slope[k + 1];
    size_t numbers = shape_size(l->out) * net->rows;
    clamp(numbers, slope);
    if (l->activation == ACTIVATION_TANH) slopes_tanh(numbers, z, slope);
    if (l->activation == ACTIVATION_RELU) slopes_relu(numbers, z, slope);
    if (l->kind->norms) l->kind->norms(l, net->rows, a, slope, square);
    if (k > 0) l->kind->backward(l, net->rows, w + l->first, a, z, slope, tape->work, tape->slope[k]);
  }
}

/* ---- a block of rows ---- */

/* The tile of the block from row start on: the factors of the rows, which are their weights times their shares of a
 * person, zero for null records; and the responses. */
static void load_tile(const struct model *m, const struct data_block *b, size_t start, const struct tape *tape,
                      double *factor, double *y) {
  const struct network *net = m->network;
  size_t rows = b->rows - start < net->rows ? b->rows - start : net->rows;
  double scale[NETWORK_MOST_ROWS];
  for (size_t i = 0; i < net->rows; i++) {
    scale[i] = i < rows ? b->clip[start + i] * b->data->radius : 0;
    factor[i] = scale[i] > 0 ? data_weight(b, start + i) * data_share(b, start + i) : 0;
    y[i] = scale[i] > 0 ? b->y[start + i] : 0;
  }
  load(net, rows, b->x + start, b->ld, scale, tape->a[0]);
}

static void clipped(const struct model *m, const struct data_block *b, const double *w, double clip, double *memory,
                    double *g) {
  const struct network *net = m->network;
  const struct tape tape = tape_of(net, memory);
  double factor[NETWORK_MOST_ROWS], square[NETWORK_MOST_ROWS], y[NETWORK_MOST_ROWS];
  for (size_t start = 0; start < b->rows; start += net->rows) {
    load_tile(m, b, start, &tape, factor, y);
    forward(net, w, &tape);
    loss_eval(m->loss, net->rows, y, tape.a[net->layers], NULL, tape.slope[net->layers], NULL);
    backward(net, w, &tape, square);
    clip_factors(net->rows, net->dim, clip, square, factor);
    for (size_t k = 0; k < net->layers; k++) {
      const struct layer *l = &net->layer[k];
      if (l->kind->add) {
        l->kind->add(l, net->rows, tape.a[k], tape.slope[k + 1], factor, tape.work, g + l->first);
      }
    }
  }
}

/* Each number is computed by the same operations, wherever it is in memory. */
static void move(size_t n, const double *w, double step, const double *along, double *point) {
  for (size_t j = 0; j < n; j++) point[j] = w[j] + step * along[j];
}

static void losses(const struct model *m, const struct data_block *b, const double *w, const double *along, double step,
                   double *memory, double *value) {
  const struct network *net = m->network;
  const struct tape tape = tape_of(net, memory);
  double *point = memory + net->numbers;
  double factor[NETWORK_MOST_ROWS], y[NETWORK_MOST_ROWS], of_tile[NETWORK_MOST_ROWS];
  move(net->dim, w, step, along, point);
  for (size_t start = 0; start < b->rows; start += net->rows) {
    load_tile(m, b, start, &tape, factor, y);
    forward(net, point, &tape);
    loss_eval(m->loss, net->rows, y, tape.a[net->layers], of_tile, NULL, NULL);
    for (size_t i = 0; i < net->rows && start + i < b->rows; i++) value[start + i] = of_tile[i];
  }
}

static const struct model_kind kind = {.clipped = clipped, .losses = losses};

/* Only clipped quantities have a bound. */
static const struct loss_bounds none = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, -INFINITY};

struct model model_network(const struct data *rows, const struct loss *loss, const struct network *network) {
  return (struct model){.kind = &kind,
                        .own = none,
                        .loss = loss,
                        .network = network,
                        .outputs = loss_outputs(loss),
                        .columns = rows->p,
                        .dim = network->dim,
                        .tape = network->numbers + network->dim};
}

int network_predict(const struct network *net, size_t n, const double *x, const double *w, double *t) {
  size_t outputs = shape_size(net->layer[net->layers - 1].out);
  double *memory = base_alloc(net->numbers, sizeof *memory), one[NETWORK_MOST_ROWS];
  if (!memory) return BASE_ERR_MEMORY;
  const struct tape tape = tape_of(net, memory);
  for (size_t i = 0; i < net->rows; i++) one[i] = 1;
  for (size_t start = 0; start < n; start += net->rows) {
    size_t rows = n - start < net->rows ? n - start : net->rows;
    load(net, rows, x + start, n, one, tape.a[0]);
    forward(net, w, &tape);
    for (size_t k = 0; k < outputs; k++) {
      memcpy(t + start + k * n, tape.a[net->layers] + k * net->rows, rows * sizeof *t);
    }
  }
  base_free(memory);
  return BASE_OK;
}
