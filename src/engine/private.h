/* Inside the engine room: a pass over rows, some of them at a time. */
#ifndef DPSOSP_ENGINE_PRIVATE_H
#define DPSOSP_ENGINE_PRIVATE_H

#include "engine/engine.h"

struct pass {
  const struct data *rows; /* all of them */
  const struct sum *sum;
  const struct task *task;
  size_t width;
  size_t stop_every;       /* blocks after which an interrupt is looked for: milliseconds apart */
  size_t groups;           /* at most; fewer when there are fewer blocks */
  size_t neighbours;       /* blocks dealt out at a time */
  const struct data *part; /* the rows that are in memory, from this block on */
  size_t first;
  int threads;
  double *sums; /* of the groups: the first is in the caller's answer, the others here */
  double *answer;
  double *work; /* one part for each thread */
};

int pass_open(struct pass *pass, const struct data *rows, const struct sum *sum, const struct task *task,
              double *answer);
/* Adds the rows of part, which are those from the block first on; the parts come in order. */
int pass_add(struct pass *pass, const struct data *part, size_t first);
/* Also after an error of any of these. */
int pass_close(struct pass *pass, int status);

#endif
