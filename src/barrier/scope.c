/* The rows of a release: all rows, or those of a batch, with the remaining budget of its step. */
#include "barrier/private.h"
#include "la/la.h"

struct task scope_task(const struct scope *s, const struct ask *a) {
  return (struct task){&s->oracle->model, a, s->of};
}

size_t scope_width_one(const struct task *task) {
  (void)task;
  return 1;
}

size_t scope_width_dim(const struct task *task) { return task->model->dim; }

double scope_divisor(const struct scope *s) {
  return s->of ? s->of->size : (double)data_persons(s->oracle->engine.rows);
}

int scope_can(const struct scope *s, const struct sum *sum, const struct task *task) {
  const struct engine *e = &s->oracle->engine;
  return e->kind->sum && e->kind->can(e, sum, task);
}

/* Maps points to the coordinates of the rows, and sums back, unless the engine knows the coordinates. */
int scope_mean(const struct scope *s, const struct sum *sum, const struct ask *a, double *answer) {
  const struct model *m = &s->oracle->model;
  const struct engine *e = &s->oracle->engine;
  struct ask of_rows = *a;
  const struct task task = scope_task(s, &of_rows);
  int inside = e->kind->inside && e->kind->inside(e, sum, &task);
  if (!inside) {
    of_rows.at = model_point(m, 0, a->at);
    of_rows.along = model_point(m, 1, a->along);
  }
  size_t width = sum->width(&task);
  int status = e->kind->sum(e, sum, &task, answer);
  if (sum->form != SUM_COUNTS) la_scale(width, 1 / scope_divisor(s), answer);
  if (inside) return status;
  if (sum->form == SUM_GRADIENT) model_gradient(m, answer + (width - m->dim));
  if (sum->form == SUM_BOTH) model_gradient(m, answer);
  if (sum_has_matrix(sum->form)) {
    size_t side = sum_side(sum->form, width, m);
    model_matrix(m, side, answer + (width - side * side));
  }
  return status;
}

/* Far below overflow, so that every exact sum is finite for all data
 * and no later error depends on them. */
int check_point(const struct oracle *o, const double *w) {
  return la_norm(o->model.dim, w) <= 1e100 ? BASE_OK : BASE_ERR_ARGUMENT;
}

/* Far above the level where the square of a short row would underflow. */
int check_clip(const struct scope *s, const struct ask *a) {
  (void)s;
  return a->clip >= 1e-50 && a->clip <= 1e50 ? BASE_OK : BASE_ERR_ARGUMENT;
}

int scope_pay(struct scope *s, const struct query *q, double rho) {
  if (!s->exact && q->part == PART_NONE) return BASE_ERR_ARGUMENT;
  double *left = s->exact ? &s->whole : &s->left[q->part];
  if (!(rho > 0) || !(rho <= *left)) return BASE_ERR_ARGUMENT;
  *left -= rho;
  return BASE_OK;
}
