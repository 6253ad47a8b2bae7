#include "member-agent/volumes.h"

#include <string.h>

#include "base/json.h"
#include "member-agent/runner_internal.h"

static json_t *known_tree(const struct runner *r, enum member_kind kind, const char *ns,
			  const char *name)
{
	struct doc *doc = runner_known(r, kind, ns, name);

	return doc ? doc_tree(doc) : NULL;
}

/* Provisioned only once a pod that waits for it has a node: that is a scheduler's work. */
static bool waits_for_consumer(const struct runner *r, const json_t *claim)
{
	const char *class = json_str_at(claim, "spec", "storageClassName", NULL), *mode;
	auto_json *tree = class ? known_tree(r, KIND_STORAGE_CLASSES, NULL, class) : NULL;

	mode = json_str_at(tree, "volumeBindingMode", NULL);
	return mode && !strcmp(mode, "WaitForFirstConsumer");
}

static int check_claim(const struct runner *r, const char *ns, const char *name,
		       const char **ret_reason, struct error *err)
{
	auto_json *claim = known_tree(r, KIND_CLAIMS, ns, name);
	const char *phase = json_str_at(claim, "status", "phase", NULL);

	if (claim && phase && !strcmp(phase, "Bound"))
		return 0;
	*ret_reason = claim ? "VolumeUnbound" : "VolumeMissing";
	if (!claim)
		return error_set(err, ERR_INVALID,
				 "there is no persistent volume claim \"%s\" in namespace \"%s\"",
				 name, ns);
	if (waits_for_consumer(r, claim))
		return error_set(err, ERR_INVALID,
				 "persistent volume claim \"%s\" is not bound and waits for its "
				 "first consumer",
				 name);
	return error_set(err, ERR_INVALID, "persistent volume claim \"%s\" is not bound", name);
}

int volumes_check(const struct runner *r, const char *ns, const json_t *pod_spec,
		  const char **ret_reason, struct error *err)
{
	json_t *volume;
	size_t i;

	if (json_array_size(json_object_get(pod_spec, "resourceClaims"))) {
		*ret_reason = "ResourceClaims";
		return error_set(err, ERR_INVALID,
				 "resourceClaims are not allocated by this agent");
	}
	json_array_foreach (json_object_get(pod_spec, "volumes"), i, volume) {
		const char *claim = json_str_at(volume, "persistentVolumeClaim", "claimName", NULL);

		if (json_at(volume, "ephemeral", NULL)) {
			*ret_reason = "VolumeUnbound";
			return error_set(err, ERR_INVALID,
					 "ephemeral volumes are not bound by this agent");
		}
		if (claim && check_claim(r, ns, claim, ret_reason, err))
			return -1;
	}
	return 0;
}

/* --- nodes that a volume can be reached from --- */

static json_t *need_array(json_t *object, const char *key)
{
	json_t *a = json_object_get(object, key);

	if (!a) {
		a = json_array();
		json_object_set_new(object, key, a);
	}
	return a;
}

static json_t *merge_terms(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"matchExpressions", "matchFields"};
	json_t *out = json_object();

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);

		if (x)
			json_array_extend(need_array(out, keys[i]), (json_t *)(uintptr_t)x);
		if (y)
			json_array_extend(need_array(out, keys[i]), (json_t *)(uintptr_t)y);
	}
	return out;
}

/* Terms are alternatives: both lists must hold, so each pair is one. */
static void require_terms(json_t *pod_spec, const json_t *terms)
{
	json_t *affinity = json_object_need(pod_spec, "affinity");
	json_t *required = json_object_need(json_object_need(affinity, "nodeAffinity"),
					    "requiredDuringSchedulingIgnoredDuringExecution");
	json_t *old = json_object_get(required, "nodeSelectorTerms"), *both = json_array();
	json_t *a, *b;
	size_t i, k;

	json_array_foreach (terms, k, b) {
		if (!json_array_size(old))
			json_array_append_new(both, json_deep_copy(b));
		json_array_foreach (old, i, a)
			json_array_append_new(both, merge_terms(a, b));
	}
	json_object_set_new(required, "nodeSelectorTerms", both);
}

void volumes_bind_nodes(const struct runner *r, const char *ns, json_t *pod_spec)
{
	json_t *volume;
	size_t i;

	json_array_foreach (json_object_get(pod_spec, "volumes"), i, volume) {
		const char *name = json_str_at(volume, "persistentVolumeClaim", "claimName", NULL);
		auto_json *claim = name ? known_tree(r, KIND_CLAIMS, ns, name) : NULL;
		const char *bound = json_str_at(claim, "spec", "volumeName", NULL);
		auto_json *pv = bound ? known_tree(r, KIND_VOLUMES, NULL, bound) : NULL;
		const json_t *terms =
			json_at(pv, "spec", "nodeAffinity", "required", "nodeSelectorTerms", NULL);

		if (json_array_size(terms))
			require_terms(pod_spec, terms);
	}
}
