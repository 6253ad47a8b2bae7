/* Objects as they are stored: order of members, what stays out, who stamps them. */
#include "server/stored.h"

#include <inttypes.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"

static void add_member(struct strbuf *out, const char *key, const json_t *value)
{
	auto_json *name = json_string(key);

	if (!value)
		return;
	if (out->bytes[out->size - 1] != '{')
		strbuf_addc(out, ',');
	json_write(out, name);
	strbuf_addc(out, ':');
	json_write(out, value);
}

static void add_metadata(struct strbuf *out, const json_t *metadata)
{
	const char *key;
	json_t *value;

	strbuf_adds(out, ",\"metadata\":{");
	json_object_foreach ((json_t *)(uintptr_t)metadata, key, value)
		if (strcmp(key, "resourceVersion") != 0)
			add_member(out, key, value);
	strbuf_addc(out, '}');
}

void stored_main(const struct kind *k, const json_t *object, struct strbuf *out)
{
	const char *key;
	json_t *value;

	strbuf_addc(out, '{');
	add_member(out, "apiVersion", json_object_get(object, "apiVersion"));
	add_member(out, "kind", json_object_get(object, "kind"));
	add_metadata(out, json_object_get(object, "metadata"));
	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		if (!strcmp(key, "apiVersion") || !strcmp(key, "kind") || !strcmp(key, "metadata"))
			continue;
		if (k->split_status && !strcmp(key, "status"))
			continue;
		add_member(out, key, value);
	}
	strbuf_addc(out, '}');
}

void stored_status(const json_t *object, struct strbuf *out)
{
	const json_t *status = json_object_get(object, "status");

	if (status)
		json_write(out, status);
	else
		strbuf_adds(out, "{}");
}

void stored_stamp(struct env *env, const struct kind *k, const char *ns, json_t *object)
{
	json_t *metadata = json_object_need(object, "metadata");
	char uid[UUID_SIZE], now[TIME_SIZE];

	uuid_make(env, uid);
	time_format(now, env_wall_ns(env));
	json_set_str(metadata, "namespace", ns);
	json_set_str(metadata, "uid", uid);
	json_set_str(metadata, "creationTimestamp", now);
	if (k->has_generation)
		json_set_int(metadata, "generation", 1);
	else
		json_object_del(metadata, "generation");
}

void stored_write_at(struct strbuf *out, const struct doc *d, int64_t version)
{
	const char *rest = d->bytes + d->splice;

	strbuf_add(out, d->bytes, d->splice);
	strbuf_addf(out, "\"resourceVersion\":\"%" PRId64 "\"%s", version, *rest == '}' ? "" : ",");
	strbuf_add(out, rest, d->size - d->splice);
}
