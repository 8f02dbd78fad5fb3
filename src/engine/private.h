/* Inside the engine room: a pass over rows, part by part. */
#ifndef DPSOSP_ENGINE_PRIVATE_H
#define DPSOSP_ENGINE_PRIVATE_H

#include "engine/engine.h"

struct pass {
  const struct data *rows; /* all rows */
  const struct sum *sum;
  const struct task *task;
  size_t width;
  size_t stop_every;       /* number of blocks between two checks for an interrupt: milliseconds apart */
  size_t groups;           /* at most; fewer when there are fewer blocks */
  size_t neighbours;       /* blocks dealt out at a time */
  const struct data *part; /* the rows that are in memory, from this block on */
  size_t first;
  int threads;
  double *sums; /* of the groups: the first is in the caller's memory, the others here */
  double *answer;
  double *work; /* one part for each thread */
};

int pass_open(struct pass *pass, const struct data *rows, const struct sum *sum, const struct task *task,
              double *answer);
/* Adds the rows of part, which begin at block number first; the parts come in order. */
int pass_add(struct pass *pass, const struct data *part, size_t first);
/* To be called also after an error of these functions. */
int pass_close(struct pass *pass, int status);

#endif
