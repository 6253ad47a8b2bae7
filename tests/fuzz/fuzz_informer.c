/* Lists and lines of a watch, cut anywhere: what an informer tells is what it then knows. */
#include <assert.h>
#include <string.h>

#include "kube/informer.h"
#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct told {
	size_t n; /* of objects that are there by what was told */
	bool synced;
};

static void on_changed(struct doc *doc, struct doc *prev, void *arg)
{
	struct told *t = arg;

	assert(doc || prev);
	assert(!doc || !prev || !strcmp(doc->key, prev->key));
	assert(prev == NULL || t->n > 0);
	t->n += !prev;
	t->n -= !doc;
}

static void on_synced(void *arg)
{
	struct told *t = arg;

	assert(!t->synced);
	t->synced = true;
}

static void count(struct doc *doc, void *arg)
{
	--*(size_t *)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct wire *w = wire_create(bytes, n);
	struct kube *kube = wire_connect(w);
	struct told told = {0};
	struct informer *i = informer_create(kube, wire_env(w),
					     &(struct informer_config){.path = "/api/v1/pods",
								       .may_go_back = n % 2,
								       .absent_is_empty = n % 4 > 1,
								       .changed = on_changed,
								       .synced = on_synced,
								       .arg = &told});

	while (wire_step(w)) {
		size_t left = told.n;

		informer_each(i, count, &left);
		assert(!left && informer_is_synced(i) == told.synced);
	}
	informer_destroy(i);
	kube_destroy(kube);
	wire_destroy(w);
	return 0;
}
