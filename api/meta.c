#include "api/meta.h"

#include <string.h>

#include "api/names.h"
#include "api/path.h"
#include "base/json.h"

#define LABEL_MUST                                                                                 \
	"must consist of lower case letters, digits and '-', and begin and end with a letter or digit"

static bool segment_ok(const char *text)
{
	return *text && strcmp(text, ".") && strcmp(text, "..") && !strpbrk(text, "/%");
}

static const struct {
	bool (*ok)(const char *text);
	size_t max;
	const char *must, *too_long;
} name_rules[] = {
	[NAME_SUBDOMAIN] =
		{dns_subdomain_ok, 253,
		 "must consist of lower case letters, digits, '-' and '.', and begin and "
		 "end with a letter or digit",
		 "must have at most 253 characters"},
	[NAME_LABEL] = {dns_label_ok, 63, LABEL_MUST, "must have at most 63 characters"},
	[NAME_LABEL_1035] = {dns_label_1035_ok, 63, LABEL_MUST ", the first one a letter",
			     "must have at most 63 characters"},
	[NAME_CLUSTER] = {dns_label_ok, 32, LABEL_MUST, "must have at most 32 characters"},
	[NAME_SEGMENT] = {segment_ok, 253, "must not contain '/' or '%', nor be '.' or '..'",
			  "must have at most 253 characters"},
};

const char *name_mistake(enum name_rule rule, const char *name)
{
	if (strlen(name) > name_rules[rule].max)
		return name_rules[rule].too_long;
	return name_rules[rule].ok(name) ? NULL : name_rules[rule].must;
}

/* The name as it would be made: what is behind the prefix is always good. */
static const char *prefix_mistake(enum name_rule rule, const char *prefix)
{
	auto_xfree char *name = xasprintf("%.*sx", GENERATED_PREFIX_MAX, prefix);

	return name_mistake(rule, name);
}

static void check_name(const struct kind *k, const json_t *meta, const struct path *at,
		       struct causes *c)
{
	const json_t *name = json_object_get(meta, "name");
	const json_t *prefix = json_object_get(meta, "generateName");
	const char *mistake;

	if (json_is_string(name) && *json_string_value(name)) {
		mistake = name_mistake(k->name_rule, json_string_value(name));
		if (mistake)
			causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "name"), name, "%s",
				      mistake);
	} else if (json_is_string(prefix) && *json_string_value(prefix)) {
		mistake = prefix_mistake(k->name_rule, json_string_value(prefix));
		if (mistake)
			causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "generateName"), prefix,
				      "%s", mistake);
	} else {
		causes_add_at(c, CAUSE_REQUIRED, PATH_FIELD(at, "name"), NULL,
			      "name or generateName is required");
	}
}

void meta_check_labels(const json_t *labels, const struct path *at, struct causes *c)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)labels, key, value) {
		const char *text = json_string_value(value);

		if (c->n >= CAUSES_ENOUGH)
			return;
		if (!qualified_name_ok(key))
			causes_add_at(c, CAUSE_INVALID, PATH_KEY(at, key), NULL,
				      "must be a name such as app or example.com/app");
		if (!text)
			continue;
		if (strlen(text) > 63)
			causes_add_at(c, CAUSE_INVALID, PATH_KEY(at, key), value,
				      "must have at most 63 characters");
		else if (!label_value_ok(text))
			causes_add_at(
				c, CAUSE_INVALID, PATH_KEY(at, key), value,
				"must consist of letters, digits, '-', '_' and '.', and begin "
				"and end with a letter or digit");
	}
}

void meta_check_annotations(const json_t *annotations, const struct path *at, struct causes *c)
{
	size_t size = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)annotations, key, value) {
		size += strlen(key) + json_string_length(value);
		if (!qualified_name_ok(key) && c->n < CAUSES_ENOUGH)
			causes_add_at(c, CAUSE_INVALID, PATH_KEY(at, key), NULL,
				      "must be a name such as app or example.com/app");
	}
	if (size > ANNOTATIONS_MAX)
		causes_add_at(c, CAUSE_TOO_LONG, at, NULL,
			      "all annotations have %zu bytes, at most %d are allowed", size,
			      ANNOTATIONS_MAX);
}

/* Those that Kubernetes itself gives meaning to; others of its kinds need a domain. */
static bool is_standard_finalizer(const char *name)
{
	return !strcmp(name, "kubernetes") || !strcmp(name, "orphan") ||
	       !strcmp(name, "foregroundDeletion");
}

static void check_finalizers(const struct kind *k, const json_t *finalizers, const struct path *at,
			     struct causes *c)
{
	for (size_t i = 0; i < json_array_size(finalizers) && c->n < CAUSES_ENOUGH; i++) {
		const json_t *name = json_array_get(finalizers, i);
		const char *text = json_string_value(name);

		if (!text)
			continue;
		if (!qualified_name_ok(text) ||
		    (k->core && !strchr(text, '/') && !is_standard_finalizer(text)))
			causes_add_at(c, CAUSE_INVALID, PATH_INDEX(at, i), name,
				      "must be a name such as example.com/cleanup");
	}
}

static void check_owners(const json_t *owners, const struct path *at, struct causes *c)
{
	size_t i, controllers = 0;
	json_t *owner;

	json_array_foreach (owners, i, owner)
		controllers += json_is_true(json_object_get(owner, "controller"));
	if (controllers > 1)
		causes_add_at(c, CAUSE_INVALID, at, owners,
			      "at most one owner may be the controller");
}

void meta_validate(const struct kind *k, const json_t *object, struct causes *causes)
{
	static const struct {
		const char *field;
		void (*check)(const json_t *value, const struct path *at, struct causes *c);
	} checks[] = {
		{"labels", meta_check_labels},
		{"annotations", meta_check_annotations},
		{"ownerReferences", check_owners},
	};
	const json_t *meta = json_object_get(object, "metadata");
	const struct path *at = PATH_FIELD(NULL, "metadata");

	check_name(k, meta, at, causes);
	check_finalizers(k, json_object_get(meta, "finalizers"), PATH_FIELD(at, "finalizers"),
			 causes);
	for (size_t i = 0; i < ARRAY_LEN(checks) && causes->n < CAUSES_ENOUGH; i++)
		checks[i].check(json_object_get(meta, checks[i].field),
				PATH_FIELD(at, checks[i].field), causes);
}
