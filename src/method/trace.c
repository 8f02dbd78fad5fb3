/* The trace: one row for each release. */
#include "method/private.h"

#include <math.h>
#include <string.h>

int trace_add(struct trace *trace, const struct trace_row *row) {
  if (trace->length == trace->room) {
    size_t room = trace->room ? 2 * trace->room : 64;
    struct trace_row *rows = base_alloc(room, sizeof *rows);
    if (!rows) return BASE_ERR_MEMORY;
    if (trace->length) memcpy(rows, trace->rows, trace->length * sizeof *rows);
    base_free(trace->rows);
    trace->rows = rows;
    trace->room = room;
  }
  trace->rows[trace->length++] = *row;
  return BASE_OK;
}

int trace_note(struct trace *trace, const char *query, double estimate, double sd, double rho) {
  const struct trace_row row = {1, (int)trace->length, query, estimate, NAN, sd, rho, 0};
  return trace_add(trace, &row);
}

struct trace_row *trace_last(struct trace *trace) {
  return &trace->rows[trace->length - 1];
}
