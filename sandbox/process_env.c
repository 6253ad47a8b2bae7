#include "sandbox/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/mem.h"

struct strings {
	char **items;
	size_t n, cap;
};

void strings_free(char **strings)
{
	for (size_t i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

static void strings_add(struct strings *s, char *take_text)
{
	s->cap = s->n + 2;
	s->items = xrealloc(s->items, s->cap, sizeof(*s->items));
	s->items[s->n++] = take_text;
	s->items[s->n] = NULL;
}

static const char *env_find(char *const *env, const char *name, size_t n)
{
	const char *found = NULL;

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			found = *env + n + 1;
	return found;
}

/* $(NAME) becomes the variable's value, $$ a dollar; unknown names stay as they are. */
static char *expand(const char *text, char *const *env)
{
	struct strbuf out = {0};

	while (*text) {
		const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
		const char *value = end ? env_find(env, text + 2, (size_t)(end - text - 2)) : NULL;

		if (value) {
			strbuf_adds(&out, value);
			text = end + 1;
		} else if (text[0] == '$' && text[1] == '$') {
			strbuf_addc(&out, '$');
			text += 2;
		} else {
			strbuf_addc(&out, *text++);
		}
	}
	return strbuf_take(&out);
}

/* --- values from elsewhere --- */

static json_t *find_object(struct sandbox *s, const json_t *pod, const char *plural,
			   const char *name)
{
	auto_strbuf key = {0};
	struct doc *doc;

	kind_key(sandbox_kind(plural), json_str_at(pod, "metadata", "namespace", NULL), name, &key);
	doc = cache_get(s->cache, key.bytes);
	return doc ? doc_tree(doc) : NULL;
}

/* The value under key of a ConfigMap or Secret; the caller's, NULL when there is none. */
static char *object_value(const json_t *object, const char *plural, const char *key)
{
	const char *text = json_str_at(object, "data", key, NULL);
	struct strbuf out = {0};

	if (!text)
		return NULL;
	if (strcmp(plural, "secrets"))
		return xstrdup(text);
	base64_decode(&out, text, strlen(text));
	return strbuf_take(&out);
}

static int from_key(struct sandbox *s, const json_t *pod, const json_t *ref, const char *plural,
		    char **ret, struct error *err)
{
	const char *name = json_str_at(ref, "name", NULL), *key = json_str_at(ref, "key", NULL);
	auto_json *object = name ? find_object(s, pod, plural, name) : NULL;

	*ret = key ? object_value(object, plural, key) : NULL;
	if (*ret || json_is_true(json_object_get(ref, "optional")))
		return 0;
	return error_set(err, ERR_INVALID, "%s \"%s\" has no key \"%s\"", plural, name ? name : "",
			 key ? key : "");
}

static char *from_field(const json_t *pod, const char *path)
{
	static const struct {
		const char *path, *a, *b;
	} fields[] = {
		{"metadata.name", "metadata", "name"},
		{"metadata.namespace", "metadata", "namespace"},
		{"metadata.uid", "metadata", "uid"},
		{"spec.nodeName", "spec", "nodeName"},
		{"spec.serviceAccountName", "spec", "serviceAccountName"},
		{"status.podIP", "status", "podIP"},
		{"status.hostIP", "status", "hostIP"},
	};
	static const char *const maps[] = {"labels", "annotations"};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!strcmp(fields[i].path, path)) {
			const char *v = json_str_at(pod, fields[i].a, fields[i].b, NULL);

			return xstrdup(v ? v : "");
		}
	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		auto_xfree char *prefix = xasprintf("metadata.%s['", maps[i]);
		auto_xfree char *key = NULL;
		const char *v;

		if (strncmp(path, prefix, strlen(prefix)))
			continue;
		key = xstrndup(path + strlen(prefix), strcspn(path + strlen(prefix), "'"));
		v = json_str_at(pod, "metadata", maps[i], key, NULL);
		return xstrdup(v ? v : "");
	}
	return NULL;
}

static int value_from(struct sandbox *s, const json_t *pod, const json_t *from, char **ret,
		      struct error *err)
{
	const char *path = json_str_at(from, "fieldRef", "fieldPath", NULL);
	const json_t *ref;

	if (path) {
		*ret = from_field(pod, path);
		return *ret ? 0
			    : error_set(err, ERR_INVALID, "fieldRef: unsupported path \"%s\"",
					path);
	}
	if ((ref = json_object_get(from, "configMapKeyRef")))
		return from_key(s, pod, ref, "configmaps", ret, err);
	if ((ref = json_object_get(from, "secretKeyRef")))
		return from_key(s, pod, ref, "secrets", ret, err);
	return error_set(err, ERR_INVALID,
			 "valueFrom: the sandbox knows fieldRef, "
			 "configMapKeyRef and secretKeyRef");
}

static int add_env_from(struct sandbox *s, const json_t *pod, const json_t *source,
			struct strings *out, struct error *err)
{
	const json_t *map = json_object_get(source, "configMapRef");
	const json_t *ref = map ? map : json_object_get(source, "secretRef");
	const char *plural = map ? "configmaps" : "secrets", *key;
	const char *name = json_str_at(ref, "name", NULL);
	const char *prefix = json_str_at(source, "prefix", NULL);
	auto_json *object = name ? find_object(s, pod, plural, name) : NULL;
	json_t *ignored;

	if (!object && !json_is_true(json_object_get(ref, "optional")))
		return error_set(err, ERR_INVALID, "%s \"%s\" not found", plural, name ? name : "");
	json_object_foreach (json_object_get(object, "data"), key, ignored) {
		auto_xfree char *value = object_value(object, plural, key);

		strings_add(out, xasprintf("%s%s=%s", prefix ? prefix : "", key, value));
	}
	return 0;
}

static int add_env(struct sandbox *s, const json_t *pod, const json_t *var, struct strings *out,
		   struct error *err)
{
	const char *name = json_str_at(var, "name", NULL), *text = json_str_at(var, "value", NULL);
	const json_t *from = json_object_get(var, "valueFrom");
	auto_xfree char *value = NULL;

	if (from && value_from(s, pod, from, &value, err))
		return error_prefix(err, "env %s", name);
	if (!from)
		value = expand(text ? text : "", out->items);
	if (value)
		strings_add(out, xasprintf("%s=%s", name, value));
	return 0;
}

int process_environment(struct sandbox *s, const json_t *pod, const json_t *container,
			char ***ret_env, struct error *err)
{
	const char *path = getenv("PATH");
	struct strings out = {0};
	json_t *item;
	size_t i;
	int rc = 0;

	strings_add(&out, xasprintf("PATH=%s", path ? path : "/usr/local/bin:/usr/bin:/bin"));
	strings_add(&out, xasprintf("HOSTNAME=%s", json_str_at(pod, "metadata", "name", NULL)));
	json_array_foreach (json_object_get(container, "envFrom"), i, item)
		rc = rc ? rc : add_env_from(s, pod, item, &out, err);
	json_array_foreach (json_object_get(container, "env"), i, item)
		rc = rc ? rc : add_env(s, pod, item, &out, err);
	if (rc)
		strings_free(out.items);
	else
		*ret_env = out.items;
	return rc;
}

char **process_arguments(const json_t *container, char *const *env)
{
	static const char *const parts[] = {"command", "args"};
	struct strings out = {0};
	json_t *item;
	size_t i;

	for (size_t p = 0; p < ARRAY_LEN(parts); p++)
		json_array_foreach (json_object_get(container, parts[p]), i, item)
			strings_add(&out, expand(json_string_value(item), env));
	return out.items;
}
