/* metadata as the server keeps it: what a body may say of it, and what it may not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/meta.h"
#include "server/write.h"

const char *meta_str(const json_t *object, const char *field)
{
	const char *s = json_str_at(object, "metadata", field, NULL);

	return s && *s ? s : NULL;
}

/* apiVersion or kind: filled in when absent, as the path says it already. */
static int check_type(json_t *object, const char *field, const char *want, const char *what,
		      struct error *err)
{
	const json_t *got = json_object_get(object, field);

	if (!got) {
		json_set_str(object, field, want);
		return 0;
	}
	if (json_is_string(got) && !strcmp(json_string_value(got), want))
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "the %s in the data (%.100s) does not match the expected %s (%s)", what,
			 json_is_string(got) ? json_string_value(got) : "no text", what, want);
}

static int check_namespace(const struct write *w, json_t *metadata, struct error *err)
{
	const char *ns = json_string_value(json_object_get(metadata, "namespace"));

	if (!w->pub.ns) { /* it means nothing to what is cluster-wide */
		json_object_del(metadata, "namespace");
		return 0;
	}
	if (ns && *ns && strcmp(ns, w->pub.ns) != 0)
		return error_set(
			err, ERR_BAD_REQUEST,
			"the namespace of the provided object does not match the namespace "
			"sent on the request");
	json_set_str(metadata, "namespace", w->pub.ns);
	return 0;
}

static int check_name(const struct write *w, const json_t *metadata, struct error *err)
{
	const char *name = json_string_value(json_object_get(metadata, "name"));

	if (w->type == WRITE_CREATE)
		return 0;
	if (!name || !*name)
		return error_set(
			err, ERR_BAD_REQUEST,
			"the name of the object (%s based on URL) was undeterminable: name "
			"must be provided",
			w->pub.name);
	if (strcmp(name, w->pub.name) != 0)
		return error_set(
			err, ERR_BAD_REQUEST,
			"the name of the object (%.253s) does not match the name on the URL "
			"(%s)",
			name, w->pub.name);
	return 0;
}

/* What names the object must be text before anything can be said about it. */
static int check_texts(const json_t *metadata, struct error *err)
{
	static const char *const fields[] = {"name", "generateName", "namespace"};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const json_t *value = json_object_get(metadata, fields[i]);

		if (value && !json_is_string(value) && !json_is_null(value))
			return error_set(err, ERR_BAD_REQUEST, "metadata.%s must be a string",
					 fields[i]);
	}
	return 0;
}

int body_check(const struct write *w, json_t *object, struct error *err)
{
	const struct kind *k = w->pub.kind;
	const json_t *given = json_object_get(object, "metadata");
	auto_strbuf gv = {0};
	json_t *metadata;

	if (!json_is_object(object))
		return error_set(err, ERR_BAD_REQUEST, "the body must be a JSON object");
	if (given && !json_is_object(given) && !json_is_null(given))
		return error_set(err, ERR_BAD_REQUEST, "metadata must be an object");
	kind_api_version(k, &gv);
	if (check_type(object, "apiVersion", strbuf_str(&gv), "API version", err) ||
	    check_type(object, "kind", k->name, "kind", err))
		return -1;
	metadata = json_object_need(object, "metadata");
	if (check_texts(metadata, err))
		return -1;
	return check_namespace(w, metadata, err) || check_name(w, metadata, err) ? -1 : 0;
}

char *name_generate(struct env *env, const char *prefix)
{
	/* no vowels, so that no words come about; no digits that look like letters */
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	char tail[6];

	for (size_t i = 0; i < 5; i++)
		tail[i] = letters[env_random_below(env, sizeof(letters) - 1)];
	tail[5] = '\0';
	return xasprintf("%.*s%s", GENERATED_PREFIX_MAX, prefix, tail);
}

void metadata_keep(json_t *object, const json_t *old)
{
	static const char *const kept[] = {
		"name",       "namespace",         "uid",
		"generation", "creationTimestamp", "deletionTimestamp",
		"selfLink",   "resourceVersion",   "deletionGracePeriodSeconds",
	};
	json_t *metadata = json_object_need(object, "metadata");
	const json_t *from = json_object_get(old, "metadata");

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		json_t *value = json_object_get(from, kept[i]);

		if (value)
			json_object_set(metadata, kept[i], value);
		else
			json_object_del(metadata, kept[i]);
	}
	json_object_del(metadata, "managedFields");
}

bool metadata_has_finalizers(const json_t *object)
{
	return json_array_size(json_at(object, "metadata", "finalizers", NULL)) > 0;
}

bool metadata_is_dying(const json_t *object)
{
	return meta_str(object, "deletionTimestamp") != NULL;
}

void metadata_set_version(json_t *object, int64_t version)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, version);
	json_set_str(json_object_need(object, "metadata"), "resourceVersion", text);
}

static bool is_spec(const char *key)
{
	return strcmp(key, "metadata") != 0 && strcmp(key, "status") != 0;
}

/* Whether b has each member of a but metadata and status, and the same. */
static bool has_all(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)a, key, value)
		if (is_spec(key) && !json_equal(value, json_object_get(b, key)))
			return false;
	return true;
}

bool spec_differs(const json_t *a, const json_t *b)
{
	return !has_all(a, b) || !has_all(b, a);
}
