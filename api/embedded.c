#include "api/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_name(const void *name, const void *file)
{
	return strcmp(name, ((const struct embedded_file *)file)->name);
}

const struct embedded_file *embedded_find(const char *name)
{
	const struct embedded_file *f = bsearch(name, embedded_files, embedded_files_count,
						sizeof(*embedded_files), compare_name);

	if (!f) {
		fprintf(stderr, "no embedded file %s\n", name);
		abort();
	}
	return f;
}
