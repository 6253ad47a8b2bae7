/* The YAML files of api/crds and api/core, inside the program. Only api/ reads them. */
#ifndef API_EMBEDDED_H
#define API_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
	const char *name; /* without folder */
	size_t size;
	const char *text; /* NUL-terminated */
};

extern const struct embedded_file embedded_files[]; /* sorted by name */
extern const size_t embedded_files_count;

/* Aborts when there is none of that name: only a bad build can ask. */
const struct embedded_file *embedded_find(const char *name);

#endif
