/* Cells that several lists of columns of their own share (layout.h). NULL: nothing to say. */
#ifndef FEDCTL_COLUMNS_H
#define FEDCTL_COLUMNS_H

#include <jansson.h>

#include "base/mem.h"

const char *column_name(struct arena *a, const json_t *object, int64_t now_ns);
const char *column_number(struct arena *a, const json_t *value);
/* "cpu 12, memory 40Gi": cpu, memory and devices. */
const char *column_amounts(struct arena *a, const json_t *amounts);

#endif
