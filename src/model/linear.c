/* Linear predictors. With z_i the clipped row of record i: t = Z w, and for weights v of the records Z'v, Z' diag(v) Z
 * and its trace. */
#include "base/simd.h"
#include "model/model.h"

static void predict(const struct model *m, const struct data_block *b, const double *w, double *t);
static void pull(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *g);
static void curve(const struct model *m, const struct data_block *b, const double *weight, double *scaled,
                  double *again, double *four, double *h);
static void trace(const struct model *m, const struct data_block *b, const double *weight, double *square, double *sum);
static void clip_shifted(size_t n, const double *clip, double constant, double *restrict t);
static double clip_to(size_t n, const double *clip, const double *weight, double *restrict to);

static const struct model_kind linear = {predict, pull, curve, trace};

struct model model_linear(const struct data *rows, const struct loss *loss) {
  return (struct model){
      .kind = &linear, .loss = loss, .outputs = 1, .columns = rows->p, .dim = rows->p + (size_t)rows->intercept};
}

static void predict(const struct model *m, const struct data_block *b, const double *w, double *t) {
  int intercept = b->data->intercept;
  (void)m;
  data_matvec(b, w + intercept, t);
  clip_shifted(b->rows, b->clip, intercept ? w[0] : 0, t);
}

static void pull(const struct model *m, const struct data_block *b, const double *weight, double *scaled, double *g) {
  int intercept = b->data->intercept;
  (void)m;
  double total = clip_to(b->rows, b->clip, weight, scaled);
  if (intercept) g[0] += total;
  data_matvec_t_add(b, scaled, g + intercept);
}

static void curve(const struct model *m, const struct data_block *b, const double *weight, double *scaled,
                  double *again, double *four, double *h) {
  size_t skip = (size_t)b->data->intercept;
  clip_to(b->rows, b->clip, weight, scaled);
  if (skip) pull(m, b, scaled, again, h);
  data_crossprod_add(b, scaled, b->clip, four, h + skip + skip * m->dim, m->dim);
}

/* Scaled twice: the square of a clip may underflow, and that of a long row overflow. */
static void trace(const struct model *m, const struct data_block *b, const double *weight, double *square,
                  double *sum) {
  (void)m;
  for (size_t i = 0; i < b->rows; i++) square[i] = b->data->intercept;
  data_squares_add(b, NULL, NULL, square);
  for (size_t i = 0; i < b->rows; i++) *sum += weight[i] * (b->clip[i] * (b->clip[i] * square[i]));
}

SIMD_CLONES static void clip_shifted(size_t n, const double *clip, double constant, double *restrict t) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) t[i] = clip[i] * (t[i] + constant);
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
