/* The table itself, and how a row is found. */
#include <string.h>

#include "api/kinds.h"
#include "base/mem.h"

const struct kind *const kinds[] = {
	&kind_configmap, &kind_event,    &kind_namespace,     &kind_node,
	&kind_pod,       &kind_secret,   &kind_service,       &kind_csr,
	&kind_lease,     &kind_event_v1, &kind_priorityclass, &kind_job,
	&kind_queue,     &kind_cluster,  &kind_dataset,       &kind_placement,
};
_Static_assert(ARRAY_LEN(kinds) <= KINDS_MAX, "KINDS_MAX is too small");
const size_t kinds_count = ARRAY_LEN(kinds);

const struct kind *kind_find(const char *group, const char *plural)
{
	for (size_t i = 0; i < kinds_count; i++)
		if (!strcmp(kinds[i]->plural, plural) && !strcmp(kinds[i]->group, group))
			return kinds[i];
	return NULL;
}

static bool api_version_is(const struct kind *k, const char *api_version)
{
	size_t n = strlen(k->group);

	if (!n)
		return !strcmp(k->version, api_version);
	return !strncmp(k->group, api_version, n) && api_version[n] == '/' &&
	       !strcmp(k->version, api_version + n + 1);
}

const struct kind *kind_find_by_name(const char *api_version, const char *name)
{
	for (size_t i = 0; i < kinds_count; i++)
		if (!strcmp(kinds[i]->name, name) && api_version_is(kinds[i], api_version))
			return kinds[i];
	return NULL;
}

static bool name_is(const char *name, const char *word, size_t n)
{
	return strlen(name) == n && !strncmp(name, word, n);
}

static bool typed_name_is(const struct kind *k, const char *word, size_t n)
{
	if (name_is(k->plural, word, n) || name_is(k->singular, word, n))
		return true;
	for (const char *const *s = k->short_names; s && *s; s++)
		if (name_is(*s, word, n))
			return true;
	return false;
}

const struct kind *kind_find_typed(const char *word)
{
	size_t n = strcspn(word, ".");
	const char *group = word[n] ? word + n + 1 : NULL;

	for (size_t i = 0; i < kinds_count; i++)
		if (typed_name_is(kinds[i], word, n) && (!group || !strcmp(kinds[i]->group, group)))
			return kinds[i];
	return NULL;
}
