#include "objects.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/yaml.h"

json_t *object_from_yaml(const char *yaml)
{
	auto_json *docs = NULL;
	struct error err;

	cr_assert_eq(yaml_parse_all(yaml, strlen(yaml), &docs, &err), 0, "%s", err.text);
	cr_assert_eq(json_array_size(docs), 1u);
	return json_incref(json_array_get(docs, 0));
}

/* Takes one step off the path: a field ("name") or an index ("[0]"). */
static char *take_step(const char **path)
{
	size_t n;
	char *step;

	if (**path == '.')
		(*path)++;
	n = **path == '[' ? strcspn(*path, "]") + 1 : strcspn(*path, ".[");
	step = xstrndup(*path, n);
	*path += n;
	return step;
}

static json_t *follow(json_t *at, const char *step)
{
	if (*step == '[')
		return json_array_get(at, strtoul(step + 1, NULL, 10));
	return json_object_get(at, step);
}

static void put(json_t *at, const char *step, const char *value)
{
	json_t *v = value ? object_from_yaml(value) : NULL;
	size_t i = *step == '[' ? strtoul(step + 1, NULL, 10) : 0;

	if (*step != '[' && v)
		json_object_set_new(at, step, v);
	else if (*step != '[')
		json_object_del(at, step);
	else if (!v)
		json_array_remove(at, i);
	else if (i == json_array_size(at))
		json_array_append_new(at, v);
	else
		json_array_set_new(at, i, v);
}

void object_set(json_t *object, const char *path, const char *value)
{
	auto_xfree char *step = take_step(&path);

	while (*path) {
		object = follow(object, step);
		cr_assert(object, "nothing at %s", step);
		free(step);
		step = take_step(&path);
	}
	put(object, step, value);
}

char *causes_lines(const struct causes *c)
{
	struct strbuf out = {0};

	for (size_t i = 0; i < c->n; i++)
		strbuf_addf(&out, "%s: %s\n", c->items[i].field, c->items[i].message);
	return strbuf_take(&out);
}

char *object_mistakes(json_t *object, const json_t *old)
{
	const struct kind *k = kind_find_by_name(json_str_at(object, "apiVersion", NULL),
						 json_str_at(object, "kind", NULL));
	struct causes c = {0};
	char *lines;

	kind_default(k, object);
	kind_validate(k, object, old, &c);
	lines = causes_lines(&c);
	causes_finish(&c);
	return lines;
}

json_t *sample_job(void)
{
	return object_from_yaml("apiVersion: batch.volcano.sh/v1alpha1\n"
				"kind: Job\n"
				"metadata: {name: train, namespace: ml}\n"
				"spec:\n"
				"  tasks:\n"
				"  - name: worker\n"
				"    replicas: 3\n"
				"    template:\n"
				"      spec:\n"
				"        containers:\n"
				"        - {name: main, image: busybox}\n");
}
