/*
 * Rows before there are any: an engine that knows their number, their columns and how they would be stored, and nothing
 * else. It holds no data, so no answer about it depends on a record, and it has no sums: whatever is asked of such an
 * oracle is refused before it is charged (release_check(), can_open() in fresh.c, strong_init()). Sensitivities, scales
 * of noise and default targets are those of engine_memory(), to the bit, because they follow from what is known here.
 */
#include "engine/engine.h"

/* One row of zeros has the storage's functions, which say how many additions a term takes part in. */
struct planned {
  struct data all;
  struct data *one;
  double *x;
  int *codes;
};

static int can(const struct engine *e, const struct sum *sum, const struct task *task) {
  (void)e;
  return sum->form != SUM_COUNTS && !(task->of && task->of->next);
}

static int move(const struct engine *e, const struct coordinates *coordinates) {
  const struct planned *p = e->own;
  return data_move(p->one, coordinates);
}

static void free_planned(struct engine *e) {
  struct planned *p = e->own;
  if (!p) return;
  data_free(p->one);
  base_free(p->x);
  base_free(p->codes);
  base_free(p);
  *e = (struct engine){0};
}

static const struct engine_kind planned = {.can = can, .sum = NULL, .move = move, .free = free_planned};

int engine_planned(const struct data_columns *columns, size_t n, int intercept, double radius, struct engine *out) {
  static const double y = 0;
  struct planned *p = base_alloc(1, sizeof *p);
  *out = (struct engine){.kind = &planned, .own = p};
  if (!p) return BASE_ERR_MEMORY;
  p->x = base_alloc(columns->dense, sizeof(double));
  p->codes = base_alloc(columns->factors, sizeof(int));
  struct data_columns zeros = *columns;
  zeros.x = p->x;
  zeros.codes = p->codes;
  int status = n > 0 ? BASE_OK : BASE_ERR_ARGUMENT;
  if (status == BASE_OK && !(p->x && p->codes)) status = BASE_ERR_MEMORY;
  if (status == BASE_OK) status = data_create_columns(&zeros, 1, intercept, radius, &y, &p->one);
  if (status != BASE_OK) {
    free_planned(out);
    return status;
  }
  p->all = *p->one;
  p->all.n = n;
  p->all.clip = p->all.y = NULL;
  p->all.broken = NULL;
  out->rows = &p->all;
  return BASE_OK;
}
