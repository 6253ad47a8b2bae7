#include "fedctl/columns.h"

#include <string.h>

#include "base/json.h"
#include "fedctl/amounts.h"

const char *column_name(struct arena *a, const json_t *object, int64_t now_ns)
{
	return json_str_at(object, "metadata", "name", NULL);
}

const char *column_number(struct arena *a, const json_t *value)
{
	return json_is_integer(value)
		       ? arena_printf(a, "%lld", (long long)json_integer_value(value))
		       : NULL;
}

static void add_amount(const char *name, const json_t *value, struct strbuf *out)
{
	auto_xfree char *text = NULL;

	if (!value)
		return;
	text = json_is_string(value) ? xstrdup(json_string_value(value)) : json_print(value);
	strbuf_addf(out, "%s%s ", out->size ? ", " : "", name);
	amount_write(name, text, out);
}

const char *column_amounts(struct arena *a, const json_t *amounts)
{
	auto_strbuf out = {0};
	const char *name;
	json_t *value;

	add_amount("cpu", json_object_get(amounts, "cpu"), &out);
	add_amount("memory", json_object_get(amounts, "memory"), &out);
	json_object_foreach ((json_t *)(uintptr_t)amounts, name, value)
		if (strchr(name, '/'))
			add_amount(name, value, &out);
	return out.size ? arena_strdup(a, out.bytes) : NULL;
}
