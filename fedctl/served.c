/* What a server serves, for those who asked for something else. */
#include <string.h>

#include "base/json.h"
#include "fedctl/session.h"

#define TIMEOUT_MS 3000 /* a hint is not worth a longer wait */

static bool is_first_of_group(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(kinds[k]->group, kinds[i]->group) &&
		    !strcmp(kinds[k]->version, kinds[i]->version))
			return false;
	return true;
}

/* The keys are names: some groups share one. Subresources are no kinds. */
static void add_names(const json_t *group, json_t *names)
{
	json_t *resource;
	size_t i;

	json_array_foreach (json_object_get(group, "resources"), i, resource) {
		const char *name = json_str_at(resource, "name", NULL);

		if (name && !strchr(name, '/'))
			json_object_set_new(names, name, json_true());
	}
}

static void add_group(struct session *s, const struct kind *k, json_t *names)
{
	auto_strbuf path = {0};
	auto_json *group = NULL;
	struct call call = {.timeout_ms = TIMEOUT_MS, .quiet = true};
	struct error err;

	strbuf_addf(&path, "%s%s/%s", *k->group ? "/apis/" : "/api", k->group, k->version);
	call.path = path.bytes;
	if (!session_call(s, &call, &group, &err))
		add_names(group, names);
}

int session_not_served(struct session *s, const struct kind *kind, struct error *err)
{
	auto_json *names = json_object();
	auto_strbuf served = {0};
	const char *name;
	json_t *mark;

	for (size_t i = 0; i < kinds_count; i++)
		if (is_first_of_group(i))
			add_group(s, kinds[i], names);
	json_object_foreach (names, name, mark)
		strbuf_addf(&served, "%s%s", served.size ? ", " : "", name);
	return error_set(err, ERR_BAD_REQUEST, "%s does not serve %s%s%s", s->config.server,
			 kind->plural, served.size ? "; it serves " : "", strbuf_str(&served));
}
