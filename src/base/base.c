/* Messages, host, allocation. See base.h. */
#include "base/base.h"

#include <stdlib.h>

static const struct {
  const char *name, *message;
} statuses[BASE_STATUS_COUNT] = {
    [BASE_OK] = {"ok", "no error"},
    [BASE_ERR_MEMORY] = {"memory", "memory could not be allocated"},
    [BASE_ERR_STOPPED] = {"interrupt", "stopped on request"},
    [BASE_ERR_ENTROPY] = {"entropy", "the source of randomness failed"},
    [BASE_ERR_ARGUMENT] = {"argument", "an argument is out of its range"},
    [BASE_ERR_BUDGET] = {"budget", "the privacy budget is exhausted"},
    [BASE_ERR_FORK] = {"fork", "a privacy budget cannot be used in a forked process"},
    [BASE_ERR_ACCOUNTANT] = {"accountant", "the mechanism does not fit the accountant of the privacy budget"},
    [BASE_ERR_NUMERIC] = {"numeric", "an eigenvalue computation did not converge"},
    [BASE_ERR_SOURCE] = {"source", "the source of the data failed"},
    [BASE_ERR_ROWS] = {"rows",
                       "a pass over the source of the data gave more, fewer or other records or persons than it is "
                       "known to have"},
    [BASE_ERR_RELATION] = {"relation", "the privacy budget was charged under another neighbour relation"},
    [BASE_ERR_STEP] = {"step", "a step on a batch is open, which is one release"},
    [BASE_ERR_RECORDS] = {"records", "fewer records are left than were asked for"},
    [BASE_ERR_FILE] = {"file", "no temporary file could be made for the rows"},
};

static struct base_host host;

static int is_known(int status) { return status >= 0 && status < BASE_STATUS_COUNT; }

const char *base_name(int status) { return is_known(status) ? statuses[status].name : "unknown"; }

const char *base_message(int status) { return is_known(status) ? statuses[status].message : "unknown error"; }

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
