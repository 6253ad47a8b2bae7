/* An object that a server sent, as one of each kind that is read by a view. */
#include <assert.h>

#include "api/views.h"
#include "base/json.h"
#include "kube/object.h"
#include "member-agent/podinfo.h"
#include "member-agent/twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* view, when it was refused, has said why; else it goes. */
#define VIEW(name, doc)                                                                            \
	do {                                                                                       \
		struct name *view = NULL;                                                          \
		struct error err = {0};                                                            \
		if (name##_view(doc, &view, &err))                                                 \
			assert(!view && *err.text);                                                \
		name##_destroy(view);                                                              \
	} while (0)

static void view_pod(const struct doc *doc)
{
	auto_free(pod_destroy) struct pod *pod = NULL;
	auto_free(podinfo_destroy) struct podinfo *info = NULL;
	struct slot slot;

	if (pod_view(doc, &pod, NULL))
		return;
	info = podinfo_create(pod);
	if (!info)
		return;
	slot = podinfo_slot(info, false);
	assert(slot.state != SLOT_ABSENT);
	podinfo_slot(info, true);
}

static void view_shapes(const struct doc *doc)
{
	auto_json *tree = doc_tree(doc);
	struct arena arena = {0};
	struct shape *shapes = NULL;
	size_t n = 0;

	if (tree && !shapes_parse(&arena, json_object_get(tree, "shapes"), &shapes, &n, NULL))
		assert(n <= json_array_size(json_object_get(tree, "shapes")));
	arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct sv object = {(const char *)bytes, n};
	auto_json *tree = json_parse_foreign(object.p, object.n, NULL);
	auto_free(doc_unref) struct doc *doc = tree ? object_doc(object, NULL) : NULL;

	if (!doc || !object_is_shallow(object))
		return 0;
	VIEW(job, doc);
	VIEW(queue, doc);
	VIEW(cluster, doc);
	VIEW(placement, doc);
	VIEW(dataset, doc);
	VIEW(node, doc);
	VIEW(pod, doc);
	VIEW(twin, doc);
	queue_is_open(doc);
	view_pod(doc);
	view_shapes(doc);
	return 0;
}
