#include "federator/capable.h"

#include <string.h>

#include "base/log.h"
#include "base/map.h"

struct capable_cluster {
	UT_hash_handle hh;
	char *key;
	struct doc *doc;
	uint64_t round; /* in which it was last met */
};

struct capable {
	const struct hub *hub;
	struct fleet *fleet;
	struct capable_cluster *clusters;
	char *prefix;    /* of the keys of clusters */
	int64_t version; /* of the cache when it was last looked through */
	uint64_t round;
};

struct capable *capable_create(const struct hub *hub)
{
	struct capable *c = xnew0(struct capable);
	struct strbuf prefix = {0};

	kind_key(hub_kind("clusters"), NULL, NULL, &prefix);
	c->hub = hub;
	c->fleet = fleet_create();
	c->prefix = strbuf_take(&prefix);
	return c;
}

static void cluster_free(struct capable *c, struct capable_cluster *x)
{
	HASH_DEL(c->clusters, x);
	doc_unref(x->doc);
	free(x->key);
	free(x);
}

void capable_destroy(struct capable *c)
{
	struct capable_cluster *x, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->clusters, x, next)
		cluster_free(c, x);
	fleet_destroy(c->fleet);
	free(c->prefix);
	free(c);
}

static struct capable_cluster *cluster_need(struct capable *c, const char *key)
{
	struct capable_cluster *x;

	HASH_FIND_STR(c->clusters, key, x);
	if (x)
		return x;
	x = xnew0(struct capable_cluster);
	x->key = xstrdup(key);
	HASH_ADD_KEYPTR(hh, c->clusters, x->key, strlen(x->key), x);
	return x;
}

static void tell_fleet(struct capable *c, const struct doc *doc)
{
	auto_free(cluster_destroy) struct cluster *view = NULL;
	struct error err;

	if (cluster_view(doc, &view, &err))
		log_error("capable", "%s: %s", doc->key, err.text);
	else
		fleet_cluster_set(c->fleet, view);
}

static bool meet(struct doc *doc, void *arg)
{
	struct capable *c = arg;
	struct capable_cluster *x = cluster_need(c, doc->key);

	x->round = c->round;
	if (x->doc == doc)
		return true;
	doc_unref(x->doc);
	x->doc = doc_ref(doc);
	tell_fleet(c, doc);
	return true;
}

static void forget_others(struct capable *c)
{
	struct capable_cluster *x, *next;

	HASH_ITER (hh, c->clusters, x, next) {
		if (x->round == c->round)
			continue;
		fleet_cluster_remove(c->fleet, x->key + strlen(c->prefix));
		cluster_free(c, x);
	}
}

struct fleet *capable_fleet(struct capable *c)
{
	int64_t version = cache_version(c->hub->cache);

	if (version == c->version)
		return c->fleet;
	c->version = version;
	c->round++;
	cache_each(c->hub->cache, c->prefix, NULL, meet, c);
	forget_others(c);
	return c->fleet;
}
