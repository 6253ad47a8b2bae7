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
json_t *cell_since(const char *time, int64_t now_ns); /* "41m"; NULL or malformed: "<unknown>" */
json_t *cell_age(const json_t *object, int64_t now_ns);
json_t *cell_count(const json_t *container); /* members of an object or array; NULL: 0 */

#define COLUMN_AGE                                                                                 \
	{                                                                                          \
		"Age", "date", 0, cell_age                                                         \
	}

#endif
