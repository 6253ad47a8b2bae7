/* How cells of `kubectl get` are made. Inside of api/columns*.c only. */
#ifndef API_CELLS_H
#define API_CELLS_H

#include "api/kinds.h"
#include "base/json.h"

/* A cell function that copies the value at a path, null when it is absent. */
#define CELL(fn, ...)                                                                              \
	static json_t *fn(const json_t *object, int64_t now_ns)                                    \
	{                                                                                          \
		(void)now_ns;                                                                      \
		return cell_copy(json_at(object, __VA_ARGS__, NULL));                              \
	}

json_t *cell_copy(const json_t *value);               /* scalars; others and NULL: null */
json_t *cell_string(const char *text);                /* NULL: null */
json_t *cell_seconds(int64_t s);                      /* "41m", as kubectl; s at least 0 */
json_t *cell_since(const char *time, int64_t now_ns); /* "41m"; NULL or malformed: "<unknown>" */
json_t *cell_age(const json_t *object, int64_t now_ns);
/* A field of the condition of this type; NULL when there is none. */
const json_t *cell_condition(const json_t *object, const char *type, const char *field);

#define COLUMN_AGE                                                                                 \
	{                                                                                          \
		"Age", "date", 0, cell_age                                                         \
	}

#endif
