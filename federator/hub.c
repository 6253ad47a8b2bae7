/* Helpers over the cache, and who leads. */
#include "federator/hub.h"

#include <assert.h>
#include <string.h>

#include "federator/controllers.h"

bool hub_leads(const struct hub *hub, struct store_guard *ret_guard)
{
	if (!hub->election || !election_is_leader(hub->election))
		return false;
	if (ret_guard)
		*ret_guard = election_guard(hub->election);
	return true;
}

/* Plurals are unique among what the hub serves, but for the events of two groups. */
const struct kind *hub_kind(const char *plural)
{
	for (size_t i = 0; i < kinds_count; i++)
		if (!strcmp(kinds[i]->plural, plural))
			return kinds[i];
	assert(!"a kind of the hub");
	return NULL;
}

struct doc *hub_get(const struct hub *hub, const struct kind *k, const char *ns, const char *name)
{
	auto_strbuf key = {0};

	if (!name || !*name || (k->namespaced && !ns))
		return NULL;
	kind_key(k, ns, name, &key);
	return cache_get(hub->cache, key.bytes);
}

json_t *hub_tree(const struct hub *hub, const struct kind *k, const char *ns, const char *name)
{
	struct doc *doc = hub_get(hub, k, ns, name);

	return doc ? doc_tree(doc) : NULL;
}
