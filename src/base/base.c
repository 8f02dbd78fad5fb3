/* Messages, host, allocation. See base.h. */
#include "base/base.h"

#include <stdlib.h>

static const char *const messages[BASE_STATUS_COUNT] = {
  [BASE_OK] = "no error",
  [BASE_ERR_MEMORY] = "memory could not be allocated",
  [BASE_ERR_STOPPED] = "stopped on request",
  [BASE_ERR_ENTROPY] = "the source of randomness failed",
  [BASE_ERR_ARGUMENT] = "an argument is out of its range",
  [BASE_ERR_BUDGET] = "the privacy budget is exhausted",
  [BASE_ERR_FORK] = "a privacy budget cannot be used in a forked process",
  [BASE_ERR_ACCOUNTANT] = "the mechanism does not fit the accountant of the privacy budget",
  [BASE_ERR_NUMERIC] = "an eigenvalue computation did not converge",
  [BASE_ERR_SOURCE] = "the source of the data failed",
  [BASE_ERR_ROWS] = "a pass over the source of the data gave more or fewer rows than n",
  [BASE_ERR_RELATION] = "the privacy budget was charged under another neighbour relation",
  [BASE_ERR_STEP] = "a step on a batch is open, which is one release",
};

static struct base_host host;

const char *base_message(int status) {
  if (status < 0 || status >= BASE_STATUS_COUNT) return "unknown error";
  return messages[status];
}

void base_set_host(const struct base_host *h) {
  static const struct base_host none;
  host = h ? *h : none;
}

int base_stop_requested(void) { return host.stop_requested ? host.stop_requested() : 0; }

void base_progress(int done, int total) {
  if (host.progress) host.progress(done, total);
}

void *base_alloc(size_t count, size_t size) {
  if (count == 0) count = 1;
  return calloc(count, size); /* calloc checks the product */
}

void base_free(void *p) { free(p); }
