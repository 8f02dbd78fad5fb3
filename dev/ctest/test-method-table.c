/* The table of methods: what its fields say of the structs. */
#include "ctest.h"
#include "method/method.h"

#include <string.h>

static size_t bytes_of(const struct field *field) {
  switch (field->type) {
  case FIELD_NUMBER:
    return sizeof(double);
  case FIELD_TEXT:
    return sizeof(const char *);
  default:
    return sizeof(int);
  }
}

/* Each byte belongs to one field at most, and none is missing: what is left between them is padding. */
static void check_fields(const struct field *fields, size_t size) {
  size_t end = 0;
  for (;;) {
    const struct field *next = NULL;
    for (const struct field *f = fields; f->name; f++) {
      CHECK((f->type == FIELD_CHOICE) == (f->choices != NULL));
      if (f->offset >= end && (!next || f->offset < next->offset)) next = f;
    }
    size_t start = next ? next->offset : size;
    CHECK(start >= end && start - end < sizeof(double));
    if (!next) break;
    end = start + bytes_of(next);
  }
  CHECK(end <= size);
  for (const struct field *f = fields; f->name; f++) {
    for (const struct field *g = fields; g < f; g++) {
      CHECK(strcmp(f->name, g->name) != 0);
      CHECK(f->offset + bytes_of(f) <= g->offset || g->offset + bytes_of(g) <= f->offset);
    }
  }
}

void test_method_table(void) {
  CHECK(methods_all[0] != NULL);
  for (const struct method *const *m = methods_all; *m; m++) {
    CHECK(method_named((*m)->name) == *m);
    check_fields((*m)->fields, (*m)->size);
  }
  CHECK(method_named("") == NULL && method_named("newt") == NULL);
  check_fields(result_fields, offsetof(struct opt_result, trace));
  check_fields(trace_fields, sizeof(struct trace_row));
}
