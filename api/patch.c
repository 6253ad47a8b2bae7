/* Patches: their names, their limits, and the merge patch of RFC 7386. */
#include "api/patch.h"

#include <string.h>
#include <strings.h>

#include "api/patch_internal.h"
#include "base/json.h"
#include "base/mem.h"

static const struct {
	const char *media_type;
	enum patch_type type;
} media_types[] = {
	{"application/json-patch+json", PATCH_JSON},
	{"application/merge-patch+json", PATCH_MERGE},
	{"application/strategic-merge-patch+json", PATCH_STRATEGIC},
};

static int unsupported(const struct kind *k, struct error *err)
{
	return error_set(err, ERR_UNSUPPORTED_MEDIA,
			 "the body of the request was in an unknown format - accepted media types "
			 "include: application/json-patch+json, application/merge-patch+json%s",
			 k->core ? ", application/strategic-merge-patch+json" : "");
}

int patch_type_parse(const char *content_type, const struct kind *k, enum patch_type *ret,
		     struct error *err)
{
	size_t n = content_type ? strcspn(content_type, "; \t") : 0;

	for (size_t i = 0; i < ARRAY_LEN(media_types); i++) {
		const char *m = media_types[i].media_type;

		if (strlen(m) != n || strncasecmp(m, content_type, n) != 0)
			continue;
		if (media_types[i].type == PATCH_STRATEGIC && !k->core)
			break;
		*ret = media_types[i].type;
		return 0;
	}
	return unsupported(k, err);
}

int patch_spend(struct patch_work *w, size_t n)
{
	if (n > w->left)
		return error_set(w->err, ERR_TOO_LARGE, "the patch makes too much work");
	w->left -= n;
	return 0;
}

static int measure_members(struct patch_work *w, const json_t *value, size_t depth)
{
	const char *key;
	json_t *v;
	size_t i;

	json_array_foreach (value, i, v) {
		if (patch_measure(w, v, depth) < 0)
			return -1;
	}
	json_object_foreach ((json_t *)(uintptr_t)value, key, v) {
		if (patch_spend(w, strlen(key)) < 0 || patch_measure(w, v, depth) < 0)
			return -1;
	}
	return 0;
}

int patch_measure(struct patch_work *w, const json_t *value, size_t depth)
{
	bool nested = json_is_array(value) || json_is_object(value);

	if (nested && !depth)
		return error_set(w->err, ERR_BAD_REQUEST, "more than %d levels deep",
				 JSON_MAX_DEPTH);
	if (patch_spend(w, (nested ? 32 : 8) + json_string_length(value)) < 0)
		return -1;
	return nested ? measure_members(w, value, depth - 1) : 0;
}

static bool objects_equal(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *v;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach ((json_t *)(uintptr_t)a, key, v) {
		if (!patch_values_equal(v, json_object_get(b, key)))
			return false;
	}
	return true;
}

static bool arrays_equal(const json_t *a, const json_t *b)
{
	size_t i;
	json_t *v;

	if (json_array_size(a) != json_array_size(b))
		return false;
	json_array_foreach (a, i, v) {
		if (!patch_values_equal(v, json_array_get(b, i)))
			return false;
	}
	return true;
}

bool patch_values_equal(const json_t *a, const json_t *b)
{
	if (!a || !b)
		return a == b;
	if (json_is_object(a) && json_is_object(b))
		return objects_equal(a, b);
	if (json_is_array(a) && json_is_array(b))
		return arrays_equal(a, b);
	if (json_is_number(a) && json_is_number(b) && json_typeof(a) != json_typeof(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

static void merge_object(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
		if (json_is_null(value))
			json_object_del(target, key);
		else if (json_is_object(value))
			merge_object(json_object_need(target, key), value);
		else
			json_object_set_new_nocheck(target, key, json_deep_copy(value));
	}
}

static int apply(enum patch_type type, struct patch_work *w, json_t **doc, const json_t *patch)
{
	if (type == PATCH_JSON)
		return patch_apply_json(w, doc, patch);
	if (!json_is_object(patch))
		return error_set(w->err, ERR_BAD_REQUEST, "a merge patch must be an object");
	if (type == PATCH_STRATEGIC)
		return patch_apply_strategic(w, *doc, patch);
	merge_object(*doc, patch);
	return 0;
}

int patch_apply(enum patch_type type, const json_t *target, const json_t *patch, json_t **ret,
		struct error *err)
{
	struct patch_work inputs = {.left = SIZE_MAX, .err = err};
	struct patch_work w = {.left = PATCH_WORK, .err = err};
	auto_json *doc = NULL;

	if (patch_measure(&inputs, patch, JSON_MAX_DEPTH) < 0)
		return error_prefix(err, "patch");
	if (patch_measure(&inputs, target, JSON_MAX_DEPTH) < 0)
		return -1;
	doc = json_deep_copy(target);
	if (apply(type, &w, &doc, patch) < 0)
		return -1;
	if (!json_is_object(doc))
		return error_set(err, ERR_INVALID, "the patch leaves no object");
	*ret = take_ptr(doc);
	return 0;
}
