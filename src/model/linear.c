/* Linear predictors. With z_i the clipped row of record i: t = Z w, and for weights v of the records Z'v, Z' diag(v) Z
 * and its trace; in these sums the weights are multiplied by the records' shares of their persons. */
#include "base/simd.h"
#include "model/model.h"

static void predict(const struct model *m, const struct data_block *b, const double *w, double *t);
static void pull(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *g);
static void curve(const struct model *m, const struct data_block *b, const double *weight, double *scaled,
                  double *again, double *four, size_t stride, double *h);
static void trace(const struct model *m, const struct data_block *b, const double *weight, double *square, double *sum);
static void clip_shifted(size_t n, const double *clip, double constant, double *restrict t);
static double clip_to(size_t n, const double *clip, const double *weight, double *restrict to);
static double share_to(const struct data_block *b, const double *weight, double *restrict to);
static double multiply_by(size_t n, const double *share, double *restrict to);
static void pull_scaled(const struct data_block *b, double total, const double *scaled, double *g);

static void predict_outputs(const struct model *m, const struct data_block *b, const double *w, double *t);
static void pull_outputs(const struct model *m, const struct data_block *b, const double *weight, double *scaled,
                         double *g);

static const struct model_kind linear = {.predict = predict, .pull = pull, .curve = curve, .trace = trace};
static const struct model_kind multi_output = {.predict = predict_outputs, .pull = pull_outputs, .curve = curve};

struct model model_linear(const struct data *rows, const struct loss *loss) {
  size_t outputs = loss_outputs(loss), side = rows->p + (size_t)rows->intercept;
  return (struct model){.kind = outputs > 1 ? &multi_output : &linear,
                        .loss = loss,
                        .outputs = outputs,
                        .columns = rows->p,
                        .side = side,
                        .dim = side * outputs};
}

static void predict(const struct model *m, const struct data_block *b, const double *w, double *t) {
  int intercept = b->data->intercept;
  (void)m;
  data_matvec(b, w + intercept, t);
  clip_shifted(b->rows, b->clip, intercept ? w[0] : 0, t);
}

static void pull(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *g) {
  (void)m;
  pull_scaled(b, share_to(b, weight, scaled), scaled, g);
}

static void pull_scaled(const struct data_block *b, double total, const double *scaled, double *g) {
  int intercept = b->data->intercept;
  if (intercept) g[0] += total;
  data_matvec_t_add(b, scaled, g + intercept);
}

static void curve(const struct model *m, const struct data_block *b, const double *weight, double *scaled,
                  double *again, double *four, size_t stride, double *h) {
  (void)m;
  size_t skip = (size_t)b->data->intercept;
  share_to(b, weight, scaled);
  if (skip) pull_scaled(b, clip_to(b->rows, b->clip, scaled, again), again, h);
  data_crossprod_add(b, scaled, b->clip, four, h + skip + skip * stride, stride);
}

static void predict_outputs(const struct model *m, const struct data_block *b, const double *w, double *t) {
  size_t skip = (size_t)b->data->intercept;
  data_multiply(b, m->outputs, w + skip, m->side, t);
  for (size_t k = 0; k < m->outputs; k++) clip_shifted(b->rows, b->clip, skip ? w[k * m->side] : 0, t + k * b->rows);
}

static void pull_outputs(const struct model *m, const struct data_block *b, const double *weight, double *scaled,
                         double *g) {
  size_t skip = (size_t)b->data->intercept;
  for (size_t k = 0; k < m->outputs; k++) {
    double total = share_to(b, weight + k * b->rows, scaled + k * b->rows);
    if (skip) g[k * m->side] += total;
  }
  data_multiply_t_add(b, m->outputs, scaled, g + skip, m->side);
}

/* Scaled twice, because the square of a clip may underflow, and that of a long row overflow. */
void model_squares(const struct data_block *b, double *square) {
  for (size_t i = 0; i < b->rows; i++) square[i] = b->data->intercept;
  data_squares_add(b, NULL, NULL, square);
  for (size_t i = 0; i < b->rows; i++) square[i] = b->clip[i] * (b->clip[i] * square[i]);
}

static void trace(const struct model *m, const struct data_block *b, const double *weight, double *square,
                  double *sum) {
  (void)m;
  model_squares(b, square);
  for (size_t i = 0; i < b->rows; i++) *sum += data_share(b, i) * (weight[i] * square[i]);
}

SIMD_CLONES static void clip_shifted(size_t n, const double *clip, double constant, double *restrict t) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) t[i] = clip[i] * (t[i] + constant);
}

/* The same with the records' shares of their persons. */
static double share_to(const struct data_block *b, const double *weight, double *restrict to) {
  double total = clip_to(b->rows, b->clip, weight, to);
  return b->share ? multiply_by(b->rows, b->share, to) : total;
}

SIMD_CLONES static double multiply_by(size_t n, const double *share, double *restrict to) {
  double total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) {
    to[i] *= share[i];
    total += to[i];
  }
  return total;
}

/* to <- clip * weight, and its sum */
SIMD_CLONES static double clip_to(size_t n, const double *clip, const double *weight, double *restrict to) {
  double total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) {
    to[i] = clip[i] * weight[i];
    total += to[i];
  }
  return total;
}
