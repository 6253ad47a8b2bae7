/*
 * Reasons of several clusters in one line.
 */
#include <string.h>

#include "scheduler/explain_internal.h"

#define NAMES_MAX   5 /* of clusters with the same reason */
#define REASONS_MAX 4

static bool said_before(const struct reason *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(r[k].text, r[i].text))
			return true;
	return false;
}

/* All clusters that have the reason of the i-th. */
static void write_names(const struct reason *r, size_t n, size_t i, struct strbuf *out)
{
	size_t named = 0;

	for (size_t k = i; k < n; k++) {
		if (strcmp(r[k].text, r[i].text) != 0)
			continue;
		if (named < NAMES_MAX)
			strbuf_addf(out, "%s%s", named ? ", " : "", r[k].cluster);
		named++;
	}
	if (named > NAMES_MAX)
		strbuf_addf(out, " and %zu more", named - NAMES_MAX);
}

void reasons_write(const struct reason *r, size_t n, struct strbuf *out)
{
	size_t said = 0;

	for (size_t i = 0; i < n; i++) {
		if (said_before(r, i))
			continue;
		if (said == REASONS_MAX) {
			strbuf_adds(out, "; and other reasons");
			return;
		}
		if (said++)
			strbuf_adds(out, "; ");
		write_names(r, n, i, out);
		strbuf_addf(out, ": %s", r[i].text);
	}
}
