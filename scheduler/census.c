#include "scheduler/census.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scheduler/node_class.h"

struct census_value {
	char *value;
	size_t nodes;
	UT_hash_handle hh;
};

/* What places nodes and names hardware: few values, and jobs ask for them. */
static const char *const known_keys[] = {
	LABEL_ARCH,
	LABEL_ARCH_BETA,
	"kubernetes.io/os",
	"beta.kubernetes.io/os",
	"node.kubernetes.io/instance-type",
	"beta.kubernetes.io/instance-type",
	"topology.kubernetes.io/region",
	"topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone",
	"nvidia.com/gpu.product",
	"amd.com/gpu.product-name",
	"cloud.google.com/gke-accelerator",
};

static bool is_known(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(known_keys); i++)
		if (!strcmp(known_keys[i], key))
			return true;
	return false;
}

static struct census_key *need_key(struct census *c, const char *key)
{
	struct census_key *k;

	HASH_FIND_STR(c->keys, key, k);
	if (k)
		return k;
	k = xnew0(struct census_key);
	k->key = xstrdup(key);
	HASH_ADD_KEYPTR(hh, c->keys, k->key, strlen(k->key), k);
	return k;
}

static void count_value(struct census_key *k, const char *value, int times)
{
	struct census_value *v;

	HASH_FIND_STR(k->values, value, v);
	if (!v) {
		v = xnew0(struct census_value);
		v->value = xstrdup(value);
		HASH_ADD_KEYPTR(hh, k->values, v->value, strlen(v->value), v);
	}
	assert(times > 0 || v->nodes);
	v->nodes += (size_t)times;
	if (v->nodes)
		return;
	HASH_DEL(k->values, v);
	free(v->value);
	free(v);
}

void census_count(struct census *c, const struct label *labels, size_t n, int times)
{
	for (size_t i = 0; i < n; i++)
		count_value(need_key(c, labels[i].key), labels[i].value, times);
}

void census_refer(struct census *c, const char *key)
{
	struct census_key *k;

	HASH_FIND_STR(c->keys, key, k);
	if (k)
		k->referred = true;
}

static bool makes_classes(const struct census *c, const struct census_key *k)
{
	size_t values = HASH_COUNT(k->values);

	if (!strcmp(k->key, LABEL_HOSTNAME))
		return false;
	if (is_known(k->key))
		return true;
	if (k->referred)
		return values <= CENSUS_REFERRED_MAX;
	return !c->strict && values <= CENSUS_VALUES_MAX;
}

bool census_update(struct census *c)
{
	struct census_key *k, *next;
	bool changed = false;

	HASH_ITER (hh, c->keys, k, next) {
		bool shown = makes_classes(c, k);

		changed |= shown != k->shown;
		k->shown = shown;
	}
	return changed;
}

const char *census_value(const struct census *c, const struct label *l)
{
	struct census_key *k;

	HASH_FIND_STR(c->keys, l->key, k);
	return k && k->shown ? l->value : LABEL_BY_NODE;
}

void census_finish(struct census *c)
{
	struct census_key *k, *next;
	struct census_value *v, *next_value;

	HASH_ITER (hh, c->keys, k, next) {
		HASH_ITER (hh, k->values, v, next_value) {
			HASH_DEL(k->values, v);
			free(v->value);
			free(v);
		}
		HASH_DEL(c->keys, k);
		free(k->key);
		free(k);
	}
}
